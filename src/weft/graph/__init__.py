"""Learning on graphs: what vertices and weighted edges say of labels; knows nothing of text.

`csr` holds graphs, `neighbours` makes them from vectors, `propagate` spreads label distributions over them,
`cuts` parts them in two and `labelling_lp` labels their vertices at the least cost.
"""
