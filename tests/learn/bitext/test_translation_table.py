"""Tables of translations: what is looked up is what was learned."""

from __future__ import annotations

import numpy as np
import pytest

from weft.learn.bitext.translation_table import TranslationTable
from weft.learn.bitext.word_alignment import AlignmentSettings, Side, learn_alignment
from weft.learn.generative.cooccurrence import Cooccurrences


@pytest.mark.parametrize("turned", [False, True])
def test_cells_of_the_learned_bitext_are_those_of_the_model(turned):
    rng = np.random.default_rng(1)
    words, others = rng.integers(0, 8, 60).astype(np.int32), rng.integers(0, 9, 80).astype(np.int32)
    ends, other_ends = np.arange(0, 61, 6), np.arange(0, 81, 8)
    pairs = Cooccurrences.of(words, ends, others, other_ends)
    learned = learn_alignment(pairs, AlignmentSettings(3, 1))
    model = learned.backward if turned else learned.forward
    table = TranslationTable.of(Side(pairs, turned), model, prune=0.0)
    sides = (others, other_ends, words, ends) if turned else (words, ends, others, other_ends)
    cells, null = table.look_up(*sides)
    expected = np.maximum(pairs.look_up(model.entry, 0, pairs.n_pairs, turned), 0)
    np.testing.assert_allclose(cells, expected, rtol=1e-6, atol=1e-15)
    np.testing.assert_allclose(null, model.null[sides[2]], rtol=1e-6, atol=1e-15)


def test_pruned_entries_weigh_what_unseen_ones_do():
    pairs = Cooccurrences.of([0, 1, 0], [0, 2, 3], [0, 1, 0], [0, 2, 3])
    learned = learn_alignment(pairs, AlignmentSettings(20, 0, alpha=0.01))
    table = TranslationTable.of(Side(pairs, False), learned.forward, prune=0.5)
    assert len(table.weight) < pairs.n_entries
    cells, _ = table.look_up(np.array([0], np.int32), np.array([0, 1]), np.array([1], np.int32), np.array([0, 1]))
    assert cells[0] == pytest.approx(table.unseen[0])


def test_the_best_words_of_a_row_come_first():
    table = TranslationTable(
        np.array([0, 3]), np.array([1, 4, 6], np.int32), np.array([0.2, 0.5, 0.3], np.float32),
        np.array([0.1], np.float32), np.full(7, 0.1, np.float32), 0.01,
    )  # fmt: skip
    assert [word for word, _ in table.best(0, 2)] == [4, 6]
