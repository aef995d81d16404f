"""Gene mentions with alternative boundaries: the BioCreative II corpus as documents.

Words and mentions come from columns; alternatives from `ALTGENE.eval` lines `id|first last|text`, whose offsets count
the non-blank characters of the sentence, with the last inclusive. The columns have no ids: in the training and
development parts the n-th id in `GENE.eval` is the n-th sentence with a mention; in the test part a sentence is
identified by its set of mentions. Alternatives that do not begin and end at word boundaries are dropped.

The files are sorted by PubMed number, roughly by year, and old abstracts are not representative of new ones: 40 % of
the first 6,000 training sentences have a mention, 61 % of the others. Sentences are therefore shuffled once, with a
fixed seed.
"""

from __future__ import annotations

import gzip
from itertools import accumulate, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from weft.formats import read
from weft.recipes.framework import RecipeOptions
from weft.text.doc import Doc
from weft.text.layers import SpanLayer

FOLDER = "ner/bc2gm-genes"
LAYER, ALTERNATIVES, LABEL = "entities", "alternatives", "GENE"
#: First and last non-blank character and the text without whitespace.
Place = tuple[int, int, str]


class Sentence(NamedTuple):
    """Words, mentions and alternatives, as half-open word ranges."""

    words: tuple[str, ...]
    mentions: tuple[tuple[int, int], ...]
    alternatives: tuple[tuple[int, int], ...]


def gene_sentences(options: RecipeOptions, part: str) -> list[Sentence]:
    """The sentences of a part: train, dev or test; shuffled once, so that any cut covers all years."""
    corpus = read(options.find(f"{FOLDER}/{part}.tsv.gz"), format="columns", fields="form entities")
    plain: list[Sentence] = []
    for doc in corpus:
        forms, offsets = doc.column("form"), doc.sentence_offsets.tolist()
        spans = sorted(row.pieces[0] for row in doc.spans["entities"])
        for first, end in pairwise(offsets):
            own = tuple((start - first, stop - first) for start, stop in spans if first <= start < end)
            plain.append(Sentence(tuple(forms[first:end]), own, ()))
    gold = _by_id(options.find(f"{FOLDER}/{part}.GENE.eval" + ("" if part == "dev" else ".gz")))
    other = _by_id(options.find(f"{FOLDER}/{part}.ALTGENE.eval" + (".gz" if part == "train" else "")))
    ids = _ids_by_mentions(plain, gold) if part == "test" else _ids_in_order(plain, gold)
    found = [
        sentence if name is None else sentence._replace(alternatives=_runs(sentence, other.get(name, [])))
        for sentence, name in zip(plain, ids, strict=True)
    ]
    return [found[i] for i in np.random.default_rng(0).permutation(len(found)).tolist()]


def gene_document(sentences: list[Sentence]) -> Doc:
    """Sentences as a document, with their alternatives."""
    doc = Doc.from_words([sentence.words for sentence in sentences])
    gold, other = SpanLayer(doc.strings), SpanLayer(doc.strings)
    for first, sentence in zip(doc.sentence_offsets.tolist(), sentences, strict=False):
        for start, end in sentence.mentions:
            gold.add([(first + start, first + end)], LABEL)
        for start, end in sentence.alternatives:
            other.add([(first + start, first + end)], LABEL)
    doc.spans[LAYER] = gold
    doc.spans[ALTERNATIVES] = other
    return doc


def places(sentence: Sentence) -> list[Place]:
    """The mentions of a sentence in the format of the evaluation files."""
    bounds = [0, *accumulate(map(len, sentence.words))]
    return [(bounds[a], bounds[b] - 1, "".join(sentence.words[a:b])) for a, b in sentence.mentions]


def _by_id(path: Path) -> dict[str, list[Place]]:
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    found: dict[str, list[Place]] = {}
    for line in text.splitlines():
        name, offsets, mention = line.split("|", 2)
        first, last = offsets.split()
        found.setdefault(name, []).append((int(first), int(last), "".join(mention.split())))
    return found


def _ids_in_order(sentences: list[Sentence], gold: dict[str, list[Place]]) -> list[str | None]:
    """The id of every sentence with a mention, in order; None if the mentions disagree."""
    names = iter(gold)
    found: list[str | None] = []
    for sentence in sentences:
        name = next(names, None) if sentence.mentions else None
        agree = name is not None and bool({*places(sentence)} & {*gold[name]})
        found.append(name if agree else None)
    return found


def _ids_by_mentions(sentences: list[Sentence], gold: dict[str, list[Place]]) -> list[str | None]:
    known: dict[frozenset[Place], list[str]] = {}
    for name, mentions in gold.items():
        known.setdefault(frozenset(mentions), []).append(name)
    found: list[str | None] = []
    for sentence in sentences:
        names = known.get(frozenset(places(sentence)), [])
        found.append(names.pop(0) if names else None)
    return found


def _runs(sentence: Sentence, alternatives: list[Place]) -> tuple[tuple[int, int], ...]:
    bounds = [0, *accumulate(map(len, sentence.words))]
    starts = {character: word for word, character in enumerate(bounds[:-1])}
    ends = {character - 1: word for word, character in enumerate(bounds) if word}
    runs = {(starts[a], ends[b]): None for a, b, _ in alternatives if a in starts and b in ends}
    return tuple(run for run in runs if run[0] < run[1] and run not in sentence.mentions)
