"""What a frame must fulfil, by greedy repair (Täckström 2009, section 2.2.2).

*Core argument consistency*: a core label stands once in a frame; the argument with the highest score keeps it, the
others go. *Continuation consistency*: `C-X` goes if there is no `X`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

#: Core labels: A0 to A9 and AA of PropBank, arg0-agt ... of the Spanish and Catalan corpora.
CORE = r"A[0-9A]|arg[0-9].*"
_CONTINUED = "C-"


def constrained(labels: Sequence[str], scores: Sequence[float], core: re.Pattern[str]) -> list[bool]:
    """Which arguments of a frame stay; of a complex label every part counts.

    >>> constrained(["A0", "A0", "C-A1", "AM-TMP", "AM-TMP"], [0.5, 0.9, 1.0, 0.1, 0.2], re.compile(CORE))
    [False, True, False, True, True]
    """
    stays = [True] * len(labels)
    parts = [label.split("|") for label in labels]
    taken: set[str] = set()
    for number in sorted(range(len(labels)), key=lambda place: (-scores[place], place)):
        own = [part for part in parts[number] if core.fullmatch(part)]
        if taken.intersection(own):
            stays[number] = False
        else:
            taken.update(own)
    present = {part for number, each in enumerate(parts) if stays[number] for part in each}
    for number, each in enumerate(parts):
        if any(part.startswith(_CONTINUED) and part[2:] not in present for part in each):
            stays[number] = False
    return stays
