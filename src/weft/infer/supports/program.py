"""Supported graphs as an integer program: one variable per label and per evidence of an edge, and their conjunctions.

    maximize  sum (score(e, l, c) - reuse) z(e, l, c)  +  sum pair score(l, l') z(e, l, e', l')  +  reuse * sum used(c)

| row | |
|---|---|
| sum_c rests(e, c) <= 1,  sum_l label(e, l) = sum_c rests(e, c) | labelled if and only if supported |
| z(e, l, c) = label(e, l) and rests(e, c) | a conjunction, as three rows |
| z(e, l, c) <= tells(c, l),  sum_l tells(c, l) <= 1 | evidence tells of one label |
| used(c) = or over e of rests(e, c) | |
| side(a) = or over its edges of label(e, l),  side(a, 0) + side(a, 1) = 1,  sum_c rests(e, c) <= side | |
"""

from __future__ import annotations

import numpy as np

from weft.errors import InferenceError
from weft.infer.relaxation.programs import Name, Program
from weft.infer.supports.problem import Demands, Scores, Supported, SupportGraph, value_of


def build_program(graph: SupportGraph, scores: Scores, demands: Demands) -> Program:
    """The program of a graph; its variables are named as in the module's table.

    >>> graph = SupportGraph.of([(0, 0)], [[0]], 1)
    >>> build_program(graph, Scores.of(graph, [[1.5]]), Demands()).maximize().value
    1.5
    """
    program = Program()
    edges = graph.edges.tolist()
    evidence = graph.evidence.tolist()
    labels = [[l for l in range(graph.n_labels) if int(mask) >> l & 1] for mask in graph.allowed]  # noqa: E741
    for edge, own in enumerate(labels):
        for label in own:
            program.variable(("label", edge, label))
    for row, edge in enumerate(edges):
        program.variable(("rests", row))
        for label in labels[edge]:
            program.variable(("z", row, label), float(scores.rows[row, label]) - demands.reuse)
    for c in sorted(set(evidence)):
        program.variable(("used", c), demands.reuse)
        for label in range(graph.n_labels):
            program.variable(("tells", c, label))
        program.row(("one label", c), [("tells", c, label) for label in range(graph.n_labels)], high=1)
    for edge, own in enumerate(labels):
        rows = [row for row, other in enumerate(edges) if other == edge]
        rests: list[Name] = [("rests", row) for row in rows]
        program.row(("one evidence", edge), rests, high=1)
        balance: dict[Name, float] = {("label", edge, label): 1.0 for label in own}
        program.row(("supported", edge), balance | dict.fromkeys(rests, -1.0), low=0, high=0)
        for row in rows:
            for label in own:
                z, named, on = ("z", row, label), ("label", edge, label), ("rests", row)
                program.row(("and label", z), {z: 1.0, named: -1.0}, high=0)
                program.row(("and rests", z), {z: 1.0, on: -1.0}, high=0)
                program.row(("and both", z), {z: 1.0, named: -1.0, on: -1.0}, low=-1)
                program.row(("tells", z), {z: 1.0, ("tells", evidence[row], label): -1.0}, high=0)
    for c in sorted(set(evidence)):
        uses: list[Name] = [("rests", row) for row, other in enumerate(evidence) if other == c]
        for use in uses:
            program.row(("used", c, use), {("used", c): 1.0, use: -1.0}, low=0)
        program.row(("unused", c), dict[Name, float]({("used", c): 1.0}) | dict.fromkeys(uses, -1.0), high=0)
        if demands.once:
            program.row(("once", c), uses, high=1)
    _add_pairs(program, graph, scores, labels)
    _add_alternatives(program, graph, labels, edges)
    every: list[Name] = [("label", edge, label) for edge, own in enumerate(labels) for label in own]
    program.row("least", every, low=demands.least)
    marked: list[Name] = [name for name in every if demands.marked >> name[2] & 1]  # type: ignore[index]
    program.row("least marked", marked, low=demands.least_marked)
    return program


def _add_pairs(program: Program, graph: SupportGraph, scores: Scores, labels: list[list[int]]) -> None:
    for number, (one, other) in enumerate(graph.pairs.tolist()):
        for a in labels[one]:
            for b in labels[other]:
                score = float(scores.pairs[number, a, b])
                if not score:
                    continue
                z, first, second = ("both", number, a, b), ("label", one, a), ("label", other, b)
                program.variable(z, score)
                program.row(("and", z, 0), {z: 1.0, first: -1.0}, high=0)
                program.row(("and", z, 1), {z: 1.0, second: -1.0}, high=0)
                program.row(("and", z, 2), {z: 1.0, first: -1.0, second: -1.0}, low=-1)


def _add_alternatives(program: Program, graph: SupportGraph, labels: list[list[int]], edges: list[int]) -> None:
    for number, sides in enumerate(graph.alternatives.tolist()):
        for side, mask in enumerate(sides):
            tau = ("side", number, side)
            program.variable(tau)
            inside = [edge for edge in range(graph.n_edges) if mask >> edge & 1]
            named: list[Name] = [("label", edge, label) for edge in inside for label in labels[edge]]
            for name in named:
                program.row(("side on", number, side, name), {tau: 1.0, name: -1.0}, low=0)
            program.row(("side off", number, side), dict[Name, float]({tau: 1.0}) | dict.fromkeys(named, -1.0), high=0)
            for edge in inside:
                rests: list[Name] = [("rests", row) for row, other in enumerate(edges) if other == edge]
                rows = dict.fromkeys(rests, 1.0) | {tau: -1.0}
                program.row(("only on", number, side, edge), rows, high=0)
        program.row(("one side", number), [("side", number, 0), ("side", number, 1)], low=1, high=1)


def solve_program(graph: SupportGraph, scores: Scores, demands: Demands) -> Supported:
    """The best graph, by the integer program.

    >>> graph = SupportGraph.of([(0, 0), (1, 0)], [[0, 1], [0, 1]], 2)
    >>> solve_program(graph, Scores.of(graph, [[3, 0], [0, 2]]), Demands()).labels.tolist()
    [0, 0]
    """
    rows, labels = np.full(graph.n_edges, -1, dtype=np.int64), np.full(graph.n_edges, -1, dtype=np.int64)
    if not graph.n_edges:
        if demands.least or demands.least_marked:
            raise InferenceError("a graph without edges has nothing to label")
        return Supported(rows, labels, 0.0)
    edges = graph.edges
    for name in build_program(graph, scores, demands).maximize().chosen():
        if isinstance(name, tuple) and name[0] == "z":
            rows[edges[name[1]]], labels[edges[name[1]]] = name[1], name[2]
    return Supported(rows, labels, value_of(graph, scores, rows, labels, demands))
