"""Systems in a generated world: what they find, what they explain, and what more text brings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from weft.lexical.harvest.clauses import RELATIONS
from weft.lexical.harvest.harvest import Harvest
from weft.lexical.harvest.knowledge import Cleaning, Knowledge
from weft.recipes.semantics.metaphor_knowledge.scores import Score, best_threshold, precise_threshold
from weft.recipes.semantics.metaphor_knowledge.world import Amounts, Clause, Copula, World
from weft.tasks.metaphor.baselines import Preferences
from weft.tasks.metaphor.readings import Reader, Thresholds

#: Systems of "x is a y": their thresholds, None for the taxonomy.
COPULAS: dict[str, Thresholds | None] = {
    "KZ (taxonomy)": None,
    "ours, printed odds and delta": Thresholds(odds="printed"),
    "ours, printed odds, delta chosen": Thresholds(odds="printed"),
    "ours, without derived pairs": Thresholds(generalize=False),
    "ours": Thresholds(),
}
#: The printed delta, P(metaphor) / P(isA) among copulas of the world: 20,000 to 100,000.
PRINTED = 0.2
#: Systems of nouns with verbs that read a knowledge base.
READERS: dict[str, Thresholds] = {
    "ours, without derived pairs": Thresholds(generalize=False),
    "ours, without literal readings": Thresholds(literal="none"),
    "ours, concepts alone are literal": Thresholds(literal="concepts"),
    "ours, contexts of words": Thresholds(contexts="words"),
    "ours": Thresholds(),
}
CLAUSES = ("SA", "CP", "VH (net of properties)", *READERS)
#: The share of words that a taxonomy made by hand knows: the paper found 33 of 200 in WordNet, 2 of them with the pair.
COVERAGE = 0.35
#: The precision at which the recall of growing texts is compared, in per cent.
PRECISION = 75.0
BANDS = ("weak", "middle", "strong")


class Tests(NamedTuple):
    """Sentences to choose thresholds on, and others to report."""

    dev: list[Any]
    test: list[Any]

    def gold(self, part: str) -> list[bool]:
        return [each.metaphor for each in getattr(self, part)]


@dataclass
class Outcome:
    """What one seed gives: scores by system, explanations, growth, scores by strength of the verb."""

    copulas: dict[str, Score] = field(default_factory=dict)
    clauses: dict[str, Score] = field(default_factory=dict)
    explained: dict[str, dict[str, float]] = field(default_factory=dict)
    growth: dict[float, dict[str, float]] = field(default_factory=dict)
    bands: dict[str, dict[str, float]] = field(default_factory=dict)
    strengths: list[float] = field(default_factory=list)


def run_world(seed: int, amounts: Amounts, shares: Sequence[float], tests: int, cutoff: int = 5) -> Outcome:
    """All systems in the world of a seed, with growing shares of its text."""
    world, outcome = World(seed), Outcome()
    copulas = Tests(world.copula_tests(tests), world.copula_tests(tests))
    clauses = Tests(world.clause_tests(tests), world.clause_tests(tests))
    harvest, reached = Harvest(), 0.0
    for share in shares:
        for doc in world.docs(amounts.times(share - reached)):
            harvest.add(doc)
        reached = share
        known = Knowledge.of(harvest, Cleaning(copulas=cutoff))
        reader = Reader(known)
        type_1, _ = _decided(copulas, _copula_margin(reader))
        margins = np.array([_margin(reader)(each) for each in clauses.dev])
        others, _ = _decided(clauses, _margin(reader), precise_threshold(margins, clauses.gold("dev"), PRECISION))
        outcome.growth[share] = {
            "pairs": float(known.pairs.nnz), "isA pairs": float(known.isa.nnz),
            "type 1 P": type_1.precision, "type 1 R": type_1.recall,
            "types 2/3 P": others.precision, "types 2/3 R": others.recall,
        }  # fmt: skip
    _copula_systems(outcome, world, known, copulas, seed)
    _clause_systems(outcome, world, known, clauses, seed)
    harvest.close()
    return outcome


def _decided(tests: Tests, margin: Callable[[Any], float], threshold: float | None = None) -> tuple[Score, list[bool]]:
    """Scores on the test sentences with the threshold that is best on the others, or a given one."""
    if threshold is None:
        threshold = best_threshold(np.array([margin(each) for each in tests.dev]), tests.gold("dev"))
    found = [margin(each) >= threshold for each in tests.test]
    return Score.of(found, tests.gold("test")), found


def _margin(reader: Reader) -> Callable[[Clause], float]:
    return lambda each: reader.clause(each.noun, each.relation, each.verb).margin


def _copula_systems(outcome: Outcome, world: World, known: Knowledge, tests: Tests, seed: int) -> None:
    taxonomy = world.taxonomy(COVERAGE, seed)
    for name, thresholds in COPULAS.items():
        margin = _by_taxonomy(taxonomy) if thresholds is None else _copula_margin(Reader(known, thresholds))
        fixed = PRINTED if name.endswith("odds and delta") else None
        outcome.copulas[name] = _decided(tests, margin, fixed)[0]


def _by_taxonomy(taxonomy: dict[str, set[str]]) -> Callable[[Copula], float]:
    return lambda each: float(each.y not in taxonomy.get(each.x, ()))


def _copula_margin(reader: Reader) -> Callable[[Copula], float]:
    return lambda each: reader.copula(each.x, each.y).margin


def _clause_systems(outcome: Outcome, world: World, known: Knowledge, tests: Tests, seed: int) -> None:
    preferences = {relation: Preferences(known, relation) for relation in RELATIONS}
    margins: dict[str, Callable[[Clause], float]] = {
        "SA": lambda each: np.exp(-preferences[each.relation].association(each.noun, each.verb)),
        "CP": lambda each: 1.0 - known.preference(each.relation, each.noun, each.verb),
    }
    net = Reader(_net(world, known, seed))
    margins["VH (net of properties)"] = _margin(net)
    readers = {name: Reader(known, thresholds) for name, thresholds in READERS.items()}
    margins |= {name: _margin(reader) for name, reader in readers.items()}
    strengths = np.array([preferences[each.relation].strength(each.verb) for each in tests.test])
    ends = np.quantile(strengths, [1 / 3, 2 / 3])
    band = np.searchsorted(ends, strengths)
    outcome.strengths = [float(end) for end in ends]
    gold = np.array(tests.gold("test"))
    for name in CLAUSES:
        outcome.clauses[name], found = _decided(tests, margins[name])
        outcome.bands[name] = {
            label: Score.of(np.array(found)[band == k].tolist(), gold[band == k].tolist()).f1
            for k, label in enumerate(BANDS)
        }
    for name, reader in (("VH (net of properties)", net), ("ours", readers["ours"])):
        outcome.explained[name] = _explained(world, reader, tests.test)


def _net(world: World, known: Knowledge, seed: int) -> Knowledge:
    """The knowledge base with the pairs of a net of shared properties in place of the harvested metaphors."""
    from scipy.sparse import csr_matrix

    members = [
        [known.number[word] for word in (world.names[c], *own) if word in known.number]
        for c, own in enumerate(world.words)
    ]
    pairs = [(x, y) for a, b in world.neighbours(seed) for x in members[a] for y in members[b] if x != y]
    rows, columns = np.array(pairs).T
    values = np.full(len(pairs), 1.0 / len(pairs))
    matrix = csr_matrix((values, (rows, columns)), shape=known.pairs.shape)
    return Knowledge(known.names, known.verbs, known.isa, matrix, known.contexts)


def _explained(world: World, reader: Reader, tests: Sequence[Clause]) -> dict[str, float]:
    """The share of metaphoric clauses whose best explanation, or one of the best three, is of the right concept."""
    hits: dict[str, list[bool]] = {"top 1": [], "top 3": [], "unseen, top 1": []}
    for each in tests:
        if not each.metaphor:
            continue
        readings = reader.clause(each.noun, each.relation, each.verb).readings[:3]
        right = [reading.kind == each.kind and world.is_of(reading.other, each.other) for reading in readings]
        hits["top 1"].append(any(right[:1]))
        hits["top 3"].append(any(right))
        if each.unseen:
            hits["unseen, top 1"].append(any(right[:1]))
    return {name: 100 * float(np.mean(own)) for name, own in hits.items()}
