"""Edit scripts: how to turn a form into its lemma, in a way that generalizes to other words.

    lemma = casing( new beginning + form without its first p and last s characters + new ending )

The script keeps the longest common substring of form and lemma, ignoring case. The casing is that of the result:
`lower`, `title`, `upper`, or `keep`, which leaves the letters of the form unchanged. If form and lemma share nothing,
the script contains the whole lemma (`whole`). Every pair of strings has a script, and applying it restores the lemma.
"""

from __future__ import annotations

from typing import NamedTuple

CASINGS = ("whole", "keep", "lower", "title", "upper")


class EditScript(NamedTuple):
    """A script: the casing, and for each end of the form the number of characters to drop and their replacement."""

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
    """Apply a script to a form. A form that is too short for the edits only changes its casing.

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
    """The script around the longest common substring, or a `whole` script if there is none."""
    at, there, size = _common(form, lemma)
    if size == 0 and form:
        return EditScript("whole", 0, lemma)
    return EditScript(casing, at, lemma[:there], len(form) - at - size, lemma[there + size :])


def _size(script: EditScript) -> int:
    """The number of characters that a script drops or adds."""
    if script.casing == "whole":
        return 1_000_000
    return script.drop_first + len(script.beginning) + script.drop_last + len(script.ending)


def _common(one: str, other: str) -> tuple[int, int, int]:
    """Start of the longest common substring in both strings, and its length; the first one wins a tie."""
    best = (0, 0, 0)
    lengths = [0] * (len(other) + 1)
    for i, a in enumerate(one, start=1):
        above = 0
        for j, b in enumerate(other, start=1):
            lengths[j], above = (above + 1 if a == b else 0), lengths[j]
            if lengths[j] > best[2]:
                best = (i - lengths[j], j - lengths[j], lengths[j])
    return best
