"""Votes of role labellers, machines in bins, and the joint labeller."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft import Doc, load, read
from weft.errors import DataError
from weft.evaluate.semantics.frames import evaluate_frames
from weft.pipeline import Pipeline
from weft.tasks.roles.bins import BinnedLabeller, BinSettings, without_frames
from weft.tasks.roles.joint import JointLabeller, joint_label, split_label
from weft.tasks.roles.node_features import NODE, Sentences, Values, information_gain, node_values, pair_values
from weft.tasks.roles.votes import repeated_labels, vote, vote_documents, without_repetitions
from weft.text.frames import FrameRow, Role, frame_rows, set_frames

LABELS = ("A0", "A1", "AM-TMP")


@st.composite
def frames(draw):
    """Frames of a labeller over six words."""
    places = draw(st.lists(st.integers(0, 5), unique=True, max_size=3))
    roles = st.lists(st.tuples(st.sampled_from(LABELS), st.integers(0, 5)), unique=True, max_size=4)
    return [FrameRow(p, "x.01", tuple(Role(label, w, w + 1) for label, w in draw(roles))) for p in sorted(places)]


@given(st.lists(frames(), min_size=1, max_size=4))
def test_a_vote_keeps_what_more_than_half_of_those_asked_have(proposals):
    kept = {frame.predicate: set(frame.roles) for frame in vote(proposals)}
    own = [{frame.predicate: set(frame.roles) for frame in each} for each in proposals]
    for place in range(6):
        proposed = [each[place] for each in own if place in each]
        assert (place in kept) == (len(proposed) > len(own) / 2)
        if place in kept:
            candidates = set().union(*proposed)
            # Only labellers that proposed the predicate are asked about its arguments.
            assert kept[place] == {
                role for role in candidates if sum(role in each for each in proposed) > len(proposed) / 2
            }


@given(frames(), st.integers(1, 4))
def test_equal_labellers_agree_with_themselves(own, number):
    assert [(f.predicate, f.sense, set(f.roles)) for f in vote([own] * number)] == [
        (f.predicate, f.sense, set(f.roles)) for f in own
    ]


@given(frames())
@pytest.mark.must_show("blended-srl", 7)
def test_after_the_repair_no_frame_repeats_a_core_label(own):
    repaired = without_repetitions(own)
    assert repeated_labels(repaired)[0] == 0
    for before, after in zip(own, repaired, strict=True):
        assert set(after.roles) <= set(before.roles)
        assert {role.label for role in after.roles} == {role.label for role in before.roles}


def test_documents_with_other_words_are_refused():
    with pytest.raises(DataError, match="same words"):
        vote_documents([[Doc.from_words([["a"]])], [Doc.from_words([["b"]])]])


@pytest.mark.must_show("blended-srl", 6)
@given(st.sampled_from(["nsubj", "nsubj:pass", "obl"]), st.lists(st.sampled_from(LABELS), unique=True))
def test_joint_labels_decode_into_relation_and_roles(relation, roles):
    assert split_label(joint_label(relation, roles)) == (relation, sorted(roles))


@pytest.fixture(scope="module")
def kitchen(examples):
    return list(read(examples / "roles/kitchen.conllu"))


@pytest.fixture(scope="module")
def joint(kitchen):
    labeller = JointLabeller()
    labeller.fit(kitchen)
    return labeller


@pytest.mark.must_show("blended-srl", 6)
def test_a_merged_parse_has_one_head_per_word_and_the_share_of_parses_as_confidence(joint, examples):
    for doc in read(examples / "roles/evening.conllu"):
        frames, heads, relations, sure = joint.parse(doc)
        assert len(heads) == len(relations) == len(sure) == doc.n_words
        lengths = np.repeat(np.diff(doc.sentence_offsets), np.diff(doc.sentence_offsets))
        assert ((heads >= 0) & (heads <= lengths)).all()
        assert [frame.predicate for frame in frames] == [frame.predicate for frame in frame_rows(doc)]
        # A sentence with m predicates is parsed m times: confidences are multiples of 1 / m.
        for sentence in doc.sentences:
            m = max(1, sum(sentence.first <= frame.predicate < sentence.end for frame in frames))
            own = sure[sentence.first : sentence.end] * m
            assert np.allclose(own, own.round())
            assert (own >= 1).all()


def test_merging_takes_the_most_frequent_head_of_several_parses(joint):
    class Fixed:
        """A parser that gives the first of three parses another tree."""

        def parse(self, docs):
            for k, doc in enumerate(docs):
                doc.head = np.array([2, 0, 2 if k else 1], np.int32)
                doc.set_column("deprel", ["x/_", "root/_", "z/_" if k else "y/A1"])

    labeller = JointLabeller()
    labeller.parser = Fixed()
    doc = Doc.from_words([["a", "b", "c"]], upos=[["NOUN", "VERB", "NOUN"]])
    set_frames(doc, [FrameRow(k, "x.01") for k in range(3)])
    frames, heads, relations, sure = labeller.parse(doc)
    assert heads.tolist() == [2, 0, 2]
    assert relations == ["x", "root", "z"]
    assert sure.tolist() == [1.0, 1.0, pytest.approx(2 / 3)]
    assert [frame.roles for frame in frames] == [(Role("A1", 2, 3),), (), ()]


@pytest.mark.parametrize("bins", ["few", "many"])
def test_machines_in_bins_find_hidden_predicates_and_roles_and_are_saved(kitchen, examples, tmp_path, bins):
    gold = list(read(examples / "roles/evening.conllu"))
    labeller = BinnedLabeller(BinSettings(bins=bins, rare_values=2, gain=0.0, c=1.0))
    labeller.fit(kitchen)
    found = [without_frames(doc) for doc in gold]
    labeller(found)
    report = evaluate_frames(gold, found)
    assert report["senses"].f1 > 0.8
    assert report["labelled"].f1 > 0.7
    Pipeline([labeller]).save(tmp_path / "bins.weft")
    again = [without_frames(doc) for doc in gold]
    load(tmp_path / "bins.weft").annotate(again)
    assert [frame_rows(doc) for doc in again] == [frame_rows(doc) for doc in found]


@pytest.mark.parametrize(("bins", "alike"), [("few", True), ("many", False)])
def test_many_bins_part_frequent_from_rare_lemmas(bins, alike):
    labeller = BinnedLabeller(BinSettings(bins=bins))
    labeller.counts = {"be": 5000, "blorp": 1}
    sentences = Sentences([Doc.from_words([["is", "blorp"]], lemma=[["be", "blorp"]], upos=[["VERB", "VERB"]])])
    one, other = labeller._salts(sentences, np.arange(2)).tolist()
    assert (one == other) is alike


def test_a_lexicon_takes_back_predicates_that_neither_it_nor_training_has(kitchen, examples):
    labeller = BinnedLabeller(BinSettings(rare_values=2, gain=0.0))
    labeller.fit(kitchen)
    doc = Doc.from_words([["the", "guest", "blorps", "the", "soup"]], upos=[["DET", "NOUN", "VERB", "DET", "NOUN"]],
                         lemma=[["the", "guest", "blorp", "the", "soup"]], head=[[2, 3, 0, 5, 3]],
                         deprel=[["det", "nsubj", "root", "det", "obj"]])  # fmt: skip
    free, bound = without_frames(doc), without_frames(doc)
    labeller([free])
    assert [frame.predicate.form for frame in free.frames] == ["blorps"]
    labeller.restrict([("sing", "v")], kitchen)
    labeller([bound])
    assert bound.frames == []
    labeller.restrict([("blorp", "v")], kitchen)
    again = without_frames(doc)
    labeller([again])
    assert [frame.predicate.form for frame in again.frames] == ["blorps"]


def test_rare_values_become_one_value_except_where_values_count():
    rows = [["upper", "1", "active", *["common"] * (len(NODE) - 3)]] * 20
    rows.append(["lower", "7", "passive", *["rare"] * (len(NODE) - 3)])
    rows.append(["lower", "8", "passive", *["rarer"] * (len(NODE) - 3)])
    keys = Values.learn(rows, 20).of_nodes(rows)
    assert (keys[-1, 3:] == keys[-2, 3:]).all()
    assert (keys[-1, 3:] != keys[0, 3:]).all()
    assert keys[-1, 1] != keys[-2, 1]


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=30))
@settings(deadline=None)
def test_information_gain_is_that_of_its_definition(rows):
    def entropy(outcomes):
        p = sum(outcomes) / len(outcomes)
        return 0.0 if p in (0, 1) else -p * np.log2(p) - (1 - p) * np.log2(1 - p)

    values, positive = np.array([v for v, _ in rows], np.uint64), np.array([y for _, y in rows])
    rest = sum(np.mean(values == v) * entropy(positive[values == v].tolist()) for v in set(values.tolist()))
    assert information_gain(values, positive) == pytest.approx(entropy(positive.tolist()) - rest, abs=1e-9)


def test_features_describe_the_surroundings_of_a_node():
    doc = Doc.from_words([["Old", "dogs", "bark", "loudly"]], upos=[["ADJ", "NOUN", "VERB", "ADV"]],
                         head=[[2, 3, 0, 3]], deprel=[["amod", "nsubj", "root", "advmod"]])  # fmt: skip
    sentences = Sentences([doc])
    dogs = dict(zip(NODE, node_values(sentences)[1], strict=True))
    assert dogs["parent lemma"] == "bark"
    assert dogs["right rel"] == "advmod"
    assert dogs["family pos sequence"] == "ADJ NOUN"
    assert dogs["parent family pos bag"] == "ADV NOUN VERB"
    assert dogs["content lemma sequence"] == "old dogs"
    assert dogs["parent children rel sequence"] == "nsubj advmod"
    assert pair_values(sentences, 2, 0)[2:] == ["2", "ADJ amod nsubj VERB", "ADJ amod nsubj", "amod root"]
