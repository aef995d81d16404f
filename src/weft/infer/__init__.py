"""Best structures: one file a structure, the same verbs on each, over score arrays and masks; nothing of text.

`chain` holds linear chains (second order through `pairs`), `semimarkov` chains of segments.
"""
