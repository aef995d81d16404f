"""Agreement of two annotators on one layer of the same documents, as F1 and Krippendorff's alpha.

    timeline     events, times, attributes and links; a link matches if it follows from those of the other annotator
    spans        spans with their labels, and where either annotator marked one at all (extents)
    a column     the labels of words that both annotators have

Neither annotator is gold: F1 is the same in both directions. Alpha corrects for the agreement of chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from weft.errors import ConfigError, DataError, WeftError
from weft.evaluate.agreement import NONE, Agreement, AgreementTable, Unit
from weft.evaluate.documents import choose_layer
from weft.evaluate.semantics.timelines import agreement
from weft.text.conventions.timeline import LAYER as TIMELINE
from weft.text.doc import Doc
from weft.text.layers import Pieces, chars_of_words

#: Where documents say who annotated them.
ANNOTATOR = "annotator"


def agreement_of_documents(
    first: Sequence[Doc], second: Sequence[Doc], layer: str | None = None
) -> tuple[str, dict[str, Agreement]]:
    """The layer that was compared and the agreement on it, by what was annotated.

    >>> one = Doc.from_words([["dogs", "bark", "now"]], upos=[["NOUN", "VERB", "ADV"]])
    >>> other = Doc.from_words([["dogs", "bark", "now"]], upos=[["NOUN", "NOUN", "ADV"]])
    >>> layer, found = agreement_of_documents([one], [other], "upos")
    >>> layer, round(found["upos"].f1, 3), round(found["upos"].alpha, 3)
    ('upos', 0.667, 0.545)
    """
    chosen = layer or _chosen(first, second)
    if chosen == TIMELINE:
        return chosen, agreement(first, second)
    if len(first) != len(second):
        raise WeftError(f"one annotator has {len(first)} documents and the other {len(second)}; expected the same")
    table = AgreementTable()
    if any(chosen in doc.spans for doc in (*first, *second)):
        for one, other in zip(first, second, strict=True):
            _add_spans(table, one, other, chosen)
    elif any(chosen in doc.columns for doc in first):
        for number, (one, other) in enumerate(zip(first, second, strict=True), 1):
            _add_words(table, one, other, chosen, number)
    else:
        known = dict.fromkeys(name for doc in first for name in (*doc.spans, *doc.columns) if name != "form")
        raise ConfigError(
            f"agreement is measured on span layers and on columns of words, and there is no {chosen!r}; choose with "
            f"--layer from {', '.join(known) or 'none'}"
        )
    return chosen, table.results()


def agreement_of_people(
    docs: Sequence[Doc], layer: str | None = None
) -> tuple[str, dict[tuple[str, str], dict[str, Agreement]]]:
    """The agreement of every two annotators of one collection, on the texts that both have.

    An export of an annotation tool has a text once per annotator, whom `doc.meta["annotator"]` names.

    >>> def said(who, tags):
    ...     doc = Doc.from_words([["dogs", "bark"]], upos=[tags])
    ...     doc.meta["annotator"] = who
    ...     return doc
    >>> docs = [said("ada", ["NOUN", "VERB"]), said("bo", ["NOUN", "NOUN"]), said("cy", ["NOUN", "VERB"])]
    >>> layer, found = agreement_of_people(docs, "upos")
    >>> {pair: rows["upos"].f1 for pair, rows in found.items()}
    {('ada', 'bo'): 0.5, ('ada', 'cy'): 1.0, ('bo', 'cy'): 0.5}
    """
    by_person: dict[str, dict[str, Doc]] = {}
    for doc in docs:
        who = doc.meta.get(ANNOTATOR)
        if not isinstance(who, str) or not who:
            raise DataError(
                f"{doc.id or 'a document'} does not say who annotated it; for the agreement within one file, documents "
                f"need the metadata {ANNOTATOR!r}, as exports of Label Studio and Prodigy have it"
            )
        by_person.setdefault(who, {})[doc.text] = doc
    found: dict[tuple[str, str], dict[str, Agreement]] = {}
    chosen = layer or ""
    for one, other in combinations(sorted(by_person), 2):
        shared = [text for text in by_person[one] if text in by_person[other]]
        if shared:
            first, second = ([by_person[who][text] for text in shared] for who in (one, other))
            chosen, found[one, other] = agreement_of_documents(first, second, layer)
    if not found:
        raise DataError(f"no text was annotated by two people; there are {', '.join(sorted(by_person)) or 'none'}")
    return chosen, found


def _chosen(first: Sequence[Doc], second: Sequence[Doc]) -> str:
    """The timeline if both have one, else the layer that `weft evaluate` would score."""
    both = all(any(TIMELINE in doc.spans for doc in docs) for docs in (first, second))
    return TIMELINE if both else choose_layer(first, second)


def _add_spans(table: AgreementTable, one: Doc, other: Doc, layer: str) -> None:
    """Spans by their characters; of several labels on the same characters, the first counts."""
    _check_text(one, other)
    sides = _labels(one, layer), _labels(other, layer)
    either = list(dict.fromkeys([*sides[0], *sides[1]]))
    units: list[Unit] = [(sides[0].get(pieces, NONE), sides[1].get(pieces, NONE)) for pieces in either]
    same, both = sum(a == b for a, b in units), sum(NONE not in unit for unit in units)
    words = max(one.n_words, other.n_words)
    marked = len(sides[0]), len(sides[1])
    table.add("spans", units, marked, (same, same), words)
    table.add_matches("extents", both, *marked, words)


def _labels(doc: Doc, layer: str) -> dict[Pieces, str]:
    found: dict[Pieces, str] = {}
    if layer in doc.spans:
        for row in chars_of_words(doc, doc.spans[layer]):
            found.setdefault(row.pieces, row.label)
    return found


def _add_words(table: AgreementTable, one: Doc, other: Doc, column: str, number: int) -> None:
    if one.column("form") != other.column("form") or not other.has(column):
        raise WeftError(
            f"document {number} ({one.id or other.id or 'without a name'}) has other words on either side, or no "
            f"{column}; agreement on a column needs the same words"
        )
    table.add_values(column, list(zip(one.column(column), other.column(column), strict=True)))


def _check_text(one: Doc, other: Doc) -> None:
    if one.text != other.text:
        raise WeftError(f"the document {one.id or other.id or 'without a name'} has another text on either side")
