"""Best structures: one file per structure, the same verbs on each, over score arrays and masks; nothing of text.

`chain` holds linear chains (second order through `pairs`), `semimarkov` chains of segments. Trees over the arcs of
`arcs` are in `projective`, `nonprojective` and `crossing`; `rearrange` climbs to trees and graphs with crossing arcs
and siblings. `dmv` holds trees whose heads count their dependents, `forest` packed derivations of any
structure, `transitions` the systems of incremental parsers. `relaxation` searches under linear constraints, `orders`
finds partial orders, `factor_graphs` passes messages between variables.
"""
