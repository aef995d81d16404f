"""The kernels of belief propagation; see `weft.infer.factor_graphs.graph`.

Messages of factors are logarithms, one block per edge. The first edge of a link is its choice, which receives one
number for every value that links, since the message is 1 at all others; the second is the variable that is linked, and
the others are what it is linked to, one for each of these values in turn. `totals` holds, for every
variable, its scores plus the messages that it receives, so that the message back to a factor is a difference. Messages
are floored, which keeps differences finite.
"""

from __future__ import annotations

import numpy as np

from weft.arrays import Bools, Floats, Ints
from weft.kernel import inlined, inner_kernel, kernel

TABLE, LINK = 0, 1
#: Logarithms of messages stay above this; what is forbidden by scores is minus infinity all the same.
_FLOOR = -700.0


@kernel
def propagate(
    starts: Ints, totals: Floats, kinds: Ints, values: Ints, edges: Ints, variables: Ints, tables: Floats,
    bounds: Ints, sweeps: int, tolerance: float, damping: float, parallel: bool, taken: Ints, done: Bools,
) -> Floats:  # fmt: skip
    """Messages at a fixed point; adds them to `totals`, and notes the sweeps taken and what converged."""
    blocks = _blocks(starts, kinds, edges, variables)
    messages, fresh = np.zeros(blocks[-1]), np.zeros(blocks[-1])
    widest = 1
    for v in range(len(starts) - 1):
        widest = max(widest, starts[v + 1] - starts[v])
    most = 1
    for f in range(len(kinds)):
        most = max(most, edges[f + 1] - edges[f])
    inbox = np.zeros((most, max(widest, 2)))
    digits = np.zeros(most, dtype=np.int64)
    for g in range(len(bounds) - 1):
        for sweep in range(sweeps):
            change = 0.0
            kept = damping if sweep > 0 else 0.0
            if parallel:
                for f in range(bounds[g], bounds[g + 1]):
                    _answer(f, starts, totals, kinds, values, edges, variables, tables, blocks, messages, fresh,
                            inbox, digits)  # fmt: skip
                for f in range(bounds[g], bounds[g + 1]):
                    change = max(change, _apply(f, starts, totals, kinds, values, edges, variables, blocks, messages,
                                                fresh, kept))  # fmt: skip
            else:
                for step in range(2 * (bounds[g + 1] - bounds[g])):
                    f = bounds[g] + step
                    if f >= bounds[g + 1]:
                        f = 2 * bounds[g + 1] - 1 - f  # backward
                    _answer(f, starts, totals, kinds, values, edges, variables, tables, blocks, messages, fresh,
                            inbox, digits)  # fmt: skip
                    change = max(change, _apply(f, starts, totals, kinds, values, edges, variables, blocks, messages,
                                                fresh, kept))  # fmt: skip
            taken[g] = sweep + 1
            if change <= tolerance:
                done[g] = True
                break
    return messages


@kernel
def partition(
    starts: Ints, totals: Floats, kinds: Ints, values: Ints, edges: Ints, variables: Ints, tables: Floats,
    messages: Floats, bounds: Ints, owners: Ints, sums: Floats,
) -> Floats:  # fmt: skip
    """Marginals of all values; adds Bethe's log partition function of every graph to `sums`.

    log Z = sum of log Z_v + sum of log Z_f - sum of log Z_vf, in which Z_v sums a variable's scores and messages, Z_f a
    factor and the messages to it, Z_vf the product of the two messages of an edge.
    """
    beliefs = np.zeros(len(totals))
    blocks = _blocks(starts, kinds, edges, variables)
    widest, most = 1, 1
    for v in range(len(starts) - 1):
        widest = max(widest, starts[v + 1] - starts[v])
    for f in range(len(kinds)):
        most = max(most, edges[f + 1] - edges[f])
    inbox = np.zeros((most, max(widest, 2)))
    digits = np.zeros(most, dtype=np.int64)
    for g in range(len(owners) - 1):
        for v in range(owners[g], owners[g + 1]):
            top = -np.inf
            for x in range(starts[v], starts[v + 1]):
                top = max(top, totals[x])
            mass = 0.0
            for x in range(starts[v], starts[v + 1]):
                beliefs[x] = np.exp(totals[x] - top)
                mass += beliefs[x]
            for x in range(starts[v], starts[v + 1]):
                beliefs[x] /= mass
            sums[g] += top + np.log(mass)
        for f in range(bounds[g], bounds[g + 1]):
            first = edges[f]
            _inbox(f, starts, totals, kinds, values, edges, variables, blocks, messages, inbox)
            if kinds[f] == LINK:
                u = variables[first + 1]
                mass = both = _unlinked(f, starts, values, edges, variables, inbox)
                for e in range(2, edges[f + 1] - first):
                    share = inbox[0, values[f] + e - 2]
                    mass += share * _overlap(inbox, e, starts[u + 1] - starts[u])
                    both += share * np.exp(messages[blocks[first] + e - 2])
                sums[g] += np.log(mass) - np.log(both)
                for e in range(1, edges[f + 1] - first):
                    both = 0.0
                    for x in range(starts[u + 1] - starts[u]):
                        both += inbox[e, x] * np.exp(messages[blocks[first + e] + x])
                    sums[g] -= np.log(both)
            else:
                arity = edges[f + 1] - first
                mass = 0.0
                cells = 1
                for e in range(arity):
                    digits[e] = 0
                    cells *= starts[variables[first + e] + 1] - starts[variables[first + e]]
                for cell in range(cells):
                    product = np.exp(tables[values[f] + cell])
                    for e in range(arity):
                        product *= inbox[e, digits[e]]
                    mass += product
                    _count(digits, arity, starts, variables, first)
                sums[g] += np.log(mass)
                for e in range(arity):
                    both = 0.0
                    v = variables[first + e]
                    for x in range(starts[v + 1] - starts[v]):
                        both += inbox[e, x] * np.exp(messages[blocks[first + e] + x])
                    sums[g] -= np.log(both)
    return beliefs


@kernel
def _blocks(starts: Ints, kinds: Ints, edges: Ints, variables: Ints) -> Ints:
    """Where the message of every edge begins."""
    blocks = np.zeros(len(variables) + 1, dtype=np.int64)
    for f in range(len(kinds)):
        for e in range(edges[f], edges[f + 1]):
            size = starts[variables[e] + 1] - starts[variables[e]]
            if kinds[f] == LINK and e == edges[f]:
                size = edges[f + 1] - edges[f] - 2
            blocks[e + 1] = blocks[e] + size
    return blocks


@inner_kernel
def _inbox(
    f: int, starts: Ints, totals: Floats, kinds: Ints, values: Ints, edges: Ints, variables: Ints, blocks: Ints,
    messages: Floats, inbox: Floats,
) -> None:  # fmt: skip
    """The normalized messages to a factor."""
    for e in range(edges[f + 1] - edges[f]):
        v = variables[edges[f] + e]
        low, size, block = starts[v], starts[v + 1] - starts[v], blocks[edges[f] + e]
        top = -np.inf
        for x in range(size):
            inbox[e, x] = totals[low + x]
        if kinds[f] == LINK and e == 0:
            for x in range(blocks[edges[f] + 1] - block):
                inbox[0, values[f] + x] -= messages[block + x]
        else:
            for x in range(size):
                inbox[e, x] -= messages[block + x]
        for x in range(size):
            top = max(top, inbox[e, x])
        mass = 0.0
        for x in range(size):
            inbox[e, x] = np.exp(inbox[e, x] - top)
            mass += inbox[e, x]
        for x in range(size):
            inbox[e, x] /= mass


@inner_kernel
def _overlap(inbox: Floats, e: int, size: int) -> float:
    """The probability that the linked variable and the one of edge e are equal, if they are independent."""
    same = 0.0
    for x in range(size):
        same += inbox[1, x] * inbox[e, x]
    return same


@inner_kernel
def _unlinked(f: int, starts: Ints, values: Ints, edges: Ints, variables: Ints, inbox: Floats) -> float:
    """The mass of the values of a link's choice that link nothing."""
    choice, rest = variables[edges[f]], 0.0
    for x in range(starts[choice + 1] - starts[choice]):
        if x < values[f] or x >= values[f] + edges[f + 1] - edges[f] - 2:
            rest += inbox[0, x]
    return rest


@inner_kernel
def _answer(
    f: int, starts: Ints, totals: Floats, kinds: Ints, values: Ints, edges: Ints, variables: Ints, tables: Floats,
    blocks: Ints, messages: Floats, fresh: Floats, inbox: Floats, digits: Ints,
) -> None:  # fmt: skip
    """The new messages of a factor, as logarithms."""
    _inbox(f, starts, totals, kinds, values, edges, variables, blocks, messages, inbox)
    first = edges[f]
    if kinds[f] == LINK:
        _answer_link(f, starts, values, edges, variables, blocks, fresh, inbox)
        return
    arity = edges[f + 1] - first
    cells = 1
    for e in range(arity):
        digits[e] = 0
        cells *= starts[variables[first + e] + 1] - starts[variables[first + e]]
    for x in range(blocks[first], blocks[first + arity]):
        fresh[x] = 0.0
    for cell in range(cells):
        potential = np.exp(tables[values[f] + cell])
        for e in range(arity):
            product = potential
            for other in range(arity):
                if other != e:
                    product *= inbox[other, digits[other]]
            fresh[blocks[first + e] + digits[e]] += product
        _count(digits, arity, starts, variables, first)
    for e in range(first, first + arity):
        mass = 0.0
        for x in range(blocks[e], blocks[e + 1]):
            mass += fresh[x]
        for x in range(blocks[e], blocks[e + 1]):
            fresh[x] = _log(fresh[x] / mass)


@inner_kernel
def _answer_link(
    f: int, starts: Ints, values: Ints, edges: Ints, variables: Ints, blocks: Ints, fresh: Floats, inbox: Floats
) -> None:
    """The closed form: what else is linked counts by its mass only."""
    first = edges[f]
    size = starts[variables[first + 1] + 1] - starts[variables[first + 1]]
    rest = _unlinked(f, starts, values, edges, variables, inbox)
    total = rest
    for x in range(size):
        fresh[blocks[first + 1] + x] = rest
    for e in range(2, edges[f + 1] - first):
        share, same = inbox[0, values[f] + e - 2], _overlap(inbox, e, size)
        fresh[blocks[first] + e - 2] = _log(same)
        total += share * same
        for x in range(size):
            fresh[blocks[first + 1] + x] += share * inbox[e, x]
    for x in range(size):
        fresh[blocks[first + 1] + x] = _log(fresh[blocks[first + 1] + x])
    for e in range(2, edges[f + 1] - first):
        share, same = inbox[0, values[f] + e - 2], _overlap(inbox, e, size)
        for x in range(size):
            fresh[blocks[first + e] + x] = _log(share * inbox[1, x] + total - share * same)


@inner_kernel
def _apply(
    f: int, starts: Ints, totals: Floats, kinds: Ints, values: Ints, edges: Ints, variables: Ints, blocks: Ints,
    messages: Floats, fresh: Floats, damping: float,
) -> float:  # fmt: skip
    """Send the new messages of a factor; the largest change of one."""
    change = 0.0
    for e in range(edges[f], edges[f + 1]):
        low = starts[variables[e]]
        if kinds[f] == LINK and e == edges[f]:
            low += values[f]
        for x in range(blocks[e + 1] - blocks[e]):
            old = messages[blocks[e] + x]
            new = damping * old + (1.0 - damping) * fresh[blocks[e] + x]
            change = max(change, abs(np.exp(new) - np.exp(old)))
            messages[blocks[e] + x] = new
            totals[low + x] += new - old
    return change


@inlined
def _log(x: float) -> float:
    return max(np.log(x), _FLOOR) if x > 0.0 else _FLOOR


@inner_kernel
def _count(digits: Ints, arity: int, starts: Ints, variables: Ints, first: int) -> None:
    """The values of a factor's variables in the next cell of its table: the last one runs fastest."""
    for e in range(arity - 1, -1, -1):
        digits[e] += 1
        v = variables[first + e]
        if digits[e] < starts[v + 1] - starts[v]:
            return
        digits[e] = 0
