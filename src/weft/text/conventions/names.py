"""What layers and labels are called where people read them; files and programs keep the short names."""

from __future__ import annotations

LAYERS = {"coref": "coreference", "disfluencies": "repairs", "mwe": "expressions"}
LABELS = {("mwe", "strong"): "fixed", ("mwe", "weak"): "loose"}


def layer_name(layer: str) -> str:
    """A span layer in words.

    >>> layer_name("mwe"), layer_name("genes")
    ('expressions', 'genes')
    """
    return LAYERS.get(layer, layer)


def label_name(layer: str, label: str) -> str:
    """A label of a span layer in words.

    >>> label_name("mwe", "strong"), label_name("opinions", "strong")
    ('fixed', 'strong')
    """
    return LABELS.get((layer, label), label)
