"""`weft label plan FILES --layer upos --minutes 30 --out work.jsonl`: what to check next."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli.common import DATA, RUNNING, SETTINGS, JsonFlag, option, print_json, print_table, short_path
from weft.cli.inputs import Reading, report_bad
from weft.errors import ConfigError, DataError

if TYPE_CHECKING:
    from weft.annotate.plans.costs import CostModel
    from weft.annotate.plans.planner import Planner, WorkList
    from weft.text import Doc

EXAMPLE = "weft label plan examples/plans/predicted.conllu --minutes 1 --out work.jsonl"

Files = Annotated[
    list[Path], typer.Argument(metavar="FILE...", help="Documents annotated with `weft annotate --probabilities`.")
]
Layer = Annotated[str, option("--layer", help="Column whose labels are checked.", panel=DATA)]
Minutes = Annotated[
    float | None, option("--minutes", panel=SETTINGS, min=0.0, help="Time that people have.", shown="no limit")
]
Share = Annotated[
    float | None,
    option("--remove", panel=SETTINGS, min=0.0, max=1.0, help="Share of the errors to remove.", shown="0.4"),
]
Known = Annotated[
    Path | None, option("--checked", metavar="FILE", panel=DATA, help="Documents with known labels, to calibrate on.")
]
KnownPredicted = Annotated[
    Path | None,
    option("--checked-predicted", metavar="FILE", panel=DATA, help="The same, annotated with probabilities."),
]
Times = Annotated[
    Path | None,
    option("--times", metavar="FILE", panel=DATA, help="Table of recorded times: words, confidence, seconds."),
]
Cost = Annotated[
    str, option("--time-model", metavar="linear|gaussian", panel=SETTINGS, help="Model of recorded times.")
]
Switch = Annotated[float, option("--switch", panel=SETTINGS, min=0.0, help="Seconds to change to a span.")]
PerWord = Annotated[float, option("--per-word", panel=SETTINGS, min=0.0, help="Seconds for a word.")]
PerError = Annotated[float, option("--per-error", panel=SETTINGS, min=0.0, help="Seconds for an expected error.")]
Longest = Annotated[int, option("--longest", panel=SETTINGS, min=1, help="Words of the longest span.")]
Target = Annotated[
    str,
    option("--target", metavar="weft|label-studio|doccano|prodigy", panel=RUNNING, help="Tool that the work is for."),
]
Out = Annotated[Path | None, option("--out", "-o", metavar="FILE", panel=RUNNING, help="File for the list of work.")]


def plan(
    files: Files,
    layer: Layer = "upos",
    minutes: Minutes = None,
    share: Share = None,
    known: Known = None,
    known_predicted: KnownPredicted = None,
    times: Times = None,
    cost: Cost = "linear",
    switch: Switch = 3.0,
    per_word: PerWord = 0.9,
    per_error: PerError = 1.0,
    longest: Longest = 20,
    target: Target = "weft",
    out: Out = None,
    reading: Reading = Reading(),
    as_json: JsonFlag = False,
) -> None:
    """Choose the spans whose labels are worth checking, for the minutes there are or the quality that is asked."""
    from weft.annotate.plans.costs import FixedCost
    from weft.annotate.plans.documents import calibrated, probabilities, write_work
    from weft.annotate.plans.planner import Mode, Planner

    if minutes is not None and share is not None:
        raise ConfigError("a plan is for so many --minutes or to --remove a share of the errors, not both")
    inputs = reading.open(files)
    docs = [doc for doc in inputs.docs if doc.n_words]
    report_bad(inputs)
    if not docs:
        raise DataError("there are no words to check")
    sure = probabilities(docs, layer)
    doubts = 1 - sure
    if (known is None) != (known_predicted is None):
        raise ConfigError("calibration needs both --checked and --checked-predicted")
    if known is not None and known_predicted is not None:
        gold, predicted = (list(reading.open([path]).docs) for path in (known, known_predicted))
        doubts = calibrated(gold, predicted, layer)(sure)
    model: CostModel = FixedCost(switch, per_word, per_error) if times is None else _learned(times, cost)
    planner = Planner(doubts.clip(0, 1), [Mode("check", model)], [doc.n_words for doc in docs], longest)
    wanted = 0.4 if share is None else share
    work = planner.for_seconds(60 * minutes) if minutes is not None else planner.for_errors(wanted * planner.total)
    if out is not None:
        write_work(docs, work, layer, str(out), target)
    _tell(planner, work, docs, out, as_json)


def _learned(path: Path, method: str) -> CostModel:
    import numpy as np

    from weft.annotate.crowd.answers import read_answers
    from weft.annotate.plans.costs import LearnedCost, segment_features

    names = {"item": "words", "answer": "confidence", "seconds": "seconds"}
    log = read_answers(path, names, needs=("item", "answer"), normalize=False)
    try:
        words = np.array([float(name) for name in log.items])[log.item]
        sure = np.array([float(name) for name in log.answers])[log.answer]
    except ValueError:
        raise DataError(f"{path}: the columns words, confidence and seconds hold numbers") from None
    if not (words >= 1).all() or not ((sure >= 0) & (sure <= 1)).all():
        raise DataError(f"{path}: words are at least 1, and confidences between 0 and 1")
    return LearnedCost.fit(segment_features(words, sure), log.seconds, method)


def _tell(planner: Planner, work: WorkList, docs: list[Doc], out: Path | None, as_json: bool) -> None:
    what_if = planner.what_if()
    figures: dict[str, Any] = {
        "words": len(planner.doubts), "expected errors": round(planner.total, 2), "spans": len(work.work),
        "words to check": sum(each.end - each.start for each in work.work), "minutes": round(work.seconds / 60, 2),
        "errors removed": round(work.errors, 2), "gap": round(work.gap, 4),
    }  # fmt: skip
    if as_json:
        print_json({**figures, "what if": [{"share": share, "minutes": seconds / 60} for share, seconds in what_if]})
        return
    print_table("Plan", ["", ""], [(name, f"{value:,}") for name, value in figures.items()], figures=[1])
    rows = [(f"{100 * share:.0f} %", f"{seconds / 60:,.1f}") for share, seconds in what_if]
    print_table("What if", ["errors removed", "minutes"], rows, figures=[0, 1])
    if out is not None:
        print(f"wrote {short_path(out)}")
