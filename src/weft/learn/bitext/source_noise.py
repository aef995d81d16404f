"""What a noisy labeller's answers say about the truth.

With C[y*, y] how often held-out words of the label y* were labelled y (rows truth, columns answers):

    P(y* | y) = C[y*, y] / sum over z of C[z, y]                (columns sum to 1)
    p(y* | x) = sum over y of P(y* | y) p(y | x)

where p(y | x) are the labeller's probabilities. Normalizing the rows instead would give P(y | y*), how the labeller
errs, which is another question. A label that was never answered is taken at its word.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Floats
from weft.errors import DataError


@dataclass(frozen=True, eq=False)
class Confusion:
    """Counts of a labeller's answers, `counts[truth, answer]`.

    >>> confusion = Confusion(["LOC", "O"], [[8, 1], [2, 19]])
    >>> confusion.truth_given_answer().tolist()
    [[0.8, 0.05], [0.2, 0.95]]
    >>> confusion.correct([[1.0, 0.0], [0.5, 0.5]]).round(3).tolist()
    [[0.8, 0.2], [0.425, 0.575]]
    """

    labels: Sequence[str]
    counts: Any

    def __post_init__(self) -> None:
        counts = np.asarray(self.counts, dtype=np.float64)
        size = len(self.labels)
        if counts.shape != (size, size) or len(set(self.labels)) != size:
            raise DataError(
                f"a table of confusions has one row and one column for each of its labels, which differ; given: "
                f"{size} labels and a table of the shape {counts.shape}"
            )
        if not np.isfinite(counts).all() or (counts < 0).any():
            raise DataError("a table of confusions holds counts of at least 0")
        object.__setattr__(self, "counts", counts)
        object.__setattr__(self, "labels", tuple(self.labels))

    @classmethod
    def from_labels(
        cls, truth: Sequence[str], answers: Sequence[str], labels: Sequence[str] | None = None
    ) -> Confusion:
        """Count the answers for words whose labels are known.

        >>> Confusion.from_labels(["O", "LOC", "LOC"], ["O", "LOC", "O"]).counts.tolist()
        [[1.0, 1.0], [0.0, 1.0]]
        """
        if len(truth) != len(answers):
            raise DataError(f"there are {len(truth)} true labels but {len(answers)} answers")
        names = sorted({*truth, *answers}) if labels is None else list(labels)
        number = {label: i for i, label in enumerate(names)}
        unknown = sorted({*truth, *answers} - number.keys())
        if unknown:
            raise DataError(f"the table of confusions has no label {unknown[0]!r}; it has: {', '.join(names)}")
        counts = np.zeros((len(names), len(names)))
        np.add.at(counts, ([number[label] for label in truth], [number[label] for label in answers]), 1.0)
        return cls(names, counts)

    def truth_given_answer(self) -> Floats:
        """P(truth | answer) as `[truth, answer]`."""
        totals = self.counts.sum(axis=0)
        table: Floats = np.where(totals > 0, self.counts / np.where(totals > 0, totals, 1.0), np.eye(len(totals)))
        return table

    def correct(self, posteriors: ArrayLike) -> Floats:
        """Probabilities of the truth, `[word, label]`, from those of the labeller's answers."""
        given = np.asarray(posteriors, dtype=np.float64)
        if given.ndim != 2 or given.shape[1] != len(self.labels):
            raise DataError(
                f"expected probabilities of the {len(self.labels)} labels {', '.join(self.labels)}; given: the shape "
                f"{given.shape}"
            )
        found: Floats = given @ self.truth_given_answer().T
        return found

    def over(self, labels: Sequence[str]) -> Confusion:
        """The same counts with rows and columns in the order of other labels; labels without counts have none."""
        missing = [label for label in self.labels if label not in labels]
        if missing:
            raise DataError(
                f"the table of confusions has the label {missing[0]!r}, which the labeller does not give; it gives: "
                f"{', '.join(labels)}"
            )
        counts = np.zeros((len(labels), len(labels)))
        at = [list(labels).index(label) for label in self.labels]
        counts[np.ix_(at, at)] = self.counts
        return Confusion(labels, counts)


def read_confusion(path: str | os.PathLike[str]) -> Confusion:
    """A table of confusions from a file: tabs between columns, the first line names the answers, every other line
    begins with the true label.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_confusion(Confusion(["LOC", "O"], [[8, 1], [2, 19]]), f"{folder}/confusion.tsv")
    ...     read_confusion(f"{folder}/confusion.tsv").counts.tolist()
    [[8.0, 1.0], [2.0, 19.0]]
    """
    from weft.formats.streams import read_text

    name = os.fspath(path)
    rows = [(i, line.split("\t")) for i, line in enumerate(read_text(name).splitlines(), 1) if line.strip()]
    if not rows:
        raise DataError(f"{name}: the file is empty, expected a table of confusions")
    answers = [label.strip() for label in rows[0][1][1:]]
    counts: dict[str, list[float]] = {}
    for number, (truth, *values) in rows[1:]:
        try:
            counts[truth.strip()] = [float(value) for value in values]
        except ValueError:
            raise DataError(f"{name}, line {number}: expected counts after the label {truth!r}, with tabs") from None
        if len(values) != len(answers):
            raise DataError(f"{name}, line {number}: expected {len(answers)} counts, found {len(values)}")
    if sorted(counts) != sorted(answers):
        raise DataError(
            f"{name}: the answers of the first line ({', '.join(answers)}) and the true labels of the others "
            f"({', '.join(counts)}) must be the same labels"
        )
    return Confusion(answers, np.array([counts[label] for label in answers]))


def write_confusion(confusion: Confusion, path: str | os.PathLike[str]) -> None:
    """Write a table that `read_confusion` reads."""
    from weft.formats.streams import open_output

    lines = ["\t".join(["", *confusion.labels])]
    lines += [
        "\t".join([label, *(f"{count:g}" for count in row)])
        for label, row in zip(confusion.labels, confusion.counts.tolist(), strict=True)
    ]
    with open_output(os.fspath(path)) as file:
        file.write(("\n".join(lines) + "\n").encode())
