"""Models of opinions: latent evidence (LSSVM), windows of words (SSVM), polarity and comparison apart (SEPARATE)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from weft.arrays import Floats
from weft.evaluate.counts import Counts
from weft.infer.supports.search import best_graph
from weft.learn.latent.structural import LatentSVM, Passes
from weft.tasks.opinions.features import FeatureMaker
from weft.tasks.opinions.sentences import LABELS, OTHER, Edge, OpinionSentence, Relation
from weft.tasks.opinions.structure import (
    Compiler,
    Costs,
    N,
    OpinionStructure,
    Sheet,
    Solver,
    Vocabulary,
    decode,
    scores_of,
)

LATENT, PLAIN, SEPARATE = "latent", "plain", "separate"
METHODS = (LATENT, PLAIN, SEPARATE)


class Found(NamedTuple):
    """A labelled edge, the words that it rests on (None without evidence), and the score of both."""

    edge: Edge
    label: int
    evidence: tuple[int, int] | None
    score: float


@dataclass
class Part:
    """One trained model: what it reads, its features, and its weights."""

    compiler: Compiler
    vocabulary: Vocabulary
    weights: Floats
    course: Passes = field(default_factory=Passes)

    def found(
        self, sentence: OpinionSentence, costs: Costs, forced: bool = False, solve: Solver = best_graph
    ) -> list[Found]:
        """The best graph of a sentence, `other` included."""
        sheet = self.compiler.compile(sentence, self.vocabulary)
        return graph_of(sheet, self.weights, len(self.vocabulary), costs, forced, solve)


def graph_of(
    sheet: Sheet, weights: Floats, n_features: int, costs: Costs, forced: bool = False, solve: Solver = best_graph
) -> list[Found]:
    """The labelled edges of the best graph."""
    if not sheet.edges:
        return []
    best = decode(sheet, weights, n_features, costs, forced, solve)
    scores = scores_of(sheet, weights, n_features).rows
    return [
        Found(
            edge, int(label), sheet.spans[sheet.graph.evidence[row]] if sheet.spans else None, float(scores[row, label])
        )
        for edge, row, label in zip(sheet.edges, best.rows.tolist(), best.labels.tolist(), strict=True)
        if row >= 0
    ]


@dataclass
class OpinionModel:
    """A trained model; two parts if polarity and comparison were trained apart."""

    parts: list[Part]
    costs: Costs

    def predict(self, sentence: OpinionSentence, forced: bool = False, solve: Solver = best_graph) -> list[Found]:
        """The labelled edges of a sentence, `other` included; of parts that disagree about an aspect the better one."""
        parts = self.parts[:1] if forced else self.parts
        found = [part.found(sentence, self.costs, forced, solve) for part in parts]
        return found[0] if len(found) == 1 else _reconcile(sentence, *found)

    def relations(self, sentence: OpinionSentence) -> set[Relation]:
        """What a sentence says, as relations of entities and aspects."""
        return sentence.relations_of({each.edge: each.label for each in self.predict(sentence)})


def _reconcile(sentence: OpinionSentence, judged: list[Found], compared: list[Found]) -> list[Found]:
    """Two graphs as one: where both speak of an aspect, or compare as a whole, the side with the higher score stays."""
    kept = [each for each in compared if each.label != OTHER]
    for aspect in sorted({each.edge.aspect for each in kept}):
        rivals = [each for each in judged if each.edge.aspect == aspect and aspect >= 0 and each.label != OTHER]
        own = [each for each in kept if each.edge.aspect == aspect]
        if rivals and sum(each.score for each in rivals) > sum(each.score for each in own):
            kept = [each for each in kept if each.edge.aspect != aspect]
    ternary = {each.edge.aspect for each in kept if each.edge.is_ternary}
    if ternary:
        kept = [each for each in kept if each.edge.is_ternary]
    return [each for each in judged if each.edge.aspect not in ternary or each.edge.aspect < 0] + kept


@dataclass(frozen=True)
class Training:
    """Options of training."""

    method: str = LATENT
    costs: Costs = field(default_factory=Costs)
    svm: LatentSVM = field(default_factory=LatentSVM)
    free: bool = True
    needed: bool = False

    def fit(
        self, train: Sequence[OpinionSentence], maker: FeatureMaker, dev: Sequence[OpinionSentence] = (),
        solve: Solver = best_graph,
    ) -> OpinionModel:  # fmt: skip
        """Train on sentences with gold labels; `dev` chooses the pass."""
        kinds: list[tuple[bool, ...]] = [(False,), (True,)] if self.method == SEPARATE else [(False, True)]
        parts = [
            self._part(train, Compiler(maker, self.method == PLAIN, self.free, self.needed, own), dev, solve)
            for own in kinds
        ]
        return OpinionModel(parts, self.costs)

    def _part(
        self, train: Sequence[OpinionSentence], compiler: Compiler, dev: Sequence[OpinionSentence], solve: Solver
    ) -> Part:
        vocabulary = Vocabulary()
        sheets = [compiler.compile(sentence, vocabulary) for sentence in train]
        sheets = [sheet for sheet in sheets if sheet.edges]
        vocabulary.frozen = True
        size = len(vocabulary)
        structure = OpinionStructure(sheets, size, self.costs, solve)
        held = [compiler.compile(sentence, vocabulary) for sentence in dev]

        def score(weights: Floats) -> float:
            pairs = []
            for sheet in held:
                gold = {edge: label for edge, label in sheet.sentence.gold.items() if edge.compares in compiler.kinds}
                found = {each.edge: each.label for each in graph_of(sheet, weights, size, self.costs, False, solve)}
                pairs.append((sheet.sentence.relations_of(gold), sheet.sentence.relations_of(found)))
            return counts_of(pairs).total().f1

        weights, course = self.svm.fit(structure, score if held else None)
        return shrunken(Part(compiler, vocabulary, weights, course))


def shrunken(part: Part) -> Part:
    """The same model without the features that have no weight."""
    n = len(part.vocabulary)
    table = part.weights[: n * N].reshape(n, N)
    kept = np.flatnonzero((table != 0).any(axis=1))
    names = list(part.vocabulary.numbers)
    weights = np.concatenate([table[kept].ravel(), part.weights[n * N :]])
    return Part(part.compiler, Vocabulary([names[k] for k in kept.tolist()], frozen=True), weights, part.course)


def counts_of(pairs: Iterable[tuple[set[Relation], set[Relation]]], label: str = "") -> Counts:
    """Counts of gold and predicted relations per sentence; of one label only if it is given."""
    rows = []
    for gold, found in pairs:
        own, theirs = ({each for each in side if not label or each.label == label} for side in (gold, found))
        rows.append((len(own), len(theirs), len(own & theirs)))
    return Counts.of(*zip(*rows, strict=True)) if rows else Counts.of([], [], [])


__all__ = ["LABELS", "METHODS", "Found", "OpinionModel", "Part", "Training", "counts_of"]
