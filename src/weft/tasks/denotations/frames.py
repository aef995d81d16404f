"""Short hypotheses about an event: a verb, a verb phrase, a simple sentence, with their constituents.

VP   play, play guitar, sit on bench         S   man play guitar
constituents: S, sbj, VP, v, dobj, each a phrase that may be a node of a graph
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from weft.tasks.denotations.phrases import Content, Entity, Event, Heads

_FORMS = 4  # of a noun: itself and its nearest hypernyms
#: Constituents in the order of features.
PARTS = ("S", "sbj", "VP", "v", "dobj")


class Frame(NamedTuple):
    """A hypothesis: its kind (VP or S), its phrase and its constituents, empty where there is none."""

    kind: str
    phrase: str
    sbj: str
    vp: str
    v: str
    dobj: str

    def constituents(self) -> dict[str, str]:
        """The phrases of all constituents that are there."""
        parts = zip(PARTS, (self.phrase if self.kind == "S" else "", self.sbj, self.vp, self.v, self.dobj), strict=True)
        return {name: phrase for name, phrase in parts if phrase}


def frames_of(content: Content, heads: Heads) -> Iterator[Frame]:
    """The short hypotheses that a caption may generate."""
    for event in content.events:
        if event.prefix or event.after is not None:
            continue
        verb = " ".join(word for _, word in event.words)
        phrases = [] if event.light else [(verb, "")]
        objects = event.objects[:1]
        phrases += [(f"{verb} {form}", form) for entity in objects for form in _forms(entity, heads)]
        phrases += _with_phrase(content, event, verb, heads)
        for vp, dobj in dict.fromkeys(phrases):
            yield Frame("VP", vp, "", vp, verb, dobj)
            for subject in event.subjects[:1]:
                for form in _forms(subject, heads):
                    yield Frame("S", f"{form} {vp}", form, vp, verb, dobj)


def _with_phrase(content: Content, event: Event, verb: str, heads: Heads) -> list[tuple[str, str]]:
    if event.light or event.objects:
        return []
    return [
        (f"{verb} {' '.join(word for _, word in phrase.words)} {form}", "")
        for phrase in content.phrases
        if phrase.host is event and phrase.words and not phrase.entity.others
        for form in _forms(phrase.entity, heads)[:1]
    ]


def _forms(entity: Entity, heads: Heads) -> list[str]:
    return [entity.name, *heads.above(entity.name)][:_FORMS]
