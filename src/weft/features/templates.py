"""Feature templates, written as data.

    w[0]                 the word here;  w[-1]  the word before
    w[0].suffix3         an attribute of it (weft.features.attributes)
    w[-2..2]             a window: five templates
    w[0].prefix1..4      a range of attributes: four templates
    t[-1]|t[0]           a conjunction
    (w[0] w[1])|t[0]     a group: two conjunctions
    w{-5..5}.lower       a bag: whatever stands in the window, wherever
    true                 fires everywhere
    y[-1]|w[0]           a conjunction with the label before;  y[-2]|y[-1]  with the two labels before

Templates are separated by blanks; `#` starts a comment; a line that begins with `name:` opens the block of that name
(the block without a name is called `node`). Fields (`w`, `t`) are bound to columns of documents by the task.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from weft.errors import TemplateError

_TOKEN = re.compile(r"\(|\)|\||[^\s()|]+")
_BLOCK = re.compile(r"^\s*([A-Za-z_]\w*):(?:\s|$)")
_ATOM = re.compile(
    r"^(?P<field>[A-Za-z_]\w*)"
    r"(?P<open>[\[{])(?P<lo>-?\d+)(?:\.\.(?P<hi>-?\d+))?(?P<close>[\]}])"
    r"(?:\.(?P<attribute>[A-Za-z]+)(?P<from>\d+)?(?:\.\.(?P<to>\d+))?)?$"
)


@dataclass(frozen=True)
class Atom:
    """One thing a template looks at: an attribute of a field at one offset, or anywhere in a window (a bag)."""

    field: str
    lo: int
    hi: int
    attribute: str = "form"
    bag: bool = False

    def __str__(self) -> str:
        place = f"{{{self.lo}..{self.hi}}}" if self.bag else f"[{self.lo}]"
        return f"{self.field}{place}" + ("" if self.attribute == "form" else f".{self.attribute}")


@dataclass(frozen=True)
class Template:
    """A conjunction of atoms, with as many of the labels before as `order` says."""

    atoms: tuple[Atom, ...]
    order: int = 0

    def __str__(self) -> str:
        history = [f"y[{offset}]" for offset in range(-self.order, 0)]
        return "|".join([*history, *map(str, self.atoms)]) or "true"

    @property
    def observation(self) -> Template:
        """The same template without its labels."""
        return Template(self.atoms)

    def moved(self, by: int) -> Template:
        """The same template with every atom so many places further on.

        >>> str(Template((Atom("w", -1, -1), Atom("t", 0, 0))).moved(1))
        'w[0]|t[1]'
        """
        atoms = tuple(replace(atom, lo=atom.lo + by, hi=atom.hi + by) for atom in self.atoms)
        return Template(atoms, self.order)


class Templates:
    """A set of templates in blocks.

    >>> templates = Templates("w[-1..1] w[0].suffix1..2 (true y[-1])|t[0]")
    >>> print(*templates)
    w[-1] w[0] w[1] w[0].suffix1 w[0].suffix2 t[0] y[-1]|t[0]
    >>> Templates("w[0").blocks
    Traceback (most recent call last):
    ...
    weft.errors.TemplateError: cannot read the atom 'w[0': expected field[offset], as in w[0], w[-2..2], w[0].suffix3
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.blocks: dict[str, list[Template]] = {}
        name = "node"
        for line in text.splitlines():
            line = line.split("#", 1)[0]
            opened = _BLOCK.match(line)
            if opened:
                name, line = opened[1], line[opened.end() :]
            block = self.blocks.setdefault(name, [])
            block.extend(template for template in _read(line) if template not in block)
        self.blocks = {block: templates for block, templates in self.blocks.items() if templates}
        if not self.blocks:
            raise TemplateError("no templates given; write at least one, such as w[0]")

    def __iter__(self) -> Iterator[Template]:
        return (template for templates in self.blocks.values() for template in templates)

    def __len__(self) -> int:
        return sum(map(len, self.blocks.values()))

    @property
    def order(self) -> int:
        """How many labels before the present one the templates look at."""
        return max(template.order for template in self)

    def fields(self) -> dict[str, list[str]]:
        """Every field with the attributes asked of it."""
        found: dict[str, list[str]] = {}
        for template in self:
            for atom in template.atoms:
                attributes = found.setdefault(atom.field, [])
                if atom.attribute not in attributes:
                    attributes.append(atom.attribute)
        return found


def _read(text: str) -> list[Template]:
    tokens = _TOKEN.findall(text)
    parts, rest = _series(tokens, 0, text)
    if rest != len(tokens):
        raise TemplateError(f"a closing parenthesis without an opening one in {text.strip()!r}")
    return [_template(atoms) for atoms in parts]


_Conjunction = tuple[Atom, ...]


def _series(tokens: list[str], at: int, text: str) -> tuple[list[_Conjunction], int]:
    """Read templates up to the end or a closing parenthesis."""
    found: list[_Conjunction] = []
    while at < len(tokens) and tokens[at] != ")":
        factors: list[list[_Conjunction]] = []
        while True:
            if at >= len(tokens) or tokens[at] in ")|":
                raise TemplateError(f"something is missing beside a | in {text.strip()!r}")
            if tokens[at] == "(":
                group, at = _series(tokens, at + 1, text)
                if at >= len(tokens):
                    raise TemplateError(f"a parenthesis is not closed in {text.strip()!r}")
                factors.append(group)
            else:
                factors.append(_atoms(tokens[at]))
            at += 1
            if at >= len(tokens) or tokens[at] != "|":
                break
            at += 1
        found.extend(sum(choice, ()) for choice in product(*factors))
    return found, at


def _atoms(token: str) -> list[_Conjunction]:
    """One written atom: one choice a position of its window and a number of its attribute range."""
    if token == "true":
        return [()]
    match = _ATOM.match(token)
    if match is None or (match["open"] == "[") != (match["close"] == "]"):
        raise TemplateError(
            f"cannot read the atom {token!r}: expected field[offset], as in w[0], w[-2..2], w[0].suffix3"
        )
    lo = int(match["lo"])
    hi = int(match["hi"]) if match["hi"] is not None else lo
    if hi < lo:
        raise TemplateError(f"the window of {token!r} is empty: {lo}..{hi}")
    name, first, last = match["attribute"] or "form", match["from"], match["to"]
    if last is not None and first is None:
        raise TemplateError(f"the range of {token!r} has no beginning; write for example prefix1..4")
    numbers = range(int(first), int(last or first) + 1) if first is not None else None
    attributes = [name] if numbers is None else [f"{name}{number}" for number in numbers]
    field = match["field"]
    if match["open"] == "{":
        return [(Atom(field, lo, hi, attribute, bag=True),) for attribute in attributes]
    return [(Atom(field, at, at, attribute),) for at in range(lo, hi + 1) for attribute in attributes]


def _template(atoms: _Conjunction) -> Template:
    """Tell labels (field y) from observations."""
    history = [atom for atom in atoms if atom.field == "y"]
    labels = sorted({atom.lo for atom in history})
    if labels and (labels != list(range(labels[0], 0)) or any(a.bag or a.attribute != "form" for a in history)):
        written = "|".join(map(str, history))
        raise TemplateError(f"cannot use the labels {written!r}: write y[-1] or y[-2]|y[-1], without gaps")
    return Template(tuple(atom for atom in atoms if atom.field != "y"), len(labels))
