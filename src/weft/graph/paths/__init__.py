"""Typed paths of a graph: walks along them, their probabilities, and which of them lead to answers."""
