"""Ganchev and Pereira (2007): a few labelled sequences, and the others labelled jointly with them.

A labelled set and a test set are sampled, a CRF is trained on the first, and the second is labelled by the CRF, by the
vote of the nearest labelled parts, and by constrained cuts (`weft.tasks.labelling.transduce`): citations (Cora, four
fields), noun phrases (CoNLL-2000), tags (English-EWT) and generated utterances in place of pitch accents.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.errors import DataError
from weft.evaluate.significance import signed_rank
from weft.formats.conllu import files as conllu
from weft.infer.chains.chain import Chain
from weft.recipes.claims import gain, measured
from weft.recipes.framework import Curve, RecipeOptions, RecipeResult, Table
from weft.recipes.variation import Variation
from weft.tasks.labelling.transduce import TiedParts, TogetherSettings, choose_beta, part_vectors
from weft.tasks.tagging.tagger import Tagger, TaggerSettings
from weft.text.doc import Doc

SLUG = "constrained-min-cuts"
CORA = ("sequence/cora-references/ref.train", "sequence/cora-references/ref.test")
CHUNKS = "chunking/conll2000/train.txt.gz"
EWT = "treebanks/ud/English-EWT/train.conllu.gz"
#: The labellers' features. The paper does not list its own.
WORDS = "w[-1..1].lower y[-1]"
CHUNKING = "w[0] t[0] t[-1] t[1] t[-1]|t[0] t[0]|t[1] y[-1]"
TAGGING = "w[0].lower w[0].suffix1..3 w[0].shape y[-1]"
N_BINARY, N_REAL = 10, 21
NUMBERS = " ".join(f"f{i}[0]" for i in range(N_BINARY + N_REAL)) + " y[-1]"
BETAS = (0.1, 0.3, 1.0, 3.0, 10.0)
#: Accuracy in the paper: CRF, cuts.
PAPER = {
    "Cora 40:80": (84.5, 88.8), "NP 20:40": (87.6, 88.2), "NP 40:80": (90.6, 89.6),
    "generated 4:80": (71.2, 69.4), "generated 40:80": (72.5, 74.4), "generated 40:200": (73.1, 74.3),
}  # fmt: skip


@dataclass(frozen=True)
class Size:
    """Sample sizes."""

    draws: int = 10
    sweep_draws: int = 4
    spreads: tuple[float, ...] = (0.02, 0.1, 0.3, 0.6, 1.5)


QUICK = Size(draws=2, sweep_draws=1, spreads=(0.02, 1.5))


@dataclass
class Problem:
    """Sequences with labels in the column xpos, one document each, and how they are labelled."""

    docs: Sequence[Doc]
    templates: str
    fields: dict[str, str] = field(default_factory=dict)
    components: int = 100

    def draw(self, labelled: int, unlabelled: int, seed: int) -> tuple[list[Doc], list[Doc]]:
        """Training sequences and sequences to label, all different."""
        order = np.random.default_rng(seed).permutation(len(self.docs))
        chosen = [self.docs[i] for i in order[: labelled + unlabelled].tolist()]
        return chosen[:labelled], chosen[labelled:]

    def train(self, docs: Sequence[Doc], variance: float = 10.0) -> Tagger:
        """A CRF with a Gaussian prior of this variance."""
        tagger = Tagger(TaggerSettings(
            templates=self.templates, fields=dict(self.fields), learner="crf", column="xpos", dictionary=0,
            sigma=variance**0.5, min_count=1, precision="float32", prune=0.0,
        ))  # fmt: skip
        tagger.fit(docs)
        return tagger


@dataclass
class Scores:
    """Accuracy by row and draw, and the cost of the cuts."""

    rows: dict[str, list[float]] = field(default_factory=dict)
    betas: list[float] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)
    parts: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    collapsed: int = 0

    def mean(self, row: str) -> float:
        return float(np.mean(self.rows[row]))

    def gains(self, row: str, over: str = "CRF") -> NDArray[np.float64]:
        return np.array(self.rows[row]) - np.array(self.rows[over])


def citations(options: RecipeOptions) -> Problem:
    """Cora: references with the fields author, title, date and other."""
    docs = []
    for name in CORA:
        path = options.find(name)
        rows: list[list[str]] = []
        for number, line in enumerate([*path.read_text(encoding="utf-8").splitlines(), ""], 1):
            if line.strip():
                rows.append(line.rsplit(maxsplit=1))
                if len(rows[-1]) != 2:
                    raise DataError(f"{path}, line {number}: expected a token and its field, got {line!r}")
            elif rows:
                labels = [label if label in ("author", "title", "date") else "other" for _, label in rows]
                docs.append(Doc.from_words([[token for token, _ in rows]], xpos=[labels]))
                rows = []
    return Problem(docs, WORDS)


def noun_phrases(options: RecipeOptions, most: int = 2000) -> Problem:
    """CoNLL-2000: B, I and O of noun phrases; the tags are in the column upos."""
    import gzip

    docs = []
    with gzip.open(options.find(CHUNKS), "rt", encoding="utf-8") as lines:
        rows: list[list[str]] = []
        for line in lines:
            if line.strip():
                rows.append(line.split())
            elif rows:
                words, tags, chunks = zip(*rows, strict=True)
                labels = [chunk[0] if chunk.endswith("-NP") else "O" for chunk in chunks]
                docs.append(Doc.from_words([list(words)], upos=[list(tags)], xpos=[labels]))
                rows = []
                if len(docs) == most:
                    break
    return Problem(docs, CHUNKING, {"t": "upos"})


def tags(options: RecipeOptions, most: int = 2000) -> Problem:
    """English-EWT: universal tags of sentences of at least four words."""
    docs = []
    for doc in conllu.read(str(options.find(EWT))):
        for sentence in doc.sentences:
            words = [word.form for word in sentence]
            if len(words) >= 4:
                docs.append(Doc.from_words([words], xpos=[[word.upos for word in sentence]]))
        if len(docs) >= most:
            break
    return Problem(docs[:most], TAGGING)


def utterances(shift: float, n: int = 280, seed: int = 0) -> Problem:
    """Generated: two labels of a Markov chain, 31 features shifted by `shift` with the label, and by utterance."""
    random = np.random.default_rng(seed)
    direction = random.normal(size=N_BINARY + N_REAL)
    docs = []
    for _ in range(n):
        length = int(random.integers(8, 21))
        labels = [int(random.random() < 0.5)]
        for _ in range(length - 1):
            stay = random.random() < (0.35, 0.45)[labels[-1]]
            labels.append(labels[-1] if stay else 1 - labels[-1])
        sign = 2.0 * np.array(labels)[:, None] - 1.0
        values = random.normal(size=(length, N_BINARY + N_REAL)) + shift * sign * direction
        values += 0.3 * random.normal(size=N_BINARY + N_REAL)
        values[:, :N_BINARY] = values[:, :N_BINARY] > 0
        columns: dict[str, Any] = {
            f"f{i}": [[f"{value:.3f}" for value in values[:, i]]] for i in range(values.shape[1])
        }
        docs.append(Doc.from_words([["w"] * length], xpos=[[str(label) for label in labels]], **columns))
    return Problem(docs, NUMBERS, {f"f{i}": f"f{i}:real" for i in range(N_BINARY + N_REAL)}, components=0)


def clusters(spread: float, n: int = 120, seed: int = 0, kinds: int = 6, dimensions: int = 3) -> Problem:
    """Generated: words of several kinds, each kind with one label and its own centre in space.

    No hyperplane separates the labels, so a CRF cannot learn them; neighbours identify them while the kinds are
    separated.
    """
    random = np.random.default_rng(seed)
    centres = random.normal(size=(2, kinds, dimensions))
    docs = []
    for _ in range(n):
        labels = random.integers(0, 2, size=int(random.integers(8, 21)))
        values = centres[labels, random.integers(0, kinds, size=len(labels))]
        values = values + spread * random.normal(size=values.shape)
        columns: dict[str, Any] = {f"f{i}": [[f"{value:.3f}" for value in values[:, i]]] for i in range(dimensions)}
        docs.append(Doc.from_words([["w"] * len(labels)], xpos=[[str(label) for label in labels]], **columns))
    names = [f"f{i}" for i in range(dimensions)]
    templates = " ".join(["true", *(f"{name}[0]" for name in names), "y[-1]"])
    return Problem(docs, templates, {name: f"{name}:real" for name in names}, components=0)


def vote(tagger: Tagger, labelled: Sequence[Doc], unlabelled: Sequence[Doc], k: int, components: int) -> list[str]:
    """Labels by the k nearest labelled parts, decoded as paths: equivalent to a graph without unlabelled parts."""
    from sklearn.neighbors import NearestNeighbors

    from weft.features.representations.principal import principal_components

    space = tagger._trained().space
    known = space.ids([label for doc in labelled for label in tagger.gold(doc)]).astype(np.int64)
    vectors, is_part = part_vectors(tagger, [*labelled, *unlabelled])
    parts = np.flatnonzero(is_part)
    points = principal_components(vectors[parts], components) if components else vectors[parts]
    of_known = parts < len(known)
    near = NearestNeighbors(n_neighbors=min(k, int(of_known.sum()))).fit(points[of_known])
    ids = near.kneighbors(points[~of_known], return_distance=False)
    pair = known[parts[of_known] - 1] * space.n_states + known[parts[of_known]]
    scores = np.zeros((vectors.shape[0] - len(known), space.n_states**2))
    rows = np.repeat(parts[~of_known] - len(known), ids.shape[1])
    np.add.at(scores, (rows, pair[ids].ravel()), 1.0)
    offsets = np.concatenate([[0], np.cumsum([doc.n_words for doc in unlabelled])])
    chain = Chain(np.zeros((len(scores), space.n_states)), scores.reshape(len(scores), space.n_states, -1), offsets)
    return [space.labels[tag] for tag in chain.best().tolist()]


def compare(
    problem: Problem, labelled: int, unlabelled: int, draws: Sequence[int], variances: Sequence[float] = (10.0,),
    betas: Sequence[float] = (), choose: bool = True,
) -> Scores:  # fmt: skip
    """Accuracy of every row on every draw. The labeller behind the cuts uses the first of the variances."""
    scores = Scores()

    def note(row: str, gold: Sequence[str], found: Sequence[str]) -> None:
        right = sum(a == b for a, b in zip(gold, found, strict=True))
        scores.rows.setdefault(row, []).append(100 * right / len(gold))

    settings = TogetherSettings(components=problem.components)
    for draw in draws:
        train, test = problem.draw(labelled, unlabelled, draw)
        taggers = [problem.train(train, variance) for variance in variances]
        gold = [label for doc in test for label in taggers[0].gold(doc)]
        for variance, tagger in zip(variances, taggers, strict=True):
            scorer = tagger._trained()
            name = "CRF" if variance == variances[0] else f"CRF, variance {variance:g}"
            note(name, gold, [scorer.space.labels[tag] for tag in scorer.chain(test).best().tolist()])
        note("vote of 5 labelled parts", gold, vote(taggers[0], train, test, 5, problem.components))
        values: dict[str, float] = {f"cuts, beta {beta:g}": beta for beta in betas}
        if choose:
            values["cuts, beta chosen"], _ = choose_beta(problem.train, train, BETAS, settings)
            scores.betas.append(values["cuts, beta chosen"])
        started = time.process_time()
        tied = TiedParts.of(taggers[0], train, test, settings)
        tying = time.process_time() - started
        for row, beta in values.items():
            started = time.process_time()
            found = tied.cut(beta)
            note(row, gold, found.labels)
            if row == "cuts, beta chosen":
                scores.seconds.append(tying + time.process_time() - started)
                scores.gaps.append(found.relaxation.gap)
                scores.parts.append(found.parts)
            if beta == 0:
                scores.collapsed += found.collapsed is not None
    return scores


VARIATION = Variation((Size,))


def run(options: RecipeOptions) -> RecipeResult:
    """The experiment."""
    size = options.varied(QUICK if options.quick else Size())
    result = RecipeResult(SLUG)
    draws = range(options.seed, options.seed + size.draws)
    cora, phrases = citations(options), noun_phrases(options)
    utterance = utterances(0.15, seed=options.seed)
    settings: dict[str, tuple[Problem, int, int]] = {
        "Cora 40:80": (cora, 40, 80), "NP 20:40": (phrases, 20, 40), "NP 40:80": (phrases, 40, 80),
        "tags 40:80": (tags(options), 40, 80), "generated 4:80": (utterance, 4, 80),
        "generated 40:80": (utterance, 40, 80), "generated 40:200": (utterance, 40, 200),
    }  # fmt: skip
    if options.quick:
        settings = {name: settings[name] for name in ("Cora 40:80", "NP 20:40")}
    found: dict[str, Scores] = {}
    for name, (problem, labelled, unlabelled) in settings.items():
        full = name in ("Cora 40:80", "NP 40:80")
        found[name] = compare(
            problem, labelled, unlabelled, draws if full else draws[: max(2, size.draws // 2)],
            (10.0, 100.0, 1000.0) if full else (10.0,), (0.0, *BETAS) if full else (0.0,),
        )  # fmt: skip
    _table(result, found)
    _claims(result, found)
    _sweep(result, size, options)
    result.notes.append(
        "Pitch accents are not public; generated utterances stand in their place, and the paper's figures beside them "
        "are for pitch accents. Beta is chosen by cross-validation on the labelled sequences of each draw."
    )
    return result


def _table(result: RecipeResult, found: Mapping[str, Scores]) -> None:
    rows = list(dict.fromkeys(row for scores in found.values() for row in scores.rows))
    table = Table("Accuracy of labels, mean of draws", list(found))
    for row in rows:
        ours, spread = {}, {}
        for name, scores in found.items():
            if row in scores.rows:
                ours[name] = scores.mean(row)
                error = 1.96 * float(np.std(scores.rows[row], ddof=1)) / len(scores.rows[row]) ** 0.5
                spread[name] = (ours[name] - error, ours[name] + error)
        at = {"CRF": 0, "cuts, beta chosen": 1}.get(row)
        paper = {} if at is None else {name: PAPER[name][at] for name in found if name in PAPER}
        table.add(row, ours, paper, spread)
    table.note = "Intervals: mean of draws +- 1.96 standard errors. The paper's CRF for Cora has the variance 10."
    gains = Table(
        "Cuts with beta chosen, less the CRF",
        ["points", "draws ahead", "of", "signed-rank p", "largest gap", "parts", "CPU s", "collapsed at beta 0"],
        digits={"draws ahead": 0, "of": 0, "signed-rank p": 4, "largest gap": 5, "parts": 0, "collapsed at beta 0": 0},
    )
    for name, scores in found.items():
        each = scores.gains("cuts, beta chosen")
        gains.add(name, {
            "points": float(each.mean()), "draws ahead": int((each > 0).sum()), "of": len(each),
            "signed-rank p": signed_rank(each), "largest gap": max(scores.gaps), "parts": float(np.mean(scores.parts)),
            "CPU s": float(np.mean(scores.seconds)), "collapsed at beta 0": scores.collapsed,
        })  # fmt: skip
    result.tables += [table, gains]


def _claims(result: RecipeResult, found: Mapping[str, Scores]) -> None:
    cora = found["Cora 40:80"].gains("cuts, beta chosen")
    result.claim("Cora: cuts are above the CRF by {bar} points or more",
                 gain(cora.mean(), p=signed_rank(cora), sense=">=", bar=2))  # fmt: skip
    for name in ("NP 20:40", "NP 40:80"):
        if name in found:
            each = found[name].gains("cuts, beta chosen")
            result.claim("noun phrases: cuts gain less than {bar} point", measured(each.mean(), "<", 1, name))
    for what, names in (("text", [name for name in found if not name.startswith("generated")]),
                        ("utterances", [name for name in found if name.startswith("generated")])):  # fmt: skip
        gap = max((gap for name in names for gap in found[name].gaps), default=0.0)
        result.own(f"every labelling of {what} is within {{bar}} % of its bound",
                   measured(100 * gap, "<=", 1, "largest gap", 3, "%"), required=what == "text")  # fmt: skip


def _sweep(result: RecipeResult, size: Size, options: RecipeOptions) -> None:
    """Generated word clusters, from tight ones to none."""
    gains: list[tuple[float, float]] = []
    for spread in size.spreads:
        scores = compare(
            clusters(spread, 120, options.seed), 10, 60, range(size.sweep_draws), choose=False, betas=(0.3,)
        )
        gains.append((spread, float(scores.gains("cuts, beta 0.3").mean())))
    result.curves.append(
        Curve("Gain over the CRF, 10 labelled sequences", "spread of clusters", "points", {"cuts, beta 0.3": gains})
    )
    (tight, most), (wide, least) = gains[0], gains[-1]
    result.own("generated: where parts fall into clusters, cuts gain {bar} points or more",
               measured(most, ">=", 10, f"spread {tight:g}", 1))  # fmt: skip
    result.own("generated: where parts overlap, cuts gain less than {bar} points",
               measured(least, "<", 2, f"spread {wide:g}", 1))  # fmt: skip
