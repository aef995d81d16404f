"""Structures that are filled slot by slot: a label for every position, a role for every candidate of a labelled one."""
