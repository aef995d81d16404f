"""Data for tagging over a trigram graph: labelled text of one domain, raw and tagged text of another.

questions     English-EWT (newsgroups, weblogs, mail) to airline questions (English-Atis), twelve tags; both in lower
              case and without punctuation, as the questions are
reviews, answers     the WSJ sample to a genre of English-EWT, Penn tags; more raw reviews for the graph's counts
interrogatives       statements of English-EWT to its own questions, twelve tags
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from weft.formats import read
from weft.lexical.universal_tags import universal_tags
from weft.recipes.corpora import adaptation as material
from weft.recipes.corpora.adaptation import sentences_of
from weft.recipes.framework import RecipeOptions
from weft.text.doc import Doc

ATIS = "treebanks/ud/English-Atis/{}.conllu.gz"
SOURCE_GENRES = ("newsgroup", "weblog", "email")
Tagged = list[tuple[list[str], list[str]]]


@dataclass
class Shift:
    """Labelled training sentences, raw target sentences, sentences used only for counts, and tagged test sentences."""

    name: str
    source: Tagged
    raw: list[list[str]]
    test: Tagged
    dev: Tagged = field(default_factory=list)
    counts_only: list[list[str]] = field(default_factory=list)

    def draw(self, sentences: int | None, seed: int) -> Doc:
        """A random sample of labelled sentences; all of them in order for None."""
        chosen = self.source
        if sentences is not None and sentences < len(chosen):
            order = np.random.default_rng(seed).permutation(len(chosen))[:sentences]
            chosen = [self.source[i] for i in order.tolist()]
        return doc_of(chosen)


def doc_of(sentences: Tagged) -> Doc:
    """Sentences as a document with their tags in `upos`."""
    return Doc.from_words([words for words, _ in sentences], upos=[tags for _, tags in sentences])


def questions(options: RecipeOptions) -> Shift:
    """Web text to airline questions."""
    source = [
        pair
        for genre in SOURCE_GENRES
        for pair in _without_punctuation(_pairs(material.web(options, genre, "train"), "upos"))
    ]
    parts = {
        part: [
            pair for doc in read(options.find(ATIS.format(part))) for pair in _without_punctuation(_pairs(doc, "upos"))
        ]
        for part in ("train", "dev", "test")
    }
    raw = [words for words, _ in parts["train"]]
    return Shift("web text to airline questions", source, raw, parts["test"], parts["dev"])


def genre(options: RecipeOptions, name: str, sentences: int | None = None, count_words: int = 0) -> Shift:
    """Newspaper to a web genre, Penn tags; `count_words` of product reviews add to the counts of reviews."""
    own = {part: _pairs(material.web(options, name, part), "xpos") for part in ("train", "dev", "test")}
    more = material.review_words(options, count_words) if count_words and name == "reviews" else []
    raw = [words for words, _ in own["train"]]
    source = _pairs(material.newspaper(options, 0, material.LEARN), "xpos")
    return Shift(
        f"newspaper to {name}", source, raw[:sentences], own["test"], own["dev"], more + raw[len(raw[:sentences]) :]
    )


def interrogatives(options: RecipeOptions) -> Shift:
    """Statements of web text to its questions: sentences that end with a question mark."""
    found: dict[str, Tagged] = {}
    for part in ("train", "dev", "test"):
        docs = [material.web(options, each, part) for each in material.GENRES]
        found[part] = [(words, universal_tags(tags)) for doc in docs for words, tags in _pairs(doc, "upos")]
    asked = {part: [pair for pair in pairs if pair[0][-1] == "?"] for part, pairs in found.items()}
    statements = [pair for pair in found["train"] if pair[0][-1] != "?"]
    raw = [words for words, _ in asked["train"]]
    return Shift("statements to questions", statements, raw, asked["dev"] + asked["test"])


def _pairs(doc: Doc, column: str) -> Tagged:
    return list(zip(sentences_of(doc), sentences_of(doc, column), strict=True))


def _without_punctuation(sentences: Iterable[tuple[list[str], list[str]]]) -> Tagged:
    """Sentences in lower case with twelve tags and without punctuation; those of nothing else are dropped."""
    found = []
    for words, tags in sentences:
        kept = [i for i, tag in enumerate(tags) if tag != "PUNCT"]
        if kept:
            found.append(([words[i].lower() for i in kept], universal_tags(tags[i] for i in kept)))
    return found
