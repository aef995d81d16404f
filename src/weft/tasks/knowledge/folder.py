"""A knowledge graph with what stands beside it: the door from Python.

kg = KnowledgeGraph.open("kg");    kg.complete("citizen of").facts
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from weft.errors import ConfigError, DataError, did_you_mean
from weft.graph.paths.steps import StepGraph
from weft.graph.place import load_graph
from weft.graph.store import TypedGraph
from weft.graph.triples import opened, read_edges
from weft.tasks.knowledge.completion import NewFact, complete
from weft.tasks.knowledge.documents import TEXT, DocumentGraph, Evidence
from weft.tasks.knowledge.model import load_ranker, save_ranker
from weft.tasks.knowledge.ranker import PathRanker, RankerSettings, targets_of
from weft.tasks.knowledge.text_graph import FREE, TextGraph

#: Which nodes may be answers: known targets of the relation, nodes of their types, or all.
CANDIDATES = ("known", "typed", "all")
#: Suffixes of files that hold edges whatever is in them.
_EDGES = (".tsv", ".txt", ".csv", ".nt")


@dataclass(frozen=True)
class Completion:
    """New facts, the model that ranked them, and the graph that it walked."""

    facts: list[NewFact]
    ranker: PathRanker
    steps: StepGraph


@dataclass(frozen=True)
class KnowledgeGraph:
    """A graph, perhaps with the text that it was read from.

    >>> from tempfile import TemporaryDirectory
    >>> from weft.graph.place import save_graph
    >>> from weft.graph.store import Builder
    >>> builder = Builder()
    >>> for number in range(12):
    ...     builder.add(f"p{number}", "born in", "Bergen" if number % 2 else "Ulm")
    ...     if number < 10:
    ...         builder.add(f"p{number}", "citizen of", "Norway" if number % 2 else "Germany")
    >>> builder.add_all([("Bergen", "in", "Norway"), ("Ulm", "in", "Germany")])
    >>> with TemporaryDirectory() as folder:
    ...     _ = save_graph(builder.graph(), folder)
    ...     found = KnowledgeGraph.open(folder).complete("citizen of", settings=RankerSettings(length=2))
    >>> [(fact.source, fact.target, fact.reasons[0].told) for fact in found.facts[:2]]
    [('p10', 'Germany', 'p10 — born in — Ulm; Ulm — in — Germany'),
     ('p11', 'Norway', 'p11 — born in — Bergen; Bergen — in — Norway')]
    """

    graph: TypedGraph
    text: TypedGraph | None = None
    evidence: Evidence | None = None

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> KnowledgeGraph:
        """A folder that `weft graph build` wrote, a model file, or a file of edges."""
        graph, place = load_graph(path), Path(path)
        if not place.is_dir():
            return cls(graph)
        text = TypedGraph.load(place / TEXT) if (place / TEXT).is_file() else None
        return cls(graph, text, Evidence(place))

    @cached_property
    def steps(self) -> StepGraph:
        """The graph and its text as walks see them."""
        return StepGraph.of([self.graph, *([] if self.text is None else [self.text])], free=FREE)

    def complete(
        self, relation: str, *, of: Sequence[str] = (), top: int = 20, reasons: int = 3,
        settings: RankerSettings = RankerSettings(), candidates: str = "known",
        model: str | os.PathLike[str] | None = None, workers: int = 1, least: float = 0.0,
    ) -> Completion:  # fmt: skip
        """New facts of a relation, for the nodes `of` or for all that lack it; `model` is used rather than learned.

        Facts of a probability below `least` are left out.
        """
        graph = self.steps
        if relation not in self.graph.relations:
            known = did_you_mean(relation, self.graph.relations, f"it has {', '.join(self.graph.relations) or 'none'}")
            raise ConfigError(f"the graph has no relation {relation!r}; {known}")
        if candidates not in CANDIDATES:
            raise ConfigError(f"candidates are {', '.join(CANDIDATES)}, not {candidates!r}")
        known_facts = graph.answers(relation)
        sources = [graph.node(name) for name in of] if of else None
        wanted = self._candidates(known_facts, candidates)
        if model is None:
            ranker = PathRanker.fit(graph, relation, known_facts, settings, wanted, workers)
        else:
            ranker = load_ranker(model, graph)
            if ranker.relation != relation:
                raise DataError(f"{os.fspath(model)} ranks facts of {ranker.relation!r}, not of {relation!r}")
        facts = complete(
            graph, ranker, sources=sources, top=top, reasons=reasons, candidates=wanted, evidence=self.evidence,
            typed=self.graph, workers=workers,
        )  # fmt: skip
        return Completion([fact for fact in facts if fact.probability >= least], ranker, graph)

    def save_model(self, completion: Completion, path: str | os.PathLike[str]) -> None:
        """Write what was learned, for `complete(..., model=path)`."""
        save_ranker(completion.ranker, completion.steps, path)

    def _candidates(self, known: dict[int, list[int]], kind: str) -> Any:
        flags = targets_of(self.steps, known)
        if kind == "known":
            return flags
        number = {name: k for k, name in enumerate(self.graph.names)}
        own = np.array([number.get(name, -1) for name in self.steps.names])
        if kind == "all":
            return own >= 0
        types = np.zeros(len(self.graph.types), dtype=np.bool_)
        types[self.graph.type[own[flags]]] = True
        return np.where(own >= 0, types[self.graph.type[own]], False)


def build(
    paths: Iterable[str | os.PathLike[str]], out: str | os.PathLike[str], *, identity: str = "",
    text: Sequence[str] = (), least: float = 0.0,
) -> dict[str, Any]:  # fmt: skip
    """Build a graph from files of edges and of annotated documents, and write its folder; what it holds is returned.

    Folders hold documents. Files of JSON Lines and Parquet hold edges if their first line, or their columns, say so.
    `text` lists what the text is kept as (see `weft.tasks.knowledge.text_graph`); predicted relations of a probability
    below `least` are left out.
    """
    from weft.formats import read
    from weft.text.split import split_by_rule

    if Path(out).is_file():
        raise DataError(f"{out} is a file; a graph is written to a folder, such as kg/")
    collected = DocumentGraph(TextGraph(text) if text else None, least)
    given = list(paths)
    edges = [path for path in given if holds_edges(path, identity)]
    for path in edges:
        for edge in read_edges(path, identity=identity):
            if not edge.literal:
                collected.builder.add(edge.source, edge.relation, edge.target, edge.weight, edge.window)
    for path in given:
        if path not in edges:
            for doc in read(path):
                if not doc.n_words and doc.text.strip():
                    split_by_rule(doc)
                collected.add(doc)
    if text and not collected.documents:
        raise ConfigError("there are no documents to keep the text of; --text is for annotated documents")
    return collected.save(out)


def holds_edges(path: str | os.PathLike[str], identity: str = "") -> bool:
    """Whether a file holds edges rather than documents."""
    name = os.fspath(path).removesuffix(".gz")
    if Path(path).is_dir():
        return False
    if name.endswith(_EDGES) or not Path(path).exists():
        return True
    if name.endswith((".jsonl", ".ndjson")) and not name.endswith(".records.jsonl"):
        return _is_edge(next(_filled(path), ""))
    if name.endswith(".parquet"):
        from weft.graph.tables import is_header
        from weft.packages import needed

        columns = needed("pyarrow.parquet", "reading Parquet files").read_schema(path).names
        return identity in columns or is_header(
            [column for column in columns if is_header([column, "source", "target"])]
        )
    return False


def _filled(path: str | os.PathLike[str]) -> Iterator[str]:
    with opened(os.fspath(path)) as lines:
        yield from (line for line in lines if line.strip())


def _is_edge(line: str) -> bool:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and {"source", "target"} <= value.keys()
