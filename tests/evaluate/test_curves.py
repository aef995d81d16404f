"""Learning curves: nested samples, sizes as shares, drawing."""

from __future__ import annotations

import pytest

from weft.errors import WeftError
from weft.evaluate import CurveRow, curve_points, draw_curve, learning_curve, size_to_reach


def test_smaller_samples_lie_inside_larger_ones_and_differ_by_seed() -> None:
    seen: dict[tuple[int, int], list[int]] = {}

    def train(part: list[int], seed: int) -> int:
        seen[len(part), seed] = part
        return len(part)

    rows = learning_curve(train, lambda model: model / 40, range(40), [5, 0.5, 40], seeds=(1, 2))
    assert [(row.size, row.seed, row.score) for row in rows] == [
        (5, 1, 0.125), (5, 2, 0.125), (20, 1, 0.5), (20, 2, 0.5), (40, 1, 1.0), (40, 2, 1.0),
    ]  # fmt: skip
    for seed in (1, 2):
        assert seen[40, seed][:20] == seen[20, seed]
        assert seen[20, seed][:5] == seen[5, seed]
        assert sorted(seen[40, seed]) == list(range(40))
    assert seen[5, 1] != seen[5, 2]


def test_points_and_drawing() -> None:
    scores = iter([0.2, 0.4, 0.6, 0.6])
    rows = learning_curve(lambda part, seed: None, lambda model: next(scores), range(10), [2, 10], seeds=(1, 2))
    points = curve_points(rows)
    assert [point.mean for point in points] == pytest.approx([0.4, 0.5])
    lines = draw_curve(rows, width=8).splitlines()
    assert len(lines) == 3
    assert lines[1].split()[:2] == ["2", "40.00"]
    assert lines[2].endswith("█" * 8)


def test_a_flat_curve_can_be_drawn() -> None:
    rows = learning_curve(lambda part, seed: None, lambda model: 0.5, range(4), [1, 4])
    assert "50.00" in draw_curve(rows)


@pytest.mark.parametrize("size", [0, 11, 0.0, 1.5])
def test_sizes_that_do_not_fit_are_refused(size: float) -> None:
    with pytest.raises(WeftError, match="does not fit 10 sentences"):
        learning_curve(lambda part, seed: None, lambda model: 0.0, range(10), [size])


@pytest.mark.must_show("cliper", 7)
def test_the_size_that_reaches_a_score_lies_between_those_that_were_tried() -> None:
    rows = [
        CurveRow(100, 0, 0.4, 1.0),
        CurveRow(100, 1, 0.6, 1.0),
        CurveRow(400, 0, 0.7, 1.0),
        CurveRow(900, 0, 0.6, 1.0),
    ]
    assert size_to_reach(rows, 0.6) == pytest.approx(200.0)
    assert size_to_reach(rows, 0.5) == 100.0
    assert size_to_reach(rows, 0.7) == pytest.approx(400.0)
    assert size_to_reach(rows, 0.71) is None
    with pytest.raises(WeftError, match="no runs to compare with"):
        size_to_reach([], 0.5)
