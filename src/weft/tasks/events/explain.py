"""Why a word is a trigger of some type: against the best structure in which it has another label, or none.

score(structure) - score(runner-up) = features of the trigger + its arguments + global features + elsewhere
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.infer.slots.beam import best, scores_of
from weft.infer.slots.problem import Batch, Weights
from weft.infer.slots.weights import look_up
from weft.pipeline.explanation import ELSEWHERE, Explanation, Reason
from weft.tasks.events.encode import Places
from weft.tasks.events.model import EventModel, Found, found_events
from weft.tasks.events.schema import Schema
from weft.tasks.events.templates import WORD_ATOMS, names_of
from weft.text.doc import Doc

NOTHING = "no event"


def explain(model: EventModel, width: int, task: str, doc: Doc, word: int) -> Explanation:
    """The decision about one word; the runner-up is the best structure without the label of the word."""
    form = doc.words[word].form
    encoded = model.encode([doc])
    places, batch, schema = encoded.places, encoded.batch, model.schema
    where = next(((n, own.index(word)) for n, own in enumerate(places.positions) if word in own), None)
    if where is None:
        return Explanation.of(task, word, form, NOTHING, "", ())
    sentence, at = where
    position = int(batch.positions[sentence]) + at
    table, weights = schema.table, model.weights
    labels, roles, _ = best(batch, table, weights, width)
    batch.barred[position] = labels[position]
    others, other_roles, _ = best(batch, table, weights, width)
    batch.barred[position] = -1
    pairs = (labels, roles), (others, other_roles)
    shown = [_told(encoded_label, found, schema, places) for encoded_label, found in (
        (int(own[position]), _at(found_events(encoded, own, matrix), sentence, word)) for own, matrix in pairs
    )]  # fmt: skip
    reasons = _features(model, batch, doc, word, position, int(labels[position]), int(others[position]))
    reasons += _arguments(model, doc, batch, places, sentence, at, pairs)
    whole = [scores_of(batch, table, weights, *pair)[sentence] for pair in pairs]
    local = [scores_of(batch, table, weights._replace(use_global=0), *pair)[sentence] for pair in pairs]
    if weights.use_global:
        together = [float(a - b) for a, b in zip(whole, local, strict=True)]
        reasons.append(Reason("global", "several events or arguments", *together))
    rest = [
        float(total) - sum(reason.weight if side == 0 else reason.runner_up for reason in reasons)
        for side, total in enumerate(whole)
    ]
    reasons.append(Reason(ELSEWHERE, "", *rest))
    return Explanation.of(task, word, form, shown[0], shown[1], reasons)


def _at(found: list[Found], sentence: int, word: int) -> Found | None:
    return next((each for each in found if each.sentence == sentence and each.word == word), None)


def _told(label: int, found: Found | None, schema: Schema, places: Places) -> str:
    if found is None:
        return NOTHING
    roles = ", ".join(schema.roles[role] for role, _, _ in found.arguments)
    return f"{schema.labels[label]}({roles})" if roles else schema.labels[label]


def _features(
    model: EventModel, batch: Batch, doc: Doc, word: int, position: int, one: int, other: int
) -> list[Reason]:
    """The local features of a trigger under two labels, by template."""
    coarse = model.schema.table.coarse
    names = names_of("triggers", model.atoms.classes)
    keys = batch.label_keys[batch.label_offsets[position] : batch.label_offsets[position + 1]]
    rows = look_up(model.weights.labels, keys)
    rows[keys == 0] = 0.0
    reasons = []
    for number, row in enumerate(rows):
        name = names[number] if number < len(names) else "children"
        sides = [float(row[each] + (row[coarse[each]] if coarse[each] >= 0 else 0.0)) for each in (one, other)]
        if any(sides):
            reasons.append(Reason(name, _value(doc, word, name), *sides))
    bonus = [float(model.weights.bonus[0]) if each > 0 else 0.0 for each in (one, other)]
    return [*reasons, Reason("balance", "", *bonus)]


def _value(doc: Doc, word: int, name: str) -> str:
    """What a template read, as far as it is forms: the words at its offsets."""
    parts = []
    sentence = doc.words[word].sentence
    for token in name.split():
        atom, _, offset = token.partition("[")
        if atom in WORD_ATOMS and offset:
            place = word + int(offset[:-1])
            inside = sentence.first <= place < sentence.end
            parts.append(doc.words[place].form if inside else "(edge)")
    return " ".join(parts)


def _arguments(
    model: EventModel, doc: Doc, batch: Batch, places: Places, sentence: int, at: int, pairs: Any
) -> list[Reason]:
    """The local scores of the slots of a trigger in two structures."""
    table, weights = model.schema.table, model.weights
    candidates = places.candidates[sentence]
    words = places.positions[sentence]
    first = int(batch.cells[sentence])
    width = (int(batch.cells[sentence + 1]) - first) // len(words)
    reasons = []
    for slot in range(width):
        cell = first + at * width + slot
        keys = batch.cell_keys[batch.cell_offsets[cell] : batch.cell_offsets[cell + 1]]
        row = look_up(weights.roles, keys[keys > 0]).sum(axis=0)
        sides = [_role_score(weights, table, batch, row, sentence, at, slot, cell, *pair) for pair in pairs]
        roles = [model.schema.roles[max(0, int(pair[1][cell]))] for pair in pairs]
        if any(sides):
            candidate = slot < len(candidates)
            start, end = candidates[slot][:2] if candidate else (words[slot - len(candidates)],) * 2
            said = " ".join(doc.words[word].form for word in range(start, max(end, start + 1)))
            value = f"{said}: {roles[0] or 'none'} / {roles[1] or 'none'}"
            reasons.append(Reason("argument", value, *sides))
    return reasons


def _role_score(
    weights: Weights, table: Any, batch: Batch, row: NDArray[np.float32], sentence: int, at: int, slot: int, cell: int,
    labels: NDArray[np.int16], roles: NDArray[np.int16],
) -> float:  # fmt: skip
    first = int(batch.positions[sentence])
    label, role = int(labels[first + at]), int(roles[cell])
    m = int(batch.candidates[sentence + 1] - batch.candidates[sentence])
    if label <= 0 or role < 0:
        return 0.0
    if slot < m:
        kind = int(batch.types[int(batch.candidates[sentence]) + slot])
    else:
        other = int(labels[first + slot - m])
        kind = table.types + other if other > 0 else -1
    if kind < 0 or table.columns[label, kind, 0] < 0:
        return 0.0
    found = float(row[table.columns[label, kind, role]])
    return found + (float(row[1]) + float(weights.bonus[1]) if role else 0.0)
