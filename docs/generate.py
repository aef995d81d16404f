"""Write what README and documentation show of the results: tables, figures and the list of systems.

Figures are never written by hand: `make docs` runs this over `results/*.json`. Between a marker
`<!-- generated: NAME -->` and `<!-- end generated -->` the text is replaced; `--check` only says what would change.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

from weft.pictures import draw_heat
from weft.recipes.catalogue import System, systems
from weft.recipes.framework import Curve, RecipeResult, load_results
from weft.recipes.render import markdown, markdown_table, svg, systems_table
from weft.training.card import card_text, genre_table, languages_table

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "bench"))
from run import benchmarks, table_of  # noqa: E402

RESULTS = ROOT / "results"
MARKED = re.compile(r"(<!-- generated: ([a-z0-9_-]+) -->\n)(.*?)(<!-- end generated -->)", re.DOTALL)
ROOMS = {
    "text": "Text",
    "formats": "Formats",
    "features": "Features",
    "lexical": "Words and lists",
    "infer": "Inference",
    "graph": "Graphs",
    "learn": "Learning",
    "tasks": "Tasks",
    "evaluate": "Evaluation",
    "treebanks": "Annotation schemes",
    "pictures": "Pictures",
    "scale": "Annotating much text",
    "interop": "Other libraries",
    "recipes": "Recipes",
    "serve": "Service",
    "weft": "Models, pipelines and the rest",
}
INTRODUCTION = """# Systems

Each published system is one module, one command and one file of results. Those that are *present* have a page with
their tables beside the paper's, *started* ones can be run (`weft reproduce SLUG`), the others are *planned*.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; exit code 1 if something would change")
    options = parser.parse_args()
    wanted = pages()
    if options.check:  # only pages that are kept in the repository
        wanted = {path: text for path, text in wanted.items() if MARKED.search(text)}
    stale = [path for path, text in wanted.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    if options.check:
        for path in stale:
            print(f"{path.relative_to(ROOT)} is not up to date; run `make render`")
        sys.exit(bool(stale))
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(wanted[path], encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")


def pages() -> dict[Path, str]:
    """Every generated file with its text."""
    results = load_results(RESULTS)
    made: dict[Path, str] = {}
    states = [(system, system.state(RESULTS)) for system in systems()]
    made[ROOT / "docs" / "systems.md"] = "\n".join([INTRODUCTION, systems_table(states, _page_of)])
    made.update(_api_pages())
    blocks = {
        "demo": _demo_block(),
        "results": _results_block(results),
        "benchmarks": _benchmarks_block(),
        "benchmarks-short": _benchmarks_block(longest=16),
        "systems": _systems_block(states),
    }
    for system, _ in states:
        blocks[f"result-{system.slug}"] = f"Not measured yet: `weft reproduce {system.slug}`."
    for result in results:
        figures = []
        for i, curve in enumerate(result.curves, 1):
            name = f"figures/{result.slug}-{i}.svg"
            made[ROOT / "docs" / name] = svg(curve)
            figures.append(f"../{name}")
        blocks[f"result-{result.slug}"] = markdown(result, figures)
        for i, table in enumerate((table for table in result.tables if table.heat), 1):
            values = [[float(row.ours.get(column) or "nan") for column in table.columns] for row in table.rows]
            heat = draw_heat([row.name for row in table.rows], table.columns, values, table.title)
            made[ROOT / "docs" / "figures" / f"{result.slug}-heat-{i}.svg"] = heat
    blocks.update(_pipeline_blocks())
    for name in benchmarks(ROOT / "bench"):
        blocks[f"benchmark-{name}"] = _benchmark_block(RESULTS / f"bench-{name}.json")
    for path in RESULTS.glob("bench-*.json"):
        if (plot := _plot(json.loads(path.read_text(encoding="utf-8")))) is not None:
            made[ROOT / "docs" / "figures" / f"{path.stem}.svg"] = svg(plot)
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        text = "" if page in made else page.read_text(encoding="utf-8")
        if MARKED.search(text):
            made[page] = MARKED.sub(lambda match: f"{match[1]}{blocks[match[2]].rstrip()}\n{match[4]}", text)
    return made


def _page_of(slug: str) -> str:
    """Where a system's own page is, seen from the page of all systems; "" if it has none."""
    page = f"systems/{slug}.md"
    return page if (ROOT / "docs" / page).is_file() else ""


def _api_pages() -> dict[Path, str]:
    """One page a room of the package, with every module that is not private."""
    package = ROOT / "src" / "weft"
    pages = {"index": "# API\n\nMade from the docstrings. What most programs need:\n\n::: weft\n"}
    for room, title in ROOMS.items():
        folder = package if room == "weft" else package / room
        prefix = "weft" if room == "weft" else f"weft.{room}"
        files = folder.glob("*.py") if room == "weft" else folder.rglob("*.py")
        paths = [path.relative_to(folder).with_suffix("").parts for path in files]
        names = sorted(".".join(parts) for parts in paths if not any(part.startswith("_") for part in parts))
        pages[room] = "\n".join([f"# {title}\n", *(f"::: {prefix}.{name}\n" for name in names)])
    return {ROOT / "docs" / "api" / f"{name}.md": text for name, text in pages.items()}


def _demo_block() -> str:
    path = RESULTS / "demo.txt"
    return f"```text\n{path.read_text(encoding='utf-8').rstrip()}\n```" if path.is_file() else ""


def _results_block(results: list[RecipeResult]) -> str:
    rows = []
    for result in results:
        held = sum(check.holds for check in result.checks)
        rows.append(
            [
                f"[`{result.slug}`](systems/{result.slug}.md)",
                f"{held} of {len(result.checks)}",
                f"{result.wall_seconds:,.0f} s",
            ]
        )
    table = markdown_table(["system", "claims of the paper that hold here", "time"], rows)
    return f"Published systems with results:\n\n{table}" if rows else "No system has been measured yet."


def _benchmarks_block(longest: int | None = None) -> str:
    """All benchmarks; of tables longer than a number of rows only what they come to."""
    paths = sorted(RESULTS.glob("bench-*.json"))
    blocks = [_benchmark_block(path, longest) for path in paths]
    return "\n\n".join(blocks) or "No benchmarks have been run yet: `make bench`."


def _benchmark_block(path: Path, longest: int | None = None) -> str:
    if not path.is_file():
        return f"Not measured yet: `python bench/run.py {path.stem.removeprefix('bench-')}`."
    facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    machine = facts.get("machine", {})
    title = f"`python bench/run.py {facts['name']}`: {facts.get('title', facts['name'])}"
    if longest is not None and len(facts["rows"]) > longest:
        told = [
            f"{key} {value:,g}"
            for key, value in facts.items()
            if isinstance(value, int | float) and not key.endswith(("seconds", "_mb"))
        ]
        summary = f": {', '.join(told)}" if told else ""
        return f"{title}{summary} ([all rows](docs/benchmarks.md))."
    figure = f"![{facts['plot']['title']}](figures/{path.stem}.svg)\n\n" if "plot" in facts and longest is None else ""
    return figure + "\n\n".join([
        title,
        markdown_table(*table_of(facts)),
        f"*{machine.get('cpus')} cores, Python {machine.get('python')}, {facts.get('date', '')[:10]}*",
    ])  # fmt: skip


def _plot(facts: dict[str, Any]) -> Curve | None:
    """The rows of a benchmark as points, where it says what to show: `plot` names a title and the columns."""
    plot = facts.get("plot")
    if plot is None:
        return None
    series = {row[plot["of"]]: [(row[plot["x"]], row[plot["y"]])] for row in facts["rows"]}
    return Curve(plot["title"], plot["x"], plot["y"], series)


def _pipeline_blocks() -> dict[str, str]:
    """The table of all trained pipelines, and the cards of the English one, with scores by genre, and of its option."""
    reports = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(RESULTS.glob("pipeline-*.json"))]
    cards = {}
    for name in ("en", "en-speech"):
        report = next((report for report in reports if report["name"] == name), None)
        cards[name] = f"Not trained yet: `weft train pipeline configs/{name}.toml`."
        if report is not None:
            cards[name] = card_text(report["card"]).split("\n", 2)[2].replace("\n## ", "\n### ")
            if any("by" in row for row in report["tests"]):
                cards[name] += f"\n\n### Scores by genre\n\n{genre_table(report['tests'])}"
    whole = [report for report in reports if any(row["task"] == "parser" for row in report["components"])]
    blocks = {f"pipeline-{name}": card for name, card in cards.items()}
    return {"pipelines": languages_table(whole), **blocks}


def _systems_block(states: list[tuple[System, str]]) -> str:
    rows = [[f"`{system.slug}`", f"{system.authors}, {system.venue}", state] for system, state in states]
    here = [row for row in rows if row[2] != "planned"]
    present, started = (sum(row[2] == state for row in rows) for state in ("present", "started"))
    text = f"Of {len(rows)} systems, {present} are present and {started} started; the others are planned."
    table = [markdown_table(["slug", "paper", "state"], here)] if here else []
    folded = f"<details>\n<summary>All {len(rows)} systems</summary>\n\n{systems_table(states)}\n</details>"
    return "\n\n".join([text, *table, folded])


if __name__ == "__main__":
    main()
