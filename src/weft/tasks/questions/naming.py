"""The words that names of types and relations give a schema, as far as their spelling tells.

works for, studied in     verbs: people who work for X; of the past, if the verb is
born in, founded by       participles: people who were born in X
citizen of, friend of     nouns of the source: citizens of X
country, spouse           nouns of the target: the country of X
is a                      classes: shipping companies
"""

from __future__ import annotations

from typing import NamedTuple

from weft.tasks.questions import words

#: Nouns for the labels of entities that models and corpora use, with synonyms.
TYPES: dict[str, tuple[str, tuple[str, ...]]] = {
    "PER": ("person", ("man", "woman")), "PERSON": ("person", ("man", "woman")),
    "ORG": ("organization", ("organisation", "company", "firm", "institution")),
    "LOC": ("place", ("city", "town", "country", "location")), "GPE": ("place", ("city", "town", "country")),
    "FAC": ("building", ()), "MISC": ("thing", ()), "PROD": ("product", ()), "PRODUCT": ("product", ()),
    "EVENT": ("event", ()), "DATE": ("date", ()), "TIME": ("time", ()), "VEH": ("vehicle", ()),
}  # fmt: skip
#: First words of relations that people have.
PERSONAL = frozenset({
    "friend", "citizen", "member", "parent", "child", "author", "work", "study", "live", "know", "like", "marry",
    "bear", "born", "educate", "spouse",
})  # fmt: skip
#: Participles of relations that are said with "be"; the state lasts with some, and is past with others.
_LASTING = frozenset({"based", "located", "situated", "employed", "married", "known", "named", "called", "related"})
_PAST = frozenset({"born", "educated", "founded", "buried", "raised", "written", "made", "killed", "elected"})
_PREPOSITIONS = frozenset({"in", "at", "by", "to", "on", "of", "from", "for", "with", "as", "near"})
#: Single words that are verbs although nothing in their spelling says so.
_VERBS = frozenset({"like", "know", "love", "own", "cite", "follow", "join", "visit", "use", "eat", "play", "see"})


class Phrase(NamedTuple):
    """How a relation is said: sources VERB targets, sources are NOUNS of targets, targets are what OF names."""

    verb: str = ""
    noun: str = ""
    of: str = ""
    tense: str = "present"
    instance: bool = False


def phrase_of(name: str) -> Phrase:
    """The words of a relation's name.

    >>> phrase_of("works for").verb, phrase_of("studied in").tense, phrase_of("citizen of").noun
    ('work for', 'past', 'citizen')
    >>> phrase_of("born in")[:1], phrase_of("founded by").tense, phrase_of("spouse").of, phrase_of("is a").instance
    (('be born in',), 'past', 'spouse', True)
    """
    head, _, rest = name.replace("_", " ").strip().partition(" ")
    verb, preposition = words.base(head.lower()), rest.split(" ")[0]
    if rest == "of" and verb == head:
        return Phrase(noun=head)
    if head in _LASTING and preposition in _PREPOSITIONS:
        return Phrase(f"be {head} {rest}")
    if head in _PAST and preposition in _PREPOSITIONS:
        return Phrase(f"be {head} {rest}", tense="past")
    if preposition == "by" and verb != head:
        return Phrase(f"be {head} {rest}", tense="past")
    if verb in _PREPOSITIONS:
        return Phrase(f"be {head} {rest}".strip())
    if verb == "be":
        return Phrase(f"be {rest}".strip(), instance=rest in ("a", "an"))
    if verb != head and words.third(verb) != head:
        return Phrase(f"{verb} {rest}".strip(), tense="past")
    if not rest and verb == head and head.isalpha() and len(head) > 2 and head not in _VERBS:
        return Phrase(of=head)
    return Phrase(f"{verb} {rest}".strip())
