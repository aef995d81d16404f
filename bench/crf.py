"""Conditional random field on CoNLL-2000, all chunk types: Weft and CRFsuite (python-crfsuite).

Both train first-order models on the same 19 features per word (words and tags in a window of five, and conjunctions),
with weights for the pairs of feature and label and of two labels seen in training, the penalty ||w||^2, and 100
iterations of L-BFGS; then both label the test set, from lists of words and tags to lists of labels. Each runs in a
separate process, one after the other, on one core. Kernels of Weft are compiled before the clock starts.

Each is used as its documentation shows. Weft reads the training file into documents. CRFsuite has no reader: the file
is read into lists, and the features of all sentences are generated first, as lists of strings named as in CRFsuite's
chunking example. The memory it needs when sentences are passed one by one is measured too (`frugal`).
"""

from __future__ import annotations

import gzip
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

ITERATIONS = 100
C2 = 1.0
TRAIN, TEST = "chunking/conll2000/train.txt.gz", "chunking/conll2000/test.txt.gz"
TEMPLATES = (
    "w[-2..2] w[-1]|w[0] w[0]|w[1] t[-2..2] t[-1]|t[0] t[-2]|t[-1] t[0]|t[1] t[1]|t[2] "
    "t[-2]|t[-1]|t[0] t[-1]|t[0]|t[1] t[0]|t[1]|t[2]"
)
Columns = list[list[str]]


def read_columns(relative: str) -> tuple[Columns, Columns, Columns]:
    """Words, tags and labels of every sentence."""
    from weft import data

    words: Columns = [[]]
    tags: Columns = [[]]
    labels: Columns = [[]]
    with gzip.open(data.find(relative), "rt", encoding="utf-8") as lines:
        for line in lines:
            if parts := line.split():
                for column, value in zip((words, tags, labels), parts, strict=True):
                    column[-1].append(value)
            elif words[-1]:
                for column in (words, tags, labels):
                    column.append([])
    if not words[-1]:
        for column in (words, tags, labels):
            column.pop()
    return words, tags, labels


def run() -> dict[str, Any]:
    """Run both and compare."""
    ours, peer, frugal = (_in_a_process(side) for side in ("weft", "crfsuite", "frugal"))
    rows = [
        _row("training, CPU s", ours, peer, "train_cpu", lower_is_better=True),
        _row("tagging, words/s", ours, peer, "words_per_second", lower_is_better=False),
        _row("peak memory, MB", ours, peer, "peak_mb", lower_is_better=True),
        _row("peak memory without code of libraries, MB", ours, peer, "own_mb", lower_is_better=True),
        _row("peak memory, CRFsuite fed sentence by sentence, MB", ours, frugal, "peak_mb", lower_is_better=True),
        _row("objective after training", ours, peer, "objective", lower_is_better=True),
        _row("test F1, all types", ours, peer, "f1", lower_is_better=False),
        _row("test F1, NP", ours, peer, "np_f1", lower_is_better=False),
    ]
    relative = abs(ours["objective"] - peer["objective"]) / peer["objective"]
    return {
        "title": f"CRF, CoNLL-2000, {ITERATIONS} iterations of L-BFGS: Weft and CRFsuite",
        "rows": rows,
        "objective_relative_difference": relative,
        "weft": ours,
        "crfsuite": peer,
    }


def _row(what: str, ours: dict[str, Any], peer: dict[str, Any], key: str, lower_is_better: bool) -> dict[str, Any]:
    ratio = ours[key] / peer[key]
    good = "lower is better" if lower_is_better else "higher is better"
    return {"measured": what, "Weft": ours[key], "CRFsuite": peer[key], "ratio": ratio, "": good}


def _in_a_process(side: str) -> dict[str, Any]:
    one_core = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, __file__, side], check=True, capture_output=True, text=True, env=one_core)
    figures: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return figures


def _scores(gold: Columns, system: Columns) -> dict[str, float]:
    from weft.evaluate.labels.spans import conlleval

    report = conlleval(gold, system)
    return {"f1": 100 * report.score.f1, "np_f1": 100 * report.scores["NP"].f1}


def _speed(label: Any, words: Columns) -> float:
    """Words per CPU second, the best of five rounds."""
    size = sum(map(len, words))
    seconds = []
    for _ in range(5):
        start = time.process_time()
        label()
        seconds.append(time.process_time() - start)
    return size / min(seconds)


def _memory() -> tuple[float, float]:
    """Peak resident memory, with and without file-backed pages, such as library code shared between processes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    status = Path("/proc/self/status").read_text().splitlines()
    from_files = next(int(line.split()[1]) for line in status if line.startswith("RssFile"))
    return peak, peak - from_files / 1024


def weft_side() -> dict[str, Any]:
    from weft import data
    from weft.formats import read
    from weft.tasks.tagging.tagger import Tagger, TaggerSettings
    from weft.text import Doc, StringTable

    settings: dict[str, Any] = {
        "column": "label", "templates": f"{TEMPLATES} y[-1]", "fields": {"w": "form", "t": "xpos"}, "learner": "crf",
        "sigma": (2 * C2) ** -0.5, "iterations": ITERATIONS, "min_count": 1,
    }  # fmt: skip

    def documents(words: Columns, tags: Columns) -> list[Doc]:
        strings, cut = StringTable(), range(0, len(words), 200)
        return [Doc.from_words(words[i : i + 200], strings=strings, xpos=tags[i : i + 200]) for i in cut]

    train = list(read(data.find(TRAIN), format="columns", fields="form xpos label"))
    warm = Tagger(TaggerSettings(**{**settings, "iterations": 2}))
    warm.fit(train[:1])
    warm(documents([["a"]], [["b"]]))
    start = time.process_time()
    tagger = Tagger(TaggerSettings(**settings))
    report = tagger.fit(train)
    train_cpu = time.process_time() - start
    peak_mb, own_mb = _memory()
    words, tags, labels = read_columns(TEST)

    def label() -> Columns:
        docs = documents(words, tags)
        tagger(docs)
        found: Columns = []
        for doc in docs:
            flat, bounds = doc.column("label"), doc.sentence_offsets.tolist()
            found += [flat[first:end] for first, end in pairwise(bounds)]
        return found

    training = report["training"]
    return {
        "train_cpu": train_cpu, "objective": training["loss"], "peak_mb": peak_mb, "own_mb": own_mb,
        "iterations": training["iterations"],
        "calls": training["calls"], "weights": training["weights"], "words_per_second": _speed(label, words),
        **_scores(labels, label()),
    }  # fmt: skip


def crfsuite_side(frugal: bool = False) -> dict[str, Any]:
    import pycrfsuite

    def features(words: list[str], tags: list[str]) -> list[list[str]]:
        n = len(words)
        before, after = ["<s2>", "<s1>"], ["</s1>", "</s2>"]
        w, t = before + words + after, before + tags + after
        found = []
        for i in range(2, n + 2):
            found.append([
                f"w[-2]={w[i - 2]}", f"w[-1]={w[i - 1]}", f"w[0]={w[i]}", f"w[1]={w[i + 1]}", f"w[2]={w[i + 2]}",
                f"w[-1]|w[0]={w[i - 1]}|{w[i]}", f"w[0]|w[1]={w[i]}|{w[i + 1]}",
                f"pos[-2]={t[i - 2]}", f"pos[-1]={t[i - 1]}", f"pos[0]={t[i]}", f"pos[1]={t[i + 1]}",
                f"pos[2]={t[i + 2]}", f"pos[-2]|pos[-1]={t[i - 2]}|{t[i - 1]}", f"pos[-1]|pos[0]={t[i - 1]}|{t[i]}",
                f"pos[0]|pos[1]={t[i]}|{t[i + 1]}", f"pos[1]|pos[2]={t[i + 1]}|{t[i + 2]}",
                f"pos[-2]|pos[-1]|pos[0]={t[i - 2]}|{t[i - 1]}|{t[i]}",
                f"pos[-1]|pos[0]|pos[1]={t[i - 1]}|{t[i]}|{t[i + 1]}",
                f"pos[0]|pos[1]|pos[2]={t[i]}|{t[i + 1]}|{t[i + 2]}",
            ])  # fmt: skip
        return found

    words, tags, labels = read_columns(TRAIN)
    start = time.process_time()
    trainer = pycrfsuite.Trainer(verbose=False)
    made = (features(w, t) for w, t in zip(words, tags, strict=True))
    for x, y in zip(made if frugal else list(made), labels, strict=True):
        trainer.append(x, y)
    iterations = 3 if frugal else ITERATIONS
    trainer.set_params({"c1": 0.0, "c2": C2, "max_iterations": iterations, "feature.possible_transitions": False})
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model.crfsuite")
        trainer.train(path)
        train_cpu = time.process_time() - start
        peak_mb, own_mb = _memory()
        if frugal:
            return {"peak_mb": peak_mb}
        last = trainer.logparser.last_iteration
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        words, tags, labels = read_columns(TEST)

        def label() -> Columns:
            return [tagger.tag(features(w, t)) for w, t in zip(words, tags, strict=True)]

        return {
            "train_cpu": train_cpu, "objective": float(last["loss"]), "peak_mb": peak_mb, "own_mb": own_mb,
            "iterations": last["num"], "words_per_second": _speed(label, words), **_scores(labels, label()),
        }  # fmt: skip


if __name__ == "__main__":
    sides = {"weft": weft_side, "crfsuite": crfsuite_side, "frugal": lambda: crfsuite_side(frugal=True)}
    print(json.dumps(sides[sys.argv[1]]()))
