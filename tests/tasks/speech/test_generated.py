"""Repairs put into fluent sentences."""

from __future__ import annotations

from weft.tasks.speech.data import prepare
from weft.tasks.speech.generated import transcript_with_repairs
from weft.text import Doc

WORDS, TAGS = ["You", "know", "the", "old", "boat", "."], ["PRON", "VERB", "DET", "ADJ", "NOUN", "PUNCT"]
RELATIONS = ["nsubj", "root", "det", "amod", "obj", "punct"]


def fluent(sentences: int) -> Doc:
    return Doc.from_words(
        [WORDS] * sentences,
        upos=[TAGS] * sentences,
        head=[[2, 0, 5, 5, 2, 2]] * sentences,
        deprel=[RELATIONS] * sentences,
    )


def test_a_transcript_has_lower_case_no_punctuation_and_markers_of_two_words() -> None:
    made = transcript_with_repairs([fluent(300), fluent(200)], seed=1)
    forms, relations = made.column("form"), made.column("deprel")
    assert made.n_sentences == 500
    assert not {"You", ".", "you_know", "i_mean"} & set(forms)
    marker = forms.index("mean")
    assert (forms[marker - 1], relations[marker - 1 : marker + 1]) == ("i", ["nsubj", "discourse"])
    assert "i_mean" in prepare(made).doc.column("form")
    assert "reparandum" in relations


def test_a_seed_may_have_parts_and_gives_the_same_repairs_again() -> None:
    one, again, other = (
        transcript_with_repairs([fluent(100)], seed=seed).column("form") for seed in ((0, 1), (0, 1), (0, 2))
    )
    assert one == again
    assert one != other
