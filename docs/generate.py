"""Write the results into README and documentation: tables, figures and the list of systems.

No number is written by hand: `make render` runs this over `results/*.json`. It replaces the text between a marker
`<!-- generated: NAME -->` and `<!-- end generated -->`; `--check` only lists the pages that would change.
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
sys.path += [str(ROOT / "bench"), str(ROOT / "docs")]
from checks import checks_line, checks_of_systems, lesser_checks_block, mutants_block  # noqa: E402
from robustness import FIGURE, attacks_block, limits_block, memory_curve, parts_block  # noqa: E402

from run import benchmarks, table_of  # noqa: E402

RESULTS = ROOT / "results"
MARKED = re.compile(r"(<!-- generated: ([a-z0-9_-]+) -->\n)(.*?)(<!-- end generated -->)", re.DOTALL)
ROOMS = {
    "weft": "Foundation",
    "text": "Text",
    "formats": "Formats",
    "features": "Features",
    "infer": "Inference",
    "graph": "Graphs",
    "learn": "Learning",
    "lexical": "Lexical resources",
    "evaluate": "Evaluation",
    "treebanks": "Treebanks",
    "pipeline": "Pipelines and models",
    "tasks": "Tasks",
    "training": "Training pipelines",
    "annotate": "Labelling by people",
    "recipes": "Recipes",
    "pictures": "Pictures",
    "interop": "Other libraries",
    "scale": "Annotating at scale",
    "serve": "Service",
    "workbench": "The workbench",
}

#: One value of a benchmark: its name, the first cell of the row, the column.
Cell = tuple[str, str, str]
#: The rows of the README: what was measured, Weft's value, the peer and its value.
EIGHT: list[tuple[str, Cell, str, Cell]] = [
    (
        "English pipeline from raw text, words/s",
        ("pipeline", "words/s, one core", "figure"),
        "spaCy",
        ("pipeline", "spaCy, words/s, one core", "figure"),
    ),
    (
        "tagging UPOS, XPOS and features, words/s",
        ("tagger_peers", "spaCy", "Weft's"),
        "spaCy",
        ("tagger_peers", "spaCy", "its words/CPU s"),
    ),
    (
        "parsing English-EWT, words/s",
        ("parser", "arc-eager, dynamic", "words/s"),
        "UDPipe",
        ("parser", "UDPipe 1.4, beam 5", "words/s"),
    ),
    (
        "parsing English-EWT, dev LAS %",
        ("parser", "arc-eager, dynamic", "dev LAS"),
        "UDPipe",
        ("parser", "UDPipe 1.4, beam 5", "dev LAS"),
    ),
    (
        "training a CRF on CoNLL-2000, CPU s",
        ("crf", "training, CPU s", "Weft"),
        "CRFsuite",
        ("crf", "training, CPU s", "CRFsuite"),
    ),
    (
        "reading CoNLL-U, words/s",
        ("conllu_reading", "words a CPU second", "Weft"),
        "conllu",
        ("conllu_reading", "words a CPU second", "conllu"),
    ),
    (
        "aligning 14,447 sentence pairs, CPU s",
        ("align", "14,447 English-French pairs, CPU s", "Weft"),
        "eflomal",
        ("align", "14,447 English-French pairs, CPU s", "eflomal"),
    ),
    (
        "alignment error rate, %",
        ("align", "AER %, grow-diag-final-and", "Weft"),
        "eflomal",
        ("align", "AER %, grow-diag-final-and", "eflomal"),
    ),
]


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
    checks = checks_of_systems()
    made.update(_api_pages())
    blocks = {
        "results": _results_block(results),
        "benchmarks": _benchmarks_block(),
        "benchmarks-eight": _eight_block(),
        "systems": systems_table(states, _page_of, {slug: str(own) for slug, own in checks.items()}),
        "checks-line": checks_line(checks),
        "checks-less": lesser_checks_block(checks),
        "mutants": mutants_block(),
        "systems-line": _systems_line(states),
        "model-languages": _languages_block(),
        **_everyday_blocks(),
        "attacks": attacks_block(RESULTS / "bench-fuzz.json"),
        "attack-parts": parts_block(RESULTS / "bench-fuzz.json"),
        "limits": limits_block(),
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
    if (memory := memory_curve(RESULTS / "bench-fuzz.json")) is not None:
        made[ROOT / "docs" / "figures" / FIGURE] = svg(memory)
    for page in (ROOT / "README.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").rglob("*.md"))):
        text = "" if page in made else page.read_text(encoding="utf-8")
        if MARKED.search(text):
            made[page] = MARKED.sub(lambda match: f"{match[1]}{blocks[match[2]].rstrip()}\n{match[4]}", text)
    return made


def _page_of(slug: str) -> str:
    """The page of a system as linked from the page of all systems; "" if it has none."""
    page = f"{slug}.md"
    return page if (ROOT / "docs" / "systems" / page).is_file() else ""


def _api_pages() -> dict[Path, str]:
    """One page per room of the package and per folder in it, with every module that is not private."""
    package = ROOT / "src" / "weft"
    pages = {"index": "# API\n\nGenerated from the docstrings. Most programs need only these names:\n\n::: weft\n"}
    for room, title in ROOMS.items():
        top = package if room == "weft" else package / room
        pages[room] = _api_page(title, top, package)
        if room == "weft":
            continue
        below = {path.parent.relative_to(top) for path in top.rglob("*.py")} - {Path()}
        for folder in sorted(below):
            name = ", ".join(part.replace("_", " ") for part in folder.parts)
            page = _api_page(f"{title}: {name}", top / folder, package)
            if "\n::: " in page:
                pages[f"{room}/{'-'.join(folder.parts)}"] = page
    return {ROOT / "docs" / "api" / f"{name}.md": text for name, text in pages.items()}


def _api_page(title: str, folder: Path, package: Path) -> str:
    """The modules of one folder; those of its subfolders have pages of their own."""
    paths = sorted(path.relative_to(package.parent).with_suffix("") for path in folder.glob("*.py"))
    names = [".".join(path.parts) for path in paths if not any(part.startswith("_") for part in path.parts)]
    return "\n".join([f"# {title}\n", *(f"::: {name}\n" for name in names)])


def _results_block(results: list[RecipeResult]) -> str:
    rows = []
    for result in results:
        outcomes = [claim.outcome for claim in result.claims if claim.paper]
        own = [claim.outcome for claim in result.claims if not claim.paper]
        rows.append(
            [
                f"[`{result.slug}`]({result.slug}.md)",
                *(str(outcomes.count(each)) for each in ("yes", "level", "no")),
                f"{own.count('yes')} of {len(own)}" if own else "",
                f"{result.wall_seconds:,.0f} s",
            ]
        )
    header = ["system", "claims of the paper: yes", "level", "no", "our own checks that hold", "time"]
    return markdown_table(header, rows) if rows else "No system has been measured yet."


def _benchmarks_block() -> str:
    blocks = [_benchmark_block(path) for path in sorted(RESULTS.glob("bench-*.json"))]
    return "\n\n".join(blocks) or "No benchmarks have been run yet: `make bench`."


def _benchmark_block(path: Path) -> str:
    name = path.stem.removeprefix("bench-")
    command = f"python bench/run.py {name}"
    if not path.is_file():
        return f"Not measured yet: `{command}`."
    facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    machine = facts.get("machine", {})
    figure = f"![{facts['plot']['title']}](../figures/{path.stem}.svg)\n\n" if "plot" in facts else ""
    return figure + "\n\n".join([
        f"`{command}`: {facts.get('title', name)}",
        markdown_table(*table_of(facts)),
        f"*{machine.get('cpus')} cores, Python {machine.get('python')}, {facts.get('date', '')[:10]}*",
    ])  # fmt: skip


def _eight_block() -> str:
    """Eight benchmarks for the README, the peer beside Weft."""
    rows = [[title, _cell(weft), f"{_cell(its)} ({peer})"] for title, weft, peer, its in EIGHT]
    return markdown_table(["measured on one core", "Weft", "peer"], rows)


def _cell(cell: Cell) -> str:
    benchmark, name, column = cell
    path = RESULTS / f"bench-{benchmark}.json"
    if not path.is_file():
        return "not measured yet"
    header, rows = table_of(json.loads(path.read_text(encoding="utf-8")))
    return next(row[header.index(column)] for row in rows if row[0] == name)


def _plot(facts: dict[str, Any]) -> Curve | None:
    """The rows of a benchmark as points, if its `plot` names a title and the columns to show."""
    plot = facts.get("plot")
    if plot is None:
        return None
    series = {row[plot["of"]]: [(row[plot["x"]], row[plot["y"]])] for row in facts["rows"]}
    return Curve(plot["title"], plot["x"], plot["y"], series)


def _pipeline_blocks() -> dict[str, str]:
    """The table of all trained pipelines, and the cards of the English models, with scores by genre."""
    reports = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(RESULTS.glob("pipeline-*.json"))]
    cards = {}
    for name in ("en", "en-speech", "en-roles"):
        report = next((report for report in reports if report["name"] == name), None)
        cards[name] = f"Not trained yet: `weft train pipeline configs/{name}.toml`."
        if report is not None:
            cards[name] = card_text(report["card"]).split("\n", 2)[2].replace("\n## ", "\n### ")
            if any("by" in row for row in report["tests"]):
                cards[name] += f"\n\n### Scores by genre\n\n{genre_table(report['tests'])}"
    whole = [report for report in reports if any(row["task"] == "parser" for row in report["components"])]
    blocks = {f"pipeline-{name}": card for name, card in cards.items()}
    return {"pipelines": languages_table(whole), **blocks}


def _languages_block() -> str:
    """How often the language of a text is right, by length and by language."""
    path = RESULTS / "model-languages.json"
    if not path.is_file():
        return "Not measured yet: `python -m weft.training.languages`."
    scores = json.loads(path.read_text(encoding="utf-8"))
    lengths = list(scores["mean"])
    titles = {
        "mean": "language is right, mean of all languages, %",
        "told": "notice for the English model, and rightly named, other languages, %",
        "false_alarms": "notice for a model of the right language, %",
    }
    rows = [[title, *(f"{scores[name][length]:.1f}" for length in lengths)] for name, title in titles.items()]
    means = markdown_table(["characters", *lengths], rows)
    languages = ", ".join(f"{code} {row['100']:.0f}" for code, row in scores["languages"].items())
    return f"{means}\n\nBy language, {scores['windows']} windows of 100 characters each: {languages}."


def _everyday_blocks() -> dict[str, str]:
    """How many everyday sentences the model has right, by category, and what is wrong in the others."""
    path = RESULTS / "everyday.json"
    facts = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {"halves": {}}
    if "seen" not in facts["halves"]:
        missing = "Not measured yet: `python tests/everyday/score.py --keep`."
        return {"everyday-scores": missing, "everyday-failures": missing}
    seen, held = facts["halves"]["seen"], facts["halves"].get("held")
    rows = [[name, str(right), str(total)] for name, (right, total) in seen["categories"].items()]
    rows.append(["**all of the seen half**", str(seen["right"]), str(seen["sentences"])])
    if held is not None:
        rows.append(["**all of the held half**", str(held["right"]), str(held["sentences"])])
    note = "" if held is not None else " The held half has not been scored yet: it is for a model that is final."
    failures = [[row["text"], "; ".join(row["faults"])] for row in seen["failures"]]
    about = f"*Model `{facts['model']}`, {facts['date'][:10]}. The goal is {facts['floor']:.0%} of each half.{note}*"
    return {
        "everyday-scores": f"{markdown_table(['sentences', 'right', 'of'], rows)}\n\n{about}",
        "everyday-failures": markdown_table(["sentence", "errors"], failures) if failures else "None.",
    }


def _systems_line(states: list[tuple[System, str]]) -> str:
    """How many systems are in which state."""
    present, started = (sum(state == wanted for _, state in states) for wanted in ("present", "started"))
    if present == len(states):
        return f"All {present} published systems are present."
    begun = f", {started} started" if started else ""
    return f"Of {len(states)} published systems, {present} are present{begun}; the others are planned."


if __name__ == "__main__":
    main()
