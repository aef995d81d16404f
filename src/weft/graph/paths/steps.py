"""A graph as walks along typed paths see it: from every node, steps forward along a relation and backward against it.

    step 2k       along relation k          step 2k + 1    against relation k       inverse(step) = step ^ 1

The edges of node v are the groups `node_groups[v]:node_groups[v + 1]`, one group per step that v has, rising; the ends
of group g are `targets[group_begin[g]:group_begin[g + 1]]`, rising and distinct. Memory grows with edges, not with
nodes times relations. A relation is free if its steps do not count towards the length of a path.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Ids, Ints
from weft.errors import ConfigError, DataError, did_you_mean
from weft.graph.store import TypedGraph
from weft.graph.strings import Strings
from weft.kernel import kernel

#: What marks a step against a relation in the name of a path.
BACKWARD = "⁻¹"
Path = tuple[int, ...]


@dataclass(frozen=True)
class StepGraph:
    """Nodes, and the steps that lead from them.

    >>> from weft.graph.store import Builder
    >>> builder = Builder()
    >>> builder.add_all([("Mara", "born in", "Bergen"), ("Bergen", "in", "Norway"), ("Oslo", "in", "Norway")])
    >>> graph = StepGraph.of([builder.graph()])
    >>> [graph.names[node] for node in graph.ends(graph.node("Norway"), graph.step("in⁻¹"))]
    ['Bergen', 'Oslo']
    """

    names: Strings
    relations: tuple[str, ...]
    free: NDArray[np.bool_]
    node_groups: Ints
    group_step: Ids
    group_begin: Ints
    targets: Ids

    @classmethod
    def of(
        cls, graphs: Sequence[TypedGraph], free: Collection[str] = (),
        without: Mapping[str, Collection[int]] | None = None,
    ) -> StepGraph:  # fmt: skip
        """The steps of one graph, or of several whose nodes are joined by name.

        `without` gives, by relation, nodes whose edges of that relation are left out: their answers are to be found.
        """
        names, numbers = _joined([graph.names for graph in graphs])
        relations = tuple(sorted({name for graph in graphs for name in graph.relations}))
        rank = {name: k for k, name in enumerate(relations)}
        sources, steps, targets = [], [], []
        for graph, own in zip(graphs, numbers, strict=True):
            kinds = np.repeat(np.array([rank[name] for name in graph.relations], np.int32), np.diff(graph.slices))
            ends = own[graph.sources], own[graph.targets]
            for relation, heads in (without or {}).items():
                if relation in graph.relations and len(heads):
                    gone = np.isin(ends[0], np.fromiter(heads, np.int64)) & (kinds == rank[relation])
                    kinds, ends = kinds[~gone], (ends[0][~gone], ends[1][~gone])
            sources += [ends[0], ends[1]]
            targets += [ends[1], ends[0]]
            steps += [2 * kinds, 2 * kinds + 1]
        arrays = [np.concatenate(part) if part else np.zeros(0, np.int32) for part in (sources, steps, targets)]
        flags = np.zeros(2 * len(relations), dtype=np.bool_)
        for name in free:
            if name in rank:
                flags[2 * rank[name] : 2 * rank[name] + 2] = True
        return cls(names, relations, flags, *_grouped(len(names), *arrays))

    @property
    def n_nodes(self) -> int:
        return len(self.node_groups) - 1

    @property
    def n_edges(self) -> int:
        """Edges in either direction: half of the steps."""
        return len(self.targets) // 2

    @property
    def n_steps(self) -> int:
        """How many kinds of steps there are."""
        return 2 * len(self.relations)

    def node(self, name: str) -> int:
        """The number of a node; an unknown name is an error."""
        number = self.names.find(name)
        if number < 0:
            raise DataError(f"the graph has no node {name!r}; names are compared letter by letter")
        return number

    def step(self, name: str) -> int:
        """The number of a step: the name of a relation, with ⁻¹ after it to go against its direction."""
        relation = name.removesuffix(BACKWARD)
        if relation not in self.relations:
            known = did_you_mean(relation, self.relations, f"it has {', '.join(self.relations) or 'none'}")
            raise ConfigError(f"the graph has no relation {relation!r}; {known}")
        return 2 * self.relations.index(relation) + (relation != name)

    def path(self, names: Iterable[str]) -> Path:
        """A path by the names of its steps."""
        return tuple(self.step(name) for name in names)

    def told(self, path: Path) -> str:
        """A path as in papers.

        >>> from weft.graph.store import Builder
        >>> builder = Builder()
        >>> builder.add("a", "r", "b")
        >>> StepGraph.of([builder.graph()]).told((0, 1))
        '⟨r, r⁻¹⟩'
        """
        return f"⟨{', '.join(self.step_name(step) for step in path)}⟩"

    def step_name(self, step: int) -> str:
        """The name of a step."""
        return self.relations[step // 2] + (BACKWARD if step % 2 else "")

    def length(self, path: Path) -> int:
        """How many steps of a path count."""
        return sum(not self.free[step] for step in path)

    def ends(self, node: int, step: int) -> list[int]:
        """Where a step leads from a node."""
        low, high = int(self.node_groups[node]), int(self.node_groups[node + 1])
        at = low + int(np.searchsorted(self.group_step[low:high], step))
        if at == high or self.group_step[at] != step:
            return []
        found: list[int] = self.targets[self.group_begin[at] : self.group_begin[at + 1]].tolist()
        return found

    def answers(self, relation: str) -> dict[int, list[int]]:
        """The known targets of a relation, by source."""
        step = self.step(relation)
        groups = np.flatnonzero(self.group_step == step)
        nodes = np.searchsorted(self.node_groups, groups, side="right") - 1
        return {
            int(node): self.targets[self.group_begin[g] : self.group_begin[g + 1]].tolist()
            for node, g in zip(nodes, groups, strict=True)
        }


def _joined(names: Sequence[Strings]) -> tuple[Strings, list[Ids]]:
    """The names of all graphs, each once, and the number that every name of each graph has among them."""
    if len(names) == 1:
        return names[0], [np.arange(len(names[0]), dtype=np.int32)]
    known: dict[str, int] = {}
    numbers = [
        np.array([known.setdefault(name, len(known)) for name in own], dtype=np.int32) for own in names
    ]  # fmt: skip
    return Strings.of(known), numbers


def _grouped(n: int, sources: Ids, steps: Ids, targets: Ids) -> tuple[Ints, Ids, Ints, Ids]:
    """Edges by node, step and target, each once."""
    order = np.lexsort((targets, steps, sources))
    sources, steps, targets = sources[order], steps[order], targets[order]
    if len(order):
        same = (np.diff(sources) == 0) & (np.diff(steps) == 0)
        kept = np.concatenate([[True], ~(same & (np.diff(targets) == 0))])
        first = np.concatenate([[True], ~same])[kept]
        sources, steps, targets = sources[kept], steps[kept], targets[kept]
        begins = np.flatnonzero(first)
    else:
        begins = np.zeros(0, dtype=np.int64)
    offsets = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(sources[begins], minlength=n), out=offsets[1:])
    return (
        offsets, steps[begins].astype(np.int32), np.append(begins, len(targets)).astype(np.int64),
        targets.astype(np.int32),
    )  # fmt: skip


@kernel
def group_of(node_groups: Ints, group_step: Ids, node: int, step: int) -> int:
    """The group of a step at a node, -1 if the node has none."""
    low, high = node_groups[node], node_groups[node + 1]
    while low < high:
        middle = (low + high) // 2
        if group_step[middle] < step:
            low = middle + 1
        else:
            high = middle
    return low if low < node_groups[node + 1] and group_step[low] == step else -1


@kernel
def is_among(targets: Ids, begin: int, end: int, node: int) -> bool:
    """Whether a node is one of rising targets."""
    low, high = begin, end
    while low < high:
        middle = (low + high) // 2
        if targets[middle] < node:
            low = middle + 1
        else:
            high = middle
    return low < end and targets[low] == node
