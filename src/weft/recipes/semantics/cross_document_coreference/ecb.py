"""Entity mentions of ECB+: news about the same events, with chains across documents."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from weft.errors import DataError
from weft.tasks.coreference.across.mentions import Mentions

WORDS, MENTIONS = "coref/ecb-plus/{}.corpus.txt.gz", "coref/ecb-plus/{}.Entity_gold_mentions.json.gz"
WINDOW = 30


def read_ecb(words: Path, mentions: Path) -> tuple[Mentions, list[str]]:
    """The mentions of a part, each with 30 words on each side, and their documents."""
    places: dict[tuple[str, int, int], int] = {}
    texts: dict[str, list[str]] = {}
    with gzip.open(words, "rt", encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            cells = line.rstrip("\n").split("\t")
            if len(cells) < 4:
                if line.strip():
                    raise DataError(f"{words}, line {number}: expected document, sentence, number and word")
                continue
            text = texts.setdefault(cells[0], [])
            places[cells[0], int(cells[1]), int(cells[2])] = len(text)
            text.append(cells[3].lower())
    rows, documents = [], []
    with gzip.open(mentions, "rt", encoding="utf-8") as file:
        for number, each in enumerate(json.load(file)):
            document = each["doc_id"]
            inside = [places[document, each["sent_id"], k] for k in each["tokens_number"]]
            text = texts[document]
            context = (
                text[max(0, min(inside) - WINDOW) : min(inside)] + text[max(inside) + 1 : max(inside) + 1 + WINDOW]
            )
            rows.append((str(number), each["tokens_str"], context, each["coref_chain"]))
            documents.append(document)
    return Mentions.of(rows), documents
