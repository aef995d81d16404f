"""Talukdar et al. (2008): how far labels of a few seeds reach over what text and tables say together.

All seeds of a draw are left out of the test set of every row, however many of them a row uses, so that all rows are
scored on the same instances. "Full" counts an instance without its gold class among the five best labels as 0, "found"
scores only instances that have any label.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from weft.arrays import Bools, Floats, Ids, Ints
from weft.evaluate.significance import signed_rank
from weft.graph.csr import Graph
from weft.graph.propagation.classes import reciprocal_rank
from weft.graph.propagation.rules import adsorption, build
from weft.graph.propagation.seeds import Seeds
from weft.graph.propagation.top import TopRows
from weft.lexical.clusters.monolingual import load_clusters
from weft.lexical.harvest.wordnet_isa import is_hypernym
from weft.lexical.instances.coherent import labelled_instances
from weft.lexical.resources.synsets import Database, open_wordnet
from weft.recipes.claims import gain, mean_of, measured
from weft.recipes.extraction.adsorption_class_instances import corpora
from weft.recipes.extraction.adsorption_class_instances.corpora import Gold, Pairs
from weft.recipes.extraction.adsorption_class_instances.generated import generated_world, with_hubs
from weft.recipes.framework import RecipeOptions, RecipeResult, Table
from weft.recipes.variation import Variation

CLUSTERS = "lexicons/glove-6b-clusters/paths.gz"
#: MRR full, MRR of found instances and the number of those, in the paper.
PAPER = {
    "text, its own labels": (0.16, 0.47, 2718), "tables, their own labels": (0.15, 0.21, 5747),
    "Adsorption, 1 seed": (0.26, 0.45, 4687), "Adsorption, 5 seeds": (0.29, 0.48, 4687),
    "Adsorption, 10 seeds": (0.30, 0.51, 4687), "Adsorption, 25 seeds": (0.32, 0.55, 4687),
}  # fmt: skip
RANKED = 5
SMALL = ("city", "drug", "mammal", "language", "country")
LABELS = 40
#: How many pairs of a source are looked up in WordNet.
JUDGED = 2_000


@dataclass(frozen=True)
class Size:
    """Draws of seeds, generated worlds, seeds per class, sources per pair of tables, vertices of the timed graph."""

    draws: int = 2
    worlds: int = 12
    seeds: tuple[int, ...] = (1, 5, 10, 25)
    sources: int = 2
    vertices: int = 125_000
    classes: int = 10


VARIATION = Variation((Size,), ("labels", "hubs", "patterns", "generated", "time"))
QUICK = Size(draws=2, worlds=4, seeds=(1, 5), vertices=20_000, classes=5)


@dataclass(frozen=True)
class Scores:
    """The reciprocal rank of the gold class of every test instance, and which instances have any label."""

    ranks: Floats
    found: Bools

    @property
    def full(self) -> float:
        return float(self.ranks.mean())

    @property
    def of_found(self) -> float:
        return float(self.ranks[self.found].mean()) if self.found.any() else 0.0

    def by_class(self, labels: Ids) -> Floats:
        return np.array([self.ranks[labels == label].mean() for label in np.unique(labels)])


def run(options: RecipeOptions) -> RecipeResult:
    """All tables of the system page."""
    size = options.varied(QUICK if options.quick else Size())
    result = RecipeResult("adsorption-class-instances")
    database = open_wordnet()
    if options.wants("labels") or options.wants("hubs"):
        counted = corpora.read_hearst(options.find(corpora.HEARST))
        columns = corpora.read_tables(options.find(corpora.TABLES))
        text = corpora.weighted(counted)
    if options.wants("labels"):
        pairs = Pairs.of(text=text, tables=corpora.from_tables(counted, columns, size.sources, together=True))
        _labels(result, pairs, gold_of(pairs, database), size, options.seed)
    if options.wants("hubs"):
        spoiled = with_hubs(columns, 0.2, options.seed)
        hubs = Pairs.of(text=text, tables=corpora.from_tables(counted, spoiled, size.sources))
        _hubs(result, hubs, gold_of(hubs, database), size, options.seed)
    if options.wants("patterns"):
        _patterns(result, options, database)
    if options.wants("generated"):
        _generated(result, size, options.seed)
    if options.wants("time"):
        _time(result, size, options.seed)
    return result


def gold_of(pairs: Pairs, database: Database) -> Gold:
    """The gold classes of the strings of a graph."""
    return Gold.of(pairs, corpora.gold_classes(database, set(pairs.names)))


def seeds_of(pairs: Pairs, gold: Gold, positions: Ints) -> Seeds:
    """Some gold instances as seeds."""
    return Seeds.of(len(pairs.names), gold.nodes[positions], gold.labels[positions], n_labels=len(gold.classes))


def first(drawn: Sequence[Ints], count: int) -> Ints:
    """The first so many seeds of every class."""
    return np.concatenate([own[:count] for own in drawn])


def of_test(rows: TopRows, gold: Gold, test: Ints) -> Scores:
    """Scores of a run."""
    return Scores(
        reciprocal_rank(rows.first(None), gold.nodes[test], gold.labels[test]), rows.answers()[gold.nodes[test]] >= 0
    )


def own_labels(pairs: Pairs, which: str, gold: Gold, test: Ints, only: bool = False) -> Scores:
    """Scores of an extractor's own labels; with `only`, of those that are gold classes."""
    names, known = list(pairs.names), set(gold.classes)
    labels = pairs.own_labels(which)
    ranks, found = np.zeros(len(test)), np.zeros(len(test), dtype=np.bool_)
    for i, at in enumerate(test.tolist()):
        own = labels.get(names[gold.nodes[at]], [])
        own = [label for label in own if label in known or not only][:RANKED]
        found[i] = bool(own)
        name = gold.classes[gold.labels[at]]
        if name in own:
            ranks[i] = 1.0 / (own.index(name) + 1)
    return Scores(ranks, found)


def _labels(result: RecipeResult, pairs: Pairs, gold: Gold, size: Size, seed: int) -> None:
    graphs = {"": pairs.graph("text", "tables"), ", text": pairs.graph("text"), ", tables": pairs.graph("tables")}
    rows: dict[str, list[Scores]] = {}
    tests: list[Ints] = []
    for draw in range(size.draws):
        drawn = gold.draw(max(size.seeds), seed + draw)
        test = np.setdiff1d(np.arange(len(gold.nodes)), first(drawn, max(size.seeds)))
        tests.append(test)
        for which, name in (("text", "text"), ("tables", "tables")):
            whose = "its" if which == "text" else "their"
            rows.setdefault(f"{name}, {whose} own labels", []).append(own_labels(pairs, which, gold, test))
        rows.setdefault("text, own labels, gold classes only", []).append(
            own_labels(pairs, "text", gold, test, only=True)
        )
        for count in size.seeds:
            seeds = seeds_of(pairs, gold, first(drawn, count))
            said = f"{count} seed{'s' if count > 1 else ''}"
            for where, graph in graphs.items():
                found = TopRows.of(adsorption(graph, seeds).run(10), RANKED)
                rows.setdefault(f"Adsorption{where}, {said}", []).append(of_test(found, gold, test))
            system = adsorption(graphs[""], seeds, shadow=True)
            shadow = TopRows.of(system.run(10), RANKED).first(system.shown)
            rows.setdefault(f"Adsorption, shadow, {said}", []).append(of_test(shadow, gold, test))
            found = TopRows.of(adsorption(graphs[""], seeds, abandon=False).run(10), RANKED)
            rows.setdefault(f"Adsorption, no abandonment, {said}", []).append(of_test(found, gold, test))
            found = TopRows.of(build("mad", graphs[""], seeds).run(10), RANKED)
            rows.setdefault(f"MAD, {said}", []).append(of_test(found, gold, test))
    table = Table(
        "Label recall", ["MRR full", "MRR found", "found"], digits={"MRR full": 3, "MRR found": 3, "found": 0},
        note=f"{len(gold.classes)} classes of WordNet, {len(tests[0]):,} test instances; means of {size.draws} draws "
        "of seeds. Of a class at most half of the instances are seeds.",
    )  # fmt: skip
    for name, runs in rows.items():
        values = [float(np.mean([getattr(run, part) for run in runs])) for part in ("full", "of_found")]
        number = float(np.mean([run.found.sum() for run in runs]))
        paper = dict(zip(table.columns, PAPER[name], strict=True)) if name in PAPER else None
        table.add(name, dict(zip(table.columns, [*values, number], strict=True)), paper)
    result.tables.append(table)
    _recall_claims(result, rows, [gold.labels[test] for test in tests], size)
    _related(result, pairs, gold, graphs[""], seed)
    _rounds(result, pairs, gold, graphs[""], seed)


def _recall_claims(result: RecipeResult, rows: dict[str, list[Scores]], labels: list[Ids], size: Size) -> None:
    def over(better: str, worse: str, where: str, bar: float = 0.0):  # type: ignore[no-untyped-def]
        """The difference of two rows in points, tested over classes."""
        ours, theirs = (
            np.mean([run.by_class(own) for run, own in zip(rows[name], labels, strict=True)], axis=0)
            for name in (better, worse)
        )
        difference = np.mean([a.full - b.full for a, b in zip(rows[better], rows[worse], strict=True)])
        return gain(100 * float(difference), p=signed_rank(ours - theirs), where=where, bar=bar)

    for count in [count for count in size.seeds if count > 1]:
        for own in ("text, its own labels", "tables, their own labels"):
            result.claim(
                "Adsorption over both sources has a higher full MRR than either source's own labels, from 5 seeds on",
                over(f"Adsorption, {count} seeds", own, f"{count} seeds, {own.split(',')[0]}"), required=True,
            )  # fmt: skip
    if size.seeds[0] == 1:
        for own in ("text, its own labels", "tables, their own labels"):
            result.claim("the same with 1 seed per class", over("Adsorption, 1 seed", own, own.split(",")[0]))
    names = [f"Adsorption, {count} seed{'s' if count > 1 else ''}" for count in size.seeds]
    for fewer, more in pairwise(names):
        result.claim(
            "full MRR rises with the number of seeds",
            over(more, fewer, f"{more.split(', ')[1]}"),
        )
    last = names[-1]
    result.claim(
        "the tables let Adsorption label more instances than the text does by itself",
        measured(float(np.mean([a.found.sum() - b.found.sum() for a, b in
                                zip(rows[last], rows["text, its own labels"], strict=True)])), ">", 0, "instances", 0),
    )  # fmt: skip
    result.own("without abandonment full MRR falls, with the most seeds",
               over(last, last.replace("Adsorption", "Adsorption, no abandonment"), last.split(", ")[1]),
               required=False)  # fmt: skip
    result.own(
        "shadow injection is above direct injection in full MRR",
        over(last.replace("Adsorption", "Adsorption, shadow"), last, last.split(", ")[1]),
        required=False,
    )
    alone = last.replace("Adsorption", "Adsorption, text")
    result.own("within Adsorption, both sources are above the text alone in full MRR",
               over(last, alone, last.split(", ")[1]), required=False,
               note="2,000 tables are few beside 300,000 pairs of text.")  # fmt: skip
    result.own("the labels reach beyond a choice among the gold classes that the text names itself",
               over(last, "text, own labels, gold classes only", last.split(", ")[1]), required=False)  # fmt: skip


def _related(result: RecipeResult, pairs: Pairs, gold: Gold, graph: Graph, seed: int) -> None:
    """Which class names the labels of classes reach."""
    names = list(pairs.names)
    known = {pairs.names[label] for _, label, _ in pairs.sources["text"]}
    drawn = gold.draw(5, seed)
    scores = adsorption(graph, seeds_of(pairs, gold, first(drawn, 5))).run(10)
    table = Table("Related classes", ["five best class nodes"], note="Five seeds per class, the first draw.")
    for label in ("city", "composer", "mammal", "drug", "weapon"):
        if label in gold.classes:
            order = np.argsort(-scores[:, gold.classes.index(label)], kind="stable")
            best = [names[at] for at in order[:400].tolist() if at in known and names[at] != label][:5]
            table.add(label, {"five best class nodes": ", ".join(best)})
    result.tables.append(table)


def _rounds(result: RecipeResult, pairs: Pairs, gold: Gold, graph: Graph, seed: int) -> None:
    system = adsorption(graph, seeds_of(pairs, gold, first(gold.draw(5, seed), 5)))
    error = float(np.abs(system.run(10) - system.run(200, tolerance=1e-12)).max())
    result.own(
        "ten rounds are within {bar} of the fixed point, for every label of every node",
        measured(error, "<=", 0.01, "largest difference", 5),
    )  # fmt: skip


def precision_at(scores: Floats, gold: Gold, label: int, positions: Ints, count: int = 100) -> float:
    """The share of the best `count` of some gold instances that are of the class."""
    order = np.argsort(-scores[gold.nodes[positions]], kind="stable")[:count]
    return float((gold.labels[positions[order]] == label).mean())


def _hubs(result: RecipeResult, pairs: Pairs, gold: Gold, size: Size, seed: int) -> None:
    """Single classes against all else, in a graph with strings that say nothing in a fifth of the columns."""
    graph = pairs.graph("text", "tables")
    found: dict[str, dict[str, list[float]]] = {name: {} for name in ("Adsorption", "no abandonment", "MAD", "LP-ZGL")}
    drawn = gold.draw(5, seed)
    test = np.setdiff1d(np.arange(len(gold.nodes)), first(drawn, 5))
    for name in SMALL:
        label = gold.classes.index(name)
        seeds = Seeds.of(len(pairs.names), gold.nodes[drawn[label]], [0] * len(drawn[label]))
        systems = {
            "Adsorption": adsorption(graph, seeds), "no abandonment": adsorption(graph, seeds, abandon=False),
            "MAD": build("mad", graph, seeds), "LP-ZGL": build("lp", graph, seeds),
        }  # fmt: skip
        for system, each in systems.items():
            scores = np.asarray(each.run(10)[:, 0], dtype=np.float64)
            found[system].setdefault(name, []).append(100 * precision_at(scores, gold, label, test))
    table = Table(
        "Precision at 100, five seeds, one class at a time, hubs among the cells", [*SMALL, "mean"],
        note="Candidates are the instances with a gold class; *n/a*, *total*, *unknown*, *other* and *none* are cells "
        "of a fifth of the columns.",
    )  # fmt: skip
    for system, by in found.items():
        means = {name: float(np.mean(values)) for name, values in by.items()}
        table.add(system, {**means, "mean": float(np.mean(list(means.values())))})
    result.tables.append(table)
    ours, other = found["Adsorption"], found["no abandonment"]
    result.own(
        "without abandonment precision at 100 falls where the graph has hubs",
        mean_of({name: float(np.mean(ours[name]) - np.mean(other[name])) for name in SMALL}, "Adsorption over none"),
        required=False, note="Abandonment lowers the scores of well-linked instances for every class.",
    )  # fmt: skip


def _patterns(result: RecipeResult, options: RecipeOptions, database: Database) -> None:
    """Extractor A: is-a pairs of single words before and after clusters must agree on them."""
    counted = corpora.read_hearst(options.find(corpora.HEARST))
    paths = load_clusters(options.find(CLUSTERS))
    labels: dict[str, list[str]] = {}
    for instance, name, _ in counted:
        if instance in paths:
            labels.setdefault(instance, []).append(name)
    groups: dict[str, list[str]] = {}
    for word, path in paths.items():
        if word in labels:
            groups.setdefault(path[:9], []).append(word)
    clusters = [sorted(own) for _, own in sorted(groups.items())]

    def judged(pairs: Sequence[tuple[str, str]]) -> tuple[int, float, int]:
        sample = np.random.default_rng(0).permutation(len(pairs))[:JUDGED].tolist()
        says = [is_hypernym(database, *pairs[at]) for at in sample]
        known = [say for say in says if say is not None]
        return len(pairs), 100 * float(np.mean(known)), len(known)

    table = Table("Pairs of text, and clusters", ["pairs", "judged", "precision"], digits={"pairs": 0, "judged": 0})
    rows = {"all pairs": [(instance, name) for instance, own in labels.items() for name in own]}
    for j, k in ((0.05, 10), (0.1, 10), (0.2, 10)):
        found = labelled_instances(clusters, labels, j, k)
        rows[f"coherent {j:g}, specific {k}"] = [(instance, name) for instance, name, _ in found]
    kept = {}
    for name, pairs in rows.items():
        if pairs:
            total, precision, known = judged(pairs)
            table.add(name, {"pairs": total, "judged": known, "precision": precision})
            kept[name] = precision
    table.note = (
        f"Words in {len(clusters)} clusters of GloVe vectors; up to {JUDGED:,} pairs are "
        "looked up in WordNet, and judged by its hypernyms where it has both words."
    )
    result.tables.append(table)
    result.own(
        "clusters that agree on a class name make pairs more precise",
        *(measured(value - kept["all pairs"], ">", 0, name) for name, value in kept.items() if name != "all pairs"),
        required=False,
    )  # fmt: skip


def generated_scores(classes: int, seed: int) -> dict[str, float]:
    """Full MRR on generated sources: own labels of both, and Adsorption over both, five seeds per class."""
    world = generated_world(classes, 100, seed)
    counted = [(i, c, 5) for i, c, _ in world.precise]
    tables = corpora.from_tables(counted, world.columns, 2)
    pairs = Pairs.of(text=[(i, c, 1.0) for i, c, _ in world.precise], tables=tables)
    gold = Gold.of(pairs, world.gold)
    drawn = gold.draw(5, seed)
    test = np.setdiff1d(np.arange(len(gold.nodes)), first(drawn, 5))
    found = {f"{which}, own labels": own_labels(pairs, which, gold, test).full for which in ("text", "tables")}
    seeds = seeds_of(pairs, gold, first(drawn, 5))
    for name, which in (("Adsorption", ("text", "tables")), ("Adsorption, text", ("text",))):
        rows = TopRows.of(adsorption(pairs.graph(*which), seeds).run(10), RANKED)
        found[name] = of_test(rows, gold, test).full
    return found


def _generated(result: RecipeResult, size: Size, seed: int) -> None:
    runs = [generated_scores(size.classes, seed + i) for i in range(size.worlds)]
    table = Table("Generated sources, five seeds", ["MRR full"], digits={"MRR full": 3})
    for name in runs[0]:
        table.add(name, {"MRR full": float(np.mean([run[name] for run in runs]))})
    table.note = "Text names a fifth of the instances without errors; columns mix up to three classes, and have hubs."
    result.tables.append(table)
    for own in ("text, own labels", "tables, own labels"):
        result.own(
            "on generated sources, Adsorption over both is above either source's own labels",
            mean_of({f"seed {i}": 100 * (run["Adsorption"] - run[own]) for i, run in enumerate(runs)}, own),
        )  # fmt: skip


def _time(result: RecipeResult, size: Size, seed: int) -> None:
    table = Table("Time of 10 rounds, 40 labels", ["edges", "CPU s", "ns per edge and label"], digits={"edges": 0})
    seconds = {}
    for degree in (20, 10, 5, 2.5):
        graph, seeds = random_graph(size.vertices, degree, seed)
        system = adsorption(graph, seeds)
        start = time.process_time()
        system.run(10)
        seconds[graph.n_edges] = time.process_time() - start
        each = 1e9 * seconds[graph.n_edges] / graph.n_edges / 10 / LABELS
        table.add(
            f"{size.vertices:,} nodes, degree {2 * degree:g}",
            {"edges": graph.n_edges, "CPU s": seconds[graph.n_edges], "ns per edge and label": each},
        )
    result.tables.append(table)
    most, least = max(seconds), min(seconds)
    result.own("at this speed, 10 rounds over 20 million edges take at most {bar} seconds of one core",
               measured(seconds[most] * 20_000_000 / most, "<=", 300, f"from {most:,} edges", unit="s"))  # fmt: skip
    result.own("8 times the edges take at most {bar} times as long", measured(seconds[most] / seconds[least], "<=", 10))


def random_graph(n: int, degree: float, seed: int, near: int | None = None) -> tuple[Graph, Seeds]:
    """A random graph with `degree` edges per vertex, float32, and a thousandth of them as seeds of 40 labels.

    With `near`, the ends of an edge are less than that many vertices apart.
    """
    rng = np.random.default_rng(seed)
    u = np.repeat(np.arange(n, dtype=np.int32), 1 + int(degree))[: int(n * degree)]
    v = ((u + rng.integers(1, min(near or n, n), len(u), dtype=np.int32).astype(np.int64)) % n).astype(np.int32)
    graph = Graph.from_edges(n, u, v, rng.random(len(u), dtype=np.float32) + np.float32(0.1))
    at = rng.choice(n, max(LABELS, n // 1000), replace=False)
    return graph, Seeds.of(n, at, rng.integers(0, LABELS, len(at)), n_labels=LABELS)
