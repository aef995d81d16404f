"""The models as features of the search: against enumeration of all derivations and candidates."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.infer.decoding.decoder import Decoder, SearchSettings
from weft.infer.decoding.options import Options
from weft.infer.fuzzy.distance import fuzzy_score
from weft.tasks.memory.counterparts import MatchedSentence
from weft.tasks.memory.features import memory_scores, orders
from weft.tasks.memory.samples import samples_of
from weft.tasks.memory.status import NONE, content_status, order_status
from weft.tasks.memory.tables import (
    COLUMNS,
    CONTENT,
    CONTENT_EXTENDED,
    EXTENSION,
    MODELS,
    ORDER,
    SIZES,
    TABLES,
    MemoryTables,
)


def random_tables(seed: int) -> MemoryTables:
    rng = np.random.default_rng(seed)
    rows = np.stack([rng.integers(0, SIZES[name], 400) for name in COLUMNS], axis=1)
    return MemoryTables.learn(rows)


@st.composite
def sentences(draw: st.DrawFn) -> tuple[MatchedSentence, Options]:
    """A short sentence with its match, and options for it."""
    n = draw(st.integers(1, 3))
    words = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    source = draw(st.lists(st.integers(0, 3), min_size=1, max_size=4))
    target = draw(st.lists(st.integers(0, 4), min_size=1, max_size=4))
    cells = [(i, j) for i in range(len(source)) for j in range(len(target))]
    links = draw(st.lists(st.sampled_from(cells), max_size=3, unique=True))
    score = fuzzy_score(np.array(words), np.array(source))
    match = MatchedSentence(words, source, target, links, score, draw(st.booleans()))
    spans = [(i, j) for i in range(n) for j in range(i + 1, n + 1)]
    said = st.lists(st.integers(0, 4), min_size=1, max_size=2)
    rows = [(i, i + 1, draw(said)) for i in range(n)]
    rows += [(*draw(st.sampled_from(spans)), draw(said)) for _ in range(draw(st.integers(0, 3)))]
    own = [[draw(st.integers(-8, 0)) / 4] for _ in rows]
    return match, Options.of(n, rows, own, ["translation"])


def derivations(options: Options) -> list[tuple[int, ...]]:
    """All sequences of options that cover every position once."""
    found = []
    for k in range(1, options.length + 1):
        for rows in itertools.permutations(range(len(options)), k):
            covered = [p for row in rows for p in range(options.start[row], options.end[row])]
            if sorted(covered) == list(range(options.length)):
                found.append(rows)
    return found


def enumerated(
    match: MatchedSentence, options: Options, tables: MemoryTables, model: str, weights: dict[str, float]
) -> float:
    """The best score over all derivations and all candidates of their phrases, by the definitions."""
    best = -np.inf
    for rows in derivations(options):
        parts = [match.counterpart(int(options.start[row]), int(options.end[row])) for row in rows]
        for chosen in itertools.product(*(part.candidates for part in parts)):
            total, end = 0.0, 0
            before, follows, last_equal = (0, 0), True, True
            for row, part, candidate in zip(rows, parts, chosen, strict=True):
                total += weights["translation"] * float(options.scores[row, 0])
                total -= weights["distortion"] * abs(int(options.start[row]) - end)
                end = int(options.end[row])
                said, span = options.target(row), candidate.span
                content, first = NONE, False
                if span is not None:
                    there = list(match.target[span[0] : span[1]])
                    content = content_status(fuzzy_score(np.array(said), np.array(there)))
                    first = said[0] == there[0]
                values = {
                    "SCM": part.content, "NLN": part.neighbours, "CSS": part.set, "SPL": part.length,
                    "SEP": part.ends, "z": match.interval, "TCM": content, "LTC": candidate.extension,
                    "CPM": order_status(before, span, follows, last_equal, first),
                }  # fmt: skip
                for name in {"I": (CONTENT,), "II": (CONTENT_EXTENDED, EXTENSION)}.get(
                    model, (CONTENT_EXTENDED, EXTENSION, ORDER)
                ):
                    outcome, factors = TABLES[name]
                    place = (*(values[factor] for factor in factors), values[outcome])
                    total += weights[name] * float(np.log(tables.of[name].probabilities[place]))
                follows = span is not None
                if span is not None:
                    last_equal, before = said[-1] == match.target[span[1] - 1], span
                else:
                    last_equal = False
            best = max(best, total)
    return best


def searched(
    match: MatchedSentence | None, options: Options, tables: MemoryTables, model: str, weights: dict[str, float]
) -> tuple[float, list[int]]:
    grown = memory_scores(options, match, tables, model)
    decoder = Decoder(grown.features(model), SearchSettings.exact())
    vector = np.array([weights[name] for name in decoder.names(grown.options)])
    graph = decoder.search(grown.options, vector)
    found = graph.best()
    assert found.score == pytest.approx(float(graph.features(found) @ vector))
    return found.score, graph.words(found)


@pytest.mark.must_show("translation-memory-smt", 5)
@settings(max_examples=40, deadline=None)
@given(sentences(), st.sampled_from(MODELS), st.integers(0, 50))
def test_unlimited_search_is_the_best_of_all_derivations_and_candidates(
    made: tuple[MatchedSentence, Options], model: str, seed: int
) -> None:
    match, options = made
    tables = random_tables(seed)
    rng = np.random.default_rng(seed)
    names = ("translation", "distortion", CONTENT, CONTENT_EXTENDED, EXTENSION, ORDER)
    weights = {name: float(rng.uniform(0.1, 1.0)) for name in names}
    score, _ = searched(match, options, tables, model, weights)
    assert score == pytest.approx(enumerated(match, options, tables, model, weights))


@pytest.mark.must_show("translation-memory-smt", 5)
@settings(max_examples=40, deadline=None)
@given(sentences(), st.sampled_from(MODELS))
def test_weights_of_0_give_the_plain_translation(made: tuple[MatchedSentence, Options], model: str) -> None:
    match, options = made
    decoder = Decoder([], SearchSettings.exact())
    plain = decoder.search(options, np.array([1.0, 0.5]))
    weights = {"translation": 1.0, "distortion": 0.5, CONTENT: 0.0, CONTENT_EXTENDED: 0.0, EXTENSION: 0.0, ORDER: 0.0}
    score, words = searched(match, options, random_tables(0), model, weights)
    assert score == pytest.approx(plain.best().score)
    ties = {tuple(plain.words(one)) for one in plain.kbest(200) if one.score > plain.best().score - 1e-9}
    assert tuple(words) in ties
    assert searched(None, options, random_tables(0), model, weights)[0] == pytest.approx(plain.best().score)


@given(
    st.tuples(st.integers(0, 5), st.integers(0, 3)), st.booleans(), st.booleans(),
    st.one_of(st.none(), st.tuples(st.integers(0, 6), st.integers(1, 3))), st.booleans(),
)  # fmt: skip
def test_orders_of_batches_are_those_of_the_definition(
    before: tuple[int, int], follows: bool, last: bool, here: tuple[int, int] | None, first: bool
) -> None:
    span = (before[0], before[0] + before[1])
    now = None if here is None else (here[0], here[0] + here[1])
    state = np.array([[*span, follows, last]], np.int32)
    left, right = (-1, -1) if now is None else now
    found = orders(state, np.array([left], np.int32), np.array([right], np.int32), np.array([first]))
    assert int(found[0]) == order_status(span, now, follows, last, first)


def test_a_match_draws_the_translation_towards_it() -> None:
    match = MatchedSentence([1, 2], [1, 2], [11, 12], [(0, 0), (1, 1)], 0.9)
    options = Options.of(2, [(0, 1, [11]), (0, 1, [13]), (1, 2, [12])], [[-2.0], [-1.0], [0.0]], ["translation"])
    tables = MemoryTables.learn(
        samples_of([(0, 1, [11]), (1, 2, [12])], MatchedSentence([1, 2], [1, 2], [11, 12], [(0, 0), (1, 1)], 0.9)) * 50
    )
    weights = {"translation": 1.0, "distortion": 0.5, CONTENT: 0.0, CONTENT_EXTENDED: 0.0, EXTENSION: 0.0, ORDER: 0.0}
    assert searched(match, options, tables, "III", weights)[1] == [13, 12]
    for model, name in (("I", CONTENT), ("II", CONTENT_EXTENDED), ("III", ORDER)):
        assert searched(match, options, tables, model, {**weights, name: 1.0})[1] == [11, 12]


def check_orders(match: MatchedSentence, options: Options, seed: int) -> None:
    """The order scores of all derivations that the search keeps are those of the definition."""
    tables = random_tables(seed)
    grown = memory_scores(options, match, tables, "III")
    decoder = Decoder(grown.features("III"), SearchSettings.exact())
    names = decoder.names(grown.options)
    graph = decoder.search(grown.options, np.full(len(names), 0.1))
    for derivation in graph.kbest(300):
        total, before, follows, last_equal = 0.0, (0, 0), True, True
        for option in derivation.options:
            part, said = grown.counterpart[option], grown.options.target(option)
            here = (int(grown.left[option]), int(grown.right[option])) if grown.left[option] >= 0 else None
            first = here is not None and said[0] == match.target[here[0]]
            kind = order_status(before, here, follows, last_equal, first)
            place = (int(grown.content[option]), part.content, part.neighbours, match.interval, kind)
            total += float(np.log(tables.of[ORDER].probabilities[place]))
            follows = here is not None
            last_equal = here is not None and said[-1] == match.target[here[1] - 1]
            before = here or before
        assert graph.features(derivation)[names.index(ORDER)] == pytest.approx(total)


@settings(max_examples=60, deadline=None)
@given(sentences(), st.integers(0, 50))
def test_every_derivation_has_the_orders_of_the_definition(made: tuple[MatchedSentence, Options], seed: int) -> None:
    check_orders(*made, seed)


def test_orders_look_back_beyond_phrases_without_candidate_and_at_last_words() -> None:
    # The second word has no link, so its phrases have no candidate; each word has a right and a wrong translation.
    match = MatchedSentence([1, 2, 3, 4], [1, 2, 3, 4], [11, 13, 14], [(0, 0), (2, 1), (3, 2)], 0.9)
    rows = [(at, at + 1, [word]) for at in range(4) for word in (11 + at, 30 + at)]
    check_orders(match, Options.of(4, rows, np.zeros((8, 1)), ["translation"]), 1)
