"""What the knowledge bases are compared with: preferences of verbs, and a taxonomy.

SA   selectional association A(C,x) = P(x|C) log(P(x|C) / P(x)) / S(C) below alpha, S(C) = KL(P(x|C) || P(x))
CP   context preference P_r(C|x) below beta
KZ   "x is a y" where a taxonomy does not list y above x
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats
from weft.lexical.harvest.knowledge import Knowledge

ALPHA, BETA = 1e-4, 1e-5


class Preferences:
    """Strengths and associations of the verbs of a knowledge base with nouns, for one relation.

    >>> from weft.lexical.harvest.harvest import Harvest
    >>> harvest = Harvest()
    >>> harvest.add_isa([("dog", "animal", 2), ("car", "vehicle", 2)])
    >>> for noun, verb, count in [("dog", "bark", 8), ("dog", "move", 2), ("car", "move", 10)]:
    ...     harvest.counts["subject"].add(noun, verb, count)
    >>> bark = Preferences(Knowledge.of(harvest), "subject")
    >>> round(bark.strength("bark"), 3), round(bark.association("dog", "bark"), 3), bark.association("car", "bark")
    (0.693, 1.0, 0.0)
    """

    def __init__(self, knowledge: Knowledge, relation: str) -> None:
        self.knowledge = knowledge
        counts = knowledge.contexts[relation].astype(np.float64)
        total = max(float(counts.sum()), 1.0)
        self.priors: Floats = np.asarray(counts.sum(axis=1)).reshape(-1) / total
        self._by_verb = counts.T.tocsr()
        self._strengths: dict[str, float] = {}

    def strength(self, verb: str) -> float:
        """S(C): how strongly a verb restricts its nouns, in nats; 0 for an unknown one."""
        if verb not in self._strengths:
            nouns, shares = self._shares(verb)
            self._strengths[verb] = float(np.sum(shares * np.log(shares / self.priors[nouns]))) if len(nouns) else 0.0
        return self._strengths[verb]

    def association(self, noun: str, verb: str) -> float:
        """A(C,x): the noun's part of the strength; 0 if they were never seen together."""
        i, (nouns, shares) = self.knowledge.number.get(noun), self._shares(verb)
        at = np.flatnonzero(nouns == (-1 if i is None else i))
        strength = self.strength(verb)
        if not len(at) or strength <= 0:
            return 0.0
        share = float(shares[at[0]])
        return share * float(np.log(share / self.priors[i])) / strength

    def _shares(self, verb: str) -> tuple[NDArray[np.int64], Floats]:
        k = self.knowledge.verb_number.get(verb)
        if k is None:
            return np.zeros(0, dtype=np.int64), np.zeros(0)
        inside = slice(self._by_verb.indptr[k], self._by_verb.indptr[k + 1])
        counts = self._by_verb.data[inside]
        return self._by_verb.indices[inside], counts / max(float(counts.sum()), 1.0)


def by_association(preferences: Preferences, noun: str, verb: str, alpha: float = ALPHA) -> bool:
    """SA: a metaphor if the association is below a threshold."""
    return preferences.association(noun, verb) < alpha


def by_preference(knowledge: Knowledge, relation: str, noun: str, verb: str, beta: float = BETA) -> bool:
    """CP: a metaphor if the verb is improbable with the noun."""
    return knowledge.preference(relation, noun, verb) < beta


def by_taxonomy(is_above: Callable[[str, str], bool | None], x: str, y: str) -> bool:
    """KZ: a metaphor unless the taxonomy lists y above x; what it does not know counts as not listed."""
    return not is_above(x, y)
