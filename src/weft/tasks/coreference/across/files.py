"""The files of a clustering: mentions with their entities, entities with their names, merges with their evidence.

    mentions    id, name, score, and the entity at each threshold, named by the id of its first mention
    entities    threshold, entity, number of mentions, names with their numbers, score
    merges      threshold, entity, part, what the merge rests on (`weft.tasks.coreference.across.evidence`)

The score of a mention is its mean similarity to the others of its entity at the lowest threshold; that of an entity is
the mean over its pairs of mentions.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from weft.errors import ConfigError, DataError, FormatError
from weft.formats.streams import open_output
from weft.packages import needed
from weft.tasks.coreference.across.entities import Entities
from weft.tasks.coreference.across.evidence import as_row, merges

FORMATS = ("jsonl", "parquet")
#: The names that an entity lists, the most frequent first.
NAMES = 10
_BATCH = 20_000


def write_entities(entities: Entities, folder: Path, format: str = "jsonl") -> list[Path]:
    """Write the three tables into a folder; returns their paths."""
    if format not in FORMATS:
        raise ConfigError(f"the format of entities is one of {', '.join(FORMATS)}, not {format!r}")
    folder.mkdir(parents=True, exist_ok=True)
    tables = {
        "mentions": mention_rows(entities),
        "entities": entity_rows(entities),
        "merges": map(as_row, merges(entities)),
    }
    paths = []
    for name, rows in tables.items():
        path = folder / f"{name}.{format}"
        _write_parquet(rows, path, name, entities) if format == "parquet" else _write_lines(rows, path)
        paths.append(path)
    return paths


def entity_columns(entities: Entities) -> list[str]:
    """The names of the columns with entities: `entity`, or one per threshold.

    >>> from weft.tasks.coreference.across.entities import EntityClusterer, EntitySettings
    >>> from weft.tasks.coreference.across.mentions import Mentions
    >>> mentions = Mentions.of([("1", "Ann Lee", "oil"), ("2", "Ann Li", "oil")])
    >>> entity_columns(EntityClusterer(EntitySettings((0.3, 0.6))).cluster(mentions))
    ['entity@0.6', 'entity@0.3']
    """
    thresholds = entities.settings.falling
    return ["entity"] if len(thresholds) == 1 else [f"entity@{threshold:g}" for threshold in thresholds]


def mention_rows(entities: Entities) -> Iterator[dict[str, Any]]:
    """One row per mention, in the order in which mentions were read."""
    mentions, columns = entities.mentions, entity_columns(entities)
    labels = [labels.tolist() for labels in entities.labels]
    for k, (id, name, score) in enumerate(zip(mentions.ids, mentions.names, entities.scores().tolist(), strict=True)):
        row: dict[str, Any] = {"id": id, "name": name, "score": None if score != score else round(score, 4)}
        yield {**row, **{c: mentions.ids[each[k]] for c, each in zip(columns, labels, strict=True)}}


def entity_rows(entities: Entities) -> Iterator[dict[str, Any]]:
    """One row per entity and threshold, in the order of first mentions."""
    mentions, vectors = entities.mentions, entities.vectors
    for threshold, labels in zip(entities.settings.falling, entities.labels, strict=True):
        within = vectors.items.within(labels, 0.0)
        firsts, sizes = np.unique(labels, return_counts=True)
        order = np.argsort(labels, kind="stable")
        ends = np.cumsum(sizes)
        for k, first in enumerate(firsts.tolist()):
            size = int(sizes[k])
            names = Counter(mentions.names[m] for m in order[ends[k] - size : ends[k]].tolist())
            yield {
                "threshold": threshold,
                "entity": mentions.ids[first],
                "mentions": size,
                "names": [{"name": name, "mentions": count} for name, count in names.most_common(NAMES)],
                "score": round(float(within[k]) / (size * (size - 1) / 2), 4) if size > 1 else None,
            }


def read_table(folder: Path, table: str) -> list[dict[str, Any]]:
    """The rows of a table that `write_entities` wrote, from JSON Lines or Parquet."""
    lines, columns = folder / f"{table}.jsonl", folder / f"{table}.parquet"
    if lines.is_file():
        rows = []
        for number, line in enumerate(lines.read_text(encoding="utf-8", errors="surrogatepass").splitlines(), 1):
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise FormatError(str(lines), number, "a JSON object", str(error)) from None
            if not isinstance(row, dict):
                raise FormatError(str(lines), number, "a JSON object", line[:40])
            rows.append(row)
        return rows
    if columns.is_file():
        found: list[dict[str, Any]] = needed("pyarrow.parquet", "Parquet").read_table(columns).to_pylist()
        return found
    raise DataError(f"{folder} has no {table}.jsonl or {table}.parquet; `weft lexicon entities` writes both")


def _write_lines(rows: Iterator[dict[str, Any]], path: Path) -> None:
    with open_output(str(path)) as file:
        for row in rows:
            file.write((json.dumps(row, ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass"))


def _write_parquet(rows: Iterator[dict[str, Any]], path: Path, table: str, entities: Entities) -> None:
    arrow, parquet = needed("pyarrow", "Parquet"), needed("pyarrow.parquet", "Parquet")
    text, number, whole = arrow.string(), arrow.float64(), arrow.int64()
    names = arrow.list_(text)
    fields = {
        "mentions": {"id": text, "name": text, "score": number, **dict.fromkeys(entity_columns(entities), text)},
        "entities": {
            "threshold": number, "entity": text, "mentions": whole,
            "names": arrow.list_(arrow.struct([("name", text), ("mentions", whole)])), "score": number,
        },
        "merges": {
            "threshold": number, "entity": text, "part": text, "names": names, "into_names": names, "mentions": whole,
            "into_mentions": whole, "similarity": number, "name": number, "equal": number, "context": number,
            "words": names,
        },
    }[table]  # fmt: skip
    schema = arrow.schema(list(fields.items()))
    with open_output(str(path)) as output, parquet.ParquetWriter(output, schema, compression="zstd") as file:
        batch: list[dict[str, Any]] = []
        for row in rows:
            batch.append(row)
            if len(batch) == _BATCH:
                file.write_batch(arrow.RecordBatch.from_pylist(batch, schema=schema))
                batch = []
        if batch:
            file.write_batch(arrow.RecordBatch.from_pylist(batch, schema=schema))
