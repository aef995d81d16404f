"""Costs of rules that depend on the words of the question, learned from pairs of a question and its meaning.

    cost(r | q)      = softplus(b_r - w_r . f(q))  >= 0,  so that A* stays valid         f: words and pairs of words
    cost(D | q)      = sum of cost(r | q) over the rules of derivation D
    objective        = sum over questions of  -log softmax(-cost(D | q))[gold]  + penalty |w|^2

The softmax runs over the meanings that the grammar itself derives, each with its cheapest derivation. With these costs
any word of the question speaks for a rule, wherever it stands, so no rule needs a word of its own: the search inserts
all of them, and the k best derivations are found as for any other costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from weft.arrays import Floats, Ints
from weft.errors import ConfigError, DataError
from weft.infer.agenda.kbest import Derivation
from weft.tasks.questions.lexicon import tokens_of
from weft.tasks.questions.synchronous import Filler, QuestionGrammar, filled
from weft.tasks.questions.terms import Term, is_typed, normal, simple


@dataclass(frozen=True)
class Meanings:
    """Meanings that a grammar derives, and how often the derivation of each uses every rule."""

    terms: list[Term]
    uses: sparse.csr_matrix
    places: dict[Term, int]


def meanings_of(
    grammar: QuestionGrammar, fillers: Callable[[Derivation], Filler | None], size: int, most: int = 200_000
) -> Meanings:
    """The meanings of all derivations with at most `size` content words, each with one derivation.

    A content word is a noun, a verb, an entity or a value. Meanings are made bottom-up, each symbol's once.
    """
    sizes = {name: int(each.content) for name, each in grammar.classes.items()}
    found: dict[str, list[dict[Term, tuple[int, ...]]]] = {}
    lefts = {rule.left for rule in grammar.rules}
    for name, number in grammar.symbols.items():
        levels: list[dict[Term, tuple[int, ...]]] = [{} for _ in range(size + 1)]
        if name in sizes:
            levels[sizes[name]][("word",)] = ()
        elif name.startswith("{offer:") and (filler := fillers(Derivation(number, 0.0))):
            levels[1][filler[0]] = ()
        found[name] = levels
    room = _room(grammar, found, size)
    seen: dict[str, set[Term]] = {name: set() for name in lefts}
    for level in range(size + 1):
        changed = True
        while changed:
            changed = False
            for number, rule in enumerate(grammar.rules):
                if room[rule.left] < level:
                    continue
                own = found[rule.left][level]
                for parts, used in list(_combined(rule.right, level, found)):
                    term = normal(filled(rule.meaning, parts))
                    if term not in seen[rule.left]:
                        seen[rule.left].add(term)
                        own[term] = (number, *used)
                        changed = True
            if sum(map(len, seen.values())) > most:
                raise ConfigError(f"the grammar has more than {most:,} meanings of {size} content words; take fewer")
    terms: list[Term] = []
    places: dict[Term, int] = {}
    rows: list[int] = []
    columns: list[int] = []
    for level in found[grammar.names[grammar.goal]]:
        for raw, used in level.items():
            term = simple(raw, grammar.schema)
            if term not in places and is_typed(term, grammar.schema):
                places[term] = len(terms)
                rows += [len(terms)] * len(used)
                columns += used
                terms.append(term)
    shape = (len(terms), len(grammar.rules))
    uses = sparse.csr_matrix((np.ones(len(rows), dtype=np.float32), (rows, columns)), shape=shape)
    return Meanings(terms, uses, places)


def _room(grammar: QuestionGrammar, found: Mapping[str, list[dict[Term, tuple[int, ...]]]], size: int) -> dict[str, int]:
    """How many content words every symbol may have, given what must stand beside it in a question."""
    least = {name: next((n for n, level in enumerate(levels) if level), size + 1) for name, levels in found.items()}
    outside = dict.fromkeys(found, size + 1)
    outside[grammar.names[grammar.goal]] = 0
    changed = True
    while changed:
        changed = False
        for rule in grammar.rules:
            total = sum(least[name] for name in rule.right)
            if total < least[rule.left]:
                least[rule.left], changed = total, True
            for name in rule.right:
                beside = outside[rule.left] + total - least[name]
                if beside < outside[name]:
                    outside[name], changed = beside, True
    return {name: size - beside for name, beside in outside.items()}


def _combined(
    symbols: Sequence[str], size: int, found: Mapping[str, list[dict[Term, tuple[int, ...]]]]
) -> Iterator[tuple[list[Term], tuple[int, ...]]]:
    """The ways to fill the symbols of a rule with so many content words, each with the rules it uses."""
    if not symbols:
        if size == 0:
            yield [], ()
        return
    for own, level in enumerate(found[symbols[0]][: size + 1]):
        if level:
            for rest, more in _combined(symbols[1:], size - own, found):
                for term, used in level.items():
                    yield [term, *rest], (*used, *more)


def features_of(text: str) -> list[str]:
    """The words of a question, shortened, and their pairs.

    >>> features_of("Who lives in Bergen?")
    ['who', 'live', 'in', 'bergen', '^ who', 'who live', 'live in', 'in bergen', 'bergen $']
    """
    stems = [_stem(token) for token in tokens_of(text) if token != ","]
    padded = ["^", *stems, "$"]
    return stems + [f"{one} {other}" for one, other in zip(padded, padded[1:], strict=False)]


def _stem(token: str) -> str:
    for ending in ("ing", "ies", "ed", "s"):
        if token.endswith(ending) and len(token) - len(ending) >= 3:
            stem = token[: -len(ending)]
            return stem + "y" if ending == "ies" else stem
    return token.removesuffix("e") if len(token) > 5 else token


@dataclass
class CostModel:
    """Learned costs: a bias per rule, and a weight per feature and rule."""

    features: dict[str, int]
    bias: Floats
    weights: Floats

    def costs(self, text: str) -> Floats:
        """The cost of every rule for a question."""
        rows = [self.features[each] for each in set(features_of(text)) if each in self.features]
        total: Floats = self.bias - self.weights[rows].sum(axis=0)
        return np.logaddexp(0.0, total).astype(np.float64)

    def ranked(self, text: str, meanings: Meanings, k: int) -> list[tuple[float, int]]:
        """The k cheapest of some meanings, with their costs."""
        costs = meanings.uses @ self.costs(text)
        best = np.argsort(costs, kind="stable")[:k]
        return [(float(costs[place]), int(place)) for place in best]


def learn_costs(
    pairs: Sequence[tuple[str, int]], meanings: Meanings, epochs: int = 12, rate: float = 0.1, penalty: float = 1e-6,
    least: int = 2, batch: int = 64, seed: int = 0, watch: Callable[[int, float], None] | None = None,
) -> CostModel:  # fmt: skip
    """Learn costs from questions and the numbers of their meanings, by Adam.

    `least` is how often a feature must occur; `watch` is told the mean loss after every epoch.
    """
    if not pairs:
        raise DataError("there are no questions with a meaning of the grammar to learn from")
    features = _counted((text for text, _ in pairs), least)
    x = _matrix([text for text, _ in pairs], features)
    gold: Ints = np.array([place for _, place in pairs], dtype=np.int64)
    rules = meanings.uses.shape[1]
    used = np.asarray((meanings.uses != 0).sum(axis=0)).ravel() > 0
    bias, weights = np.zeros(rules, dtype=np.float32), np.zeros((len(features), rules), dtype=np.float32)
    moments = [np.zeros_like(weights), np.zeros_like(weights), np.zeros_like(bias), np.zeros_like(bias)]
    draws, steps = np.random.default_rng(seed), 0
    uses = meanings.uses.tocsr()
    across = uses.T.tocsr()
    for epoch in range(epochs):
        order, loss = draws.permutation(len(pairs)), 0.0
        pace = rate * (1.0 - epoch / epochs)
        for begin in range(0, len(order), batch):
            chosen = order[begin : begin + batch]
            part = x[chosen]
            z = bias - part @ weights
            costs = np.logaddexp(0.0, z)
            scores = -(costs @ across)
            scores -= scores.max(axis=1, keepdims=True)
            p = np.exp(scores)
            p /= p.sum(axis=1, keepdims=True)
            rows = np.arange(len(chosen))
            loss -= float(np.log(p[rows, gold[chosen]] + 1e-30).sum())
            p[rows, gold[chosen]] -= 1.0
            down = -(p @ uses) / (1.0 + np.exp(-z)) / len(chosen)
            steps += 1
            gradient = -(part.T @ down) + penalty * len(pairs) / batch * weights
            _adam(weights, gradient, moments[0], moments[1], steps, pace)
            _adam(bias, down.sum(axis=0), moments[2], moments[3], steps, pace)
        if watch:
            watch(epoch, loss / len(pairs))
    bias[~used] = 9.0
    return CostModel(features, bias, weights)


def _adam(values: Floats, gradient: Floats, first: Floats, second: Floats, steps: int, rate: float) -> None:
    first *= 0.9
    first += 0.1 * gradient
    second *= 0.999
    second += 0.001 * gradient * gradient
    values -= rate * (first / (1 - 0.9**steps)) / (np.sqrt(second / (1 - 0.999**steps)) + 1e-8)


def _counted(texts: Iterable[str], least: int) -> dict[str, int]:
    counts: dict[str, int] = {}
    for text in texts:
        for each in set(features_of(text)):
            counts[each] = counts.get(each, 0) + 1
    return {each: number for number, each in enumerate(sorted(each for each, n in counts.items() if n >= least))}


def _matrix(texts: Sequence[str], features: dict[str, int]) -> sparse.csr_matrix:
    rows, columns = [], []
    for row, text in enumerate(texts):
        for each in set(features_of(text)):
            if each in features:
                rows.append(row)
                columns.append(features[each])
    shape = (len(texts), len(features))
    return sparse.csr_matrix((np.ones(len(rows), dtype=np.float32), (rows, columns)), shape=shape)
