"""How close nodes are to a user: neighbours, common neighbours, and random walks that return to the user.

    adamic_adar(u, e) = sum over z in N(u) and N(e) of  1 / log |N(z)|
    walk(u, e)        = probability that a walk from u, which ends at each step with probability ALPHA, ends at e

Walks are found by local pushes (Andersen, Chung and Lang 2006): a node with residual r >= EPSILON * degree keeps
ALPHA * r and passes the rest on, so the work does not depend on the size of the graph. Results are kept per user.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from weft.arrays import Ids
from weft.tasks.questions.view import View

ALPHA, EPSILON = 0.15, 1e-4
#: A neighbour with more edges says nothing: a country is no acquaintance.
_HUB = 2_000
#: Pushes from a user, at most.
_PUSHES = 4_000


@dataclass
class Closeness:
    """What is known about the neighbourhood of a user: neighbours, common neighbours and walks by node."""

    user: int
    direct: frozenset[int]
    common: dict[int, float]
    walks: dict[int, float]
    scores: dict[int, float] = field(default_factory=dict)
    nodes: Ids = field(default_factory=lambda: np.zeros(0, dtype=np.int32))

    def score(self, node: int) -> float:
        """One number per node, 0 outside of the neighbourhood."""
        return self.scores.get(node, 0.0)


def closeness(view: View) -> Closeness | None:
    """The neighbourhood of a view's user, None for a view without one.

    >>> from weft.graph.store import Builder
    >>> from weft.tasks.questions.schema import inferred
    >>> from weft.tasks.questions.view import Store
    >>> builder = Builder()
    >>> builder.add_all([("Ada", "knows", "Bo"), ("Bo", "knows", "Cy"), ("Di", "knows", "Ed")])
    >>> graph = builder.graph()
    >>> near = closeness(View(Store(graph, inferred(graph)), graph.names.find("Ada")))
    >>> [bool(near.score(graph.names.find(name)) > 0) for name in ("Bo", "Cy", "Di")]
    [True, True, False]
    """
    if view.user is None:
        return None
    user = view.user
    direct = view.links(user).tolist()
    common: dict[int, float] = {}
    for middle in direct:
        around = view.links(middle)
        if 1 < len(around) <= _HUB:
            share = 1.0 / np.log(max(len(around), 2))
            for node in around.tolist():
                common[node] = common.get(node, 0.0) + share
    found = Closeness(user, frozenset(direct), common, _walks(view, user))
    for node in {*direct, *common, *found.walks} - {user}:
        found.scores[node] = (
            2.0 * (node in found.direct) + np.log1p(common.get(node, 0.0)) + 5.0 * found.walks.get(node, 0.0) ** 0.5
        )
    found.nodes = np.array(sorted(found.scores), dtype=np.int32)
    return found


def _walks(view: View, user: int) -> dict[int, float]:
    kept: dict[int, float] = {}
    residual = {user: 1.0}
    waiting = [user]
    pushes = 0
    while waiting and pushes < _PUSHES:
        node = waiting.pop(0)
        around = view.links(node)
        mass = residual.get(node, 0.0)
        if mass < EPSILON * max(len(around), 1):
            continue
        pushes += 1
        residual[node] = 0.0
        kept[node] = kept.get(node, 0.0) + ALPHA * mass
        if not len(around) or len(around) > _HUB:
            continue
        share = (1 - ALPHA) * mass / len(around)
        for other in around.tolist():
            new = residual.get(other, 0.0) + share
            # A node waits once: it is added when its residual passes the bound.
            if new >= EPSILON > new - share:
                waiting.append(other)
            residual[other] = new
    return kept
