"""Conventions on top of plain layers: how hedges, repairs, expressions, polarity and spans are written down."""
