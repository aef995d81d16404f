"""What layers and labels are called where people read them; files and programs keep the short names."""

from __future__ import annotations

LAYERS = {
    "chunks": "base chunks",
    "disfluencies": "speech repairs",
    "entities": "named entities",
    "mwe": "multiword expressions",
}
LABELS = {"strong": "fixed expression", "weak": "loose expression"}


def layer_name(layer: str) -> str:
    """A span layer in words.

    >>> layer_name("mwe"), layer_name("genes")
    ('multiword expressions', 'genes')
    """
    return LAYERS.get(layer, layer)


def label_name(label: str) -> str:
    """A label of a span in words.

    >>> label_name("strong"), label_name("PER")
    ('fixed expression', 'PER')
    """
    return LABELS.get(label, label)
