"""`weft train pipeline CONFIG.toml`: train, score and write all components that a configuration names."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from weft.cli.common import plain, print_json, print_table, short_path
from weft.errors import ConfigError

#: The scores that the table shows, as far as there are any; `--json` has all.
SHOWN = (
    "Words", "Sentences", "UPOS", "XPOS", "UFeats", "Lemmas", "UAS", "LAS", "chunks", "entities", "mwe",
    "struck out, F",
)  # fmt: skip


def train_from_config(
    files: Sequence[Path],
    out: Path | None,
    results: Path | None,
    keep: Path | None,
    *,
    limit: int,
    seed: int,
    workers: int,
    as_json: bool,
) -> None:
    """Train the pipeline of a configuration file; the model goes to the user's folder unless `out` says where."""
    from weft.pipeline import models
    from weft.pipeline.registry import check_place
    from weft.recipes import record
    from weft.training import read_config, train_pipeline

    if len(files) != 1:
        raise ConfigError(f"a pipeline is trained from one configuration file, got {len(files)}")
    config = read_config(files[0])
    target = out or models.user_folder() / f"{config.name}{models.SUFFIX}"
    check_place(target)
    nlp, report = train_pipeline(
        config,
        seed=seed,
        workers=workers,
        limit=limit,
        keep=keep,
        say=lambda text: typer.echo(f"weft: {text}", err=True),
    )
    nlp.save(target, pack=True)
    report |= {"model": short_path(target).as_posix(), "bytes": target.stat().st_size}
    if results is not None:
        results.parent.mkdir(parents=True, exist_ok=True)
        about = {"machine": record.machine(), "commit": record.commit(), "date": record.now()}
        kept = {name: value for name, value in report.items() if name != "model"}
        text = json.dumps({"card": nlp.card, **kept, **about}, indent=1, ensure_ascii=False, default=plain)
        results.write_text(f"{text}\n", encoding="utf-8")
    if as_json:
        print_json(report)
        return
    parts = [
        [row["task"], f"{row['words']:,}", f"{row['bytes'] / 1e6:.1f}", _seconds(row)] for row in report["components"]
    ]
    print_table(f"Trained {config.name}", ["component", "words", "MB", "CPU s"], parts, figures=[1, 2, 3])
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
