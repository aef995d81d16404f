"""The worked example of Wang, Zong and Su (2013), section 3, word for word."""

from __future__ import annotations

import pytest

from weft.tasks.memory.counterparts import MatchedSentence
from weft.tasks.memory.samples import samples_of
from weft.tasks.memory.status import (
    ADJACENT_SAME,
    ADJACENT_SUBSTITUTE,
    BOTH_EXT,
    BOTH_LONGEST,
    CONTENTS,
    EXTENSIONS,
    HIGH,
    LEFT_EXT,
    LEFT_LONGEST,
    LINKED_CROSS,
    LINKED_INTERLEAVED,
    LINKED_REVERSED,
    LOW,
    MEDIUM,
    NEIGHBOURS,
    NO_CANDIDATE,
    NO_EXTENSION,
    NO_ORDER,
    NONE,
    ORDERS,
    ORIGINAL,
    RIGHT_EXT,
    RIGHT_LONGEST,
    SAME,
    SINGLE,
    SKIP_CROSS,
    SKIP_FORWARD,
    SKIP_REVERSED,
    content_status,
    extension_status,
    interval,
    order_status,
    set_status,
)

SENTENCE = ["获取", "或", "设置", "与", "批注", "关联", "的", "对象", "。"]
SOURCE = ["获取", "与", "批注", "标签", "关联", "的", "对象", "。"]
TARGET = ["gets", "an", "object", "that", "is", "associated", "with", "the", "annotation", "label", "."]
LINKS = [(0, 0), (2, 8), (3, 9), (4, 5), (5, 3), (6, 2), (7, 10)]  # an, is, with and the have no link


def numbered(words: list[str], known: dict[str, int]) -> list[int]:
    return [known.setdefault(word, len(known)) for word in words]


@pytest.fixture
def figure() -> tuple[MatchedSentence, dict[str, int]]:
    source: dict[str, int] = {}
    target: dict[str, int] = {}
    sides = numbered(SENTENCE, source), numbered(SOURCE, source), numbered(TARGET, target)
    return MatchedSentence(*sides, LINKS, score=2 / 3, final_mark=True), target


@pytest.mark.must_show("translation-memory-smt", 1)
def test_the_phrase_of_figure_1_has_six_candidates(figure: tuple[MatchedSentence, dict[str, int]]) -> None:
    match, _ = figure
    assert match.interval == interval(0.667) == 6
    part = match.counterpart(5, 8)
    assert part.source == (4, 7)
    said = {" ".join(TARGET[slice(*one.span)]): EXTENSIONS[one.extension] for one in part.candidates if one.span}
    assert said == {
        "object that is associated": "original",
        "object that is associated with": "medium",
        "object that is associated with the": "right longest",
        "an object that is associated": "left longest",
        "an object that is associated with": "medium",
        "an object that is associated with the": "both longest",
    }
    assert part.core == (2, 6)
    assert part.set == BOTH_EXT
    assert CONTENTS[part.content] == "same"
    assert NEIGHBOURS[part.neighbours] == (1, 1)  # of the neighbours only the full stops are the same
    assert (part.length, part.ends) == (2, 0)
    assert match.counterpart(8, 9).ends == 1


@pytest.mark.must_show("translation-memory-smt", 1)
def test_content_orders_and_extensions_are_those_of_the_paper(figure: tuple[MatchedSentence, dict[str, int]]) -> None:
    match, numbers = figure
    said = numbered(["object", "that", "is", "associated"], numbers)
    (row,) = samples_of([(5, 8, said)], match)
    assert row[6] == SAME  # "object that is associated" is one of the candidates
    assert content_status(4 / 5) == HIGH  # to "an object that is associated"
    assert content_status(1 / 2) == LOW
    # "gets an", "object that is associated with" after the candidate "gets an":
    assert order_status((0, 2), (2, 6), True, True, True) == ADJACENT_SAME
    assert order_status((0, 2), (1, 6), True, True, False) == LINKED_CROSS
    # "gets", "object that is associated with" after the candidate "gets":
    assert order_status((0, 1), (1, 6), True, True, False) == ADJACENT_SUBSTITUTE
    assert order_status((0, 1), (2, 6), True, True, True) == LINKED_INTERLEAVED
    # "the annotation label", "object ..." after the candidate "the annotation label":
    assert order_status((7, 10), (1, 6), True, True, False) == LINKED_REVERSED


@pytest.mark.must_show("translation-memory-smt", 1)
def test_every_other_value_of_the_definitions() -> None:
    assert order_status((0, 2), (3, 5), False, False, True) == SKIP_FORWARD
    assert order_status((0, 4), (3, 5), False, False, True) == SKIP_CROSS
    assert order_status((4, 6), (1, 4), False, False, True) == SKIP_REVERSED
    assert order_status((4, 6), None, True, True, True) == NO_ORDER
    assert [set_status(*sides) for sides in ((0, 0), (2, 0), (0, 1), (1, 1))] == [
        SINGLE, LEFT_EXT, RIGHT_EXT, BOTH_EXT
    ]  # fmt: skip
    assert extension_status(0, 0, 2, 2) == ORIGINAL
    assert extension_status(2, 0, 2, 2) == LEFT_LONGEST
    assert extension_status(0, 2, 2, 2) == RIGHT_LONGEST
    assert extension_status(2, 2, 2, 2) == BOTH_LONGEST
    assert [extension_status(*each, 2, 2) for each in ((1, 0), (0, 1), (1, 2), (2, 1))] == [MEDIUM] * 4
    assert [interval(score) for score in (0.0, 0.1, 0.3, 0.7, 0.899, 1.0)] == [0, 1, 3, 7, 8, 9]


@pytest.mark.must_show("translation-memory-smt", 1)
def test_a_phrase_without_counterpart_or_with_links_elsewhere_has_no_candidate(
    figure: tuple[MatchedSentence, dict[str, int]],
) -> None:
    match, _ = figure
    inserted = match.counterpart(1, 3)  # "或 设置" is not in the match
    assert (inserted.source, inserted.core, inserted.content) == (None, None, NONE)
    assert (inserted.set, NEIGHBOURS[inserted.neighbours]) == (NO_CANDIDATE, (0, 0))
    crossed = match.counterpart(6, 9)  # between "object that" and the full stop stand words linked elsewhere
    assert crossed.source == (5, 8)
    assert crossed.core is None
    assert crossed.set == NO_CANDIDATE
    unlinked = match.counterpart(3, 4)  # "与" has no link
    assert unlinked.source == (1, 2)
    assert (unlinked.content, unlinked.core) == (SAME, None)
    assert unlinked.candidates[0].extension == NO_EXTENSION


@pytest.mark.must_show("translation-memory-smt", 1)
def test_samples_choose_the_candidate_nearest_to_the_phrase(figure: tuple[MatchedSentence, dict[str, int]]) -> None:
    match, numbers = figure
    phrases = [
        (0, 1, numbered(["gets"], numbers)),
        (1, 3, numbered(["or", "sets"], numbers)),
        (5, 8, numbered(["the", "object", "that", "is", "associated", "with", "the"], numbers)),
        (3, 5, numbered(["annotation"], numbers)),
        (8, 9, numbered(["."], numbers)),
    ]
    rows = samples_of(phrases, match)
    assert [ORDERS[row[8]] for row in rows] == [
        "adjacent same", "none", "skip forward", "adjacent same", "linked interleaved"
    ]  # fmt: skip
    assert [EXTENSIONS[row[7]] for row in rows][2] == "right longest"
    assert CONTENTS[rows[2][6]] == "high"
    assert [row[4] for row in rows] == [0, 0, 0, 0, 1]
