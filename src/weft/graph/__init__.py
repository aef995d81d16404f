"""Graphs: what weighted or typed edges between vertices say about them; knows nothing of text.

`csr` stores similarity graphs, `neighbours` builds them from vectors, and `propagation` spreads labels over them and
over any other graph. `store` holds typed graphs, `triangles` weights their edges, `walks` finds the signatures of their
vertices, and `dense` peels graphs of candidates.

`network` makes a weighted network of a typed graph; `rankings` order its nodes, `flows` say how near they are, and
`clusters` part them by distances.
"""
