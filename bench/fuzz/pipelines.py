"""Bad texts of every kind through whole pipelines, and the annotated documents through files.

Texts are annotated in batches, and every document is checked (`weft.text.validity`: offsets, forms, sentences, trees,
spans), written as CoNLL-U and JSON Lines and read again. A batch that fails is repeated text by text.
"""

from __future__ import annotations

import random
import tempfile
import unicodedata
from pathlib import Path

import weft
from weft.pipeline import models
from weft.pipeline.pipeline import Pipeline
from weft.progress import progress
from weft.text.validity import check_doc

from .kinds import EXAMPLES, KINDS
from .outcome import Deadline, Outcome, attack_seed

COUNT = 20_000
BATCH = 30
SMALL = ("segmenter", "tagger", "lemmatizer", "parser")


def run(count: int, seed: int, minutes: float | None = None) -> Outcome:
    """Half of the batches go to a pipeline trained on the examples, the others to the English one."""
    outcome, deadline = Outcome("pipelines"), Deadline(minutes)
    with tempfile.TemporaryDirectory() as name, progress("bad texts", count, "texts") as bar:
        pipelines = named_pipelines(Path(name))
        for number in range(-(-count // BATCH)):
            if deadline.passed():
                break
            size = min(BATCH, count - number * BATCH)
            own = attack_seed(seed, number)
            model, nlp = list(pipelines.items())[own % len(pipelines)]
            _attack(nlp, model, own, size, Path(name), outcome)
            bar.advance(size)
    return outcome


def _attack(nlp: Pipeline, model: str, seed: int, size: int, folder: Path, outcome: Outcome) -> None:
    source = random.Random(seed)
    kinds = [source.choice(list(KINDS)) for _ in range(size)]
    texts = [KINDS[kind](source) for kind in kinds]
    try:
        check(nlp, texts, folder)
    except Exception:
        for kind, text in zip(kinds, texts, strict=True):
            try:
                check(nlp, [text], folder)
            except Exception as error:
                outcome.fail(f"{kind}, {model}", seed, error, case=text)
            else:
                outcome.hold(f"{kind}, {model}")
    else:
        for kind in kinds:
            outcome.hold(f"{kind}, {model}")


def named_pipelines(folder: Path) -> dict[str, Pipeline]:
    """A pipeline trained on the examples, and the English one where it is at hand."""
    pipelines = {"small": small_pipeline(folder)}
    if models.DEFAULT in models.available():
        pipelines[models.DEFAULT] = weft.load(models.DEFAULT)
    return pipelines


def small_pipeline(folder: Path) -> Pipeline:
    """A pipeline trained on the examples."""
    from weft.pipeline.registry import train

    components = []
    for task in SMALL:
        train(task, weft.read(EXAMPLES / "story.conllu"), None, folder / f"{task}.weft", {})
        components += weft.load(folder / f"{task}.weft").components
    return Pipeline(components)


def check(nlp: Pipeline, texts: list[str], folder: Path) -> None:
    """Annotate texts and check the results, in memory and through files."""
    docs = list(nlp.pipe(texts))
    for text, doc in zip(texts, docs, strict=True):
        if doc.text != text:
            raise AssertionError("the text was changed")
        check_doc(doc)
        if doc.text.strip() and not doc.n_words and any(unicodedata.category(c)[0] in "LNPS" for c in doc.text):
            raise AssertionError("no words were found")
    weft.write(docs, folder / "a.jsonl")
    for doc, again in zip(docs, weft.read(folder / "a.jsonl"), strict=True):
        if not doc.same(again):
            raise AssertionError("JSON Lines lose something")
    for doc in docs:
        if doc.n_words:
            weft.write([doc], folder / "a.conllu", comments="add")
            read = list(weft.read(folder / "a.conllu"))
            if [word for part in read for word in part.column("form")] != doc.column("form"):
                raise AssertionError("CoNLL-U changes words")
            if len(read) == 1 and read[0].text != doc.text:
                raise AssertionError("CoNLL-U changes the text")
