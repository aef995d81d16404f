"""Sentences as supported graphs with features: what the latent structural SVM learns from, and how graphs are found.

Weights are a table of features by labels, and behind it a table of label by label for contrasting pairs of edges.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from weft.arrays import Floats, Ints
from weft.errors import InferenceError
from weft.infer.supports.problem import Demands, Scores, Supported, SupportGraph
from weft.infer.supports.search import best_graph
from weft.kernel import kernel
from weft.learn.latent.structural import Answer
from weft.tasks.opinions.candidates import find_evidence
from weft.tasks.opinions.features import Feature, FeatureMaker, contrasting
from weft.tasks.opinions.sentences import LABELS, OPINIONS, OTHER, Edge, OpinionSentence

N = len(LABELS)
_EVERY = (1 << N) - 1
Solver = Callable[[SupportGraph, Scores, Demands], Supported]


@dataclass(frozen=True)
class Costs:
    """Of a wrong label, and of using evidence again; whether the gold answer may use it again."""

    wrong: float = 0.05
    reuse: float = 0.1
    once: bool = False


@dataclass
class Sheet:
    """A sentence as arrays: its graph, features of rows, and gold labels."""

    sentence: OpinionSentence
    edges: list[Edge]
    graph: SupportGraph
    spans: list[tuple[int, int]]  # of every piece of evidence; empty if it has no place
    starts: Ints  # [rows + 1], features of every row
    features: Ints
    values: Floats
    gold: Ints  # [edges]
    cells: Ints  # the weights that the sentence may read


class Vocabulary:
    """Numbers of features; a frozen one knows no others."""

    def __init__(self, names: Sequence[str] = (), frozen: bool = False) -> None:
        self.numbers = {name: number for number, name in enumerate(names)}
        self.frozen = frozen

    def __len__(self) -> int:
        return len(self.numbers)

    def places(self, features: Sequence[Feature]) -> list[tuple[int, float]]:
        """The numbers of known features, and of new ones unless the vocabulary is frozen."""
        found = []
        for name, value in features:
            if value:
                number = self.numbers.get(name, -1)
                if number < 0 and not self.frozen:
                    number = self.numbers[name] = len(self.numbers)
                if number >= 0:
                    found.append((number, value))
        return found


@dataclass(frozen=True)
class Compiler:
    """Turns sentences into sheets: with evidence, or (`plain`) with one window of words per edge.

    `kinds` keeps the edges that compare (True), those that do not (False), or both.
    """

    maker: FeatureMaker
    plain: bool = False
    free: bool = True
    needed: bool = False  # free evidence only for edges that have nothing else
    kinds: tuple[bool, ...] = (False, True)

    def compile(self, sentence: OpinionSentence, vocabulary: Vocabulary) -> Sheet:
        """A sentence with numbered features."""
        edges = [edge for edge in sentence.edges() if edge.compares in self.kinds]
        reader = self.maker.read(sentence)
        rows: list[tuple[int, int]] = []
        table: list[list[tuple[int, float]]] = []
        spans: list[tuple[int, int]] = []
        if self.plain:
            for number, edge in enumerate(edges):
                rows.append((number, number))
                table.append(vocabulary.places(reader.window_features(edge)))
        else:
            evidence = find_evidence(sentence, edges, self.free, self.needed)
            spans = evidence.spans
            for number, (edge, own) in enumerate(zip(edges, evidence.of_edge, strict=True)):
                for piece, kind in own:
                    rows.append((number, piece))
                    table.append(vocabulary.places(reader.features(edge, spans[piece], kind)))
        pairs = [] if "cooccurrence" in self.maker.without else contrasting(sentence, edges)
        alternatives = sentence.alternatives(edges) if len(self.kinds) > 1 else []
        graph = SupportGraph.of(rows, [edge.allowed for edge in edges], N, alternatives, pairs)
        features = np.array([number for own in table for number, _ in own], dtype=np.int64)
        return Sheet(
            sentence, edges, graph, spans, np.cumsum([0, *map(len, table)], dtype=np.int64), features,
            np.array([value for own in table for _, value in own], dtype=np.float64),
            np.array(sentence.gold_labels(edges), dtype=np.int64), np.zeros(0, dtype=np.int64),
        )  # fmt: skip


def scores_of(sheet: Sheet, weights: Floats, n_features: int) -> Scores:
    """The scores of all rows by label, and of contrasting pairs."""
    rows = np.zeros((len(sheet.graph.evidence), N))
    _row_scores(sheet.starts, sheet.features, sheet.values, weights, rows)
    pairs = np.zeros((len(sheet.graph.pairs), N, N))
    if len(pairs):
        pairs[:] = weights[n_features * N :].reshape(N, N)
        pairs[:, OTHER, :] = pairs[:, :, OTHER] = 0.0
    return Scores(rows, pairs)


@kernel
def _row_scores(starts: Ints, features: Ints, values: Floats, weights: Floats, rows: Floats) -> None:
    n = rows.shape[1]
    for r in range(len(starts) - 1):
        for k in range(starts[r], starts[r + 1]):
            for l in range(n):  # noqa: E741
                rows[r, l] += values[k] * weights[features[k] * n + l]


def least_labelled(graph: SupportGraph) -> int:
    """How many edges must be labelled, `other` included: as many as can be, whatever is compared.

    Without this a model learns from graphs that are full and predicts empty ones: only differences count in training.
    """
    if len(graph.alternatives):
        return graph.attainable()
    return graph.matching(sum(1 << edge for edge, own in enumerate(graph.allowed.tolist()) if own >> OTHER & 1))


def decode(
    sheet: Sheet, weights: Floats, n_features: int, costs: Costs, forced: bool = False, solve: Solver = best_graph
) -> Supported:
    """The best graph. `forced` asks for an opinion, positive or negative, on every aspect and not for comparisons."""
    scores = scores_of(sheet, weights, n_features)
    graph, demands = sheet.graph, Demands(reuse=costs.reuse, least=least_labelled(sheet.graph))
    if forced:
        keep = np.array([edge.aspect >= 0 and not edge.compares for edge in sheet.edges], dtype=np.bool_)
        graph = replace(
            graph, allowed=np.where(keep, graph.allowed & OPINIONS, 0), alternatives=np.zeros((0, 2), dtype=np.int64)
        )
        demands = Demands(reuse=costs.reuse, least=min(int(keep.sum()), graph.matching()))
    return solve(graph, scores, demands)


class OpinionStructure:
    """Training sentences as a latent structure; see `weft.learn.latent.structural`."""

    def __init__(self, sheets: Sequence[Sheet], n_features: int, costs: Costs, solve: Solver = best_graph) -> None:
        self.sheets, self.n_features, self.costs, self.solve = list(sheets), n_features, costs, solve
        self.size = n_features * N + N * N
        self._known = [self._prepare(sheet) for sheet in self.sheets]

    def __len__(self) -> int:
        return len(self.sheets)

    def _prepare(self, sheet: Sheet) -> tuple[SupportGraph, Demands, Demands]:
        """The graph of the gold answer, and what both answers must satisfy: see the sheet's zeta."""
        cells = (np.unique(sheet.features)[:, None] * N + np.arange(N)).ravel()
        if len(sheet.graph.pairs):
            cells = np.concatenate([cells, self.n_features * N + np.arange(N * N)])
        sheet.cells = cells
        graph, gold = sheet.graph, sheet.gold
        fixed = replace(graph, allowed=np.where(gold >= 0, 1 << np.maximum(gold, 0), 0))
        told = (gold >= 0) & ((OPINIONS >> np.maximum(gold, 0)) & 1 > 0)
        marked = int(sum(1 << edge for edge in np.flatnonzero(told).tolist()))
        least = fixed.matching()
        completion = Demands(self.costs.reuse, least, OPINIONS, fixed.matching(marked), self.costs.once)
        free = Demands(self.costs.reuse, min(least_labelled(graph), least))
        return fixed, completion, free

    def places(self, example: int) -> Ints:
        return self.sheets[example].cells

    def complete(self, example: int, weights: Floats) -> Answer | None:
        sheet = self.sheets[example]
        fixed, demands, _ = self._known[example]
        scores = scores_of(sheet, weights, self.n_features)
        try:
            found = self.solve(fixed, scores, demands)
        except InferenceError:  # two aspects with nothing but one sentence to rest on, and different labels
            return None
        return self._answer(sheet, found)

    def augment(self, example: int, weights: Floats) -> Answer:
        sheet = self.sheets[example]
        _, _, demands = self._known[example]
        scores = scores_of(sheet, weights, self.n_features)
        scores.rows[:] += self._wrong(sheet)
        return self._answer(sheet, self.solve(sheet.graph, scores, demands))

    def _wrong(self, sheet: Sheet) -> Floats:
        gold = sheet.gold[sheet.graph.edges]
        cost: Floats = self.costs.wrong * (gold[:, None] != np.arange(N)[None, :])
        return cost

    def _answer(self, sheet: Sheet, found: Supported) -> Answer:
        """The features of a graph, with the costs of wrong labels and of evidence that is used again."""
        edges = np.flatnonzero(found.rows >= 0)
        rows, labels = found.rows[edges], found.labels[edges]
        places, counts = [], []
        for row, label in zip(rows.tolist(), labels.tolist(), strict=True):
            low, high = sheet.starts[row], sheet.starts[row + 1]
            places.append(sheet.features[low:high] * N + label)
            counts.append(sheet.values[low:high])
        pairs = [
            self.n_features * N + int(found.labels[a]) * N + int(found.labels[b])
            for a, b in sheet.graph.pairs.tolist()
            if found.labels[a] >= 0 and found.labels[b] >= 0 and OTHER not in (found.labels[a], found.labels[b])
        ]
        if pairs:
            places.append(np.array(pairs, dtype=np.int64))
            counts.append(np.ones(len(pairs)))
        evidence = sheet.graph.evidence[rows]
        extra = -self.costs.reuse * (len(evidence) - len(np.unique(evidence)))
        extra += self.costs.wrong * int((labels != sheet.gold[edges]).sum())
        none = np.zeros(0, dtype=np.int64)
        return Answer(
            np.concatenate(places) if places else none, np.concatenate(counts) if counts else np.zeros(0), extra
        )
