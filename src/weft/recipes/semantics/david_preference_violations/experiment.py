"""Dunietz, Levin and Carbonell (2013): what errors of resources and of tools cost a detector of broken preferences.

METAL, the paper's corpus, is not public. Metaphors in three tables of verbs with subjects and objects take its place:
the arguments of the tables stand for corrected tools, those of Weft's semantic role labeller for raw ones. Resources
are raw, with corrupt files repaired, or with patches that were written on a third of the verbs of TroFi-X.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft import data as corpora
from weft.evaluate.counts import Counts
from weft.evaluate.significance import confidence_interval, paired_bootstrap
from weft.lexical.resources.audit import KINDS, audit, missing_classes
from weft.lexical.resources.semlink import SemLink
from weft.lexical.resources.source import read_patches
from weft.recipes.claims import compared, gain, mean_of, measured, student_interval
from weft.recipes.framework import RecipeOptions, RecipeResult, Table
from weft.recipes.semantics.david_preference_violations import generated
from weft.recipes.semantics.david_preference_violations.data import (
    MOH_X,
    TROFI_X,
    TSVETKOV,
    Example,
    development_verbs,
    read_moh_x,
    read_trofi_x,
    read_tsvetkov,
)
from weft.recipes.semantics.david_preference_violations.sentences import Roles, label_sentences
from weft.tasks.preferences.fillers import Filler
from weft.tasks.preferences.judge import Judgement, concluded, judge
from weft.tasks.preferences.resources import PATCHES, REPAIRS, SEMLINK, VERBNET, Resources
from weft.text.conventions.preferences import UNKNOWN, VIOLATION

COLUMNS = ["examples", "base rate", "flagged", "unknown", "P", "R", "F"]
DIGITS = {"examples": 0, "base rate": 1, "flagged": 0, "unknown": 0}
#: P and F1 of the paper's table 4: the 90 sentences that were corrected, and the 625 that were not.
PAPER_CORRECTED = {
    ("predicted", "raw"): {"P": 31.82, "F": 30.43}, ("given", "raw"): {"P": 44.44, "F": 38.10},
    ("predicted", "patched"): {"P": 47.37, "F": 41.86}, ("given", "patched"): {"P": 80.00, "F": 61.54},
}  # fmt: skip
PAPER_REST = {
    ("predicted", "raw"): {"P": 26.55, "F": 27.98}, ("predicted", "repaired"): {"P": 26.37, "F": 28.15},
    ("predicted", "patched"): {"P": 27.37, "F": 28.99},
}  # fmt: skip
PAPER_ERRORS = {"resources": 39.1, "tools": 37.5, "endemic": 23.4}
TOOLS = ("predicted", "given")


@dataclass(frozen=True)
class Size:
    """Seeds and sentences of the generated world, and samples of the bootstrap."""

    seeds: int = 5
    sentences: int = 2000
    samples: int = 2000


QUICK = Size(seeds=2, sentences=400, samples=1000)
#: Gives the judgement of an example.
Judge = Callable[[Example], Judgement]


def assignments(example: Example, use: str = "SO") -> list[dict[str, Filler]]:
    """How the arguments of a table may be labelled: a subject without an object is A0 or A1.

    >>> [sorted(each) for each in assignments(Example("turn", "talk", "", "", True))]
    [['A0'], ['A1']]
    """
    subject, object = (Filler.of_word(text) if text else None for text in (example.subject, example.object))
    if "S" in use and "O" in use and subject and object:
        return [{"A0": subject, "A1": object}]
    if "O" in use and object:
        return [{"A1": object}]
    if "S" in use and subject:
        return [{"A0": subject}] if example.object else [{"A0": subject}, {"A1": subject}]
    return []


def judge_given(example: Example, resources: Resources, use: str = "SO") -> Judgement:
    """Judge an example by the arguments of its table; every way to label them gives further readings."""
    found = [judge(example.verb, each, resources) for each in assignments(example, use)]
    if not found:
        return Judgement(example.verb, UNKNOWN, why="no core arguments")
    if not any(each.readings for each in found):
        return found[0]
    return concluded(example.verb, [reading for each in found for reading in each.readings])


def judge_predicted(example: Example, roles: Roles, resources: Resources) -> Judgement:
    """Judge an example by the arguments that were predicted for its sentence."""
    if roles.why:
        return Judgement(example.verb, UNKNOWN, why=roles.why)
    return judge(example.verb, roles.fillers, resources)


def counts_of(examples: Sequence[Example], judgements: Sequence[Judgement]) -> Counts:
    """Metaphors, flags and right flags of every example."""
    gold = np.array([example.metaphor for example in examples], dtype=np.int64)
    flagged = np.array([judgement.outcome == VIOLATION for judgement in judgements], dtype=np.int64)
    return Counts.of(gold, flagged, gold * flagged)


@dataclass
class Cell:
    """What one setting reaches on a set."""

    examples: Sequence[Example]
    judgements: Sequence[Judgement]

    @property
    def counts(self) -> Counts:
        return counts_of(self.examples, self.judgements)

    @property
    def wrong(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which examples are judged wrongly: metaphors that are not flagged, and others that are."""
        flagged = np.array([each.outcome == VIOLATION for each in self.judgements], dtype=bool)
        return flagged != np.array([example.metaphor for example in self.examples], dtype=bool)

    def row(self, samples: int) -> tuple[dict[str, Any], dict[str, tuple[float, float]]]:
        counts = self.counts
        score = counts.total()
        unknown = sum(each.outcome == UNKNOWN for each in self.judgements)
        ours = {
            "examples": len(self.examples), "base rate": 100 * score.gold / len(self.examples),
            "flagged": score.system, "unknown": unknown,
            "P": 100 * score.precision, "R": 100 * score.recall, "F": 100 * score.f1,
        }  # fmt: skip
        intervals = {}
        for name, measure in (("P", "precision"), ("F", "f1")):
            ends = confidence_interval(counts, measure, samples)
            intervals[name] = (100 * ends.low, 100 * ends.high)
        return ours, intervals


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
        _crossed(result, sets, states, size)
        _overlay(result, sets, options, size)
    _speed(result, sets["Tsvetkov"], states["patched"])
    result.notes.append(
        f"{len(read_patches(REPAIRS))} repairs and {len(read_patches(PATCHES))} patches; the latter were written on "
        "the examples of a third of the verbs of TroFi-X and from two examples of the paper."
    )
    return result


def _add(table: Table, name: str, cell: Cell, size: Size, paper: Mapping[str, float] | None = None) -> None:
    ours, interval = cell.row(size.samples)
    table.add(name, ours, paper=paper, interval=interval)


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
                _add(table, f"{name}{shown}, {state}", cell, size)
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
            _add(table, f"{name}, {kind}", cell, size)
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


def memorized(examples: Sequence[Example]) -> list[Judgement]:
    """Every example by the majority of the other examples of its verb."""
    metaphors: dict[str, list[int]] = {}
    for each in examples:
        both = metaphors.setdefault(each.verb, [0, 0])
        both[each.metaphor] += 1
    found = []
    for each in examples:
        other, same = metaphors[each.verb][0], metaphors[each.verb][1]
        own = (other - (not each.metaphor), same - each.metaphor)
        found.append(Judgement(each.verb, VIOLATION if own[1] > own[0] else "ok"))
    return found


def abstract_object(example: Example, resources: Resources) -> Judgement:
    """Flags a verb if all senses of its object, or of its subject if it has none, are abstract and not concrete."""
    bits = resources.nouns.bits
    senses = Filler.of_word(example.object or example.subject).senses(resources.nouns)
    flagged = all(sense.known and sense.has & bits["abstract"] and not sense.has & bits["concrete"] for sense in senses)
    return Judgement(example.verb, VIOLATION if flagged else "ok")


def _crossed(
    result: RecipeResult, sets: Mapping[str, Sequence[Example]], states: Mapping[str, Resources], size: Size
) -> None:
    """Tools by resources: on the verbs for which resources were patched, and on all others."""
    labelled = {name: label_sentences(examples) for name, examples in sets.items()}
    trofi = sets["TroFi-X"]
    dev = development_verbs(list(trofi))
    parts = {
        "development third of TroFi-X": ("TroFi-X", [i for i, each in enumerate(trofi) if each.verb in dev]),
        "rest of TroFi-X": ("TroFi-X", [i for i, each in enumerate(trofi) if each.verb not in dev]),
        "MOH-X": ("MOH-X", list(range(len(sets["MOH-X"])))),
        "Tsvetkov": ("Tsvetkov", list(range(len(sets["Tsvetkov"])))),
    }
    cells: dict[tuple[str, str, str], Cell] = {}
    for part, (name, rows) in parts.items():
        examples, roles = [sets[name][i] for i in rows], [labelled[name][i] for i in rows]
        table = Table(f"Tools by resources, {part}", COLUMNS, digits=DIGITS)
        paper = {"development third of TroFi-X": PAPER_CORRECTED, "rest of TroFi-X": PAPER_REST}.get(part, {})
        for tools in TOOLS:
            for state, resources in states.items():
                if tools == "given":
                    judgements = [judge_given(each, resources) for each in examples]
                else:
                    pairs = zip(examples, roles, strict=True)
                    judgements = [judge_predicted(each, own, resources) for each, own in pairs]
                cells[part, tools, state] = cell = Cell(examples, judgements)
                _add(table, f"{tools} arguments, {state} resources", cell, size, paper.get((tools, state)))
        table.note = (
            "Predicted: by en and en-roles on the sentence. Repaired: classes that SemLink names and VerbNet does not "
            "have. Patched: with the patches of the development verbs too. The paper's figures are for other sentences."
        )
        result.tables.append(table)
    _crossed_claims(result, cells, size)
    _errors(result, cells)


def _crossed_claims(result: RecipeResult, cells: Mapping[tuple[str, str, str], Cell], size: Size) -> None:
    dev, rest = "development third of TroFi-X", "rest of TroFi-X"

    def over(part: str, better: tuple[str, str], worse: tuple[str, str], measure: str = "f1") -> Any:
        pair = (cells[(part, *better)].counts, cells[(part, *worse)].counts)
        return paired_bootstrap(*pair, measure, size.samples)

    raw, tools, mended, both = (
        ("predicted", "raw"), ("given", "raw"), ("predicted", "patched"), ("given", "patched"),
    )  # fmt: skip
    result.claim(
        "corrected resources raise F1 where they were corrected (paper: +11.4, with corrected tools +23.4)",
        compared(over(dev, mended, raw), "predicted"),
        compared(over(dev, both, tools), "given"),
    )
    result.claim(
        "corrected resources raise precision where they were corrected (paper: +35.6 with corrected tools)",
        compared(over(dev, both, tools, "precision"), "given"),
        compared(over(dev, mended, raw, "precision"), "predicted"),
    )
    result.claim(
        "corrected tools raise F1 (paper: +7.7 with raw resources, +19.7 with corrected ones)",
        compared(over(dev, tools, raw), "raw"), compared(over(dev, both, mended), "patched"),
    )  # fmt: skip
    result.claim(
        "corrected resources alone help more than corrected tools alone (paper: +11.4 against +7.7)",
        compared(over(dev, mended, tools), dev),
    )
    result.claim(
        "corrected resources raise F1 on other verbs (paper: +1.0 with raw tools)",
        compared(over(rest, mended, raw), "predicted"),
        compared(over(rest, both, tools), "given"),
    )
    result.own(
        "patches lose no F1 on other verbs",
        *(
            measured(100 * over(part, both, tools).difference, ">=", 0, part, unit="F")
            for part in (rest, "MOH-X", "Tsvetkov")
        ),
    )
    values = {key: 100 * cells[(dev, *key)].counts.total().f1 for key in (raw, tools, mended, both)}
    alone = (values[tools] - values[raw]) + (values[mended] - values[raw])
    counts = [cells[(dev, *key)].counts for key in (both, raw, tools, mended)]
    result.claim(
        "both corrections together bring more F1 than the sum of each alone (paper: 31.1 against 19.1)",
        gain(values[both] - values[raw] - alone, interval=_interaction(counts, size.samples), where=dev),
    )


def _interaction(counts: Sequence[Counts], samples: int) -> tuple[float, float]:
    """The bootstrap interval of F1(both) + F1(neither) - F1(tools) - F1(resources), in points."""
    rows = np.stack([np.stack([each.gold, each.system, each.correct], axis=1) for each in counts], axis=1)
    random = np.random.default_rng(0)
    n, found = len(rows), []
    for _ in range(samples):
        sums = rows[random.integers(n, size=n)].sum(axis=0)
        f1 = 200 * sums[:, 2] / np.maximum(1, sums[:, 0] + sums[:, 1])
        found.append(float(f1[0] + f1[1] - f1[2] - f1[3]))
    low, high = np.quantile(found, [0.025, 0.975])
    return float(low), float(high)


def _errors(result: RecipeResult, cells: Mapping[tuple[str, str, str], Cell]) -> None:
    """Whose fault the errors are: which corrections make them go away."""
    table = Table("Where errors come from, per cent", ["errors", "resources", "tools", "endemic"], digits={"errors": 0})
    for part in dict.fromkeys(key[0] for key in cells):
        wrong = {key: cells[(part, *key)].wrong for key in ((t, s) for t in TOOLS for s in ("raw", "patched"))}
        shares = attributed(
            wrong["predicted", "raw"], wrong["given", "raw"], wrong["predicted", "patched"], wrong["given", "patched"]
        )
        paper = PAPER_ERRORS if part.startswith("development") else {}
        table.add(part, {"errors": int(wrong["predicted", "raw"].sum()), **shares}, paper=paper)
    table.note = (
        "Errors with raw tools and raw resources: gone with corrected resources, with corrected tools, half a point "
        "each if either or only both do it; endemic if both corrections leave them."
    )
    result.tables.append(table)


def attributed(raw: Any, tools: Any, resources: Any, both: Any) -> dict[str, float]:
    """Shares of errors, in per cent; the arguments say which examples are wrong with which corrections.

    >>> attributed(*(np.array(each, dtype=bool) for each in ([1, 1, 1, 1], [0, 1, 1, 0], [1, 0, 1, 0], [0, 0, 1, 0])))
    {'resources': 37.5, 'tools': 37.5, 'endemic': 25.0}
    """
    points = {"resources": 0.0, "tools": 0.0, "endemic": 0.0}
    for by_tools, by_resources, by_both in zip(~tools[raw], ~resources[raw], ~both[raw], strict=True):
        if by_tools != by_resources:
            points["tools" if by_tools else "resources"] += 1
        elif by_tools or by_both:
            points["tools"] += 0.5
            points["resources"] += 0.5
        else:
            points["endemic"] += 1
    total = max(1.0, sum(points.values()))
    return {name: 100 * value / total for name, value in points.items()}


def _overlay(result: RecipeResult, sets: Mapping[str, Sequence[Example]], options: RecipeOptions, size: Size) -> None:
    """Which links: SemLink 2 alone, 3.4 alone, and 3.4 over 2."""
    table = Table("Links of SemLink, raw resources, arguments of the tables", COLUMNS, digits=DIGITS)
    old, new = (options.find(path) for path in SEMLINK)
    for name, paths in {"2": [old], "3.4": [new], "3.4 over 2": [old, new]}.items():
        resources = Resources.read(options.find(VERBNET), paths)
        for part, examples in sets.items():
            _add(table, f"{part}, {name}", Cell(examples, [judge_given(each, resources) for each in examples]), size)
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


def corpora_present() -> bool:
    """Whether all tables and resources are at hand."""
    try:
        for path in (VERBNET, *SEMLINK, *TSVETKOV, MOH_X, TROFI_X):
            corpora.find(path)
    except corpora.DataError:
        return False
    return True
