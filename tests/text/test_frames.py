"""Frames: views of predicates and arguments."""

from weft.text import Doc
from weft.text.frames import FrameRow, Role, set_frames


def test_a_phrase_leaves_out_other_arguments_and_the_branch_of_the_predicate():
    doc = Doc.from_words([["They", "are", "afraid", "of", "storms", "."]], head=[[3, 3, 0, 5, 3, 3]])
    set_frames(doc, [FrameRow(1, "be.01", (Role("A1", 0, 1), Role("A2", 2, 3)))])
    assert [argument.phrase for argument in doc.frames[0].arguments] == ["They", "afraid of storms"]
    bare = Doc.from_words([["They", "sleep"]])
    set_frames(bare, [FrameRow(1, "sleep.01", (Role("A0", 0, 1),))])
    assert bare.frames[0].arguments[0].phrase == "They"
    cycle = Doc.from_words([["a", "b", "c"]], head=[[2, 1, 0]])
    set_frames(cycle, [FrameRow(2, "c.01", (Role("A0", 2, 3),))])
    assert cycle.frames[0].arguments[0].phrase == "c"
