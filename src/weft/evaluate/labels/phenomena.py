"""Scores of what speakers do in conversations: the labels of instances, rare ones apart.

An instance is all lines of the system's layer `phenomena` with the same number. Its gold label is the rarest one that
the gold document gives to one of these lines, in its own layer or in its turns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from weft.errors import DataError, WeftError
from weft.evaluate.counts import Counts
from weft.text.conventions.conversations import LAYER, chars_of_turns, turns_of
from weft.text.doc import Doc
from weft.text.layers import SpanLayer, chars_of_words


def label_pairs(gold: Sequence[Doc], system: Sequence[Doc]) -> list[tuple[int, str, str]]:
    """The document, the gold label and the system's label of every instance with a gold label."""
    if len(gold) != len(system):
        raise WeftError(f"gold has {len(gold)} documents, system has {len(system)}; both must have the same")
    order = Counter(label for doc in gold for label in _line_labels(doc).values())
    found: list[tuple[int, str, str]] = []
    for number, (one, other) in enumerate(zip(gold, system, strict=True)):
        if one.text != other.text:
            raise DataError(f"gold and system have different texts: {one!r}")
        known = _line_labels(one)
        said: dict[object, str] = {}
        labels: dict[object, list[str]] = {}
        layer = chars_of_words(other, other.spans[LAYER]) if LAYER in other.spans else ()
        for line, row in enumerate(layer):
            given = layer.attributes.get(line, {}) if isinstance(layer, SpanLayer) else {}
            instance = given.get("instance", f"line {line}")
            said[instance] = row.label
            labels.setdefault(instance, []).extend(known[start] for start, _ in row.pieces if start in known)
        for instance, own in labels.items():
            if own:
                found.append((number, min(own, key=lambda label: (order[label], label)), said[instance]))
    return found


def evaluate_phenomena(gold: Sequence[Doc], system: Sequence[Doc]) -> dict[str, Counts]:
    """Counts per document: all labels, all but the most frequent one, and every label by itself."""
    pairs = label_pairs(gold, system)
    if not pairs:
        raise DataError("there is nothing to score: no instance of the system has lines with gold labels")
    most = Counter(label for _, label, _ in pairs).most_common(1)[0][0]
    names = sorted({label for _, label, _ in pairs} | {label for _, _, label in pairs})
    wanted = {"labels": set(names), "rare labels": set(names) - {most}} | {name: {name} for name in names}
    found: dict[str, Counts] = {}
    for name, own in wanted.items():
        rows = [[0, 0, 0] for _ in gold]
        for number, label, said in pairs:
            rows[number][0] += label in own
            rows[number][1] += said in own
            rows[number][2] += label == said and label in own
        found[name] = Counts.of(*zip(*rows, strict=True))
    return found


def _line_labels(doc: Doc) -> dict[int, str]:
    """The labels of lines by their first characters."""
    if LAYER in doc.spans:
        rows = chars_of_words(doc, doc.spans[LAYER])
        return {start: row.label for row in rows for start, _ in row.pieces}
    places = [start for start, _, _ in chars_of_turns(doc)]
    return {start: turn.label for start, turn in zip(places, turns_of(doc), strict=True) if turn.label}
