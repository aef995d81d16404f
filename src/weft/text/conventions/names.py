"""What layers and labels are called where people read them; files and programs keep the short names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

LAYERS = {"coref": "coreference", "disfluencies": "repairs", "mwe": "expressions"}
LABELS = {("mwe", "strong"): "fixed", ("mwe", "weak"): "loose"}


def layer_name(layer: str) -> str:
    """A span layer in words.

    >>> layer_name("mwe"), layer_name("genes")
    ('expressions', 'genes')
    """
    return LAYERS.get(layer, layer)


def label_with_value(layer: str, label: str, attributes: Mapping[str, Any]) -> str:
    """A label of a span layer in words, with the span's value if it has one; links are called by their titles.

    A metaphor says what it compares; a verb that breaks a preference comes with what is asked of its arguments.

    >>> label_with_value("times", "DATE", {"value": "2026-05-01"})
    'DATE 2026-05-01'
    >>> label_with_value("links", "Q1", {"title": "Ada"})
    'Ada'
    >>> label_with_value("metaphor", "source", {"target": "hand", "source": "claw"})
    'hand ~ claw'
    >>> check = {"role": "Patient", "restriction": "+concrete", "holds": False}
    >>> explanation = {"readings": [{"class": "x-1", "checks": [check]}]}
    >>> label_with_value("preferences", "violation", {"explanation": explanation})
    'violation: Patient +concrete (x-1)'
    """
    if layer == "metaphor" and "target" in attributes and "source" in attributes:
        return f"{attributes['target']} ~ {attributes['source']}"
    if layer == "preferences" and label == "violation":
        return _violation(label, attributes.get("explanation"))
    if layer == "links" and isinstance(attributes.get("title"), str):
        return str(attributes["title"])
    value = attributes.get("value")
    name = label_name(layer, label)
    return f"{name} {value}" if layer == "times" and value else name


def label_name(layer: str, label: str) -> str:
    """A label of a span layer in words.

    >>> label_name("mwe", "strong"), label_name("opinions", "strong")
    ('fixed', 'strong')
    """
    return LABELS.get((layer, label), label)


def _violation(label: str, explanation: Any) -> str:
    """The label of a broken preference with the first restriction that is broken, if it can be read."""
    readings = explanation.get("readings") if isinstance(explanation, Mapping) else None
    for reading in readings if isinstance(readings, list) else ():
        checks = reading.get("checks") if isinstance(reading, Mapping) else None
        for check in checks if isinstance(checks, list) else ():
            if isinstance(check, Mapping) and not check.get("holds", True):
                return f"{label}: {check.get('role')} {check.get('restriction')} ({reading.get('class')})"
    return label
