"""The log-linear model of time phrases: features of partial derivations, and the times of the best ones.

    lexical     <V, w>, <V, n-gram>            a preterminal V and the words under it
    Nil         <w, top>, <w, type>, bias      the words of a Nil span and what it is absorbed by
    bracket     <f, top, top>, <type, type>    a function and the outermost functions of its arguments
    root        valid or not; how it is printed; its unit and how far from the reference time it lies

Values of derivations are computed once per distinct value and grounded once per reference time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Bools, Floats, Ints
from weft.infer.forests.kbest import Derivations, Leaves, Scores, kbest
from weft.kernel import kernel
from weft.learn.latent.losses import softmax
from weft.tasks.time.calendar import UNITS, NoTime
from weft.tasks.time.grammar import (
    FUNCTIONS,
    TYPE_NAMES,
    Meaning,
    Preterminal,
    combine,
    grammar,
    nil,
    preterminals,
    word_preterminals,
)  # fmt: skip
from weft.tasks.time.ground import Convention, ground, period_seconds
from weft.tasks.time.numbers import Number
from weft.tasks.time.timex import print_duration, print_open, print_range, print_sequence
from weft.tasks.time.tokens import Piece
from weft.tasks.time.values import Duration, Named, Range, Relative
from weft.tasks.time.values import Sequence as Repeating

#: The most pieces that one preterminal covers.
WIDEST = 3
#: How a root is printed: as a time, as what repeats, or as a unit with an open number (weeks: PXW).
GROUNDED, REPEATED, OPEN = MODES = range(3)
_GAPS = 9
#: Derivations whose values are computed per answer asked for; if none is a time, all are.
FEW = 12


@dataclass(frozen=True)
class Layout:
    """Where the features of each template begin in the vector of weights."""

    grams: int

    @property
    def tops(self) -> int:
        return grammar().tops

    @property
    def begins(self) -> tuple[int, ...]:
        """Begins of lexical, absorbed top, absorbed type, pairs, types, bias, roots, printed words; then the end."""
        tops, types, symbols = self.tops, len(TYPE_NAMES), len(preterminals())
        sizes = (
            self.grams * symbols, self.grams * tops, self.grams * types, len(FUNCTIONS) * tops * tops, types * types,
            1, 2 + len(MODES) * tops + (len(UNITS) + 1) * _GAPS, len(MODES) * self.grams,
        )  # fmt: skip
        return (0, *np.cumsum(sizes).tolist())


@dataclass(frozen=True)
class Phrase:
    """A phrase as the kernels see it: numbers of its n-grams by start and width, and which numbers it has."""

    pieces: tuple[Piece, ...]
    grams: Ints
    open: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.pieces)


@dataclass(frozen=True)
class Answer:
    """A time that a phrase may denote: its value, probability, and the best derivation that gives it."""

    value: str
    probability: float
    derivation: str


class Answers:
    """Candidates of a phrase: one per derivation and way of printing it."""

    def __init__(
        self, model: TimeModel, phrase: Phrase, leaves: Leaves, derivations: Derivations, now: datetime
    ) -> None:
        self.model, self.phrase, self.leaves, self.derivations = model, phrase, leaves, derivations
        ids = model.values_of(phrase, leaves, derivations)
        words = model.words_of(phrase)
        roots, values, features = [], [], []
        self.modes: list[int] = []
        self.ids = ids
        tops = derivations.top[derivations.roots].tolist()
        for place, root in enumerate(derivations.roots.tolist()):
            for mode, value, fired in model.printed(ids[root], now):
                roots.append(place)
                values.append(value)
                self.modes.append(mode)
                features.append(model.root_features(mode, value, fired, tops[place], words))
        self.roots = np.array(roots, dtype=np.int64)
        self.values: list[str | None] = values
        self.features = features
        weights = model.weights
        own = [sum(weights[i] for i in fired) for fired in features]
        base = derivations.scores()
        self.scores: Floats = base[self.roots] + np.array(own) if roots else np.zeros(0)
        self.right: Bools = np.zeros(len(roots), dtype=np.bool_)

    def scatter(self, pull: Floats, gradient: Floats) -> Ints:
        """Add the features of candidates, times their pull, to a gradient."""
        coefficients: Floats = np.bincount(self.roots, weights=pull, minlength=len(self.derivations)).astype(np.float64)
        spread = self.derivations.spread(coefficients)
        touched = [self.model.scatter(self.phrase, self.leaves, self.derivations, spread, gradient)]
        for fired, amount in zip(self.features, pull.tolist(), strict=True):
            if amount:
                for i in fired:
                    gradient[i] += amount
                touched.append(np.array(fired, dtype=np.int64))
        places = np.concatenate(touched)
        for begin, end in self.model.off:
            gradient[places[(places >= begin) & (places < end)]] = 0.0
        return places


class TimeModel:
    """Weights, the vocabulary of n-grams, and caches of values."""

    def __init__(self, vocabulary: dict[str, int], convention: Convention, weights: Floats | None = None) -> None:
        self.vocabulary = vocabulary
        self.layout = Layout(len(vocabulary) + 1)
        self._begins = self.layout.begins
        self.convention = convention
        self.weights = np.zeros(self._begins[-1]) if weights is None else weights
        self.off: list[tuple[int, int]] = []
        self._meanings: list[Meaning] = []
        self._numbers: dict[Meaning, int] = {}
        self._combined: dict[tuple[int, int, int], int] = {}
        self._printed: dict[tuple[int, datetime], list[tuple[int, str | None, tuple[int, ...]]]] = {}

    def leave_out(self, templates: Iterable[str]) -> None:
        """Never learn some templates of features: nil, brackets, types, bias, roots, modes or gaps."""
        begins, tops = self._begins, self.layout.tops
        gaps = begins[6] + 2 + len(MODES) * tops
        places = {
            "nil": (begins[1], begins[3]), "brackets": (begins[3], begins[4]), "types": (begins[4], begins[5]),
            "bias": (begins[5], begins[6]), "modes": (begins[6] + 2, gaps), "gaps": (gaps, begins[7]),
            "valid": (begins[6], begins[6] + 2),
        }  # fmt: skip
        self.off = [places[name] for name in templates]

    @classmethod
    def begin(cls, phrases: Iterable[Sequence[Piece]], convention: Convention, least: int = 1) -> TimeModel:
        """An untrained model whose vocabulary holds the n-grams of phrases that occur often enough."""
        counts: Counter[str] = Counter()
        for pieces in phrases:
            names = [piece.name for piece in pieces]
            counts.update(names)
            for width in range(2, WIDEST + 1):
                counts.update(" ".join(names[i : i + width]) for i in range(len(names) - width + 1))
        kept = [gram for gram, count in counts.items() if " " not in gram or count >= least]
        return cls({gram: place for place, gram in enumerate(sorted(kept), 1)}, convention)

    def phrase(self, pieces: Sequence[Piece]) -> Phrase:
        """A phrase with the numbers of its n-grams; 0 is an unknown one."""
        symbols, words = preterminals(), word_preterminals()
        names = [piece.name for piece in pieces]
        grams = np.zeros((len(pieces), WIDEST), dtype=np.int64)
        for i in range(len(names)):
            for width in range(1, min(WIDEST, len(names) - i) + 1):
                grams[i, width - 1] = self.vocabulary.get(" ".join(names[i : i + width]), 0)
        can = np.zeros((len(pieces), len(symbols)), dtype=np.bool_)
        for i, piece in enumerate(pieces):
            if piece.number is None:
                can[i, :words] = True
                continue
            can[i, nil()] = True
            if not piece.number.digits:
                can[i, :words] = True
            can[i, words:] = _fits(piece.number)
        return Phrase(tuple(pieces), grams, can)

    def _tables(self) -> tuple[NDArray[np.float64], ...]:
        begins, grams, tops, types = self._begins, self.layout.grams, self.layout.tops, len(TYPE_NAMES)
        shapes: tuple[tuple[int, ...], ...] = (
            (grams, len(preterminals())), (grams, tops), (grams, types), (len(FUNCTIONS), tops, tops), (types, types),
        )  # fmt: skip
        return tuple(self.weights[begins[i] : begins[i + 1]].reshape(shape) for i, shape in enumerate(shapes))

    def parse(self, phrase: Phrase, k: int, roots: int | None = None) -> tuple[Leaves, Derivations]:
        """The k best derivations of a phrase, or fewer with `roots`."""
        lexical, tops, types, pairs, brackets = self._tables()
        bias = float(self.weights[self._begins[5]])
        leaves, rows, row_types = _leaves_of(phrase, lexical, tops, types, bias)
        rules = grammar().binary
        scores = Scores(brackets[rules[:, 0], rules[:, 1]], pairs, rows, row_types)
        return leaves, kbest(grammar(), len(phrase), leaves, scores, k, roots)

    def answers(self, phrase: Phrase, now: datetime, k: int, roots: int | None = None) -> Answers:
        """Candidate times of a phrase said at a time."""
        leaves, derivations = self.parse(phrase, k, roots)
        return Answers(self, phrase, leaves, derivations, now)

    def best(self, phrase: Phrase, now: datetime, k: int, count: int = 1) -> list[Answer]:
        """The most probable times, each once, with the sum of the probabilities of its derivations."""
        found = self.answers(phrase, now, k, min(k, FEW * count))
        if not any(found.values):
            found = self.answers(phrase, now, k)
        if not any(found.values):
            return []
        probabilities = softmax(found.scores)
        mass: dict[str, float] = {}
        first: dict[str, int] = {}
        for place in np.argsort(-found.scores, kind="stable").tolist():
            value = found.values[place]
            if value is not None:
                mass[value] = mass.get(value, 0.0) + float(probabilities[place])
                first.setdefault(value, place)
        ranked = sorted(mass, key=lambda value: (-mass[value], first[value]))[:count]
        return [Answer(value, mass[value], self.describe(found, int(found.roots[first[value]]))) for value in ranked]

    def meaning_of(self, found: Answers, place: int) -> Meaning:
        """The value of a candidate's derivation, before it is grounded."""
        number = found.ids[int(found.derivations.roots[found.roots[place]])]
        return self._meanings[number] if number >= 0 else None

    def leaves_under(self, found: Answers, place: int) -> list[int]:
        """The leaves of a candidate's derivation."""
        derivations = found.derivations
        stack, leaves = [int(derivations.roots[found.roots[place]])], []
        while stack:
            item = stack.pop()
            rule = int(derivations.rule[item])
            if rule == -1:
                leaves.append(int(derivations.left[item]))
            else:
                stack.append(int(derivations.left[item]))
                if rule >= 0:
                    stack.append(int(derivations.right[item]))
        return leaves

    def describe(self, found: Answers, place: int) -> str:
        """A derivation in one line: functions around preterminals, each with its words."""
        derivations, leaves, symbols = found.derivations, found.leaves, preterminals()
        rules = grammar().binary

        def told(item: int) -> str:
            rule, left, right = int(derivations.rule[item]), int(derivations.left[item]), int(derivations.right[item])
            if rule == -1:
                covered = found.phrase.pieces[int(leaves.start[left]) : int(leaves.end[left])]
                return f"{symbols[int(leaves.top[left])].name}[{' '.join(piece.text for piece in covered)}]"
            if rule < -1:
                return f"{told(left)}(REF)"
            return f"{FUNCTIONS[int(rules[rule, 3])]}({told(left)}, {told(right)})"

        return told(int(derivations.roots[place]))

    def words_of(self, phrase: Phrase) -> list[int]:
        """Numbers of the known words of a phrase, for features of the root."""
        return [gram for gram in phrase.grams[:, 0].tolist() if gram]

    # Values

    def _number_of(self, meaning: Meaning) -> int:
        number = self._numbers.get(meaning)
        if number is None:
            number = self._numbers[meaning] = len(self._meanings)
            self._meanings.append(meaning)
        return number

    def values_of(self, phrase: Phrase, leaves: Leaves, derivations: Derivations) -> list[int]:
        """The number of the value of every item; -1 if it has none."""
        symbols, combined = preterminals(), self._combined
        tops, starts = leaves.top, leaves.start
        ids: list[int] = []
        for rule, left, right in zip(
            derivations.rule.tolist(), derivations.left.tolist(), derivations.right.tolist(), strict=True
        ):
            if rule == -1:
                symbol, piece = symbols[tops[left]], phrase.pieces[starts[left]]
                ids.append(self._number_of(symbol.meaning(piece.number)))
                continue
            a, b = ids[left], ids[right] if right >= 0 else 0
            if a < 0 or b < 0:
                ids.append(-1)
                continue
            key = (rule, a, b)
            number = combined.get(key)
            if number is None:
                try:
                    number = self._number_of(combine(rule, self._meanings[a], self._meanings[b]))
                except NoTime:
                    number = -1
                combined[key] = number
            ids.append(number)
        return ids

    def forget(self) -> None:
        """Ground everything anew, after the convention has changed."""
        self._printed.clear()

    def printed(self, number: int, now: datetime) -> list[tuple[int, str | None, tuple[int, ...]]]:
        """The ways to print a value: mode, TIMEX3 value or None, and features of its place."""
        if number < 0:
            return [(GROUNDED, None, ())]
        found = self._printed.get((number, now))
        if found is None:
            if len(self._printed) > 200_000:
                self._printed.clear()
            found = self._printed[number, now] = self._print(self._meanings[number], now)
        return found

    def _print(self, meaning: Meaning, now: datetime) -> list[tuple[int, str | None, tuple[int, ...]]]:
        if isinstance(meaning, Duration):
            own: list[tuple[int, str | None, tuple[int, ...]]] = [(GROUNDED, print_duration(meaning), ())]
            if not meaning.approximate and len(meaning.amounts) == 1 and meaning.amounts[0][1] == 1:
                own.append((OPEN, print_duration(meaning.vague()), ()))
            return own
        assert isinstance(meaning, Named | Relative | Repeating)
        found: list[tuple[int, str | None, tuple[int, ...]]] = []
        try:
            range_ = ground(meaning, now, self.convention)
            if isinstance(range_, Named):
                return [(GROUNDED, range_.name, ())]
            found.append((GROUNDED, print_range(range_), (_gap(range_, now),)))
        except NoTime:
            found.append((GROUNDED, None, ()))
        if isinstance(meaning, Repeating):
            for mode in (REPEATED, OPEN):
                try:
                    text = print_sequence(meaning) if mode == REPEATED else print_open(meaning, now)
                    found.append((mode, text, ()))
                except NoTime:
                    continue
        return found

    def root_features(
        self, mode: int, value: str | None, fired: tuple[int, ...], top: int, words: list[int]
    ) -> list[int]:
        """Places of the features of a root."""
        begin, tops = self._begins[6], self.layout.tops
        found = [begin + (value is not None), begin + 2 + mode * tops + top]
        found += [begin + 2 + len(MODES) * tops + gap for gap in fired]
        if mode:
            found += [self._begins[7] + mode * self.layout.grams + word for word in words]
        return found

    def scatter(
        self, phrase: Phrase, leaves: Leaves, derivations: Derivations, spread: Floats, gradient: Floats
    ) -> Ints:
        """Add the features of items, times what each got, to a gradient; returns the places touched."""
        begins = np.array(self._begins, dtype=np.int64)
        touched = np.empty(len(spread) * (8 * WIDEST + 4), dtype=np.int64)
        count = _scatter(
            phrase.grams, leaves.start, leaves.end, leaves.top, derivations.rule, derivations.left, derivations.right,
            derivations.type, derivations.top, derivations.row, grammar().binary, spread, begins, len(preterminals()),
            self.layout.tops, len(TYPE_NAMES), nil(), gradient, touched,
        )  # fmt: skip
        return touched[:count]

    def derivations_told(self) -> dict[str, Any]:
        """Sizes, for reports."""
        return {"n-grams": len(self.vocabulary), "weights": int(np.count_nonzero(self.weights))}


@lru_cache(maxsize=10_000)
def _fits(number: Number) -> tuple[bool, ...]:
    """Which preterminals of numbers a number may be."""

    def fits(symbol: Preterminal) -> bool:
        try:
            symbol.meaning(number)
        except NoTime:
            return False
        return True

    return tuple(fits(symbol) for symbol in preterminals()[word_preterminals() :])


def _gap(range_: Range, now: datetime) -> int:
    """A feature of a range's unit and of how many units it lies from now."""
    size = period_seconds(range_.unit)
    gap = (range_.begin - now).total_seconds() / size + 0.5
    place = 0 if gap < -20 else 1 if gap < -3 else 7 if gap >= 4 else 8 if gap >= 21 else int(gap // 1) + 4
    return UNITS.index(range_.unit) * _GAPS + min(max(place, 0), _GAPS - 1)


def _leaves_of(
    phrase: Phrase, lexical: NDArray[np.float64], tops: NDArray[np.float64], types: NDArray[np.float64], bias: float
) -> tuple[Leaves, NDArray[np.float64], NDArray[np.float64]]:
    n, symbols = len(phrase), len(preterminals())
    most = n * symbols + n * (WIDEST - 1) * word_preterminals()
    ints = np.empty((6, most), dtype=np.int64)
    score = np.empty(most)
    rows, row_types = np.zeros((n * WIDEST, tops.shape[1])), np.zeros((n * WIDEST, types.shape[1]))
    count = _fill_leaves(
        phrase.grams, phrase.open, _symbol_types(), _symbol_bits(), word_preterminals(), nil(), lexical, tops, types,
        bias, ints, score, rows, row_types,
    )  # fmt: skip
    start, end, kind, top, bits, row = (np.ascontiguousarray(column[:count]) for column in ints)
    return Leaves(start, end, kind, top, bits, row, score[:count]), rows, row_types


@lru_cache(maxsize=1)
def _symbol_types() -> Ints:
    return np.array([symbol.type for symbol in preterminals()], dtype=np.int64)


@lru_cache(maxsize=1)
def _symbol_bits() -> Ints:
    return np.array([symbol.bits for symbol in preterminals()], dtype=np.int64)


@kernel
def _fill_leaves(
    grams: Ints, can: Bools, kinds: Ints, bits: Ints, words: int, nil_symbol: int, lexical: NDArray[np.float64],
    tops: NDArray[np.float64], types: NDArray[np.float64], bias: float, ints: Ints, score: Floats,
    rows: NDArray[np.float64], row_types: NDArray[np.float64],
) -> int:  # fmt: skip
    n = len(grams)
    count = row = 0
    for i in range(n):
        for width in range(1, grams.shape[1] + 1):
            if i + width > n:
                break
            gram = grams[i, width - 1]
            for symbol in range(len(kinds)):
                if width == 1:
                    if not can[i, symbol]:
                        continue
                elif symbol >= words or (gram == 0 and symbol != nil_symbol):
                    continue
                total = 0.0
                for w in range(i, i + width):
                    if grams[w, 0] > 0:
                        total += lexical[grams[w, 0], symbol]
                if width > 1 and gram > 0:
                    total += lexical[gram, symbol]
                own_row = -1
                if symbol == nil_symbol:
                    total += bias
                    own_row = row
                    for w in range(i, i + width + 1):
                        at = grams[w, 0] if w < i + width else (gram if width > 1 else 0)
                        if at > 0:
                            for t in range(tops.shape[1]):
                                rows[row, t] += tops[at, t]
                            for t in range(types.shape[1]):
                                row_types[row, t] += types[at, t]
                    row += 1
                ints[0, count], ints[1, count], ints[2, count] = i, i + width, kinds[symbol]
                ints[3, count], ints[4, count], ints[5, count] = symbol, bits[symbol], own_row
                score[count] = total
                count += 1
    return count


@kernel
def _scatter(
    grams: Ints, starts: Ints, ends: Ints, leaf_tops: Ints, rule: Ints, left: Ints, right: Ints, kinds: Ints,
    item_tops: Ints, item_rows: Ints, binary: Ints, spread: Floats, begins: Ints, symbols: int, tops: int, types: int,
    nil_symbol: int, gradient: Floats, touched: Ints,
) -> int:  # fmt: skip
    count = 0
    for item in range(len(rule)):
        c = spread[item]
        if c == 0.0 or rule[item] < -1:
            continue
        if rule[item] == -1:
            leaf = left[item]
            i, j = starts[leaf], ends[leaf]
            for w in range(i, j + 1):
                gram = grams[w, 0] if w < j else (grams[i, j - i - 1] if j - i > 1 else 0)
                if gram > 0:
                    place = gram * symbols + leaf_tops[leaf]
                    gradient[place] += c
                    touched[count] = place
                    count += 1
            if leaf_tops[leaf] == nil_symbol:
                gradient[begins[5]] += c
                touched[count] = begins[5]
                count += 1
            continue
        a, b = left[item], right[item]
        place = begins[3] + (binary[rule[item], 3] * tops + item_tops[a]) * tops + item_tops[b]
        gradient[place] += c
        touched[count] = place
        place = begins[4] + binary[rule[item], 0] * types + binary[rule[item], 1]
        gradient[place] += c
        touched[count + 1] = place
        count += 2
        for side in range(2):
            child, other = (a, b) if side == 0 else (b, a)
            if item_rows[child] < 0:
                continue
            leaf = left[child]
            i, j = starts[leaf], ends[leaf]
            for w in range(i, j + 1):
                gram = grams[w, 0] if w < j else (grams[i, j - i - 1] if j - i > 1 else 0)
                if gram > 0:
                    place = begins[1] + gram * tops + item_tops[other]
                    gradient[place] += c
                    touched[count] = place
                    place = begins[2] + gram * types + kinds[other]
                    gradient[place] += c
                    touched[count + 1] = place
                    count += 2
    return count
