"""Polarity of aspects beside vaderSentiment: products and restaurants, the same aspects in one run.

VADER judges the whole sentence, since it knows nothing of aspects; a compound score of 0 or more is positive. Our
models are trained on other folds (whole products held out); the lexicon rule is trained on nothing. One fold in five is
not judged, since options were chosen on it; a row has vaderSentiment on the aspects of all folds. Times are CPU seconds
of judging; training and parsing come before.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from weft.recipes.extraction.senti_lssvm import corpora
from weft.recipes.extraction.senti_lssvm.experiment import JUDGED_FOLDS, TESTED, Size, folds_of, judged_aspects
from weft.recipes.framework import RecipeOptions
from weft.tasks.opinions.features import FeatureMaker
from weft.tasks.opinions.model import LATENT, PLAIN
from weft.tasks.opinions.rules import rule_labels
from weft.tasks.opinions.sentences import NEGATIVE, POSITIVE


def run(names: Sequence[str] = ("products", "restaurants"), part: float = 1.0) -> dict[str, Any]:
    """Measure; `part` takes a share of the sentences."""
    rows = [row for name in names for row in _corpus(name, part)]
    return {"title": "Polarity of aspects, beside vaderSentiment", "rows": rows}


def _corpus(name: str, part: float) -> list[dict[str, Any]]:
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer  # type: ignore[import-untyped]

    options, size = RecipeOptions(), Size()
    raws = {"products": corpora.products, "restaurants": corpora.restaurants}[name](options)
    raws = [raw for raw in raws if raw.gold]
    items = corpora.parsed(raws[: int(len(raws) * part)])
    lexicon, vader = corpora.lexicon(options), SentimentIntensityAnalyzer()
    folds = folds_of(items, JUDGED_FOLDS, whole=name == "products")
    tested = [item for item, fold in zip(items, folds, strict=True) if fold in TESTED]
    maker = FeatureMaker(lexicon, corpora.bag(options))
    rows = []

    def add(system: str, right: Sequence[bool], seconds: float | None = None) -> None:
        share = 100 * sum(right) / len(right)
        rows.append({
            "corpus": name, "aspects": len(right), "system": system, "accuracy %": round(share, 1),
            "CPU s": None if seconds is None else round(seconds, 2),
        })  # fmt: skip

    def judged(own: Sequence[corpora.Item]) -> list[bool]:
        compound = [vader.polarity_scores(item.text)["compound"] for item in own]
        return [
            (POSITIVE if value >= 0 else NEGATIVE) == label
            for item, value in zip(own, compound, strict=True) for label in item.judged.values()
        ]  # fmt: skip

    add("majority", [label == POSITIVE for item in tested for label in item.judged.values()])
    start = time.process_time()
    right = judged(tested)
    add("vaderSentiment", right, time.process_time() - start)
    add("vaderSentiment, all folds", judged(items))
    start = time.process_time()
    ruled = [rule_labels(item.sentence, lexicon, POSITIVE) for item in tested]
    seconds = time.process_time() - start
    add("lexicon rule", [
        own.get(edge) == label for item, own in zip(tested, ruled, strict=True) for edge, label in item.judged.items()
    ], seconds)  # fmt: skip
    for system, method in (("SSVM", PLAIN), ("LSSVM", LATENT)):
        add(system, judged_aspects(items, folds, maker, method, size))
    return rows
