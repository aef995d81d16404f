"""Graphs for other programs: `export(graph, kind, path)`."""

from weft.graph.export.doors import KINDS, export

__all__ = ["KINDS", "export"]
