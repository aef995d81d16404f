"""Grammar files: context-free rules in a short notation, with adapted symbols marked.

    # comments run to the end of the line
    Utterance   -> Word+
    @Word       -> {SSyll | USyll}{1,4}
    SSyll       -> (Onset) Vowel '*' [0.5]

`A -> x | y` gives alternatives, `(x)` is optional, `{x | y}` is a choice, `x{m,n}` is m to n copies in a row, `x+` is
one or more; names in quotes are terminals, and so are names without a rule. `@` marks an adapted symbol: whole trees
under it are memoized. A number in square brackets is the Dirichlet pseudo-count of each rule that the alternative
expands to (default 1). The left side of the first rule is the start symbol.

Expansion yields plain rules: choices, options and copies are multiplied out and duplicate right sides are merged;
`x+` becomes a helper symbol named `x+`, never adapted, with the rules `x+ -> x` and `x+ -> x x+`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

from weft.errors import ConfigError, FormatError

#: If one alternative expands to more plain rules than this, it is considered a mistake.
MOST_RULES = 100_000
_TOKEN = re.compile(r"\s+|#.*|'(?:[^'\\]|\\.)*'|\{\s*\d+\s*,\s*\d+\s*\}|[(){}|+]|\[[^\]]*\]|[^\s(){}|+\[\]'#]+|.")
_PLAIN = re.compile(r"[^\s(){}|+\[\]'#@]+")


@dataclass(frozen=True)
class Symbol:
    """A name; `quoted` names are always terminals."""

    name: str
    quoted: bool = False


@dataclass(frozen=True)
class Choice:
    """One of several sequences; with `optional`, there is one sequence and it may be absent."""

    options: tuple[tuple[Item, ...], ...]
    optional: bool = False


@dataclass(frozen=True)
class Repeat:
    """Consecutive copies of an item; if `most` is None, one or more through a helper symbol."""

    item: Symbol | Choice
    least: int = 1
    most: int | None = None


Item = Symbol | Choice | Repeat


@dataclass(frozen=True)
class Alternative:
    """A right side in the short notation with its left side, pseudo-count and line number."""

    left: str
    items: tuple[Item, ...]
    alpha: float = 1.0
    line: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Rule:
    """A plain rule; names on the right side are terminals if no rule has them on its left."""

    left: str
    right: tuple[str, ...]
    alpha: float = 1.0


@dataclass(frozen=True)
class Grammar:
    """Rules in the short notation and the adapted symbols.

    >>> grammar = parse_grammar("S -> Word+\\n@Word -> {a|b}{1,2}")
    >>> grammar.start, sorted(grammar.adapted), len([rule for rule in grammar.rules() if rule.left == "Word"])
    ('S', ['Word'], 6)
    >>> parse_grammar(format_grammar(grammar)) == grammar
    True
    """

    alternatives: tuple[Alternative, ...]
    adapted: frozenset[str]
    name: str = field(default="grammar", compare=False)

    @property
    def start(self) -> str:
        return self.alternatives[0].left

    @property
    def symbols(self) -> list[str]:
        """Left sides in the order of the file, without helpers."""
        return list(dict.fromkeys(alternative.left for alternative in self.alternatives))

    def rules(self) -> list[Rule]:
        """The plain rules, with helpers after the rules that need them."""
        expansion = _Expansion(self)
        return expansion.rules

    def with_rules(self, rules: Mapping[str, Iterable[str]]) -> Grammar:
        """The grammar with an additional rule `symbol -> terminal` for each given terminal.

        >>> grammar = parse_grammar("Word -> Vowel+").with_rules({"Vowel": ["a", "o"]})
        >>> print(format_grammar(grammar), end="")
        Word -> Vowel+
        Vowel -> 'a'
        Vowel -> 'o'
        """
        added = [
            Alternative(left, (Symbol(terminal, quoted=True),)) for left, names in rules.items() for terminal in names
        ]
        return Grammar((*self.alternatives, *added), self.adapted, self.name)


def read_grammar(path: str | os.PathLike[str]) -> Grammar:
    """Read a grammar file."""
    place = Path(path)
    try:
        text = place.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot read the grammar {place}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"the grammar {place} is not UTF-8 text") from None
    return parse_grammar(text, str(place))


def write_grammar(grammar: Grammar, path: str | os.PathLike[str]) -> None:
    """Write a grammar file that reads back as the same grammar."""
    Path(path).write_text(format_grammar(grammar), encoding="utf-8")


def parse_grammar(text: str, name: str = "grammar") -> Grammar:
    """Parse a grammar; errors refer to it as `name`.

    >>> parse_grammar("S -> (A")
    Traceback (most recent call last):
    ...
    weft.errors.FormatError: grammar, line 1: expected ')', found the end of the line
    """
    alternatives: list[Alternative] = []
    marks: dict[str, bool] = {}
    for number, line in enumerate(text.splitlines(), 1):
        tokens = [token for token in _TOKEN.findall(line) if not token.isspace() and not token.startswith("#")]
        if tokens:
            parsed = _Reader(tokens, name, number).alternatives()
            left = parsed[0].left
            adapted = tokens[0].startswith("@")
            if marks.setdefault(left, adapted) != adapted:
                raise FormatError(name, number, f"{left} marked with @ on all of its lines or on none", "both")
            alternatives += parsed
    if not alternatives:
        raise FormatError(name, None, "a rule, as in `Word -> Syllable+`", "none")
    grammar = Grammar(tuple(alternatives), frozenset(left for left, adapted in marks.items() if adapted), name)
    _check(grammar)
    return grammar


def format_grammar(grammar: Grammar) -> str:
    """The text of a grammar, one alternative per line."""
    lines = []
    for alternative in grammar.alternatives:
        mark = "@" if alternative.left in grammar.adapted else ""
        alpha = "" if alternative.alpha == 1.0 else f" [{alternative.alpha!r}]"
        lines.append(f"{mark}{alternative.left} -> {_sequence(alternative.items)}{alpha}\n")
    return "".join(lines)


def _sequence(items: Sequence[Item]) -> str:
    return " ".join(map(_item, items))


def _item(item: Item) -> str:
    if isinstance(item, Symbol):
        escaped = item.name.replace("\\", "\\\\").replace("'", "\\'")
        return f"'{escaped}'" if item.quoted or not _PLAIN.fullmatch(item.name) else item.name
    if isinstance(item, Repeat):
        return _item(item.item) + ("+" if item.most is None else f"{{{item.least},{item.most}}}")
    inside = " | ".join(map(_sequence, item.options))
    return f"({inside})" if item.optional else f"{{{inside}}}"


class _Reader:
    """Parses one line by recursive descent."""

    def __init__(self, tokens: list[str], name: str, line: int) -> None:
        self._tokens, self._at, self._name, self._line = tokens, 0, name, line

    def alternatives(self) -> list[Alternative]:
        left = self._tokens[0].removeprefix("@")
        if not _PLAIN.fullmatch(left):
            raise self._error("the name of a symbol, as in `Word -> Syllable+`")
        self._at = 1
        if self._next() != "->":
            raise self._error("`->` after the first name")
        self._at = 2
        parsed = [self._alternative(left)]
        while self._next() == "|":
            self._at += 1
            parsed.append(self._alternative(left))
        if self._next() is not None:
            raise self._error("the end of the rule")
        return parsed

    def _alternative(self, left: str) -> Alternative:
        items = self._items()
        token, alpha = self._next(), 1.0
        if token is not None and token.startswith("["):
            try:
                alpha = float(token[1:-1])
            except ValueError:
                alpha = 0.0
            if not 0.0 < alpha < float("inf"):
                raise self._error("a pseudo-count above 0 in square brackets")
            self._at += 1
        return Alternative(left, items, alpha, self._line)

    def _items(self) -> tuple[Item, ...]:
        items: list[Item] = []
        while (token := self._next()) is not None and token[0] not in ")}|[":
            items.append(self._repeated(self._single(token)))
        if not items:
            raise self._error("a symbol")
        return tuple(items)

    def _single(self, token: str) -> Symbol | Choice:
        if token in "({":
            self._at += 1
            options = [self._items()]
            while self._next() == "|":
                self._at += 1
                options.append(self._items())
            self._closed(")" if token == "(" else "}")
            return Choice(tuple(options), optional=token == "(")
        if token[0] == "'" and len(token) > 2:
            self._at += 1
            return Symbol(re.sub(r"\\(.)", r"\1", token[1:-1]), quoted=True)
        if not _PLAIN.fullmatch(token):
            raise self._error("a symbol; quote a terminal that contains special characters")
        self._at += 1
        return Symbol(token)

    def _repeated(self, item: Symbol | Choice) -> Item:
        token = self._next()
        if token == "+":
            self._at += 1
            return Repeat(item)
        if token is not None and token[0] == "{" and token[-1] == "}":
            least, most = (int(bound) for bound in token[1:-1].split(","))
            if not 0 <= least <= most or most == 0:
                raise self._error("{m,n} with m at most n and n above 0")
            self._at += 1
            return Repeat(item, least, most)
        return item

    def _closed(self, bracket: str) -> None:
        if self._next() != bracket:
            raise self._error(f"{bracket!r}")
        self._at += 1

    def _next(self) -> str | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _error(self, expected: str) -> FormatError:
        token = self._next()
        return FormatError(self._name, self._line, expected, "the end of the line" if token is None else repr(token))


class _Expansion:
    """The plain rules of a grammar, in order, with the helpers for `x+`."""

    def __init__(self, grammar: Grammar) -> None:
        self.rules: list[Rule] = []
        self._seen: set[tuple[str, tuple[str, ...]]] = set()
        self._helpers: set[str] = set()
        for alternative in grammar.alternatives:
            place = grammar.name, alternative.line or None
            if _number(alternative.items) > MOST_RULES:
                raise FormatError(*place, f"at most {MOST_RULES:,} plain rules for {alternative.left}", "more")
            waiting: list[Rule] = []
            for right in self._sequences(alternative.items, waiting):
                if not right:
                    expected = f"a right side for {alternative.left} that cannot be empty"
                    raise FormatError(*place, expected, "one that can be empty")
                self._add(Rule(alternative.left, right, alternative.alpha))
            for rule in waiting:
                self._add(rule)

    def _add(self, rule: Rule) -> None:
        if (rule.left, rule.right) not in self._seen:
            self._seen.add((rule.left, rule.right))
            self.rules.append(rule)

    def _sequences(self, items: Sequence[Item], waiting: list[Rule]) -> Iterator[tuple[str, ...]]:
        """Every sequence of names that the items expand to."""
        for parts in product(*(self._readings(item, waiting) for item in items)):
            yield tuple(name for part in parts for name in part)

    def _readings(self, item: Item, waiting: list[Rule]) -> list[tuple[str, ...]]:
        if isinstance(item, Symbol):
            return [(item.name,)]
        if isinstance(item, Choice):
            sequences = [names for option in item.options for names in self._sequences(option, waiting)]
            return [*sequences, ()] if item.optional else sequences
        once = self._readings(item.item, waiting)
        if item.most is None:
            helper = _item(item)
            if helper not in self._helpers:
                self._helpers.add(helper)
                for names in once:
                    waiting += [Rule(helper, names), Rule(helper, (*names, helper))]
            return [(helper,)]
        counts = range(item.least, item.most + 1)
        return [tuple(n for part in parts for n in part) for count in counts for parts in product(once, repeat=count)]


def _number(items: Iterable[Item]) -> int:
    """How many sequences of names the items expand to, counting duplicates."""
    number = 1
    for item in items:
        if isinstance(item, Choice):
            number *= sum(map(_number, item.options)) + item.optional
        elif isinstance(item, Repeat):
            once = _number([item.item])
            number *= once if item.most is None else sum(once**count for count in range(item.least, item.most + 1))
    return number


def _check(grammar: Grammar) -> None:
    """Check that quoted names have no rules and that unary rules and adapted symbols form no cycles."""
    lines = {alternative.left: alternative.line for alternative in reversed(grammar.alternatives)}
    rules = grammar.rules()
    lefts = {rule.left for rule in rules}
    for alternative in grammar.alternatives:
        for name in _quoted(alternative.items):
            if name in lefts:
                raise FormatError(grammar.name, alternative.line, "a terminal in quotes", f"{name!r}, which has rules")
    below = {left: {name for rule in rules if rule.left == left for name in rule.right} & lefts for left in lefts}
    unary = {left: {rule.right[0] for rule in rules if rule.left == left and len(rule.right) == 1} for left in lefts}
    for left in grammar.symbols:
        if left in _reached(unary, left):
            raise FormatError(
                grammar.name, lines[left], f"no unary rules from {left} back to itself", "a cycle of rules"
            )
        if left in grammar.adapted and left in _reached(below, left):
            raise FormatError(
                grammar.name, lines[left], f"no {left} inside another, since @ marks it as adapted", "a cycle of rules"
            )


def _reached(edges: Mapping[str, set[str]], start: str) -> set[str]:
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        for name in edges.get(waiting.pop(), ()):
            if name not in reached:
                reached.add(name)
                waiting.append(name)
    return reached


def _quoted(items: Iterable[Item]) -> Iterator[str]:
    for item in items:
        if isinstance(item, Symbol):
            if item.quoted:
                yield item.name
        elif isinstance(item, Repeat):
            yield from _quoted([item.item])
        else:
            for option in item.options:
                yield from _quoted(option)
