"""Discriminative lexical semantic segmentation with gaps: running the MWE gamut (Schneider et al., TACL 2014).

Multiword expressions in web reviews, strong and weak, with gaps, as one tag per word: lexicon lookup compared with a
tagger trained with the structured perceptron, and the contributions of lexicons, the recall-oriented cost, word
clusters, gold parts of speech and the four tag schemes.

    c(y, y') = [y != y'] + rho [y in {B, b} and y' in {O, o}]

The corpus is a later release of the paper's (STREUSLE 2.1); its test list is not available, so sentences are split as
in the current release. Most of the ten lexicons are not free; besides WordNet (if installed) and SemCor, the aliases of
PropBank, the members of VerbNet and place names stand in.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from weft.evaluate.labels.mwe import MweReport, MweScore, mean_f1, score_expressions
from weft.evaluate.significance import confidence_interval, paired_bootstrap
from weft.formats import read
from weft.lexical.mwe_lexicon import MweLexicon, lexicon_of, union
from weft.lexical.wordnet import WordNet
from weft.recipes.claims import gain, measured, of_scores
from weft.recipes.framework import RecipeOptions, RecipeResult, Table
from weft.recipes.sequences.mwe_gappy_segmentation.data import FOLDS, Material, Reviews, joined, learn_clusters, load
from weft.tasks.spans.mwe import MweSettings, MweTagger
from weft.text.conventions.expressions import Expressions, expressions_of

SLUG = "mwe-gappy-segmentation"
DIMSUM = "mwe/dimsum16/test.tsv.gz"
HELD = tuple(range(FOLDS))  # the cross-validation folds that are scored
COSTS = (50.0, 100.0, 150.0)  # rho; the paper tries multiples of 50 as well

PAPER_LOOKUP = {
    "WordNet + SemCor": (46.15, 28.41, 35.10),
    "all lexicons": (33.98, 47.29, 39.48),
    "best, with expressions of train": (46.66, 47.90, 47.18),
}
PAPER_LEXICONS = {
    "none": (74.39, 44.43, 55.57),
    "WordNet + SemCor": (74.51, 45.79, 56.64),
    "all lexicons": (75.95, 51.39, 61.17),
    "all lexicons + seen twice in train": (76.64, 51.91, 61.84),
}
PAPER_TEST: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "base": ((69.27, 50.49, 58.35), (60.99, 48.27, 53.85)),
    "+ recall cost": ((61.09, 57.94, 59.41), (53.09, 55.38, 54.17)),
    "+ clusters": ((63.98, 55.51, 59.39), (56.34, 53.24, 54.70)),
    "+ gold tags": ((66.19, 59.35, 62.53), (58.51, 57.00, 57.71)),
}
PAPER_SCHEMES = {3: (73.33, 55.72, 63.20), 4: (72.60, 59.11, 65.09), 6: (66.48, 61.26, 63.65), 8: (73.27, 60.44, 66.15)}


@dataclass
class Setup:
    """One row of the experiments: the inputs of a tagger."""

    lexicons: Sequence[MweLexicon] = ()
    wordnet: WordNet | None = None
    clusters: dict[str, str] = field(default_factory=dict)
    tag_column: str = "xpos"
    tags: int = 8
    recall_cost: float = 0.0
    hamming: bool = False  # wrong tags cost 1 in training; always on with a recall cost
    epochs: int = 5
    seen_count: int = 0
    seed: int = 0

    def train(self, reviews: Reviews) -> tuple[MweTagger, float]:
        """A trained tagger and its CPU seconds. Without costs it is the plain perceptron, the paper's baseline."""
        started = time.process_time()
        settings = MweSettings(
            epochs=self.epochs,
            seed=self.seed,
            tags=self.tags,
            tag_column=self.tag_column,
            recall_cost=self.recall_cost,
            hamming=self.hamming or self.recall_cost > 0,
            seen_count=self.seen_count,
            calibrate=False,  # probabilities are not needed
        )
        tagger = MweTagger(settings)
        tagger.lexicons, tagger.wordnet, tagger.word_clusters = list(self.lexicons), self.wordnet, self.clusters
        tagger.fit([reviews.doc])
        return tagger, time.process_time() - started


def lookup(lexicons: Iterable[MweLexicon], reviews: Reviews, max_gap: int) -> list[Expressions]:
    """The baseline: the shortest path through the union of lexicons; everything it predicts is strong."""
    whole = union("all", lexicons)
    pairs = zip(reviews.lemmas(), reviews.forms(), strict=True)
    return [whole.segment(lemmas, max_gap, forms).expressions() for lemmas, forms in pairs]


def tag(tagger: MweTagger, reviews: Reviews) -> list[Expressions]:
    """A tagger's predictions."""
    doc = reviews.doc.subset(range(len(reviews)))
    tagger([doc])
    return expressions_of(doc)


def cross_validate(setup: Setup, reviews: Reviews, folds: Sequence[int] = HELD) -> tuple[MweReport, list[MweReport]]:
    """Train without and score on every fold: the total counts, and the report of each."""
    gold: list[Expressions] = []
    system: list[Expressions] = []
    each = []
    for number in folds:
        outside, inside = reviews.fold(number)
        found = tag(setup.train(outside)[0], inside)
        each.append(score_expressions(inside.expressions(), found))
        gold += inside.expressions()
        system += found
    return score_expressions(gold, system), each


def run(options: RecipeOptions) -> RecipeResult:
    """The whole experiment: lookup, lexicons, the rows of the test set, schemes, another domain."""
    result = RecipeResult(SLUG)
    material = load(options)
    if options.quick:
        material.train = material.train.take(range(600))
    material.clusters = learn_clusters(options, n_classes=100 if options.quick else 500)
    if material.wordnet is None:
        result.notes.append("WordNet is not installed here: its entries and features 17 to 20 are missing.")
    result.notes.append(f"Predicted tags are right for {100 * material.tag_accuracy:.2f} % of words (paper: 94.9 %).")
    folds = HELD[:2] if options.quick else HELD
    result.notes.append(
        f"Cross-validation scores {len(folds)} of {FOLDS} folds, each with the other seven as training."
    )
    best = _lookups(result, material, folds)
    _lexicons(options, result, material, folds, best)
    chosen = _test_rows(options, result, material)
    _schemes(options, result, material, folds, chosen)
    _other_domain(options, result, material, chosen)
    return result


def _lookups(result: RecipeResult, material: Material, folds: Sequence[int]) -> float:
    """Table 2, left: the shortest path through lexicons, with gaps of 0, 1 and 2 words; returns the best F."""
    table = Table("Lookup in lexicons, train, links", ["max gap", "P", "R", "F"], digits={"max gap": 0})
    gold = material.train.expressions()
    rows = {lexicon.name: [lexicon] for lexicon in material.lexicons}
    rows["WordNet + SemCor"] = [lexicon for lexicon in material.lexicons if lexicon.name in ("wordnet", "semcor")]
    rows["all lexicons"] = material.lexicons
    scores: dict[str, list[tuple[float, int, MweScore]]] = {}
    for name, lexicons in rows.items():
        for gap in (0, 1, 2):
            found = score_expressions(gold, lookup(lexicons, material.train, gap)).link
            scores.setdefault(name, []).append((found.f1, gap, found))
    for gap in (0, 1, 2):
        name = "best, with expressions of train"
        wanted: list[Expressions] = []
        system: list[Expressions] = []
        for number in folds:
            outside, inside = material.train.fold(number)
            seen = lexicon_of("seen", zip(outside.lemmas(), outside.expressions(), strict=True))
            system += lookup([*material.lexicons, seen], inside, gap)
            wanted += inside.expressions()
        found = score_expressions(wanted, system).link
        scores.setdefault(name, []).append((found.f1, gap, found))
    for name, tried in scores.items():
        for _, gap, found in tried:
            paper = _named(PAPER_LOOKUP[name]) if name in PAPER_LOOKUP and gap == max(tried)[1] else None
            table.add(f"{name}, gap {gap}", {"max gap": gap, **_percent(found)}, paper)
    table.note = "The paper's figures stand beside the gap that is best here. With train: cross-validation."
    result.tables.append(table)
    return 100 * max(tried[0] for each in scores.values() for tried in each)


def _lexicons(
    options: RecipeOptions, result: RecipeResult, material: Material, folds: Sequence[int], best_lookup: float
) -> None:
    """Table 2, right: what lexicons contribute to the tagger (base features, plain perceptron, eight tags)."""
    table = Table("Lexicons as features, cross-validation on train, links", ["P", "R", "F", "sd of F"])
    both = [lexicon for lexicon in material.lexicons if lexicon.name in ("wordnet", "semcor")]
    setups = {
        "none": Setup(),
        "WordNet + SemCor": Setup(both, material.wordnet),
        "all lexicons": Setup(material.lexicons, material.wordnet),
        "all lexicons + seen twice in train": Setup(material.lexicons, material.wordnet, seen_count=2),
    }
    reports = {}
    for name, setup in setups.items():
        reports[name], each = cross_validate(setup, material.train, folds)
        spread = float(np.std([100 * report.link.f1 for report in each], ddof=1))
        ours = {**_percent(reports[name].link), "sd of F": spread}
        table.add(name, ours, _named(PAPER_LEXICONS[name]), {"F": _interval(reports[name])})
    result.tables.append(table)
    f = {name: 100 * report.link.f1 for name, report in reports.items()}
    test = paired_bootstrap(reports["all lexicons"].links, reports["none"].links, mean_f1, samples=2000)
    result.claim(
        "the tagger is at least {bar} F above the best lookup (paper: 14.8)",
        measured(max(f.values()) - best_lookup, ">=", 10),
        required=not options.quick,
    )
    result.claim(
        "lexicons bring at least {bar} F (paper: 5.6, with lexicons that are not at hand)",
        gain(f["all lexicons"] - f["none"], p=test.p, sense=">=", bar=3),
        required=not options.quick and material.wordnet is not None,
        note="" if material.wordnet else "WordNet is missing",
    )


def _test_rows(options: RecipeOptions, result: RecipeResult, material: Material) -> dict[str, Setup]:
    """Table 3: base, + recall cost, + clusters, + gold tags; rho is chosen on dev, scores are means over shuffles."""
    table = Table(
        "Test",
        ["P", "R", "F", "exact P", "exact R", "exact F", "gappy R", "rho", "CPU s"],
        digits={"rho": 0, "CPU s": 0},
    )
    base_setup = Setup(material.lexicons, material.wordnet)
    costs = COSTS[:1] if options.quick else COSTS
    setups = {
        "base": [base_setup],
        "+ cost of wrong tags": [replace(base_setup, hamming=True, epochs=4)],
        "+ recall cost": [replace(base_setup, recall_cost=cost, epochs=4) for cost in costs],
        "+ clusters": [replace(base_setup, recall_cost=cost, epochs=4, clusters=material.clusters) for cost in costs],
    }
    chosen: dict[str, Setup] = {}
    for name, tried in setups.items():
        scores = (
            [_score(setup, material.train, material.dev)[0].link.f1 for setup in tried] if len(tried) > 1 else [0.0]
        )
        chosen[name] = tried[int(np.argmax(scores))]
    chosen["+ gold tags"] = replace(chosen["+ clusters"], tag_column="gold_xpos")
    whole = joined(material.train, material.dev)
    reports: dict[str, list[MweReport]] = {}
    found: dict[str, list[Expressions]] = {}
    for name, setup in chosen.items():
        runs = []
        for shuffle in range(1 if options.quick else 3):
            report, seconds, found[name] = _score(replace(setup, seed=options.seed + shuffle), whole, material.test)
            runs.append((report, seconds))
        reports[name] = [report for report, _ in runs]
        links, exacts = ([getattr(r, kind) for r in reports[name]] for kind in ("link", "exact"))
        mean = MweScore(*np.mean(links, axis=0).tolist())
        exact = MweScore(*np.mean(exacts, axis=0).tolist())
        ours = {
            **_percent(mean),
            **{f"exact {key}": value for key, value in _percent(exact).items()},
            "gappy R": 100 * float(np.mean([r.gappy_groups_recall for r in reports[name]])),
            "rho": setup.recall_cost,
            "CPU s": float(np.mean([seconds for _, seconds in runs])),
        }
        link, exact_figures = PAPER_TEST.get(name, ((), ()))
        paper = {**_named(link), **{f"exact {key}": value for key, value in _named(exact_figures).items()}}
        table.add(name, ours, paper, {"F": _interval(reports[name][0])})
    table.note = (
        "Trained on train and dev, mean of three shuffles; intervals: bootstrap over sentences, first shuffle. rho is "
        "chosen on dev. gappy R: share of the expressions with gaps that are found exactly."
    )
    result.tables.append(table)
    rows = {row.name: row.ours for row in table.rows}
    base, recall, gold = (rows[name] for name in ("base", "+ recall cost", "+ gold tags"))
    changed = abs(_number(recall["F"]) - _number(base["F"]))
    gold_links = int(reports["base"][0].links[:, 0, 2].sum())
    needed = not options.quick
    result.claim("the recall cost raises R by at least {bar}",
                 of_scores(_number(recall["R"]), _number(base["R"]), gold_links, sense=">=", bar=5))  # fmt: skip
    result.claim("the recall cost changes F by at most {bar}", measured(changed, "<=", 2), required=needed)
    test = paired_bootstrap(reports["+ gold tags"][0].links, reports["+ clusters"][0].links, mean_f1, samples=2000)
    more = gain(_number(gold["F"]) - _number(rows["+ clusters"]["F"]), p=test.p)
    result.claim("gold tags are better than predicted ones", more, required=needed)
    slowest = max(_number(row["CPU s"]) for row in rows.values())
    result.own("a training takes less than {bar} s of CPU time", measured(slowest, "<", 180))
    _unseen(result, material, whole, found["+ clusters"])
    return chosen


def _unseen(result: RecipeResult, material: Material, train: Reviews, found: Sequence[Expressions]) -> None:
    """Recall of expression types that are not in the training data, and that are in no lexicon either."""
    seen = {
        key for lemmas, each in zip(train.lemmas(), train.expressions(), strict=True) for key in _types(lemmas, each)
    }
    listed = {key for lexicon in material.lexicons for key in lexicon.entries}
    gold = [
        set(_types(lemmas, each))
        for lemmas, each in zip(material.test.lemmas(), material.test.expressions(), strict=True)
    ]
    system = [set(_types(lemmas, each)) for lemmas, each in zip(material.test.lemmas(), found, strict=True)]
    wanted = set().union(*gold) - seen
    right = set().union(*(a & b for a, b in zip(gold, system, strict=True))) - seen
    table = Table(
        "Recall of types that training data does not have",
        ["types", "found", "recall"],
        digits={"types": 0, "found": 0},
    )
    for name, paper, kept in (("unseen", 38.0, wanted), ("unseen, in no lexicon", 24.0, wanted - listed)):
        hit = len(right & kept)
        table.add(name, {"types": len(kept), "found": hit, "recall": 100 * hit / max(1, len(kept))}, {"recall": paper})
    result.tables.append(table)


def _schemes(
    options: RecipeOptions, result: RecipeResult, material: Material, folds: Sequence[int], chosen: dict[str, Setup]
) -> None:
    """Table 5: training with fewer tags, scored against all eight."""
    table = Table("Schemes, cross-validation on train, links", ["P", "R", "F", "gap R", "gappy groups R"])
    reports = {}
    for tags in (3, 4, 6, 8):
        reports[tags], _ = cross_validate(replace(chosen["+ gold tags"], tags=tags), material.train, folds)
        report = reports[tags]
        ours = {
            **_percent(report.link),
            "gap R": 100 * report.gap_recall,
            "gappy groups R": 100 * report.gappy_groups_recall,
        }
        table.add(f"{tags} tags", ours, _named(PAPER_SCHEMES[tags]), {"F": _interval(report)})
    table.note = "With recall cost, clusters and gold tags, as in the paper; the cost is the one chosen for eight tags."
    result.tables.append(table)
    test = paired_bootstrap(reports[8].links, reports[3].links, mean_f1, samples=2000)
    result.claim("eight tags are better than three (paper: 2.95 F)", gain(100 * test.difference, p=test.p),
                 required=not options.quick)  # fmt: skip
    bar = 10 if options.quick else 20
    result.claim("with eight tags at least {bar} % of the expressions with gaps are found exactly",
                 measured(100 * reports[8].gappy_groups_recall, ">=", bar, digits=1, unit="%"))  # fmt: skip
    none = max(reports[tags].gappy_groups_recall for tags in (3, 4))
    result.own("with tags for no gaps, no expression with gaps is found", measured(100 * none, "<=", 0, unit="%"))


def _other_domain(options: RecipeOptions, result: RecipeResult, material: Material, chosen: dict[str, Setup]) -> None:
    """DiMSUM's tweets, talks and other reviews, strong expressions only, universal tags."""
    sentences = list(read(options.find(DIMSUM), format="streusle"))
    table = Table("DiMSUM test (other domains, strong only)", ["P", "R", "F", "exact F"])
    for name in ("base", "+ clusters"):
        tagger, _ = replace(chosen[name], tag_column="upos").train(joined(material.train, material.dev))
        gold = [each for doc in sentences for each in expressions_of(doc)]
        docs = [doc.subset(range(doc.n_sentences)) for doc in sentences]
        tagger(docs)
        system = [Expressions(each.strong) for doc in docs for each in expressions_of(doc)]
        report = score_expressions(gold, system)
        table.add(name, {**_percent(report.link), "exact F": 100 * report.exact.f1}, None, {"F": _interval(report)})
    result.tables.append(table)


def _score(setup: Setup, train: Reviews, test: Reviews) -> tuple[MweReport, float, list[Expressions]]:
    tagger, seconds = setup.train(train)
    found = tag(tagger, test)
    return score_expressions(test.expressions(), found), seconds, found


def _types(lemmas: Sequence[str], found: Expressions) -> list[tuple[str, ...]]:
    return [tuple(lemmas[word] for word in group) for group in found.outermost()]


def _percent(score: MweScore) -> dict[str, float]:
    return {"P": 100 * score.precision, "R": 100 * score.recall, "F": 100 * score.f1}


def _named(figures: Sequence[float]) -> dict[str, float]:
    return dict(zip(("P", "R", "F"), figures, strict=False))


def _interval(report: MweReport) -> tuple[float, float]:
    found = confidence_interval(report.links, mean_f1, samples=2000)
    return 100 * found.low, 100 * found.high


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
