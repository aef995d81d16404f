"""`weft train pipeline`: train, score and write the components of a configuration, or all a treebank annotates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli.common import (
    DATA,
    MODEL,
    RUNNING,
    DevFile,
    JsonFlag,
    Licence,
    ModelName,
    Seed,
    TestFile,
    Workers,
    option,
    plain,
    print_json,
    print_table,
    short_path,
)
from weft.errors import ConfigError

if TYPE_CHECKING:
    from weft.pipeline.pipeline import Pipeline
    from weft.training.config import PipelineConfig

EXAMPLE = "weft train pipeline --train examples/story.conllu --out story.weft"
#: The scores to show in the table, if present; `--json` has all.
SHOWN = (
    "Words", "Sentences", "UPOS", "XPOS", "UFeats", "Lemmas", "UAS", "LAS", "chunks", "entities", "mwe",
    "struck out, F", "labelled", "senses", "arguments", "Smatch",
)  # fmt: skip
Files = list[Path] | None


def pipeline(
    config_file: Annotated[
        Path | None, typer.Argument(metavar="[CONFIG.toml]", help="Configuration of a pipeline; see `configs/`.")
    ] = None,
    train: Annotated[
        Files, option("--train", metavar="FILE", panel=DATA, help="Annotated file to train on; repeat.")
    ] = None,
    dev: DevFile = None,
    test: TestFile = None,
    out: Annotated[
        Path | None,
        option("--out", "-o", metavar="MODEL", panel=MODEL, help="Model file to write.", shown="the user's folder"),
    ] = None,
    name: ModelName = "",
    licence: Licence = "",
    language: Annotated[str, option("--language", panel=MODEL, help="Language of the model.", shown="not stated")] = "",
    limit: Annotated[
        int, option("--limit", metavar="N", panel=RUNNING, min=0, help="Sentences to take per corpus, for a trial.")
    ] = 0,
    results: Annotated[
        Path | None, option("--results", metavar="FILE", panel=RUNNING, help="Write the scores to this file (JSON).")
    ] = None,
    keep: Annotated[
        Path | None,
        option("--keep", metavar="FOLDER", panel=RUNNING, help="Keep finished components here, to resume from."),
    ] = None,
    seed: Seed = 0,
    workers: Workers = 1,
    as_json: JsonFlag = False,
) -> None:
    """Train a whole pipeline, score it and write it as one file.

    Without a configuration the pipeline has a segmenter, and a tagger, a lemmatizer, a parser and a recognizer of
    entities as far as the training files are annotated for them.
    """
    config = _config(config_file, train or [], dev, test, {"name": name, "language": language, "licence": licence}, out)
    target = _target(config, out)
    from weft.training import train_pipeline

    nlp, report = train_pipeline(
        config, seed=seed, workers=workers, limit=limit, keep=keep,
        say=lambda text: typer.echo(f"weft: {text}", err=True),
    )  # fmt: skip
    nlp.save(target, pack=True)
    report |= {"model": short_path(target).as_posix(), "bytes": target.stat().st_size}
    if results is not None:
        _write_results(results, nlp, report)
    if as_json:
        print_json(report)
    else:
        _show(config.name, report)


def _config(
    file: Path | None, train: list[Path], dev: Path | None, test: Path | None, card: dict[str, str], out: Path | None
) -> PipelineConfig:
    """The configuration of a file, or the default one for files of a treebank."""
    from weft.training.config import read_config
    from weft.training.defaults import default_config

    if file is not None and (train or dev or test or any(card.values())):
        raise ConfigError(f"{file} already defines data and model; leave out these options, or the file")
    if file is not None:
        return read_config(file)
    if not train:
        raise ConfigError("give a configuration file, or annotated files to train on: --train FILE")
    if out is None:
        raise ConfigError("give the model file to write: --out MODEL")
    chosen = {key: value for key, value in card.items() if value}
    return default_config(train, [dev] if dev else [], [test] if test else [], **{"name": out.stem, **chosen})


def _target(config: PipelineConfig, out: Path | None) -> Path:
    """The model file to write; it must be writable."""
    from weft.pipeline import models
    from weft.pipeline.registry import check_place

    target = out or models.user_folder() / f"{config.name}{models.SUFFIX}"
    check_place(target)
    return target


def _write_results(path: Path, nlp: Pipeline, report: dict[str, Any]) -> None:
    from weft.recipes import record

    path.parent.mkdir(parents=True, exist_ok=True)
    about = {"machine": record.machine(), "commit": record.commit(), "date": record.now()}
    kept = {name: value for name, value in report.items() if name != "model"}
    text = json.dumps({"card": nlp.card, **kept, **about}, indent=1, ensure_ascii=False, default=plain)
    path.write_text(f"{text}\n", encoding="utf-8")


def _show(name: str, report: dict[str, Any]) -> None:
    parts = [
        [row["task"], f"{row['words']:,}", f"{row['bytes'] / 1e6:.1f}", _seconds(row)] for row in report["components"]
    ]
    print_table(f"Trained {name}", ["component", "words", "MB", "CPU s"], parts, figures=[1, 2, 3])
    shown = [name for name in SHOWN if any(name in row["scores"] for row in report["tests"])]
    rows = [
        [row["set"], row["from"], *(f"{row['scores'][name]:.2f}" if name in row["scores"] else "" for name in shown)]
        for row in report["tests"]
    ]
    if rows:
        print_table("Scores (F1)", ["set", "from", *shown], rows, figures=range(2, len(shown) + 2))
    typer.echo(f"model of {report['bytes'] / 1e6:.1f} MB written to {report['model']}", err=True)


def _seconds(row: dict[str, Any]) -> str:
    return "" if row["cpu_seconds"] is None else f"{row['cpu_seconds']:,.0f}"
