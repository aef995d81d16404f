"""Rare phenomena in conversations: the paper's systems on public chats, and on generated ones with a planted cue.

The paper's chats are not public; its figures stand beside those of chat rooms (NPS) for orientation. Instances are
split by conversation at every level: test folds, the folds of the committee, and those that choose a stump.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats
from weft.evaluate.kappa import cohen_kappa
from weft.evaluate.labels.ranking import precision_at_recall
from weft.lexical.categories import CLOSED
from weft.packages import needed
from weft.progress import progress
from weft.recipes.claims import Figure, gain, measured
from weft.recipes.framework import RecipeOptions, RecipeResult, Table
from weft.recipes.grounding.rare_social_phenomena.chats import FILES, LABELS, read_chats
from weft.recipes.grounding.rare_social_phenomena.planted import CUE, planted_chats
from weft.recipes.variation import Variation
from weft.tasks.phenomena.committee import VOTES, Search, grouped_folds, vote
from weft.tasks.phenomena.instances import Instance, Lines, vocabulary_of
from weft.tasks.phenomena.model import PhenomenaModel, fit_model, splits_of
from weft.tasks.phenomena.rules import KIND_NAMES

SLUG = "rare-social-phenomena"
MAJORITY = LABELS.index("NA")
#: The paper's figures: self-empowerment, other-empowerment.
PAPER = {
    "majority": (79.3, 0.0), "LR": (81.0, 0.367), "boosting": (78.1, 0.325), "bagging": (81.2, 0.352),
    "committee without rules": (81.0, 0.367), "stump": (81.8, 0.385), "selection": (80.9, 0.389),
    "stump and selection": (81.3, 0.406),
}  # fmt: skip
PAPER_VOTES = {"minority": 0.389, "averaged": 0.304, "pandemonium": 0.283}
FOLDS = {"NPS": 5, "ESConv": 7, "CaSiNo": 7}
LEVELS = (0.1, 0.3)


@dataclass(frozen=True)
class Size:
    """How much is run."""

    corpora: tuple[str, ...] = ("NPS", "CaSiNo")  #: ESConv takes three times as long as both
    seeds: int = 10  #: generated corpora, with and without the cue in its place
    chats: int = 21
    each: int = 90
    members: int = 3
    samples: int = 2000
    only_folds: int = 0  #: test folds that are run, 0 for all


QUICK = Size(corpora=("NPS",), seeds=1, chats=12, each=90, members=2, samples=200, only_folds=2)
ROWS = (
    "majority", "LR", "LR, balanced", "boosting", "bagging", "committee without rules", "stump", "selection",
    "stump and selection", "planted",
)  # fmt: skip
VARIATION = Variation((Size,), ROWS)


@dataclass
class Answers:
    """What a system says of the instances of a corpus, by test fold: labels, confidences, rules, splits."""

    labels: NDArray[np.int64]
    confidence: Floats
    rules: list[list[tuple[str, str, float]]]
    splits: list[str]
    opinions: Floats | None = None


def run(options: RecipeOptions) -> RecipeResult:
    """The tables of the paper on every corpus, and the planted cue."""
    size = options.varied(QUICK if options.quick else Size())
    result = RecipeResult(SLUG)
    for corpus in size.corpora:
        _corpus(result, options, size, corpus)
    if options.wants("planted"):
        _planted(result, options, size)
    return result


def _corpus(result: RecipeResult, options: RecipeOptions, size: Size, corpus: str) -> None:
    instances = read_chats(corpus, options.find(FILES[corpus]))
    gold = np.array([LABELS.index(each.label) for each in instances])
    groups = [each.conversation for each in instances]
    fold = grouped_folds(groups, FOLDS[corpus], options.seed)
    if size.only_folds:
        kept = np.flatnonzero(fold < size.only_folds)
        instances, gold, groups = [instances[i] for i in kept], gold[kept], [groups[i] for i in kept]
        fold = fold[kept]
    systems: dict[str, Callable[[], Answers]] = {
        "majority": lambda: _constant(gold),
        "LR": lambda: _cross(instances, gold, groups, fold, options, size, rules=False, members=1),
        "LR, balanced": lambda: _peer(instances, gold, fold, "balanced", options.seed),
        "boosting": lambda: _peer(instances, gold, fold, "boosting", options.seed),
        "bagging": lambda: _peer(instances, gold, fold, "bagging", options.seed),
        "committee without rules": lambda: _cross(instances, gold, groups, fold, options, size, rules=False),
        "stump": lambda: _cross(instances, gold, groups, fold, options, size, rules=False, members=1, stump=True),
        "selection": lambda: _cross(instances, gold, groups, fold, options, size),
        "stump and selection": lambda: _cross(instances, gold, groups, fold, options, size, stump=True),
    }
    found: dict[str, Answers] = {}
    with progress(corpus, len(systems), "systems") as bar:
        for name, answer in options.chosen(systems).items():
            found[name] = answer()
            bar.advance(1)
    _table(result, corpus, found, gold, size, len(set(groups)))
    if "selection" in found and "LR" in found:
        _voting(result, corpus, found, gold, size)
        _claims(result, corpus, found, gold, fold, size)
        _rules(result, corpus, found)


def _cross(
    instances: Sequence[Instance], gold: Any, groups: Sequence[str], fold: Any, options: RecipeOptions, size: Size,
    rules: bool = True, members: int = 0, stump: bool = False,
) -> Answers:  # fmt: skip
    """The answers of a system to every test fold."""
    members = members or size.members
    answers = Answers(np.zeros(len(gold), dtype=np.int64), np.zeros((len(gold), len(LABELS))), [], [])
    opinions = np.zeros((members, len(gold), len(LABELS)))
    for number in range(int(fold.max()) + 1):
        train, test = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        model, words, lines = _fitted(instances, gold, groups, train, options, rules, members, stump)
        opinions[:, test] = model.opinions(lines.subset(test))
        answers.labels[test], answers.confidence[test] = vote(opinions[:, test], MAJORITY, "minority")
        answers.splits.append(model.split.name if model.split else "")
        answers.rules += [
            [(words[rule.cue], rule.kind, gained) for rule, gained in member.rules]
            for side in model.sides for member in side
        ]  # fmt: skip
    answers.opinions = opinions
    return answers


def _fitted(
    instances: Sequence[Instance], gold: Any, groups: Sequence[str], train: Any, options: RecipeOptions, rules: bool,
    members: int, stump: bool,
) -> tuple[PhenomenaModel, list[str], Lines]:  # fmt: skip
    """A model of the training instances; the vocabulary is theirs alone."""
    vocabulary = vocabulary_of(instances[i] for i in train.tolist())
    lines = Lines.of(instances, vocabulary)
    model = fit_model(
        lines.subset(train), gold[train], len(LABELS), MAJORITY, [groups[i] for i in train], members=members,
        rules=rules, splits=splits_of(vocabulary, CLOSED) if stump else (), seed=options.seed,
        workers=options.workers, search=Search(),
    )  # fmt: skip
    return model, list(vocabulary), lines


def _constant(gold: Any) -> Answers:
    confidence = np.zeros((len(gold), len(LABELS)))
    confidence[:, MAJORITY] = 1.0
    return Answers(np.full(len(gold), MAJORITY), confidence, [], [])


def _peer(instances: Sequence[Instance], gold: Any, fold: Any, kind: str, seed: int) -> Answers:
    """Logistic regression with weighted classes, AdaBoost or bagging, by scikit-learn."""
    from scipy.sparse import csr_matrix

    from weft.tasks.phenomena.rules import all_lines, extract

    linear, ensemble = needed("sklearn.linear_model", "the peers"), needed("sklearn.ensemble", "the peers")
    answers = _constant(gold)
    for number in range(int(fold.max()) + 1):
        train, test = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        vocabulary = vocabulary_of(instances[i] for i in train.tolist())
        rows = extract(lines := Lines.of(instances, vocabulary), all_lines(lines)).lists()
        offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
        columns = np.array([column for row in rows for column in row])
        matrix = csr_matrix((np.ones(len(columns)), columns, offsets), shape=(len(rows), len(vocabulary)))
        base = linear.LogisticRegression(C=1.0, max_iter=1000)
        if kind == "balanced":
            model: Any = linear.LogisticRegression(C=1.0, max_iter=1000, class_weight="balanced")
        else:
            ways = {"boosting": ensemble.AdaBoostClassifier, "bagging": ensemble.BaggingClassifier}
            model = ways[kind](base, n_estimators=10, random_state=seed)
        model.fit(matrix[train], gold[train])
        answers.confidence[test] = model.predict_proba(matrix[test])
        answers.labels[test] = answers.confidence[test].argmax(axis=1)
    return answers


def _precision(confidence: Floats, gold: Any, level: float) -> float:
    """The mean over rare labels of the precision at a level of recall."""
    rare = [k for k in range(len(LABELS)) if k != MAJORITY and (gold == k).any()]
    return float(np.mean([precision_at_recall(confidence[:, k], gold == k, level) for k in rare]))


def _bootstrap(gold: Any, statistic: Callable[[Any], float], samples: int, seed: int = 0) -> tuple[float, float]:
    """The 95 % interval of a statistic of resampled instances."""
    rng = np.random.default_rng(seed)
    values = [statistic(rng.integers(0, len(gold), len(gold))) for _ in range(samples)]
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


def _table(
    result: RecipeResult, corpus: str, found: dict[str, Answers], gold: Any, size: Size, conversations: int
) -> None:
    columns = ["accuracy", "kappa", "P at 10 % recall", "P at 30 % recall", "rare labels", "rules"]
    table = Table(
        f"{corpus}, {FOLDS[corpus]} folds by conversation", columns,
        digits={"kappa": 3, "P at 10 % recall": 3, "P at 30 % recall": 3, "rules": 1},
    )  # fmt: skip
    for name, answers in found.items():
        row: dict[str, Any] = {
            "accuracy": 100 * float(np.mean(answers.labels == gold)),
            "kappa": cohen_kappa(gold, answers.labels),
            "rare labels": int(np.sum(answers.labels != MAJORITY)),
        }
        if name != "majority":
            row |= {f"P at {100 * level:.0f} % recall": _precision(answers.confidence, gold, level) for level in LEVELS}
        if any(answers.rules):
            row["rules"] = float(np.mean([len(each) for each in answers.rules]))
        interval = _bootstrap(gold, lambda take, own=answers: cohen_kappa(gold[take], own.labels[take]), size.samples)  # type: ignore[misc]
        paper = dict(zip(("accuracy", "kappa"), PAPER[name], strict=True)) if name in PAPER and corpus == "NPS" else {}
        table.add(name, row, paper, {"kappa": interval})
    table.note = (
        f"{len(gold)} instances of {conversations} conversations, {int(np.sum(gold != MAJORITY))} with a rare label. "
        "Kappa with a bootstrap over instances; precision is the mean over the two rare labels; rules per member. "
        + ("The paper's figures are for self-empowerment in other chats." if corpus == "NPS" else "")
    )
    result.tables.append(table)


def _voting(result: RecipeResult, corpus: str, found: dict[str, Answers], gold: Any, size: Size) -> None:
    opinions = found["selection"].opinions
    assert opinions is not None
    table = Table(f"{corpus}, voting of the committee with rules", ["kappa", "rare labels"], digits={"kappa": 3})
    labels = {}
    for voting in VOTES:
        labels[voting] = vote(opinions, MAJORITY, voting)[0]
        row = {"kappa": cohen_kappa(gold, labels[voting]), "rare labels": int(np.sum(labels[voting] != MAJORITY))}
        table.add(voting, row, {"kappa": PAPER_VOTES[voting]} if corpus == "NPS" else {})
    result.tables.append(table)
    for other in ("averaged", "pandemonium"):
        result.claim(
            "minority voting has a higher kappa than averaging and than the surest member (paper: +.085, +.106)",
            _difference(gold, labels["minority"], labels[other], size, f"{corpus}, over {other}"),
        )
    shares = [int(np.sum(labels[each] != MAJORITY)) for each in VOTES]
    result.own(
        "minority voting predicts at least as many rare labels as the other two",
        measured(shares[0] - max(shares[1:]), ">=", 0, corpus, digits=0),
    )


def _difference(gold: Any, better: Any, worse: Any, size: Size, where: str) -> Figure:
    """The difference in kappa, with a paired bootstrap over instances."""

    def statistic(take: Any) -> float:
        return cohen_kappa(gold[take], better[take]) - cohen_kappa(gold[take], worse[take])

    everything = np.arange(len(gold))
    interval = _bootstrap(gold, statistic, size.samples)
    return gain(statistic(everything), interval=interval, where=where, digits=3)


def _claims(result: RecipeResult, corpus: str, found: dict[str, Answers], gold: Any, fold: Any, size: Size) -> None:
    labels = {name: answers.labels for name, answers in found.items()}
    sentences = {
        "stump": "a stump has a higher kappa than LR (paper: +.018 self, +.023 other)",
        "selection": "selecting content by rules has a higher kappa than LR (paper: +.022 self, +.012 other)",
        "stump and selection": "stump and selection together are above LR (paper: +.039 self, -.016 other)",
    }
    for name, sentence in sentences.items():
        if name in labels:
            result.claim(sentence, _difference(gold, labels[name], labels["LR"], size, corpus))
    for name in ("boosting", "bagging"):
        if name in labels:
            result.claim(
                "boosting and bagging do not raise the kappa of LR",
                _opposite(_difference(gold, labels[name], labels["LR"], size, f"{name}, {corpus}")),
                rule="unopposed",
            )
    ours, base = found["selection"].confidence, found["LR"].confidence

    def statistic(take: Any) -> float:
        return _precision(ours[take], gold[take], 0.1) - _precision(base[take], gold[take], 0.1)

    interval = _bootstrap(gold, statistic, size.samples // 4)
    result.claim(
        "the surest tenth of the rare labels is found more precisely with rules than by LR",
        gain(statistic(np.arange(len(gold))), interval=interval, where=corpus, digits=3),
    )
    if "committee without rules" in labels:
        same = abs(cohen_kappa(gold, labels["committee without rules"]) - cohen_kappa(gold, labels["LR"]))
        result.claim(
            "a committee without rules has the kappa of LR within {bar}",
            measured(same, "<=", 0.01, corpus, digits=4),
            required=True,
        )


def _opposite(figure: Figure) -> Figure:
    """The same difference under the claim that it is not above 0."""
    return Figure(figure.value, "<=", 0.0, figure.where, figure.interval, digits=figure.digits)


def _rules(result: RecipeResult, corpus: str, found: dict[str, Answers]) -> None:
    """The rules that most members learned, with their gain; and the splits that were chosen."""
    gains: dict[tuple[str, str], list[float]] = {}
    for member in found["selection"].rules:
        for cue, kind, gained in member:
            gains.setdefault((cue, kind), []).append(100 * gained)
    table = Table(f"{corpus}, the most frequent rules", ["members", "gain"])
    ranked = sorted(gains.items(), key=lambda each: (-len(each[1]), -np.mean(each[1]), each[0]))
    for (cue, kind), own in ranked[:8]:
        table.add(f"{cue} {kind} ({KIND_NAMES[kind]})", {"members": len(own), "gain": float(np.mean(own))})
    table.note = f"Of {len(found['selection'].rules)} members in all folds; gain in points of the mean probability."
    if "stump" in found:
        chosen = sorted(set(found["stump"].splits))
        table.note += f" The stump split by: {', '.join(chosen)}."
    if table.rows:
        result.tables.append(table)


def _planted(result: RecipeResult, options: RecipeOptions, size: Size) -> None:
    """The planted cue, and its control."""
    table = Table(
        "Generated chats with a planted cue, mean over seeds", ["LR", "selection", "rules", "planted among first 3"],
        digits={"LR": 3, "selection": 3},
    )  # fmt: skip
    gains: dict[bool, dict[str, float]] = {False: {}, True: {}}
    firsts, counts, wrong = [], [], 0
    for control in (False, True):
        kappas: dict[str, list[float]] = {"LR": [], "selection": []}
        hits, numbers = [], []
        for seed in range(size.seeds):
            found = planted_run(seed + options.seed, control, size, options.workers)
            for name in kappas:
                kappas[name].append(found[name])
            gains[control][f"seed {seed}"] = found["selection"] - found["LR"]
            hits.append(bool(found["planted"]))
            numbers.append(found["rules"])
            wrong += int(found["wrong rounds"])
        table.add(
            "control: lines shuffled" if control else "cue in its place",
            {
                "LR": float(np.mean(kappas["LR"])),
                "selection": float(np.mean(kappas["selection"])),
                "rules": float(np.mean(numbers)),
                "planted among first 3": sum(hits),
            },
        )
        if not control:
            firsts = hits
        counts.append(float(np.mean(numbers)))
    table.note = (
        f"{size.seeds} seeds; kappa on a third of the chats; rules per member; in how many seeds (my, D) is among the "
        "first three rules of a member."
    )
    result.tables.append(table)
    asked = 0.9 * size.seeds
    result.own(
        "the planted rule is among the first three of some member in at least {bar} seeds",
        measured(sum(firsts), ">=", asked, digits=0),
    )
    result.own(
        "with a planted cue, selection has a kappa at least {bar} above LR",
        measured(float(np.mean(list(gains[False].values()))), ">=", 0.05, digits=3),
    )
    result.own(
        "with lines shuffled, selection loses at most {bar} kappa",
        measured(-float(np.mean(list(gains[True].values()))), "<=", 0.02, digits=3),
    )
    result.own(
        "every round after the first scores as many rules as the width allows", measured(wrong, "<=", 0, digits=0)
    )


def planted_run(seed: int, control: bool, size: Size, workers: int = 1) -> dict[str, float]:
    """Kappa of LR and of selection on a third of generated chats, and whether the planted rule was found."""
    instances = planted_chats(seed, control, size.chats, size.each)
    gold = np.array([LABELS.index(each.label) for each in instances])
    groups = [each.conversation for each in instances]
    fold = grouped_folds(groups, 3, seed)
    train, test = np.flatnonzero(fold > 0), np.flatnonzero(fold == 0)
    options = RecipeOptions(seed=seed, workers=workers)
    found: dict[str, float] = {}
    for name, rules in (("LR", False), ("selection", True)):
        model, words, lines = _fitted(
            instances, gold, groups, train, options, rules, size.members if rules else 1, stump=False
        )
        found[name] = cohen_kappa(gold[test], model.predict(lines.subset(test))[0])
    members = model.sides[0]
    firsts = [[(words[rule.cue], rule.kind) for rule, _ in member.rules[:3]] for member in members]
    width = Search().width
    found["planted"] = float(any((CUE, "D") in first for first in firsts))
    found["rules"] = float(np.mean([len(member.rules) for member in members]))
    found["wrong rounds"] = float(sum(
        later.scored != min(width, member.rounds[0].scored - number)
        for member in members for number, later in enumerate(member.rounds[1:], start=1)
    ))  # fmt: skip
    return found
