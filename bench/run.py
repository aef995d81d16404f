"""Run a benchmark of the repository and keep its results: `python bench/run.py NAME`.

A benchmark is a module `bench/NAME.py` or a package `bench/NAME/` with `run() -> dict`. The dict may hold `title`,
`rows` (one dict per row, all with the same keys: what was measured, Weft's result, the peer's, the ratio) and any
further facts. The results are kept in `results/bench-NAME.json`.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from weft.cli.common import plain, print_json, print_table, short_path
from weft.errors import ConfigError, WeftError

FOLDER = Path(__file__).parent


def main(words: Sequence[str] | None = None) -> int:
    """Run the benchmark that the command line names, or list them all."""
    parser = argparse.ArgumentParser(description="Run a benchmark: Weft and its peers in one run, on this machine.")
    parser.add_argument("name", nargs="?", metavar="NAME", help="a benchmark of --list")
    parser.add_argument("--list", action="store_true", help="list the benchmarks")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="where to keep results (default: results)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    given = parser.parse_args(words)
    try:
        if given.list:
            _list(given.json)
        else:
            _run(given.name, given.out or FOLDER.parent / "results", given.json)
    except WeftError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    return 0


def _list(as_json: bool) -> None:
    available = benchmarks(FOLDER)
    if as_json:
        print_json(available)
    else:
        print_table("Benchmarks", ["name", "what"], list(available.items()))


def _run(name: str | None, results: Path, as_json: bool) -> None:
    available = benchmarks(FOLDER)
    if name is None or name not in available:
        said = "name a benchmark" if name is None else f"there is no benchmark {name!r}"
        raise ConfigError(f"{said}; bench/ holds {', '.join(available) or 'none'}")
    facts = run_benchmark(source_of(FOLDER, name))
    path = results / f"bench-{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(facts, indent=1, ensure_ascii=False, default=plain) + "\n", encoding="utf-8")
    print(f"results kept in {short_path(path)}", file=sys.stderr)
    if as_json:
        print_json(facts)
    else:
        show(facts)


def benchmarks(folder: Path) -> dict[str, str]:
    """The benchmarks of a folder with the first line of their documentation."""
    found = {}
    names = {path.stem for path in folder.glob("*.py")} | {path.parent.name for path in folder.glob("*/__init__.py")}
    for name in sorted(names - {"run"}):
        source = source_of(folder, name).read_text(encoding="utf-8")
        if not name.startswith("_") and "\ndef run(" in source:
            found[name] = source.lstrip().strip('"').split("\n", 1)[0].split('"""')[0].strip()
    return found


def source_of(folder: Path, name: str) -> Path:
    """The file of a benchmark: a module, or the first file of a package."""
    package = folder / name / "__init__.py"
    return package if package.is_file() else folder / f"{name}.py"


def run_benchmark(path: Path) -> dict[str, Any]:
    """Run one benchmark and add the machine, the commit and the time."""
    from weft.recipes import record

    is_package = path.name == "__init__.py"
    name, folder = (path.parent.name, path.parent.parent) if is_package else (path.stem, path.parent)
    # Benchmarks import helpers from their folder.
    sys.path.insert(0, str(folder))
    try:
        module = importlib.import_module(name) if is_package else _module(f"weft_bench_{name}", path)
        with record.measured() as usage:
            facts = dict(module.run())
    except ModuleNotFoundError as error:
        raise ConfigError(f"this benchmark needs {error.name}; install the extra: pip install 'weft[bench]'") from error
    finally:
        sys.path.remove(str(folder))
    about = {"machine": record.machine(), "commit": record.commit(), "date": record.now()}
    return {"name": name, **facts, **about, **{key: round(value, 2) for key, value in vars(usage).items()}}


def _module(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def show(facts: dict[str, Any]) -> None:
    """Print the rows of a benchmark, or its facts if it has no rows."""
    header, rows = table_of(facts)
    print_table(str(facts.get("title", facts["name"])), header, rows, figures=range(1, len(header)))


def table_of(facts: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """The table of a benchmark as strings: its `rows`, or its plain facts one per line.

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


if __name__ == "__main__":
    sys.exit(main())
