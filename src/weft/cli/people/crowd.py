"""`weft label crowd ANSWERS --gold GOLD --out FOLDER`: what the answers of a crowd are worth."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli.common import (
    DATA,
    RUNNING,
    SETTINGS,
    JsonFlag,
    Seed,
    option,
    print_json,
    print_table,
    read_pairs,
    short_path,
)  # fmt: skip
from weft.errors import DataError

if TYPE_CHECKING:
    from weft.annotate.crowd.answers import AnswerLog
    from weft.annotate.crowd.report import CrowdReport

EXAMPLE = "weft label crowd examples/crowd/words.csv --gold examples/crowd/gold.csv --out crowd"

Answers = Annotated[
    Path, typer.Argument(metavar="ANSWERS", help="Table with worker, item, answer: CSV, TSV, JSON Lines, Parquet.")
]
Gold = Annotated[
    Path | None, option("--gold", metavar="FILE", panel=DATA, help="Table of items whose answer is known.")
]
Machine = Annotated[
    Path | None, option("--machine", metavar="FILE", panel=DATA, help="Table of machine translations of the items.")
]
Judged = Annotated[
    Path | None, option("--synonyms", metavar="FILE", panel=DATA, help="JSON Lines of judged pairs: a, b, same.")
]
Countries = Annotated[
    Path | None,
    option("--countries", metavar="FILE", panel=DATA, help="Table of languages and the countries that speak them."),
]
Columns = Annotated[
    str, option("--columns", metavar="NAME=COLUMN,...", panel=DATA, help="What columns are called in ANSWERS.")
]
Consensus = Annotated[
    bool, option("--consensus", panel=SETTINGS, help="Answers are labels: find the most probable one of every item.")
]
History = Annotated[
    Path | None, option("--history", metavar="FILE", panel=DATA, help="What workers did before, with --consensus.")
]
Cut = Annotated[
    float,
    option("--cut", panel=SETTINGS, min=0.0, max=1.0, help="Largest share of answers that equal the machine's."),
]
Keep = Annotated[
    list[str] | None, option("--keep", metavar="WORKER", panel=SETTINGS, help="Never take out a worker; repeat.")
]
Agreement = Annotated[
    int, option("--agreeing", panel=SETTINGS, min=1, help="Workers that must agree on an entry of the dictionary.")
]
Quality = Annotated[
    float, option("--least-quality", panel=SETTINGS, min=0.0, max=1.0, help="Least quality of a dictionary's workers.")
]
Out = Annotated[Path | None, option("--out", "-o", metavar="FOLDER", panel=RUNNING, help="Folder for the tables.")]


def crowd(
    answers: Answers,
    gold: Gold = None,
    machine: Machine = None,
    synonyms: Judged = None,
    countries: Countries = None,
    columns: Columns = "",
    consensus: Consensus = False,
    history: History = None,
    cut: Cut = 0.7,
    keep: Keep = None,
    agreement: Agreement = 1,
    least_quality: Quality = 0.0,
    out: Out = None,
    seed: Seed = 0,
    as_json: JsonFlag = False,
) -> None:
    """Measure a crowd: the quality of workers and languages, cheats with reasons, a dictionary, a consensus."""
    from weft.annotate.crowd.answers import read_answers, read_known

    log = read_answers(answers, read_pairs("--columns", columns) if columns else None)
    known = read_known(gold) if gold is not None else {}
    if consensus:
        _consensus(log, known, history, out, as_json)
        return
    if not known:
        raise DataError("qualities need items whose answer is known: name them with --gold, or use --consensus")
    from weft.annotate.crowd.report import measure
    from weft.annotate.crowd.synonyms import Judgements

    report = measure(
        log, known, read_known(machine) if machine else None, Judgements(synonyms),
        _countries(countries) if countries else None, keep or (), cut, agreement, least_quality, seed,
    )  # fmt: skip
    if out is not None:
        _write(report, out)
    if as_json:
        print_json(_figures(report))
    else:
        _show(report, out)


def _countries(path: Path) -> dict[str, set[str]]:
    from weft.annotate.crowd.answers import read_answers

    log = read_answers(path, {"item": "language", "answer": "country"}, needs=("item", "answer"), normalize=False)
    found: dict[str, set[str]] = {}
    for language, country in zip(log.item.tolist(), log.answer.tolist(), strict=True):
        found.setdefault(log.items[language], set()).add(log.answers[country])
    return found


def _consensus(
    log: AnswerLog, known: dict[tuple[str, str], str], history: Path | None, out: Path | None, as_json: bool
) -> None:
    from weft.annotate.crowd.report import consensus

    agreed = consensus(log, known, history)
    rows = list(zip(agreed.items, agreed.labels, agreed.probability.round(4).tolist(), strict=True))
    workers = list(zip(agreed.workers, agreed.accuracy.round(4).tolist(), strict=True))
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        _table(out / "labels.csv", ("item", "label", "probability"), rows)
        _table(out / "workers.csv", ("worker", "accuracy"), workers)
        agreed.save_history(out / "history.json")
    if as_json:
        print_json({"items": len(rows), "workers": dict(workers), "labels": {item: label for item, label, _ in rows}})
        return
    worst = sorted(workers, key=lambda row: row[1])[:10]
    print_table("Workers, the least reliable first", ["worker", "right"], [(w, f"{a:.2f}") for w, a in worst], [1])
    print(f"{len(rows):,} items, {len(workers):,} workers" + (f"; wrote {short_path(out)}" if out else ""))


def _write(report: CrowdReport, out: Path) -> None:
    from weft.annotate.crowd.report import TABLES

    out.mkdir(parents=True, exist_ok=True)
    for name, (header, rows) in TABLES.items():
        _table(out / name, header, rows(report))


def _table(path: Path, header: tuple[str, ...], rows: Any) -> None:
    from weft.annotate.crowd.report import rounded

    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows([rounded(cell) for cell in row] for row in rows)


def _figures(report: CrowdReport) -> dict[str, Any]:
    from weft.annotate.crowd.report import rounded

    return {
        "workers": len({row.worker for row in report.work}),
        "languages": [
            {name: rounded(value) for name, value in row._asdict().items()} for row in report.languages
        ],
        "flags": [{**row._asdict(), "reason": row.reason} for row in report.flags],
        "regions": [{name: rounded(value) for name, value in row._asdict().items()} for row in report.regions],
        "entries": len(report.entries),
        "pairs to judge": len(report.open_pairs),
    }  # fmt: skip


def _show(report: CrowdReport, out: Path | None) -> None:
    before = {row.language: row.quality for row in report.unfiltered}
    rows = [
        (row.language or "(one)", f"{row.quality:.2f}", f"{row.low:.2f} to {row.high:.2f}", f"{row.exact:.2f}",
         f"{before[row.language]:.2f}", f"{row.workers:,}")
        for row in report.languages
    ]  # fmt: skip
    header = ["language", "quality", "95 %", "exact only", "with cheats", "workers"]
    print_table("Quality by language, mean over workers", header, rows, figures=[1, 3, 4, 5])
    for flag in report.flags[:10]:
        print(f"taken out: {flag.worker}{f' ({flag.language})' if flag.language else ''}: {flag.reason}")
    if len(report.flags) > 10:
        print(f"taken out: {len(report.flags) - 10:,} more, see flags.csv")
    for place in report.regions:
        line = f"{place.language}: {place.inside:.2f} in its region ({place.n_inside:,}), {place.outside:.2f} outside "
        print(f"{line}({place.n_outside:,}) {place.stars}{' as good outside: suspicious' * place.suspicious}".rstrip())
    wrote = f"; wrote {short_path(out)}" if out else ""
    print(f"{len(report.entries):,} entries, {len(report.open_pairs):,} pairs of answers to judge{wrote}")
