"""Multilingual semantic parsing with a pipeline of linear classifiers (Täckström, CoNLL shared task 2009).

Predicates are given. Each gets a sense (one Crammer-Singer machine per lemma), its arguments are found (a binary
machine with squared hinge loss on filtered candidates) and labelled (Crammer-Singer), and frames are repaired
greedily.

The corpora of the shared task are not free. English is PropBank's English Web Treebank with its UD trees; the other
languages are those of Universal Propositions, whose roles were projected from English, with small training files.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from weft.evaluate.semantics.frames import FrameReport, evaluate_frames
from weft.evaluate.significance import confidence_interval, paired_bootstrap
from weft.recipes.claims import compared, gain, measured
from weft.recipes.framework import Curve, RecipeOptions, RecipeResult, Table
from weft.recipes.semantics.multilingual_srl_pipeline.data import (
    PROPOSITIONS,
    genre_of,
    propbank_ewt,
    propositions,
    share,
    with_predicted_trees,
)
from weft.tasks.roles.arguments import all_pairs, pruned_pairs
from weft.tasks.roles.data import Groups, Predicates
from weft.tasks.roles.labeller import RoleLabeller, RoleSettings
from weft.text.doc import Doc
from weft.text.frames import LAYER

SLUG = "multilingual-srl-pipeline"
SHARES = (0.1, 0.25, 0.5, 0.75, 1.0)
SMALL = 0.1  # of the training data, for leaving out features and filters: the paper sees trigrams help at small sizes
GENRES = ("weblog",)
EPOCHS = 3  # of the parser
SAMPLES = 2000
METRICS = ("labelled", "unlabelled", "senses", "arguments", "exact frames")
COLUMNS = ["labelled F1", "unlabelled F1", "senses", "arguments F1", "exact frames"]
#: The paper's figures for English: fixed system, gold syntax, out of domain; learning curve by share.
PAPER = {"predicted trees": (78.93, 88.70, 95.60, None, 13.17), "gold trees": (83.25, None, None, None, None)}
PAPER_CURVE = {0.1: (75.75, 87.96, 92.18), 0.25: (77.56, 88.38, 93.68), 0.5: (78.37, 88.52, 94.83),
               0.75: (78.71, 88.67, 95.35), 1.0: (78.93, 88.70, 95.60)}  # fmt: skip
PAPER_LANGUAGES = {"de": (62.98, 89.64, 66.55), "es-ancora": (69.93, 93.54, 66.26), "zh": (74.14, 82.57, 95.26)}


@dataclass
class Trial:
    """A trained labeller, its predictions' report, and times."""

    labeller: RoleLabeller
    report: FrameReport
    training: dict[str, Any]
    seconds: float
    system: list[Doc]

    def percent(self) -> dict[str, float]:
        return {column: 100 * self.report[name].f1 for column, name in zip(COLUMNS, METRICS, strict=True)}


def trial(
    settings: RoleSettings, train: Sequence[Doc], test: Sequence[Doc], gold: Sequence[Doc] | None = None
) -> Trial:
    """Train, label test documents with given predicates, and score them against gold ones (by default the same)."""
    labeller = RoleLabeller(settings)
    training = labeller.fit(train)["training"]
    return judged(labeller, training, test, gold)


def judged(
    labeller: RoleLabeller, training: dict[str, Any], test: Sequence[Doc], gold: Sequence[Doc] | None = None
) -> Trial:
    """The scores of a trained labeller."""
    system = [doc.subset(range(doc.n_sentences)) for doc in test]
    started = time.process_time()
    labeller(system)
    seconds = time.process_time() - started
    return Trial(labeller, evaluate_frames(gold or test, system), training, seconds, system)


def run(options: RecipeOptions) -> RecipeResult:
    """Gold and predicted trees, learning curve, features and filters, other domains, other languages."""
    result = RecipeResult(SLUG)
    parts = {part: propbank_ewt(options, part) for part in ("train", "dev", "test")}
    train, dev, test = (parts[part].docs for part in ("train", "dev", "test"))
    if options.quick:
        train, dev, test = share(train, 0.1), share(dev, 0.3), share(test, 0.3)
    result.sizes = {
        f"{part} {name}": value for part, each in parts.items()
        for name, value in (("sentences", each.sentences), ("spans with several heads", each.several_heads))
    }  # fmt: skip
    _filters(result, {"train": train, "dev": dev, "test": test})
    settings = RoleSettings(sample=300 if options.quick else 1000)
    full = trial(settings, train, test)
    tuned = chosen(settings, full)
    result.notes.append("C by three-fold cross-validation on training data: " + _told(tuned))
    _english(options, result, full, tuned, train, test)
    _curve(options, result, full, tuned, train, test)
    _left_out(options, result, tuned, train, dev)
    _domains(options, result, full, tuned, train, test)
    _languages(options, result, settings)
    return result


def chosen(settings: RoleSettings, full: Trial) -> RoleSettings:
    """Settings with the values of C that a search chose, those of verbs, for further trainings."""
    found = full.training
    return replace(
        settings, c_senses=found.get("C of senses", 0.1), c_arguments=found["C of arguments 0"],
        c_labels=found["C of labels 0"],
    )  # fmt: skip


def _told(settings: RoleSettings) -> str:
    return f"senses {settings.c_senses:g}, arguments {settings.c_arguments:g}, labels {settings.c_labels:g}"


def _filters(result: RecipeResult, parts: dict[str, Sequence[Doc]]) -> None:
    """How many gold arguments pruning keeps, and how many candidates it leaves of all words."""
    table = Table("Pruning", ["kept %", "candidates", "words"], digits={"candidates": 2, "words": 2})
    for name, docs in parts.items():
        kept, left, every = pruning(docs)
        table.add(name, {"kept %": 100 * kept, "candidates": left, "words": every})
    table.note = "Share of gold arguments among the candidates; candidates and words per predicate. Gold trees."
    result.tables.append(table)
    for row in table.rows:
        share_kept = float(str(row.ours["kept %"]))
        result.own("pruning keeps at least {bar} % of gold arguments", measured(share_kept, ">=", 99, row.name))


def pruning(docs: Sequence[Doc]) -> tuple[float, float, float]:
    """The share of gold arguments that pruning keeps, candidates and words per predicate."""
    batch = Predicates.of(docs, LAYER)
    own = Groups(RoleSettings().groups).numbers(batch.tags) > 0
    pairs = pruned_pairs(batch, own)
    found = set(zip(pairs.predicate.tolist(), pairs.word.tolist(), strict=True))
    gold = [(number, word) for number, each in enumerate(batch.arguments) for word in each]
    kept = sum(pair in found for pair in gold) / max(1, len(gold))
    size = max(1, len(batch))
    return kept, len(pairs.word) / size, len(all_pairs(batch, own).word) / size


def _english(
    options: RecipeOptions, result: RecipeResult, full: Trial, tuned: RoleSettings, train: Sequence[Doc],
    test: Sequence[Doc],
) -> None:  # fmt: skip
    """The main table: gold and predicted trees, and what the constraints do."""
    epochs = 2 if options.quick else EPOCHS
    parsed_train, parsed_test = with_predicted_trees(train, [test], epochs)
    predicted = trial(tuned, parsed_train, parsed_test, test)
    mixed = judged(full.labeller, {}, parsed_test, test)
    loose = RoleLabeller.from_state(*full.labeller.state())
    loose.settings.constraints = False
    free = judged(loose, {}, test)
    rows = {
        "gold trees": full, "predicted trees": predicted, "trained on gold, predicted trees": mixed,
        "gold trees, no constraints": free,
    }  # fmt: skip
    table = Table("English, PropBank on the English Web Treebank, test", [*COLUMNS, "labelled P", "CPU s"],
                  digits={"CPU s": 1})  # fmt: skip
    for name, each in rows.items():
        ours: dict[str, Any] = {**each.percent(), "labelled P": 100 * each.report["labelled"].precision}
        if each.training:
            ours["CPU s"] = each.training["cpu_seconds"]
        paper = {key: value for key, value in zip(COLUMNS, PAPER.get(name, ()), strict=False) if value is not None}
        table.add(name, ours, paper, {"labelled F1": _interval(each.report)})
    table.note = (
        "Predicates are given; senses count as dependencies. Predicted trees: the arc-eager parser on gold tags, two "
        "folds for training data. The paper's English is the Penn Treebank (CoNLL-2009)."
    )
    result.tables.append(table)
    groups = Table("English by part of speech of the predicate, gold trees", ["labelled F1", "dependencies"],
                   digits={"dependencies": 0})  # fmt: skip
    for tag, counts in full.report.by_tag.items():
        total = counts.total()
        if total.gold >= 100:
            groups.add(tag, {"labelled F1": 100 * total.f1, "dependencies": total.gold})
    result.tables.append(groups)
    needed = not options.quick
    score, senses = 100 * full.report["labelled"].f1, 100 * full.report["senses"].f1
    result.own("labelled F1 with gold trees is at least {bar}", measured(score, ">=", 80.5), required=needed)
    result.own("at least {bar} % of senses are right", measured(senses, ">=", 82), required=needed)
    test_ = paired_bootstrap(
        full.report.counts["labelled"], predicted.report.counts["labelled"], samples=SAMPLES
    )  # fmt: skip
    result.claim("gold trees are better than predicted ones (paper: 4.3 for English)", compared(test_))
    rise = 100 * (full.report["labelled"].precision - free.report["labelled"].precision)
    result.claim("the constraints do not lower labelled precision", measured(rise, ">=", 0), required=True)
    speed = full.report["senses"].gold / max(full.seconds, 1e-9)
    result.own("at least {bar} predicates per second of CPU time are labelled", measured(speed, ">=", 5000, digits=0))


def _curve(
    options: RecipeOptions, result: RecipeResult, full: Trial, tuned: RoleSettings, train: Sequence[Doc],
    test: Sequence[Doc],
) -> None:  # fmt: skip
    """Scores by share of the training data."""
    table = Table("Learning curve, gold trees, test", COLUMNS)
    reports: dict[float, FrameReport] = {}
    for fraction in SHARES:
        each = full if fraction == 1.0 else trial(tuned, share(train, fraction), test)
        reports[fraction] = each.report
        paper = dict(zip(COLUMNS[:3], PAPER_CURVE[fraction], strict=True))
        table.add(f"{fraction:.0%}", each.percent(), paper, {"labelled F1": _interval(each.report)})
    table.note = "C as chosen with all training data. The paper's English is another corpus, with predicted trees."
    result.tables.append(table)
    lines = {
        column: [(100 * fraction, 100 * report[name].f1) for fraction, report in reports.items()]
        for column, name in zip(COLUMNS[:3], METRICS[:3], strict=True)
    }
    result.curves.append(Curve("Learning curve", "share of training data, %", "F1", lines))
    first, last = reports[SHARES[0]], reports[1.0]
    rises = {name: 100 * (last[name].f1 - first[name].f1) for name in ("labelled", "unlabelled", "senses", "arguments")}
    for name in ("labelled", "senses", "arguments"):
        test_ = paired_bootstrap(last.counts[name], first.counts[name], samples=SAMPLES)
        result.claim("labels and senses profit from ten times the data", compared(test_, name))
    result.claim(
        "unlabelled F1 rises by less than half as much as labelled F1 and as senses (paper: .7 against 3.2 and 3.4)",
        measured(rises["unlabelled"] - 0.5 * min(rises["labelled"], rises["senses"]), "<", 0),
        required=not options.quick,
    )


def _left_out(
    options: RecipeOptions, result: RecipeResult, tuned: RoleSettings, train: Sequence[Doc], dev: Sequence[Doc]
) -> None:
    """What features, filters, the split and C contribute, on development data."""
    docs = share(train, SMALL)
    variants = {
        "all": tuned,
        "no trigrams of the path": replace(tuned, leave_out="trigrams"),
        "no morphological features": replace(tuned, leave_out="feats"),
        "no pruning of the tree": replace(tuned, prune_tree=False),
        "no filter of tag pairs": replace(tuned, rare=0.0),
        "one model for all predicates": replace(tuned, groups="*"),
        "most frequent senses": replace(tuned, sense_count=10**9),
        "C = 1 everywhere": replace(tuned, c_senses=1.0, c_arguments=1.0, c_labels=1.0),
    }
    table = Table(f"Left out, development data, gold trees, {SMALL:.0%} of training data", [*COLUMNS, "CPU s"],
                  digits={"CPU s": 1})  # fmt: skip
    reports: dict[str, FrameReport] = {}
    for name, settings in options.chosen(variants).items():
        each = trial(settings, docs, dev)
        reports[name] = each.report
        table.add(name, {**each.percent(), "CPU s": each.training["cpu_seconds"]})
    result.tables.append(table)
    for name, claim in (
        ("no trigrams of the path", "trigrams of the path help at small training sizes"),
        ("C = 1 everywhere", "a tuned C is better than the default"),
        ("most frequent senses", "classifiers of senses are better than the most frequent sense"),
    ):
        if name in reports and "all" in reports:
            ours, theirs = reports["all"].counts["labelled"], reports[name].counts["labelled"]
            result.claim(claim, compared(paired_bootstrap(ours, theirs, samples=SAMPLES)))


def _domains(
    options: RecipeOptions, result: RecipeResult, full: Trial, tuned: RoleSettings, train: Sequence[Doc],
    test: Sequence[Doc],
) -> None:  # fmt: skip
    """One genre at a time is left out of training."""
    table = Table("Out of domain, gold trees, test", COLUMNS)
    for genre in GENRES:
        own = [number for number, doc in enumerate(test) if genre_of(doc) == genre]
        if not own:
            continue
        inside = evaluate_frames([test[number] for number in own], [full.system[number] for number in own])
        outside = trial(tuned, [doc for doc in train if genre_of(doc) != genre], [test[number] for number in own])
        for name, report in (("trained with it", inside), ("trained without it", outside.report)):
            ours = {column: 100 * report[metric].f1 for column, metric in zip(COLUMNS, METRICS, strict=True)}
            table.add(f"{genre}, {name}", ours, None, {"labelled F1": _interval(report)})
        test_ = paired_bootstrap(inside.counts["labelled"], outside.report.counts["labelled"], samples=SAMPLES)
        result.claim("training data of the same genre helps", compared(test_, genre))
    result.tables.append(table)


def _languages(options: RecipeOptions, result: RecipeResult, settings: RoleSettings) -> None:
    """All folders of Universal Propositions, through one reader and one configuration."""
    table = Table(
        "Universal Propositions, gold trees", ["sentences", "predicates", *COLUMNS, "pruning keeps %", "C of labels"],
        digits={"sentences": 0, "predicates": 0, "C of labels": 4},
    )  # fmt: skip
    languages = ("de", "it") if options.quick else tuple(PROPOSITIONS)
    for language in languages:
        train, test = propositions(options, language)
        each = trial(replace(settings, sample=200), train, test)
        ours = {
            "sentences": sum(doc.n_sentences for doc in train), "predicates": each.report["senses"].gold,
            **each.percent(), "pruning keeps %": 100 * pruning(test)[0], "C of labels": each.training["C of labels 0"],
        }  # fmt: skip
        paper = dict(zip(COLUMNS[:3], PAPER_LANGUAGES.get(language, ()), strict=False))
        table.add(language, ours, paper, {"labelled F1": _interval(each.report)})
    table.note = (
        "Trained on the development file (Portuguese: training), so on 0.5 to 2 thousand sentences. Senses and roles "
        "were projected from English except for en; Chinese arguments often do not sit in the tree. The figures of the "
        "paper are for other corpora of the language."
    )
    result.tables.append(table)
    result.own(
        "at least {bar} languages run unchanged", measured(len(table.rows), ">=", 2 if options.quick else 4, digits=0)
    )
    for row in table.rows:
        apart = float(str(row.ours["unlabelled F1"])) - float(str(row.ours["labelled F1"]))
        result.own("arguments are found better than labelled", gain(apart, where=row.name, interval=(apart, apart)))


def _interval(report: FrameReport) -> tuple[float, float]:
    found = confidence_interval(report.counts["labelled"], samples=SAMPLES)
    return 100 * found.low, 100 * found.high
