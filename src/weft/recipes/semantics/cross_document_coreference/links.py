"""Mentions of linked names from entity-linking data sets: the string, 30 words on each side, the Wikidata entity."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from weft.arrays import Ints
from weft.errors import DataError
from weft.tasks.coreference.across.mentions import Mentions

FILES = tuple(
    f"entity-linking/elevant/{name}"
    for name in (
        "aida-conll-dev.jsonl.gz", "derczynski.jsonl", "msnbc-updated.jsonl", "news-fair-v2.jsonl.gz",
        "oke-2015-eval.jsonl", "oke-2015-train.jsonl", "reuters-128.jsonl", "rss-500.jsonl.gz", "spotlight.jsonl",
        "wiki-fair-v2.jsonl.gz",
    )
)  # fmt: skip
WINDOW = 30
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Link:
    """A linked name: where it stands, what is around it, and the entity."""

    document: str
    name: str
    context: list[str]
    entity: str


def read_links(paths: Iterable[Path], window: int = WINDOW) -> list[Link]:
    """Capitalized mentions that have a Wikidata entity; of documents that are repeated, the first one alone."""
    links: list[Link] = []
    seen: set[str] = set()
    for path in paths:
        for number, document in _documents(path):
            text = document["text"]
            if text[:200] in seen:
                continue
            seen.add(text[:200])
            words = [(match.start(), match.end(), match.group().lower()) for match in _WORD.finditer(text)]
            for label in document["labels"]:
                start, end = label["span"]
                name = text[start:end]
                if label["entity_id"].startswith("Q") and name[:1].isupper():
                    left = [word for _, to, word in words if to <= start][-window:]
                    right = [word for at, _, word in words if at >= end][:window]
                    links.append(Link(f"{path.name}:{number}", name, left + right, label["entity_id"]))
    return links


def _documents(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                document = json.loads(line)
                if not isinstance(document["text"], str):
                    raise TypeError("text is not a string")
                yield number, {"text": document["text"], "labels": list(document["labels"])}
            except (ValueError, KeyError, TypeError) as error:
                raise DataError(f"{path}, line {number}: expected a document with text and labels ({error})") from None


def mentions_of(links: Sequence[Link]) -> Mentions:
    """The links as mentions with gold entities."""
    return Mentions.of((str(k), link.name, link.context, link.entity) for k, link in enumerate(links))


def split_entities(links: Sequence[Link], seed: int = 0) -> tuple[Ints, Ints]:
    """The numbers of development and test links: a random quarter of the entities is for development."""
    entities = sorted({link.entity for link in links})
    random = np.random.default_rng(seed)
    dev = {entities[k] for k in random.permutation(len(entities))[: len(entities) // 4]}
    inside = np.array([link.entity in dev for link in links])
    return np.flatnonzero(inside), np.flatnonzero(~inside)
