"""Graph-based parsers on English-EWT, gold words and tags: accuracy against speed, from first to third order.

Every parser is trained on the training file with the component's defaults, keeps the epoch with the best UAS on dev,
and is scored on dev. Speed is words per CPU second on one core, from documents of tagged words to documents with trees
and relations, the best of five rounds over the dev file with the model in memory. `arcs a word` is the number of heads
that the filter keeps, `gold arcs kept` the share of gold heads among them. The greedy parser of `python bench/run.py
parser` is included for comparison.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

FOLDER = "treebanks/ud/English-EWT"
CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "arc-eager (greedy)": {"system": "arc-eager"},
    "mst1": {"system": "mst1", "threshold": 0.0, "epochs": 6},
    "mst1, nonprojective": {"system": "mst1", "threshold": 0.0, "shape": "nonprojective", "epochs": 6},
    "mst2": {"system": "mst2", "epochs": 6},
    "mst3": {"system": "mst3", "epochs": 6},
    "crossing, 2 epochs": {"system": "crossing", "epochs": 2, "threshold": 0.01},
}
ROUNDS = 5


def run() -> dict[str, Any]:
    """Train every configuration and measure."""
    train, dev = docs("train"), docs("dev")
    return {
        "title": "Graph-based parsers, English-EWT dev, gold words and tags",
        "rows": [measure(name, options, train, dev) for name, options in CONFIGURATIONS.items()],
        "plot": {"title": "Accuracy against time", "of": "parser", "x": "microseconds a word", "y": "dev LAS"},
    }


def docs(part: str) -> list[Any]:
    from weft import data
    from weft.formats import read

    return list(read(data.find(f"{FOLDER}/{part}.conllu.gz")))


def measure(name: str, options: dict[str, Any], train: Sequence[Any], dev: Sequence[Any]) -> dict[str, Any]:
    """One row: train, score, time, and the size of the model file."""
    from weft.pipeline.pipeline import Pipeline
    from weft.pipeline.registry import new_component

    parser: Any = new_component("parser", options)
    start = time.process_time()
    report = parser.fit(train, dev)
    trained = time.process_time() - start
    scores = parser.scores(dev)
    words = sum(doc.n_words for doc in dev)
    bare = [without_trees(doc) for doc in dev]
    seconds = []
    for _ in range(ROUNDS):
        start = time.process_time()
        parser(bare)
        seconds.append(time.process_time() - start)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "parser.weft")
        Pipeline([parser], {"name": "parser"}).save(path)
        size = path.stat().st_size / 1e6
    arcs, recall = filtered(parser, dev)
    return {
        "parser": name,
        "dev UAS": 100 * scores["UAS"],
        "dev LAS": 100 * scores["LAS"],
        "words/s": words / min(seconds),
        "microseconds a word": 1e6 * min(seconds) / words,
        "arcs a word": arcs,
        "gold arcs kept": recall,
        "training, CPU s": trained,
        "epochs": report["training"]["epochs"],
        "MB": size,
    }


def without_trees(doc: Any) -> Any:
    """A copy of a document with only words, tags, features and lemmas."""
    from weft.text import Doc

    columns = ("form", "upos", "xpos", "feats", "lemma")
    rows = {name: doc.column(name) for name in columns}
    cut = {name: [flat[a:b] for a, b in pairwise(doc.sentence_offsets.tolist())] for name, flat in rows.items()}
    return Doc.from_words(cut.pop("form"), strings=doc.strings, **cut)


def filtered(parser: Any, dev: Sequence[Any]) -> tuple[float | None, float | None]:
    """Arcs per word that the filter keeps, and the share of gold arcs it keeps."""
    import numpy as np

    if getattr(parser, "pruner", None) is None:
        return None, None
    heads = np.concatenate([doc.head for doc in dev]).astype(np.int32)
    first = arcs = right = 0
    for trees in parser.trees(dev):
        end = first + trees.space.n_words
        arcs += trees.space.n_arcs
        right += int((trees.space.arcs_of(heads[first:end]) >= 0).sum())
        first = end
    return arcs / len(heads), 100 * right / len(heads)
