"""Packed forests and sums over the derivations of context-free grammars."""
