"""Why a component decided as it did for one word: the templates that fired, their weights, and the runner-up.

    score(decision) - score(runner-up) = sum over reasons of  (weight - runner_up)

The reasons add up to the margin exactly; where the runner-up also changes decisions about other words, one reason
named `elsewhere` holds what those contribute.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

#: The template of the reason that sums up what other words contribute.
ELSEWHERE = "elsewhere"
#: Reasons that are shown unless more are requested.
MOST = 10


@dataclass(frozen=True)
class Reason:
    """A template that fired, the value it read, and what it adds to the scores of the decision and its runner-up."""

    template: str
    value: str
    weight: float
    runner_up: float

    @property
    def difference(self) -> float:
        """What the reason adds to the margin."""
        return self.weight - self.runner_up


@dataclass(frozen=True)
class Explanation:
    """A decision about one word of a document, and the reasons for it, the strongest first.

    >>> found = Explanation.of("tagger", 0, "dogs", "NOUN", "VERB", [Reason("w[0].suffix1", "s", 1.5, 0.25)], 0.9)
    >>> found.margin
    1.25
    >>> print(found)
    dogs: NOUN (tagger, probability 0.900); runner-up VERB, margin 1.250
      template      value  NOUN   VERB   difference
      w[0].suffix1  s      1.500  0.250      +1.250
    """

    task: str
    word: int
    form: str
    decision: str
    runner_up: str  #: empty if there was no choice
    reasons: tuple[Reason, ...]
    probability: float | None = None

    @classmethod
    def of(
        cls,
        task: str,
        word: int,
        form: str,
        decision: str,
        runner_up: str,
        reasons: Iterable[Reason],
        probability: float | None = None,
    ) -> Explanation:
        """An explanation with the reasons in order of their size; those without any effect are left out."""
        kept = [reason for reason in reasons if reason.weight or reason.runner_up]
        kept.sort(key=lambda reason: -abs(reason.difference))
        return cls(task, word, form, decision, runner_up, tuple(kept), probability)

    @property
    def margin(self) -> float:
        """By how much the decision beat its runner-up."""
        return sum(reason.difference for reason in self.reasons)

    def to_dict(self) -> dict[str, Any]:
        """The explanation as plain values, ready for JSON."""
        return {**asdict(self), "reasons": [asdict(reason) for reason in self.reasons], "margin": self.margin}

    def text(self, most: int | None = MOST) -> str:
        """A table of the strongest reasons; all of them if `most` is None."""
        sure = "" if self.probability is None else f", probability {self.probability:.3f}"
        lead = f"{self.form}: {self.decision} ({self.task}{sure})"
        if not self.runner_up:
            return f"{lead}; there was no choice"
        lead += f"; runner-up {self.runner_up}, margin {self.margin:.3f}"
        shown = self.reasons[:most]
        rows = [("template", "value", self.decision, self.runner_up, "difference")]
        rows += [
            (each.template, each.value, f"{each.weight:.3f}", f"{each.runner_up:.3f}", f"{each.difference:+.3f}")
            for each in shown
        ]
        widths = [max(len(row[k]) for row in rows) for k in range(5)]
        lines = [_aligned(row, widths) for row in rows]
        if len(shown) < len(self.reasons):
            rest = sum(reason.difference for reason in self.reasons[len(shown) :])
            lines.append(f"  and {len(self.reasons) - len(shown)} more, together {rest:+.3f}")
        return "\n".join([lead, *lines])

    def __str__(self) -> str:
        return self.text()


def _aligned(row: tuple[str, ...], widths: list[int]) -> str:
    """A line of a table whose last column is right-aligned."""
    cells = [cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=False)]
    return "  " + "  ".join([*cells, row[-1].rjust(widths[-1])])
