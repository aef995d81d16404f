"""Cliques of graphs whose nodes have kinds: maximal ones, and those whose edges are probable as a whole."""
