"""What the four systems add to the scores of candidates, and the gradients of their objectives.

BASIC          independent softmaxes over candidates.
PAIRPROPERTY   features of the most likely property values of both mentions.
LEFTTORIGHT    mentions are decided in text order; features of how many mentions of the antecedent's entity so far agree
               with the current one (after Rahman and Ng 2009).
TRANSITIVE     hidden properties p of mentions that are equal if the mentions are linked; marginals by belief
               propagation. R(r) is given, P(p, r) = exp W[p, r] is learned.

    P(a | x) ∝ sum over p, r of  prod E(a_i, p_i, p_j) * prod R(r) * exp(sum of f_A . w + sum of W[p, r])

The factor E is 1 for a mention that is not linked to j; if it is, it is k for equal values and 0 for others. The paper
has 1 in place of k, the number of values, which merely lowers all links by the same log k: with k, W = 0 leaves the
distribution of BASIC as it is. The factors of one mention and one property are passed to belief propagation as their
product: one by one, they and the two variables that they share form short loops, and what one candidate says of the
mention's value returns to the choice as evidence for the others.

A training mention that pruning has left without a right candidate (*open*) has no factors E: whatever it links to is
wrong, and its value must not pass there.

The objective of a document is  log sum over allowed a of P'(a) - log sum over all a of P'(a),  P' being P times the
exponential of the loss (softmax-margin); its gradient has the two sets of marginals.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from weft.arrays import Bools, Floats, Ints, Keys
from weft.infer.factor_graphs.graph import Beliefs, FactorGraph
from weft.kernel import kernel
from weft.tasks.coreference.candidates import Candidates, log_softmax
from weft.tasks.coreference.features import code_key
from weft.tasks.coreference.table import TYPE, MentionTable

SYSTEMS = ("basic", "pairproperty", "lefttoright", "transitive")
#: The share of old messages that is kept; without it, messages of many documents swing and do not settle.
DAMPING = 0.3
#: Codes of LEFTTORIGHT: by the size of the entity, how many of its mentions agree.
_ONE, _TWO, _MANY, _BEGIN = 0, 2, 5, 9


@dataclass
class Sample:
    """A document to learn from or to resolve: its mentions, candidates and the priors of their properties."""

    table: MentionTable
    candidates: Candidates
    priors: Sequence[Floats] = ()
    entity: Ints | None = None
    allowed: Bools | None = None
    losses: Floats | None = None
    open: Bools | None = None  #: of every mention, whether no candidate is right
    codes: Ints = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int64))
    graph: FactorGraph | None = None

    def __post_init__(self) -> None:
        if len(self.codes) != len(self.candidates.antecedents):
            self.codes = np.zeros((len(self.candidates.antecedents), 0), dtype=np.int64)

    @property
    def modes(self) -> Ints:
        """The most likely value of every property, one column each."""
        return np.stack([prior.argmax(axis=1) for prior in self.priors], axis=1).astype(np.int64)


def pair_codes(candidates: Candidates, modes: Ints, sizes: Sequence[int]) -> Ints:
    """Codes of PAIRPROPERTY: for every property the values of both mentions, of the current one, of the other."""
    current, other = modes[candidates.mentions], modes[candidates.antecedents]
    linked = (candidates.antecedents >= 0)[:, None]
    both = np.where(linked, current * np.asarray(sizes) + other, -1)
    return np.concatenate([both, current, np.where(linked, other, -1)], axis=1).astype(np.int64)


def left_to_right(
    sample: Sample, base: Floats, weights: Floats, sizes: Sequence[int]
) -> tuple[Floats, Ints, Ints]:  # fmt: skip
    """Decide mentions in text order; the scores of all candidates, their codes, and the antecedents chosen."""
    modes, candidates = sample.modes, sample.candidates
    codes = np.full((len(base), modes.shape[1]), -1, dtype=np.int64)
    scores, chosen = base.copy(), np.full(len(modes), -1, dtype=np.int64)
    counts = np.zeros((len(modes), modes.shape[1], max(sizes, default=1)), dtype=np.int64)
    _left_to_right(
        candidates.offsets, candidates.antecedents, modes, sample.table.keys, weights, scores, codes, chosen, counts
    )
    return scores, codes, chosen


@kernel
def _left_to_right(
    offsets: Ints, antecedents: Ints, modes: Ints, keys: Keys, weights: Floats, scores: Floats, codes: Ints,
    chosen: Ints, counts: Ints,
) -> None:  # fmt: skip
    mask = np.uint64(len(weights) - 1)
    n, m = modes.shape
    entity, size = np.arange(n), np.zeros(n, dtype=np.int64)
    for i in range(n):
        best = -np.inf
        for c in range(offsets[i], offsets[i + 1]):
            j = antecedents[c]
            for k in range(m):
                code = _BEGIN
                if j >= 0:
                    agree, total = counts[entity[j], k, modes[i, k]], size[entity[j]]
                    if total == 1:
                        code = _ONE + agree
                    elif total == 2:
                        code = _TWO + agree
                    else:
                        level = 0
                        if agree == total:
                            level = 3
                        elif 2 * agree > total:
                            level = 2
                        elif agree > 0:
                            level = 1
                        code = _MANY + level
                codes[c, k] = code
                for version in range(2):
                    key = code_key(keys[i, TYPE], keys[j, TYPE] if j >= 0 else np.uint64(0), j >= 0, k, code, version)
                    scores[c] += weights[np.int64(key & mask)]
            if scores[c] > best:
                best = scores[c]
                chosen[i] = j
        if chosen[i] >= 0:
            entity[i] = entity[chosen[i]]
        size[entity[i]] += 1
        for k in range(m):
            counts[entity[i], k, modes[i, k]] += 1


def linked_graph(candidates: Candidates, sizes: Sequence[int], unlinked: Bools | None = None) -> FactorGraph:
    """The factor graph of TRANSITIVE: a choice per mention, then the properties, one block of mentions for each.

    Mentions that are `unlinked` have no factors.
    """
    n = len(candidates.offsets) - 1
    graph = FactorGraph(np.concatenate([np.diff(candidates.offsets), *(np.full(n, size) for size in sizes)]))
    # All properties of a mention together, mentions in text order: one sweep carries values through the document.
    for mention, (low, high) in enumerate(itertools.pairwise(candidates.offsets.tolist())):
        own = candidates.antecedents[low:high]
        new = int((own < 0).sum())
        if new == len(own) or (unlinked is not None and unlinked[mention]):
            continue
        for k in range(1, len(sizes) + 1):
            graph.add_choice(mention, new, n * k + mention, n * k + own[new:])
    return graph


def unaries(priors: Sequence[Floats], projections: Sequence[Floats]) -> list[Floats]:
    """log sum over r of R(r) exp W[p, r], for every mention and value p."""
    return [np.log(prior @ np.exp(own).T) for prior, own in zip(priors, projections, strict=True)]


def believed(
    sample: Sample, scores: Floats, projections: Sequence[Floats], sweeps: int = 10, tolerance: float = 1e-4
) -> Beliefs:
    """The marginals of a document under TRANSITIVE, for scores of candidates (minus infinity forbids one)."""
    if sample.graph is None:
        sample.graph = linked_graph(sample.candidates, [len(own) for own in projections], sample.open)
    bonus = sum(np.log(len(own)) for own in projections)
    lifted = scores + np.where(sample.candidates.antecedents >= 0, bonus, 0.0)
    sample.graph.set_scores(np.concatenate([lifted, *(u.ravel() for u in unaries(sample.priors, projections))]))
    return sample.graph.run(sweeps=sweeps, tolerance=tolerance, damping=DAMPING)


@dataclass(frozen=True)
class Gradient:
    """The objective of a document and its derivatives by the scores of candidates and by the projections."""

    value: float
    scores: Floats
    projections: list[Floats]


def basic_gradient(sample: Sample, scores: Floats) -> Gradient:
    """Softmax-margin over independent softmaxes with latent antecedents."""
    assert sample.allowed is not None
    assert sample.losses is not None
    offsets = sample.candidates.offsets
    model, total = log_softmax(scores + sample.losses, offsets)
    gold, allowed = log_softmax(np.where(sample.allowed, scores, -np.inf), offsets)
    return Gradient(float((allowed - total).sum()), np.exp(gold) - np.exp(model), [])


def transitive_gradient(
    sample: Sample, scores: Floats, projections: Sequence[Floats], sweeps: int = 10, tolerance: float = 1e-4
) -> Gradient:
    """The same with hidden properties: two runs of belief propagation."""
    assert sample.allowed is not None
    assert sample.losses is not None
    runs = []
    for masked in (np.where(sample.allowed, scores, -np.inf), scores + sample.losses):
        found = believed(sample, masked, projections, sweeps, tolerance)
        runs.append((found.log_partition, found.probabilities))
    difference = runs[0][1] - runs[1][1]
    n, reached = len(sample.table), len(scores)
    moves = []
    for prior, own in zip(sample.priors, projections, strict=True):
        size = len(own)
        block = difference[reached : reached + n * size].reshape(n, size)
        joint = prior[:, None, :] * np.exp(own)[None, :, :]  # mention, p, r
        moves.append(np.einsum("ip,ipr->pr", block, joint / joint.sum(axis=2, keepdims=True)))
        reached += n * size
    return Gradient(runs[0][0] - runs[1][0], difference[: len(scores)], moves)
