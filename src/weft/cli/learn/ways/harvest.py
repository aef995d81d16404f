"""`weft train metaphor --harvest TEXT...`: knowledge from any amount of text, annotated on the way."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.cli.inputs import show_left_out
from weft.cli.learn.training import Training
from weft.errors import ConfigError

if TYPE_CHECKING:
    from weft.lexical.harvest.harvest import Harvest


def train(training: Training) -> None:
    """Harvest texts and counts of earlier harvests, and save what they know."""
    from weft.lexical.harvest.harvest import Harvest
    from weft.pipeline.component import Stopwatch
    from weft.pipeline.registry import check_place, keep, new_component

    texts = [*training.files, *(training.data["harvest"] or [])]
    earlier: list[Path] = training.data["counts"] or []
    if not texts and not earlier:
        raise ConfigError("give text to harvest, --harvest TEXT, or the counts of an earlier harvest, --counts FOLDER")
    watch = Stopwatch()
    check_place(training.out)
    component: Any = new_component(training.task, training.options, training.method)
    most = component.settings.most
    harvest = _harvested(training, texts, component) if texts else Harvest(most)
    try:
        for folder in earlier:
            part = Harvest.load(folder, most)
            harvest.merge(part)
            part.close()
        if training.data["save_counts"] is not None:
            harvest.save(training.data["save_counts"])
        report = component.learn(harvest, watch)
    finally:
        harvest.close()
    keep(component, report, training.out, **training.card([*texts, *earlier]))
    training.show(report)


def _harvested(training: Training, texts: list[Path], component: Any) -> Harvest:
    from weft.formats import Report
    from weft.progress import progress
    from weft.scale.harvest import HarvestJob, harvest_files

    reading, report = training.reading, Report()
    models = tuple(training.data["model"] or ["en"])
    job = HarvestJob(models, reading.format, tuple(sorted(reading.options().items())), reading.skip_bad)
    with progress("harvesting", None, unit="B") as bar:
        done = 0

        def watch(reached: int, total: int) -> None:
            nonlocal done
            bar.advance(reached - done)
            done = reached
            bar.note(f"{100 * reached / max(total, 1):.0f} %")

        harvest = harvest_files(
            texts, job, most=component.settings.most, workers=component.settings.workers,
            scheduler=training.data["scheduler"], report=report, watch=watch,
        )  # fmt: skip
    show_left_out(report)
    return harvest
