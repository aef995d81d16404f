"""Chunkers with words, with tags, and with both."""

from __future__ import annotations

from dataclasses import replace

from weft.evaluate.labels.spans import evaluate_spans
from weft.formats import read
from weft.recipes.claims import gain
from weft.recipes.framework import RecipeOptions, RecipeResult, Table
from weft.recipes.variation import Variation, changed, where_run
from weft.tasks import Chunker
from weft.tasks.spans.chunker import ChunkerSettings

#: Rows: feature templates.
ROWS = {
    "words": "w[-1..1] y[-1]",
    "tags": "t[-1..1] t[-1]|t[0] t[0]|t[1] y[-1]",
    "words and tags": "w[-1..1] t[-1..1] t[-1]|t[0] t[0]|t[1] y[-1]",
}
VARIATION = Variation((ChunkerSettings,), tuple(ROWS))


def run(options: RecipeOptions) -> RecipeResult:
    train, gold = (list(read(options.find(name))) for name in ("chunks.conll", "unseen.conll"))
    changes = changed(ChunkerSettings, options.vary)

    def score(templates: str) -> float:
        chunker = Chunker(replace(ChunkerSettings(templates=templates, seed=options.seed), **changes))
        chunker.fit(train)
        predicted = list(read(options.find("unseen.conll")))
        chunker(predicted)
        return 100 * evaluate_spans(gold, predicted).score.f1

    found = options.chosen(ROWS).map(score)
    table = Table("Chunks of unseen.conll", ["F"], digits={"F": 1})
    for name, f1 in found.items():
        table.add(name, {"F": f1})
    result = RecipeResult("chunkers", [table])
    with where_run():
        result.claim("tags help", gain(found["words and tags"] - found["words"]))
    return result
