"""Sections of a note, by their titles.

A title is a short line that ends in a colon or is written in capitals, or a few words and a colon at the start of a
line: `HISTORY OF PRESENT ILLNESS:`, `Medications: aspirin daily`.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from weft.text.doc import Doc

_WORDS = re.compile(r"[A-Z][\w /&,'()-]*")
_LONGEST = 60
#: Titles and the relation of their events to the time of the document, where nothing else is known.
PRIORS = {
    "history of present illness": "BEFORE",
    "past medical history": "BEFORE",
    "past surgical history": "BEFORE",
    "hospital course": "BEFORE",
    "medications": "OVERLAP",
    "current medications": "OVERLAP",
    "allergies": "OVERLAP",
    "physical examination": "OVERLAP",
    "vital signs": "OVERLAP",
    "ongoing care orders": "AFTER",
    "plan": "AFTER",
    "follow-up": "AFTER",
}


def sections(text: str) -> list[tuple[int, str]]:
    """Where every section begins, with its title in small letters.

    >>> sections("MEDICATIONS: aspirin\\nPlan:\\nsurgery in May")
    [(0, 'medications'), (21, 'plan')]
    """
    found, at = [], 0
    for line in text.split("\n"):
        head = line[: _LONGEST + 10].lstrip(" \t")
        title, colon, _ = head.partition(":")
        title = title.rstrip()
        if 2 <= len(title) <= _LONGEST and _WORDS.fullmatch(title) and (colon or (len(title) > 3 and title.isupper())):
            found.append((at, " ".join(title.lower().split())))
        at += len(line) + 1
    return found


def section_titles(doc: Doc, starts: list[int]) -> list[str]:
    """The title of the section in which each of some characters stands, "" before the first one."""
    found = sections(doc.text)
    places = [place for place, _ in found]
    return [found[at - 1][1] if (at := bisect_right(places, start)) else "" for start in starts]
