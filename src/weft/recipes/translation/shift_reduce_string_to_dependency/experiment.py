"""Translating into dependency trees: categories of spans, the classifier, and what trees do for BLEU and TER.

    spans        categories of spans of a treebank and of phrase pairs, with UD's heads and with function words as heads
    classifier   held-out decisions at h on h, from gold and from predicted trees
    generated    English in cipher with every head last: only syntax explains the order
    captions     German to English: rows of the paper, three tests, distortion limits, time, and the trees themselves

All rows of a bitext share alignment, phrases and n-gram model. Weights of a row begin at those tuned without trees.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

import weft
from weft.evaluate.significance import Comparison
from weft.evaluate.translation.scores import Counts, compare, count
from weft.infer.decoding.syntax import Reductions
from weft.infer.trees.well_formed import CATEGORIES, categories
from weft.learn.transitions.reductions import ReductionSettings, fit_reductions
from weft.progress import progress
from weft.recipes.claims import compared, gain, measured
from weft.recipes.framework import RecipeOptions, RecipeResult, Table
from weft.recipes.translation.shift_reduce_string_to_dependency.data import (
    TESTS,
    Parsed,
    captions,
    lower,
    parse,
    parse_leniently,
    parsed,
    parser,
    treebank_pairs,
    trees_of,
)
from weft.recipes.translation.shift_reduce_string_to_dependency.generated import generate, with_rare_words_as_tags
from weft.recipes.variation import Variation
from weft.tasks.bitext.align import Aligner
from weft.tasks.language_models import lm
from weft.tasks.translation.kbest import pairs_of
from weft.tasks.translation.phrases import extract
from weft.tasks.translation.table import PhraseTable
from weft.tasks.translation.translator import Translator, TranslatorSettings
from weft.tasks.translation.trees import Classes, TreeExtension, Trees, TreeSettings, tree_events
from weft.tasks.translation.tuning import TuneSettings, tune
from weft.text.bitext import Links

SLUG = "shift-reduce-string-to-dependency"
EWT = "treebanks/ud/English-EWT/{}.conllu.gz"


@dataclass(frozen=True)
class Size:
    """How much is run."""

    train: int = 6_000  #: captions
    dev: int = 150
    test: int = 200  #: of each of the three tests
    generated: int = 1_500  #: pairs of the generated bitext
    generated_dev: int = 100
    generated_test: int = 120
    seeds: int = 3
    pairs: int = 500  #: of parallel treebanks
    events: int = 500  #: sentences with decisions to learn from
    beam: int = 100
    pops: int = 200  #: of plain decoding
    rounds: int = 2  #: of tuning
    restarts: int = 1
    limits: tuple[int, ...] = (2, 4, 6)
    timed: int = 20  #: sentences


QUICK = Size(600, 40, 40, 600, 40, 60, 1, 150, 300, 20, 40, 2, 1, (2, 6), 20)
VARIATION = Variation((Size,))
STANDARD, DLM, MAXENT, BOTH, WELL = "standard", "+ dependency model", "+ classifier", "+ both", "well-formed only"
FLIPPED = "+ both, function heads"
ALONE, STOPS = "+ pieces alone", "+ both, with stops"
#: The generated bitext has long jumps, so more is searched there.
WIDE = {"pops": 200, "threshold": float("inf"), "edges": 2000, "beam": 10}
SYSTEMS: dict[str, TreeSettings | None] = {
    STANDARD: None,
    ALONE: TreeSettings(dependencies=False, reductions=False),
    DLM: TreeSettings(reductions=False),
    MAXENT: TreeSettings(dependencies=False),
    BOTH: TreeSettings(),
    WELL: TreeSettings(ill_formed=False),
}
#: BLEU and TER of the paper's development set, Chinese to English.
PAPER = {
    STANDARD: (34.79, 56.93), DLM: (35.29, 56.17), MAXENT: (35.40, 56.09), BOTH: (35.71, 55.87), WELL: (34.42, 57.35),
}  # fmt: skip
PAPER_SHARES = dict(zip(CATEGORIES, (33.21, 9.01, 1.36, 56.42), strict=True))
CAPTIONS, GENERATED, SPANS = "Captions, German to English", "Generated, heads last", "Categories of spans, %"
CLASSIFIER, LIMITS, SPEED, HEADS = "Decisions at h on h", "BLEU by distortion limit", "Time", "Heads of translations"


@dataclass
class Bitext:
    """What all rows of a bitext share."""

    material: Any
    table: PhraseTable
    language_model: Any
    trees: Trees
    dev: tuple[list[list[str]], list[list[str]]]
    tests: list[tuple[list[list[str]], list[list[str]]]]
    settings: TranslatorSettings
    extension: TreeExtension
    flipped: Trees | None = None  #: with function words as heads
    weights: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(
        cls, source: list[list[str]], target: Parsed, trees: Trees, links: Links, order: int, events: int,
        settings: TranslatorSettings, dev: Any, tests: Any,
    ) -> Bitext:  # fmt: skip
        """Extract phrases and pieces, and train the models."""
        material = extract(source, target.words, links, 5)
        table = PhraseTable.of(material)
        extension = TreeExtension.fit(material, table, trees, TreeSettings(events=events))
        return cls(material, table, lm.train(target.words, order), trees, dev, tests, settings, extension)

    def translator(self, tree: TreeSettings | None, extension: TreeExtension | None = None) -> Translator:
        """The translator of a row, with the weights so far."""
        own = extension or self.extension
        more = [] if tree is None else [replace(own, settings=tree)]
        return Translator.of(
            self.material, self.table, self.language_model, weights=self.weights, settings=self.settings,
            extensions=more,
        )  # fmt: skip


@dataclass
class Outcome:
    """The translations of a row."""

    bleu: Counts
    ter: Counts
    dev: float
    words: list[tuple[str, ...]]
    heads: list[tuple[int, ...]]
    weights: dict[str, float]


def run(options: RecipeOptions) -> RecipeResult:
    """All tables."""
    size = options.varied(QUICK if options.quick else Size())
    result = RecipeResult(SLUG)
    with progress("parts", 4, "parts") as bar:
        captions_bitext, nlp = _captions(options, size)
        for step in (_spans, _classifier):
            step(options, size, result, captions_bitext)
        bar.advance(1)
        _generated(options, size, result)
        bar.advance(1)
        _translations(options, size, result, captions_bitext, nlp)
        bar.advance(2)
    result.notes.append(
        f"Captions: {size.train:,} pairs of Multi30k, weights tuned by MERT on {size.dev:,} of the validation set, "
        f"tests {size.test:,} sentences each of 2016, 2017 and 2018 together; one reference, lower case. Trees of "
        "captions are those of the English pipeline. The paper has 2.9 million pairs of news, Chinese to English, and "
        "four references."
    )
    result.notes.append(
        f"Beam {size.beam}; plain decoding scores {size.pops} expansions per stack, the first pass with pieces "
        f"{TreeSettings().pops}, since its stacks count actions and are about twice as many; the second pass sees the "
        f"{TreeSettings().edges} best edges."
    )
    return result


def _captions(options: RecipeOptions, size: Size) -> tuple[Bitext, Any]:
    nlp = parser()
    source = lower(captions(options, "train", "de", size.train))
    target = parse(nlp, captions(options, "train", "en", size.train))
    kept = [k for k in range(len(source)) if source[k]]
    source, target = [source[k] for k in kept], target.take(kept)
    aligner = Aligner()
    aligner.fit(source, target.words)
    dev, *tests = (
        tuple(lower(captions(options, name, language, limit)) for language in ("de", "en"))
        for name, limit in (("val", size.dev), *((test, size.test) for test in TESTS))
    )
    made = Bitext.of(
        source, target, trees_of(target), aligner.align(source, target.words), 4, size.events,
        TranslatorSettings(size.beam, size.pops), dev, tests,
    )  # fmt: skip
    made.flipped = trees_of(target, functions=True)
    return made, nlp


def _spans(options: RecipeOptions, size: Size, result: RecipeResult, bitext: Bitext) -> None:
    table = Table(SPANS, [*CATEGORIES], digits=dict.fromkeys(CATEGORIES, 1))
    docs = list(weft.read(options.find(EWT.format("dev"))))
    sentences = parsed(docs)
    for name, functions in (("treebank, up to 7 words", False), ("treebank, function heads", True)):
        trees = trees_of(sentences, functions)
        ends = np.concatenate([[0], np.cumsum([len(words) for words in sentences.words])])
        counts = np.zeros(4, np.int64)
        for a, b in pairwise(ends):
            counts += np.bincount(categories(trees.heads[a:b], 7)[2], minlength=4)
        table.add(name, dict(zip(CATEGORIES, (100 * counts / counts.sum()).tolist(), strict=True)))
    report = bitext.extension.report
    table.add("phrase pairs of captions", {name: 100 * report[name] for name in CATEGORIES}, PAPER_SHARES)
    result.tables.append(table)


def _classifier(options: RecipeOptions, size: Size, result: RecipeResult, bitext: Bitext) -> None:
    columns = ["sentences", "decisions", "held out", "accuracy", "majority"]
    table = Table(CLASSIFIER, columns, digits=dict.fromkeys(columns[:3], 0))
    source, target = treebank_pairs(options, size.pairs)
    aligner = Aligner()
    aligner.fit(source, target.words)
    gold = extract(source, target.words, aligner.align(source, target.words), 7)
    for name, material, trees, paper in (
        ("parallel treebanks, gold trees", gold, trees_of(target), {}),
        ("captions", bitext.material, bitext.trees, {"accuracy": 90.18}),
    ):
        n = min(material.n_sentences, size.events)
        order = np.random.default_rng(options.seed).permutation(n)
        classes = classes_of(material, trees, order[: n * 4 // 5])
        parts = [
            tree_events(material, trees, classes, TreeSettings(), chosen.tolist())
            for chosen in (order[: n * 4 // 5], order[n * 4 // 5 :])
        ]
        weights = fit_reductions(parts[0][0], parts[0][1], ReductionSettings())
        found = Reductions(weights, np.zeros(0, np.int32), np.zeros(0, np.int32)).probabilities(parts[1][0])
        right = found.argmax(axis=1) == parts[1][1]
        common = np.bincount(parts[0][1], minlength=3).argmax()
        table.add(
            name,
            {
                "sentences": n, "decisions": len(parts[0][1]), "held out": len(right),
                "accuracy": 100 * right.mean(), "majority": 100 * (parts[1][1] == common).mean(),
            },
            paper,
        )  # fmt: skip
        result.own(
            "the classifier is right in at least {bar} % of held-out decisions",
            measured(100 * right.mean(), ">=", 85, name),
            required=False,
        )
    table.note = "The paper's accuracy is on its training data."
    result.tables.append(table)


def classes_of(material: Any, trees: Trees, sentences: Any) -> Classes:
    """Numbers of target words that are frequent in some sentences; all others have those of their tags."""
    offsets, text = material.target.offsets, material.target.text
    n_tags, n = len(trees.names), len(material.target.words)
    times = np.bincount(np.concatenate([text[offsets[s] : offsets[s + 1]] for s in sentences]), minlength=n)
    known = np.where(times >= TreeSettings().rare, np.arange(n) + n_tags, 0)
    return Classes(known.astype(np.int32), np.arange(n_tags, dtype=np.int32))


def _tuned(
    bitext: Bitext, tree: TreeSettings | None, size: Size, seed: int, extension: TreeExtension | None = None
) -> Outcome:
    """Tune the weights of a row and translate the tests."""
    translator = bitext.translator(tree, extension)
    settings = TuneSettings("mert", rounds=size.rounds, restarts=size.restarts, seed=seed)
    found = tune([translator], pairs_of(*bitext.dev), settings)
    if tree is None:
        bitext.weights = dict(translator.weights)
    return _translated(bitext, translator, 100 * found.bleu)


def _translated(bitext: Bitext, translator: Translator, dev: float) -> Outcome:
    source = [words for test in bitext.tests for words in test[0]]
    references = [[" ".join(words)] for test in bitext.tests for words in test[1]]
    done = [translator.translate(words) for words in source]
    texts = [each.text for each in done]
    return Outcome(
        count(texts, references), count(texts, references, "TER"), dev, [each.words for each in done],
        [each.heads for each in done], dict(translator.weights),
    )  # fmt: skip


def _generated(options: RecipeOptions, size: Size, result: RecipeResult) -> None:
    sentences = with_rare_words_as_tags(parsed(list(weft.read(options.find(EWT.format("train")))), 15), 2)
    systems = {name: SYSTEMS[name] for name in (STANDARD, DLM, MAXENT, BOTH)}
    scores: dict[str, list[tuple[float, float]]] = {name: [] for name in systems}
    tests: list[Comparison] = []
    for seed in range(size.seeds):
        n = size.generated + size.generated_dev + size.generated_test
        order = np.random.default_rng(options.seed + seed).permutation(len(sentences))[:n].tolist()
        all_pairs = generate(sentences.take(order))
        cuts = [0, len(order) - size.generated_dev - size.generated_test, len(order) - size.generated_test, len(order)]
        train, dev, test = ((all_pairs.source[a:b], all_pairs.target.take(range(a, b))) for a, b in pairwise(cuts))
        bitext = Bitext.of(
            train[0], train[1], trees_of(train[1]), all_pairs.links.take(0, cuts[1]), 3, size.events,
            TranslatorSettings(size.beam, size.pops, distortion_limit=10), (dev[0], dev[1].words),
            [(test[0], test[1].words)],
        )  # fmt: skip
        found = {
            name: _tuned(bitext, tree and replace(tree, **WIDE), size, options.seed + seed)  # type: ignore[arg-type]
            for name, tree in systems.items()
        }
        for name, each in found.items():
            scores[name].append((each.bleu.score(), each.ter.score()))
        tests.append(compare(found[BOTH].bleu, found[STANDARD].bleu, seed=options.seed))
    table = Table(GENERATED, ["BLEU", "TER", "BLEU sd"])
    for name, rows in scores.items():
        bleu, ter = np.array(rows).T
        table.add(
            name, {"BLEU": bleu.mean(), "TER": ter.mean(), "BLEU sd": bleu.std(ddof=1) if len(rows) > 1 else None}
        )
    table.note = f"Means over {size.seeds} random splits; links are known, the distortion limit is 10."
    result.tables.append(table)
    for seed, test_of_split in enumerate(tests):
        result.own(
            "on the generated bitext trees raise BLEU",
            compared(test_of_split, f"split {seed + 1}, BLEU", scale=1),
            required=False,
        )


def _translations(options: RecipeOptions, size: Size, result: RecipeResult, bitext: Bitext, nlp: Any) -> None:
    outcomes = {name: _tuned(bitext, tree, size, options.seed) for name, tree in SYSTEMS.items()}
    assert bitext.flipped is not None
    flipped = TreeExtension.fit(bitext.material, bitext.table, bitext.flipped, TreeSettings(events=size.events))
    outcomes[FLIPPED] = _tuned(bitext, TreeSettings(), size, options.seed, flipped)
    with_stops = TreeSettings(events=size.events, stops=True)
    other = TreeExtension.fit(bitext.material, bitext.table, bitext.trees, with_stops)
    outcomes[STOPS] = _tuned(bitext, with_stops, size, options.seed, other)
    table = Table(CAPTIONS, ["dev BLEU", "BLEU", "TER"])
    for name, each in outcomes.items():
        paper = dict(zip(("BLEU", "TER"), PAPER[name], strict=True)) if name in PAPER else {}
        table.add(name, {"dev BLEU": each.dev, "BLEU": each.bleu.score(), "TER": each.ter.score()}, paper)
    table.note = "The paper's figures are those of its development set (MT02)."
    result.tables.append(table)
    _paper_claims(options, result, outcomes)
    _limits(options, size, result, bitext, outcomes)
    _heads(result, outcomes, nlp)
    _speed(size, result, bitext, outcomes)


def _paper_claims(options: RecipeOptions, result: RecipeResult, outcomes: dict[str, Outcome]) -> None:
    for text, better, worse in (
        ("the dependency model helps", DLM, STANDARD),
        ("the classifier of actions helps", MAXENT, STANDARD),
        ("both together help more than the standard system", BOTH, STANDARD),
        ("both together are better than the dependency model alone", BOTH, DLM),
        ("both together are better than the classifier alone", BOTH, MAXENT),
        ("all rules are better than well-formed ones alone", BOTH, WELL),
    ):
        a, b = outcomes[better], outcomes[worse]
        result.claim(text, compared(compare(a.bleu, b.bleu, seed=options.seed), "BLEU", scale=1))
        ter = compare(a.ter, b.ter, seed=options.seed)
        result.claim(text, gain(-ter.difference, p=ter.p, interval=(-ter.high, -ter.low), where="TER, lower by"))


def _limits(
    options: RecipeOptions, size: Size, result: RecipeResult, bitext: Bitext, outcomes: dict[str, Outcome]
) -> None:
    table = Table(LIMITS, [str(limit) for limit in size.limits])
    rows: dict[str, dict[str, Any]] = {STANDARD: {}, BOTH: {}}
    small = replace(bitext, tests=bitext.tests[:1])
    for limit in size.limits:
        found = {}
        for name, row in rows.items():
            translator = bitext.translator(SYSTEMS[name])
            translator.weights = dict(outcomes[name].weights)
            translator.settings = replace(translator.settings, distortion_limit=limit)
            found[name] = _translated(small, translator, 0.0).bleu
            row[str(limit)] = found[name].score()
        result.claim(
            "trees help at every distortion limit",
            compared(compare(found[BOTH], found[STANDARD], seed=options.seed), f"limit {limit}, BLEU", scale=1),
        )
    for name, row in rows.items():
        table.add(name, row)
    table.note = "On the test of 2016, with the weights tuned at 6."
    result.tables.append(table)


def _heads(result: RecipeResult, outcomes: dict[str, Outcome], nlp: Any) -> None:
    """Do the trees agree with those that the parser gives to the translations?"""
    table = Table(HEADS, ["agreement", "left-branching", "right-branching"])
    for name in (DLM, BOTH, WELL):
        each = outcomes[name]
        chosen = [k for k, words in enumerate(each.words) if words]
        predicted = parse_leniently(nlp, [list(each.words[k]) for k in chosen])
        own, left, right, total = 0, 0, 0, 0
        for k, heads in zip(chosen, predicted, strict=True):
            n = len(heads)
            own += sum(a == b for a, b in zip(each.heads[k], heads, strict=True))
            left += sum(a == b for a, b in zip([*range(2, n + 1), 0], heads, strict=True))
            right += sum(a == b for a, b in zip(range(n), heads, strict=True))
            total += n
        table.add(name, {"agreement": 100 * own / total, "left-branching": 100 * left / total,
                         "right-branching": 100 * right / total})  # fmt: skip
        if name == BOTH:
            result.own(
                "heads of translations agree with the parser's at least {bar} % more often than the better of "
                "left- and right-branching trees",
                measured(100 * (own - max(left, right)) / total, ">=", 10, "difference"),
            )
    table.note = "% of heads that are those of the English parser on the translation; all words in lower case."
    result.tables.append(table)


def _speed(size: Size, result: RecipeResult, bitext: Bitext, outcomes: dict[str, Outcome]) -> None:
    """CPU time of plain and tree-building decoding, in turns, so that the machine treats both alike."""
    sentences = bitext.tests[0][0][: size.timed]
    translators = {}
    for name in (STANDARD, BOTH):
        translators[name] = bitext.translator(SYSTEMS[name])
        translators[name].weights = dict(outcomes[name].weights)
    rounds: dict[str, list[float]] = {name: [] for name in translators}
    for _ in range(5):
        for name, translator in translators.items():
            begin = time.process_time()
            for words in sentences:
                translator.translate(words)
            rounds[name].append((time.process_time() - begin) / len(sentences))
    table = Table(SPEED, ["ms per sentence", "times plain"], digits={"ms per sentence": 1})
    best = {name: min(each) for name, each in rounds.items()}
    for name, paper in ((STANDARD, 1.0), (BOTH, 4.56 / 3.67)):
        table.add(
            name, {"ms per sentence": 1000 * best[name], "times plain": best[name] / best[STANDARD]},
            {"times plain": paper},
        )  # fmt: skip
    table.note = "The best of five rounds; CPU time."
    result.tables.append(table)
    result.own(
        "decoding with trees takes at most {bar} times the time of plain decoding",
        measured(best[BOTH] / best[STANDARD], "<=", 1.5),
        required=False,
    )
