"""Rules that select content, done the slow way: on texts, word by word."""

from __future__ import annotations

from collections.abc import Sequence


def left_after(lines: Sequence[set[str]], rules: Sequence[tuple[str, str]]) -> list[bool]:
    """Which lines of an instance are left after rules (cue, kind) in their order."""
    left = [True] * len(lines)
    for cue, kind in rules:
        cued = [place for place, words in enumerate(lines) if left[place] and cue in words]
        if not cued:
            continue
        covered = {
            "A": lambda place, cued=cued: any(0 < place - c <= 2 for c in cued),
            "B": lambda place, cued=cued: place > cued[0],
            "C": lambda place, cued=cued: any(0 < c - place <= 2 for c in cued),
            "D": lambda place, cued=cued: place < cued[-1],
        }[kind]
        left = [is_left and not covered(place) for place, is_left in enumerate(left)]
    return left


def vector(lines: Sequence[set[str]], rules: Sequence[tuple[str, str]]) -> set[str]:
    """The words of the lines that are left."""
    left = left_after(lines, rules)
    return {word for words, is_left in zip(lines, left, strict=True) if is_left for word in words}
