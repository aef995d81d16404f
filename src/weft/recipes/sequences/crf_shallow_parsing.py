"""Shallow parsing with conditional random fields (Sha and Pereira, HLT-NAACL 2003).

Base noun phrases of CoNLL-2000 with a globally normalized second-order chain over the 8 pairs of chunk tags
BB BI BO IB II IO OB OO, compared with other models on the same encoding, and five ways to train it:

    L'(w) = sum_k [ w . F(y_k, x_k) - log Z_w(x_k) ] - ||w||^2 / (2 sigma^2)

Two feature sets: *supported* (pairs of input and label predicates seen in training) and *complete* (all pairs). The
prior width and the number of iterations are chosen by cross-validation on the training file; the paper's held-out
section is not available, and a tenth of the training file is too small to distinguish the settings.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.evaluate.labels.spans import SpanReport, conlleval
from weft.evaluate.significance import confidence_interval, mcnemar, paired_bootstrap
from weft.features.templates import Templates
from weft.formats import read
from weft.learn.chains.labels import LabelSpace
from weft.learn.training import EarlyStopping, Result, Step
from weft.recipes.claims import Sense, compared, gain, measured
from weft.recipes.framework import Curve, RecipeOptions, RecipeResult, Table
from weft.recipes.variation import Rows, Variation, changed, where_run
from weft.tasks.labelling.chain_data import ChainData, ChainReader
from weft.tasks.labelling.labeller import LabellerSettings, decode, learn
from weft.tasks.spans.chunker import TAGS, WORDS
from weft.text.corpus import Corpus
from weft.text.doc import Doc
from weft.text.schemes import encode

SLUG = "crf-shallow-parsing"
TRAIN, TEST = "chunking/conll2000/train.txt.gz", "chunking/conll2000/test.txt.gz"
FOLDS = 3
FIELDS = {"w": "form", "t": "xpos"}

#: The 19 input predicates of table 1 and `true`; the paper's c(y) is the label without history, its y the pair.
PREDICATES = f"true {WORDS} {TAGS}"
SECOND_ORDER = f"(true y[-1])|({PREDICATES}) y[-2]|y[-1]"
FIRST_ORDER = f"{PREDICATES} y[-1]"

PAPER_F = {"CRF, complete": 94.38, "CRF, supported": 94.19, "MEMM": 93.70,
           "perceptron, supported": 94.09, "perceptron, complete": 94.07}  # fmt: skip
PAPER_TRAINING = {
    "preconditioned CG": {"test F": 94.19, "L'": -2968},
    "mixed CG": {"test F": 94.20, "L'": -2990},
    "CG": {"test F": 94.04, "L'": -2967},
    "L-BFGS": {"test F": 94.19, "L'": -2948},
    "GIS": {"test F": 93.55, "L'": -5668},
}
PAPER_MCNEMAR = {"CRF vs MEMM": 0.00109, "CRF vs perceptron": 0.116, "MEMM vs perceptron": 0.0734}
#: Rows: templates, whether the feature set is complete, learner.
ROWS = {
    "CRF, complete": (SECOND_ORDER, True, "crf"),
    "CRF, supported": (SECOND_ORDER, False, "crf"),
    "CRF, first order": (FIRST_ORDER, False, "crf"),
    "MEMM": (SECOND_ORDER, False, "memm"),
    "perceptron, supported": (SECOND_ORDER, False, "perceptron"),
    "perceptron, complete": (SECOND_ORDER, True, "perceptron"),
}
#: Parts of the experiment beside the rows.
BY_OPTIMIZER, ALL_TYPES = "training methods", "all chunk types"
VARIATION = Variation((LabellerSettings,), (*ROWS, BY_OPTIMIZER, ALL_TYPES))
OPTIMIZERS = {"L-BFGS": "lbfgs", "preconditioned CG": "pcg", "mixed CG": "mixed", "CG": "cg", "GIS": "gis"}

#: What the paper says about pairs of learners, and the sign of the first less the second.
ORDER: dict[str, tuple[str, Sense]] = {
    "CRF vs MEMM": ("the CRF is above the MEMM in F (paper: 0.68)", ">"),
    "CRF vs perceptron": ("the CRF is above the perceptron in F (paper: 0.29)", ">"),
    "MEMM vs perceptron": ("the perceptron is above the MEMM in F (paper: 0.39)", "<"),
}


@dataclass
class Sentences:
    """Documents with one chunk label per word."""

    docs: list[Doc]
    labels: list[list[str]]  # of every sentence

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def flat(self) -> list[str]:
        return [label for sentence in self.labels for label in sentence]


def sentences(corpus: Corpus, types: Sequence[str] | None = ("NP",)) -> Sentences:
    """Sentences with the chunks of some types in IOB2 (None: of all types), the others outside."""
    docs = list(corpus)
    labels: list[list[str]] = []
    for doc in docs:
        spans = [(*pieces[0], label) for pieces, label in doc.spans["chunks"] if types is None or label in types]
        flat = encode(spans, doc.n_words, "IOB2")
        labels += [flat[first:end] for first, end in pairwise(doc.sentence_offsets.tolist())]
    return Sentences(docs, labels)


@dataclass
class Trained:
    """A trained model, its training cost, and its predictions on a test set."""

    data: ChainData
    settings: LabellerSettings
    result: Result
    cpu_seconds: float
    report: SpanReport | None = None
    right: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))

    def label(self, test: Sentences, weights: NDArray[np.float64] | None = None) -> list[list[str]]:
        """Labels of sentences under the trained (or other) weights."""
        space = self.data.model.space
        names = np.array(space.labels)
        found: list[list[str]] = []
        for batch in self.data.encode(test.docs).batches():
            chain = self.data.model.score(batch, self.result.weights if weights is None else weights)
            labels = names[space.tags(decode(chain, self.settings.learner))].tolist()
            found += [labels[first:end] for first, end in pairwise(batch.sentences.tolist())]
        return found

    def evaluate(self, test: Sentences) -> SpanReport:
        """Score a test set, and record which words are correct."""
        system = self.label(test)
        pairs = zip(test.flat, (label for sentence in system for label in sentence), strict=True)
        self.right = np.array([gold == label for gold, label in pairs])
        self.report = conlleval(test.labels, system)
        return self.report

    @property
    def f1(self) -> float:
        """F1 on the most recently evaluated test set."""
        return 0.0 if self.report is None else self.report.score.f1

    @property
    def penalized_likelihood(self) -> float:
        return -self.result.loss


def build(train: Sentences, templates: str = SECOND_ORDER, complete: bool = False) -> ChainData:
    """Index a training set: the supported or the complete feature set."""
    read_templates = Templates(templates)
    space = LabelSpace(sorted(set(train.flat)), read_templates.order, "IOB2")
    reader = ChainReader(read_templates, FIELDS)
    return ChainData.build(reader, train.docs, space.ids(train.flat), space, seen_only=not complete)


def fit(
    data: ChainData,
    learner: str = "crf",
    optimizer: str = "lbfgs",
    sigma: float = 1.0,
    iterations: int = 100,
    epochs: int = 10,
    seed: int = 0,
    workers: int = 1,
    dev: Sentences | None = None,
    patience: int = 5,
    every: int = 2,
    changes: Mapping[str, Any] | None = None,
) -> Trained:
    """Train on an indexed set; with dev sentences, stop when their F no longer increases and keep the best weights."""
    settings = LabellerSettings(
        learner=learner,
        optimizer=optimizer,
        memory=6,
        sigma=sigma,
        iterations=iterations,
        epochs=epochs,
        seed=seed,
        workers=workers,
    )
    settings = replace(settings, **(changes or {}))
    started = time.process_time()
    trained = Trained(data, settings, Result(np.zeros(0), 0.0, 0, 0, [], ""), 0.0)
    early = None
    if dev is not None:

        def score(weights: NDArray[np.float64]) -> float:
            return conlleval(dev.labels, trained.label(dev, weights)).score.f1

        early = EarlyStopping(score, patience, every)
    trained.result = learn(data, settings, early)
    trained.cpu_seconds = time.process_time() - started
    return trained


@dataclass(frozen=True)
class Choice:
    """A setting chosen by cross-validation, with its F on the held-out folds."""

    sigma: float
    iterations: int
    f1: float


def cross_validate(
    corpus: Corpus,
    templates: str,
    complete: bool,
    learner: str,
    sigmas: Sequence[float] = (1.0,),
    limit: int = 120,
    every: int = 20,
    workers: int = 1,
    folds: int = FOLDS,
) -> list[Choice]:
    """F for every prior and number of iterations (or epochs), the mean over folds of the training file, best first."""
    n = sum(doc.n_sentences for doc in corpus)
    cuts = [n * fold // folds for fold in range(folds + 1)]
    scores: dict[tuple[float, int], list[float]] = {}
    for first, end in pairwise(cuts):
        held_out = sentences(corpus.slice_sentences(first, end))
        rest = [*corpus.slice_sentences(0, first), *corpus.slice_sentences(end)]
        data = build(sentences(Corpus(rest)), templates, complete)
        for sigma in sigmas:
            trial = fit(data, learner, sigma=sigma, iterations=limit, epochs=limit, workers=workers, dev=held_out,
                        patience=limit, every=every)  # fmt: skip
            for row in trial.result.history:
                if row.iteration % every == 0:
                    scores.setdefault((sigma, row.iteration), []).append(row.score)
    found = [Choice(sigma, at, float(np.mean(each))) for (sigma, at), each in scores.items() if len(each) == folds]
    return sorted(found, key=lambda choice: (-choice.f1, choice.iterations, choice.sigma))


def run(options: RecipeOptions) -> RecipeResult:
    """The whole experiment: other models, optimizers, all chunk types."""
    result = RecipeResult(SLUG)
    small = options.quick
    corpus = read(options.find(TRAIN), format="columns").load()
    test_corpus = read(options.find(TEST), format="columns").load()
    if small:
        corpus, test_corpus = corpus.take_sentences(1000).load(), test_corpus.take_sentences(300).load()
    train, test = sentences(corpus), sentences(test_corpus)
    choices = _choices(options, result, corpus)
    rivals = _rivals(options, result, choices, train, test)
    _significance(result, rivals)
    if options.wants(BY_OPTIMIZER):
        _optimizers(options, result, train, test, sigma=1.0, cap=40 if small else 300)
    with where_run():
        _frozen(result, rivals["CRF, complete"], test)
    if options.wants(ALL_TYPES):
        _all_types(options, result, choices["crf"], corpus, test_corpus)
    return result


def _choices(options: RecipeOptions, result: RecipeResult, corpus: Corpus) -> dict[str, Choice]:
    """Prior and iterations of every learner, by cross-validation on the training file."""
    table = Table(f"Mean F of {FOLDS} folds of the training file", ["F", "sigma", "iterations"],
                  digits={"sigma": 1, "iterations": 0})  # fmt: skip
    sigmas, limit, every = ([1.0], 30, 10) if options.quick else ([0.5, 1.0, 3.0, 10.0], 120, 20)
    found: dict[str, Choice] = {}
    needed = {learner for _, _, learner in options.chosen(ROWS).values()} | (
        {"crf"} if options.wants(ALL_TYPES) else set()
    )
    for learner, name in (("crf", "CRF, complete"), ("memm", "MEMM"), ("perceptron", "perceptron, supported")):
        if learner not in needed:
            continue
        complete = learner == "crf"
        if learner == "perceptron":
            tried = cross_validate(corpus, SECOND_ORDER, complete, learner, limit=10, every=1)
        else:
            tried = cross_validate(corpus, SECOND_ORDER, complete, learner, sigmas, limit, every, options.workers)
        found[learner] = tried[0]
        shown = {choice.sigma: choice for choice in reversed(tried)}  # the best of every prior
        for sigma in sorted(shown):
            choice = shown[sigma]
            prior = "" if learner == "perceptron" else f", sigma {sigma:g}"
            table.add(f"{name}{prior}", {"F": 100 * choice.f1, "sigma": None if not prior else sigma,
                                         "iterations": choice.iterations})  # fmt: skip
    table.note = (
        f"Of every prior the best number of iterations (every {every} up to {limit}; of the perceptron epochs). The "
        "best row of a learner is its setting in the tables below; all CRFs take that of the complete set, all "
        "perceptrons that of the supported one."
    )
    result.tables.append(table)
    return found


def _rivals(
    options: RecipeOptions, result: RecipeResult, choices: dict[str, Choice], train: Sentences, test: Sentences
) -> Rows[Trained]:
    """Table 1: the models on one encoding."""
    table = Table(
        "NP chunking, CoNLL-2000 test", ["P", "R", "F", "sigma", "iterations", "L'", "calls", "CPU s"],
        digits={"L'": 0, "sigma": 1, "iterations": 0, "calls": 0, "CPU s": 0},
    )  # fmt: skip
    rows, changes = options.chosen(ROWS), changed(LabellerSettings, options.vary)
    found: Rows[Trained] = Rows({}, rows.left_out)
    for name, (templates, complete, learner) in rows.items():
        if learner == "perceptron":
            continue
        sigma, iterations = choices[learner].sigma, choices[learner].iterations
        final = fit(build(train, templates, complete), learner, sigma=sigma, iterations=iterations,
                    workers=options.workers, changes=changes)  # fmt: skip
        found[name] = final
        report = final.evaluate(test)
        ours = {**_prf(report), "sigma": sigma, "iterations": final.result.iterations,
                "L'": final.penalized_likelihood, "calls": final.result.calls, "CPU s": final.cpu_seconds}  # fmt: skip
        table.add(name, ours, _paper(name), {"F": _percent_interval(report)})
    for name, (_, complete, learner) in rows.items():
        if learner != "perceptron":
            continue
        epochs = choices["perceptron"].iterations
        on_all = build(train, complete=complete)
        shuffles = [
            fit(on_all, "perceptron", epochs=epochs, seed=options.seed + shuffle, changes=changes)
            for shuffle in range(2 if options.quick else 5)
        ]
        reports = [each.evaluate(test) for each in shuffles]
        scores = np.array([100 * report.score.f1 for report in reports])
        # The median shuffle represents the five in comparisons.
        found[name] = shuffles[int(np.argsort(scores)[len(scores) // 2])]
        mean = {
            "P": 100 * float(np.mean([report.score.precision for report in reports])),
            "R": 100 * float(np.mean([report.score.recall for report in reports])),
            "F": float(scores.mean()),
        }
        seconds = float(np.mean([each.cpu_seconds for each in shuffles]))
        ours = {**mean, "iterations": epochs, "CPU s": seconds}
        table.add(name, ours, _paper(name), {"F": (float(scores.min()), float(scores.max()))})
    table.note = (
        "Intervals: bootstrap over sentences, 95 %; for the perceptron (mean of 5 shuffles) lowest and highest. "
        "The MEMM is trained with L-BFGS: its objective is strictly convex, so the optimizer does not matter."
    )
    result.tables.append(table)
    with where_run():
        _sizes(result, found)
    with where_run():
        _order(options, result, found)
    return found


def _sizes(result: RecipeResult, found: Rows[Trained]) -> None:
    n_complete, n_supported = found["CRF, complete"].data.model.size, found["CRF, supported"].data.model.size
    times = n_complete / n_supported
    result.claim(
        "the complete set is within {bar} of 4.5 times the supported set (paper: 3.8 million and 820,000 features)",
        measured(abs(times - 4.5), "<=", 0.5, f"{n_complete:,} and {n_supported:,}, {times:.2f} times, off by"),
        required=True,
    )


def _order(options: RecipeOptions, result: RecipeResult, found: Rows[Trained]) -> None:
    bar = 88.0 if options.quick else 94.3
    crf = measured(100 * found["CRF, complete"].f1, ">=", bar, unit="F")
    result.claim("the CRF reaches F {bar} (paper: 94.38)", crf, required=True)


def _significance(result: RecipeResult, rivals: Rows[Trained]) -> None:
    """McNemar on word labels and paired bootstrap on sentences."""
    table = Table(
        "Are the differences real?", ["only first right", "only second right", "McNemar p", "F difference", "p"],
        digits={"only first right": 0, "only second right": 0, "McNemar p": 5, "p": 4},
    )  # fmt: skip
    pairs = {
        "CRF vs MEMM": ("CRF, complete", "MEMM"),
        "CRF vs perceptron": ("CRF, complete", "perceptron, supported"),
        "MEMM vs perceptron": ("MEMM", "perceptron, supported"),
        "complete vs supported": ("CRF, complete", "CRF, supported"),
        "second vs first order": ("CRF, supported", "CRF, first order"),
    }
    for name, (first, second) in pairs.items():
        if not {first, second} <= rivals.keys():
            continue
        a, b = rivals[first], rivals[second]
        assert a.report is not None
        assert b.report is not None
        words = mcnemar(a.right, b.right)
        chunks = paired_bootstrap(a.report.counts, b.report.counts, samples=2000)
        ours = {"only first right": words.only_a, "only second right": words.only_b, "McNemar p": words.p,
                "F difference": 100 * chunks.difference, "p": chunks.p}  # fmt: skip
        paper = {"McNemar p": PAPER_MCNEMAR[name]} if name in PAPER_MCNEMAR else None
        table.add(name, ours, paper, {"F difference": (100 * chunks.low, 100 * chunks.high)})
        if name in ORDER:
            text, sense = ORDER[name]
            result.claim(text, compared(chunks, sense=sense))
        if name == "CRF vs MEMM":
            more = replace(gain(words.only_a - words.only_b, p=words.p), digits=0, unit="words")
            result.claim("the CRF labels more words correctly than the MEMM (McNemar's test)", more, required=True)
    table.note = "McNemar on word labels; F difference with its 95 % interval and p by paired bootstrap over sentences."
    result.tables.append(table)


def _optimizers(
    options: RecipeOptions, result: RecipeResult, train: Sentences, test: Sentences, sigma: float, cap: int
) -> None:
    """Table 2: oracle calls to come within 0.1 % of the best L' on the supported set."""
    table = Table(
        "Training methods, supported set, sigma 1", ["calls to 0.1 %", "CPU s to 0.1 %", "calls", "L'", "test F"],
        digits={"calls to 0.1 %": 0, "CPU s to 0.1 %": 0, "calls": 0, "L'": 0},
    )  # fmt: skip
    data = build(train)
    runs = {name: train_with(data, method, sigma, cap, options.workers) for name, method in OPTIMIZERS.items()}
    best = min(row.loss for trained in runs.values() for row in trained.result.history)
    reached = {name: calls_to(trained.result, best) for name, trained in runs.items()}
    for name, trained in runs.items():
        calls, seconds = reached[name] or (None, None)
        report = trained.evaluate(test)
        ours = {"calls to 0.1 %": calls, "CPU s to 0.1 %": seconds, "calls": trained.result.calls,
                "L'": trained.penalized_likelihood, "test F": 100 * report.score.f1}  # fmt: skip
        table.add(name, ours, {} if options.quick else PAPER_TRAINING[name])
    table.note = f"Cap {cap} calls; a curvature counts as a call. A dash: 0.1 % was not reached."
    result.tables.append(table)
    series = {name: [(float(r.calls), r.loss) for r in trained.result.history] for name, trained in runs.items()}
    result.curves.append(Curve("Convergence on the supported set", "oracle calls", "-L'", series))

    calls_claims(result, {name: None if hit is None else hit[0] for name, hit in reached.items()}, cap)


def calls_claims(result: RecipeResult, calls: Mapping[str, int | None], cap: int) -> None:
    """Claims about the calls that optimizers need; one that has not arrived needs more than the cap."""
    needed = {name: cap if n is None else n for name, n in calls.items()}
    lbfgs, pcg, cg, gis = (needed[name] for name in ("L-BFGS", "preconditioned CG", "CG", "GIS"))
    text = "L-BFGS needs the fewest calls to come within 0.1 %, then preconditioned CG, then plain CG"
    result.claim(text, measured(pcg - lbfgs, ">=", 0, "preconditioned CG less L-BFGS", 0),
                 measured(cg - pcg, ">=", 0, "CG less preconditioned CG", 0))  # fmt: skip
    times = measured(gis / lbfgs, ">=", 10, digits=1, unit="times")
    if calls["GIS"] is None:  # the cap is only a lower bound
        times = replace(times, exact=False, interval=(gis / lbfgs, math.inf))
    result.claim("GIS needs at least {bar} times the calls of L-BFGS", times)


def train_with(data: ChainData, method: str, sigma: float, cap: int, workers: int = 1) -> Trained:
    """A CRF trained by one optimizer, stopped after the given number of oracle calls."""
    settings = LabellerSettings(optimizer=method, sigma=sigma, iterations=cap, workers=workers)
    started = time.process_time()
    trained = learn(data, settings, callback=lambda step: _over(step, cap))
    return Trained(data, settings, trained, time.process_time() - started)


def _over(step: Step, cap: int) -> bool:
    return step.row.calls >= cap


def calls_to(result: Result, best: float, within: float = 0.001) -> tuple[int, float] | None:
    """Oracle calls and CPU seconds until the loss is within a fraction of the best, or None if it never is."""
    for row in result.history:
        if row.loss <= best + within * abs(best):
            return row.calls, row.seconds
    return None


def _frozen(result: RecipeResult, trained: Trained, test: Sentences) -> None:
    """What a saved model loses with fewer bits and without small weights."""
    table = Table("The complete CRF as it is saved", ["F", "words labelled otherwise, %", "weights", "MB"],
                  digits={"weights": 0, "words labelled otherwise, %": 3})  # fmt: skip
    names = np.array(trained.data.model.space.labels)
    reference: list[str] = []
    for precision, prune in (("float32", 0.0), ("int16", 0.0), ("int8", 0.0), ("int8", 0.01), ("int8", 0.05)):
        scorer = trained.data.freeze(trained.result.weights, precision, prune)
        labels = [
            names[scorer.space.tags(decode(scorer.chain([doc]), trained.settings.learner))].tolist()
            for doc in test.docs
        ]
        flat = [label for each in labels for label in each]
        reference = reference or flat
        bounds = np.cumsum([0, *map(len, test.labels)]).tolist()
        report = conlleval(test.labels, [flat[first:end] for first, end in pairwise(bounds)])
        changed = 100 * float(np.mean([a != b for a, b in zip(reference, flat, strict=True)]))
        name = precision if not prune else f"{precision}, weights above {prune}"
        ours = {"F": 100 * report.score.f1, "words labelled otherwise, %": changed,
                "weights": scorer.node.n_weights, "MB": scorer.node.nbytes / 1e6}  # fmt: skip
        table.add(name, ours)
    result.tables.append(table)
    lost = float(table.rows[0].ours["F"] or 0) - float(table.rows[2].ours["F"] or 0)
    result.own("8-bit weights lose at most {bar} F", measured(lost, "<=", 0.2))


def _all_types(
    options: RecipeOptions, result: RecipeResult, choice: Choice, corpus: Corpus, test_corpus: Corpus
) -> None:
    """All 11 chunk types at once, with the settings of the noun phrases."""
    train, test = sentences(corpus, None), sentences(test_corpus, None)
    table = Table("All chunk types, CoNLL-2000 test", ["P", "R", "F", "NP F", "weights", "CPU s"],
                  digits={"weights": 0, "CPU s": 0})  # fmt: skip
    orders = (
        {"CRF, first order": FIRST_ORDER}
        if options.quick
        else {"CRF, second order": SECOND_ORDER, "CRF, first order": FIRST_ORDER}
    )
    best = 0.0
    for name, templates in orders.items():
        data = build(train, templates)
        trained = fit(data, sigma=choice.sigma, iterations=choice.iterations, workers=options.workers)
        report = trained.evaluate(test)
        ours = {
            **_prf(report),
            "NP F": 100 * report.scores["NP"].f1,
            "weights": data.model.size,
            "CPU s": trained.cpu_seconds,
        }
        table.add(name, ours, None, {"F": _percent_interval(report)})
        best = max(best, 100 * report.score.f1)
    result.tables.append(table)
    bar = 85.0 if options.quick else 93.6
    result.own("all chunk types: F of at least {bar}", measured(best, ">=", bar, unit="F"))


def _prf(report: SpanReport) -> dict[str, float]:
    score = report.score
    return {"P": 100 * score.precision, "R": 100 * score.recall, "F": 100 * score.f1}


def _percent_interval(report: SpanReport) -> tuple[float, float]:
    interval = confidence_interval(report.counts, samples=2000)
    return 100 * interval.low, 100 * interval.high


def _paper(name: str) -> dict[str, float]:
    return {"F": PAPER_F[name]} if name in PAPER_F else {}
