"""Types of spans that several corpora agree on: what to do where one corpus marks a type that another does not.

    common    keep the types that every corpus marks; spans of other types become ordinary words
    all       keep every type; in a corpus that lacks a type, an unmarked word may be of it (see `missing`)
    a list    keep the types of the list

A type is *missing* in a corpus where none of its spans has it: its unmarked words say nothing about the type.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from weft.errors import ConfigError, DataError
from weft.text.doc import Doc
from weft.text.layers import SpanLayer
from weft.text.schemes import lost_boundaries


@dataclass(frozen=True)
class TypeReport:
    """The types kept, spans left out and types missing by corpus, and boundaries that the scheme IO loses."""

    types: tuple[str, ...]
    kept: dict[str, dict[str, int]]
    dropped: dict[str, dict[str, int]]
    missing: dict[str, tuple[str, ...]]
    lost_boundaries: dict[str, int] = field(default_factory=dict)


def harmonize(
    corpora: Mapping[str, Sequence[Doc]],
    layer: str = "entities",
    types: str | Sequence[str] = "common",
    renamed: Mapping[str, str] | None = None,
) -> tuple[dict[str, list[Doc]], TypeReport]:
    """Corpora whose spans have the same types, and what that took.

    `types` is "common", "all", or the types to keep; `renamed` gives types of a corpus other names first.

    >>> one, two = Doc.from_words([["Ada", "of", "Rome"]]), Doc.from_words([["Opel", "Bonn"]])
    >>> one.spans["entities"] = SpanLayer.of(one.strings, [(0, 1, "PER"), (2, 3, "LOC")])
    >>> two.spans["entities"] = SpanLayer.of(two.strings, [(0, 1, "OTH"), (1, 2, "GPE")])
    >>> same, report = harmonize({"en": [one], "de": [two]}, renamed={"GPE": "LOC"})
    >>> report.types, report.dropped, report.missing
    (('LOC',), {'en': {'PER': 1}, 'de': {'OTH': 1}}, {'en': (), 'de': ()})
    >>> same["de"][0].span_views("entities")
    [Span('Bonn', 'LOC')]
    """
    names = renamed or {}
    counts: dict[str, Counter[str]] = {}
    for corpus, docs in corpora.items():
        for doc in docs:
            if layer not in doc.spans:
                known = ", ".join(doc.spans) or "none"
                raise DataError(f"the corpus {corpus!r} has no span layer {layer!r} (it has: {known}); set layer=NAME")
        counts[corpus] = Counter(names.get(row.label, row.label) for doc in docs for row in doc.spans[layer])
    kept = _kept(counts, types)
    new = {corpus: [_restricted(doc, layer, set(kept), names) for doc in docs] for corpus, docs in corpora.items()}
    report = TypeReport(
        kept,
        {corpus: {label: count[label] for label in kept} for corpus, count in counts.items()},
        {corpus: {label: n for label, n in sorted(count.items()) if label not in kept}
         for corpus, count in counts.items()},
        {corpus: tuple(label for label in kept if not count[label]) for corpus, count in counts.items()},
        {corpus: sum(boundaries_lost(doc, layer) for doc in docs) for corpus, docs in new.items()},
    )  # fmt: skip
    return new, report


def boundaries_lost(doc: Doc, layer: str = "entities") -> int:
    """How many boundaries between spans of a layer the scheme IO cannot keep.

    >>> doc = Doc.from_words([["Rome", "Bonn", "Ada"], ["Bo"]])
    >>> doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "LOC"), (1, 2, "LOC"), (2, 3, "PER"), (3, 4, "PER")])
    >>> boundaries_lost(doc)
    1
    """
    spans = sorted((*row.pieces[0], row.label) for row in doc.spans[layer])
    lost, at = 0, 0
    for first, end in pairwise(doc.sentence_offsets.tolist()):
        inside = []
        while at < len(spans) and spans[at][0] < end:
            inside.append((spans[at][0] - first, spans[at][1] - first, spans[at][2]))
            at += 1
        lost += lost_boundaries(inside)
    return lost


def _kept(counts: Mapping[str, Counter[str]], types: str | Sequence[str]) -> tuple[str, ...]:
    every = sorted({label for count in counts.values() for label in count})
    if types == "all":
        kept = every
    elif types == "common":
        kept = [label for label in every if all(count[label] for count in counts.values())]
    else:
        kept = [types] if isinstance(types, str) else list(types)
        unknown = [label for label in kept if label not in every]
        if unknown:
            raise ConfigError(f"no corpus has spans of the type {', '.join(unknown)}; there are: {', '.join(every)}")
    if not kept:
        by = "; ".join(f"{corpus}: {', '.join(sorted(count)) or 'none'}" for corpus, count in counts.items())
        raise DataError(f"the corpora have no type of span in common ({by}); name types, or rename them")
    return tuple(kept)


def _restricted(doc: Doc, layer: str, types: set[str], names: Mapping[str, str]) -> Doc:
    rows = [(*row.pieces[0], names.get(row.label, row.label)) for row in doc.spans[layer]]
    found = copy.copy(doc)
    found.spans = {**doc.spans, layer: SpanLayer.of(doc.strings, [row for row in rows if row[2] in types])}
    return found
