"""Scores found once a word type against scores of all features of every word."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from weft.features.by_type import KnownScores, TypeScorer
from weft.features.extract import Extractor
from weft.features.index import FeatureIndex
from weft.features.lexicon import WordClasses
from weft.features.templates import Templates
from weft.features.weights import FrozenTable, Layout
from weft.text.doc import Doc
from weft.text.strings import StringTable

FIELDS = {"w": "form", "t": "xpos", "f": "feats:set", "c": WordClasses({"a": "01", "bb": "0110"})}
CHOICES = (
    "true", "w[0]", "w[-2..2].lower", "w[1].suffix1|w[1].kind", "w[0].suffix2|c[0]", "c[-1].prefix2", "t[-3]", "t[2]",
    "w[0]|t[0]", "t[-1]|t[0]", "f[0]", "w[-1]|f[1]", "w{-1..1}", "w[0].suffix5",
)  # fmt: skip

words = st.lists(st.tuples(st.sampled_from(["a", "Bb", "bb", "c4", ""]), st.sampled_from("XY")), max_size=6)
sentences = st.lists(words, max_size=4)


def document(rows: list[list[tuple[str, str]]], strings: StringTable) -> Doc:
    columns = {
        "xpos": [[tag for _, tag in row] for row in rows],
        "feats": [[f"A={tag}" for _, tag in row] for row in rows],
    }
    return Doc.from_words([[word for word, _ in row] for row in rows], strings=strings, **columns)


@settings(max_examples=40, deadline=None)
@given(st.lists(sentences, min_size=1, max_size=3), st.sets(st.sampled_from(CHOICES), min_size=1), st.booleans())
def test_scores_by_type_are_those_of_all_features(
    given_docs: list[list[list[tuple[str, str]]]], chosen: set[str], shared: bool
) -> None:
    strings = StringTable()
    docs = [document(rows, strings if shared else StringTable()) for rows in given_docs]
    extractor = Extractor(list(Templates(" ".join(sorted(chosen)))), FIELDS)
    features, offsets = extractor.features(docs)
    index = FeatureIndex()
    index.add(features.keys)
    layout = Layout.from_mask(np.ones((len(index), 3), dtype=bool))
    weights = np.random.default_rng(0).integers(-50, 50, layout.size).astype(np.float64)
    table = FrozenTable.freeze(index, layout, weights)
    scores, found = TypeScorer(extractor, table).score(docs)
    assert found.tolist() == offsets.tolist()
    assert scores.tolist() == table.score(features.keys, features.offsets, features.values).tolist()


@pytest.mark.parametrize(
    ("template", "place"),
    [
        ("w[-1].lower", ("form", -1)),
        ("w[1]|c[1]", ("form", 1)),
        ("t[0]", ("xpos", 0)),
        ("w[0]|t[0]", None),
        ("w[0]|w[1]", None),
        ("w{-1..1}", None),
        ("f[0]", None),
        ("true", None),
    ],
)
def test_a_template_has_a_place_where_it_looks_at_one_column_at_one_offset(
    template: str, place: tuple[str, int] | None
) -> None:
    templates = list(Templates(template))
    assert Extractor(templates, FIELDS).place_of(templates[0]) == place


def scorer_of(docs: list[Doc], text: str, columns: int = 3) -> tuple[Extractor, FrozenTable]:
    extractor = Extractor(list(Templates(text)), FIELDS)
    index = FeatureIndex()
    index.add(extractor.features(docs)[0].keys)
    layout = Layout.from_mask(np.ones((len(index), columns), dtype=bool))
    weights = np.random.default_rng(0).integers(-50, 50, layout.size).astype(np.float64)
    return extractor, FrozenTable.freeze(index, layout, weights)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(sentences, st.integers(0, 1)), min_size=2, max_size=6), st.integers(0, 4), st.integers(0, 3))
def test_scores_that_earlier_batches_left_behind_change_nothing(
    batches: list[tuple[list[list[tuple[str, str]]], int]], limit: int, threads: int
) -> None:
    tables = [StringTable(), StringTable()]
    docs = [document(rows, tables[which]) for rows, which in batches]
    extractor, table = scorer_of(docs, "true w[0] w[-2..2].lower t[-1]|t[0] t[1]")
    scorer = TypeScorer(extractor, table)
    scorer._known = {column: KnownScores(len(own), 3, limit) for column, own in scorer._groups.items()}
    with ThreadPoolExecutor(threads + 1) as pool:
        found = list(pool.map(lambda doc: scorer.score([doc])[0].tolist(), docs))
    assert found == [TypeScorer(extractor, table).score([doc])[0].tolist() for doc in docs]


def test_the_scores_of_a_type_are_computed_once_within_the_limit() -> None:
    strings, asked = StringTable(), []

    def compute(types: NDArray[np.int32]) -> NDArray[np.float64]:
        asked.append(strings.strings(types))
        return np.stack([types, 2 * types])[:, :, None].astype(np.float64)

    known = KnownScores(2, 1, limit=3)
    for text in ("a b", "b c", "d a e", "e c a"):
        types = strings.ids(text.split())
        expected = [[[float(k)] for k in types], [[2.0 * k] for k in types]]
        assert known.scores(strings, types, compute).tolist() == expected
    assert asked == [["a", "b"], ["c"], ["d", "e"], ["e"]]
