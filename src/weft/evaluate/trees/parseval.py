"""PARSEVAL: brackets of phrase-structure trees, counted like `evalb`, over characters.

    P = |gold brackets ∩ system brackets| / |system brackets|,   R = ... / |gold brackets|,   a bracket = (label, i, j)

Conventions, as in `evalb` with its usual parameters:

- Brackets are multisets: two NPs over the same words need two in the other tree. Tagged words are not brackets.
- The labels TOP, ROOT, S1, VROOT and the empty one are not counted. The part of a label after `-` or `=` is removed
  (NP-SBJ is NP), and PRT counts as ADVP.
- English punctuation (tags `, : `` '' . ? !` and `-NONE-`) is removed before brackets are compared, along with brackets
  of nothing else. Gold tags decide what is punctuation. Chinese `PU` is not included, as in the literature.
- A sentence is an exact match if both trees have exactly the same brackets. A bracket crosses if it overlaps a gold
  one without either containing the other.

Spans count characters without whitespace, so that trees over different words can be compared; over the same words
this is equivalent to counting words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from weft.errors import WeftError
from weft.evaluate.counts import Counts
from weft.text.binarize import plain
from weft.text.constituents import layer_of
from weft.text.doc import Doc

Bracket = tuple[str, int, int]


@dataclass(frozen=True)
class Conventions:
    """What is excluded from the comparison, and what counts as equal.

    >>> Conventions().label("NP-SBJ-1"), Conventions().label("PRT"), Conventions().label("-NONE-")
    ('NP', 'ADVP', '-NONE-')
    """

    deleted_labels: frozenset[str] = frozenset({"", "TOP", "ROOT", "S1", "VROOT"})
    deleted_tags: frozenset[str] = frozenset({",", ":", "``", "''", ".", "?", "!", "-NONE-"})
    same: dict[str, str] = field(default_factory=lambda: {"PRT": "ADVP"})

    def label(self, label: str) -> str:
        """The form of a label used in comparisons."""
        label = plain(label)
        return self.same.get(label, label)


@dataclass(frozen=True)
class ParsevalReport:
    """Counts per sentence.

    `not_crossing` counts system brackets that cross no gold bracket, `exact` sentences, `tags` words with their tags.
    """

    brackets: Counts
    unlabelled: Counts
    not_crossing: Counts
    exact: Counts
    words: Counts
    tags: Counts

    def counts(self) -> dict[str, Counts]:
        """All counts by their names in tables."""
        return {
            "brackets": self.brackets, "unlabelled": self.unlabelled, "not crossing": self.not_crossing,
            "exact match": self.exact, "words": self.words, "tags": self.tags,
        }  # fmt: skip


def evaluate_constituents(
    gold: Sequence[Doc], system: Sequence[Doc], conventions: Conventions | None = None
) -> ParsevalReport:
    """Compare trees of documents with the same text, sentence by sentence.

    >>> from weft.text.constituents import doc_of_trees
    >>> from weft.text.trees import parse_tree
    >>> right = "(S (NP (DT the) (NN dog)) (VP (VBZ barks) (ADVP (RB now))) (. .))"
    >>> wrong = "(S (NP (DT the) (NN dog)) (VP (VP (VBZ barks)) (NP (RB now))) (. .))"
    >>> gold, system = ([doc_of_trees([parse_tree(tree)])] for tree in (right, wrong))
    >>> report = evaluate_constituents(gold, system)
    >>> report.brackets.total()
    Score(gold=4, system=5, correct=3, aligned=None)
    >>> report.unlabelled.total().correct, report.exact.total().correct
    (4, 0)
    """
    conventions = conventions or Conventions()
    ours, theirs = _sentences(gold), _sentences(system)
    if len(ours) != len(theirs):
        raise WeftError(f"the gold documents have {len(ours)} sentences, the system documents {len(theirs)}")
    rows = [_compare(a, b, number, conventions) for number, (a, b) in enumerate(zip(ours, theirs, strict=True), 1)]
    table = np.array(rows, dtype=np.int64).reshape(-1, 6, 3)
    return ParsevalReport(*(Counts.of(table[:, k, 0], table[:, k, 1], table[:, k, 2]) for k in range(6)))


def _compare(
    gold: tuple[Doc, int], system: tuple[Doc, int], number: int, conventions: Conventions
) -> list[tuple[int, int, int]]:
    ours, theirs = _words(*gold), _words(*system)
    text = "".join(form for form, _ in ours)
    if text != "".join(form for form, _ in theirs):
        raise WeftError(
            f"sentence {number} has different text in the gold documents ({text[:40]!r}) and the system documents "
            f"({''.join(form for form, _ in theirs)[:40]!r})"
        )
    counted = np.repeat(
        [tag not in conventions.deleted_tags for _, tag in ours], [len(form) for form, _ in ours]
    ).astype(np.int64)
    before = np.concatenate([[0], np.cumsum(counted)]).astype(np.int64)
    golden = _brackets(*gold, ours, before, conventions)
    predicted = _brackets(*system, theirs, before, conventions)
    right = sum((Counter(golden) & Counter(predicted)).values())
    bare = sum((Counter(span[1:] for span in golden) & Counter(span[1:] for span in predicted)).values())
    crossing = sum(any(a < i < b < j or i < a < j < b for _, a, b in golden) for _, i, j in predicted)
    same = right == len(golden) == len(predicted)
    cuts, our_cuts = _cuts(theirs), _cuts(ours)
    tagged = {(*cut, tag) for cut, (_, tag) in zip(cuts, theirs, strict=True)}
    our_tagged = {(*cut, tag) for cut, (_, tag) in zip(our_cuts, ours, strict=True)}
    return [
        (len(golden), len(predicted), right),
        (len(golden), len(predicted), bare),
        (len(predicted), len(predicted), len(predicted) - crossing),
        (1, 1, int(same)),
        (len(ours), len(theirs), len(set(cuts) & set(our_cuts))),
        (len(ours), len(theirs), len(tagged & our_tagged)),
    ]


def _sentences(docs: Sequence[Doc]) -> list[tuple[Doc, int]]:
    for doc in docs:
        if doc.n_words:
            layer_of(doc)
    return [(doc, s) for doc in docs for s, (a, b) in enumerate(pairwise(doc.sentence_offsets.tolist())) if a < b]


def _words(doc: Doc, sentence: int) -> list[tuple[str, str]]:
    """The forms without whitespace and the tags of a sentence."""
    first, end = int(doc.sentence_offsets[sentence]), int(doc.sentence_offsets[sentence + 1])
    tags = doc.columns.get("xpos" if doc.has("xpos") else "upos")
    forms = doc.strings.strings(doc.columns["form"][first:end])
    names = [""] * len(forms) if tags is None else doc.strings.strings(tags[first:end])
    return [("".join(form.split()), tag) for form, tag in zip(forms, names, strict=True)]


def _cuts(words: Sequence[tuple[str, str]]) -> list[tuple[int, int]]:
    ends = np.cumsum([len(form) for form, _ in words]).tolist()
    return list(zip([0, *ends[:-1]], ends, strict=True))


def _brackets(
    doc: Doc, sentence: int, words: Sequence[tuple[str, str]], before: np.ndarray, conventions: Conventions
) -> list[Bracket]:
    """The brackets of a sentence in counted characters."""
    first, end = int(doc.sentence_offsets[sentence]), int(doc.sentence_offsets[sentence + 1])
    cuts = _cuts(words)
    layer = layer_of(doc)
    brackets: list[Bracket] = []
    for number in layer.between(first, end):
        row = layer[number]
        if row.label in conventions.deleted_labels:
            continue
        i, j = int(before[cuts[row.start - first][0]]), int(before[cuts[row.end - 1 - first][1]])
        if i < j:
            brackets.append((conventions.label(row.label), i, j))
    return brackets
