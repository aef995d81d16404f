"""The card of a model as Markdown: what it is, what it learned from, how good it is and where it fails."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weft.tasks.registry import UNSTATED


def card_text(header: Mapping[str, Any]) -> str:
    """The card that a model's header holds.

    >>> print(card_text({"name": "en", "language": "English", "licence": "MIT", "corpora": ["tales (CC0)"],
    ...                  "scores": {"tales, raw text": {"LAS": 80.0}}, "weaknesses": ["poems"]}))
    # Model en (English)
    <BLANKLINE>
    Licence: MIT
    <BLANKLINE>
    ## Learned from
    <BLANKLINE>
    - tales (CC0)
    <BLANKLINE>
    ## Scores
    <BLANKLINE>
    | set | LAS |
    |---|---|
    | tales, raw text | 80.00 |
    <BLANKLINE>
    ## Known weaknesses
    <BLANKLINE>
    - poems
    """
    language = f" ({header['language']})" if header.get("language") else ""
    parts = [f"# Model {header.get('name', UNSTATED)}{language}"]
    parts += [str(header[name]) for name in ("what",) if header.get(name)]
    parts.append(f"Licence: {header.get('licence', UNSTATED)}")
    for title, name in (("Learned from", "corpora"), ("Components", "trained")):
        if header.get(name):
            parts += [f"## {title}", "\n".join(f"- {line}" for line in header[name])]
    scores = header.get("scores") or {}
    if scores:
        parts += ["## Scores", score_table(scores)]
    if header.get("weaknesses"):
        parts += ["## Known weaknesses", "\n".join(f"- {line}" for line in header["weaknesses"])]
    if header.get("settings"):
        rows = [f"- {task}: {_settings(own)}" for task, own in header["settings"].items()]
        parts += ["## Settings", "\n".join([*rows, f"- seed: {header.get('seed', 0)}"])]
    return "\n\n".join(parts)


def score_table(scores: Mapping[str, Any]) -> str:
    """Scores of sets as a Markdown table, a column for every metric; of a single component as a list.

    >>> print(score_table({"dev f1": 0.9}))
    - dev f1: 0.9
    """
    if not all(isinstance(row, Mapping) for row in scores.values()):
        return "\n".join(f"- {name}: {value:.4g}" for name, value in scores.items())
    metrics = list(dict.fromkeys(name for row in scores.values() for name in row))
    lines = [f"| set | {' | '.join(metrics)} |", f"|---|{'---|' * len(metrics)}"]
    for name, row in scores.items():
        cells = (f"{row[metric]:.2f}" if metric in row else "" for metric in metrics)
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _settings(own: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in own.items()) or "as the task has them"
