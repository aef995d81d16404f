"""All strings of all captions of a graph, without any agenda: what the agenda must find, by enumeration."""

from __future__ import annotations

from collections import defaultdict

from weft.tasks.denotations import DenotationGraph


def enumerated(graph: DenotationGraph) -> tuple[dict[str, set[int]], set[str], set[tuple[str, str]]]:
    """All strings with their captions, the most generic ones, and all pairs of a string and its child."""
    units = graph.agenda.units
    assert units is not None
    found: dict[str, set[int]] = defaultdict(set)
    tops, links = set(), set()
    for unit in range(len(units)):
        part = slice(units.slot_offsets[unit], units.slot_offsets[unit + 1])
        slots = list(zip(units.symbols[part].tolist(), units.atoms[part].tolist(), strict=True))
        own = range(units.rule_offsets[unit], units.rule_offsets[unit + 1])
        rules = [tuple(int(getattr(units, name)[r]) for name in ("need", "forbid", "off", "on")) for r in own]
        roots = units.roots[units.root_offsets[unit] : units.root_offsets[unit + 1]].tolist()
        written: dict[int, str] = {}
        work = list(roots)
        children: dict[int, list[int]] = {}
        while work:
            state = work.pop()
            if state in written:
                continue
            written[state] = " ".join(graph.symbols[symbol] for symbol, atom in slots if state >> atom & 1)
            children[state] = [
                state & ~off | on for need, forbid, off, on in rules if state & need == need and not state & forbid
            ]
            work += children[state]
        for state, string in written.items():
            found[string].add(int(units.source[unit]))
            links |= {(string, written[child]) for child in children[state]}
        tops |= {written[root] for root in roots}
    return found, tops, links


def expected(graph: DenotationGraph) -> tuple[set[str], dict[str, set[int]]]:
    """The strings of two captions and more with their children and all roots, and the captions of the former."""
    found, tops, links = enumerated(graph)
    several = {string: own for string, own in found.items() if len(own) > 1}
    return tops | several.keys() | {child for parent, child in links if parent in several}, several


def of_agenda(graph: DenotationGraph) -> dict[str, set[int]]:
    """The strings that the agenda found, with their captions."""
    strings, found = graph.strings(), defaultdict(set)
    for node, source in zip(*(part.tolist() for part in graph.agenda.incidences()), strict=True):
        found[strings[node]].add(source)
    return dict(found)
