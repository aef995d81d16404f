"""From documents to chains of candidates: indexes and layouts, training batches, scoring with frozen tables.

Labels consist of parts. Templates come in two blocks: templates in `parts` have weights for the parts of a label, those
in `whole` also for complete labels. Features are only indexed at words with more than one candidate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats, Ints, Keys, Rows
from weft.declared import Array, Stored
from weft.errors import TemplateError
from weft.features.extract import Binding, Extractor
from weft.features.index import FeatureIndex
from weft.features.templates import Template, Templates
from weft.features.weights import FrozenTable, Layout
from weft.infer.chains.candidates import CandidateChain
from weft.kernel import kernel
from weft.learn.chains.candidate_model import CandidateBatch, CandidateModel, LabelParts, chain_of, score_slots
from weft.learn.chains.model import FeatureRows
from weft.storage import Arrays
from weft.tasks.labelling.candidate_lists import CandidateLists
from weft.text.doc import Doc

Found = tuple[Keys, Ints, Floats, NDArray[np.int16], Ints]


class CandidateReader:
    """Extracts features and candidates of words whose groups (parts of speech) are known.

    `parts` and `orders` describe the parts of labels, as returned by `LabelParts.from_names`.
    """

    def __init__(
        self,
        templates: Templates,
        fields: Mapping[str, Binding],
        lists: CandidateLists,
        parts: LabelParts,
        orders: NDArray[np.int8],
    ) -> None:
        unknown = set(templates.blocks) - {"parts", "whole"}
        if unknown or templates.order:
            raise TemplateError(
                "templates for candidates belong in the blocks parts: and whole:, without labels (y); "
                f"got the blocks {', '.join(templates.blocks)}"
            )
        bits: dict[Template, int] = {}
        for name, bit in (("parts", 1), ("whole", 3)):
            for template in templates.blocks.get(name, []):
                bits[template] = bits.get(template, 0) | bit
        self.bits = np.array(list(bits.values()), dtype=np.int64)
        self.lists, self.parts, self.orders = lists, parts, orders
        self._extractor = Extractor(list(bits), fields)

    def read(self, docs: Sequence[Doc], groups: NDArray[Any]) -> tuple[Found, Ints, Rows]:
        """Features of words with several candidates (keys, offsets, values, templates), sentences, slots and their
        labels."""
        slots, labels = self.lists.slots(docs, groups)
        inputs = self._extractor.inputs(docs)
        features = self._extractor.program.run(inputs, np.diff(slots) > 1)
        return (*features, inputs.sentences), slots, labels


@dataclass
class CandidateData:
    """A training set as one batch, with the model over it."""

    reader: CandidateReader
    model: CandidateModel
    index: FeatureIndex
    batch: CandidateBatch

    @classmethod
    def build(
        cls, reader: CandidateReader, docs: Sequence[Doc], groups: NDArray[Any], labels: Rows, min_count: int
    ) -> CandidateData:
        """Index the features of documents, given the numbers of their groups and labels."""
        parts, orders = reader.parts, reader.orders
        (keys, offsets, values, template, sentences), slots, candidates = reader.read(docs, groups)
        slots, candidates, gold = with_gold(slots, candidates, labels)
        index = FeatureIndex()
        open_words = np.repeat(np.diff(slots) > 1, np.diff(offsets))
        rows = np.full(len(keys), -1, dtype=np.int32)
        rows[open_words] = index.add(np.ascontiguousarray(keys[open_words]))
        if min_count > 1:
            keep = index.counts >= min_count
            renumbered = np.append(np.where(keep, np.cumsum(keep) - 1, -1), -1).astype(np.int32)
            rows, index = renumbered[rows], index.select(keep)
        pairs = FeatureIndex()
        for first in range(0, len(labels), 20_000):
            end = min(first + 20_000, len(labels))
            a, b = offsets[first], offsets[end]
            bound = int((np.diff(parts.starts)[labels[first:end]] * np.diff(offsets[first : end + 1])).sum())
            codes = np.empty(bound, dtype=np.uint64)
            size = _seen(
                rows[a:b], offsets[first : end + 1] - a, template[a:b], reader.bits, labels[first:end],
                parts.starts, parts.columns, orders, codes,
            )  # fmt: skip
            pairs.add(codes[:size])
        seen = np.sort(pairs.keys())
        counts = np.bincount((seen // np.uint64(parts.n_columns)).astype(np.int64), minlength=len(index))
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        layout = Layout(starts, (seen % np.uint64(parts.n_columns)).astype(np.int32), parts.n_columns)
        batch = CandidateBatch(
            sentences, FeatureRows(rows, offsets, values), slots, candidates, gold, np.ones(len(sentences) - 1)
        )
        return cls(reader, CandidateModel(parts, layout), index, batch)

    def encode(self, docs: Sequence[Doc], groups: NDArray[Any]) -> CandidateBatch:
        """Encode documents as a batch with the same index."""
        (keys, offsets, values, _, sentences), slots, labels = self.reader.read(docs, groups)
        features = FeatureRows(self.index.rows(keys), offsets, values)
        return CandidateBatch(sentences, features, slots, labels, None, np.ones(len(sentences) - 1))

    def freeze(self, weights: Floats, precision: str, prune: float) -> CandidateScorer:
        """The trained model in its compact form."""
        size = self.model.layout.size
        table = FrozenTable.freeze(self.index, self.model.layout, weights[:size], precision, prune)
        return CandidateScorer(self.reader, table, weights[size:].astype(np.float32))


class CandidateScorer:
    """A trained model, which turns documents into chains of candidates."""

    def __init__(self, reader: CandidateReader, table: FrozenTable, transitions: NDArray[np.float32]) -> None:
        self.reader, self.table, self.transitions = reader, table, transitions
        self._transitions = transitions.astype(np.float64)

    def chain(self, docs: Sequence[Doc], groups: NDArray[Any]) -> tuple[CandidateChain, Rows]:
        """The chain of documents and the label of every slot."""
        (keys, offsets, values, _, sentences), slots, labels = self.reader.read(docs, groups)
        batch = CandidateBatch(sentences, FeatureRows(_NO_ROWS, offsets, values), slots, labels, None, np.ones(0))
        parts, arrays = self.reader.parts, self.table.arrays
        rows = self.table.rows(keys)
        node = score_slots(
            batch, parts, arrays["starts"], arrays["columns"], arrays["weights"], float(arrays["scale"][0]), rows
        )
        return chain_of(batch, parts, node, self._transitions), labels

    def arrays(self) -> Arrays:
        """The arrays of a model file, without the lists."""
        table = {f"table/{name}": array for name, array in self.table.arrays.items()}
        return {**table, "transitions": self.transitions}

    @classmethod
    def from_arrays(cls, reader: CandidateReader, arrays: Arrays) -> CandidateScorer:
        stored, parts = Stored.of(arrays), reader.parts
        (transitions,) = stored.take(Array("transitions", "float32", (int(parts.view_starts[-1]),))).values()
        return cls(reader, FrozenTable(stored.under("table/"), parts.n_columns), np.array(transitions))


_NO_ROWS: Rows = np.zeros(0, dtype=np.int32)


def with_gold(slots: Ints, labels: Rows, tags: Rows) -> tuple[Ints, Rows, Rows]:
    """Candidates that include the gold tag at every position, and its number among them.

    >>> slots, labels, gold = with_gold(np.array([0, 2, 3]), np.array([4, 7, 5], np.int32), np.array([7, 9], np.int32))
    >>> slots.tolist(), labels.tolist(), gold.tolist()
    ([0, 2, 4], [4, 7, 5, 9], [1, 1])
    """
    position = np.repeat(np.arange(len(tags)), np.diff(slots))
    right = labels == tags[position]
    missing = np.bincount(position[right], minlength=len(tags)) == 0
    labels = np.insert(labels, slots[1:][missing], tags[missing])
    slots = slots + np.concatenate([[0], np.cumsum(missing)])
    position = np.repeat(np.arange(len(tags)), np.diff(slots))
    place = np.flatnonzero(labels == tags[position])
    return slots, labels, (place - slots[:-1]).astype(np.int32)


@kernel
def _seen(
    rows: Rows, offsets: Ints, template: NDArray[np.int16], bits: Ints, tags: Rows,
    part_starts: Ints, part_columns: Rows, orders: NDArray[np.int8], out: Keys,
) -> int:  # fmt: skip
    """Pairs of feature and column of the gold tags, as  row * columns + column."""
    total = 0
    for i in range(len(tags)):
        for f in range(offsets[i], offsets[i + 1]):
            if rows[f] >= 0:
                for c in range(part_starts[tags[i]], part_starts[tags[i] + 1]):
                    column = part_columns[c]
                    if (bits[template[f]] >> orders[column]) & 1:
                        out[total] = np.uint64(rows[f]) * np.uint64(len(orders)) + np.uint64(column)
                        total += 1
    return total
