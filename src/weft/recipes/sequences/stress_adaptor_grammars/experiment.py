"""The role of stress in word segmentation with adaptor grammars (Börschinger and Johnson, TACL 2014).

Six grammars segment utterances of child-directed speech into words without any boundaries for training: words in three
levels of collocations, built from syllables; with or without word-edge phonotactics (phon, nophon), with or without
stressed and unstressed syllables (stress), with at most one stressed syllable per word (usc) or any number.

Questions: does stress help, how much data does it take, and what does the grammar infer about stress? Scores are token
F of the segmentation that most samples of all chains agree on, on the text itself and on held-out utterances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from weft.evaluate.labels.segmentation import SegmentationReport, score_segmentation
from weft.evaluate.significance import confidence_interval, paired_bootstrap, rank_sum
from weft.formats.phonemes import Utterance, sounds_of
from weft.learn.adaptor.grammar import AdaptorSettings
from weft.learn.adaptor.mcmc import Schedule
from weft.progress import track
from weft.recipes.claims import Figure, Sense, gain, measured
from weft.recipes.framework import Curve, RecipeOptions, RecipeResult, Table
from weft.recipes.sequences.stress_adaptor_grammars.data import BRENT, Speech, speech, without_stress
from weft.recipes.variation import Variation
from weft.tasks.segmentation.induce_words import WordSettings, cut_utterances, learn_words, vote
from weft.tasks.segmentation.stress_patterns import CLASSES, pattern_shares

SLUG = "stress-adaptor-grammars"
MODELS = (
    "nophon", "phon", "nophon-stress", "phon-stress", "nophon-stress-usc", "phon-stress-usc",
)  # fmt: skip
#: The paper's control: one level of collocations in place of three, otherwise as nophon.
CONTROL = "colloc"
#: The paper's token F on its Alex corpus (17,948 utterances): on the text itself, on 1,000 others.
PAPER = {
    "nophon": (81.0, 81.0), "phon": (85.0, 84.0), "nophon-stress": (86.0, 87.0), "phon-stress": (88.0, 88.0),
    "nophon-stress-usc": (87.0, 88.0), "phon-stress-usc": (88.0, 88.0),
}  # fmt: skip
#: The same on the Brent corpus, without the models that need stress.
PAPER_BRENT = {"nophon": (82.0, 82.0), "phon": (86.0, 86.0)}
#: Shares of stress patterns among types and tokens of the Alex corpus.
PAPER_SHARES = {"type": {"initial": 87, "unstressed": 5, "second": 7},
                "token": {"initial": 52, "unstressed": 44, "second": 4}}  # fmt: skip


@dataclass(frozen=True)
class Size:
    """The size of the experiment; the paper uses up to 17,948 utterances, 4 chains and 1,000 iterations."""

    utterances: int = 2000
    prefixes: tuple[int, ...] = (100, 200, 500, 1000)
    test: int = 1000
    chains: int = 4
    prefix_chains: int = 2
    iterations: int = 200
    prefix_iterations: int = 100  # of prefixes, of `more`, of the control and of the Brent corpus
    samples: int = 10
    more: int = 5000  # utterances for learned stress patterns, one chain
    brent: int = 1000
    relabel_every: int = 2

    def smaller(self) -> Size:
        """The chains of everything besides the main table."""
        return replace(self, chains=self.prefix_chains, iterations=self.prefix_iterations)


QUICK = Size(
    utterances=150,
    prefixes=(60,),
    test=100,
    chains=2,
    prefix_chains=2,
    iterations=15,
    prefix_iterations=15,
    samples=3,
    more=0,
    brent=100,
)


@dataclass
class Segmented:
    """One grammar on one text: the vote of all samples, single samples, chains, and learned stress patterns."""

    train: SegmentationReport
    test: SegmentationReport
    single: list[float]  # token F of the samples on the text itself
    by_chain: list[float]  # of the vote of each chain
    test_by_chain: list[float]
    accepted: float
    r_hat: float
    patterns: dict[str, float] = field(default_factory=dict)


VARIATION = Variation((Size,))


def run(options: RecipeOptions) -> RecipeResult:
    """Six grammars, prefixes of the text, stress patterns, the Brent corpus."""
    size = options.varied(QUICK if options.quick else Size())
    result = RecipeResult(SLUG)
    corpus = speech(options, train=max(size.utterances, size.more), test=size.test)
    sizes = (*size.prefixes, size.utterances)
    found: dict[tuple[str, int], Segmented] = {}
    work = [(model, n) for n in sizes for model in MODELS]
    for model, n in track(work, "grammars", unit="grammars"):
        own = size if n == size.utterances else size.smaller()
        found[model, n] = segment(corpus.first(n), model, own, own.chains, options)
    if size.more:
        for model in ("nophon-stress", "phon-stress"):
            found[model, size.more] = segment(corpus.first(size.more), model, size.smaller(), 1, options)
    _scores(result, found, size)
    _curve(result, found, sizes)
    _patterns(result, found, corpus, size)
    _sampler(result, found, size)
    _control(result, found, corpus, size, options)
    _brent(result, size, options)
    result.notes.append(
        f"The paper's corpora with stress are not at hand: a sample of English speech to children of the same make, "
        f"whose shares of stress patterns are close to the paper's, stands in for them; its first {size.utterances:,} "
        f"utterances and {size.iterations} iterations of {size.chains} chains instead of 17,948, 1,000 and 4 "
        f"(other sizes, one level and the Brent corpus: {size.prefix_iterations}); the last {size.test:,} utterances "
        "are the test. Differences below 2 points are within what chains differ by."
    )
    return result


def segment(corpus: Speech, model: str, size: Size, chains: int, options: RecipeOptions) -> Segmented:
    """Train one grammar and score it."""
    stress = "stress" in model
    train, test = (group if stress else without_stress(group) for group in (corpus.train, corpus.test))
    said = [sounds_of(utterance) for utterance in train]
    settings = WordSettings(
        grammar=model if model == CONTROL else f"colloc3-{model}",
        vowels=corpus.vowels,
        consonants=corpus.consonants,
        chains=chains,
        schedule=Schedule.of(size.iterations, size.samples),
        sampler=AdaptorSettings(relabel_every=size.relabel_every),
        seed=options.seed,
        workers=options.workers,
    )
    learnt, chains_run = learn_words(said, settings)
    ends = learnt.training_ends()
    others = [sounds_of(utterance) for utterance in test]
    other_ends = learnt.ends(others, seed=options.seed)
    n = size.samples
    return Segmented(
        train=score_segmentation(train, _cut(said, ends)),
        test=score_segmentation(test, _cut(others, other_ends)),
        single=[_f(train, _cut(said, [own])) for own in ends],
        by_chain=[_f(train, _cut(said, ends[c * n : (c + 1) * n])) for c in range(chains)],
        test_by_chain=[_f(test, _cut(others, other_ends[c * n : (c + 1) * n])) for c in range(chains)],
        accepted=float(np.mean([chain.trace[-1]["accepted"] for chain in chains_run.chains])),
        r_hat=chains_run.r_hat("log joint"),
        patterns=learnt.stress_patterns(),
    )


def _cut(utterances: Sequence[Sequence[str]], ends: Sequence[NDArray[np.bool_]]) -> list[Utterance]:
    starts = np.cumsum([0, *map(len, utterances)]).tolist()
    return cut_utterances(utterances, vote(starts, ends))


def _f(gold: Sequence[Utterance], system: Sequence[Utterance]) -> float:
    return 100 * score_segmentation(gold, system).tokens.total().f1


def token_f(report: SegmentationReport) -> float:
    """Token F in percent."""
    return 100 * report.tokens.total().f1


def _scores(result: RecipeResult, found: dict[tuple[str, int], Segmented], size: Size) -> None:
    n = size.utterances
    table = Table(
        f"Word segmentation, {n:,} utterances of speech to children",
        ["token F", "test token F", "boundary F", "lexicon F", "test boundary F", "test lexicon F"],
    )
    for model in MODELS:
        one = found[model, n]
        ours = {
            "token F": token_f(one.train), "test token F": token_f(one.test),
            "boundary F": 100 * one.train.boundaries.total().f1, "lexicon F": 100 * one.train.lexicon.f1,
            "test boundary F": 100 * one.test.boundaries.total().f1, "test lexicon F": 100 * one.test.lexicon.f1,
        }  # fmt: skip
        interval = {name: _interval(report) for name, report in (("token F", one.train), ("test token F", one.test))}
        table.add(f"colloc3-{model}", ours, dict(zip(("token F", "test token F"), PAPER[model], strict=True)), interval)
    table.note = "The paper's column: its Alex corpus, all 17,948 utterances. Intervals: utterances drawn anew."
    result.tables.append(table)
    tests = Table("Differences on the test utterances", ["points", "p (utterances)", "p (chains)"],
                  digits={"p (utterances)": 3, "p (chains)": 3})  # fmt: skip
    for better, worse in (
        ("phon", "nophon"), ("nophon-stress", "nophon"), ("phon-stress", "phon"), ("nophon-stress", "phon"),
        ("phon-stress", "nophon-stress"), ("nophon-stress-usc", "nophon-stress"), ("phon-stress-usc", "phon-stress"),
    ):  # fmt: skip
        one, two = found[better, n], found[worse, n]
        compared = paired_bootstrap(one.test.tokens, two.test.tokens, samples=2000)
        ours = {"points": 100 * compared.difference, "p (utterances)": compared.p,
                "p (chains)": rank_sum(one.test_by_chain, two.test_by_chain)}  # fmt: skip
        tests.add(f"{better} - {worse}", ours, None, {"points": (100 * compared.low, 100 * compared.high)})
    tests.note = "p (utterances): paired bootstrap of the votes; p (chains): Wilcoxon's rank sum of the chains."
    result.tables.append(tests)
    difference_claims(result, tests, size is not QUICK)


def difference_claims(result: RecipeResult, tests: Table, required: bool) -> None:
    """Claims about models, from the table of their differences."""

    def points(pair: str, sense: Sense = ">", bar: float = 0.0) -> Figure:
        row = next(each for each in tests.rows if each.name == pair)
        value = gain(float(row.ours["points"] or 0), interval=row.interval["points"], sense=sense, bar=bar, where=pair)
        return replace(value, cells=((tests.title, pair, "points"),))

    result.claim("token F rises with phonotactics, and again with stress", points("phon - nophon"),
                 points("phon-stress - phon"))  # fmt: skip
    result.claim("stress alone is at least as good as phonotactics alone", points("nophon-stress - phon", ">="))
    for pair in ("nophon-stress - nophon", "phon-stress - phon"):
        result.claim("stress gains at least {bar} points", points(pair, ">=", 3), required=required)
    for pair in ("nophon-stress-usc - nophon-stress", "phon-stress-usc - phon-stress"):
        result.claim("at most one stress per word (usc) gains less than {bar} point", points(pair, "<", 1))


def _interval(report: SegmentationReport) -> tuple[float, float]:
    found = confidence_interval(report.tokens, samples=1000)
    return 100 * found.low, 100 * found.high


def _curve(result: RecipeResult, found: dict[tuple[str, int], Segmented], sizes: Sequence[int]) -> None:
    table = Table("Test token F by the number of utterances", [f"{n:,}" for n in sizes])
    for model in MODELS:
        table.add(f"colloc3-{model}", {f"{n:,}": token_f(found[model, n].test) for n in sizes})
    result.tables.append(table)
    series = {model: [(float(n), token_f(found[model, n].test)) for n in sizes] for model in MODELS}
    result.curves.append(Curve("Test token F", "utterances", "token F", series))


def _patterns(result: RecipeResult, found: dict[tuple[str, int], Segmented], corpus: Speech, size: Size) -> None:
    largest = max(size.utterances, size.more)
    shares = pattern_shares(corpus.train[:largest], corpus.vowels)
    table = Table("Stress patterns of words: shares in the text and probabilities learnt, %", list(CLASSES))
    for kind in ("type", "token"):
        table.add(f"{kind}s of the text", {name: 100 * shares[kind][name] for name in CLASSES}, PAPER_SHARES[kind])
    for model in ("nophon-stress", "phon-stress"):
        for n in sorted(n for other, n in found if other == model):
            table.add(f"{model}, {n:,}", {name: 100 * found[model, n].patterns[name] for name in CLASSES})
    table.note = "several: two stressed syllables or more. "
    result.tables.append(table)
    for model in ("nophon-stress", "phon-stress"):
        by_size = {n: one.patterns for (other, n), one in sorted(found.items(), key=lambda item: item[0][1])
                   if other == model}  # fmt: skip
        several = {n: patterns["several"] for n, patterns in by_size.items()}
        least, most = min(several), max(several)
        lost = 100 * (several[most] - several[least])
        result.claim("words with several stresses lose probability as the text grows",
                     measured(lost, "<", 0, f"{model}, from {least:,} to {most:,} utterances"))  # fmt: skip
        result.claim("words with several stresses end below {bar} %",
                     measured(100 * several[most], "<", 2, model, unit="%"))  # fmt: skip
        away = {kind: abs(by_size[most]["initial"] - shares[kind]["initial"]) for kind in ("type", "token")}
        nearer = measured(100 * (away["type"] - away["token"]), "<", 0, model)
        result.claim("the probability of initial stress is nearer to its share of types than of tokens", nearer)


def _sampler(result: RecipeResult, found: dict[tuple[str, int], Segmented], size: Size) -> None:
    n = size.utterances
    table = Table("The sampler", ["vote F", "mean sample F", "chains F, from", "to", "accepted, %", "R-hat"])
    for model in MODELS:
        one = found[model, n]
        ours = {
            "vote F": token_f(one.train), "mean sample F": float(np.mean(one.single)),
            "chains F, from": min(one.by_chain), "to": max(one.by_chain),
            "accepted, %": 100 * one.accepted, "R-hat": one.r_hat,
        }  # fmt: skip
        table.add(f"colloc3-{model}", ours)
    table.note = "On the text itself. R-hat of the log joint over the second half: above 1.1 the chains have not met."
    result.tables.append(table)
    for model in MODELS:
        one = found[model, n]
        vote = token_f(one.train) - float(np.mean(one.single))
        result.own("the vote of the samples is not below their mean", measured(vote, ">=", 0, model), required=False)
        spread = max(one.by_chain) - min(one.by_chain)
        result.own("chains agree within {bar} points", measured(spread, "<=", 2, model, 1), required=False)


def _control(
    result: RecipeResult, found: dict[tuple[str, int], Segmented], corpus: Speech, size: Size, options: RecipeOptions
) -> None:
    n = size.prefixes[-1]
    own = size.smaller()
    table = Table(f"Levels of collocations, {n:,} utterances", ["token F", "test token F", "lexicon F"])
    rows = {
        "one (colloc)": segment(corpus.first(n), CONTROL, own, own.chains, options),
        "three (colloc3-nophon)": found["nophon", n],
    }
    for name, one in rows.items():
        table.add(name, {"token F": token_f(one.train), "test token F": token_f(one.test),
                         "lexicon F": 100 * one.train.lexicon.f1})  # fmt: skip
    result.tables.append(table)


def _brent(result: RecipeResult, size: Size, options: RecipeOptions) -> None:
    corpus = speech(options, BRENT, size.brent, size.test)
    table = Table(f"The Brent corpus, {size.brent:,} utterances, no stress", ["token F", "test token F", "lexicon F"])
    for model, paper in PAPER_BRENT.items():
        one = segment(corpus, model, size.smaller(), size.prefix_chains, options)
        ours = {"token F": token_f(one.train), "test token F": token_f(one.test),
                "lexicon F": 100 * one.train.lexicon.f1}  # fmt: skip
        table.add(f"colloc3-{model}", ours, dict(zip(("token F", "test token F"), paper, strict=True)))
    table.note = "The paper's column: all 9,790 utterances."
    result.tables.append(table)
