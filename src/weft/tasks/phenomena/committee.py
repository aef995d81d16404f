"""A committee whose members select content by rules (Mayfield, Adamson and Rosé, ACL 2013).

A member learns its rules greedily. With P the mean probability that a logistic regression trained on one part gives to
the labels of the minority instances of another part,

    repeat: r = argmax over candidate rules of P(after r) - P;  stop if the gain is below the threshold;  apply r

and trains on both parts after these rules. The first round scores every rule, the others the `width` best of the last
known ranking. Parts are made of whole conversations, so that none is on both sides.

Every member gives a distribution over labels; three ways of voting make one label of them (`vote`).
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Bools, Floats
from weft.errors import ConfigError, DataError
from weft.learn.linear.softmax import Longs, Rows, fit_softmax, softmax
from weft.progress import Bar
from weft.tasks.phenomena.instances import Lines
from weft.tasks.phenomena.rules import KINDS, Rule, all_lines, apply_rule, extract, mean_probability, score_rule

VOTES = ("minority", "pandemonium", "averaged")


class Gained(NamedTuple):
    """A rule that a member accepted, and by how much it raised the probability of minority labels."""

    rule: Rule
    gain: float


@dataclass
class Round:
    """One round of the search: the probability before it, and how many rules were scored."""

    base: float
    scored: int


@dataclass
class Search:
    """How rules are searched for."""

    frequency: float = 0.05  #: cues are words of at least this share of the instances
    threshold: float = 0.03  #: the least gain; the best of some hundred useless rules gains up to this by chance
    width: int = 50  #: rules scored after the first round
    most: int = 20  #: rules of a member
    c: float = 1.0
    tolerance: float = 0.03  #: of a fit; scores of rules are then within 0.0003
    passes: int = 200


@dataclass
class Member:
    """The rules of a member in their order, its weights after them, and the rounds of its search."""

    weights: Floats
    rules: list[Gained] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)

    def selected(self, lines: Lines) -> Bools:
        """The lines that its rules leave."""
        left = all_lines(lines)
        for each in self.rules:
            apply_rule(lines, left, each.rule)
        return left

    def probabilities(self, lines: Lines) -> Floats:
        """The distribution over labels of every instance, after the rules."""
        return softmax(extract(lines, self.selected(lines)), self.weights)


def grouped_folds(groups: Sequence[str], folds: int, seed: int = 0) -> NDArray[np.int64]:
    """The fold of every item: items of a group share one, and folds have about the same number of groups.

    >>> grouped_folds(["a", "a", "b", "c"], 3).tolist() in ([0, 0, 1, 2], [0, 0, 2, 1], [1, 1, 0, 2], [1, 1, 2, 0],
    ...     [2, 2, 0, 1], [2, 2, 1, 0])
    True
    """
    names = sorted(set(groups))
    if len(names) < folds:
        raise DataError(
            f"{folds} folds of whole conversations need at least as many conversations, the data have {len(names)}"
        )
    order = np.random.default_rng(seed).permutation(len(names))
    fold = {names[name]: place % folds for place, name in enumerate(order)}
    return np.array([fold[group] for group in groups], dtype=np.int64)


def learn_rules(
    lines: Lines, labels: Longs, n_labels: int, majority: int, held: Bools, search: Search, workers: int = 1,
    bar: Bar | None = None,
) -> tuple[list[Gained], list[Round]]:  # fmt: skip
    """Rules that make the minority labels of the held instances more probable, learned from the others."""
    left, costs = all_lines(lines), np.where(held, 0.0, search.c)
    rows, judged = extract(lines, left), held & (labels != majority)
    weights = fit_softmax(rows, labels, n_labels, c=search.c, weight=(~held).astype(float), tolerance=search.tolerance)
    candidates = [Rule(cue, kind) for cue in frequent_words(lines, ~held, search.frequency) for kind in KINDS]
    known = dict.fromkeys(candidates, np.inf)
    accepted: list[Gained] = []
    rounds: list[Round] = []
    if not judged.any():
        return accepted, rounds
    while candidates and len(accepted) < search.most:
        base = float(mean_probability(rows.starts, rows.lengths, rows.columns, labels, judged, weights))
        ranked = sorted(candidates, key=lambda rule: -known[rule])  # sorting keeps the order of equal ones
        tried = ranked[: search.width] if rounds else ranked

        scores = _scores(lines, left, rows, labels, costs, judged, weights, tried, search, workers)
        for rule, probability in zip(tried, scores, strict=True):
            known[rule] = probability - base if probability >= 0 else 0.0
        rounds.append(Round(base, len(tried)))
        if bar is not None:
            bar.advance(len(tried))
        best = max(tried, key=lambda rule: known[rule])
        if known[best] < search.threshold:
            break
        apply_rule(lines, left, best, rows)
        accepted.append(Gained(best, known[best]))
        candidates.remove(best)
        weights = fit_softmax(
            rows, labels, n_labels, c=search.c, weight=(~held).astype(float), start=weights, tolerance=search.tolerance
        )
    return accepted, rounds


def _scores(
    lines: Lines, left: Bools, rows: Rows, labels: Longs, costs: Floats, judged: Bools, weights: Floats,
    rules: Sequence[Rule], search: Search, workers: int,
) -> list[float]:  # fmt: skip
    """How probable the minority labels are after each rule; the order of threads does not matter."""

    def score(rule: Rule) -> float:
        return float(score_rule(
            lines.first, lines.places, lines.starts, lines.words, left, rows.starts, rows.lengths, rows.columns,
            labels, costs, judged, weights, rule.cue, rule.number, search.tolerance, search.passes,
        ))  # fmt: skip

    if workers == 1:
        return [score(rule) for rule in rules]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(score, rules))


def frequent_words(lines: Lines, chosen: Bools, share: float) -> list[int]:
    """The words that at least a share of the chosen instances contain."""
    rows = extract(lines, all_lines(lines))
    counts = np.zeros(lines.size, dtype=np.int64)
    for i in np.flatnonzero(chosen):
        counts[rows.columns[rows.starts[i] : rows.starts[i] + rows.lengths[i]]] += 1
    return np.flatnonzero((counts >= share * chosen.sum()) & (counts > 0)).tolist()


def fit_committee(
    lines: Lines, labels: Longs, n_labels: int, majority: int, groups: Sequence[str], members: int = 3,
    search: Search | None = None, rules: bool = True, seed: int = 0, workers: int = 1, bar: Bar | None = None,
) -> list[Member]:  # fmt: skip
    """One member per fold of conversations: it learns rules from the other folds, judged on its own.

    Without rules all members are the same logistic regression.
    """
    search = search or Search()
    if members < 1:
        raise ConfigError(f"a committee needs at least 1 member, got {members}")
    fold = grouped_folds(groups, max(members, 2), seed) if rules else np.zeros(len(labels), dtype=np.int64)
    found: list[Member] = []
    for number in range(members):
        learned = (
            learn_rules(lines, labels, n_labels, majority, fold == number, search, workers, bar) if rules else ([], [])
        )
        member = Member(np.zeros((0, n_labels)), *learned)
        member.weights = fit_softmax(
            extract(lines, member.selected(lines)), labels, n_labels, c=search.c, tolerance=1e-3
        )
        found.append(member)
    return found


def vote(opinions: Floats, majority: int, voting: str = "minority") -> tuple[NDArray[np.int64], Floats]:
    """The label of every instance and the confidence in each label, from distributions [members, instances, labels].

    | voting | label |
    |---|---|
    | minority | the surest of the minority labels that are some member's best; the majority label needs all members |
    | pandemonium | the label of the highest confidence of any member |
    | averaged | the label of the highest mean |

    >>> opinions = np.array([[[0.9, 0.1]], [[0.4, 0.6]], [[0.8, 0.2]]])
    >>> [int(vote(opinions, 0, each)[0][0]) for each in VOTES]
    [1, 0, 0]
    """
    if voting not in VOTES:
        raise ConfigError(f"voting must be one of {', '.join(VOTES)}, got {voting!r}")
    if voting == "averaged":
        mean = opinions.mean(axis=0)
        return mean.argmax(axis=1), mean
    top, sure = opinions.argmax(axis=2), opinions.max(axis=2)
    if voting == "minority":
        sure = np.where(top == majority, sure - 2.0, sure)  # below every minority label
    first = sure.argmax(axis=0)
    here = np.arange(opinions.shape[1])
    return top[first, here], opinions[first, here]
