"""Documents as samples: mentions that are given or detected, their properties, and the entities that gold assigns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from weft.arrays import Ints
from weft.errors import DataError
from weft.tasks.coreference.candidates import FARTHEST, Candidates
from weft.tasks.coreference.mentions import Mention, Trees, detect, given, marks_possessors, trees_of
from weft.tasks.coreference.properties import Genders, gender_counts, phi_priors, values_of
from weft.tasks.coreference.systems import Sample
from weft.tasks.coreference.table import table_of
from weft.text.conventions.coreference import LAYER, coreference_of
from weft.text.doc import Doc
from weft.text.layers import words_of_chars


@dataclass(frozen=True)
class Marked:
    """A document with its mentions and the entity of each, -1 for none."""

    doc: Doc
    trees: Trees
    mentions: list[Mention]
    entity: Ints
    counts: Mapping[str, tuple[int, int, int]] = field(default_factory=dict)


def gold_mentions(doc: Doc, layer: str = LAYER) -> tuple[list[tuple[int, int]], Ints]:
    """The words of all mentions of a layer, each once, and their entities; of mentions with gaps, the first piece."""
    found = coreference_of(doc, layer)
    if found is None:
        raise DataError(
            f"{doc.id or 'a document'} has no layer {layer!r} of mentions and entities; train on CoNLL-2012, CorefUD, "
            "or JSON Lines with clusters"
        )
    spans = words_of_chars(doc, found[0])
    seen: dict[tuple[int, int], int] = {}
    for number, row in enumerate(spans):
        seen.setdefault(row.pieces[0], int(found[1].cluster[number]))
    ordered = sorted(seen, key=lambda span: (span[0], -span[1]))
    return ordered, np.array([seen[span] for span in ordered], dtype=np.int64)


def marked(doc: Doc, detected: bool, possessive: bool, layer: str = LAYER, entities: str = "entities") -> Marked:
    """A training document: gold mentions, or detected ones with the entities of gold mentions with the same words.

    A detected mention whose words differ has the entity of the gold mention with the same head, if there is one.
    """
    trees = trees_of(doc)
    spans, entity = gold_mentions(doc, layer)
    mentions = given(doc, spans, trees)
    counts = gender_counts(doc, mentions, entity.tolist())
    if detected:
        whole = dict(zip(spans, entity.tolist(), strict=True))
        found = detect(doc, trees, entities, possessive)
        taken = {(mention.start, mention.end) for mention in found}
        heads = {
            mention.head: number
            for mention, number in zip(mentions, entity.tolist(), strict=True)
            if mention[:2] not in taken
        }
        entity = np.array(
            [whole.get(mention[:2], -2) for mention in found], dtype=np.int64
        )  # fmt: skip
        missing = np.flatnonzero(entity == -2)
        entity[missing] = [heads.get(found[place].head, -1) for place in missing.tolist()]
        mentions = found
    return Marked(doc, trees, mentions, entity, counts)


def learn_genders(documents: Sequence[Marked], names: Mapping[str, str]) -> Genders:
    """Genders of words by the pronouns that share their entities, over all training documents."""
    total: dict[str, tuple[int, int, int]] = {}
    for each in documents:
        for word, own in each.counts.items():
            old = total.get(word, (0, 0, 0))
            total[word] = (old[0] + own[0], old[1] + own[1], old[2] + own[2])
    return Genders(total, names)


def marks_are_inside(docs: Sequence[Doc], layer: str = LAYER) -> bool:
    """Whether the possessors of training documents end with their mark."""
    return sum(marks_possessors(doc, gold_mentions(doc, layer)[0], trees_of(doc)) for doc in docs) > 0


def sample_of(
    each: Marked, genders: Genders, training: bool, farthest: int = FARTHEST, names: str = "entities"
) -> Sample:
    """The arrays of a document; in training, its own words do not count for their genders."""
    values = values_of(each.doc, each.mentions, genders, each.counts if training else None, names)
    table = table_of(each.doc, each.mentions, each.trees, values)
    candidates = Candidates.within(len(each.mentions), farthest)
    return Sample(table, candidates, phi_priors(values), each.entity)
