"""Sentences and images in one space: ranking on Pascal1K, losses, seeds, and who does what to whom.

    ranking        image search, description, similar sentences: the mean over splits
    losses         the margin loss against squared distances with Euclidean ranking
    seeds          image search by seed
    role swap      generated triples with stand-in images: the sentence, or the one with exchanged roles?
    active-passive how near an active sentence is to its passive
    norms          the matrices of labels that training moved most from the identity
    speed          composition by height against node by node

Image vectors are those of a network of today, so levels are better than the paper's; orders can be compared.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

import weft
from weft.arrays import Floats
from weft.evaluate.retrieval import expected_rank, recall_at
from weft.evaluate.significance import Comparison, paired_bootstrap
from weft.features.representations.ppmi import WordTable
from weft.learn.neural.forests import IDENTITY, Structures
from weft.learn.neural.ranker import RankingOptions
from weft.progress import progress
from weft.recipes.claims import compared, measured
from weft.recipes.framework import RecipeOptions, RecipeResult, Table
from weft.recipes.grounding.dt_rnn.corpora import Part, Pascal, RawCaptions, standardized, triple_images
from weft.recipes.grounding.dt_rnn.systems import (
    Correlation,
    Data,
    Network,
    Ranks,
    Trained,
    correlated,
    trained,
)
from weft.recipes.variation import Variation
from weft.tasks.images.probe import Outcome, Triple, triples
from weft.tasks.images.trees import caption_trees

SLUG = "dt-rnn"
BOW, CT, RNN, PLAIN, DT, SDT = "BoW", "CT-RNN", "Recurrent NN", "DT-RNN, no weights", "DT-RNN", "SDT-RNN"
KCCA, RBF, RANDOM = "kCCA", "kernel CCA (rbf)", "Random"
NETWORKS = {
    BOW: Network("bow", length=6.0, l2=400.0, rate=0.02),
    CT: Network("ct", length=2.0, l2=100.0, rate=0.005, squared_length=2.0),
    RNN: Network("rnn", length=2.0, l2=100.0, rate=0.005, squared_length=2.0),
    PLAIN: Network("dt", weighted=False, length=2.0, l2=400.0, rate=0.02),
    DT: Network("dt", length=6.0, l2=400.0, rate=0.02, squared_l2=1.0, squared_rate=0.005),
    SDT: Network("sdt", length=6.0, l2=400.0, rate=0.02),
}
CORRELATIONS = {KCCA: Correlation(), RBF: Correlation("rbf", 1.0, 30)}
#: The paper's mean ranks: similar sentences, image search, description; and recall of image search.
PAPER = {
    RANDOM: (101.1, 52.1, 92.1), BOW: (11.8, 14.6, 21.1), CT: (15.8, 16.1, 23.9), RNN: (18.5, 19.2, 27.1),
    KCCA: (10.7, 15.9, 18.0), DT: (11.1, 13.6, 19.2), SDT: (10.5, 12.5, 16.9),
}  # fmt: skip
RECALL = {BOW: (15.8, 42.2, 60.0), KCCA: (16.4, 41.4, 58.0), SDT: (16.4, 46.6, 65.6)}
SQUARED = {BOW: (24.7, 30.7), CT: (22.2, 29.4), RNN: (28.4, 31.4), DT: (13.3, 26.8), SDT: (15.8, 37.5)}
SIMILAR, SEARCH, DESCRIBE = "similar sentences", "image search", "describing"
#: Options of the role-swap probe, the same for all networks.
ROLES = RankingOptions(margin=1.0, l2=1.0, rate=0.03, epochs=12, every=6)
ACTIVE = 20  #: pairs of active and passive


@dataclass(frozen=True)
class Size:
    """How much is run."""

    splits: int = 5
    seeds: int = 3
    seed_splits: int = 2  #: splits on which other seeds are tried
    squared_splits: int = 2
    categories: int = 20
    epochs: int = 16
    dimensions: int = 50
    raw: int = 5  #: files of captions for word vectors
    role_seeds: int = 3
    role_pairs: int = 2000
    role_tests: int = 200
    width: int = 1024  #: of stand-in images
    captions: int = 5000  #: composed for the speed
    samples: int = 2000


QUICK = Size(1, 1, 1, 1, 5, 8, 30, 1, 1, 400, 50, 256, 300, 200)
ROWS = ("ranking", "losses", "seeds", "role swap", "active-passive", "norms", "speed")
VARIATION = Variation((Size,), ROWS)


def run(options: RecipeOptions) -> RecipeResult:
    """All tables."""
    size = options.varied(QUICK if options.quick else Size())
    result, material = RecipeResult(SLUG), Material(options, size)
    steps: dict[str, Callable[[RecipeResult, Material], None]] = {
        "ranking": _ranking, "losses": _losses, "seeds": _seeds, "role swap": _roles, "active-passive": _voices,
        "norms": _norms, "speed": _speed,
    }  # fmt: skip
    with progress("parts", len(steps), "parts") as bar:
        for step in options.chosen(steps).values():
            step(result, material)
            bar.advance(1)
    result.notes.append(
        "Image vectors: the last pooled layer of a MobileNetV2, 1,280 dimensions. Word vectors: PPMI and SVD on "
        "captions of other images and the training sentences. Constituents are subtrees of dependency trees, in pairs. "
        "Settings were chosen on development images of other splits of the same images."
    )
    return result


@dataclass
class SplitData:
    """The three parts of a split with word vectors."""

    table: WordTable
    train: Data
    dev: Data
    test: Data


class Material:
    """Images, splits, and trained networks, made when first asked for."""

    def __init__(self, options: RecipeOptions, size: Size) -> None:
        self.options, self.size = options, size
        self.raw = RawCaptions(options, size.raw)
        self._splits: dict[int, SplitData] = {}
        self._trained: dict[tuple[str, int, int, bool], Trained] = {}

    @cached_property
    def pascal(self) -> Pascal:
        return Pascal.read(self.options, self.size.categories)

    def split(self, number: int) -> SplitData:
        """A split of the images."""
        if number not in self._splits:
            pascal = self.pascal
            parts = pascal.split(self.options.seed + number)
            images = pascal.standardized(parts[0])

            def data(part: Part) -> Data:
                return Data(pascal.trees_of(part), part.owners, images[part.images])

            train, dev, test = map(data, parts)
            self._splits[number] = SplitData(self.raw.table(train.trees, self.size.dimensions), train, dev, test)
        return self._splits[number]

    def network(self, name: str, split: int, seed: int, squared: bool = False) -> Trained:
        """A network trained on a split."""
        key = name, split, seed, squared
        if key not in self._trained:
            data = self.split(split)
            network = NETWORKS[name].with_epochs(self.size.epochs)
            self._trained[key] = trained(network, data.table, data.train, data.dev, self.options.seed + seed, squared)
        return self._trained[key]

    def ranks(self, name: str, squared: bool = False, seeds: int = 1, splits: int = 0) -> list[list[Ranks]]:
        """The ranks on the test images of every split, or of the first few, by seed."""
        few, chosen = range(splits or self.size.splits), range(seeds)
        if name in CORRELATIONS:
            data = [self.split(k) for k in few]
            return [[correlated(each.table, each.train, each.test, CORRELATIONS[name])] for each in data]
        return [[self.network(name, k, seed, squared).ranks(self.split(k).test) for seed in chosen] for k in few]

    @cached_property
    def all_ranks(self) -> dict[str, list[list[Ranks]]]:
        """The ranks of all rows under their usual loss, on every split."""
        rows = [*NETWORKS, *CORRELATIONS]
        found = {}
        with progress("networks", len(rows), "rows") as bar:
            for name in rows:
                found[name] = self.ranks(name)
                bar.advance(1)
        return found

    def by_image(self, found: list[list[Ranks]], what: str = "search") -> Floats:
        """Sums of ranks and their number per test image of all splits: the units of tests."""
        rows = []
        for split, runs in enumerate(found):
            data = self.split(split).test
            values = np.mean([getattr(each, what) for each in runs], axis=0)
            owners = data.owners if what == "search" else np.arange(len(data.images))
            sums = np.bincount(owners, values, minlength=len(data.images))
            rows.append(np.stack([sums, np.bincount(owners, minlength=len(data.images))], axis=1))
        return np.concatenate(rows)

    def compare(self, one: list[list[Ranks]], other: list[list[Ranks]], what: str = "search") -> Comparison:
        """The difference of mean ranks, by bootstrap over images."""
        pair = self.by_image(one, what), self.by_image(other, what)
        return paired_bootstrap(*pair, _mean_rank, samples=self.size.samples, seed=self.options.seed)


def _mean_rank(sums: Floats) -> Any:
    return sums[..., 0] / sums[..., 1]


def _mean(found: list[list[Ranks]], what: str) -> float:
    return float(np.mean([getattr(each, what).mean() for runs in found for each in runs]))


def _ranking(result: RecipeResult, material: Material) -> None:
    size, test = material.size, material.split(0).test
    columns = [SIMILAR, SEARCH, "R@1", "R@5", "R@10", DESCRIBE, "sd of splits"]
    table = Table(f"Ranking: mean over {size.splits} splits", columns, digits=dict.fromkeys(columns, 2))
    images, sentences = len(test.images), len(test.trees)
    random = expected_rank(4, sentences - 1), expected_rank(1, images), expected_rank(5, sentences)
    recall = {f"R@{k}": 100 * k / images for k in (1, 5, 10)}
    table.add(RANDOM, {**dict(zip((SIMILAR, SEARCH, DESCRIBE), random, strict=True)), **recall}, _paper(RANDOM))
    for name, found in material.all_ranks.items():
        splits = [np.mean([each.search.mean() for each in runs]) for runs in found]
        shares = {
            f"R@{k}": 100 * float(np.mean([recall_at(each.search, k) for runs in found for each in runs]))
            for k in (1, 5, 10)
        }
        ours = {SIMILAR: _mean(found, "similar"), SEARCH: _mean(found, "search"), DESCRIBE: _mean(found, "describe")}
        spread = {"sd of splits": float(np.std(splits, ddof=1))} if len(splits) > 1 else {}
        table.add(name, {**ours, **shares, **spread}, _paper(name))
    table.note = (
        "Mean ranks, lower is better: of one image, of the best sentence, of the nearest sentence of the same image."
    )
    result.tables.append(table)
    _compare_rows(result, material)


def _paper(name: str) -> dict[str, float]:
    found = dict(zip((SIMILAR, SEARCH, DESCRIBE), PAPER.get(name, ()), strict=False))
    return {**found, **dict(zip(("R@1", "R@5", "R@10"), RECALL.get(name, ()), strict=False))}


def _compare_rows(result: RecipeResult, material: Material) -> None:
    ranks = material.all_ranks
    table = Table("Differences in mean rank: bootstrap over images", [SEARCH, "p", DESCRIBE, "p, describing"])
    table.digits = {"p": 4, "p, describing": 4}
    pairs = [
        (SDT, DT), (DT, CT), (CT, RNN), (SDT, RNN), (DT, RNN), (SDT, BOW), (DT, BOW), (SDT, KCCA), (DT, KCCA),
        (DT, PLAIN), (KCCA, BOW),
    ]  # fmt: skip
    seen: dict[tuple[str, str], Comparison] = {}
    for one, other in pairs:
        seen[one, other] = material.compare(ranks[one], ranks[other])
        also = material.compare(ranks[one], ranks[other], "describe")
        name = f"{one} - {other}"
        found = {SEARCH: seen[one, other].difference, "p": seen[one, other].p}
        table.add(name, {**found, DESCRIBE: also.difference, "p, describing": also.p})
    table.note = "Below 0: the first ranks better."
    result.tables.append(table)

    def say(text: str, *pairs: tuple[str, str]) -> None:
        figures = [compared(seen[pair], f"{pair[0]} - {pair[1]}", "<", scale=1) for pair in pairs]
        result.claim(text, *figures)

    say("labels rank better than positions in image search (paper: 12.5 against 13.6)", (SDT, DT))
    say("dependency trees rank better than constituents, and these than chains", (DT, CT), (CT, RNN))
    say("both dependency networks rank better than a chain", (DT, RNN), (SDT, RNN))
    say("the best network ranks images better than a bag of words (paper: 12.5 against 14.6)", (SDT, BOW))
    say("the best network ranks images better than kCCA (paper: 12.5 against 15.9)", (SDT, KCCA))
    say("weights by the size of subtrees rank better than none (paper: by about 6 on development data)", (DT, PLAIN))
    describing = [
        compared(material.compare(ranks[SDT], ranks[name], "describe"), f"SDT-RNN - {name}", "<", scale=1)
        for name in (BOW, CT, RNN, KCCA, DT)
    ]
    result.claim("SDT-RNN describes images better than all others", *describing)
    if material.size.categories == Size().categories:
        text = "DT-RNN finds images at a mean rank of at most {bar}"
        result.own(text, measured(_mean(ranks[DT], "search"), "<=", 8.5))
    half = expected_rank(1, len(material.split(0).test.images)) / 2
    worst = max(_mean(found, "search") for found in ranks.values())
    result.own("every row is twice as good as chance, a mean rank of at most {bar}", measured(worst, "<=", half))


def _losses(result: RecipeResult, material: Material) -> None:
    few = material.size.squared_splits
    table = Table(
        f"Margin against squared loss, {few} splits", ["margin", "squared", "margin, describing", "squared, describing"]
    )
    figures = []
    for name in (BOW, CT, RNN, DT, SDT):
        margin, squared = material.all_ranks[name][:few], material.ranks(name, squared=True, splits=few)
        paper = dict(zip(("squared", "squared, describing"), SQUARED[name], strict=True))
        table.add(
            name,
            {
                "margin": _mean(margin, "search"), "squared": _mean(squared, "search"),
                "margin, describing": _mean(margin, "describe"), "squared, describing": _mean(squared, "describe"),
            },
            {**paper, "margin": PAPER[name][1], "margin, describing": PAPER[name][2]},
        )  # fmt: skip
        figures.append(compared(material.compare(margin, squared), name, "<", scale=1))
    table.note = (
        "Mean ranks of image search and of description; after the squared loss, ranking is by Euclidean distance."
    )
    result.tables.append(table)
    result.claim("the margin loss finds images better than squared distances, with every network", *figures)


def _seeds(result: RecipeResult, material: Material) -> None:
    size = material.size
    table = Table(f"Image search by seed, {size.seed_splits} splits", [f"seed {seed}" for seed in range(size.seeds)])
    for name in (RNN, CT, DT, SDT):
        found = material.ranks(name, seeds=size.seeds, splits=size.seed_splits)
        means = [float(np.mean([runs[seed].search.mean() for runs in found])) for seed in range(size.seeds)]
        table.add(name, dict(zip(table.columns, means, strict=True)))
    result.tables.append(table)


def _roles(result: RecipeResult, material: Material) -> None:
    size = material.size
    table = Table("Role swap: share of pairs that are right", ["share", "lowest", "highest"], digits={})
    table.digits = dict.fromkeys(table.columns, 3)
    nlp = weft.load("en")
    shares: dict[str, list[float]] = {name: [] for name in (BOW, RNN, CT, DT, SDT)}
    words = material.split(0).table
    for seed in range(size.role_seeds):
        train, dev, test = role_data(nlp, size, material.options.seed + seed)
        for name, own in shares.items():
            network = replace(NETWORKS[name], l2=ROLES.l2, rate=ROLES.rate, every=ROLES.every).with_epochs(ROLES.epochs)
            own.append(role_share(trained(network, words, train, dev, material.options.seed + seed), test))
    for name, own in shares.items():
        table.add(name, {"share": float(np.mean(own)), "lowest": min(own), "highest": max(own)})
    table.note = (
        f"{size.role_pairs:,} generated sentences to train on, {2 * size.role_tests} to test, {size.role_seeds} seeds; "
        f"stand-in images of {size.width:,} dimensions."
    )
    result.tables.append(table)
    result.own(
        "a bag of words gets exactly half of the pairs right: the distance from .5 is at most {bar}",
        *[measured(max(abs(share - 0.5) for share in shares[BOW]), "<=", 0.0)],
    )
    result.own("SDT-RNN gets at least {bar} of the pairs right", measured(float(np.mean(shares[SDT])), ">=", 0.8))


def role_data(nlp: Any, size: Size, seed: int) -> tuple[Data, Data, Data]:
    """Generated sentences with stand-in images: to train on, to choose on, to test; the last two with their swaps."""
    tests = size.role_tests
    drawn = triples(size.role_pairs + 2 * tests, seed)
    n = size.role_pairs
    groups: list[list[Triple]] = [
        drawn[:n],
        *([*own, *(each.swapped for each in own)] for own in (drawn[n : n + tests], drawn[n + tests :])),
    ]
    images = standardized(found := triple_images([each for own in groups for each in own], size.width, seed), found[:n])
    parts = np.split(images, np.cumsum([len(own) for own in groups])[:-1])
    train, dev, test = (
        Data(caption_trees(nlp.pipe(each.active for each in own)), np.arange(len(own)), part)
        for own, part in zip(groups, parts, strict=True)
    )
    return train, dev, test


def role_share(model: Trained, test: Data) -> float:
    """The share of sentences that score higher with their image than with that of the sentence with exchanged roles."""
    scores = model.encode(test.trees) @ model.ranker.project(test.images).T
    places = np.arange(len(scores))
    return Outcome.of(scores[places, places], scores[places, np.roll(places, len(places) // 2)]).share


def _voices(result: RecipeResult, material: Material) -> None:
    """Own sentences in the active and the passive; the distance of a pair over the mean distance of all others."""
    pairs = triples(ACTIVE, 7)
    nlp = weft.load("en")
    active, passive = (caption_trees(nlp.pipe(texts)) for texts in _both(pairs))
    table = Table("Active and passive: distance over that of other sentences", ["distance", "nearest"], digits={})
    table.digits = {"distance": 3, "nearest": 2}
    values = {}
    for name in (BOW, RNN, DT, SDT):
        found = []
        for seed in range(material.size.seeds):
            model = material.network(name, 0, seed)
            found.append(_distances(model.encode(active), model.encode(passive)))
        values[name] = np.mean([ratios for ratios, _ in found], axis=0)
        table.add(name, {"distance": float(values[name].mean()), "nearest": float(np.mean([n for _, n in found]))})
    table.note = f"{ACTIVE} sentences of our own; nearest: the share whose nearest passive is their own."
    result.tables.append(table)
    one, other = (np.stack([values[name], np.ones(ACTIVE)], axis=1) for name in (SDT, RNN))
    difference = paired_bootstrap(one, other, _mean_rank, material.size.samples, material.options.seed)
    text = "active and passive are nearer to each other with labels than in a chain"
    result.claim(text, compared(difference, "SDT-RNN - Recurrent NN", "<", scale=1))


def _both(pairs: list[Triple]) -> tuple[list[str], list[str]]:
    return [each.active for each in pairs], [each.passive for each in pairs]


def _distances(one: Floats, other: Floats) -> tuple[Floats, float]:
    """For every pair its distance over the mean distance to the others, and the share of nearest ones."""
    table = np.linalg.norm(one[:, None] - other[None], axis=2)
    own, n = np.diag(table), len(table)
    rest = (table.sum(axis=1) - own) / (n - 1)
    return own / np.where(rest > 0, rest, 1.0), float((table.argmin(axis=1) == np.arange(n)).mean())


def _norms(result: RecipeResult, material: Material) -> None:
    model = material.network(SDT, 0, 0)
    edges = model.ranker.network.parameters["edges"]
    norms = np.linalg.norm(edges, axis=(1, 2))
    away = np.linalg.norm(edges - np.eye(edges.shape[1]), axis=(1, 2))
    table = Table("Labels with the largest matrices", ["norm", "distance from the identity"])
    for k in np.argsort(-norms)[:9].tolist():
        table.add(model.encoder.matrices[k], {"norm": float(norms[k]), "distance from the identity": float(away[k])})
    table.note = (
        "SDT-RNN, the first split. The paper: nsubj, poss, auxpass, prep_at, prep_in_front_of, nsubjpass, pobj."
    )
    result.tables.append(table)


def _speed(result: RecipeResult, material: Material) -> None:
    model, trees = material.network(SDT, 0, 0), material.pascal.trees[: material.size.captions]
    structures = model.encoder.structures(trees)
    network, vectors = model.ranker.network, model.vectors
    network.encode(structures.batch(), vectors)
    seconds = []
    for _ in range(3):
        start = time.process_time()
        found = network.encode(structures.batch(), vectors)
        seconds.append(time.process_time() - start)
    start = time.process_time()
    wanted = node_by_node(structures, vectors, network.parameters)
    slow = time.process_time() - start
    table = Table(f"Composing {len(trees):,} captions", ["CPU s"], digits={"CPU s": 3})
    table.add("by height", {"CPU s": min(seconds)})
    table.add("node by node", {"CPU s": slow})
    result.tables.append(table)
    result.own("both give the same vectors, to at most {bar}", measured(_apart(found, wanted), "<=", 1e-10, digits=13))
    if material.size.captions >= 4000:
        result.own("by height is at least {bar} times as fast", measured(slow / min(seconds), ">=", 10))


def _apart(one: Floats, other: Floats) -> float:
    return float(np.abs(one - other).max())


def node_by_node(structures: Structures, vectors: Floats, parameters: dict[str, Floats]) -> Floats:
    """Root vectors of dependency trees by a loop over nodes, children first."""
    found = []
    for k in range(len(structures)):
        nodes = range(int(structures.offsets[k]), int(structures.offsets[k + 1]))
        first = nodes.start
        sums = {i: structures.shares[i] * (parameters["input"] @ vectors[structures.words[i]]) for i in nodes}
        for i in sorted(nodes, key=lambda node: structures.heights[node]):
            state = np.tanh(sums[i])
            parent, matrix = structures.parents[i], structures.matrices[i]
            if parent < 0:
                found.append(state)
            else:
                sent = state if matrix == IDENTITY else parameters["edges"][matrix] @ state
                sums[first + parent] += structures.factors[i] * sent
    return np.array(found)
