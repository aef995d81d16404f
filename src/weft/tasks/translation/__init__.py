"""Translation by phrases that were learned from an aligned bitext: `weft.translation` in Python."""

from weft.tasks.translation import translation

__all__ = ["translation"]
