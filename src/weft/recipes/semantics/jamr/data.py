"""The corpora of the jamr recipe: the Little Prince, and Bio AMR with the alignments of ISI.

Eight test sentences of the Little Prince also stand in its training part; they are left out there. Tags, lemmas, trees
and entities come from the English model of the package, on the words of the corpora.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from weft.formats import read
from weft.pipeline import models
from weft.pipeline.pipeline import Pipeline
from weft.recipes.framework import RecipeOptions
from weft.tasks.amr.aligner import Aligner
from weft.tasks.amr.concepts import Sentence
from weft.tasks.amr.data import sentences_of
from weft.text.conventions.amr import Amr, amrs_of

LITTLE_PRINCE = ("amr/little-prince-3.0/train.amr", "amr/little-prince-3.0/dev.amr")
BIO = tuple(f"amr/bio-amr-isi-alignments/{part}.aligned.amr" for part in ("train", "dev", "test"))


class Parsed(NamedTuple):
    """A sentence as the parser sees it, and its gold graph."""

    sentence: Sentence
    amr: Amr


def load(path: Path, most: int = 0) -> list[Parsed]:
    """The sentences of a file with tags and trees of the English model; at most some, if a number is given."""
    model = Pipeline.load(models.find("en"))
    rows: list[Parsed] = []
    for doc in read(path):
        part = doc.subset(range(min(doc.n_sentences, most - len(rows)))) if most else doc
        graphs = amrs_of(part)
        model(part)
        pairs = zip(sentences_of(part), graphs, strict=True)
        rows += [Parsed(sentence, amr) for sentence, amr in pairs if amr is not None]
        if most and len(rows) >= most:
            break
    return rows


def without(rows: Sequence[Parsed], others: Sequence[Parsed]) -> list[Parsed]:
    """The sentences whose words are not those of any other.

    >>> without([], [])
    []
    """
    known = {tuple(row.sentence.words) for row in others}
    return [row for row in rows if tuple(row.sentence.words) not in known]


def little_prince(options: RecipeOptions, train: int, test: int) -> tuple[list[Parsed], list[Parsed]]:
    """Training and test sentences."""
    held_out = load(options.find(LITTLE_PRINCE[1]), test)
    return without(load(options.find(LITTLE_PRINCE[0]), train), held_out), held_out


def bio(options: RecipeOptions, train: int, test: int) -> tuple[list[Parsed], list[Parsed]]:
    """Training and test sentences."""
    return load(options.find(BIO[0]), train), load(options.find(BIO[2]), test)


class Links(NamedTuple):
    """Pairs of nodes and words: of the corpus, of the aligner, and of both."""

    gold: int
    system: int
    correct: int


def agreement(rows: Sequence[Parsed], aligner: Aligner) -> Links:
    """How far the aligner agrees with the node links of a corpus."""
    both = ours = theirs = 0
    for sentence, amr in rows:
        gold = {(node, word) for node, words in enumerate(amr.words) for word in words}
        found = {
            (node, word)
            for fragment in aligner.align(amr, sentence.words, sentence.lemmas)
            for node in fragment.nodes
            for word in range(fragment.start, fragment.end)
        }
        both, ours, theirs = both + len(gold & found), ours + len(found), theirs + len(gold)
    return Links(theirs, ours, both)


class Tied(NamedTuple):
    """Percentages of the nodes that the aligner ties to words, and of the edges both of whose ends it ties."""

    nodes: float
    edges: float


def tied(rows: Sequence[Parsed], aligner: Aligner) -> Tied:
    """What is left of gold graphs if they keep the nodes that the aligner ties to words: gold concepts are these."""
    nodes = kept = edges = joined = 0
    for sentence, amr in rows:
        found = {node for fragment in aligner.align(amr, sentence.words, sentence.lemmas) for node in fragment.nodes}
        nodes, kept = nodes + len(amr.labels), kept + len(found)
        edges += len(amr.edges)
        joined += sum(edge.source in found and edge.target in found for edge in amr.edges)
    return Tied(100 * kept / max(nodes, 1), 100 * joined / max(edges, 1))
