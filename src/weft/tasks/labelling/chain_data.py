"""From documents to chains: feature indexes and layouts, training batches, scoring with frozen tables.

The labels in a template decide what it scores. In a first-order model, templates without labels score positions and
templates with `y[-1]` score transitions. In a second-order model (with a template `y[-2]|y[-1]`) states are pairs of
labels: templates without labels score the label of a position, those with `y[-1]` its pair, and `y[-2]|y[-1]` scores
transitions. The observations of a template are computed once, however many label histories share them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats, Ints, Keys, Rows
from weft.declared import Array, Stored
from weft.errors import ConfigError, DataError, ModelError, TemplateError
from weft.features.by_type import TypeScorer
from weft.features.extract import Binding, Extractor
from weft.features.index import FeatureIndex, HashedIndex
from weft.features.program import Features
from weft.features.templates import Template, Templates
from weft.features.weights import FrozenTable, Layout
from weft.headers import Many, Maybe, Record, Text, Whole
from weft.infer.chains.chain import Chain
from weft.kernel import kernel
from weft.learn.chains.labels import LabelSpace
from weft.learn.chains.model import ChainBatch, ChainModel, DenseRows, DenseTable, FeatureRows, fold_columns
from weft.storage import Arrays
from weft.text.doc import Doc
from weft.text.schemes import Topology


class ChainReader:
    """Extracts the features of chains from documents, as specified by templates.

    >>> reader = ChainReader(Templates("(true y[-1])|(true w[0]) y[-2]|y[-1]"), {"w": "form"})
    >>> reader.order, [str(template) for template in reader.node_templates], reader.transitions
    (2, ['true', 'w[0]'], True)
    """

    def __init__(
        self, templates: Templates, fields: Mapping[str, Binding], clusters: Mapping[str, str] | None = None
    ) -> None:
        unknown = set(templates.blocks) - {"node"}
        if unknown:
            raise TemplateError(f"chains have one block of templates, called node; got {', '.join(sorted(unknown))}")
        self.order = templates.order
        if self.order > 2:
            raise TemplateError(f"chains read at most two previous labels; the templates read {self.order}")
        on_states = [t for t in templates if t.order < max(1, self.order)]
        on_transitions = [t for t in templates if t.order >= max(1, self.order) and t.atoms]
        self.transitions = any(t.order >= max(1, self.order) and not t.atoms for t in templates)
        if self.order == 2 and on_transitions:
            raise TemplateError(
                f"template {on_transitions[0]}: a second-order chain allows y[-2]|y[-1] only by itself, "
                "without observations"
            )
        self.node_templates, self.node_orders = _observations(on_states)
        self.edge_templates, _ = _observations(on_transitions)
        self.extractor = Extractor(self.node_templates, fields, clusters)  # templates of position features
        self.edge_extractor = Extractor(self.edge_templates, fields, clusters) if on_transitions else None

    def node_features(self, docs: Sequence[Doc]) -> tuple[Features, Ints]:
        """Features of positions, and the offsets of sentences."""
        return self.extractor.features(docs)

    def edge_features(self, docs: Sequence[Doc]) -> Features | None:
        """Features of the transitions into positions."""
        return None if self.edge_extractor is None else self.edge_extractor.features(docs)[0]


class Projection(DenseTable, Protocol):
    """Dense features that are sums over the sparse features of a position: every key adds a row of numbers."""

    @property
    def size(self) -> int:
        """Number of dense features."""
        ...

    def rows(self, keys: Keys) -> Rows:
        """The rows of keys, -1 for keys without a row."""
        ...

    def fold(self, weights: Floats) -> tuple[Keys, Floats]:
        """All keys, and the scores `[key, label]` that weights `[label, dense feature]` give them."""
        ...


@dataclass
class ChainData:
    """A training set as one batch, with its model and feature indexes."""

    reader: ChainReader
    model: ChainModel
    node_index: FeatureIndex | HashedIndex
    edge_index: FeatureIndex | HashedIndex | None
    batch: ChainBatch
    projection: Projection | None = None

    @classmethod
    def build(
        cls,
        reader: ChainReader,
        docs: Sequence[Doc],
        tags: Rows,
        space: LabelSpace,
        seen_only: bool = True,
        min_count: int = 1,
        hash_bits: int = 0,
        weight: Floats | None = None,
    ) -> ChainData:
        """Index the features of documents with the labels `tags` (indices in the label space).

        `seen_only` gives a feature weights only for the columns it occurs with in training (the *supported* set);
        otherwise every feature has a weight for every column (the *complete* set). Features that occur fewer than
        `min_count` times are left out. `hash_bits` hashes features into 2^bits rows instead of indexing them.
        """
        if space.order != reader.order:
            raise ConfigError(f"the label space has order {space.order}, the templates have {reader.order}")
        if not len(tags):
            raise DataError("there is nothing to train on: the training set has no words")
        node = _BlockBuilder(space.n_columns, seen_only, hash_bits)
        edge = _BlockBuilder(space.n_states**2, seen_only, hash_bits)
        orders = np.array([sum(1 << order for order in each) for each in reader.node_orders], dtype=np.int64)
        edge_orders = np.ones(len(reader.edge_templates), dtype=np.int64)
        sentence_parts, states_parts = [np.zeros(1, dtype=np.int64)], []
        done = 0
        for chunk in _chunks(docs):
            features, sentences = reader.node_features(chunk)
            n = int(sentences[-1])
            states = space.states(tags[done : done + n], sentences)
            node.add(features, space.columns[states], orders, space.column_orders)
            edges = reader.edge_features(chunk)
            if edges is not None:
                edge.add(edges, _pairs(states, sentences, space.n_states), edge_orders, np.zeros(1, dtype=np.int8))
            sentence_parts.append(sentences[1:] + done)
            states_parts.append(states)
            done += n
        sentences, states = np.concatenate(sentence_parts), np.concatenate(states_parts)
        node_index, node_layout, node_rows = node.finish(min_count, space.column_orders)
        edge_index, edge_layout, edge_rows = None, None, None
        if reader.edge_templates:
            legal = np.where(space.legal.reshape(-1), 0, -1).astype(np.int8)
            edge_index, edge_layout, edge_rows = edge.finish(min_count, legal)
        model = ChainModel(space, node_layout, _transitions(reader, space, states, sentences, seen_only), edge_layout)
        if weight is None:
            weight = np.ones(len(sentences) - 1)
        batch = ChainBatch(sentences, node_rows, edge_rows, states, weight, space.allowed(sentences))
        return cls(reader, model, node_index, edge_index, batch)

    def projected(self, projection: Projection, docs: Sequence[Doc]) -> ChainData:
        """The same training set with dense features added; `docs` are the documents it was built from."""
        parts = []
        for chunk in _chunks(docs):
            features, _ = self.reader.node_features(chunk)
            parts.append((projection.rows(features.keys), np.diff(features.offsets)))
        offsets = np.concatenate([[0], np.cumsum(np.concatenate([sizes for _, sizes in parts]))])
        rows = FeatureRows(np.concatenate([rows for rows, _ in parts]), offsets, np.zeros(0))
        model = self.model
        wider = ChainModel(model.space, model.node, model.transitions, model.edge, projection.size)
        batch = replace(self.batch, dense=DenseRows(rows, projection))
        return replace(self, model=wider, batch=batch, projection=projection)

    def encode(self, docs: Sequence[Doc], tags: Rows | None = None) -> ChainBatch:
        """Encode documents as a batch with the same indexes; unseen features have no weight."""
        features, sentences = self.reader.node_features(docs)
        space = self.model.space
        edge = None
        edges = self.reader.edge_features(docs)
        if edges is not None and self.edge_index is not None:
            edge = FeatureRows(self.edge_index.rows(edges.keys), edges.offsets, edges.values)
        node = FeatureRows(self.node_index.rows(features.keys), features.offsets, features.values)
        gold = None if tags is None else space.states(tags, sentences)
        dense = None
        if self.projection is not None:
            rows = FeatureRows(self.projection.rows(features.keys), features.offsets, np.zeros(0))
            dense = DenseRows(rows, self.projection)
        return ChainBatch(
            sentences, node, edge, gold, np.ones(len(sentences) - 1), space.allowed(sentences), dense=dense
        )

    def freeze(self, weights: Floats, precision: str = "float32", prune: float = 0.0) -> ChainScorer:
        """The trained model in compact form. Dense features are free there: their weights are folded into the weights
        of the sparse features that they sum over."""
        model = self.model
        n_node, n_transitions = model.node.size, int((model.transitions >= 0).sum())
        index, layout, block = self.node_index, model.node, weights[:n_node]
        if self.projection is not None:
            index, layout, block = self._folded(*self.projection.fold(model.dense_weights(weights)), block)
        node = FrozenTable.freeze(index, layout, block, precision, prune)
        transitions = np.zeros(model.transitions.shape)
        weighted = model.transitions >= 0
        transitions[weighted] = weights[n_node + model.transitions[weighted]]
        edge = None
        if model.edge is not None and self.edge_index is not None:
            block = weights[n_node + n_transitions :][: model.edge.size]
            edge = FrozenTable.freeze(self.edge_index, model.edge, block, precision, prune)
        return ChainScorer(self.reader, model.space, node, transitions, edge)

    def _folded(self, keys: Keys, scores: Floats, weights: Floats) -> tuple[FeatureIndex, Layout, Floats]:
        """Index, layout and weights of position features, with the scores `[key, label]` of dense features added."""
        index, layout = FeatureIndex(), self.model.node
        index.add(self.node_index.keys())
        rows = index.add(keys)
        table = np.zeros((len(index), layout.n_columns))
        table[rows, : scores.shape[1]] = scores
        row_of = np.repeat(np.arange(len(layout.starts) - 1), np.diff(layout.starts))
        table[row_of, layout.columns] += weights
        return index, Layout.from_mask(table != 0.0), table[table != 0.0]


HEADER = Record(labels=Many(Text(), least=1, distinct=True), order=Whole(0, 2), scheme=Maybe(Text()), bits=Whole(1, 64))


class ChainScorer:
    """A trained chain model, which turns documents into chains."""

    def __init__(
        self,
        reader: ChainReader,
        space: LabelSpace,
        node: FrozenTable,
        transitions: Floats,
        edge: FrozenTable | None = None,
    ) -> None:
        self.reader, self.space, self.node, self.transitions, self.edge = reader, space, node, transitions, edge
        self._by_type = TypeScorer(reader.extractor, node)

    def chain(self, docs: Sequence[Doc]) -> Chain:
        """The scores of documents, ready for inference."""
        columns, sentences = self._by_type.score(docs)
        transitions = self.transitions
        edges = self.reader.edge_features(docs)
        if edges is not None and self.edge is not None:
            pairs = self.edge.score(edges.keys, edges.offsets, edges.values)
            transitions = transitions + pairs.reshape(-1, *transitions.shape)
        node = fold_columns(columns, self.space)
        return Chain(node, transitions, sentences, self.space.allowed(sentences), self.space.legal)

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """The contents of a model file."""
        arrays: Arrays = {"transitions": self.transitions}
        arrays.update({f"node/{name}": array for name, array in self.node.arrays.items()})
        if self.edge is not None:
            arrays.update({f"edge/{name}": array for name, array in self.edge.arrays.items()})
        space = self.space
        header = {"labels": space.labels, "order": space.order, "scheme": space.scheme, "bits": self.node.bits}
        return header | ({} if space.topology is None else {"topology": space.topology.as_dict()}), arrays

    @classmethod
    def from_state(cls, reader: ChainReader, header: Mapping[str, Any], arrays: Arrays) -> ChainScorer:
        HEADER.check(header, "chain")
        stored = Stored.of(arrays)
        least = len(header["labels"])  # states: checked first, for the label space takes the square of it as memory
        (transitions,) = stored.take(Array("transitions", "float64", ("states", "states"))).values()
        if len(transitions) < least:
            raise ModelError(f"the transitions have {len(transitions)} states for {least} labels: the model is damaged")
        topology = Topology.from_dict(header["topology"]) if "topology" in header else None
        space = LabelSpace(header["labels"], header["order"], header["scheme"], topology)
        stored.take(Array("transitions", "float64", (space.n_states, space.n_states)))
        node = FrozenTable(stored.under("node/"), space.n_columns, header["bits"])
        tables = stored.under("edge/")
        edge = FrozenTable(tables, space.n_states**2, header["bits"]) if tables else None
        return cls(reader, space, node, np.array(transitions), edge)


class _BlockBuilder:
    """Builds index, layout and rows of one block of features, chunk by chunk.

    Arrays are resized in place, without a second copy: on large training sets they dominate memory use.
    """

    def __init__(self, n_columns: int, seen_only: bool, hash_bits: int) -> None:
        self._index = HashedIndex(hash_bits) if hash_bits else FeatureIndex()
        self._n_columns = n_columns if seen_only else 0
        size = len(self._index)
        self._seen = np.zeros((size, (self._n_columns + 7) // 8), dtype=np.uint8)  # one bit per column
        self._orders = np.zeros(size, dtype=np.uint8)
        self._rows = np.zeros(0, dtype=np.int32)
        self._values = np.zeros(0)
        self._offsets = np.zeros(1, dtype=np.int64)

    def add(self, features: Features, gold: Rows, template_orders: Ints, column_orders: NDArray[np.int8]) -> None:
        """Add the features of positions whose gold columns are `gold` (-1: none)."""
        index = self._index
        rows = index.add(features.keys) if isinstance(index, FeatureIndex) else index.rows(features.keys)
        self._seen.resize((len(index), self._seen.shape[1]), refcheck=False)
        self._orders.resize(len(index), refcheck=False)
        _mark(rows, features.offsets, features.template, template_orders, gold, column_orders, self._seen, self._orders)
        _extend(self._offsets, features.offsets[1:] + len(self._rows))
        _extend(self._rows, rows)
        _extend(self._values, features.values)

    def finish(self, min_count: int, column_orders: NDArray[np.int8]) -> tuple[Any, Layout, FeatureRows]:
        """The index, the layout and all rows; features get the columns of their own order, never those of order -1."""
        if self._n_columns:
            present = np.unpackbits(self._seen, axis=1, count=self._n_columns, bitorder="little").view(np.bool_)
        else:
            bits = np.where(column_orders >= 0, 1 << np.maximum(column_orders, 0), 0).astype(np.uint8)
            present = (self._orders[:, None] & bits[None, :]) != 0
        rows = self._rows
        if isinstance(self._index, FeatureIndex):
            if min_count > 1:
                keep = self._index.counts >= min_count
                renumbered = np.where(keep, np.cumsum(keep) - 1, -1).astype(np.int32)
                rows, present, self._index = renumbered[rows], present[keep], self._index.select(keep)
            self._index.settle()
        return self._index, Layout.from_mask(present), FeatureRows(rows, self._offsets, self._values)


def _extend(array: NDArray[Any], more: NDArray[Any]) -> None:
    array.resize(len(array) + len(more), refcheck=False)
    array[len(array) - len(more) :] = more


def _observations(templates: Sequence[Template]) -> tuple[list[Template], list[set[int]]]:
    """The distinct observations of templates (without labels), each with the label orders it occurs with."""
    orders: dict[Template, set[int]] = {}
    for template in templates:
        orders.setdefault(template.observation, set()).add(template.order)
    return list(orders), list(orders.values())


def _chunks(docs: Sequence[Doc], words: int = 20_000) -> list[list[Doc]]:
    """Chunks of documents with about the given number of words, which bounds the memory for keys."""
    chunks: list[list[Doc]] = [[]]
    size = 0
    for doc in docs:
        if size >= words:
            chunks.append([])
            size = 0
        chunks[-1].append(doc)
        size += doc.n_words
    return chunks


def _pairs(states: Rows, sentences: Ints, n_states: int) -> Rows:
    """The column of the transition into every position, -1 at first positions."""
    pairs = np.full((len(states), 1), -1, dtype=np.int32)
    pairs[1:, 0] = states[:-1] * n_states + states[1:]
    pairs[sentences[:-1][sentences[:-1] < sentences[1:]]] = -1
    return pairs


def _transitions(
    reader: ChainReader, space: LabelSpace, states: Rows, sentences: Ints, seen_only: bool
) -> NDArray[np.int32]:
    """Numbers of transition weights, for all legal transitions or only those seen."""
    weighted = np.zeros((space.n_states, space.n_states), dtype=bool)
    if reader.transitions:
        if seen_only:
            pairs = _pairs(states, sentences, space.n_states)[:, 0]
            weighted.reshape(-1)[pairs[pairs >= 0]] = True
        else:
            weighted |= space.legal
    numbers = np.full(weighted.shape, -1, dtype=np.int32)
    numbers[weighted] = np.arange(int(weighted.sum()))
    return numbers


@kernel
def _mark(
    rows: Rows,
    offsets: Ints,
    template: NDArray[np.int16],
    template_orders: Ints,
    gold: Rows,
    column_orders: NDArray[np.int8],
    seen: NDArray[np.uint8],
    orders: NDArray[np.uint8],
) -> None:
    """Mark the columns that each row occurs with, and the label orders of its template."""
    for i in range(len(offsets) - 1):
        for f in range(offsets[i], offsets[i + 1]):
            wanted = template_orders[template[f]]
            orders[rows[f]] |= np.uint8(wanted)
            if seen.shape[1]:
                for k in range(gold.shape[1]):
                    column = gold[i, k]
                    if column >= 0:
                        order = column_orders[column] if len(column_orders) > 1 else column_orders[0]
                        if (wanted >> order) & 1:
                            seen[rows[f], column >> 3] |= np.uint8(1 << (column & 7))
