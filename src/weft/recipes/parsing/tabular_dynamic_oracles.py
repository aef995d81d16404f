"""A tabular method for dynamic oracles (Goldberg, Sartorio and Satta, TACL 2014).

Greedy parsers with arc-standard (std) and LR-spine (lrs), each trained in three ways:

    static    one canonical sequence of moves, every arc as soon as possible
    nondet    every move that keeps the gold tree reachable, following the oracle
    explore   every move that loses nothing in any configuration, always following the prediction (k = 0, p = 1)

where the loss of a configuration comes from tables (`weft.infer.transitions.tabular` and `spine_table`). Gold tags on
UD treebanks; on the newspaper sample, jackknifed tags and no punctuation. The annotation differs from that of CoNLL
2007, so the paper's numbers are only for orientation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from weft.evaluate.significance import paired_bootstrap, signed_rank
from weft.infer.transitions import spine_table, systems
from weft.infer.transitions.state import DYNAMIC, FRONT, HEAD, LENGTH, SCALAR, SIZE, gold_table, new_state
from weft.infer.transitions.systems import system_named
from weft.infer.transitions.tabular import right_stack
from weft.recipes.claims import gain, measured
from weft.recipes.corpora.parsing import Run, Treebank, legal_moves, train, trees, ud, with_predicted_tags, wsj
from weft.recipes.framework import Curve, RecipeOptions, RecipeResult, Table
from weft.recipes.variation import Rows, Variation, changed, where_run
from weft.tasks.parsing.transitions.parser import ParserSettings

SLUG = "tabular-dynamic-oracles"
SYSTEMS = {"std": "arc-standard", "lrs": "lr-spine"}
ORACLES = {"static": "static", "nondet": "nondet", "explore": "dynamic"}
TREEBANKS = {"chi": "Chinese-GSD", "tur": "Turkish-IMST", "bas": "Basque-BDT", "eng": "English-EWT"}
PAPER_UAS = {
    "std static": {"chi": 85.17, "tur": 77.04, "bas": 75.37, "eng": 85.69, "wsj": 89.86},
    "std nondet": {"chi": 84.80, "tur": 76.85, "bas": 74.82, "eng": 86.89, "wsj": 90.56},
    "std explore": {"chi": 85.65, "tur": 77.21, "bas": 74.39, "eng": 87.70, "wsj": 90.92},
    "lrs static": {"chi": 84.24, "tur": 77.00, "bas": 76.07, "eng": 86.36, "wsj": 90.33},
    "lrs nondet": {"chi": 84.98, "tur": 77.63, "bas": 75.53, "eng": 88.38, "wsj": 91.18},
    "lrs explore": {"chi": 86.72, "tur": 78.61, "bas": 75.82, "eng": 89.37, "wsj": 91.77},
}


PAPER_LAS = {
    "std static": {"eng": 84.60}, "std nondet": {"eng": 85.91}, "std explore": {"eng": 86.79},
    "lrs static": {"eng": 85.38}, "lrs nondet": {"eng": 87.45}, "lrs explore": {"eng": 88.44},
}  # fmt: skip
#: The comparisons, and whether they can be required on any sufficiently large data.
COMPARISONS = (
    ("lrs explore", "lrs static"),
    ("std explore", "std static"),
    ("lrs nondet", "lrs static"),
    ("lrs explore", "lrs nondet"),
    ("lrs static", "std static"),
    ("lrs nondet", "std nondet"),
    ("lrs explore", "std explore"),
)
#: What the paper says about oracles that are compared within a system; the rest compares systems.
CLAIMS = {
    ("explore", "static"): "exploring with the dynamic oracle raises UAS over the static one",
    ("nondet", "static"): "the non-deterministic oracle raises UAS over the static one",
    ("explore", "nondet"): "exploring raises UAS over the non-deterministic oracle",
}
LR_SPINE = "LR-spine is above arc-standard in UAS under the same oracle"
#: Training with exploration may take this many times as long as with the static oracle.
SLOWEST = {"std": 3.0, "lrs": 10.0}


@dataclass(frozen=True)
class Size:
    """The size of the experiment; the paper uses all sentences, 5 seeds, 15 epochs (LR-spine 30)."""

    treebanks: tuple[str, ...] = ("wsj", "chi", "tur")
    sentences: int = 1000  # of every training part at most
    test_sentences: int = 600
    seeds: int = 5
    epochs: int = 5
    spine_epochs: int = 6
    predicted_tags: bool = True  # on the newspaper sample
    walks: int = 300  # trees along which tables are measured


FULL = Size(("wsj", "chi", "tur", "bas", "eng"), 100_000, 100_000, 5, 15, 30)
QUICK = Size(("wsj", "chi"), 400, 200, 1, 4, 4, predicted_tags=False, walks=60)
VARIATION = Variation((ParserSettings, Size), tuple(PAPER_UAS))


@dataclass
class Walks:
    """Statistics of the tables along walks through LR-spine configurations."""

    largest: NDArray[np.int64]  # by i + j - 1: trees in the largest cell T[i, j]
    share: float  # mean of (elements of the stack and of the right stack) / words
    configurations: int = 0
    losses: list[tuple[int, int]] = field(default_factory=list)  # predicted half-way, and actual at the end


def walk_tables(golds: Sequence[NDArray[np.int32]], mistakes: float = 0.1, seed: int = 0) -> Walks:
    """Follow LR-spine's oracle through trees, with occasional random moves, and measure the tables.

    >>> walks = walk_tables([np.array([2, 0, 2], np.int32)], mistakes=0.0)
    >>> walks.losses
    [(0, 0)]
    """
    number, rng = system_named("lr-spine").number, np.random.default_rng(seed)
    longest = max(len(heads) for heads in golds)
    walks, shares = Walks(np.zeros(2 * longest + 2, dtype=np.int64), 0.0), []
    for heads in golds:
        n = len(heads)
        gold, state = gold_table(heads, np.zeros(n, dtype=np.int32)), new_state(n)
        systems.start(number, state, n)
        foretold = -1
        while not systems.finished(number, state):
            loss = spine_table.remaining_loss(state, gold, walks.largest)
            # Mistakes are made only in the first half, so that the second shows whether the oracle's prediction holds.
            careless = state[FRONT, SCALAR] < state[LENGTH, SCALAR] // 2
            if not careless and foretold < 0:
                built = state[1 : n + 1, HEAD]
                foretold = loss + int(((built >= 0) & (built != heads)).sum())
            shares.append((int(state[SIZE, SCALAR]) + right_stack(state, gold)) / n)
            walks.configurations += 1
            systems.price(number, state, gold, DYNAMIC)
            choice = legal_moves(number, state)
            if not (careless and rng.random() < mistakes):
                choice = [action for action in choice if systems.cost(number, state, gold, *action) == 0]
            systems.apply(number, state, *choice[int(rng.integers(len(choice)))], 0)
        walks.losses.append((foretold, int((state[1 : n + 1, HEAD] != heads).sum())))
    walks.share = float(np.mean(shares))
    return walks


def runs_of(treebank: Treebank, size: Size, options: RecipeOptions) -> Rows[list[Run]]:
    """The parsers of the chosen rows on a treebank, one per seed."""
    found: Rows[list[Run]] = options.chosen(PAPER_UAS).map(lambda _: [])
    seed, changes = options.seed, changed(ParserSettings, options.vary)
    few = [doc.subset(range(min(doc.n_sentences, 5))) for doc in treebank.train[:5]]
    for short, system in SYSTEMS.items():
        epochs = size.spine_epochs if short == "lrs" else size.epochs
        for condition, oracle in ORACLES.items():
            if f"{short} {condition}" not in found:
                continue
            train(
                replace(treebank, train=few), system, oracle, 1, seed, changes=changes
            )  # compile first, which is not training time
            found[f"{short} {condition}"] = [
                train(treebank, system, oracle, epochs, each, changes=changes)
                for each in range(seed, seed + size.seeds)
            ]
    return found


def run(options: RecipeOptions) -> RecipeResult:
    """The experiment in its reduced form: see `Size`. `FULL` is closer to the paper's."""
    return run_size(options, options.varied(QUICK if options.quick else Size()))


def run_size(options: RecipeOptions, size: Size) -> RecipeResult:
    """The experiment at a given size."""
    result = RecipeResult(SLUG)
    found: dict[str, Rows[list[Run]]] = {}
    for code in size.treebanks:
        if code == "wsj":
            treebank = wsj(options, size.sentences, 1, size.test_sentences)
            _tables_of_walks(result, treebank, size)
            if size.predicted_tags:
                treebank, accuracy = with_predicted_tags(treebank)
                result.notes.append(f"Tags of the newspaper sample: a 4-way jackknifed tagger, {accuracy:.2%} right.")
        else:
            treebank = ud(options, TREEBANKS.get(code, code), size.sentences, 1, size.test_sentences)
        found[code] = runs_of(treebank, size, options)
    _scores(result, size, found)
    _order(result, size, found)
    _times(result, size, found)
    result.notes.append(
        f"The first {size.sentences:,} training and {size.test_sentences:,} test sentences of a treebank, "
        f"{size.seeds} seeds, {size.epochs} epochs ({size.spine_epochs} for LR-spine); the paper has all sentences of "
        "CoNLL 2007 and of the Penn Treebank, 5 seeds, 15 and 30 epochs. Trees with crossing arcs are left out."
    )
    return result


def _scores(result: RecipeResult, size: Size, found: dict[str, Rows[list[Run]]]) -> None:
    for metric, paper in (("UAS", PAPER_UAS), ("LAS", PAPER_LAS)):
        codes = [code for code in size.treebanks if metric == "UAS" or code != "wsj"]
        if not codes:
            continue
        table = Table(f"{metric}, mean of {size.seeds} seeds", [*codes, "mean"])
        for name, published in paper.items():
            with where_run():
                means = {code: _mean(found[code][name], metric.lower()) for code in codes}
                beside = {code: published[code] for code in codes if code in published}
                table.add(name, {**means, "mean": float(np.mean(list(means.values())))}, beside)
        table.note = "The paper's figures are for other annotation and other sizes of the same languages."
        result.tables.append(table)


def _mean(runs: Sequence[Run], metric: str) -> float:
    return float(np.mean([getattr(run.scores, metric) for run in runs]))


def _order(result: RecipeResult, size: Size, found: dict[str, Rows[list[Run]]]) -> None:
    table = Table("Differences in UAS", [*size.treebanks, "mean", "Wilcoxon p"], digits={"Wilcoxon p": 4})
    for better, worse in COMPARISONS:
        if any(not {better, worse} <= rows.keys() for rows in found.values()):
            continue
        gains, intervals, each = {}, {}, []
        for code in size.treebanks:
            one, other = found[code][better], found[code][worse]
            gains[code] = _mean(one, "uas") - _mean(other, "uas")
            each += [a.scores.uas - b.scores.uas for a, b in zip(one, other, strict=True)]
            test = paired_bootstrap(one[0].scores.counts, other[0].scores.counts, "f1", 1000)
            intervals[code] = (100 * test.low, 100 * test.high)
        mean = float(np.mean(list(gains.values())))
        p = signed_rank(each)
        table.add(f"{better} less {worse}", {**gains, "mean": mean, "Wilcoxon p": p}, None, intervals)
        text = CLAIMS.get((better.split()[1], worse.split()[1]), LR_SPINE)
        result.claim(text, gain(mean, p=p, where=f"{better} less {worse}"))
    table.note = "Intervals: paired bootstrap over sentences, first seed. Wilcoxon: over all pairs of runs."
    result.tables.append(table)


def _times(result: RecipeResult, size: Size, found: dict[str, Rows[list[Run]]]) -> None:
    table = Table("CPU seconds of training", [*ORACLES, "explore / static"])
    for short, limit in SLOWEST.items():
        if any(f"{short} {condition}" not in rows for condition in ORACLES for rows in found.values()):
            continue
        seconds = {
            condition: float(
                np.mean([run.cpu_seconds for code in found for run in found[code][f"{short} {condition}"]])
            )
            for condition in ORACLES
        }
        ratio = seconds["explore"] / seconds["static"]
        table.add(short, {**seconds, "explore / static": ratio}, {"explore / static": 2.3} if short == "std" else {})
        claim = f"training {short} with the dynamic oracle takes less than {{bar}} times as long as static"
        result.own(claim, measured(ratio, "<", limit), required=size.sentences >= 1000)
    table.note = (
        "Mean of all treebanks and seeds. In the paper LR-spine takes about 8 times as long as without exploring."
    )
    result.tables.append(table)


def _tables_of_walks(result: RecipeResult, treebank: Treebank, size: Size) -> None:
    walks = walk_tables(trees(treebank.train, size.walks))
    points = [(float(d), float(top)) for d, top in enumerate(walks.largest.tolist()) if top > 0]
    result.curves.append(Curve("Largest cell of the spine table", "i + j - 1", "trees in a cell", {"lrs": points}))
    result.own(
        "the largest cell T[i, j] grows linearly: at most {bar} (i + j) trees",
        measured(max(top / (d + 1) for d, top in points), "<=", 4, f"{walks.configurations:,} configurations"),
    )
    wrong = sum(foretold != found for foretold, found in walks.losses)
    result.own(
        "following the oracle ends with exactly the predicted loss",
        measured(wrong, "<=", 0, digits=0, unit=f"of {len(walks.losses):,} sentences with mistakes differ"),
    )
    result.notes.append(f"(stack + right stack) / words: {walks.share:.2f} along these walks; the paper has 0.29.")
