"""Signatures of words: what the spelling of a word says about its tag, as the Berkeley parser classifies unknown words.

    case      INITC    opens a sentence with a capital, the only one that it has; with
              KNOWNLC  where the word is known in lower case
              CAPS     begins with a capital otherwise, or with another sign and has capitals inside
              LC       none of these, and it has a small letter
    NUM       has a digit
    DASH      has a hyphen
    ending    -s (three letters or more; not -ss, -is, -us), or in words of five letters or more without a hyphen, and
              not of capitals and digits, the first of: -ed -ing -ion -er -est -ly -ity -y -al

Every mark is a bit; a signature is the marks that a word has.
"""

from __future__ import annotations

from collections.abc import Collection

#: In the order in which a signature lists them.
MARKS = ("INITC", "KNOWNLC", "CAPS", "LC", "NUM", "DASH", "s", "ed", "ing", "ion", "er", "est", "ly", "ity", "y", "al")
_ENDINGS = MARKS[MARKS.index("ed") :]


def signature(form: str, initial: bool = False, known: Collection[str] = ()) -> str:
    """The signature of a word; `initial` says that it opens a sentence, `known` holds words in lower case.

    >>> [signature(form) for form in ("dogs", "Paris", "mid-1990s", "walking", "IBM", "42", ",")]
    ['LC-s', 'CAPS', 'LC-NUM-DASH-s', 'LC-ing', 'CAPS', 'NUM', '']
    >>> signature("Dogs", initial=True, known={"dogs"}), signature("Xanthia", initial=True), signature("Dogs")
    ('INITC-KNOWNLC-s', 'INITC', 'CAPS-s')
    """
    if not form:
        return ""
    capitals = sum(letter.isupper() or letter.istitle() for letter in form)
    lower = form.lower()
    marks: list[str] = []
    if form[0].isupper() or form[0].istitle():
        if initial and capitals == 1:
            marks.append("INITC")
            if lower in known:
                marks.append("KNOWNLC")
        else:
            marks.append("CAPS")
    elif not form[0].isalpha() and capitals:
        marks.append("CAPS")
    elif any(letter.islower() for letter in form):
        marks.append("LC")
    digit, dash = any(letter.isdigit() for letter in form), "-" in form
    if digit:
        marks.append("NUM")
    if dash:
        marks.append("DASH")
    if lower.endswith("s") and len(form) >= 3:
        if lower[-2] not in "siu":
            marks.append("s")
    elif len(form) >= 5 and not dash and not (digit and capitals):
        ending = next((each for each in _ENDINGS if lower.endswith(each)), None)
        if ending is not None:
            marks.append(ending)
    return "-".join(marks)


def signature_bits(marks: str) -> int:
    """A signature as a number of sixteen bits, the first mark the lowest.

    >>> signature_bits("LC-NUM-s"), signature_bits("")
    (88, 0)
    """
    return sum(1 << MARKS.index(mark) for mark in marks.split("-") if mark)
