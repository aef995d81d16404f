"""Where the units of an adaptor grammar end: in the present parses, and in new utterances parsed with what is known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weft.infer.forests.grammar import Coded
from weft.infer.forests.pcfg import E_SYMBOL, Extra, Number, Text, draw_parse, fill_chart
from weft.kernel import inner_kernel, kernel
from weft.learn.adaptor.restaurants import T_FIRST, Counts, Restaurants, set_weights
from weft.learn.adaptor.sampler import Scratch, Utterances, choose_table


@inner_kernel
def _mark(
    grammar: Coded, state: Restaurants, at: int, symbol: Number, position: int, unit: int, ends: NDArray[np.bool_]
) -> tuple[int, int]:
    """Mark the ends of all `unit`s of a tree of codes; the code after it and the position after it."""
    code = state.codes[at]
    if code < 0:
        position = _mark(grammar, state, state.tables[-1 - code, T_FIRST], symbol, position, unit, ends)[1]
        return at + 1, position
    at += 1
    for x in range(grammar.right_starts[code], grammar.right_starts[code + 1]):
        if grammar.rights[x] < 0:
            position += 1
        else:
            at, position = _mark(grammar, state, at, grammar.rights[x], position, unit, ends)
    if symbol == unit:
        ends[position - 1] = True
    return at, position


@kernel
def mark_units(grammar: Coded, state: Restaurants, said: Utterances, unit: int, ends: NDArray[np.bool_]) -> None:
    """Mark in `ends` the last terminal of every unit in the parses of all utterances."""
    for u in range(said.parses.shape[0]):
        _mark(grammar, state, said.parses[u, 0], np.int64(0), said.starts[u], unit, ends)


@kernel
def parse_frozen(
    grammar: Coded, state: Restaurants, text: Text, starts: Counts, unit: int, best: bool, scratch: Scratch,
    ends: NDArray[np.bool_],
) -> int:  # fmt: skip
    """Parse other utterances with restaurants and rule counts as they are, and mark the ends of units.

    The number of utterances, or -1 - u where utterance u has no parse.
    """
    extra = Extra(state.heads, state.entries, scratch.scale, state.discount)
    set_weights(grammar, state, scratch.weight, extra)
    drawn = scratch.drawn
    for u in range(starts.shape[0] - 1):
        first, size = starts[u], starts[u + 1] - starts[u]
        fill_chart(grammar, scratch.weight, extra, text, first, size, best, scratch.chart)
        n = draw_parse(
            grammar, scratch.weight, extra, text, first, size, np.int64(0), np.bool_(False), best, scratch.chart,
            state.random, scratch.stack, drawn,
        )  # fmt: skip
        if n < 0:
            return -1 - u
        for x in range(n):
            code = drawn[x, 0]
            if code < 0:
                table = choose_table(state, -1 - code, best)
                symbol = state.entries[-1 - code, E_SYMBOL]
                _mark(grammar, state, state.tables[table, T_FIRST], symbol, first + drawn[x, 1], unit, ends)
            elif grammar.left_of[code] == unit:
                ends[first + drawn[x, 2] - 1] = True
    return starts.shape[0] - 1
