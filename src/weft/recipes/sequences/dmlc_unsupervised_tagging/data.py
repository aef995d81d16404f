"""Data for the dmlc-unsupervised-tagging recipe: words with gold tags, dictionaries, Malagasy, the Brown corpus."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

from weft.formats import read
from weft.lexical.dictionary import TagDictionary
from weft.recipes.corpora.weak_tags import Sentences
from weft.recipes.framework import RecipeOptions

WSJ = "treebanks/constituency/ptb-sample/wsj-sample.mrg.gz"
SPANISH = "treebanks/other/conll2007-es/train.conll.gz"
UD = "treebanks/ud/{}.conllu.gz"
MALAGASY = "tagging/malagasy/{}"
BROWN = "tagging/brown/brown.tagged.txt.gz"
RARE = 3


def newspaper(options: RecipeOptions, n_words: int | None = None) -> Sentences:
    """The first words of the WSJ sample with Penn tags."""
    return first_words(_column(options.find(WSJ), "xpos"), n_words)


def treebank(options: RecipeOptions, name: str, column: str, n_words: int | None = None) -> Sentences:
    """The first words of a treebank; `column` is upos, xpos, or `upos+feats`."""
    return first_words(_column(options.find(UD.format(name)), column), n_words)


def spanish(options: RecipeOptions, n_words: int | None = None) -> Sentences:
    """The first words of the Spanish data of CoNLL 2007 with their fine tags."""

    def sentences() -> Iterator[tuple[list[str], list[str]]]:
        rows: list[list[str]] = []
        with gzip.open(options.find(SPANISH), "rt", encoding="utf-8") as file:
            for line in file:
                if line.strip():
                    rows.append(line.split("\t"))
                elif rows:
                    yield [row[1] for row in rows], [row[4] for row in rows]
                    rows = []
        if rows:
            yield [row[1] for row in rows], [row[4] for row in rows]

    return first_words(sentences(), n_words)


def first_words(sentences: Iterable[tuple[list[str], list[str]]], n_words: int | None) -> Sentences:
    """Whole sentences up to the given number of words.

    >>> first_words([(["a"], ["X"]), (["b"], ["X"]), (["c"], ["X"])], 2).words
    [['a'], ['b']]
    """
    found = Sentences([], [])
    total = 0
    for words, tags in sentences:
        if n_words is not None and total >= n_words:
            break
        found.words.append(words)
        found.tags.append(tags)
        total += len(words)
    return found


def halves(text: Sentences) -> tuple[Sentences, Sentences]:
    """Two parts of whole sentences with about equally many words."""
    total, middle = 0, text.n_words / 2
    for s, words in enumerate(text.words):
        if total >= middle:
            return text.select(range(s)), text.select(range(s, len(text)))
        total += len(words)
    return text, text.select([])


def dictionary_of(text: Sentences) -> TagDictionary:
    """Exactly the tags that the words of a text have in it.

    >>> dictionary_of(Sentences([["a", "run"], ["run"]], [["D", "N"], ["V"]])).tags_of("run")
    ('N', 'V')
    """
    entries: dict[str, set[str]] = {}
    for word, tag in zip(text.flat_words, text.flat_tags, strict=True):
        entries.setdefault(word, set()).add(tag)
    return TagDictionary(entries, sorted(set(text.flat_tags)), rules=False)


def without_rare_words(dictionary: TagDictionary, text: Sentences, share: float, seed: int) -> TagDictionary:
    """A dictionary that lacks some of the words that occur at most `RARE` times in a text, so that the given share of
    the text is unknown.

    >>> text = Sentences([["a", "run", "a", "a", "a"]], [["D", "N", "D", "D", "D"]])
    >>> without_rare_words(dictionary_of(text), text, 0.2, 0).tags_of("run")
    ()
    """
    counts = Counter(text.flat_words)
    rare = sorted(word for word, n in counts.items() if n <= RARE)
    np.random.default_rng(seed).shuffle(rare)
    unknown = np.cumsum([counts[word] for word in rare])
    gone = set(rare[: int(np.searchsorted(unknown, share * text.n_words)) + 1]) if share else set()
    entries = {word: dictionary.tags_of(word) for word in counts if word not in gone}
    return TagDictionary(entries, dictionary.tags, rules=False)


def malagasy_raw(options: RecipeOptions, n_words: int) -> list[list[str]]:
    """The first words of raw Malagasy text."""
    with gzip.open(options.find(MALAGASY.format("raw.txt.gz")), "rt", encoding="utf-8") as file:
        lines = ((line.split(), [""]) for line in file if line.strip())
        return first_words(lines, n_words).words


def malagasy_dictionary(options: RecipeOptions, stage: str) -> TagDictionary:
    """The dictionary after part of four hours of work: stages lc1 to lc8."""
    path = options.find(MALAGASY.format(f"train/mlg-tagdict-4hr-{stage}.txt"))
    pairs = [_pair(token) for token in path.read_text(encoding="utf-8").split()]
    entries: dict[str, set[str]] = {}
    for word, tag in pairs:
        entries.setdefault(word, set()).add(tag)
    return TagDictionary(entries, sorted({tag for _, tag in pairs}), rules=False)


def malagasy_test(options: RecipeOptions) -> Sentences:
    """The tagged test sentences."""
    lines = options.find(MALAGASY.format("test.txt")).read_text(encoding="utf-8").splitlines()
    rows = [[_pair(token) for token in line.split()] for line in lines if line.strip()]
    return Sentences([[word for word, _ in row] for row in rows], [[tag for _, tag in row] for row in rows])


def brown(options: RecipeOptions, n_words: int | None = None) -> Sentences:
    """The first words of the Brown corpus; marks of titles, headlines and foreign words are removed from tags."""

    def sentences() -> Iterator[tuple[list[str], list[str]]]:
        with gzip.open(options.find(BROWN), "rt", encoding="utf-8") as file:
            for line in file:
                if line.strip() and not line.startswith("# doc"):
                    pairs = [token.rpartition("/") for token in line.split()]
                    yield [word for word, _, _ in pairs], [plain_tag(tag) for _, _, tag in pairs]

    return first_words(sentences(), n_words)


def plain_tag(tag: str) -> str:
    """A Brown corpus tag without the marks of titles, headlines, cited and foreign words.

    >>> plain_tag("np-tl-hl"), plain_tag("fw-nn"), plain_tag("--")
    ('np', 'nn', '--')
    """
    for mark in ("-tl", "-hl", "-nc"):
        tag = tag.replace(mark, "")
    return tag.removeprefix("fw-")


def _pair(token: str) -> tuple[str, str]:
    word, _, tag = token.rpartition("|")
    return word, tag


def _column(path: Path, column: str) -> Iterator[tuple[list[str], list[str]]]:
    for doc in read(path):
        forms = doc.column("form")
        if column == "upos+feats":
            tags = [f"{a}|{b}" for a, b in zip(doc.column("upos"), doc.column("feats"), strict=True)]
        else:
            tags = doc.column(column)
        for first, end in pairwise(doc.sentence_offsets.tolist()):
            yield forms[first:end], tags[first:end]
