"""Propagation of labels by three rules in one engine: label propagation with fixed seeds, Adsorption and MAD.

`seeds` says what is known, `rules` turns a graph and seeds into a `system` of rows, `sweeps` holds the kernels that go
through these rows, `cluster` has a Dask cluster do it; `walks` is the random-walk view of Adsorption, `objective` what
the other two minimize, `classes` answers in names, and `files` writes them. `quadratic` is another objective, of
distributions that agree with their neighbours and with a uniform prior. The room knows nothing of text.
"""
