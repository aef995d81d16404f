"""`weft train tagger --method flors|scl|graph`: taggers adapted to another domain using its raw text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from weft.cli.common import flat, print_json, print_table
from weft.cli.inputs import Inputs, Reading, report_bad, split_words
from weft.cli.learn.training import Training
from weft.errors import ConfigError

if TYPE_CHECKING:
    from weft.evaluate.domains.tag_shift import DomainReport
    from weft.text import Doc


def train(training: Training) -> None:
    """Train on tagged text of one domain and raw text of another."""
    from weft.pipeline.registry import check_place, keep, new_component

    raw, source_raw, test = (training.data[name] for name in ("raw", "source_raw", "test"))
    if not raw:
        raise ConfigError(f"--method {training.method} adapts to another domain: give its raw text, --raw FILE")
    check_place(training.out)
    component: Any = new_component(training.task, training.options, training.method)
    opened = _opened(training, raw, source_raw or [], test)
    texts = {name: list(split_words(opened[name].docs)) if name in opened else [] for name in ("raw", "source_raw")}
    labelled = list(opened["files"].docs)
    dev = list(opened["dev"].docs) if training.dev is not None else None
    report: dict[str, Any] = component.adapt(labelled, texts["raw"], texts["source_raw"], dev)
    keep(component, report, training.out, **training.card([*training.files, *raw, *(source_raw or [])]))
    tested = _test(component, labelled, list(opened["test"].docs)) if test is not None else None
    for inputs in opened.values():
        report_bad(inputs)
    if training.as_json:
        print_json(report | ({} if tested is None else {"test": tested.as_dict()}))
        return
    print_table(f"Trained tagger ({training.method})", ["", ""], flat(report), figures=[1])
    if tested is not None:
        typer.echo(f"\n{tested}")


def _opened(training: Training, raw: list[Path], source_raw: list[Path], test: Path | None) -> dict[str, Inputs]:
    """The files by their role; `--from` is the format of labelled files."""
    of_text = Reading(None, *training.reading[1:])
    files = {
        "files": (training.files, training.reading),
        "dev": ([training.dev] if training.dev else [], training.reading),
        "test": ([test] if test else [], training.reading),
        "raw": (raw, of_text),
        "source_raw": (source_raw, of_text),
    }
    return {name: reading.open(paths) for name, (paths, reading) in files.items() if paths}


def _test(component: Any, source: list[Doc], gold: list[Doc]) -> DomainReport:
    """Tag documents again and compare with gold tags."""
    from weft.evaluate.domains.tag_shift import evaluate_domain
    from weft.training.scores import bare

    system = [bare(doc) for doc in gold]
    component(system)
    return evaluate_domain(source, gold, system, component.settings.column)
