"""Tag dictionaries: which tags a word may have.

    T(x) = the tags listed for x, else those of x in lower case, else those given by a rule, else all tags

A dictionary is noisy and partial: a tag it does not list is unknown rather than forbidden, and words without an entry
may have every tag. Entries come from lists of words with tags (Wiktionary, a custom lexicon), from UniMorph, or from
tags projected onto the words of a text: there a tag is kept if it makes up at least a fifth of the tags of its word.
Tags outside the tag set are dropped and counted, so no word is ever left without any tag.
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
from weft.declared import Array, Stored
from weft.errors import ConfigError, DataError, FormatError, ModelError
from weft.lexical.universal_tags import UNIVERSAL_TAGS, unimorph_tag

#: A projected tag is kept for a word if it makes up at least this fraction of the word's projected tags.
THRESHOLD = 0.2
#: A number in any language: digits, with punctuation between them.
NUMBER = re.compile(r"[+-]?\d+(?:[.,:/–-]\d+)*")


class TagDictionary:
    """Words and the tags they may have.

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
            raise ConfigError(f"a tag dictionary needs distinct tags, but got {' '.join(tags)!r}")
        self.tags = tuple(tags)
        self.rules = rules
        self.dropped: Counter[str] = Counter()  # tags in entries but not in the tag set
        bit = {tag: 1 << k for k, tag in enumerate(self.tags)}
        self._bits: dict[str, int] = {}
        for word, word_tags in entries.items():
            bits = 0
            for tag in word_tags:
                if tag in bit:
                    bits |= bit[tag]
                else:
                    self.dropped[tag] += 1
            if bits:
                self._bits[word] = bits

    @classmethod
    def from_pairs(cls, pairs: Iterable[tuple[str, str]], tags: Sequence[str] = UNIVERSAL_TAGS) -> TagDictionary:
        """Build a dictionary from pairs of a word and a tag.

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
        """Keep the tags that make up at least `threshold` of the counts `[word, tag]` of each word.

        >>> TagDictionary.from_counts(["sun"], [[8, 2, 1]], tags=["NOUN", "VERB", "ADJ"], threshold=0.15).tags_of("sun")
        ('NOUN', 'VERB')
        """
        table = np.asarray(counts, dtype=np.float64)
        if table.shape != (len(words), len(tags)):
            raise DataError(f"counts must have one row per word and one column per tag, {len(words)} by {len(tags)}; "
                            f"given: {table.shape}")  # fmt: skip
        if not 0 < threshold <= 1:
            raise ConfigError(f"the threshold of a tag's share must be above 0 and at most 1, but is {threshold}")
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
        """Build a dictionary from the words of a text and the tags projected onto them ("" for none).

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
        """Read tab-separated lines of a word and a tag, or of UniMorph's lemma, form and features.

        `mapping` gives the universal tag of every tag in the file. Multiword entries are skipped.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     written = Path(folder, "sv.dic").write_text("hus\\tNOUN\\nren\\tADJ\\nren\\tVERB\\n")
        ...     TagDictionary.read(Path(folder, "sv.dic")).tags_of("ren")
        ('VERB', 'ADJ')
        """
        dictionary = cls.from_pairs(_read_pairs(path, mapping), tags)
        if not dictionary:
            unknown = f"; its tags are {', '.join(sorted(dictionary.dropped)[:12])}" if dictionary.dropped else ""
            raise DataError(f"{path} lists no word with one of the tags {' '.join(tags)}{unknown}")
        return dictionary

    @staticmethod
    def tags_in(paths: Iterable[str | Path]) -> tuple[str, ...]:
        """All tags in files of words with tags, in alphabetical order.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     written = Path(folder, "sv.dic").write_text("ren\\tV\\nhus\\tN\\nren\\tA\\n")
        ...     TagDictionary.tags_in([Path(folder, "sv.dic")])
        ('A', 'N', 'V')
        """
        all_tags = tuple(sorted({tag for path in paths for _, tag in _read_pairs(path, None)}))
        if not all_tags:
            raise DataError(f"there are no words with tags in {', '.join(map(str, paths))}")
        return all_tags

    def save(self, path: str | Path) -> None:
        """Write lines of a word and a tag, in word order."""
        from weft.formats.streams import open_output

        with open_output(str(path)) as file:
            for word, word_tags in sorted(self.items()):
                file.write("".join(f"{word}\t{tag}\n" for tag in word_tags).encode())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays for a model file: the words, and their tags as bits, in rows of bytes if there are many tags."""
        words = "\n".join(self._bits).encode()
        few = len(self.tags) <= 64
        return {
            "words": np.frombuffer(words, dtype=np.uint8).copy(),
            "bits": np.array([*self._bits.values()], np.uint64) if few else self._bytes(self._bits.values()),
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]], tags: Sequence[str], rules: bool = True) -> TagDictionary:
        """Restore the dictionary that `arrays` encoded.

        >>> own = TagDictionary({"hus": ["NOUN"], "ren": ["ADJ", "VERB"]})
        >>> dict(TagDictionary.from_arrays(own.arrays(), own.tags).items())
        {'hus': ('NOUN',), 'ren': ('VERB', 'ADJ')}
        """
        dictionary = cls({}, tags, rules)
        stored = Stored.of(arrays)
        words = bytes(stored.take(Array("words", "uint8", ("*",)))["words"]).decode()
        few = len(tags) <= 64
        shape: tuple[int | str, ...] = ("words",) if few else ("words", (len(tags) + 7) // 8)
        kept = stored.take(Array("bits", "uint64" if few else "uint8", shape))["bits"]
        bits = kept.tolist() if kept.ndim == 1 else [int.from_bytes(row.tobytes(), "little") for row in kept]
        if bits and not 0 < min(bits) <= max(bits) < 1 << len(tags):
            raise ModelError("words of the tag dictionary have no tags, or unknown ones: the model file is damaged")
        dictionary._bits = dict(zip(words.split("\n") if words else [], bits, strict=True))
        return dictionary

    def __len__(self) -> int:
        return len(self._bits)

    def __contains__(self, word: str) -> bool:
        """Whether the word itself is an entry."""
        return word in self._bits

    def items(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Words with their tags."""
        return ((word, self._unpack(bits)) for word, bits in self._bits.items())

    def tags_of(self, word: str) -> tuple[str, ...]:
        """The tags of a word, in tag-set order; none for an unknown word."""
        return self._unpack(self._lookup(word))

    def mask(self, words: Iterable[str]) -> Bools:
        """The tags that words may have, `[word, tag]`: all of them for unknown words."""
        full = (1 << len(self.tags)) - 1
        known: dict[str, int] = {}
        bits = (known[word] if word in known else known.setdefault(word, self._lookup(word) or full) for word in words)
        if len(self.tags) > 64:
            return np.unpackbits(self._bytes(bits), axis=1, count=len(self.tags), bitorder="little").astype(np.bool_)
        packed = np.fromiter(bits, dtype=np.uint64)
        shifts = np.arange(len(self.tags), dtype=np.uint64)
        return (packed[:, None] >> shifts & np.uint64(1)).astype(np.bool_)

    def covers(self, words: Sequence[str]) -> Bools:
        """Which words are known.

        >>> TagDictionary({"hus": ["NOUN"]}).covers(["hus", "ost", "!"]).tolist()
        [True, False, True]
        """
        known = {word: bool(self._lookup(word)) for word in set(words)}
        return np.fromiter(map(known.__getitem__, words), dtype=np.bool_, count=len(words))

    def __or__(self, other: TagDictionary) -> TagDictionary:
        """The union: every word with the tags of both."""
        if self.tags != other.tags:
            raise ConfigError(f"dictionaries with different tags cannot be joined: {self.tags} and {other.tags}")
        joined = TagDictionary({}, self.tags, self.rules or other.rules)
        joined._bits = dict(self._bits)
        for word, bits in other._bits.items():
            # The other dictionary's entry adds to this one's knowledge of the word, which may be listed in lower case.
            joined._bits[word] = bits | self._listed(word)
        for word in self._bits.keys() - other._bits.keys():
            joined._bits[word] |= other._listed(word)
        joined.dropped = self.dropped + other.dropped
        return joined

    def corrected(self, words: Iterable[str], tags_of_words: Iterable[str]) -> TagDictionary:
        """The dictionary with additional tags for some known words; other words stay unknown.

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
            word, tags = fields[1], [unimorph_tag(fields[2])]
        elif len(fields) == 2:
            word, tags = fields[0], fields[1].split()
        else:
            raise FormatError(
                str(path),
                number,
                "a word and its tags, or lemma, form and features, separated by tabs",
                repr(line[:60]),
            )
        for tag in tags:
            tag = tag if mapping is None else mapping.get(tag, "")
            if word and tag and not any(letter.isspace() for letter in word):
                yield word, tag
