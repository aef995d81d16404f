"""Held-out line search against other tuners, on a generated bitext and on captions.

    generated    rule probabilities mislead by construction; held-out line search must help
    captions     German to English; every row of the paper that fits into minutes, on a part of Multi30k
    folds        tuning on sentences that the phrases come from, and on others

All rows share one alignment, one extraction, and the fold translators. Weights start at the translator's defaults,
since the paper's random starts need many more decodings; starts differ by the seed of MERT's directions.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from weft.arrays import Ints
from weft.evaluate.significance import Comparison, approximate_randomization, confidence_interval
from weft.learn.tuning.bleu import corpus_bleu, statistics
from weft.learn.tuning.ramp import SparseGradient
from weft.progress import progress
from weft.recipes.claims import compared, mean_of, measured
from weft.recipes.framework import RecipeOptions, RecipeResult, Table
from weft.recipes.translation.hols_smt_tuning.captions import TESTS, Captions, captions
from weft.recipes.translation.hols_smt_tuning.generated import generate
from weft.recipes.variation import Variation
from weft.tasks.translation.kbest import Pair, pairs_of
from weft.tasks.translation.table import TableSettings
from weft.tasks.translation.training import Material, TrainSettings, train
from weft.tasks.translation.translator import FIXED, ORIENTATIONS, Translator, TranslatorSettings
from weft.tasks.translation.tuning import TuneSettings, gradient, held_out_step, ramp_descent, tune

SLUG = "hols-smt-tuning"


@dataclass(frozen=True)
class Size:
    """How much is run."""

    train: int = 8_000  #: sentence pairs of captions
    slope: int = 1_600  #: of them, those that gradients come from
    line: int = 300  #: of the last fold, those that lines are searched on
    dev: int = 300
    test: int = 250  #: of each of the three tests
    generated: int = 1_000  #: sentence pairs of the generated bitext
    generated_seeds: int = 3
    starts: int = 2  #: of MERT and of the last line search
    k: int = 50
    rounds: int = 5
    beam: int = 20


QUICK = Size(800, 200, 100, 100, 60, 500, 1, 1, 20, 3, 10)
VARIATION = Variation((Size,))
CAPTIONS, GENERATED, FOLDS = "Captions, German to English", "Generated bitext", "Tuned inside and outside"
#: The paper's Chinese to English test BLEU, by our names of rows.
PAPER = {"MERT": 34.0, "HOLS, 1 update": 34.6, "HOLS, 2 updates": 35.1, "- folds": 34.0, "- conditioning": 34.2}
#: The table of its comparison on 60,000 sentences: tune and test.
COMPARED = {"PRO": (23.8, 23.6), "MIRA": (21.7, 22.5), "soft ramp SGD": (21.5, 22.3), "HILS": (24.3, 22.4)}


@dataclass
class Scored:
    """A system's row."""

    tune: float
    rows: list[Ints]  #: BLEU statistics of each test, a row per sentence
    seconds: float
    before: float = float("nan")

    @property
    def pooled(self) -> Ints:
        return np.concatenate(self.rows)

    def bleu(self) -> float:
        return 100 * float(corpus_bleu(self.pooled.sum(axis=0)))


@dataclass
class Work:
    """What the rows on captions share."""

    size: Size
    material: Material
    full: Translator
    models: list[Translator]
    fold: Ints
    slope: Ints
    line: Ints
    dev: list[Pair]
    tests: list[list[Pair]]
    settings: TuneSettings
    found: dict[str, list[Scored]] = field(default_factory=dict)
    gradient: SparseGradient | None = None
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def judge(self) -> Translator:
        """The translator made without the fold that lines are searched on."""
        return self.models[-1]

    def line_pairs(self) -> list[Pair]:
        return [replace(pair, model=0) for pair in self.material.pairs(self.line)]

    def set(self, weights: dict[str, float], sparse: Any) -> None:
        for model in (*self.models, self.full):
            model.weights = dict(weights)
            model.sparse = sparse

    def zeros(self) -> Any:
        return np.zeros(self.material.extraction.n_pairs)

    def add(self, name: str, tuned: tuple[float, float], seconds: float) -> None:
        """Translate the tests with the full translator and add a row."""
        rows = [scored(self.full, test) for test in self.tests]
        self.found.setdefault(name, []).append(Scored(100 * tuned[0], rows, seconds, 100 * tuned[1]))


def run(options: RecipeOptions) -> RecipeResult:
    """All tables."""
    size = options.varied(QUICK if options.quick else Size())
    result = RecipeResult(SLUG)
    with progress("parts", 9, "parts") as bar:
        gains = _generated(result, size, lambda: bar.advance(1))
        work = _work(options, size)
        bar.advance(1)
        for part in (_dense, _held_out, _variants, _inside):
            part(work, options)
            bar.advance(1)
    _tables(result, work)
    _claims(result, work, gains)
    result.notes.append(
        f"Captions: {size.train:,} of the 29,000 training pairs of Multi30k, gradients from {size.slope:,} of them, "
        f"lines on {size.line:,}, dev {size.dev:,}, tests {size.test:,} each of 2016, 2017 and 2018, all from the "
        f"beginning of the files; one reference; k = {size.k}, beam {size.beam}, phrases of up to 5 words. The paper "
        "has 302,000 pairs, k = 1,000 and four references."
    )
    return result


def scored(translator: Translator, pairs: Sequence[Pair]) -> Ints:
    """BLEU statistics of translations, a row per sentence."""
    rows = []
    for pair in pairs:
        sentence = translator.sentence(pair.source)
        graph = translator.search(sentence)
        words = np.array(graph.words(graph.best()), np.int32)
        references = [np.array([sentence.number(word) for word in each], np.int32) for each in pair.references]
        rows.append(statistics(words, np.array([0, len(words)]), references)[0])
    return np.array(rows)


def _generated(result: RecipeResult, size: Size, advance: Callable[[], None]) -> dict[str, Comparison]:
    """MERT and held-out line search where they must differ; each seed is another language."""
    table = Table(GENERATED, ["tune MERT", "tune HOLS", "MERT", "HOLS", "gain"])
    found = {}
    for seed in range(size.generated_seeds):
        n, half = size.generated, max(100, size.generated // 5)
        bitext = generate(n + 2 * half, seed)
        part, dev, test = bitext.cut(0, n), bitext.cut(n, n + half), bitext.cut(n + half, n + 2 * half)
        settings = TrainSettings(
            longest=2, order=3, line_pairs=half, table=TableSettings(smoothing=1e-6),
            translator=TranslatorSettings(20, 40, 0),
            tune=TuneSettings(k=size.k, rounds=5, restarts=1, seed=seed, fixed=(*FIXED, *ORIENTATIONS)),
        )  # fmt: skip
        rows, tuned = {}, {}
        for tuner in ("mert", "hols"):
            own = replace(settings, tune=replace(settings.tune, tuner=tuner))
            translator, report = train(part.source, part.target, (dev.source, dev.target), own, links=part.links)
            rows[tuner] = scored(translator, pairs_of(test.source, test.target))
            tuned[tuner] = report["BLEU"]
        other = compare(rows["hols"], rows["mert"])
        found[f"seed {seed}"] = other
        table.add(f"seed {seed}", {
            "tune MERT": tuned["mert"], "tune HOLS": tuned["hols"], "MERT": other.b, "HOLS": other.a,
            "gain": other.difference,
        }, interval={"gain": (other.low, other.high)})  # fmt: skip
        advance()
    table.note = "Test BLEU; intervals of the gain by bootstrap over sentences."
    result.tables.append(table)
    return found


def compare(a: Ints, b: Ints, samples: int = 2000) -> Comparison:
    """Two systems by approximate randomization over sentences, in points of BLEU."""
    found = approximate_randomization(a.astype(float), b.astype(float), corpus_bleu, samples)
    return Comparison(
        100 * found.a, 100 * found.b, 100 * found.low, 100 * found.high, found.p, found.samples, found.exact
    )


def _work(options: RecipeOptions, size: Size) -> Work:
    part = captions(options, "train", "de", "en").first(size.train)
    settings = TrainSettings(
        translator=TranslatorSettings(size.beam, 2 * size.beam), line_pairs=size.line,
        tune=TuneSettings(k=size.k, rounds=size.rounds, restarts=0, seed=options.seed, workers=options.workers),
    )  # fmt: skip
    material = Material.of(part.source, part.target, settings)
    fold = material.folds()
    models = material.fold_translators(fold)
    full = material.translator()
    rng = np.random.default_rng(options.seed)
    last = settings.folds - 1
    slope = np.sort(rng.permutation(np.flatnonzero(fold != last))[: size.slope])
    line = np.sort(rng.permutation(np.flatnonzero(fold == last))[: size.line])
    return Work(
        size, material, full, models, fold, slope, line, _pairs(captions(options, "val", "de", "en"), size.dev),
        [_pairs(captions(options, test, "de", "en"), size.test) for test in TESTS], settings.tune,
    )  # fmt: skip


def _pairs(part: Captions, n: int) -> list[Pair]:
    return pairs_of(part.first(n).source, part.first(n).target)


def _dense(work: Work, options: RecipeOptions) -> None:
    """MERT, PRO and MIRA on dev."""
    start = dict(work.full.weights)
    names = [("MERT", "mert", seed) for seed in range(work.size.starts)] + [("PRO", "pro", 0), ("MIRA", "mira", 0)]
    for name, tuner, seed in names:
        begin = time.process_time()
        work.set(start, None)
        tuned = tune([work.full], work.dev, replace(work.settings, tuner=tuner, seed=options.seed + seed))
        work.add(name, (tuned.bleu, tuned.before), time.process_time() - begin)
    work.set(start, None)
    tune([work.judge], work.line_pairs(), work.settings)
    work.set(work.judge.weights, work.zeros())


def _held_out(work: Work, options: RecipeOptions) -> None:
    """Held-out line search: one update, lines on dev; the same on two sets of training sentences; two updates."""
    base = dict(work.judge.weights)
    pairs = work.material.pairs(work.slope, work.fold)
    begin = time.process_time()
    work.gradient = gradient(work.models, pairs, work.settings)
    shared = time.process_time() - begin
    work.seconds["gradient"] = shared
    for seed in range(work.size.starts):
        _step(work, "HOLS, 1 update", base, [work.full], work.dev, seed=options.seed + seed, shared=shared)
    _step(work, "- conditioning", base, [work.full], work.dev, condition=False, shared=shared)
    _step(work, "HOLS, line on held-out fold", base, [work.judge], work.line_pairs(), shared=shared)
    inside = work.material.pairs(work.slope[: work.size.line], work.fold)
    _step(work, "HILS", base, work.models, inside, shared=shared)
    begin = time.process_time()
    work.set(base, work.zeros())
    half = len(pairs) // 2
    held_out_step(work.models, pairs[:half], [work.judge], work.line_pairs(), work.settings)
    weights, sparse = dict(work.judge.weights), work.judge.sparse
    work.set(weights, sparse)
    found = held_out_step(work.models, pairs[half:], [work.full], work.dev, work.settings)
    work.add("HOLS, 2 updates", (found.tuned.bleu, found.tuned.before), time.process_time() - begin)
    work.set(base, work.zeros())


def _step(
    work: Work, name: str, base: dict[str, float], judges: Sequence[Translator], held_out: Sequence[Pair],
    condition: bool = True, seed: int = 0, shared: float = 0.0,
) -> None:  # fmt: skip
    """A row by one line search, with the gradient that is known."""
    begin = time.process_time()
    work.set(base, work.zeros())
    settings = replace(work.settings, condition=condition, seed=seed)
    found = held_out_step(work.models, [], judges, held_out, settings, known=work.gradient)
    work.set(dict(judges[0].weights), judges[0].sparse)
    work.add(name, (found.tuned.bleu, found.tuned.before), shared + time.process_time() - begin)


def _variants(work: Work, options: RecipeOptions) -> None:
    """Without folds; and by stochastic gradient descent in place of a line search."""
    begin = time.process_time()
    base, held = dict(work.judge.weights), work.gradient
    inside = [replace(pair, model=0) for pair in work.material.pairs(work.slope)]
    work.gradient = gradient([work.full], inside, work.settings)
    _step(work, "- folds", base, [work.full], work.dev, shared=time.process_time() - begin)
    work.gradient = held
    begin = time.process_time()
    work.set(base, work.zeros())
    used = np.bincount(work.material.extraction.pair, minlength=work.material.extraction.n_pairs)
    pairs = work.material.pairs(work.slope, work.fold)
    ramp_descent(work.models, pairs, work.settings, used)
    work.set(dict(work.models[0].weights), work.models[0].sparse)
    dev = scored(work.full, work.dev)
    work.add("soft ramp SGD", (float(corpus_bleu(dev.sum(axis=0))), np.nan), time.process_time() - begin)


def _inside(work: Work, options: RecipeOptions) -> None:
    """MERT on sentences that phrases come from, and on others."""
    start = dict(Translator.of(work.material.extraction, work.full.table, work.full.lm).weights)
    inside = [replace(pair, model=0) for pair in work.material.pairs(work.slope[: work.size.line])]
    for name, model, pairs in (
        ("inside", work.full, inside), ("outside", work.judge, work.line_pairs())
    ):  # fmt: skip
        work.set(start, None)
        tuned = tune([model], pairs, work.settings)
        work.set(dict(model.weights), None)
        work.add(f"MERT {name}", (tuned.bleu, tuned.before), 0.0)


def _tables(result: RecipeResult, work: Work) -> None:
    columns = ["tune", "gain on tune", "2016", "2017", "2018", "test", "sd", "minutes"]
    table = Table(CAPTIONS, columns, digits={"minutes": 1})
    for name, rows in work.found.items():
        if not name.startswith("MERT "):
            table.add(name, _row(rows), _paper(name), interval=_interval(rows[0]))
    table.note = (
        "BLEU; the mean of several starts where there is a standard deviation. HILS is tuned on training sentences "
        "that its gradient comes from, the row above it on as many of the held-out fold, all others on dev."
    )
    result.tables.append(table)
    other = Table(FOLDS, ["tune", "test"])
    for name in ("inside", "outside"):
        row = work.found[f"MERT {name}"][0]
        other.add(name, {"tune": row.tune, "test": row.bleu()})
    other.note = "MERT on as many sentences; only `inside` were they extracted from."
    result.tables.append(other)
    assert work.gradient is not None
    sizes = Table("Sparse features", ["number"], digits={"number": 0})
    sizes.add("phrase pairs of the bitext", {"number": work.material.extraction.n_pairs})
    sizes.add("in k best lists of the gradient", {"number": len(work.gradient.ids)})
    sizes.add("in the lists of one sentence only", {"number": int((work.gradient.lists == 1).sum())})
    sizes.add("sentences per CPU second of the gradient", {"number": len(work.slope) / work.seconds["gradient"]})
    result.tables.append(sizes)


def _row(rows: list[Scored]) -> dict[str, float]:
    tests = [100 * float(np.mean([corpus_bleu(row.rows[k].sum(axis=0)) for row in rows])) for k in range(3)]
    pooled = [row.bleu() for row in rows]
    found = {"tune": float(np.mean([row.tune for row in rows])), "test": float(np.mean(pooled))}
    found |= dict(zip(("2016", "2017", "2018"), tests, strict=True))
    if np.isfinite(rows[0].before):
        found["gain on tune"] = float(np.mean([row.tune - row.before for row in rows]))
    if len(rows) > 1:
        found["sd"] = float(np.std(pooled, ddof=1))
    return {**found, "minutes": float(np.mean([row.seconds for row in rows])) / 60}


def _interval(row: Scored) -> dict[str, tuple[float, float]]:
    found = confidence_interval(row.pooled.astype(float), corpus_bleu, 1000)
    return {"test": (100 * found.low, 100 * found.high)}


def _paper(name: str) -> dict[str, float]:
    if name in PAPER:
        return {"test": PAPER[name]}
    return dict(zip(("tune", "test"), COMPARED[name], strict=True)) if name in COMPARED else {}


def _claims(result: RecipeResult, work: Work, gains: dict[str, Comparison]) -> None:
    def against(one: str, other: str) -> Comparison:
        return compare(work.found[one][0].pooled, work.found[other][0].pooled)

    better = {
        "held-out line search beats MERT": [("HOLS, 1 update", "MERT"), ("HOLS, 2 updates", "MERT")],
        "more updates are better than one": [("HOLS, 2 updates", "HOLS, 1 update")],
        "without folds most of the gain is lost": [("HOLS, 1 update", "- folds")],
        "without conditioning most of the gain is lost": [("HOLS, 1 update", "- conditioning")],
        "a line searched on the sentences of the gradient is worse than MERT": [("MERT", "HILS")],
        "held-out line search beats stochastic gradient descent": [("HOLS, 1 update", "soft ramp SGD")],
        "held-out line search beats MIRA": [("HOLS, 1 update", "MIRA")],
        "PRO beats held-out line search on a small set": [("PRO", "HOLS, 1 update")],
        "tuning on sentences that phrases come from is worse than on others": [("MERT outside", "MERT inside")],
    }
    for text, pairs in better.items():
        for one, other in pairs:
            result.claim(text, compared(against(one, other), f"{one} - {other}", scale=1))
    hils, hols = work.found["HILS"][0], work.found["HOLS, line on held-out fold"][0]
    result.claim(
        "on its own tuning set, line search on the sentences of the gradient gains more",
        measured(hils.tune - hils.before - (hols.tune - hols.before), ">", 0, "points more"),
    )
    inside, outside = work.found["MERT inside"][0], work.found["MERT outside"][0]
    result.claim(
        "BLEU on sentences that phrases come from is far higher",
        measured(inside.tune - outside.tune, ">", 0, "points more"),
    )
    for name, each in gains.items():
        result.own(
            "on the generated bitext held-out line search beats MERT",
            compared(each, name, scale=1),
        )
    if len(gains) > 1:
        result.own(
            "it does so on the mean over languages",
            mean_of({name: each.difference for name, each in gains.items()}, "BLEU"), required=False,
        )  # fmt: skip
    rows = [row for rows in work.found.values() for row in rows if np.isfinite(row.before)]
    result.own(
        "no tuning lowers BLEU of its tuning set", measured(min(row.tune - row.before for row in rows), ">=", 0, "BLEU")
    )
