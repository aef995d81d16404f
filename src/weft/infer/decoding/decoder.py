"""Phrase-based search: the best sequence of options that covers the source, by stacks of hypotheses.

A hypothesis is a beginning of a translation: which source positions it covers, where its last source span ended, and a
state of every feature. Stack k holds hypotheses that cover k positions or, if a `Control` adds moves, those after k
actions. A stack is filled with expansions of earlier ones in the order of an estimate (`cubes`), as many as `pops`
allows; features score them all together; equal hypotheses recombine; and the best `beam` by score plus future cost
stay. Without a beam and a limit on pops the search is exact.

All features are scored on whole batches of expansions, so a feature is compiled code or a few lines of NumPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft.arrays import Bools, Floats, Ids, Ints
from weft.errors import InferenceError
from weft.infer.decoding.chart import Chart, Expansions, Hypotheses, cover_columns, full_cover
from weft.infer.decoding.cubes import Cells, Search, best_first, find_cubes, future_costs, futures_of
from weft.infer.decoding.features import Batch, Control, Feature, Scorer
from weft.infer.decoding.hypergraph import Hypergraph
from weft.infer.decoding.options import Options
from weft.infer.decoding.recombination import keys_of, number_rows, table_size

DISTORTION = "distortion"
_NO_LIMIT = 1 << 30


@dataclass(frozen=True)
class SearchSettings:
    """How much is searched."""

    beam: int = 100  #: hypotheses per stack, 0 for all
    pops: int = 400  #: expansions per stack that are scored with all features, 0 for all
    threshold: float = float("inf")  #: hypotheses worse than the best of their stack by more than this are left out
    distortion_limit: int = 6  #: the farthest jump between source spans, -1 for any

    def __post_init__(self) -> None:
        if self.beam < 0 or self.pops < 0 or self.distortion_limit < -1 or not self.threshold >= 0:
            raise InferenceError(
                "beam and pops must be at least 0 (0: unlimited), the threshold at least 0, "
                "the distortion limit at least -1 (-1: unlimited)"
            )

    @classmethod
    def exact(cls, distortion_limit: int = -1) -> SearchSettings:
        """No pruning at all."""
        return cls(0, 0, distortion_limit=distortion_limit)


class Decoder:
    """Searches with some features.

    >>> options = Options.of(2, [(0, 1, [7]), (1, 2, [8]), (1, 2, [9])], [[-1.0], [-1.0], [-2.0]], ["translation"])
    >>> decoder = Decoder([], SearchSettings(beam=10))
    >>> decoder.names(options)
    ('translation', 'distortion')
    >>> graph = decoder.search(options, np.array([1.0, 0.5]))
    >>> best = graph.best()
    >>> best.options, best.score, graph.words(best), graph.features(best).tolist()
    ((0, 1), -2.0, [7, 8], [-2.0, 0.0])
    >>> [(graph.words(each), each.score) for each in graph.kbest(3)]
    [([7, 8], -2.0), ([7, 9], -3.0), ([8, 7], -3.5)]
    """

    def __init__(self, features: Sequence[Feature] = (), settings: SearchSettings | None = None) -> None:
        self.features = tuple(features)
        self.settings = settings or SearchSettings()
        names = self.feature_names
        if len(set(names)) < len(names):
            raise InferenceError(f"every score needs a name of its own, found {', '.join(names)}")

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the scores of edges: distortion and those of the features."""
        return (DISTORTION, *(name for feature in self.features for name in feature.names))

    def names(self, options: Options) -> tuple[str, ...]:
        """The names of all scores, in the order of weights: those of options, distortion, and those of features."""
        return (*options.names, *self.feature_names)

    def search(self, options: Options, weights: Floats, sparse: Floats | None = None) -> Hypergraph:
        """The hypergraph of all derivations that the search keeps."""
        return _Sentence(self, options, weights, sparse).search()


class _Sentence:
    """The search for translations of one sentence."""

    def __init__(self, decoder: Decoder, options: Options, weights: Floats, sparse: Floats | None) -> None:
        self.settings, self.names = decoder.settings, decoder.names(options)
        weights = np.asarray(weights, np.float64)
        if len(weights) != len(self.names) or not np.isfinite(weights).all():
            raise InferenceError(
                f"expected {len(self.names)} finite weights, for {', '.join(self.names)}; got {len(weights)}"
            )
        cut = len(options.names)
        self.weights = weights[cut:]
        self.n_options = len(options)
        self.scorers, self.control, self.options = _bound(decoder.features, options)
        self.own = self.options.weighted(weights[:cut], sparse)
        self.states = np.concatenate([[0], np.cumsum([len(each.start) for each in self.scorers])]).astype(np.int64)
        self.cells, order, allowed = self._cells()
        self.order = order
        self.estimate = self._estimates()[order]
        future = np.empty((options.length + 1,) * 2)
        sorted_start, sorted_end = self.options.start[order], self.options.end[order]
        future_costs(options.length, sorted_start, sorted_end, self.estimate, future)
        limit = _NO_LIMIT if self.settings.distortion_limit < 0 else self.settings.distortion_limit
        by_words = self.control is None or self.control.n_moves == 0
        self.search_for = Search(options.length, by_words, limit, float(self.weights[0]), allowed, future)
        self.reached = -np.inf  # the best score of a complete derivation so far
        self.longest = int((options.end - options.start).max(initial=1))
        self.full = full_cover(options.length)
        self.room = 1024

    def search(self) -> Hypergraph:
        chart = Chart()
        none = np.zeros(0, np.int32)
        chart.add(self._empty(), Expansions(none, none, none, np.zeros((0, len(self.weights))), np.zeros(0)))
        step, last = 1, self.options.length if self.search_for.by_words else 2 * self.options.length
        while step <= last:
            since = max(0, step - self.longest) if self.search_for.by_words else step - 1
            hypotheses, expansions = self._stack(chart, since, step)
            chart.add(hypotheses, expansions)
            self._note_complete(hypotheses)
            if not self.search_for.by_words and not len(hypotheses.score):
                break
            step += 1
        return self._graph(chart)

    def _empty(self) -> Hypotheses:
        states = np.concatenate([np.zeros(0, np.int32), *(each.start for each in self.scorers)]).astype(np.int32)[None]
        cover = np.zeros((1, cover_columns(self.options.length)), np.int64)
        return Hypotheses(np.zeros(1), cover, np.zeros(1, np.int32), states, self._kinds(states))

    def _kinds(self, states: Ids) -> Ids:
        if self.control is None:
            return np.zeros(len(states), np.int32)
        which = next(i for i, each in enumerate(self.scorers) if each.control is self.control)
        return self.control.class_of(self._own_states(states, which)).astype(np.int32)

    def _own_states(self, states: Ids, which: int) -> Ids:
        return np.ascontiguousarray(states[:, self.states[which] : self.states[which + 1]])

    def _cells(self) -> tuple[Cells, Ints, Bools]:
        """Options sorted by span and class, best first, and which cells may follow which class of hypotheses."""
        control, options = self.control, self.options
        kind = np.zeros(len(options), np.int32)
        allowed = np.ones((1, 1), np.bool_)
        if control is not None:
            kind[: self.n_options] = control.option_class[: self.n_options]
            kinds = control.allowed.shape[1]
            kind[self.n_options :] = kinds + np.arange(control.n_moves)
            moves = np.zeros((len(control.allowed), 0), np.bool_) if control.moves is None else control.moves
            allowed = np.hstack([control.allowed, moves])
        order = np.lexsort((-self._estimates(), kind, options.end, options.start))
        start, end, kind = options.start[order], options.end[order], kind[order]
        begins = np.ones(len(order), np.bool_)
        begins[1:] = (start[1:] != start[:-1]) | (end[1:] != end[:-1]) | (kind[1:] != kind[:-1])
        rows = np.flatnonzero(begins)
        first = np.append(rows, len(order)).astype(np.int64)
        return Cells(first, start[rows], end[rows], kind[rows]), order.astype(np.int64), allowed

    def _estimates(self) -> Floats:
        """Options' scores with what features can say of them alone."""
        total, at = self.own.copy(), 1
        for each in self.scorers:
            width = each.estimate.shape[1]
            total += each.estimate @ self.weights[at : at + width]
            at += width
        return total

    def _stack(self, chart: Chart, since: int, step: int) -> tuple[Hypotheses, Expansions]:
        """The hypotheses of a stack."""
        previous, option = self._expansions(chart, since, step)
        base = chart.first[since]
        stacks = chart.stacks[since:]
        cover, end, states = (
            np.concatenate([getattr(each, name) for each in stacks]) for name in ("cover", "end", "states")
        )
        score = np.concatenate([each.score for each in stacks])
        local = previous - base
        n, columns = len(previous), cover.shape[1]
        after = np.empty((n, states.shape[1]), np.int32)
        keys = np.empty((n, columns + 1 + states.shape[1]), np.int64)
        keys_of(cover, end, local, option, self.options.start, self.options.end, keys)
        complete = (keys[:, :columns] == self.full).all(axis=1)
        batch = Batch(self.options, option, end[local], complete, self.n_options)
        scores = self._score(batch, states[local], after)
        keys[:, columns + 1 :] = after
        with np.errstate(invalid="ignore"):  # a weight of 0 for what is forbidden
            total = self.own[option] + scores @ self.weights
        reached = score[local] + total
        kept = np.flatnonzero(np.isfinite(reached))  # what is forbidden is infinite, by whatever weight
        if len(kept) < n:
            keys, after, scores, total, reached = keys[kept], after[kept], scores[kept], total[kept], reached[kept]
            previous, option = previous[kept], option[kept]
        return self._recombined(keys, after, scores, total, reached, previous, option)

    def _recombined(
        self, keys: Ints, after: Ids, scores: Floats, total: Floats, reached: Floats, previous: Ids, option: Ids
    ) -> tuple[Hypotheses, Expansions]:
        """Merge equal hypotheses, keep the best, and sort them into groups."""
        n = len(keys)
        number = np.empty(n, np.int32)
        found = number_rows(keys, np.full(table_size(n), -1, np.int32), number)
        order = np.lexsort((-reached, number))
        best = order[np.searchsorted(number[order], np.arange(found))]
        columns = keys.shape[1] - 1 - after.shape[1]
        cover, end = keys[best, :columns], keys[best, columns].astype(np.int32)
        future = np.empty(found)
        futures_of(self.search_for, cover, future)
        value = reached[best] + future
        kept = self._pruned(value)
        kind = self._kinds(after[best])
        parts = (-reached[best][kept], end[kept], kind[kept], *(cover[kept, k] for k in range(columns)))
        kept = kept[np.lexsort(parts)]
        place = np.full(found, -1, np.int32)
        place[kept] = np.arange(len(kept))
        head = place[number]
        edges = np.flatnonzero(head >= 0)
        edges = edges[np.argsort(head[edges], kind="stable")]
        hypotheses = Hypotheses(reached[best][kept], cover[kept], end[kept], after[best][kept], kind[kept])
        return hypotheses, Expansions(head[edges], previous[edges], option[edges], scores[edges], total[edges])

    def _pruned(self, value: Floats) -> Ints:
        """Which hypotheses of a stack stay."""
        kept = np.arange(len(value))
        if 0 < self.settings.beam < len(value):
            kept = np.sort(np.argpartition(-value, self.settings.beam)[: self.settings.beam])
        if len(kept):
            # Stacks of actions hold what competes with derivations that are complete already.
            best = value[kept].max() if self.search_for.by_words else max(value[kept].max(), self.reached)
            kept = kept[value[kept] >= best - self.settings.threshold]
        return kept

    def _note_complete(self, stack: Hypotheses) -> None:
        if self.search_for.by_words or self.control is None or self.settings.threshold == np.inf:
            return
        ended = (stack.cover == self.full).all(axis=1) & self.control.final[stack.kind]
        self.reached = max(self.reached, float(stack.score[ended].max(initial=-np.inf)))

    def _expansions(self, chart: Chart, since: int, step: int) -> tuple[Ids, Ids]:
        """Hypotheses and options of the expansions of a stack, in the order of their estimates."""
        groups = chart.groups(since)
        score = np.concatenate([np.zeros(0), *(each.score for each in chart.stacks[since:])])
        base = chart.first[since]
        groups = groups._replace(first=groups.first - base)
        sizes = np.zeros(2, np.int64)
        while True:
            cube_group, cube_cell = np.empty(self.room, np.int32), np.empty(self.room, np.int32)
            cube_base = np.empty(self.room)
            find_cubes(
                self.search_for, groups, self.cells, step, 0, len(groups.step), score, self.estimate,
                cube_group, cube_cell, cube_base, sizes,
            )  # fmt: skip
            if sizes[0] <= self.room:
                break
            self.room = 2 * int(sizes[0])
        n = int(sizes[0])
        pops = int(sizes[1]) if self.settings.pops == 0 else min(self.settings.pops, int(sizes[1]))
        heap, entry = np.empty(n + pops + 1), np.empty((n + pops + 1, 3), np.int32)
        previous, option = np.empty(pops, np.int32), np.empty(pops, np.int32)
        best_first(
            groups, self.cells, score, self.estimate, cube_group[:n], cube_cell[:n], cube_base[:n],
            heap, entry, previous, option,
        )  # fmt: skip
        return previous + np.int32(base), self.order[option].astype(np.int32)

    def _score(self, batch: Batch, states: Ids, after: Ids) -> Floats:
        """The scores of distortion and of all features; fills the states after the expansions."""
        scores = np.empty((len(batch), len(self.weights)))
        jump = np.abs(self.options.start[batch.option] - batch.end)
        scores[:, 0] = np.where(batch.option < self.n_options, -jump, 0)
        at = 1
        for i, scorer in enumerate(self.scorers):
            width = scorer.estimate.shape[1]
            low, high = self.states[i], self.states[i + 1]
            found, after[:, low:high] = scorer.expand(batch, np.ascontiguousarray(states[:, low:high]))
            scores[:, at : at + width] = found
            at += width
        return scores

    def _graph(self, chart: Chart) -> Hypergraph:
        """The hypergraph, with a goal that all complete hypotheses lead to."""
        heads = [np.zeros(0, np.int64)]
        for stack, expansions in enumerate(chart.expansions):
            heads.append(expansions.head.astype(np.int64) + chart.first[stack])
        tails, options, scores, totals = (
            [getattr(each, name) for each in chart.expansions] for name in ("tail", "option", "scores", "total")
        )
        nodes, ends = self._complete(chart)
        goal = chart.first[-1]
        heads.append(np.full(len(nodes), goal, np.int64))
        counts = np.bincount(np.concatenate(heads), minlength=goal + 1)
        # The empty hypothesis is made by an edge of its own, so that every node of a forest has one.
        counts[0] = 1
        zero = np.zeros((1, len(self.weights)))
        minus = np.array([-1], np.int32)
        return Hypergraph(
            self.options,
            self.names,
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            np.concatenate([minus, *tails, nodes]).astype(np.int32),
            np.concatenate([minus, *options, np.full(len(nodes), -1, np.int32)]).astype(np.int32),
            np.concatenate([zero, *scores, ends]),
            np.concatenate([np.zeros(1), *totals, ends @ self.weights]),
            np.concatenate([*(each.end for each in chart.stacks), [self.options.length]]).astype(np.int32),
            np.concatenate([*((each.cover == self.full).all(axis=1) for each in chart.stacks), [True]]),
            len(self.options) - self.n_options,
        )

    def _complete(self, chart: Chart) -> tuple[Ids, Floats]:
        """The complete hypotheses that may end, and the scores of their ends."""
        rows: list[Ids] = [np.zeros(0, np.int32)]
        scores: list[Floats] = [np.zeros((0, len(self.weights)))]
        stacks = [len(chart.stacks) - 1] if self.search_for.by_words else range(len(chart.stacks))
        for k in stacks:
            stack = chart.stacks[k]
            may = (stack.cover == self.full).all(axis=1)
            if self.control is not None:
                may &= self.control.final[stack.kind]
            chosen = np.flatnonzero(may)
            if not len(chosen):
                continue
            found = np.zeros((len(chosen), len(self.weights)))
            at = 1
            for i, scorer in enumerate(self.scorers):
                width = scorer.estimate.shape[1]
                found[:, at : at + width] = scorer.finish(self._own_states(stack.states[chosen], i))
                at += width
            possible = np.isfinite(found @ self.weights)
            rows.append((chosen[possible] + chart.first[k]).astype(np.int32))
            scores.append(found[possible])
        return np.concatenate(rows), np.concatenate(scores)


def _bound(features: Sequence[Feature], options: Options) -> tuple[list[Scorer], Control | None, Options]:
    """The scorers of a sentence; features see the moves among the options.

    A feature that says how many moves it adds (`n_moves`) is bound once, to options with moves.
    """
    grown = options.with_moves(max((getattr(feature, "n_moves", 0) for feature in features), default=0))
    scorers = [feature.bind(grown) for feature in features]
    controls = [each.control for each in scorers if each.control is not None]
    if len(controls) > 1:
        raise InferenceError("at most one feature of a search can control what follows what")
    control = controls[0] if controls else None
    more = 0 if control is None else control.n_moves
    if len(grown) == len(options) + more:
        return scorers, control, grown
    grown = options.with_moves(more)
    scorers = [feature.bind(grown) for feature in features]
    return scorers, next((each.control for each in scorers if each.control is not None), None), grown
