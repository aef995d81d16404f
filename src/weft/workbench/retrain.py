"""Train the model of a project anew and say whether it got better: `python -m weft.workbench.retrain PROJECT`.

The workbench runs this as a process of low priority, so that nobody waits for it. It trains on the values that count
(`weft.workbench.agreement`) of all items but the held-out ones, and scores the new model and the one before on these.
The new model is used if it is not clearly worse: the score is F1 over parts, and two models differ if the 95 % interval
of their difference, by bootstrap over the held-out items, does not contain 0.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from weft.errors import WeftError
from weft.evaluate.significance import paired_bootstrap
from weft.text.record import from_record
from weft.workbench.agreement import decisions, f1, overlap
from weft.workbench.answers import Schema, Value
from weft.workbench.models import Predictor, load_predictor, predictions, train
from weft.workbench.project import MODELS, Project, kept_models, newest
from weft.workbench.store import Item

#: Answers before the first round, and open items whose order is chosen anew after a round.
LEAST, RANKED = 10, 2000
BETTER, WORSE, EVEN, FIRST, FAILED = "better", "worse", "too close to tell", "first", "failed"


def retrain(project: Project) -> dict[str, Any]:
    """One round: train, score, keep the model unless it is worse, and record what came of it."""
    start = time.perf_counter()
    store, schema = project.store, project.settings.schema()
    number = newest(each["number"] for each in store.rounds()) + 1
    last = store.last()
    decided = decisions(schema, store.standing())
    items = [(item, decided[item.id].value) for item in store.items() if item.id in decided]
    learned = [pair for pair in items if not pair[0].held]
    held = [pair for pair in items if pair[0].held]
    facts: dict[str, Any] = {"last": last, "answers": len(items), "trained on": len(learned), "held out": len(held)}
    new = project.model_file(number).with_suffix(".new")
    try:
        if len(learned) < LEAST:
            raise WeftError(f"training needs {LEAST} answers; there are {len(learned)}")
        new.parent.mkdir(exist_ok=True)
        docs = {key: from_record(record) for key, record in store.docs(item.doc for item, _ in items).items()}
        model = train(project, learned, docs, new)
        used = newest(kept_models(project.folder))
        facts |= _compared(schema, held, docs, model, load_predictor(project, used))
        if facts["outcome"] != WORSE:
            os.replace(new, project.model_file(number))
            _forget(project, number)
            if project.settings.order == "unsure":
                _order(project, model)
    except WeftError as error:
        facts |= {"outcome": FAILED, "reason": str(error)}
    finally:
        with suppress(OSError):
            new.unlink()
    facts |= {"seconds": round(time.perf_counter() - start, 2), "at": time.time()}
    store.add_round(number, facts)
    return {"number": number, **facts}


def _compared(
    schema: Schema, held: Sequence[tuple[Item, Value]], docs: Any, model: Predictor, before: Predictor | None
) -> dict[str, Any]:
    """The scores of two models on the held-out items, and which is better."""
    items = [item for item, _ in held]
    if not items:
        return {"outcome": FIRST if before is None else EVEN, "score": None, "before": None}
    rows = [_overlaps(schema, held, predictions(each, items, docs)) for each in (model, before) if each is not None]
    scores = [round(f1(each), 4) for each in rows]
    if before is None:
        return {"outcome": FIRST, "score": scores[0], "before": None}
    result = paired_bootstrap(np.array(rows[0]), np.array(rows[1]), _measure, samples=1000)
    outcome = BETTER if result.low > 0 else WORSE if result.high < 0 else EVEN
    return {"outcome": outcome, "score": scores[0], "before": scores[1], "p": round(result.p, 4)}


def _overlaps(schema: Schema, held: Sequence[tuple[Item, Value]], found: Sequence[Any]) -> list[tuple[int, int]]:
    nothing: Value = {"spans": [], "relations": [], "tags": [], "heads": [], "labels": []}
    none = (0, 2) if schema.kind == "questions" else None
    return [
        overlap(schema, value, nothing if pair is None else pair[0]) if pair is not None or none is None else none
        for (_, value), pair in zip(held, found, strict=True)
    ]


def _measure(sums: Any) -> Any:
    shared, total = sums[..., 0], sums[..., 1]
    return np.where(total > 0, 2 * shared / np.maximum(total, 1), 1.0)


def _forget(project: Project, number: int) -> None:
    """Remove the models of all rounds but this one and the one before."""
    for each in [each for each in kept_models(project.folder) if each < number][:-1]:
        with suppress(OSError):
            project.model_file(each).unlink()


def _order(project: Project, model: Predictor) -> None:
    """Show the open items first of which the model is least sure; every fifth comes at random, to be fair."""
    store = project.store
    items = store.items(only_open=True)[:RANKED]
    docs = {key: from_record(record) for key, record in store.docs(item.doc for item in items).items()}
    doubts = {}
    for item, found in zip(items, predictions(model, items, docs), strict=True):
        sure = [each for each in (found[1] if found else []) if each is not None]
        doubts[item.id] = 1 - min(sure, default=0.5)
    chance = np.random.default_rng(len(items))
    store.set_ranks({
        item: -1.0 - (float(chance.random()) if place % 5 == 0 else doubt)
        for place, (item, doubt) in enumerate(doubts.items())
    })  # fmt: skip


def main(folder: Path) -> None:
    with suppress(OSError, AttributeError):
        os.nice(10)
    with Project(folder) as project:
        (folder / MODELS).mkdir(exist_ok=True)
        retrain(project)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
