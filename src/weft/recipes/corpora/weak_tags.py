"""Data for the token-type-constraints recipe: tagged words, dictionaries, and German with projected tags.

The German bitext consists of the New Testament and image captions (Multi30k), tokenized by rule; contractions that the
treebank splits (`im`, `zum`) are split here, too. A tagger trained on English-EWT tags the English side, and the tags
are projected over links on which both directions of an aligner agree.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np

from weft.formats import read
from weft.learn.bitext.projection import project_labels
from weft.lexical.clusters.monolingual import cluster_words
from weft.lexical.dictionary import TagDictionary
from weft.lexical.universal_tags import UNIVERSAL_TAGS, universal_tags
from weft.recipes.corpora.clusters import CAPTIONS, EWT, TESTAMENT, contractions, words_of
from weft.recipes.framework import RecipeOptions
from weft.tasks.bitext.align import APART, align
from weft.tasks.tagging.tagger import Tagger, TaggerSettings
from weft.text.bitext import Links
from weft.text.doc import Doc
from weft.text.words import word_spans

DICTIONARY = "lexicons/wiktionary-tags/{}.dic.gz"
GERMAN_DEV = "treebanks/ud/German-GSD/dev.conllu.gz"
GERMAN_TEST = "treebanks/ud/German-GSD/test.conllu.gz"
PUD = "treebanks/pud/{}-PUD/test.conllu.gz"
PORTUGUESE = "treebanks/ud/Portuguese-Bosque/{}.conllu.gz"
#: Texts of which only the words are used, for German clusters.
GERMAN_WORDS = ("ner/germeval2014-de/dev.tsv.gz", "ner/wikiann-de/train.txt.gz")
GERMAN_CAPTIONS = ("captions/multi30k-task2/train.1.de.gz", "captions/multi30k-task2/train.2.de.gz")
#: Links with at least this posterior in both directions project tags.
CONFIDENCE = 0.95


@dataclass
class Sentences:
    """Sentences as words with universal tags, empty if there is none."""

    words: list[list[str]]
    tags: list[list[str]]

    def __len__(self) -> int:
        return len(self.words)

    @property
    def n_words(self) -> int:
        return sum(map(len, self.words))

    @property
    def flat_words(self) -> list[str]:
        return [word for sentence in self.words for word in sentence]

    @property
    def flat_tags(self) -> list[str]:
        return [tag for sentence in self.tags for tag in sentence]

    def doc(self) -> Doc:
        """The sentences as a document with the column upos."""
        return Doc.from_words(self.words, upos=self.tags)

    def untagged(self) -> Sentences:
        """The words alone."""
        return Sentences(self.words, [[""] * len(sentence) for sentence in self.words])

    def select(self, numbers: Iterable[int]) -> Sentences:
        """Some of the sentences, in the order given."""
        chosen = list(numbers)
        return Sentences([self.words[s] for s in chosen], [self.tags[s] for s in chosen])

    def sample(self, n_words: int, seed: int) -> Sentences:
        """Random sentences of about `n_words` words in total."""
        order = np.random.default_rng(seed).permutation(len(self))
        sizes = np.cumsum([len(self.words[s]) for s in order])
        return self.select(order[: int(np.searchsorted(sizes, n_words)) + 1].tolist())


def tagged(options: RecipeOptions, path: str, n_words: int | None = None) -> Sentences:
    """The first sentences of a treebank, about `n_words` words."""
    found = Sentences([], [])
    total = 0
    for doc in read(options.find(path)):
        forms, tags = doc.column("form"), universal_tags(doc.column("upos"))
        for first, end in pairwise(doc.sentence_offsets.tolist()):
            found.words.append(forms[first:end])
            found.tags.append(tags[first:end])
            total += end - first
            if n_words is not None and total >= n_words:
                return found
    return found


def raw_words(options: RecipeOptions, path: str, fields: str, n_words: int) -> Sentences:
    """The first sentences of a corpus of which only the words are used, about `n_words` words."""
    found = Sentences([], [])
    total = 0
    corpus = options.find(path)
    for doc in read(corpus) if ".conllu" in path else read(corpus, "columns", fields=fields, strict=False):
        forms = doc.column("form")
        for first, end in pairwise(doc.sentence_offsets.tolist()):
            found.words.append(forms[first:end])
            found.tags.append([""] * (end - first))
            total += end - first
            if total >= n_words:
                return found
    return found


def dictionary(options: RecipeOptions, code: str) -> TagDictionary:
    """The Wiktionary dictionary of a language."""
    return _dictionary(options.find(DICTIONARY.format(code)))


@dataclass
class GermanBitext:
    """English and German sentences with links, and the English tags."""

    english: Sentences
    german: list[list[str]]
    links: Links

    def projected(self, threshold: float = CONFIDENCE) -> Sentences:
        """The German side with the tags projected over links with at least this score."""
        return project(self.english, self.german, self.links.above(threshold))


def project(source: Sentences, target: Sequence[Sequence[str]], links: Links) -> Sentences:
    """Target sentences with the tags of the source words that they are linked to."""
    number = {tag: k for k, tag in enumerate(UNIVERSAL_TAGS)} | {"": -1}
    offsets = [np.concatenate([[0], np.cumsum([len(s) for s in side])]) for side in (source.words, target)]
    labels = project_labels(links, [number[tag] for tag in source.flat_tags], *offsets)
    names = np.array([*UNIVERSAL_TAGS, ""])[labels].tolist()
    bounds = offsets[1].tolist()
    return Sentences([list(words) for words in target], [names[first:end] for first, end in pairwise(bounds)])


def german_bitext(options: RecipeOptions, verses: int, captions: int, tagger_words: int) -> GermanBitext:
    """The first verses and captions of the German bitext, with English tagged and both sides linked."""
    table = contractions(options.find(GERMAN_DEV))
    english: list[list[str]] = []
    german: list[list[str]] = []
    sides = [_verses(options, code) for code in ("en", "de")]
    for verse in [verse for verse in sides[0] if verse in sides[1]][:verses]:
        english.append(split_words(sides[0][verse], {}))
        german.append(split_words(sides[1][verse], table))
    for code, side, own in (("en", english, {}), ("de", german, table)):
        with gzip.open(options.find(CAPTIONS.format(code)), "rt", encoding="utf-8") as file:
            side += [split_words(line, own) for line, _ in zip(file, range(captions), strict=False)]
    tags = _english_tags(options, english, tagger_words)
    # Intersection, as in the paper; the score is the smaller posterior of the two directions.
    links = align(english, german, "intersection", settings=APART)
    return GermanBitext(Sentences(english, tags), german, links)


def split_words(text: str, table: dict[str, list[str]]) -> list[str]:
    """The words of a raw sentence, with contractions and the English genitive split and capitals kept.

    >>> split_words("Im Haus.", {"im": ["in", "dem"]}), split_words("A dog's tail", {})
    (['In', 'dem', 'Haus', '.'], ['A', 'dog', "'s", 'tail'])
    """
    words: list[str] = []
    for first, end in word_spans(text):
        word = text[first:end]
        parts = table.get(word.lower(), [word])
        if len(parts) > 1 and word[0].isupper():
            parts = [parts[0].capitalize(), *parts[1:]]
        if len(word) > 2 and word.endswith(("'s", "’s")):
            parts = [word[:-2], "'s"]
        words += parts
    return words


def german_clusters(options: RecipeOptions, bitext: GermanBitext, classes: int, path: Path) -> int:
    """Cluster the German words of the bitext and other texts, write the clusters, and return the number of words."""
    table = contractions(options.find(GERMAN_DEV))
    text = [[word.lower() for word in sentence] for sentence in bitext.german]
    for name in GERMAN_WORDS:
        text += words_of(options, name)
    for name in GERMAN_CAPTIONS:
        with gzip.open(options.find(name), "rt", encoding="utf-8") as file:
            text += [[word.lower() for word in split_words(line, table)] for line in file]
    cluster_words(text, n_classes=classes, min_count=3, rounds=8).save(path)
    return sum(map(len, text))


def corrupted(gold: Sentences, drop: float, wrong: float, seed: int) -> Sentences:
    """Gold tags in place of projected ones: a fraction is dropped, and a fraction of word types is always wrong.

    Wrong projected tags are not independent across tokens: the same word is mistranslated in the same way again and
    again. Each wrong type takes one other tag, drawn from the tags of the text.
    """
    rng = np.random.default_rng(seed)
    every = gold.flat_tags
    types = sorted(set(gold.flat_words))
    error = {word: every[rng.integers(len(every))] for word in types if rng.random() < wrong}
    keep = iter((rng.random(gold.n_words) >= drop).tolist())
    tags = [
        [error.get(word, tag) if next(keep) else "" for word, tag in zip(words, own, strict=True)]
        for words, own in zip(gold.words, gold.tags, strict=True)
    ]
    return Sentences(gold.words, tags)


def without_types(full: TagDictionary, drop: float, seed: int) -> TagDictionary:
    """The dictionary without a random fraction of its words."""
    entries = sorted(full.items())
    keep = np.random.default_rng(seed).random(len(entries)) >= drop
    return TagDictionary({word: tags for (word, tags), kept in zip(entries, keep.tolist(), strict=True) if kept})


@cache
def _dictionary(path: Path) -> TagDictionary:
    return TagDictionary.read(path)


def _verses(options: RecipeOptions, code: str) -> dict[str, str]:
    with gzip.open(options.find(TESTAMENT.format(code)), "rt", encoding="utf-8") as file:
        return dict(line.rstrip("\n").split("\t", 1) for line in file if "\t" in line)


def _english_tags(options: RecipeOptions, english: list[list[str]], n_words: int) -> list[list[str]]:
    train = tagged(options, EWT, n_words)
    tagger = Tagger(TaggerSettings(column="upos", epochs=2))
    tagger.fit([train.doc()])
    doc = Doc.from_words(english)
    tagger([doc])
    tags = doc.column("upos")
    bounds = np.concatenate([[0], np.cumsum([len(sentence) for sentence in english])]).tolist()
    return [tags[first:end] for first, end in pairwise(bounds)]
