"""Token automata: strings with a common first token, summarized with one state per token.

The 1-reversible automaton of a set of strings has the distinct tokens as states: all transitions labelled t lead to
the state of t, the start is the state of the common first token, and a transition (v, w) is a bigram in the strings.

    P(w | v)  = C(v, w) / (C(v, end) + sum_w' C(v, w'))
    P(path)   = P(w1 | start) P(w2 | w1) ... P(end | wn)
    P(v, w)   = sum over paths through (v, w) of P(path) / sum over paths of P(path)
              = sum_t alpha_t(v) P(w | v) beta_{T-1-t}(w) / beta_T(start)

over paths of at most T transitions, which bounds paths with repeated tokens: on a cycle, P(v, w) is the expected
number of times that a path uses the transition; elsewhere it is the probability of using it. Pruning removes the
transitions (and ends) of a state v with P(v, .) < k max P(v, .), then every state that no accepted path visits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import pairwise

import numpy as np

from weft.arrays import Bools, Floats, Ints
from weft.errors import InferenceError
from weft.kernel import kernel

#: Posteriors that differ by less than this fraction are considered equal, since sums are rounded.
_SAME = 1e-9


@dataclass(frozen=True)
class TokenAutomaton:
    """States are tokens; the transitions out of state `v` are `targets[offsets[v]:offsets[v + 1]]`, ascending.

    >>> strings = [[7, 3, 1, 4], [7, 3, 1, 5], [7, 3, 9, 1, 4]]  # expression of -ENT- in, ... of -ENT- and, ... of the
    >>> automaton = TokenAutomaton.induce(strings)
    >>> automaton.labels.tolist(), automaton.n_edges
    ([1, 3, 4, 5, 7, 9], 6)
    >>> [labels for labels, _ in automaton.paths()]
    [(7, 3, 1, 4), (7, 3, 1, 5), (7, 3, 9, 1, 4), (7, 3, 9, 1, 5)]
    >>> [labels for labels, _ in automaton.prune(0.6).paths()]
    [(7, 3, 1, 4)]
    """

    labels: Ints  # token of every state, ascending
    start: int  # state of the first token
    offsets: Ints
    targets: Ints
    counts: Ints  # of every transition
    ends: Ints  # number of strings that end in each state
    longest: int  # length of the longest string in tokens

    @classmethod
    def induce(cls, strings: Sequence[Sequence[int]]) -> TokenAutomaton:
        """The automaton of strings that all begin with the same token."""
        sizes = np.array([len(string) for string in strings], dtype=np.int64)
        flat = [token for string in strings for token in string]
        return cls.induce_ragged(np.array(flat, dtype=np.int64), np.concatenate([[0], np.cumsum(sizes)]))

    @classmethod
    def induce_ragged(cls, tokens: Ints, offsets: Ints) -> TokenAutomaton:
        """The same for strings in one array: string `i` is `tokens[offsets[i]:offsets[i + 1]]`."""
        sizes = np.diff(offsets)
        if not len(sizes) or sizes.min() == 0:
            raise InferenceError("an automaton needs at least one string and no empty strings")
        labels, states = np.unique(tokens, return_inverse=True)
        first = states[offsets[:-1]]
        if (first != first[0]).any():
            raise InferenceError("an automaton needs strings that all begin with the same token")
        inside = np.ones(len(tokens), dtype=bool)
        inside[offsets[1:] - 1] = False
        at = np.flatnonzero(inside)
        pairs, counts = np.unique(states[at] * len(labels) + states[at + 1], return_counts=True)
        sources, targets = np.divmod(pairs, len(labels))
        ends = np.bincount(states[offsets[1:] - 1], minlength=len(labels))
        starts = np.concatenate([[0], np.cumsum(np.bincount(sources, minlength=len(labels)))])
        return cls(labels, int(first[0]), starts, targets, counts, ends, int(sizes.max()))

    @property
    def n_states(self) -> int:
        return len(self.labels)

    @property
    def n_edges(self) -> int:
        return len(self.targets)

    @property
    def sources(self) -> Ints:
        """The state that every transition leaves."""
        return np.repeat(np.arange(self.n_states), np.diff(self.offsets))

    def transitions(self) -> Iterator[tuple[int, int, int]]:
        """Every transition as (state, token, state)."""
        for source, target in zip(self.sources.tolist(), self.targets.tolist(), strict=True):
            yield source, int(self.labels[target]), target

    def state(self, label: int) -> int:
        """The state of a token, or -1 if it has none."""
        at = int(np.searchsorted(self.labels, label))
        return at if at < self.n_states and self.labels[at] == label else -1

    def probabilities(self) -> tuple[Floats, Floats]:
        """P(w | v) of every transition and P(end | v) of every state."""
        totals = self.ends + np.bincount(self.sources, weights=self.counts, minlength=self.n_states)
        share = 1.0 / np.maximum(totals, 1.0)
        return self.counts * share[self.sources], self.ends * share

    def edge_posteriors(self, length: int | None = None) -> tuple[Floats, Floats]:
        """P(v, w) of every transition and P(v, end) of every state, over paths of at most `length` tokens.

        By default, paths are at most as long as the longest string that the automaton was built from.

        >>> automaton = TokenAutomaton.induce([[0, 1, 3]] * 3 + [[0, 2, 3]])
        >>> edges, ends = automaton.edge_posteriors()
        >>> edges.tolist(), ends.tolist()
        ([0.75, 0.25, 0.75, 0.25], [0.0, 0.0, 0.0, 1.0])
        """
        steps = (self.longest if length is None else length) - 1
        edges, ends = np.zeros(self.n_edges), np.zeros(self.n_states)
        moves, stops = self.probabilities()
        total = _forward_backward(self.offsets, self.targets, moves, stops, self.start, steps, edges, ends)
        if total <= 0.0:
            raise InferenceError(f"the automaton accepts no path of at most {steps + 1} tokens")
        return edges / total, ends / total

    def prune(self, k: float, length: int | None = None) -> TokenAutomaton:
        """The automaton without the transitions and ends whose posterior is below `k` times their state's largest."""
        if not 0.0 < k <= 1.0:
            raise InferenceError(f"k must be above 0 and at most 1, but is {k}")
        edges, ends = self.edge_posteriors(length)
        largest = ends.copy()
        np.maximum.at(largest, self.sources, edges)
        least = k * largest * (1.0 - _SAME)
        return self.select((edges > 0.0) & (edges >= least[self.sources]), (ends > 0.0) & (ends >= least))

    def select(self, edges: Bools, ends: Bools | None = None) -> TokenAutomaton:
        """The automaton with only the chosen transitions and ends, trimmed to states on accepted paths.

        >>> automaton = TokenAutomaton.induce([[0, 1, 3], [0, 2, 3]])
        >>> automaton.select(automaton.targets != 2).labels.tolist()
        [0, 1, 3]
        """
        counts = np.where(edges, self.counts, 0)
        stops = self.ends if ends is None else np.where(ends, self.ends, 0)
        useful = _on_paths(self.offsets, self.targets, counts, stops, self.start)
        if not useful[self.start]:
            raise InferenceError("the automaton has no path left: all ends were removed or are unreachable")
        sources = self.sources
        kept = (counts > 0) & useful[sources] & useful[self.targets]
        number = np.cumsum(useful) - 1
        sizes = np.bincount(number[sources[kept]], minlength=int(useful.sum()))
        return TokenAutomaton(
            self.labels[useful],
            int(number[self.start]),
            np.concatenate([[0], np.cumsum(sizes)]),
            number[self.targets[kept]],
            counts[kept],
            stops[useful],
            self.longest,
        )

    def accepts(self, string: Sequence[int]) -> bool:
        """Whether a string of tokens is a path from the start to an end."""
        states = [self.state(label) for label in string]
        if not states or min(states) < 0 or states[0] != self.start or not self.ends[states[-1]]:
            return False
        return all(w in self.successors(v) for v, w in pairwise(states))

    def successors(self, state: int) -> Ints:
        """The states that transitions lead to from a state."""
        return self.targets[self.offsets[state] : self.offsets[state + 1]]

    def paths(self, length: int | None = None, limit: int = 1000) -> list[tuple[tuple[int, ...], float]]:
        """The most probable accepted strings of at most `length` tokens with P(path), at most `limit` of them."""
        steps = self.longest if length is None else length
        moves, stops = self.probabilities()
        complete: list[tuple[tuple[int, ...], float]] = []
        # Probabilities decrease along a path, so the next complete path to leave the heap is the most probable left.
        heap: list[tuple[float, tuple[int, ...], int]] = [(-1.0, (int(self.labels[self.start]),), self.start)]
        while heap and len(complete) < limit:
            cost, string, state = heappop(heap)
            if state < 0:
                complete.append((string, -cost))
                continue
            if stops[state] > 0.0:
                heappush(heap, (cost * float(stops[state]), string, -1))
            if len(string) < steps:
                for e in range(int(self.offsets[state]), int(self.offsets[state + 1])):
                    target = int(self.targets[e])
                    heappush(heap, (cost * float(moves[e]), (*string, int(self.labels[target])), target))
        return complete


@kernel
def _forward_backward(
    offsets: Ints, targets: Ints, moves: Floats, stops: Floats, start: int, steps: int, edges: Floats, ends: Floats
) -> float:
    """Add the weight of the paths through each edge and end to `edges` and `ends`; return the weight of all paths."""
    n = len(stops)
    alpha, beta = np.zeros((steps + 1, n)), np.zeros((steps + 1, n))
    alpha[0, start] = 1.0
    for t in range(steps):
        for v in range(n):
            if alpha[t, v] > 0.0:
                for e in range(offsets[v], offsets[v + 1]):
                    alpha[t + 1, targets[e]] += alpha[t, v] * moves[e]
    for r in range(steps + 1):
        for v in range(n):
            beta[r, v] = stops[v]
            if r > 0:
                for e in range(offsets[v], offsets[v + 1]):
                    beta[r, v] += moves[e] * beta[r - 1, targets[e]]
    for t in range(steps + 1):
        for v in range(n):
            if alpha[t, v] > 0.0:
                ends[v] += alpha[t, v] * stops[v]
                if t < steps:
                    for e in range(offsets[v], offsets[v + 1]):
                        edges[e] += alpha[t, v] * moves[e] * beta[steps - 1 - t, targets[e]]
    return beta[steps, start]


@kernel
def _on_paths(offsets: Ints, targets: Ints, counts: Ints, ends: Ints, start: int) -> Bools:
    """The states reachable from the start that reach an end, by transitions with a nonzero count."""
    n = len(ends)
    reached, reaching = np.zeros(n, dtype=np.bool_), ends > 0
    reached[start] = True
    changed = True
    while changed:
        changed = False
        for v in range(n):
            for e in range(offsets[v], offsets[v + 1]):
                w = targets[e]
                if counts[e] > 0:
                    if reached[v] and not reached[w]:
                        reached[w] = changed = True
                    if reaching[w] and not reaching[v]:
                        reaching[v] = changed = True
    return reached & reaching
