"""Costs of rules that depend on the words of the question, learned from pairs of a question and its meaning.

    cost(p | q)      = softplus(b_p - w_p . f(q))  >= 0
    cost(D | q)      = sum of cost(p | q) over the parts p of D: its rules, and pairs of a rule and its parent
    objective        = mean over questions of  -log softmax(-cost(D | q))[gold]  + penalty |w|^2

With these costs any word of the question speaks for a rule, wherever it stands, so no rule needs a word of its own. The
softmax runs over meanings that the grammar derives: those of all derivations with few content words, and given ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import sparse

from weft.arrays import Floats, Ints
from weft.errors import ConfigError, DataError
from weft.infer.agenda.kbest import Derivation
from weft.tasks.questions.lexicon import tokens_of
from weft.tasks.questions.synchronous import Filler, QuestionGrammar, filled
from weft.tasks.questions.terms import Term, is_typed, normal, simple

#: A derivation as its rule and those of its children that have rules.
Tree = tuple[int, tuple["Tree", ...]]
Fillers = Callable[[Derivation], Filler | None]


@dataclass(frozen=True)
class Meanings:
    """Meanings, and how often the derivation of each uses every part."""

    terms: list[Term]
    uses: sparse.csr_matrix
    places: dict[Term, int]


def pooled(grammar: QuestionGrammar, trees: Mapping[Term, Tree]) -> Meanings:
    """Meanings with the parts of a derivation of each: rules, then pairs of a rule and its parent."""
    pairs: dict[tuple[int, int], int] = {}
    rows: list[int] = []
    columns: list[int] = []
    size = len(grammar.rules)
    for row, tree in enumerate(trees.values()):
        for parent, rule in _steps(tree):
            rows.append(row)
            columns.append(rule)
            if parent >= 0:
                rows.append(row)
                columns.append(size + pairs.setdefault((parent, rule), len(pairs)))
    shape = (len(trees), size + len(pairs))
    uses = sparse.csr_matrix((np.ones(len(rows), dtype=np.float32), (rows, columns)), shape=shape)
    return Meanings(list(trees), uses, {term: place for place, term in enumerate(trees)})


def _steps(tree: Tree, parent: int = -1) -> Iterator[tuple[int, int]]:
    yield parent, tree[0]
    for child in tree[1]:
        yield from _steps(child, tree[0])


def tree_of(grammar: QuestionGrammar, derivation: Derivation, filler: Fillers, offers: Mapping[Term, int]) -> Tree:
    """The rules of a derivation; slots become the offers of the same values, which `offers` ranks."""
    rule, number = grammar.rules[derivation.rule], derivation.rule
    if len(rule.right) == 1 and rule.right[0].startswith("{"):
        found = filler(derivation.children[0])
        if found and found[0] in offers:
            kind = rule.right[0].strip("{}").split(":")
            offer = f"{{offer:{kind[1] if len(kind) > 1 else kind[0]}:{offers[found[0]]}}}"
            same = [n for n, each in enumerate(grammar.rules) if each.left == rule.left and each.right == (offer,)]
            number = same[0] if same else number
    children = [child for child in derivation.children if child.rule >= 0]
    return number, tuple(tree_of(grammar, child, filler, offers) for child in children)


def meaning_of(grammar: QuestionGrammar, tree: Tree, fillers: Fillers) -> Term | None:
    """The meaning of the rules of a derivation, whose slots are offers; None if it has none."""
    rule, below = grammar.rules[tree[0]], iter(tree[1])
    parts: list[Term] = []
    for name in rule.right:
        part: Term | None = ("word",)
        if name.startswith("{"):
            found = fillers(Derivation(grammar.symbols[name], 0.0))
            part = found[0] if found else None
        elif name not in grammar.classes:
            part = meaning_of(grammar, next(below), fillers)
        if part is None:
            return None
        parts.append(part)
    return normal(filled(rule.meaning, parts))


def small_meanings(grammar: QuestionGrammar, fillers: Fillers, size: int, most: int = 200_000) -> dict[Term, Tree]:
    """The meanings of all derivations with at most `size` content words, each with one derivation.

    A content word is a noun, a verb, an entity or a value. Meanings are made bottom-up, each symbol's once.
    """
    found: dict[str, list[dict[Term, Tree | None]]] = {}
    for name, number in grammar.symbols.items():
        levels: list[dict[Term, Tree | None]] = [{} for _ in range(size + 1)]
        if name in grammar.classes:
            levels[int(grammar.classes[name].content)][("word",)] = None
        elif name.startswith("{offer:") and (filler := fillers(Derivation(number, 0.0))):
            levels[1][filler[0]] = None
        found[name] = levels
    room = _room(grammar, found, size)
    seen: dict[str, set[Term]] = {rule.left: set() for rule in grammar.rules}
    for level in range(size + 1):
        changed = True
        while changed:
            changed = False
            for number, rule in enumerate(grammar.rules):
                if room[rule.left] < level:
                    continue
                own = found[rule.left][level]
                for parts, below in list(_combined(rule.right, level, found)):
                    term = normal(filled(rule.meaning, parts))
                    if term not in seen[rule.left]:
                        seen[rule.left].add(term)
                        own[term] = (number, below)
                        changed = True
            if sum(map(len, seen.values())) > most:
                raise ConfigError(f"the grammar has more than {most:,} meanings of {size} content words; take fewer")
    terms: dict[Term, Tree] = {}
    for made in found[grammar.names[grammar.goal]]:
        for raw, tree in made.items():
            term = simple(raw, grammar.schema)
            if tree is not None and is_typed(term, grammar.schema):
                terms.setdefault(term, tree)
    return terms


def _room(grammar: QuestionGrammar, found: Mapping[str, list[dict[Term, Tree | None]]], size: int) -> dict[str, int]:
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
    symbols: Sequence[str], size: int, found: Mapping[str, list[dict[Term, Tree | None]]]
) -> Iterator[tuple[list[Term], tuple[Tree, ...]]]:
    """The ways to fill the symbols of a rule with so many content words, each with the derivations it uses."""
    if not symbols:
        if size == 0:
            yield [], ()
        return
    for own, level in enumerate(found[symbols[0]][: size + 1]):
        if level:
            for rest, more in _combined(symbols[1:], size - own, found):
                for term, tree in level.items():
                    yield [term, *rest], (more if tree is None else (tree, *more))


def features_of(text: str) -> list[str]:
    """The words of a question, shortened, their pairs, and whether a word stands in the first half or in the second.

    >>> features_of("Who studied there?")
    ['who', 'study', 'there', '^ who', 'who study', 'study there', 'there $', '1 who', '1 study', '2 there']
    """
    stems = [_stem(token) for token in tokens_of(text) if token != ","]
    padded = ["^", *stems, "$"]
    halves = [f"{1 if 2 * at < len(stems) else 2} {stem}" for at, stem in enumerate(stems)]
    return stems + [f"{one} {other}" for one, other in pairwise(padded)] + halves


def _stem(token: str) -> str:
    for ending in ("ing", "ies", "ied", "ed", "s"):
        if token.endswith(ending) and len(token) - len(ending) >= 3:
            stem = token[: -len(ending)]
            return stem + "y" if ending in ("ies", "ied") else stem
    return token.removesuffix("e") if len(token) > 5 else token


@dataclass
class CostModel:
    """Learned costs: a bias per part, and a weight per feature and part."""

    features: dict[str, int]
    bias: Floats
    weights: Floats

    def costs(self, text: str) -> Floats:
        """The cost of every part for a question."""
        rows = [self.features[each] for each in set(features_of(text)) if each in self.features]
        total: Floats = self.bias - self.weights[rows].sum(axis=0)
        return np.logaddexp(0.0, total).astype(np.float64)

    def ranked(self, text: str, meanings: Meanings, k: int) -> list[tuple[float, int]]:
        """The k cheapest of some meanings, with their costs."""
        costs = meanings.uses @ self.costs(text)
        best = np.argsort(costs, kind="stable")[:k]
        return [(float(costs[place]), int(place)) for place in best]


def learn_costs(
    pairs: Sequence[tuple[str, int]], meanings: Meanings, epochs: int = 8, rate: float = 0.05, penalty: float = 3e-5,
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
