"""Answers of a crowd as columns: who said what to which item, in which assignment and language.

Texts are numbered once, so that ten million rows take 20 bytes each: `log.workers[log.worker[row]]` is the name of the
worker of a row. Answers are compared in a normalized form: without case, outer punctuation and repeated spaces.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from weft.arrays import Ids, Ints
from weft.errors import DataError, FormatError, did_you_mean, did_you_mean_file
from weft.packages import needed

#: Columns that a table of answers needs, and those it may have.
NEEDED = ("worker", "item", "answer")
OPTIONAL = ("assignment", "language", "country", "seconds")
FORMATS = {".csv": "csv", ".tsv": "csv", ".txt": "csv", ".jsonl": "json", ".ndjson": "json", ".parquet": "parquet"}
_SPACES = re.compile(r"\s+")
_EDGES = " \t\r\n.,;:!?\"'“”‘’()[]{}"


def normalized(answer: str) -> str:
    """An answer without case, outer punctuation and repeated spaces.

    >>> normalized("  The  Doctor. ")
    'the doctor'
    """
    return _SPACES.sub(" ", answer).strip(_EDGES).casefold()


@dataclass(frozen=True)
class Coded:
    """A column of texts as numbers of its distinct texts."""

    names: list[str]
    ids: Ids

    @classmethod
    def of(cls, values: Sequence[str]) -> Coded:
        """Number texts in the order of their first occurrence.

        >>> Coded.of(["b", "a", "b"])
        Coded(names=['b', 'a'], ids=array([0, 1, 0], dtype=int32))
        """
        numbers: dict[str, int] = {}
        ids = np.fromiter((numbers.setdefault(value, len(numbers)) for value in values), np.int32, len(values))
        return cls(list(numbers), ids)


@dataclass(frozen=True)
class AnswerLog:
    """A table of answers; see the module.

    >>> log = AnswerLog.of([("w1", "pani", "Water."), ("w2", "pani", "cannot")])
    >>> len(log), log.answers, log.languages
    (2, ['water', 'cannot'], [''])
    """

    workers: list[str]
    worker: Ids
    items: list[str]
    item: Ids
    answers: list[str]  #: normalized
    answer: Ids
    languages: list[str]
    language: Ids
    assignments: list[str]
    assignment: Ids
    countries: list[str]
    country: Ids
    seconds: Any = field(default=None)

    def __len__(self) -> int:
        return len(self.worker)

    @classmethod
    def of(cls, rows: Iterable[Sequence[str]], columns: Sequence[str] = NEEDED) -> AnswerLog:
        """A log of rows whose cells are named by `columns`; a row without assignment is one of its own per worker."""
        cells = list(zip(*rows, strict=True)) or [()] * len(columns)
        return cls.from_columns({name: Coded.of(list(values)) for name, values in zip(columns, cells, strict=True)})

    @classmethod
    def from_columns(cls, columns: Mapping[str, Coded], seconds: Any = None, normalize: bool = True) -> AnswerLog:
        """A log of numbered columns; answers are normalized, and those that become equal share a number."""
        n = len(columns["item"].ids)
        empty = Coded([""], np.zeros(n, dtype=np.int32))
        plain = Coded.of([normalized(name) if normalize else name for name in columns["answer"].names])
        worker, item = columns.get("worker", empty), columns["item"]
        language, country = columns.get("language", empty), columns.get("country", empty)
        assignment = columns.get("assignment", Coded(["1"], empty.ids))
        return cls(
            worker.names, worker.ids, item.names, item.ids, plain.names,
            plain.ids[columns["answer"].ids] if n else empty.ids, language.names, language.ids, assignment.names,
            assignment.ids, country.names, country.ids, seconds,
        )  # fmt: skip

    def groups(self, *columns: str) -> tuple[Ints, Ints]:
        """Rows numbered by the distinct combinations of columns, and the first row of each combination.

        >>> log = AnswerLog.of([("w", "a", "x"), ("v", "a", "y"), ("w", "b", "x")])
        >>> [each.tolist() for each in log.groups("worker")]
        [[0, 1, 0], [0, 1]]
        """
        key = np.zeros(len(self), dtype=np.int64)
        for name in columns:
            ids = getattr(self, name)
            key = key * (int(ids.max(initial=0)) + 1) + ids
        _, first, group = np.unique(key, return_index=True, return_inverse=True)
        return group, first


def read_answers(
    path: str | os.PathLike[str], names: Mapping[str, str] | None = None, needs: Sequence[str] = NEEDED,
    normalize: bool = True,
) -> AnswerLog:  # fmt: skip
    """Answers from CSV, TSV, JSON Lines or Parquet with a header; `names` says what columns are called in the file.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     place = Path(folder, "answers.csv")
    ...     _ = place.write_text("WorkerId,item,answer\\nA1,pani,water\\n")
    ...     read_answers(place, {"worker": "WorkerId"}).workers
    ['A1']
    """
    place = Path(path)
    kind = FORMATS.get(Path(place.name.removesuffix(".gz")).suffix)
    if kind is None:
        raise DataError(f"cannot tell the format of {place}; answers are read from {', '.join(sorted(FORMATS))}")
    if not place.is_file():
        raise DataError(f"there is no file {place}{did_you_mean_file(place)}")
    table = _table(place, kind)
    names = dict(names or {})
    columns, seconds = {}, None
    for name in (*NEEDED, *OPTIONAL):
        own = names.get(name, name)
        if own not in table.column_names:
            if name in needs or name in names:
                hint = did_you_mean(own, table.column_names, f"it has {', '.join(table.column_names)}")
                raise FormatError(str(place), 1, f"a column {own!r}", f"none; {hint}")
            continue
        if name == "seconds":
            seconds = _numbers(place, own, table.column(own))
        else:
            columns[name] = _coded(table.column(own))
    return AnswerLog.from_columns(columns, seconds, normalize)


def _table(place: Path, kind: str) -> Any:
    arrow, errors = needed("pyarrow", "reading tables of answers"), (OSError, ValueError)
    try:
        if kind == "parquet":
            return needed("pyarrow.parquet", "reading Parquet").read_table(place)
        if kind == "json":
            return needed("pyarrow.json", "reading JSON Lines").read_json(place)
        csv = needed("pyarrow.csv", "reading tables of answers")
        comma = "," if place.name.removesuffix(".gz").endswith(".csv") else "\t"
        plain = csv.ParseOptions(delimiter=comma, quote_char='"' if comma == "," else False)
        with csv.open_csv(place, parse_options=plain) as reader:
            names = reader.schema.names
        texts = csv.ConvertOptions(column_types=dict.fromkeys(names, arrow.string()), strings_can_be_null=False)
        return csv.read_csv(place, parse_options=plain, convert_options=texts)
    except errors as error:
        raise FormatError(str(place), None, "a table with a header", str(error).splitlines()[0][:200]) from None


def _coded(column: Any) -> Coded:
    """An Arrow column as numbers; empty cells are empty texts."""
    arrow, compute = needed("pyarrow", "tables"), needed("pyarrow.compute", "tables")
    texts = compute.fill_null(column.cast(arrow.string()), "")
    coded = texts.combine_chunks().dictionary_encode()
    if hasattr(coded, "combine_chunks"):
        coded = coded.combine_chunks()
    return Coded(coded.dictionary.to_pylist(), np.asarray(coded.indices, dtype=np.int32))


def _numbers(place: Path, name: str, column: Any) -> Any:
    arrow, compute = needed("pyarrow", "tables"), needed("pyarrow.compute", "tables")
    try:
        return np.asarray(compute.cast(column, arrow.float64()).fill_null(float("nan")))
    except arrow.ArrowInvalid as error:
        raise FormatError(
            str(place), None, f"numbers in the column {name!r}", str(error).splitlines()[0][:120]
        ) from None


def read_known(path: str | os.PathLike[str]) -> dict[tuple[str, str], str]:
    """Known answers by language and item, from a table with the columns item, answer and perhaps language."""
    place = Path(path)
    log = read_answers(place, needs=("item", "answer"), normalize=False)
    return {
        (log.languages[language], log.items[item]): log.answers[answer]
        for language, item, answer in zip(log.language.tolist(), log.item.tolist(), log.answer.tolist(), strict=True)
    }
