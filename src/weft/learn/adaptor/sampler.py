"""Metropolis-Hastings over the parses of an adaptor grammar.

    take parse t with its seating out of the restaurants;  propose t' from the approximate grammar G' (tables as extra
    rules), seat it;  keep it with probability  min(1, [P(t', s') / q(t', s')] / [P(t, s) / q(t, s)])

P multiplies what each customer and each rule costs when it is its turn; q is the probability of t' under G', where all
turns see the same counts, times that of the seats s' given t'. The labels of tables move the same way, under the rules
of their symbol only: a label that moves takes all customers of its table with it.

Constants in calls are typed (`np.int64(0)`): Numba compiles a kernel anew for every literal, and recursive kernels
whose first call has a literal break when they come from the cache.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from weft.arrays import Floats, Ints
from weft.draws import uniform
from weft.infer.forests.grammar import Coded
from weft.infer.forests.pcfg import (  # fmt: skip
    E_STRING,
    E_SYMBOL,
    E_TABLE,
    Chart,
    Extra,
    Flag,
    Number,
    Text,
    draw_parse,
    fill_chart,
)
from weft.kernel import inner_kernel, kernel
from weft.learn.adaptor.restaurants import (
    ACCEPTED,
    CODES,
    JOINT,
    NEW_ENTRY,
    NEW_TABLE,
    T_COUNT,
    T_ENTRY,
    T_FIRST,
    T_NEXT,
    T_SIZE,
    TOUCHED,
    TRIED,
    WEIGHT,
    Counts,
    Restaurants,
    add_table,
    base_probability,
    clear_tables,
    count_rule,
    find_entry,
    label_hash,
    seat,
    seat_again,
    set_weights,
    theta,
    unseat,
)


class Utterances(NamedTuple):
    """What is parsed: the text, where utterances start, the codes of their parses (place, length)."""

    text: Text
    starts: Counts
    parses: Ints
    where: Counts  # of strings: a position at which each stands
    sizes: Ints


class Scratch(NamedTuple):
    """Scratch space that every step reuses."""

    chart: Chart
    weight: Floats
    scale: Floats
    drawn: Ints
    stack: Ints
    out: Ints
    cursor: Counts


@inner_kernel
def choose_table(state: Restaurants, entry: int, best: Flag) -> int:
    """A table of an entry, drawn by its customers less the discount, or with `best` the fullest."""
    a = state.discount[state.entries[entry, E_SYMBOL]]
    total, chosen = 0.0, -1
    k = state.entries[entry, E_TABLE]
    while k >= 0:
        count = state.tables[k, T_COUNT]
        if count > 0:
            if best:
                if count > total:
                    chosen, total = k, count
            else:
                total += count - a
                if chosen < 0 or uniform(state.random) * total < count - a:
                    chosen = k
        k = state.tables[k, T_NEXT]
    return chosen


@inner_kernel
def _fold(
    grammar: Coded, state: Restaurants, text: Text, first: int, symbol: Number, root: Flag, scratch: Scratch
) -> None:
    """Turn the drawn codes under a symbol into codes with tables, on the end of `out`; trees get empty tables."""
    cursor, out = scratch.cursor, scratch.out
    code, i, j = scratch.drawn[cursor[0], 0], scratch.drawn[cursor[0], 1], scratch.drawn[cursor[0], 2]
    cursor[0] += 1
    start = cursor[1]
    if code < 0:
        out[start] = -1 - choose_table(state, -1 - code, np.bool_(False))
        cursor[1] += 1
        return
    out[start] = code
    cursor[1] += 1
    for x in range(grammar.right_starts[code], grammar.right_starts[code + 1]):
        if grammar.rights[x] >= 0:
            _fold(grammar, state, text, first, grammar.rights[x], np.bool_(False), scratch)
    if grammar.adapted[symbol] and not root:
        size = cursor[1] - start
        place = _keep(state, scratch, start)
        entry = find_entry(state, symbol, text.strings[text.rows[first + i] + j - i - 1])
        out[start] = -1 - add_table(state, entry, place, size, label_hash(state, place, size))
        cursor[1] = start + 1


@inner_kernel
def _keep(state: Restaurants, scratch: Scratch, start: Number) -> int:
    """Copy the codes from `start` of `out` to the end of the codes; their place there."""
    place = state.places[CODES]
    size = scratch.cursor[1] - start
    for c in range(size):
        state.codes[place + c] = scratch.out[start + c]
    state.places[CODES] += size
    return place


@inner_kernel
def _propose(
    grammar: Coded, state: Restaurants, text: Text, first: int, size: int, symbol: Number, root: Flag, scratch: Scratch
) -> int:
    """Draw a tree over a string and put its codes at the end; their place, -1 without a parse."""
    extra = Extra(state.heads, state.entries, scratch.scale, state.discount)
    set_weights(grammar, state, scratch.weight, extra)
    fill_chart(grammar, scratch.weight, extra, text, first, size, np.bool_(False), scratch.chart)
    n = draw_parse(
        grammar, scratch.weight, extra, text, first, size, symbol, root, np.bool_(False), scratch.chart, state.random,
        scratch.stack, scratch.drawn,
    )  # fmt: skip
    if n < 0:
        return -1
    scratch.cursor[0], scratch.cursor[1] = 0, 0
    _fold(grammar, state, text, first, symbol, root, scratch)
    return _keep(state, scratch, np.int64(0))


@inner_kernel
def seat_codes(grammar: Coded, state: Restaurants, first: int, size: int) -> None:
    """Count the rules of some codes and seat their customers."""
    for c in range(first, first + size):
        code = state.codes[c]
        if code >= 0:
            log_theta = math.log(theta(grammar, state, code))
            state.logs[WEIGHT] += log_theta
            state.logs[JOINT] += log_theta
            count_rule(grammar, state, code, np.int64(1))
        else:
            state.codes[c] = -1 - seat(grammar, state, -1 - code)


@inner_kernel
def unseat_codes(grammar: Coded, state: Restaurants, first: int, size: int) -> None:
    """Take back `seat_codes`."""
    for c in range(first + size - 1, first - 1, -1):
        code = state.codes[c]
        if code >= 0:
            count_rule(grammar, state, code, np.int64(-1))
            log_theta = math.log(theta(grammar, state, code))
            state.logs[WEIGHT] -= log_theta
            state.logs[JOINT] -= log_theta
        else:
            unseat(grammar, state, -1 - code)


@inner_kernel
def _seat_codes_again(grammar: Coded, state: Restaurants, first: int, size: int) -> None:
    for c in range(first, first + size):
        code = state.codes[c]
        if code >= 0:
            count_rule(grammar, state, code, np.int64(1))
        else:
            seat_again(grammar, state, -1 - code)


@inner_kernel
def _move(
    grammar: Coded, state: Restaurants, text: Text, first: int, size: int, symbol: Number, root: Flag, old: int,
    n_old: int, scratch: Scratch,
) -> int:  # fmt: skip
    """One step of Metropolis-Hastings for codes at `old`; the place of the new codes, or -1 where the old ones stay."""
    state.logs[WEIGHT] = 0.0
    unseat_codes(grammar, state, old, n_old)
    against = -state.logs[WEIGHT] - math.log(base_probability(grammar, state, old, n_old))
    new = _propose(grammar, state, text, first, size, symbol, root, scratch)
    if new < 0:  # the sums are too small for a float: nothing moves
        _seat_codes_again(grammar, state, old, n_old)
        return -1
    n_new = scratch.cursor[1]
    ratio = -math.log(base_probability(grammar, state, new, n_new)) - against
    state.logs[WEIGHT] = 0.0
    seat_codes(grammar, state, new, n_new)
    ratio += state.logs[WEIGHT]
    state.places[TRIED] += 1
    if ratio >= 0.0 or uniform(state.random) < math.exp(ratio):
        state.places[ACCEPTED] += 1
        return new
    unseat_codes(grammar, state, new, n_new)
    _seat_codes_again(grammar, state, old, n_old)
    return -1


@inner_kernel
def _room(state: Restaurants, need: int) -> bool:
    """Whether a step that makes at most that many tables, entries and codes can be taken."""
    return (
        state.places[CODES] + 2 * need <= state.codes.shape[0]
        and state.places[NEW_TABLE] + need <= state.tables.shape[0]
        and state.places[NEW_ENTRY] + need <= state.entries.shape[0]
    )


@kernel
def draw_first_parses(
    grammar: Coded, state: Restaurants, said: Utterances, begin: int, batch: bool, per_terminal: int, scratch: Scratch
) -> int:
    """Draw parses from `begin` on; with `batch` none is seated, so that all come from the grammar without tables.

    The first utterance that there was no room for, or -1 - u where utterance u has no parse.
    """
    for u in range(begin, said.parses.shape[0]):
        first, size = said.starts[u], said.starts[u + 1] - said.starts[u]
        if not _room(state, per_terminal * size):
            return u
        place = _propose(grammar, state, said.text, first, size, np.int64(0), np.bool_(False), scratch)
        if place < 0:
            return -1 - u
        said.parses[u, 0], said.parses[u, 1] = place, scratch.cursor[1]
        if batch:
            state.places[TOUCHED] = 0  # the empty tables stay until the parses are seated
        else:
            seat_codes(grammar, state, place, scratch.cursor[1])
            clear_tables(state)
    return said.parses.shape[0]


@kernel
def seat_parses(grammar: Coded, state: Restaurants, said: Utterances, begin: int, per_terminal: int) -> int:
    """Seat the parses from `begin` on; the first for which there was no room."""
    for u in range(begin, said.parses.shape[0]):
        if not _room(state, per_terminal * (said.starts[u + 1] - said.starts[u])):
            return u
        seat_codes(grammar, state, said.parses[u, 0], said.parses[u, 1])
        state.places[TOUCHED] = 0
    return said.parses.shape[0]


@kernel
def shuffle(order: Counts, state: Restaurants) -> None:
    """Shuffle numbers."""
    for x in range(order.shape[0] - 1, 0, -1):
        y = int(uniform(state.random) * (x + 1))
        order[x], order[y] = order[y], order[x]


@kernel
def clear_all(state: Restaurants) -> None:
    """Take away every empty table."""
    for table in range(state.places[NEW_TABLE]):
        if state.tables[table, T_ENTRY] >= 0 and state.tables[table, T_COUNT] == 0:
            state.touched[0] = table
            state.places[TOUCHED] = 1
            clear_tables(state)


@kernel
def sweep(
    grammar: Coded, state: Restaurants, said: Utterances, order: Counts, begin: int, per_terminal: int, scratch: Scratch
) -> int:
    """Parse the utterances of `order` anew from `begin` on; the first place for which there was no room."""
    for x in range(begin, order.shape[0]):
        u = order[x]
        first, size = said.starts[u], said.starts[u + 1] - said.starts[u]
        if not _room(state, per_terminal * size):
            return x
        old, n_old = said.parses[u]
        new = _move(grammar, state, said.text, first, size, np.int64(0), np.bool_(False), old, n_old, scratch)
        if new >= 0:
            said.parses[u, 0], said.parses[u, 1] = new, scratch.cursor[1]
        clear_tables(state)
    return order.shape[0]


@kernel
def relabel(
    grammar: Coded, state: Restaurants, said: Utterances, symbol: int, begin: int, per_terminal: int, scratch: Scratch
) -> int:
    """Draw new labels for the tables of a symbol from table `begin` on; the first for which there was no room."""
    for table in range(begin, state.places[NEW_TABLE]):
        entry = state.tables[table, T_ENTRY]
        if entry < 0 or state.entries[entry, E_SYMBOL] != symbol:
            continue
        string = state.entries[entry, E_STRING]
        first, size = said.where[string], said.sizes[string]
        if not _room(state, per_terminal * size):
            return table
        row = state.tables[table]
        new = _move(grammar, state, said.text, first, size, symbol, np.bool_(True), row[T_FIRST], row[T_SIZE], scratch)
        if new >= 0:
            row[T_FIRST], row[T_SIZE] = new, scratch.cursor[1]
            state.hashes[table] = label_hash(state, new, scratch.cursor[1])
        clear_tables(state)
    return state.tables.shape[0]


@kernel
def take_out(grammar: Coded, state: Restaurants, said: Utterances, u: int) -> float:
    """Take a parse out of the restaurants; log P of putting it there, seats included, as the last of all."""
    state.places[TOUCHED] = 0
    state.logs[JOINT] = 0.0
    unseat_codes(grammar, state, said.parses[u, 0], said.parses[u, 1])
    return -state.logs[JOINT]


@kernel
def put_in(grammar: Coded, state: Restaurants, said: Utterances, u: int, same_seats: bool) -> float:
    """Put a parse back in, at the tables it left or at tables drawn anew; log P of the latter."""
    state.places[TOUCHED] = 0
    state.logs[JOINT] = 0.0
    if same_seats:
        _seat_codes_again(grammar, state, said.parses[u, 0], said.parses[u, 1])
    else:
        seat_codes(grammar, state, said.parses[u, 0], said.parses[u, 1])
    return state.logs[JOINT]


@kernel
def hash_labels(state: Restaurants, symbol: int) -> None:
    """Hash the labels of a symbol's tables again, after those below have changed."""
    for table in range(state.places[NEW_TABLE]):
        row = state.tables[table]
        if row[T_ENTRY] >= 0 and state.entries[row[T_ENTRY], E_SYMBOL] == symbol:
            state.hashes[table] = label_hash(state, row[T_FIRST], row[T_SIZE])


@kernel
def compact(state: Restaurants, parses: Ints, codes: Ints) -> None:
    """Copy the codes that are in use to the front of another array."""
    end = 0
    for table in range(state.places[NEW_TABLE]):
        row = state.tables[table]
        if row[T_ENTRY] >= 0:
            end = _moved(state.codes, row[T_FIRST : T_SIZE + 1], codes, end)
        else:
            row[T_FIRST], row[T_SIZE] = 0, 0
    for u in range(parses.shape[0]):
        end = _moved(state.codes, parses[u], codes, end)
    state.places[CODES] = end


@inner_kernel
def _moved(source: Ints, place: Ints, target: Ints, end: int) -> int:
    for c in range(place[1]):
        target[end + c] = source[place[0] + c]
    place[0] = end
    return end + place[1]
