"""Lists of expressions: matches and shortest paths against enumeration."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError, FormatError
from weft.lexical.mwe_lexicon import Match, MweLexicon, lexicon_of, read_lexicon, segment_text, shortest_path, union
from weft.text.conventions.expressions import Expressions

lemma = st.sampled_from("abc")
entries = st.lists(st.lists(st.sampled_from(["a", "b", "c", ""]), min_size=2, max_size=4), max_size=6)


def fits(entry, words, sentence, max_gap):
    """Whether some words of a sentence are a match of an entry, by the definition."""
    plain = [lemma for lemma in entry if lemma]
    if len(plain) != len(words) or any(sentence[w] != want for w, want in zip(words, plain, strict=True)):
        return False
    wide = [k for k in range(1, len(entry)) if not entry[k]]  # variables stand before the next plain lemma
    variables = {sum(1 for lemma in entry[:k] if lemma) for k in wide}
    return all(
        (1 if place in variables else 0) <= b - a - 1 <= max_gap for place, (a, b) in enumerate(pairwise(words), 1)
    )


@settings(max_examples=80, deadline=None)
@given(entries, st.lists(lemma, max_size=7), st.integers(0, 2))
def test_matches_are_those_of_the_definition(raw, sentence, max_gap):
    written = [" ".join(lemma or "<x>" for lemma in entry) for entry in raw]
    lexicon = MweLexicon.of("test", written)
    assert all(entry[0] and entry[-1] for entry in lexicon.entries)
    wanted = {
        words
        for entry in lexicon.entries
        for size in range(2, 5)
        for words in combinations(range(len(sentence)), size)
        if fits(entry, words, sentence, max_gap)
    }
    assert {match.words for match in lexicon.matches(sentence, max_gap)} == wanted


word = st.tuples(lemma, lemma)
categorized = st.lists(st.tuples(st.lists(st.sampled_from(["a", "b", "c", ""]), min_size=2, max_size=4), lemma))


@settings(max_examples=80, deadline=None)
@given(categorized, st.lists(st.lists(word, max_size=6), max_size=3), st.integers(0, 2))
def test_what_is_found_in_a_text_are_the_matches_of_its_sentences(raw, sentences, max_gap):
    lexicon = MweLexicon.of("test", [(" ".join(each or "<x>" for each in entry), kind) for entry, kind in raw])
    types = sorted({own for sentence in sentences for own in sentence})
    numbers = np.array([types.index(own) for sentence in sentences for own in sentence], dtype=np.int32)
    bounds = np.cumsum([0, *map(len, sentences)])
    found = lexicon.find([own[0] for own in types], [own[1] for own in types], numbers, bounds, max_gap)
    assert found == sorted(found, key=lambda match: match.words)
    chosen = []
    for first, sentence in zip(bounds.tolist(), sentences, strict=False):
        lemmas, forms = [own[0] for own in sentence], [own[1] for own in sentence]
        own = lexicon.matches(lemmas, max_gap, forms)
        moved = [Match(tuple(place + first for place in match.words), match.category) for match in own]
        within = [match for match in found if first <= match.words[0] < first + len(sentence)]
        assert within == sorted(moved, key=lambda match: match.words)  # sorting keeps the order of matches that tie
        best = shortest_path(own, len(sentence)).matches
        chosen += [Match(tuple(place + first for place in match.words), match.category) for match in best]
    assert segment_text(found) == chosen


def readings(first, end, matches, gaps):
    """All ways to read words `first:end` as expressions, with their costs; inside gaps without gaps."""
    if first == end:
        yield 0.0
        return
    price = 1.0 if gaps else 1.25
    for rest in readings(first + 1, end, matches, gaps):
        yield price + rest
    for words in matches:
        if words[0] != first or words[-1] >= end or (not gaps and words[-1] - words[0] >= len(words)):
            continue
        filled = [0.0]
        for a, b in pairwise(words):
            filled = [x + y for x in filled for y in readings(a + 1, b, matches, False)]
        for rest in readings(words[-1] + 1, end, matches, gaps):
            for inside in filled:
                yield price + inside + rest


@pytest.mark.must_show("mwe-gappy-segmentation", 4)
@settings(max_examples=80, deadline=None)
@given(st.integers(1, 7), st.lists(st.sets(st.integers(0, 6), min_size=2, max_size=4), max_size=7))
def test_the_shortest_path_is_the_cheapest_of_all_segmentations(length, groups):
    matches = sorted({tuple(sorted(group)) for group in groups if max(group) < length})
    found = shortest_path([Match(words) for words in matches], length)
    assert found.cost == pytest.approx(min(readings(0, length, matches, True)))
    # What is chosen costs what is said: its parts add up.
    inside = {w for match in found.matches for a, b in pairwise(match.words) for w in range(a + 1, b)}
    covered = {w for match in found.matches for w in match.words}
    price = sum(1.25 if match.words[0] in inside else 1.0 for match in found.matches)
    price += sum(1.25 if w in inside else 1.0 for w in range(length) if w not in covered)
    assert found.cost == pytest.approx(price)
    assert len(covered) == sum(len(match.words) for match in found.matches)


@pytest.mark.must_show("mwe-gappy-segmentation", 4)
def test_expressions_cost_one_and_inside_gaps_a_quarter_more():
    gappy, filler = Match((0, 3)), Match((1, 2))
    assert shortest_path([], 3).cost == 3.0
    assert shortest_path([Match((0, 1))], 3).cost == 2.0
    assert shortest_path([gappy], 4).cost == 1 + 2 * 1.25
    assert shortest_path([gappy, filler], 4).cost == 1 + 1.25
    # A gap of three single words would cost 1 + 3.75 > 4 + 0.5: five words by themselves cost 5, the match 4.75.
    assert shortest_path([Match((0, 4))], 5).cost == 4.75
    assert shortest_path([Match((0, 5))], 6).cost == 6.0
    assert not shortest_path([Match((0, 5))], 6).matches


def test_words_match_by_lemma_or_form():
    lexicon = MweLexicon.of("test", [("looking glass", "n"), ("look up", "v")])
    assert lexicon.matches(["look", "glass"], forms=["looking", "glass"]) == [Match((0, 1), "n")]
    assert lexicon.matches(["look", "it", "up"], 1, forms=["looked", "it", "up"]) == [Match((0, 2), "v")]


def test_seen_expressions_become_a_lexicon():
    sentences = [
        (["give", "it", "up"], Expressions.of(strong=[(0, 2)])),
        (["give", "up", "hope"], Expressions.of(strong=[(0, 1)], weak=[(0, 1, 2)])),
    ]
    assert set(lexicon_of("seen", sentences).entries) == {("give", "up"), ("give", "up", "hope")}
    assert set(lexicon_of("seen", sentences, min_count=2).entries) == {("give", "up")}
    with pytest.raises(ConfigError, match="at least 1"):
        lexicon_of("seen", [], 0)


def test_files_of_entries_come_back(tmp_path):
    path = tmp_path / "idioms.txt"
    path.write_text("# my idioms\nkick the bucket\tverb\ntake <sth> <sth> to_task\n\nword\n")
    lexicon = read_lexicon(path)
    assert lexicon.name == "idioms"
    assert lexicon.entries == {("kick", "the", "bucket"): "verb", ("take", "", "to", "task"): ""}
    path.write_text("\n".join(lexicon.lines()))
    assert read_lexicon(path).entries == lexicon.entries
    assert len(union("both", [lexicon, MweLexicon.of("more", ["at all"])])) == 3
    path.write_text("a b\tc\td\n")
    with pytest.raises(FormatError, match="line 1"):
        read_lexicon(path)
    path.write_text("word\n")
    with pytest.raises(FormatError, match="none"):
        read_lexicon(path)
