"""Attributes of a word type: what a template may ask of a form beyond the form itself.

| attribute | of `Smith-2000` |
|---|---|
| `form` | `Smith-2000` |
| `lower` | `smith-2000` |
| `shape` | `Xxxxx-dddd` |
| `brief` | `Xx-d`: the shape with repetitions folded |
| `prefixN`, `suffixN` | first and last N characters, nothing where the word is shorter |
| `digits` | the form with every digit as `0` |
| `kind` | one of number, punctuation, upper, title, mixed, lower, other |
| `capital` | `capital` or `small`: whether the first character is a capital |
| `upper` | `upper` where there is a capital anywhere, else nothing |
| `hyphen` | `hyphen` where there is one inside, else nothing |
| `digit` | `digit` where there is one, else nothing |
| `length` | number of characters, at most 12 |
| `poscase` | of a positional tag such as `NNFS1-----A----`: part of speech and case, `N1` |
| `clusterN` | first N bits of the word's cluster path; `cluster` for the whole path |
| `nativeN` | the same in a second clustering, `native_clusters` |
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping

from weft.errors import TemplateError

Attribute = Callable[[str], str]

_DIGIT = re.compile(r"\d")
_NUMBERED = re.compile(r"^(prefix|suffix|cluster|native)(\d+)$")


def shape(form: str) -> str:
    """Letters to x, capitals to X, digits to d, the rest as it is; runs of more than four are cut.

    >>> shape("Smith-2000"), shape("internationally")
    ('Xxxxx-dddd', 'xxxx')
    """
    out: list[str] = []
    run = 0
    for character in form:
        if character.isupper():
            mark = "X"
        elif character.isalpha():
            mark = "x"
        elif character.isdigit():
            mark = "d"
        else:
            mark = character
        run = run + 1 if out and out[-1] == mark else 1
        if run <= 4:
            out.append(mark)
    return "".join(out)


def brief(form: str) -> str:
    """The shape with every run folded into one mark.

    >>> brief("Smith-2000")
    'Xx-d'
    """
    marks = shape(form)
    return "".join(mark for i, mark in enumerate(marks) if i == 0 or marks[i - 1] != mark)


def kind(form: str) -> str:
    """A coarse class of the form.

    >>> [kind(form) for form in ("1,000", "...", "NATO", "Anna", "eBay", "tree", "")]
    ['number', 'punctuation', 'upper', 'title', 'mixed', 'lower', 'other']
    """
    if any(character.isdigit() for character in form) and not any(character.isalpha() for character in form):
        return "number"
    if form and all(unicodedata.category(character)[0] in "PS" for character in form):
        return "punctuation"
    if form.isupper():
        return "upper"
    if form[:1].isupper() and form[1:] == form[1:].lower():
        return "title"
    if any(character.isupper() for character in form):
        return "mixed"
    return "lower" if form.islower() else "other"


def poscase(tag: str) -> str:
    """A positional tag reduced to its part of speech and case or, where it has none, its kind (Collins et al. 1999).

    >>> poscase("NNFS1-----A----"), poscase("VpFS----R-AA--1"), poscase("X")
    ('N1', 'Vp', 'X')
    """
    case = tag[4:5].strip("-")
    return tag[:1] + case if case else tag[:2]


def attribute(
    name: str, clusters: Mapping[str, str] | None = None, native: Mapping[str, str] | None = None
) -> Attribute:
    """The function that computes an attribute from a form; "" means that the form has no such attribute.

    >>> attribute("suffix3")("walking"), attribute("suffix3")("at")
    ('ing', '')
    >>> attribute("capital")("Ada"), attribute("upper")("iPod"), attribute("hyphen")("well-known")
    ('capital', 'upper', 'hyphen')
    """
    simple: dict[str, Attribute] = {
        "form": lambda form: form,
        "lower": str.lower,
        "shape": shape,
        "brief": brief,
        "digits": lambda form: _DIGIT.sub("0", form),
        "kind": kind,
        "capital": lambda form: "capital" if form[:1].isupper() else "small",
        "upper": lambda form: "upper" if any(map(str.isupper, form)) else "",
        "hyphen": lambda form: "hyphen" if "-" in form[1:-1] else "",
        "digit": lambda form: "digit" if _DIGIT.search(form) else "",
        "length": lambda form: str(min(len(form), 12)),
        "poscase": poscase,
    }
    if name in simple:
        return simple[name]
    numbered = _NUMBERED.match(name if name[-1:].isdigit() else f"{name}64")
    if numbered is None or int(numbered[2]) == 0 or (name in ("prefix", "suffix")):
        known = ", ".join([*simple, "prefixN", "suffixN", "cluster", "clusterN", "native", "nativeN"])
        raise TemplateError(f"unknown attribute {name!r}; the attributes of a word are: {known}")
    n = int(numbered[2])
    if numbered[1] == "prefix":
        return lambda form: form[:n] if len(form) >= n else ""
    if numbered[1] == "suffix":
        return lambda form: form[-n:] if len(form) >= n else ""
    paths = (clusters if numbered[1] == "cluster" else native) or {}
    if name == numbered[1]:
        return lambda form: paths.get(form) or paths.get(form.lower(), "")
    return lambda form: (paths.get(form) or paths.get(form.lower(), ""))[:n]
