"""Flexible text segmentation with structured multilabel classification (McDonald, Crammer and Pereira, HLT-EMNLP 2005).

Every segment of a sentence is a separate label, scored by a sum over its consecutive words; k-best MIRA with k = n
trains the weights so that correct segments score at least +1 and wrong ones at most -1:

    w <- argmin ||w' - w||^2   with   w'.f(x, y) >= 1 for gold y,   w'.f(x, y') <= -1 for the wrong y' of the k best

It is compared with taggers with one label per word (perceptron and CRF in IOB2, CRF in BIOES) on the same predicates.
They cannot represent gaps or overlaps, and are trained on the sentences without any, which is best for them.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from pathlib import Path

import numpy as np

from weft.evaluate.labels.spans import SpanReport, evaluate_span_sets
from weft.evaluate.significance import confidence_interval, paired_bootstrap
from weft.formats import read
from weft.recipes.claims import compared, measured
from weft.recipes.corpora.segment_samples import (
    LAYER,
    Labelled,
    Sample,
    document,
    generated,
    layered_columns,
    natural,
    samples_of,
    stand_off,
)
from weft.recipes.framework import Curve, RecipeOptions, RecipeResult, Table
from weft.tasks.spans.chunker import TAGS, WORDS, Chunker, ChunkerSettings
from weft.tasks.spans.gapped import (
    BETWEEN,
    NODE,
    PAIR,
    Found,
    GappedSpanFinder,
    GappedSpanSettings,
    above,
    sentence_segments,
    split_by_shape,
    threshold_curve,
    with_gaps,
)

SLUG = "structured-multilabel-segmentation"
CHUNKS = "chunking/conll2000/train.txt.gz", "chunking/conll2000/test.txt.gz"
NAMES = "ner/conll2003-en/train.txt.gz", "ner/conll2003-en/dev.txt.gz"
ABSTRACTS = "ner/jnlpba/train-800-abstracts.standoff.tar.gz"
NOVELS = "ner/litbank-nested/entities.tsv.tar.gz"
GERMAN = "ner/germeval2014-de/dev.tsv.gz", "ner/germeval2014-de/test.tsv.gz"

#: Training sentences of flat and nested spans, and how many of five folds are scored: all of them take an hour.
TRAIN, SCORED = 4000, 1

#: Predicates of the CRF shallow parser for chunks; words, tags and spelling around a word for names.
CHUNK_WORDS, CHUNK_MORE = f"true {WORDS} {TAGS}", "pair: w[0] t[0]\nbetween: w[0] t[0]"
NAME_WORDS, NAME_MORE = f"{NODE} t[-1..1]", "pair: w[0] w[0].shape t[0]\nbetween: w[0].lower t[0]"
PLAIN_WORDS = f"{NODE} w[-2].lower w[2].lower"
PLAIN_MORE = f"pair: {PAIR} w[-1].lower w[1].lower\nbetween: {BETWEEN} w[0].lower|w[1].lower"
FIELDS = {"w": "form", "t": "xpos"}

TAGGERS = {"perceptron, IOB2": ("perceptron", "IOB2"), "CRF, IOB2": ("crf", "IOB2"), "CRF, BIOES": ("crf", "BIOES")}
PAPER_NAMES = {
    "perceptron, IOB2": (82.46, 83.14, 82.80),
    "CRF, IOB2": (83.36, 83.57, 83.47),
    "multilabel": (92.47, 74.19, 82.33),
    "multilabel, restricted": (91.08, 76.68, 83.26),
}
PAPER_CHUNKS = {
    "perceptron, IOB2": (94.22, 93.88, 94.05),
    "CRF, IOB2": (94.57, 94.00, 94.29),
    "multilabel": (94.65, 92.28, 93.45),
    "multilabel, restricted": (94.10, 93.70, 93.90),
}
PAPER_CHEMICALS = {
    "perceptron, IOB2": (82.98, 79.40, 81.15, None, 0.0, 0.0),
    "CRF, IOB2": (85.85, 79.06, 82.31, None, 0.0, 0.0),
    "multilabel": (88.24, 80.84, 84.38, 62.56, 33.67, 43.78),
    "multilabel, restricted": (88.55, 84.59, 86.53, 72.58, 45.92, 56.25),
}
EVERY = "Mentions of JNLPBA, a generated ellipsis in every sentence"
PRF = ["P", "R", "F"]
GAPS = ["gap P", "gap R", "gap F"]  # of discontinuous segments
ODD = ["shared P", "shared R", "shared F"]  # of segments that share words with another


@dataclass
class Output:
    """A system's predictions on a test set, and its cost."""

    segments: list[list[Labelled]]
    cpu_seconds: float
    ranked: list[list[Found]] | None = None  # for multilabel systems: all of the k best, whatever the threshold
    threshold: float = 0.0  # the best on held-out sentences; `segments` are those above 0

    def report(self, gold: Sequence[Sequence[Labelled]]) -> SpanReport:
        return evaluate_span_sets(gold, self.segments)

    def gap_report(self, gold: Sequence[Sequence[Labelled]]) -> SpanReport:
        """Scores of the discontinuous segments alone."""
        return evaluate_span_sets(with_gaps(gold), with_gaps(self.segments))

    def tuned(self) -> Output:
        """The same ranking cut at the threshold chosen on held-out sentences."""
        assert self.ranked is not None
        return Output(above(self.ranked, self.threshold), self.cpu_seconds, self.ranked, self.threshold)

    def odd_report(self, gold: Sequence[Sequence[Labelled]]) -> SpanReport:
        """Scores of the segments that one label per word cannot represent."""
        return evaluate_span_sets(split_by_shape(gold)[1], split_by_shape(self.segments)[1])


def gold_of(samples: Sequence[Sample]) -> list[list[Labelled]]:
    """The segments of samples."""
    return [list(sample.segments) for sample in samples]


def multilabel(
    train: Sequence[Sample],
    test: Sequence[Sample],
    templates: str,
    restrictions: str = "none",
    dev: Sequence[Sample] | None = None,
    epochs: int = 8,
    seed: int = 0,
    gap: int = 10,
) -> Output:
    """Train a segment predictor and rank those of test sentences; dev sentences stop training and set a threshold."""
    started = time.process_time()
    settings = GappedSpanSettings(
        layer=LAYER, templates=templates, fields=_fields(templates), restrictions=restrictions, epochs=epochs,
        seed=seed, gap=gap,
    )  # fmt: skip
    finder = GappedSpanFinder(settings)
    finder.fit([document(train)], None if dev is None else [document(dev)])
    seconds = time.process_time() - started
    ranked = finder.ranked([document(test)])
    return Output(above(ranked), seconds, ranked, settings.threshold)


def tagger(
    train: Sequence[Sample],
    test: Sequence[Sample],
    templates: str,
    kind: str = "CRF, IOB2",
    dev: Sequence[Sample] | None = None,
    epochs: int = 8,
    seed: int = 0,
) -> Output:
    """Train a tagger with one label per word on the sentences that it can represent, and label test sentences.

    A CRF's F on dev sentences increases with plateaus: with less patience it stops a point below its best.
    """
    learner, scheme = TAGGERS[kind]
    started = time.process_time()
    settings = ChunkerSettings(
        layer=LAYER, templates=f"{templates} y[-1]", fields=_fields(templates), learner=learner, scheme=scheme,
        epochs=epochs, iterations=100, patience=20, seed=seed, calibrate=False,
    )  # fmt: skip
    chunker = Chunker(settings)
    flat = [sample for sample in train if sample.flat]
    held_out = None if dev is None else [document([sample for sample in dev if sample.flat])]
    chunker.fit([document(flat)], held_out)
    seconds = time.process_time() - started
    doc = document(test)
    chunker([doc])
    return Output(sentence_segments(doc, LAYER), seconds)


def _fields(templates: str) -> dict[str, str]:
    return FIELDS if "t[" in templates else {"w": "form"}


def chunk_samples(path: Path, types: Sequence[str] = ("NP",)) -> list[Sample]:
    """The sentences of CoNLL-2000 with chunks of some types."""
    return list(samples_of(read(path, format="columns"), "chunks", types))


def name_samples(path: Path) -> list[Sample]:
    """The sentences of CoNLL-2003 with their names."""
    return [sample for sample in samples_of(read(path, format="columns"), "entities") if sample.words]


def folds(samples: Sequence[Sample], n: int = 5, seed: int = 0) -> list[tuple[list[Sample], list[Sample]]]:
    """Training and test parts, split by text."""
    texts = sorted({sample.text for sample in samples})
    order = np.random.default_rng(seed).permutation(len(texts))
    part = {texts[i]: int(place) % n for place, i in enumerate(order)}
    return [
        ([s for s in samples if part[s.text] != fold], [s for s in samples if part[s.text] == fold])
        for fold in range(n)
    ]


def run(options: RecipeOptions) -> RecipeResult:
    """All tables: chunks and names, coordination ellipsis, nested names; and the curve of thresholds."""
    result = RecipeResult(SLUG)
    _flat(options, result, "NP chunks, CoNLL-2000 test", CHUNKS, CHUNK_WORDS, CHUNK_MORE, PAPER_CHUNKS)
    _flat(options, result, "Names, CoNLL-2003 test-a", NAMES, NAME_WORDS, NAME_MORE, PAPER_NAMES)
    abstracts = natural(stand_off(options.find(ABSTRACTS)))
    if options.quick:
        abstracts = abstracts[:1200]
    parts = folds(abstracts, 5, options.seed)[:SCORED]
    _ellipsis(
        options, result, parts, {"Mentions of JNLPBA, natural ellipsis": [True for _, test in parts for _ in test]}
    )
    some = generated(abstracts, 0.3 if options.quick else 0.06, options.seed)
    every = generated(abstracts, 1.0, options.seed + 1)
    changed = {id(new) for old, new in zip(abstracts, every, strict=True) if new is not old}
    tests = [[sample for sample in test if id(sample) in changed] for _, test in folds(every, 5, options.seed)]
    parts = [(train, [*test, *more]) for (train, test), more in zip(folds(some, 5, options.seed), tests, strict=True)][
        :SCORED
    ]
    of_every = [id(sample) in changed for _, test in parts for sample in test]
    views = {
        "Mentions of JNLPBA, natural and generated ellipsis": [not each for each in of_every],
        EVERY: of_every,
    }
    _ellipsis(options, result, parts, views)
    _nested(options, result)
    result.notes.append(
        "The corpus of the paper (PennBioIE CYP450) is not at hand: the paper's figures beside ours in the tables of "
        "ellipsis are for other text, and test-a of CoNLL-2003 stands for test-b. JNLPBA has no part-of-speech tags "
        f"here: templates of tags are off. Flat and nested spans are learned from the first {TRAIN:,} sentences; of "
        f"five folds by abstract, {SCORED} is scored."
    )
    return result


def _flat(
    options: RecipeOptions,
    result: RecipeResult,
    title: str,
    files: tuple[str, str],
    words: str,
    more: str,
    paper: dict[str, tuple[float, float, float]],
) -> None:
    """Contiguous segments without overlap: the value of restrictions, and how close the tagger is."""
    load = chunk_samples if files is CHUNKS else name_samples
    train, test = (load(options.find(name)) for name in files)
    train, test = (train[:1000], test[:300]) if options.quick else (train[:TRAIN], test)
    n_dev = len(train) // 10
    train, dev = train[:-n_dev], train[-n_dev:]
    gold = gold_of(test)
    outputs = {kind: tagger(train, test, words, kind, dev, seed=options.seed) for kind in TAGGERS}
    templates = f"{words}\n{more}"
    outputs["multilabel"] = multilabel(train, test, templates, "none", dev, seed=options.seed)
    outputs["multilabel, restricted"] = multilabel(
        train, test, templates, "contiguous no-overlap", dev, seed=options.seed
    )
    table = Table(title, [*PRF, "CPU s"], digits={"CPU s": 0})
    for name, output in outputs.items():
        report = output.report(gold)
        ours = {**_percent(report, PRF), "CPU s": output.cpu_seconds}
        table.add(name, ours, dict(zip(PRF, paper.get(name, ()), strict=False)), {"F": _interval(report)})
    free, bound, crf = (outputs[name].report(gold) for name in ("multilabel", "multilabel, restricted", "CRF, IOB2"))
    against = paired_bootstrap(bound.counts, crf.counts, samples=2000)
    table.note = (
        f"Restricted minus CRF: {100 * against.difference:.2f} [{100 * against.low:.2f}, {100 * against.high:.2f}], "
        f"p {against.p:.3f} (paired bootstrap over sentences). Epochs and iterations are chosen on held-out sentences."
    )
    result.tables.append(table)
    result.claim("without restrictions precision is more than {bar} point above recall",
                 measured(_ahead(free), ">", 1, title), required=True)  # fmt: skip
    for measure in ("recall", "f1"):
        raised = paired_bootstrap(bound.counts, free.counts, measure, samples=2000)
        result.claim("restrictions raise recall and F", compared(raised, f"{title}, {measure}"))
    result.claim("the restricted model is at most {bar} F below the CRF",
                 compared(paired_bootstrap(crf.counts, bound.counts, samples=2000), title, "<=", 1))  # fmt: skip
    for name in ("multilabel", "multilabel, restricted"):
        _curve(result, f"{title}: {name}", outputs[name], gold)


def _curve(result: RecipeResult, title: str, output: Output, gold: Sequence[Sequence[Labelled]]) -> None:
    """Figure 5: precision, recall and F by threshold, from one decoding."""
    assert output.ranked is not None
    points = threshold_curve(output.ranked, gold)
    lines = {
        "precision": [(theta, 100 * score.precision) for theta, score in points],
        "recall": [(theta, 100 * score.recall) for theta, score in points],
        "F": [(theta, 100 * score.f1) for theta, score in points],
    }
    result.curves.append(Curve(f"Thresholds, {title}", "threshold", "%", lines))
    best = max(score.f1 for _, score in points)
    at_zero = next(score.f1 for theta, score in points if theta == 0.0)
    result.claim("a threshold of 0 is less than {bar} F below the best one",
                 measured(100 * (best - at_zero), "<", 1, title))  # fmt: skip


def _ellipsis(
    options: RecipeOptions,
    result: RecipeResult,
    parts: list[tuple[list[Sample], list[Sample]]],
    views: dict[str, list[bool]],
) -> None:
    """Segments with gaps, in folds by abstract; a view is a table and selects the test sentences it scores."""
    kinds = {
        **dict.fromkeys(TAGGERS),
        "multilabel": "none",
        "multilabel, restricted": "no-embedding",
    }
    outputs: dict[str, Output] = {}
    for kind, restrictions in kinds.items():
        found = [_fold(train, test, kind, restrictions, options.seed) for train, test in parts]
        outputs[kind] = _joined(found)
        if restrictions is not None:
            outputs[f"{kind}, threshold tuned"] = _joined([output.tuned() for output in found])
    gold = [segments for _, test in parts for segments in gold_of(test)]
    for title, chosen in views.items():
        seen = {
            kind: Output(list(compress(output.segments, chosen)), output.cpu_seconds)
            for kind, output in outputs.items()
        }
        _ellipsis_table(result, title, seen, list(compress(gold, chosen)), title == EVERY and not options.quick)


def _ellipsis_table(
    result: RecipeResult, title: str, outputs: dict[str, Output], gold: list[list[Labelled]], required: bool
) -> None:
    """All segments, and those that taggers cannot represent."""
    table = Table(title, [*PRF, *GAPS, "CPU s"], digits={"CPU s": 0})
    for kind, output in outputs.items():
        report, gaps = output.report(gold), output.gap_report(gold)
        ours = {**_percent(report, PRF), **_percent(gaps, GAPS), "CPU s": output.cpu_seconds}
        figures = zip([*PRF, *GAPS], PAPER_CHEMICALS.get(kind, ()), strict=False)
        paper = {name: value for name, value in figures if value is not None}
        table.add(kind, ours, paper, {"F": _interval(report), "gap F": _interval(gaps)})
    best, crf = outputs["multilabel, restricted, threshold tuned"], outputs["CRF, IOB2"]
    against = paired_bootstrap(best.report(gold).counts, crf.report(gold).counts, samples=2000)
    share = sum(map(len, with_gaps(gold))) / max(1, sum(map(len, gold)))
    table.note = (
        f"Gap: discontinuous segments only, {100 * share:.1f} % of all. Restricted: no embedding; tuned, minus CRF "
        f"(IOB2): {100 * against.difference:.2f} [{100 * against.low:.2f}, {100 * against.high:.2f}], p {against.p:.3f}"
    )
    result.tables.append(table)
    of_gaps = best.gap_report(gold).score
    result.claim("F of discontinuous segments is above {bar}", measured(100 * of_gaps.f1, ">", 40, title))
    blind = [outputs[kind].gap_report(gold).score.recall for kind in TAGGERS]
    result.own("taggers find no discontinuous segment", measured(100 * max(blind), "<=", 0, f"{title}, recall"))
    result.claim("F of all segments is above the CRF's", compared(against, title), required=required)


def _fold(train: list[Sample], test: list[Sample], kind: str, restrictions: str | None, seed: int) -> Output:
    """One fold; a tenth of the training part is held out."""
    inner, dev = folds(train, 10, seed)[0]
    if restrictions is None:
        return tagger(inner, test, PLAIN_WORDS, kind, dev, seed=seed)
    return multilabel(inner, test, f"{PLAIN_WORDS}\n{PLAIN_MORE}", restrictions, dev, epochs=5, seed=seed, gap=8)


def _joined(found: Sequence[Output]) -> Output:
    segments = [sentence for output in found for sentence in output.segments]
    return Output(segments, sum(each.cpu_seconds for each in found))


def _nested(options: RecipeOptions, result: RecipeResult) -> None:
    """Nested names: novels (80/20 by novel) and German newspapers and Wikipedia."""
    novels = layered_columns(options.find(NOVELS))
    texts = sorted({sample.text for sample in novels})
    last = set(texts[int(0.8 * len(texts)) :])
    german = [layered_columns(options.find(name), 1, slice(2, 4)) for name in GERMAN]
    pairs = {
        "Nested names, LitBank": ([s for s in novels if s.text not in last], [s for s in novels if s.text in last]),
        "Nested names, GermEval 2014 (trained on its dev part)": (german[0], german[1]),
    }
    for title, (train, test) in pairs.items():
        train, test = (train[:800], test[:300]) if options.quick else (train[:TRAIN], test)
        gold = gold_of(test)
        table = Table(title, [*PRF, *ODD, "CPU s"], digits={"CPU s": 0})
        systems = {
            "CRF, IOB2": tagger(train, test, PLAIN_WORDS, seed=options.seed),
            "multilabel": multilabel(train, test, f"{PLAIN_WORDS}\n{PLAIN_MORE}", "none", epochs=5, seed=options.seed),
            "multilabel, contiguous": multilabel(
                train, test, f"{PLAIN_WORDS}\n{PLAIN_MORE}", "contiguous", epochs=5, seed=options.seed
            ),
        }
        for name, output in systems.items():
            report, odd = output.report(gold), output.odd_report(gold)
            ours = {**_percent(report, PRF), **_percent(odd, ODD), "CPU s": output.cpu_seconds}
            table.add(name, ours, None, {"F": _interval(report), "shared F": _interval(odd)})
        result.tables.append(table)
        odd_f = systems["multilabel, contiguous"].odd_report(gold).score.f1
        result.own("nested names are found", measured(100 * odd_f, ">", 0, f"{title}, F"))


def _percent(report: SpanReport, columns: Sequence[str]) -> dict[str, float]:
    score = report.score
    return dict(zip(columns, (100 * score.precision, 100 * score.recall, 100 * score.f1), strict=True))


def _interval(report: SpanReport) -> tuple[float, float]:
    interval = confidence_interval(report.counts, samples=1000)
    return 100 * interval.low, 100 * interval.high


def _ahead(report: SpanReport) -> float:
    return 100 * (report.score.precision - report.score.recall)
