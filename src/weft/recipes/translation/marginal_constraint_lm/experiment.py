"""Smoothed marginal distribution constraints for language models: what they do for pruned models of novels.

    full           perplexity of models as they are and constrained
    pruned         the same after pruning to three sizes; Kneser-Ney beside them, its histories by itself and by another
    ablations      without parts of the procedure, and after every outer iteration
    novels         the smallest models on each of the six test novels

The paper's text is broadcast news, and its word error is that of a speech recognizer; neither is at hand.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weft.learn.ngrams.constraints import ConstraintSettings, constrain
from weft.learn.ngrams.counting import Counts, count
from weft.learn.ngrams.mixture import mix
from weft.learn.ngrams.model import NgramModel
from weft.learn.ngrams.pruning import prune
from weft.learn.ngrams.smoothing import estimate
from weft.learn.ngrams.vocabulary import Vocabulary
from weft.progress import progress
from weft.recipes.claims import mean_of, measured
from weft.recipes.framework import RecipeOptions, RecipeResult, Table
from weft.recipes.translation.marginal_constraint_lm.novels import Novels, Sentence, novels
from weft.recipes.variation import Variation, where_run

SLUG = "marginal-constraint-lm"
CORPUS = "raw/litbank-novels.txt.tar.gz"


@dataclass(frozen=True)
class Size:
    """How much is run."""

    sentences: int = 60_000
    order: int = 4
    shares: tuple[float, ...] = (0.16, 0.05, 0.013)  #: of all n-grams that pruning leaves
    iterations: int = 5
    test: int = 1_000_000  #: at most so many sentences of each test novel
    full: bool = True  #: whether full models are constrained too


QUICK = Size(sentences=10_000, order=3, shares=(0.02,), iterations=2, test=300, full=False)
#: Rows: name, method, interpolated; none for the mixture of the first, second and fourth.
SMOOTHERS: dict[str, tuple[str, bool] | None] = {
    "absolute discounting": ("absolute", False),
    "Witten-Bell": ("witten-bell", True),
    "Ristad": ("ristad", False),
    "Katz": ("katz", False),
    "mixture": None,
    "Kneser-Ney": ("kneser-ney", False),
    "modified Kneser-Ney": ("modified-kneser-ney", True),
}
MIXED = ("absolute discounting", "Witten-Bell", "Katz")
#: The paper constrains models whose lower orders are estimates, which excludes Kneser-Ney.
CONSTRAINED = ("absolute discounting", "Witten-Bell", "Ristad", "Katz", "mixture")
HISTORIES = "Witten-Bell"
#: Shares of the wanted mass that are the least, beside the default: the paper's figure, and one between.
FLOORS = (0.001, 0.01)
VARIATION = Variation((Size,), tuple(SMOOTHERS))
#: The paper's perplexities: full, and at each size pruned and constrained.
PAPER: dict[str, dict[float, tuple[float, ...]]] = {
    "absolute discounting": {1: (120.4, 117.0), 0.16: (129.1, 126.3), 0.05: (146.6, 141.2), 0.013: (197.1, 187.4)},
    "Witten-Bell": {1: (118.7, 118.4), 0.16: (129.4, 126.4), 0.05: (145.8, 139.7), 0.013: (196.1, 185.7)},
    "Ristad": {1: (126.2,), 0.013: (203.4, 190.3)},
    "Katz": {1: (119.7, 114.7), 0.16: (128.9, 125.7), 0.05: (146.6, 141.1), 0.013: (197.9, 187.5)},
    "mixture": {1: (118.5, 114.6), 0.16: (128.2, 123.6), 0.05: (145.5, 139.2), 0.013: (196.6, 186.3)},
    "Kneser-Ney": {1: (114.4,), 0.013: (285.1,)},
    "Kneser-Ney, other histories": {0.013: (234.1,)},
    "modified Kneser-Ney": {1: (112.8,), 0.013: (270.7,)},
}


@dataclass
class _Run:
    """What the parts of the experiment share."""

    result: RecipeResult
    size: Size
    text: Novels
    vocabulary: Vocabulary
    counts: Counts
    perplexities: dict[tuple[str, float, str], float]
    by_novel: dict[tuple[str, float, str], dict[str, float]]
    models: dict[tuple[str, float], NgramModel]
    sums: list[float]
    seconds: dict[str, float]

    def measure(self, name: str, share: float, kind: str, model: NgramModel) -> float:
        """The perplexity of a model on all test novels, and on each."""
        words, logp = 0, 0.0
        own = {}
        for novel, test in self.text.test.items():
            found = model.perplexity(test)
            own[novel] = found.all
            words, logp = words + found.words, logp + found.logp
        self.by_novel[name, share, kind] = own
        self.perplexities[name, share, kind] = float(10 ** (-logp / words))
        return self.perplexities[name, share, kind]


def run(options: RecipeOptions) -> RecipeResult:
    """All tables."""
    size = options.varied(QUICK if options.quick else Size())
    result = RecipeResult(SLUG)
    text = novels(options.find(CORPUS), size.sentences, size.test)
    vocabulary, counts = count(text.train, size.order, least=2, workers=options.workers)
    work = _Run(result, size, text, vocabulary, counts, {}, {}, {}, [], {})
    chosen = options.chosen(SMOOTHERS)
    full: dict[str, NgramModel] = {}
    with progress("models", len(chosen), "models") as bar:
        for name, how in chosen.items():
            model = mix([_estimated(work, each) for each in MIXED]) if how is None else _estimated(work, name)
            if name == HISTORIES:
                full[name] = model
            _all_sizes(work, name, model, full.get(HISTORIES))
            bar.advance(1)
    _corpus(work)
    _tables(work, list(chosen))
    for step in (_ablations, _by_novel):
        with where_run():
            step(work, options)
    _claims(work)
    result.notes.append(
        "Perplexities count every word of the test novels, unknown words as `<unk>`, and `</s>`; the vocabulary is "
        "that of words with two or more occurrences in training. Words are never pruned."
    )
    return result


def _estimated(work: _Run, name: str) -> NgramModel:
    how = SMOOTHERS[name]
    assert how is not None
    return NgramModel.of(work.vocabulary, estimate(work.counts, how[0], how[1]), how[0])


def _all_sizes(work: _Run, name: str, model: NgramModel, histories: NgramModel | None) -> None:
    """Perplexities of a model at all sizes, and constrained."""
    work.measure(name, 1, "plain", model)
    if name in CONSTRAINED and work.size.full:
        start = time.process_time()
        new = constrain(model, replace(ConstraintSettings(), iterations=work.size.iterations))
        work.seconds[name] = (time.process_time() - start) / work.size.iterations
        _check(work, model, new)
        work.measure(name, 1, "constrained", new)
        printed = replace(ConstraintSettings(), iterations=work.size.iterations, floor=FLOORS[0])
        work.measure(name, 1, "printed floor", constrain(model, printed))
    total = sum(model.counts())
    for share in work.size.shares:
        small = prune(model, size=model.counts()[0] + int(share * total))
        work.measure(name, share, "plain", small)
        if name in CONSTRAINED:
            new = constrain(small, replace(ConstraintSettings(), iterations=work.size.iterations))
            _check(work, small, new)
            work.measure(name, share, "constrained", new)
            work.models[name, share] = small
        elif name == "Kneser-Ney" and histories is not None:
            other = prune(model, size=model.counts()[0] + int(share * total), histories=histories)
            work.measure(f"{name}, other histories", share, "plain", other)


def _check(work: _Run, before: NgramModel, after: NgramModel) -> None:
    """Note how far sums of histories are from 1, and that the n-grams are the same."""
    same = np.array_equal(before.trie.words, after.trie.words) and np.array_equal(before.trie.first, after.trie.first)
    off = max(float(np.abs(model.sums() - 1).max()) for model in (before, after))
    work.sums.append(off if same else 1.0)


def _corpus(work: _Run) -> None:
    columns = ["sentences", "words", "unknown %"]
    table = Table("The novels", columns, digits={"sentences": 0, "words": 0})
    known = work.vocabulary.ids
    tests = [sentence for test in work.text.test.values() for sentence in test]
    for name, sentences in (("train", work.text.train), ("test", tests)):
        table.add(name, _described(sentences, known))
    counted = work.counts.trie.counts()
    table.note = "N-grams by length: " + ", ".join(f"{number:,}" for number in counted) + f"; all {sum(counted):,}."
    work.result.tables.append(table)


def _described(sentences: list[Sentence], known: dict[str, int]) -> dict[str, float]:
    words = sum(map(len, sentences))
    unknown = sum(word not in known for sentence in sentences for word in sentence)
    return {"sentences": len(sentences), "words": words, "unknown %": 100 * unknown / max(1, words)}


def _lower(before: float, after: float) -> float:
    return 100 * (1 - after / before)


def _title(share: float) -> str:
    return "Full models" if share == 1 else f"Pruned to {100 * share:g} %"


def _tables(work: _Run, names: list[str]) -> None:
    shares = [1.0, *work.size.shares]
    names = [each for name in names for each in (name, f"{name}, other histories")]
    for share in shares:
        columns = ["perplexity", "constrained", "lower %"]
        if share == 1 and work.size.full:
            columns.append(f"floor {FLOORS[0]:g}")
        table = Table(_title(share), columns, digits={name: 1 for name in columns if "%" not in name})
        for name in names:
            if (name, share, "plain") not in work.perplexities:
                continue
            row: dict[str, Any] = {"perplexity": work.perplexities[name, share, "plain"]}
            if (name, share, "constrained") in work.perplexities:
                row["constrained"] = work.perplexities[name, share, "constrained"]
                row["lower %"] = _lower(row["perplexity"], row["constrained"])
            if (name, share, "printed floor") in work.perplexities:
                row[f"floor {FLOORS[0]:g}"] = work.perplexities[name, share, "printed floor"]
            paper = dict(zip(("perplexity", "constrained"), PAPER.get(name, {}).get(share, ()), strict=False))
            if len(paper) == 2:
                paper["lower %"] = _lower(*paper.values())
            table.add(name, row, paper)
        if share != 1:
            table.note = "Of the n-grams of the full model, beside all words."
        work.result.tables.append(table)


def _ablations(work: _Run, options: RecipeOptions) -> None:
    """The smallest models without parts of the procedure."""
    full = replace(ConstraintSettings(), iterations=work.size.iterations)
    variants: dict[str, ConstraintSettings | None] = {
        "input": None,
        "constant denominator": replace(full, denominator="constant"),
        "no iteration of backing off": replace(full, backoff_updates=0),
        **{
            f"{n} iterations" if n > 1 else "1 iteration": replace(full, iterations=n)
            for n in range(1, full.iterations)
        },
        **{f"floor {floor:g}": replace(full, floor=floor) for floor in FLOORS},
        "all": full,
    }
    names = [name for name in MIXED if (name, work.size.shares[-1]) in work.models]
    if not names:
        return
    table = Table(f"{_title(work.size.shares[-1])}: parts left out", names, digits=dict.fromkeys(names, 2))
    for variant, settings in variants.items():
        row = {}
        for name in names:
            model = work.models[name, work.size.shares[-1]]
            new = model if settings is None else constrain(model, settings)
            row[name] = work.measure(name, work.size.shares[-1], variant, new)
        table.add(variant, row)
    work.result.tables.append(table)


def _by_novel(work: _Run, options: RecipeOptions) -> None:
    share = work.size.shares[-1]
    names = [name for name in CONSTRAINED if (name, share) in work.models]
    table = Table(f"{_title(share)}: lower % by novel", names, digits=dict.fromkeys(names, 2))
    for novel in work.text.test:
        before, after = (
            {name: work.by_novel[name, share, kind][novel] for name in names} for kind in ("plain", "constrained")
        )
        table.add(novel, {name: _lower(before[name], after[name]) for name in names})
    work.result.tables.append(table)
    if work.seconds:
        table = Table("Constraining full models", ["n-grams", "CPU s per iteration"], digits={"n-grams": 0})
        for name, seconds in work.seconds.items():
            total = sum(work.counts.trie.counts())
            table.add(name, {"n-grams": total, "CPU s per iteration": seconds})
        work.result.tables.append(table)


def _gains(work: _Run, name: str, share: float, kind: str = "constrained", against: str = "plain") -> dict[str, float]:
    """By how many per cent the perplexity of each novel is lower."""
    before, after = work.by_novel[name, share, against], work.by_novel[name, share, kind]
    return {novel: _lower(before[novel], after[novel]) for novel in before}


def _claims(work: _Run) -> None:
    result, last = work.result, work.size.shares[-1]
    there = [name for name in CONSTRAINED if (name, last) in work.models]
    for name in there:
        for share in work.size.shares:
            if work.size.full and len(PAPER[name].get(share, ())) < 2:
                continue  # not in the paper
            result.claim(
                "constraints lower the perplexity of pruned models",
                mean_of(_gains(work, name, share), f"{name}, {_title(share).lower()}, %"),
            )
        if (name, 1, "constrained") in work.by_novel and len(PAPER[name][1]) == 2:
            result.claim(
                "constraints lower the perplexity of full models", mean_of(_gains(work, name, 1), f"{name}, %")
            )
    _kneser_ney(work, there)
    if len(work.size.shares) > 1:
        for name in [name for name in there if name != "Ristad"]:  # which the paper prunes to one size only
            gains = {share: _gains(work, name, share) for share in (work.size.shares[0], last)}
            more = {novel: gains[last][novel] - gains[work.size.shares[0]][novel] for novel in gains[last]}
            result.claim("the more a model is pruned, the more it gains", mean_of(more, f"{name}, %"))
    steps: tuple[tuple[str, str, str], ...] = (
        ("constant denominator", "all", "a denominator taken for constant loses part of the gain"),
        ("no iteration of backing off", "all", "the iteration of backing off weights adds to the gain"),
        ("1 iteration", "all", "the steady state of the new model adds to the gain of one iteration"),
    )
    for worse, better, text in steps:
        for name in MIXED:
            if (name, last, worse) in work.by_novel:
                result.claim(text, mean_of(_gains(work, name, last, better, worse), f"{name}, %"))
    _own(work, there)


def _kneser_ney(work: _Run, there: list[str]) -> None:
    last = work.size.shares[-1]
    for own in ("Kneser-Ney", "modified Kneser-Ney", "Kneser-Ney, other histories"):
        if (own, last, "plain") in work.by_novel:
            for name in there:
                work.result.claim(
                    "pruned Kneser-Ney models are worse than all others",
                    mean_of(_worse(work, own, name), f"{own} against {name}, %"),
                )


def _worse(work: _Run, own: str, name: str) -> dict[str, float]:
    last = work.size.shares[-1]
    mine, other = work.by_novel[own, last, "plain"], work.by_novel[name, last, "plain"]
    return {novel: _lower(mine[novel], other[novel]) for novel in mine}


def _own(work: _Run, there: list[str]) -> None:
    last = work.size.shares[-1]
    for name in [name for name in MIXED if name in there]:
        lower = _lower(work.perplexities[name, last, "plain"], work.perplexities[name, last, "constrained"])
        for text, sense, bar in (("at least", ">=", 2.0), ("at most", "<=", 6.0)):
            work.result.own(
                f"constraints lower the perplexity of the smallest models by {text} {{bar}} %",
                measured(lower, sense, bar, name), required=False,  # type: ignore[arg-type]
            )  # fmt: skip
    if work.sums:
        work.result.own(
            "sums of histories are within {bar} of 1 before and after, and the n-grams stay the same",
            measured(max(work.sums), "<=", 1e-6, digits=8),
        )
    for name, seconds in work.seconds.items():
        work.result.own("an iteration on the full model takes at most {bar} CPU s", measured(seconds, "<=", 60, name))
