"""Base noun phrases of tagged sentences, and the names that they are counted under.

    my  old  sports  car        words 0 to 4, nouns 2 to 4, name "sports car"

A phrase is a run of nouns with the determiners, numbers and adjectives before it; a possessor belongs to the phrase
that it stands in, and is a phrase of its own. The name is made of the lemmas of the nouns, in lower case.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from weft.text.doc import Doc

NOUNS = ("NOUN", "PROPN")
_BEFORE = ("DET", "ADJ", "NUM")
_POSSESSIVE = ("my", "your", "his", "her", "its", "our", "their", "thy", "whose")
_NEVER_BEFORE = ("like", "as", "not", "n't", "never", "including", "especially", "particularly", "notably")
#: Nouns of a name at most.
LONGEST = 3


class Tagged(NamedTuple):
    """A sentence as patterns see it: forms in lower case, lemmas in lower case, tags."""

    forms: Sequence[str]
    lemmas: Sequence[str]
    tags: Sequence[str]

    @classmethod
    def of(cls, forms: Sequence[str], lemmas: Sequence[str], tags: Sequence[str]) -> Tagged:
        """A sentence of words as they are written."""
        lower = [form.lower() for form in forms]
        known = [_clean(lemma.lower()) or form for lemma, form in zip(lemmas, lower, strict=True)]
        return cls(lower, known, tags)


class Phrase(NamedTuple):
    """A noun phrase: its first word, the first of its nouns, the word after its last one, and its name."""

    start: int
    nouns: int
    end: int
    name: str


def tagged_sentences(doc: Doc) -> list[Tagged]:
    """The sentences of a document that has lemmas and tags."""
    forms, lemmas, tags = doc.column("form"), doc.column("lemma"), doc.column("upos")
    bounds = doc.sentence_offsets.tolist()
    return [Tagged.of(forms[a:b], lemmas[a:b], tags[a:b]) for a, b in pairwise(bounds)]


def noun_phrases(sentence: Tagged) -> list[Phrase]:
    """The phrases of a sentence, in the order of their ends.

    >>> words = "My old sports car 's horn barks".split()
    >>> tags = "PRON ADJ NOUN NOUN PART NOUN VERB".split()
    >>> for phrase in noun_phrases(Tagged.of(words, words, tags)):
    ...     print(phrase)
    Phrase(start=0, nouns=2, end=4, name='sports car')
    Phrase(start=0, nouns=5, end=6, name='horn')
    """
    found: list[Phrase] = []
    tags, forms, i = sentence.tags, sentence.forms, 0
    while i < len(tags):
        if tags[i] not in NOUNS:
            i += 1
            continue
        end = i
        while end < len(tags) and tags[end] in NOUNS:
            end += 1
        start = i
        while start > 0 and _goes_before(sentence, start - 1):
            start -= 1
        if start > 0 and forms[start - 1] in ("'s", "’s", "'", "’") and found and found[-1].end == start - 1:
            start = found[-1].start
        found.append(Phrase(start, i, end, name_of(sentence, i, end)))
        i = end
    return found


def name_of(sentence: Tagged, start: int, end: int) -> str:
    """The name of a run of nouns."""
    return " ".join(sentence.lemmas[max(start, end - LONGEST) : end])


def names_of(sentence: Tagged, phrase: Phrase) -> list[str]:
    """The name of a phrase and the shorter ones that it ends in, longest first.

    >>> words, tags = ["sports", "car"], ["NOUN", "NOUN"]
    >>> sentence = Tagged.of(words, words, tags)
    >>> names_of(sentence, noun_phrases(sentence)[0])
    ['sports car', 'car']
    """
    first = max(phrase.nouns, phrase.end - LONGEST)
    return [" ".join(sentence.lemmas[k : phrase.end]) for k in range(first, phrase.end)]


def _goes_before(sentence: Tagged, i: int) -> bool:
    tag, form = sentence.tags[i], sentence.forms[i]
    if form in _NEVER_BEFORE:  # whatever their tags
        return False
    return tag in _BEFORE or form in _POSSESSIVE or (tag == "ADV" and sentence.tags[i + 1] == "ADJ")


def _clean(text: str) -> str:
    """A lemma without whitespace, which separates the cells of tables of counts."""
    return "-".join(text.split())
