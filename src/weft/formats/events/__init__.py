"""Events in JSON Lines: texts with mentions and with events, whose arguments are mentions, spans or events."""

from weft.formats.events.lines import read, write

__all__ = ["read", "write"]
