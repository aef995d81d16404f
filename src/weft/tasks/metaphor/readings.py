"""Is it a metaphor, and of what? Decisions of Li, Zhu and Wang (2013) over a knowledge base.

    "x is a y"         in M: a metaphor; in H: literal; else a metaphor if
                       ratio      P(x,y) > delta P_H(x,y)         the same sums over both bases
                       printed    P(x,y) / (1 - P(x,y)) > delta   as in the paper: a joint probability, almost never
    x with a verb C    P(y|x,C) ~ P(x,y) P_r(C|y)     x is the target, y the source; or x the source, y the target
                       P(h|x,C) ~ P(x,h) P_r(C|h)     literal, for every concept h of x; and for x itself: P(x) P_r(C|x)
                       a metaphor if some y has P(y|x,C) >= delta P(h|x,C) for all h

How sure a decision is follows from both sides, each with half an occurrence e of a pair in the same context:
(m + e) / (m + e + delta (l + e)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats
from weft.errors import ConfigError
from weft.lexical.harvest.knowledge import REMEMBERED, Knowledge

#: Which side of the metaphor a text names: both (type 1), the source (type 2), the target (type 3).
BOTH, SOURCE, TARGET = TYPES = ("both", "source", "target")
LITERAL = "literal"
ODDS = ("ratio", "printed")
CONTEXTS = ("classes", "words")
#: What a metaphor competes with: concepts of the noun and its own uses, concepts alone (the paper), or nothing.
LITERALS = ("uses", "concepts", "none")


@dataclass(frozen=True)
class Thresholds:
    """How much more probable a metaphor must be than a literal reading, and how both are computed."""

    copula: float = 1.0  #: delta of "x is a y"
    clause: float = 1.0  #: delta of nouns with verbs
    odds: str = "ratio"
    contexts: str = "classes"
    generalize: bool = True  #: whether unseen pairs are looked for through concepts
    literal: str = "uses"  #: which literal readings compete

    def __post_init__(self) -> None:
        for name, known in (("odds", ODDS), ("contexts", CONTEXTS), ("literal", LITERALS)):
            if getattr(self, name) not in known:
                raise ConfigError(f"{name} must be one of {', '.join(known)}, got {getattr(self, name)!r}")
        for name in ("copula", "clause"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ConfigError(f"the threshold of a {name} must be at least 0, got {getattr(self, name)}")


class Reading(NamedTuple):
    """A reading of a noun with a verb: what is explicit (or literal), the other concept, and the two factors."""

    kind: str
    other: str
    pair: float  #: P(x,y) or P(x,h)
    context: float  #: P_r(C|y) or P_r(C|h)

    @property
    def score(self) -> float:
        return self.pair * self.context

    @property
    def logs(self) -> tuple[float, float, float]:
        """The logarithms to base 10 of both factors and of their product."""
        pair, context = (math.log10(value) if value > 0 else -math.inf for value in (self.pair, self.context))
        return pair, context, pair + context


class Verdict(NamedTuple):
    """A decision: whether it is a metaphor, what is explicit, how sure, by what margin, and explanations, best first.

    The margin is how many times more probable the metaphor is than the literal reading: 0 if there is none, infinite
    if nothing is known against it. A decision compares it with its threshold.
    """

    metaphor: bool
    kind: str
    probability: float
    margin: float
    readings: tuple[Reading, ...] = ()
    known: str = ""  #: of a copula: `metaphor` or `literal` if the pair itself is known, `unknown` if nothing is

    @property
    def best(self) -> Reading | None:
        return self.readings[0] if self.readings else None


class Reader:
    """Decides on pairs by a knowledge base and thresholds.

    >>> from weft.lexical.harvest.harvest import Harvest
    >>> harvest = Harvest()
    >>> harvest.add_isa([("ferrari", "sports car", 3), ("lamborghini", "sports car", 1)])
    >>> harvest.counts["simile"].add("lamborghini", "beast")
    >>> reader = Reader(Knowledge.of(harvest))
    >>> reader.copula("ferrari", "beast").metaphor, reader.copula("ferrari", "sports car").known
    (True, 'literal')
    """

    def __init__(self, knowledge: Knowledge, thresholds: Thresholds = Thresholds()) -> None:
        self.knowledge, self.thresholds = knowledge, thresholds
        self.clause = lru_cache(REMEMBERED)(self._clause)

    def copula(self, x: str, y: str) -> Verdict:
        """Whether "x is a y" is a metaphor."""
        known, by = self.knowledge, self.thresholds
        metaphoric = known.probability(x, y) if by.generalize else known.weight(x, y)
        literal = known.literal_probability(x, y)
        reading = Reading(BOTH, y, metaphoric, 1.0)
        sure = self._sure(metaphoric, literal, by.copula if by.odds == "ratio" else 1.0)
        if known.is_metaphor(x, y):
            return Verdict(True, BOTH, sure, math.inf, (reading,), "metaphor")
        if known.is_literal(x, y):
            return Verdict(False, BOTH, min(sure, 0.5), 0.0, (), "literal")
        if not metaphoric:
            return Verdict(False, BOTH, sure if literal else 0.0, 0.0, (), "" if literal else "unknown")
        margin = _over(metaphoric, 1.0 - metaphoric if by.odds == "printed" else literal)
        return Verdict(margin > by.copula, BOTH, sure, margin, (reading,))

    def _clause(self, x: str, relation: str, verb: str) -> Verdict:
        """Whether a noun is used metaphorically with a verb, and what is the other side."""
        readings = self.readings(x, relation, verb)
        metaphors = [each for each in readings if each.kind != LITERAL and each.score > 0]
        literal = max((each.score for each in readings if each.kind == LITERAL), default=0.0)
        if self.thresholds.literal == "none":
            literal = 0.0
        if not metaphors:
            return Verdict(False, TARGET, 0.0, 0.0, (), "" if readings else "unknown")
        best = metaphors[0]
        sure = self._sure(best.score, literal, self.thresholds.clause, best.context)
        margin = _over(best.score, literal)
        return Verdict(margin >= self.thresholds.clause, best.kind, sure, margin, tuple(metaphors))

    def readings(self, x: str, relation: str, verb: str) -> list[Reading]:
        """All readings of a noun with a verb, most probable first; those that are impossible come last."""
        known, number = self.knowledge, self.knowledge.number.get(x)
        if number is None:
            return []
        classes = self.thresholds.contexts == "classes"
        found: list[Reading] = []
        for kind, (numbers, pairs) in zip((TARGET, SOURCE, LITERAL), self._candidates(number), strict=True):
            contexts = known.preferences(relation, numbers, verb, classes)
            rows = zip(numbers.tolist(), pairs.tolist(), contexts.tolist(), strict=True)
            found += [Reading(kind, known.names[k], pair, context) for k, pair, context in rows if k != number]
        if self.thresholds.literal == "uses":
            own = known.isa.data[known.isa.indptr[number] : known.isa.indptr[number + 1]]
            share = float(own.sum()) / max(known.total, 1)
            found.append(Reading(LITERAL, x, share, known.preference(relation, x, verb)))
        return sorted(found, key=lambda each: (-each.score, -each.pair, each.kind, each.other))

    def _candidates(self, number: int) -> list[tuple[NDArray[np.int64], Floats]]:
        """Sources of a noun as target, targets of it as source, and its concepts, each with probabilities."""
        known = self.knowledge
        inside = slice(known.isa.indptr[number], known.isa.indptr[number + 1])
        literal = known.isa.indices[inside].astype(np.int64), known.isa.data[inside] / max(known.total, 1)
        if self.thresholds.generalize:
            return [known.row(number), known.column(number), literal]
        direct = []
        for matrix in (known.pairs, known._pairs_t):
            own = slice(matrix.indptr[number], matrix.indptr[number + 1])
            direct.append((matrix.indices[own].astype(np.int64), matrix.data[own]))
        return [*direct, literal]

    def _sure(self, metaphoric: float, literal: float, delta: float, scale: float = 1.0) -> float:
        half = 0.5 * scale / max(self.knowledge.total, 1)
        return (metaphoric + half) / (metaphoric + half + delta * (literal + half))


def _over(metaphoric: float, literal: float) -> float:
    return metaphoric / literal if literal > 0 else math.inf
