"""From documents to segment models: features of words, pairs and skipped words, indexed for training, then frozen.

Templates come in three blocks, in the usual template language:

    node:     templates at a selected word (the block without a name)
    pair:     templates applied to both words of an edge and combined:  w[0] gives the pair of words
    between:  templates applied to every word that an edge skips

The binned distance of a pair and its state (next or skip) are always features.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.arrays import Floats, Ints, Keys
from weft.deadline import check
from weft.declared import Stored
from weft.errors import DataError, TemplateError
from weft.features.extract import Extractor
from weft.features.index import FeatureIndex, HashedIndex
from weft.features.program import Features
from weft.features.templates import Templates
from weft.features.weights import FrozenTable, Layout
from weft.hashing import hash_string, join
from weft.headers import Many, Record, Text, Whole
from weft.infer.chains.multilabel import MultilabelSegments, Restrictions, Segment, SegmentScores
from weft.kernel import kernel
from weft.learn.chains.model import FeatureRows
from weft.learn.chains.segment_model import ROLES, SegmentBatch, SegmentModel, assemble, pair_offsets
from weft.storage import Arrays
from weft.text.doc import Doc

BLOCKS = ("node", "pair", "between")
#: Features of about this many words are computed at once: those of pairs take some 10 KB per word.
PIECE = 5_000
#: Upper ends of the distance bins 1, 2, 3, 4, 5-7, 8-12, 13 and more.
RANGES = np.array([1, 2, 3, 4, 7, 12], dtype=np.int64)
_DISTANCE, _SKIP, _NEXT = (np.uint64(hash_string(name)) for name in ("distance", "skip", "next"))


class SegmentReader:
    """Extracts the features of segments from documents.

    >>> reader = SegmentReader(Templates("true w[0]\\npair: w[0]\\nbetween: w[0].lower"), {"w": "form"}, gap=2)
    >>> words, pairs, between, sentences = reader.features(Doc.from_words([["a", "b", "c"]]))
    >>> words.offsets.tolist(), pairs.offsets.tolist()  # pairs (0, 1), (0, 2), (1, 2): distance, words, words and state
    ([0, 2, 4, 6], [0, 3, 6, 9])
    """

    def __init__(self, templates: Templates, fields: Mapping[str, str], gap: int) -> None:
        unknown = set(templates.blocks) - set(BLOCKS)
        if unknown or templates.order:
            raise TemplateError(
                f"segments have the blocks {', '.join(BLOCKS)}, without labels (y); got {', '.join(templates.blocks)}"
            )
        if any(atom.bag for template in templates.blocks.get("pair", []) for atom in template.atoms):
            raise TemplateError("templates of pairs cannot use bags {a..b}: write [offset]")
        self.gap = gap
        self._extractors = {name: Extractor(templates.blocks.get(name, []), fields) for name in BLOCKS}
        self._n_pairs = len(templates.blocks.get("pair", []))

    def features(self, doc: Doc) -> tuple[Features, Features, Features, Ints]:
        """Features of words, pairs and skipped words of a document, and the offsets of its sentences."""
        words, sentences = self._extractors["node"].features([doc])
        between, _ = self._extractors["between"].features([doc])
        at_words, _ = self._extractors["pair"].features([doc])
        table = np.zeros((doc.n_words, self._n_pairs), dtype=np.uint64)
        table[np.repeat(np.arange(doc.n_words), np.diff(at_words.offsets)), at_words.template] = at_words.keys
        size = sum(int(pair_offsets(n, self.gap)[-1]) for n in np.diff(sentences).tolist())
        keys = np.empty(size * (1 + 2 * self._n_pairs), dtype=np.uint64)
        offsets = np.zeros(size + 1, dtype=np.int64)
        total = _pair_keys(table, sentences, self.gap or doc.n_words, RANGES, _DISTANCE, _SKIP, _NEXT, keys, offsets)
        template = np.zeros(0, dtype=np.int16)
        return words, Features(keys[:total], offsets, np.zeros(0), template), between, sentences


def sentences_of(
    sentences: Ints, gap: int, blocks: Sequence[FeatureRows]
) -> Iterator[tuple[FeatureRows, FeatureRows, FeatureRows]]:
    """The features of every sentence of a document."""
    node, pair, between = blocks
    first_pair = 0
    for first, end in zip(sentences[:-1].tolist(), sentences[1:].tolist(), strict=True):
        end_pair = first_pair + int(pair_offsets(end - first, gap)[-1])
        yield node.cut(first, end), pair.cut(first_pair, end_pair), between.cut(first, end)
        first_pair = end_pair


@dataclass
class SegmentData:
    """A training set with its model and feature indexes."""

    reader: SegmentReader
    types: list[str]
    model: SegmentModel
    indexes: tuple[FeatureIndex | HashedIndex, ...]
    batches: list[SegmentBatch]

    @classmethod
    def build(
        cls,
        reader: SegmentReader,
        docs: Sequence[Doc],
        gold: Sequence[Sequence[Segment]],
        types: Sequence[str],
        restrictions: Restrictions,
        threshold: float = 0.0,
        k: int = 0,
        min_count: int = 1,
        hash_bits: int = 0,
    ) -> SegmentData:
        """Index the features of documents; `gold` contains the segments of every sentence."""
        indexes: list[FeatureIndex | HashedIndex] = [
            HashedIndex(hash_bits) if hash_bits else FeatureIndex() for _ in BLOCKS
        ]
        read: list[tuple[Ints, list[FeatureRows]]] = []
        for doc in docs:
            *features, sentences = reader.features(doc)
            rows = [
                FeatureRows(
                    index.add(each.keys) if isinstance(index, FeatureIndex) else index.rows(each.keys),
                    each.offsets,
                    each.values,
                )
                for index, each in zip(indexes, features, strict=True)
            ]
            read.append((sentences, rows))
        if min_count > 1 and not hash_bits:
            for b, index in enumerate(indexes):
                assert isinstance(index, FeatureIndex)
                keep = index.counts >= min_count
                renumbered = np.where(keep, np.cumsum(keep) - 1, -1).astype(np.int32)
                indexes[b] = index.select(keep)
                for _, rows in read:
                    rows[b] = FeatureRows(renumbered[rows[b].rows], rows[b].offsets, rows[b].values)
        cut = [each for sentences, rows in read for each in sentences_of(sentences, reader.gap, rows)]
        if len(cut) != len(gold):
            raise DataError(f"there are {len(cut)} sentences, but gold segments for {len(gold)}")
        batches = [
            SegmentBatch(node, pair, between, [list(segments)], np.ones(1))
            for (node, pair, between), segments in zip(cut, gold, strict=True)
        ]
        sizes = (len(indexes[0]), len(indexes[1]), len(indexes[2]))
        model = SegmentModel(len(types), sizes, restrictions, threshold, k)
        return cls(reader, list(types), model, tuple(indexes), batches)

    def encode(self, doc: Doc) -> list[SegmentBatch]:
        """Encode the sentences of a document with the same indexes; unseen features have no weight."""
        *features, sentences = self.reader.features(doc)
        rows = [
            FeatureRows(index.rows(each.keys), each.offsets, each.values)
            for index, each in zip(self.indexes, features, strict=True)
        ]
        cut = sentences_of(sentences, self.reader.gap, rows)
        return [SegmentBatch(node, pair, between, None, np.ones(1)) for node, pair, between in cut]

    def freeze(self, weights: Floats, precision: str = "float32", prune: float = 0.0) -> SegmentScorer:
        """The trained model in its compact form."""
        tables = []
        for index, block in zip(self.indexes, self.model.blocks(weights), strict=True):
            rows, width = block.shape
            layout = Layout(
                np.arange(rows + 1, dtype=np.int64) * width, np.tile(np.arange(width, dtype=np.int32), rows), width
            )
            tables.append(FrozenTable.freeze(index, layout, block.ravel(), precision, prune))
        return SegmentScorer(self.reader, self.types, tables)


HEADER = Record(types=Many(Text(), least=1, distinct=True), bits=Whole(1, 64))


class SegmentScorer:
    """A trained model, which turns documents into scores of segments."""

    def __init__(self, reader: SegmentReader, types: Sequence[str], tables: Sequence[FrozenTable]) -> None:
        self.reader, self.types, self.tables = reader, list(types), list(tables)

    def segments(self, doc: Doc, restrictions: Restrictions, threshold: float = 0.0, k: int = 0) -> MultilabelSegments:
        """The scores of a document's sentences, ready for inference."""
        return MultilabelSegments(list(self.scores(doc)), restrictions, threshold, k)

    def scores(self, doc: Doc) -> Iterator[SegmentScores]:
        """The scores of a document's sentences, one by one: they are larger than what they are computed from."""
        if doc.n_words <= PIECE:
            yield from self._scores(doc)
            return
        part = np.cumsum(np.diff(doc.sentence_offsets)) // PIECE
        for number in np.unique(part).tolist():
            yield from self._scores(doc.subset(np.flatnonzero(part == number).tolist()))

    def _scores(self, doc: Doc) -> Iterator[SegmentScores]:
        *features, sentences = self.reader.features(doc)
        node, pair, between = (
            table.score(each.keys, each.offsets, each.values) for table, each in zip(self.tables, features, strict=True)
        )
        first_pair = 0
        for first, end in zip(sentences[:-1].tolist(), sentences[1:].tolist(), strict=True):
            check()
            end_pair = first_pair + int(pair_offsets(end - first, self.reader.gap)[-1])
            yield assemble(node[first:end], pair[first_pair:end_pair], between[first:end], self.reader.gap)
            first_pair = end_pair

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """The contents of a model file."""
        arrays = {
            f"{name}/{key}": array
            for name, table in zip(BLOCKS, self.tables, strict=True)
            for key, array in table.arrays.items()
        }
        return {"types": self.types, "bits": self.tables[0].bits}, arrays

    @classmethod
    def from_state(cls, reader: SegmentReader, header: Mapping[str, Any], arrays: Arrays) -> SegmentScorer:
        HEADER.check(header, "segments")
        stored, types, tables = Stored.of(arrays), header["types"], []
        for name in BLOCKS:
            width = len(types) * (ROLES if name == "node" else 1)
            tables.append(FrozenTable(stored.under(f"{name}/"), width, header["bits"]))
        return cls(reader, types, tables)


@kernel
def _pair_keys(
    table: Keys,
    sentences: Ints,
    gap: int,
    ranges: Ints,
    distance: np.uint64,
    skip: np.uint64,
    near: np.uint64,
    keys: Keys,
    offsets: Ints,
) -> int:
    out = 0
    p = 0
    for s in range(len(sentences) - 1):
        first, end = sentences[s], sentences[s + 1]
        for i in range(first, end):
            for j in range(max(first, i - gap), i):
                bin_number = 0
                while bin_number < len(ranges) and i - j > ranges[bin_number]:
                    bin_number += 1
                keys[out] = join(distance, np.uint64(bin_number + 1))
                out += 1
                for t in range(table.shape[1]):
                    if table[j, t] != np.uint64(0) and table[i, t] != np.uint64(0):
                        # Once for the pair alone, once with its state.
                        keys[out] = join(table[j, t], table[i, t])
                        keys[out + 1] = join(keys[out], skip if i - j > 1 else near)
                        out += 2
                p += 1
                offsets[p] = out
    return out
