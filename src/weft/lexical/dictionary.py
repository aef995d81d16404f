"""Tag dictionaries: which tags a word may have.

    T(x) = the tags listed for x, else those of x in lower case, else those a rule gives, else all tags

A dictionary is noisy and partial: what it does not list is not forbidden, it is unknown, and every tag stays possible.
Entries come from lists of words with tags (Wiktionary, a lexicon of one's own), from UniMorph, or from tags projected
on the words of a text: there a tag is kept when it makes up at least a fifth of the tags of its word. Tags outside the
tag set are dropped and counted, so that no word is ever left without any tag.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weft.arrays import Bools
from weft.errors import ConfigError, DataError, FormatError
from weft.lexical.universal_tags import UNIVERSAL_TAGS, unimorph_tag

#: A tag is kept for a word when it makes up at least this part of the tags projected on it.
THRESHOLD = 0.2
#: What is a number whatever the language: digits, with marks between them.
NUMBER = re.compile(r"[+-]?\d+(?:[.,:/–-]\d+)*")


class TagDictionary:
    """Words with the tags they may have.

    >>> dictionary = TagDictionary({"ren": ["ADJ", "VERB"], "hus": ["NOUN"], "av": ["ADP", "CASE"]})
    >>> dictionary.tags_of("Hus"), dictionary.tags_of("1,5"), dictionary.tags_of("ost"), dictionary.dropped["CASE"]
    (('NOUN',), ('NUM',), (), 1)
    >>> dictionary.mask(["ren", "ost"]).sum(axis=1).tolist()
    [2, 12]
    >>> (dictionary | TagDictionary({"hus": ["VERB"]})).tags_of("hus")
    ('NOUN', 'VERB')
    """

    def __init__(
        self, entries: Mapping[str, Iterable[str]], tags: Sequence[str] = UNIVERSAL_TAGS, rules: bool = True
    ) -> None:
        if not tags or len(set(tags)) < len(tags):
            raise ConfigError(f"a tag dictionary needs tags that differ from each other, got {' '.join(tags)!r}")
        self.tags = tuple(tags)
        self.rules = rules
        self.dropped: Counter[str] = Counter()  # tags of entries that are not in the tag set
        bit = {tag: 1 << k for k, tag in enumerate(self.tags)}
        self._bits: dict[str, int] = {}
        for word, own in entries.items():
            bits = 0
            for tag in own:
                if tag in bit:
                    bits |= bit[tag]
                else:
                    self.dropped[tag] += 1
            if bits:
                self._bits[word] = bits

    @classmethod
    def from_pairs(cls, pairs: Iterable[tuple[str, str]], tags: Sequence[str] = UNIVERSAL_TAGS) -> TagDictionary:
        """The dictionary of pairs of a word and a tag.

        >>> TagDictionary.from_pairs([("run", "VERB"), ("run", "NOUN")]).tags_of("run")
        ('NOUN', 'VERB')
        """
        entries: dict[str, list[str]] = {}
        for word, tag in pairs:
            entries.setdefault(word, []).append(tag)
        return cls(entries, tags)

    @classmethod
    def from_counts(
        cls, words: Sequence[str], counts: ArrayLike, tags: Sequence[str] = UNIVERSAL_TAGS, threshold: float = THRESHOLD
    ) -> TagDictionary:
        """The tags that make up at least `threshold` of the counts `[word, tag]` of each word.

        >>> TagDictionary.from_counts(["sun"], [[8, 2, 1]], tags=["NOUN", "VERB", "ADJ"], threshold=0.15).tags_of("sun")
        ('NOUN', 'VERB')
        """
        table = np.asarray(counts, dtype=np.float64)
        if table.shape != (len(words), len(tags)):
            raise DataError(f"counts must be one row a word and one column a tag, {len(words)} by {len(tags)}; given: "
                            f"{table.shape}")  # fmt: skip
        if not 0 < threshold <= 1:
            raise ConfigError(f"the threshold of a tag's share must be above 0 and at most 1, got {threshold}")
        total = table.sum(axis=1, keepdims=True)
        kept = (table >= threshold * total) & (table > 0)
        return cls(
            {word: [tags[k] for k in np.flatnonzero(row).tolist()] for word, row in zip(words, kept, strict=True)}, tags
        )

    @classmethod
    def from_occurrences(
        cls, words: Iterable[str], tags_of_words: Iterable[str], tags: Sequence[str] = UNIVERSAL_TAGS,
        threshold: float = THRESHOLD,
    ) -> TagDictionary:  # fmt: skip
        """The dictionary of the words of a text with the tags projected on them, empty where there are none.

        >>> words = ["sun", "sun", "sun", "shines"]
        >>> TagDictionary.from_occurrences(words, ["NOUN", "NOUN", "", ""]).tags_of("sun")
        ('NOUN',)
        """
        number = {tag: k for k, tag in enumerate(tags)}
        rows: dict[str, int] = {}
        places: list[tuple[int, int]] = []
        for word, tag in zip(words, tags_of_words, strict=True):
            if tag in number:
                places.append((rows.setdefault(word, len(rows)), number[tag]))
        counts = np.zeros((len(rows), len(tags)))
        if places:
            np.add.at(counts, tuple(np.array(places).T), 1)
        return cls.from_counts(list(rows), counts, tags, threshold)

    @classmethod
    def read(
        cls, path: str | Path, tags: Sequence[str] = UNIVERSAL_TAGS, mapping: Mapping[str, str] | None = None
    ) -> TagDictionary:
        """Read lines of a word and a tag, or the lemma, form and features of UniMorph, parted by tabs.

        `mapping` gives the universal tag of every tag of the file. Entries of several words are skipped.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     written = Path(folder, "sv.dic").write_text("hus\\tNOUN\\nren\\tADJ\\nren\\tVERB\\n")
        ...     TagDictionary.read(Path(folder, "sv.dic")).tags_of("ren")
        ('VERB', 'ADJ')
        """
        found = cls.from_pairs(_read_pairs(path, mapping), tags)
        if not found:
            unknown = f"; its tags are {', '.join(sorted(found.dropped)[:12])}" if found.dropped else ""
            raise DataError(f"{path} lists no word with one of the tags {' '.join(tags)}{unknown}")
        return found

    @staticmethod
    def tags_in(paths: Iterable[str | Path]) -> tuple[str, ...]:
        """All tags of files of words with tags, in the order of the alphabet.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     written = Path(folder, "sv.dic").write_text("ren\\tV\\nhus\\tN\\nren\\tA\\n")
        ...     TagDictionary.tags_in([Path(folder, "sv.dic")])
        ('A', 'N', 'V')
        """
        found = tuple(sorted({tag for path in paths for _, tag in _read_pairs(path, None)}))
        if not found:
            raise DataError(f"there are no words with tags in {', '.join(map(str, paths))}")
        return found

    def save(self, path: str | Path) -> None:
        """Write lines of a word and a tag, in the order of the words."""
        from weft.formats.streams import open_output

        with open_output(str(path)) as file:
            for word, own in sorted(self.items()):
                file.write("".join(f"{word}\t{tag}\n" for tag in own).encode())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What a model file keeps of it: the words, and their tags as bits, a row of bytes where there are many."""
        words = "\n".join(self._bits).encode()
        few = len(self.tags) <= 64
        return {
            "words": np.frombuffer(words, dtype=np.uint8).copy(),
            "bits": np.array([*self._bits.values()], np.uint64) if few else self._bytes(self._bits.values()),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], tags: Sequence[str], rules: bool = True) -> TagDictionary:
        """The dictionary that `arrays` described.

        >>> own = TagDictionary({"hus": ["NOUN"], "ren": ["ADJ", "VERB"]})
        >>> dict(TagDictionary.from_arrays(own.arrays(), own.tags).items())
        {'hus': ('NOUN',), 'ren': ('VERB', 'ADJ')}
        """
        found = cls({}, tags, rules)
        words = bytes(arrays["words"]).decode()
        kept = arrays["bits"]
        bits = kept.tolist() if kept.ndim == 1 else [int.from_bytes(row.tobytes(), "little") for row in kept]
        found._bits = dict(zip(words.split("\n") if words else [], bits, strict=True))
        return found

    def __len__(self) -> int:
        return len(self._bits)

    def __contains__(self, word: str) -> bool:
        """Whether the word itself is an entry."""
        return word in self._bits

    def items(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Words with their tags."""
        return ((word, self._unpack(bits)) for word, bits in self._bits.items())

    def tags_of(self, word: str) -> tuple[str, ...]:
        """The tags of a word, in the order of the tag set; none for a word of which nothing is known."""
        return self._unpack(self._lookup(word))

    def mask(self, words: Iterable[str]) -> Bools:
        """The tags that words may have, `[word, tag]`: all of them where nothing is known."""
        full = (1 << len(self.tags)) - 1
        known: dict[str, int] = {}
        bits = (known[word] if word in known else known.setdefault(word, self._lookup(word) or full) for word in words)
        if len(self.tags) > 64:
            return np.unpackbits(self._bytes(bits), axis=1, count=len(self.tags), bitorder="little").astype(np.bool_)
        packed = np.fromiter(bits, dtype=np.uint64)
        shifts = np.arange(len(self.tags), dtype=np.uint64)
        return (packed[:, None] >> shifts & np.uint64(1)).astype(np.bool_)

    def covers(self, words: Sequence[str]) -> Bools:
        """Of which words something is known.

        >>> TagDictionary({"hus": ["NOUN"]}).covers(["hus", "ost", "!"]).tolist()
        [True, False, True]
        """
        known = {word: bool(self._lookup(word)) for word in set(words)}
        return np.fromiter(map(known.__getitem__, words), dtype=np.bool_, count=len(words))

    def __or__(self, other: TagDictionary) -> TagDictionary:
        """The union: every word with the tags of both."""
        if self.tags != other.tags:
            raise ConfigError(f"dictionaries of different tags cannot be joined: {self.tags} and {other.tags}")
        joined = TagDictionary({}, self.tags, self.rules or other.rules)
        joined._bits = dict(self._bits)
        for word, bits in other._bits.items():
            # The other's entry adds to what this one says of the word, which may stand here in lower case.
            joined._bits[word] = bits | self._listed(word)
        for word in self._bits.keys() - other._bits.keys():
            joined._bits[word] |= other._listed(word)
        joined.dropped = self.dropped + other.dropped
        return joined

    def corrected(self, words: Iterable[str], tags_of_words: Iterable[str]) -> TagDictionary:
        """The dictionary with the tags of some words added to what is known of them; other words stay unknown.

        >>> wrong = TagDictionary({"that": ["PRON"]})
        >>> wrong.corrected(["that", "xyz"], ["CONJ", "NOUN"]).tags_of("that")
        ('PRON', 'CONJ')
        """
        bit = {tag: 1 << k for k, tag in enumerate(self.tags)}
        fixed = TagDictionary({}, self.tags, self.rules)
        fixed._bits = dict(self._bits)
        for word, tag in zip(words, tags_of_words, strict=True):
            known = fixed._lookup(word)
            if known and tag in bit:
                fixed._bits[word] = known | bit[tag]
        return fixed

    def _listed(self, word: str) -> int:
        return self._bits.get(word) or self._bits.get(word.lower(), 0)

    def _lookup(self, word: str) -> int:
        return self._listed(word) or (self._by_rule(word) if self.rules else 0)

    def _by_rule(self, word: str) -> int:
        tag = "." if word and all(unicodedata.category(letter)[0] == "P" for letter in word) else ""
        tag = "NUM" if NUMBER.fullmatch(word) else tag
        return 1 << self.tags.index(tag) if tag in self.tags else 0

    def _bytes(self, bits: Iterable[int]) -> NDArray[np.uint8]:
        size = (len(self.tags) + 7) // 8
        packed = b"".join(each.to_bytes(size, "little") for each in bits)
        return np.frombuffer(packed, dtype=np.uint8).reshape(-1, size).copy()

    def _unpack(self, bits: int) -> tuple[str, ...]:
        return tuple(tag for k, tag in enumerate(self.tags) if bits >> k & 1)


def _read_pairs(path: str | Path, mapping: Mapping[str, str] | None) -> Iterator[tuple[str, str]]:
    from weft.formats.streams import read_text

    for number, line in enumerate(read_text(str(path)).split("\n"), start=1):
        line = line.rstrip("\r")
        if not line.strip():
            continue
        fields = line.split("\t")
        if len(fields) == 3:
            word, tag = fields[1], unimorph_tag(fields[2])
        elif len(fields) == 2:
            word, tag = fields
        else:
            raise FormatError(
                str(path), number, "a word and a tag, or lemma, form and features, parted by tabs", repr(line[:60])
            )
        tag = tag if mapping is None else mapping.get(tag, "")
        if word and tag and not any(letter.isspace() for letter in word):
            yield word, tag
