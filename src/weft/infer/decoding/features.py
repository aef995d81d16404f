"""What a feature of the search is: scores of phrases in context, computed for batches of expansions.

A feature knows of a hypothesis only what it keeps as its state, a row of whole numbers; hypotheses whose features are
all in the same state recombine. `bind` prepares a feature for one sentence and returns a `Scorer`:

    scores, states = scorer.expand(batch, states)      for expansions: a hypothesis followed by an option
    scores = scorer.finish(states)                     for hypotheses that are complete

A batch holds some hundred expansions, so a scorer may be compiled code or plain NumPy. Minus infinity forbids.

A `Control` says which options may follow which hypotheses before any score is computed, and adds moves: steps that
translate nothing, such as the reductions of a shift-reduce parser.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from weft.arrays import Bools, Floats, Ids
from weft.infer.decoding.options import Options


@dataclass(frozen=True)
class Batch:
    """Expansions of hypotheses: each is one of the options, after a hypothesis."""

    options: Options
    option: Ids  #: of every expansion; numbers from `n_options` are moves
    end: Ids  #: where the source span of the option before ended; 0 at the beginning
    complete: Bools  #: whether the whole source is covered, once this option is applied
    n_options: int

    def __len__(self) -> int:
        return len(self.option)


@dataclass(frozen=True)
class Control:
    """Which options may follow: a table over the class of the hypothesis and that of the option.

    `class_of` gives the classes of hypotheses from the rows of their state. Moves are numbered from 0 and allowed by
    class as well; they need a search that counts actions.
    """

    class_of: Callable[[Ids], Ids]
    option_class: Ids  #: of every option
    allowed: Bools  #: a row per class of hypotheses, a column per class of options
    final: Bools  #: which classes of hypotheses may end a derivation
    moves: Bools | None = None  #: a row per class of hypotheses, a column per move

    @property
    def n_moves(self) -> int:
        return 0 if self.moves is None else self.moves.shape[1]


class Scorer(Protocol):
    """A feature that is ready for one sentence."""

    @property
    def start(self) -> Ids:
        """The state of the empty hypothesis."""

    @property
    def estimate(self) -> Floats:
        """Scores of options without their context, for the order in which they are tried and for future costs."""

    @property
    def control(self) -> Control | None:
        """What may follow what, if this feature decides it."""

    def expand(self, batch: Batch, states: Ids) -> tuple[Floats, Ids]:
        """Scores of expansions, a column per name, and the states after them."""

    def finish(self, states: Ids) -> Floats:
        """Scores of the end, for states of complete hypotheses."""


class Feature(Protocol):
    """Something that scores derivations in the order of their translation."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its scores."""

    def bind(self, options: Options) -> Scorer:
        """Get ready for one sentence; the options include those without words for moves."""


def no_end(scorer: Scorer, states: Ids) -> Floats:
    """Scores of the end for a feature that has none."""
    return np.zeros((len(states), scorer.estimate.shape[1]))
