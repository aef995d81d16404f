"""Word alignment models learned from a bitext by EM: IBM model 1, then an HMM that starts from its table.

    expect      posterior probabilities of all links under the present tables (`weft.infer.alignment.links`)
    maximize    rows of translation probabilities (`weft.learn.generative.dirichlet`), the table of jumps
    (`weft.learn.bitext.jumps`)

Both directions are learned: target words that come from source words, and source words that come from target words.
With agreement (Liang et al. 2006) the two HMMs explain the bitext together: what counts is the product of their
posterior probabilities. No likelihood is known to rise by that; without it every step raises one. (Model 1 is learned
apart: the products of its first, even posteriors are so small that a prior would swallow them.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from weft.arrays import Floats
from weft.errors import ConfigError
from weft.infer.alignment.links import AlignmentMarginals, Alignments, turned_cells
from weft.learn.bitext.jumps import estimate_jumps, jump_log_prior
from weft.learn.generative.cooccurrence import Cooccurrences, Types
from weft.learn.generative.dirichlet import Rows, estimate_rows
from weft.learn.generative.em import expectation_maximization

#: How far a table of jumps reaches.
REACH = 30


@dataclass(frozen=True)
class AlignmentSettings:
    """Options of training alignment models.

    `alpha` is the parameter of the Dirichlet prior of translations (0: none), `jump_pseudo` a count added to every
    jump, `p_null` the probability of a word that comes from nowhere. With `agreement` both directions are learned
    together: fewer errors in all, and more links on which both agree; those of directions learned apart are surer.
    """

    model1_iterations: int = 5
    hmm_iterations: int = 5
    alpha: float = 0.1
    jump_pseudo: float = 1.0
    p_null: float = 0.2
    agreement: bool = True

    def __post_init__(self) -> None:
        if self.model1_iterations < 1 or self.hmm_iterations < 0:
            raise ConfigError("an aligner learns in at least 1 round of model 1 and 0 or more of the HMM")
        if self.alpha < 0 or self.jump_pseudo < 0:
            raise ConfigError("alpha and jump_pseudo are counts of a prior, 0 or more")
        if not 0 < self.p_null < 1:
            raise ConfigError(f"p_null={self.p_null}: expected a probability between 0 and 1")


@dataclass(frozen=True)
class DirectedModel:
    """One direction: a weight per entry, one per word from nowhere, jumps (empty: model 1), and the weight of pairs of
    words never seen together, by the word that is given."""

    entry: Floats
    null: Floats
    jumps: Floats
    unseen: Floats
    unseen_null: float
    log_prior: float


@dataclass
class LearnedModels:
    """Both directions, and the objective of each stage after every iteration."""

    forward: DirectedModel
    backward: DirectedModel
    objective: dict[str, list[float]] = field(default_factory=dict)


@dataclass
class Expectations:
    """Expected counts of one direction."""

    entry: Floats
    null: Floats
    jumps: Floats
    departures: Floats

    @classmethod
    def zeros(cls, model: DirectedModel, longest: int) -> Expectations:
        entry, null, jumps = (np.zeros_like(table) for table in (model.entry, model.null, model.jumps))
        return cls(entry, null, jumps, np.zeros((longest + 1, longest + 1)))

    def add(self, side: Side, first: int, end: int, found: AlignmentMarginals, link: Floats) -> None:
        """Add the counts of pairs `first` to `end`, given their posteriors of links."""
        side.pairs.add_up(self.entry, link, first, end, side.turned)
        words = side.words[side.offsets[first] : side.offsets[end]]
        self.null += np.bincount(words, found.null, len(self.null))
        self.jumps += found.jumps
        size = len(found.departures)
        self.departures[:size, :size] += found.departures


@dataclass(frozen=True)
class Side:
    """A direction of a bitext: words that are explained (`words`), given those of the other side."""

    pairs: Cooccurrences
    turned: bool

    @property
    def words(self) -> Types:
        return self.pairs.source if self.turned else self.pairs.target

    @property
    def offsets(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return self.pairs.source_offsets if self.turned else self.pairs.target_offsets

    @property
    def given_offsets(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return self.pairs.target_offsets if self.turned else self.pairs.source_offsets

    @property
    def given_words(self) -> Types:
        """The words on the given side."""
        return self.pairs.target if self.turned else self.pairs.source

    @property
    def given(self) -> Types:
        """The given type of every entry."""
        return self.pairs.entry_target if self.turned else self.pairs.entry_source

    @property
    def n_given(self) -> int:
        return self.pairs.n_target_types if self.turned else self.pairs.n_source_types

    @property
    def n_words(self) -> int:
        return self.pairs.n_source_types if self.turned else self.pairs.n_target_types

    @property
    def longest(self) -> int:
        """The length of the longest given sentence."""
        return int(np.diff(self.given_offsets).max(initial=0))

    @property
    def longest_words(self) -> int:
        """The length of the longest sentence that is explained."""
        return int(np.diff(self.offsets).max(initial=0))

    def even(self) -> DirectedModel:
        """The uniform model: all translations of a word are equally probable."""
        share = 1 / max(self.n_words, 1)
        rows = Rows(np.full(self.pairs.n_entries, share), np.full(self.n_given, share), 0.0)
        return directed_model(rows, Rows(np.full(self.n_words, share), np.full(1, share), 0.0), np.zeros(0), 0.0)

    def maximize(self, counts: Expectations, model: DirectedModel, settings: AlignmentSettings) -> DirectedModel:
        """The model that explains expected counts best."""
        rows = estimate_rows(counts.entry, self.given, self.n_given, settings.alpha)
        null = estimate_rows(counts.null, np.zeros(self.n_words, np.int32), 1, settings.alpha)
        jumps = model.jumps
        if len(jumps):
            jumps = estimate_jumps(counts.jumps, counts.departures, jumps, settings.jump_pseudo)
        return directed_model(rows, null, jumps, settings.jump_pseudo)

    def alignments(self, model: DirectedModel, first: int, end: int, settings: AlignmentSettings) -> Alignments:
        """The alignments of some sentence pairs under a model."""
        words = self.words[self.offsets[first] : self.offsets[end]]
        return Alignments(
            self.pairs.look_up(model.entry, first, end, self.turned),
            model.null[words],
            np.diff(self.given_offsets[first : end + 1]),
            self.offsets[first : end + 1] - self.offsets[first],
            jumps=model.jumps if len(model.jumps) else None,
            p_null=settings.p_null,
        )


def learn_alignment(pairs: Cooccurrences, settings: AlignmentSettings | None = None) -> LearnedModels:
    """Learn both directions of a bitext: EM for model 1, then for the HMM.

    >>> words = Cooccurrences.of([0, 1, 0, 2, 1, 2], [0, 2, 4, 6], [0, 1, 0, 2, 1, 2], [0, 2, 4, 6])
    >>> learned = learn_alignment(words, AlignmentSettings(alpha=0.0, model1_iterations=20, hmm_iterations=0))
    >>> entries = zip(words.entry_source.tolist(), words.entry_target.tolist(), learned.forward.entry)
    >>> sorted((e, f) for e, f, weight in entries if weight > 0.9)
    [(0, 0), (1, 1), (2, 2)]
    """
    settings = settings or AlignmentSettings()
    sides = [Side(pairs, turned=False), Side(pairs, turned=True)]
    objective: dict[str, list[float]] = {}
    models: list[DirectedModel] = []
    for side, name in zip(sides, ("forward", "backward"), strict=True):
        counts, _ = _expect([side], [side.even()], settings)
        start = _maximize([side], counts, [side.even()], settings)
        models += _learn([side], start, settings.model1_iterations, settings, f"{name}, model 1", objective)
    if settings.hmm_iterations:
        starts = [_with_jumps(model, settings) for model in models]
        if settings.agreement:
            models = _learn(sides, starts, settings.hmm_iterations, settings, "both, HMM", objective)
        else:
            models = [
                _learn([side], [start], settings.hmm_iterations, settings, f"{name}, HMM", objective)[0]
                for side, start, name in zip(sides, starts, ("forward", "backward"), strict=True)
            ]
    return LearnedModels(models[0], models[1], objective)


def _learn(
    sides: Sequence[Side],
    models: list[DirectedModel],
    rounds: int,
    settings: AlignmentSettings,
    name: str,
    objective: dict[str, list[float]],
) -> list[DirectedModel]:
    """Rounds of EM from given models; notes how the objective goes."""
    present = models

    def expect(models: list[DirectedModel]) -> tuple[list[Expectations], float]:
        nonlocal present
        present = models
        return _expect(sides, models, settings)

    def maximize(counts: list[Expectations]) -> list[DirectedModel]:
        return _maximize(sides, counts, present, settings)

    result = expectation_maximization(
        expect, maximize, models, tolerance=0.0, max_iterations=rounds, monotone=len(sides) == 1, describe=name
    )
    objective[name] = result.log_likelihoods
    found: list[DirectedModel] = result.parameters
    return found


def _expect(
    sides: Sequence[Side], models: Sequence[DirectedModel], settings: AlignmentSettings
) -> tuple[list[Expectations], float]:
    """Expected counts of one direction, or of two that have to agree, and the objective."""
    counts = [Expectations.zeros(model, side.longest) for side, model in zip(sides, models, strict=True)]
    value = sum(model.log_prior for model in models)
    for first, end in sides[0].pairs.batches():
        both = zip(sides, models, strict=True)
        found = [side.alignments(model, first, end, settings).marginals() for side, model in both]
        links = [marginals.link for marginals in found]
        if len(sides) == 2:
            links = list(agreed_links(sides[0].pairs, first, end, *links))
        for side, sums, marginals, link in zip(sides, counts, found, links, strict=True):
            sums.add(side, first, end, marginals, link)
        value += sum(float(marginals.log_partition.sum()) for marginals in found)
    return counts, value


def _maximize(
    sides: Sequence[Side], counts: Sequence[Expectations], models: Sequence[DirectedModel], settings: AlignmentSettings
) -> list[DirectedModel]:
    triples = zip(sides, counts, models, strict=True)
    return [side.maximize(sums, model, settings) for side, sums, model in triples]


def agreed_links(pairs: Cooccurrences, first: int, end: int, link: Floats, back_link: Floats) -> tuple[Floats, Floats]:
    """The product of the posteriors of both directions, in the order of cells of each."""
    offsets = pairs.source_offsets, pairs.target_offsets
    order = turned_cells(*(np.diff(of_side[first : end + 1]) for of_side in offsets))
    product = link * back_link[order]
    turned = np.empty_like(product)
    turned[order] = product
    return product, turned


def _with_jumps(model: DirectedModel, settings: AlignmentSettings) -> DirectedModel:
    """A model with a table of jumps that knows nothing yet, so that the HMM's first round is one of model 1."""
    jumps = np.full(2 * REACH + 1, 1 / (2 * REACH + 1))
    log_prior = model.log_prior + jump_log_prior(jumps, settings.jump_pseudo)
    return DirectedModel(model.entry, model.null, jumps, model.unseen, model.unseen_null, log_prior)


def directed_model(rows: Rows, null: Rows, jumps: Floats, jump_pseudo: float) -> DirectedModel:
    """A model of rows of translations and jumps."""
    log_prior = rows.log_prior + null.log_prior + jump_log_prior(jumps, jump_pseudo)
    return DirectedModel(rows.weight, null.weight, jumps, rows.unseen, float(null.unseen[0]), log_prior)
