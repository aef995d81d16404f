"""Words and sentences by rule, for text without a trained segmenter.

Words are those of `weft.text.words`. A sentence ends after `. ! ?` and their likes, with closing quotes and brackets,
at a blank followed by something that is not lower case, and at every blank line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from weft.text.doc import Doc
from weft.text.words import word_spans

_FINAL = re.compile(r"^[.!?…。！？]+$")
_CLOSING = frozenset("\"')]}»”’」』")
_ABBREVIATIONS = frozenset(
    (
        "mr",
        "mrs",
        "ms",
        "dr",
        "prof",
        "st",
        "jr",
        "sr",
        "vs",
        "etc",
        "no",
        "vol",
        "fig",
        "al",
        "inc",
        "ltd",
        "co",
        "corp",
    )
)


def with_words(docs: Iterable[Doc]) -> list[Doc]:
    """The documents that have words; text that is not yet split is split by rule.

    >>> [doc.n_words for doc in with_words([Doc("Dogs bark."), Doc(" "), Doc.from_words([["a", "b"]])])]
    [3, 2]
    """
    kept = []
    for doc in docs:
        if not doc.n_words and doc.text.strip():
            split_by_rule(doc)
        if doc.n_words:
            kept.append(doc)
    return kept


def split_by_rule(doc: Doc) -> None:
    """Set the tokens and sentences of a document that has only its text.

    >>> doc = Doc("Dr. Weber didn't come. Why? (Nobody knows.)")
    >>> split_by_rule(doc)
    >>> [sentence.text for sentence in doc.sentences]
    ["Dr. Weber didn't come.", 'Why?', '(Nobody knows.)']
    """
    text = doc.text
    spans = word_spans(text)
    doc.set_offsets([start for start, _ in spans], [end for _, end in spans])
    bounds = [0]
    final = False  # a sentence-ending mark has been read, perhaps followed by closing quotes
    for i, (start, end) in enumerate(spans):
        gap = text[spans[i - 1][1] : start] if i else ""
        begins = final and (bool(gap) or text[start] > "\u2fff") and not text[start].islower()
        if i and (gap.count("\n") > 1 or begins):
            bounds.append(i)
            final = False
        token = text[start:end]
        if _FINAL.match(token):
            final = not (token == "." and i and text[slice(*spans[i - 1])].lower() in _ABBREVIATIONS)
        elif not (final and token in _CLOSING):
            final = False
    if spans:
        bounds.append(len(spans))
    doc.set_sentences(bounds)
