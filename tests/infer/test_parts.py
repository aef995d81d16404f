"""Parts of every structure combine linearly, number by number."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from weft.errors import InferenceError
from weft.infer.chains.candidates import CandidateParts
from weft.infer.chains.chain import ChainParts
from weft.infer.chains.document import DocumentParts
from weft.infer.chains.semimarkov import SemiMarkovParts
from weft.infer.trees.arcs import TreeParts
from weft.infer.trees.dmv import ValenceParts

OFFSETS = np.array([0, 3])
SHAPES = {
    CandidateParts: [(5,), (6,)],
    ChainParts: [(3, 2), (2, 2)],
    DocumentParts: [(3, 2, 2), (2, 2, 2), (1, 2)],
    SemiMarkovParts: [(3, 2, 2), (2, 2)],
    TreeParts: [(4,), (5,)],
    ValenceParts: [(9, 2), (3, 2, 2)],
}


def random_parts(kind, rng):
    more = [OFFSETS] if "offsets" in [field.name for field in fields(kind)] else []
    return kind(*(rng.normal(size=shape) for shape in SHAPES[kind]), *more)


@pytest.mark.parametrize("kind", SHAPES)
def test_parts_combine_number_by_number(kind):
    rng = np.random.default_rng(0)
    one, other = random_parts(kind, rng), random_parts(kind, rng)
    added = one + other
    for total, less, a, b in zip(added.arrays, (one - other).arrays, one.arrays, other.arrays, strict=True):
        np.testing.assert_array_equal(total, a + b)
        np.testing.assert_array_equal(less, a - b)
    inner = sum(float((a * b).sum()) for a, b in zip(one.arrays, other.arrays, strict=True))
    assert one.inner(other) == pytest.approx(inner)
    assert one.scale(-2.0).inner(other) == pytest.approx(-2.0 * inner)
    added -= other
    for a, b in zip(added.arrays, one.arrays, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)


@pytest.mark.parametrize("kind", SHAPES)
def test_parts_hold_all_their_arrays_of_numbers(kind):
    held = [field.name for field in fields(kind) if field.name != "offsets"]
    assert list(kind.numbers) == held


@pytest.mark.parametrize("kind", SHAPES)
def test_parts_of_other_batches_and_factors_by_sentence_are_refused(kind):
    parts = random_parts(kind, np.random.default_rng(1))
    larger = parts.with_arrays(np.zeros((len(array) + 1, *array.shape[1:])) for array in parts.arrays)
    for combine in (lambda: parts + larger, lambda: parts - larger, lambda: parts.inner(larger)):
        with pytest.raises(InferenceError, match="parts of different batches"):
            combine()
    with pytest.raises(InferenceError, match="one number for the whole batch"):
        parts.scale(np.ones(2))
