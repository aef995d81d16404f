"""Entries and cells of a bitext: the numbering says what the words say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import WeftError
from weft.learn.generative.cooccurrence import Cooccurrences

SENTENCE = st.lists(st.integers(0, 4), max_size=5)


def numbered(pairs):
    sides = list(zip(*pairs, strict=True))
    flat = [np.array([word for sentence in side for word in sentence], np.int32) for side in sides]
    ends = [np.cumsum([0] + [len(sentence) for sentence in side]) for side in sides]
    return Cooccurrences.of(flat[0], ends[0], flat[1], ends[1])


@given(st.lists(st.tuples(SENTENCE, SENTENCE), min_size=1, max_size=6))
@settings(max_examples=60, deadline=None)
def test_cells_name_the_entry_of_their_two_words(pairs):
    found = numbered(pairs)
    entries = list(zip(found.entry_source.tolist(), found.entry_target.tolist(), strict=True))
    assert len(set(entries)) == len(entries)
    assert [e for e, _ in entries] == sorted(e for e, _ in entries)
    cells = [(e, f) for source, target in pairs for f in target for e in source]
    assert [entries[n] for n in found.entry_of_cell.tolist()] == cells


@given(st.lists(st.tuples(SENTENCE, SENTENCE), min_size=1, max_size=6), st.integers(1, 30))
@settings(max_examples=40, deadline=None)
def test_looking_up_and_adding_up_in_batches_sees_every_cell_once_in_both_orders(pairs, n_cells):
    found = numbered(pairs)
    weights = np.arange(found.n_entries) + 1.0
    entry = dict(zip(zip(found.entry_source.tolist(), found.entry_target.tolist(), strict=True), weights, strict=True))
    batches = list(found.batches(n_cells))
    assert [first for first, _ in batches] + [len(pairs)] == [0] + [end for _, end in batches]
    for turned in (False, True):
        seen, sums = [], np.zeros(found.n_entries)
        for first, end in batches:
            values = found.look_up(weights, first, end, turned)
            found.add_up(sums, values, first, end, turned)
            seen += values.tolist()
        if turned:
            assert seen == [entry[e, f] for source, target in pairs for e in source for f in target]
        else:
            assert seen == [entry[e, f] for source, target in pairs for f in target for e in source]
        counts = np.bincount(found.entry_of_cell, minlength=found.n_entries)
        np.testing.assert_allclose(sums, counts * weights)


def test_texts_of_different_length_are_refused():
    with pytest.raises(WeftError, match="given: 1 and 2"):
        Cooccurrences.of([0], [0, 1], [0], [0, 0, 1])
