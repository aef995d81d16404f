"""Dunietz, Levin and Carbonell (2013): what errors of resources and of tools cost a detector of broken preferences.

METAL, the paper's corpus, is not public. Metaphors in three tables of verbs with subjects and objects take its place:
the arguments of the tables stand for corrected tools, those of Weft's semantic role labeller for raw ones. Resources
are raw, with corrupt files repaired, or with patches that were written on a third of the verbs of TroFi-X.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from weft.evaluate.significance import confidence_interval, paired_bootstrap
from weft.lexical.resources.audit import KINDS, audit, missing_classes
from weft.lexical.resources.semlink import SemLink
from weft.lexical.resources.source import read_patches
from weft.recipes.claims import compared, gain, mean_of, measured, student_interval
from weft.recipes.framework import RecipeOptions, RecipeResult, Table
from weft.recipes.semantics.david_preference_violations import generated
from weft.recipes.semantics.david_preference_violations.crossed import PAPER_CORRECTED, crossed
from weft.recipes.semantics.david_preference_violations.data import (
    MOH_X,
    TROFI_X,
    TSVETKOV,
    Example,
    read_moh_x,
    read_trofi_x,
    read_tsvetkov,
)
from weft.recipes.semantics.david_preference_violations.scoring import (
    COLUMNS,
    DIGITS,
    QUICK,
    Cell,
    Size,
    abstract_object,
    add_row,
    judge_given,
    memorized,
)
from weft.tasks.preferences.judge import Judgement, judge
from weft.tasks.preferences.resources import PATCHES, REPAIRS, SEMLINK, VERBNET, Resources
from weft.text.conventions.preferences import VIOLATION


def run(options: RecipeOptions) -> RecipeResult:
    """All tables of the system page."""
    size = options.varied(QUICK if options.quick else Size())
    result = RecipeResult("david-preference-violations")
    if options.wants("world"):
        _world(result, size, options.seed)
    if not options.wants("tables"):
        return result
    raw = Resources.read(options.find(VERBNET), [options.find(path) for path in SEMLINK])
    repaired = raw.patched(read_patches(REPAIRS))
    states = {"raw": raw, "repaired": repaired, "patched": repaired.patched(read_patches(PATCHES))}
    _integrity(result, raw, states, options)
    sets = {"Tsvetkov": read_tsvetkov(*(options.find(path) for path in TSVETKOV))}
    if not options.quick:
        sets |= {"MOH-X": read_moh_x(options.find(MOH_X)), "TroFi-X": read_trofi_x(options.find(TROFI_X))}
    _given(result, sets, states, size)
    _baselines(result, sets, states, size)
    if not options.quick:
        crossed(result, sets, states, size)
        _overlay(result, sets, options, size)
    _speed(result, sets["Tsvetkov"], states["patched"])
    result.notes.append(
        f"{len(read_patches(REPAIRS))} repairs and {len(read_patches(PATCHES))} patches; the latter were written on "
        "the examples of a third of the verbs of TroFi-X and from two examples of the paper."
    )
    return result


def _given(
    result: RecipeResult, sets: Mapping[str, Sequence[Example]], states: Mapping[str, Resources], size: Size
) -> None:
    table = Table("Arguments of the tables", COLUMNS, digits=DIGITS)
    bars = {"Tsvetkov": 85, "MOH-X": 60}
    for name, examples in sets.items():
        uses = ("SO", "S", "O") if name == "TroFi-X" else ("SO",)
        for use in uses:
            shown = {"SO": "", "S": ", subjects alone", "O": ", objects alone"}[use]
            for state in ("raw", "patched"):
                cell = Cell(examples, [judge_given(each, states[state], use) for each in examples])
                add_row(table, f"{name}{shown}, {state}", cell, size)
                if use == "SO":
                    _precision(result, name, state, cell, bars.get(name), size)
    table.note = (
        "Precision, recall and F1 of flagged metaphors, with bootstrap intervals. A verb that is unknown is not "
        "flagged. Raw resources: VerbNet 3, SemLink 2 with 3.4 over it, WordNet 3.0."
    )
    result.tables.append(table)


def _precision(result: RecipeResult, name: str, state: str, cell: Cell, bar: int | None, size: Size) -> None:
    """What precision is to reach: a bar of the plan, and more than the base rate."""
    interval = confidence_interval(cell.counts, "precision", size.samples)
    base = 100 * sum(example.metaphor for example in cell.examples) / len(cell.examples)
    result.own(
        "precision is above the base rate of metaphors",
        gain(
            100 * interval.value - base, interval=(100 * interval.low - base, 100 * interval.high - base),
            where=f"{name}, {state}",
        ),
        required=False,
    )  # fmt: skip
    if bar is not None and state == "patched":
        result.own(f"precision on {name} is at least {{bar}}", measured(100 * interval.value, ">=", bar, unit="P"))


def _baselines(
    result: RecipeResult, sets: Mapping[str, Sequence[Example]], states: Mapping[str, Resources], size: Size
) -> None:
    table = Table("Baselines on the arguments of the tables", COLUMNS, digits=DIGITS)
    for name, examples in sets.items():
        cells = {
            "always": Cell(examples, [Judgement(each.verb, VIOLATION) for each in examples]),
            "verb memorizer": Cell(examples, memorized(examples)),
            "abstract object": Cell(examples, [abstract_object(each, states["raw"]) for each in examples]),
        }
        for kind, cell in cells.items():
            add_row(table, f"{name}, {kind}", cell, size)
        ours = Cell(examples, [judge_given(each, states["patched"]) for each in examples])
        for kind in ("always", "verb memorizer"):
            found = paired_bootstrap(ours.counts, cells[kind].counts, "precision", size.samples)
            result.own(
                "precision is above baselines without a lexicon", compared(found, f"{name}, {kind}"), required=False
            )
    table.note = (
        "Always: every verb is flagged. Verb memorizer: the label of most other examples of the verb, not flagged if "
        "there are none. Abstract object: flagged if all senses of the object are below abstraction."
    )
    result.tables.append(table)


def _overlay(result: RecipeResult, sets: Mapping[str, Sequence[Example]], options: RecipeOptions, size: Size) -> None:
    """Which links: SemLink 2 alone, 3.4 alone, and 3.4 over 2."""
    table = Table("Links of SemLink, raw resources, arguments of the tables", COLUMNS, digits=DIGITS)
    old, new = (options.find(path) for path in SEMLINK)
    for name, paths in {"2": [old], "3.4": [new], "3.4 over 2": [old, new]}.items():
        resources = Resources.read(options.find(VERBNET), paths)
        for part, examples in sets.items():
            add_row(table, f"{part}, {name}", Cell(examples, [judge_given(each, resources) for each in examples]), size)
    result.tables.append(table)


def _integrity(result: RecipeResult, raw: Resources, states: Mapping[str, Resources], options: RecipeOptions) -> None:
    """What the audit finds in each file of links and after each set of patches."""
    table = Table("Audit of SemLink against VerbNet 3", [*KINDS[:6], "missing classes"])
    table.digits = dict.fromkeys(table.columns, 0)
    old, new = (SemLink.read(options.find(path)) for path in SEMLINK)
    rows = {
        "SemLink 2": (old, raw), "SemLink 3.4": (new, raw), "3.4 over 2": (raw.links, raw),
        "the same, repaired": (states["repaired"].links, states["repaired"]),
        "the same, patched": (states["patched"].links, states["patched"]),
    }  # fmt: skip
    for name, (links, resources) in rows.items():
        found = audit(links, resources.verbs, resources.types)
        ours: dict[str, Any] = {kind: sum(finding.kind == kind for finding in found) for kind in KINDS[:6]}
        ours["missing classes"] = len(missing_classes(found))
        table.add(name, ours, paper={"missing classes": 6} if name == "SemLink 2" else {})
    table.note = "Paper: six subclasses needed to be fixed, in other versions of both resources."
    result.tables.append(table)


def _world(result: RecipeResult, size: Size, first: int) -> None:
    """The generated world: four settings, several seeds."""
    raw, mended, tools, both = (
        ("predicted", "raw"), ("predicted", "patched"), ("given", "raw"), ("given", "patched"),
    )  # fmt: skip
    scores: dict[tuple[str, str], list[float]] = {key: [] for key in (raw, mended, tools, both)}
    for seed in range(first, first + size.seeds):
        world = generated.world(seed, size.sentences)
        for setting, own in scores.items():
            own.append(100 * world_f1(world, setting[0] == "given", setting[1] == "patched"))
    table = Table("Generated world", ["F"])
    for setting, own in scores.items():
        interval = {"F": student_interval(own)} if len(own) > 1 else {}
        paper = {"F": PAPER_CORRECTED[setting]["F"]}
        table.add(f"{setting[0]} arguments, {setting[1]} resources", {"F": float(np.mean(own))}, paper, interval)
    table.note = (
        f"Means of {size.seeds} seeds with {size.sentences:,} sentences each; the paper's are its 90 sentences."
    )
    result.tables.append(table)
    extra = {
        f"seed {first + i}": scores[both][i] + scores[raw][i] - scores[tools][i] - scores[mended][i]
        for i in range(size.seeds)
    }
    result.own("generated world: both corrections together bring more F1 than the sum of each alone", mean_of(extra))


def world_f1(world: generated.World, corrected_tools: bool, mended: bool) -> float:
    """F1 of flags in a generated world."""
    resources = world.mended if mended else world.resources
    gold, flagged = [], []
    for each in world.sentences:
        gold.append(each.violation)
        outcome = judge(each.verb, each.true if corrected_tools else each.found, resources).outcome
        flagged.append(outcome == VIOLATION)
    right = sum(a and b for a, b in zip(gold, flagged, strict=True))
    return 2 * right / max(1, sum(gold) + sum(flagged))


def _speed(result: RecipeResult, examples: Sequence[Example], resources: Resources) -> None:
    """Verbs per second without tagging, parsing and role labelling."""
    for each in examples:
        judge_given(each, resources)
    began, rounds = time.process_time(), 10
    for _ in range(rounds):
        for each in examples:
            judge_given(each, resources)
    rate = rounds * len(examples) / max(1e-9, time.process_time() - began)
    result.own("at least {bar} verbs per second are judged, given their roles", measured(rate, ">=", 1000, digits=0))
