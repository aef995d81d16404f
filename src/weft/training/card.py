"""The card of a model as Markdown: description, training data, scores and known weaknesses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from weft.pipeline.registry import UNSTATED


def card_text(header: Mapping[str, Any]) -> str:
    """Render the card in a model's header.

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
    if header.get("calibration"):
        parts += ["## Probabilities", calibration_table(header["calibration"])]
    if header.get("weaknesses"):
        parts += ["## Known weaknesses", "\n".join(f"- {line}" for line in header["weaknesses"])]
    if header.get("settings"):
        rows = [f"- {task}: {_settings(own)}" for task, own in header["settings"].items()]
        parts += ["## Settings", "\n".join([*rows, f"- seed: {header.get('seed', 0)}"])]
    return "\n\n".join(parts)


def score_table(scores: Mapping[str, Any]) -> str:
    """Scores on test sets as a Markdown table with one column per metric; for a single component, a list.

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


def calibration_table(sets: Mapping[str, Mapping[str, Mapping[str, float]]]) -> str:
    """How well the probabilities of every layer agree with how often it is right, in percent.

    >>> print(calibration_table({"web": {"upos": {"decisions": 2000, "right": 0.95, "probability": 0.96,
    ...     "error": 0.012}}}))
    | set | layer | decisions | right | mean probability | calibration error |
    |---|---|---|---|---|---|
    | web | upos | 2,000 | 95.00 | 96.00 | 1.20 |
    """
    columns = "set | layer | decisions | right | mean probability | calibration error"
    lines = [f"| {columns} |", f"|{'---|' * 6}"]
    for name, layers in sets.items():
        for layer, own in layers.items():
            values = " | ".join(f"{100 * own[key]:.2f}" for key in ("right", "probability", "error"))
            lines.append(f"| {name} | {layer} | {own['decisions']:,} | {values} |")
    return "\n".join(lines)


def genre_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Scores by group for tests that are scored by group, from raw text and from gold words.

    >>> row = {"set": "web", "scores": {}, "by": {"blogs": {"UPOS": 93.0, "LAS": 80.0}}}
    >>> print(genre_table([{**row, "from": "raw text"}, {**row, "from": "gold words"}]))
    | set | group | UPOS, raw text | LAS, raw text | UPOS, gold words | LAS, gold words |
    |---|---|---|---|---|---|
    | web | blogs | 93.00 | 80.00 | 93.00 | 80.00 |
    """
    columns = [(way, name) for way in ("raw text", "gold words") for name in ("UPOS", "LAS")]
    found: dict[tuple[str, str], dict[tuple[str, str], float]] = {}
    for row in rows:
        for group, scores in row.get("by", {}).items():
            own = found.setdefault((row["set"], group), {})
            own |= {(row["from"], name): scores[name] for _, name in columns if name in scores}
    lines = [f"| set | group | {' | '.join(f'{name}, {way}' for way, name in columns)} |", f"|---|---|{'---|' * 4}"]
    for (name, group), own in found.items():
        cells = (f"{own[column]:.2f}" if column in own else "" for column in columns)
        lines.append(f"| {name} | {group} | {' | '.join(cells)} |")
    return "\n".join(lines)


def languages_table(reports: Sequence[Mapping[str, Any]]) -> str:
    """One row per model: training data of its parser, size, and scores on the first test set and on PUD.

    >>> report = {"card": {"name": "tlh", "language": "Klingon", "corpora": ["UD tlh (CC0)"]}, "bytes": 3_000_000,
    ...     "components": [{"task": "parser", "words": 1200}],
    ...     "tests": [{"set": "UD test", "from": "raw text", "scores": {"UPOS": 90.0, "LAS": 70.0}}]}
    >>> print(languages_table([report]).splitlines()[2])
    | `tlh` | Klingon | UD tlh (CC0) | 1,200 | 3.0 | UD test |  |  | 90.00 | 70.00 |  |  |  |
    """
    ways = [("raw text", name) for name in ("Words", "Sentences", "UPOS", "LAS")] + [("gold words", "LAS")]
    shown = [f"{name}, {way}" for way, name in ways]
    header = ["model", "language", "trees learned from", "words", "MB", "test set", *shown, "PUD LAS, raw", "entities"]
    lines = [f"| {' | '.join(header)} |", f"|{'---|' * len(header)}"]
    for report in reports:
        card, tests = report["card"], [row for row in report["tests"] if "LAS" in row["scores"]]
        name = next((row["set"] for row in tests if row["set"].endswith("test")), "")
        main = {row["from"]: row["scores"] for row in tests if row["set"] == name}
        pud = next((row["scores"]["LAS"] for row in tests if (row["set"], row["from"]) == ("PUD", "raw text")), None)
        entities = next((row["scores"]["entities"] for row in report["tests"] if "entities" in row["scores"]), None)
        words = next((row["words"] for row in report["components"] if row["task"] == "parser"), 0)
        figures = [*(main.get(way, {}).get(metric) for way, metric in ways), pud, entities]
        size = f"{report['bytes'] / 1e6:.1f}"
        cells = [
            f"`{card['name']}`", card["language"], card["corpora"][0], f"{words:,}", size, name,
            *("" if value is None else f"{value:.2f}" for value in figures),
        ]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _settings(own: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in own.items()) or "as the task has them"
