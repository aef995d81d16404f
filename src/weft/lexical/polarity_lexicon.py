"""Polarity lexicons: which words are positive or negative, and how the words of a sentence vote.

Two kinds of files are read: word lists, one word per line, with lines after `;` skipped (Hu and Liu's opinion lexicon
has one list of positive and one of negative words), and tables `word<TAB>number` whose further columns are ignored
(VADER): numbers above 0 are positive, below 0 negative. Words are looked up in lower case.

A negator flips the polarity of the words after it, up to the next punctuation mark or `but`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

from weft.errors import ConfigError, FormatError
from weft.formats.streams import numbered_lines

PathLike = str | os.PathLike[str]

#: English negators; words that end in n't are negators too.
NEGATORS = (
    "not", "no", "never", "nothing", "nobody", "none", "neither", "nor", "nowhere", "cannot", "without", "hardly",
    "barely", "scarcely", "n't", "nt",
)  # fmt: skip
#: What ends the scope of a negator, besides punctuation.
TURNS = ("but", "however", "although", "though", "except")


class PolarityLexicon:
    """Signs of words: +1 positive, -1 negative, 0 neither.

    >>> lexicon = PolarityLexicon({"superb": 1, "slow": -1})
    >>> lexicon.sign("Superb"), lexicon.sign("table")
    (1, 0)
    >>> lexicon.vote(["not", "slow", ",", "superb"])
    2
    """

    def __init__(self, signs: Mapping[str, int] | None = None) -> None:
        self.signs = {word.lower(): (value > 0) - (value < 0) for word, value in (signs or {}).items() if value}

    @classmethod
    def read(
        cls,
        positive: Iterable[PathLike] = (),
        negative: Iterable[PathLike] = (),
        scored: Iterable[PathLike] = (),
        encoding: str = "utf-8",
    ) -> PolarityLexicon:
        """Read a lexicon from lists and tables; if files disagree, the later one wins, and tables override lists."""
        signs: dict[str, int] = {}
        for paths, sign in ((positive, 1), (negative, -1)):
            for path in paths:
                signs.update(dict.fromkeys(_words(os.fspath(path), encoding), sign))
        for path in scored:
            signs.update(_table(os.fspath(path), encoding))
        return cls(signs)

    def __len__(self) -> int:
        return len(self.signs)

    def sign(self, word: str) -> int:
        """The sign of a word."""
        return self.signs.get(word.lower(), 0)

    def vote(self, words: Sequence[str], negators: Iterable[str] = NEGATORS) -> int:
        """The sum of the signs of a sentence's words, with negated ones flipped."""
        flags = negated(words, negators)
        return sum(self.sign(word) * (-1 if flag else 1) for word, flag in zip(words, flags, strict=True))


def negated(words: Sequence[str], negators: Iterable[str] = NEGATORS) -> list[bool]:
    """Which words are in the scope of a negator.

    >>> negated("I don't like it , but the acting".split())
    [False, False, True, True, False, False, False, False]
    """
    known = frozenset(negators)
    flags, inside = [], False
    for word in words:
        if ends_scope(word):
            inside = False
        flags.append(inside)
        inside = inside or is_negator(word, known)
    return flags


def is_negator(word: str, negators: frozenset[str] = frozenset(NEGATORS)) -> bool:
    """Whether a word negates what follows.

    >>> is_negator("Didn't"), is_negator("never"), is_negator("note")
    (True, True, False)
    """
    lower = word.lower().replace("\u2019", "'")
    return lower in negators or (lower.endswith("n't") and "n't" in negators)


def ends_scope(word: str) -> bool:
    """Whether the scope of a negator ends before a word: at punctuation and at words such as `but`."""
    return word.lower() in TURNS or not any(letter.isalnum() or letter in "'\u2019-" for letter in word)


def _words(path: str, encoding: str) -> Iterator[str]:
    any_word = False
    for number, line in numbered_lines(path, encoding):
        word = line.split(";", 1)[0].strip()
        if "\t" in word:
            hint = "Pass tables of words and numbers as scored lexicons"
            raise FormatError(path, number, "one word per line", "several columns", hint)
        if word:
            any_word = True
            yield word
    if not any_word:
        raise FormatError(path, None, "words, one per line", "none")


def _table(path: str, encoding: str) -> dict[str, int]:
    signs: dict[str, int] = {}
    for number, line in numbered_lines(path, encoding):
        if not line.strip():
            continue
        word, _, rest = line.partition("\t")
        try:
            value = float(rest.split("\t", 1)[0])
        except ValueError as error:
            raise FormatError(path, number, "word<TAB>number", repr(line[:60])) from error
        signs[word.strip()] = (value > 0) - (value < 0)
    if not signs:
        raise ConfigError(f"{path} contains no words with numbers")
    return signs
