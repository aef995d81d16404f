"""What a projection puts side by side."""

from __future__ import annotations

import numpy as np
import pytest
from places import EXAMPLES
from scipy.sparse import csr_matrix

from weft.features.representations.correspondence import Correspondence
from weft.formats.reviews import read_reviews
from weft.tasks.sentiment.documents import PolarityClassifier, PolaritySettings
from weft.tasks.sentiment.polarity_model import PolarityModel
from weft.tasks.sentiment.polarity_report import agreement, shared_terms, specific

REVIEWS = EXAMPLES / "reviews"


def small_model() -> PolarityModel:
    """Terms: predictable and gripping of the source, leaks and sturdy of the target, good of both."""
    rows = np.array([[-0.5], [0.5], [-0.6], [0.4], [0.0]], dtype=np.float32)
    theta = Correspondence(rows, np.zeros(5, dtype=np.int32), np.array([0, 1]), np.ones((1, 1), dtype=np.float32))
    return PolarityModel(np.zeros(5), np.array([2.0]), 0.0, theta)


NAMES = ("predictable", "gripping", "leaks", "sturdy", "good")
COUNTS = np.array([[9, 8, 0, 0, 20], [0, 0, 9, 7, 20]])


def test_terms_of_both_domains_stand_on_the_side_of_their_polarity():
    found = shared_terms(small_model(), NAMES, COUNTS, dimensions=1)
    assert [(each.dimension, each.polarity, each.source, each.target) for each in found] == [
        (number, *side)
        for number in (0, 1)
        for side in (("pos", ["gripping"], ["sturdy"]), ("neg", ["predictable"], ["leaks"]))
    ]


def test_only_terms_of_one_domain_count_as_its_own():
    assert specific(COUNTS).tolist() == [1, 1, 2, 2, 0]
    assert specific(COUNTS, least=8).tolist() == [1, 1, 2, 0, 0]


def test_agreement_compares_with_the_documents_that_have_the_terms():
    rows = csr_matrix([[0, 0, 1, 0, 1], [0, 0, 0, 1, 1], [0, 0, 1, 0, 0], [0, 0, 0, 1, 0]])
    model = small_model()
    assert agreement(model, np.array([2, 3]), rows, np.array([-1.0, 1.0, -1.0, 1.0])) == 1.0
    assert agreement(model, np.array([2, 3]), rows, np.array([1.0, -1.0, 1.0, -1.0])) == 0.0


@pytest.mark.must_show("scl-sentiment", 7)
def test_the_report_puts_words_of_one_polarity_from_both_domains_on_one_side():
    classifier = PolarityClassifier(PolaritySettings(pivot_documents=2, dimensions=10))
    films, pans = ([review.doc() for review in read_reviews(REVIEWS / f"{name}.tsv")] for name in ("films", "pans"))
    classifier.adapt(films, pans)
    good, bad = classifier.correspondences(dimensions=0, most=12)
    assert {"witty", "moving"} & set(good.source)
    assert {"sturdy", "easy", "evenly", "fits"} & set(good.target)
    assert {"predictable", "wooden", "dull"} & set(bad.source)
    assert {"loose", "leaks", "rusted", "peels", "is loose"} & set(bad.target)
    assert not {"predictable", "wooden", "dull"} & set(good.source)
    assert not {"sturdy", "evenly"} & set(bad.target)
