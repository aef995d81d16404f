"""Sums over all parses of a string by a context-free grammar, and parses drawn from them.

    inside(A, i, j) = extra(A, w_i..w_j) + sum over A -> a of  p(A -> a) prod of inside of its symbols over all splits

A parse is a list of codes, top-down and left to right: `r` for rule r, `-1 - e` for extra rule e, which rewrites a
symbol to a whole string at once. Extra rules are found by the number of the string: those of a substring are a chain

    heads[string], next[e], ...        weight of e = scale_A (mass_e - discount_A pieces_e)

so that the weights of all extra rules of a symbol change with two numbers (for a plain table of weights: scale 1,
discount 0).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats, Ints
from weft.draws import uniform
from weft.errors import ConfigError, InferenceError
from weft.infer.forests.grammar import Coded, CodedGrammar
from weft.kernel import inner_kernel, kernel

Number = int | np.int64
Flag = bool | np.bool_
#: Columns of the table of extra rules.
E_SYMBOL, E_STRING, E_NEXT, E_TABLE, E_MASS, E_PIECES = range(6)


class Extra(NamedTuple):
    """Extra rules: `table` has the columns symbol, string, next, (free for others), mass, pieces."""

    heads: Ints  # string -> first extra rule or -1
    table: Ints
    scale: Floats  # of symbols
    discount: Floats


class Text(NamedTuple):
    """Terminals in a row, and the number of every string: that of `size` terminals from `p` is
    `strings[rows[p] + size - 1]`, -1 where it has none."""

    terminals: Ints
    rows: NDArray[np.int64]
    strings: Ints


class Chart(NamedTuple):
    """Room for the sums of one string: cell (i, j) is row `i * size + j - 1`."""

    inside: Floats  # cells x symbols
    active: Ints  # cells x symbols: those that are not 0 and begin a binary rule
    n_active: Ints


def make_chart(n_symbols: int, longest: int) -> Chart:
    """Room for strings of that many terminals."""
    cells = max(longest, 1) ** 2
    return Chart(
        np.zeros((cells, n_symbols)), np.zeros((cells, n_symbols), dtype=np.int64), np.zeros(cells, dtype=np.int64)
    )


ExtraRules = Mapping[tuple[str, tuple[str, ...]], float]


def log_inside(
    grammar: CodedGrammar,
    words: Sequence[str],
    probabilities: Sequence[float] | Floats,
    extra: ExtraRules | None = None,
) -> float:
    """log of the summed probability of all parses of a string from the start symbol; minus infinity without one.

    `extra` gives weights of rules that rewrite a symbol to a whole string.

    >>> from weft.formats.grammar import parse_grammar
    >>> from weft.infer.forests.grammar import code_grammar
    >>> coded = code_grammar(parse_grammar("S -> A S | A\\nA -> 'a' | 'a' 'a'"))
    >>> round(float(np.exp(log_inside(coded, ["a", "a"], [0.4, 0.6, 0.7, 0.3]))), 4)
    0.2976
    """
    chart, *_ = _filled(grammar, words, probabilities, extra, best=False)
    with np.errstate(divide="ignore"):
        return float(np.log(chart.inside[len(words) - 1, 0]))


def sample_parses(
    grammar: CodedGrammar,
    words: Sequence[str],
    probabilities: Sequence[float] | Floats,
    extra: ExtraRules | None = None,
    samples: int = 1,
    seed: int = 0,
) -> list[list[int]]:
    """Parses of a string drawn from their distribution, as lists of codes: rules r >= 0, extra rules -1 - e.

    >>> from weft.formats.grammar import parse_grammar
    >>> from weft.infer.forests.grammar import code_grammar
    >>> coded = code_grammar(parse_grammar("S -> A S | A\\nA -> 'a' | 'a' 'a'"))
    >>> sorted(map(tuple, {tuple(p) for p in sample_parses(coded, ["a", "a"], [0.4, 0.6, 0.7, 0.3], samples=50)}))
    [(0, 2, 1, 2), (1, 3)]
    """
    chart, text, rules, weight = _filled(grammar, words, probabilities, extra, best=False)
    return _drawn(grammar, len(words), chart, text, rules, weight, samples, seed, best=False)


def best_parse(
    grammar: CodedGrammar,
    words: Sequence[str],
    probabilities: Sequence[float] | Floats,
    extra: ExtraRules | None = None,
) -> list[int]:
    """The parse of highest probability, as a list of codes."""
    chart, text, rules, weight = _filled(grammar, words, probabilities, extra, best=True)
    return _drawn(grammar, len(words), chart, text, rules, weight, 1, 0, best=True)[0]


def _drawn(
    grammar: CodedGrammar, size: int, chart: Chart, text: Text, extra: Extra, weight: Floats, samples: int, seed: int,
    best: bool,
) -> list[list[int]]:  # fmt: skip
    if chart.inside[size - 1, 0] <= 0.0:
        raise InferenceError("the grammar has no parse of this string from its start symbol")
    random = np.array([seed], dtype=np.uint64)
    codes, stack = np.zeros((2, parse_room(size, len(grammar.symbols)), 3), dtype=np.int64)
    found = []
    for _ in range(samples):
        n = draw_parse(grammar.arrays, weight, extra, text, 0, size, 0, False, best, chart, random, stack, codes)
        found.append(codes[:n, 0].tolist())
    return found


def parse_room(size: int, n_symbols: int) -> int:
    """A bound on the codes in a parse of `size` terminals: 2 `size` branchings, a chain of unary rules above each."""
    return 2 * max(size, 1) * (n_symbols + 1)


def _filled(
    grammar: CodedGrammar, words: Sequence[str], probabilities: Sequence[float] | Floats, extra: ExtraRules | None,
    best: bool,
) -> tuple[Chart, Text, Extra, Floats]:  # fmt: skip
    size = len(words)
    if size == 0:
        raise InferenceError("there is nothing to parse: the string is empty")
    if len(probabilities) != len(grammar.rules):
        raise ConfigError(f"{len(grammar.rules)} rules need as many probabilities, got {len(probabilities)}")
    number: dict[tuple[str, ...], int] = {}
    spans = [tuple(words[i:j]) for i in range(size) for j in range(i + 1, size + 1)]
    strings = np.array([number.setdefault(span, len(number)) for span in spans], dtype=np.int64)
    rows = np.cumsum([0, *range(size, 1, -1)])
    text = Text(grammar.encode(words), rows, strings)
    rules = list((extra or {}).items())
    table = np.full((max(len(rules), 1), 6), -1, dtype=np.int64)
    heads = np.full(len(number), -1, dtype=np.int64)
    # Weights as whole multiples of a small step, as restaurants have whole customers.
    step = max((weight for _, weight in rules), default=1.0) / (1 << 30) or 1.0
    for e, ((symbol, span), weight) in enumerate(rules):
        if symbol not in grammar.symbols[: grammar.n_named]:
            raise ConfigError(f"an extra rule rewrites {symbol!r}, which is no symbol of the grammar")
        string = number.get(tuple(span))
        if string is not None:
            table[e] = grammar.symbols.index(symbol), string, heads[string], -1, round(weight / step), 0
            heads[string] = e
    n = len(grammar.symbols)
    rules_of = Extra(heads, table, np.full(n, step), np.zeros(n))
    weight_of = np.append(np.asarray(probabilities, dtype=np.float64), 1.0)
    chart = make_chart(n, size)
    fill_chart(grammar.arrays, weight_of, rules_of, text, 0, size, best, chart)
    return chart, text, rules_of, weight_of


@kernel
def fill_chart(
    grammar: Coded, weight: Floats, extra: Extra, text: Text, first: int, size: int, best: Flag, chart: Chart
) -> None:
    """Inside sums (with `best`: of the best parse alone) of the `size` terminals from `first`."""
    inside, active, n_active = chart
    n_symbols = inside.shape[1]
    by_left, starts, unary = grammar.by_left, grammar.by_left_starts, grammar.unary
    for width in range(1, size + 1):
        for i in range(size - width + 1):
            cell = i * size + i + width - 1
            row = inside[cell]
            row[:] = 0.0
            if width == 1:
                t = text.terminals[first + i]
                for w in range(grammar.words.shape[1]):
                    symbol = grammar.words[t, w]
                    if symbol < 0:
                        break
                    row[symbol] = weight[grammar.lexical[symbol, t]]
            for k in range(i + 1, i + width):
                left = i * size + k - 1
                right = inside[k * size + i + width - 1]
                for x in range(n_active[left]):
                    b = active[left, x]
                    value = inside[left, b]
                    for r in range(starts[b], starts[b + 1]):
                        other = right[by_left[r, 1]]
                        if other > 0.0:
                            _put(row, by_left[r, 0], value * other * weight[by_left[r, 2]], best)
            string = text.strings[text.rows[first + i] + width - 1]
            e = extra.heads[string] if string >= 0 else -1
            while e >= 0:
                mass = extra_weight(extra, e)
                if mass > 0.0:
                    _put(row, extra.table[e, E_SYMBOL], mass, best)
                e = extra.table[e, E_NEXT]
            for u in range(unary.shape[0]):
                value = row[unary[u, 0]]
                if value > 0.0:
                    _put(row, unary[u, 1], value * weight[unary[u, 2]], best)
            n = 0
            for symbol in range(n_symbols):
                if row[symbol] > 0.0 and starts[symbol] < starts[symbol + 1]:
                    active[cell, n] = symbol
                    n += 1
            n_active[cell] = n


@inner_kernel
def _put(row: Floats, symbol: int, value: float, best: Flag) -> None:
    if not best:
        row[symbol] += value
    elif value > row[symbol]:
        row[symbol] = value


@inner_kernel
def extra_weight(extra: Extra, e: int) -> float:
    """The weight of an extra rule."""
    symbol = extra.table[e, E_SYMBOL]
    return extra.scale[symbol] * (extra.table[e, E_MASS] - extra.discount[symbol] * extra.table[e, E_PIECES])


@kernel
def draw_parse(
    grammar: Coded, weight: Floats, extra: Extra, text: Text, first: int, size: int, root: Number, fresh: Flag,
    best: Flag, chart: Chart, random: NDArray[np.uint64], stack: Ints, codes: Ints,
) -> int:  # fmt: skip
    """Draw a parse of the charted string under `root` top-down (with `best`: follow the best choices); how many codes.

    A row of `codes` is a code and the span i, j of its symbol. With `fresh` the root itself is rewritten by rules only,
    not by extra rules. -1: there is no such parse.
    """
    inside, helper = chart.inside, grammar.left_of.shape[0]
    unary, binary = grammar.unary_of, grammar.binary_of
    stack[0, 0], stack[0, 1], stack[0, 2] = root, 0, size
    top, n = 1, 0
    while top > 0:
        top -= 1
        symbol, i, j = stack[top, 0], stack[top, 1], stack[top, 2]
        total, code, one, other, cut = 0.0, helper, -1, -1, j
        if not (fresh and n == 0):
            string = text.strings[text.rows[first + i] + j - i - 1]
            e = extra.heads[string] if string >= 0 else -1
            while e >= 0:
                if extra.table[e, E_SYMBOL] == symbol:
                    value = extra_weight(extra, e)
                    if _takes(value, total, best, random):
                        code = -1 - e
                    total = max(total, value) if best else total + value
                e = extra.table[e, E_NEXT]
        if j - i == 1:
            rule = grammar.lexical[symbol, text.terminals[first + i]]
            if rule >= 0:
                value = weight[rule]
                if _takes(value, total, best, random):
                    code = rule
                total = max(total, value) if best else total + value
        for u in range(grammar.unary_starts[symbol], grammar.unary_starts[symbol + 1]):
            value = weight[unary[u, 1]] * inside[i * size + j - 1, unary[u, 0]]
            if _takes(value, total, best, random):
                code, one = unary[u, 1], unary[u, 0]
            total = max(total, value) if best else total + value
        for u in range(grammar.binary_starts[symbol], grammar.binary_starts[symbol + 1]):
            b, c, rule = binary[u, 0], binary[u, 1], binary[u, 2]
            for k in range(i + 1, j):
                value = inside[i * size + k - 1, b]
                if value > 0.0:
                    value *= weight[rule] * inside[k * size + j - 1, c]
                    if _takes(value, total, best, random):
                        code, one, other, cut = rule, b, c, k
                    total = max(total, value) if best else total + value
        if total <= 0.0:
            return -1
        if code != helper:
            codes[n, 0], codes[n, 1], codes[n, 2] = code, i, j
            n += 1
        if other >= 0:
            stack[top, 0], stack[top, 1], stack[top, 2] = other, cut, j
            top += 1
        if one >= 0:
            stack[top, 0], stack[top, 1], stack[top, 2] = one, i, cut
            top += 1
    return n


@inner_kernel
def _takes(value: float, total: float, best: Flag, random: NDArray[np.uint64]) -> bool:
    """Whether the next of several choices takes the place of the one kept so far."""
    if value <= 0.0:
        return False
    if best:
        return value > total
    return total == 0.0 or uniform(random) * (total + value) < value
