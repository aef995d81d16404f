"""Maximum-entropy Markov models: chains normalized position by position.

    p(y | x) = prod_i p(y_i | y_{i-1}, x),     p(y | y', x) = exp(node_i(y) + edge(y', y)) / sum over legal y

Training is the signal `Local` on the same model and features as a CRF: the gold state before is known, so that every
position is a classification. Decoding is Viterbi on the chain that `normalize_locally` gives.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weft.arrays import Floats
from weft.errors import ConfigError
from weft.infer.chains.chain import Chain, ChainParts
from weft.learn.signals import gold_of
from weft.ragged import first_positions


@dataclass(frozen=True)
class Local:
    """Log-likelihood of every gold state given the gold state before it."""

    def __call__(self, chain: Chain, batch: object) -> tuple[float, ChainParts]:
        gold = gold_of(batch, "Local")
        if not chain.shared:
            raise ConfigError("the locally normalized model takes y[-1] only by itself, without observations")
        weight: Floats = batch.weight  # type: ignore[attr-defined]
        each = np.repeat(weight, np.diff(chain.offsets))
        before = np.roll(gold, 1)
        inside = np.ones(len(gold), dtype=bool)
        inside[first_positions(chain.offsets)] = False
        scores = chain.node.copy()
        scores[inside] += chain.edge[before[inside]]
        log_p = _log_softmax(scores)
        rows = np.arange(len(gold))
        value = float(each @ log_p[rows, gold])
        node = -np.exp(log_p)
        node[rows, gold] += 1.0
        node *= each[:, None]
        edge = np.zeros(chain.edge.shape)
        np.add.at(edge, before[inside], node[inside])
        return value, ChainParts(node, edge, chain.offsets)


def normalize_locally(chain: Chain) -> Chain:
    """The chain of log p(y_i | y_{i-1}, x), one matrix of edge scores per position; its log partition is 0.

    >>> chain = Chain([[0.0, 1.0], [2.0, 0.0]], np.zeros((2, 2)), [0, 2])
    >>> float(abs(normalize_locally(chain).log_partition()[0]).round(9))
    0.0
    """
    first = first_positions(chain.offsets)
    node = np.zeros(chain.node.shape)
    node[first] = _log_softmax(chain.node[first])
    edge = chain.edge if chain.edge.ndim == 3 else chain.edge[None]
    return Chain(node, _log_softmax(edge + chain.node[:, None, :]), chain.offsets)


def _log_softmax(scores: Floats) -> Floats:
    """Rows of log probabilities; a row in which nothing is allowed stays minus infinity."""
    top = scores.max(axis=-1, keepdims=True)
    top[np.isneginf(top)] = 0.0
    shifted = scores - top
    with np.errstate(divide="ignore"):
        total = np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    total[np.isneginf(total)] = 0.0
    result: Floats = shifted - total
    return result
