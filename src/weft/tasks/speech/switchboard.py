"""Read utterances of Switchboard with tags and repair marks, one word per line, without trees.

A line holds the dialogue act (only at the first word of an utterance), a position, a word, its tag and marks; marks of
a reparandum start with `<rm`.
"""

from __future__ import annotations

from pathlib import Path

from weft.errors import FormatError
from weft.formats.streams import read_text
from weft.tasks.speech.data import FILLERS, is_word
from weft.text.conventions.repairs import LAYER, REPARANDUM
from weft.text.doc import Doc
from weft.text.layers import SpanLayer


def read_switchboard(path: Path) -> Doc:
    """Read the utterances of a tagged Switchboard file, with reparanda as the span layer `disfluencies`.

    Filled pauses and partial words are left out.
    """
    words: list[list[str]] = []
    tags: list[list[str]] = []
    spans: list[tuple[int, int, str]] = []
    at = 0
    for number, line in enumerate(read_text(str(path)).splitlines(), 1):
        if not line.strip():
            continue
        fields = line.split("\t")
        if len(fields) != 5:
            raise FormatError(str(path), number, "five tab-separated fields", f"{len(fields)}: {line[:60]!r}")
        act, _, form, tag, mark = fields
        if act or not words:
            words.append([])
            tags.append([])
        form = form.replace("$unc$", "").lower()
        if form in FILLERS or not is_word(form, tag):
            continue
        words[-1].append(form)
        tags[-1].append(tag)
        if "<rm" in mark:
            if spans and spans[-1][1] == at and len(words[-1]) > 1:
                spans[-1] = (spans[-1][0], at + 1, REPARANDUM)
            else:
                spans.append((at, at + 1, REPARANDUM))
        at += 1
    kept = [number for number, sentence in enumerate(words) if sentence]
    doc = Doc.from_words([words[number] for number in kept], upos=[tags[number] for number in kept])
    doc.spans[LAYER] = SpanLayer.of(doc.strings, spans)
    return doc
