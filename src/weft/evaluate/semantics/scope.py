"""Scores of quantifier scope, on transitive closures (Manshadi, Gildea and Allen 2013).

    sigma = (|E_p and E_g| + |pairs that neither orders|) / number of pairs
    P = |E_p and E_g| / |E_p|     R = |E_p and E_g| / |E_g|     F = 2 P R / (P + R)
    A = sentences with every pair right      AR = sentences with R = 1, pairs that gold leaves apart may be ordered

E_g and E_p are the ordered pairs of the two closures. A collection over its own implicit universal is never scored. If
nodes were predicted too, they are matched by words and kind: pairs of a missing node are missed, those of a spurious
node spurious. Scores can be restricted to `explicit` noun phrases, to pairs with an implicit universal (`implicit`) or
to pairs with a negation (`negation`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from weft.errors import WeftError
from weft.evaluate.counts import Counts
from weft.text.conventions.scope import COLLECTION, DISTRIBUTIVE, NEGATION, Node, Scoping, scopings_of
from weft.text.doc import Doc

Pairs = Literal["all", "explicit", "implicit", "negation"]
KINDS: tuple[Pairs, ...] = ("all", "explicit", "implicit", "negation")


@dataclass(frozen=True)
class ScopeReport:
    """Counts per sentence: ordered pairs, all pairs (labels +, -, none), and whole sentences."""

    ordered: Counts
    similarity: Counts
    exact: Counts
    recalled: Counts

    def as_dict(self) -> dict[str, float]:
        """The six measures by name."""
        score = self.ordered.total()
        return {
            "sigma": self.similarity.total().recall, "P": score.precision, "R": score.recall, "F": score.f1,
            "AR": self.recalled.total().recall, "A": self.exact.total().recall,
        }  # fmt: skip

    def counts(self) -> dict[str, Counts]:
        """The counts by the names that `weft evaluate` shows."""
        return {"ordered": self.ordered, "sigma": self.similarity, "AR": self.recalled, "A": self.exact}


def score_scopings(gold: Sequence[Scoping], system: Sequence[Scoping], pairs: Pairs = "all") -> ScopeReport:
    """Compare the scopings of the same sentences.

    The worked example of the paper: 2 > 1 > 4 and 1 > 3 against a candidate without 1 > 4.

    >>> nodes = [Node(0, 1), Node(2, 3), Node(4, 5), Node(6, 7)]
    >>> gold = Scoping.of(nodes, [(1, 0), (0, 3), (0, 2)])
    >>> found = score_scopings([gold], [Scoping.of(nodes, [(1, 0), (0, 2)])])
    >>> {name: round(value, 3) for name, value in found.as_dict().items()}
    {'sigma': 0.667, 'P': 1.0, 'R': 0.6, 'F': 0.75, 'AR': 0.0, 'A': 0.0}
    """
    if len(gold) != len(system):
        raise WeftError(f"gold has {len(gold)} sentences, system has {len(system)}; both must have the same sentences")
    rows = [_compared(one, other, pairs) for one, other in zip(gold, system, strict=True)]
    return ScopeReport(
        Counts.of([row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]),
        Counts.of([row[3] for row in rows], [row[3] for row in rows], [row[4] for row in rows]),
        _whole(rows, [row[4] == row[3] and row[1] == row[2] for row in rows]),
        _whole(rows, [row[2] == row[0] for row in rows]),
    )


def evaluate_scope(gold: Sequence[Doc], system: Sequence[Doc], layer: str = "scope") -> dict[str, Counts]:
    """Counts of documents with the same sentences, by the names of measures; pairs of each kind besides."""
    ours, theirs = ([each for doc in docs for each in scopings_of(doc, layer)] for docs in (gold, system))
    counts = score_scopings(ours, theirs).counts()
    for kind in KINDS[1:]:
        counts[f"ordered ({kind})"] = score_scopings(ours, theirs, kind).ordered
    return counts


def _whole(rows: Sequence[tuple[int, ...]], right: Sequence[bool]) -> Counts:
    """Sentences that are right as a whole, of those that have something to order."""
    judged = [int(row[3] > 0) for row in rows]
    return Counts.of(judged, judged, [a * int(b) for a, b in zip(judged, right, strict=True)])


def _compared(gold: Scoping, system: Scoping, kind: Pairs) -> tuple[int, int, int, int, int]:
    """Ordered pairs of gold, of the system, of both; pairs, and those with the same label."""
    ours, theirs = _labels(gold, kind), _labels(system, kind)
    ordered = [sum(label != 0 for label in labels.values()) for labels in (ours, theirs)]
    both = sum(label != 0 and theirs.get(pair) == label for pair, label in ours.items())
    same = sum(theirs.get(pair) == label for pair, label in ours.items())
    return ordered[0], ordered[1], both, len(ours), same


def _labels(scoping: Scoping, kind: Pairs) -> dict[tuple[Node, Node], int]:
    """1, -1 or 0 for every scored pair of nodes in text order."""
    nodes, order = scoping.nodes, scoping.order
    return {
        (nodes[u], nodes[v]): int(order[u, v]) - int(order[v, u])
        for u in range(len(nodes)) for v in range(u + 1, len(nodes))
        if _is_scored(nodes[u], nodes[v], kind)
    }  # fmt: skip


def _is_scored(first: Node, second: Node, kind: Pairs) -> bool:
    kinds = {first.kind, second.kind}
    if kinds == {COLLECTION, DISTRIBUTIVE} and first[:2] == second[:2]:
        return False
    if kind == "all":
        return True
    if kind == "negation":
        return NEGATION in kinds
    if kind == "implicit":
        return DISTRIBUTIVE in kinds
    return not kinds & {DISTRIBUTIVE, NEGATION}
