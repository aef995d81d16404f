"""`weft train ner --sources en=FILE,es=FILE --target de=TEXT`: names learnt from other languages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from weft.cli.common import print_table
from weft.errors import ConfigError


def transfer_settings(
    task: str,
    sources: str | None,
    target: str | None,
    rounds: int | None,
    labelled: Sequence[Path] | None,
    fields: str | None,
) -> dict[str, Any]:
    """The settings of a recognizer that learns from other languages; none where none are given."""
    if sources is None:
        for option, value in {"--self-train": rounds, "--labelled": labelled}.items():
            if value is not None:
                raise ConfigError(f"{option} is for learning names from other languages: give --sources, too")
        return {}
    if task != "ner":
        raise ConfigError(
            f"--sources is for the task ner, not {task}; a parser learns from other languages by --transfer"
        )
    if target is None:
        raise ConfigError("--sources needs text of the language to learn: --target CODE=FILE")
    found: dict[str, Any] = {"sources": read_pairs("--sources", sources), "target": target}
    if rounds is not None:
        found["rounds"] = rounds
    if fields is not None:
        found["columns"] = fields
    return found


def read_pairs(option: str, text: str) -> dict[str, str]:
    """Files by language.

    >>> read_pairs("--sources", "en=a.conll,es=b.conll")
    {'en': 'a.conll', 'es': 'b.conll'}
    """
    pairs = [item.partition("=") for item in text.split(",") if item]
    if not pairs or not all(code and sign and file for code, sign, file in pairs):
        raise ConfigError(f"{option} is written CODE=FILE,CODE=FILE, as en=en.conll,es=es.conll; got {text!r}")
    codes = [code for code, _, _ in pairs]
    if len(set(codes)) < len(codes):
        raise ConfigError(f"{option} names a language twice; put its files together: {', '.join(codes)}")
    return {code: file for code, _, file in pairs}


def show_transfer(report: dict[str, Any]) -> None:
    """Print what training on other languages says: figures, rounds, the types of names, how sure it is."""
    from weft.cli.learn.train import flat
    from weft.evaluate.labels.weak_report import WeakReport

    kept: dict[str, Any] = {name: report[name] for name in ("training", "model", "bytes") if name in report}
    print_table("Trained ner", ["", ""], flat(kept), figures=[1])
    if report["rounds"]:
        rows = [
            [
                str(told["number"]), f"{told['confident']:,}", f"{told['chosen']:,}", f"{told['probability']:.3f}",
                "" if told["changed"] is None else f"{100 * told['changed']:.1f} %",
            ]
            for told in report["rounds"]
        ]  # fmt: skip
        print_table("Rounds", ["round", "sure", "learnt from", "probability", "changed"], rows, figures=range(5))
    types = report["types"]
    rows = [
        [code, *(f"{counts[label]:,}" for label in types["types"]), _named(types["dropped"][code]),
         f"{types['lost_boundaries'][code]:,}"]
        for code, counts in types["kept"].items()
    ]  # fmt: skip
    print_table("Names", ["language", *types["types"], "left out", "boundaries lost"], rows)
    for name, share in report["clusters"].items():
        typer.echo(f"target words in a {name} cluster: {100 * share:.1f} %")
    if "target" in report:
        typer.echo(f"On the target text:\n{WeakReport.from_dict(report['target'])}")


def _named(counts: dict[str, int]) -> str:
    return ", ".join(f"{label} {count:,}" for label, count in counts.items()) or "none"
