"""What a translator returns: a translation, and where each part of it comes from."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Step:
    """One phrase of a translation."""

    start: int  #: of the source span
    end: int
    source: tuple[str, ...]
    target: tuple[str, ...]
    links: tuple[tuple[int, int], ...]  #: inside the phrase
    scores: dict[str, float]  #: of the phrase, by name
    count: int  #: how often the pair was seen; 0 if it is not from the table
    origins: tuple[int, ...]  #: sentence pairs of the bitext in which it was seen, the first ones, from 0
    kind: str = "phrase"  #: phrase, copied, or what an extension says


@dataclass(frozen=True)
class Translation:
    """A translation of a sentence."""

    source: tuple[str, ...]
    words: tuple[str, ...]
    score: float
    features: dict[str, float]  #: the scores of the whole, by name
    steps: tuple[Step, ...] = field(default=())
    heads: tuple[int, ...] = ()  #: the translation's tree, if there is one: heads count from 1, 0 is the root

    @property
    def text(self) -> str:
        return " ".join(self.words)

    def links(self) -> list[tuple[int, int]]:
        """The links between words of the source and of the translation.

        >>> step = Step(1, 3, ("das", "Haus"), ("the", "house"), ((0, 0), (1, 1)), {}, 1, (0,))
        >>> Translation(("Nun", "das", "Haus"), ("the", "house"), 0.0, {}, (step,)).links()
        [(1, 0), (2, 1)]
        """
        found: list[tuple[int, int]] = []
        at = 0
        for step in self.steps:
            found.extend((step.start + i, at + j) for i, j in step.links)
            at += len(step.target)
        return sorted(found)

    def explained_links(self) -> list[tuple[int, int, str]]:
        """The links in the order of the translation, and where the phrase of each comes from.

        >>> step = Step(0, 2, ("das", "Haus"), ("the", "house"), ((0, 0), (1, 1)), {}, 3, (0, 4))
        >>> Translation(("das", "Haus"), ("the", "house"), -1.0, {}, (step,)).explained_links()[1]
        (1, 1, 'das Haus -> the house, seen 3 times, in sentence pairs 1, 5')
        """
        found: list[tuple[int, int, str]] = []
        at = 0
        for step in self.steps:
            why = f"{' '.join(step.source)} -> {' '.join(step.target)}, {_origin(step)}"
            found.extend((step.start + i, at + j, why) for i, j in step.links)
            at += len(step.target)
        return found

    def trace(self) -> str:
        """The phrases of the translation, one per line.

        >>> step = Step(0, 2, ("das", "Haus"), ("the", "house"), ((0, 0), (1, 1)), {}, 3, (0, 4))
        >>> print(Translation(("das", "Haus"), ("the", "house"), -1.0, {}, (step,)).trace())
        das Haus -> the house   (seen 3 times, in sentence pairs 1, 5)
        """
        return "\n".join(
            f"{' '.join(step.source)} -> {' '.join(step.target)}   ({_origin(step)})" for step in self.steps
        )

    def record(self) -> dict[str, Any]:
        """The translation as JSON has it."""
        return {"source": " ".join(self.source), "translation": self.text, **{
            name: value for name, value in asdict(self).items() if name in ("score", "features", "steps")
        }, "links": self.links(), **({"heads": list(self.heads)} if self.heads else {})}  # fmt: skip


def _origin(step: Step) -> str:
    if step.kind != "phrase":
        return step.kind
    times = "once" if step.count == 1 else f"{step.count} times"
    pairs = ", ".join(str(number + 1) for number in step.origins)
    return f"seen {times}, in sentence pair{'s' if len(step.origins) > 1 else ''} {pairs}"
