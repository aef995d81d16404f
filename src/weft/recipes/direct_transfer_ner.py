"""Direct transfer of named entity recognisers to other languages (Täckström, WILS at NAACL 2012).

One CRF on the corpora of several source languages, with clusters that all languages share, then self-training on text
of the target language with clusters of its own. SINGLE: English alone; EN+X: with one more; MULTI: all but the target.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from weft.evaluate.counts import Counts
from weft.evaluate.significance import Comparison, confidence_interval, mean_difference, paired_bootstrap
from weft.lexical.pivot_clusters import SharedClusters
from weft.recipes.framework import Curve, RecipeOptions, RecipeResult, Table
from weft.recipes.transfer_material import names, native_clusters, raw_text, sample, shared_clusters
from weft.tasks.transfer_curve import TransferCurve, score_labels, transfer_curve
from weft.tasks.transfer_data import Languages, TransferData, TransferSettings
from weft.text.doc import Doc

SLUG = "direct-transfer-ner"
LANGUAGES = ("en", "es", "nl", "de", "pt")
ROWS = ("SINGLE", "MULTI", "SINGLE+SELF", "SINGLE+SELF/NATIVE", "MULTI+SELF", "MULTI+SELF/NATIVE")
PAPER = {
    "SINGLE": {"de": 37.8, "es": 59.1, "nl": 57.2},
    "EN+DE": {"es": 59.4, "nl": 57.9},
    "EN+ES": {"de": 35.9, "nl": 59.1},
    "EN+NL": {"de": 38.1, "es": 59.7},
    "MULTI": {"de": 36.4, "es": 61.9, "nl": 59.9},
    "SINGLE+SELF": {"de": 41.3, "es": 61.0, "nl": 57.8},
    "SINGLE+SELF/NATIVE": {"de": 43.0, "es": 62.5, "nl": 58.9},
    "MULTI+SELF": {"de": 45.3, "es": 62.3, "nl": 61.9},
    "MULTI+SELF/NATIVE": {"de": 47.2, "es": 64.8, "nl": 63.1},
}
SUPERVISED = {
    "native": {"es": 81.0, "nl": 83.0},
    "shared": {"es": 80.2, "nl": 80.7},
    "both": {"es": 81.8, "nl": 83.7},
}


@dataclass(frozen=True)
class Sizes:
    """How much is used: sentences of every source, of the target text, of the test file; words of labelled text."""

    source: int = 4000
    text: int = 2000
    test: int | None = None  # all of them
    seeds: int = 3
    rounds: int = 3
    pairs: int = 4000
    targets: tuple[str, ...] = ("de", "es", "pt")
    apart: tuple[str, ...] = ("nl",)
    curve: tuple[str, ...] = ("es", "de")
    curve_source: int = 2000  # sentences of a source, and of the target's text, in learning curves
    curve_text: int = 1000
    words: tuple[int, ...] = (500, 2000, 8000, 16_000, 64_000)
    labelled: int = 2500  # sentences that labelled words are taken from
    supervised: int = 2000


QUICK = Sizes(source=200, text=150, test=200, seeds=1, rounds=2, pairs=0, targets=("es",), apart=(),
              curve=("es",), curve_source=200, curve_text=150, words=(500, 4000), labelled=550,
              supervised=200)  # fmt: skip


@dataclass
class Material:
    """Corpora by language, and clusters: shared by all, and of each by itself."""

    train: dict[str, Doc]
    clusters: SharedClusters
    native: dict[str, dict[str, str]]


def settings_of(sizes: Sizes) -> TransferSettings:
    """AdaGrad, two passes over the data at first and one a round: L-BFGS takes three times as long."""
    return TransferSettings(learner="adagrad", rounds=sizes.rounds, epochs=2, round_epochs=1)


def load(options: RecipeOptions, sizes: Sizes) -> Material:
    """All training files, and the clusters."""
    texts = {code: raw_text(options, code) for code in LANGUAGES}
    clusters = shared_clusters(options, texts, sizes.pairs)
    wanted = {*sizes.targets, *sizes.apart, *sizes.curve, *SUPERVISED["both"]}
    native = {code: native_clusters(texts[code]) for code in LANGUAGES if code in wanted}
    return Material({code: names(options, code, "train") for code in LANGUAGES}, clusters, native)


def data_of(
    material: Material, sizes: Sizes, target: str, seed: int, test: Doc, labelled: Doc | None = None
) -> TransferData:
    """Samples of all sources and of the target's text, under one index; English comes first."""
    sources = {code: [sample(material.train[code], sizes.source, seed)] for code in LANGUAGES if code != target}
    text = sample(material.train[target], sizes.text, 1000 + seed, [test])
    own = [] if labelled is None else [labelled]
    languages = Languages(sources, [text], target, own, material.clusters.paths, material.native[target])
    return TransferData(settings_of(sizes), languages)


def transfer_rows(data: TransferData, test: Doc, seed: int, pairs: bool) -> dict[str, Counts]:
    """Every row of the table for one target and seed; plain rows and the first rounds of others share a training."""
    every = list(data.sources)
    found: dict[str, Counts] = {}
    for name, sources in (("SINGLE", ["en"]), ("MULTI", every)):
        first = None
        for native in (False, True):
            # Sources have no native clusters: the first training is the same with and without them.
            outcome = data.train(sources, native=native, seed=seed, first=first)
            first = outcome.first
            row = f"{name}+SELF/NATIVE" if native else f"{name}+SELF"
            found[row] = score_labels(data, outcome.model, [test], native)
            if not native:
                found[name] = score_labels(data, outcome.first, [test], native)
    for code in every[1:] if pairs else ():
        outcome = data.train(["en", code], rounds=0, native=False, seed=seed)
        found[f"EN+{code.upper()}"] = score_labels(data, outcome.model, [test], False)
    return found


def pooled(runs: Sequence[Counts]) -> Counts:
    """Counts of the same sentences over several seeds, added up."""
    return Counts(*(np.sum([getattr(run, name) for run in runs], axis=0) for name in ("gold", "system", "correct")))


def run(options: RecipeOptions) -> RecipeResult:
    """Transfer to every target, clusters in supervised training, and the learning curve."""
    result = RecipeResult(SLUG)
    sizes = QUICK if options.quick else Sizes()
    material = load(options, sizes)
    _transfer(options, result, sizes, material)
    _supervised(options, result, sizes, material)
    _curves(options, result, sizes, material)
    result.notes.append(
        f"Sizes: {sizes.source:,} sentences a source (German has {material.train['de'].n_sentences:,}), {sizes.text:,} "
        f"of the target's text, {'all' if sizes.test is None else f'the first {sizes.test:,}'} test sentences, "
        f"{sizes.rounds} rounds, {sizes.seeds} samples (the paper: all sentences of CoNLL 2002 and "
        "2003, test text among the target's text, 5 rounds). German is GermEval 2014, Portuguese is Universal NER, all "
        "with PER, LOC and ORG alone; the paper has MISC, too, and CoNLL-2003 German. Dutch has no bitext: its "
        "clusters come from words spelt as in English. Supervised training and learning curves have one sample; curves "
        f"have {sizes.curve_source:,} sentences a source and {sizes.curve_text:,} of the target's text."
    )
    return result


def _transfer(options: RecipeOptions, result: RecipeResult, sizes: Sizes, material: Material) -> None:
    targets = [*sizes.targets, *sizes.apart]
    runs: dict[str, dict[str, list[Counts]]] = {}
    cover: dict[str, dict[str, float]] = {}
    for target in targets:
        test = names(options, target, "test", limit=sizes.test)
        for seed in range(sizes.seeds):
            data = data_of(material, sizes, target, options.seed + seed, test)
            for row, counts in transfer_rows(data, test, options.seed + seed, pairs=seed == 0).items():
                runs.setdefault(row, {}).setdefault(target, []).append(counts)
            cover[target] = data.coverage([test])
    order = ["SINGLE", *sorted(row for row in runs if row.startswith("EN+")), *ROWS[1:]]
    table = Table(
        "Transfer, F1 on test sentences (mean over samples)",
        [*targets, "average"],
        note="average: of " + ", ".join(sizes.targets),
    )
    spread = Table("Standard deviation of F1 over samples", targets)
    means: dict[str, float] = {}
    for row in order:
        own = runs[row]
        scores = {t: [100 * counts.total().f1 for counts in found] for t, found in own.items()}
        ours = {t: float(np.mean(found)) for t, found in scores.items()}
        if all(t in own for t in sizes.targets):
            means[row] = ours["average"] = float(np.mean([ours[t] for t in sizes.targets]))
        if not row.startswith("EN+"):
            spread.add(row, {t: float(np.std(s, ddof=1)) for t, s in scores.items() if len(s) > 1})
        intervals = {}
        for t, found in own.items():
            around = confidence_interval(pooled(found), samples=1000, seed=options.seed)
            intervals[t] = (100 * around.low, 100 * around.high)
        paper = {t: value for t, value in PAPER.get(row, {}).items() if t in targets}
        table.add(row, ours, paper, intervals)
    result.tables += [table, spread]
    _checks(options, result, sizes, runs, means)
    shares = "; ".join(f"{t} {100 * c['shared']:.0f} and {100 * c['native']:.0f} %" for t, c in cover.items())
    words = ", ".join(
        f"{code} {n:,} linked and {material.clusters.alike[code]:,} spelt alike"
        for code, n in material.clusters.linked.items()
    )
    result.notes.append(
        f"Test words in a shared and in a native cluster: {shares}. Words with a shared class from: {words}."
    )


def _checks(
    options: RecipeOptions, result: RecipeResult, sizes: Sizes, runs: dict[str, dict[str, list[Counts]]],
    means: dict[str, float],
) -> None:  # fmt: skip
    full = "MULTI+SELF/NATIVE"
    shown = ", ".join(f"{row} {means[row]:.2f}" for row in ROWS)
    result.check(f"{full} is the best row on average", max(ROWS, key=lambda row: means[row]) == full, shown, False)
    gain = means[full] - means["SINGLE"]
    result.check(
        f"{full} is above SINGLE by at least 4 on average", gain >= 4,
        _mean_gain(runs, sizes.targets, full, "SINGLE", options.seed),
    )  # fmt: skip
    result.check("MULTI is above SINGLE on average", means["MULTI"] > means["SINGLE"], shown)
    ordered = means["SINGLE"] < means["MULTI"] <= means["SINGLE+SELF/NATIVE"] + 1.0 < means[full] + 1.0
    result.check("SINGLE < MULTI <~ SINGLE+SELF/NATIVE < MULTI+SELF/NATIVE", ordered, shown, False)
    for one, other in ((full, "SINGLE"), (full, "MULTI"), ("MULTI+SELF/NATIVE", "MULTI+SELF"), ("MULTI", "SINGLE")):
        said = []
        for target in sizes.targets:
            test = paired_bootstrap(
                pooled(runs[one][target]), pooled(runs[other][target]), samples=1000, seed=options.seed
            )
            said.append(f"{target} {_told(test)}")
        said.append(f"mean {_mean_gain(runs, sizes.targets, one, other, options.seed)}")
        higher = means[one] > means[other]
        result.check(f"{one} is above {other} (paired bootstrap by target)", higher, "; ".join(said), False)


def _mean_gain(
    runs: dict[str, dict[str, list[Counts]]], targets: Sequence[str], one: str, other: str, seed: int
) -> str:
    """The mean difference of two rows over targets with its interval; samples of a target are added up."""
    pairs = [(pooled(runs[one][t]), pooled(runs[other][t])) for t in targets]
    return _told(mean_difference(pairs, samples=1000, seed=seed))


def _told(found: Comparison) -> str:
    return f"{100 * found.difference:+.2f} [{100 * found.low:+.2f}, {100 * found.high:+.2f}]"


def supervised_rows(material: Material, sizes: Sizes, code: str, seed: int, test: Doc) -> dict[str, Counts]:
    """Target sentences alone, with native, shared and both kinds of clusters."""
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


def _supervised(options: RecipeOptions, result: RecipeResult, sizes: Sizes, material: Material) -> None:
    codes: list[str] = [code for code in SUPERVISED["both"] if code in (*sizes.targets, *sizes.apart)]
    table = Table(f"Clusters in training on {sizes.supervised:,} target sentences, F1", codes)
    scores: dict[str, dict[str, Counts]] = {}
    for code in codes:
        test = names(options, code, "test", limit=sizes.test)
        scores[code] = supervised_rows(material, sizes, code, options.seed, test)
    for kind in ("native", "shared", "both"):
        ours = {code: 100 * scores[code][kind].total().f1 for code in codes}
        intervals = {}
        for code in codes:
            around = confidence_interval(scores[code][kind], samples=1000, seed=options.seed)
            intervals[code] = (100 * around.low, 100 * around.high)
        table.add(kind, ours, {c: v for c, v in SUPERVISED[kind].items() if c in codes}, intervals)
    result.tables.append(table)
    for better, worse in (("both", "native"), ("native", "shared")):
        said, gains = [], []
        for code in codes:
            test_of = paired_bootstrap(scores[code][better], scores[code][worse], samples=1000, seed=options.seed)
            gains.append(test_of.difference)
            said.append(f"{code} {_told(test_of)}")
        result.check(f"supervised: {better} is at least as good as {worse}", min(gains) >= 0, "; ".join(said), False)


def curve_of(options: RecipeOptions, sizes: Sizes, material: Material, code: str) -> TransferCurve:
    """F1 of the five systems by the number of labelled words."""
    test = names(options, code, "test", limit=sizes.test)
    labelled = sample(material.train[code], sizes.labelled, options.seed, [test])
    smaller = replace(sizes, source=sizes.curve_source, text=sizes.curve_text)
    data = data_of(material, smaller, code, options.seed, test, labelled)
    return transfer_curve(data, [test], sizes.words, (options.seed,))


def _curves(options: RecipeOptions, result: RecipeResult, sizes: Sizes, material: Material) -> None:
    for code in sizes.curve:
        found = curve_of(options, sizes, material, code)
        series = {name: [(float(row.size), 100 * row.score) for row in rows] for name, rows in found.rows.items()}
        result.curves.append(Curve(f"Labelled words of {code}", "labelled words", "F1", series))
        table = Table(
            f"F1 by labelled words, {code}",
            list(series),
            digits={},
            note="target: labelled words alone; self: with native",
        )
        for size in sorted({x for points in series.values() for x, _ in points}):
            row = {name: y for name, points in series.items() for x, y in points if x == size}
            table.add(f"{size:,.0f}", row)
        result.tables.append(table)
        reach = "more than were tried" if found.crossing is None else f"{found.crossing:,.0f}"
        result.check(
            f"{code}: a supervised model needs 8,000 to 16,000 words to reach the best transfer system",
            found.crossing is not None and 8000 <= found.crossing <= 16_000,
            f"{found.best} without labels {100 * found.best_score:.2f}: {reach} words",
            required=False,
        )
        by_size = {name: {row.size: row.score for row in rows} for name, rows in found.rows.items()}
        sizes_of = sorted(by_size["target"])
        gains = [max(by_size["multi"][s], by_size["multi+self"][s]) - by_size["target"][s] for s in sizes_of]
        said = ", ".join(f"{s:,} words {100 * gain:+.2f}" for s, gain in zip(sizes_of, gains, strict=True))
        result.check(
            f"{code}: sources and labelled words are at least as good as these alone", min(gains) >= 0, said, False
        )
