"""A training run as given on the command line: files, settings, the header of the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.cli.common import print_report
from weft.cli.generated import READ
from weft.cli.inputs import Inputs, Reading, report_bad, split_labelled

if TYPE_CHECKING:
    from weft.text import Corpus


@dataclass
class Training:
    """A run of `weft train TASK`: `options` are settings, `data` are the other options of its method."""

    task: str
    method: str
    files: list[Path]
    dev: Path | None
    out: Path  #: None only in a cross-validation without a model
    options: dict[str, Any]
    data: dict[str, Any]
    reading: Reading
    name: str
    corpora: list[str]
    licence: str
    as_json: bool
    folds: int | None = None  #: of a cross-validation

    @classmethod
    def of(
        cls, task: str, method: str, values: dict[str, Any], options: dict[str, Any], data: dict[str, Any]
    ) -> Training:
        """Create a training run from the values of a command."""
        reading = Reading(*(values[name] for name in READ))
        return cls(
            task, method, values["files"] or [], values.get("dev"), values["out"], options, data, reading,
            values["name"], values["corpus"] or [], values["licence"], values["as_json"], values.get("folds"),
        )  # fmt: skip

    def card(self, files: Sequence[Path | str]) -> dict[str, Any]:
        """The contents of the model's header; corpora are the files unless others are given."""
        return {
            "name": self.name,
            "corpora": self.corpora or [corpus_name(Path(file)) for file in files],
            "licence": self.licence,
        }

    def fit(
        self, docs: Corpus, dev: Inputs | None, files: Sequence[Path | str], read: Sequence[Inputs | None]
    ) -> dict[str, Any]:
        """Train a component on documents, save it, and report what could not be read."""
        from weft.pipeline.registry import train

        held_out = None if dev is None else split_labelled(dev.docs)
        report = train(self.task, docs, held_out, self.out, self.options, method=self.method, **self.card(files))
        for inputs in (*read, dev):
            if inputs is not None:
                report_bad(inputs)
        return report

    def open_dev(self) -> Inputs | None:
        """The file of `--dev`, if there is one."""
        return None if self.dev is None else self.reading.open([self.dev])

    def show(self, report: dict[str, Any]) -> None:
        """Print the report of the training."""
        print_report(f"Trained {self.task}", report, self.as_json)


def corpus_name(path: Path) -> str:
    """The name of a training file in a model's header, without its folder, which is private to the trainer."""
    return "standard input" if str(path) == "-" else path.name or path.resolve().name
