"""Features of the multiword expression tagger beyond words and tags (appendix A of Schneider et al. 2014).

`ExpressionFeatures` gives every word of documents a set of features, numbered as in the paper:

| number | feature |
|---|---|
| 2, 3, 4 | among the first two, the last two words; capitalized, sentence-initial or not |
| 8, 9 | contains a digit, contains a character other than letters and digits |
| 12 | lemma and a nearby lemma, if one is a verb and the other a content word, preposition or particle |
| 17 - 20 | by WordNet: not listed; compounds with a neighbour; over a hyphen; ambiguity class and longest match |
| 21, 22 | for every lexicon: position in the shortest path, category, gaps; with the tags of the match's two ends |
| 23, 24 | how many lexicons match; with the tags of the ends |

A feature is the key of its name, such as `12 -1 up give`. Python sees every word type once, and the few words with
entries of a lexicon; what all words have (2 to 12) is put together by a kernel.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Ids, Ints, Keys
from weft.features.cache import Cache, distinct_rows
from weft.features.extract import read_column, runs_of, sentence_offsets
from weft.hashing import avalanche, begun, hash_string, hash_strings, mix
from weft.kernel import inner_kernel
from weft.lexical.mwe_lexicon import MweLexicon, segment_text
from weft.lexical.wordnet import WordNet
from weft.text.conventions.expressions import has_gap
from weft.text.doc import Doc

#: The paper's templates over words (w), their lower-case forms (u), lemmas (l) and tags (t); x holds all others.
TEMPLATES = (
    "true y[-1] w[0].shape u[0].prefix1..4 u[0].suffix1..4 u[-2..2] u[-2]|u[-1] u[-1]|u[0] u[0]|u[1] u[1]|u[2] "
    "t[-2..2] t[-2]|t[-1] t[-1]|t[0] t[0]|t[1] t[1]|t[2] u[0]|t[-1] u[0]|t[1] u[-1]|t[0] u[1]|t[0] x[0]"
)
FIELDS = {"w": "form", "u": "lower", "l": "lemma", "t": "tag", "x": "mwe:set"}
CLUSTER_TEMPLATES = "c[-1] c[1] c[0]|l[0]"
#: The column that holds `lower_lemma` of every word, for the field l.
LEMMA_COLUMN = "lower lemma"

_CLASSES = {
    "verb": ("V", "MD", "AUX"),
    "noun": ("N", "PROPN"),
    "adjective": ("J", "ADJ"),
    "adverb": ("RB", "ADV", "WRB"),
    "particle": ("RP", "PART", "TO", "IN", "ADP"),
}
_CONTENT = ("verb", "noun", "adjective", "adverb")
#: Kinds of words as feature 12 tells them apart.
_OTHER, _VERB, _PARTNER = range(3)
_CAPITAL, _CAPITAL_FIRST = (np.uint64(hash_string(name)) for name in ("4", "4 first"))
_PLACES = hash_strings(["2 0", "2 1", "3 0", "3 1"])
#: The other words of feature 12 and what its name begins with, as hashed so far.
_STEPS = np.array([-2, -1, 1, 2])
_BEGUN = np.array([begun(f"12 {step} ") for step in _STEPS], dtype=np.uint64)
_SPACE = ord(" ")
#: Names of features.
Names = tuple[str, ...]


@cache
def word_class(tag: str) -> str:
    """Verb, noun, adjective, adverb or particle (including prepositions), from a Penn or UD tag; empty for others.

    >>> [word_class(tag) for tag in ("VBZ", "NNP", "NUM", "ADV", "RP", "ADP", "DT")]
    ['verb', 'noun', '', 'adverb', 'particle', 'particle', '']
    """
    if tag in ("NUM", "VERB", "NOUN"):
        return {"NUM": "", "VERB": "verb", "NOUN": "noun"}[tag]
    return next((name for name, starts in _CLASSES.items() if tag.startswith(starts)), "")


def lower_lemma(form: str, lemma: str) -> str:
    """The lemma in lower case, the form if there is none.

    >>> lower_lemma("Cats", "Cat"), lower_lemma("Cats", "")
    ('cat', 'cats')
    """
    return lemma.lower() or form.lower()


class _Word(NamedTuple):
    """What features see of a word type."""

    lemma: str
    lower: str
    tag: str
    kind: int
    text: bytes  # of the lemma, in feature 12
    marks: tuple[int, ...]  # features 4, 8 and 9 where no sentence begins


class _Place(NamedTuple):
    """A word in a match of a lexicon."""

    mark: str  # B at the first word, I at others
    category: str
    gappy: bool
    tags: str  # of the match's two ends


class _Words(NamedTuple):
    """The words of documents: types, the type of each word, and the offsets of sentences."""

    types: list[_Word]
    numbers: Ids
    sentences: Ints


@dataclass
class ExpressionFeatures:
    """Lexicons, and the features they give to documents.

    >>> features = ExpressionFeatures([MweLexicon.of("mine", [("give up", "verb")])])
    >>> doc = Doc.from_words([["gave", "up"]], lemma=[["give", "up"]], xpos=[["VBD", "RP"]])
    >>> offsets, keys = features.members([doc], "xpos")
    >>> [hash_string(name) in keys[: offsets[1]] for name in ("21 mine B verb", "22 mine B verb VBD RP", "23 1", "8")]
    [True, True, True, False]
    """

    lexicons: Sequence[MweLexicon] = ()
    wordnet: WordNet | None = None
    max_gap: int = 2
    _types: Cache[tuple[str, str, str], _Word] = field(default_factory=lambda: Cache(_word), repr=False)
    _matched: Cache[tuple[tuple[str, _Place | None], ...], Names] = field(
        default_factory=lambda: Cache(_by_lexicons), repr=False
    )
    _keys: Cache[Names, tuple[int, ...]] = field(default_factory=lambda: Cache(_keys), repr=False)
    _compounds: Cache[tuple[str, str], bool] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._compounds = Cache(self._is_compound)

    def members(
        self, docs: Sequence[Doc], tag_column: str, seen: Sequence[MweLexicon] = (), first: int = 0
    ) -> tuple[Ints, Keys]:
        """The features of every word as a ragged array: offsets and keys.

        `seen` are additional lexicons, of which sentence number s, counted from `first`, has number s modulo theirs.
        """
        words = self._words(docs, tag_column)
        n = len(words.numbers)
        extra, most = self._extra(words, seen, first)
        marks, mark_starts = _ragged([word.marks for word in words.types])
        added, added_starts = _ragged([most, *extra.values()])
        text_starts = np.cumsum([0, *(len(word.text) for word in words.types)])
        which = np.zeros(n, dtype=np.int64)
        which[list(extra)] = np.arange(1, len(extra) + 1)
        # A word has at most two places and four pairs.
        bound = 6 * n + np.diff(mark_starts)[words.numbers].sum() + np.diff(added_starts)[which].sum()
        offsets, members = np.zeros(n + 1, dtype=np.int64), np.empty(int(bound), dtype=np.uint64)
        size = _members(
            words.sentences, words.numbers, np.array([word.kind for word in words.types], dtype=np.int64),
            np.frombuffer(b"".join(word.text for word in words.types) or b"\0", dtype=np.uint8), text_starts,
            marks, mark_starts, which, added, added_starts, offsets, members,
        )  # fmt: skip
        return offsets, members[:size]

    def _words(self, docs: Sequence[Doc], tag_column: str) -> _Words:
        types: list[_Word] = []
        numbers = [np.zeros(0, dtype=np.int32)]
        for table, group in runs_of(docs):
            rows = np.stack([read_column(group, name) for name in ("form", "lemma", tag_column)], axis=1)
            distinct, own = distinct_rows(rows)
            numbers.append(own + np.int32(len(types)))
            types += map(self._types.__getitem__, zip(*(table.strings(column) for column in distinct.T), strict=True))
        return _Words(types, np.concatenate(numbers), sentence_offsets(docs))

    def names(self, doc: Doc, tag_column: str, seen: Sequence[MweLexicon] = ()) -> dict[int, str]:
        """The features that may occur in a document, by their keys.

        >>> doc = Doc.from_words([["gave", "up"]], lemma=[["give", "up"]], xpos=[["VBD", "RP"]])
        >>> sorted(ExpressionFeatures().names(doc, "xpos").values())[-4:]
        ['3 1', '4', '4 first', '8']
        """
        words = self._words([doc], tag_column)
        told, outside = self._told(words, seen, 0)
        names = {"4", "4 first", "8", *(f"{end} {place}" for end in (2, 3) for place in (0, 1))}
        characters = {character for word in words.types for character in word.lower if not character.isalnum()}
        names.update(f"9 {_written(character)}" for character in characters)
        names.update(part for own in (outside, *told.values()) for name in own for part in name.split("|"))
        lemmas = [_written(words.types[number].lemma) for number in words.numbers.tolist()]
        for i, lemma in enumerate(lemmas):
            near = ((step, i + step) for step in _STEPS.tolist() if 0 <= i + step < len(lemmas))
            names.update(f"12 {step} {lemma} {lemmas[j]}" for step, j in near)
        known = sorted(names)
        return dict(zip(hash_strings(known).tolist(), known, strict=True))

    def _extra(
        self, words: _Words, seen: Sequence[MweLexicon], first: int
    ) -> tuple[dict[int, tuple[int, ...]], tuple[int, ...]]:
        """Keys of features 17 to 24, as `_told` gives them."""
        told, outside = self._told(words, seen, first)
        return {word: self._keys[names] for word, names in told.items()}, self._keys[outside]

    def _told(self, words: _Words, seen: Sequence[MweLexicon], first: int) -> tuple[dict[int, Names], Names]:
        """Features 17 to 24 of the words that have others than most words, and those of most words."""
        outside = tuple(f"21 {lexicon.name} O" for lexicon in (*self.lexicons, *seen[:1]))
        told = {word: self._matched[own] for word, own in self._matches(words, seen, first).items()}
        if self.wordnet is not None:
            for a, b in pairwise(words.sentences.tolist()):
                by_wordnet = self._by_wordnet(self.wordnet, [words.types[t] for t in words.numbers[a:b].tolist()])
                for word, names in enumerate(by_wordnet, a):
                    told[word] = (*names, *told.get(word, outside))
        return told, outside

    def _matches(
        self, words: _Words, seen: Sequence[MweLexicon], first: int
    ) -> dict[int, tuple[tuple[str, _Place | None], ...]]:
        """The words in matches, and for each the lexicons by name, with its place in a match of theirs."""
        lemmas, lowers = [word.lemma for word in words.types], [word.lower for word in words.types]
        fixed = len(self.lexicons)
        names = [lexicon.name for lexicon in (*self.lexicons, *seen[:1])]
        found: dict[int, list[_Place | None]] = {}
        for k, lexicon in enumerate((*self.lexicons, *seen)):
            matches = lexicon.find(lemmas, lowers, words.numbers, words.sentences, self.max_gap)
            if k >= fixed and len(seen) > 1:
                beginnings = np.array([match.words[0] for match in matches], dtype=np.int64)
                turns = first + np.searchsorted(words.sentences, beginnings, side="right") - 1
                matches = [matches[m] for m in np.flatnonzero(turns % len(seen) == k - fixed).tolist()]
            for group, category in segment_text(matches):
                ends = (words.types[words.numbers[word]].tag for word in (group[0], group[-1]))
                tags, gappy = " ".join(ends), has_gap(group)
                for rank, word in enumerate(group):
                    places = found.setdefault(word, [None] * len(names))
                    places[min(k, fixed)] = _Place("I" if rank else "B", category, gappy, tags)
        return {word: tuple(zip(names, places, strict=True)) for word, places in found.items()}

    def _by_wordnet(self, net: WordNet, sentence: Sequence[_Word]) -> list[list[str]]:
        """Features 17 to 20."""
        found: list[list[str]] = [[] for _ in sentence]
        lower, lemmas = [word.lower for word in sentence], [word.lemma for word in sentence]
        tags = [word.tag for word in sentence]
        longest: list[str] = [""] * len(found)
        size = [0] * len(found)
        for lexicon in self.lexicons:
            if lexicon.name != "wordnet":
                continue
            for match in lexicon.matches(lemmas, 0, lower):
                for rank, word in enumerate(match.words):
                    if len(match.words) > size[word]:
                        size[word] = len(match.words)
                        longest[word] = f" {match.category} {'I' if rank else 'B'}"
        wordlike = [any(character.isalnum() for character in lemma) for lemma in lemmas]
        for i, lemma in enumerate(lemmas):
            kind = word_class(tags[i])
            known = net.parts_of_speech(lemma) or net.parts_of_speech(lower[i])
            if not known:
                found[i].append(f"17 {tags[i]}")
            if wordlike[i]:
                for step, name in ((-1, "previous"), (1, "next")):
                    j = i + step
                    if 0 <= j < len(lemmas) and lemmas[j] == "-":
                        j += step
                    if 0 <= j < len(lemmas) and wordlike[j] and self._compounds[lemmas[min(i, j)], lemmas[max(i, j)]]:
                        found[i].append(f"18 {name}")
            elif lemma == "-" and 0 < i < len(lemmas) - 1 and self._compounds[lemmas[i - 1], lemmas[i + 1]]:
                found[i].append("19")
            ambiguity = known if kind in _CONTENT and known else "" if kind in _CONTENT else tags[i]
            found[i].append(f"20 {ambiguity}{longest[i]}")
        return found

    def _is_compound(self, pair: tuple[str, str]) -> bool:
        return self.wordnet is not None and any(joint.join(pair) in self.wordnet for joint in ("", "-", " "))


def _by_lexicons(places: tuple[tuple[str, _Place | None], ...]) -> Names:
    """Features 21 to 24 of a word in matches, given the place that each lexicon, by its name, gives it."""
    names: list[str] = []
    counts: dict[str, int] = {}
    for lexicon, place in places:
        if place is None:
            names.append(f"21 {lexicon} O")
            continue
        told = _written(f"{lexicon} {place.mark} {place.category}" + (" gappy" if place.gappy else ""))
        names += [f"21 {told}", f"22 {told} {place.tags}"]
        counts[place.tags] = counts.get(place.tags, 0) + 1
    names += [f"23 {k}" for k in range(1, sum(counts.values()) + 1)]
    for tags, number in counts.items():
        names += [f"24 {k} {tags}" for k in range(1, number + 1)]
    return tuple(names)


def with_lemmas(doc: Doc) -> Doc:
    """A copy of a document that has the column of `lower_lemma`."""
    new = copy.copy(doc)
    new.columns = dict(doc.columns)
    new.set_column(LEMMA_COLUMN, list(map(lower_lemma, doc.column("form"), doc.column("lemma"))))
    return new


def _word(key: tuple[str, str, str]) -> _Word:
    form, lemma, tag = key
    lemma = lower_lemma(form, lemma)
    kind = word_class(tag)
    marks = ["4"] if form[:1].isupper() else []
    if not form.isalpha():
        marks += ["8"] if any(character.isdigit() for character in form) else []
        marks += [f"9 {_written(character)}" for character in sorted(set(form)) if not character.isalnum()]
    return _Word(
        lemma,
        form.lower(),
        tag,
        _OTHER if not kind else _VERB if kind == "verb" else _PARTNER,
        _written(lemma).encode("utf-8", "surrogatepass"),
        tuple(map(hash_string, marks)),
    )


def _keys(names: Names) -> tuple[int, ...]:
    """The keys of names; a tag may hold the sign that separates members of sets."""
    return tuple(hash_string(part) for name in names for part in name.split("|") if part)


def _written(text: str) -> str:
    """Part of a feature name, without the separator of set members."""
    return text.replace("|", "/")


def _ragged(rows: Sequence[Sequence[int]]) -> tuple[Keys, Ints]:
    return (
        np.array(list(chain.from_iterable(rows)), dtype=np.uint64),
        np.cumsum(np.array([0, *map(len, rows)], dtype=np.int64)),
    )


@inner_kernel
def _members(
    sentences: Ints, numbers: Ids, kinds: Ints, texts: NDArray[np.uint8], text_starts: Ints, marks: Keys,
    mark_starts: Ints, which: Ints, added: Keys, added_starts: Ints, offsets: Ints, members: Keys,
) -> int:  # fmt: skip
    """Put the features of all words together; returns how many there are."""
    size = 0
    for s in range(len(sentences) - 1):
        first, end = sentences[s], sentences[s + 1]
        for i in range(first, end):
            own = numbers[i]
            for k in range(mark_starts[own], mark_starts[own + 1]):
                members[size] = _CAPITAL_FIRST if i == first and marks[k] == _CAPITAL else marks[k]
                size += 1
            for k in range(2):
                if i == first + k:
                    members[size] = _PLACES[k]
                    size += 1
                if i == end - 1 - k:
                    members[size] = _PLACES[2 + k]
                    size += 1
            for k in range(len(_STEPS)):
                j = i + _STEPS[k]
                if kinds[own] == _OTHER or j < first or j >= end:
                    continue
                other = numbers[j]
                if kinds[other] == _VERB or (kinds[own] == _VERB and kinds[other] != _OTHER):
                    key = _BEGUN[k]
                    for c in range(text_starts[own], text_starts[own + 1]):
                        key = mix(key, texts[c])
                    key = mix(key, _SPACE)
                    for c in range(text_starts[other], text_starts[other + 1]):
                        key = mix(key, texts[c])
                    members[size] = avalanche(key)
                    size += 1
            for k in range(added_starts[which[i]], added_starts[which[i] + 1]):
                members[size] = added[k]
                size += 1
            offsets[i + 1] = size
    return size
