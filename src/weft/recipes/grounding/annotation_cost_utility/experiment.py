"""What choosing spans by cost and utility saves, and how well times and errors can be predicted.

    bursts       generated errors, exact programs beside the relaxation, three costs of a switch
    correction   errors of the English tagger on GUM dev, calibrated on EWT dev, counted in true errors
    times        recorded times of post-editors: linear and Gaussian models, of times and of their logarithms
    calibration  expected against true errors on ten random halves
    segmentation word boundaries of a novel, labelled for half an hour and learned with those of a treebank
    scale        seconds and gap by number of words

The times of the correction are simulated (3 s for a switch, .9 s a word, 1 s an expected error): only its errors and
confidences are real. The paper's speech recognizer, its participants and its Japanese corpus are not at hand.
"""

from __future__ import annotations

import gzip
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft import load
from weft.annotate.plans.calibrate import Calibrator
from weft.annotate.plans.costs import FixedCost, LearnedCost
from weft.annotate.plans.documents import probabilities, right_labels
from weft.annotate.plans.planner import Mode, Planner, fixed_units
from weft.arrays import Bools, Floats
from weft.formats import read
from weft.infer.segmentations.budgets import solve_exactly
from weft.progress import progress
from weft.recipes.claims import mean_of, measured
from weft.recipes.framework import RecipeOptions, RecipeResult, Table
from weft.recipes.grounding.annotation_cost_utility.active import Positions, curve
from weft.recipes.grounding.annotation_cost_utility.bursts import bursts, in_order, removed_by
from weft.recipes.variation import Variation

SLUG = "annotation-cost-utility"
LAYER = "xpos"
EWT, GUM = "treebanks/ud/English-EWT/dev.conllu.gz", "treebanks/ud/English-GUM/dev.conllu.gz"
GSD = "treebanks/ud/Chinese-GSD/{}.conllu.gz"
NOVEL = "chinese/zhuxian-seg-pos/{}.wordpos.gz"
#: Columns of the recorded times.
SECONDS, SOURCE_WORDS, OUTPUT_WORDS, OUTPUT_LETTERS, EDITS = 6, 8, 9, 12, 37
PEOPLE = ("ann0", "ann1", "ann2", "ann3", "ann4")


@dataclass(frozen=True)
class Size:
    """How much is run."""

    generated: tuple[int, ...] = (500, 2000)
    exact: int = 500  #: generated texts up to this length are also solved exactly
    seeds: int = 3
    switches: tuple[float, ...] = (0.0, 1.0, 3.0, 10.0, 30.0)
    stretch: int = 4000
    stretches: int = 5
    train: tuple[int, ...] = (50, 100, 200, 300)
    people: int = 5
    halves: int = 10
    scale: tuple[int, ...] = (2000, 5000, 20_000, 200_000)
    source: int = 3000  #: sentences of the treebank
    pool: int = 1000  #: sentences of the novel to choose from
    minutes: tuple[float, ...] = (10.0, 20.0, 30.0)
    pools: int = 3


QUICK = Size(
    generated=(300,), exact=300, seeds=1, switches=(0.0, 3.0), stretch=1500, stretches=1, train=(100,), people=1,
    halves=3, scale=(2000,), source=300, pool=150, minutes=(10.0,), pools=1,
)  # fmt: skip
ROWS = ("bursts", "correction", "times", "calibration", "segmentation", "scale")
VARIATION = Variation((Size,), ROWS)


def run(options: RecipeOptions) -> RecipeResult:
    """All tables."""
    size = options.varied(QUICK if options.quick else Size())
    result = RecipeResult(SLUG)
    steps = {
        "bursts": _bursts, "correction": _correction, "times": _times, "calibration": _calibration,
        "segmentation": _segmentation, "scale": _scale,
    }  # fmt: skip
    labels: dict[str, tuple[Floats, Bools, list[int]]] = {}
    with progress("parts", len(steps), "parts") as bar:
        for step in options.chosen(steps).values():
            step(result, options, size, labels)
            bar.advance(1)
    result.notes.append(
        "Times of the correction are simulated; errors and confidences are those of the English model on text that it "
        "was not trained on. The paper saved 25.2 % of the time per error with people and a speech recognizer."
    )
    return result


def _saved(plan: float, other: float) -> float:
    return 100 * (1 - plan / other)


def _bursts(result: RecipeResult, options: RecipeOptions, size: Size, labels: dict[str, Any]) -> None:
    cost = FixedCost()
    columns = ["limit", "exact", "plan", "gap %", "nine words", "single words", "saved on nine %", "CPU s"]
    table = Table("Generated bursts, 40 % of the errors: seconds", columns, digits={"gap %": 2, "CPU s": 2})
    for n in size.generated:
        rows = []
        for seed in range(size.seeds):
            doubts = bursts(options.seed + seed, n)
            wanted = 0.4 * float(doubts.sum())
            planner = Planner(doubts, [Mode("check", cost)])
            start = time.process_time()
            plan = planner.for_errors(wanted)
            spent = time.process_time() - start
            nine, single = (in_order(doubts, fixed_units(doubts, [], k), wanted, cost)[0] for k in (9, 1))
            limit = plan.seconds / (1 + plan.gap)
            exact = solve_exactly(planner.time_problem(), [-wanted]).segmentation.value if n <= size.exact else None
            rows.append((limit, exact, plan.seconds, 100 * plan.gap, nine, single, _saved(plan.seconds, nine), spent))
        means = [None if row[0] is None else float(np.mean(row)) for row in zip(*rows, strict=True)]
        table.add(f"{n:,} words", dict(zip(columns, means, strict=True)))
        result.own(
            "on generated bursts a plan saves at least {bar} % of the time of nine-word units",
            measured(min(row[6] for row in rows), ">=", 15, f"{n:,} words", digits=1),
        )
    result.tables.append(table)
    table = Table("Generated bursts: what a switch costs", ["plan", "nine words", "single words"], digits={})
    doubts = bursts(options.seed, max(size.generated))
    for switch in size.switches:
        own = FixedCost(switch)
        wanted = 0.4 * float(doubts.sum())
        row = {"plan": Planner(doubts, [Mode("check", own)]).for_errors(wanted).seconds}
        for name, k in (("nine words", 9), ("single words", 1)):
            row[name] = in_order(doubts, fixed_units(doubts, [], k), wanted, own)[0]
        table.add(f"{switch:.0f} s", row)
    table.note = "Seconds to remove 40 % of the expected errors."
    result.tables.append(table)


def _labels(options: RecipeOptions, labels: dict[str, Any], name: str) -> tuple[Floats, Bools, list[int]]:
    """Probabilities of the English model's labels, which are right, and the sizes of documents."""
    if name not in labels:
        gold = list(read(options.find(name)))
        nlp = load("en")
        plain = [type(doc).from_words([[word.form for word in sentence] for sentence in doc.sentences]) for doc in gold]
        found = list(nlp.pipe(plain, probabilities=True))
        labels[name] = (
            probabilities(found, LAYER), right_labels(gold, found, LAYER), [doc.n_words for doc in gold if doc.n_words]
        )  # fmt: skip
    own: tuple[Floats, Bools, list[int]] = labels[name]
    return own


def _correction(result: RecipeResult, options: RecipeOptions, size: Size, labels: dict[str, Any]) -> None:
    known, right, _ = _labels(options, labels, EWT)
    p, correct, documents = _labels(options, labels, GUM)
    doubts, wrong = Calibrator.fit(known, right)(p), (~correct).astype(np.float64)
    columns = ["plan", "nine words", "single words", "true errors known", "saved on nine %", "saved on words %"]
    table = Table("The tagger's errors on GUM dev: seconds at equal true errors", columns, digits={})
    saved: dict[str, dict[str, float]] = {"nine": {}, "single": {}}
    cost = FixedCost()
    for number, (first, end) in enumerate(_stretches(documents, size.stretch, size.stretches)):
        own, truth = doubts[first:end], wrong[first:end]
        sizes = _within(documents, first, end)
        plan = Planner(own, [Mode("check", cost)], sizes).for_errors(0.4 * float(own.sum()))
        removed = removed_by(plan, truth)
        row = {"plan": plan.seconds}
        for name, k in (("nine words", 9), ("single words", 1)):
            row[name] = in_order(own, fixed_units(own, sizes, k), removed, cost, truth)[0]
        # An oracle knows which words are wrong; its time is that of the same words.
        oracle = Planner(truth, [Mode("check", cost)], sizes).for_errors(removed)
        row["true errors known"] = oracle.seconds
        row["saved on nine %"] = _saved(plan.seconds, row["nine words"])
        row["saved on words %"] = _saved(plan.seconds, row["single words"])
        saved["nine"][f"stretch {number + 1}"] = row["saved on nine %"]
        saved["single"][f"stretch {number + 1}"] = row["saved on words %"]
        table.add(f"stretch {number + 1}, {end - first:,} words, {removed:.0f} errors", row)
    table.note = "40 % of the expected errors; then the others check until they have removed as many true errors."
    result.tables.append(table)
    result.claim(
        "choosing spans by cost and utility takes less time per error than fixed units (paper: 25.2 % less)",
        mean_of(saved["nine"], "against nine words, % saved"),
    )
    for name, bar in (("nine", 20.0), ("single", 18.0)):
        what = "nine-word units" if name == "nine" else "single words"
        result.own(
            f"at 3 s per switch the mean time saved against {what}, at equal true errors, is at least {{bar}} %",
            measured(float(np.mean(list(saved[name].values()))), ">=", bar, digits=1), required=name == "nine",
        )  # fmt: skip


def _stretches(documents: list[int], length: int, most: int) -> list[tuple[int, int]]:
    """Stretches of whole documents of about so many words."""
    found: list[tuple[int, int]] = []
    first = reached = 0
    for words in documents:
        reached += words
        if reached - first >= length and len(found) < most:
            found.append((first, reached))
            first = reached
    return found or [(0, reached)]


def _within(documents: list[int], first: int, end: int) -> list[int]:
    ends = np.cumsum(documents)
    return [size for size, last in zip(documents, ends.tolist(), strict=True) if first < last <= end]


def _times(result: RecipeResult, options: RecipeOptions, size: Size, labels: dict[str, Any]) -> None:
    """Relative errors of predicted times, and sums of means and medians."""
    columns = ["raw linear", "log linear", "raw Gaussian", "log Gaussian", "short raw", "short log"]
    table = Table("Recorded times of post-editors: relative error", columns, digits=dict.fromkeys(columns, 2))
    sums = Table("Recorded times: predicted sum over true sum", ["median", "mean"], digits={"median": 3, "mean": 3})
    better: dict[str, float] = {}
    near: list[float] = []
    spent = []
    for person in PEOPLE[: size.people]:
        x, seconds, words = _recorded(options, person)
        order = np.random.default_rng(options.seed).permutation(len(seconds))
        for count in size.train:
            train, test = order[:count], order[max(size.train) :]
            raw, log = _linear(x, seconds, train, test), LearnedCost.fit(x[train], seconds[train])
            start = time.process_time()
            process = LearnedCost.fit(x[train], seconds[train], "gaussian", seed=options.seed)
            spent.append(time.process_time() - start)
            guesses = {
                "raw linear": raw, "log linear": log.seconds(x[test], mean=False),
                "raw Gaussian": _raw_process(x, seconds, train, test, options.seed),
                "log Gaussian": process.seconds(x[test], mean=False),
            }  # fmt: skip
            truth, short = seconds[test], words[test] <= 10
            row: dict[str, Any] = {name: _relative(guess, truth) for name, guess in guesses.items()}
            row["short raw"] = _relative(guesses["raw Gaussian"][short], truth[short])
            row["short log"] = _relative(guesses["log Gaussian"][short], truth[short])
            table.add(f"{person}, {count} segments", row)
            if count == max(size.train):
                better[person] = row["short raw"] - row["short log"]
                near.append(row["log Gaussian"] - row["log linear"])
                both = {name: log.seconds(x[test], mean=name == "mean").sum() for name in sums.columns}
                sums.add(person, {name: float(total / truth.sum()) for name, total in both.items()})
    table.note = "Mean of |predicted - true| / true, on segments that no model has seen; short: at most 10 words."
    result.tables += [table, sums]
    result.claim(
        "the logarithm of times predicts short segments better than times do", mean_of(better, "relative error")
    )
    result.own(
        "the Gaussian process is within {bar} of the straight line in logarithms",
        measured(max(near), "<=", 0.1, digits=3), required=False,
    )  # fmt: skip
    means = [abs(float(row.ours["mean"] or 0) - 1) for row in sums.rows]
    result.own(
        "sums of means are within {bar} of the true time", measured(max(means), "<=", 0.10, digits=3), required=False
    )
    result.own("a fit of the Gaussian process takes at most {bar} CPU s", measured(max(spent), "<=", 10, digits=1))


def _recorded(options: RecipeOptions, person: str) -> tuple[Floats, Floats, Floats]:
    """Features and seconds of a person's segments; the longest times are breaks."""
    path = options.find(f"crowd/iwslt2019-post-edit/{person}.tsv.gz")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    columns = (SECONDS, OUTPUT_WORDS, SOURCE_WORDS, OUTPUT_LETTERS, EDITS)
    table = np.array([[float(row[column]) for column in columns] for row in rows])
    seconds = table[:, 0] / 1000
    kept = (seconds > 0) & (seconds <= 600) & (table[:, 1:4] > 0).all(axis=1)
    table, seconds = table[kept], seconds[kept]
    features = np.column_stack([np.log(table[:, 1:4]), table[:, 4]])
    return features, seconds, table[:, 1]


def _linear(x: Floats, y: Floats, train: Any, test: Any) -> Floats:
    design = np.column_stack([np.ones(len(x)), np.exp(x[:, :3]), x[:, 3:]])
    weights = np.linalg.lstsq(design[train], y[train], rcond=None)[0]
    guess: Floats = np.maximum(design[test] @ weights, 0.1)
    return guess


def _raw_process(x: Floats, y: Floats, train: Any, test: Any, seed: int) -> Floats:
    from weft.learn.gaussian.process import GaussianProcess

    guess: Floats = np.maximum(GaussianProcess.fit(x[train], y[train], seed=seed).predict(x[test]).mean, 0.1)
    return guess


def _relative(guess: Floats, truth: Floats) -> float:
    return float(np.mean(np.abs(guess - truth) / truth))


def _calibration(result: RecipeResult, options: RecipeOptions, size: Size, labels: dict[str, Any]) -> None:
    table = Table("Expected over true errors", ["calibrated", "as they are", "spread"], digits=dict.fromkeys(
        ("calibrated", "as they are", "spread"), 3))  # fmt: skip
    for name, file in (("EWT dev", EWT), ("GUM dev", GUM)):
        p, right, _ = _labels(options, labels, file)
        rng = np.random.default_rng(options.seed)
        ratios, raw = [], []
        for _ in range(size.halves):
            order = rng.permutation(len(p))
            half, held = order[: len(p) // 2], order[len(p) // 2 :]
            wrong = float((~right[held]).sum())
            ratios.append(float(Calibrator.fit(p[half], right[half])(p[held]).sum()) / wrong)
            raw.append(float((1 - p[held]).sum()) / wrong)
        row = {"calibrated": float(np.mean(ratios)), "as they are": float(np.mean(raw))}
        table.add(name, {**row, "spread": float(np.std(ratios))})
        result.own(
            "over random halves, calibrated expected errors are within {bar} of the true ones in the mean",
            measured(abs(row["calibrated"] - 1), "<=", 0.05, name, digits=3),
        )
    known, right, _ = _labels(options, labels, EWT)
    p, correct, _ = _labels(options, labels, GUM)
    wrong = float((~correct).sum())
    across = float(Calibrator.fit(known, right)(p).sum()) / wrong
    table.add("EWT dev to GUM dev", {"calibrated": across, "as they are": float((1 - p).sum()) / wrong})
    table.note = f"Means over {size.halves} random halves of words."
    result.tables.append(table)


def _segmentation(result: RecipeResult, options: RecipeOptions, size: Size, labels: dict[str, Any]) -> None:
    """What half an hour of labels is worth to a segmenter of another domain, by what is shown."""
    source, held = (
        Positions.of([[word.form for word in sentence] for doc in read(options.find(GSD.format(part)))
                      for sentence in doc.sentences][:limit])
        for part, limit in (("train", size.source), ("dev", None))
    )  # fmt: skip
    test, novel = Positions.of(_novel(options, "test")), _novel(options, "train")
    found: list[dict[str, list[float]]] = []
    for number in range(size.pools):
        order = np.random.default_rng(options.seed + number).permutation(len(novel))[: size.pool]
        pool = Positions.of([novel[k] for k in order.tolist()])
        found.append(curve(source, held, pool, test, size.minutes, FixedCost(), options.seed + number))
    columns = ["0 min", *(f"{each:g} min" for each in size.minutes)]
    table = Table("Word boundaries of a novel: accuracy after so many minutes of labelling", columns)
    for name in found[0]:
        means = 100 * np.mean([own[name] for own in found], axis=0)
        table.add(name, dict(zip(columns, map(float, means), strict=True)))
    table.note = (
        f"Trained on {size.source:,} sentences of Chinese-GSD, which is in traditional characters, and on what was "
        f"labelled of {size.pool:,} sentences of a novel in simplified ones; means of {size.pools} pools. Times are "
        "simulated as above, with a position between two characters in place of a word."
    )
    result.tables.append(table)
    plan, *others = found[0]

    def lead(other: str) -> dict[str, float]:
        return {f"pool {k + 1}": 100 * (own[plan][-1] - own[other][-1]) for k, own in enumerate(found)}

    result.claim(
        "labels of planned spans teach a segmenter more in the same time than those of its least sure positions "
        "(paper: +.38 for an expert)", mean_of(lead(others[0]), "accuracy, points"),
    )  # fmt: skip
    for other in others[1:]:
        gains = list(lead(other).values())
        result.own(
            f"planned spans teach more than {other} do", measured(float(np.mean(gains)), ">", 0, "points", digits=2),
            required=False,
        )  # fmt: skip


def _novel(options: RecipeOptions, part: str) -> list[list[str]]:
    """Segmented sentences of the novel, lines of `word_TAG`."""
    with gzip.open(options.find(NOVEL.format(part)), "rt", encoding="utf-8") as file:
        return [[token.rsplit("_", 1)[0] for token in line.split()] for line in file if line.strip()]


def _scale(result: RecipeResult, options: RecipeOptions, size: Size, labels: dict[str, Any]) -> None:
    columns = ["gap %", "CPU s", "spans"]
    table = Table("Plans for 40 % of the errors, by number of words", columns, digits={"gap %": 3, "CPU s": 2})
    cost = FixedCost()
    for n in size.scale:
        doubts = bursts(options.seed + 7, n)
        documents = [1000] * (n // 1000) + ([n % 1000] if n % 1000 else [])
        start = time.process_time()
        plan = Planner(doubts, [Mode("check", cost)], documents).for_errors(0.4 * float(doubts.sum()))
        spent = time.process_time() - start
        table.add(f"{n:,} words", {"gap %": 100 * plan.gap, "CPU s": spent, "spans": len(plan.work)})
        result.own("the gap is at most {bar} %", measured(100 * plan.gap, "<=", 1.5, f"{n:,} words", digits=3))
        if n <= 5000:
            result.own(
                "a plan for 2,000 to 5,000 words takes at most {bar} CPU s",
                measured(spent, "<=", 10, f"{n:,} words", digits=2),
            )
    result.tables.append(table)
