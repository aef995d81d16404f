"""Sums over the projective trees of a batch, first order: log Z and the probability of every arc.

The recurrence is that of `weft.infer.trees.eisner` with sums and products. Weights of arcs are probabilities among the
arcs into the same word,  w(h, m) = exp(arc(h, m) - c(m)),  c(m) = log of the sum over h of exp(arc(h, m)),  so that
nothing can overflow and  log Z = sum of c + log of the sum over trees of products of w. Derivatives of that sum, from
large spans to small ones, give the probabilities in O(n^3).
"""

from __future__ import annotations

import numpy as np

from weft.arrays import Floats
from weft.infer.trees.arcs import ArcSpace
from weft.kernel import kernel
from weft.ragged import Indices, States

__all__ = ["sum_first_order"]

#: Below this, small products that were lost could matter: the smallest number is some 1e-308.
_TOO_SMALL = 1e-200


def sum_first_order(space: ArcSpace, arc: Floats, weight: Floats, single_root: bool) -> tuple[Floats, Floats]:
    """log Z of every sentence, and the probabilities of all arcs times the weight of their sentence.

    log Z is NaN where the numbers are too small for products, or there is no tree; the probabilities are 0 then.

    >>> from weft.infer.trees.arcs import all_arcs
    >>> log_z, probability = sum_first_order(all_arcs([0, 2]), np.array([1.5, 2, 0.5, 1]), np.ones(1), single_root=True)
    >>> log_z.round(3).tolist(), probability.round(3).tolist()
    ([3.313], [0.269, 0.731, 0.269, 0.731])
    """
    log_z, probability = np.zeros(len(space)), np.zeros(space.n_arcs)
    _sums(
        space.offsets, space.head, space.modifier, space.first, space.into, space.into_first, arc, weight, single_root,
        log_z, probability,
    )  # fmt: skip
    return log_z, probability


@kernel
def _sums(
    offsets: Indices, head: States, modifier: States, first_arc: Indices, into: Indices, into_first: Indices,
    arc: Floats, weight: Floats, single_root: bool, log_z: Floats, probability: Floats,
) -> None:  # fmt: skip
    longest = 0
    for sentence in range(len(log_z)):
        longest = max(longest, offsets[sentence + 1] - offsets[sentence])
    floats = np.empty((7, (longest + 1) * (longest + 1)))
    for sentence in range(len(log_z)):
        n, root = offsets[sentence + 1] - offsets[sentence], offsets[sentence] + sentence
        shape, cells = (n + 1, n + 1), (n + 1) * (n + 1)
        floats[:, :cells] = 0.0
        w = floats[0, :cells].reshape(shape)
        for v in range(root + 1, root + n + 1):
            top = -np.inf
            for i in range(into_first[v], into_first[v + 1]):
                top = max(top, arc[into[i]])
            mass = 0.0
            if top > -np.inf:
                for i in range(into_first[v], into_first[v + 1]):
                    w[head[into[i]], v - root] = np.exp(arc[into[i]] - top)
                    mass += w[head[into[i]], v - root]
                for h in range(n + 1):
                    w[h, v - root] /= mass
                log_z[sentence] += top + np.log(mass)
        # Spans in both orders of their ends, so that every loop below runs along rows.
        open_, right, left = (
            floats[1, :cells].reshape(shape), floats[2, :cells].reshape(shape), floats[3, :cells].reshape(shape)
        )  # fmt: skip
        for s in range(n + 1):
            right[s, s], left[s, s] = 1.0, 1.0
        for width in range(1, n + 1):
            for s in range(n + 1 - width):
                t = s + width
                total = 0.0
                for r in range(s, 1 if single_root and s == 0 else t):
                    total += right[s, r] * left[t, r + 1]
                open_[s, t], open_[t, s] = total * w[s, t], total * w[t, s]
                total = 0.0
                for r in range(s + 1, t + 1):
                    total += open_[s, r] * right[t, r]
                right[s, t], right[t, s] = total, total
                total = 0.0
                for r in range(s, t):
                    total += left[s, r] * open_[t, r]
                left[s, t], left[t, s] = total, total
        z = right[0, n]
        if not z > _TOO_SMALL:
            log_z[sentence] = np.nan
            continue
        log_z[sentence] += np.log(z)
        # Derivatives of log z; those of a span with two ends are the sum of what stands at [s, t] and at [t, s].
        d_open, d_right, d_left = (
            floats[4, :cells].reshape(shape), floats[5, :cells].reshape(shape), floats[6, :cells].reshape(shape)
        )  # fmt: skip
        d_right[0, n] = 1.0 / z
        for width in range(n, 0, -1):
            for s in range(n + 1 - width):
                t = s + width
                d = d_left[s, t] + d_left[t, s]
                if d > 0.0:
                    for r in range(s, t):
                        d_left[s, r] += d * open_[t, r]
                        d_open[t, r] += d * left[s, r]
                d = d_right[s, t] + d_right[t, s]
                if d > 0.0:
                    for r in range(s + 1, t + 1):
                        d_open[s, r] += d * right[t, r]
                        d_right[t, r] += d * open_[s, r]
                d = d_open[s, t] * w[s, t] + d_open[t, s] * w[t, s]
                if d > 0.0:
                    for r in range(s, 1 if single_root and s == 0 else t):
                        d_right[s, r] += d * left[t, r + 1]
                        d_left[t, r + 1] += d * right[s, r]
        for a in range(first_arc[root], first_arc[root + n + 1]):
            h, m = head[a], modifier[a]
            probability[a] = weight[sentence] * d_open[h, m] * open_[h, m]
