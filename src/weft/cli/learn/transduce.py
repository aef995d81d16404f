"""`weft transduce TASK LABELLED UNLABELLED --out FILE`: label a fixed set of sentences together with a few labelled."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from weft.cli.common import JsonFlag, Seed, counted, print_json, settings
from weft.cli.inputs import Encoding, Fields, FromFormat, SkipBad, open_inputs, report_bad
from weft.errors import ConfigError

#: Tasks that can be labelled together, and what they are told where `--set` says nothing else.
PLAIN: dict[str, dict[str, Any]] = {
    "tagger": {"learner": "crf", "column": "upos", "dictionary": 0, "min_count": 1, "precision": "float32", "prune": 0},
    "chunker": {"learner": "crf"},
}


def transduce(
    task: Annotated[str, typer.Argument(metavar="TASK", help="What the labels are: tagger or chunker.")],
    labelled: Annotated[Path, typer.Argument(metavar="LABELLED", help="A few labelled sentences.")],
    unlabelled: Annotated[Path, typer.Argument(metavar="UNLABELLED", help="The sentences to label, all of them.")],
    out: Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="Where they go; format by the suffix.")],
    beta: Annotated[
        str, typer.Option("--beta", metavar="NUMBER", help="Weight of the labeller; auto: by held-out sentences.")
    ] = "auto",
    neighbours: Annotated[int, typer.Option("--neighbours", help="Parts that each part is tied to.", min=0)] = 5,
    components: Annotated[
        int, typer.Option("--components", help="Dimensions that distances are measured in; 0: all.", min=0)
    ] = 100,
    ties: Annotated[str, typer.Option("--ties", help="Weight of a tie: unit or gaussian.")] = "unit",
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A setting of the task; may be given several times."),
    ] = None,
    from_format: FromFormat = None,
    fields: Fields = None,
    encoding: Encoding = "utf-8",
    skip_bad: SkipBad = False,
    seed: Seed = 0,
    as_json: JsonFlag = False,
) -> None:
    """Label sentences together with a few labelled ones: words in like surroundings get like labels.

    A CRF learns from the labelled sentences; pairs of neighbouring words are tied to those most like them, labelled or
    not; the labels are those that pay least for leaving the CRF and for cutting ties. Nothing is kept for other
    sentences: for that, train a model.
    """
    from weft.formats import write
    from weft.pipeline.registry import new_component
    from weft.tasks.labelling.transduce import TogetherSettings, choose_beta, label_together

    if task not in PLAIN:
        raise ConfigError(f"labels are found together for the tasks {' and '.join(PLAIN)}; got {task!r}")
    weight = None if beta == "auto" else _number(beta)
    options = {**PLAIN[task], "seed": seed, **settings(setting or [])}
    given, wanted = (open_inputs([path], from_format, skip_bad, fields, encoding) for path in (labelled, unlabelled))
    known, docs = list(given.docs), list(wanted.docs)

    def train(some: Any) -> Any:
        labeller = new_component(task, options)
        labeller.fit(some)
        return labeller

    chosen = TogetherSettings(neighbours=neighbours, components=components, ties=ties)
    chosen.beta = choose_beta(train, known, settings=chosen)[0] if weight is None else weight
    found = label_together(train(known), known, docs, chosen)
    write(docs, out, "conllu" if out == "-" else None)
    for inputs in (given, wanted):
        report_bad(inputs)
    if found.collapsed is not None:
        typer.echo(
            f"weft: the label {found.collapsed} has swallowed the others: the neighbours say too little here; "
            "raise --beta, or label more sentences",
            err=True,
        )
    if as_json:
        print_json({"beta": chosen.beta, **found.report()})
        return
    report = found.report()
    typer.echo(
        f"{counted(len(found.labels), 'word')} labelled, beta {chosen.beta:g}; {counted(found.ties, 'tie')}; "
        f"at most {100 * max(0.0, report['gap']):.3f} % above the least cost",
        err=True,
    )


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise ConfigError(f"--beta is auto or a number of 0 and above, got {text!r}")
    return value
