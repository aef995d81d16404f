"""Synthetic speech repairs in the fluent sentences of a treebank, for training without transcripts.

60% of the repairs repeat the next one to three words, 30% copy the next phrase with one word replaced, dropped or
added, and 10% are beginnings of other sentences; a quarter is followed by an interregnum (*i mean*, *well*). The tree
of the sentence is unchanged; inserted words attach to it as `reparandum` and `discourse`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from weft.tasks.speech.data import prepare
from weft.text.conventions.repairs import REPARANDUM
from weft.text.doc import Doc

#: Kinds of generated repairs and their probabilities.
KINDS, SHARES = ("repeat", "replace", "drop", "add", "restart"), (0.6, 0.1, 0.1, 0.1, 0.1)
INTERREGNA = (("i_mean", "VERB"), ("you_know", "VERB"), ("well", "INTJ"), ("sorry", "INTJ"))
#: Measured mean length of a generated reparandum in words, to reach the requested share of words.
MEAN_LENGTH = 2.1


@dataclass
class Node:
    """A word of a sentence that receives repairs; its head is another node, None for the root."""

    form: str
    tag: str
    relation: str
    head: Node | None = field(default=None, repr=False)


def stripped(docs: Sequence[Doc]) -> Doc:
    """Join the words, tags and trees of documents into one document; sentences of one word are left out."""
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
    return Doc.from_words(rows["form"], upos=rows["upos"], deprel=rows["deprel"], head=heads)


def transcript_with_repairs(docs: Sequence[Doc], seed: int | Sequence[int] = 0) -> Doc:
    """Turn fluent sentences with trees into one transcript: lower-cased, without punctuation, with repairs inserted.

    >>> doc = Doc.from_words([["Dogs", "bark", "."]] * 50, upos=[["NOUN", "VERB", "PUNCT"]] * 50,
    ...                    head=[[2, 0, 2]] * 50, deprel=[["nsubj", "root", "punct"]] * 50)
    >>> made = transcript_with_repairs([doc], seed=2)
    >>> "." in made.column("form"), "reparandum" in made.column("deprel")
    (False, True)
    """
    return with_repairs(stripped([prepare(doc, markers=()).doc for doc in docs]), seed=seed, joined=False)


def with_repairs(doc: Doc, rate: float = 0.05, seed: int | Sequence[int] = 0, joined: bool = True) -> Doc:
    """Insert repairs, so that about the given share of the words are reparanda.

    The markers *i mean* and *you know* are inserted as one word, as the parser reads them, or as two.

    >>> doc = Doc.from_words([["dogs", "bark", "loudly"]] * 50, upos=[["NOUN", "VERB", "ADV"]] * 50,
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
                    marker = Node(form, tag, "discourse", sentence[at])
                    words += [marker] if joined else _parted(marker)
            words += sentence[at : at + copied]
            at += copied
        made.append(words)
    return _document(made)


def _nodes(doc: Doc) -> list[list[Node]]:
    assert doc.head is not None
    columns = [doc.column(name) for name in ("form", "upos", "deprel")]
    sentences = []
    for first, end in pairwise(doc.sentence_offsets.tolist()):
        nodes = [Node(*values) for values in zip(*(column[first:end] for column in columns), strict=True)]
        for node, head in zip(nodes, doc.head[first:end].tolist(), strict=True):
            node.head = nodes[head - 1] if head > 0 else None
        sentences.append(nodes)
    return sentences


def _repair(
    sentence: list[Node], at: int, sentences: list[list[Node]], by_tag: dict[str, list[str]], rng: np.random.Generator
) -> tuple[list[Node], int]:
    """A reparandum to insert before a word, and the number of words of its repair."""
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
    """Copy words; the first one whose head is not copied becomes the reparandum of `target`, or of its original."""
    copies = {id(word): Node(word.form, word.tag, word.relation) for word in words}
    top: Node | None = None
    for word in words:
        copied = copies[id(word)]
        if word.head is not None and id(word.head) in copies:
            copied.head = copies[id(word.head)]
        elif top is None:
            top, copied.head, copied.relation = copied, target if target is not None else word, REPARANDUM
        else:
            copied.head, copied.relation = top, "dep"
    return [copies[id(word)] for word in words]


def _parted(marker: Node) -> list[Node]:
    """Split a marker into its words: the pronoun is the subject of the verb."""
    pronoun, mark, verb = marker.form.partition("_")
    if not mark:
        return [marker]
    marker.form = verb
    return [Node(pronoun, "PRON", "nsubj", marker), marker]


def _document(sentences: list[list[Node]]) -> Doc:
    heads = []
    for sentence in sentences:
        place = {id(node): number for number, node in enumerate(sentence, 1)}
        heads.append([place[id(node.head)] if node.head is not None else 0 for node in sentence])
    return Doc.from_words(
        [[node.form for node in sentence] for sentence in sentences],
        upos=[[node.tag for node in sentence] for sentence in sentences],
        head=heads,
        deprel=[[node.relation for node in sentence] for sentence in sentences],
    )
