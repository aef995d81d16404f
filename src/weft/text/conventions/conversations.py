"""Conversations as layers: who says which line, and what is found about the lines of a speaker.

    spans/turns        one span per line; its label is the speaker, its attributes are the thread and a given label
    spans/phenomena    one span per line; its label is what the speaker does in all lines of the same `instance`, its
                       attributes are the speaker, the thread, the probability, whether the line was `kept` by the
                       rules, and the words that speak for the label (`because`)

Raw text is a conversation too: every line is a turn, and a short beginning with a colon (`Ann: hello`) its speaker.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from weft.text.layers import SpanLayer, chars_of_words
from weft.text.words import word_spans

if TYPE_CHECKING:
    from weft.text.doc import Doc

TURNS, LAYER, GIVEN = "turns", "phenomena", "phenomenon"
_SPEAKER = re.compile(r"(?<!\s)\s*([^\s:<>][^:\n<>]{0,39}):(?=\s)")


class Turn(NamedTuple):
    """A line of a conversation."""

    speaker: str
    text: str
    thread: str = ""
    label: str = ""


def turns_of(doc: Doc) -> Iterator[Turn]:
    """The lines of a conversation: those of its layer, or the lines of its text.

    >>> from weft.text.doc import Doc
    >>> [(turn.speaker, turn.text) for turn in turns_of(Doc("Ann: are you ok?\\n\\nBob: yes\\nwell"))]
    [('Ann', 'are you ok?'), ('Bob', 'yes'), ('', 'well')]
    """
    layer = doc.spans.get(TURNS)
    given = layer.attributes if layer is not None else {}
    for number, (start, end, speaker) in enumerate(chars_of_turns(doc)):
        own = given.get(number, {})
        yield Turn(speaker, doc.text[start:end], str(own.get("thread", "")), str(own.get(GIVEN, "")))


def chars_of_turns(doc: Doc) -> Iterator[tuple[int, int, str]]:
    """Where the lines of a conversation are in its text, and who says them."""
    layer = doc.spans.get(TURNS)
    if layer is not None:
        yield from chars_of_words(doc, layer).flat()
        return
    place = 0
    for line in doc.text.splitlines(keepends=True):
        match = _SPEAKER.match(line)
        said = line[match.end() :] if match else line
        if said.strip():
            start = place + len(line) - len(said.lstrip())
            yield start, start + len(said.strip()), match[1] if match else ""
        place += len(line)


def set_turns(doc: Doc, turns: Iterable[Turn]) -> None:
    """Make a document of lines: its text, words and sentences (one per line), and the layer of turns.

    Lines without a visible character are left out.

    >>> from weft.text.doc import Doc
    >>> doc = Doc()
    >>> set_turns(doc, [Turn("Ann", "are you ok?"), Turn("Bob", "yes", label="POS")])
    >>> doc.text, doc.spans["turns"].attributes
    ('are you ok?\\nyes', {1: {'phenomenon': 'POS'}})
    """
    kept = [(turn, " ".join(turn.text.split())) for turn in turns if turn.text.split()]
    doc.text = "\n".join(text for _, text in kept)
    spans, bounds, place = [], [0], 0
    for _, text in kept:
        spans += word_spans(doc.text, place, place + len(text))
        bounds.append(len(spans))
        place += len(text) + 1
    doc.set_offsets([start for start, _ in spans], [end for _, end in spans])
    doc.set_sentences(bounds)
    layer = SpanLayer(doc.strings)
    for number, (turn, _) in enumerate(kept):
        given = {name: value for name, value in (("thread", turn.thread), (GIVEN, turn.label)) if value}
        layer.add([(bounds[number], bounds[number + 1])], turn.speaker, **given)
    doc.spans[TURNS] = layer
