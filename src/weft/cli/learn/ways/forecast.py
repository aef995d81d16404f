"""`weft train forecast`: the report shows what the forecasts earned, and the events that move the series."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.cli.common import console, flat, print_json, print_table
from weft.cli.inputs import report_bad
from weft.cli.learn.training import Training
from weft.errors import ConfigError

if TYPE_CHECKING:
    from weft.text import Doc

#: Events that the report shows.
_SHOWN = 10


def train(training: Training) -> None:
    """Forecast a series from dated texts; raw text is parsed if the features need trees."""
    from weft.formats.csv.plain_rows import check_rows_path
    from weft.pipeline.registry import check_place, keep, new_component

    data = training.data
    texts: list[Path] = [*training.files, *(data["daily"] or [])]
    if not texts:
        raise ConfigError("give the news: --daily FOLDER with files named by their dates, or tables with a column date")
    for name in ("days", "events"):
        if data[name] is not None:
            check_rows_path(data[name])
    check_place(training.out)
    component: Any = new_component(training.task, training.options, training.method)
    if training.reading.format is None and all(str(file).removesuffix(".gz").endswith(".tsv") for file in texts):
        training.reading = training.reading._replace(format="csv")
    inputs = training.reading.open(texts)
    docs = list(inputs.docs)
    if component.requires:
        docs = _parsed(docs, data["model"] or ["en"])
    report = component.fit(docs)
    report_bad(inputs)
    days, events = report.pop("days"), report["events"]
    _write(data, days, events, component)
    keep(component, report, training.out, **training.card(texts))
    if training.as_json:
        print_json({**report, "days": days})
        return
    _show(report, events)


def _parsed(docs: list[Doc], names: list[str]) -> list[Doc]:
    """The documents, those without trees annotated by models."""
    import weft
    from weft.progress import progress

    raw = [number for number, doc in enumerate(docs) if doc.head is None and doc.text.strip()]
    if not raw:
        return docs
    nlp, found = weft.load(*names), list(docs)
    with progress("parsing", len(raw), "texts") as bar:
        for number, doc in zip(raw, nlp.pipe(docs[number] for number in raw), strict=True):
            found[number] = doc
            bar.advance()
    return found


def _write(data: dict[str, Any], days: list[dict[str, Any]], events: list[dict[str, Any]], component: Any) -> None:
    """Write the tables and the picture that were asked for."""
    from weft.evaluate.blocks import course_interval
    from weft.formats.csv.plain_rows import write_rows
    from weft.pictures import draw_lines
    from weft.tasks.forecasting.report import DAY_COLUMNS, EVENT_COLUMNS

    if data["days"] is not None:
        write_rows(days, data["days"], DAY_COLUMNS)
    if data["events"] is not None:
        write_rows(events, data["events"], EVENT_COLUMNS)
    if data["curve"] is not None:
        settings, name = component.settings, "profit, 95 % of resampled days"
        low, high = course_interval([row["earned"] for row in days], settings.block, seed=settings.seed)
        points: dict[str, list[tuple[float, float]]] = {
            name: [(float(k), row["profit"]) for k, row in enumerate(days)],
            "nothing earned": [(0.0, 0.0), (len(days) - 1.0, 0.0)],
        }
        band = {name: list(zip(map(float, range(len(days))), low.tolist(), high.tolist(), strict=True))}
        picture = draw_lines(component.market or "forecasts", "day", "profit", points, band)
        data["curve"].write_text(picture, encoding="utf-8")


def _show(report: dict[str, Any], events: list[dict[str, Any]]) -> None:
    """Print the report, the strongest events, and the warning, which goes to standard error."""
    warning = report.pop("warning", "")
    report.pop("events")
    print_table("Trained forecast", ["", ""], flat(report), figures=[1])
    if events:
        rows = [[row["event"], row["moves"], f"{row['effect']:+.3f}", str(row["days"])] for row in events[:_SHOWN]]
        print_table("Events that move it", ["event", "moves", "effect", "days"], rows, figures=[2, 3])
    if warning:
        console(stderr=True).print(f"Warning: {warning}.")
