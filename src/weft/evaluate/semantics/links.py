"""Scores of links, as in word sense disambiguation and entity linking.

    links    phrases with a right id, out of those that gold links (recall) and those that the system links (precision)
    spans    phrases that both link, whatever to

With given mentions, F1 = 2PR/(P+R) counts what the system leaves open in recall alone. A gold mention may have several
right ids; a NIL mention counts on neither side. Links of phrases that gold does not mention count against precision
only if `everywhere`: data of senses and entities mark some phrases, not all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from weft.arrays import Bools
from weft.errors import WeftError
from weft.evaluate.counts import Counts
from weft.text.conventions.links import LAYER, NIL, Link, links_of, right_ids
from weft.text.doc import Doc


@dataclass(frozen=True)
class LinkReport:
    """Counts per document, and whether each gold mention is right."""

    links: Counts
    spans: Counts
    right: Bools

    def counts(self) -> dict[str, Counts]:
        """The counts by the names that `weft evaluate` shows."""
        return {"links": self.links, "spans": self.spans}


def score_links(
    gold: Sequence[Doc], system: Sequence[Doc], layer: str = LAYER, everywhere: bool = False,
    only: Callable[[Link], bool] | None = None,
) -> LinkReport:  # fmt: skip
    """Compare the links of the same documents; `only` selects gold mentions.

    >>> from weft.text.layers import SpanLayer
    >>> def said(*ids):
    ...     doc = Doc.from_words([["Steve", "left", "Apple"]])
    ...     doc.spans["links"] = SpanLayer.of(doc.strings, [(2 * k, 2 * k + 1, id) for k, id in enumerate(ids)])
    ...     return doc
    >>> report = score_links([said("Q1", "Q312")], [said("Q2", "Q312")])
    >>> report.links.total().f1, report.right.tolist()
    (0.5, [False, True])
    """
    if len(gold) != len(system):
        raise WeftError(f"gold has {len(gold)} documents, system has {len(system)}; both must have the same")
    rows, right = [], []
    for one, other in zip(gold, system, strict=True):
        mentions = [link for link in links_of(one, layer) if link.label != NIL and (only is None or only(link))]
        places: dict[tuple[tuple[int, int], ...], set[str]] = {}
        for link in links_of(other, layer):
            if link.label != NIL:
                places.setdefault(tuple(link.characters), set()).update({link.id, link.key} - {""})
        wanted = {tuple(link.characters) for link in mentions}
        hits = [bool(_right(link) & places.get(tuple(link.characters), set())) for link in mentions]
        both = sum(tuple(link.characters) in places for link in mentions)
        size = len(places) if everywhere else len(wanted & places.keys())
        rows.append((len(mentions), size, sum(hits), both))
        right += hits
    sizes = [row[0] for row in rows], [row[1] for row in rows]
    return LinkReport(
        Counts.of(*sizes, [row[2] for row in rows]), Counts.of(*sizes, [row[3] for row in rows]),
        np.array(right, dtype=np.bool_),
    )  # fmt: skip


def _right(link: Link) -> set[str]:
    return right_ids(link.label, link.attributes) | ({link.key} - {""})


def evaluate_links(gold: Sequence[Doc], system: Sequence[Doc], layer: str = LAYER) -> dict[str, Counts]:
    """Counts of documents with the same text, by the names of measures."""
    return score_links(gold, system, layer).counts()
