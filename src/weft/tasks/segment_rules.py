"""Words and sentences by rule, for text without a trained segmenter.

Words are runs of letters, digits and marks with inner apostrophes, hyphens, points and commas kept (`don't`, `3,000.5`,
`U.S.`), web and mail addresses, or single other characters (runs of the same punctuation stay together); characters of
scripts without blanks stand alone. A sentence ends after `. ! ?` and their likes, with closing quotes and brackets, at
a blank followed by something that is not lower case, and at every blank line.
"""

from __future__ import annotations

import re

from weft.text.doc import Doc

_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0e7f"
_WORD = re.compile(
    r"(?:https?://|www\.)\S*[^\s.,;:!?)\]}'\"»”’]"  # web addresses
    r"|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"  # mail addresses
    rf"|[{_UNSPACED}]"
    r"|(?:[A-Za-z]\.){2,}"  # U.S.
    rf"|[^\W{_UNSPACED}]+(?:[-'’.,](?=\w)[^\W{_UNSPACED}]+)*[\u0300-\u036f]*"
    r"|(?P<mark>[^\w\s])(?P=mark)*"
    r"|\S"
)
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


def split_by_rule(doc: Doc) -> None:
    """Set the tokens and sentences of a document that has only its text.

    >>> doc = Doc("Dr. Weber didn't come. Why? (Nobody knows.)")
    >>> split_by_rule(doc)
    >>> [sentence.text for sentence in doc.sentences]
    ["Dr. Weber didn't come.", 'Why?', '(Nobody knows.)']
    """
    text = doc.text
    spans = [match.span() for match in _WORD.finditer(text)]
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
