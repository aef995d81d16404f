"""Linking words and names to the vertices of a semantic network, jointly for a whole document."""
