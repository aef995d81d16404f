"""What fills an argument: the senses that its head may have, and why those.

| head | senses |
|---|---|
| a noun that WordNet has | all of them; of a compound that WordNet has, those of the compound |
| a name with a type | a person, an organization or a district |
| *he*, *I*, *who*, *everybody* | a person |
| *it*, *they*, *this*, an unknown noun | one of which nothing is known: it satisfies everything |
| a clause, a quotation, a number | one of which nothing is known but that it is abstract |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from weft.lexical.resources.semantic_types import Nouns, Sense
from weft.text.doc import Doc
from weft.text.views import Word

_PERSONAL = """
    i me myself we us ourselves you yourself yourselves he him himself she her herself who whom whoever somebody someone
    anybody anyone everybody everyone nobody
"""
_OTHER = """
    it itself they them themselves this that these those which what whatever something anything everything nothing one
    ones none some any all both each either neither another other others many few most more much several half there such
"""
#: Pronouns for people, and those that may stand for anything.
PERSONAL, OTHER = frozenset(_PERSONAL.split()), frozenset(_OTHER.split())
#: Sense keys that stand for the types of names.
NAMES = {
    "PER": "person%1:03:00::", "PERSON": "person%1:03:00::",
    "ORG": "organization%1:14:00::", "ORGANIZATION": "organization%1:14:00::",
    "LOC": "district%1:15:00::", "LOCATION": "district%1:15:00::", "GPE": "district%1:15:00::",
}  # fmt: skip
QUOTES = ('"', "``", "''", "“", "”")
PERSON = "person%1:03:00::"
NOUN, NAME, PRONOUN, CLAUSE, NUMBER = "noun", "name", "pronoun", "clause", "number"


class Filler(NamedTuple):
    """The head of an argument: its text, its kind, and where its senses are looked up.

    `entries` are groups of forms: the first group that WordNet has decides. A `key` names the one sense of it.
    """

    text: str
    kind: str
    entries: tuple[tuple[str, ...], ...] = ()
    key: str = ""

    def senses(self, nouns: Nouns) -> tuple[Sense, ...]:
        """The senses that it may have."""
        if self.key:
            return (nouns.sense(self.key),)
        if self.kind in (CLAUSE, NUMBER):
            bit = nouns.bits.get("abstract", 0)
            return (Sense("", bit, bit),)
        found = next(filter(None, (nouns.senses(*forms) for forms in self.entries)), ())
        return found or (Sense("", 0, 0),)

    @classmethod
    def of_word(cls, text: str) -> Filler:
        """The filler of a word without a sentence, such as an object in a table of verbs and nouns.

        >>> Filler.of_word("he").key, Filler.of_word("it").kind, Filler.of_word("laws").entries
        ('person%1:03:00::', 'pronoun', (('laws',),))
        """
        form = text.lower()
        if form in PERSONAL:
            return cls(text, PRONOUN, key=PERSON)
        if form in OTHER:
            return cls(text, PRONOUN)
        return cls(text, NUMBER) if form[:1].isdigit() else cls(text, NOUN, ((form,),))

    @classmethod
    def of_head(cls, word: Word, names: Mapping[int, str]) -> Filler:
        """The filler whose head is a word of a tree; `names` has the types of names by their words.

        >>> doc = Doc.from_words([["Ada", "cut", "the", "ice", "cream"]], head=[[2, 0, 5, 5, 2]],
        ...     upos=[["PROPN", "VERB", "DET", "NOUN", "NOUN"]], deprel=[["nsubj", "root", "det", "compound", "obj"]])
        >>> Filler.of_head(doc[0], {0: "PER"}), Filler.of_head(doc[4], {}).entries
        (Filler(text='Ada', kind='name', entries=(), key='person%1:03:00::'), (('ice cream',), ('cream',)))
        """
        if word.index in names:
            return cls(word.form, NAME, key=NAMES.get(names[word.index].upper(), ""))
        form, upos = word.form.lower(), word.upos
        if form in PERSONAL or form in OTHER:
            return cls.of_word(word.form)
        if upos in ("VERB", "AUX", "SCONJ", "INTJ", "PUNCT", "SYM") or _quoted(word):
            return cls(word.form, CLAUSE)
        if upos == "NUM" or form[:1].isdigit():
            return cls(word.form, NUMBER)
        if upos in ("PRON", "DET"):
            return cls(word.form, PRONOUN)
        if (
            upos == "PROPN"
        ):  # a name of unknown type: towns and rivers are entries of WordNet, but so are Smith and Baker
            return cls(word.form, NAME)
        forms = tuple(dict.fromkeys((form, word.lemma.lower() or form)))
        compound = _compound(word)
        return cls(word.form, NOUN, ((compound,), forms) if compound else (forms,))


def names_of(doc: Doc, layer: str = "entities") -> dict[int, str]:
    """The types of names by the numbers of their words."""
    if layer not in doc.spans or doc.spans[layer].unit != "words":
        return {}
    return {word: label for pieces, label in doc.spans[layer] for start, end in pieces for word in range(start, end)}


def _compound(word: Word) -> str:
    """A noun with the noun before it, "" if there is none."""
    before = word.index - 1
    if before < word.sentence.first:
        return ""
    other = Word(word.doc, before)
    head = other.head
    if not other.deprel.startswith("compound") or head is None or head.index != word.index:
        return ""
    return f"{other.form} {word.lemma or word.form}".lower()


def _quoted(word: Word) -> bool:
    """Whether a word stands between quotation marks: it is mentioned, not used."""
    first, end = word.sentence.first, word.sentence.end
    beside = (word.index - 1, word.index + 1)
    return all(first <= i < end and Word(word.doc, i).form in QUOTES for i in beside)
