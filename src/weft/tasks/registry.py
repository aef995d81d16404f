"""The tasks this version of Weft knows: their names on the command line and in model files."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.errors import ConfigError, ModelError

if TYPE_CHECKING:
    from weft.pipeline import Component
    from weft.text.corpus import Corpus

#: Name of a task: the module and class of its component, and what it does in a few words.
TASKS: dict[str, tuple[str, str]] = {
    "tagger": ("weft.tasks.tag:Tagger", "part-of-speech tags, or any other column of words"),
    "chunker": ("weft.tasks.chunk:Chunker", "chunks, entities, or any other layer of flat spans"),
}


def component_class(task: str) -> type[Component]:
    """The class of a task's component."""
    if task not in TASKS:
        raise ModelError(f"this version of Weft does not know the task {task!r}; it knows: {', '.join(TASKS)}")
    module, name = TASKS[task][0].split(":")
    found: type[Component] = getattr(import_module(module), name)
    return found


def train(task: str, train: Corpus, dev: Corpus | None, out: Path | None, options: dict[str, Any]) -> dict[str, Any]:
    """Train a component and save it as a pipeline of one; the result tells scores, sizes and times.

    `options` are the fields of the component's settings; an unknown one is an error that names the known ones.
    """
    from weft.pipeline import Pipeline

    if task not in TASKS:
        raise ConfigError(f"unknown task {task!r}; the tasks are: {', '.join(TASKS)}")
    component: Any = component_class(task).of_options(options)  # type: ignore[attr-defined]
    report: dict[str, Any] = component.fit(train, dev)
    if out is not None:
        card = {"name": Path(out).stem, "scores": report.get("scores", {}), "training": report.get("training", {})}
        Pipeline([component], card).save(out)
        report["model"] = str(out)
        report["bytes"] = Path(out).stat().st_size
    return report
