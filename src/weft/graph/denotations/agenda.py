"""The agenda that builds a subsumption graph from its most generic strings, and never expands a singleton.

    push all roots of all units
    while there is a state (u, s):
        node = the node of the string of s; add the source of u to its sources
        if this makes two sources:   push the children of all states of the node so far
        else if there are more:      push the children of s

So the work is linear in states of nodes with two sources and their children, not in the 2^rules strings of a unit. A
state of a unit enters once. Nodes are found by a 64-bit hash of their symbols; with ten million nodes, two strings
share one with a probability of 3e-6.

Units that were added later go on from where the agenda stopped, and the result is that of all units together: which
states are reached does not depend on the order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.arrays import Bools, Ids, Ints, Keys
from weft.errors import ConfigError, ModelError
from weft.graph.denotations.units import Unit, Units
from weft.hashing import avalanche, join
from weft.kernel import kernel
from weft.progress import progress

#: What the counters count.
STATES, NODES, EDGES, QUEUED, DONE, UNIT = range(6)
_FIRST = 1 << 12
_STEPS = 2_000_000  # states expanded between two reports of progress
_SEED = np.uint64(0x51ED270B0A7C3F11)
_ONE = np.uint64(1)
#: Bits of an edge's key: parent, child, kind.
_NODE_BITS, _KIND_BITS = np.uint64(27), np.uint64(10)
MOST_NODES, MOST_KINDS = 1 << 27, 1 << 10


class Agenda:
    """States, nodes and edges that units have reached.

    >>> from weft.graph.denotations.units import Rule, Unit
    >>> boy = Unit([(0, 0), (1, 1), (2, 2)], [1], [Rule(1, 0, 1, 2), Rule(0, 4, 0, 4)])  # 0 child, 1 boy, 2 run
    >>> agenda = Agenda()
    >>> agenda.add(Units.of([boy, boy], [0, 1]))
    >>> agenda.n_nodes, sorted(agenda.string(node) for node in range(agenda.n_nodes))
    (4, [(0,), (0, 2), (1,), (1, 2)])
    """

    def __init__(self) -> None:
        self.units: Units | None = None
        self.counters = np.zeros(6, dtype=np.int64)
        self._states = _States.empty(_FIRST)
        self._nodes = _Nodes.empty(_FIRST)
        self._edges = _Edges.empty(_FIRST)

    @property
    def n_states(self) -> int:
        return int(self.counters[STATES])

    @property
    def n_nodes(self) -> int:
        return int(self.counters[NODES])

    @property
    def n_edges(self) -> int:
        return int(self.counters[EDGES])

    def add(self, units: Units) -> None:
        """Add units and expand what can be expanded now."""
        if len(units.kinds) and units.kinds.max() >= MOST_KINDS:
            raise ConfigError(f"rules have at most {MOST_KINDS} kinds")
        self.units = units if self.units is None else Units.all([self.units, units])
        self._run()

    def replace_rules(self, units: Units, changed: Ints) -> None:
        """Go on with units that have more rules than before: the states of `changed` units are expanded again."""
        self.units = units
        states, nodes = self._states, self._nodes
        again = np.isin(states.unit[: self.n_states], changed)
        again &= nodes.several[states.node[: self.n_states]] == 1
        queue = np.flatnonzero(again).astype(np.int32)
        # Everything queued so far is done, so the queue starts anew; it holds at most every state twice.
        states.queue[: len(queue)] = queue
        self.counters[QUEUED], self.counters[DONE] = len(queue), 0
        self._run()

    def _run(self) -> None:
        units = self.units
        assert units is not None
        most = int(np.diff(units.rule_offsets).max(initial=0)) + int(np.diff(units.root_offsets).max(initial=0)) + 1
        with progress("units", len(units) - int(self.counters[UNIT]), "units") as bar:
            shown = int(self.counters[UNIT])
            while True:
                self._reserve(most)
                s, n, e = self._states, self._nodes, self._edges
                status = _expand(
                    units.source, units.slot_offsets, units.symbols, units.atoms, units.root_offsets, units.roots,
                    units.rule_offsets, units.need, units.forbid, units.off, units.on, units.kinds, self.counters,
                    s.unit, s.mask, s.node, s.next, s.table, s.queue, n.hash, n.first, n.last, n.several, n.state,
                    n.table, e.keys, e.table, most, _STEPS,
                )  # fmt: skip
                bar.advance(int(self.counters[UNIT]) - shown)
                shown = int(self.counters[UNIT])
                if status == 0:
                    break
        if self.n_nodes >= MOST_NODES:
            raise ConfigError(f"a graph has at most {MOST_NODES:,} nodes; build one of fewer captions")

    def _reserve(self, most: int) -> None:
        """Room for one more expansion at least, and tables that are at most half full."""
        if self.n_states + most > len(self._states.unit):
            self._states = self._states.grown(self.n_states, most)
        if self.n_nodes + most > len(self._nodes.hash):
            self._nodes = self._nodes.grown(self.n_nodes, most)
        if self.n_edges + most > len(self._edges.keys):
            self._edges = self._edges.grown(self.n_edges, most)

    def string(self, node: int) -> tuple[int, ...]:
        """The symbols of a node."""
        offsets, symbols = self.strings(np.array([node]))
        return tuple(symbols[offsets[0] : offsets[1]].tolist())

    def strings(self, nodes: Ints) -> tuple[Ints, Ids]:
        """Offsets and symbols of nodes."""
        assert self.units is not None
        units, states = self.units, self._nodes.state[nodes]
        unit, mask = self._states.unit[states], self._states.mask[states]
        lengths = np.zeros(len(nodes), dtype=np.int64)
        none = np.zeros(0, dtype=np.int32)
        _write(unit, mask, units.slot_offsets, units.symbols, units.atoms, lengths, none)
        offsets = np.zeros(len(nodes) + 1, dtype=np.int64)
        np.cumsum(lengths, out=offsets[1:])
        symbols = np.zeros(int(offsets[-1]), dtype=np.int32)
        _write(unit, mask, units.slot_offsets, units.symbols, units.atoms, offsets[:-1].copy(), symbols)
        return offsets, symbols

    def state(self) -> dict[str, Ids | Keys]:
        """What a file holds besides units."""
        n = self.n_states
        return {
            "state_unit": self._states.unit[:n].copy(), "state_mask": self._states.mask[:n].copy(),
            "state_node": self._states.node[:n].copy(), "edges": self._edges.keys[: self.n_edges].copy(),
        }  # fmt: skip

    @classmethod
    def of_state(cls, units: Units, state: Mapping[str, Any]) -> Agenda:
        """An agenda that is done with units, from what `state` gave."""
        agenda = cls()
        agenda.units = units
        n, edges = len(state["state_unit"]), len(state["edges"])
        nodes = int(state["state_node"].max(initial=-1)) + 1
        agenda.counters[:] = n, nodes, edges, 0, 0, len(units)
        s, k, e = _States.empty(_FIRST), _Nodes.empty(_FIRST), _Edges.empty(_FIRST)
        size = _next_size(_FIRST, n + 1)
        for name in ("unit", "mask", "node", "next", "queue"):
            own = np.zeros(size, getattr(s, name).dtype)
            if f"state_{name}" in state:
                own[:n] = state[f"state_{name}"]
            setattr(s, name, own)
        s.table = np.full(4 * size, -1, np.int32)
        k = _Nodes.empty(_next_size(_FIRST, nodes + 1))
        e = _Edges.empty(_next_size(_FIRST, edges + 1))
        e.keys[:edges] = state["edges"]
        if edges:
            ends = e.keys[:edges] >> _KIND_BITS
            if max(int((ends >> _NODE_BITS).max()), int((ends & np.uint64(MOST_NODES - 1)).max())) >= nodes:
                raise ModelError("edges lead to nodes that are not there: the file is damaged")
        _refill_states(s.unit, s.mask, n, s.table)
        _restore(
            units.source, units.slot_offsets, units.symbols, units.atoms, n, s.unit, s.mask, s.node, s.next, k.hash,
            k.first, k.last, k.several, k.state,
        )  # fmt: skip
        _refill(k.hash, nodes, k.table)
        _refill_mixed(e.keys, edges, e.table)
        agenda._states, agenda._nodes, agenda._edges = s, k, e
        return agenda

    def find(self, symbols: Sequence[int]) -> int:
        """The node of a string, -1 if there is none."""
        own = np.asarray(symbols, dtype=np.int32)
        key = hash_state(_ONE, 0, len(own), own, np.zeros(len(own), dtype=np.int32))
        table = self._nodes.table
        k = int(key) & (len(table) - 1)
        while table[k] >= 0:
            if self._nodes.hash[table[k]] == key:
                return int(table[k])
            k = (k + 1) & (len(table) - 1)
        return -1

    def reached(self, unit: Unit, among: Bools | None = None) -> set[int]:
        """The nodes that a unit reaches through nodes of two sources, without being added.

        With `among`, only those nodes are looked at, and what is below others is not.
        """
        found, seen, work = set(), set(unit.roots), list(unit.roots)
        while work:
            state = work.pop()
            node = self.find(unit.string(state))
            if node < 0 or (among is not None and not among[node]):
                continue
            found.add(node)
            if not self._nodes.several[node]:
                continue
            for rule in unit.rules:
                child = rule.applied(state)
                if child >= 0 and child not in seen:
                    seen.add(child)
                    work.append(child)
        return found

    def incidences(self) -> tuple[Ids, Ids]:
        """Pairs of nodes and sources, sorted; one of each."""
        assert self.units is not None
        nodes = self._states.node[: self.n_states].astype(np.int64)
        keys = np.unique(nodes << 32 | self.units.source[self._states.unit[: self.n_states]])
        return (keys >> 32).astype(np.int32), (keys & 0xFFFFFFFF).astype(np.int32)

    def edges(self) -> tuple[Ids, Ids, Ids]:
        """Parents (more generic), children and kinds of edges, sorted."""
        keys = np.sort(self._edges.keys[: self.n_edges])
        kinds = (keys & np.uint64(MOST_KINDS - 1)).astype(np.int32)
        keys = keys >> _KIND_BITS
        return (keys >> _NODE_BITS).astype(np.int32), (keys & np.uint64(MOST_NODES - 1)).astype(np.int32), kinds


@dataclass
class _States:
    unit: Ids
    mask: Keys
    node: Ids
    next: Ids  # the state of the same node before
    table: Ids
    queue: Ids  # states to expand; states that are expanded again may be there twice

    @classmethod
    def empty(cls, size: int) -> _States:
        table = np.full(4 * size, -1, np.int32)
        zeros = [np.zeros(size, np.int32) for _ in range(3)]
        return cls(zeros[0], np.zeros(size, np.uint64), zeros[1], zeros[2], table, np.zeros(size, np.int32))

    def grown(self, n: int, most: int) -> _States:
        size = _next_size(len(self.unit), n + most)
        new = _States.empty(size)
        for name in ("unit", "mask", "node", "next", "queue"):
            getattr(new, name)[: len(self.unit)] = getattr(self, name)
        _refill_states(new.unit, new.mask, n, new.table)
        return new


@dataclass
class _Nodes:
    hash: Keys
    first: Ids  # its first source
    last: Ids  # its latest state
    several: Ids  # whether it has two sources
    state: Ids  # its first state
    table: Ids

    @classmethod
    def empty(cls, size: int) -> _Nodes:
        first, last, several, state = (np.zeros(size, np.int32) for _ in range(4))
        return cls(np.zeros(size, np.uint64), first, last, several, state, np.full(4 * size, -1, np.int32))

    def grown(self, n: int, most: int) -> _Nodes:
        new = _Nodes.empty(_next_size(len(self.hash), n + most))
        for name in ("hash", "first", "last", "several", "state"):
            getattr(new, name)[:n] = getattr(self, name)[:n]
        _refill(new.hash, n, new.table)
        return new


@dataclass
class _Edges:
    keys: Keys
    table: Ids

    @classmethod
    def empty(cls, size: int) -> _Edges:
        return cls(np.zeros(size, np.uint64), np.full(4 * size, -1, np.int32))

    def grown(self, n: int, most: int) -> _Edges:
        new = _Edges.empty(_next_size(len(self.keys), n + most))
        new.keys[:n] = self.keys[:n]
        _refill_mixed(new.keys, n, new.table)
        return new


def _next_size(size: int, needed: int) -> int:
    while size < needed:
        size *= 2
    return size


@kernel
def _refill_states(unit: Ids, mask: Keys, n: int, table: Ids) -> None:
    last = len(table) - 1
    for i in range(n):
        k = np.int64(avalanche(join(mask[i], np.uint64(unit[i]))) & np.uint64(last))
        while table[k] >= 0:
            k = (k + 1) & last
        table[k] = i


@kernel
def _refill(hashes: Keys, n: int, table: Ids) -> None:
    last = len(table) - 1
    for i in range(n):
        k = np.int64(hashes[i] & np.uint64(last))
        while table[k] >= 0:
            k = (k + 1) & last
        table[k] = i


@kernel
def _refill_mixed(keys: Keys, n: int, table: Ids) -> None:
    last = len(table) - 1
    for i in range(n):
        k = np.int64(avalanche(keys[i]) & np.uint64(last))
        while table[k] >= 0:
            k = (k + 1) & last
        table[k] = i


@kernel
def _restore(
    source: Ids, slot_offsets: Ints, symbols: Ids, atoms: Ids, n: int, s_unit: Ids, s_mask: Keys, s_node: Ids,
    s_next: Ids, n_hash: Keys, n_first: Ids, n_last: Ids, n_several: Ids, n_state: Ids,
) -> None:  # fmt: skip
    """What is known of nodes from their states, in the order in which they came."""
    n_last[:] = -1
    for state in range(n):
        u, node = s_unit[state], s_node[state]
        if n_last[node] < 0:
            n_hash[node] = hash_state(s_mask[state], slot_offsets[u], slot_offsets[u + 1], symbols, atoms)
            n_first[node], n_state[node] = source[u], state
        elif n_first[node] != source[u]:
            n_several[node] = 1
        s_next[state] = n_last[node]
        n_last[node] = state


@kernel
def hash_state(mask: np.uint64, begin: int, end: int, symbols: Ids, atoms: Ids) -> np.uint64:
    """The hash of the string of a state."""
    h = _SEED
    for k in range(begin, end):
        if (mask >> np.uint64(atoms[k])) & _ONE:
            h = join(h, avalanche(np.uint64(symbols[k]) + _ONE))
    return avalanche(h)


@kernel
def _write(unit: Ids, mask: Keys, slot_offsets: Ints, symbols: Ids, atoms: Ids, at: Ints, out: Ids) -> None:
    """Count the symbols of states into `at`, or write them from there on."""
    for i in range(len(unit)):
        k = at[i]
        for slot in range(slot_offsets[unit[i]], slot_offsets[unit[i] + 1]):
            if (mask[i] >> np.uint64(atoms[slot])) & _ONE:
                if len(out) > 0:
                    out[k] = symbols[slot]
                k += 1
        at[i] = k


@kernel
def _expand(
    source: Ids, slot_offsets: Ints, symbols: Ids, atoms: Ids, root_offsets: Ints, roots: Keys, rule_offsets: Ints,
    need: Keys, forbid: Keys, off: Keys, on: Keys, kinds: Ids, counters: Ints, s_unit: Ids, s_mask: Keys, s_node: Ids,
    s_next: Ids, s_table: Ids, queue: Ids, n_hash: Keys, n_first: Ids, n_last: Ids, n_several: Ids, n_state: Ids,
    n_table: Ids, e_keys: Keys, e_table: Ids, most: int, steps: int,
) -> int:  # fmt: skip
    """Expand until nothing is left (0), or until there may be no room for another expansion (1)."""
    for _ in range(steps):
        if (
            counters[STATES] + most > len(s_unit)
            or counters[NODES] + most > len(n_hash)
            or counters[EDGES] + most > len(e_keys)
        ):
            return 1
        if counters[DONE] < counters[QUEUED]:  # the latest first: few wait at a time
            counters[QUEUED] -= 1
            state = queue[counters[QUEUED]]
            u, mask, parent = s_unit[state], s_mask[state], s_node[state]
            first, end = rule_offsets[u], rule_offsets[u + 1]
        elif counters[UNIT] < len(source):
            u = counters[UNIT]
            counters[UNIT] += 1
            mask, parent = np.uint64(0), -1
            first, end = root_offsets[u], root_offsets[u + 1]
        else:
            return 0
        for r in range(first, end):
            if parent < 0:
                child = roots[r]
            else:
                if (mask & need[r]) != need[r] or (mask & forbid[r]) != np.uint64(0):
                    continue
                child = (mask & ~off[r]) | on[r]
                if child == mask:
                    continue
            node = _enter(
                u, child, source[u], slot_offsets[u], slot_offsets[u + 1], symbols, atoms, counters, s_unit, s_mask,
                s_node, s_next, s_table, queue, n_hash, n_first, n_last, n_several, n_state, n_table,
            )  # fmt: skip
            if parent >= 0 and node != parent:
                key = (np.uint64(parent) << _NODE_BITS | np.uint64(node)) << _KIND_BITS | np.uint64(kinds[r])
                last = len(e_table) - 1
                k = np.int64(avalanche(key) & np.uint64(last))
                while e_table[k] >= 0 and e_keys[e_table[k]] != key:
                    k = (k + 1) & last
                if e_table[k] < 0:
                    e_table[k] = counters[EDGES]
                    e_keys[counters[EDGES]] = key
                    counters[EDGES] += 1
    return 1


@kernel
def _enter(
    u: int, mask: np.uint64, source: int, begin: int, end: int, symbols: Ids, atoms: Ids, counters: Ints, s_unit: Ids,
    s_mask: Keys, s_node: Ids, s_next: Ids, s_table: Ids, queue: Ids, n_hash: Keys, n_first: Ids, n_last: Ids,
    n_several: Ids, n_state: Ids, n_table: Ids,
) -> int:  # fmt: skip
    """The node of a state; if the state is new, what it lets expand is queued."""
    last = len(s_table) - 1
    k = np.int64(avalanche(join(mask, np.uint64(u))) & np.uint64(last))
    while s_table[k] >= 0:
        state = s_table[k]
        if s_mask[state] == mask and s_unit[state] == u:
            return s_node[state]
        k = (k + 1) & last
    state = counters[STATES]
    counters[STATES] += 1
    s_table[k] = state
    key = hash_state(mask, begin, end, symbols, atoms)
    last = len(n_table) - 1
    k = np.int64(key & np.uint64(last))
    while n_table[k] >= 0 and n_hash[n_table[k]] != key:
        k = (k + 1) & last
    node = n_table[k]
    s_unit[state], s_mask[state] = u, mask
    if node < 0:
        node = counters[NODES]
        counters[NODES] += 1
        n_table[k] = node
        n_hash[node], n_first[node], n_state[node], n_several[node], n_last[node] = key, source, state, 0, -1
    s_node[state], s_next[state], n_last[node] = node, n_last[node], state
    if n_several[node]:
        queue[counters[QUEUED]] = state
        counters[QUEUED] += 1
    elif n_first[node] != source:
        n_several[node] = 1
        while state >= 0:
            queue[counters[QUEUED]] = state
            counters[QUEUED] += 1
            state = s_next[state]
    return node
