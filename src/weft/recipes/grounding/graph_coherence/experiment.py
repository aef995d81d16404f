"""What a sentence graph tells without training: order, places, mixed texts, reading levels.

    discrimination   documents of GUM and 20 permutations each, beside trained grids and the cosine of neighbours
    genres           the same by genre
    weights          the weights of roles drawn at random, in the order S > O > X or in any
    insertion        every sentence of 96 documents taken out and put back
    mixed texts      documents with sentences of others, against themselves: built, in place of summaries
    readability      articles at three levels, parsed by the English model, beside the length of sentences
    speed            generated documents of 40 sentences

The paper's CoNLL-2012 documents, its summaries with ratings and Britannica are not at hand.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft import load
from weft.arrays import Floats
from weft.evaluate.counts import Counts
from weft.evaluate.significance import paired_bootstrap
from weft.graph.sequences import WEIGHTS, score_orders
from weft.progress import progress
from weft.recipes.claims import compared, gain, measured
from weft.recipes.framework import RecipeOptions, RecipeResult, Table
from weft.recipes.grounding.graph_coherence import baselines
from weft.recipes.grounding.graph_coherence.corpora import articles, genre, gum, mixed
from weft.recipes.variation import Variation
from weft.tasks.coherence.graph import SentenceGraph
from weft.tasks.coherence.grid import HEADS, NOUNS
from weft.text.doc import Doc

SLUG = "graph-coherence"
#: The paper's systems: names of weights, and whether they are divided by distance.
PAPER = {"P_U": 0, "P_W": 1, "P_Acc": 2}
SYSTEMS = {
    **{name: (k, False) for name, k in PAPER.items()},
    **{f"{name},Dist": (k, True) for name, k in PAPER.items()},
}
DISTANCE = [name for name in SYSTEMS if name.endswith("Dist")]
INSERTED = ("news", "bio", "academic", "interview", "voyage")
#: The paper's accuracies without and with coreference, on other documents.
ORDERING = {
    "random": (0.496, 0.496), "P_U,Dist": (0.830, 0.833), "P_W,Dist": (0.871, 0.849), "P_Acc,Dist": (0.889, 0.852),
    "ranking grid": (0.877, None),
}  # fmt: skip
PLACED = {"random": 0.028, "P_U,Dist": 0.062, "P_W,Dist": 0.075, "P_Acc,Dist": 0.071}
SUMMARIES = {
    "P_U": 0.8, "P_W": 0.613, "P_Acc": 0.7, "P_U,Dist": 0.65, "P_W,Dist": 0.525, "P_Acc,Dist": 0.7
}  # fmt: skip
BRITANNICA = {
    "P_U": (0.589, 0.444, 0.667), "P_W": (0.579, 0.434, 0.636), "P_Acc": (0.645, 0.465, 0.707),
    "P_U,Dist": (0.589, 0.475, 0.646), "P_W,Dist": (0.570, 0.485, 0.616), "P_Acc,Dist": (0.766, 0.556, 0.657),
}  # fmt: skip
NEAR = 1e-9


@dataclass(frozen=True)
class Size:
    """How much is run."""

    parts: tuple[str, ...] = ("train", "dev", "test")
    permutations: int = 20
    folds: int = 5
    draws: int = 20
    longest: int = 80  #: sentences of a document for insertion
    replaced: tuple[int, ...] = (1, 2, 4, 8)
    articles: int = 188
    generated: int = 1000
    samples: int = 2000


QUICK = Size(("dev", "test"), 5, 3, 3, 40, (2,), 3, 100, 200)
ROWS = ("discrimination", "genres", "weights", "insertion", "mixed texts", "readability", "speed")
VARIATION = Variation((Size,), ROWS)


def run(options: RecipeOptions) -> RecipeResult:
    """All tables."""
    size = options.varied(QUICK if options.quick else Size())
    result, material = RecipeResult(SLUG), Material(options, size)
    steps: dict[str, Callable[[RecipeResult, Material], None]] = {
        "discrimination": _discrimination, "genres": _genres, "weights": _weights, "insertion": _insertion,
        "mixed texts": _mixed, "readability": _readability, "speed": _speed,
    }  # fmt: skip
    with progress("parts", len(steps), "parts") as bar:
        for step in options.chosen(steps).values():
            step(result, material)
            bar.advance(1)
    result.notes.append(
        "Documents, trees and coreference are those of GUM, by people. The paper's documents (CoNLL-2012) need a "
        "licence; its summaries and encyclopaedias are not public. Mixed texts are built, not rated by people."
    )
    return result


class Material:
    """Documents, their graphs, permutations and outcomes, made when first asked for."""

    def __init__(self, options: RecipeOptions, size: Size) -> None:
        self.options, self.size = options, size
        self._kept: dict[str, Any] = {}

    def _once(self, name: str, make: Callable[[], Any]) -> Any:
        if name not in self._kept:
            self._kept[name] = make()
        return self._kept[name]

    @property
    def docs(self) -> list[Doc]:
        found: list[Doc] = self._once("docs", lambda: gum(self.options, self.size.parts))
        return found

    def graphs(self, entities: str = NOUNS) -> list[SentenceGraph]:
        """The graphs of all documents."""
        found: list[SentenceGraph] = self._once(
            f"graphs {entities}", lambda: [SentenceGraph.of(doc, entities) for doc in self.docs]
        )
        return found

    @property
    def orders(self) -> list[Any]:
        """The permutations of every document, none of them its own order."""
        found: list[Any] = self._once(
            "orders", lambda: [g.permutations(self.size.permutations, self.options.seed) for g in self.graphs()]
        )
        return found

    def outcomes(self) -> dict[str, Counts]:
        """Comparisons, decisions and right ones per document, by system; names end in `coref` with coreference."""
        found: dict[str, Counts] = self._once("outcomes", lambda: {**_by_graph(self), **_by_baselines(self)})
        return found


def counts_of(own: Sequence[Any], others: Sequence[Any]) -> Counts:
    """Comparisons of documents with their permutations: a tie is no decision.

    >>> counts_of([2.0], [[1.0, 2.0, 3.0]]).total().recall, counts_of([2.0], [[1.0, 2.0, 3.0]]).total().precision
    (0.3333333333333333, 0.5)
    """
    rows = []
    for mine, theirs in zip(own, others, strict=True):
        scores = np.asarray(theirs, dtype=np.float64)
        near = NEAR * max(1.0, abs(float(mine)))
        rows.append((len(scores), int((np.abs(scores - mine) > near).sum()), int((scores < mine - near).sum())))
    return Counts.of(*np.array(rows, dtype=np.int64).T)


def _by_graph(material: Material) -> dict[str, Counts]:
    found = {}
    for entities, end in ((NOUNS, ""), ("coref", " coref")):
        for name, (column, distance) in SYSTEMS.items():
            graphs = material.graphs(entities)
            own = [graph.scores([np.arange(graph.n)], distance)[0, column] for graph in graphs]
            others = [
                graph.scores(orders, distance)[:, column]
                for graph, orders in zip(graphs, material.orders, strict=True)
            ]  # fmt: skip
            found[name + end] = counts_of(own, others)
    return found


def _by_baselines(material: Material) -> dict[str, Counts]:
    size, grids = material.size, [graph.grid for graph in material.graphs()]
    both = [
        np.concatenate([np.arange(grid.n)[None], orders])
        for grid, orders in zip(grids, material.orders, strict=True)
    ]  # fmt: skip
    rng = np.random.default_rng(material.options.seed)
    fold = rng.permutation(len(grids)) % size.folds
    scores: dict[str, list[Floats]] = {name: [np.zeros(0)] * len(grids) for name in ("generative grid", "ranking grid")}
    features = [baselines.transitions(grid, orders) for grid, orders in zip(grids, both, strict=True)]
    for number in range(size.folds):
        train, test = np.flatnonzero(fold != number).tolist(), np.flatnonzero(fold == number).tolist()
        model = baselines.GenerativeGrid.train([grids[k] for k in train])
        ranked = baselines.ranking_scores(
            [(features[k][:1], features[k][1:]) for k in train], [features[k] for k in test]
        )
        for k, own in zip(test, ranked, strict=True):
            scores["generative grid"][k] = model.scores(grids[k], both[k])
            scores["ranking grid"][k] = own
    graphs = material.graphs()
    cosines = baselines.Cosines([text for graph in graphs for text in graph.texts])
    starts = np.cumsum([0, *(graph.n for graph in graphs)])
    scores["tf-idf neighbours"] = [
        cosines.scores(range(starts[k], starts[k + 1]), orders) for k, orders in enumerate(both)
    ]
    scores["random"] = [rng.random(len(orders)) for orders in both]
    return {name: counts_of([row[0] for row in rows], [row[1:] for row in rows]) for name, rows in scores.items()}


def _discrimination(result: RecipeResult, material: Material) -> None:
    outcomes = material.outcomes()
    columns = ["accuracy", "F", "with coreference", "F with coreference"]
    table = Table(
        f"Discrimination: {len(material.docs)} documents of GUM", columns, digits=dict.fromkeys(columns, 3)
    )  # fmt: skip
    for name in ("random", *SYSTEMS, "tf-idf neighbours", "generative grid", "ranking grid"):
        own, other = outcomes[name].total(), outcomes.get(f"{name} coref")
        row = {"accuracy": own.recall, "F": own.f1}
        row |= {} if other is None else {columns[2]: other.total().recall, columns[3]: other.total().f1}
        paper = {} if name not in ORDERING else dict(zip((columns[0], columns[2]), ORDERING[name], strict=True))
        table.add(name, row, {key: value for key, value in paper.items() if value is not None})
    table.note = "A tie is no decision: accuracy counts it as wrong, F does not. Without distance, all orders tie."
    result.tables.append(table)
    _tests(result, material)

    def over(a: str, b: str, bar: float = 0.0, sense: Any = ">") -> Any:
        found = paired_bootstrap(outcomes[a], outcomes[b], "accuracy", material.size.samples)
        return compared(found, f"{a} over {b}", sense, bar)

    best = max(DISTANCE, key=lambda name: outcomes[name].total().recall)
    result.claim(
        "without training, the best graph ranks documents above permutations as well as a trained grid (difference in "
        "points above {bar}; paper: -2.6, not significant)",
        over(best, "generative grid", -3.0),
    )
    result.claim("counting shared entities ranks better than whether there are any", over("P_W,Dist", "P_U,Dist"))
    result.claim("syntactic roles rank better than counts (paper: .889 against .871)", over("P_Acc,Dist", "P_W,Dist"))
    result.claim(
        "coreference lowers the accuracy of counts and of roles (paper: .871 to .849, .889 to .852)",
        over("P_W,Dist", "P_W,Dist coref"), over("P_Acc,Dist", "P_Acc,Dist coref"),
    )  # fmt: skip
    result.own(
        "every graph is above the chance of .5 by {bar} points",
        *(over(name, "random", 30.0) for name in DISTANCE),
    )  # fmt: skip
    levels = {"P_U,Dist": 0.935, "P_W,Dist": 0.955, "P_Acc,Dist": 0.930}
    if not material.options.quick:
        result.own(
            "accuracies are within {bar} of those that a direct implementation reached on other permutations",
            *(
                measured(abs(outcomes[name].total().recall - level), "<=", 0.015, name, digits=3)
                for name, level in levels.items()
            ),
        )
    result.own(
        "the best graph is above the tf-idf cosine of neighbours", over(best, "tf-idf neighbours"), required=False
    )


def _tests(result: RecipeResult, material: Material) -> None:
    """Paired t-tests over documents, corrected for their number."""
    from scipy.stats import ttest_rel

    outcomes = material.outcomes()
    rates = {name: counts.correct / np.maximum(counts.gold, 1) for name, counts in outcomes.items()}
    pairs = [(name, other) for name in DISTANCE for other in ("generative grid", "ranking grid", "tf-idf neighbours")]
    pairs += [("P_W,Dist", "P_U,Dist"), ("P_Acc,Dist", "P_W,Dist")]
    pairs += [(name, f"{name} coref") for name in DISTANCE]
    table = Table(
        "Discrimination: paired t-tests over documents", ["difference", "t", "p", "p, corrected"],
        digits={"difference": 3, "p": 4, "p, corrected": 4},
    )  # fmt: skip
    for one, other in pairs:
        difference = float((rates[one] - rates[other]).mean())
        found = ttest_rel(rates[one], rates[other]) if np.any(rates[one] != rates[other]) else None
        t, p = (0.0, 1.0) if found is None else (float(found.statistic), float(found.pvalue))
        row = {"difference": difference, "t": t, "p": p, "p, corrected": min(1.0, p * len(pairs))}
        table.add(f"{one} over {other}", row)
    table.note = f"Corrected after Bonferroni for {len(pairs)} tests; accuracies are means over documents here."
    result.tables.append(table)


def _genres(result: RecipeResult, material: Material) -> None:
    outcomes, genres = material.outcomes(), np.array([genre(doc.id) for doc in material.docs])
    names = [*DISTANCE, "tf-idf neighbours", "generative grid"]
    table = Table("Discrimination by genre", ["documents", *names], digits={**dict.fromkeys(names, 3), "documents": 0})
    for own in sorted(set(genres.tolist())):
        inside = genres == own
        row = {name: outcomes[name].select(inside).total().recall for name in names}
        table.add(own, {"documents": int(inside.sum()), **row})
    result.tables.append(table)


def _weights(result: RecipeResult, material: Material) -> None:
    """What the weights of roles matter: drawn in order, drawn freely, and those of the paper."""
    rng = np.random.default_rng(material.options.seed)
    rows: dict[str, list[float]] = {"S > O > X": [], "any": [], "3, 2, 1": []}
    graphs = [graph for graph in material.graphs() if graph.n > 1]
    orders = [own for graph, own in zip(material.graphs(), material.orders, strict=True) if graph.n > 1]

    def accuracy(weights: Sequence[float]) -> float:
        own, others = [], []
        for graph, permutations in zip(graphs, orders, strict=True):
            links = graph.grid.links((0.0, *weights))
            own.append(score_orders(links, [np.arange(graph.n)])[0, 2])
            others.append(score_orders(links, permutations)[:, 2])
        return counts_of(own, others).total().recall

    for _ in range(material.size.draws):
        drawn = 1 - rng.random(3)
        rows["any"].append(accuracy(drawn.tolist()))
        rows["S > O > X"].append(accuracy(np.sort(drawn).tolist()))
    rows["3, 2, 1"].append(accuracy((1.0, 2.0, 3.0)))
    columns = ["mean", "lowest", "highest"]
    table = Table("Discrimination by the weights of roles", columns, digits=dict.fromkeys(columns, 3))
    for name, values in rows.items():
        table.add(name, {"mean": float(np.mean(values)), "lowest": min(values), "highest": max(values)})
    table.note = f"P_Acc,Dist; {material.size.draws} draws each."
    result.tables.append(table)
    difference = np.array(rows["S > O > X"]) - np.array(rows["any"])
    spread = 1.96 * float(difference.std(ddof=1)) / np.sqrt(len(difference))
    mean = float(difference.mean())
    result.claim(
        "weights in the order S > O > X rank better than weights in any order (paper: right in 90 % against 49 %)",
        gain(100 * mean, interval=(100 * (mean - spread), 100 * (mean + spread)), where="points"),
    )


def _insertion(result: RecipeResult, material: Material) -> None:
    chosen = [
        graph for graph in material.graphs() if genre(graph.name) in INSERTED and 1 < graph.n <= material.size.longest
    ]
    columns = ["exact", "exact per document", "proximity"]
    title = f"Insertion: {len(chosen)} documents, {sum(graph.n for graph in chosen):,} sentences"
    table = Table(title, columns, digits=dict.fromkeys(columns, 3))
    lengths = np.array([graph.n for graph in chosen])
    by_chance = (len(chosen) / lengths.sum(), float((1 / lengths).mean()), _proximity(lengths))
    table.add("random", dict(zip(columns, by_chance, strict=True)), {"exact": PLACED["random"]})
    for name, (column, _) in ((name, SYSTEMS[name]) for name in DISTANCE):
        right, near = [], []
        for graph in chosen:
            places = graph.insertions(WEIGHTS[column])
            right.append(sum(each.right for each in places))
            near.append(np.mean([1 - np.mean(np.abs(np.array(e.best) - e.place)) / (graph.n - 1) for e in places]))
        rates = np.array(right) / lengths
        row = {"exact": sum(right) / lengths.sum(), columns[1]: float(rates.mean()), columns[2]: float(np.mean(near))}
        table.add(name, row, {"exact": PLACED[name]})
        pair = np.stack([right, lengths], axis=1), np.stack([np.ones(len(chosen)), lengths], axis=1)
        found = paired_bootstrap(*pair, lambda sums: sums[..., 0] / sums[..., 1], material.size.samples)
        result.claim("the graph puts sentences back better than chance", compared(found, name))
    table.note = (
        "Exact: the sentence's own place is the only best one. Proximity: 1 - |place - own| / (n - 1), mean over "
        "documents; ties by their mean."
    )
    result.tables.append(table)


def _proximity(lengths: Any) -> float:
    """The proximity of a random place: 1 - (n + 1) / (3 n), as the mean distance of two places is (n^2 - 1) / (3 n)."""
    return float((1 - (lengths + 1) / (3 * lengths)).mean())


def _mixed(result: RecipeResult, material: Material) -> None:
    graphs = [graph for graph in material.graphs() if graph.n >= 2 * max(material.size.replaced)]
    by_genre: dict[str, list[SentenceGraph]] = {}
    for graph in graphs:
        by_genre.setdefault(genre(graph.name), []).append(graph)
    columns = [f"{count} replaced" for count in material.size.replaced]
    table = Table("Mixed texts: the document against itself with others' sentences", columns,
                  digits=dict.fromkeys(columns, 3))  # fmt: skip
    rates: dict[str, dict[str, Counts]] = {name: {} for name in SYSTEMS}
    for column_name, count in zip(columns, material.size.replaced, strict=True):
        pairs = []
        for number, graph in enumerate(graphs):
            same = by_genre[genre(graph.name)]
            other = same[(same.index(graph) + 1) % len(same)]
            if other is not graph:
                grid = mixed(graph.grid, other.grid, count, material.options.seed * 1000 + number)
                pairs.append((graph, SentenceGraph(grid)))
        for name, (column, distance) in SYSTEMS.items():
            own, others = (
                [each.scores([np.arange(each.n)], distance)[0, column] for each in side]
                for side in zip(*pairs, strict=True)
            )
            rates[name][column_name] = counts_of(own, [[value] for value in others])
    for name, row in rates.items():
        # The summaries of the paper were rated as wholes; they stand beside the middle of ours.
        middle = columns[len(columns) // 2]
        table.add(name, {key: counts.total().recall for key, counts in row.items()}, {middle: SUMMARIES[name]})
    table.note = "The paper's figures are for 80 pairs of summaries that people rated."
    result.tables.append(table)
    last = columns[-1]
    found = paired_bootstrap(rates["P_U"][last], rates["P_W,Dist"][last], "accuracy", material.size.samples)
    result.claim(
        "whole texts are told apart without distance: P_U is above P_W,Dist (paper: .800 against .525)",
        compared(found, last),
    )  # fmt: skip


def _readability(result: RecipeResult, material: Material) -> None:
    found = articles(material.options, material.size.articles)
    texts = [(name, level, text) for name, levels in found.items() for level, text in levels.items()]
    docs = load("en").pipe([text for _, _, text in texts])
    scores: dict[tuple[str, str], dict[tuple[str, str], float]] = {}
    for (name, level, _), doc in zip(texts, docs, strict=True):
        for entities in (HEADS, NOUNS):
            graph = SentenceGraph.of(doc, entities)
            for system, (column, distance) in SYSTEMS.items():
                value = float(graph.scores([np.arange(graph.n)], distance)[0, column])
                scores.setdefault((system, entities), {})[name, level] = value
        shorter = -doc.n_words / max(doc.n_sentences, 1)
        scores.setdefault(("shorter sentences", HEADS), {})[name, level] = shorter
    pairs = {"Ele over Adv": ("Ele", "Adv"), "Int over Adv": ("Int", "Adv"), "Ele over Int": ("Ele", "Int")}
    columns = [*pairs, "Ele over Adv, all nouns"]
    table = Table(
        f"Readability: {len(found)} articles, the easier text scores higher", columns, digits=dict.fromkeys(columns, 3)
    )  # fmt: skip
    counts: dict[str, Counts] = {}

    def judged(own: Mapping[tuple[str, str], float], easy: str, hard: str) -> Counts:
        return counts_of([own[name, easy] for name in found], [[own[name, hard]] for name in found])

    for system in (*SYSTEMS, "shorter sentences"):
        row = {title: judged(scores[system, HEADS], *pair).total().recall for title, pair in pairs.items()}
        counts[system] = judged(scores[system, HEADS], "Ele", "Adv")
        if (system, NOUNS) in scores:
            row[columns[-1]] = judged(scores[system, NOUNS], "Ele", "Adv").total().recall
        table.add(system, row, dict(zip(pairs, BRITANNICA[system], strict=True)) if system in BRITANNICA else {})
    table.note = (
        "Nouns that head phrases, trees of the English model. The paper: Elementary, Student and the full Britannica. "
        "The length of sentences alone tells the levels apart, so the graph is no reason to judge readability by it."
    )
    result.tables.append(table)
    others = max((name for name in SYSTEMS if name != "P_Acc,Dist"), key=lambda name: counts[name].total().recall)
    best = paired_bootstrap(counts["P_Acc,Dist"], counts[others], "accuracy", material.size.samples)
    result.claim("roles with distance tell easy from hard articles best", compared(best, f"over {others}"))
    if not material.options.quick:
        result.own(
            "P_Acc,Dist finds the easier of Ele and Adv in at least {bar} of the pairs",
            measured(counts["P_Acc,Dist"].total().recall, ">=", 0.68, digits=3),
        )


def _speed(result: RecipeResult, material: Material) -> None:
    docs = generated(material.size.generated, material.options.seed)
    SentenceGraph.of(docs[0]).scores([np.arange(40)])  # kernels are loaded
    start = time.process_time()
    for doc in docs:
        graph = SentenceGraph.of(doc)
        graph.scores(graph.permutations(20))
        graph.score()
    spent = time.process_time() - start
    table = Table("Documents of 40 sentences, 20 permutations each", ["CPU s"])
    table.add(f"{len(docs):,} documents", {"CPU s": spent})
    result.tables.append(table)
    result.own("1,000 documents of 40 sentences take at most {bar} CPU s", measured(spent, "<=", 5.0))


def generated(count: int, seed: int, sentences: int = 40, words: int = 20) -> list[Doc]:
    """Documents with tags and trees, a quarter of the words nouns of a document's own vocabulary.

    >>> generated(1, 0)[0].n_sentences
    40
    """
    rng = np.random.default_rng(seed)
    docs = []
    for number in range(count):
        nouns = rng.random((sentences, words)) < 0.25
        kinds = rng.zipf(1.5, (sentences, words)) % 200
        lemmas = [[f"n{kind}" for kind in row] for row in kinds.tolist()]
        roles = np.array(["nsubj", "obj", "obl", "nmod"])[rng.integers(0, 4, (sentences, words))].tolist()
        tags = np.where(nouns, "NOUN", "VERB").tolist()
        doc = Doc.from_words(lemmas, lemma=lemmas, upos=tags, deprel=roles)
        doc.id = f"generated {number}"
        docs.append(doc)
    return docs
