"""Choices of published systems, made on development data.

Settings that a paper leaves open are chosen here, on sentences or documents that no table of the system scores:

    scl-sentiment                        intercept of the correction, fold 0 of five
    scl-tagging                          raw text of the parser's tags, dev part of reviews
    transfer-parser-adaptation           penalty and iterations of the base, dev files of en, pt, tr, eu
    direct-transfer-ner                  learner, dev files of es, nl, pt
    structured-multilabel-segmentation   templates, a tenth of the training abstracts

`python bench/run.py choices` runs all of them; `CHOICES=scl-tagging,...` in the environment only some, and the rows of
the others stay as they were recorded.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from weft.recipes.framework import RecipeOptions, RecipeResult

Row = dict[str, Any]
RECORDED = Path(__file__).parents[1] / "results" / "bench-choices.json"


def run() -> dict[str, Any]:
    """All choices, each with the results of its alternatives."""
    wanted = [name for name in os.environ.get("CHOICES", "").split(",") if name]
    options = RecipeOptions()
    known = json.loads(RECORDED.read_text(encoding="utf-8"))["rows"] if wanted and RECORDED.is_file() else []
    rows: list[Row] = []
    for name, choose in CHOICES.items():
        if wanted and name not in wanted:
            rows += [row for row in known if row["system"] == name]
        else:
            rows += [{"system": name, **row} for row in choose(options)]
    return {"title": "Choices made on development data", "rows": rows}


def _row(choice: str, measure: str, value: float, second: str, other: float) -> Row:
    return {"choice": choice, "measure": measure, "dev": value, "second measure": second, "second": other}


def intercept_of_the_correction(options: RecipeOptions) -> Iterator[Row]:
    """scl-sentiment: fifty labelled target documents with and without an intercept, all twelve pairs."""
    from weft.recipes.extraction.scl_sentiment.data import Sizes, load_domains, pair_outcomes

    data = load_domains(options.find)
    for intercept in (False, True):
        found = [
            outcome
            for one, other in combinations(range(4), 2)
            for outcome in pair_outcomes(data, one, other, 0, Sizes(), options.seed, intercept)
        ]
        ours, base = (float(np.mean([each.accuracy(name) for each in found])) for name in ("SCL-MI+50", "base+50"))
        yield _row(f"intercept {intercept}", "SCL-MI+50", ours, "base+50", base)


def raw_text_of_tags(options: RecipeOptions) -> Iterator[Row]:
    """scl-tagging: the treebank's reviews as raw text, alone or with product reviews."""
    from weft.recipes.sequences.scl_tagging import FULL, SCL, parse_table

    for name, more in (("treebank", False), ("treebank and product reviews", True)):
        table = parse_table(options, FULL, RecipeResult("scl-tagging"), part="dev", product_reviews=more)
        (row,) = (row for row in table.rows if row.name == SCL)
        yield _row(name, "UAS", float(row.ours["UAS"] or 0), "tags", float(row.ours["tags"] or 0))


def penalty_and_iterations(options: RecipeOptions) -> Iterator[Row]:
    """transfer-parser-adaptation: UAS of the adapted parser, and of the base that it starts from."""
    from weft.recipes.transfer import transfer_parser_adaptation as recipe

    targets = ("en", "pt", "tr", "eu")
    files = dict(recipe.LANGUAGES)
    recipe.LANGUAGES.update({code: (files[code][0], files[code][1].replace("/test", "/dev")) for code in targets})
    try:
        size = recipe.Size(targets=targets, source=250, text=300, test=250, sweep=(), more=())
        data = recipe.material(options, size)
    finally:
        recipe.LANGUAGES.update(files)
    for penalty in (0.02, 0.1, 0.5):
        for iterations in (25, 80):
            own = replace(size, iterations=iterations, penalty=penalty)
            scores = []
            for target in targets:
                base = recipe.base_of(data, target, own, "family", options.seed)
                adapted = base.adapt("aast", iterations=size.adapted_iterations)
                scores.append([recipe.uas(recipe.attachments(each, data.test[target])) for each in (adapted, base)])
            after, before = np.mean(scores, axis=0).tolist()
            yield _row(f"penalty {penalty}, {iterations} iterations", "UAS, AAST", after, "UAS, Family", before)


def learner(options: RecipeOptions) -> Iterator[Row]:
    """direct-transfer-ner: F1 after and before self-training, mean of three targets."""
    from weft.recipes.corpora.names import names
    from weft.recipes.transfer.direct_transfer_ner import setup
    from weft.tasks.entities.transfer_curve import score_labels

    targets = ("es", "nl", "pt")
    sizes = setup.Sizes(source=1500, text=1000, rounds=2, targets=targets, apart=(), misc=(), curve=())
    material = setup.load(options, sizes)
    adagrad = setup.settings_of(sizes)
    learners = {
        "AdaGrad, 2 passes, then 1": adagrad,
        "AdaGrad, 4 passes, then 2": replace(adagrad, epochs=4, retrain_epochs=2),
        "L-BFGS, 60 iterations, then 20": replace(adagrad, learner="crf"),
    }
    for name, settings in learners.items():
        scores = []
        for target in targets:
            dev = names(options, target, "dev")
            data = setup.data_of(material, sizes, target, options.seed, dev, settings=settings)
            outcome = data.train(list(data.sources), native=True, seed=options.seed)
            scores.append([score_labels(data, model, [dev], native).total().f1
                           for model, native in ((outcome.model, True), (outcome.first, False))])  # fmt: skip
        after, before = 100 * np.mean(scores, axis=0)
        yield _row(name, "F1, MULTI+SELF/NATIVE", float(after), "F1, MULTI", float(before))


def templates_of_gaps(options: RecipeOptions) -> Iterator[Row]:
    """structured-multilabel-segmentation: training part of the scored fold, a tenth of its abstracts held out."""
    from weft.recipes.corpora.segment_samples import generated, natural, stand_off
    from weft.recipes.sequences import structured_multilabel_segmentation as recipe
    from weft.tasks.spans.gapped import BETWEEN, NODE, PAIR

    plain = natural(stand_off(options.find(recipe.ABSTRACTS)))
    train = recipe.folds(plain, 5, options.seed)[0][0]
    kept, held = recipe.folds(train, 10, options.seed)[0]
    learned = generated(kept, 0.06, options.seed)
    asked = [new for old, new in zip(held, generated(held, 1.0, options.seed + 1), strict=True) if new is not old]
    gold = recipe.gold_of(asked)
    inner, dev = recipe.folds(learned, 10, options.seed + 1)[0]
    for name, templates in {
        "words as written": f"{NODE}\npair: {PAIR}\nbetween: {BETWEEN}",
        "lowercase, and words two away": f"{recipe.PLAIN_WORDS}\n{recipe.PLAIN_MORE}",
    }.items():
        found = recipe.multilabel(inner, asked, templates, "no-embedding", dev, epochs=5, seed=0, gap=8).tuned()
        values = (found.gap_report(gold).score.f1, found.report(gold).score.f1)
        yield _row(name, "F of gaps", 100 * values[0], "F of all", 100 * values[1])


CHOICES: dict[str, Callable[[RecipeOptions], Iterator[Row]]] = {
    "scl-sentiment": intercept_of_the_correction,
    "scl-tagging": raw_text_of_tags,
    "transfer-parser-adaptation": penalty_and_iterations,
    "direct-transfer-ner": learner,
    "structured-multilabel-segmentation": templates_of_gaps,
}
