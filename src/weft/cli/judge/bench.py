"""`weft bench NAME`: run a benchmark of the repository and keep its figures in `results/bench-NAME.json`.

A benchmark is a module `bench/NAME.py` with `run() -> dict`. The dict may hold `title`, `rows` (one dict a row, all
with the same keys: what was measured, Weft's figure, the peer's, the ratio) and any further facts.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from weft.cli.common import JsonFlag, plain, print_json, print_table, short_path
from weft.errors import ConfigError


def bench(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="A benchmark of `weft bench --list`.")] = None,
    show_list: Annotated[bool, typer.Option("--list", help="List the benchmarks.")] = False,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FOLDER", help="Where to keep results.", show_default="results")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Run a benchmark of the repository: Weft and its peers in one run, on this machine."""
    from weft.recipes.catalogue import results_folder

    available = benchmarks(bench_folder())
    if show_list:
        if as_json:
            print_json(available)
        else:
            print_table("Benchmarks", ["name", "what"], list(available.items()))
        return
    if name is None or name not in available:
        said = "name a benchmark" if name is None else f"there is no benchmark {name!r}"
        raise ConfigError(f"{said}; bench/ holds {', '.join(available) or 'none'}")
    facts = run_benchmark(bench_folder() / f"{name}.py")
    path = (out or results_folder()) / f"bench-{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(facts, indent=1, ensure_ascii=False, default=plain) + "\n", encoding="utf-8")
    typer.echo(f"figures kept in {short_path(path)}", err=True)
    if as_json:
        print_json(facts)
    else:
        show(facts)


def bench_folder() -> Path:
    """The folder of benchmarks: `bench` of the repository."""
    from weft.recipes.catalogue import checkout

    root = checkout()
    if root is None:
        raise ConfigError("benchmarks stand in the repository, not in the installed package; run this in a checkout")
    return root / "bench"


def benchmarks(folder: Path) -> dict[str, str]:
    """The benchmarks of a folder with the first line of their documentation."""
    found = {}
    for path in sorted(folder.glob("*.py")):
        if path.stem.startswith("_"):
            continue
        source = path.read_text(encoding="utf-8")
        if "\ndef run(" in source:
            found[path.stem] = source.lstrip().strip('"').split("\n", 1)[0].split('"""')[0].strip()
    return found


def run_benchmark(path: Path) -> dict[str, Any]:
    """Run one benchmark and add the machine, the commit and the time."""
    from weft.recipes import record

    spec = importlib.util.spec_from_file_location(f"weft_bench_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Benchmarks import helpers that stand beside them.
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
        with record.measured() as usage:
            facts = dict(module.run())
    except ModuleNotFoundError as error:
        raise ConfigError(f"this benchmark needs {error.name}; install the extra: pip install 'weft[bench]'") from error
    finally:
        sys.path.remove(str(path.parent))
    about = {"machine": record.machine(), "commit": record.commit(), "date": record.now()}
    return {"name": path.stem, **facts, **about, **{key: round(value, 2) for key, value in vars(usage).items()}}


def show(facts: dict[str, Any]) -> None:
    """Print the rows of a benchmark, or its figures where it has no rows."""
    header, rows = table_of(facts)
    print_table(str(facts.get("title", facts["name"])), header, rows, figures=range(1, len(header)))


def table_of(facts: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """The table of a benchmark as strings: its `rows`, or its plain figures one a line.

    >>> table_of({"name": "reading", "rows": [{"what": "words/s", "weft": 500000.0, "peer": 40000.0, "ratio": 12.5}]})
    (['what', 'weft', 'peer', 'ratio'], [['words/s', '500,000', '40,000', '12.5']])
    >>> table_of({"name": "reading", "ratio": 12.5, "machine": {}})
    (['figure', 'value'], [['ratio', '12.5']])
    """
    rows = facts.get("rows")
    if isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows):
        header = list(dict.fromkeys(key for row in rows for key in row))
        return header, [[_figure(row.get(key)) for key in header] for row in rows]
    about = {"name", "title", "machine", "commit", "date", "wall_seconds", "cpu_seconds", "peak_mb"}
    plain = {key: value for key, value in facts.items() if key not in about}
    return ["figure", "value"], [[key, _figure(value)] for key, value in plain.items()]


def _figure(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
