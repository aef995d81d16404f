"""The annotation of THYME, which is public without its text: files, contradictions, closure, and agreement."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from weft.evaluate.semantics.timelines import Agreement, agreement
from weft.formats import anafora
from weft.infer.orders.intervals import THYME, IntervalGraph, Link
from weft.recipes.extraction.thyme_clinical_time.corpora import thyme_files
from weft.text.conventions.timeline import LAYER, TLINK, temporal_links
from weft.text.doc import Doc
from weft.text.layers import RelationLayer, SpanLayer

PERTURBATIONS = ("the same", "inferred links added", "20 % of links dropped", "10 % of links retyped")


@dataclass
class Part:
    """What a part of the corpus shows."""

    files: int = 0
    identical: int = 0
    notes: list[Doc] = field(default_factory=list)
    links: Counter[str] = field(default_factory=Counter)
    mentions: Counter[str] = field(default_factory=Counter)
    contradictory: int = 0
    contradictory_now: int = 0  #: with DocTimeRel
    cycles: list[int] = field(default_factory=list)
    contains: int = 0  #: distinct links CONTAINS of consistent notes
    closed: int = 0  #: the same in their closure
    seconds: float = 0.0  #: CPU time of closures and cycles


def read_part(archive: Path, most: int | None = None) -> Part:
    """Read, write and close all files of a part, or some."""
    part = Part()
    for name, content in thyme_files(archive):
        if most is not None and part.files >= most:
            break
        doc = anafora.parse(content, None, name)
        doc.id = anafora.text_name(name)
        part.files += 1
        part.identical += anafora.to_text(doc) == content
        part.mentions.update(row.label for row in doc.spans[LAYER])
        if "Temporal-Relation" in name:
            part.notes.append(doc)
            close(part, doc)
    return part


def close(part: Part, doc: Doc) -> None:
    """Add the closure of a note to what is known of a part."""
    links = [Link(x, relation, y) for x, relation, y, _ in temporal_links(doc) if relation in THYME]
    part.links.update(link.relation for link in links)
    n = len(doc.spans[LAYER])
    began = time.process_time()
    graph = IntervalGraph(n, links)
    part.contradictory += not graph.consistent
    if graph.consistent:
        part.contains += len({link for link in links if link.relation == "CONTAINS"})
        part.closed += int(graph.matrix("CONTAINS").sum())
    else:
        part.cycles.append(len(graph.cycle()))
    part.seconds += time.process_time() - began
    part.contradictory_now += not doc.timeline().consistent


def perturbed(doc: Doc, how: str, random: np.random.Generator) -> Doc:
    """A copy of a note whose temporal links are changed."""
    copy = Doc(doc.text, doc.strings, dict(doc.meta))
    spans, links = doc.spans[LAYER], doc.relations[LAYER]
    copy.spans[LAYER] = SpanLayer(doc.strings, spans.unit)
    for number, row in enumerate(spans):
        copy.spans[LAYER].add(row.pieces, row.label, spans.id(number), **spans.attributes.get(number, {}))
    relations = copy.relations[LAYER] = RelationLayer(doc.strings, LAYER)
    for number, (first, second, label) in enumerate(links):
        attributes = links.attributes.get(number, {})
        drawn = random.random()
        if attributes.get("link", TLINK) == TLINK:
            if how == PERTURBATIONS[2] and drawn < 0.2:
                continue
            if how == PERTURBATIONS[3] and drawn < 0.1:
                label = str(random.choice([each for each in THYME if each != label]))
        relations.add(first, second, label, **attributes)
    if how == PERTURBATIONS[1]:
        said = [Link(x, relation, y) for x, relation, y, _ in temporal_links(doc) if relation in THYME]
        for link in IntervalGraph(len(spans), said).inferred(("CONTAINS",)):
            relations.add(link.first, link.second, link.relation)
    return copy


def agreements(notes: Sequence[Doc], seed: int) -> dict[str, dict[str, Agreement]]:
    """Agreement of the gold annotation with changed copies of it."""
    random = np.random.default_rng(seed)
    return {how: agreement(notes, [perturbed(doc, how, random) for doc in notes]) for how in PERTURBATIONS}
