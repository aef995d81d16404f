"""Nondeficient IBM-3 and IBM-4: alignment models with fertilities on English and French, in both directions.

    models       F, precision, recall and error rate of both directions and of grow-diag-final-and, on two gold sets
    likelihood   -log p per pair (for the HMM: with the length of the target sentence), p0, time
    estimates    IBM-3 with placement by projected gradients, by minorization, and by naive division
    defaults     Weft's HMM, whose directions are trained together, and IBM-4 from there with priors

The paper trains on 100,000 pairs of the Europarl, which is not at hand.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from weft.arrays import Floats
from weft.evaluate.labels.word_alignment import AlignmentScore, f_alpha_of, score_alignment
from weft.evaluate.significance import mean_difference
from weft.learn.bitext.fertility import FertilitySettings, LearnedFertility, learn_fertility
from weft.learn.bitext.word_alignment import AlignmentSettings, LearnedModels, Side, learn_alignment
from weft.learn.generative.cooccurrence import Cooccurrences, Types
from weft.progress import progress
from weft.recipes.claims import compared, measured
from weft.recipes.framework import RecipeOptions, RecipeResult, Table
from weft.recipes.translation.nondeficient_ibm.corpora import Bitext, bitext
from weft.recipes.variation import Variation, where_run
from weft.tasks.bitext.fertility import word_classes
from weft.tasks.bitext.symmetrize import symmetrize
from weft.text.bitext import Links

SLUG = "nondeficient-ibm"


@dataclass(frozen=True)
class Size:
    """How much is run."""

    longest: int = 20  #: words of units of novels
    longest_gold: int = 40  #: words of sentences with gold links
    iterations: int = 5
    classes: int = 50
    gold: int = 1000  #: at most so many pairs of each gold set are scored
    samples: int = 1000


QUICK = Size(longest=4, longest_gold=20, iterations=2, classes=10, gold=30)
#: The paper trains by maximum likelihood, each direction by itself.
PLAIN = AlignmentSettings(alpha=0.0, jump_pseudo=0.1, agreement=False)
FREE = FertilitySettings(fertility_pseudo=0.0, placement_pseudo=0.0, p_null=0.0)
DIRECTIONS = ("en-fr", "fr-en", "grow-diag-final-and")


@dataclass(frozen=True)
class Way:
    """How a row is trained: its method, word classes, and the row whose models it goes on from."""

    method: str
    classes: bool = True
    start: str = ""
    placement: str = "minorize"


WAYS = {
    "HMM": Way("hmm"),
    "IBM-3": Way("ibm3", False),
    "IBM-3, nondeficient": Way("ibm3-nd", False),
    "IBM-4": Way("ibm4", start="IBM-3"),
    "IBM-4, reduced": Way("ibm4-reduced", start="IBM-3"),
    "IBM-4, nondeficient": Way("ibm4-nd", start="IBM-3, nondeficient"),
    "IBM-4 1x1": Way("ibm4", False, "IBM-3"),
    "IBM-4 1x1, nondeficient": Way("ibm4-nd", False, "IBM-3, nondeficient"),
    "IBM-5": Way("ibm5", start="IBM-3, nondeficient"),
}
ESTIMATES = {
    "minorization": "minorize",
    "projected gradient": "gradient",
    "naive division": "counts",
}
OUR_HMM, OURS = "Weft's HMM", "Weft's IBM-4, nondeficient"
VARIATION = Variation((Size,), (*WAYS, *ESTIMATES, OUR_HMM, OURS))
#: The paper's F: De-En, En-De, Es-En, En-Es.
PAPER = {
    "HMM": (73.8, 77.6, 77.4, 76.1),
    "IBM-3": (75.6, 79.2, 75.2, 73.7),
    "IBM-3, nondeficient": (76.1, 79.8, 76.8, 75.5),
    "IBM-4": (78.0, 82.4, 79.2, 79.4),
    "IBM-4, reduced": (78.5, 82.1, 79.2, 79.0),
    "IBM-4, nondeficient": (77.9, 82.5, 79.7, 78.2),
    "IBM-4 1x1": (76.1, 81.5, 77.8, 78.0),
    "IBM-4 1x1, nondeficient": (77.6, 81.5, 80.0, 78.4),
    "IBM-5": (79.2, 82.7, 79.7, 79.5),
}


@dataclass
class _Run:
    """What the parts of the experiment share."""

    result: RecipeResult
    size: Size
    text: Bitext
    pairs: Cooccurrences
    classes: tuple[Types, Types]
    hmm: LearnedModels
    learned: dict[str, LearnedFertility] = field(default_factory=dict)
    scores: dict[tuple[str, str, str], AlignmentScore] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    def score(self, name: str, alignments: tuple[np.ndarray, np.ndarray]) -> None:
        """Score both directions and what is made of them."""
        last = max(gold.first + gold.sure.n_pairs for gold in self.text.scored.values())
        forward = _links(alignments[0], self.pairs.target_offsets, last)
        backward = _links(alignments[1], self.pairs.source_offsets, last).flipped()
        found = dict(zip(DIRECTIONS, (forward, backward, symmetrize(forward, backward, DIRECTIONS[2])), strict=True))
        for corpus, gold in self.text.scored.items():
            for direction, links in found.items():
                self.scores[name, corpus, direction] = score_alignment(gold.of(links), gold.sure, gold.possible)

    def settings(self) -> FertilitySettings:
        n = self.size.iterations
        return replace(FREE, ibm3_iterations=n, ibm4_iterations=n, classes=self.size.classes)


def run(options: RecipeOptions) -> RecipeResult:
    """All tables."""
    size = options.varied(QUICK if options.quick else Size())
    result = RecipeResult(SLUG)
    text = bitext(options, size.longest, size.longest_gold, size.gold)
    source, target = _numbered(text.source), _numbered(text.target)
    pairs = Cooccurrences.of(*source[:2], *target[:2])
    classes = (
        word_classes(text.source, source[2], size.classes),
        word_classes(text.target, target[2], size.classes),
    )
    plain = replace(PLAIN, model1_iterations=size.iterations, hmm_iterations=size.iterations)
    begin = time.process_time()
    work = _Run(result, size, text, pairs, classes, learn_alignment(pairs, plain))
    work.seconds["HMM"] = time.process_time() - begin
    chosen = options.chosen(WAYS)
    with progress("models", len(chosen), "models") as bar:
        for name, way in chosen.items():
            if name == "HMM":
                work.score(name, _hmm_alignments(work, work.hmm, plain))
            elif not way.start or way.start in work.learned:
                _learn(work, name, way, plain)
            bar.advance(1)
    _corpus(work)
    _models(work, list(chosen))
    _likelihoods(work, list(chosen))
    estimates = options.chosen(ESTIMATES)
    for part in (_estimates, _ours):
        with where_run():
            part(work, options, plain, list(estimates))
    _claims(work)
    result.notes.append(
        "Settings were chosen on the first 100 pairs of the Hansards and the first story of Alibi, which are not "
        "scored. F is that with alpha 0.1. Text: pairs with gold links of at most "
        f"{size.longest_gold} words on both sides, and units of novels of at most {size.longest}, in lower case; "
        "longer ones take most of the time."
    )
    return result


def _numbered(sentences: list[list[str]]) -> tuple[np.ndarray, np.ndarray, dict[str, int]]:
    known: dict[str, int] = {}
    words = [known.setdefault(word, len(known)) for sentence in sentences for word in sentence]
    return np.array(words, np.int32), np.concatenate([[0], np.cumsum([len(s) for s in sentences])]), known


def _links(owner: np.ndarray, offsets: np.ndarray, n_pairs: int) -> Links:
    """The links i-j of a direction, word j being explained by word i."""
    rows = (owner[offsets[s] : offsets[s + 1]].tolist() for s in range(n_pairs))
    return Links.of([(i, j) for j, i in enumerate(row) if i >= 0] for row in rows)


def _hmm_alignments(work: _Run, hmm: LearnedModels, base: AlignmentSettings) -> tuple[np.ndarray, np.ndarray]:
    found = []
    for turned, model in ((False, hmm.forward), (True, hmm.backward)):
        side = Side(work.pairs, turned=turned)
        parts = [side.alignments(model, first, end, base).best() for first, end in work.pairs.batches()]
        found.append(np.concatenate(parts))
    return found[0], found[1]


def _learn(work: _Run, name: str, way: Way, base: AlignmentSettings) -> None:
    begin = time.process_time()
    learned = learn_fertility(
        work.pairs, work.hmm, way.method, replace(work.settings(), placement=way.placement),
        work.classes if way.classes else None, base, work.learned.get(way.start),
    )  # fmt: skip
    work.seconds[name] = time.process_time() - begin + work.seconds.get(way.start, 0.0)
    work.learned[name] = learned
    work.score(name, learned.alignments)


def _corpus(work: _Run) -> None:
    text = work.text
    table = Table("The text", ["pairs", "English words", "French words", "sure", "possible"])
    table.digits = dict.fromkeys(table.columns, 0)
    sizes = {"pairs": len(text.source), "English words": sum(map(len, text.source)),
             "French words": sum(map(len, text.target))}  # fmt: skip
    table.add("all", sizes)
    for name, gold in text.scored.items():
        rows = slice(gold.first, gold.first + gold.sure.n_pairs)
        table.add(f"{name}, scored", {
            "pairs": gold.sure.n_pairs, "English words": sum(map(len, text.source[rows])),
            "French words": sum(map(len, text.target[rows])), "sure": len(gold.sure), "possible": len(gold.possible),
        })  # fmt: skip
    work.result.tables.append(table)


def _models(work: _Run, names: list[str]) -> None:
    for corpus in work.text.scored:
        columns = [f"F {direction}" for direction in DIRECTIONS] + ["P", "R", "AER"]
        table = Table(f"{corpus}: F", columns, digits=dict.fromkeys(columns, 1))
        for name in [name for name in names if (name, corpus, DIRECTIONS[0]) in work.scores]:
            table.add(name, _row(work, name, corpus))
        table.note = "P, R and AER are those of grow-diag-final-and."
        work.result.tables.append(table)
    table = Table("Mean of two directions and two gold sets", ["F", "paper's mean"], digits={"F": 1})
    for name in names:
        if (name, "Alibi", DIRECTIONS[0]) in work.scores:
            mean = sum(PAPER[name]) / len(PAPER[name])
            table.add(name, {"F": _mean(work, name), "paper's mean": round(mean, 2)})
    table.note = "The paper's is that of four directions of Europarl: De-En, En-De, Es-En, En-Es."
    work.result.tables.append(table)


def _row(work: _Run, name: str, corpus: str) -> dict[str, float]:
    found = {f"F {each}": 100 * work.scores[name, corpus, each].f_alpha() for each in DIRECTIONS}
    last = work.scores[name, corpus, DIRECTIONS[2]]
    return {**found, "P": 100 * last.precision, "R": 100 * last.recall, "AER": 100 * last.aer}


def _mean(work: _Run, name: str) -> float:
    values = [work.scores[name, corpus, each].f_alpha() for corpus in work.text.scored for each in DIRECTIONS[:2]]
    return 100 * sum(values) / len(values)


def _length_loss(work: _Run) -> float:
    """-log p(J | I) of both directions under Poisson distributions, which the HMM lacks."""
    total = 0.0
    for turned in (False, True):
        side = Side(work.pairs, turned=turned)
        given, words = np.diff(side.given_offsets), np.diff(side.offsets)
        rate = words.sum() / given.sum() * given
        logs = words * np.log(np.maximum(rate, 1e-9)) - rate - np.array([math.lgamma(n + 1) for n in words])
        total -= float(logs.sum())
    return total


def _losses(work: _Run) -> dict[str, float]:
    """-log p per pair, mean of both directions."""
    n = 2 * work.pairs.n_pairs
    values = [work.hmm.objective[f"{side}, HMM"][-1] for side in ("forward", "backward")]
    found = {"HMM": (_length_loss(work) - sum(values)) / n}
    return found | {name: -next(reversed(each.objective.values()))[-1] / n for name, each in work.learned.items()}


def _likelihoods(work: _Run, names: list[str]) -> None:
    table = Table("Likelihood", ["-log p per pair", "p0 en-fr", "p0 fr-en", "CPU s"], digits={"CPU s": 0})
    losses = _losses(work)
    for name in [name for name in names if name in losses]:
        row = {"-log p per pair": losses[name], "CPU s": work.seconds[name]}
        if name in work.learned:
            p_null = next(reversed(work.learned[name].p_null.values()))[-1]
            row |= {"p0 en-fr": p_null[0], "p0 fr-en": p_null[1]}
        table.add(name, row)
    table.note = (
        "Of the alignment found and its neighbours, for the HMM of all alignments and with the length of the target "
        "sentence by a Poisson distribution. Time: both directions; IBM-4 and IBM-5 with IBM-3, all without the HMM."
    )
    work.result.tables.append(table)


def _estimates(work: _Run, options: RecipeOptions, base: AlignmentSettings, names: list[str]) -> None:
    """IBM-3, nondeficient, by three estimates of placement."""
    n = work.size.iterations
    table = Table("IBM-3, nondeficient: estimates of placement", ["F", "-log p per pair", "p0 first", "p0 last"])
    table.digits = {"F": 1, "p0 first": 3, "p0 last": 3}
    main = "IBM-3, nondeficient"
    for name in names:
        if ESTIMATES[name] == "minorize" and main in work.learned:
            work.learned[name] = work.learned[main]
            for corpus in work.text.scored:
                for each in DIRECTIONS:
                    work.scores[name, corpus, each] = work.scores[main, corpus, each]
        else:
            _learn(work, name, Way("ibm3-nd", False, placement=ESTIMATES[name]), base)
        p_null = work.learned[name].p_null["ibm3-nd"]
        loss = -work.learned[name].objective["ibm3-nd"][-1] / (2 * work.pairs.n_pairs)
        row = {"F": _mean(work, name), "-log p per pair": loss}
        table.add(name, row | {"p0 first": max(p_null[0]), "p0 last": max(p_null[n - 1])})
    if names:
        work.result.tables.append(table)


def _ours(work: _Run, options: RecipeOptions, base: AlignmentSettings, names: list[str]) -> None:
    """The defaults of `weft align`, which are not the paper's."""
    if not options.wants(OURS):
        return
    n = work.size.iterations
    joint = AlignmentSettings(model1_iterations=n, hmm_iterations=n)
    hmm = learn_alignment(work.pairs, joint)
    work.score(OUR_HMM, _hmm_alignments(work, hmm, joint))
    settings = FertilitySettings(n, n, classes=work.size.classes)
    learned = learn_fertility(work.pairs, hmm, "ibm4-nd", settings, work.classes, joint)
    work.score(OURS, learned.alignments)
    for corpus in work.text.scored:
        columns = [f"F {direction}" for direction in DIRECTIONS] + ["P", "R", "AER"]
        table = Table(f"{corpus}: Weft's defaults", columns, digits=dict.fromkeys(columns, 1))
        for name in (OUR_HMM, OURS):
            table.add(name, _row(work, name, corpus))
        work.result.tables.append(table)


def _difference(work: _Run, better: str, worse: str, directions: tuple[str, ...]) -> list[tuple[Floats, Floats]]:
    """Counts of two rows over gold sets and directions."""
    keys = [(corpus, each) for corpus in work.text.scored for each in directions]
    if not all((name, *key) in work.scores for name in (better, worse) for key in keys):
        return []
    return [(work.scores[better, *key].rows(), work.scores[worse, *key].rows()) for key in keys]


def _claim(work: _Run, text: str, better: str, worse: str, bar: float = 0.0, own: bool = False) -> None:
    directions = (DIRECTIONS[2],) if own else DIRECTIONS[:2]
    rows = _difference(work, better, worse, directions)
    if not rows:
        return
    found = mean_difference(rows, f_alpha_of(0.1), work.size.samples)
    figure = compared(found, f"{better} over {worse}, F", bar=bar)
    if own:
        work.result.own(text, figure, required=False)
    else:
        work.result.claim(text, figure)


def _claims(work: _Run) -> None:
    result = work.result
    three, four = "IBM-3, nondeficient", "IBM-4, nondeficient"
    _claim(work, "IBM-3 aligns better without deficiency", three, "IBM-3")
    for suffix in ("", " 1x1"):
        _claim(work, "IBM-4 aligns better without deficiency", f"IBM-4{suffix}, nondeficient", f"IBM-4{suffix}")
    for name in ("IBM-4", four):
        _claim(work, "IBM-4 aligns better than IBM-3", name, three if name == four else "IBM-3")
    _claim(work, "IBM-5 aligns better than IBM-3", "IBM-5", three)
    _claim(work, "IBM-5 aligns better than IBM-4", "IBM-5", "IBM-4")
    losses = _losses(work)
    if {four, "IBM-4", "IBM-3"} <= losses.keys():
        result.claim(
            "IBM-4 without deficiency explains the text better than the HMM",
            measured(losses["HMM"] - losses[four], ">", 0, "nats per pair"),
        )
        result.claim(
            "deficient models explain the text worse than the HMM",
            *(measured(losses[name] - losses["HMM"], ">", 0, f"{name}, nats per pair") for name in ("IBM-3", "IBM-4")),
        )
    for name in (three, four):
        if name in work.learned:
            values = next(reversed(work.learned[name].objective.values()))[1:]
            least = min((b - a for a, b in pairwise(values)), default=0.0)
            result.own(
                "the likelihood that neighbours cover rises in every iteration",
                measured(least / (2 * work.pairs.n_pairs), ">", 0, f"{name}, least rise in nats per pair", 3),
                required=False,
            )
    if three in work.learned:
        last = max(work.learned[three].p_null["ibm3-nd"][-1])
        result.own("p0 stays below {bar} without deficiency", measured(last, "<", 0.3, three, 3), required=False)
    if "naive division" in work.learned:
        path = [max(each) for each in work.learned["naive division"].p_null["ibm3-nd"]]
        result.claim("p0 grows with the naive estimate", measured(path[-1] - path[0], ">", 0, "last - first", 3))
    _claim(work, "IBM-4 gains at least {bar} point of F over Weft's HMM", OURS, OUR_HMM, 1.0, own=True)
