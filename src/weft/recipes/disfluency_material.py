"""The material of the recipe of disfluency-parser: transcripts with trees, generated repairs, Switchboard.

Spoken UD treebanks give transcripts whose reparanda hang by that relation (French, Norwegian). Where there are none,
repairs are put into fluent sentences: 60 % repeat the next one to three words, 30 % copy the next phrase with one word
replaced, dropped or added, 10 % are beginnings of other sentences; a quarter is followed by an interregnum. The tree of
the sentence stays as it is. Switchboard has repairs without trees, for detectors alone.

All are prepared as the parser reads them (`weft.tasks.disfluency_data`), with words, tags and trees and nothing else.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np

from weft.errors import FormatError
from weft.formats import read
from weft.formats.streams import read_text
from weft.recipes.framework import RecipeOptions
from weft.tasks.disfluency_data import FILLERS, is_word, prepare
from weft.tasks.tag import Tagger, TaggerSettings
from weft.text.doc import Doc
from weft.text.layers import SpanLayer
from weft.text.repairs import LAYER, REPARANDUM

FOLDER = "treebanks/ud"
FRENCH = ("French-Rhapsodie", "French-ParisStories")
NORWEGIAN = ("Norwegian-NynorskLIA",)
ENGLISH = ("English-EWT",)
SWITCHBOARD = ("disfluency/swbd-disf-tagged/heldout.tsv.gz", "disfluency/swbd-disf-tagged/test.tsv.gz")
#: Kinds of generated repairs and how often each is made.
KINDS, SHARES = ("repeat", "replace", "drop", "add", "restart"), (0.6, 0.1, 0.1, 0.1, 0.1)
INTERREGNA = (("i_mean", "VERB"), ("you_know", "VERB"), ("well", "INTJ"), ("sorry", "INTJ"))
#: Mean number of words of a generated reparandum, measured, to get the share of words asked for.
MEAN_LENGTH = 2.1


@dataclass
class Node:
    """A word of a sentence that repairs are put into; its head is another one, None for the root."""

    form: str
    tag: str
    relation: str
    head: Node | None = field(default=None, repr=False)


def transcripts(options: RecipeOptions, treebanks: Sequence[str], part: str, limit: int = 0) -> list[Doc]:
    """The sentences of treebanks as the parser reads them, a document a treebank; of each at most `limit`, if any."""
    found = []
    for name in treebanks:
        path = options.find(f"{FOLDER}/{name}/{part}.conllu.gz")
        corpus = read(path).take_sentences(limit) if limit else read(path)
        found.append(stripped([prepare(doc).doc for doc in corpus]))
    return found


def stripped(docs: Sequence[Doc]) -> Doc:
    """One document with the words, tags and trees of all, and nothing else; sentences of one word are left out."""
    rows: dict[str, list[list[str]]] = {"form": [], "upos": [], "deprel": []}
    heads: list[list[int]] = []
    for doc in docs:
        columns = {name: doc.column(name) for name in rows}
        for first, end in pairwise(doc.sentence_offsets.tolist()):
            if end - first < 2 or doc.head is None:
                continue
            for name, values in columns.items():
                rows[name].append(values[first:end])
            heads.append(doc.head[first:end].tolist())
    return Doc.of_words(rows["form"], upos=rows["upos"], deprel=rows["deprel"], head=heads)


def retag(train: Sequence[Doc], others: Sequence[Sequence[Doc]], folds: int = 5, epochs: int = 5) -> None:
    """Replace gold tags by those of a tagger; training sentences get theirs from taggers that did not see them."""
    settings = TaggerSettings(column="upos", learner="perceptron", epochs=epochs, calibrate=False)
    sentences = [(doc, number) for doc in train for number in range(doc.n_sentences)]
    parts = [[sentences[i] for i in range(fold, len(sentences), folds)] for fold in range(folds)]
    predicted: dict[tuple[int, int], list[str]] = {}
    for part in parts:
        rest = [each for other in parts if other is not part for each in other]
        tagger = Tagger(settings)
        tagger.fit([doc.subset([number]) for doc, number in rest])
        held_out = [doc.subset([number]) for doc, number in part]
        tagger(held_out)
        for (doc, number), tagged in zip(part, held_out, strict=True):
            predicted[id(doc), number] = tagged.column("upos")
    tagger = Tagger(settings)
    tagger.fit(list(train))
    for docs in others:
        tagger(docs)
    for doc in train:
        tags = [tag for number in range(doc.n_sentences) for tag in predicted[id(doc), number]]
        doc.set_column("upos", tags)


def with_repairs(doc: Doc, rate: float = 0.05, seed: int = 0) -> Doc:
    """The document with repairs put in, so that about this share of its words are reparanda.

    >>> doc = Doc.of_words([["dogs", "bark", "loudly"]] * 50, upos=[["NOUN", "VERB", "ADV"]] * 50,
    ...                    head=[[2, 0, 2]] * 50, deprel=[["nsubj", "root", "advmod"]] * 50)
    >>> made = with_repairs(doc, 0.2, seed=1)
    >>> made.n_words > doc.n_words, "reparandum" in made.column("deprel")
    (True, True)
    """
    rng = np.random.default_rng(seed)
    sentences = _nodes(doc)
    by_tag: dict[str, list[str]] = defaultdict(list)
    for node in (node for sentence in sentences for node in sentence):
        by_tag[node.tag].append(node.form)
    chance = rate / (1 - rate) / MEAN_LENGTH
    made: list[list[Node]] = []
    for sentence in sentences:
        words: list[Node] = []
        at = 0
        while at < len(sentence):
            copied = 1
            if rng.random() < chance:
                repair, copied = _repair(sentence, at, sentences, by_tag, rng)
                words += repair
                if rng.random() < 0.25:
                    form, tag = INTERREGNA[rng.integers(len(INTERREGNA))]
                    words.append(Node(form, tag, "discourse", sentence[at]))
            words += sentence[at : at + copied]
            at += copied
        made.append(words)
    return _document(made)


def _nodes(doc: Doc) -> list[list[Node]]:
    assert doc.head is not None
    columns = [doc.column(name) for name in ("form", "upos", "deprel")]
    found = []
    for first, end in pairwise(doc.sentence_offsets.tolist()):
        nodes = [Node(*values) for values in zip(*(column[first:end] for column in columns), strict=True)]
        for node, head in zip(nodes, doc.head[first:end].tolist(), strict=True):
            node.head = nodes[head - 1] if head > 0 else None
        found.append(nodes)
    return found


def _repair(
    sentence: list[Node], at: int, sentences: list[list[Node]], by_tag: dict[str, list[str]], rng: np.random.Generator
) -> tuple[list[Node], int]:
    """A reparandum in front of a word, and how many words after it are its repair."""
    kind = KINDS[rng.choice(len(KINDS), p=SHARES)]
    if kind == "restart":
        other = sentences[rng.integers(len(sentences))]
        return _copy(other[: int(rng.integers(2, 5))], sentence[at]), 1
    length = int(rng.integers(1, 4)) if kind == "repeat" else int(rng.integers(2, 5))
    repair = sentence[at : at + length]
    spot = int(rng.integers(len(repair)))
    copy = _copy(repair, None)
    if kind == "replace":
        copy[spot].form = by_tag[copy[spot].tag][rng.integers(len(by_tag[copy[spot].tag]))]
    elif kind == "add":
        tag = copy[spot].tag
        copy.insert(spot, Node(by_tag[tag][rng.integers(len(by_tag[tag]))], tag, "dep", copy[spot]))
    elif kind == "drop" and len(copy) > 1:
        gone = copy.pop(spot)
        heirs = [node for node in copy if node.head is gone]
        for node in heirs:
            node.head, node.relation = (gone.head, gone.relation) if node is heirs[0] else (heirs[0], "dep")
        if not heirs and gone.relation == REPARANDUM:
            copy[0].head, copy[0].relation = gone.head, REPARANDUM
            for node in copy[1:]:
                if node.head is gone:
                    node.head = copy[0]
    return copy, len(repair)


def _copy(words: list[Node], target: Node | None) -> list[Node]:
    """Copies of words; the first whose head is none of them becomes the reparandum of `target`, or of its original."""
    copies = {id(word): Node(word.form, word.tag, word.relation) for word in words}
    top: Node | None = None
    for word in words:
        own = copies[id(word)]
        if word.head is not None and id(word.head) in copies:
            own.head = copies[id(word.head)]
        elif top is None:
            top, own.head, own.relation = own, target if target is not None else word, REPARANDUM
        else:
            own.head, own.relation = top, "dep"
    return [copies[id(word)] for word in words]


def _document(sentences: list[list[Node]]) -> Doc:
    heads = []
    for sentence in sentences:
        place = {id(node): number for number, node in enumerate(sentence, 1)}
        heads.append([place[id(node.head)] if node.head is not None else 0 for node in sentence])
    return Doc.of_words(
        [[node.form for node in sentence] for sentence in sentences],
        upos=[[node.tag for node in sentence] for sentence in sentences],
        head=heads,
        deprel=[[node.relation for node in sentence] for sentence in sentences],
    )


def read_switchboard(path: Path) -> Doc:
    """Utterances of a tagged file of Switchboard, with reparanda as the span layer `disfluencies`.

    A line holds the dialogue act (of the first word of an utterance only), a place, a word, its tag and marks: `<rm`
    opens those of a reparandum. Filled pauses and words broken off are left out, as everywhere.
    """
    words: list[list[str]] = []
    tags: list[list[str]] = []
    spans: list[tuple[int, int, str]] = []
    at = 0
    for number, line in enumerate(read_text(str(path)).splitlines(), 1):
        if not line.strip():
            continue
        fields = line.split("\t")
        if len(fields) != 5:
            raise FormatError(str(path), number, "five fields parted by tabs", f"{len(fields)}: {line[:60]!r}")
        act, _, form, tag, mark = fields
        if act or not words:
            words.append([])
            tags.append([])
        form = form.replace("$unc$", "").lower()
        if form in FILLERS or not is_word(form, tag):
            continue
        words[-1].append(form)
        tags[-1].append(tag)
        if "<rm" in mark:
            if spans and spans[-1][1] == at and len(words[-1]) > 1:
                spans[-1] = (spans[-1][0], at + 1, REPARANDUM)
            else:
                spans.append((at, at + 1, REPARANDUM))
        at += 1
    kept = [number for number, sentence in enumerate(words) if sentence]
    doc = Doc.of_words([words[number] for number in kept], upos=[tags[number] for number in kept])
    doc.spans[LAYER] = SpanLayer.of(doc.strings, spans)
    return doc
