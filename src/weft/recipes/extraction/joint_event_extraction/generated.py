"""Generated sentences with events that no local feature decides, with trees.

    Rebels fired early on Monday a great number of rockets ... , leaving

*fired* is an Attack if its object is a weapon and the end of a position if it is a person; the object stands behind a
time and below a noun of quantity, where neither a window nor the children of the trigger show it. With p = .3 a second
event follows far away: *leaving* is a death after an Attack, whose victim is the target of that Attack, and else a
transport; whether the target is subject or object of *hit* shows in the voice, which the far trigger does not see.
With p = .3 a mention has a coordinate one, which shares its role. One sentence in five has mentions without a role.
"""

from __future__ import annotations

import numpy as np

from weft.text.conventions.events import EventRow, Filler, set_events
from weft.text.doc import Doc
from weft.text.layers import SpanLayer
from weft.text.strings import StringTable

_NAMES = {
    kind: tuple(names.split())
    for kind, names in (
        ("person", "rebels soldiers guards miners clerks sailors farmers pilots nurses bakers"),
        ("vehicle", "convoy tanker ferry lorry train barge"),
        ("weapon", "rockets mortars arrows torpedoes grenades shells"),
        ("place", "Alder Birch Cedar Elm Hazel Linden Maple Rowan"),
        ("time", "Monday Tuesday Friday dawn noon midnight"),
    )
}
_LONG = "as the long and quiet weeks of an early autumn slowly went by over all of the wide valley"
_FILLER = tuple(_LONG.split())
_QUANTITY = ("number", "lot", "share")
SECOND, COORDINATE, DISTRACTOR, PLACED = 0.3, 0.3, 0.2, 0.4


class _Sentence:
    """A sentence while it grows: words with heads, mentions, events."""

    def __init__(self, draw: np.random.Generator) -> None:
        self.draw = draw
        self.words: list[str] = []
        self.heads: list[int] = []
        self.relations: list[str] = []
        self.tags: list[str] = []
        self.mentions: list[tuple[int, int, str]] = []

    def word(self, form: str, head: int, relation: str, tag: str) -> int:
        self.words.append(form)
        self.heads.append(head)
        self.relations.append(relation)
        self.tags.append(tag)
        return len(self.words) - 1

    def mention(self, kind: str, head: int, relation: str) -> list[Filler]:
        """A mention, perhaps with a coordinate one; both fill one role."""
        own = [self._one(kind, head, relation)]
        if kind not in ("place", "time") and self.draw.random() < COORDINATE:
            at = self.word("and", -2, "cc", "CCONJ")
            own.append(self._one(kind, own[0].pieces[0][0], "conj"))
            self.heads[at] = own[1].pieces[0][0]
        return own

    def _one(self, kind: str, head: int, relation: str) -> Filler:
        tag = "PROPN" if kind in ("place", "time") else "NOUN"
        at = self.word(str(self.draw.choice(_NAMES[kind])), head, relation, tag)
        self.mentions.append((at, at + 1, kind))
        return Filler("", -1, ((at, at + 1),), kind)


def generated(count: int, seed: int) -> list[Doc]:
    """Sentences as documents, each with its mentions and gold events."""
    draw, strings = np.random.default_rng(seed), StringTable()
    return [_sentence(draw, strings, f"g{number}") for number in range(count)]


def _as(role: str, fillers: list[Filler]) -> list[Filler]:
    return [filler._replace(role=role) for filler in fillers]


def _sentence(draw: np.random.Generator, strings: StringTable, name: str) -> Doc:
    new = _Sentence(draw)
    verb = str(draw.choice(["fired", "hit", "met", "moved", "hurt"], p=[0.35, 0.25, 0.15, 0.15, 0.1]))
    events: list[EventRow] = []
    subject_at = len(new.words)
    either = ["person", "vehicle"]
    subject = new.mention(str(draw.choice(either)) if verb == "hit" else "person", -2, "nsubj")
    passive = verb in ("hit", "hurt") and draw.random() < 0.5
    helper = new.word("were", -2, "aux", "AUX") if passive else -1
    trigger = new.word(verb, -1, "root", "VERB")
    new.heads[subject_at] = trigger
    if helper >= 0:
        new.heads[helper] = trigger
    time = new.mention("time", trigger, "obl")
    new.words.insert(len(new.words) - 1, "on")
    new.heads.insert(len(new.heads) - 1, len(new.words) - 1)
    new.relations.insert(len(new.relations) - 1, "case")
    new.tags.insert(len(new.tags) - 1, "ADP")
    new.mentions[-1] = (len(new.words) - 1, len(new.words), "time")
    time = [time[0]._replace(pieces=((len(new.words) - 1, len(new.words)),))]
    kinds = {"fired": ["weapon", "person"], "hit": either, "met": ["person"], "moved": either, "hurt": ["person"]}
    kind = str(draw.choice(kinds[verb]))
    article = new.word("a", -2, "det", "DET")
    many = new.word(str(draw.choice(_QUANTITY)), trigger, "obj", "NOUN")
    new.heads[article] = many
    case = new.word("of", -2, "case", "ADP")
    object_at = len(new.words)
    thing = new.mention(kind, many, "nmod")
    new.heads[case] = object_at
    place: list[Filler] = []
    if draw.random() < PLACED:
        at = new.word("in", -2, "case", "ADP")
        place = new.mention("place", trigger, "obl")
        new.heads[at] = at + 1
    arguments = _as("Time", time) + _as("Place", place)
    target: list[Filler] = []
    if verb == "fired" and kind == "weapon":
        label, arguments = "Attack", [*_as("Agent", subject), *_as("Instrument", thing), *arguments]
    elif verb == "fired":
        label, arguments = "End-Position", [*_as("Agent", subject), *_as("Target", thing), *arguments]
    elif verb in ("hit", "hurt"):
        doer, target = (thing, subject) if passive else (subject, thing)
        label = "Attack" if verb == "hit" else "Injure"
        arguments = [*_as("Agent", doer), *_as("Target", target), *arguments]
    else:
        label = "Meet" if verb == "met" else "Transport"
        arguments = [*_as("Agent", subject), *_as("Target", thing), *arguments]
    events.append(EventRow(label, ((trigger, trigger + 1),), tuple(arguments)))
    if draw.random() < DISTRACTOR:
        at = new.word("beside", -2, "case", "ADP")
        new.mention(str(draw.choice(either)), many, "nmod")
        new.heads[at] = at + 1
    if draw.random() < SECOND:
        start = len(new.words)
        for word in _FILLER[: int(draw.integers(14, len(_FILLER) + 1))]:
            new.word(word, trigger, "dep", "X")
        second = new.word("leaving", trigger, "advcl", "VERB")
        new.heads[start:second] = [second] * (second - start)
        if label in ("Attack", "Injure"):
            events.append(EventRow("Die", ((second, second + 1),), tuple(_as("Target", target))))
        else:
            events.append(EventRow("Transport", ((second, second + 1),), tuple(_as("Agent", subject))))
    end = new.word(".", trigger, "punct", "PUNCT")
    heads = [trigger if head == -2 else head for head in new.heads[: end + 1]]
    doc = Doc.from_words(
        [new.words], strings=strings, head=[[head + 1 for head in heads]], deprel=[new.relations], upos=[new.tags]
    )
    doc.id = name
    doc.spans["entities"] = SpanLayer.of(doc.strings, sorted(new.mentions))
    set_events(doc, events)
    return doc
