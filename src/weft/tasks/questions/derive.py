"""From a meaning back to the cheapest derivation that has it: what the sentence of a meaning is.

    derive(A, t) = min over rules A -> X1 ... Xk whose meaning matches t   of  weight + sum of derive(Xi, ti)

A conjunction matches `and(0, 1)` with any one of its members as the filter; a set that is no conjunction is one with
all nodes of its type.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from weft.infer.agenda.kbest import Derivation
from weft.tasks.questions.rules import Child
from weft.tasks.questions.synchronous import Filler, QuestionGrammar
from weft.tasks.questions.terms import VALUES, Term, normal, simple, type_of

_SLOTS = ("entity", "number", "date")


class Deriver:
    """The cheapest derivations of meanings in a grammar; `names` are those of nodes."""

    def __init__(self, grammar: QuestionGrammar, names: Any) -> None:
        self.grammar, self.names = grammar, names
        self.fillers: list[Filler] = []
        self._places: dict[Term, int] = {}
        self._known: dict[tuple[str, Term], Derivation | None] = {}
        self._rules: dict[str, list[int]] = {}
        for number, rule in enumerate(grammar.rules):
            self._rules.setdefault(rule.left, []).append(number)

    def derive(self, term: Term) -> Derivation | None:
        """The cheapest derivation of a whole question with a meaning; None if the grammar cannot say it."""
        return self._best(self.grammar.names[self.grammar.goal], simple(term, self.grammar.schema), frozenset())

    def text(self, term: Term) -> str | None:
        """The sentence of a meaning."""
        tree = self.derive(term)
        return None if tree is None else self.grammar.display(tree, self.filler)

    def filler(self, leaf: Derivation) -> Filler | None:
        """What a leaf of a derivation holds."""
        return self.fillers[leaf.arc] if leaf.arc >= 0 else None

    def _best(self, symbol: str, term: Term, above: frozenset[str]) -> Derivation | None:
        key = (symbol, term)
        if key in self._known:
            return self._known[key]
        if symbol in above:
            return None
        best: Derivation | None = None
        for number in self._rules.get(symbol, ()):
            rule = self.grammar.rules[number]
            for bound in self._matches(rule.meaning, term):
                same = above | {symbol} if len(rule.right) == 1 else frozenset()
                children: list[Derivation] = []
                cost = rule.weight
                for place, name in enumerate(rule.right):
                    child = self._child(name, bound.get(place), same)
                    if child is None or (best is not None and cost + child.cost >= best.cost):
                        break
                    cost += child.cost
                    children.append(child)
                else:
                    best = Derivation(self.grammar.symbols[symbol], cost, number, children=tuple(children))
        if not above or best is not None:
            self._known[key] = best
        return best

    def _child(self, name: str, term: Term | None, above: frozenset[str]) -> Derivation | None:
        number = self.grammar.symbols[name]
        if name in self.grammar.classes:
            return Derivation(number, 0.01) if term is None else None
        if term is None:
            return None
        if name.startswith("{"):
            kind = name.strip("{}").split(":")
            fits = term[0] == kind[0] and (len(kind) == 1 or type_of(term, self.grammar.schema) == kind[1])
            return Derivation(number, 0.0, arc=self._place(term)) if fits else None
        return self._best(name, simple(term, self.grammar.schema), above)

    def _place(self, term: Term) -> int:
        if term not in self._places:
            self._places[term] = len(self.fillers)
            value = term[1]
            shown = self.names[value] if term[0] == "entity" else value if isinstance(value, str) else f"{value:g}"
            self.fillers.append((term, shown))
        return self._places[term]

    def _matches(self, template: Any, term: Any) -> Iterator[dict[int, Term]]:
        """The meanings of the children with which a rule's meaning is the term."""
        if isinstance(template, Child):
            yield {int(template): term}
            return
        if not isinstance(template, tuple):
            if template == term:
                yield {}
            return
        if template[0] == "and" and len(template) == 3:
            yield from self._conjunctions(template, term)
            return
        if not isinstance(term, tuple) or len(template) != len(term) or template[0] != term[0]:
            return
        found: list[dict[int, Term]] = [{}]
        for part, own in zip(template[1:], term[1:], strict=True):
            found = [one | other for one in found for other in self._matches(part, own)]
        yield from found

    def _conjunctions(self, template: Any, term: Any) -> Iterator[dict[int, Term]]:
        if not isinstance(term, tuple) or term[0] in (*VALUES, *_SLOTS, "all", "me"):
            return
        members = list(term[1:]) if term[0] == "and" else [term]
        kind = type_of(term, self.grammar.schema)
        for place, member in enumerate(members):
            rest = members[:place] + members[place + 1 :]
            base: Term = normal(("and", *rest)) if rest else ("all", kind)
            if rest and all(part[0] == "not" for part in rest):
                base = normal(("and", ("all", kind), *rest))
            if member[0] == "all":
                continue
            yield {int(template[1]): base, int(template[2]): member}
