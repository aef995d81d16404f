"""Tagger and lemmatizer on English-EWT: training time, speed, accuracy and size, without and with word clusters.

Speed is words per CPU second on one core from documents of words to documents with tags (UPOS, XPOS and features), and
from those to lemmas, the best of five rounds over the test file with the model in memory; `first pass` is the speed of
models that have not seen any word before. All precisions use the same trained weights. The clusters are trained in the
same run on the training text of the treebank and freely licensed English: novels (Project Gutenberg), WikiANN, lists
of pros and cons.
"""

from __future__ import annotations

import gzip
import re
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

FOLDER = "treebanks/ud/English-EWT"
METRICS = ("UPOS", "XPOS", "UFeats", "Lemmas")
GOALS = {"test UPOS": 95.0, "test XPOS": 94.5, "test UFeats": 95.5, "test Lemmas": 96.5}
#: Characters to take per novel, and patterns for sentences and for words as the treebank splits them (did n't, it 's).
NOVEL, END = 150_000, re.compile(r"\n\s*\n|(?<=[.!?])\s+(?=[\"“A-Z])|(?<=[.!?][\"”])\s+")
WORD = re.compile(r"[A-Za-z]+(?=n't\b)|n't\b|'(?:s|re|ve|ll|d|m)\b|\w+(?:[-.]\w+)*|[^\w\s]")


def run() -> dict[str, Any]:
    """Train, measure, and compare precisions."""
    from weft import data
    from weft.formats import read
    from weft.tasks.tagging.lemmatize import Lemmatizer
    from weft.tasks.tagging.tagger import Tagger

    train = list(read(data.find(f"{FOLDER}/train.conllu.gz")))
    _warm(train[:5])
    tagger, lemmatizer = Tagger(), Lemmatizer()
    seconds = {component.task: _cpu(lambda c=component: c.fit(train)) for component in (tagger, lemmatizer)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "english.paths"
        clusters_cpu = _cpu(lambda: english_clusters(path))
        clustered = Tagger.from_options({"clusters": str(path)})
        seconds["with clusters"] = _cpu(lambda: clustered.fit(train))
        rows = [_row("training, CPU s", 60, *seconds.values())]
        rows.append(_row("words/s", "200,000 and 300,000", *_speeds(tagger, lemmatizer, clustered)))
        rows.append(_row("words/s, first pass", None, *_speeds(tagger, lemmatizer, clustered, first=True)))
        for precision in ("float32", "int16", "int8"):
            rows += _at_precision(tagger, lemmatizer, clustered, precision)
        rows.append(_row("learning clusters, CPU s", None, None, None, clusters_cpu))
    return {"title": "Tagger and lemmatizer, English-EWT, gold words", "rows": rows}


def _row(what: str, goal: Any, tagger: Any, lemmatizer: Any, clustered: Any) -> dict[str, Any]:
    return {
        "measured": what, "tagger": tagger, "lemmatizer": lemmatizer, "tagger with clusters": clustered, "goal": goal,
    }  # fmt: skip


def english_clusters(path: Path) -> None:
    """Train clusters of English words and write them."""
    from weft.lexical.clusters.monolingual import cluster_words

    cluster_words(_english(), n_classes=400, min_count=3, rounds=12).save(path)


def _english() -> Iterator[list[str]]:
    """Sentences: the training text, then text without annotation."""
    from weft import data
    from weft.formats import read

    yield from _forms(read(data.find(f"{FOLDER}/train.conllu.gz")))
    for forms in _forms(read(data.find("ner/wikiann-en/train.txt.gz"), "columns", fields="form entities")):
        yield [form.partition(":")[2] for form in forms]
    for name in ("IntegratedPros", "IntegratedCons"):
        with gzip.open(data.find(f"sentiment/pros_cons/{name}.txt.gz"), "rt", encoding="latin-1") as lines:
            yield from (WORD.findall(re.sub(r"<[^>]*>", " ", line)) for line in lines)
    with tarfile.open(data.find("raw/litbank-novels.txt.tar.gz")) as novels:
        for member in novels.getmembers():
            file = novels.extractfile(member)
            if file is not None:
                text = file.read().decode("utf-8", "replace")[:NOVEL].replace("’", "'")
                yield from (WORD.findall(sentence) for sentence in END.split(text))


def _forms(docs: Iterable[Any]) -> Iterator[list[str]]:
    for doc in docs:
        forms = doc.column("form")
        yield from (forms[first:end] for first, end in pairwise(doc.sentence_offsets.tolist()))


def _warm(docs: Sequence[Any]) -> None:
    """Compile the kernels."""
    from weft.tasks.tagging.lemmatize import Lemmatizer
    from weft.tasks.tagging.tagger import Tagger

    for component in (Tagger(), Lemmatizer()):
        component.fit(docs)
        component(docs)


def _cpu(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _test(part: str) -> tuple[list[Any], list[Any]]:
    """Gold documents, and the same without tags and lemmas."""
    from weft import data
    from weft.formats import read

    path = data.find(f"{FOLDER}/{part}.conllu.gz")
    gold, system = list(read(path)), list(read(path))
    for doc in system:
        for column in ("lemma", "upos", "xpos", "feats"):
            doc.columns.pop(column, None)
    return gold, system


def _speeds(tagger: Any, lemmatizer: Any, clustered: Any, first: bool = False) -> list[float]:
    """Words per second; for the first pass, every round restores the components from their state."""
    _, docs = _test("test")
    words = sum(doc.n_words for doc in docs)
    found = []
    for component in (tagger, lemmatizer, clustered):
        rounds = []
        for _ in range(5):
            used = type(component).from_state(*component.state()) if first else component
            rounds.append(_cpu(lambda c=used: c(docs)))
        found.append(words / min(rounds))
    return found


def _at_precision(tagger: Any, lemmatizer: Any, clustered: Any, precision: str) -> list[dict[str, Any]]:
    """Sizes and accuracies of the components with weights of a precision."""
    from weft.evaluate.trees.ud import evaluate_ud
    from weft.pipeline.pipeline import Pipeline

    small = [_quantized(component, precision) for component in (tagger, lemmatizer, clustered)]
    sizes = []
    with tempfile.TemporaryDirectory() as folder:
        for component in small:
            path = Path(folder) / "model.weft"
            Pipeline([component]).save(path)
            sizes.append(path.stat().st_size / 1e6)
    rows = [_row(f"model, MB ({precision})", 5, *sizes)]
    for part in ("dev", "test"):
        scores = []
        for one in (small[0], small[2]):
            gold, system = _test(part)
            for component in (one, small[1]):
                component(system)
            scores.append({name: 100 * score.f1 for name, score in evaluate_ud(gold, system).scores.items()})
        plain, with_clusters = scores
        for metric in METRICS:
            goal = GOALS.get(f"{part} {metric}")
            lemmas = metric == "Lemmas"
            what = f"{part} {metric.lower() if lemmas else metric} ({precision})"
            figures = (None if lemmas else plain[metric], plain[metric] if lemmas else None, with_clusters[metric])
            rows.append(_row(what, goal, *figures))
    return rows


def _quantized(component: Any, precision: str) -> Any:
    """The component with its weight tables at another precision, without retraining."""
    import numpy as np

    from weft.features.weights import PRECISIONS

    header, arrays = component.state()
    arrays = dict(arrays)
    for name in [name for name in arrays if name.endswith("/weights")]:
        table = name.removesuffix("weights")
        weights = arrays[name].astype(np.float64) * arrays[f"{table}scale"][0]
        scale = 1.0
        if precision != "float32":
            scale = np.abs(weights).max() / np.iinfo(PRECISIONS[precision]).max
            weights = np.rint(weights / scale)
        arrays[f"{table}scale"] = np.array([scale])
        arrays[name] = weights.astype(PRECISIONS[precision])
    return type(component).from_state(header, arrays)


if __name__ == "__main__":
    for line in run()["rows"]:
        print(line)
