"""`weft annotate FILE --together LABELLED`: label a fixed set of sentences together with a few labelled ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from weft.cli.common import counted, print_json
from weft.cli.inputs import Reading, report_bad
from weft.errors import ConfigError

if TYPE_CHECKING:
    from weft.cli.apply.annotate import Output

#: Tasks that can be labelled together, and their settings.
PLAIN: dict[str, dict[str, Any]] = {
    "tagger": {"learner": "crf", "column": "upos", "dictionary": 0, "min_count": 1, "precision": "float32", "prune": 0},
    "chunker": {"learner": "crf"},
}


class Ties(NamedTuple):
    """Options for the ties between sentences."""

    beta: str
    neighbours: int
    components: int
    ties: str


def label_files(
    files: Sequence[Path], labelled: Path, task: str, ties: Ties, seed: int, reading: Reading, output: Output
) -> None:
    """Label sentences together with a few labelled ones: words in similar contexts get similar labels.

    A CRF is trained on the labelled sentences, and pairs of neighbouring words are tied to the most similar pairs,
    labelled or not. The result is the labelling of lowest cost, where disagreeing with the CRF and cutting ties both
    cost. No model is saved for other sentences: for that, train one.
    """
    from weft.formats import write
    from weft.pipeline.registry import new_component
    from weft.tasks.labelling.transduce import TogetherSettings, choose_beta, label_together

    if task not in PLAIN:
        raise ConfigError(f"--together supports the tasks {' and '.join(PLAIN)}, got {task!r}")
    weight = None if ties.beta == "auto" else _number(ties.beta)
    given, wanted = reading.open([labelled]), reading.open(files)
    known, docs = list(given.docs), list(wanted.docs)

    def train(some: Any) -> Any:
        labeller = new_component(task, {**PLAIN[task], "seed": seed})
        labeller.fit(some)
        return labeller

    chosen = TogetherSettings(neighbours=ties.neighbours, components=ties.components, ties=ties.ties)
    chosen.beta = choose_beta(train, known, settings=chosen)[0] if weight is None else weight
    found = label_together(train(known), known, docs, chosen)
    out = output.path or "-"
    write(docs, out, output.format or ("conllu" if out == "-" else None))
    for inputs in (given, wanted):
        report_bad(inputs)
    _tell(found, chosen.beta, output.as_json)


def _tell(found: Any, beta: float, as_json: bool) -> None:
    """Print what was labelled, and the optimality gap of the search."""
    report = found.report()
    if found.collapsed is not None:
        typer.echo(
            f"weft: the label {found.collapsed} has replaced all others: the neighbours are not informative here; "
            "raise --beta, or label more sentences",
            err=True,
        )
    if as_json:
        print_json({"beta": beta, **report})
        return
    typer.echo(
        f"{counted(len(found.labels), 'word')} labelled, beta {beta:g}; {counted(found.ties, 'tie')}; "
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
