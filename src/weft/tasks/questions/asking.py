"""Questions to a graph: from typed words to suggestions and answers.

    words -> lattice of word classes, entities and values -> k best derivations -> meanings, each once -> sentences

Every suggestion is a whole sentence that says what runs. Equal meanings and equal sentences are one suggestion, the
cheaper. A suggestion without an answer costs more. While the user types, the items of words that did not change stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np

from weft.arrays import Floats
from weft.errors import ConfigError
from weft.graph.attributes import day_of
from weft.infer.agenda.kbest import Derivation, derivations
from weft.infer.agenda.lattice import Arc, Lattice
from weft.infer.agenda.search import Chart, search
from weft.tasks.questions import words
from weft.tasks.questions.execute import Answer, answer, is_empty
from weft.tasks.questions.lexicon import STOP, Lexicon, tokens_of
from weft.tasks.questions.names import LONGEST, EntityWeights, Names
from weft.tasks.questions.phrases import Costs
from weft.tasks.questions.proximity import Closeness, closeness
from weft.tasks.questions.rules import OFFERED
from weft.tasks.questions.synchronous import Filler, QuestionGrammar
from weft.tasks.questions.terms import Term, contradiction, is_typed, parts_of
from weft.tasks.questions.view import Store, View

#: Derivations looked at per suggestion, inserted content words, and what an empty answer costs.
POPS, INSERTED, EMPTY = 50, 3, 1.5
_MARGIN = 1.0
#: A reading that costs more may have its words in another order; so many words are tried.
_DEAR, _KEYWORDS = 3.0, 6
#: A reading that costs as much says more than the question did.
_SENSELESS = 6.0
_NUMBERS = {
    word: float(n)
    for n, word in enumerate(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"])
}


@dataclass(frozen=True)
class Suggestion:
    """One reading of a question: its sentence, its meaning, its cost, and what of the input it leaves out."""

    text: str
    term: Term
    cost: float
    ignored: tuple[str, ...] = ()
    rules: tuple[int, ...] = ()
    edits: int = 0


@dataclass
class Reading:
    """A lattice of typed words and what its labels stand for."""

    tokens: list[str]
    lattice: Lattice
    fillers: list[Filler]
    partial: bool


@dataclass
class Typing:
    """What is kept between the keystrokes of one user: the last chart and its words."""

    chart: Chart | None = None
    tokens: list[str] = field(default_factory=list)
    reading: Reading | None = None
    steps: int = 0


class Questions:
    """Ask a graph in plain words.

    >>> from weft.graph.store import Builder
    >>> from weft.tasks.questions.schema import inferred
    >>> builder = Builder()
    >>> for name, place, firm in (("Mara Lind", "Bergen", "Nordvik"), ("Ole Berg", "Oslo", "Nordvik")):
    ...     builder.add_all([(name, "studied in", place), (name, "works for", firm)])
    >>> graph = builder.graph()
    >>> questions = Questions(Store(graph, inferred(graph)))
    >>> best = questions.suggest("who studed in bergen and works for nordvik")[0]
    >>> best.text
    'people who studied in Bergen and who work for Nordvik'
    >>> [graph.names[node] for node in questions.answer(best.term).nodes]
    ['Mara Lind']
    """

    def __init__(
        self, store: Store, costs: Costs | None = None, weights: EntityWeights | None = None,
        values: Mapping[str, Sequence[float | str]] | None = None,
    ) -> None:  # fmt: skip
        self.store = store
        self.grammar = QuestionGrammar.of(store.schema, costs)
        self.lexicon = Lexicon(self.grammar)
        self.names = Names(store, weights)
        self._close: dict[int | None, Closeness | None] = {}
        self._views: dict[int | None, View] = {}
        self._offers: dict[tuple[int | None, str], list[int]] = {}
        #: Numbers and dates to complete a question with.
        self.values = values or {}
        grammar = self.grammar
        self._inserted = grammar.grammar.inserted(grammar.inserted)
        self._ended = grammar.grammar.inserted(grammar.ended)
        self._strict = grammar.grammar.inserted(grammar.strict)

    def user(self, name: str | None) -> int | None:
        """The node of a user's name."""
        if name is None:
            return None
        node = self.store.graph.names.find(name)
        if node < 0:
            raise ConfigError(f"the graph has no node {name!r}, so nobody of that name can ask")
        return node

    def view(self, me: int | None) -> View:
        """What a user sees."""
        if me not in self._views:
            self._views[me] = View(self.store, me)
        return self._views[me]

    def close(self, me: int | None) -> Closeness | None:
        """The neighbourhood of a user, computed once."""
        if me not in self._close:
            self._close[me] = closeness(self.view(me))
        return self._close[me]

    def suggest(
        self, text: str, me: int | None = None, k: int = 5, complete: bool = False, strict: bool = False,
        typing: Typing | None = None, empty: float = EMPTY,
    ) -> list[Suggestion]:  # fmt: skip
        """The k cheapest readings; `complete` reads the input as the beginning of a question.

        `strict` accepts what the grammar says alone: no other spelling, no word too many or too few.
        """
        reading = self.read(text, me, complete, strict, typing)
        found = self._readings(reading, me, k + 4 if k > 1 else 3, strict, typing)
        if empty:
            view = self.view(me)
            found = [
                Suggestion(each.text, each.term, each.cost + (empty if is_empty(each.term, view) else 0.0),
                           each.ignored, each.rules, each.edits)
                for each in found
            ]  # fmt: skip
            found.sort(key=lambda each: each.cost)
        return found[:k]

    def understand(self, text: str, me: int | None = None) -> tuple[Suggestion | None, list[Suggestion]]:
        """The reading of a finished question, None if it says too little of it, and other readings or suggestions.

        A reading must not leave out more content words than it takes, and must not add more than it has.
        """
        found = self.suggest(text, me, 4)
        if not found or found[0].cost > _DEAR:
            found = self._moved(text, me, found)[:4]
        content = [token for token in tokens_of(text) if token not in STOP]
        good = [each for each in found if 2 * len(each.ignored) < len(content)]
        if good and good[0].cost < _SENSELESS + sum(self.grammar.costs.word for _ in good[0].ignored):
            best = good[0]
            return best, [each for each in good[1:] if each.cost < best.cost + 1.5]
        complete = [each for each in self.suggest(text, me, 5, complete=True) if 2 * len(each.ignored) < len(content)]
        return None, complete or self._unasked(me, 5)

    def _moved(self, text: str, me: int | None, found: list[Suggestion]) -> list[Suggestion]:
        """Readings of few words, and of the same words with one of them, or one name, moved to either end.

        A rule puts its two parts in either order, but keywords may also stand between words that belong together.
        """
        tokens = tokens_of(text)
        if not 2 < len(tokens) <= _KEYWORDS:
            return found
        cost = self.grammar.costs.swapped
        cheapest = {each.term: each for each in found}
        for words_in_order in _orders(self._pieces(tokens, me)):
            for each in self.suggest(" ".join(words_in_order), me, 2):
                moved = replace(each, cost=each.cost + cost, edits=each.edits + 1)
                if each.term not in cheapest or moved.cost < cheapest[each.term].cost:
                    cheapest[each.term] = moved
        return sorted(cheapest.values(), key=lambda each: each.cost)

    def _pieces(self, tokens: Sequence[str], me: int | None) -> list[str]:
        """The words of a text, those of a name together: of overlapping names, the longest."""
        pieces, at = [], 0
        while at < len(tokens):
            end = at + 1
            for stop in range(min(len(tokens), at + LONGEST), at + 1, -1):
                if self.names.candidates(tokens[at:stop], False, self.close(me), True):
                    end = stop
                    break
            pieces.append(" ".join(tokens[at:end]))
            at = end
        return pieces

    def facts(self, node: int, me: int | None = None, most: int = 3) -> dict[str, str]:
        """What the graph says of a node, by relation and attribute, for a table."""
        view, names, found = self.view(me), self.store.graph.names, {}
        for name, relation in self.store.schema.relations.items():
            if relation.source == self.store.schema.type_of_node(node) and relation.source:
                targets = view.neighbours(name, "out", node).tolist()
                if targets:
                    more = f" and {len(targets) - most} more" if len(targets) > most else ""
                    found[name] = ", ".join(names[each] for each in targets[:most]) + more
        for name, column in self.store.columns.items():
            value = column.at(node)
            if value is not None:
                found[name] = column.text(value)
        return found

    def answer(self, term: Term, me: int | None = None, limit: int = 100) -> Answer:
        """The answer to a meaning, as a user sees it."""
        close = self.close(me)
        return answer(term, self.view(me), close.scores if close else None, limit)

    def read(
        self, text: str, me: int | None = None, complete: bool = False, strict: bool = False,
        typing: Typing | None = None,
    ) -> Reading:  # fmt: skip
        """The lattice of a text."""
        tokens = tokens_of(text)[:24]
        partial = complete and bool(text) and not text[-1].isspace()
        arcs = self.lexicon.arcs(tokens, partial, strict)
        fillers: list[Filler] = []
        labels: dict[Filler, int] = {}
        close = self.close(me)

        def label(filler: Filler) -> int:
            if filler not in labels:
                labels[filler] = len(fillers)
                fillers.append(filler)
            return labels[filler]

        named: set[int] = set()
        symbols = self.grammar.symbols
        for i in range(len(tokens)):
            for j in range(i + 1, min(len(tokens), i + LONGEST) + 1):
                ends = partial and j == len(tokens)
                for each in self.names.candidates(_singular(tokens[i:j], self.names), ends, close, not strict):
                    symbol = symbols.get(f"{{entity:{each.type}}}")
                    if symbol is not None:
                        name = self.store.graph.names[each.node]
                        arcs.append(Arc(symbol, i, j, each.cost, label((("entity", each.node), name))))
                        named.update(range(i, j))
            for kind, value, width in _values(tokens, i):
                symbol = symbols.get(f"{{{kind}}}")
                if symbol is not None:
                    arcs.append(Arc(symbol, i, i + width, 0.0, label(((kind, value), _shown(value)))))
        costs = self.grammar.costs
        skips = [costs.stop_word / 2 if token == "," else costs.stop_word if token in STOP else costs.word
                 for token in tokens]  # fmt: skip
        if strict:
            skips = [np.inf if token not in ("a", "the", "an") else 0.0 for token in tokens]
        return Reading(tokens, Lattice.of(arcs, skips), fillers, complete)

    def chart(
        self, reading: Reading, strict: bool = False, weights: Floats | None = None, typing: Typing | None = None
    ) -> Chart:
        """The items of a reading; with `typing`, those of words that the last input began with are taken from it."""
        grammar, inserted = self.grammar, self._strict if strict else self._inserted
        ended = self._ended if reading.partial else None
        if typing is None:
            return search(grammar.grammar, reading.lattice, grammar.goal, inserted, ended, _MARGIN, weights)
        same = 0
        while same < min(len(reading.tokens), len(typing.tokens)) and reading.tokens[same] == typing.tokens[same]:
            same += 1
        earlier = (typing.chart, same) if typing.chart is not None and same else None
        chart = search(
            grammar.grammar, reading.lattice, grammar.goal, inserted, ended, weights=weights, bounds=False,
            earlier=earlier,
        )  # fmt: skip
        typing.chart, typing.tokens, typing.reading, typing.steps = chart, reading.tokens, reading, chart.steps
        return chart

    def _readings(
        self, reading: Reading, me: int | None, k: int, strict: bool, typing: Typing | None,
    ) -> list[Suggestion]:  # fmt: skip
        if not reading.tokens:
            return self._unasked(me, k) if reading.partial else []
        chart = self.chart(reading, strict, None, typing)
        if chart.best == np.inf:
            return []
        found: list[Suggestion] = []
        terms: set[Term] = set()
        texts: set[str] = set()
        for cost, tree in islice(derivations(chart), POPS * k):
            suggestion = self._suggestion(cost, tree, reading, me)
            if suggestion is None or suggestion.term in terms or suggestion.text in texts:
                continue
            terms.add(suggestion.term)
            texts.add(suggestion.text)
            found.append(suggestion)
            if len(found) == k:
                break
        return found

    def _suggestion(self, cost: float, tree: Derivation, reading: Reading, me: int | None) -> Suggestion | None:
        arcs, edits, content = reading.lattice.arcs, 0, 0
        ignored: set[int] = set(range(len(reading.tokens)))
        for leaf in tree.leaves():
            if leaf.arc >= 0:
                arc = arcs[leaf.arc]
                ignored -= set(range(arc.begin + arc.skipped, arc.end))
            else:
                edits += 1
                of = self.grammar.classes.get(self.grammar.names[leaf.symbol])
                content += of is not None and of.content
        left_out = tuple(reading.tokens[at] for at in sorted(ignored) if reading.tokens[at] not in STOP)
        if content > INSERTED:
            return None

        def filler(leaf: Derivation) -> Filler | None:
            if leaf.arc >= 0:
                label = arcs[leaf.arc].label
                return reading.fillers[label] if label >= 0 else None
            return self.offered(self.grammar.names[leaf.symbol], me)

        term = self.grammar.meaning(tree, filler)
        if term is None or not is_typed(term, self.store.schema) or contradiction(term, self.store.schema):
            return None
        if me is None and any(part[0] == "me" for part in parts_of(term)):
            return None
        edits += len(ignored)
        return Suggestion(self.grammar.display(tree, filler), term, cost, left_out, tuple(tree.rules()), edits)

    def offered(self, name: str, me: int | None) -> Filler | None:
        """What a slot at the end of unfinished input is offered: entities close to the user, then large ones."""
        if not name.startswith("{offer:"):
            return None
        _, kind, rank = name.strip("{}").split(":")
        if kind in ("number", "date"):
            values = self.values.get(kind, ())
            return ((kind, values[int(rank)]), _shown(values[int(rank)])) if int(rank) < len(values) else None
        key = (me, kind)
        if key not in self._offers:
            members = self.store.members.get(kind, np.zeros(0, dtype=np.int32))
            near = self.close(me)
            scores = near.scores if near else {}
            number = list(self.store.schema.types).index(kind)
            own = [node for node in scores if self.store.schema.node_types[node] == number]
            ranked = sorted(own, key=lambda node: -scores[node])[:OFFERED]
            degrees = self.store.degrees[members]
            for node in members[np.argsort(-degrees, kind="stable")[: 2 * OFFERED]].tolist():
                if node not in ranked and node != me:
                    ranked.append(node)
            self._offers[key] = ranked[:OFFERED]
        offers = self._offers[key]
        if int(rank) >= len(offers):
            return None
        node = offers[int(rank)]
        return ("entity", node), self.store.graph.names[node]

    def _unasked(self, me: int | None, k: int) -> list[Suggestion]:
        """What may be asked at all, for empty input."""
        found: dict[str, Suggestion] = {}
        for kind in self.store.schema.types.values():
            for start in ("my ", kind.plural + " ", ""):
                if len(found) < k and start and (me is not None or start != "my "):
                    for each in self.suggest(start, me, 2, complete=True):
                        found.setdefault(each.text, each)
        return list(found.values())[:k]


def _orders(pieces: Sequence[str]) -> Iterator[list[str]]:
    """The orders in which one piece stands at the beginning or at the end instead.

    >>> [" ".join(order) for order in _orders(["bergen", "people", "live"])]
    ['people live bergen', 'bergen live people', 'people bergen live', 'live bergen people']
    """
    seen = {tuple(pieces)}
    for at, piece in enumerate(pieces):
        rest = [*pieces[:at], *pieces[at + 1 :]]
        for order in ((*rest, piece), (piece, *rest)):
            if order not in seen:
                seen.add(order)
                yield list(order)


def _singular(tokens: Sequence[str], names: Names) -> list[str]:
    """The tokens, the last one in the singular if names know that alone: shipping companies."""
    last = tokens[-1]
    if last not in names.known and last.endswith("s"):
        for singular in (
            last[:-3] + "y" if last.endswith("ies") else "",
            last[:-2] if last.endswith("es") else "",
            last[:-1],
        ):
            if singular and singular in names.known and words.plural(singular) == last:
                return [*tokens[:-1], singular]
    return list(tokens)


def _values(tokens: Sequence[str], at: int) -> Iterator[tuple[str, float | str, int]]:
    """The numbers and dates that begin with a token: kind, value and how many tokens."""
    token = tokens[at]
    if token in _NUMBERS:
        yield "number", _NUMBERS[token], 1
    elif re.fullmatch(r"\d+(\.\d+)?", token):
        width = 2 if at + 1 < len(tokens) and tokens[at + 1] in ("cm", "km", "m", "kg", "years") else 1
        yield "number", float(token), width
    if re.fullmatch(r"\d{4}(-\d\d?){0,2}", token) and day_of(token) is not None:
        yield "date", token, 1


def _shown(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"
