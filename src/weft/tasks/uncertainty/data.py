"""From observed documents to training data: sparse rows of sentences, and sequences with label history.

A template is split into its observations of the input and of previous labels (`LABEL`): the first part gives the key of
a feature, the second its pattern. Keys are mapped to weights by hashing to `bits` bits, or exactly, by a sorted list of
the keys seen in training (`bits=0`). For hashed features, a bit table tells, with few false positives, which were seen:
unseen ones would otherwise use the weights of other features.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Bools, Floats, Keys
from weft.declared import Array, Stored
from weft.errors import ConfigError, TemplateError
from weft.features.extract import Extractor
from weft.features.templates import Template, Templates
from weft.hashing import hash_string
from weft.headers import Many, Record, Row, Whole, check_same
from weft.infer.chains.beam import Patterns
from weft.learn.online.history_margin import HistoryData
from weft.ragged import Indices, States
from weft.tasks.uncertainty.features import FIELDS
from weft.text.doc import Doc

LABEL = "LABEL"
#: Sentence templates that score the class of certain sentences: biases.
BIASES = frozenset({"SENLEN", "DOCPT"})
#: Additional hash bits of the table that distinguishes seen from unseen features.
_FINER = 3


@dataclass(frozen=True)
class Observed:
    """The features of words: keys by word, with the number of their template; a key occurs once per word."""

    templates: tuple[Template, ...]
    keys: Keys
    word: Indices
    template: NDArray[np.int16]
    sentences: Indices

    def choose(self, wanted: Sequence[int]) -> Observed:
        """Keep the features of some templates, so that one extraction serves any subset of templates."""
        mask = np.isin(self.template, np.array(wanted, dtype=np.int16))
        return replace(self, keys=self.keys[mask], word=self.word[mask], template=self.template[mask])

    def take(self, sentences: Sequence[int] | Indices) -> Observed:
        """Select sentences, in the given order."""
        chosen = np.asarray(sentences, dtype=np.int64)
        lengths = np.diff(self.sentences)[chosen]
        bounds = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        words = np.repeat(self.sentences[chosen] - bounds[:-1], lengths) + np.arange(bounds[-1])
        starts = np.searchsorted(self.word, words)
        counts = np.searchsorted(self.word, words, side="right") - starts
        ends = np.cumsum(counts)
        rows = np.repeat(starts - (ends - counts), counts) + np.arange(ends[-1] if len(ends) else 0)
        place = np.repeat(np.arange(len(words)), counts)
        return Observed(self.templates, self.keys[rows], place, self.template[rows], bounds)


def look(seen: Doc, templates: Templates) -> Observed:
    """Extract the features of an observed document.

    >>> from weft.tasks.uncertainty.features import observe
    >>> found = look(observe([Doc.from_words([["It", "may", "rain"]])]), Templates("TOKEN[0] LABEL{-2..-1}|LEMMA[0]"))
    >>> found.word.tolist(), found.template.tolist()
    ([0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1])
    """
    written = tuple(templates)
    if templates.order:
        raise TemplateError(
            f"previous labels are written LABEL[-1] or LABEL{{-2..-1}} here, not y, in {templates.text!r}"
        )
    inputs = [Template(tuple(atom for atom in each.atoms if atom.field != LABEL)) for each in written]
    features, sentences = Extractor(inputs, FIELDS).features([seen])
    # Templates that differ only in their labels must not share keys.
    seeds = np.array([hash_string(str(each)) if _history(each) else 0 for each in written], dtype=np.uint64)
    keys = features.keys ^ seeds[features.template]
    word = np.repeat(np.arange(len(features.offsets) - 1), np.diff(features.offsets))
    order = np.lexsort((keys, features.template, word))
    keys, word, template = keys[order], word[order], features.template[order]
    fresh = np.ones(len(keys), dtype=bool)
    fresh[1:] = (keys[1:] != keys[:-1]) | (word[1:] != word[:-1])
    return Observed(written, keys[fresh], word[fresh], template[fresh], sentences)


HEADER = Record(
    bits=Whole(0, 30), labels=Whole(1, 100), patterns=Many(Many(Row((Whole(-1000, 0), Whole(-1000, 0))))), size=Whole(1)
)
INDEX = (
    Array("keys", "uint64", ("keys",), rising=True),
    Array("starts", "int64", ("keys",), below="size", rising=True),
)


@dataclass(frozen=True)
class Space:
    """Maps features to weights: hashed, or by the keys seen in training."""

    bits: int
    n_labels: int
    patterns: tuple[tuple[tuple[int, int], ...], ...]  # LABEL patterns of templates, by number
    keys: Keys  # sorted; empty where features are hashed
    starts: Indices  # first weight of each key
    size: int
    met: Bools = field(default_factory=lambda: np.zeros(0, dtype=bool))  # whether a hash of `bits` + 3 bits was seen

    @classmethod
    def of(cls, observed: Observed, n_labels: int, bits: int) -> Space:
        """The space of training data."""
        if not 0 <= bits <= 30:
            raise ConfigError(f"hash_bits must be from 0 (no hashing) to 30, got {bits}")
        patterns = patterns_of(observed.templates)
        none = np.zeros(0, dtype=np.int64)
        if bits:
            met = np.zeros(1 << (bits + _FINER), dtype=bool)
            met[_upper(observed.keys, bits + _FINER)] = True
            return cls(bits, n_labels, patterns, np.zeros(0, dtype=np.uint64), none, n_labels << bits, met)
        keys, first = np.unique(observed.keys, return_index=True)
        number = _pattern_numbers(observed.templates, patterns)[observed.template[first]]
        sizes = np.concatenate([Patterns.of(patterns).sizes(n_labels), [1]])[number] * n_labels
        ends = np.cumsum(sizes)
        return cls(0, n_labels, patterns, keys, ends - sizes, int(ends[-1]) if len(ends) else 1)

    def base(self, keys: Keys) -> tuple[Keys, Bools]:
        """The first weights of keys, and whether each key is known."""
        if self.bits:
            return keys, self.met[_upper(keys, self.bits + _FINER)]
        if not len(self.keys):
            return keys, np.zeros(len(keys), dtype=bool)
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return self.starts[at].astype(np.uint64), self.keys[at] == keys

    def sequences(
        self, observed: Observed, gold: States | None = None, weight: Floats | None = None, legal: Bools | None = None
    ) -> HistoryData:
        """Sequences of words, one per sentence."""
        base, known = self.base(observed.keys)
        number = _pattern_numbers(observed.templates, self.patterns)[observed.template]
        if not self.bits:  # a file may know a key by another template, with fewer weights
            spans = np.concatenate([Patterns.of(self.patterns).sizes(self.n_labels), [1]])[number] * self.n_labels
            known &= base.astype(np.int64) + spans <= self.size
        past = (number < len(self.patterns)) & known
        plain = (number == len(self.patterns)) & known
        n = int(observed.sentences[-1])
        return HistoryData(
            observed.sentences, _offsets(observed.word[plain], n), base[plain],
            np.full(int(plain.sum()), -1, dtype=np.int8), _offsets(observed.word[past], n), base[past],
            number[past].astype(np.int32), Patterns.of(self.patterns), self.n_labels, self.size, self.bits, gold,
            weight, legal,
        )  # fmt: skip

    def sentences(self, observed: Observed, gold: States | None = None, weight: Floats | None = None) -> HistoryData:
        """Sentences as sequences of one position with two labels; biases score label 0, all other features label 1."""
        keys, sentence, bias = sentence_features(observed)
        base, known = self.base(keys)
        if not self.bits:
            known &= base.astype(np.int64) + 2 <= self.size
        n = len(observed.sentences) - 1
        whole = np.arange(n + 1, dtype=np.int64)
        return HistoryData(
            whole, _offsets(sentence[known], n), base[known], np.where(bias[known], 0, 1).astype(np.int8), 0 * whole,
            base[:0], np.zeros(0, dtype=np.int32), Patterns.of([]), 2, self.size, self.bits, gold, weight,
        )  # fmt: skip

    def rows(self, observed: Observed) -> Any:
        """Sentences as sparse rows, one column per feature."""
        from scipy.sparse import csr_matrix

        keys, sentence, _ = sentence_features(observed)
        values = np.ones(len(keys))
        _, known = self.base(keys)
        if self.bits:
            values[(keys & np.uint64(1)) == 0] = -1.0  # as in `weft.infer.chains.beam.slot`
            columns, width = _upper(keys, self.bits), 1 << self.bits
        else:
            columns, width = np.searchsorted(self.keys, keys), max(len(self.keys), 1)
        columns, sentence, values = columns[known], sentence[known], values[known]
        return csr_matrix((values, (sentence, columns)), shape=(len(observed.sentences) - 1, width))

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        header = {"bits": self.bits, "labels": self.n_labels, "patterns": self.patterns, "size": self.size}
        return header, {"met": np.packbits(self.met)} if self.bits else {"keys": self.keys, "starts": self.starts}

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Space:
        HEADER.check(header)
        bits, labels, size = header["bits"], header["labels"], header["size"]
        patterns = tuple(tuple((lo, hi) for lo, hi in pattern) for pattern in header["patterns"])
        stored = Stored.of(arrays)
        if bits:
            check_same("size", size, labels << bits)
            (packed,) = stored.take(Array("met", "uint8", (1 << (bits + _FINER - 3),))).values()
            none = np.zeros(0, dtype=np.int64)
            return cls(bits, labels, patterns, none.astype(np.uint64), none, size, np.unpackbits(packed).astype(bool))
        keys, starts = map(np.array, stored.take(*INDEX, size=size).values())
        return cls(bits, labels, patterns, keys, starts, size)


def patterns_of(templates: Iterable[Template]) -> tuple[tuple[tuple[int, int], ...], ...]:
    """The different patterns of previous labels in templates."""
    return tuple(dict.fromkeys(filter(None, map(_history, templates))))


def sentence_features(observed: Observed) -> tuple[Keys, Indices, Bools]:
    """The union of the features of the words of every sentence: keys, their sentences, and which are biases."""
    number = np.searchsorted(observed.sentences, observed.word, side="right") - 1
    order = np.lexsort((observed.keys, number))
    keys, number, template = observed.keys[order], number[order], observed.template[order]
    fresh = np.ones(len(keys), dtype=bool)
    fresh[1:] = (keys[1:] != keys[:-1]) | (number[1:] != number[:-1])
    biases = np.array(
        [{atom.field for atom in each.atoms} <= BIASES and not _history(each) for each in observed.templates]
    )
    return keys[fresh], number[fresh], biases[template[fresh]]


def class_weights(gold: NDArray[Any], n_classes: int = 2) -> Floats:
    """The inverse proportion of each item's class.

    >>> class_weights(np.array([0, 0, 0, 1])).tolist()
    [1.3333333333333333, 1.3333333333333333, 1.3333333333333333, 4.0]
    """
    counts = np.bincount(gold, minlength=n_classes)
    return len(gold) / np.maximum(counts, 1)[gold].astype(np.float64)


def _upper(keys: Keys, bits: int) -> Indices:
    return (keys >> np.uint64(64 - bits)).astype(np.int64)


def _history(template: Template) -> tuple[tuple[int, int], ...]:
    return tuple((atom.lo, atom.hi) for atom in template.atoms if atom.field == LABEL)


def _pattern_numbers(templates: Sequence[Template], patterns: Sequence[Any]) -> NDArray[np.int64]:
    """The number of each template's pattern; templates without labels have the number after the last."""
    known = {pattern: number for number, pattern in enumerate(patterns)}
    return np.array([known.get(_history(each), len(patterns)) for each in templates], dtype=np.int64)


def _offsets(place: Indices, n: int) -> Indices:
    return np.searchsorted(place, np.arange(n + 1)).astype(np.int64)
