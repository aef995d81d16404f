from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from weft.features.characters import PARAGRAPH, CharacterTable
from weft.tasks.segmentation.boundaries import (
    INSIDE,
    LINE,
    SENTENCE,
    TOKEN,
    allowed_labels,
    count_labels,
    find_candidates,
    new_counts,
    squeeze,
)
from weft.tasks.segmentation.boundary_features import ENTRY_SEGMENTS, REACH, WIDTH, _match, entry_key, feature_keys
from weft.tasks.segmentation.boundary_model import STATES, BoundaryModel, Marked, chains, tune_bias
from weft.text.doc import Doc

TABLE = CharacterTable()
TEXTS = st.text(alphabet='ab A.1"(\n\r\t\u2029字\u00a0', max_size=40)
ANYTHING = np.full(allowed_labels(new_counts()).shape, 7, dtype=np.uint8)


def squeezed_by_hand(text: str, lines: bool) -> tuple[str, list[int]]:
    """The slow twin of `squeeze`."""
    out, origin = "", []
    for match in re.finditer(r"\s+|\S", text):
        run = match[0]
        if not run.isspace():
            out, origin = out + run, [*origin, match.start()]
        elif out and match.end() < len(text):
            ends = len(re.findall(r"\r\n|[\n\r]", run)) + 2 * run.count("\u2029")
            out += "\u2029" if ends > 1 else "\n" if ends and lines else " "
            origin = [*origin, match.start()]
    return out, origin


@settings(deadline=None)
@given(TEXTS, st.booleans())
def test_runs_of_blanks_become_one_symbol(text: str, lines: bool) -> None:
    found = squeeze(text, TABLE, lines)
    assert ("".join(map(chr, found.codes)), found.origin.tolist()) == squeezed_by_hand(text, lines)


def label_at(text: str, place: int) -> int | None:
    """The decided label after the character before `place`, or nothing if it is a candidate."""
    squeezed = squeeze(text, TABLE)
    decided = np.full(len(squeezed.codes), -1, dtype=np.int8)
    find_candidates(squeezed, ANYTHING, decided)
    label = int(decided[place - 1])
    return None if label < 0 else label


def test_a_full_line_is_no_candidate_before_a_small_letter() -> None:
    full = "the ferry that came in from the far island today"
    assert label_at(f"{full}\nwas late and left again", len(full)) == TOKEN
    assert label_at(f"{full},\nwas late and left again", len(full) + 1) == TOKEN
    assert label_at(f"{full}\nWas late and left again", len(full)) is None
    assert label_at(f"{full}.\nwas late and left again", len(full) + 1) is None
    assert label_at("milk\neggs", 4) is None
    room = "a line that ends early although more fits"
    assert label_at(f"{room}\non it, because this line here is a lot longer than that one", len(room)) is None
    assert label_at(f"{full}\n\nwas late", len(full)) == SENTENCE


def test_nothing_ends_inside_an_emoji() -> None:
    for text in ("👍🏽", "👩‍👧", "❤️", "🇫🇷"):
        assert all(label_at(text, place) == INSIDE for place in range(1, len(text)))
    assert [label_at("🇫🇷🇩🇪", place) for place in (1, 2, 3)] == [INSIDE, None, INSIDE]


@settings(deadline=None)
@given(TEXTS)
def test_every_boundary_is_a_candidate_or_decided(text: str) -> None:
    squeezed = squeeze(text, TABLE)
    decided = np.full(len(squeezed.codes), -1, dtype=np.int8)
    found = find_candidates(squeezed, ANYTHING, decided)
    visible = squeezed.classes > PARAGRAPH
    behind = np.append(squeezed.classes[1:] == PARAGRAPH, True)[: len(visible)]
    assert (np.flatnonzero(decided == SENTENCE) == np.flatnonzero(visible & behind)).all()
    assert found.left.tolist() == np.flatnonzero(visible & ~behind).tolist()
    for left, right, paragraph in zip(found.left, found.right, found.paragraph, strict=True):
        assert right - left == (1 if visible[left + 1] else 2)
        assert found.bounds[2 * paragraph] <= left < right < found.bounds[2 * paragraph + 1]


def test_labels_seen_often_enough_are_allowed() -> None:
    counts = new_counts()
    for text, ends in [("ab", [2])] * 50 + [("a.b", [1, 2, 3])] * 30:
        marks = np.zeros(len(text) + 1, dtype=np.bool_)
        marks[ends] = True
        count_labels(squeeze(text, TABLE), marks, np.zeros(len(text) + 1, dtype=np.bool_), counts)
    allowed = allowed_labels(counts)
    small, point = TABLE.classes(np.array([97, 46], dtype=np.int32)).tolist()
    assert allowed[small, 0, small] == 1 << INSIDE
    assert allowed[small, 0, point] == 1 << TOKEN
    assert allowed[small, 1, small] == 1 << TOKEN | 1 << SENTENCE  # never seen: what is usual at a gap


def test_lines_that_always_end_sentences_do_so_between_rare_classes() -> None:
    small, point, percent = TABLE.classes(np.array([97, 46, 37], dtype=np.int32)).tolist()
    counts = new_counts()
    counts[small, LINE, small, SENTENCE] = 30
    assert allowed_labels(counts)[point, LINE, percent] == 1 << SENTENCE
    counts[small, LINE, point, TOKEN] = 30
    assert allowed_labels(counts)[point, LINE, percent] == 1 << TOKEN | 1 << SENTENCE
    # No full line is read as a space where lines always end sentences.
    squeezed = squeeze(f"{'aa ' * 20}aa\naa {'aa ' * 5}", TABLE)
    allowed = ANYTHING.copy()
    allowed[small, LINE, small] = 1 << SENTENCE
    decided = np.zeros(len(squeezed.codes), dtype=np.int8)
    find_candidates(squeezed, allowed, decided)
    assert decided[squeezed.codes.tolist().index(10) - 1] == SENTENCE


@settings(max_examples=200, deadline=None)
@given(
    st.text(alphabet="ab A\n\u2029", max_size=18),
    st.lists(st.text(alphabet="ab A", min_size=2, max_size=7), max_size=6),
    st.booleans(),
)
def test_dictionary_matches_are_those_of_enumeration(text: str, words: list[str], spaced: bool) -> None:
    squeezed = squeeze(text, TABLE, lines=False)
    found = find_candidates(squeezed, ANYTHING, np.zeros(len(squeezed.codes), dtype=np.int8))
    entries = np.unique(np.array([entry_key(word, TABLE) for word in words], dtype=np.uint64))
    match = np.zeros((3, len(found.left) + 1), dtype=np.int64)
    _match(*squeezed[:2], *found[:2], found.paragraph, found.bounds, entries, spaced, TABLE.lower, match)
    known = {" ".join(word.lower().split()) for word in words}
    string = "".join(map(chr, squeezed.codes)).lower()
    expected = np.zeros_like(match)
    for first, end in found.bounds.reshape(-1, 2).tolist():
        inside = [c for c in range(len(found.left)) if first <= found.left[c] < end]
        starts = [first, *(int(found.right[c]) for c in inside)]
        ends = [*(int(found.left[c]) + 1 for c in inside), end]
        for i, begin in enumerate(starts):
            for j in range(i + 1, min(i + ENTRY_SEGMENTS, len(ends))):
                piece = string[begin : ends[j]]
                if piece not in known or len(piece) > REACH or (" " in piece and not spaced):
                    continue
                size = j - i + 1
                if i:
                    expected[1, inside[i - 1]] = max(expected[1, inside[i - 1]], size)
                if j < len(inside):
                    expected[0, inside[j]] = max(expected[0, inside[j]], size)
                for k in range(i, j):
                    expected[2, inside[k]] = max(expected[2, inside[k]], size)
    assert match.tolist() == expected.tolist()


@settings(deadline=None)
@example("字\r字", "11")  # a line end between characters of a script without spaces
@given(TEXTS, TEXTS)
def test_features_do_not_look_beyond_an_empty_line(text: str, other: str) -> None:
    def keys(whole: str) -> tuple[list[int], list[int]]:
        squeezed = squeeze(whole, TABLE)
        found = find_candidates(squeezed, ANYTHING, np.zeros(len(squeezed.codes), dtype=np.int8))
        got, offsets = feature_keys(squeezed, found, TABLE, np.zeros(0, dtype=np.uint64), False)
        return got.tolist(), offsets.tolist()

    alone, offsets = keys(text)
    both, _ = keys(other + "\u2029" + text)
    assert both[len(both) - len(alone) :] == alone
    assert all(end - begin <= WIDTH for begin, end in pairwise(offsets))


def test_marks_of_one_kind_share_features() -> None:
    def keys(text: str) -> set[int]:
        squeezed = squeeze(text, TABLE)
        found = find_candidates(squeezed, ANYTHING, np.zeros(len(squeezed.codes), dtype=np.int8))
        got, offsets = feature_keys(squeezed, found, TABLE, np.zeros(0, dtype=np.uint64), False)
        gap = int(np.flatnonzero(np.diff(np.stack([found.left, found.right]), axis=0)[0] == 2)[0])
        return set(got[offsets[gap] : offsets[gap + 1]].tolist())

    for same, other in (("ab?", "ab;"), ("ab.", "ab%")):
        assert len(keys("ab! Cd") & keys(f"{same} Cd")) == len(keys("ab! Cd") & keys(f"{other} Cd")) + 2
    # A closing mark is told by what stands before it.
    assert len(keys('a!" Cd') & keys("a?” Cd")) > len(keys('a!" Cd') & keys("a;” Cd"))


def test_chains_end_where_a_token_surely_does() -> None:
    squeezed = squeeze("a.b c.d", TABLE)
    allowed = ANYTHING.copy()
    allowed[:, 1, :] = 1 << TOKEN
    decided = np.zeros(len(squeezed.codes), dtype=np.int8)
    found = find_candidates(squeezed, allowed, decided)
    assert chains(found, decided).tolist() == [0, 2, 4]


def test_the_bias_is_the_one_with_the_best_sentences() -> None:
    doc = Doc.from_words([["a", "b"], ["a", "b"]])
    allowed = ANYTHING.copy()
    allowed[:, 1, :] = 1 << TOKEN | 1 << SENTENCE
    allowed[:, 0, :] = 1 << INSIDE
    model = BoundaryModel(
        allowed, np.zeros(0, dtype=np.uint64), False, False, None, np.zeros((len(STATES), len(STATES)))
    )
    assert Marked.from_doc(doc, model.table).sentence_ends.nonzero()[0].tolist() == [3, 7]
    # Without weights all gaps look the same: at most one sentence in two can be right, and none by splitting all.
    assert tune_bias(model, [doc]) == 0.0
    assert model.bias == 0.0
