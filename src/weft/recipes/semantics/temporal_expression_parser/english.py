"""Train and score the model en-times: `python -m weft.recipes.semantics.temporal_expression_parser.english OUT.weft`.

It learns from the phrases of `examples/times/english.times.tsv`, which were written for the project with their values,
and from nothing else: no corpus of time expressions may be passed on inside a model. Corpora only score it. The same
phrases give the same bytes.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import weft
from weft.evaluate.semantics.times import score_times
from weft.formats import read
from weft.pipeline.pipeline import Pipeline
from weft.recipes.framework import RecipeOptions
from weft.recipes.semantics.temporal_expression_parser.data import (
    AQUAINT,
    MEANTIME,
    TEMPEVAL,
    articles,
    read_meantime,
    read_phrases,
    read_timenorm,
    without_layer,
)  # fmt: skip
from weft.recipes.semantics.temporal_expression_parser.experiment import same
from weft.tasks.time.learning import Example
from weft.tasks.time.parser import TimeParser, TimeSettings
from weft.text.doc import Doc

PHRASES = "examples/times/english.times.tsv"
SETTINGS: dict[str, Any] = {"language": "en", "passes": 10, "beam": 200}
WHAT = (
    "Time expressions with TIMEX3 types and values, after any segmenter: `weft annotate news.txt --model en --model "
    "en-times --reference-date 2026-05-01`."
)
WEAKNESSES = [
    "Learned from some 570 phrases written for the project: words they do not have are neither found nor understood.",
    "Spans are found by the words of phrases, without any annotated text: one in three has other bounds than an "
    "annotator would set.",
    "A bare weekday or month is taken for the nearest one, mostly in the past, as in news.",
]


def trained(phrases: str | Path = PHRASES) -> tuple[TimeParser, dict[str, Any]]:
    """The parser of the model and the report of its training."""
    parser = TimeParser(TimeSettings(**SETTINGS))
    return parser, parser.fit(read(str(phrases), "times"))


def given_extents(parser: TimeParser, examples: Sequence[Example]) -> tuple[float, float]:
    """The shares of phrases with the right type and value; what has no answer is taken for the present."""
    kinds = values = 0
    for example in examples:
        best = parser.parse(example.phrase, example.now)
        kind, value = (best[0][0], best[0][1].value) if best else ("DATE", "PRESENT_REF")
        kinds += kind == example.type
        values += same(example.value, value, strict=True)
    return round(kinds / len(examples), 4), round(values / len(examples), 4)


def running_text(parser: TimeParser, docs: Sequence[Doc]) -> tuple[float, float]:
    """F of extents, and of extents with their values, of expressions that the parser finds itself."""
    system = [without_layer(doc) for doc in docs]
    parser(system)
    report = score_times(docs, system)
    return round(report.extents.total().f1, 4), round(report.value.total().f1, 4)


def build(out: Path, phrases: str | Path = PHRASES) -> dict[str, Any]:
    """Train the model, score it, write it with its card, and return the card."""
    options = RecipeOptions()
    parser, report = trained(phrases)
    scores: dict[str, float] = {}
    sets = {
        "TempEval-2 English test": read_phrases(options.find(TEMPEVAL.format("english", "test"))),
        "TempEval-2 English train": read_phrases(options.find(TEMPEVAL.format("english", "train"))),
        "timenorm English test": read_timenorm(options.find("time/timenorm-en/test.tsv")),
        "MEANTIME English": read_meantime(options.find(MEANTIME.format("en"))),
    }
    for name, examples in sets.items():
        scores[f"{name} type"], scores[f"{name} value"] = given_extents(parser, examples)
    scores["AQUAINT extents F"], scores["AQUAINT value F"] = running_text(parser, articles(options.find(AQUAINT)))
    card = {
        "name": "en-times", "corpora": [PHRASES], "licence": "MIT", "scores": scores, "training": report["training"],
        "weft": weft.__version__, "language": "English", "what": WHAT, "weaknesses": WEAKNESSES,
    }  # fmt: skip
    Pipeline([parser], card).save(out)
    return card


if __name__ == "__main__":
    for measure, value in build(Path(sys.argv[1]))["scores"].items():
        print(measure, value)
