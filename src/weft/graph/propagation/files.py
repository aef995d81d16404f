"""Classes of nodes as files: one row per node and label, in the order of the nodes.

.tsv  .csv        node  type  rank  label  score  unknown  seed
.jsonl            the same as objects
.parquet          the same as columns
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from weft.errors import DataError
from weft.graph.propagation.classes import UNKNOWN, Classes
from weft.packages import needed

COLUMNS = ("node", "type", "rank", "label", "score", "unknown", "seed")
SUFFIXES = (".csv", ".jsonl", ".parquet", ".tsv")
GROUP = 100_000


def write_classes(found: Classes, path: str | os.PathLike[str]) -> int:
    """Write the labels of all nodes, and return the number of rows; the end of the name says the format.

    >>> from tempfile import TemporaryDirectory
    >>> from weft.graph.propagation.classes import classes
    >>> from weft.graph.store import Builder
    >>> builder = Builder()
    >>> builder.add("johnny cash", "is a", "singer")
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "classes.tsv")
    ...     rows = write_classes(classes(builder.graph(), [("singer", "musician")], "lp"), file)
    ...     file.read_text().splitlines()[1]
    'johnny cash\\t\\t1\\tmusician\\t1.0\\t0.0\\tfalse'
    """
    place = Path(path)
    if place.suffix not in SUFFIXES:
        raise DataError(f"cannot tell the format of {place}; classes are written as {', '.join(SUFFIXES)}")
    rows = found.table()
    try:
        if place.suffix == ".parquet":
            return _parquet(rows, place)
        with open(place, "w", encoding="utf-8", newline="") as file:
            count = 0
            if place.suffix == ".jsonl":
                for row in rows:
                    file.write(json.dumps(row, ensure_ascii=False) + "\n")
                    count += 1
                return count
            writer = csv.writer(file, delimiter="\t" if place.suffix == ".tsv" else ",", lineterminator="\n")
            writer.writerow(COLUMNS)
            for row in rows:
                writer.writerow([str(row["seed"]).lower() if name == "seed" else row[name] for name in COLUMNS])
                count += 1
            return count
    except OSError as error:
        raise DataError(f"cannot write {place}: {error.strerror}") from None


def _parquet(rows: Iterator[dict[str, Any]], place: Path) -> int:
    pyarrow = needed("pyarrow", "Parquet")
    parquet = needed("pyarrow.parquet", "Parquet")
    text, number = pyarrow.string(), pyarrow.float64()
    kinds = [text, text, pyarrow.int32(), text, number, number, pyarrow.bool_()]
    schema = pyarrow.schema(list(zip(COLUMNS, kinds, strict=True)))
    count = 0
    with parquet.ParquetWriter(place, schema) as writer:
        while group := list(islice(rows, GROUP)):
            writer.write_table(pyarrow.Table.from_pylist(group, schema=schema))
            count += len(group)
    return count


def write_members(found: Classes, path: str | os.PathLike[str], types: Sequence[str] | None = None) -> int:
    """Write an edge from every node of some types to its best class, and return their number; unknown nodes have none.

    >>> from tempfile import TemporaryDirectory
    >>> from weft.graph.propagation.classes import classes
    >>> from weft.graph.store import Builder
    >>> builder = Builder()
    >>> builder.add_all([("Liv", "is a", "singer"), ("Tove", "is a", "singer"), ("Bo", "is a", "sailor")])
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "members.tsv")
    ...     count = write_members(classes(builder.graph(), [("Liv", "musician")], "lp"), file)
    ...     file.read_text().splitlines()
    ['Liv\\tis a\\tmusician\\t1', 'singer\\tis a\\tmusician\\t0.96875', 'Tove\\tis a\\tmusician\\t0.96875']
    """
    place, count = Path(path), 0
    if place.suffix != ".tsv":
        raise DataError(f"edges are written to a file that ends in .tsv, not to {place}")
    try:
        with open(place, "w", encoding="utf-8") as file:
            for row in found.table():
                if row["rank"] == 1 and row["label"] != UNKNOWN and (not types or row["type"] in types):
                    file.write(f"{row['node']}\tis a\t{row['label']}\t{max(row['score'], 1e-6):.6g}\n")
                    count += 1
    except OSError as error:
        raise DataError(f"cannot write {place}: {error.strerror}") from None
    return count
