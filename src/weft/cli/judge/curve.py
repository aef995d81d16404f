"""`weft curve ner`: how much would have to be annotated to do as well as a model without, or as transfer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from weft.cli.common import JsonFlag, Seed, print_json, settings
from weft.cli.inputs import Encoding, Fields, FromFormat, Inputs, SkipBad, open_inputs, report_bad
from weft.cli.learn.train_names import transfer_settings
from weft.errors import ConfigError

SENTENCES = "50,100,200,400,800,1600,3200"
SIZES = "0,125,250,500,1000,2000,4000,8000,16000,32000,64000,128000"


def curve(
    task: Annotated[str, typer.Argument(metavar="TASK", help="What is learnt: ner.")],
    labelled: Annotated[list[Path], typer.Option("--labelled", metavar="FILE", help="Labelled sentences of it.")],
    test: Annotated[list[Path], typer.Option("--test", metavar="FILE", help="Labelled sentences to score on.")],
    sources: Annotated[
        str | None, typer.Option("--sources", metavar="CODE=FILE,...", help="Names in other languages.")
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", metavar="CODE=FILE", help="Text of the language to learn.")
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", metavar="MODEL", help="A model to reach, in the place of the two.")
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            "--sizes",
            metavar="N,N...",
            help="Numbers of labelled words; with --model, of sentences.",
            show_default=f"{SIZES}; with --model {SENTENCES}",
        ),
    ] = None,
    seeds: Annotated[int, typer.Option("--seeds", help="Samples of every size.", min=1)] = 1,
    self_train: Annotated[int, typer.Option("--self-train", metavar="ROUNDS", min=0, help="Of self-training.")] = 5,
    clusters: Annotated[
        str | None, typer.Option("--clusters", metavar="FILE", help="Clusters that the languages share.")
    ] = None,
    native_clusters: Annotated[
        Path | None, typer.Option("--native-clusters", metavar="FILE", help="Clusters of the language alone.")
    ] = None,
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
    """Score five systems by the number of labelled words: labels alone, and with one or all other languages, plain or
    self-trained; and tell how many words the labels alone need to reach transfer. With --model: how many labelled
    sentences ordinary training needs to reach a model."""
    from weft.tasks.entities.transfer import languages_of
    from weft.tasks.entities.transfer_curve import transfer_curve
    from weft.tasks.entities.transfer_data import TransferData, TransferSettings

    own, held_out = (open_inputs(files, from_format, skip_bad, fields, encoding) for files in (labelled, test))
    steps = _numbers(sizes or (SIZES if model is None else SENTENCES))
    if model is not None:
        if task != "ner" or sources or target:
            raise ConfigError("--model is for the task ner, without --sources and --target")
        _print(_worth(model, own, held_out, steps, range(seed, seed + seeds)), as_json)
        return
    if sources is None or target is None:
        raise ConfigError("give --sources and --target for transfer from other languages, or --model for a model")
    options: dict[str, Any] = {"seed": seed, **settings(setting or [])}
    options |= transfer_settings(task, sources, target, self_train, None, fields)
    options |= {"clusters": clusters or "", "native_clusters": "" if native_clusters is None else str(native_clusters)}
    chosen = TransferSettings.from_options(options)
    data = TransferData(chosen, languages_of(chosen, list(own.docs)))
    found = transfer_curve(data, list(held_out.docs), steps, range(seed, seed + seeds))
    for inputs in (own, held_out):
        report_bad(inputs)
    _print(found, as_json)


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
        raise ConfigError(f"--sizes is a list of numbers, as 0,500,2000; got {sizes!r}") from None
