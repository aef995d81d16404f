"""Label propagation by three rules in one engine: label propagation with fixed seeds, Adsorption and MAD.

`seeds` says what is known, `rules` turns a graph and seeds into a `system` of rows, `sweeps` holds the kernels that go
through these rows, `cluster` has a Dask cluster do it; `walks` is the random-walk view of Adsorption, `objective` what
the other two minimize, `classes` answers in names. It knows nothing of text.
"""
