"""Role labelling on sentences of a grammar with known rules."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from role_grammar import sentences

from weft.errors import ConfigError, DataError, WeftError
from weft.evaluate.semantics.frames import evaluate_frames
from weft.pipeline.pipeline import Pipeline
from weft.tasks.roles.arguments import Filters, Pairs, extract, pruned_pairs, rare_pairs, tag_pairs
from weft.tasks.roles.constraints import CORE, constrained
from weft.tasks.roles.data import Groups, Predicates
from weft.tasks.roles.labeller import RoleLabeller, RoleSettings
from weft.tasks.roles.senses import SenseModel
from weft.text.doc import Doc
from weft.text.frames import FrameRow, Role, frame_rows, set_frames

FIXED = {"c_senses": 1.0, "c_arguments": 1.0, "c_labels": 1.0, "min_count": 1}
LABELS = st.sampled_from(["A0", "A1", "A2", "C-A1", "C-AM-LOC", "AM-LOC", "AM-TMP", "R-A0", "A0|AM-TMP"])


@pytest.fixture(scope="module")
def train() -> Doc:
    return sentences(200)


@pytest.fixture(scope="module")
def test() -> Doc:
    return sentences(60, seed=1)


@pytest.fixture(scope="module")
def labeller(train: Doc) -> RoleLabeller:
    labeller = RoleLabeller(RoleSettings(**FIXED))
    labeller.fit([train])
    return labeller


def labelled(labeller: RoleLabeller, doc: Doc) -> Doc:
    new = doc.subset(range(doc.n_sentences))
    labeller([new])
    return new


def test_the_rules_of_the_grammar_are_learned(labeller: RoleLabeller, test: Doc):
    report = evaluate_frames([test], [labelled(labeller, test)])
    assert report["labelled"].f1 > 0.98
    assert report["senses"].f1 > 0.98


def test_predicates_are_found_where_none_are_marked(labeller: RoleLabeller, test: Doc):
    bare = test.subset(range(test.n_sentences))
    del bare.spans["frames"], bare.relations["frames"]
    labeller([bare])
    assert evaluate_frames([test], [bare])["labelled"].f1 > 0.98


def test_a_saved_model_labels_as_before(labeller: RoleLabeller, test: Doc, tmp_path):
    Pipeline([labeller], {"name": "roles"}).save(tmp_path / "roles.weft")
    again = labelled(Pipeline.load(tmp_path / "roles.weft").components[0], test)
    assert frame_rows(again) == frame_rows(labelled(labeller, test))


@pytest.mark.must_show("multilingual-srl-pipeline", 2)
@given(st.lists(st.tuples(LABELS, st.floats(-2, 2)), max_size=8))
def test_no_frame_has_a_core_label_twice_or_a_continuation_of_nothing(arguments: list[tuple[str, float]]):
    core = re.compile(CORE)
    labels, scores = [label for label, _ in arguments], [score for _, score in arguments]
    stays = constrained(labels, scores, core)
    parts = [part for label, stay in zip(labels, stays, strict=True) if stay for part in label.split("|")]
    own = [part for part in parts if core.fullmatch(part)]
    assert len(own) == len(set(own))
    assert all(part[2:] in parts for part in parts if part.startswith("C-"))
    for label in {"A0", "A1", "A2"} & set(labels):
        rivals = [score for other, score in arguments if label in other.split("|")]
        if labels.count(label) == len(rivals):  # no complex label competes
            kept = [score for (other, score), stay in zip(arguments, stays, strict=True) if stay and other == label]
            assert kept == [max(rivals)]


def test_rare_lemmas_take_their_most_frequent_sense_and_unseen_ones_the_most_frequent_tag(train: Doc):
    rows = [["Cats", "purr"], ["Dogs", "purr"], ["Cats", "purr"], ["Cats", "yawn"]]
    doc = Doc.from_words(rows, upos=[["NOUN", "VERB"]] * 4, head=[[2, 0]] * 4, deprel=[["nsubj", "root"]] * 4)
    set_frames(doc, [FrameRow(1, "purr.02"), FrameRow(3, "purr.01"), FrameRow(5, "purr.01"), FrameRow(7, "yawn.01")])
    labeller = RoleLabeller(RoleSettings(**FIXED))
    labeller.fit([doc])
    assert labeller.senses is not None
    assert labeller.senses.table is None  # four occurrences are fewer than seven
    new = Doc.from_words([["Dogs", "purr"], ["Dogs", "howl"]], upos=[["NOUN", "VERB"]] * 2, head=[[2, 0]] * 2,
                         deprel=[["nsubj", "root"]] * 2)  # fmt: skip
    set_frames(new, [FrameRow(1, ""), FrameRow(3, "")])
    labeller([new])
    assert [frame.sense for frame in new.frames] == ["purr.01", "howl.01"]


def test_senses_are_learned_per_lemma_from_seven_occurrences(train: Doc, test: Doc):
    labeller = RoleLabeller(RoleSettings(**FIXED))
    predicates = Predicates.of([train], "frames")
    templates = labeller._sense_templates
    learned, report = SenseModel.fit(predicates, templates, c=1.0)
    frequent, _ = SenseModel.fit(predicates, templates, c=1.0, min_count=10**6)
    assert report["sense classifiers"] == 2  # serve and cut
    gold = Predicates.of([test], "frames")
    right = [sum(a == b for a, b in zip(model.predict(gold, templates), gold.senses, strict=True))
             for model in (learned, frequent)]  # fmt: skip
    assert right[0] == len(gold) > right[1]


def test_c_is_searched_where_it_is_not_given(train: Doc):
    report = RoleLabeller(RoleSettings(sample=60)).fit([train])
    assert {"C of senses", "C of arguments 0", "C of labels 0", "C of labels 1"} <= set(report["training"])
    assert set(report["search"]) >= {"cross-validated arguments 0", "cross-validated labels 0"}


def test_pairs_of_tags_that_are_hardly_ever_arguments_are_left_out(train: Doc):
    batch = Predicates.of([train], "frames")
    pairs = pruned_pairs(batch, np.zeros(len(batch), dtype=np.bool_))
    gold = np.array([word in batch.arguments[p] for p, word in zip(*map(np.ndarray.tolist, pairs), strict=True)])
    rare = rare_pairs(tag_pairs(batch, pairs), gold, 0.0005)
    kept = Filters(rare).candidates(batch, np.zeros(len(batch), dtype=np.bool_))
    assert 0 < len(kept.word) < len(pairs.word)
    lost = {*zip(*map(np.ndarray.tolist, pairs), strict=True)} - {*zip(*map(np.ndarray.tolist, kept), strict=True)}
    assert not any(word in batch.arguments[predicate] for predicate, word in lost)
    assert isinstance(kept, Pairs)


def test_verbs_and_nouns_share_no_features(train: Doc):
    split = RoleLabeller(RoleSettings(**FIXED))
    joint = RoleLabeller(RoleSettings(**FIXED, groups="*"))
    reports = [each.fit([train])["training"] for each in (split, joint)]
    assert "C of labels 1" in reports[0]
    assert "C of labels 1" not in reports[1]
    assert split.arguments is not None
    assert joint.arguments is not None
    assert len(split.arguments.find) > len(joint.arguments.find)
    assert Groups("V AUX MD,*").numbers(["VERB", "AUX", "NOUN"]).tolist() == [0, 0, 1]
    batch = Predicates.of([train], "frames")
    pairs, senses = pruned_pairs(batch, np.zeros(len(batch), dtype=np.bool_)), np.zeros(len(batch), dtype=np.uint64)
    verbs, nouns = (
        set(extract(batch, pairs, senses, np.full(len(batch), group), split._argument_templates)[1].tolist())
        for group in (0, 1)
    )
    assert verbs.isdisjoint(nouns)


def test_several_roles_of_one_word_are_learned_as_one_label_and_split_again():
    rows = [["Dogs", "run"], ["Cats", "run"], ["Dogs", "bark"], ["Cats", "bark"]] * 2
    doc = Doc.from_words(rows, upos=[["N", "V"]] * 8, head=[[2, 0]] * 8, deprel=[["nsubj", "root"]] * 8)
    set_frames(doc, [
        FrameRow(2 * i + 1, f"{row[1]}.01", tuple(Role(label, 2 * i, 2 * i + 1) for label in
                                               (("ACT", "PAT") if row[1] == "run" else ("ACT",))))
        for i, row in enumerate(rows)
    ])  # fmt: skip
    labeller = RoleLabeller(RoleSettings(**FIXED))
    labeller.fit([doc])
    assert labeller.arguments is not None
    assert labeller.arguments.labels == ["ACT", "ACT|PAT"]
    assert frame_rows(labelled(labeller, doc)) == frame_rows(doc)


def test_what_cannot_be_trained_on_is_refused():
    with pytest.raises(DataError, match="no predicates to train on"):
        RoleLabeller().fit([Doc.from_words([["Dogs", "bark"]], head=[[2, 0]])])
    doc = Doc.from_words([["Dogs", "bark"]])
    set_frames(doc, [FrameRow(1, "bark.01")])
    with pytest.raises(DataError, match="has no trees"):
        RoleLabeller().fit([doc])
    with pytest.raises(WeftError, match="not trained yet"):
        RoleLabeller()([doc])
    for wrong in ({"core": "("}, {"c_labels": -1.0}, {"min_count": 0}):
        with pytest.raises(ConfigError):
            RoleLabeller(RoleSettings(**wrong))
