"""The two knowledge bases of metaphor, and the probabilities that they give.

    H (isA)       P(x|h) = n(x,h) / n(h)      P(h|x) = n(x,h) / n(x)      P(x,h) = n(x,h) / N
    M (metaphor)  similes and copulas that are no isA pairs; Pm(x,y) = n(x,y) / N of the copulas, or of the similes
                  where no copula has the pair; a concept also has the pairs of its instances:

                  Pm(h,y) = Pm(h,y itself) + sum over (x,h) in H of Pm(x,y)
    unseen pairs  P(x,y) = sum over (x,h) in H of Pm(h,y) P(x|h), at least Pm(x,y)
    contexts      P_r(C|y) = f_r(y,C) / sum over C' of f_r(y,C')

Derived pairs are never stored: a row P(x,.) or a column P(.,y) is a product of sparse matrices with one row of another
(x is the target, y the source, h a concept of x; isA is not closed transitively).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats
from weft.declared import Array, Stored
from weft.errors import ConfigError, DataError, ModelError
from weft.headers import Many, Record, Text
from weft.lexical.harvest.clauses import RELATIONS
from weft.lexical.harvest.counts import LARGEST, Row
from weft.lexical.harvest.harvest import COPULA, ISA, SIMILE, Harvest
from weft.storage import Arrays

#: Verbs of context, by frequency, as in the paper.
VERBS = 2226
#: Rows and columns that are remembered.
REMEMBERED = 4096
#: Numbers that are remembered of verbs, and of sources: each has one per name.
_NUMBERS = 2**23
_HEADER = Record(names=Many(Text(), distinct=True), verbs=Many(Text(), distinct=True))
_ARRAYS = [
    declared
    for name, columns, values in (
        (ISA, "names", Array("", "int64", ("",), low=1, below=LARGEST)),
        ("pairs", "names", Array("", "float64", ("",), within=(0.0, 1.0))),
        *((relation, "verbs", Array("", "int64", ("",), low=1, below=LARGEST)) for relation in RELATIONS),
    )
    for declared in (
        Array(f"{name}/starts", "int64", ("names+1",), offsets_of=name),
        Array(f"{name}/columns", "int32", (name,), below=columns),
        Array(f"{name}/values", values.dtypes, (name,), low=values.low, below=values.below, within=values.within),
    )
]


@dataclass(frozen=True)
class Cleaning:
    """How harvested pairs become knowledge: the cut-offs of frequency, and what cleans what."""

    copulas: int = 5  #: a copula needs this frequency to count as a metaphor
    isa: int = 1  #: an isA pair needs this frequency
    verbs: int = VERBS
    mutual: bool = True  #: pairs in the isA base are no metaphors
    expand: bool = True  #: whether copulas count besides similes

    def __post_init__(self) -> None:
        for name in ("copulas", "isa", "verbs"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")


class Knowledge:
    """Names, isA counts, metaphors with their weights, and verbs with their nouns, as sparse matrices.

    >>> harvest = Harvest()
    >>> harvest.add_isa([("ferrari", "sports car", 3), ("lamborghini", "sports car", 1)])
    >>> harvest.counts["simile"].add("lamborghini", "beast")
    >>> known = Knowledge.of(harvest)
    >>> known.typicality("ferrari", "sports car"), known.metaphoric("ferrari")
    (0.75, {'beast': 0.75})
    """

    def __init__(self, names: list[str], verbs: list[str], isa: Any, pairs: Any, contexts: dict[str, Any]) -> None:
        self.names, self.verbs = names, verbs
        self.isa, self.pairs, self.contexts = isa, pairs, contexts
        self.number = {name: i for i, name in enumerate(names)}
        self.verb_number = {verb: i for i, verb in enumerate(verbs)}
        self.row = lru_cache(REMEMBERED)(self._row)
        self.column = lru_cache(REMEMBERED)(self._column)
        vectors = min(REMEMBERED, max(8, _NUMBERS // max(len(names), 1)))
        self.of_verb = lru_cache(vectors)(self._of_verb)
        self.literal_of = lru_cache(vectors)(self._literal_of)

    @classmethod
    def of(cls, harvest: Harvest, cleaning: Cleaning = Cleaning()) -> Knowledge:
        """Clean, expand and weight what was harvested."""
        counts = harvest.counts
        isa = [row for row in counts[ISA] if row[2] >= cleaning.isa]
        literal = {row[:2] for row in isa} if cleaning.mutual else set()
        weights = _weights(
            counts[SIMILE], counts[COPULA], counts[SIMILE].total, counts[COPULA].total, literal, cleaning
        )
        if not isa and not weights:
            raise DataError(
                "the text holds neither isA pairs nor similes; harvest more of it, or give isA pairs (--isa, --wordnet)"
            )
        verbs = _frequent((row for relation in RELATIONS for row in counts[relation]), cleaning.verbs)
        known = {name for row in isa for name in row[:2]} | {name for pair in weights for name in pair}
        names = sorted(known)
        number = {name: i for i, name in enumerate(names)}
        ranks = {verb: i for i, verb in enumerate(verbs)}
        contexts = {
            relation: _matrix(
                [
                    (number[noun], ranks[verb], count)
                    for noun, verb, count in counts[relation]
                    if noun in number and verb in ranks
                ],
                (len(names), len(verbs)),
                np.int64,
            )
            for relation in RELATIONS
        }
        square = len(names), len(names)
        return cls(
            names,
            verbs,
            _matrix([(number[x], number[h], count) for x, h, count in isa], square, np.int64),
            _matrix([(number[x], number[y], weight) for (x, y), weight in weights.items()], square, np.float64),
            contexts,
        )

    # Probabilities of the isA base.

    @cached_property
    def total(self) -> int:
        """N: all occurrences of isA pairs."""
        return int(self.isa.sum())

    @cached_property
    def _by_concept(self) -> Any:
        """P(x|h), rows x."""
        return _scaled(self.isa, _inverse(self.isa.sum(axis=0)), 0)

    @cached_property
    def _by_concept_t(self) -> Any:
        return self._by_concept.T.tocsr()

    @cached_property
    def _senses_t(self) -> Any:
        """P(h|x), rows h."""
        return _scaled(self.isa, _inverse(self.isa.sum(axis=1)), 1).T.tocsr()

    @cached_property
    def _are(self) -> Any:
        """1 where (x, h) is a pair, rows x."""
        ones = self.isa.astype(np.float64)
        ones.data[:] = 1.0
        return ones

    @cached_property
    def _hold(self) -> Any:
        return self._are.T.tocsr()

    @cached_property
    def _pairs_t(self) -> Any:
        return self.pairs.T.tocsr()

    @cached_property
    def _isa_t(self) -> Any:
        """P(x,h), rows h."""
        return (self.isa.astype(np.float64) / max(self.total, 1)).T.tocsr()

    def typicality(self, x: str, h: str) -> float:
        """P(x|h): how typical an instance is of a concept."""
        return self._cell(self._by_concept, x, h)

    def concept_given(self, x: str, h: str) -> float:
        """P(h|x)."""
        return self._cell(self._senses_t, h, x)

    def joint(self, x: str, h: str) -> float:
        """P(x,h) of the isA base."""
        return self._cell(self._isa_t, h, x)

    def is_literal(self, x: str, h: str) -> bool:
        """Whether (x, h) is an isA pair."""
        return self._cell(self.isa, x, h) > 0

    def is_metaphor(self, x: str, y: str) -> bool:
        """Whether (x, y) was harvested as a metaphor."""
        return self._cell(self.pairs, x, y) > 0

    def concepts(self, x: str) -> dict[str, float]:
        """The concepts of an instance with their joint probabilities P(x,h)."""
        i = self.number.get(x)
        if i is None:
            return {}
        columns, values = _of_row(self.isa, i)
        return {self.names[h]: n / self.total for h, n in zip(columns.tolist(), values.tolist(), strict=True)}

    def _cell(self, matrix: Any, left: str, right: str) -> float:
        i, j = self.number.get(left), self.number.get(right)
        if i is None or j is None:
            return 0.0
        columns, values = _of_row(matrix, i)
        at = int(np.searchsorted(columns, j))
        return float(values[at]) if at < len(columns) and columns[at] == j else 0.0

    # Metaphors.

    def weight(self, h: str, y: str) -> float:
        """Pm(h,y), with what the instances of h add."""
        j = self.number.get(y)
        i = self.number.get(h)
        return 0.0 if i is None or j is None else float(self._weights_of(j)[i])

    def _weights_of(self, j: int) -> Floats:
        """Pm(.,y) of all concepts, as a column."""
        own = self._pairs_t[j]
        return _dense(own + own @ self._are)

    def _row(self, i: int) -> tuple[NDArray[np.int64], Floats]:
        """The sources y with P(x,y) > 0 for the target numbered i, and the probabilities."""
        typical = self._by_concept[i]
        lifted = typical @ self.pairs + (typical @ self._hold) @ self.pairs
        own = self.pairs[i] + self._hold[i] @ self.pairs
        return _nonzero(lifted.maximum(own))

    def _column(self, j: int) -> tuple[NDArray[np.int64], Floats]:
        """The targets x with P(x,y) > 0 for the source numbered j, and the probabilities."""
        from scipy.sparse import csr_matrix

        own = self._pairs_t[j]
        weights = csr_matrix(own + own @ self._are)
        return _nonzero((weights @ self._by_concept_t).maximum(weights))

    def metaphoric(self, x: str) -> dict[str, float]:
        """P(x,y) of all sources of a target."""
        return self._told(self.row, x)

    def metaphoric_of(self, y: str) -> dict[str, float]:
        """P(x,y) of all targets of a source."""
        return self._told(self.column, y)

    def _told(self, vector: Any, name: str) -> dict[str, float]:
        i = self.number.get(name)
        if i is None:
            return {}
        numbers, values = vector(i)
        return {self.names[k]: value for k, value in zip(numbers.tolist(), values.tolist(), strict=True)}

    def probability(self, x: str, y: str) -> float:
        """P(x,y): the probability of a metaphor, generalised over the concepts of x."""
        i, j = self.number.get(x), self.number.get(y)
        if i is None or j is None:
            return 0.0
        numbers, values = self.row(i)
        at = int(np.searchsorted(numbers, j))
        return float(values[at]) if at < len(numbers) and numbers[at] == j else 0.0

    def literal_probability(self, x: str, y: str) -> float:
        """P_H(x,y) of "x is a y" said literally, computed in the same way from the isA base.

        P_H(x,y) = sum over (x,h) in H of (P(h,y) + sum over (x',h) in H of P(x',y)) P(x|h)
        """
        i, j = self.number.get(x), self.number.get(y)
        if i is None or j is None:
            return 0.0
        concepts, typical = _of_row(self._by_concept, i)
        return max(float(self.literal_of(j)[concepts] @ typical), self.joint(x, y))

    def _literal_of(self, j: int) -> Floats:
        """P(h,y) and what the instances of h add, of all concepts."""
        own = self._isa_t[j]
        return _dense(own + own @ self._are)

    def materialized(self) -> Any:
        """P(x,y) of all pairs as one sparse matrix: large; for small knowledge bases and for tests."""
        weights = self.pairs + self._hold @ self.pairs
        return (self._by_concept @ weights).maximum(weights).tocsr()

    def shared_concept(self, x: str, y: str) -> str:
        """The concept of x through which most of P(x,y) comes; "" if only the pair itself is known."""
        i, j = self.number.get(x), self.number.get(y)
        if i is None or j is None:
            return ""
        concepts, typical = _of_row(self._by_concept, i)
        parts = self._weights_of(j)[concepts] * typical
        if not len(parts) or parts.max() <= 0:
            return ""
        best = np.lexsort((-_of_row(self.isa, i)[1], -parts))[0]  # of equal ones, the concept that x is called most
        return self.names[int(concepts[best])]

    # Contexts.

    def preferences(self, relation: str, nouns: NDArray[np.int64], verb: str, classes: bool = False) -> Floats:
        """P_r(C|y) of many nouns; with classes, the verbs of its instances count for a concept, times P(h|x)."""
        return self.of_verb(relation, verb, classes)[nouns]

    def _of_verb(self, relation: str, verb: str, classes: bool) -> Floats:
        """P_r(C|y) of all nouns."""
        k = self.verb_number.get(verb)
        if k is None:
            return np.zeros(len(self.names))
        uses, sums = _dense(self._by_verb[relation][k]), self._sums[relation]
        if classes:
            uses, sums = uses + self._senses_t @ uses, self._class_sums[relation]
        return np.divide(uses, sums, out=np.zeros(len(sums)), where=sums > 0)

    def preference(self, relation: str, noun: str, verb: str, classes: bool = False) -> float:
        """P_r(C|y) of one noun; 0 for one without contexts."""
        i = self.number.get(noun)
        return 0.0 if i is None else float(self.preferences(relation, np.array([i]), verb, classes)[0])

    @cached_property
    def _by_verb(self) -> dict[str, Any]:
        return {relation: counts.T.tocsr().astype(np.float64) for relation, counts in self.contexts.items()}

    @cached_property
    def _sums(self) -> dict[str, Floats]:
        return {
            relation: np.asarray(counts.sum(axis=1), dtype=np.float64).reshape(-1)
            for relation, counts in self.contexts.items()
        }

    @cached_property
    def _class_sums(self) -> dict[str, Floats]:
        return {relation: sums + self._senses_t @ sums for relation, sums in self._sums.items()}

    # Files.

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """The names, and the matrices as arrays."""
        arrays: Arrays = {}
        for name, matrix in ((ISA, self.isa), ("pairs", self.pairs), *self.contexts.items()):
            arrays |= {
                f"{name}/starts": matrix.indptr.astype(np.int64),
                f"{name}/columns": matrix.indices.astype(np.int32),
                f"{name}/values": matrix.data,
            }
        return {"names": self.names, "verbs": self.verbs}, arrays

    @classmethod
    def from_state(cls, header: dict[str, Any], stored: Stored) -> Knowledge:
        """Restore a knowledge base from a header and arrays, once both are checked."""
        from scipy.sparse import csr_matrix

        _HEADER.check(header)
        names, verbs = header["names"], header["verbs"]
        taken = stored.take(*_ARRAYS, names=len(names), verbs=len(verbs))
        matrices = {}
        for name, width in ((ISA, len(names)), ("pairs", len(names)), *((each, len(verbs)) for each in RELATIONS)):
            starts, columns = taken[f"{name}/starts"], taken[f"{name}/columns"]
            inside = np.ones(len(columns), dtype=np.bool_)
            inside[starts[:-1][starts[:-1] < len(columns)]] = False
            if bool((np.diff(columns, prepend=-1)[inside] <= 0).any()):
                raise ModelError(f"the array '{name}/columns' must rise within every row: the file is damaged")
            matrices[name] = csr_matrix((taken[f"{name}/values"], columns, starts), shape=(len(names), width))
        return cls(names, verbs, matrices[ISA], matrices["pairs"], {each: matrices[each] for each in RELATIONS})


def _weights(
    similes: Iterable[Row], copulas: Iterable[Row], n_similes: int, n_copulas: int, literal: set[Any],
    cleaning: Cleaning,
) -> dict[tuple[str, str], float]:  # fmt: skip
    """Pm of the harvested pairs: the core of similes, then copulas that are frequent enough."""
    core = {(x, y): n / n_similes for x, y, n in similes if (x, y) not in literal}
    if cleaning.expand:
        for x, y, n in copulas:
            if (x, y) in core or (n >= cleaning.copulas and (x, y) not in literal):
                core[x, y] = n / n_copulas
    return core


def _frequent(rows: Iterable[Row], most: int) -> list[str]:
    """The most frequent verbs, in alphabetical order."""
    counts: dict[str, int] = {}
    for _, verb, count in rows:
        counts[verb] = counts.get(verb, 0) + count
    return sorted(sorted(counts, key=lambda verb: (-counts[verb], verb))[:most])


def _matrix(cells: list[Any], shape: tuple[int, int], dtype: Any) -> Any:
    from scipy.sparse import csr_matrix

    rows, columns, values = zip(*cells, strict=True) if cells else ((), (), ())
    matrix = csr_matrix((np.array(values, dtype=dtype), (rows, columns)), shape=shape)
    matrix.sort_indices()
    return matrix


def _inverse(sums: Any) -> Floats:
    flat = np.asarray(sums, dtype=np.float64).reshape(-1)
    return np.divide(1.0, flat, out=np.zeros(len(flat)), where=flat > 0)


def _scaled(matrix: Any, factors: Floats, axis: int) -> Any:
    """A matrix with its columns (axis 0) or rows (axis 1) multiplied."""
    scaled = matrix.astype(np.float64)
    scaled.data *= factors[scaled.indices] if axis == 0 else np.repeat(factors, np.diff(scaled.indptr))
    return scaled


def _of_row(matrix: Any, i: int) -> tuple[NDArray[Any], NDArray[Any]]:
    inside = slice(matrix.indptr[i], matrix.indptr[i + 1])
    return matrix.indices[inside], matrix.data[inside]


def _dense(row: Any) -> Floats:
    return np.asarray(row.todense(), dtype=np.float64).reshape(-1)


def _nonzero(row: Any) -> tuple[NDArray[np.int64], Floats]:
    """The columns and values of one sparse row, in order."""
    matrix = row.tocsr()
    matrix.sum_duplicates()
    kept = matrix.data > 0
    return matrix.indices[kept].astype(np.int64), matrix.data[kept]
