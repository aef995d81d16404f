from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import DataError
from weft.learn.bitext.source_noise import Confusion, read_confusion, write_confusion

#: The English tagger of the paper on CoNLL-2003: rows truth, columns answers.
PAPER = Confusion(
    ["O", "PER", "LOC", "ORG", "MISC"],
    [
        [81209, 24, 38, 155, 103],
        [77, 5725, 41, 69, 10],
        [49, 40, 3743, 127, 60],
        [178, 102, 142, 4075, 91],
        [175, 41, 30, 114, 1826],
    ],
)


@pytest.mark.must_show("cliper", 5)
@given(seed=st.integers(0, 2**32 - 1), m=st.integers(1, 6))
@settings(max_examples=40, deadline=None)
def test_corrected_posteriors_sum_to_one(seed, m):
    random = np.random.default_rng(seed)
    counts = random.integers(0, 50, size=(m, m)) * (random.random((m, m)) < 0.7)
    confusion = Confusion([str(i) for i in range(m)], counts)
    corrected = confusion.correct(random.dirichlet(np.ones(m), size=20))
    assert (corrected >= 0).all()
    np.testing.assert_allclose(corrected.sum(axis=1), 1.0, atol=1e-12)


@pytest.mark.must_show("cliper", 5)
def test_a_labeller_that_never_errs_is_left_alone():
    posteriors = np.random.default_rng(1).dirichlet(np.ones(4), size=30)
    np.testing.assert_array_equal(Confusion(list("abcd"), np.eye(4)).correct(posteriors), posteriors)


@pytest.mark.must_show("cliper", 5)
@pytest.mark.parametrize("seed", range(3))
def test_corrected_targets_recover_the_true_label_counts_of_a_known_confusion(seed):
    random = np.random.default_rng(seed)
    share = np.array([0.8, 0.1, 0.06, 0.04])
    errs = np.array([[0.9, 0.04, 0.03, 0.03], [0.2, 0.7, 0.05, 0.05], [0.1, 0.3, 0.5, 0.1], [0.3, 0.1, 0.1, 0.5]])

    def sample(words):
        truth = random.choice(4, size=words, p=share)
        answers = (random.random(words)[:, None] < errs.cumsum(axis=1)[truth]).argmax(axis=1)
        return truth, answers

    held_truth, held_answers = sample(20_000)
    confusion = Confusion.from_labels(*(list(map(str, each.tolist())) for each in (held_truth, held_answers)))
    truth, answers = sample(20_000)
    expected = np.bincount(truth, minlength=4)
    corrected = confusion.correct(np.eye(4)[answers]).sum(axis=0)
    raw = np.bincount(answers, minlength=4)
    # Two samples of 20,000 words: four standard deviations of the difference of their counts.
    error = 4 * np.sqrt(2 * 20_000 * share * (1 - share))
    assert (np.abs(corrected - expected) <= error).all(), (corrected, expected)
    assert np.abs(corrected - expected).sum() < 0.2 * np.abs(raw - expected).sum()


@pytest.mark.must_show("cliper", 5)
def test_columns_are_normalized_not_rows():
    table = PAPER.truth_given_answer()
    np.testing.assert_allclose(table.sum(axis=0), 1.0)
    assert table[0, 4] == pytest.approx(103 / (103 + 10 + 60 + 91 + 1826))
    assert PAPER.correct([[0, 0, 0, 0, 1.0]])[0, 4] == pytest.approx(1826 / 2090)


def test_a_label_that_was_never_answered_is_taken_at_its_word():
    confusion = Confusion(["LOC", "O", "PER"], [[3, 1, 0], [1, 9, 0], [0, 2, 0]])
    assert confusion.correct([[0.0, 0.0, 1.0]]).tolist() == [[0.0, 0.0, 1.0]]


def test_a_table_can_be_put_over_more_labels():
    wider = Confusion(["LOC", "O"], [[8, 1], [2, 19]]).over(["LOC", "MISC", "O"])
    assert wider.counts.tolist() == [[8, 0, 1], [0, 0, 0], [2, 0, 19]]
    with pytest.raises(DataError, match="the label 'O', which the labeller does not give"):
        wider.over(["LOC", "MISC"])


def test_a_table_comes_back_from_its_file(tmp_path):
    write_confusion(PAPER, tmp_path / "confusion.tsv")
    found = read_confusion(tmp_path / "confusion.tsv")
    assert found.labels == PAPER.labels
    np.testing.assert_array_equal(found.counts, PAPER.counts)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n", "the file is empty"),
        ("\tO\tLOC\nO\t1\tmany\nLOC\t0\t1\n", "line 2: expected counts"),
        ("\tO\tLOC\nO\t1\nLOC\t0\t1\n", "line 2: expected 2 counts, found 1"),
        ("\tO\tLOC\nO\t1\t2\nPER\t0\t1\n", "must be the same labels"),
        ("\tO\tLOC\nO\t1\t-2\nLOC\t0\t1\n", "counts of at least 0"),
    ],
)
def test_bad_tables_are_refused_in_plain_words(tmp_path, text, message):
    (tmp_path / "confusion.tsv").write_text(text)
    with pytest.raises(DataError, match=message):
        read_confusion(tmp_path / "confusion.tsv")


def test_bad_counts_are_refused_in_plain_words():
    with pytest.raises(DataError, match="one row and one column for each"):
        Confusion(["O"], np.eye(2))
    with pytest.raises(DataError, match="2 true labels but 1 answers"):
        Confusion.from_labels(["O", "O"], ["O"])
    with pytest.raises(DataError, match="no label 'PER'"):
        Confusion.from_labels(["O"], ["PER"], labels=["O"])
    with pytest.raises(DataError, match="expected probabilities of the 5 labels"):
        PAPER.correct([[0.5, 0.5]])
