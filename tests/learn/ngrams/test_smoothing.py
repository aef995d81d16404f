"""Estimates against their definitions; every history sums up to 1."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ngram_twins import SENTENCES, Plain, counted, kneser_ney, witten_bell

from weft.errors import ConfigError
from weft.learn.ngrams.model import NgramModel
from weft.learn.ngrams.smoothing import METHODS, _discounts, _katz, estimate


@settings(max_examples=25, deadline=None)
@given(SENTENCES, st.integers(1, 4), st.sampled_from(METHODS), st.booleans(), st.booleans())
def test_every_history_sums_to_one(
    sentences: list[list[str]], order: int, method: str, interpolate: bool, cut: bool
) -> None:
    vocabulary, counts, _ = counted(sentences, order)
    found = estimate(counts, method, interpolate, (0, 0, 1) if cut else ())
    plain = Plain(found)
    for history in plain.alpha:
        assert sum(plain.p(history, word) for word in plain.words) == pytest.approx(1, abs=1e-9)
    assert abs(NgramModel.of(vocabulary, found).sums() - 1).max() < 1e-6
    assert all(plain.p((), word) > 0 for word in plain.words if word != 1)


@settings(max_examples=25, deadline=None)
@given(SENTENCES, st.integers(1, 3))
def test_witten_bell_and_kneser_ney_are_their_definitions(sentences: list[list[str]], order: int) -> None:
    vocabulary, counts, plain = counted(sentences, order)
    bell, kneser = (Plain(estimate(counts, method)) for method in ("witten-bell", "kneser-ney"))
    for gram in plain:
        assert bell.p(gram[:-1], gram[-1]) == pytest.approx(witten_bell(plain, gram, len(vocabulary)))
        assert kneser.p(gram[:-1], gram[-1]) == pytest.approx(kneser_ney(plain, gram, len(vocabulary), order))


def test_shares_of_absolute_discounting_and_ristad() -> None:
    _, counts, plain = counted([["a", "b"], ["a", "b"], ["a", "c"], ["b"]], 2)
    pairs = [number for gram, number in plain.items() if len(gram) == 2]
    discount = pairs.count(1) / (pairs.count(1) + 2 * pairs.count(2))
    absolute, ristad = (estimate(counts, method, interpolate=False) for method in ("absolute", "ristad"))
    for gram, number in plain.items():
        if len(gram) == 2:
            after = [n for g, n in plain.items() if len(g) == 2 and g[0] == gram[0]]
            total, types = sum(after), len(after)
            node = int(counts.trie.find(np.array([gram]))[0])
            assert absolute.prob[node] == pytest.approx((number - discount) / total)
            law = (number + 1) * (total + 1 - types) / (total**2 + total + 2 * types)
            assert ristad.prob[node] == pytest.approx(law)


def test_katz_discounts_are_those_of_good_and_turing() -> None:
    c = np.repeat([1.0, 2, 3, 4, 5, 6, 9], [600, 200, 90, 50, 30, 20, 10])
    shares = _katz(c, np.full(len(c), 1000.0)) * 1000
    n = {1: 600, 2: 200, 3: 90, 4: 50, 5: 30, 6: 20}
    common = 6 * n[6] / n[1]
    for r in range(1, 6):
        wanted = ((r + 1) * n[r + 1] / n[r] / r - common) / (1 - common) * r
        assert shares[c == r] == pytest.approx(wanted)
    assert shares[c == 9] == pytest.approx(9)
    # Good-Turing keeps the number of seen events that their discounts free for n_1.
    assert float((c - shares).sum()) == pytest.approx(n[1])


def test_discounts_of_one_two_and_three() -> None:
    c = np.repeat([1.0, 2, 3, 4], [60, 20, 10, 5])
    y = 60 / 100
    assert _discounts(c, modified=True).tolist() == pytest.approx([0, 1 - 2 * y / 3, 2 - 3 * y / 2, 3 - 4 * y / 2])
    assert _discounts(c, modified=False).tolist() == pytest.approx([0, y, y, y])


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(ConfigError, match="did you mean kneser-ney"):
        estimate(counted([["a"]], 1)[1], "kneserney")
