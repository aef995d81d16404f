"""K best lists of sentences for tuning: the work that is done per group of sentences, here or elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.arrays import Ids, Ints
from weft.infer.decoding.hypergraph import Hypergraph
from weft.learn.tuning.bleu import statistics
from weft.learn.tuning.held_out import Line
from weft.learn.tuning.lists import Lists
from weft.learn.tuning.ramp import COST, SparseGradient, sparse_gradient
from weft.tasks.translation.sentences import Sentence
from weft.tasks.translation.translator import Translator

#: Sentences per group. Sums are made in the order of groups, so a constant makes results the same for any workers.
GROUP = 100


@dataclass(frozen=True)
class Pair:
    """A sentence to tune on, its references, and which of several translators is to translate it."""

    source: Sequence[str]
    references: Sequence[Sequence[str]]
    model: int = 0


def pairs_of(source: Sequence[Sequence[str]], target: Sequence[Sequence[str]], model: int = 0) -> list[Pair]:
    """Sentence pairs with one reference each; those with an empty side are left out."""
    return [Pair(s, (t,), model) for s, t in zip(source, target, strict=True) if len(s) and len(t)]


def lists_of(graph: Hypergraph, sentence: Sentence, references: Sequence[Ids], k: int) -> Lists:
    """The list of the k best derivations of one sentence."""
    best = graph.forest().kbest_scored(k)
    sizes = np.array([len(edges) for edges, _ in best])
    edges = np.concatenate([each[::-1] for each, _ in best])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    option = graph.option[edges]
    own = graph.options.scores[option] * (option >= 0)[:, None]
    features = np.hstack([np.add.reduceat(own, starts, axis=0), np.add.reduceat(graph.scores[edges], starts, axis=0)])
    chosen = np.flatnonzero(option >= 0)
    row = np.repeat(np.arange(len(best)), sizes)[chosen]
    option = option[chosen]
    words, ends = _joined(graph.options.offsets, graph.options.words, option, row, len(best))
    stats = statistics(words, ends, references)
    ids, fired = _joined(graph.options.sparse_offsets, graph.options.sparse_ids, option, row, len(best))
    values, _ = _joined(graph.options.sparse_offsets, graph.options.sparse_values, option, row, len(best))
    return Lists(np.array([0, len(best)]), features, stats, fired, ids, values)


def _joined(offsets: Ints, items: Any, option: Ids, row: Any, n: int) -> tuple[Any, Ints]:
    """The items of options, and where those of every row end."""
    sizes = offsets[option + 1] - offsets[option]
    ends = np.cumsum(sizes)
    places = np.arange(ends[-1] if len(ends) else 0) + np.repeat(offsets[option] - (ends - sizes), sizes)
    return items[places], np.concatenate([[0], np.cumsum(np.bincount(row, sizes, n))]).astype(np.int64)


@dataclass
class KBest:
    """The k best lists of a group of sentences; with a line, its two features in place of sparse ones."""

    models: Sequence[Translator]
    k: int
    line: Line | None = None
    sparse: bool = False  #: whether lists hold sparse features

    def __call__(self, group: Sequence[Pair]) -> Lists:
        lists = Lists.chained([self.one(pair) for pair in group])
        if self.line is not None:
            return self.line.columns(lists)
        return lists if self.sparse else lists.dense()

    def one(self, pair: Pair) -> Lists:
        """The list of one sentence."""
        model = self.models[pair.model]
        sentence = model.sentence(pair.source)
        graph = model.search(sentence)
        known = [[word.lower() for word in each] if model.settings.lower else each for each in pair.references]
        references = [np.array([sentence.number(word) for word in each], np.int32) for each in known]
        return lists_of(graph, sentence, references, self.k)


@dataclass
class Gradients:
    """The sparse gradient of soft ramp 3 of a group of sentences, at the weights of the translators."""

    models: Sequence[Translator]
    k: int
    cost: float = COST

    def __call__(self, group: Sequence[Pair]) -> SparseGradient:
        lists = KBest(self.models, self.k, sparse=True)(group)
        model = self.models[group[0].model]
        sparse = model.sparse
        return sparse_gradient(lists, model.vector(self.names()), sparse, self.cost)

    def names(self) -> tuple[str, ...]:
        """The names of dense features, in the order of lists."""
        return feature_names(self.models[0])


def feature_names(model: Translator) -> tuple[str, ...]:
    """The names of dense features in the order of lists: those of options, distortion, and features."""
    sentence = model.sentence(["a"])
    options = model.options(sentence)
    return model.score_names(sentence, options)
