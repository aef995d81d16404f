"""Claims: what a run says about the sentences of a paper, decided by figures and never by hand.

A claim rests on figures, each compared with a bar. With v the figure and b the bar, "v above b" comes out as

    yes      the interval of v lies above b, or v > b and a test excludes chance (p < 0.05)
    no       the interval lies below b, or v <= b and a test excludes chance
    level    chance is not excluded

A figure in which chance plays no part (a count, a time, a score that is reached) is yes or no. A difference between
two systems that was never tested is level at best. A claim about many settings is one claim with many figures.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from weft.errors import ConfigError
from weft.evaluate.significance import Comparison

Outcome = Literal["yes", "level", "no"]
Sense = Literal[">", ">=", "<", "<="]
Rule = Literal["every", "unopposed"]
#: A figure in a table of the result: title, row, column.
Cell = tuple[str, str, str]

ALPHA = 0.05
_SHOWN = 6  # figures that the evidence lists one by one


@dataclass(frozen=True)
class Figure:
    """A measured value and the bar that a claim sets for it, with what is known about chance.

    `cells` name where the value stands: one cell, or two whose difference it is. `settings` are the values whose mean
    it is; its interval is then Student's over these settings.
    """

    value: float
    sense: Sense = ">"
    bar: float = 0.0
    where: str = ""
    interval: tuple[float, float] | None = None
    p: float | None = None
    exact: bool = False  # chance plays no part
    cells: tuple[Cell, ...] = ()
    settings: dict[str, float] = field(default_factory=dict)
    digits: int = 2
    unit: str = ""

    @property
    def outcome(self) -> Outcome:
        """Whether the figure clears its bar.

        >>> Figure(0.9, interval=(0.2, 1.6)).outcome, Figure(0.9, interval=(-0.2, 2.0)).outcome
        ('yes', 'level')
        >>> Figure(0.9, p=0.3).outcome, Figure(-0.9, p=0.01).outcome, Figure(93, ">=", 94, exact=True).outcome
        ('level', 'no', 'no')
        """
        holds = _compare(self.value, self.sense, self.bar)
        if self.exact:
            return "yes" if holds else "no"
        if self.interval is not None:
            low, high = (_compare(end, self.sense, self.bar) for end in self.interval)
            return "yes" if low and high else "level" if low or high else "no"
        if self.p is not None:
            return "level" if not self.p < ALPHA else "yes" if holds else "no"
        return "level" if holds else "no"

    def text(self) -> str:
        """The figure as evidence.

        >>> Figure(0.42, p=0.016, where="Gothic").text(), Figure(94.33, ">=", 94.3, exact=True, unit="F").text()
        ('Gothic +0.42, p = 0.016', '94.33 F')
        """
        sign = "" if self.exact else "+"
        words = [self.where] if self.where else []
        words.append(f"{self.value:{sign},.{self.digits}f}")
        words += [self.unit] if self.unit else []
        if self.interval is not None:
            words.append("[" + ", ".join(f"{end:+,.{self.digits}f}" for end in self.interval) + "]")
        said = " ".join(words)
        return said if self.p is None else f"{said}, p {f'= {self.p:.2g}' if self.p >= 1e-4 else '< 0.0001'}"


def measured(value: float, sense: Sense, bar: float, where: str = "", digits: int = 2, unit: str = "") -> Figure:
    """A figure in which chance plays no part.

    >>> measured(23.9, ">=", 1).outcome
    'yes'
    """
    return Figure(float(value), sense, float(bar), where, exact=True, digits=digits, unit=unit)


def gain(
    value: float, *, p: float | None = None, interval: tuple[float, float] | None = None, sense: Sense = ">",
    bar: float = 0.0, where: str = "", digits: int = 2,
) -> Figure:  # fmt: skip
    """A difference between two systems.

    >>> gain(0.3, p=0.2).outcome, gain(0.3).outcome, gain(-0.3).outcome
    ('level', 'level', 'no')
    """
    ends = None if interval is None else (float(interval[0]), float(interval[1]))
    return Figure(float(value), sense, float(bar), where, ends, None if p is None else float(p), digits=digits)


def compared(found: Comparison, where: str = "", sense: Sense = ">", bar: float = 0.0, scale: float = 100) -> Figure:
    """The difference that a paired test measured, in points.

    >>> compared(Comparison(0.75, 0.5, 0.125, 0.375, 0.01, 100)).text()
    '+25.00 [+12.50, +37.50], p = 0.01'
    """
    ends = scale * found.low, scale * found.high
    return gain(scale * found.difference, p=found.p, interval=ends, sense=sense, bar=bar, where=where)


def of_scores(better: float, worse: float, items: int, where: str = "", sense: Sense = ">", bar: float = 0.0) -> Figure:
    """The difference of two percentages of the same items where no paired test was kept.

    The interval is that of two independent samples, which is wider than that of paired ones:
    d +- 1.96 sqrt((a (100 - a) + b (100 - b)) / n).

    >>> of_scores(78.4, 74.0, 2000).outcome, of_scores(78.4, 78.0, 2000).outcome
    ('yes', 'level')
    """
    spread = 1.96 * math.sqrt((better * (100 - better) + worse * (100 - worse)) / items)
    difference = better - worse
    return gain(difference, interval=(difference - spread, difference + spread), sense=sense, bar=bar, where=where)


def mean_of(settings: Mapping[str, float], where: str = "", sense: Sense = ">", bar: float = 0.0) -> Figure:
    """The mean of differences over settings (languages, runs), with Student's interval over them.

    >>> mean_of({"de": 1.0, "fr": 1.5, "it": 1.2}).outcome, mean_of({"de": 1.0, "fr": -0.5, "it": 1.2}).outcome
    ('yes', 'level')
    """
    values = {name: float(value) for name, value in settings.items()}
    return Figure(
        sum(values.values()) / len(values), sense, bar, where, student_interval(list(values.values())), settings=values
    )


def student_interval(values: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of a mean; without bounds for a single value.

    >>> tuple(round(end, 3) for end in student_interval([1.0, 2.0, 3.0]))
    (-0.484, 4.484)
    """
    n, mean = len(values), sum(values) / len(values)
    if n < 2:
        return -math.inf, math.inf
    from scipy.stats import t

    spread = float(t.ppf(0.975, n - 1)) * math.sqrt(sum((value - mean) ** 2 for value in values) / (n - 1) / n)
    return mean - spread, mean + spread


def steps(scores: Mapping[str, float], items: int | None = None) -> list[Figure]:
    """The differences between neighbours of an order, lowest first.

    >>> [figure.text() for figure in steps({"HMM": 81.0, "CRF": 84.5})]
    ['CRF over HMM +3.50']
    """
    names = list(scores)
    pairs = [(names[i], names[i + 1]) for i in range(len(names) - 1)]
    if items is None:
        return [gain(scores[high] - scores[low], where=f"{high} over {low}") for low, high in pairs]
    return [of_scores(scores[high], scores[low], items, f"{high} over {low}") for low, high in pairs]


@dataclass
class Claim:
    """A sentence, the figures that decide it, and whether the paper says it or we do.

    `{bar}` in the text stands for the bar of its figures, so that the sentence says what is tested. Under the rule
    `every`, all figures must be yes; under `unopposed`, for sentences such as "no method helps", none may be no.
    """

    text: str
    figures: list[Figure] = field(default_factory=list)
    paper: bool = True
    required: bool = False
    rule: Rule = "every"
    note: str = ""

    def add(self, figures: Sequence[Figure]) -> None:
        """Add figures; all of a claim have the same bar, which the text names unless it is 0.

        >>> Claim("the CRF reaches F 94.3").add([measured(91.75, ">=", 88)])
        Traceback (most recent call last):
        ...
        weft.errors.ConfigError: the claim 'the CRF reaches F 94.3' does not name its bar 88; write {bar} for it
        """
        self.figures += figures
        bars = {figure.bar for figure in self.figures}
        if len(bars) > 1:
            raise ConfigError(f"the claim {self.text!r} has several bars: {', '.join(map(_plain, sorted(bars)))}")
        if bars - {0.0} and "{bar}" not in self.text:
            raise ConfigError(
                f"the claim {self.text!r} does not name its bar {_plain(bars.pop())}; write {{bar}} for it"
            )

    @property
    def sentence(self) -> str:
        """The claim in words, with the bar that is tested.

        >>> Claim("the CRF reaches F {bar} (paper: 94.38)", [measured(91.75, ">=", 88)]).sentence
        'the CRF reaches F 88 (paper: 94.38)'
        """
        return self.text.replace("{bar}", _plain(self.figures[0].bar)) if self.figures else self.text

    @property
    def outcome(self) -> Outcome:
        """The outcome over all figures.

        >>> Claim("better", [gain(1.0, p=0.01), gain(0.1, p=0.7)]).outcome
        'level'
        >>> Claim("no method helps", [gain(0.1, p=0.7, sense="<=")], rule="unopposed").outcome
        'yes'
        """
        outcomes = {figure.outcome for figure in self.figures}
        if "no" in outcomes or not outcomes:
            return "no"
        return "yes" if outcomes == {"yes"} or self.rule == "unopposed" else "level"

    @property
    def evidence(self) -> str:
        """The figures in words; of many, how many come out which way, and the least."""
        if len(self.figures) <= _SHOWN:
            said = "; ".join(_with_settings(figure) for figure in self.figures)
        else:
            outcomes = [figure.outcome for figure in self.figures]
            counts = [f"{each} in {outcomes.count(each)}" for each in ("yes", "level", "no") if each in outcomes]
            least = min(self.figures, key=lambda figure: figure.value if figure.sense[0] == ">" else -figure.value)
            said = f"{', '.join(counts)} of {len(outcomes)}; least: {_with_settings(least)}"
        return f"{said}; {self.note}" if self.note else said

    def to_dict(self) -> dict[str, Any]:
        """The claim as plain data, with what follows from its figures for readers of the file."""
        figures = [{**asdict(figure), "interval": _finite(figure.interval)} for figure in self.figures]
        return {**asdict(self), "figures": figures, "sentence": self.sentence, "outcome": self.outcome}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Claim:
        """Read a claim back; sentence and outcome follow from its figures.

        >>> claim = Claim("better", [gain(1.0, interval=(0.5, 1.5))])
        >>> Claim.from_dict(claim.to_dict()) == claim
        True
        """
        own = {name: value for name, value in fields.items() if name not in ("sentence", "outcome", "figures")}
        return cls(**own, figures=[_figure(each) for each in fields["figures"]])


def _finite(interval: tuple[float, float] | None) -> list[float | None] | None:
    """An interval for JSON, which has no infinity: an open end is None."""
    return None if interval is None else [end if math.isfinite(end) else None for end in interval]


def _figure(fields: Mapping[str, Any]) -> Figure:
    ends, interval = fields["interval"], None
    if ends is not None:
        interval = (-math.inf if ends[0] is None else ends[0], math.inf if ends[1] is None else ends[1])
    cells = tuple((table, row, column) for table, row, column in fields["cells"])
    return Figure(**{**fields, "interval": interval, "cells": cells})


def _with_settings(figure: Figure) -> str:
    if not figure.settings:
        return figure.text()
    each = ", ".join(f"{name} {value:+.{figure.digits}f}" for name, value in figure.settings.items())
    return f"{figure.text()} ({each})"


def _compare(value: float, sense: Sense, bar: float) -> bool:
    return {">": value > bar, ">=": value >= bar, "<": value < bar, "<=": value <= bar}[sense]


def _plain(bar: float) -> str:
    return f"{bar:,.10g}"
