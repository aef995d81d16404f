"""Shared parts of parsers that score arcs: word clusters, an arc pruner, a relation labeller, and their state."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from weft.deadline import check
from weft.declared import Stored
from weft.headers import Many, Named, Record, Table, Text
from weft.infer.trees.arcs import ArcSpace, all_arcs
from weft.learn.trees.arc_pruning import ArcPruner
from weft.learn.trees.model import TreeBatch, TreeModel
from weft.lexical.clusters.monolingual import load_clusters
from weft.pipeline.component import Asked, State, Trainable
from weft.pipeline.settings import Settings
from weft.storage import Arrays, from_sparse, to_sparse
from weft.tasks.parsing.relations import RelationLabeller

HEADER = Record(labels=Many(Text()), clusters=Named(Text()), requires=Many(Text())).with_optional(relations=Table())
#: Number of words per search batch.
BATCH = 2000
#: Batches with more arcs are halved, so that there is time to stop between them.
BATCH_ARCS = 300_000
#: Batches whose scores would take more bytes are halved.
BATCH_BYTES = 128 * 2**20
#: Longer sentences are parsed in windows: arcs grow with the square of length, and the arc filter with its cube.
LONGEST = 500
#: Arcs of documents that may have marks at once.
MARKED_ARCS = 1_000_000


class WeightedArcs(Trainable):
    """A parser whose model scores arcs; see `MSTParser` and `DependencyGraphParser`."""

    unsaved = ("workers", "clusters")
    #: The name of the weights in model files.
    weights_name: ClassVar[str]

    def __init__(self, settings: Settings | None = None, clusters: Mapping[str, str] | None = None) -> None:
        super().__init__(settings)
        if clusters is None:
            clusters = load_clusters(self.settings.clusters) if self.settings.clusters else {}
        self.clusters = clusters
        self.requires: tuple[str, ...] = ("tokens", "upos")
        self.labels: list[str] = []
        self.model: Any = None
        self.weights: NDArray[Any] = np.zeros(0, np.float32)
        self.pruner: ArcPruner | None = None
        self.labeller: RelationLabeller | None = None

    def longest(self, asked: Asked) -> int:
        return LONGEST

    def searches(self, whole: TreeBatch) -> Iterator[tuple[TreeBatch, ArcSpace]]:
        """The sentences in batches to search, with the arcs that the pruner leaves; their scores fit into memory if
        those of every single sentence do."""
        waiting = list(whole.batches(BATCH))[::-1]
        while waiting:
            check()
            batch = waiting.pop()
            half = len(batch) // 2
            if half and int((np.diff(batch.offsets) ** 2).sum()) > BATCH_ARCS:
                waiting += [batch.cut(half, len(batch)), batch.cut(0, half)]
                continue
            if self.pruner is not None and batch.arcs is None:
                batch = replace(batch, arcs=self.pruner.keep(all_arcs(batch.offsets), batch.words))
            space = batch.arc_space
            if half and self.model.cost(space)[0] > BATCH_BYTES:
                waiting += [batch.cut(half, len(batch)), batch.cut(0, half)]
            else:
                yield batch, space

    @abstractmethod
    def _new_model(self) -> Any:
        """An untrained model for the settings."""

    @abstractmethod
    def _filter_model(self) -> TreeModel:
        """The first-order model that prunes arcs."""

    def state(self) -> State:
        self.trained(self.model)
        header: dict[str, Any] = {
            "settings": self.saved_settings(),
            "labels": self.labels,
            "clusters": self.clusters,
            "requires": list(self.requires),
        }
        arrays: Arrays = to_sparse(self.weights_name, self.weights)
        if self.pruner is not None:
            arrays |= to_sparse("filter", self.pruner.weights)
        if self.labeller is not None:
            header["relations"], labeller_arrays = self.labeller.state()
            arrays |= {f"relations.{name}": array for name, array in labeller_arrays.items()}
        return header, arrays

    def _restore(self, header: dict[str, Any], arrays: Arrays) -> None:
        """Restore everything in `state` except settings and clusters, which are already set."""
        HEADER.check(header)
        settings, arrays = self.settings, Stored.of(arrays)
        self.labels, self.requires = header["labels"], tuple(header["requires"])
        self.model = self._new_model()
        self.weights = from_sparse(self.weights_name, arrays, self.model.size)
        if settings.threshold:
            arcs = self._filter_model()
            self.pruner = ArcPruner(arcs, from_sparse("filter", arrays, arcs.size), settings.threshold, settings.most)
        if "relations" in header:
            self.labeller = RelationLabeller.from_state(header["relations"], arrays.under("relations."))
            self.labeller.check_fits(settings.fields, len(self.labels))
