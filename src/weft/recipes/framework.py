"""The framework that runs every recipe: options in, tables and checks out, all stored as JSON.

A recipe module provides `run(options: RecipeOptions) -> RecipeResult` and returns tables, curves and checks. The
framework adds what makes a result traceable: command, seed, data files, commit, date, time, memory and machine.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from weft import data
from weft.errors import ConfigError, DataError
from weft.recipes import record
from weft.recipes.catalogue import result_path, system

Value = float | int | str | None
FORMAT = 1


@dataclass
class RecipeOptions:
    """The options of a recipe; it finds corpora through them, so that a result records the files it depends on.

    `seed` is the random seed; `quick` requests a small version of the experiment that takes seconds.
    """

    data: Path | None = None
    seed: int = 0
    quick: bool = False
    workers: int = 1
    progress: bool = True
    files: list[str] = field(default_factory=list)

    def find(self, relative: str) -> Path:
        """The path of a corpus file, which is recorded as used."""
        path = data.find(relative, self.data)
        if relative not in self.files:
            self.files.append(relative)
        return path


@dataclass
class Row:
    """One row of a table: our numbers by column, the paper's, and confidence intervals where measured."""

    name: str
    ours: dict[str, Value]
    paper: dict[str, Value] = field(default_factory=dict)
    interval: dict[str, tuple[float, float]] = field(default_factory=dict)


@dataclass
class Table:
    """Our numbers with the paper's beside them.

    >>> table = Table("NP chunking", ["P", "R", "F"])
    >>> table.add("CRF", {"P": 94.0, "R": 94.2, "F": 94.1}, paper={"F": 94.38})
    >>> table.rows[0].paper
    {'F': 94.38}
    """

    title: str
    columns: list[str]
    rows: list[Row] = field(default_factory=list)
    digits: dict[str, int] = field(default_factory=dict)  # decimals per column, if not 2
    note: str = ""
    heat: bool = False  # whether the documentation also draws it as a heat map

    def add(
        self,
        name: str,
        ours: Mapping[str, Value],
        paper: Mapping[str, Value] | None = None,
        interval: Mapping[str, tuple[float, float]] | None = None,
    ) -> None:
        """Add a row; unknown columns are an error."""
        for given in (ours, paper or {}, interval or {}):
            for column in given:
                if column not in self.columns:
                    raise ConfigError(
                        f"table {self.title!r} has no column {column!r}; it has {', '.join(self.columns)}"
                    )
        self.rows.append(Row(name, dict(ours), dict(paper or {}), dict(interval or {})))

    def compared(self) -> list[str]:
        """The columns for which the paper gives a number in some row."""
        return [column for column in self.columns if any(column in row.paper for row in self.rows)]


@dataclass
class Curve:
    """Lines over a common axis: `series` maps each line to its points, a list of (x, y)."""

    title: str
    x: str
    y: str
    series: dict[str, list[tuple[float, float]]]


@dataclass
class Check:
    """A claim of the paper, whether it holds here, and the evidence. If it is not `required`, it is only reported."""

    claim: str
    holds: bool
    evidence: str
    required: bool = True


@dataclass
class RecipeResult:
    """The result of a recipe; the framework fills in the fields after `notes`."""

    slug: str
    tables: list[Table] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    command: str = ""
    seed: int = 0
    quick: bool = False
    files: list[str] = field(default_factory=list)
    commit: str = ""
    date: str = ""
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_mb: float = 0.0
    machine: dict[str, Any] = field(default_factory=dict)

    def check(self, claim: str, holds: bool, evidence: str, required: bool = True) -> None:
        """Add a check."""
        self.checks.append(Check(claim, bool(holds), evidence, required))

    @property
    def failed(self) -> list[Check]:
        """The required checks that fail."""
        return [check for check in self.checks if check.required and not check.holds]

    def to_json(self) -> str:
        """The result as JSON text.

        >>> RecipeResult.from_json(RecipeResult("crf-shallow-parsing", seed=3).to_json()).seed
        3
        """
        return json.dumps({"format": FORMAT, **asdict(self)}, indent=1, ensure_ascii=False, default=_plain) + "\n"

    @classmethod
    def from_json(cls, text: str, name: str = "result") -> RecipeResult:
        """Read a result back."""
        try:
            fields = json.loads(text)
            if fields.pop("format") != FORMAT:
                raise DataError(f"{name}: written by another version of Weft; run `weft reproduce` again")
            fields["tables"] = [_table(table) for table in fields["tables"]]
            fields["checks"] = [Check(**check) for check in fields["checks"]]
            fields["curves"] = [_curve(curve) for curve in fields["curves"]]
            return cls(**fields)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DataError(f"{name}: not a result of `weft reproduce` ({error}); run it again") from error

    def save(self, folder: Path | None = None) -> Path:
        """Write the result to `folder/SLUG.json`, atomically."""
        path = result_path(self.slug, folder, self.quick)
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".json.part")
        unfinished.write_text(self.to_json(), encoding="utf-8")
        unfinished.replace(path)
        return path


def load_result(path: Path) -> RecipeResult:
    """Read `results/SLUG.json`."""
    if not path.is_file():
        raise DataError(f"no results in {path}; make them with `weft reproduce`")
    return RecipeResult.from_json(path.read_text(encoding="utf-8"), str(path))


def load_results(folder: Path) -> list[RecipeResult]:
    """All full results in a folder, by slug, without benchmarks, models, everyday sentences, mutants and quick runs."""
    paths = sorted(folder.glob("*.json")) if folder.is_dir() else []
    others = ("bench-", "pipeline-", "everyday.", "model-", "mutants.")
    return [load_result(p) for p in paths if not p.name.startswith(others) and not p.name.endswith(".quick.json")]


def reproduce(slug: str, options: RecipeOptions) -> RecipeResult:
    """Run the recipe of a system and add the framework's records; call `result.save()` to save it."""
    entry = system(slug)
    if not entry.has_recipe:
        raise ConfigError(f"{slug} is planned: it has no recipe yet; `weft reproduce --list` shows those that run")
    with record.measured() as usage:
        result: RecipeResult = import_module(entry.module).run(options)
    result.command = _command(slug, options)
    result.seed, result.quick, result.files = options.seed, options.quick, list(options.files)
    result.commit, result.date, result.machine = record.commit(), record.now(), record.machine()
    result.wall_seconds, result.cpu_seconds = round(usage.wall_seconds, 2), round(usage.cpu_seconds, 2)
    result.peak_mb = round(usage.peak_mb, 1)
    return result


def _command(slug: str, options: RecipeOptions) -> str:
    words = ["weft", "reproduce", slug, "--seed", str(options.seed)]
    words += ["--quick"] if options.quick else []
    words += ["--workers", str(options.workers)] if options.workers != 1 else []
    return " ".join(words)


def _plain(value: Any) -> Any:
    """Convert NumPy numbers and arrays to plain ones."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a result cannot hold a {type(value).__name__}")


def _table(fields: dict[str, Any]) -> Table:
    rows = [{**row, "interval": _pairs(row["interval"].items())} for row in fields["rows"]]
    return Table(**{**fields, "rows": [Row(**row) for row in rows]})


def _pairs(items: Iterable[tuple[str, Any]]) -> dict[str, tuple[float, float]]:
    return {name: (pair[0], pair[1]) for name, pair in items}


def _curve(fields: dict[str, Any]) -> Curve:
    series = {name: [(x, y) for x, y in points] for name, points in fields["series"].items()}
    return Curve(**{**fields, "series": series})
