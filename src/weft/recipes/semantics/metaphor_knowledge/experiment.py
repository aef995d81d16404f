"""Li, Zhu and Wang (2013): metaphors recognized and explained from knowledge bases that were harvested from text.

The paper harvests 8.5 million similes and a billion copulas of the web. The texts at hand are ten thousand times
smaller, so the claims are decided in a generated world (`world`), in which every metaphor is known; what novels give
on real test sets stands beside (`real`), with its small recall.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from weft.lexical.resources.synsets import open_wordnet
from weft.recipes.claims import Figure, mean_of, student_interval
from weft.recipes.framework import RecipeOptions, RecipeResult, Table
from weft.recipes.semantics.metaphor_knowledge import real
from weft.recipes.semantics.metaphor_knowledge.generated import BANDS, CLAUSES, COPULAS, PRECISION, Outcome, run_world
from weft.recipes.semantics.metaphor_knowledge.scores import Score
from weft.recipes.semantics.metaphor_knowledge.world import Amounts
from weft.recipes.variation import Variation

NET = "VH (net of properties)"
PAPER_COPULAS = {"KZ (taxonomy)": (13.0, 30.0, 18.0), "ours": (73.0, 66.0, 69.0)}
PAPER_CLAUSES = {
    "SA": (23.0, 20.0, 21.0), "CP": (50.0, 20.0, 26.0), NET: (11.0, 86.0, 20.0), "ours": (65.0, 52.0, 58.0),
}  # fmt: skip
PAPER_EXPLAINED = {NET: (26.0, 49.0), "ours": (43.0, 67.0)}
WORLD = "generated world"


@dataclass(frozen=True)
class Size:
    """How much the world says, how many sentences are decided, and how much of the novels is read."""

    amount: float = 1.0
    tests: int = 2000
    seeds: int = 5
    novels: int = 0  #: novels to read, 0 for all


QUICK = Size(amount=0.1, tests=400, seeds=1, novels=4)
SHARES = (0.1, 0.3, 1.0)
VARIATION = Variation((Size,), ("world", "novels"))


def run(options: RecipeOptions) -> RecipeResult:
    """All tables of the system page."""
    size = options.varied(QUICK if options.quick else Size())
    result = RecipeResult("metaphor-knowledge")
    if options.wants("novels"):
        open_wordnet()  # or say that there is none, before the long part
    if options.wants("world"):
        _generated(result, size, options.seed)
    if options.wants("novels"):
        real.tables(result, options, size.novels)
    return result


def _generated(result: RecipeResult, size: Size, first: int) -> None:
    amounts = Amounts().times(size.amount)
    outcomes = [run_world(first + k, amounts, SHARES, size.tests) for k in range(size.seeds)]
    _scores(result, f"Type 1, {WORLD}", COPULAS, [each.copulas for each in outcomes], PAPER_COPULAS, size)
    _scores(result, f"Types 2 and 3, {WORLD}", CLAUSES, [each.clauses for each in outcomes], PAPER_CLAUSES, size)
    _explanations(result, outcomes)
    _bands(result, outcomes)
    _growth(result, outcomes, size)
    _claims(result, outcomes)


def _scores(
    result: RecipeResult, title: str, systems: Sequence[str] | Mapping[str, object],
    scores: Sequence[Mapping[str, Score]], paper: Mapping[str, tuple[float, float, float]], size: Size,
) -> None:  # fmt: skip
    table = Table(title, ["P", "R", "F", "accuracy"], digits=dict.fromkeys(("P", "R", "F", "accuracy"), 1))
    for name in systems:
        rows = [each[name].row() for each in scores]
        ours = {key: float(np.mean([row[key] for row in rows])) for key in table.columns}
        between = {"F": student_interval([each[name].f1 for each in scores])} if len(scores) > 1 else {}
        table.add(name, ours, dict(zip(("P", "R", "F"), paper.get(name, ()), strict=False)), between)
    table.note = (
        f"Means of {len(scores)} seeds, {size.tests:,} sentences each; Student intervals over seeds. Thresholds of all "
        "systems are chosen on as many other sentences. The paper's figures are for other sentences."
    )
    result.tables.append(table)


def _explanations(result: RecipeResult, outcomes: Sequence[Outcome]) -> None:
    columns = ["top 1", "top 3", "unseen, top 1"]
    table = Table(f"Explanations, {WORLD}", columns, digits=dict.fromkeys(columns, 1))
    for name in (NET, "ours"):
        ours = {key: float(np.mean([each.explained[name][key] for each in outcomes])) for key in columns}
        table.add(name, ours, dict(zip(columns, PAPER_EXPLAINED[name], strict=False)))
    table.note = (
        "Of all metaphoric clauses: the side that is explicit is right, and the other is of the planted concept. "
        "Unseen: nouns that occur in no metaphor of the text. The paper's figures are for 83 other sentences."
    )
    result.tables.append(table)


def _bands(result: RecipeResult, outcomes: Sequence[Outcome]) -> None:
    table = Table(f"F by strength of the verb's preference, {WORLD}", list(BANDS), digits=dict.fromkeys(BANDS, 1))
    for name in CLAUSES:
        table.add(name, {band: float(np.mean([each.bands[name][band] for each in outcomes])) for band in BANDS})
    ends = np.mean([each.strengths for each in outcomes], axis=0)
    table.note = (
        f"Thirds of the test clauses by selectional preference strength: to {ends[0]:.2f}, to {ends[1]:.2f}, above."
    )
    result.tables.append(table)


def _growth(result: RecipeResult, outcomes: Sequence[Outcome], size: Size) -> None:
    columns = list(next(iter(outcomes[0].growth.values())))
    digits = {column: 0 if "pairs" in column else 1 for column in columns}
    table = Table(f"More text, {WORLD}", columns, digits=digits)
    for share in SHARES:
        rows = [each.growth[share] for each in outcomes]
        table.add(f"{100 * share:.0f} %", {key: float(np.mean([row[key] for row in rows])) for key in columns})
    sentences = sum(vars(Amounts().times(size.amount)).values())
    table.note = (
        f"Of {sentences:,} sentences; pairs: harvested metaphors that are left after cleaning, without derived ones. "
        f"Types 2/3: at the threshold that gives {PRECISION:.0f} % precision on other sentences."
    )
    result.tables.append(table)


def _claims(result: RecipeResult, outcomes: Sequence[Outcome]) -> None:
    def gain(one: Sequence[float], other: Sequence[float], where: str = "", bar: float = 0.0) -> Figure:
        pairs = zip(one, other, strict=True)
        return mean_of({f"seed {k}": a - b for k, (a, b) in enumerate(pairs)}, where, bar=bar)

    def clauses(name: str, key: str = "f1") -> list[float]:
        return [getattr(each.clauses[name], key) for each in outcomes]

    def copulas(name: str, key: str = "f1") -> list[float]:
        return [getattr(each.copulas[name], key) for each in outcomes]

    def bands(name: str, band: str) -> list[float]:
        return [each.bands[name][band] for each in outcomes]

    def explained(name: str, key: str) -> list[float]:
        return [each.explained[name][key] for each in outcomes]

    def grown(share: float, key: str) -> list[float]:
        return [each.growth[share][key] for each in outcomes]

    kz, rivals = "KZ (taxonomy)", CLAUSES[:3]
    result.claim(
        "types 2 and 3: F is above that of SA, CP and VH",
        *(gain(clauses("ours"), clauses(name), name) for name in rivals),
    )
    result.claim("type 1: F is above that of KZ", gain(copulas("ours"), copulas(kz)), required=True)
    result.claim(
        "KZ is worse than ours on type 1 in precision and accuracy",
        *(gain(copulas("ours", key), copulas(kz, key), key) for key in ("precision", "accuracy")),
        required=True,
    )
    result.claim(
        "VH finds most metaphors, at the lowest precision",
        gain(clauses(NET, "recall"), clauses("ours", "recall"), "recall above ours"),
        *(gain(clauses(name, "precision"), clauses(NET, "precision"), name) for name in ("SA", "CP", "ours")),
    )
    result.claim(
        "F is above that of SA, CP and VH in every band of preference strength",
        *(gain(bands("ours", band), bands(name, band), f"{name}, {band}") for name in rivals for band in BANDS),
    )
    result.claim(
        "explanations are right more often than those of VH",
        *(gain(explained("ours", key), explained(NET, key), key) for key in ("top 1", "top 3")),
        required=True,
    )
    first, last = SHARES[0], SHARES[-1]
    result.own(
        "more text gives more pairs and more recall",
        *(gain(grown(last, key), grown(first, key), key) for key in ("pairs", "type 1 R", "types 2/3 R")),
        required=False,
    )
    result.own(
        "with more text, precision changes by more than {bar} points",
        *(gain(grown(last, key), grown(first, key), key, bar=-5.0) for key in ("type 1 P", "types 2/3 P")),
    )
    derived = "ours, without derived pairs"
    result.own(
        "derived pairs find metaphors that were never seen",
        gain(copulas("ours", "recall"), copulas(derived, "recall"), "recall, type 1"),
        gain(clauses("ours"), clauses(derived), "F, types 2 and 3"),
    )
    result.own(
        "literal readings must compete: without them F falls",
        gain(clauses("ours"), clauses("ours, without literal readings")),
    )
