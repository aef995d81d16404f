"""Adaptor grammars: probabilistic grammars that remember whole trees.

A grammar's rules have Dirichlet priors; symbols marked as adapted have Pitman-Yor restaurants whose tables are labelled
with trees (`weft.learn.adaptor.restaurants`). Learning from strings without parses draws parses in turn:

    iteration: every utterance in random order gets a new parse given all others (Metropolis-Hastings);
               every table gets a new label, from the lowest symbols up;  a and b of every restaurant are drawn anew

The first parses are drawn all at once from the grammar before anything is remembered. One sampler is one chain
(`weft.learn.adaptor.mcmc` runs several); what it needs to go on after a stop is in `state`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from weft.declared import Stored
from weft.errors import ConfigError, ModelError
from weft.formats.grammar import Grammar
from weft.infer.forests.grammar import code_grammar
from weft.infer.forests.pcfg import E_MASS, E_NEXT, E_PIECES, E_STRING, E_SYMBOL, parse_room
from weft.infer.forests.strings import number_strings
from weft.learn.adaptor import sampler as kernels
from weft.learn.adaptor.arrays import empty_restaurants, encode_all, from_below, make_scratch, no_parse
from weft.learn.adaptor.checks import check_restaurants
from weft.learn.adaptor.pitman_yor import PitmanYorPrior, log_seating, sample_parameters
from weft.learn.adaptor.reading import mark_units, parse_frozen
from weft.learn.adaptor.restaurants import (
    ACCEPTED,
    CODES,
    NEW_ENTRY,
    NEW_TABLE,
    T_COUNT,
    T_ENTRY,
    T_FIRST,
    T_SIZE,
    TRIED,
)
from weft.learn.adaptor.sampler import Utterances
from weft.storage import Arrays

#: A symbol and its children, or a terminal.
Tree = tuple[Any, ...] | str

#: Arrays of a sampler that grow with what it remembers, and the place of the first row never used.
_HALVED = ("entries", "tables", "codes", "rule_counts", "left_counts", "customers", "n_tables")
_GROWING = {"entries": NEW_ENTRY, "tables": NEW_TABLE, "hashes": NEW_TABLE, "codes": CODES}


@dataclass(frozen=True)
class AdaptorSettings:
    """How a chain moves: how often table labels are drawn anew (0: never), first parameters and their priors."""

    relabel_every: int = 1
    discount: float = 0.5
    strength: float = 1.0
    prior: PitmanYorPrior = field(default_factory=PitmanYorPrior)
    sample_parameters: bool = True
    batch_start: bool = True  # False: first parses are drawn one by one, each given those before

    def __post_init__(self) -> None:
        if not 0.0 <= self.discount < 1.0 or self.strength <= 0.0:
            raise ConfigError(
                f"a discount is at least 0 and below 1 and a strength above 0, got {self.discount} and {self.strength}"
            )
        if self.relabel_every < 0:
            raise ConfigError(
                f"the iterations between two draws of table labels must be at least 0, got {self.relabel_every}"
            )


class AdaptorGrammar:
    """One chain over the parses of a text.

    >>> from weft.formats.grammar import parse_grammar
    >>> grammar = parse_grammar("Words -> Word+\\n@Word -> Sound+\\nSound -> a | b | c | d")
    >>> model = AdaptorGrammar(grammar, [list("abcd"), list("cdab"), list("abab"), list("cd")] * 5, seed=1)
    >>> for _ in range(50):
    ...     model.step()
    >>> model.words("Word")[:2]
    [[['a', 'b'], ['c', 'd']], [['c', 'd'], ['a', 'b']]]
    """

    def __init__(
        self,
        grammar: Grammar,
        utterances: Sequence[Sequence[str]],
        settings: AdaptorSettings | None = None,
        seed: int = 0,
        start: Arrays | None = None,
    ) -> None:
        self.grammar, self.settings = grammar, settings or AdaptorSettings()
        self.coded = code_grammar(grammar)
        text, starts, self.strings = number_strings(encode_all(self.coded, utterances))
        parses = np.zeros((len(utterances), 2), dtype=np.int64)
        self.utterances = Utterances(text, starts, parses, self.strings.where, self.strings.sizes)
        self.iteration = 0
        longest = int(np.diff(starts).max())
        self._scratch = make_scratch(self.coded, longest)
        self._need = parse_room(longest, len(self.coded.symbols))
        self.restaurants = empty_restaurants(
            self.coded, len(self.strings), self.settings.discount, self.settings.strength, seed, 4 * self._need
        )
        self._per_terminal = parse_room(1, len(self.coded.symbols))
        self._from_below = from_below(self.coded)
        if start is None:
            self._begin()
        else:
            self.restore({"iteration": 0}, start)

    def _begin(self) -> None:
        """The first parses."""
        said, batch = self.utterances, self.settings.batch_start
        done = 0
        while done < len(said.parses):
            self._make_room()
            done = int(
                kernels.draw_first_parses(
                    self.coded.arrays, self.restaurants, said, done, batch, self._per_terminal, self._scratch
                )
            )
            if done < 0:
                raise no_parse(-1 - done, self.coded, said.text.terminals, said.starts)
        if batch:
            done = 0
            while done < len(said.parses):
                self._make_room()
                done = kernels.seat_parses(self.coded.arrays, self.restaurants, said, done, self._per_terminal)
            kernels.clear_all(self.restaurants)

    def step(self) -> None:
        """One iteration: all parses, all table labels (where it is their turn), all discounts and strengths."""
        arrays, said = self.coded.arrays, self.utterances
        order = np.arange(len(said.parses))
        kernels.shuffle(order, self.restaurants)
        done = 0
        while done < len(order):
            self._make_room()
            done = kernels.sweep(arrays, self.restaurants, said, order, done, self._per_terminal, self._scratch)
        self.iteration += 1
        if self.settings.relabel_every and self.iteration % self.settings.relabel_every == 0:
            self.relabel()
        if self.settings.sample_parameters:
            self.sample_parameters()

    def relabel(self) -> None:
        """Redraw the labels of all tables, from the lowest symbols up."""
        for symbol in self._from_below:
            kernels.hash_labels(self.restaurants, symbol)
            done = 0
            while done < self.restaurants.tables.shape[0]:
                self._make_room()
                done = kernels.relabel(
                    self.coded.arrays,
                    self.restaurants,
                    self.utterances,
                    symbol,
                    done,
                    self._per_terminal,
                    self._scratch,
                )

    def sample_parameters(self) -> None:
        """Draw discount and strength of every restaurant by slice sampling."""
        state = self.restaurants
        for symbol in self._from_below:
            a, b = state.discount[symbol], state.strength[symbol]
            sizes = self.table_sizes(symbol)
            if len(sizes):
                drawn = sample_parameters(sizes, a, b, self.settings.prior, state.random)
                state.discount[symbol], state.strength[symbol] = drawn

    def remove(self, u: int) -> float:
        """Take the parse of an utterance out; log P of parse and seats given all others. `insert` it to continue."""
        return float(kernels.take_out(self.coded.arrays, self.restaurants, self.utterances, u))

    def insert(self, u: int, same_seats: bool = True) -> float:
        """Put a parse that was removed back in, at the tables it had or at tables drawn anew; log P of the latter.

        Only for the same tables it does not matter what happened to other utterances between.
        """
        self._make_room()
        return float(kernels.put_in(self.coded.arrays, self.restaurants, self.utterances, u, same_seats))

    def table_sizes(self, symbol: int) -> NDArray[np.int64]:
        """Customers at the tables of a symbol."""
        tables = self.restaurants.tables[: self.restaurants.places[NEW_TABLE]]
        tables = tables[(tables[:, T_ENTRY] >= 0) & (tables[:, T_COUNT] > 0)]
        of_symbol = self.restaurants.entries[tables[:, T_ENTRY], E_SYMBOL] == symbol
        return tables[of_symbol, T_COUNT].astype(np.int64)

    def log_joint(self) -> float:
        """log P of parses and seating given discounts and strengths, the rule probabilities integrated out."""
        state = self.restaurants
        total = sum(log_seating(self.table_sizes(s), state.discount[s], state.strength[s]) for s in self.coded.adapted)
        total += float((gammaln(state.rule_counts + state.alpha) - gammaln(state.alpha)).sum())
        ruled = state.left_alpha > 0
        counts, alpha = state.left_counts[ruled], state.left_alpha[ruled]
        return total - float((gammaln(counts + alpha) - gammaln(alpha)).sum())

    def trace(self) -> dict[str, float]:
        """Statistics to monitor the chain."""
        state = self.restaurants
        figures = {"log joint": self.log_joint()}
        tried, accepted = (int(state.places[place]) for place in (TRIED, ACCEPTED))
        figures["accepted"] = accepted / tried if tried else 1.0
        for s in self.coded.adapted:
            figures[f"{self.coded.symbols[s]} tables"] = float(state.n_tables[s])
        return figures

    def rule_probabilities(self) -> NDArray[np.float64]:
        """The mean of every rule's probability given the counts, in the order of `coded.rules`."""
        state, left_of = self.restaurants, self.coded.arrays.left_of
        return (state.rule_counts + state.alpha) / (state.left_counts + state.left_alpha)[left_of]

    def ends(self, unit: str) -> NDArray[np.bool_]:
        """For every terminal of the text, whether a unit ends with it in the present parses."""
        found = np.zeros(len(self.utterances.text.terminals), dtype=np.bool_)
        symbol = self._symbol(unit)
        mark_units(self.coded.arrays, self.restaurants, self.utterances, symbol, found)
        return found

    def words(self, unit: str) -> list[list[list[str]]]:
        """The utterances cut at the ends of units in the present parses."""
        text, starts = self.utterances.text, self.utterances.starts
        names = [self.coded.terminals[t] for t in text.terminals.tolist()]
        return cut_at(names, starts, self.ends(unit))

    def tree(self, u: int) -> Tree:
        """The present parse of an utterance: nested tuples of a symbol and its children, terminals as they are."""
        arrays, state = self.coded.arrays, self.restaurants

        def built(at: int, symbol: int) -> tuple[Tree, int]:
            code = int(state.codes[at])
            if code < 0:
                return built(int(state.tables[-1 - code, T_FIRST]), symbol)[0], at + 1
            children: list[Any] = []
            at += 1
            for part in arrays.rights[arrays.right_starts[code] : arrays.right_starts[code + 1]].tolist():
                if part < 0:
                    children.append(self.coded.terminals[-1 - part])
                else:
                    child, at = built(at, part)
                    children.append(child)
            return (self.coded.symbols[symbol], *children), at

        return built(int(self.utterances.parses[u, 0]), 0)[0]

    def check(self) -> None:
        """Count everything anew from the parses; an error says what does not agree."""
        state = self.restaurants
        used = np.flatnonzero(state.tables[: state.places[NEW_TABLE], T_ENTRY] >= 0)
        codes = [state.codes[first : first + size] for first, size in self.utterances.parses]
        codes += [state.codes[row[T_FIRST] : row[T_FIRST] + row[T_SIZE]] for row in state.tables[used]]
        flat = np.concatenate(codes)
        seated = np.bincount(-1 - flat[flat < 0], minlength=len(state.tables))
        rules = np.bincount(flat[flat >= 0], minlength=len(self.coded.rules))
        counts = state.tables[used, T_COUNT]
        entries = np.bincount(state.tables[used, T_ENTRY], weights=counts, minlength=len(state.entries))
        pieces = np.bincount(state.tables[used, T_ENTRY], minlength=len(state.entries))
        symbols = state.entries[state.tables[used, T_ENTRY], E_SYMBOL]
        n = len(self.coded.symbols)
        alive = np.flatnonzero(pieces)
        pairs = {
            "customers and table sizes": (seated[used], counts),
            "rule counts": (rules, state.rule_counts),
            "counts of left sides": (
                np.bincount(self.coded.arrays.left_of, weights=rules, minlength=n), state.left_counts,
            ),
            "customers of entries": (entries[alive], state.entries[alive, E_MASS]),
            "tables of entries": (pieces[alive], state.entries[alive, E_PIECES]),
            "customers": (np.bincount(symbols, weights=counts, minlength=n), state.customers),
            "tables": (np.bincount(symbols, minlength=n), state.n_tables),
        }  # fmt: skip
        wrong = [name for name, (counted, kept) in pairs.items() if not np.array_equal(counted, kept)]
        if wrong or (counts < 1).any():
            raise ModelError(f"the restaurants disagree about {', '.join(wrong) or 'empty tables'}")

    def segment(
        self, utterances: Sequence[Sequence[str]], unit: str, best: bool = False, seed: int = 0
    ) -> NDArray[np.bool_]:
        """Ends of units in other utterances, parsed with everything as it is now: a parse drawn, or the best one."""
        state = self.restaurants
        encoded = encode_all(self.coded, utterances)
        text, starts = self.strings.look_up(encoded)
        ends = np.zeros(len(text.terminals), dtype=np.bool_)
        frozen = state._replace(random=np.array([seed], dtype=np.uint64))
        scratch = make_scratch(self.coded, int(np.diff(starts).max()))
        done = parse_frozen(self.coded.arrays, frozen, text, starts, self._symbol(unit), best, scratch, ends)
        if done < 0:
            raise no_parse(-1 - done, self.coded, text.terminals, starts)
        return ends

    def lexicon(self, unit: str) -> dict[tuple[str, ...], int]:
        """Units with the customers who ordered them, the most frequent first; for adapted symbols only."""
        state, symbol = self.restaurants, self._symbol(unit)
        entries = state.entries[: state.places[NEW_ENTRY]]
        found: dict[tuple[str, ...], int] = {}
        for entry in entries[entries[:, E_SYMBOL] == symbol]:
            first, size = self.strings.where[entry[E_STRING]], self.strings.sizes[entry[E_STRING]]
            terminals = self.utterances.text.terminals[first : first + size].tolist()
            found[tuple(self.coded.terminals[t] for t in terminals)] = int(entry[E_MASS])
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """What the chain needs to resume: a header for JSON, and arrays."""
        self._close_up()
        state = self.restaurants
        arrays: Arrays = {
            name: getattr(state, name) for name in state._fields if name not in ("heads", "touched", "logs", *_GROWING)
        }
        arrays |= {name: getattr(state, name)[: state.places[end]] for name, end in _GROWING.items()}
        arrays["parses"] = self.utterances.parses
        return {"iteration": self.iteration}, {name: array.copy() for name, array in arrays.items()}

    def sample(self) -> Arrays:
        """The present state as a sample, in half the room; what it lacks are the parses."""
        kept = {name: array for name, array in self.state()[1].items() if name != "parses"}
        return {name: array.astype(np.int32) if name in _HALVED else array for name, array in kept.items()}

    def checked(self, arrays: Arrays) -> Arrays:
        """The arrays of a sample from a file, once they fit the grammar, the utterances and one another."""
        sounds = len(self.utterances.text.terminals)
        return check_restaurants(self.coded.arrays, self.strings.sizes, Stored.of(arrays), sounds)

    def restore(self, header: dict[str, Any], arrays: Arrays) -> None:
        """Resume from a `state` of a chain with the same grammar and utterances."""
        state = self.restaurants
        known = {"customers": state.customers, "rule_counts": state.rule_counts, "parses": self.utterances.parses}
        if any(name in arrays and arrays[name].shape != own.shape for name, own in known.items()):
            raise ModelError("the state of another chain: its grammar or its utterances are not those of this one")
        heads = np.full_like(state.heads, -1)
        entries = arrays["entries"]
        used = np.flatnonzero(entries[:, E_SYMBOL] >= 0)
        followers = entries[used, E_NEXT]
        first = np.setdiff1d(used, followers[followers >= 0])
        heads[entries[first, E_STRING]] = first
        own = {
            name: np.array(arrays[name], dtype=getattr(state, name).dtype) for name in state._fields if name in arrays
        }
        self.restaurants = state._replace(heads=heads, **own)
        if "parses" in arrays:
            self.utterances.parses[:] = arrays["parses"]
        self.iteration = int(header["iteration"])

    def _symbol(self, unit: str) -> int:
        if unit not in self.coded.symbols[: self.coded.n_named]:
            raise ConfigError(f"the grammar has no symbol {unit!r}; it has {', '.join(self.grammar.symbols)}")
        return self.coded.symbols.index(unit)

    def _make_room(self) -> None:
        """See to it that the longest utterance can be parsed: codes closed up, arrays grown."""
        state = self.restaurants
        size = len(state.codes)
        if state.places[CODES] + 2 * self._need > size:
            codes = self._close_up()
            if 2 * state.places[CODES] + 2 * self._need > size:
                codes = np.concatenate([codes, np.zeros(size + 2 * self._need, dtype=np.int64)])
            state = state._replace(codes=codes)
        for name in ("entries", "tables", "hashes"):
            array = getattr(state, name)
            if state.places[_GROWING[name]] + self._need > len(array):
                more = np.zeros((len(array) + self._need, *array.shape[1:]), dtype=array.dtype)
                state = state._replace(**{name: np.concatenate([array, more])})
        self.restaurants = state

    def _close_up(self) -> NDArray[np.int64]:
        """The codes that are in use moved to the front, which changes nothing else."""
        codes = np.zeros_like(self.restaurants.codes)
        kernels.compact(self.restaurants, self.utterances.parses, codes)
        self.restaurants = self.restaurants._replace(codes=codes)
        return codes


def cut_at(
    names: Sequence[str], starts: Sequence[int] | NDArray[Any], ends: NDArray[np.bool_]
) -> list[list[list[str]]]:
    """Utterances as lists of units.

    >>> cut_at(list("abcd"), [0, 3, 4], np.array([True, False, True, True]))
    [[['a'], ['b', 'c']], [['d']]]
    """
    cut: list[list[list[str]]] = []
    for first, end in pairwise(starts):
        units: list[list[str]] = [[]]
        for p in range(int(first), int(end)):
            units[-1].append(names[p])
            if ends[p] and p + 1 < end:
                units.append([])
        cut.append(units)
    return cut
