"""`weft annotate FILE --together LABELLED`: label a fixed set of sentences together with a few labelled ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from weft.cli.apply.annotate import Files, Out, Output
from weft.cli.common import JsonFlag, counted, option, print_json
from weft.cli.config import word_of
from weft.cli.generated import with_settings
from weft.cli.inputs import Reading, ToFormat, report_bad
from weft.errors import ConfigError
from weft.pipeline.settings import Option

#: Tasks that can be labelled together; the settings of their labellers that differ from those of a trained model.
TASKS: dict[str, dict[str, Any]] = {
    "tagger": {"learner": "crf", "column": "upos", "dictionary": 0, "min_count": 1, "precision": "float32", "prune": 0},
    "chunker": {"learner": "crf"},
}
_PANEL = "Labelling together"

Together = Annotated[
    Path, option("--together", metavar="FILE", panel=_PANEL, help="A few labelled sentences.", show_default=False)
]
Task = Annotated[str, option("--task", metavar="tagger|chunker", panel=_PANEL, help="What the labels are.")]
Beta = Annotated[str, option("--beta", metavar="NUMBER", panel=_PANEL, help="Weight of the labeller; auto tunes it.")]
Neighbours = Annotated[
    int, option("--neighbours", panel=_PANEL, min=0, help="Nearest neighbours that each part is tied to.")
]
Components = Annotated[
    int, option("--components", panel=_PANEL, min=0, help="Principal components to measure distances in; 0: all.")
]
Ties = Annotated[str, option("--ties", metavar="unit|gaussian", panel=_PANEL, help="Weight of a tie.")]


def command(words: Sequence[str]) -> Callable[..., None]:
    """The command for the task that the arguments name; the settings of its labeller become options."""
    return with_settings(label_files, _options(word_of("--task", ["annotate"], words) or "tagger"))


def _options(task: str) -> list[Option]:
    """The settings of a task's labeller, with the defaults that hold here."""
    from weft.pipeline.registry import TASKS as REGISTERED

    if task not in TASKS:
        raise ConfigError(f"--together supports the tasks {' and '.join(TASKS)}, got {task!r}")
    settings = REGISTERED[task].methods["chain"].settings_class()
    return [each._replace(default=TASKS[task].get(each.name, each.default)) for each in settings.options()]


def label_files(
    files: Files,
    together: Together,
    settings: dict[str, Any],
    task: Task = "tagger",
    beta: Beta = "auto",
    neighbours: Neighbours = 5,
    components: Components = 100,
    ties: Ties = "unit",
    out: Out = None,
    to_format: ToFormat = None,
    reading: Reading = Reading(),
    as_json: JsonFlag = False,
) -> None:
    """Label sentences together with a few labelled ones: words in similar contexts get similar labels.

    A CRF is trained on the labelled sentences, and pairs of neighbouring words are tied to the most similar pairs,
    labelled or not. The result is the labelling of lowest cost, where disagreeing with the CRF and cutting ties both
    cost. No model is saved for other sentences: for that, train one.
    """
    from weft.formats import write
    from weft.pipeline.registry import new_component
    from weft.tasks.labelling.transduce import TogetherSettings, choose_beta, label_together

    weight = None if beta == "auto" else _number(beta)
    given, wanted = reading.open([together]), reading.open_unlabelled(files)
    known, docs = list(given.docs), list(wanted.docs)

    def train(some: Any) -> Any:
        labeller = new_component(task, {**TASKS[task], **settings})
        labeller.fit(some)
        return labeller

    chosen = TogetherSettings(neighbours=neighbours, components=components, ties=ties)
    chosen.check()
    chosen.beta = choose_beta(train, known, settings=chosen)[0] if weight is None else weight
    labelled = label_together(train(known), known, docs, chosen)
    output = Output(out, to_format, as_json)
    path = output.path or "-"
    write(docs, path, output.format or ("conllu" if path == "-" else None))
    for inputs in (given, wanted):
        report_bad(inputs)
    _tell(labelled, chosen.beta, as_json)


def _tell(labelled: Any, beta: float, as_json: bool) -> None:
    """Print what was labelled, and the optimality gap of the search."""
    report = labelled.report()
    if labelled.collapsed is not None:
        typer.echo(
            f"weft: the label {labelled.collapsed} has replaced all others: the neighbours are not informative here; "
            "raise --beta, or label more sentences",
            err=True,
        )
    if as_json:
        print_json({"beta": beta, **report})
        return
    typer.echo(
        f"{counted(len(labelled.labels), 'word')} labelled, beta {beta:g}; {counted(labelled.ties, 'tie')}; "
        f"at most {100 * max(0.0, report['gap']):.3f} % above the lowest cost",
        err=True,
    )


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise ConfigError(f"--beta must be auto or a number of at least 0, got {text!r}")
    return value
