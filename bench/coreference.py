"""Coreference after parsing: CPU time of 1,000 words and of a novel of 50,000, and the memory that it adds.

The text is that of LitBank's novels, the model `en-coref` after `en`. No peer is at hand: the models of fastcoref,
maverick-coref and stanza are downloads of hundreds of megabytes.
"""

from __future__ import annotations

import tarfile
import time
import tracemalloc
from typing import Any

import weft
from weft.data import find
from weft.text.doc import Doc

SHORT, LONG = 1_000, 50_000
REPEATS = 3


def run() -> dict[str, Any]:
    """Time and memory at two lengths, and their ratio."""
    nlp = weft.load("en", "en-coref")
    (resolver,) = (component for component in nlp.components if component.task == "coref")
    before = [component for component in nlp.components if component is not resolver]
    novel = _parsed(before, LONG)
    pieces = {SHORT: _first(novel, SHORT), LONG: novel}
    resolver([pieces[SHORT]])  # kernels are loaded
    rows = []
    for doc in pieces.values():
        seconds = []
        for _ in range(REPEATS):
            start = time.process_time()
            resolver([doc])
            seconds.append(time.process_time() - start)
        tracemalloc.start()
        resolver([doc])
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        rows.append({
            "words": doc.n_words, "mentions": len(doc.spans["coref"]), "CPU seconds": round(min(seconds), 4),
            "words per second": round(doc.n_words / min(seconds)), "MB": round(peak / 1e6, 1),
        })  # fmt: skip
    ratio = rows[1]["CPU seconds"] / rows[0]["CPU seconds"]
    return {"title": "Coreference after parsing", "rows": rows, "ratio of CPU": round(ratio, 1)}


def _parsed(components: list[Any], words: int) -> Doc:
    """The beginning of the longest novel, annotated by the components before coreference."""
    with tarfile.open(find("raw/litbank-novels.txt.tar.gz")) as archive:
        members = sorted((each for each in archive.getmembers() if each.isfile()), key=lambda each: each.size)
        file = archive.extractfile(members[-1])
        assert file is not None
        text = file.read(8 * words).decode("utf-8", "replace")
    doc = Doc(text)
    for component in components:
        component([doc])
    return _first(doc, words)


def _first(doc: Doc, words: int) -> Doc:
    """The first sentences of a document, up to a number of words."""
    end = int(doc.sentence_offsets.searchsorted(words, side="right"))
    return doc.subset(range(max(end - 1, 1)))
