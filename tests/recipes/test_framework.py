from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from recorded import planned_system
from rich.console import Console

from weft.errors import ConfigError, DataError
from weft.recipes import record
from weft.recipes.catalogue import System, systems
from weft.recipes.claims import gain, measured
from weft.recipes.framework import (
    Curve,
    RecipeOptions,
    RecipeResult,
    Table,
    load_result,
    load_results,
    reproduce,
)
from weft.recipes.render import cells, markdown, markdown_table, show, svg, systems_table


def example() -> RecipeResult:
    table = Table("NP chunking", ["P", "F", "calls"], note="test set")
    table.add("CRF", {"P": 94.1, "F": np.float64(94.2), "calls": 120}, paper={"F": 94.38}, interval={"F": (93.9, 94.5)})
    table.add("MEMM", {"P": 93.5, "F": 93.6, "calls": np.int64(80)})
    curve = Curve("Convergence", "calls", "objective", {"L-BFGS": [(1, -10.0), (2, -4.0)], "GIS": [(1, -10.0)]})
    result = RecipeResult("crf-shallow-parsing", [table], curves=[curve], notes=["One | note."])
    result.claim("CRF above MEMM", gain(np.float64(0.6), p=np.float64(0.01)))
    result.claim("CRF above perceptron", gain(0.1, p=0.4))
    result.own("trains in less than {bar} s", measured(12, "<", 60, digits=0))
    return result


@pytest.fixture
def recipe(monkeypatch: pytest.MonkeyPatch) -> System:
    """A system that is given another recipe for the length of a test."""
    entry = systems()[0]
    module = ModuleType(entry.module)

    def run(options: RecipeOptions) -> RecipeResult:
        options.find("words.txt")
        return RecipeResult(entry.slug, notes=[f"seed {options.seed}"])

    module.run = run  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, entry.module, module)
    monkeypatch.setattr(System, "has_recipe", property(lambda self: self.slug == entry.slug))
    return entry


def test_a_result_survives_json() -> None:
    result = example()
    again = RecipeResult.from_json(result.to_json())
    assert again.to_json() == result.to_json()
    assert again.tables[0].rows[0].interval["F"] == (93.9, 94.5)
    assert again.curves[0].series["L-BFGS"] == [(1, -10.0), (2, -4.0)]


def test_only_required_claims_can_fail_a_result() -> None:
    result = example()
    assert result.failed == []
    result.claim("must hold", gain(-0.1, p=0.9), required=True)
    assert [claim.text for claim in result.failed] == ["must hold"]


def test_a_column_that_the_table_does_not_have_is_an_error() -> None:
    with pytest.raises(ConfigError, match="no column 'G'"):
        Table("t", ["F"]).add("row", {"G": 1.0})


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 2, "tables": 3}', '{"format": 2, "slug": "a", "no": 1}'])
def test_a_file_that_is_no_result_is_refused_plainly(text: str, tmp_path: Path) -> None:
    (tmp_path / "flors.json").write_text(text)
    with pytest.raises(DataError, match="run it again"):
        load_result(tmp_path / "flors.json")


def test_a_result_of_another_format_is_refused(tmp_path: Path) -> None:
    fields = json.loads(example().to_json())
    (tmp_path / "a.json").write_text(json.dumps({**fields, "format": 99}))
    with pytest.raises(DataError, match="another version"):
        load_result(tmp_path / "a.json")


def test_quick_results_and_benchmarks_are_not_taken_for_full_results(tmp_path: Path) -> None:
    result = example()
    result.save(tmp_path)
    result.quick = True
    result.save(tmp_path)
    (tmp_path / "bench-crf.json").write_text("{}")
    assert [kept.quick for kept in load_results(tmp_path)] == [False]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "bench-crf.json",
        "crf-shallow-parsing.json",
        "crf-shallow-parsing.quick.json",
    ]


def test_reproduce_records_what_a_figure_rests_on(recipe: System, tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("a\n")
    result = reproduce(recipe.slug, RecipeOptions(data=tmp_path, seed=7, quick=True, workers=2))
    assert result.command == f"weft reproduce {recipe.slug} --seed 7 --quick --workers 2"
    assert result.files == ["words.txt"]
    assert result.seed == 7
    assert result.quick
    assert result.peak_mb > 1
    assert result.machine["cpus"] >= 1
    assert result.date.endswith("Z")


def test_a_system_without_a_recipe_cannot_be_reproduced(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = planned_system(monkeypatch)
    with pytest.raises(ConfigError, match="planned"):
        reproduce(entry.slug, RecipeOptions())


def test_nothing_recorded_names_the_host_or_a_path() -> None:
    import platform

    kept = json.dumps([record.machine(), record.commit(), record.now()])
    assert "/" not in kept
    assert platform.node() not in kept


def test_the_terminal_shows_the_papers_figures_beside_ours() -> None:
    console = Console(width=120, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    show(example(), console)
    shown = console.export_text()
    for piece in (
        "F (paper)",
        "94.38",
        "94.20 [93.90, 94.50]",
        "CRF above MEMM",
        "yes",
        "level",
        "check of our own",
        "One | note.",
    ):
        assert piece in shown


def test_the_documentation_shows_tables_claims_and_figures() -> None:
    text = markdown(example(), ["figures/a.svg"])
    assert "| CRF | 94.10 | 94.20 [93.90, 94.50] | 94.38 | 120 |" in text
    assert "![Convergence](figures/a.svg)" in text
    assert "| claim of the paper | outcome | evidence |" in text
    assert "| CRF above MEMM | yes | +0.60, p = 0.01 |" in text
    assert "| check of our own | outcome | evidence |" in text
    assert "| trains in less than 60 s | yes | 12 |" in text


def test_markdown_cells_cannot_break_the_table() -> None:
    assert "a\\|b" in markdown_table(["x"], [["a|b"]])


def test_the_table_of_systems_holds_every_system() -> None:
    text = systems_table((entry, "planned") for entry in systems())
    assert all(f"`{entry.slug}`" in text for entry in systems())


@pytest.mark.parametrize(
    "series", [{}, {"flat": [(1.0, 2.0)]}, {"a": [(0.0, float("nan")), (1.0, 5e6)], "b": [(2, -3)]}]
)
def test_any_curve_can_be_drawn(series: dict[str, list[tuple[float, float]]]) -> None:
    text = svg(Curve("t < u", "x", "y", series))
    assert text.count("<polyline") + text.count("<circle") == len(series)
    assert "t &lt; u" in text
    assert "nan" not in text


def test_in_wide_tables_the_figures_of_the_paper_have_rows_of_their_own():
    columns = [f"set {i}" for i in range(8)]
    table = Table("", columns)
    table.add("parser", dict.fromkeys(columns, 1.0), paper=dict.fromkeys(columns, 2.0))
    table.add("other", dict.fromkeys(columns, 3.0))
    header, rows = cells(table)
    assert header == ["", *columns]
    assert [row[:2] for row in rows] == [["parser", "1.00"], ["parser (paper)", "2.00"], ["other", "3.00"]]
