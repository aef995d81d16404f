"""Tools by resources: what corrections of each bring alone and together, and where errors come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from weft.evaluate.counts import Counts
from weft.evaluate.significance import paired_bootstrap
from weft.recipes.claims import compared, gain, measured
from weft.recipes.framework import RecipeResult, Table
from weft.recipes.semantics.david_preference_violations.data import Example, development_verbs
from weft.recipes.semantics.david_preference_violations.scoring import (
    COLUMNS,
    DIGITS,
    Cell,
    Size,
    add_row,
    judge_given,
    judge_predicted,
)
from weft.recipes.semantics.david_preference_violations.sentences import label_sentences
from weft.tasks.preferences.resources import Resources

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


def crossed(
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
                add_row(table, f"{tools} arguments, {state} resources", cell, size, paper.get((tools, state)))
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
        required=False,
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
