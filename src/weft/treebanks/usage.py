"""Label use by treebank: shows which relations only one language uses, for harmonization.

    share(l, t) = words of treebank t with the relation l / words of t

A relation is *rare* if at most two of three or more treebanks use it, or fewer than one word in 10,000.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from weft.text.doc import Doc

FEW_TREEBANKS, FEW_WORDS = 2, 1e-4


@dataclass
class LabelUsage:
    """Words with each relation, by treebank.

    >>> usage = LabelUsage()
    >>> usage.add("en", Doc.from_words([["dogs", "bark"]], deprel=[["nsubj", "ROOT"]]))
    >>> usage.share("nsubj", "en"), usage.relations
    (0.5, ['nsubj', 'ROOT'])
    """

    counts: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, treebank: str, doc: Doc) -> None:
        """Count the relations of a document."""
        self.counts.setdefault(treebank, Counter()).update(doc.column("deprel"))

    @property
    def treebanks(self) -> list[str]:
        return list(self.counts)

    @property
    def relations(self) -> list[str]:
        """All relations, most frequent first."""
        whole: Counter[str] = Counter()
        for counts in self.counts.values():
            whole.update(counts)
        return [relation for relation, _ in whole.most_common()]

    def share(self, relation: str, treebank: str) -> float:
        """The fraction of a treebank's words that have a relation."""
        counts = self.counts[treebank]
        return counts[relation] / max(counts.total(), 1)

    def users(self, relation: str) -> list[str]:
        """The treebanks that use a relation."""
        return [treebank for treebank, counts in self.counts.items() if counts[relation]]

    def rare(self) -> dict[str, list[str]]:
        """Relations that should be merged into others, with the treebanks that use them."""
        words = sum(counts.total() for counts in self.counts.values())
        rare = {}
        for relation in self.relations:
            users = self.users(relation)
            total = sum(counts[relation] for counts in self.counts.values())
            few = len(self.counts) > FEW_TREEBANKS and len(users) <= FEW_TREEBANKS
            if few or total < FEW_WORDS * words:
                rare[relation] = users
        return rare

    def to_json(self) -> dict[str, Any]:
        """Shares by relation and treebank, and the rare relations."""
        shares = {
            relation: {treebank: round(self.share(relation, treebank), 6) for treebank in self.treebanks}
            for relation in self.relations
        }
        return {"shares": shares, "rare": self.rare()}


def label_usage(treebanks: Mapping[str, Iterable[Doc]]) -> LabelUsage:
    """Label use of treebanks by name.

    >>> one = Doc.from_words([["dogs", "bark"]], deprel=[["nsubj", "ROOT"]])
    >>> other = Doc.from_words([["hunde", "bellen"]], deprel=[["sb", "ROOT"]])
    >>> label_usage({"en": [one], "sv": [one], "de": [other]}).rare()
    {'nsubj': ['en', 'sv'], 'sb': ['de']}
    """
    usage = LabelUsage()
    for name, docs in treebanks.items():
        for doc in docs:
            usage.add(name, doc)
    return usage
