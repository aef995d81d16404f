"""Lexical constraints of the constituent parser, and sentences encoded for its search.

The tags that a string of characters may have as a word:

- a frequent word (count >= most / 5000 + 5) has only tags seen with it, any other word also every open tag;
- a closed tag allows only words seen with it;
- no word is longer than the longest word seen with its tag, except for numbers (CD);
- runs of digits and runs of Latin letters are not split, and count as one character.

Frequent subwords have only head directions seen with them. If these rules leave no tag, a single character (or run)
may have any open tag, so that every sentence can be parsed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.errors import ConfigError, ModelError
from weft.hashing import hash_strings
from weft.headers import Many, Named, Record, Table, Text, Whole
from weft.infer.constituents.system import DIRECTIONS, KNOWN, Subwords, Units, prefix_hashes, string_key
from weft.infer.constituents.templates import tagged_key
from weft.text.trees import Tree

#: Closed-class tags of the Chinese Treebank.
CLOSED = ("AS", "BA", "CC", "CS", "DEC", "DEG", "DER", "DEV", "DT", "ETC", "LB", "LC", "MSP", "P", "PN", "PU", "SB",
          "SP", "VC", "VE")  # fmt: skip
#: Tags of words of any length.
UNBOUNDED = ("CD",)
MOST_TAGS = 64
RULES = Record(
    tags=Many(Text(), least=1, distinct=True),
    seen=Table(),
    longest=Named(Whole(1, 10_000)),
    strict=Many(Text()),
    closed=Many(Text()),
)
_RUN = re.compile(r"[0-9０-９]+|[A-Za-zＡ-Ｚａ-ｚ]+")
_DIRECTION_BITS = (1 << len(DIRECTIONS)) - 1


def frequent(counts: Counter[str]) -> float:
    """The count from which a string is frequent."""
    return max(counts.values(), default=0) / 5000 + 5


class WordRules:
    """Tags that words may have.

    >>> rules = WordRules([("的", "DEG"), ("书", "NN"), ("新书", "NN")] + 9 * [("了", "AS")], closed=("AS", "DEG"))
    >>> rules.tags, rules.allowed("了", 1), rules.allowed("书", 1), rules.allowed("天", 3)
    (['AS', 'DEG', 'NN'], ['AS'], ['NN'], [])
    """

    def __init__(self, words: Iterable[tuple[str, str]], closed: Sequence[str] = CLOSED) -> None:
        pairs = Counter(words)
        self.tags = sorted({tag for _, tag in pairs})
        if len(self.tags) > MOST_TAGS:
            raise ConfigError(
                f"the data has {len(self.tags)} word tags; the constituent parser supports at most {MOST_TAGS}"
            )
        counts: Counter[str] = Counter()
        seen: dict[str, int] = {}
        longest = dict.fromkeys(self.tags, 1)
        for (word, tag), count in pairs.items():
            counts[word] += count
            seen[word] = seen.get(word, 0) | 1 << self.tags.index(tag)
            longest[tag] = max(longest[tag], _length(word))
        often = frequent(counts)
        self.seen = seen
        self.strict = {word for word, count in counts.items() if count >= often}
        self.longest = longest
        self.closed = [tag for tag in closed if tag in self.tags]
        self._fill()

    def _fill(self) -> None:
        bound = max(self.longest.values(), default=1)
        ranks = [(1 << k, self.longest[tag], tag) for k, tag in enumerate(self.tags) if tag not in self.closed]
        # If all tags are closed, treat them as open: an unknown word needs some tag.
        ranks = ranks or [(1 << k, 1, tag) for k, tag in enumerate(self.tags)]
        self.open = [sum(bit for bit, most, tag in ranks if k <= most or tag in UNBOUNDED) for k in range(bound + 1)]
        self.any = sum(bit for bit, _, _ in ranks)

    def mask(self, word: str, length: int) -> int:
        """The tags of a word as a bit mask."""
        if length >= len(self.open):
            return 0
        if word not in self.seen:
            return self.open[length]
        return self.seen[word] if word in self.strict else self.seen[word] | self.open[length]

    def allowed(self, word: str, length: int) -> list[str]:
        """The tags of a word."""
        return [tag for k, tag in enumerate(self.tags) if self.mask(word, length) >> k & 1]

    def state(self) -> dict[str, Any]:
        """The rules as plain values."""
        return {"tags": self.tags, "seen": self.seen, "strict": sorted(self.strict), "longest": self.longest,
                "closed": self.closed}  # fmt: skip

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> WordRules:
        """Restore the rules from their state."""
        RULES.check(state, "rules")
        tags = state["tags"]
        Named(Whole(1, (1 << len(tags)) - 1)).check(state["seen"], "rules.seen")
        if state["longest"].keys() != set(tags):
            raise ModelError("the word rules have other tags than lengths: the model file is damaged")
        rules = cls([])
        rules.tags, rules.seen, rules.longest = list(state["tags"]), dict(state["seen"]), dict(state["longest"])
        rules.strict, rules.closed = set(state["strict"]), list(state["closed"])
        rules._fill()
        return rules


def _length(word: str) -> int:
    """The number of characters of a word, counting each run once."""
    return len(_RUN.sub("0", word))


def units_of(
    sentences: Sequence[Sequence[str]],
    rules: WordRules,
    tags: Sequence[Sequence[str]] | None = None,
    cuts: Sequence[Iterable[int]] | None = None,
    exact: bool = False,
) -> tuple[Units, NDArray[np.int64]]:
    """Sentences of characters or, with their `tags`, of words.

    `cuts` are ends of words, possibly inside runs; with `exact` there are no other word boundaries.

    >>> units, sentences = units_of(["新书"], WordRules([("新", "JJ"), ("新书", "NN")], closed=()))
    >>> units.longest.tolist(), sentences.tolist()
    ([[1, 2], [1, 1]], [0, 2])
    """
    flat = [unit for sentence in sentences for unit in sentence]
    offsets = np.cumsum([0, *map(len, sentences)]).astype(np.int64)
    keys = hash_strings(flat) if flat else np.zeros(0, dtype=np.uint64)
    prefix = np.zeros(len(flat) + len(sentences) + 1, dtype=np.uint64)
    prefix_hashes(keys, offsets, prefix)
    given = np.full(len(flat), -1, dtype=np.int32)
    rows: list[list[int]] = []
    if tags is not None:
        number = {tag: k for k, tag in enumerate(rules.tags)}
        given = np.array([number.get(tag, -1) for sentence in tags for tag in sentence], dtype=np.int32)
        rows = [[0, 1 << int(tag) if tag >= 0 else rules.any] for tag in given]
    else:
        for s, sentence in enumerate(sentences):
            text, known = "".join(sentence), set(cuts[s]) if cuts is not None else set()
            rows += _given_masks(text, rules, known) if exact else _masks(text, rules, known)
    allowed = np.zeros((len(rows), max(map(len, rows), default=2)), dtype=np.uint64)
    for k, row in enumerate(rows):
        allowed[k, : len(row)] = row
    bits = np.arange(len(rules.tags), dtype=np.uint64)
    longest = np.zeros((len(rows), len(rules.tags)), dtype=np.int32)
    for k in range(1, allowed.shape[1]):
        longest[(allowed[:, k : k + 1] >> bits) & np.uint64(1) != 0] = k
    return Units(keys, given, allowed, longest, prefix), offsets


def _masks(text: str, rules: WordRules, cuts: set[int]) -> list[list[int]]:
    """For every character, the tags (as bit masks) of the words of 0, 1, 2 ... characters that start there."""
    inside = [False] * (len(text) + 1)  # True if no word may start or end before this character
    for run in _RUN.finditer(text):
        for at in range(run.start() + 1, run.end()):
            inside[at] = at not in cuts
    found = []
    for begin in range(len(text)):
        row = [0]
        length = 0
        least = 0
        if not inside[begin]:
            for end in range(begin + 1, len(text) + 1):
                length += not inside[end - 1]
                if length >= len(rules.open):
                    break
                row.append(0 if inside[end] else rules.mask(text[begin:end], length))
                least = least or (0 if inside[end] else end - begin)
            if not any(row):
                row[least] = rules.any
        found.append(row)
    return found


def _given_masks(text: str, rules: WordRules, cuts: set[int]) -> list[list[int]]:
    """The same for given words."""
    found: list[list[int]] = [[0] for _ in text]
    begin = 0
    for end in sorted(cuts):
        word = text[begin:end]
        found[begin] = [0] * len(word) + [rules.mask(word, _length(word)) or rules.any]
        begin = end
    return found


def subwords_of(trees: Iterable[Tree], tags: Sequence[str]) -> Subwords:
    """Statistics of the multi-character parts of word trees (TAG#t ...)."""
    counts: Counter[str] = Counter()
    tagged: Counter[tuple[str, str]] = Counter()
    directions: dict[str, int] = {}
    for tree in trees:
        for node in tree.nodes():
            label, _, kind = node.label.rpartition("#")
            if not node.is_leaf and kind in DIRECTIONS:
                text = "".join(leaf.word for leaf in node.leaves())
                counts[text] += 1
                tagged[text, label] += 1
                directions[text] = directions.get(text, 0) | 1 << DIRECTIONS.index(kind)
    often = frequent(counts)
    texts = [text for text, count in counts.items() if count > 5 or count >= often]
    number = {tag: k for k, tag in enumerate(tags)}
    key = {text: _string_key(text) for text in texts}
    bits = {
        key[text]: (directions[text] if counts[text] >= often else _DIRECTION_BITS) | (KNOWN if counts[text] > 5 else 0)
        for text in texts
    }
    order = sorted(bits)
    known = sorted(
        int(tagged_key(np.uint64(key[text]), number[tag])) for (text, tag), count in tagged.items() if count > 5
    )
    return Subwords(
        np.array(order, dtype=np.uint64), np.array([bits[each] for each in order], dtype=np.uint8),
        np.array(known, dtype=np.uint64),
    )  # fmt: skip


def _string_key(text: str) -> int:
    prefix = np.zeros(len(text) + 1, dtype=np.uint64)
    prefix_hashes(hash_strings(list(text)), np.array([0, len(text)]), prefix)
    return int(string_key(prefix, 0, len(text)))
