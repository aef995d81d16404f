"""Kernels are compiled for one kind of arguments each, whatever kind of arrays the user has."""

from __future__ import annotations

import numpy as np
import pytest

from weft.infer.chains import forward_backward, segment_lattice, viterbi
from weft.infer.chains import moments as chain_moments
from weft.infer.chains.chain import Chain
from weft.infer.chains.semimarkov import SemiMarkov


def kinds(array: np.ndarray) -> list[np.ndarray]:
    frozen = array.copy()
    frozen.flags.writeable = False
    return [array, np.asfortranarray(array), array.astype(np.float32), frozen, np.repeat(array, 2, axis=0)[::2]]


@pytest.mark.parametrize("module", [chain_moments, forward_backward, segment_lattice, viterbi])
def test_every_kernel_has_one_signature(module):
    node, edge = np.zeros((3, 2)), np.zeros((2, 2))
    spread = np.array([[0.0, 900.0], [900.0, 0.0]])
    for one in kinds(node):
        for other in [*kinds(edge), np.zeros((3, 2, 2)), spread]:
            for legal in (None, np.eye(2)):
                chain = Chain(one, other, np.array([0, 1, 3], dtype=np.int32), legal=legal)
                chain.best(), chain.kbest(2), chain.log_partition(), chain.sample(2, seed=0)
                chain.covariance(chain.marginals())
    for one in kinds(np.zeros((3, 2, 2))):
        model = SemiMarkov(one, edge, [0, 1, 3])
        model.kbest(2), model.sample(2, seed=0)
        model.covariance(model.marginals())
    for name, found in vars(module).items():
        if hasattr(found, "signatures") and found.__module__ == module.__name__:
            assert len(found.signatures) <= 1, name
