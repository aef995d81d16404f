"""The framework that runs every recipe: options in, tables and claims out, all stored as JSON.

A recipe module provides `run(options: RecipeOptions) -> RecipeResult` and returns tables, curves and claims. The
framework adds what makes a result traceable: command, seed, sizes, data files, commit, date, time, memory and machine.
What a user may vary, a recipe asks for through its options (`varied`, `chosen`, `wants`) and declares as `VARIATION`.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from weft import data
from weft.errors import ConfigError, DataError
from weft.recipes import record
from weft.recipes.catalogue import OWN, VARIED, kept_result, result_path, system
from weft.recipes.claims import Claim, Figure, Rule
from weft.recipes.variation import LeftOut, Rows, Variation, changed, is_chosen, is_own_recipe, own_recipe

Value = float | int | str | None
T = TypeVar("T")
FORMAT = 2


@dataclass
class RecipeOptions:
    """The options of a recipe; it finds corpora through them, so that a result records the files it depends on.

    `seed` is the random seed; `quick` requests a small version of the experiment that takes seconds. `vary` maps names
    of settings to other values, as text; `rows` are patterns of the rows to run, all if there are none.

    >>> @dataclass(frozen=True)
    ... class Size:
    ...     epochs: int = 5
    >>> options = RecipeOptions(vary={"epochs": "2"}, rows=("eager*",))
    >>> options.varied(Size()), options.chosen({"eager": 1, "hybrid": 2}), options.wants("heat map")
    (Size(epochs=2), {'eager': 1}, False)
    """

    data: Path | None = None
    seed: int = 0
    quick: bool = False
    workers: int = 1
    progress: bool = True
    files: list[str] = field(default_factory=list)
    vary: dict[str, str] = field(default_factory=dict)
    rows: tuple[str, ...] = ()

    @property
    def is_varied(self) -> bool:
        return bool(self.vary or self.rows)

    def varied(self, settings: T) -> T:
        """Settings, or another dataclass, with the values that the user varies."""
        changes = changed(settings, self.vary)
        new = replace(settings, **changes) if changes else settings  # type: ignore[type-var]
        if changes and hasattr(new, "check"):
            new.check()
        return new

    def chosen(self, rows: Mapping[str, T]) -> Rows[T]:
        """The rows that the user wants."""
        return Rows.chosen(rows, self.rows)

    def wants(self, name: str) -> bool:
        """Whether the user wants the row, or the part of the experiment, of that name."""
        return is_chosen(name, self.rows)

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
class RecipeResult:
    """The result of a recipe; the framework fills in the fields after `notes`."""

    slug: str
    tables: list[Table] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    command: str = ""
    seed: int = 0
    quick: bool = False
    sizes: dict[str, Any] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    commit: str = ""
    date: str = ""
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_mb: float = 0.0
    machine: dict[str, Any] = field(default_factory=dict)
    title: str = ""  # of a user's own recipe
    vary: dict[str, str] = field(default_factory=dict)
    rows: list[str] = field(default_factory=list)

    @property
    def variant(self) -> str:
        """What tells the file of the result from that of the published experiment."""
        return ".".join([*([OWN] if self.title else []), *([VARIED] if self.vary or self.rows else [])])

    def claim(self, text: str, *figures: Figure, required: bool = False, rule: Rule = "every", note: str = "") -> None:
        """Add a claim of the paper; further figures for the same text are further settings of the same claim."""
        self._say(Claim(text, paper=True, required=required, rule=rule, note=note), figures)

    def own(self, text: str, *figures: Figure, required: bool = True, note: str = "") -> None:
        """Add a check of our own, such as a speed or an invariant, which the paper does not claim."""
        self._say(Claim(text, paper=False, required=required, note=note), figures)

    def _say(self, claim: Claim, figures: Sequence[Figure]) -> None:
        known = next((each for each in self.claims if (each.text, each.paper) == (claim.text, claim.paper)), None)
        if known is None:
            self.claims.append(claim)
        (known or claim).add(figures)

    @property
    def failed(self) -> list[Claim]:
        """The required claims that do not hold."""
        return [claim for claim in self.claims if claim.required and claim.outcome != "yes"]

    def cell(self, table: str, row: str, column: str) -> float:
        """The figure in one cell of a table.

        >>> table = Table("NP chunking", ["F"])
        >>> table.add("CRF", {"F": 94.1})
        >>> RecipeResult("crf-shallow-parsing", [table]).cell("NP chunking", "CRF", "F")
        94.1
        """
        for each in self.tables:
            if each.title == table:
                for line in each.rows:
                    value = line.ours.get(column) if line.name == row else None
                    if isinstance(value, int | float):
                        return float(value)
        raise ConfigError(f"the result has no figure in row {row!r}, column {column!r} of a table {table!r}")

    def to_json(self) -> str:
        """The result as JSON text.

        >>> RecipeResult.from_json(RecipeResult("crf-shallow-parsing", seed=3).to_json()).seed
        3
        """
        fields = {"format": FORMAT, **asdict(self), "claims": [claim.to_dict() for claim in self.claims]}
        return json.dumps(fields, indent=1, ensure_ascii=False, default=_plain) + "\n"

    @classmethod
    def from_json(cls, text: str, name: str = "result") -> RecipeResult:
        """Read a result back."""
        try:
            fields = json.loads(text)
            if fields.pop("format") != FORMAT:
                raise DataError(f"{name}: written by another version of Weft; run `weft reproduce` again")
            fields["tables"] = [_table(table) for table in fields["tables"]]
            fields["claims"] = [Claim.from_dict(claim) for claim in fields["claims"]]
            fields["curves"] = [_curve(curve) for curve in fields["curves"]]
            return cls(**fields)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DataError(f"{name}: not a result of `weft reproduce` ({error}); run it again") from error

    def save(self, folder: Path | None = None) -> Path:
        """Write the result to `folder/SLUG.json`, atomically."""
        path = result_path(self.slug, folder or _own_folder(self.title), self.quick, self.variant)
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
    """All full results of systems in a folder, by slug; no benchmarks, models or mutants, no quick or varied runs."""
    paths = sorted(folder.glob("*.json")) if folder.is_dir() else []
    others = ("bench-", "pipeline-", "everyday.", "model-", "mutants.")
    return [load_result(path) for path in paths if not path.name.startswith(others) and "." not in path.stem]


def reproduce(name: str, options: RecipeOptions) -> RecipeResult:
    """Run the recipe of a system, or one's own file, and add the framework's records; `result.save()` saves it."""
    with _recipe(name) as module:
        variation = getattr(module, "VARIATION", Variation())
        variation.check(name, options.vary, options.rows)
        with record.measured() as usage:
            try:
                result: RecipeResult = module.run(options)
            except LeftOut as missing:
                raise ConfigError(f"{name} cannot do without the row {missing}: choose it too, --rows") from missing
        if not isinstance(result, RecipeResult):
            raise ConfigError(f"run(options) of {name} must return a RecipeResult, got {type(result).__name__}")
        if is_own_recipe(name):
            result.slug = Path(name).stem
            result.title = (module.__doc__ or result.slug).strip().splitlines()[0]
        else:
            result.sizes = record.sizes(module.__name__, options.quick)
    if options.is_varied:
        result.tables = [table for table in result.tables if table.rows]
        result.vary, result.rows = dict(options.vary), list(options.rows)
    result.command = _command(name, options)
    result.seed, result.quick, result.files = options.seed, options.quick, list(options.files)
    result.commit, result.date, result.machine = record.commit(), record.now(), record.machine()
    result.wall_seconds, result.cpu_seconds = round(usage.wall_seconds, 2), round(usage.cpu_seconds, 2)
    result.peak_mb = round(usage.peak_mb, 1)
    return result


def kept_path(name: str, folder: Path | None, options: RecipeOptions) -> Path:
    """Where the result of a run with these options is kept."""
    own = is_own_recipe(name)
    variant = ".".join([*([OWN] if own else []), *([VARIED] if options.is_varied else [])])
    slug = Path(name).stem if own else system(name).slug
    return kept_result(slug, folder or _own_folder(own), options.quick, variant)


def _own_folder(own: object) -> Path | None:
    """Results of a user's own recipe are kept where the user is, even in a checkout of Weft."""
    return Path("results") if own else None


@contextmanager
def _recipe(name: str) -> Iterator[ModuleType]:
    """The module of a system's recipe or of a user's own."""
    if is_own_recipe(name):
        with own_recipe(Path(name)) as module:
            yield module
        return
    entry = system(name)
    if not entry.has_recipe:
        raise ConfigError(f"{name} is planned: it has no recipe yet; `weft reproduce --list` shows those that run")
    yield import_module(entry.module)


def _command(name: str, options: RecipeOptions) -> str:
    words = ["weft", "reproduce", name if not is_own_recipe(name) else Path(name).name, "--seed", str(options.seed)]
    words += ["--quick"] if options.quick else []
    words += ["--workers", str(options.workers)] if options.workers != 1 else []
    for setting, value in options.vary.items():
        words += ["--vary", f"{setting}={value}"]
    for pattern in options.rows:
        words += ["--rows", pattern]
    return shlex.join(words)


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
