"""Verbs and the nouns that they go with, read off dependency trees.

subject    the dog barks            dog, bark
object     they fed the dog         dog, feed;  also the subject of a passive: the dog was fed
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from weft.lexical.harvest.phrases import NOUNS, Phrase, Tagged
from weft.text.doc import Doc

SUBJECT, OBJECT = RELATIONS = ("subject", "object")
_RELATIONS = {"nsubj": SUBJECT, "obj": OBJECT, "dobj": OBJECT, "nsubj:pass": OBJECT, "nsubjpass": OBJECT}


class Clause(NamedTuple):
    """A noun phrase of a sentence, the word of its verb, and how they are related."""

    phrase: Phrase
    verb: int
    relation: str


def clauses(sentence: Tagged, phrases: list[Phrase], heads: list[int], labels: list[str]) -> list[Clause]:
    """The phrases that are subjects or objects of verbs; heads are counted from 1 within the sentence, 0 is the root.

    >>> words, tags = ["Dogs", "chase", "cats"], ["NOUN", "VERB", "NOUN"]
    >>> from weft.lexical.harvest.phrases import noun_phrases
    >>> sentence = Tagged.of(words, ["dog", "chase", "cat"], tags)
    >>> [(each.phrase.name, each.relation) for each in
    ...  clauses(sentence, noun_phrases(sentence), [2, 0, 2], ["nsubj", "root", "obj"])]
    [('dog', 'subject'), ('cat', 'object')]
    """
    found = []
    for phrase in phrases:
        for word in range(phrase.nouns, phrase.end):
            relation, verb = _RELATIONS.get(labels[word]), heads[word] - 1
            if relation is None or sentence.tags[word] not in NOUNS:
                continue
            if 0 <= verb < len(heads) and sentence.tags[verb] == "VERB" and sentence.lemmas[verb].isalpha():
                found.append(Clause(phrase, verb, relation))
    return found


def trees_of(doc: Doc) -> list[tuple[list[int], list[str]]] | None:
    """The heads, counted within each sentence, and the relations of a document; None if it has no trees."""
    if doc.head is None or "deprel" not in doc.columns:
        return None
    heads, labels = doc.head.tolist(), doc.column("deprel")
    bounds = doc.sentence_offsets.tolist()
    return [(heads[a:b], labels[a:b]) for a, b in pairwise(bounds)]
