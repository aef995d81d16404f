"""Agenda parsing of lattices with edit operations: A*, and the k best derivations lazily."""
