"""Tagger and lemmatiser on English-EWT: training time, speed, accuracy and size, at full and at small precision.

Speed is words a CPU second on one core from documents of words to documents with tags (UPOS, XPOS and features), and
from those to lemmas, the best of five rounds over the test file, a model in memory. Smaller precisions are made of the
same trained weights.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

FOLDER = "treebanks/ud/English-EWT"


def run() -> dict[str, Any]:
    """Train, measure and compare precisions."""
    from weft import data
    from weft.formats import read
    from weft.tasks.lemmatize import Lemmatizer
    from weft.tasks.tag import Tagger

    train = list(read(data.find(f"{FOLDER}/train.conllu.gz")))
    _warm(train[:5])
    start = time.process_time()
    tagger = Tagger()
    tagger.fit(train)
    tagger_cpu = time.process_time() - start
    lemmatizer = Lemmatizer()
    lemmatizer.fit(train)
    lemmatizer_cpu = time.process_time() - start - tagger_cpu
    rows = [
        {"measured": "training, CPU s", "tagger": tagger_cpu, "lemmatizer": lemmatizer_cpu, "goal": 60},
        {"measured": "words/s", **_speeds(tagger, lemmatizer), "goal": "200,000 and 300,000"},
    ]
    for precision in ("float32", "int16", "int8"):
        small = _at_precision(tagger, lemmatizer, precision)
        rows.append({"measured": f"model, MB ({precision})", **small["megabytes"], "goal": 5})
        for part in ("dev", "test"):
            for metric in ("UPOS", "XPOS", "UFeats"):
                row = {"measured": f"{part} {metric} ({precision})", "tagger": small[part][metric]}
                rows.append({**row, "lemmatizer": None, "goal": None})
            row = {"measured": f"{part} lemmas ({precision})", "tagger": None, "lemmatizer": small[part]["Lemmas"]}
            rows.append({**row, "goal": None})
    return {"title": "Tagger and lemmatiser, English-EWT, gold words", "rows": rows}


def _warm(docs: Sequence[Any]) -> None:
    """Compile what will be used."""
    from weft.tasks.lemmatize import Lemmatizer
    from weft.tasks.tag import Tagger

    for component in (Tagger(), Lemmatizer()):
        component.fit(docs)
        component(docs)


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


def _speeds(tagger: Any, lemmatizer: Any) -> dict[str, float]:
    _, docs = _test("test")
    words = sum(doc.n_words for doc in docs)
    return {
        "tagger": words / _shortest(lambda: tagger(docs)),
        "lemmatizer": words / _shortest(lambda: lemmatizer(docs)),
    }


def _shortest(work: Callable[[], None], rounds: int = 5) -> float:
    seconds = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return min(seconds)


def _at_precision(tagger: Any, lemmatizer: Any, precision: str) -> dict[str, Any]:
    """Size and accuracy of the components with weights of a precision."""
    from weft.evaluate.ud import evaluate_ud
    from weft.pipeline import Pipeline

    small = [_quantised(component, precision) for component in (tagger, lemmatizer)]
    found: dict[str, Any] = {"megabytes": {}}
    with tempfile.TemporaryDirectory() as folder:
        for component in small:
            path = Path(folder) / "model.weft"
            Pipeline([component]).save(path)
            found["megabytes"][component.task] = path.stat().st_size / 1e6
    for part in ("dev", "test"):
        gold, system = _test(part)
        for component in small:
            component(system)
        scores = evaluate_ud(gold, system).scores
        found[part] = {metric: 100 * scores[metric].f1 for metric in ("UPOS", "XPOS", "UFeats", "Lemmas")}
    return found


def _quantised(component: Any, precision: str) -> Any:
    """The component with its tables of weights at another precision, without training it anew."""
    import numpy as np

    from weft.features.weights import PRECISIONS

    header, arrays = component.state()
    arrays = dict(arrays)
    for name in [name for name in arrays if name.endswith("/weights")]:
        table = name.removesuffix("weights")
        weights = arrays[name].astype(np.float64) * arrays[f"{table}scale"][0]
        if precision != "float32":
            scale = np.abs(weights).max() / np.iinfo(PRECISIONS[precision]).max
            arrays[f"{table}scale"] = np.array([scale])
            arrays[name] = np.rint(weights / scale).astype(PRECISIONS[precision])
    return type(component).of_state(header, arrays)


if __name__ == "__main__":
    for line in run()["rows"]:
        print(line)
