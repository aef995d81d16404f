"""Direct transfer with some labelled target text: clusters in supervised training, and learning curves.

target              labelled target sentences only, with native, shared and both kinds of clusters
sources and target  by the number of labelled words, compared with labelled words alone: where the curves cross
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from weft.evaluate.counts import Counts
from weft.evaluate.curves import curve_points
from weft.recipes.claims import compared, measured
from weft.recipes.corpora.names import names, sample
from weft.recipes.framework import Curve, RecipeOptions, RecipeResult, Table
from weft.recipes.transfer.direct_transfer_ner.setup import Material, Samples, Sizes, data_of, settings_of
from weft.tasks.entities.transfer_curve import TransferCurve, score_labels, transfer_curve
from weft.tasks.entities.transfer_data import Languages, TransferData
from weft.text.doc import Doc

PAPER = {
    "native": {"es": 81.0, "nl": 83.0},
    "shared": {"es": 80.2, "nl": 80.7},
    "both": {"es": 81.8, "nl": 83.7},
}
NAMES = {"native": "native clusters", "shared": "shared clusters", "both": "both kinds of clusters"}


def supervised_rows(material: Material, sizes: Sizes, code: str, seed: int, test: Doc) -> dict[str, Counts]:
    """Target sentences only, with native, shared and both kinds of clusters."""
    labelled = sample(material.train[code], sizes.supervised, seed, [test])
    kinds = {
        "native": (None, material.native[code]),
        "shared": (material.clusters.paths, None),
        "both": (material.clusters.paths, material.native[code]),
    }
    found = {}
    for kind, (shared, native) in kinds.items():
        settings = replace(settings_of(sizes), learner="crf", iterations=60)
        data = TransferData(settings, Languages({}, [], code, [labelled], shared, native))
        found[kind] = score_labels(data, data.train([], rounds=0, seed=seed).model, [test])
    return found


def supervised(options: RecipeOptions, result: RecipeResult, sizes: Sizes, material: Material) -> None:
    """The table of clusters in supervised training, and the paper's order."""
    codes = [code for code in PAPER["both"] if code in (*sizes.targets, *sizes.apart)]
    found = Samples(options.seed)
    for code in codes:
        test = names(options, code, "test", limit=sizes.test)
        for seed in range(options.seed, options.seed + sizes.seeds):
            for kind, counts in supervised_rows(material, sizes, code, seed, test).items():
                found.add(kind, code, counts)
    table = Table(f"Clusters in training on {sizes.supervised:,} target sentences, F1 (mean over samples)", codes)
    for kind, paper in PAPER.items():
        found.fill(table, kind, paper)
    result.tables.append(table)
    for better, worse in (("both", "native"), ("native", "shared")):
        text = f"supervised training with {NAMES[better]} is at least as good as with {NAMES[worse]}"
        for code in codes:
            result.claim(text, compared(found.gain(better, worse, [code]), code, ">="))


def curve_of(options: RecipeOptions, sizes: Sizes, material: Material, code: str) -> TransferCurve:
    """F1 of the five systems by the number of labelled words, which are resampled for every sample."""
    test = names(options, code, "test", limit=sizes.test)
    labelled = sample(material.train[code], sizes.labelled, options.seed, [test])
    smaller = replace(sizes, source=sizes.curve_source, text=sizes.curve_text)
    data = data_of(material, smaller, code, options.seed, test, labelled)
    return transfer_curve(data, [test], sizes.words, range(options.seed, options.seed + sizes.seeds))


def curves(options: RecipeOptions, result: RecipeResult, sizes: Sizes, material: Material) -> None:
    """Learning curves with their tables, the point where labels alone match transfer, and what sources still add."""
    for code in sizes.curve:
        found = curve_of(options, sizes, material, code)
        points = {name: curve_points(rows) for name, rows in found.rows.items()}
        series = {name: [(float(point.size), 100 * point.mean) for point in own] for name, own in points.items()}
        result.curves.append(Curve(f"Labelled words of {code}", "labelled words", "F1", series))
        runs = Samples(options.seed)
        for name, own in found.counts.items():
            for size, counts in own.items():
                for each in counts:
                    runs.add(f"{size:,}", name, each)
        table = Table(
            f"F1 by labelled words, {code} (mean over samples)",
            list(series),
            note="target: labelled words alone; self: with native",
        )
        for size in sorted({point.size for own in points.values() for point in own}):
            runs.fill(table, f"{size:,}", {})
        result.tables.append(table)
        _crossing(result, code, found, sizes.words)
        _still_better(result, code, found, options.seed)


def _crossing(result: RecipeResult, code: str, found: TransferCurve, sizes_tried: Sequence[int]) -> None:
    words = sizes_tried[-1] if found.crossing is None else found.crossing
    where = f"{code}, {found.best} without labels, F {100 * found.best_score:.2f}"
    result.claim("a supervised model needs at least {bar} labelled words to reach the best transfer system",
                 measured(words, ">=", 8000, where, 0, "words"))  # fmt: skip


def _still_better(result: RecipeResult, code: str, found: TransferCurve, seed: int) -> None:
    """Whether all sources, plain or self-trained, add to labelled words at every size."""
    means = {name: {point.size: point.mean for point in curve_points(rows)} for name, rows in found.rows.items()}
    for size in sorted(means["target"]):
        better = "multi" if means["multi"][size] > means["multi+self"][size] else "multi+self"
        runs = Samples(seed)
        for name in (better, "target"):
            for counts in found.counts[name][size]:
                runs.add(name, code, counts)
        result.claim("sources and labelled words are better than labelled words alone",
                     compared(runs.gain(better, "target", [code]), f"{code}, {size:,} words"))  # fmt: skip
