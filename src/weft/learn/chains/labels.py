"""Label spaces: how the labels of a task become the states of a chain.

First order: a state is a label. Second order: a state is the pair  y_i = c_{i-1} c_i  of labels, and a transition
ab -> cd is legal only when b = c, so that first-order inference over pairs is second-order inference over labels. Label
sequences that the scheme forbids (I after O) are left out of the space, not learned. A scheme of one's own is given as
a `Topology`: which labels may begin, follow one another, and end.

Features score *columns*; a state's score is the sum of its columns: its label and, in second order, its pair.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Bools, Ints
from weft.errors import ConfigError, WeftError
from weft.infer.chains.chain import boundary_mask, pair_states
from weft.text.schemes import Topology, legal_transitions

States = NDArray[np.int32]


class LabelSpace:
    """Labels, states and what may follow what.

    >>> space = LabelSpace(["B", "I", "O"], order=2, scheme="IOB2")
    >>> space.names
    ['BB', 'BI', 'BO', 'IB', 'II', 'IO', 'OB', 'OO']
    >>> states = space.states(np.array([0, 1, 2], dtype=np.int32), np.array([0, 3]))
    >>> [space.names[state] for state in states], space.tags(states).tolist()
    (['OB', 'BI', 'IO'], [0, 1, 2])
    """

    def __init__(
        self, labels: Sequence[str], order: int = 1, scheme: str | None = None, topology: Topology | None = None
    ) -> None:
        if order not in (0, 1, 2):
            raise ConfigError(f"a chain has order 0, 1 or 2, got {order}")
        if len(set(labels)) != len(labels) or not labels:
            raise ConfigError(f"labels must be distinct and at least one, got {list(labels)}")
        self.labels = list(labels)
        self.order = order
        if scheme is not None and topology is not None:
            raise ConfigError("a label space has a scheme or a topology, not both")
        self.scheme = scheme
        self.topology = topology
        n = len(self.labels)
        start, follows, end = np.ones(n, dtype=bool), np.ones((n, n), dtype=bool), np.ones(n, dtype=bool)
        if scheme is not None:
            start, follows, end = legal_transitions(self.labels, scheme)
        elif topology is not None:
            start, follows, end = topology.masks(self.labels)
        if order < 2:
            self.names = self.labels
            self._current = np.arange(n, dtype=np.int32)
            self.start, self.legal, self.end = start, follows, end
            self.columns = np.arange(n, dtype=np.int32)[:, None]
            self.column_orders = np.zeros(n, dtype=np.int8)
            return
        # c_0, the label before the sentence: O where the task has it, else a mark of its own (number n).
        boundary = self.labels.index("O") if "O" in self.labels else None
        pairs = self._pairs = pair_states(n, follows, start, boundary)
        names = [*self.labels, "^"]
        self.names = [names[a] + names[b] for a, b in zip(pairs.previous, pairs.current, strict=True)]
        self._current = pairs.current
        self.legal, self.start, self.end = pairs.legal, pairs.start, end[pairs.current]
        self.columns = np.stack([pairs.current, n + np.arange(len(pairs))], axis=1).astype(np.int32)
        self.column_orders = np.repeat(np.array([0, 1], dtype=np.int8), [n, len(pairs)])

    @property
    def n_states(self) -> int:
        return len(self._current)

    @property
    def n_columns(self) -> int:
        return len(self.column_orders)

    def ids(self, labels: Sequence[str]) -> States:
        """Numbers of labels; an error names a label that is not in the space."""
        number = {label: i for i, label in enumerate(self.labels)}
        try:
            return np.fromiter(map(number.__getitem__, labels), dtype=np.int32, count=len(labels))
        except KeyError as error:
            raise WeftError(f"label {error} is not among the labels of the model: {', '.join(self.labels)}") from None

    def states(self, tags: States, sentences: Ints) -> States:
        """The states of label numbers; a sequence that the scheme forbids is an error."""
        return tags if self.order < 2 else self._pairs.unfold(tags, sentences)

    def tags(self, states: States) -> States:
        """The label numbers of states."""
        return self._current[states]

    def allowed(self, sentences: Ints) -> Bools | None:
        """States allowed by the first and last positions of sentences, or None if all are."""
        if self.start.all() and self.end.all():
            return None
        return boundary_mask(sentences, self.n_states, self.start, self.end)

    def from_labels(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """A table over pairs of labels as one over pairs of states."""
        return table[np.ix_(self._current, self._current)]

    def label_marginals(self, node: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probabilities `[position, label]` from those of states."""
        return node if self.order < 2 else self._pairs.tag_sums(node)
