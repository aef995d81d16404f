"""Train and score the model en-relations: `python -m weft.recipes.extraction.complex_relations.english OUT.weft`.

It learns from 500 passages of Re-DocRED (the file dev) and is scored on the other 500 (test). Relations there join the
entities of a whole passage; the model joins mentions of one sentence, so a pair of mentions is related if its entities
are, and a prediction is right if the entities of its mentions are related. Inverse relations are one. Tags and trees
are those of the model `en`.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import weft
from weft.evaluate.counts import Counts
from weft.pipeline.pipeline import Pipeline
from weft.recipes.framework import RecipeOptions
from weft.tasks.relations.extractor import ExtractorSettings, RelationExtractor
from weft.text.conventions.tuples import PLAIN, TupleRow, set_tuples, tuple_rows
from weft.text.doc import Doc
from weft.text.layers import SpanLayer, words_of_chars

REDOCRED = "knowledge-graphs/re-docred/{}.jsonl.gz"
TYPES = ("PER", "LOC", "ORG")
#: Properties of Wikidata and the names of the relations; those with fewer than some dozens of examples are left out.
RELATIONS = {
    "P131": "located in", "P17": "country", "P27": "citizen of", "P361": "part of", "P463": "member of",
    "P3373": "sibling", "P19": "born in", "P20": "died in", "P26": "spouse", "P40": "child", "P140": "religion",
    "P30": "continent", "P102": "member of party", "P127": "owned by", "P749": "parent organization",
    "P69": "educated at", "P54": "plays for", "P108": "works for", "P264": "record label", "P35": "head of state",
    "P6": "head of government", "P488": "chaired by", "P112": "founded by", "P159": "headquarters in", "P118": "league",
    "P36": "capital",
}  # fmt: skip
#: Properties that say the same the other way round.
INVERSE = {"P150": "P131", "P527": "P361", "P355": "P749", "P22": "P40", "P25": "P40", "P1376": "P36"}
SETTINGS: dict[str, Any] = {"trees": True, "penalty": "l1", "c": 3.0, "threshold": 0.5, "least": 20}
WHAT = (
    "Relations between people, places and organizations that a sentence names: located in, citizen of, born in, works "
    "for and 22 more. Works after the English model, whose names, tags and trees it reads: "
    "`weft annotate news.txt --model en --model en-relations`."
)
WEAKNESSES = [
    "It reads one sentence at a time: what only a whole text says is missed.",
    "Places dominate the training data; of relations between people and organizations many are missed.",
    "It learned from encyclopedic text, and knows places that it has seen: a relation may be true of the world and not "
    "be said by the sentence.",
    "Pronouns have no relations; link them first, by en-coref, if you need them.",
]


def passages(path: Path) -> list[Doc]:
    """Passages with their mentions; `meta` keeps the entity of every mention and the related entities."""
    docs = []
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            values = json.loads(line)
            doc = Doc.from_words(values["sents"])
            doc.id = values["title"]
            first = doc.sentence_offsets.tolist()
            spans, owner = SpanLayer(doc.strings), []
            for entity, mentions in enumerate(values["vertexSet"]):
                kind = Counter(mention["type"] for mention in mentions).most_common(1)[0][0]
                places = {(first[each["sent_id"]] + each["pos"][0], first[each["sent_id"]] + each["pos"][1])
                          for each in mentions}  # fmt: skip
                for place in sorted(places) if kind in TYPES else ():
                    spans.add([place], kind)
                    owner.append(entity)
            doc.spans["entities"] = spans
            doc.meta["owner"] = owner
            doc.meta["triples"] = sorted(_triples(values["labels"], set(owner)))
            docs.append(doc)
    return docs


def _triples(labels: Sequence[dict[str, Any]], entities: set[int]) -> set[tuple[int, str, int]]:
    found = set()
    for label in labels:
        head, name, tail = label["h"], label["r"], label["t"]
        if name in INVERSE:
            head, name, tail = tail, INVERSE[name], head
        if name in RELATIONS and {head, tail} <= entities and head != tail:
            found.add((head, RELATIONS[name], tail))
    return found


def related(doc: Doc) -> None:
    """Write the relations of mentions of one sentence whose entities are related."""
    owner, triples = doc.meta["owner"], {tuple(each) for each in doc.meta["triples"]}
    ends = doc.sentence_offsets[1:]
    by_sentence: dict[int, list[int]] = {}
    for number, row in enumerate(doc.spans["entities"]):
        by_sentence.setdefault(int((ends <= row.pieces[0][0]).sum()), []).append(number)
    names: dict[tuple[int, int], list[str]] = {}
    for head, name, tail in triples:
        names.setdefault((head, tail), []).append(name)
    rows = [
        TupleRow(name, ((PLAIN[0], one), (PLAIN[1], other)))
        for numbers in by_sentence.values()
        for one in numbers
        for other in numbers
        for name in names.get((owner[one], owner[other]), ())
    ]
    set_tuples(doc, rows)


def parsed(docs: Sequence[Doc], nlp: Pipeline) -> list[Doc]:
    """Documents with tags and trees of a model; their words and mentions stay."""
    kept = [dict(doc.spans) for doc in docs]
    for component in nlp.components:
        if {"upos", "head"} & set(component.provides):
            component(list(docs))
    for doc, spans in zip(docs, kept, strict=True):
        doc.spans = spans
    return list(docs)


def counted(gold: Sequence[Doc], system: Sequence[Doc]) -> tuple[Counts, Counts]:
    """Counts of related entities per passage: all of them, and those that some sentence names together."""
    every, near = [], []
    for doc, other in zip(gold, system, strict=True):
        owner = _owners(doc, other)
        ends = [(row.label, dict(row.members)) for row in tuple_rows(other)]
        found = {(owner[slots[PLAIN[0]]], label, owner[slots[PLAIN[1]]]) for label, slots in ends}
        wanted = {tuple(each) for each in doc.meta["triples"]}
        sentence = [int((doc.sentence_offsets[1:] <= row.pieces[0][0]).sum()) for row in doc.spans["entities"]]
        homes: dict[int, set[int]] = {}
        for own, place in zip(doc.meta["owner"], sentence, strict=True):
            homes.setdefault(own, set()).add(place)
        reachable = {each for each in wanted if homes[each[0]] & homes[each[2]]}
        every.append((len(wanted), len(found), len(wanted & found)))
        near.append((len(reachable), len(found), len(reachable & found)))
    return Counts.of(*zip(*every, strict=True)), Counts.of(*zip(*near, strict=True))


def _owners(doc: Doc, other: Doc) -> list[Any]:
    """The gold entity of every mention of a document; a mention that no gold one overlaps is an entity of its own."""
    if other.spans["entities"] is doc.spans["entities"]:
        return list(doc.meta["owner"])
    places = {}
    for row, owner in zip(doc.spans["entities"], doc.meta["owner"], strict=True):
        places.update(dict.fromkeys(range(*row.pieces[0]), owner))
    found = words_of_chars(other, other.spans["entities"])
    return [
        next((places[word] for word in range(*row.pieces[0]) if word in places), ("new", number))
        for number, row in enumerate(found)
    ]


def predicted(docs: Sequence[Doc], extractor: RelationExtractor) -> list[Doc]:
    """Documents with the same words and mentions, and predicted relations."""
    copies = []
    for doc in docs:
        copy = Doc.from_bytes(doc.to_bytes())
        copy.relations = {}
        copy.spans["entities"] = doc.spans["entities"]
        copies.append(copy)
    extractor(copies)
    return copies


def build(out: Path) -> dict[str, Any]:
    """Train the model, score it, write it with its card, and return the card."""
    options, nlp = RecipeOptions(), weft.load("en")
    train, test = (parsed(passages(options.find(REDOCRED.format(part))), nlp) for part in ("dev", "test"))
    for doc in train:
        related(doc)
    extractor = RelationExtractor(ExtractorSettings(**SETTINGS))
    report = extractor.fit(train)
    every, near = (counts.total() for counts in counted(test, predicted(test, extractor)))
    card = {
        "name": "en-relations", "language": "English", "what": WHAT, "licence": "CC BY-SA 3.0",
        "corpora": ["Re-DocRED (MIT; text of Wikipedia, CC BY-SA 3.0)"],
        "trained": [
            f"relations: {len(train)} passages, {sum(doc.n_words for doc in train):,} words, "
            f"{report['training']['tuples']:,} related pairs of mentions, {report['training']['relations']} relations"
        ],
        "scores": {
            "Re-DocRED test, related entities, gold mentions": {
                "P": round(100 * every.precision, 2), "R": round(100 * every.recall, 2), "F": round(100 * every.f1, 2),
            },
            "Re-DocRED test, those that a sentence names together": {
                "P": round(100 * near.precision, 2), "R": round(100 * near.recall, 2), "F": round(100 * near.f1, 2),
            },
        },
        "weaknesses": WEAKNESSES, "settings": {"1 tuples": SETTINGS}, "seed": 0, "weft": weft.__version__,
    }  # fmt: skip
    Pipeline([extractor], card).save(out)
    return card


if __name__ == "__main__":
    for test_set, values in build(Path(sys.argv[1]))["scores"].items():
        print(test_set, values)
