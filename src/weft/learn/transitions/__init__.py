"""Training of transition-based parsers, greedy and with a beam."""
