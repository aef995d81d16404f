"""Edit scripts: how a form becomes its lemma, in terms that carry over to other words.

    lemma = casing( new beginning + form without its first p and last s characters + new ending )

What stays is the longest stretch that form and lemma share, letter case aside. The casing says what letter case the
result has: `lower`, `title`, `upper`, or `keep`, where the form's own letters stay as they are. A lemma that shares
nothing with its form is written out (`whole`). Every pair of strings has a script, and the script gives the lemma back.
"""

from __future__ import annotations

from typing import NamedTuple


class EditScript(NamedTuple):
    """A script: casing, characters dropped at the beginning and what stands there instead, the same at the end."""

    casing: str
    drop_first: int = 0
    beginning: str = ""
    drop_last: int = 0
    ending: str = ""

    def __str__(self) -> str:
        return f"{self.casing} -{self.drop_first}+{self.beginning} -{self.drop_last}+{self.ending}"


def edit_script(form: str, lemma: str) -> EditScript:
    """The script that turns a form into its lemma.

    >>> str(edit_script("Walked", "walk")), str(edit_script("London", "London")), str(edit_script("gesagt", "sagen"))
    ('lower -0+ -2+', 'keep -0+ -0+', 'lower -2+ -1+en')
    >>> str(edit_script("NASA's", "Nasa")), str(edit_script("is", "be"))
    ('title -0+ -2+', 'whole -0+be -0+')
    """
    low = lemma.lower()
    if lemma == low:
        script = _edits("lower", form.lower(), low)
    else:
        script = _edits("keep", form, lemma)
        for casing in ("title", "upper"):
            other = _edits(casing, form.lower(), low)
            if _size(other) < _size(script) and apply_script(other, form) == lemma:
                script = other
    return script if apply_script(script, form) == lemma else EditScript("whole", 0, lemma)


def apply_script(script: EditScript, form: str) -> str:
    """The lemma that a script makes of a form; a form too short for the script stays as it is, but for its casing.

    >>> apply_script(EditScript("lower", 0, "", 2, ""), "Talked"), apply_script(EditScript("lower", 3, "x"), "ab")
    ('talk', 'ab')
    """
    casing, drop_first, beginning, drop_last, ending = script
    if casing == "whole":
        return beginning
    text = form if casing == "keep" else form.lower()
    if drop_first + drop_last <= len(text):
        text = beginning + text[drop_first : len(text) - drop_last] + ending
    if casing == "title":
        return text[:1].upper() + text[1:]
    return text.upper() if casing == "upper" else text


def _edits(casing: str, form: str, lemma: str) -> EditScript:
    """The script around the longest common stretch; a whole one where nothing is common."""
    at, there, size = _common(form, lemma)
    if size == 0 and form:
        return EditScript("whole", 0, lemma)
    return EditScript(casing, at, lemma[:there], len(form) - at - size, lemma[there + size :])


def _size(script: EditScript) -> int:
    """How much a script changes."""
    if script.casing == "whole":
        return 1_000_000
    return script.drop_first + len(script.beginning) + script.drop_last + len(script.ending)


def _common(one: str, other: str) -> tuple[int, int, int]:
    """Where the longest common stretch begins in both strings, and its length; the first of several."""
    best = (0, 0, 0)
    lengths = [0] * (len(other) + 1)
    for i, a in enumerate(one, start=1):
        above = 0
        for j, b in enumerate(other, start=1):
            lengths[j], above = (above + 1 if a == b else 0), lengths[j]
            if lengths[j] > best[2]:
                best = (i - lengths[j], j - lengths[j], lengths[j])
    return best
