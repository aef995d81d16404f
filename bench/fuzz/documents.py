"""Generated documents through files, and generated texts through pipelines: offsets, round trips, determinism.

Half of the batches are texts of many scripts with line ends and compositions of all kinds, annotated in several ways;
half are documents with random layers, written and read in every format. See `properties.py` for what must hold.
"""

from __future__ import annotations

import os
import random
import tempfile
import unicodedata
from pathlib import Path

from weft.formats.jsonl import to_line
from weft.pipeline.pipeline import Pipeline
from weft.progress import progress
from weft.text import Doc
from weft.text.validity import check_doc

from . import properties, random_docs
from .kinds import KINDS
from .outcome import Deadline, Outcome, attack_seed
from .pipelines import named_pipelines

COUNT = 1_000_000
BESIDE = True
BATCH = 200
#: Longest text; pipelines.py has longer ones.
LONGEST = 120
#: Where files cost no disk, if there is such a place.
MEMORY = Path("/dev/shm")
TEXTS, LAYERS = "annotated texts", "random layers"


def run(count: int, seed: int, minutes: float | None = None) -> Outcome:
    """Batches of documents; one that fails is repeated document by document."""
    outcome, deadline = Outcome("documents"), Deadline(minutes)
    memory = MEMORY if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as name, progress("documents", count, "documents") as bar:
        folder = Path(name)
        pipelines = list(named_pipelines(folder).values())
        for number in range(-(-count // BATCH)):
            if deadline.passed():
                break
            size, own = min(BATCH, count - number * BATCH), attack_seed(seed, number)
            if own % 2:
                attack_layers(own, size, folder, outcome)
            else:
                attack_texts(pipelines[own // 2 % len(pipelines)], own, size, folder, outcome)
            bar.advance(size)
    return outcome


def attack_texts(nlp: Pipeline, seed: int, size: int, folder: Path, outcome: Outcome) -> None:
    """Check a batch of texts, and record what holds and what fails."""
    texts = texts_of(seed, size)
    try:
        check_texts(nlp, texts, folder, seed)
    except Exception as error:
        failed = 0
        for text in texts:
            try:
                check_texts(nlp, [text], folder, seed)
            except Exception as own:
                failed += 1
                outcome.fail(TEXTS, seed, own, case=text)
        if not failed:  # only the batch as a whole fails
            outcome.fail(TEXTS, seed, error, case="\n".join(texts))
        outcome.hold(TEXTS, size - max(failed, 1))
    else:
        outcome.hold(TEXTS, size)


def attack_layers(seed: int, size: int, folder: Path, outcome: Outcome) -> None:
    """Check a batch of documents, and record what holds and what fails."""
    docs, trees = docs_of(seed, size)
    try:
        check_docs(docs, trees, folder, seed)
    except Exception as error:
        failed = 0
        for doc, tree in zip(docs, trees, strict=True):
            try:
                check_docs([doc], [tree], folder, seed)
            except Exception as own:
                failed += 1
                outcome.fail(LAYERS, seed, own, case=to_line(doc) + to_line(tree))
        if not failed:
            outcome.fail(LAYERS, seed, error, case="".join(map(to_line, [*docs, *trees])))
        outcome.hold(LAYERS, size - max(failed, 1))
    else:
        outcome.hold(LAYERS, size)


def texts_of(seed: int, size: int) -> list[str]:
    """Short texts of every bad kind, composed or decomposed, with any line ends."""
    source = random.Random(seed)
    texts = []
    for _ in range(size):
        text = KINDS[source.choice(list(KINDS))](source)[: source.randint(0, LONGEST)]
        change = source.random()
        if change < 0.1:
            text = text.replace("\n", "\r\n").replace(" ", "\r\n", 1)
        elif change < 0.3:
            text = unicodedata.normalize(source.choice(("NFC", "NFD", "NFKC", "NFKD")), text)
        elif change < 0.35:
            text = source.choice(("\ufeff", "\n\n", "\r", "\t")) + text
        texts.append(text)
    return texts


def check_texts(nlp: Pipeline, texts: list[str], folder: Path, seed: int) -> None:
    """Annotate texts and check what comes out."""
    source = random.Random(seed)
    docs = list(nlp.pipe(texts))
    assert len(docs) == len(texts), f"{len(texts)} texts became {len(docs)} documents"
    for text, doc in zip(texts, docs, strict=True):
        properties.offsets_cover(doc, text)
        if doc.n_words:
            properties.conllu_keeps(doc)
    lines = properties.lines_of(docs)
    properties.annotated_alike(nlp, texts, lines, source)
    properties.files_keep(docs, lines, folder, source.choice(("a.jsonl", "a.jsonl.gz", "a.parquet")))
    properties.text_file_keeps(source.choice(texts) + "end", folder)


def docs_of(seed: int, size: int) -> tuple[list[Doc], list[Doc]]:
    """Documents with all layers, and as many that every word format can hold."""
    source = random.Random(seed)
    pairs = [(random_docs.full(source), random_docs.plain_tree(source)) for _ in range(size)]
    return [doc for doc, _ in pairs], [tree for _, tree in pairs]


def check_docs(docs: list[Doc], trees: list[Doc], folder: Path, seed: int) -> None:
    """Write and read documents in every format."""
    source = random.Random(seed)
    lines = properties.lines_of(docs)
    for doc, line in zip(docs, lines, strict=True):
        check_doc(doc)
        properties.bytes_keep(doc, line)
    for name in ("a.jsonl", "a.parquet"):
        properties.files_keep(docs, lines, folder, name)
    for doc in docs:
        properties.conllu_keeps(doc)
    for name, writing, reading in source.sample(properties.WORD_FORMATS, k=2):
        properties.stable(trees, folder, name, writing, reading)
