"""Alignment models with fertilities learned from a bitext by EM, from the HMM on: IBM-3, IBM-4 and IBM-5.

    expect      climb from the alignments of the iteration before; expectations over those found and their neighbours
                (`weft.infer.alignment.fertility`). The first iteration of a model takes them from the model before it:
                the HMM's posteriors, then those of IBM-3.
    maximize    translations and fertilities by division, p0 = E[words from none] / E[words from source words],
                tables of placement by ascent (`weft.learn.bitext.distortion`)

Deficient models pass through the deficient IBM-3, the others through the one that is not (Schoenemann 2013).
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np

from weft.arrays import Floats
from weft.errors import ConfigError
from weft.infer.alignment.fertility import FertilityAlignments, FertilityMarginals, PlacementSums
from weft.infer.alignment.placement import HMM, KINDS, ND3, Placing, new_placing
from weft.learn.bitext.distortion import WAYS, estimate_placement
from weft.learn.bitext.word_alignment import (
    AlignmentSettings,
    DirectedModel,
    LearnedModels,
    Side,
    agreed_links,
    directed_model,
)
from weft.learn.generative.cooccurrence import Cooccurrences, Types
from weft.learn.generative.dirichlet import estimate_rows
from weft.progress import progress
from weft.ragged import States

#: The models that each method goes through.
STAGES = {
    "ibm3": ("ibm3",),
    "ibm3-nd": ("ibm3-nd",),
    "ibm4": ("ibm3", "ibm4"),
    "ibm4-reduced": ("ibm3", "ibm4-reduced"),
    "ibm4-nd": ("ibm3-nd", "ibm4-nd"),
    "ibm5": ("ibm3-nd", "ibm5"),
}
_P_NULL = (1e-6, 0.5)


@dataclass(frozen=True)
class FertilitySettings:
    """Options of training models with fertilities.

    `fertility_pseudo` counts of the mean fertilities are added to those of every word, `placement_pseudo` counts of the
    mean displacements to every row of the table of displacements. `p_null` is the probability that a word from a source
    word brings one from none, 0: learned. With `agreement`, translations count by the product of the posteriors of both
    directions. `exact` sums over all alignments of very short
    sentences.
    """

    ibm3_iterations: int = 5
    ibm4_iterations: int = 5
    classes: int = 50
    fertility_pseudo: float = 5.0
    placement_pseudo: float = 5.0
    placement: str = "minorize"
    ascent_iterations: int = 20
    p_null: float = 0.05
    agreement: bool = False
    exact: bool = False

    def __post_init__(self) -> None:
        if self.ibm3_iterations < 1 or self.ibm4_iterations < 1:
            raise ConfigError("models with fertilities learn in at least 1 iteration each")
        if self.classes < 1:
            raise ConfigError(f"classes={self.classes}: expected at least 1 word class")
        if min(self.fertility_pseudo, self.placement_pseudo) < 0:
            raise ConfigError("fertility_pseudo and placement_pseudo are counts, 0 or more")
        if self.placement not in WAYS:
            raise ConfigError(f"placement={self.placement!r}: expected one of {', '.join(WAYS)}")


@dataclass(frozen=True)
class FertilityModel:
    """One direction. Row g of `fertility` belongs to the given type g, the last to words that are not known."""

    words: DirectedModel
    fertility: Floats
    placing: Placing
    p_null: float


@dataclass
class LearnedFertility:
    """Both directions, with the alignments of the bitext; per model and iteration the log-likelihood that alignments
    and neighbours cover (of the model it started from), and p0 of both directions after it."""

    forward: FertilityModel
    backward: FertilityModel
    alignments: tuple[States, States]
    objective: dict[str, list[float]] = field(default_factory=dict)
    p_null: dict[str, list[tuple[float, float]]] = field(default_factory=dict)


@dataclass
class _Direction:
    """What is at hand of one direction while it is learned."""

    side: Side
    model: FertilityModel
    alpha: Types
    beta: Types
    owner: States

    def alignments(self, first: int, end: int, settings: AlignmentSettings) -> FertilityAlignments:
        """Sentence pairs under the present model."""
        side = self.side
        given = side.given_words[side.given_offsets[first] : side.given_offsets[end]]
        words = side.words[side.offsets[first] : side.offsets[end]]
        return FertilityAlignments(
            side.alignments(self.model.words, first, end, settings), self.model.placing, self.model.fertility,
            given, self.alpha[words], self.beta[given], p_null=self.model.p_null,
        )  # fmt: skip


@dataclass
class _Sums:
    entry: Floats
    null: Floats
    fertility: Floats
    empty: Floats
    placement: PlacementSums
    value: float = 0.0


def learn_fertility(
    pairs: Cooccurrences,
    hmm: LearnedModels,
    method: str,
    settings: FertilitySettings | None = None,
    classes: tuple[Types, Types] | None = None,
    base: AlignmentSettings | None = None,
    start: LearnedFertility | None = None,
) -> LearnedFertility:
    """Learn both directions of a bitext by one of `STAGES`, from the HMM that `learn_alignment` returned.

    `classes` are those of the source and the target types, none: one for all. `base` are the settings of the HMM, whose
    prior on translations holds here too. `start` has learned some of the models on the way.

    >>> from weft.learn.bitext.word_alignment import learn_alignment
    >>> words = Cooccurrences.of([0, 1, 0, 2, 1, 2], [0, 2, 4, 6], [0, 1, 0, 2, 1, 2], [0, 2, 4, 6])
    >>> learned = learn_fertility(words, learn_alignment(words), "ibm3-nd")
    >>> learned.alignments[0].tolist()
    [0, 1, 0, 1, 0, 1]
    """
    settings, base = settings or FertilitySettings(), base or AlignmentSettings()
    if method not in STAGES:
        raise ConfigError(f"there is no model with fertilities {method!r}; there are {', '.join(STAGES)}")
    directions = [
        _started(Side(pairs, turned=turned), model, classes)
        for turned, model in ((False, hmm.forward), (True, hmm.backward))
    ]
    if start is None:
        start = LearnedFertility(directions[0].model, directions[1].model, (np.zeros(0, np.int32),) * 2)
        for direction in directions:
            _take_hmm_alignments(direction, base)
    else:
        for direction, model, owner in zip(
            directions, (start.forward, start.backward), start.alignments, strict=True
        ):  # fmt: skip
            direction.model, direction.owner = model, owner.copy()
    objective, p_null = dict(start.objective), dict(start.p_null)
    for stage in STAGES[method][len(objective) :]:
        iterations = settings.ibm3_iterations if KINDS.index(stage) <= ND3 else settings.ibm4_iterations
        objective[stage], p_null[stage] = [], []
        with progress(stage, iterations, "iterations") as bar:
            for _ in range(iterations):
                value, new = _iteration(pairs, directions, stage, settings, base)
                for direction, model in zip(directions, new, strict=True):
                    direction.model = model
                objective[stage].append(value)
                p_null[stage].append((new[0].p_null, new[1].p_null))
                bar.advance(1)
    forward, backward = directions
    return LearnedFertility(forward.model, backward.model, (forward.owner, backward.owner), objective, p_null)


def hmm_placing() -> Placing:
    """Stands for the HMM where a model of placement is expected."""
    return Placing(HMM, np.ones((1, 1)), 0, 1, 1)


def _started(side: Side, hmm: DirectedModel, classes: tuple[Types, Types] | None) -> _Direction:
    """A direction that scores by the HMM."""
    if not len(hmm.jumps):
        raise ConfigError("models with fertilities start from the HMM; train it for at least 1 iteration")
    width = side.longest_words + 2
    fertility = np.full((side.n_given + 1, width), 1 / width)
    if classes is None:
        alpha, beta = np.zeros(side.n_words, np.int32), np.zeros(side.n_given, np.int32)
    else:
        alpha, beta = (classes[0], classes[1]) if side.turned else (classes[1], classes[0])
    model = FertilityModel(hmm, fertility, hmm_placing(), 0.1)
    return _Direction(side, model, alpha, beta, np.full(len(side.words), -1, np.int32))


def _take_hmm_alignments(direction: _Direction, base: AlignmentSettings) -> None:
    side = direction.side
    for first, end in side.pairs.batches():
        rows = slice(int(side.offsets[first]), int(side.offsets[end]))
        direction.owner[rows] = side.alignments(direction.model.words, first, end, base).best()


def _new_placing(direction: _Direction, stage: str) -> Placing:
    """The table that a stage learns: that of the model, or a new one."""
    if KINDS[direction.model.placing.kind] == stage:
        return direction.model.placing
    side = direction.side
    sizes = int(direction.alpha.max(initial=0)) + 1, int(direction.beta.max(initial=0)) + 1
    return new_placing(stage, side.longest, side.longest_words, *sizes)


def _iteration(
    pairs: Cooccurrences, directions: Sequence[_Direction], stage: str, settings: FertilitySettings,
    base: AlignmentSettings,
) -> tuple[float, list[FertilityModel]]:  # fmt: skip
    """One iteration of EM: the log-likelihood before it, and new models."""
    sums = [
        _Sums(
            np.zeros(pairs.n_entries), np.zeros(each.side.n_words), np.zeros_like(each.model.fertility), np.zeros(2),
            PlacementSums(_new_placing(each, stage)),
        )
        for each in directions
    ]  # fmt: skip
    with ThreadPoolExecutor(len(directions)) as pool:
        for first, end in pairs.batches():
            jobs = [
                pool.submit(_expect, each, part.placement, first, end, base, settings.exact)
                for each, part in zip(directions, sums, strict=True)
            ]
            found = [job.result() for job in jobs]
            links = [marginals.link for marginals in found]
            if settings.agreement:
                links = list(agreed_links(pairs, first, end, *links))
            for each, part, marginals, link in zip(directions, sums, found, links, strict=True):
                _add(each.side, part, marginals, link, first, end)
        new = list(pool.map(lambda each, part: _maximize(each, part, settings, base.alpha), directions, sums))
    return sum(part.value for part in sums), new


def _expect(
    direction: _Direction, placement: PlacementSums, first: int, end: int, base: AlignmentSettings, exact: bool
) -> FertilityMarginals:
    rows = slice(int(direction.side.offsets[first]), int(direction.side.offsets[end]))
    batch = direction.alignments(first, end, base)
    is_hmm = direction.model.placing.kind == HMM
    return batch.marginals(direction.owner[rows], placement, exact=exact and not is_hmm)


def _add(side: Side, sums: _Sums, found: FertilityMarginals, link: Floats, first: int, end: int) -> None:
    side.pairs.add_up(sums.entry, link, first, end, side.turned)
    words = side.words[side.offsets[first] : side.offsets[end]]
    sums.null += np.bincount(words, found.null, len(sums.null))
    sums.fertility += found.fertility
    sums.empty += found.empty
    sums.value += float(found.log_partition.sum())


def _maximize(direction: _Direction, sums: _Sums, settings: FertilitySettings, alpha: float) -> FertilityModel:
    """The model that explains expected counts best, or better than the one before."""
    side = direction.side
    rows = estimate_rows(sums.entry, side.given, side.n_given, alpha)
    null = estimate_rows(sums.null, np.zeros(side.n_words, np.int32), 1, alpha)
    words = replace(directed_model(rows, null, direction.model.words.jumps, 0.0), log_prior=0.0)
    placing = sums.placement.model
    prior = _placement_prior(placing, sums.placement.counts, settings.placement_pseudo)
    table = estimate_placement(
        placing.table, sums.placement.choices(), settings.placement, settings.ascent_iterations, prior
    )
    p_null = settings.p_null or float(np.clip(sums.empty[0] / max(float(sums.empty[1]), 1e-12), *_P_NULL))
    fertility = _fertilities(np.maximum(sums.fertility, 0.0), settings.fertility_pseudo)
    return FertilityModel(words, fertility, placing._replace(table=table), p_null)


def _fertilities(counts: Floats, pseudo: float) -> Floats:
    """Probabilities of fertilities per given type, and, in the last row, of all."""
    mean = counts.sum(axis=0)
    mean = mean / max(float(mean.sum()), 1e-12)
    found = counts + pseudo * mean
    totals = found.sum(axis=1, keepdims=True)
    found = np.where(totals > 0, found / np.maximum(totals, 1e-300), mean)
    found[-1] = mean
    return found


def _placement_prior(placing: Placing, counts: Floats, pseudo: float) -> Floats:
    """What is added to the counts of every row: the mean of the rows of its kind, `pseudo` times."""
    prior = np.zeros_like(counts)
    if pseudo == 0 or placing.kind <= ND3:
        return prior
    heads = placing.n_alpha * placing.n_beta
    for rows in (slice(0, heads), slice(heads, heads + placing.n_alpha)):
        mean = np.maximum(counts[rows].sum(axis=0), 0.0)
        prior[rows] = pseudo * mean / max(float(mean.sum()), 1e-12)
    return prior
