"""Sentences about clips, parsed into words and who takes part: a small grammar over a lexicon of parts of speech.

    S -> NP VP    NP -> [D] N [P NP]    VP -> V NP [ADV] [PM NP] | VI [ADV] [PM NP]

Every noun phrase is a participant, the subject the first. A verb takes subject and object, a preposition (P) the noun
it modifies and its own, an adverb the subject, a preposition of motion (PM) the subject and its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from weft.errors import DataError, FormatError, did_you_mean
from weft.formats.streams import numbered_lines

DETERMINERS = frozenset(("the", "a", "an"))
KINDS = ("N", "V", "VI", "P", "ADV", "PM")
#: The words of the paper.
LEXICON = {
    "person": "N", "backpack": "N", "trash-can": "N", "chair": "N",
    "picked up": "V", "put down": "V", "carried": "V", "approached": "V",
    "to the left of": "P", "to the right of": "P",
    "quickly": "ADV", "slowly": "ADV", "towards": "PM", "away from": "PM",
}  # fmt: skip


class Used(NamedTuple):
    """A word of a sentence with the participants it is about."""

    word: str
    participants: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.word}({', '.join(f'p{p}' for p in self.participants)})"


@dataclass(frozen=True)
class ParsedSentence:
    """The words of a sentence with their participants."""

    text: str
    words: tuple[Used, ...]
    participants: int

    def __str__(self) -> str:
        return ", ".join(map(str, self.words))

    def name(self, participant: int, nouns: frozenset[str] | set[str]) -> str:
        """The noun of a participant."""
        own = [each.word for each in self.words if each.participants == (participant,) and each.word in nouns]
        return own[0] if own else f"p{participant}"


class Grammar:
    """Parses sentences over a lexicon.

    >>> print(Grammar().parse("The person to the left of the backpack approached the trash-can."))
    person(p0), to the left of(p0, p1), backpack(p1), approached(p0, p2), trash-can(p2)
    >>> Grammar().parse("The person kicked the chair")
    Traceback (most recent call last):
    ...
    weft.errors.DataError: 'The person kicked the chair': expected a verb at 'kicked the chair'; no word of the lexicon
    """

    def __init__(self, lexicon: Mapping[str, str] | None = None) -> None:
        self.lexicon = {
            " ".join(word.lower().split()): kind for word, kind in (LEXICON if lexicon is None else lexicon).items()
        }
        self.longest = max((len(word.split()) for word in self.lexicon), default=1)

    @property
    def words(self) -> list[str]:
        """All words of the lexicon, in order."""
        return sorted(self.lexicon)

    def of_kind(self, kind: str) -> list[str]:
        """The words of a part of speech."""
        return [word for word, own in self.lexicon.items() if own == kind]

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Grammar:
        """A lexicon: a word or phrase and its part of speech per line, separated by a tab."""
        found: dict[str, str] = {}
        for number, line in numbered_lines(os.fspath(path)):
            if not line.strip() or line.startswith("#"):
                continue
            word, _, kind = (part.strip() for part in line.partition("\t"))
            if kind not in KINDS:
                hint = did_you_mean(kind, KINDS, f"parts of speech are {', '.join(KINDS)}")
                raise FormatError(os.fspath(path), number, "a word, a tab and a part of speech", repr(line), hint)
            found[word] = kind
        if not found:
            raise DataError(f"{os.fspath(path)} has no words")
        return cls(found)

    def parse(self, text: str) -> ParsedSentence:
        """The words of a sentence with their participants; an error if it is not a sentence of the grammar."""
        return _Parser(self, text).sentence()


class _Parser:
    def __init__(self, grammar: Grammar, text: str) -> None:
        self.grammar, self.text = grammar, text
        self.tokens = text.strip().rstrip(".!").lower().split()
        self.at = 0
        self.words: list[Used] = []
        self.participants = 0

    def sentence(self) -> ParsedSentence:
        subject = self.noun_phrase()
        if (verb := self.take("V")) is not None:
            place = len(self.words)
            other = self.noun_phrase()
            self.words.insert(place, Used(verb, (subject, other)))
        elif (verb := self.take("VI")) is not None:
            self.words.append(Used(verb, (subject,)))
        else:
            raise self.expected("a verb")
        if (adverb := self.take("ADV")) is not None:
            self.words.append(Used(adverb, (subject,)))
        if (motion := self.take("PM")) is not None:
            place = len(self.words)
            other = self.noun_phrase()
            self.words.insert(place, Used(motion, (subject, other)))
        if self.at < len(self.tokens):
            raise self.expected("the end of the sentence")
        return ParsedSentence(self.text.strip(), tuple(self.words), self.participants)

    def noun_phrase(self) -> int:
        if self.at < len(self.tokens) and self.tokens[self.at] in DETERMINERS:
            self.at += 1
        noun = self.take("N")
        if noun is None:
            raise self.expected("a noun")
        own = self.participants
        self.participants += 1
        self.words.append(Used(noun, (own,)))
        if (preposition := self.take("P")) is not None:
            place = len(self.words)
            other = self.noun_phrase()
            self.words.insert(place, Used(preposition, (own, other)))
        return own

    def take(self, kind: str) -> str | None:
        """The longest phrase of a part of speech that stands here, if there is one."""
        for length in range(min(self.grammar.longest, len(self.tokens) - self.at), 0, -1):
            phrase = " ".join(self.tokens[self.at : self.at + length])
            if self.grammar.lexicon.get(phrase) == kind:
                self.at += length
                return phrase
        return None

    def expected(self, what: str) -> DataError:
        rest = self.tokens[self.at :]
        if not rest:
            return DataError(f"{self.text!r}: expected {what} at the end")
        known = {token for phrase in self.grammar.lexicon for token in phrase.split()}
        hint = "" if rest[0] in known | DETERMINERS else "; no word of the lexicon"
        return DataError(f"{self.text!r}: expected {what} at {' '.join(rest)!r}{hint}")


def read_sentences(path: str | os.PathLike[str]) -> Iterator[tuple[int, str, str]]:
    """Line numbers, names of clips and sentences of a file: a clip, a tab and a sentence per line."""
    for number, line in numbered_lines(os.fspath(path)):
        if not line.strip() or line.startswith("#"):
            continue
        clip, tab, sentence = line.partition("\t")
        if not tab or not clip.strip() or not sentence.strip():
            raise FormatError(os.fspath(path), number, "the name of a clip, a tab and a sentence", repr(line[:60]))
        yield number, Path(clip.strip()).name.removesuffix(".mot"), sentence.strip()


def every_sentence(grammar: Grammar, kinds: Sequence[str] = KINDS, participants: int = 3) -> Iterator[str]:
    """The sentences of a grammar with different nouns, one modifier by a noun phrase at most, and few participants.

    >>> sum(1 for _ in every_sentence(Grammar(), ("N", "V"))), sum(1 for _ in every_sentence(Grammar()))
    (48, 1872)
    """
    nouns = grammar.of_kind("N")
    adverbs = ["", *(f" {word}" for word in grammar.of_kind("ADV"))] if "ADV" in kinds else [""]
    for verb in [*grammar.of_kind("V"), *grammar.of_kind("VI")]:
        pairs = [(one, other) for one in nouns for other in nouns if one != other]
        if grammar.lexicon[verb] == "VI":
            pairs = [(one, "") for one in nouns]
        for one, other in pairs:
            rest = [noun for noun in nouns if noun not in (one, other)]
            thing = f" the {other}" if other else ""
            for adverb in adverbs:
                yield f"The {one} {verb}{thing}{adverb}"
                if 2 + bool(other) > participants:
                    continue
                for third in rest:
                    if "P" in kinds:
                        for place in grammar.of_kind("P"):
                            yield f"The {one} {place} the {third} {verb}{thing}{adverb}"
                            if other:
                                yield f"The {one} {verb}{thing} {place} the {third}{adverb}"
                    if "PM" in kinds:
                        for motion in grammar.of_kind("PM"):
                            yield f"The {one} {verb}{thing}{adverb} {motion} the {third}"
