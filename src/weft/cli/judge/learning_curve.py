"""`weft diagnose curve ner`: how much labelled data does as well as transfer from other languages, or as a model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from weft.cli.common import DATA, SETTINGS, JsonFlag, option, print_json
from weft.cli.inputs import Inputs, Reading, report_bad
from weft.errors import ConfigError

SENTENCES = "50,100,200,400,800,1600,3200"
SIZES = "0,125,250,500,1000,2000,4000,8000,16000,32000,64000,128000"


EXAMPLE = (
    "weft diagnose curve ner --sources en=en.conll,nl=nl.conll --target sv=sv.txt --labelled sv.conll --test test.conll"
)


def curve(
    task: Annotated[str, typer.Argument(metavar="TASK", help="Task to learn: ner.")],
    labelled: Annotated[
        list[Path],
        option("--labelled", metavar="FILE", panel=DATA, help="Labelled sentences of the target language; repeat."),
    ],
    test: Annotated[
        list[Path], option("--test", metavar="FILE", panel=DATA, help="Labelled data to score on; repeat.")
    ],
    model: Annotated[
        str | None, option("--model", "-m", metavar="MODEL", help="Model to compare with, instead of transfer.")
    ] = None,
    sizes: Annotated[
        str | None,
        option(
            "--sizes",
            metavar="N,N...",
            panel=SETTINGS,
            help="Numbers of labelled words; with --model, of sentences.",
            shown=f"{SIZES}; with --model {SENTENCES}",
        ),
    ] = None,
    samples: Annotated[int, option("--samples", help="Samples of every size.", min=1, panel=SETTINGS)] = 1,
    reading: Reading = Reading(),
    as_json: JsonFlag = False,
    settings: dict[str, Any] | None = None,
) -> None:
    """Score five systems by the number of labelled words: labels alone, and with one or all other languages, with
    and without self-training; and say how many labelled words reach the score of transfer. With --model, say how many
    labelled sentences reach the score of a model.
    """
    if task != "ner":
        raise ConfigError(f"learning curves support only the task ner, got {task}")
    chosen = dict(settings or {})
    seed = int(chosen.setdefault("seed", 0))
    steps, draws = _numbers(sizes or (SIZES if model is None else SENTENCES)), range(seed, seed + samples)
    if model is not None:
        if chosen.get("sources") or chosen.get("target"):
            raise ConfigError("--model replaces transfer as the comparison; leave out --sources and --target")
        _print(_worth(model, reading.open(labelled), reading.open(test), steps, draws), as_json)
        return
    if not chosen.get("sources") or not chosen.get("target"):
        raise ConfigError("give --sources and --target for transfer from other languages, or --model for a model")
    chosen["columns"] = reading.fields or ""
    _print(_transfer(chosen, reading.open(labelled), reading.open(test), steps, draws), as_json)


def _transfer(options: dict[str, Any], labelled: Inputs, test: Inputs, sizes: list[int], seeds: Sequence[int]) -> Any:
    from weft.tasks.entities.transfer import languages_of
    from weft.tasks.entities.transfer_curve import transfer_curve
    from weft.tasks.entities.transfer_data import TransferData, TransferSettings

    chosen = TransferSettings.from_options(options)
    data = TransferData(chosen, languages_of(chosen, list(labelled.docs)))
    found = transfer_curve(data, list(test.docs), sizes, seeds)
    for inputs in (labelled, test):
        report_bad(inputs)
    return found


def _worth(model: str, labelled: Inputs, test: Inputs, sizes: list[int], seeds: Sequence[int]) -> Any:
    from weft import load
    from weft.tasks.entities.model_worth import model_worth

    found = model_worth(load(model), list(labelled.docs), list(test.docs), sizes, seeds)
    for inputs in (labelled, test):
        report_bad(inputs)
    return found


def _print(found: Any, as_json: bool) -> None:
    if as_json:
        print_json(found.as_dict())
    else:
        typer.echo(str(found))


def _numbers(sizes: str) -> list[int]:
    try:
        return [int(size) for size in sizes.split(",")]
    except ValueError:
        raise ConfigError(f"--sizes must be a list of numbers such as 0,500,2000, got {sizes!r}") from None
