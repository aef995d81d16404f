"""Pitman-Yor restaurants of an adaptor grammar: trees seated at tables, and what a tree costs.

With n_A customers at m_A tables under symbol A, table k labelled z_k with n_k customers, discount a and strength b:

    P(t | A) = sum over k with z_k = t of (n_k - a) / (n_A + b)  +  (m_A a + b) / (n_A + b) H(t)
    H(t)     = prod over the rules of t down to the next adapted symbols of theta_r  x  prod of P(t_i | A_i) below

theta is integrated out: (count_r + alpha_r) / (count_A + alpha_A), where a rule is counted at new tables and in parts
of trees without adapted symbols. A table keeps its label as codes: `r` for a rule, `-1 - k` for a customer at table k
of another restaurant. So labels share what is below them, and a label that changes changes for all customers at once.
Two tables have the same label when the hashes of their trees agree.

Tables of one symbol over one string form an entry, which is an extra rule for the chart (`weft.infer.forests.pcfg`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats, Ints, Keys
from weft.draws import uniform
from weft.hashing import join
from weft.infer.forests.grammar import Coded
from weft.infer.forests.pcfg import E_MASS, E_NEXT, E_PIECES, E_STRING, E_SYMBOL, E_TABLE, Extra, Number
from weft.kernel import inner_kernel

Counts = NDArray[np.int64]

#: Columns of the table of tables: entry (-1: not in use), customers, next of the entry, place and length of the codes.
T_ENTRY, T_COUNT, T_NEXT, T_FIRST, T_SIZE = range(5)
#: What `places` holds: first free table and entry (-1: none), first never used, end of the codes, tables touched.
FREE_TABLE, NEW_TABLE, FREE_ENTRY, NEW_ENTRY, CODES, TOUCHED, ACCEPTED, TRIED = range(8)
#: Places of the logarithms that `seat` and `unseat` add to: of the weight against the proposal, of the joint.
WEIGHT, JOINT = range(2)


class Restaurants(NamedTuple):
    """The state of a sampler: customers, tables and rule counts."""

    heads: Ints  # string -> entries, as in `Extra`
    entries: Ints  # columns of `Extra.table`
    tables: Ints
    hashes: Keys  # of the labels
    codes: Ints
    customers: Counts  # of symbols
    n_tables: Counts
    discount: Floats  # a
    strength: Floats  # b
    rule_counts: Counts
    left_counts: Counts  # of symbols: sum of the counts of their rules
    alpha: Floats  # of rules
    left_alpha: Floats
    places: Counts
    touched: Ints
    logs: Floats
    random: Keys


@inner_kernel
def theta(grammar: Coded, state: Restaurants, rule: int) -> float:
    """The predictive probability of a rule."""
    left = grammar.left_of[rule]
    return (state.rule_counts[rule] + state.alpha[rule]) / (state.left_counts[left] + state.left_alpha[left])


@inner_kernel
def set_weights(grammar: Coded, state: Restaurants, weight: Floats, extra: Extra) -> None:
    """Rule weights and scales of the approximate grammar that proposes parses."""
    for symbol in range(state.customers.shape[0]):
        extra.scale[symbol] = 1.0 / (state.customers[symbol] + state.strength[symbol])
    for rule in range(grammar.left_of.shape[0]):
        symbol = grammar.left_of[rule]
        weight[rule] = theta(grammar, state, rule)
        if grammar.adapted[symbol]:
            weight[rule] *= new_table(state, symbol)
    weight[grammar.left_of.shape[0]] = 1.0


@inner_kernel
def new_table(state: Restaurants, symbol: int) -> float:
    """The probability that the next customer opens a table."""
    a, b = state.discount[symbol], state.strength[symbol]
    return (state.n_tables[symbol] * a + b) / (state.customers[symbol] + b)


@inner_kernel
def count_rule(grammar: Coded, state: Restaurants, rule: int, step: Number) -> None:
    """Count a rule once more (step 1) or once less (step -1)."""
    state.rule_counts[rule] += step
    state.left_counts[grammar.left_of[rule]] += step


@inner_kernel
def label_hash(state: Restaurants, first: int, size: int) -> np.uint64:
    """The hash of a tree from its rules and the hashes of the trees below."""
    key = np.uint64(size)
    for c in range(first, first + size):
        code = state.codes[c]
        key = join(key, np.uint64(code + 1) if code >= 0 else state.hashes[-1 - code])
    return key


@inner_kernel
def base_probability(grammar: Coded, state: Restaurants, first: int, size: int) -> float:
    """H of the tree with these codes: theta of its rules times P of the trees below, nothing being seated between."""
    product = 1.0
    for c in range(first, first + size):
        code = state.codes[c]
        if code >= 0:
            product *= theta(grammar, state, code)
        else:
            product *= tree_probability(grammar, state, -1 - code)
    return product


@inner_kernel
def tree_probability(grammar: Coded, state: Restaurants, table: int) -> float:
    """P of the tree that labels a table (whether anybody sits there or not)."""
    entry = state.tables[table, T_ENTRY]
    symbol = state.entries[entry, E_SYMBOL]
    a, b = state.discount[symbol], state.strength[symbol]
    product = 1.0
    first = state.tables[table, T_FIRST]
    for c in range(first, first + state.tables[table, T_SIZE]):
        code = state.codes[c]
        if code >= 0:
            product *= theta(grammar, state, code)
        else:
            product *= tree_probability(grammar, state, -1 - code)
    seated = label_mass(state, entry, state.hashes[table], a)
    return (seated + (state.n_tables[symbol] * a + b) * product) / (state.customers[symbol] + b)


@inner_kernel
def label_mass(state: Restaurants, entry: int, key: np.uint64, a: float) -> float:
    """Customers less discounts at the tables of an entry with this label."""
    mass = 0.0
    k = state.entries[entry, E_TABLE]
    while k >= 0:
        if state.tables[k, T_COUNT] > 0 and state.hashes[k] == key:
            mass += state.tables[k, T_COUNT] - a
        k = state.tables[k, T_NEXT]
    return mass


@inner_kernel
def seat(grammar: Coded, state: Restaurants, label: int) -> int:
    """Seat a customer who ordered the tree of a table, at an old table or a new one; which table it is.

    At a new table customers for the trees below are seated first, so that each sees what those before him did.
    """
    tables = state.tables
    entry = tables[label, T_ENTRY]
    symbol = state.entries[entry, E_SYMBOL]
    a, b = state.discount[symbol], state.strength[symbol]
    first, size, key = tables[label, T_FIRST], tables[label, T_SIZE], state.hashes[label]
    base = base_probability(grammar, state, first, size)
    seated = label_mass(state, entry, key, a)
    opening = state.n_tables[symbol] * a + b
    all_ways, people = seated + opening * base, state.customers[symbol] + b
    state.logs[WEIGHT] += math.log(all_ways / people)
    left = uniform(state.random) * all_ways - opening * base
    chosen = -1
    if left >= 0.0 and seated > 0.0:
        k = state.entries[entry, E_TABLE]
        while k >= 0:
            if tables[k, T_COUNT] > 0 and state.hashes[k] == key:
                chosen = k
                left -= tables[k, T_COUNT] - a
                if left < 0.0:
                    break
            k = tables[k, T_NEXT]
    if chosen >= 0:
        state.logs[JOINT] += math.log((tables[chosen, T_COUNT] - a) / people)
    else:
        state.logs[JOINT] += math.log(opening / people)
        state.logs[WEIGHT] -= math.log(base)
        chosen = label
        if tables[label, T_COUNT] > 0:  # another table with the same label
            start = state.places[CODES]
            for c in range(size):
                state.codes[start + c] = state.codes[first + c]
            state.places[CODES] += size
            chosen = add_table(state, entry, start, size, key)
            first = start
        for c in range(first, first + size):
            code = state.codes[c]
            if code >= 0:
                log_theta = math.log(theta(grammar, state, code))
                state.logs[WEIGHT] += log_theta
                state.logs[JOINT] += log_theta
                count_rule(grammar, state, code, np.int64(1))
            else:
                state.codes[c] = -1 - seat(grammar, state, -1 - code)
        state.n_tables[symbol] += 1
        state.entries[entry, E_PIECES] += 1
    tables[chosen, T_COUNT] += 1
    state.entries[entry, E_MASS] += 1
    state.customers[symbol] += 1
    return chosen


@inner_kernel
def unseat(grammar: Coded, state: Restaurants, table: int) -> None:
    """Take back a `seat`, the logarithms with it; a table that empties keeps its label until it is cleared."""
    tables = state.tables
    entry = tables[table, T_ENTRY]
    symbol = state.entries[entry, E_SYMBOL]
    a, b = state.discount[symbol], state.strength[symbol]
    first, size = tables[table, T_FIRST], tables[table, T_SIZE]
    tables[table, T_COUNT] -= 1
    state.entries[entry, E_MASS] -= 1
    state.customers[symbol] -= 1
    people = state.customers[symbol] + b
    if tables[table, T_COUNT] > 0:
        state.logs[JOINT] -= math.log((tables[table, T_COUNT] - a) / people)
        base = base_probability(grammar, state, first, size)
    else:
        state.n_tables[symbol] -= 1
        state.entries[entry, E_PIECES] -= 1
        touch(state, table)
        for c in range(first + size - 1, first - 1, -1):
            code = state.codes[c]
            if code >= 0:
                count_rule(grammar, state, code, np.int64(-1))
                log_theta = math.log(theta(grammar, state, code))
                state.logs[WEIGHT] -= log_theta
                state.logs[JOINT] -= log_theta
            else:
                unseat(grammar, state, -1 - code)
        base = base_probability(grammar, state, first, size)
        state.logs[JOINT] -= math.log((state.n_tables[symbol] * a + b) / people)
        state.logs[WEIGHT] += math.log(base)
    seated = label_mass(state, entry, state.hashes[table], a)
    state.logs[WEIGHT] -= math.log((seated + (state.n_tables[symbol] * a + b) * base) / people)


@inner_kernel
def seat_again(grammar: Coded, state: Restaurants, table: int) -> None:
    """Seat a customer at the very table that he had left."""
    entry = state.tables[table, T_ENTRY]
    symbol = state.entries[entry, E_SYMBOL]
    if state.tables[table, T_COUNT] == 0:
        first = state.tables[table, T_FIRST]
        for c in range(first, first + state.tables[table, T_SIZE]):
            code = state.codes[c]
            if code >= 0:
                count_rule(grammar, state, code, np.int64(1))
            else:
                seat_again(grammar, state, -1 - code)
        state.n_tables[symbol] += 1
        state.entries[entry, E_PIECES] += 1
    state.tables[table, T_COUNT] += 1
    state.entries[entry, E_MASS] += 1
    state.customers[symbol] += 1


@inner_kernel
def find_entry(state: Restaurants, symbol: Number, string: int) -> int:
    """The entry of a symbol over a string, a new one if need be."""
    entry = state.heads[string]
    while entry >= 0:
        if state.entries[entry, E_SYMBOL] == symbol:
            return entry
        entry = state.entries[entry, E_NEXT]
    entry = state.places[FREE_ENTRY]
    if entry >= 0:
        state.places[FREE_ENTRY] = state.entries[entry, E_NEXT]
    else:
        entry = state.places[NEW_ENTRY]
        state.places[NEW_ENTRY] += 1
    row = state.entries[entry]
    row[E_SYMBOL], row[E_STRING], row[E_NEXT], row[E_TABLE] = symbol, string, state.heads[string], -1
    row[E_MASS], row[E_PIECES] = 0, 0
    state.heads[string] = entry
    return entry


@inner_kernel
def add_table(state: Restaurants, entry: int, first: int, size: int, key: np.uint64) -> int:
    """An empty table with a label; it is cleared at the end of the step unless somebody sits down."""
    table = state.places[FREE_TABLE]
    if table >= 0:
        state.places[FREE_TABLE] = state.tables[table, T_NEXT]
    else:
        table = state.places[NEW_TABLE]
        state.places[NEW_TABLE] += 1
    row = state.tables[table]
    row[T_ENTRY], row[T_COUNT], row[T_NEXT], row[T_FIRST], row[T_SIZE] = (
        entry, 0, state.entries[entry, E_TABLE], first, size,
    )  # fmt: skip
    state.entries[entry, E_TABLE] = table
    state.hashes[table] = key
    touch(state, table)
    return table


@inner_kernel
def touch(state: Restaurants, table: int) -> None:
    """Remember a table that may be empty at the end of the step."""
    state.touched[state.places[TOUCHED]] = table
    state.places[TOUCHED] += 1


@inner_kernel
def clear_tables(state: Restaurants) -> None:
    """Take away the empty tables among those touched, and entries without tables."""
    for x in range(state.places[TOUCHED]):
        table = state.touched[x]
        entry = state.tables[table, T_ENTRY]
        if entry < 0 or state.tables[table, T_COUNT] > 0:
            continue
        if state.entries[entry, E_TABLE] == table:
            state.entries[entry, E_TABLE] = state.tables[table, T_NEXT]
        else:
            k = state.entries[entry, E_TABLE]
            while state.tables[k, T_NEXT] != table:
                k = state.tables[k, T_NEXT]
            state.tables[k, T_NEXT] = state.tables[table, T_NEXT]
        state.tables[table, T_ENTRY] = -1
        state.tables[table, T_NEXT] = state.places[FREE_TABLE]
        state.places[FREE_TABLE] = table
        if state.entries[entry, E_TABLE] < 0:
            _clear_entry(state, entry)
    state.places[TOUCHED] = 0


@inner_kernel
def _clear_entry(state: Restaurants, entry: int) -> None:
    string = state.entries[entry, E_STRING]
    if state.heads[string] == entry:
        state.heads[string] = state.entries[entry, E_NEXT]
    else:
        e = state.heads[string]
        while state.entries[e, E_NEXT] != entry:
            e = state.entries[e, E_NEXT]
        state.entries[e, E_NEXT] = state.entries[entry, E_NEXT]
    state.entries[entry, E_SYMBOL] = -1
    state.entries[entry, E_NEXT] = state.places[FREE_ENTRY]
    state.places[FREE_ENTRY] = entry
