"""Several runs of the perceptron: their weights are averaged as a plain average would be."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_treebank import bare

from weft.errors import ConfigError
from weft.infer.transitions.weights import NARROW, mix_narrow, mix_wide
from weft.learn.transitions.learner import TransitionLearner
from weft.tasks.parsing.transitions.parser import Parser, ParserSettings
from weft.text import Doc

FEATURES = st.lists(st.integers(0, 2**32 - 1), max_size=6, unique=True).map(sorted)
WEIGHTS = st.integers(-32000, 32000).filter(bool)


@st.composite
def wide_tables(draw):
    rows = [
        (feature, draw(st.dictionaries(st.integers(0, 200), WEIGHTS, min_size=1, max_size=5)))
        for feature in draw(FEATURES)
    ]
    return {
        "features": np.array([feature for feature, _ in rows], np.uint32),
        "counts": np.array([len(cells) for _, cells in rows], np.uint16),
        "columns": np.array([column for _, cells in rows for column in sorted(cells)], np.uint8),
        "weights": np.array([cells[column] for _, cells in rows for column in sorted(cells)], np.int16),
    }


@st.composite
def narrow_tables(draw):
    features = draw(FEATURES)
    rows = [draw(st.lists(st.integers(-32000, 32000), min_size=NARROW, max_size=NARROW)) for _ in features]
    return {"features": np.array(features, np.uint32), "weights": np.array(rows, np.int16).reshape(-1, NARROW)}


def averaged(tables, cells_of) -> dict[tuple[int, int], int]:
    sums: dict[tuple[int, int], float] = defaultdict(float)
    for table in tables:
        for place, weight in cells_of(table):
            sums[place] += float(weight) / len(tables)
    return {place: round(mean) for place, mean in sums.items()}


def wide_cells(table):
    features = np.repeat(table["features"], table["counts"]).tolist()
    return zip(zip(features, table["columns"].tolist(), strict=True), table["weights"].tolist(), strict=True)


def narrow_cells(table):
    for feature, row in zip(table["features"].tolist(), table["weights"].tolist(), strict=True):
        yield from (((feature, column), weight) for column, weight in enumerate(row))


@settings(max_examples=60, deadline=None)
@given(st.lists(wide_tables(), min_size=1, max_size=3), st.integers(0, 20000))
def test_mixed_wide_tables_are_averages_of_cells_without_small_ones(tables, least):
    expected = {place: mean for place, mean in averaged(tables, wide_cells).items() if abs(mean) >= max(1, least)}
    mixed = mix_wide(tables, least)
    assert dict(wide_cells(mixed)) == expected
    assert mixed["features"].tolist() == sorted(set(mixed["features"].tolist()))


@settings(max_examples=60, deadline=None)
@given(st.lists(narrow_tables(), min_size=1, max_size=3), st.integers(0, 20000))
def test_mixed_narrow_tables_are_averages_of_rows_without_small_ones(tables, least):
    cells = averaged(tables, narrow_cells)
    kept = {feature for (feature, _), mean in cells.items() if abs(mean) >= max(1, least)}
    expected = {place: mean for place, mean in cells.items() if place[0] in kept}
    assert dict(narrow_cells(mix_narrow(tables, least))) == expected


def test_runs_begin_anew_and_differ_in_their_orders():
    rows = [["a", "b", "c"], ["b", "a"], ["c", "c", "a", "b"], ["a", "c"]]
    heads = [[2, 0, 2], [0, 1], [3, 3, 0, 3], [2, 0]]
    doc = Doc.from_words(rows, upos=rows, head=heads, deprel=[["x"] * len(row) for row in rows])

    def weights(**options) -> list[list[int]]:
        parser = Parser(ParserSettings(epochs=2, prune=0.0, **options))
        report = parser.fit([doc])
        assert report["training"]["epochs"] == 2 * options.get("runs", 1)
        return [array.tolist() for array in parser.state()[1].values()]

    assert weights(runs=2) == weights(runs=2)
    assert weights() == weights(runs=1) != weights(runs=2)


def test_a_margin_corrects_close_decisions_after_the_last_error():
    rows = [["a", "b", "c"], ["b", "a"], ["c", "c", "a", "b"], ["a", "c"]]
    heads = [[2, 0, 2], [0, 1], [3, 3, 0, 3], [2, 0]]
    doc = Doc.from_words(rows, upos=rows, head=heads, deprel=[["x"] * len(row) for row in rows])

    def trained(margin: int) -> tuple[float, list[int]]:
        parser = Parser(ParserSettings(epochs=30, prune=0.0, margin=margin))
        errors: list[int] = []
        run = TransitionLearner._run

        def noted(*arguments):
            best, history = run(*arguments)
            errors.extend(epoch.wrong for epoch in history)
            return best, history

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(TransitionLearner, "_run", noted)
            parser.fit([doc])
        found = bare(doc)
        parser([found])
        assert found.head.tolist() == doc.head.tolist()
        arrays = parser.state()[1]
        return max(float(np.abs(arrays[name].astype(float)).max()) for name in arrays if "weights" in name), errors

    (plain, errors), (wide, with_margin) = trained(0), trained(400)
    assert errors[-1] == with_margin[-1] == 0
    # Both are right by the last epoch; only the one with a margin went on making its decisions clearer.
    assert wide > 1.5 * plain


def test_a_negative_margin_and_one_with_a_beam_are_refused():
    for options in ({"margin": -1}, {"margin": 5, "beam": 4}):
        with pytest.raises(ConfigError, match="margin must be at least 0"):
            Parser(ParserSettings(**options))
