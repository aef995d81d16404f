"""How far the tags of one domain are from those of another: context for every out-of-domain accuracy.

    unknown words     words whose form is not in the source
    unseen tags       words in the source, but never with this tag
    unknown tags      words whose tag is not in the source at all: no tagger can get them right
    divergence        Jensen-Shannon, of tag frequencies, in bits: 0 if equal, 1 if no tag is shared

If the guidelines of two treebanks differ, many errors are not the tagger's. `joined` merges tags that the guidelines
delimit differently (NNP with NN), so that accuracy can be computed again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.errors import DataError
from weft.evaluate.labels.tagging import TagReport, evaluate_tags, tag_dictionary, vocabulary_of
from weft.text import Doc

#: Proper nouns as nouns: where newspaper text and other domains disagree most.
NAMES_AS_NOUNS = {"NNP": "NN", "NNPS": "NNS", "PROPN": "NOUN"}


@dataclass(frozen=True)
class TagShift:
    """Word counts, and the frequencies of tags in source and target."""

    words: int
    unknown_words: int
    unseen_tags: int
    unknown_tags: int
    divergence: float
    shares: dict[str, tuple[float, float]]  # tag: relative frequency in the source, in the target

    def largest(self, most: int = 5) -> list[tuple[str, float, float]]:
        """The tags whose frequencies shifted most, as `(tag, frequency in the source, in the target)`."""
        rows = [(tag, *shares) for tag, shares in self.shares.items()]
        return sorted(rows, key=lambda row: (-abs(row[2] - row[1]), row[0]))[:most]

    def as_dict(self) -> dict[str, Any]:
        """Counts, rates and the largest shifts, for JSON."""
        names = ("unknown_words", "unseen_tags", "unknown_tags")
        rates = {name: getattr(self, name) / self.words if self.words else 0.0 for name in names}
        return {"words": self.words, **rates, "divergence": self.divergence, "largest": self.largest()}

    def __str__(self) -> str:
        rate = {name: 100 * value for name, value in self.as_dict().items() if name.startswith("un")}
        moved = ", ".join(f"{tag} {100 * a:.1f} -> {100 * b:.1f}" for tag, a, b in self.largest())
        return (
            f"unknown words {rate['unknown_words']:.2f} %, unseen tags {rate['unseen_tags']:.2f} %, "
            f"unknown tags {rate['unknown_tags']:.2f} %\n"
            f"divergence of tags {self.divergence:.3f} bits; most moved (%): {moved}"
        )


def tag_shift(source: Iterable[Doc], target: Iterable[Doc], column: str = "upos") -> TagShift:
    """Compare the tags of target-domain documents with those of the source.

    >>> source = [Doc.from_words([["dogs", "run"]], upos=[["NOUN", "VERB"]])]
    >>> target = [Doc.from_words([["run", "oops", "dogs", "!"]], upos=[["NOUN", "INTJ", "NOUN", "NOUN"]])]
    >>> shift = tag_shift(source, target)
    >>> shift.unknown_words, shift.unseen_tags, shift.unknown_tags
    (2, 1, 1)
    >>> shift.largest(1)
    [('VERB', 0.5, 0.0)]
    """
    ours = list(source)
    known = tag_dictionary(ours, column)
    before = Counter(tag for doc in ours for tag in doc.column(column))
    after: Counter[str] = Counter()
    unknown = unseen = no_tag = 0
    for doc in target:
        for form, tag in zip(doc.column("form"), doc.column(column), strict=True):
            after[tag] += 1
            unknown += form not in known
            unseen += form in known and tag not in known[form]
            no_tag += tag not in before
    if not before or not after:
        raise DataError(f"cannot compare the tags of two domains: the {'target' if before else 'source'} has none")
    tags = sorted(before | after)
    shares = {tag: (before[tag] / before.total(), after[tag] / after.total()) for tag in tags}
    return TagShift(after.total(), unknown, unseen, no_tag, _divergence(list(shares.values())), shares)


@dataclass(frozen=True)
class DomainReport:
    """Accuracy on a target domain, and how far its tags are from the source's."""

    tags: TagReport
    joined: TagReport  # proper nouns counted as nouns
    shift: TagShift
    unknown: NDArray[np.bool_]  # for every word, whether its form is not in the source

    def as_dict(self) -> dict[str, Any]:
        """Accuracy on all words and on groups, and the shift, for JSON."""
        groups = {"all": self.tags.counts, **self.tags.groups}
        accuracy = {
            name: {"words": counts.total().gold, "accuracy": counts.total().accuracy}
            for name, counts in groups.items()
            if counts.total().gold
        }
        return {"accuracy": accuracy, "names_as_nouns": self.joined.accuracy, "shift": self.shift.as_dict()}

    def __str__(self) -> str:
        met = {name: counts for name, counts in self.tags.groups.items() if counts.total().gold}
        return (
            f"{replace(self.tags, groups=met)}\nnames as nouns      {100 * self.joined.accuracy:>10.2f}\n{self.shift}"
        )


def evaluate_domain(
    source: Sequence[Doc], gold: Sequence[Doc], system: Sequence[Doc], column: str = "upos"
) -> DomainReport:
    """Score tags in a target domain, given the tagger's training data.

    >>> source = [Doc.from_words([["dogs", "run"]], upos=[["NOUN", "VERB"]])]
    >>> gold = [Doc.from_words([["run", "Ada"]], upos=[["NOUN", "PROPN"]])]
    >>> system = [Doc.from_words([["run", "Ada"]], upos=[["NOUN", "NOUN"]])]
    >>> report = evaluate_domain(source, gold, system)
    >>> report.tags.accuracy, report.joined.accuracy, report.tags.groups["unseen"].total().accuracy
    (0.5, 1.0, 1.0)
    """
    vocabulary, dictionary = vocabulary_of(source), tag_dictionary(source, column)
    tags = evaluate_tags(gold, system, column, vocabulary, dictionary)
    as_nouns = evaluate_tags(joined(gold, column), joined(system, column), column, vocabulary)
    unknown = np.array([form not in vocabulary for doc in gold for form in doc.column("form")], dtype=np.bool_)
    return DomainReport(tags, as_nouns, tag_shift(source, gold, column), unknown)


def joined(docs: Iterable[Doc], column: str = "upos", tags: Mapping[str, str] = NAMES_AS_NOUNS) -> list[Doc]:
    """Copies of documents with some tags replaced by others.

    >>> joined([Doc.from_words([["Ada"]], xpos=[["NNP"]])], "xpos")[0].column("xpos")
    ['NN']
    """
    copies = []
    for doc in docs:
        other = copy(doc)
        other.columns = dict(doc.columns)
        other.set_column(column, [tags.get(tag, tag) for tag in doc.column(column)])
        copies.append(other)
    return copies


def _divergence(shares: Collection[tuple[float, float]]) -> float:
    p, q = np.array(list(shares)).T
    middle = (p + q) / 2
    terms = [np.sum(each[each > 0] * np.log2(each[each > 0] / middle[each > 0])) for each in (p, q)]
    return float(max(0.0, (terms[0] + terms[1]) / 2))
