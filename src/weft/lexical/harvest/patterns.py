"""Pairs of noun phrases that patterns of words and tags relate: what is a kind of what, and what is like what.

    isA (Hearst)    h such as x, y and z        such h as x        x, y and other h        h, including x
                    h, especially x             x is a kind of h
    similes         <target> BE|VB like [a] <source>        Life is like a journey
    copulas         <target> BE [a] <source>                Life is a journey; every one, literal or not

Precision comes first: a target stands at the beginning of its sentence or clause, is a noun, and is neither
negated nor coordinated; the rules beside each pattern say what else is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from weft.lexical.harvest.phrases import Phrase, Tagged, noun_phrases

#: Heads that stand for something said elsewhere, measure something, or divide something: they name no concept.
EMPTY = frozenset(
    """
    thing one way kind sort type form rest other lot part number bit piece case matter fact reason result
    nothing something anything everything none same example question point manner course pair couple dozen sake
    yesterday today tomorrow o'clock hour minute member half end lack use
    """.split()  # noqa: SIM905
)
#: The same as sources: "it was the time", "like the day" call or compare nothing.
_NO_SOURCE = EMPTY | {"time", "day"}
_KINDS = frozenset(("kind", "sort", "type", "form", "species", "variety"))
#: Determiners that refer back, select or count: "like that man" compares with a certain one.
_REFERRING = frozenset(
    ("this", "that", "these", "those", "some", "any", "every", "each", "no", "all", "other", "another", "such", "both",
     "many", "few", "several", "more", "most")
)  # fmt: skip
_NEGATIONS = frozenset(("not", "n't", "never", "no", "hardly", "scarcely", "nothing", "n’t"))
#: Verbs before "like" that compare nothing: wishes and reports.
_NOT_COMPARING = frozenset(("like", "want", "wish", "love", "hate", "think", "say", "know", "tell", "mean", "happen"))
_STARTS = frozenset(
    (",", ";", ":", "(", "[", '"', "“", "”", "‘", "``", "''", "-", "--", "—", "–", "!", "?", ".", "*", "_")
)
_DETERMINERS = frozenset(("a", "an", "the"))
_PREPOSITIONS = frozenset(("without", "with", "like", "as", "than", "of", "in", "on", "by", "for", "at", "from", "to"))
_AND = frozenset(("and", "or"))


class Match(NamedTuple):
    """Two phrases of a sentence: an instance and its concept, or a target and its source."""

    left: Phrase
    right: Phrase


class Patterns:
    """The patterns of one sentence.

    >>> words = "Animals such as dogs and cats sleep".split()
    >>> lemmas = "animal such as dog and cat sleep".split()
    >>> found = Patterns(Tagged.of(words, lemmas, "NOUN ADJ ADP NOUN CCONJ NOUN VERB".split()))
    >>> [(x.name, h.name) for x, h in found.isa()]
    [('dog', 'animal'), ('cat', 'animal')]
    """

    def __init__(self, sentence: Tagged) -> None:
        self.sentence = sentence
        self.phrases = noun_phrases(sentence)
        self._from: dict[int, Phrase] = {}
        for phrase in self.phrases:  # of two that start together, the longer one: "a bird's nest"
            self._from[phrase.start] = phrase
        self._to = {phrase.end: phrase for phrase in self.phrases}

    def isa(self) -> list[Match]:
        """Instances and concepts, by Hearst's patterns."""
        forms = self.sentence.forms
        found: list[Match] = []
        for i, form in enumerate(forms):
            if form == "such" and _at(forms, i + 1) == "as":
                found += self._listed(self._before(i), i + 2)
            elif form == "as" and i and (concept := self._to.get(i)) is not None:
                found += self._listed(concept if forms[concept.start] == "such" else None, i + 1)
            elif form in ("including", "especially", "particularly", "notably"):
                comma = i > 0 and forms[i - 1] == ","
                concept = self._before(i) if comma or form == "including" else None
                found += self._listed(None if concept is None or self._is_definite(concept) else concept, i + 1)
            elif form == "other" and i and forms[i - 1] in _AND:
                found += self._others(i)
        found += [Match(match.left, kind) for match in self._copulas() if (kind := self._kind_of(match.right))]
        return [match for match in found if _named(match)]

    def similes(self) -> list[Match]:
        """Targets and sources of "x is like a y"."""
        sentence, found = self.sentence, []
        for i, form in enumerate(sentence.forms):
            source = self._from.get(i + 1)
            if form != "like" or source is None or not self._is_source(source):
                continue
            verb = self._verb_before(i)
            if verb is None or (sentence.tags[i] == "VERB" and sentence.lemmas[verb] != "be"):
                continue
            if sentence.lemmas[verb] in _NOT_COMPARING:
                continue
            if (target := self._target_before(verb)) is not None:
                found.append(Match(target, source))
        return [match for match in found if _named(match)]

    def copulas(self) -> list[Match]:
        """Subjects and predicates of "x is a y"."""
        return [match for match in self._copulas() if self._is_source(match.right) and _named(match)]

    def _copulas(self) -> list[Match]:
        found = []
        for source in self.phrases:
            i = source.start - 1
            if i < 1 or self._from.get(source.start) is not source:
                continue
            verb = self._verb_before(source.start)
            if verb is None or self.sentence.lemmas[verb] != "be":
                continue
            if (target := self._target_before(verb)) is not None:
                found.append(Match(target, source))
        return found

    def _verb_before(self, i: int) -> int | None:
        """The verb that ends directly before a word, adverbs aside; None if it is negated or there is none."""
        tags, forms = self.sentence.tags, self.sentence.forms
        k = i - 1
        while k >= 0 and tags[k] == "ADV" and forms[k] not in _NEGATIONS and forms[k] != "like":
            k -= 1
        return k if k >= 1 and tags[k] in ("VERB", "AUX") and forms[k] not in ("'s", "’s") else None

    def _target_before(self, verb: int) -> Phrase | None:
        """The subject whose clause begins right before a verb, auxiliaries and adverbs aside."""
        tags, forms = self.sentence.tags, self.sentence.forms
        k = verb - 1
        while k >= 0 and (tags[k] in ("AUX", "ADV") or forms[k] in _NEGATIONS):
            if forms[k] in _NEGATIONS:
                return None
            k -= 1
        phrase = self._to.get(k + 1)
        while phrase is not None and phrase.start >= 2 and forms[phrase.start - 1] == "of":
            phrase = self._to.get(phrase.start - 1)  # "the eyes of the king": eyes
        return phrase if phrase is not None and self._starts_clause(phrase) else None

    def _starts_clause(self, phrase: Phrase) -> bool:
        sentence, start = self.sentence, phrase.start
        if _refers(sentence, phrase):
            return False
        if start == 0:
            return True
        before, tag = sentence.forms[start - 1], sentence.tags[start - 1]
        if before in _AND and start >= 2 and (start - 1) in self._to:
            return False  # coordinated: the other half of the subject is missing
        if before in _PREPOSITIONS:  # some are tagged as conjunctions
            return False
        if before in _STARTS or tag in ("CCONJ", "SCONJ", "INTJ"):
            return True
        return tag == "ADV" and start == 1

    def _is_source(self, phrase: Phrase) -> bool:
        """Whether a phrase can be what something is compared with or called: indefinite or generic, not counted."""
        sentence = self.sentence
        first = sentence.forms[phrase.start]
        if phrase.nouns > phrase.start and sentence.tags[phrase.start] in ("DET", "PRON") and first not in _DETERMINERS:
            return False
        if any(sentence.tags[k] == "NUM" for k in range(phrase.start, phrase.end)) or _refers(sentence, phrase):
            return False
        follows = _at(sentence.forms, phrase.end)
        return follows not in ("'s", "’s") and sentence.lemmas[phrase.end - 1] not in _NO_SOURCE

    def _is_definite(self, phrase: Phrase) -> bool:
        """Whether a phrase is about certain things, whose parts may follow: "the house, including the garden"."""
        first = self.sentence.forms[phrase.start]
        return phrase.nouns > phrase.start and (
            first == "the" or first in _REFERRING or self.sentence.tags[phrase.start] == "PRON"
        )

    def _kind_of(self, phrase: Phrase) -> Phrase | None:
        """The concept h in "a kind of h"."""
        sentence = self.sentence
        if sentence.lemmas[phrase.end - 1] not in _KINDS or _at(sentence.forms, phrase.end) != "of":
            return None
        return self._from.get(phrase.end + 1)

    def _before(self, i: int) -> Phrase | None:
        """The phrase that ends before a word, with or without a comma."""
        return self._to.get(i - 1 if i and self.sentence.forms[i - 1] == "," else i)

    def _listed(self, concept: Phrase | None, i: int) -> list[Match]:
        """The concept with every phrase of the list that begins at a word."""
        if concept is None:
            return []
        forms, tags = self.sentence.forms, self.sentence.tags
        items: list[Phrase] = []
        joined = False
        while (item := self._from.get(i)) is not None:
            items.append(item)
            i = item.end
            if joined or _at(forms, i) not in (",", *_AND):
                break
            joined = forms[i] in _AND
            i += 1
            if not joined and _at(forms, i) in _AND:
                joined, i = True, i + 1
        if len(items) > 1 and _at(tags, items[-1].end) in ("VERB", "AUX"):
            # "birds such as owls, and the farmer sleeps": the last phrase begins a clause of its own.
            start = items[-1].start
            items = items[:-1] if "," in (forms[start - 1], _at(forms, start - 2)) else items
        return [Match(item, concept) for item in items]

    def _others(self, i: int) -> list[Match]:
        """The list that ends in "and other h"."""
        concept = self._from.get(i)
        if concept is None:
            return []
        forms, items = self.sentence.forms, []
        end = i - 1
        if end and forms[end - 1] == ",":
            end -= 1
        while (item := self._to.get(end)) is not None:
            items.append(item)
            if item.start < 2 or forms[item.start - 1] != ",":
                break
            end = item.start - 1
        return [Match(item, concept) for item in reversed(items)]


def _at(words: Sequence[str], i: int) -> str:
    return words[i] if 0 <= i < len(words) else ""


def _refers(sentence: Tagged, phrase: Phrase) -> bool:
    return sentence.forms[phrase.start] in _REFERRING and phrase.nouns > phrase.start


def _named(match: Match) -> bool:
    """Whether both sides name something, and not the same."""
    left, right = match.left.name, match.right.name
    heads = {left.rpartition(" ")[2], right.rpartition(" ")[2]}
    return left != right and not heads & EMPTY and all(_is_word(name) for name in (left, right))


def _is_word(name: str) -> bool:
    return len(name) > 1 and name[-1].isalpha()
