from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom

from weft.errors import ConfigError, DataError, WeftError
from weft.tasks.translation.phrases import Extraction, extract
from weft.tasks.translation.scores import common_sentences, surprises
from weft.tasks.translation.table import PhraseTable, TableSettings
from weft.text.bitext import Links

WORDS = "abc"


@st.composite
def bitexts(draw):
    """A small bitext with links."""
    pairs = []
    for _ in range(draw(st.integers(1, 4))):
        source = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5))
        target = draw(st.lists(st.sampled_from("xyz"), min_size=1, max_size=5))
        cells = [(i, j) for i in range(len(source)) for j in range(len(target))]
        pairs.append((source, target, sorted(draw(st.sets(st.sampled_from(cells), max_size=6)))))
    return pairs


def extraction_of(pairs, longest=3) -> Extraction:
    return extract(
        [s for s, _, _ in pairs], [t for _, t, _ in pairs], Links.of([links for _, _, links in pairs]), longest
    )


def places(pairs, longest=3):
    """All consistent pairs of spans, by looking at every four borders."""
    found = []
    for number, (source, target, links) in enumerate(pairs):
        for i1 in range(len(source)):
            for i2 in range(i1 + 1, min(len(source), i1 + longest) + 1):
                for j1 in range(len(target)):
                    for j2 in range(j1 + 1, min(len(target), j1 + longest) + 1):
                        inside = [i1 <= i < i2 and j1 <= j < j2 for i, j in links]
                        touched = [i1 <= i < i2 or j1 <= j < j2 for i, j in links]
                        if any(inside) and inside == touched:
                            found.append((number, i1, i2, j1, j2))
    return found


@settings(max_examples=60, deadline=None)
@given(bitexts())
def test_phrase_pairs_are_those_of_the_definition(pairs):
    extraction = extraction_of(pairs)
    assert sorted(map(tuple, extraction.spans.tolist())) == sorted(places(pairs))
    for (s, i1, i2, j1, j2), pair, inside in zip(
        extraction.spans.tolist(), extraction.pair.tolist(), extraction.inside.tolist(), strict=True
    ):
        source, target, links = pairs[s]
        assert extraction.shown(pair) == (" ".join(source[i1:i2]), " ".join(target[j1:j2]))
        bits = sum(1 << (7 * (i - i1) + j - j1) for i, j in links if i1 <= i < i2 and j1 <= j < j2)
        assert inside == bits
    assert len({extraction.shown(pair) for pair in range(extraction.n_pairs)}) == extraction.n_pairs


@settings(max_examples=60, deadline=None)
@given(bitexts())
def test_orientations_are_those_of_phrases_that_could_stand_beside(pairs):
    extraction = extraction_of(pairs)
    spans = places(pairs)
    for (s, i1, i2, j1, j2), before, after in zip(
        extraction.spans.tolist(), extraction.before.tolist(), extraction.after.tolist(), strict=True
    ):
        end = len(pairs[s][0]), len(pairs[s][1])
        others = [span[1:] for span in spans if span[0] == s]
        ends = {(o[1], o[3]) for o in others} | {(0, 0)}
        begins = {(o[0], o[2]) for o in others} | {end}
        expected = 0 if (i1, j1) in ends else 1 if any(o[0] == i2 and o[3] == j1 for o in others) else 2
        assert before == expected
        expected = 0 if (i2, j2) in begins else 1 if any(o[1] == i1 and o[2] == j2 for o in others) else 2
        assert after == expected


def table_by_hand(pairs, keep):
    """p(t|s), p(s|t), lex(t|s) and lex(s|t) of all pairs of the sentences to keep, from dictionaries."""
    count, shapes = Counter(), defaultdict(Counter)
    words = Counter(), Counter()
    totals = Counter(), Counter()
    for number, (source, target, links) in enumerate(pairs):
        if not keep[number]:
            continue
        cells = list(links)
        cells += [(i, None) for i in range(len(source)) if i not in {i for i, _ in links}]
        cells += [(None, j) for j in range(len(target)) if j not in {j for _, j in links}]
        for i, j in cells:
            s, t = None if i is None else source[i], None if j is None else target[j]
            if t is not None:
                words[0][s, t] += 1
                totals[0][s] += 1
            if s is not None:
                words[1][t, s] += 1
                totals[1][t] += 1
    for number, i1, i2, j1, j2 in places(pairs):
        if keep[number]:
            source, target, links = pairs[number]
            key = tuple(source[i1:i2]), tuple(target[j1:j2])
            count[key] += 1
            shapes[key][tuple((i - i1, j - j1) for i, j in links if i1 <= i < i2 and j1 <= j < j2)] += 1
    found = {}
    for (s, t), n in count.items():
        of_s = sum(m for (other, _), m in count.items() if other == s)
        of_t = sum(m for (_, other), m in count.items() if other == t)
        most = max(shapes[s, t].values())
        lexical = []
        for shape in [shape for shape, m in shapes[s, t].items() if m == most]:
            values = [1.0, 1.0]
            for side, (known, said, links) in enumerate(((s, t, shape), (t, s, tuple((j, i) for i, j in shape)))):
                for j, word in enumerate(said):
                    linked = [known[i] for i, k in links if k == j] or [None]
                    values[side] *= sum(words[side][g, word] / totals[side][g] for g in linked) / len(linked)
            lexical.append((values[0], values[1]))
        found[" ".join(s), " ".join(t)] = (n / of_s, n / of_t, lexical, n)
    return found


@settings(max_examples=60, deadline=None)
@given(bitexts(), st.data())
def test_scores_of_a_table_are_those_of_the_definition(pairs, data):
    keep = [True, *data.draw(st.lists(st.booleans(), min_size=len(pairs) - 1, max_size=len(pairs) - 1))]
    extraction = extraction_of(pairs)
    table = PhraseTable.of(extraction, np.array(keep), TableSettings(limit=0, origins=0))
    expected = table_by_hand(pairs, keep)
    assert {extraction.shown(rule) for rule in table.rule} == set(expected)
    for row, rule in enumerate(table.rule):
        forward, backward, lexical, count = expected[extraction.shown(rule)]
        scores = np.exp(table.scores[row].astype(float))
        np.testing.assert_allclose(scores[:2], [forward, backward], rtol=1e-5)
        assert any(np.allclose(scores[2:], np.maximum(each, 1e-7), rtol=1e-4) for each in lexical)
        assert table.count[row] == count
        seen = sorted({s for s, *_ in places([p if k else (p[0], p[1], []) for p, k in zip(pairs, keep, strict=True)])})
        assert set(table.seen_in(row)) <= set(seen)


@settings(max_examples=40, deadline=None)
@given(bitexts(), st.data())
def test_no_phrase_comes_from_a_sentence_that_is_left_out(pairs, data):
    keep = np.array(data.draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs))))
    table = PhraseTable.of(extraction_of(pairs), keep, TableSettings(origins=0))
    assert keep[table.origins].all()
    assert (np.diff(table.origin_offsets) > 0).all()


@settings(max_examples=40, deadline=None)
@given(bitexts(), st.lists(st.sampled_from([*WORDS, "?"]), max_size=5))
def test_all_phrases_of_a_sentence_are_found(pairs, sentence):
    extraction = extraction_of(pairs)
    table = PhraseTable.of(extraction, None, TableSettings(limit=0))
    numbers = {word: n for n, word in enumerate(extraction.source.words)}
    found = table.find(np.array([numbers.get(word, -1) for word in sentence], np.int32))
    shown = [(int(i), int(j), *extraction.shown(table.rule[pair])) for i, j, pair in zip(*found, strict=True)]
    expected = [
        (i, j, *extraction.shown(rule))
        for i in range(len(sentence))
        for j in range(i + 1, len(sentence) + 1)
        for rule in table.rule
        if extraction.shown(rule)[0] == " ".join(sentence[i:j])
    ]
    assert sorted(shown) == sorted(expected)


@settings(max_examples=40, deadline=None)
@given(bitexts())
def test_surprise_is_fishers_exact_test_over_sentences(pairs):
    extraction = extraction_of(pairs)
    keep = np.ones(len(pairs), np.bool_)
    text = [(f" {' '.join(s)} ", f" {' '.join(t)} ") for s, t, _ in pairs]
    both = common_sentences(extraction, keep)
    found = surprises(extraction, keep, np.arange(extraction.n_pairs))
    for pair in range(extraction.n_pairs):
        s, t = extraction.shown(pair)
        has = [(f" {s} " in one, f" {t} " in other) for one, other in text]
        common, of_s, of_t = sum(a and b for a, b in has), sum(a for a, _ in has), sum(b for _, b in has)
        assert both[pair] == common
        tail = hypergeom.sf(common - 1, len(pairs), of_s, of_t)
        assert found[pair] == pytest.approx(-np.log(tail), abs=1e-9)


def test_a_pair_seen_once_of_phrases_seen_once_is_not_significant():
    rows = [(["a"], ["x"], [(0, 0)])] * 3 + [(["b"], ["y"], [(0, 0)])]
    table = PhraseTable.of(extraction_of(rows), None, TableSettings(significance=True))
    assert table.count.tolist() == []  # of four sentences, three with the pair surprise as much as one without
    rows = [(["a"], ["x"], [(0, 0)])] * 3 + [(["b"], ["y"], [(0, 0)]), (["c"], ["z"], [(0, 0)])] * 2
    table = PhraseTable.of(extraction_of(rows), None, TableSettings(significance=True))
    assert table.count.tolist() == [3, 2, 2]


def test_the_limit_keeps_the_most_probable_translations():
    rows = [(["a"], [t], [(0, 0)]) for t in "xxxyyz"]
    table = PhraseTable.of(extraction_of(rows), None, TableSettings(limit=2))
    np.testing.assert_allclose(np.exp(table.scores[:, 0]), [3 / 6, 2 / 6], rtol=1e-6)


def test_what_cannot_be_extracted_is_refused():
    with pytest.raises(ConfigError, match="1 to 7 words"):
        extract([["a"]], [["x"]], Links.of([[]]), 8)
    with pytest.raises(DataError, match="equal numbers"):
        extract([["a"]], [], Links.of([[]]))
    with pytest.raises(WeftError, match="points past the end"):
        extract([["a"]], [["x"]], Links.of([[(0, 1)]]))
