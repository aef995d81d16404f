"""Parsed sentences, and bitexts with trees on the English side: captions, and treebanks of parallel sentences."""

from __future__ import annotations

import gzip
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import weft
from weft.infer.trees.projectivity import is_projective, is_tree
from weft.pipeline.pipeline import Pipeline
from weft.recipes.framework import RecipeOptions
from weft.tasks.parsing.transitions.parser import Parser
from weft.tasks.tagging.tagger import Tagger
from weft.tasks.translation.trees import Trees
from weft.text.doc import Doc
from weft.treebanks.function_heads import function_heads

FOLDER = "parallel/multi30k/task1/"
TESTS = ("test_2016_flickr", "test_2017_flickr", "test_2018_flickr")
_WORD = re.compile(r"\w+(?:['\u2019]\w+)?|[^\w\s]")
#: Treebanks of parallel sentences, the other language first; ParTUT's train part stands for all of it.
PARALLEL = (
    ("treebanks/pud/German-PUD/test.conllu.gz", "treebanks/pud/English-PUD/test.conllu.gz"),
    ("treebanks/ud/Italian-ParTUT/train.conllu.gz", "treebanks/ud/English-ParTUT/train.conllu.gz"),
)
LONGEST = 40
#: Sentences that are parsed at a time.
_BATCH = 500


@dataclass
class Parsed:
    """Sentences of one language with their trees."""

    words: list[list[str]]
    heads: list[list[int]]
    tags: list[list[str]]
    labels: list[list[str]]

    def __len__(self) -> int:
        return len(self.words)

    def take(self, rows: Sequence[int]) -> Parsed:
        """Some of the sentences."""
        return Parsed(
            [self.words[k] for k in rows], [self.heads[k] for k in rows], [self.tags[k] for k in rows],
            [self.labels[k] for k in rows],
        )  # fmt: skip


def parsed(docs: Sequence[Doc], longest: int = 1000, lower: bool = True) -> Parsed:
    """The sentences of documents that have projective trees and at most so many words."""
    found = Parsed([], [], [], [])
    for doc in docs:
        for sentence in doc.sentences:
            words = list(sentence.words)
            if not 0 < len(words) <= longest:
                continue
            first = words[0].index
            heads = [0 if word.head is None else word.head.index - first + 1 for word in words]
            tree = np.array(heads, np.int32)
            if not is_tree(tree) or not is_projective(tree) or heads.count(0) != 1:
                continue
            found.words.append([word.form.lower() if lower else word.form for word in words])
            found.heads.append(heads)
            found.tags.append([word.upos for word in words])
            found.labels.append([word.deprel for word in words])
    return found


def trees_of(sentences: Parsed, functions: bool = False) -> Trees:
    """The trees as training takes them; with `functions`, function words are heads."""
    heads = sentences.heads
    if functions:
        heads = [function_heads(*row) for row in zip(heads, sentences.labels, strict=True)]
    return Trees.of(heads, sentences.tags)


def parser() -> Pipeline:
    """The tagger and parser of the English pipeline."""
    components = weft.load("en").components
    return Pipeline([each for each in components if isinstance(each, Tagger | Parser)])


def parse(nlp: Pipeline, sentences: Sequence[Sequence[str]]) -> Parsed:
    """The sentences with predicted trees."""
    docs = [Doc.from_words(sentences[k : k + _BATCH]) for k in range(0, len(sentences), _BATCH)]
    found = parsed(list(nlp.pipe(docs)))
    if len(found) != len(sentences):
        raise weft.WeftError(f"{len(sentences) - len(found):,} predicted trees are not projective or have no one root")
    return found


def parse_leniently(nlp: Any, sentences: Sequence[Sequence[str]]) -> list[list[int]]:
    """Predicted heads of sentences, whatever they are like."""
    docs = list(nlp.pipe([Doc.from_words(sentences[k : k + 500]) for k in range(0, len(sentences), 500)]))
    return [
        [0 if word.head is None else word.head.index - sentence.first + 1 for word in sentence.words]
        for doc in docs
        for sentence in doc.sentences
    ]


def captions(options: RecipeOptions, name: str, language: str, limit: int) -> list[list[str]]:
    """The words of one side of a part of Multi30k, in their own case."""
    path = options.find(f"{FOLDER}{name}.{language}" + (".gz" if name == "train" else ""))
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [_WORD.findall(line) for line in data.decode("utf-8").split("\n")[:-1][:limit]]


def lower(sentences: Sequence[Sequence[str]]) -> list[list[str]]:
    """The sentences in lower case."""
    return [[word.lower() for word in words] for words in sentences]


def treebank_pairs(options: RecipeOptions, limit: int) -> tuple[list[list[str]], Parsed]:
    """Parallel UD treebanks, German and Italian beside English: source words, and English with gold trees."""
    source: list[list[str]] = []
    english: list[Doc] = []
    for names in PARALLEL:
        sides = [_by_number(list(weft.read(options.find(name)))) for name in names]
        both = sorted(sides[0].keys() & sides[1].keys())
        source += [[word.form.lower() for word in sides[0][number].words] for number in both]
        english += [_one(sides[1][number]) for number in both]
    found, kept = Parsed([], [], [], []), []
    for k, doc in enumerate(english):
        one = parsed([doc], LONGEST)
        if len(one) and 0 < len(source[k]) <= LONGEST:
            kept.append(k)
            for side, more in zip(_sides(found), _sides(one), strict=True):
                side.extend(more)
    return [source[k] for k in kept][:limit], found.take(range(len(kept))[:limit])


def _sides(sentences: Parsed) -> tuple[list[Any], ...]:
    return sentences.words, sentences.heads, sentences.tags, sentences.labels


def _one(sentence: Any) -> Doc:
    """A document of one sentence, with its tags and tree."""
    words, first = sentence.words, sentence.first
    heads = [0 if word.head is None else word.head.index - first + 1 for word in words]
    return Doc.from_words(
        [[word.form for word in words]], upos=[[word.upos for word in words]],
        deprel=[[word.deprel for word in words]], head=[heads],
    )  # fmt: skip


def _by_number(docs: Sequence[Doc]) -> dict[str, Any]:
    """Sentences by what their identifiers say after the name of the treebank."""
    return {str(sentence.meta["sent_id"]).rpartition("-")[2]: sentence for doc in docs for sentence in doc.sentences}
