"""Instances of classes out of text and tables: extractors of scored pairs, and graphs that join what they find.

`coherent` labels clusters of words by is-a pairs, `columns` reads tables and scores their columns against known
instances, `graphs` joins pairs, tables and attributes in one graph, over which `weft.graph.propagation` spreads labels.
"""
