"""Learning on graphs: what vertices and weighted edges say of labels; knows nothing of text.

`csr` holds graphs, `neighbours` makes them from vectors, `propagate` spreads label distributions over them.
"""
