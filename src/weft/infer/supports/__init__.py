"""Graphs whose labelled edges each rest on one piece of evidence: problem, integer program, and exact search."""
