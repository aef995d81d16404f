"""Files of path rankers: the paths of a relation by name, and their weights.

A file holds no code and no graph: paths are names of relations, and are looked up in the graph that they are used on.
Paths along relations that this graph lacks are left out.
"""

from __future__ import annotations

import os
from dataclasses import asdict, fields
from typing import Any

import numpy as np

from weft import storage
from weft.declared import Array, Stored
from weft.errors import DataError, ModelError
from weft.graph.paths.steps import BACKWARD, StepGraph
from weft.headers import Flag, Many, Real, Record, Text, Whole
from weft.tasks.knowledge.ranker import SAMPLINGS, PathRanker, RankerSettings

KIND = "paths"
#: More steps than any path has.
LONGEST = 200
SETTINGS = Record(
    length=Whole(1, 100), cap=Whole(), binary=Flag(), sampling=Text(SAMPLINGS), offset=Real(0), active=Many(Whole(), 1),
    hits=Many(Real(0, 1), 1), l1=Many(Real(0), 1), l2=Many(Real(0), 1), folds=Whole(2), width=Whole(1), most=Whole(1),
    finding=Whole(1), seed=Whole(),
)  # fmt: skip
HEADER = Record(
    kind=Text((KIND,)), relation=Text(), paths=Many(Many(Text(), 1), distinct=False), free=Many(Text()),
    settings=SETTINGS,
)  # fmt: skip
ARRAYS = (Array("theta", "float64", ("weights",)),)


def save_ranker(ranker: PathRanker, graph: StepGraph, path: str | os.PathLike[str]) -> None:
    """Write a model file."""
    free = sorted({graph.relations[k // 2] for k in np.flatnonzero(graph.free).tolist()})
    header = {
        "kind": KIND, "relation": ranker.relation, "free": free,
        "paths": [[graph.step_name(step) for step in path] for path in ranker.paths],
        "settings": {
            name: list(value) if isinstance(value, tuple) else value for name, value in asdict(ranker.settings).items()
        },
        "report": ranker.report,
    }  # fmt: skip
    storage.save(path, header, {"theta": np.asarray(ranker.theta, dtype=np.float64)})


def load_ranker(path: str | os.PathLike[str], graph: StepGraph) -> PathRanker:
    """The model of a file, on a graph.

    >>> from tempfile import TemporaryDirectory
    >>> from weft.graph.store import Builder
    >>> builder = Builder()
    >>> builder.add("Mara", "born in", "Bergen")
    >>> graph = StepGraph.of([builder.graph()])
    >>> with TemporaryDirectory() as folder:
    ...     save_ranker(PathRanker("of", [(0, 1)], np.array([2.0, -1.0])), graph, f"{folder}/m.weft")
    ...     load_ranker(f"{folder}/m.weft", graph).theta.tolist()
    [2.0, -1.0]
    """
    header, arrays = storage.load(path)
    HEADER.check(header)
    names: list[list[str]] = header["paths"]
    if max(map(len, names), default=0) > LONGEST:
        raise ModelError(f"the header's paths have more than {LONGEST} steps: the file is damaged")
    if len({tuple(each) for each in names}) < len(names):
        raise ModelError("the header's paths must be a list without repetitions: the file is damaged")
    stored = Stored.of(arrays)
    theta = stored.take(*ARRAYS, weights=len(names) + 1)["theta"]
    stored.refuse_rest()
    known = [
        k for k, own in enumerate(names) if all(step.removesuffix(BACKWARD) in graph.relations for step in own)
    ]  # fmt: skip
    if names and not known:
        raise DataError(
            f"the graph has none of the relations that {os.fspath(path)} walks along, such as "
            f"{', '.join(names[0])}: it was learned on another graph"
        )
    given: dict[str, Any] = header["settings"]
    values: dict[str, Any] = {
        each.name: tuple(given[each.name]) if isinstance(given[each.name], list) else given[each.name]
        for each in fields(RankerSettings)
    }
    settings = RankerSettings(**values)
    settings.check()
    report = header.get("report")
    return PathRanker(
        header["relation"], [graph.path(names[k]) for k in known], np.append(theta[known], theta[-1]), settings,
        report if isinstance(report, dict) else {},
    )  # fmt: skip
