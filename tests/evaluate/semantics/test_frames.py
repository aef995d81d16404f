"""Semantic dependencies are counted as in the shared tasks of CoNLL-2008 and CoNLL-2009."""

from __future__ import annotations

import pytest

from weft.errors import WeftError
from weft.evaluate.documents import evaluate_documents
from weft.evaluate.semantics.frames import evaluate_frames, score_frames
from weft.text import Doc
from weft.text.frames import FrameRow, Role, frame_rows, set_frames

GIVE = FrameRow(1, "give.01", (Role("A0", 0, 1), Role("A2", 2, 3), Role("A1", 3, 4)))
BARK = FrameRow(3, "bark.01", (Role("A0", 0, 1),))


def totals(gold: list[FrameRow], system: list[FrameRow]) -> dict[str, tuple[int, int, int]]:
    report = score_frames([gold], [system])
    return {name: tuple(counts.total()[:3]) for name, counts in report.counts.items()}


@pytest.mark.must_show("multilingual-srl-pipeline", 1)
@pytest.mark.parametrize(
    ("system", "labelled", "unlabelled", "exact"),
    [
        pytest.param([GIVE], (4, 4, 4), (4, 4, 4), 1, id="all right"),
        pytest.param([GIVE._replace(sense="give.02")], (4, 4, 3), (4, 4, 4), 0, id="wrong sense"),
        pytest.param(
            [GIVE._replace(roles=(Role("A1", 0, 1), *GIVE.roles[1:]))], (4, 4, 3), (4, 4, 4), 0, id="wrong label"
        ),
        pytest.param([GIVE._replace(roles=GIVE.roles[:2])], (4, 3, 3), (4, 3, 3), 0, id="missing argument"),
        pytest.param([], (4, 0, 0), (4, 0, 0), 0, id="missing predicate"),
        pytest.param([GIVE, BARK], (4, 6, 4), (4, 6, 4), 1, id="spurious predicate"),
        pytest.param([GIVE._replace(predicate=2)], (4, 4, 0), (4, 4, 0), 0, id="predicate at another word"),
    ],
)
def test_dependencies_agree_with_counts_made_by_hand(system, labelled, unlabelled, exact):
    found = totals([GIVE], system)
    assert (found["labelled"], found["unlabelled"]) == (labelled, unlabelled)
    assert found["exact frames"] == (1, len(system), exact)
    assert found["senses"][0] == 1
    assert found["arguments"][0] == 3


def test_several_roles_of_one_word_are_several_dependencies():
    both = FrameRow(1, "v", (Role("ACT", 0, 1), Role("PAT", 0, 1)))
    found = totals([both], [both._replace(roles=both.roles[:1])])
    assert found["labelled"] == (3, 2, 2)
    assert found["unlabelled"] == (3, 2, 2)


def test_spans_are_scored_at_their_heads_by_part_of_speech():
    gold = Doc.from_words([["The", "dogs", "bark"]], upos=[["DET", "NOUN", "VERB"]], head=[[2, 3, 0]])
    set_frames(gold, [FrameRow(2, "bark.01", (Role("A0", 0, 2),))])
    system = Doc.from_words([["The", "dogs", "bark"]])
    set_frames(system, [FrameRow(2, "bark.01", (Role("A0", 1, 2),))])
    outcome = evaluate_documents([gold], [system])
    assert (outcome.layer, outcome.main) == ("frames", "labelled")
    assert outcome.counts["labelled"].total().f1 == 1.0
    assert outcome.counts["A0"].total().correct == 1
    assert list(evaluate_frames([gold], [system]).by_tag) == ["VERB"]
    with pytest.raises(WeftError, match="texts differ"):
        evaluate_frames([gold], [Doc.from_words([["Dogs"]])])


def test_other_words_and_sentences_are_aligned_and_what_gold_does_not_have_is_wrong():
    gold = Doc.from_words(
        [["We", "can", "not", "stay"], ["Dogs", "bark"]], upos=[["X", "AUX", "PART", "VERB"], ["N", "V"]]
    )
    set_frames(gold, [
        FrameRow(3, "stay.01", (Role("A1", 0, 1), Role("AM-NEG", 2, 3))), FrameRow(5, "bark.01", (Role("A0", 4, 5),)),
    ])  # fmt: skip
    same = Doc.from_words([["We", "can", "not", "stay", "Dogs", "bark"]])
    set_frames(same, frame_rows(gold))
    report = evaluate_frames([gold], [same])
    assert report["labelled"].f1 == 1.0
    assert report.counts["labelled"].gold.tolist() == report.counts["labelled"].correct.tolist() == [3, 2]
    assert set(report.by_tag) == {"VERB", "V"}
    joined = Doc.from_words([["We", "cannot", "stay", "Dogs"], ["bark"]])
    set_frames(joined, [
        FrameRow(1, "can.01"), FrameRow(2, "stay.01", (Role("A1", 0, 1), Role("AM-NEG", 1, 2))),
        FrameRow(4, "bark.01", (Role("A0", 3, 4),)),
    ])  # fmt: skip
    report = evaluate_frames([gold], [joined])
    assert (report["labelled"].gold, report["labelled"].system, report["labelled"].correct) == (5, 6, 4)
    assert report.counts["labelled"].system.tolist() == [4, 2]
    assert report["unlabelled"].correct == 4
    assert report.by_tag["_"].total().system == 1  # the predicate that gold has no word for
