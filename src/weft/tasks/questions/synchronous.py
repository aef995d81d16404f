"""The compiled grammar of a schema, and the three trees of an analysis: parse, display and meaning.

    accepted words  <-  derivation  ->  displayed sentence
                            |
                            v  meaning

Display features flow from the top: the subject's person and number to the verb, case to noun phrases. A sentence is
read off the rules, not off what was typed, so what is displayed is what runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weft.arrays import Floats
from weft.infer.agenda.grammar import Grammar, Rule
from weft.infer.agenda.kbest import Derivation
from weft.tasks.questions import words
from weft.tasks.questions.phrases import NEVER, Costs, WordClass
from weft.tasks.questions.rules import GOAL, OFFERED, Child, SynchronousRule, rules_of, word_classes
from weft.tasks.questions.schema import Schema
from weft.tasks.questions.terms import Term, simple

#: What a slot holds: the meaning, and how it is displayed.
Filler = tuple[Term, str]


@dataclass(frozen=True)
class QuestionGrammar:
    """Synchronous rules, word classes and their numbers in the grammar that the agenda searches."""

    schema: Schema
    costs: Costs
    rules: tuple[SynchronousRule, ...]
    classes: Mapping[str, WordClass]
    symbols: Mapping[str, int]
    names: tuple[str, ...]
    grammar: Grammar
    inserted: Floats
    ended: Floats
    strict: Floats

    @classmethod
    def of(cls, schema: Schema, costs: Costs | None = None) -> QuestionGrammar:
        """The grammar of a schema; symbols that nothing can make are left out, with the rules that use them."""
        costs = costs or Costs()
        classes = {each.symbol: each for each in word_classes(schema, costs)}
        rules = _productive(list(rules_of(schema, costs)), set(classes))
        used = dict.fromkeys([GOAL, *(name for rule in rules for name in (rule.left, *rule.right))])
        symbols = {name: number for number, name in enumerate(used)}
        plain = [
            Rule(symbols[rule.left], tuple(symbols[name] for name in rule.right), rule.weight, rule.swap)
            for rule in rules
        ]
        grammar = Grammar.of(len(symbols), plain)
        inserted, ended = np.full(len(symbols), np.inf), np.full(len(symbols), np.inf)
        for name, number in symbols.items():
            if name in classes:
                inserted[number] = classes[name].inserted
                ended[number] = min(classes[name].inserted, classes[name].ended)
            elif name.startswith("{offer:"):
                ended[number] = costs.completed_entity + 0.15 * _rank(name)
        strict = np.full(len(symbols), np.inf)
        return cls(schema, costs, tuple(rules), classes, symbols, tuple(symbols), grammar, inserted, ended, strict)

    @property
    def goal(self) -> int:
        return self.symbols[GOAL]

    def with_weights(self, weights: Floats) -> QuestionGrammar:
        """The grammar with other weights of its rules."""
        rules = tuple(replace(rule, weight=float(weight)) for rule, weight in zip(self.rules, weights, strict=True))
        plain = [replace(rule, weight=float(weight)) for rule, weight in zip(self.grammar.rules, weights, strict=True)]
        return replace(self, rules=rules, grammar=Grammar.of(len(self.symbols), plain))

    def meaning(self, tree: Derivation, fillers: Callable[[Derivation], Filler | None]) -> Term | None:
        """The meaning of a derivation in normal form; None if a slot has nothing to hold."""
        found = self._meaning(tree, fillers)
        return None if found is None else simple(found, self.schema)

    def _meaning(self, tree: Derivation, fillers: Callable[[Derivation], Filler | None]) -> Term | None:
        if tree.rule < 0:
            filler = fillers(tree)
            return filler[0] if filler else (("word",) if self.names[tree.symbol] in self.classes else None)
        parts = []
        for child in tree.children:
            part = self._meaning(child, fillers)
            if part is None:
                return None
            parts.append(part)
        term: Term = filled(self.rules[tree.rule].meaning, parts)
        return term

    def display(self, tree: Derivation, fillers: Callable[[Derivation], Filler | None]) -> str:
        """The sentence of a derivation."""
        text = self._display(tree, "nom", fillers)
        return text.replace(" 's", "'s").replace(" ,", ",")

    def _display(self, tree: Derivation, feature: str, fillers: Callable[[Derivation], Filler | None]) -> str:
        if tree.rule < 0:
            filler = fillers(tree)
            if filler is None:
                return self.classes[self.names[tree.symbol]].shown(feature)
            return _named(filler[1], feature)
        rule = self.rules[tree.rule]
        pieces = []
        conjunction = len(rule.right) == 3 and rule.right[1] in ("'and'", "', and'")
        if "'of'" in rule.right and self._is_me(tree.children[-1]) and rule.right[0].startswith(("noun:", "of:")):
            return f"my {self._display(tree.children[0], 'pl', fillers)}"
        for piece in rule.display:
            if isinstance(piece, str):
                pieces.append(piece)
                continue
            child, wanted = piece
            if conjunction and child == 1:
                pieces.append(", and" if self._is_open(tree.children[0]) else "and")
                continue
            if wanted == "^":
                wanted = feature
            elif wanted.startswith("agree"):
                how, _, subject = wanted.partition(":")
                wanted = self._agreement(tree.children[int(subject)]) + how.removeprefix("agree")
            pieces.append(self._display(tree.children[child], wanted or feature, fillers))
        return " ".join(piece for piece in pieces if piece)

    def _agreement(self, tree: Derivation) -> str:
        """Person and number of a noun phrase."""
        while tree.rule >= 0 and len(tree.children) == 1:
            tree = tree.children[0]
        name = self.names[tree.symbol]
        if name == "'me'":
            return "1sg"
        return "sg" if name.startswith(("{entity:", "{offer:")) else "pl"

    def _is_me(self, tree: Derivation) -> bool:
        while tree.rule >= 0 and len(tree.children) == 1:
            tree = tree.children[0]
        return self.names[tree.symbol] == "'me'"

    def _is_open(self, tree: Derivation) -> bool:
        """Whether a phrase ends with a noun phrase that another filter could belong to."""
        while tree.rule >= 0:
            if self.rules[tree.rule].left.startswith("FIL:") and len(tree.children) > 1:
                last = tree.children[-1]
                return any(self.rules[rule].left.startswith("FIL:") for rule in last.rules())
            tree = tree.children[-1]
        return False


def _rank(name: str) -> int:
    """The rank of an offer, such as that of `{offer:city:2}`."""
    return int(name.rsplit(":", 1)[1].rstrip("}"))


def _named(name: str, feature: str) -> str:
    if feature == "gen":
        return f"{name}'" if name.endswith("s") else f"{name}'s"
    if feature == "plural":
        return words.plural(name)
    return name


def filled(template: Any, parts: list[Any]) -> Any:
    """A meaning with those of the children in their places."""
    if isinstance(template, Child):
        return parts[template]
    if isinstance(template, tuple):
        return tuple(filled(part, parts) for part in template)
    return template


def _productive(rules: list[SynchronousRule], terminals: set[str]) -> list[SynchronousRule]:
    """The rules whose symbols can all be made and which the goal can reach."""

    def is_terminal(name: str) -> bool:
        return name in terminals or name.startswith("{")

    made: set[str] = set()
    while True:
        new = {
            rule.left for rule in rules
            if rule.left not in made and all(name in made or is_terminal(name) for name in rule.right)
        }  # fmt: skip
        if not new:
            break
        made |= new
    rules = [rule for rule in rules if all(name in made or is_terminal(name) for name in rule.right)]
    reached, waiting = {GOAL}, [GOAL]
    by_left: dict[str, list[SynchronousRule]] = {}
    for rule in rules:
        by_left.setdefault(rule.left, []).append(rule)
    while waiting:
        for rule in by_left.get(waiting.pop(), ()):
            for name in rule.right:
                if name not in reached:
                    reached.add(name)
                    waiting.append(name)
    return [rule for rule in rules if rule.left in reached]


__all__ = ["NEVER", "OFFERED", "Filler", "QuestionGrammar"]
