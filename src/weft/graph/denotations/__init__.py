"""Subsumption graphs of expansions and the denotations of their nodes; knows nothing of text.

`units` holds what can be expanded, `agenda` expands it, `closure` lets nodes inherit from their children, and
`counts` compares denotations.
"""
