"""Similarity of two words: 1 for the same word, less for a pair of paraphrases, 0 for all others.

    sim(s, t) = 1            if forms, lemmas or stems are equal
                ppdb         if forms or lemmas, or one of each, are a known pair
                0            else, and always between content words, function words and marks, and between two numbers

Forms are compared in lower case without `.`, `-` and `,` inside them, so that *U.S.* is *US*.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Floats, Keys
from weft.hashing import hash_strings
from weft.infer.alignment.contexts import CONTENT, FUNCTION, MARK, Bytes
from weft.kernel import kernel
from weft.lexical.paraphrases import Paraphrases, has_pair
from weft.lexical.stems import stem
from weft.ragged import Indices

_FUNCTION_WORDS = """
    a an the this that these those i me my myself mine we us our ours ourselves you your yours yourself yourselves
    he him his himself she her hers herself it its itself they them their theirs themselves what which who whom
    whose am is are was were be been being have has had having do does did doing done will would shall should can
    could may might must ought not no nor n't 's 'd 'll 're 've 'm s t d ll re ve m to of in on at by for with from
    into onto about against between through during before after above below up down out off over under again further
    then once here there when where why how all any both each few more most other some such only own same so than
    too very just now and but if or because as until while although though whether upon within without among amongst
    per via toward towards ca wo ai also yet cannot
"""
#: English words that carry grammar rather than content.
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())
#: Names in capitals that are function words in small letters.
_NAMES = frozenset({"US", "IT", "WHO"})
_DROPPED = str.maketrans("", "", ".-,")
_SAME, _NUMBER, _KNOWN = 1, 2, 4


class WordTable:
    """What similarity needs to know of every word type, by number: keys, kinds and flags."""

    def __init__(self, paraphrases: Paraphrases | None = None, functions: frozenset[str] = FUNCTION_WORDS) -> None:
        self.paraphrases, self.functions = paraphrases, functions
        self._numbers: dict[tuple[str, str], int] = {}
        self._symbols: dict[str, int] = {}
        self._fresh: list[tuple[str, str]] = []
        self.symbols = np.zeros(0, dtype=np.int64)
        self.kinds = np.zeros(0, dtype=np.uint8)
        self.flags = np.zeros(0, dtype=np.uint8)
        self.keys: Keys = np.zeros((0, 4), dtype=np.uint64)

    def numbers(self, forms: Sequence[str], lemmas: Sequence[str]) -> list[int]:
        """The numbers of words, new ones included."""
        known = self._numbers
        found = []
        for pair in zip(forms, lemmas, strict=True):
            number = known.get(pair)
            if number is None:
                number = known[pair] = len(known)
                self._fresh.append(pair)
            found.append(number)
        return found

    def settle(self) -> None:
        """Compute what is known of new words."""
        if not self._fresh:
            return
        lower = [form.lower() for form, _ in self._fresh]
        lemmas = [(lemma or form).lower() for form, lemma in self._fresh]
        bare = [form.translate(_DROPPED) or form for form in lower]
        stems = [stem(form) for form in bare]
        lemma_stems = [stem(lemma.translate(_DROPPED) or lemma) for lemma in lemmas]
        keys = np.stack([hash_strings(each) for each in (lower, lemmas, stems, lemma_stems)], axis=1)
        kinds = [self._kind(form) for form, _ in self._fresh]
        numeric = [any(letter.isdigit() for letter in form) for form in lower]
        flags = np.where(numeric, _NUMBER, 0).astype(np.uint8)
        if self.paraphrases is not None:
            flags |= np.where(
                self.paraphrases.known(keys[:, 0]) | self.paraphrases.known(keys[:, 1]), _KNOWN, 0
            ).astype(np.uint8)
        symbols = [self._symbols.setdefault(form, len(self._symbols)) for form in bare]
        self.keys = np.concatenate([self.keys, keys])
        self.kinds = np.concatenate([self.kinds, np.array(kinds, dtype=np.uint8)])
        self.flags = np.concatenate([self.flags, flags])
        self.symbols = np.concatenate([self.symbols, np.array(symbols, dtype=np.int64)])
        self._fresh = []

    def _kind(self, form: str) -> int:
        if not any(letter.isalnum() for letter in form):
            return MARK
        return FUNCTION if form.lower() in self.functions and form not in _NAMES else CONTENT

    def similarities(
        self, source: ArrayLike, target: ArrayLike, source_at: Indices, target_at: Indices, ppdb: float
    ) -> Floats:
        """The similarity of every pair of words of sentence pairs, given by their numbers; source by source."""
        self.settle()
        one, other = np.asarray(source, dtype=np.int64), np.asarray(target, dtype=np.int64)
        sizes = np.diff(source_at) * np.diff(target_at)
        cells_at = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        cells = np.zeros(int(cells_at[-1]))
        pairs = self.paraphrases.pairs if self.paraphrases is not None else np.zeros(4, dtype=np.uint64)
        _similarities(one, other, source_at, target_at, self.keys, self.kinds, self.flags, pairs, ppdb, cells)
        return cells


@kernel
def _similarities(
    source: Indices, target: Indices, source_at: Indices, target_at: Indices, keys: Keys, kinds: Bytes, flags: Bytes,
    pairs: Keys, ppdb: float, cells: Floats,
) -> None:  # fmt: skip
    cell = 0
    for pair in range(len(source_at) - 1):
        for i in range(source_at[pair], source_at[pair + 1]):
            a = source[i]
            for j in range(target_at[pair], target_at[pair + 1]):
                b = target[j]
                if kinds[a] == kinds[b]:
                    cells[cell] = _similarity(a, b, keys, kinds[a], flags[a], flags[b], pairs, ppdb)
                cell += 1


@kernel
def _similarity(a: int, b: int, keys: Keys, kind: int, a_flags: int, b_flags: int, pairs: Keys, ppdb: float) -> float:
    if keys[a, 0] == keys[b, 0]:
        return 1.0
    if kind == MARK:
        return 0.0
    if kind == FUNCTION:
        return 1.0 if keys[a, 1] == keys[b, 1] else 0.0
    if keys[a, 2] == keys[b, 2] or keys[a, 1] == keys[b, 1] or keys[a, 3] == keys[b, 3]:
        return 1.0
    if a_flags & _NUMBER and b_flags & _NUMBER:
        return 0.0
    if a_flags & _KNOWN and b_flags & _KNOWN:
        for x in range(2):
            for y in range(2):
                if has_pair(pairs, keys[a, x], keys[b, y]):
                    return ppdb
    return 0.0
