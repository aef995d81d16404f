"""Token, boundary and lexicon F of word segmentation."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import WeftError
from weft.evaluate.labels.segmentation import score_segmentation


def test_the_example_of_the_paper():
    report = score_segmentation([["the", "dog"]], [["th", "e", "dog"]])
    token = report.tokens.total()
    assert (token.precision, token.recall) == (pytest.approx(1 / 3), 0.5)
    assert token.f1 == pytest.approx(0.4)
    assert report.boundaries.total()[:3] == (1, 2, 1)
    assert report.lexicon[:3] == (2, 3, 1)


cuts = st.lists(st.booleans(), min_size=7, max_size=7)


def cut(where):
    words = [["a"]]
    for i, new in enumerate(where):
        if new:
            words.append([])
        words[-1].append("bcdefgh"[i])
    return words


@given(cuts, cuts)
@settings(max_examples=60, deadline=None)
def test_tokens_and_boundaries_are_counted_as_by_hand(one, two):
    report = score_segmentation([cut(one)], [cut(two)])
    both = [True, *(a and b for a, b in zip(one, two, strict=True)), True]
    equal = [True, *(a == b for a, b in zip(one, two, strict=True)), True]
    right = sum(
        both[i] and both[j] and not any(one[i : j - 1]) and all(equal[i : j + 1])
        for i in range(8)
        for j in range(i + 1, 9)
    )
    assert report.tokens.total()[:3] == (sum(one) + 1, sum(two) + 1, right)
    assert report.boundaries.total()[:3] == (sum(one), sum(two), sum(a and b for a, b in zip(one, two, strict=True)))


def test_other_sounds_and_other_numbers_of_utterances_are_refused():
    with pytest.raises(WeftError, match="utterance 1 has different sounds"):
        score_segmentation([["ab"]], [["a", "c"]])
    with pytest.raises(WeftError, match="gold has 1 utterances"):
        score_segmentation([["ab"]], [])
