"""Learning on similarity graphs: what weighted edges between vertices say about their labels; knows nothing of text.

`csr` stores graphs, `neighbours` builds them from vectors, and `propagate` spreads label distributions over them.
"""
