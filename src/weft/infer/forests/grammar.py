"""Grammars as arrays: symbols, rules and terminals numbered, long rules cut.

Rules of more than two symbols are cut from the right, `A -> B <C D>`; a helper is shared by all rules with the same
end, and has no probability of its own. A terminal beside other symbols gets a helper, too, so that there are three
kinds of rules: of one terminal, of one symbol, of two symbols.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Ints
from weft.errors import InferenceError


class Rule(Protocol):
    """A plain rule `left -> right` with its Dirichlet pseudo-count."""

    @property
    def left(self) -> str: ...

    @property
    def right(self) -> tuple[str, ...]: ...

    @property
    def alpha(self) -> float: ...


class Grammar(Protocol):
    """A context-free grammar; names that are on no rule's left side are terminals.

    `weft.formats.grammar` reads such grammars from files.
    """

    @property
    def start(self) -> str: ...

    @property
    def adapted(self) -> Collection[str]: ...

    def rules(self) -> Sequence[Rule]: ...


class Coded(NamedTuple):
    """A grammar as arrays. Rule `len(left_of)` stands for helpers and has weight 1."""

    left_of: Ints  # rule -> symbol
    right_starts: Ints  # rule -> its right side in `rights`
    rights: Ints  # symbols; terminal t as -1 - t
    adapted: NDArray[np.bool_]  # symbols whose trees are remembered
    lexical: Ints  # symbol, terminal -> rule or -1
    words: Ints  # terminal -> symbols that rewrite to it, ended by -1
    unary: Ints  # child, parent, rule: children before parents
    by_left: Ints  # parent, right child, rule of binary rules, by left child
    by_left_starts: Ints
    unary_of: Ints  # child, rule of unary rules, by parent
    unary_starts: Ints
    binary_of: Ints  # left child, right child, rule of binary rules, by parent
    binary_starts: Ints


@dataclass(frozen=True)
class CodedGrammar:
    """A grammar's symbols, rules and terminals with their arrays.

    >>> from weft.formats.grammar import parse_grammar
    >>> coded = code_grammar(parse_grammar("S -> A B C | A\\nA -> 'a'\\nB -> 'b'\\nC -> 'a' 'b'"))
    >>> coded.symbols
    ('S', 'A', 'B', 'C', '<B C>', '<a>', '<b>')
    >>> coded.encode(["b", "a"]).tolist()
    [1, 0]
    """

    rules: tuple[Rule, ...]
    symbols: tuple[str, ...]  # helpers behind the symbols of the rules
    terminals: tuple[str, ...]
    n_named: int  # symbols that are not helpers
    arrays: Coded

    @property
    def adapted(self) -> list[int]:
        return np.flatnonzero(self.arrays.adapted).tolist()

    def encode(self, words: Sequence[str]) -> Ints:
        """Terminals as numbers; one that the grammar does not have is an error."""
        number = {terminal: t for t, terminal in enumerate(self.terminals)}
        try:
            return np.array([number[word] for word in words], dtype=np.int64)
        except KeyError as error:
            raise InferenceError(
                f"the grammar has no terminal {error.args[0]!r}; it has {' '.join(self.terminals)}"
            ) from None


def code_grammar(grammar: Grammar) -> CodedGrammar:
    """Number the symbols and rules of a grammar and cut long rules into binary ones."""
    rules = grammar.rules()
    names = list(dict.fromkeys([grammar.start, *(rule.left for rule in rules)]))
    symbol = {name: s for s, name in enumerate(names)}
    terminals = list(dict.fromkeys(name for rule in rules for name in rule.right if name not in symbol))
    terminal = {name: t for t, name in enumerate(terminals)}
    rights = [[symbol.get(name, -1 - terminal.get(name, 0)) for name in rule.right] for rule in rules]
    cut = _Cut(names, terminals, len(rules))
    for r, rule in enumerate(rules):
        cut.add(symbol[rule.left], rights[r], r)
    n = len(names)
    adapted = np.zeros(n, dtype=np.bool_)
    adapted[[s for s in range(cut.n_named) if names[s] in grammar.adapted]] = True
    by_left = sorted(cut.binary, key=lambda rule: rule[1])
    by_parent = sorted(cut.binary, key=lambda rule: rule[0])
    unary = sorted(cut.unary, key=lambda rule: rule[0])
    lexical = np.full((n, max(len(terminals), 1)), -1, dtype=np.int64)
    for s, t, r in cut.lexical:
        lexical[s, t] = r
    widest = int((lexical >= 0).sum(axis=0).max(initial=0))
    words = np.full((lexical.shape[1], widest + 1), -1, dtype=np.int64)
    for t in range(len(terminals)):
        found = np.flatnonzero(lexical[:, t] >= 0)
        words[t, : len(found)] = found
    lengths = [len(right) for right in rights]
    arrays = Coded(
        _ints([symbol[rule.left] for rule in rules]),
        _ints(np.cumsum([0, *lengths])),
        _ints([name for right in rights for name in right]),
        adapted,
        lexical,
        words,
        _rows([(child, parent, r) for parent, child, r in _children_first(cut.unary, n)], 3),
        _rows([(parent, right, r) for parent, _, right, r in by_left], 3),
        _starts([left for _, left, _, _ in by_left], n),
        _rows([(child, r) for _, child, r in unary], 2),
        _starts([parent for parent, _, _ in unary], n),
        _rows([(left, right, r) for _, left, right, r in by_parent], 3),
        _starts([parent for parent, _, _, _ in by_parent], n),
    )
    return CodedGrammar(tuple(rules), tuple(names), tuple(terminals), cut.n_named, arrays)


class _Cut:
    """Rules cut into lexical, unary and binary ones; helpers are added to the names."""

    def __init__(self, names: list[str], terminals: list[str], one: int) -> None:
        self.names, self.n_named, self._terminals, self._one = names, len(names), terminals, one
        self.lexical: list[tuple[int, int, int]] = []
        self.unary: list[tuple[int, int, int]] = []
        self.binary: list[tuple[int, int, int, int]] = []
        self._helpers: dict[tuple[int, ...], int] = {}

    def add(self, left: int, right: Sequence[int], rule: int) -> None:
        if len(right) == 1 and right[0] < 0:
            self.lexical.append((left, -1 - right[0], rule))
        elif len(right) == 1:
            self.unary.append((left, right[0], rule))
        else:
            self.binary.append((left, self._symbol(right[:1]), self._symbol(right[1:]), rule))

    def _symbol(self, right: Sequence[int]) -> int:
        if len(right) == 1 and right[0] >= 0:
            return right[0]
        key = tuple(right)
        if key not in self._helpers:
            shown = " ".join(self._terminals[-1 - s] if s < 0 else self.names[s] for s in right)
            self._helpers[key] = len(self.names)
            self.names.append(f"<{shown}>")
            self.add(self._helpers[key], right, self._one)
        return self._helpers[key]


def _children_first(unary: list[tuple[int, int, int]], n: int) -> list[tuple[int, int, int]]:
    """Unary rules in an order in which all rules below a symbol stand before those above it."""
    height = [0] * n
    for _ in range(n):
        for parent, child, _ in unary:
            height[parent] = max(height[parent], height[child] + 1)
    return sorted(unary, key=lambda rule: height[rule[1]])


def _ints(values: Any) -> Ints:
    return np.asarray(values, dtype=np.int64)


def _rows(rows: Sequence[tuple[int, ...]], width: int) -> Ints:
    return np.array(rows, dtype=np.int64).reshape(len(rows), width)


def _starts(keys: Sequence[int], n: int) -> Ints:
    return _ints(np.concatenate([[0], np.cumsum(np.bincount(np.array(keys, dtype=np.int64), minlength=n))]))
