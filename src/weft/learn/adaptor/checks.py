"""Whether the restaurants in a file fit together: kernels follow their numbers without looking.

Tables of one entry form a list, and so do the entries of one string. The codes of a table are the rules of a tree in
prefix order, or tables of the symbols below: they must spell a tree of the table's symbol over the table's string.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Ints
from weft.declared import ANY, Array, Arrays, Stored
from weft.errors import ModelError
from weft.infer.forests.grammar import Coded
from weft.infer.forests.pcfg import E_NEXT, E_STRING, E_SYMBOL, E_TABLE
from weft.kernel import kernel
from weft.learn.adaptor.restaurants import T_ENTRY, T_FIRST, T_NEXT, T_SIZE, TRIED

_WHOLE = "int32 int64"
_POSITIVE = (0.0, 1e12)
#: What a file holds of restaurants; `symbols` and `rules` are those of the grammar.
ARRAYS = (
    Array("entries", _WHOLE, ("entries", 6), low=-1),
    Array("tables", _WHOLE, ("tables", 5), low=-1),
    Array("hashes", "uint64", ("tables",)),
    Array("codes", _WHOLE, ("codes",), low=ANY, below="rules"),
    *(Array(name, _WHOLE, ("symbols",)) for name in ("customers", "n_tables", "left_counts")),
    *(Array(name, "float64", ("symbols",), within=_POSITIVE) for name in ("discount", "strength", "left_alpha")),
    Array("rule_counts", _WHOLE, ("rules",)),
    Array("alpha", "float64", ("rules",), within=_POSITIVE),
    Array("places", "int64", (TRIED + 1,), low=-1),
    Array("random", "uint64", (1,)),
    Array("ends", "bool", ("sounds",)),
)


def check_restaurants(grammar: Coded, sizes: Ints, stored: Stored, sounds: int) -> Arrays:
    """The arrays of restaurants for a grammar and strings of these sizes; an error is raised if they do not fit."""
    arrays = stored.take(*ARRAYS, symbols=len(grammar.adapted), rules=len(grammar.left_of), sounds=sounds)
    entries, tables, codes = (arrays[name].astype(np.int64) for name in ("entries", "tables", "codes"))
    n, m = len(entries), len(tables)
    used = entries[:, E_SYMBOL] >= 0
    seated = tables[tables[:, T_ENTRY] >= 0]
    fits = (
        bool(
            ((entries[:, E_SYMBOL] < len(grammar.adapted)) & (entries[:, E_NEXT] < n) & (entries[:, E_TABLE] < m)).all()
        )
        and bool(((entries[used, E_STRING] >= 0) & (entries[used, E_STRING] < len(sizes))).all())
        and bool((entries[used, E_TABLE] >= 0).all())
        and bool(((tables[:, T_ENTRY] < n) & (tables[:, T_NEXT] < m)).all())
        and bool((used[seated[:, T_ENTRY]]).all())
        and bool(((seated[:, T_FIRST] >= 0) & (seated[:, T_SIZE] >= 1)).all())
        and bool((seated[:, T_FIRST] + seated[:, T_SIZE] <= len(codes)).all())
        and int(codes.min(initial=0)) >= -m
    )
    if not (fits and _ends(entries[:, E_NEXT]) and _ends(tables[:, T_NEXT])):
        raise ModelError("the tables and entries of a sample do not fit together: the file is damaged")
    of_entry = np.where(used, entries[:, E_TABLE], -1)
    following = np.flatnonzero((tables[:, T_ENTRY] >= 0) & (tables[:, T_NEXT] >= 0))
    same = tables[tables[following, T_NEXT], T_ENTRY] == tables[following, T_ENTRY]
    if not (same.all() and (tables[of_entry[used], T_ENTRY] == np.flatnonzero(used)).all()):
        raise ModelError("the tables of a sample do not belong to their entries: the file is damaged")
    if not _trees_fit(grammar, entries, tables, codes, sizes, np.zeros(m, dtype=np.int64)):
        raise ModelError("the labels of a sample's tables are no trees of the grammar: the file is damaged")
    return arrays


def _ends(following: NDArray[np.int64]) -> bool:
    """Whether all chains of numbers end at -1; the number of steps doubles every time."""
    reached = np.append(following, -1)
    for _ in range(len(following).bit_length() + 1):
        reached = reached[reached]
    return bool((reached == -1).all())


@kernel
def _trees_fit(grammar: Coded, entries: Ints, tables: Ints, codes: Ints, sizes: Ints, depth: Ints) -> bool:
    stack = np.zeros(len(codes) * 2 + 2, dtype=np.int64)
    for t in range(len(tables)):
        entry = tables[t, T_ENTRY]
        if entry < 0:
            continue
        covered, top = 0, 1
        stack[0] = entries[entry, E_SYMBOL]
        for c in range(tables[t, T_FIRST], tables[t, T_FIRST] + tables[t, T_SIZE]):
            if top == 0:
                return False
            top -= 1
            symbol, code = stack[top], codes[c]
            if code >= 0:
                if grammar.left_of[code] != symbol:
                    return False
                for x in range(grammar.right_starts[code + 1] - 1, grammar.right_starts[code] - 1, -1):
                    if grammar.rights[x] < 0:
                        covered += 1
                    else:
                        if top >= len(stack):
                            return False
                        stack[top] = grammar.rights[x]
                        top += 1
            else:
                below = tables[-1 - code, T_ENTRY]
                if below < 0 or entries[below, E_SYMBOL] != symbol:
                    return False
                covered += sizes[entries[below, E_STRING]]
        if top != 0 or covered != sizes[entries[entry, E_STRING]]:
            return False
    return _is_acyclic(tables, codes, depth)


@kernel
def _is_acyclic(tables: Ints, codes: Ints, depth: Ints) -> bool:
    """Whether no table is below itself: the depths of tables settle."""
    for _ in range(min(len(tables), 10_000) + 1):
        changed = False
        for t in range(len(tables)):
            if tables[t, T_ENTRY] >= 0:
                for c in range(tables[t, T_FIRST], tables[t, T_FIRST] + tables[t, T_SIZE]):
                    if codes[c] < 0 and depth[-1 - codes[c]] >= depth[t]:
                        depth[t] = depth[-1 - codes[c]] + 1
                        changed = True
        if not changed:
            return True
    return False
