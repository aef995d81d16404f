"""Broken preferences as layers: every judged verb, and the arguments that break what it asks of them.

    spans/preferences        one span per verb (violation, ok, unknown), one per argument that breaks a preference
    relations/preferences    from a flagged verb to each such argument, labelled with its role

The attributes of a verb's span hold the explanation as plain values: its readings, what was checked in each, and the
patches that changed the judgement. Both are ordinary layers, so JSONL, records and Parquet keep them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from weft.errors import WeftError
from weft.text.layers import RelationLayer, SpanLayer
from weft.text.views import Word

if TYPE_CHECKING:
    from weft.text.doc import Doc

LAYER = "preferences"
VIOLATION, OK, UNKNOWN = OUTCOMES = ("violation", "ok", "unknown")
ARGUMENT = "argument"


class PreferenceRow(NamedTuple):
    """A judged verb as plain values: its word, the outcome, the explanation, and its arguments by their heads."""

    verb: int
    outcome: str
    explanation: Mapping[str, Any]
    heads: Mapping[str, int]


class Broken(NamedTuple):
    """A preference that an argument breaks: its head, its role in a class, the restriction, the senses that it has."""

    word: Word
    argument: str
    role: str
    verb_class: str
    restriction: str
    senses: tuple[str, ...]


class Preference:
    """A view of one judged verb; see `Doc.preferences`.

    >>> from weft.text.doc import Doc
    >>> doc = Doc.from_words([["They", "pruned", "laws"]])
    >>> check = {"argument": "A1", "role": "Patient", "restriction": "+concrete", "senses": ["law%1:14:00::"]}
    >>> reading = {"roleset": "prune.01", "class": "carve-21.2-2", "checks": [{**check, "holds": False}]}
    >>> set_preferences(doc, [PreferenceRow(1, "violation", {"readings": [reading]}, {"A0": 0, "A1": 2})])
    >>> doc.preferences
    [Preference('pruned', 'violation')]
    >>> doc.preferences[0].broken[0].word, doc.preferences[0].broken[0].restriction
    (Word('laws'), '+concrete')
    """

    __slots__ = ("doc", "explanation", "heads", "outcome", "verb")

    def __init__(self, doc: Doc, verb: int, outcome: str, explanation: Mapping[str, Any], heads: Mapping[str, int]):
        self.doc, self.outcome, self.explanation = doc, outcome, explanation
        self.verb, self.heads = Word(doc, verb), heads

    @property
    def readings(self) -> list[dict[str, Any]]:
        """The readings of the verb, with what was checked in each, or why it is ruled out."""
        return list(self.explanation.get("readings", ()))

    @property
    def why(self) -> str:
        """Why nothing is known of the verb, "" if something is."""
        return str(self.explanation.get("why", ""))

    @property
    def patches(self) -> list[dict[str, Any]]:
        """The patches that changed the judgement, with the outcomes before and after each."""
        return list(self.explanation.get("patches", ()))

    @property
    def broken(self) -> list[Broken]:
        """What is broken, in every reading; empty unless the verb is flagged."""
        if self.outcome != VIOLATION:
            return []
        return [
            Broken(
                Word(self.doc, self.heads[check["argument"]]), check["argument"], check["role"], reading["class"],
                check["restriction"], tuple(check["senses"]),
            )
            for reading in self.readings for check in reading.get("checks", ())
            if not check["holds"] and check["argument"] in self.heads
        ]  # fmt: skip

    def __repr__(self) -> str:
        return f"Preference({self.verb.form!r}, {self.outcome!r})"


def set_preferences(doc: Doc, rows: Iterable[PreferenceRow], layer: str = LAYER) -> None:
    """Write judged verbs into the layers, in place of those that are there."""
    spans, relations = SpanLayer(doc.strings), RelationLayer(doc.strings, layer)
    for row in rows:
        if row.outcome not in OUTCOMES:
            raise WeftError(f"the outcome of a verb is one of {', '.join(OUTCOMES)}, got {row.outcome!r}")
        heads = {name: int(word) for name, word in sorted(row.heads.items())}
        verb = spans.add([(row.verb, row.verb + 1)], row.outcome, explanation=dict(row.explanation), heads=heads)
        for broken in dict.fromkeys(
            (each.word.index, each.role)
            for each in Preference(doc, row.verb, row.outcome, row.explanation, row.heads).broken
        ):
            word, role = broken
            relations.add(verb, spans.add([(word, word + 1)], ARGUMENT), role)
    doc.spans[layer], doc.relations[layer] = spans, relations


def preferences_of(doc: Doc, layer: str = LAYER) -> list[Preference]:
    """All judged verbs of a document; none if the layer is missing."""
    if layer not in doc.spans:
        return []
    spans = doc.spans[layer]
    if spans.unit != "words":
        raise WeftError(f"the span layer {layer!r} must be counted in words")
    found = []
    for number, (pieces, label) in enumerate(spans):
        if label in OUTCOMES:
            known = spans.attributes.get(number, {})
            explanation, heads = known.get("explanation", {}), known.get("heads", {})
            if not isinstance(explanation, Mapping) or not isinstance(heads, Mapping):
                raise WeftError(f"span {number} of the layer {layer!r} has no explanation that can be read")
            inside = {name: word for name, word in heads.items() if isinstance(word, int) and 0 <= word < doc.n_words}
            found.append(Preference(doc, pieces[0][0], label, explanation, inside))
    return found
