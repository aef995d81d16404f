"""Speed of the segmenter on English text: words per second of CPU time on one core, from text to documents.

It is trained on half of English-EWT and measured, after loading the model, on the text of the training file (many
short documents), on the same text joined to one long line, and on one novel if the corpus of novels is available; the
rule-based splitter runs on the same text. The best of several rounds counts.
"""

from __future__ import annotations

import tarfile
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import weft
from weft import data
from weft.formats.conllu import files as conllu
from weft.pipeline.pipeline import Pipeline
from weft.tasks.segmentation.segmenter import Segmenter, SegmenterSettings
from weft.text.doc import Doc
from weft.text.split import split_by_rule

TREEBANK = "treebanks/ud/English-EWT/train.conllu.gz"
NOVELS = "raw/litbank-novels.txt.tar.gz"
#: Target speed in words per second.
TARGET = 500_000


def run(rounds: int = 15) -> dict[str, Any]:
    """Measure learned and rule-based segmentation."""
    docs = list(conllu.read(str(data.find(TREEBANK))))
    segmenter = Segmenter(SegmenterSettings(bias=False))  # the bias changes the predictions, not the speed
    start = time.process_time()
    segmenter.fit(docs[::2])
    training = time.process_time() - start
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "segmenter.weft")
        Pipeline([segmenter]).save(path)
        size = path.stat().st_size
        start = time.process_time()
        loaded = weft.load(path).components[0]
        loading = time.process_time() - start
    texts = {"documents of a treebank": [doc.text for doc in docs[1::2]]}
    texts["the same as one line"] = [" ".join(" ".join(texts["documents of a treebank"]).split())]
    if data.have(NOVELS):
        texts["a novel"] = [_novel(data.find(NOVELS))]
    rows = []
    for name, given in texts.items():
        learned, words = _speed(lambda fresh: loaded(fresh), given, rounds)
        ruled, _ = _speed(lambda fresh: [split_by_rule(doc) for doc in fresh], given, rounds)
        rows.append({
            "text": name, "words": words, "characters": sum(map(len, given)), "Weft words/s": learned,
            "by rule words/s": ruled, "ratio": round(learned / ruled, 2), "target": TARGET,
        })  # fmt: skip
    return {
        "title": "Segmentation of English, words a second of CPU time on one core",
        "rows": rows,
        "training_cpu_seconds": round(training, 1),
        "loading_seconds": round(loading, 3),
        "model_bytes": size,
    }


def _speed(work: Callable[[list[Doc]], object], texts: list[str], rounds: int) -> tuple[int, int]:
    """Words per second in the best round, and the number of words."""
    best, words = float("inf"), 0
    for _ in range(rounds):
        fresh = [Doc(text) for text in texts]
        start = time.process_time()
        work(fresh)
        best = min(best, time.process_time() - start)
        words = sum(doc.n_words for doc in fresh)
    return round(words / best), words


def _novel(path: Path) -> str:
    """The first novel of the archive that has at least a million characters."""
    with tarfile.open(path) as archive:
        for member in archive:
            if member.isfile() and member.size > 1_000_000:
                file = archive.extractfile(member)
                assert file is not None
                return file.read().decode("utf-8")
    raise FileNotFoundError(f"{path} has no novel of a million characters")
