"""What several fallible annotators say, and how far each is to be trusted (Dawid and Skene 1979).

    item i has the class z_i ~ p;   annotator w who sees class k says l with probability pi_w[k, l]

    E   q_i(k)  ~  p_k * prod over answers (w, l) to i of pi_w[k, l];    q_i is fixed where the class is known
    M   pi_w[k, l]  ~  prior_w[k, l] + sum of q_i(k) over answers (i, l) of w;    p_k ~ smoothing + sum of q_i(k)

Known classes (control questions) and earlier answers of an annotator (`history`: how often class k was called l) enter
as counts of the prior. EM starts from the share of votes and never lowers the posterior density of the parameters.

Who answered little is taken for one of the crowd: with `shrinkage` a,

    prior_w[k, l]  =  smoothing + a * m[k, l],    m = the mean of all annotators' confusions

where m is estimated anew after each run of EM until it stays. `held_out` says how well answers that were left out are
predicted, which chooses a without anybody knowing a class.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weft.arrays import Floats, Ids
from weft.errors import ConfigError, DataError
from weft.kernel import kernel
from weft.learn.generative.em import expectation_maximization

#: Runs of EM in which the mean annotator is estimated, and the change below which it stays.
ROUNDS, STILL = 12, 1e-4
#: What stands for an item whose class nobody knows.
UNKNOWN = -1


@dataclass(frozen=True)
class Consensus:
    """The classes of items and the confusions of annotators.

    `posteriors[i, k]` is the probability of class k; `confusions[w, k, l]` how often annotator w calls class k l;
    `counts` is `confusions` before normalization and without the prior, the `history` of another run.
    """

    posteriors: Floats
    confusions: Floats
    prior: Floats
    counts: Floats
    objective: list[float]

    @property
    def labels(self) -> NDArray[np.int64]:
        """The most probable class of every item, the first of equal ones."""
        best: NDArray[np.int64] = self.posteriors.argmax(axis=1)
        return best

    @property
    def accuracies(self) -> Floats:
        """How often every annotator is expected to be right on items like these.

        >>> found = aggregate([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2], [0, 0, 1, 1, 1, 0], 2)
        >>> found.accuracies.round(1).tolist()
        [1.0, 1.0, 0.0]
        """
        shares: Floats = np.einsum("k,wkk->w", self.prior, self.confusions)
        return shares


def aggregate(
    items: ArrayLike, annotators: ArrayLike, answers: ArrayLike, n_classes: int, *, known: ArrayLike | None = None,
    history: ArrayLike | None = None, smoothing: float = 0.01, shrinkage: float = 0.0, max_iterations: int = 100,
    tolerance: float = 1e-7,
) -> Consensus:  # fmt: skip
    """The consensus of answers, each given as item, annotator and class.

    `known[i]` is the class of item i or -1; `history[w, k, l]` are counts of earlier answers; `smoothing` is added to
    every count, `shrinkage` answers like the mean annotator's to the counts of each class. Items without
    an answer keep the prior.

    >>> found = aggregate([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2], [0, 0, 1, 1, 1, 0], 2)
    >>> found.labels.tolist()
    [0, 1]
    """
    i, w, label = (np.ascontiguousarray(each, dtype=np.int32) for each in (items, annotators, answers))
    if not len(i) == len(w) == len(label):
        raise DataError(f"answers need an item, an annotator and a class each: got {len(i)}, {len(w)}, {len(label)}")
    if not len(i):
        raise DataError("there are no answers to aggregate")
    if shrinkage < 0:
        raise ConfigError(f"shrinkage is a number of answers, at least 0, got {shrinkage}")
    if smoothing <= 0:
        raise ConfigError(f"smoothing must be above 0, or an unseen answer rules a class out, got {smoothing}")
    if min(i.min(), w.min(), label.min()) < 0 or label.max() >= n_classes:
        raise DataError(f"items, annotators and classes are numbers from 0; classes go to {n_classes - 1}")
    fixed = np.full(int(i.max()) + 1, UNKNOWN, dtype=np.int32)
    if known is not None:
        given = np.asarray(known, dtype=np.int32)
        if len(given) < len(fixed) or given.max(initial=0) >= n_classes:
            raise DataError(f"known classes are needed for all {len(fixed)} items, -1 where there is none")
        fixed = np.ascontiguousarray(given)
    earlier = np.zeros((int(w.max()) + 1, n_classes, n_classes))
    if history is not None:
        counts = np.asarray(history, dtype=np.float64)
        if counts.ndim != 3 or counts.shape[1:] != earlier.shape[1:] or len(counts) < len(earlier) or counts.min() < 0:
            raise DataError(f"history must be counts of the shape {earlier.shape}, got {counts.shape}")
        earlier = counts

    def run_with(prior: Floats) -> Consensus:
        return _consensus(_Run(i, w, label, fixed, prior, smoothing), tolerance, max_iterations)

    if not shrinkage:
        return run_with(earlier)
    mean = np.full((n_classes, n_classes), 0.4 / n_classes) + 0.6 * np.eye(n_classes)
    for _ in range(ROUNDS):
        consensus = run_with(earlier + shrinkage * mean)
        before, mean = mean, consensus.confusions.mean(axis=0)
        if float(np.abs(mean - before).max()) < STILL:
            break
    return consensus


def _consensus(run: _Run, tolerance: float, max_iterations: int) -> Consensus:
    found = expectation_maximization(
        run.expect, run.maximize, run.maximize(run.votes()), tolerance=tolerance, max_iterations=max_iterations,
        describe="consensus",
    )  # fmt: skip
    confusions, prior = found.parameters
    (posteriors, counts, _), _ = run.expect((confusions, prior))
    return Consensus(posteriors, confusions, prior, counts, found.log_likelihoods)


def held_out(
    items: ArrayLike, annotators: ArrayLike, answers: ArrayLike, n_classes: int, shrinkage: float, folds: int = 5,
    seed: int = 0,
) -> float:  # fmt: skip
    """The mean log probability of answers that were left out, given all others.

        p(answer l of w to i)  =  sum over k of q_i(k) * pi_w[k, l]

    >>> rng = np.random.default_rng(0)
    >>> items, annotators = np.repeat(np.arange(40), 5), np.tile(np.arange(5), 40)
    >>> answers = (items % 2) ^ (rng.random(200) < 0.2)
    >>> held_out(items, annotators, answers, 2, 4.0) > held_out(items, annotators, answers, 2, 0.0)
    True
    """
    i, w, label = (np.asarray(each, dtype=np.int32) for each in (items, annotators, answers))
    fold = np.random.default_rng(seed).permutation(len(i)) % folds
    known = np.full(int(i.max()) + 1, UNKNOWN, dtype=np.int32)
    history = np.zeros((int(w.max()) + 1, n_classes, n_classes))
    total = 0.0
    for number in range(folds):
        train, test = fold != number, fold == number
        found = aggregate(
            i[train], w[train], label[train], n_classes, known=known, history=history, shrinkage=shrinkage
        )  # fmt: skip
        chances = (found.posteriors[i[test]] * found.confusions[w[test], :, label[test]]).sum(axis=1)
        total += float(np.log(chances).sum())
    return total / len(i)


def majority(items: ArrayLike, answers: ArrayLike, n_classes: int) -> Floats:
    """The share of every class in the answers to every item.

    >>> majority([0, 0, 0, 1], [1, 1, 0, 0], 2).round(2).tolist()
    [[0.33, 0.67], [1.0, 0.0]]
    """
    i, label = np.asarray(items), np.asarray(answers)
    votes = np.zeros((int(i.max()) + 1, n_classes))
    np.add.at(votes, (i, label), 1.0)
    shares: Floats = votes / np.maximum(votes.sum(axis=1, keepdims=True), 1.0)
    return shares


Parameters = tuple[Floats, Floats]
Statistics = tuple[Floats, Floats, Floats]


@dataclass
class _Run:
    items: Ids
    annotators: Ids
    answers: Ids
    known: Ids
    history: Floats
    smoothing: float

    def votes(self) -> Statistics:
        """Statistics of posteriors that are shares of votes."""
        n_classes = self.history.shape[1]
        shares = np.zeros((len(self.known), n_classes))
        shares[: int(self.items.max()) + 1] = majority(self.items, self.answers, n_classes)
        shares[shares.sum(axis=1) == 0] = 1.0 / n_classes
        _fix(shares, self.known)
        return self._counted(shares)

    def expect(self, parameters: Parameters) -> tuple[Statistics, float]:
        """Posteriors and what they count, and the log density of parameters and answers."""
        confusions, prior = parameters
        logs = np.log(confusions)
        scores = np.tile(np.log(prior), (len(self.known), 1))
        _add_answers(self.items, self.annotators, self.answers, logs, scores)
        likelihood = _normalize(scores, self.known)
        density = float(((self.history + self.smoothing) * logs).sum() + self.smoothing * np.log(prior).sum())
        return self._counted(scores), likelihood + density

    def maximize(self, statistics: Statistics) -> Parameters:
        """Parameters of counts and their priors."""
        _, counts, classes = statistics
        full = counts + self.history + self.smoothing
        prior = classes + self.smoothing
        return full / full.sum(axis=2, keepdims=True), prior / prior.sum()

    def _counted(self, posteriors: Floats) -> Statistics:
        counts = np.zeros_like(self.history)
        _count(self.items, self.annotators, self.answers, posteriors, counts)
        return posteriors, counts, posteriors.sum(axis=0)


def _fix(posteriors: Floats, known: Ids) -> None:
    rows = np.flatnonzero(known >= 0)
    posteriors[rows] = 0.0
    posteriors[rows, known[rows]] = 1.0


@kernel
def _add_answers(items: Ids, annotators: Ids, answers: Ids, logs: Floats, scores: Floats) -> None:
    for a in range(len(items)):
        for k in range(scores.shape[1]):
            scores[items[a], k] += logs[annotators[a], k, answers[a]]


@kernel
def _normalize(scores: Floats, known: Ids) -> float:
    """Turn log scores into posteriors, in place; the sum of the log-likelihoods of the items."""
    total = 0.0
    for i in range(len(scores)):
        if known[i] >= 0:
            total += scores[i, known[i]]
            for k in range(scores.shape[1]):
                scores[i, k] = 1.0 if k == known[i] else 0.0
            continue
        most = scores[i, 0]
        for k in range(1, scores.shape[1]):
            most = max(most, scores[i, k])
        mass = 0.0
        for k in range(scores.shape[1]):
            scores[i, k] = np.exp(scores[i, k] - most)
            mass += scores[i, k]
        for k in range(scores.shape[1]):
            scores[i, k] /= mass
        total += most + np.log(mass)
    return total


@kernel
def _count(items: Ids, annotators: Ids, answers: Ids, posteriors: Floats, counts: Floats) -> None:
    for a in range(len(items)):
        for k in range(posteriors.shape[1]):
            counts[annotators[a], k, answers[a]] += posteriors[items[a], k]
