"""Methods of `weft train` that transfer from other languages, using their labelled data or a bitext."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from weft.cli.common import flat, print_json, print_table
from weft.cli.learn.training import Training
from weft.errors import ConfigError


def train_parser(training: Training) -> None:
    """Train a parser for a language without a treebank on the treebanks of others."""
    options = training.options
    if training.files:
        raise ConfigError(f"--sources gives all training files; leave out {', '.join(map(str, training.files))}")
    if not options.get("sources"):
        raise ConfigError("--method transfer needs treebanks of other languages: --sources CODE=FILE,...")
    if not options.get("target"):
        raise ConfigError("give the language to parse: --target CODE=FILE, or CODE alone")
    training.show(_fitted(training, list(options["sources"].values())))


def train_on_bitext(training: Training) -> None:
    """Train entities on a bitext and a model of its other language."""
    bitext = training.data["bitext"]
    if bitext is None:
        raise ConfigError("--method bitext needs sentences and their translations: --bitext SOURCE TARGET")
    for name, what in (
        ("links", "its word links, as `weft align` writes them: --links"),
        ("source_model", "a model that recognizes entities in its source: --source-model"),
    ):
        if not training.options.get(name):
            raise ConfigError(f"--bitext needs {what}")
    source, target = map(str, bitext)
    training.options |= {"source_text": source, "target_text": target}
    training.show(_fitted(training, [source, target]))


def train_names(training: Training) -> None:
    """Train entities on annotated text of other languages and text of the target language."""
    options = training.options
    if not options.get("sources"):
        raise ConfigError("--method transfer needs annotated files of other languages: --sources CODE=FILE,...")
    if not options.get("target"):
        raise ConfigError("--sources needs text of the target language: --target CODE=FILE")
    if training.reading.fields is not None:
        options["columns"] = training.reading.fields
    report = _fitted(training, list(options["sources"].values()))
    if training.as_json:
        print_json(report)
    else:
        _show_names(report)


def _fitted(training: Training, others: Sequence[str]) -> dict[str, Any]:
    """Train on labelled files, if there are any, in addition to the files in the settings."""
    from weft.text.corpus import Corpus

    inputs = training.reading.open(training.files) if training.files else None
    docs = Corpus([]) if inputs is None else inputs.docs
    return training.fit(docs, training.open_dev(), [*training.files, *map(Path, others)], [inputs])


def _show_names(report: dict[str, Any]) -> None:
    """Print the report of training on other languages: self-training, entity types, clusters, confidence."""
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
        print_table(
            "Self-training", ["iteration", "confident", "learned from", "probability", "changed"], rows, range(5)
        )
    types = report["types"]
    rows = [
        [code, *(f"{counts[label]:,}" for label in types["types"]), _named(types["dropped"][code]),
         f"{types['lost_boundaries'][code]:,}"]
        for code, counts in types["kept"].items()
    ]  # fmt: skip
    print_table("Entities", ["language", *types["types"], "left out", "boundaries lost"], rows)
    for name, share in report["clusters"].items():
        typer.echo(f"target words in a {name} cluster: {100 * share:.1f} %")
    if "target" in report:
        typer.echo(f"On the target text:\n{WeakReport.from_dict(report['target'])}")


def _named(counts: dict[str, int]) -> str:
    return ", ".join(f"{label} {count:,}" for label, count in counts.items()) or "none"
