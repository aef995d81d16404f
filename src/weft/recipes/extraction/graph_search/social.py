"""A generated social network: communities of about 50, power-law friends, Zipf cities, schools, companies and pages.

Names are drawn so that many people share theirs; a share of the friendships is hidden from all but the two friends.
Questions are drawn from the grammar's own rules, with entities close to the one who asks; noise drops function words,
takes wrong forms, swaps phrases and misspells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from weft.arrays import Ints
from weft.graph.store import TypedGraph
from weft.graph.strings import Strings
from weft.tasks.questions.asking import Questions
from weft.tasks.questions.rules import GOAL
from weft.tasks.questions.schema import read_schema
from weft.tasks.questions.synchronous import filled
from weft.tasks.questions.terms import Term, contradiction, is_typed, simple
from weft.tasks.questions.view import Edge, Store

SCHEMA = Path(__file__).parent / "social.toml"
_ONSETS, _VOWELS, _CODAS = (
    ["b", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "v"],
    ["a", "e", "i", "o", "u"],
    ["n", "r", "l", "s", "nd", "rt", "m", "k"],
)
_PLACES = ("city", "school", "company", "page")
_WORDS = {"city": "{}", "school": "{} College", "company": "{} Works", "page": "The {} Club"}


@dataclass(frozen=True)
class Network:
    """A generated network and its hidden friendships."""

    graph: TypedGraph
    hidden: list[Edge]
    people: int

    def store(self, hide: bool = True) -> Store:
        """The network as those see it who ask."""
        return Store(self.graph, read_schema(SCHEMA), self.hidden if hide else ())


def network(people: int = 1_000, friends: float = 10.0, seed: int = 0, hidden: float = 0.05) -> Network:
    """Generate a network."""
    draws = np.random.default_rng(seed)
    places = {kind: max(int(people**0.5 * share), 4) for kind, share in zip(_PLACES, (1.0, 0.6, 1.2, 2.0), strict=True)}
    words = _invented(3 * sum(places.values()), draws)
    names = _people(people, draws, _invented(max(people // 12, 12), draws), _invented(max(people // 6, 12), draws))
    starts = {}
    for kind, count in places.items():
        starts[kind] = len(names)
        names += [_WORDS[kind].format(words.pop().title()) for _ in range(count)]
    starts["gender"] = len(names)
    names += ["female", "male"]
    community = np.arange(people) // 50
    columns = {"friend": _friends(people, friends, community, draws)}
    everyone = np.arange(people)
    for kind, relation in (("city", "lives"), ("school", "studied"), ("company", "works"), ("page", "likes")):
        local = (community * 7919 + 31) % places[kind]
        zipf = np.minimum(draws.zipf(1.6, people) - 1, places[kind] - 1)
        chosen = np.where(draws.random(people) < 0.6, local, zipf)
        columns[relation] = np.stack([everyone, starts[kind] + chosen])
        if kind == "page":
            more = np.stack([everyone, starts[kind] + np.minimum(draws.zipf(1.5, people) - 1, places[kind] - 1)])
            columns[relation] = np.unique(np.concatenate([columns[relation], more], axis=1), axis=1)
    columns["gender"] = np.stack([everyone, starts["gender"] + draws.integers(0, 2, people)])
    types = ["", "person", *_PLACES, "gender"]
    kinds = np.ones(len(names), dtype=np.int32)
    for number, kind in enumerate((*_PLACES, "gender"), 2):
        kinds[starts[kind] :] = number
    relations = sorted(columns)
    slices = np.cumsum([0] + [columns[name].shape[1] for name in relations])
    ends = [columns[name][:, np.lexsort((columns[name][1], columns[name][0]))] for name in relations]
    sources, targets = (np.concatenate([part[row] for part in ends]).astype(np.int32) for row in (0, 1))
    graph = TypedGraph(
        Strings.of(names), types, kinds, relations, slices.astype(np.int64), sources, targets,
        np.ones(len(sources), dtype=np.float32),
    )  # fmt: skip
    pairs = columns["friend"].T
    one_way = pairs[pairs[:, 0] < pairs[:, 1]]
    chosen_pairs = one_way[draws.random(len(one_way)) < hidden] if people <= 50_000 else one_way[:0]
    secret = [edge for a, b in chosen_pairs.tolist() for edge in (("friend", a, b), ("friend", b, a))]
    return Network(graph, secret, people)


def _friends(people: int, mean: float, community: Ints, draws: np.random.Generator) -> Ints:
    """Friendships in both directions: most within a community, numbers by a power law."""
    wanted = np.minimum(draws.pareto(2.0, people) + 0.5, 20.0)
    count = np.maximum((wanted * mean / wanted.mean() / 2).round().astype(np.int64), 1)
    one = np.repeat(np.arange(people), count)
    near = community[one] * 50 + draws.integers(0, 50, len(one))
    far = draws.integers(0, people, len(one))
    other = np.where(draws.random(len(one)) < 0.7, np.minimum(near, people - 1), far)
    pairs = np.stack([one, other])[:, one != other]
    both = np.concatenate([pairs, pairs[::-1]], axis=1)
    keys = np.unique(both[0] * people + both[1])
    return np.stack([keys // people, keys % people])


def _invented(count: int, draws: np.random.Generator) -> list[str]:
    """Words that are no English ones, all different."""
    found: dict[str, None] = {}
    while len(found) < count:
        size = 2 if len(found) < 2_000 else 3
        parts = [draws.choice(_ONSETS) + draws.choice(_VOWELS) for _ in range(size)]
        found["".join(parts) + draws.choice(_CODAS)] = None
    return list(found)


def _people(people: int, draws: np.random.Generator, firsts: Sequence[str], lasts: Sequence[str]) -> list[str]:
    first = np.minimum(draws.zipf(1.3, people) - 1, 10 * len(firsts)) % len(firsts)
    last = draws.integers(0, len(lasts), people)
    return [f"{firsts[a].title()} {lasts[b].title()}" for a, b in zip(first.tolist(), last.tolist(), strict=True)]


def sampled_terms(questions: Questions, count: int, seed: int = 0, depth: int = 7) -> list[tuple[int, Term]]:
    """Users and meanings drawn from the rules of the grammar, the likelier the lower their weights, each once."""
    grammar, draws = questions.grammar, np.random.default_rng(seed)
    people = questions.store.members[questions.store.schema.me]
    by_left: dict[str, list[int]] = {}
    for number, rule in enumerate(grammar.rules):
        if not any(name.startswith(("{offer", "{number", "{date")) for name in rule.right):
            by_left.setdefault(rule.left, []).append(number)
    users = draws.choice(people, 12)
    found: list[tuple[int, Term]] = []
    seen: set[Term] = set()
    while len(found) < count:
        me = int(users[draws.integers(len(users))])
        term = _drawn(questions, by_left, GOAL, me, draws, depth)
        term = None if term is None else simple(term, grammar.schema)
        if term is None or term in seen or not is_typed(term, grammar.schema) or contradiction(term, grammar.schema):
            continue
        seen.add(term)
        found.append((me, term))
    return found


def _drawn(
    questions: Questions, by_left: dict[str, list[int]], symbol: str, me: int, draws: np.random.Generator, depth: int
) -> Term | None:
    grammar = questions.grammar
    options = by_left.get(symbol, [])
    if depth < 0 or not options:
        return None
    weights = np.exp(
        [-2.0 * grammar.rules[number].weight - 0.3 * len(grammar.rules[number].right) for number in options]
    )
    number = options[int(draws.choice(len(options), p=weights / weights.sum()))]
    rule = grammar.rules[number]
    parts: list[Term] = []
    for name in rule.right:
        if name in grammar.classes:
            parts.append(("word",))
            continue
        if name.startswith("{"):
            kind = name.strip("{}").split(":")[1]
            filler = questions.offered(f"{{offer:{kind}:{min(int(draws.geometric(0.5)) - 1, 5)}}}", me)
            part = filler[0] if filler else None
        else:
            part = _drawn(questions, by_left, name, me, draws, depth - (symbol != name and ":" in name))
        if part is None:
            return None
        parts.append(part)
    term: Term = filled(rule.meaning, parts)
    return term
