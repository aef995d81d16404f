"""Rows of word types: computed once, never changed under a reader."""

import threading
from itertools import pairwise

import numpy as np

from weft.features.extract import Extractor
from weft.features.lexicon import ABSENT, Lexicon
from weft.features.templates import Templates
from weft.text import Doc, StringTable


def test_same_word_in_two_tables_has_one_row():
    lexicon = Lexicon(["form", "lower"])
    one, two = StringTable(["x", "Dog"]), StringTable(["Dog"])
    rows_one, _ = lexicon.lookup(one, one.ids(["Dog"]))
    rows_two, _ = lexicon.lookup(two, two.ids(["Dog"]))
    assert rows_one.tolist() == rows_two.tolist()
    assert len(lexicon) == 1


def test_missing_attributes_are_absent():
    lexicon = Lexicon(["suffix3"])
    table = StringTable()
    rows, values = lexicon.lookup(table, table.ids(["at", "cat"]))
    assert values[rows[0], 0] == ABSENT
    assert values[rows[1], 0] != ABSENT


def test_cluster_paths_are_cut_to_their_prefixes():
    lexicon = Lexicon(["cluster2", "cluster"], clusters={"cat": "0110", "dog": "0111", "run": "10"})
    table = StringTable()
    rows, values = lexicon.lookup(table, table.ids(["cat", "Dog", "run", "unseen"]))
    assert values[rows[0], 0] == values[rows[1], 0]
    assert values[rows[0], 1] != values[rows[1], 1]
    assert values[rows[2], 0] == values[rows[2], 1]
    assert values[rows[3], 0] == ABSENT


def test_a_field_in_lower_case_sees_no_capitals():
    doc = Doc.from_words([["Ada", "ADA", "ada", "ma-Ma"]])
    extractor = Extractor(list(Templates("w[0] w[0].prefix1 w[0].capital")), {"w": "form:lower"})
    features, _ = extractor.features([doc])
    keys = [features.keys[a:b].tolist() for a, b in pairwise(features.offsets.tolist())]
    assert keys[0] == keys[1] == keys[2] != keys[3]
    assert keys[0][2] == keys[3][2]


def test_growth_is_bounded_and_frozen_rows_stay():
    lexicon = Lexicon(["form"], limit=50)
    lexicon.add(["the", "of"])
    lexicon.freeze()
    table = StringTable()
    first, before = lexicon.lookup(table, table.ids(["the", "word0"]))
    kept = before[first].copy()
    for i in range(1000):
        table = StringTable()
        lexicon.lookup(table, table.ids([f"word{i}", "the"]))
        assert len(lexicon) <= 2 + 50 + 2
    assert (before[first] == kept).all(), "a table handed out earlier must not change"
    again, values = lexicon.lookup(table, table.ids(["the", "word0"]))
    assert (values[again] == kept).all()


def test_threads_see_consistent_values():
    lexicon = Lexicon(["form", "suffix2"], limit=200)
    reference = Lexicon(["form", "suffix2"])
    wrong = []

    def work(seed):
        random = np.random.default_rng(seed)
        for _ in range(40):
            table = StringTable()
            ids = table.ids([f"w{k}" for k in random.integers(0, 1000, 30)])
            rows, values = lexicon.lookup(table, ids)
            got = values[rows]
            expected_rows, expected_values = reference.lookup(table, ids)
            if (got != expected_values[expected_rows]).any():
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
