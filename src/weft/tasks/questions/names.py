"""Entities by name: which nodes a span of words may name, and how dear each is for a user.

index      token of a name -> nodes; all words of a span must be tokens of one name, in any order, and the last word
           of unfinished input may be the beginning of one
P(c | s)   proportional to  P(c) * product of P_c(w_i | w_i-1)       bigrams per type, Witten-Bell; "no entity" too
score      weights . [all tokens, share of tokens, log(1 + degree), log P(c | s), closeness, neighbour]
cost       -log softmax of the scores of a span's candidates
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log

import numpy as np

from weft.arrays import Ids, Ints
from weft.tasks.questions.lexicon import STOP, Neighbours, tokens_of
from weft.tasks.questions.proximity import Closeness
from weft.tasks.questions.view import Store

#: Words of a span, and candidates of a type that are kept for one.
LONGEST, KEPT = 6, 10
#: Nodes of a span that are scored, and names per type that the bigrams are counted on.
_SCORED, _SAMPLED = 60, 20_000
#: Ways to read misspelt tokens that are tried.
_READINGS = 4
#: Spans whose candidates are kept.
_MOST_KEPT = 20_000
_START, _OTHER = "<s>", "<other>"
_NONE = np.zeros(0, dtype=np.int32)


@dataclass(frozen=True)
class EntityWeights:
    """What makes a candidate likely; `close` and `near` are left out where closeness is not to count."""

    whole: float = 2.0
    share: float = 2.0
    degree: float = 0.3
    category: float = 0.3
    close: float = 1.5
    near: float = 1.0
    scale: float = 0.35


@dataclass(frozen=True)
class Candidate:
    """A node that a span may name, with its type and cost."""

    node: int
    type: str
    cost: float


class Categories:
    """Bigram models of the names of every type.

    >>> model = Categories({"city": [["san", "francisco"], ["bergen"]], "person": [["ana", "lind"]]})
    >>> model.posterior(["san", "francisco"])["city"] > 0.9
    True
    """

    def __init__(self, names: Mapping[str, Sequence[Sequence[str]]]) -> None:
        self.total = sum(len(each) for each in names.values()) or 1
        self.prior = {kind: len(each) / self.total for kind, each in names.items()}
        self.counts: dict[str, dict[tuple[str, str], int]] = {}
        self.contexts: dict[str, dict[str, tuple[int, int]]] = {}
        vocabulary = {token for each in names.values() for name in each for token in name}
        self.size = len(vocabulary) + 1
        self.single: dict[str, dict[str, int]] = {}
        self.sums: dict[str, int] = {}
        for kind, each in names.items():
            pairs: dict[tuple[str, str], int] = {}
            single: dict[str, int] = {}
            for name in each:
                for before, token in zip([_START, *name[:-1]], name, strict=True):
                    pairs[before, token] = pairs.get((before, token), 0) + 1
                    single[token] = single.get(token, 0) + 1
            contexts: dict[str, tuple[int, int]] = {}
            for (before, _), count in pairs.items():
                seen, kinds = contexts.get(before, (0, 0))
                contexts[before] = (seen + count, kinds + 1)
            self.counts[kind], self.contexts[kind], self.single[kind] = pairs, contexts, single
            self.sums[kind] = sum(single.values())

    def posterior(self, tokens: Sequence[str]) -> dict[str, float]:
        """How likely a span is a name of each type, or none (`""`)."""
        scores = {"": log(0.5) - 1.2 * len(tokens) * log(self.size)}
        for kind, prior in self.prior.items():
            if prior:
                scores[kind] = log(prior) + sum(
                    log(self._probability(kind, before, token))
                    for before, token in zip([_START, *tokens[:-1]], tokens, strict=True)
                )
        top = max(scores.values())
        weights = {kind: exp(score - top) for kind, score in scores.items()}
        total = sum(weights.values())
        return {kind: weight / total for kind, weight in weights.items()}

    def _probability(self, kind: str, before: str, token: str) -> float:
        single = self.single[kind]
        lower = (single.get(token, 0) + len(single) / self.size) / (self.sums[kind] + len(single) or 1)
        seen, kinds = self.contexts[kind].get(before, (0, 0))
        return (self.counts[kind].get((before, token), 0) + kinds * lower) / (seen + kinds) if seen else lower


class Names:
    """The index of the names of a store's nodes, and their categories."""

    def __init__(self, store: Store, weights: EntityWeights | None = None) -> None:
        self.store, self.weights = store, weights or EntityWeights()
        types, graph = store.schema.node_types, store.graph
        self.kinds = list(store.schema.types)
        roles = {kind.name for kind in store.schema.types.values() if kind.role}
        numbers: dict[str, int] = {}
        tokens, owners, lengths = [], [], np.zeros(graph.n_nodes, dtype=np.int16)
        sampled: dict[str, list[list[str]]] = {kind: [] for kind in self.kinds if kind not in roles}
        for node, name in enumerate(graph.names):
            kind = self.kinds[types[node]] if types[node] >= 0 else ""
            if kind not in sampled:
                continue
            words = list(dict.fromkeys(tokens_of(name)))
            lengths[node] = len(words)
            for word in words:
                tokens.append(numbers.setdefault(word, len(numbers)))
                owners.append(node)
            if len(sampled[kind]) < _SAMPLED:
                sampled[kind].append(words)
        self.known = Neighbours(numbers, least=1)
        order = np.empty(len(numbers), dtype=np.int64)
        for rank, word in enumerate(self.known.words):
            order[numbers[word]] = rank
        ranks = order[np.array(tokens, dtype=np.int64)] if tokens else np.zeros(0, dtype=np.int64)
        nodes = np.array(owners, dtype=np.int32)
        sort = np.lexsort((nodes, ranks))
        self.nodes: Ids = nodes[sort]
        self.offsets: Ints = np.zeros(len(numbers) + 1, dtype=np.int64)
        np.cumsum(np.bincount(ranks, minlength=len(numbers)), out=self.offsets[1:])
        self.lengths = lengths
        self.categories = Categories(sampled)
        self._top: dict[tuple[int, int], Ids] = {}
        self._kept: dict[tuple[tuple[str, ...], bool, int, bool], list[Candidate]] = {}
        self._places = {word: rank for rank, word in enumerate(self.known.words)}

    def candidates(
        self, tokens: Sequence[str], partial: bool = False, close: Closeness | None = None, fuzzy: bool = True,
    ) -> list[Candidate]:  # fmt: skip
        """The nodes that a span of tokens may name, cheapest first, at most `KEPT` of each type.

        What was found for a user's spans is kept, since all but the last are the same at the next keystroke.
        """
        key = (tuple(tokens), partial, close.user if close else -1, fuzzy)
        if key not in self._kept:
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            self._kept[key] = self._found(tokens, partial, close, fuzzy)
        return self._kept[key]

    def _found(self, tokens: Sequence[str], partial: bool, close: Closeness | None, fuzzy: bool) -> list[Candidate]:
        if all(token in STOP for token in tokens) and not (partial and len(tokens[-1]) > 2):
            return []
        readings: list[tuple[list[tuple[int, int]], int]] = [([], 0)]
        for place, token in enumerate(tokens):
            options = self._options(token, partial and place == len(tokens) - 1, fuzzy)
            readings = [([*ranges, span], edits + more) for ranges, edits in readings for span, more in options][
                :_READINGS
            ]
        best: dict[int, Candidate] = {}
        for ranges, edits in readings:
            found = self._joined(ranges, close)
            for each in self._scored(found, tokens, edits, close) if len(found) else ():
                if each.node not in best or each.cost < best[each.node].cost:
                    best[each.node] = each
        return sorted(best.values(), key=lambda each: (each.cost, each.node))

    def _options(self, token: str, prefix: bool, fuzzy: bool) -> list[tuple[tuple[int, int], int]]:
        """The known tokens that a token may be, as ranges of their numbers with edits."""
        if prefix:
            low, high = self.known.span(token)
            if low < high:
                return [((low, high), 0)]
        elif token in self._places:
            return [((self._places[token], self._places[token] + 1), 0)]
        near = self.known.near(token) if fuzzy else []
        if fuzzy and token.endswith("s") and token[:-1] in self._places:
            near.insert(0, (token[:-1], 0))
        return [((self._places[word], self._places[word] + 1), count) for word, count in near[:_READINGS]]

    def _joined(self, ranges: Sequence[tuple[int, int]], close: Closeness | None) -> Ids:
        """Nodes that have a token in every range; of many, those that are close or have many edges."""
        parts = [(self.nodes[self.offsets[low] : self.offsets[high]], low, high) for low, high in ranges]
        slices = sorted(parts, key=lambda part: len(part[0]))
        first, low, high = slices[0]
        if len(slices) > 1:
            found = first
            for other, _, _ in slices[1:]:
                found = found[np.isin(found, other)]
                if not len(found):
                    return _NONE
            found = np.unique(found)
            return self._limited(found, close)
        near = _NONE
        if close is not None and len(close.nodes):
            near = self._near(close, low, high) if len(first) > 5_000 else np.intersect1d(close.nodes, first)
        key = (low, high)
        if key not in self._top:
            self._top[key] = self._limited(np.unique(first) if len(first) <= 5_000 else first, None)
        return np.union1d(near[:_SCORED], self._top[key])

    def _near(self, close: Closeness, low: int, high: int) -> Ids:
        """The nodes close to a user that have a token in a range, without a look at all that have one."""
        words = self.known.words
        names, first, last = self.store.graph.names, words[low], words[high - 1]
        ranked = sorted(close.scores, key=lambda node: -close.scores[node])[:300]
        found = [node for node in ranked if any(first <= token <= last for token in tokens_of(names[node]))]
        return np.array(sorted(found[:_SCORED]), dtype=np.int32)

    def _limited(self, nodes: Ids, close: Closeness | None) -> Ids:
        if len(nodes) <= _SCORED:
            return nodes
        weight = self.store.degrees[nodes].astype(np.float64)
        if close is not None and len(close.nodes):
            inside = np.isin(nodes, close.nodes)
            weight[inside] += 1e9
        return np.unique(nodes[np.argpartition(-weight, _SCORED)[:_SCORED]])

    def _scored(self, nodes: Ids, tokens: Sequence[str], edits: int, close: Closeness | None) -> list[Candidate]:
        weights, types = self.weights, self.store.schema.node_types
        posterior = self.categories.posterior(tokens)
        share = np.minimum(len(tokens) / np.maximum(self.lengths[nodes], 1), 1.0)
        scores = weights.whole * (share == 1.0) + weights.share * share
        scores = scores + weights.degree * np.log1p(self.store.degrees[nodes])
        scores += weights.category * np.log([posterior.get(self.kinds[types[node]], 0.0) + 1e-6 for node in nodes])
        if close is not None:
            scores += weights.close * np.array([close.score(node) for node in nodes.tolist()])
            scores += weights.near * np.array([node in close.direct for node in nodes.tolist()])
        top = scores.max()
        norm = top + log(np.exp(scores - top).sum())
        base = 0.15 + 0.6 * edits - 0.1 * (len(tokens) - 1)
        ranked = sorted(zip((-scores).tolist(), nodes.tolist(), share.tolist(), strict=True))
        found, given = [], dict.fromkeys(self.kinds, 0)
        for negative, node, part in ranked:
            kind = self.kinds[types[node]]
            if given[kind] < KEPT:
                given[kind] += 1
                cost = max(base, 0.0) + weights.scale * (norm + negative) + 0.5 * (1.0 - part)
                found.append(Candidate(node, kind, cost))
        return found
