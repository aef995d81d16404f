"""Label spaces: pairs, boundaries, schemes."""

import numpy as np
import pytest

from weft.errors import ConfigError, InferenceError, WeftError
from weft.infer.chains.chain import Chain
from weft.learn.chains.labels import LabelSpace
from weft.text.schemes import Topology


def test_noun_phrase_pairs_are_the_eight_of_the_paper():
    space = LabelSpace(["B", "I", "O"], order=2, scheme="IOB2")
    assert space.names == ["BB", "BI", "BO", "IB", "II", "IO", "OB", "OO"]
    assert [name for name, opens in zip(space.names, space.start, strict=True) if opens] == ["OB", "OO"]
    assert space.n_columns == 11


@pytest.mark.parametrize("order", [0, 1, 2])
def test_states_and_tags_are_inverse(order):
    space = LabelSpace(["A", "B", "C"], order)
    tags = np.random.default_rng(0).integers(0, 3, 20).astype(np.int32)
    sentences = np.array([0, 5, 5, 6, 20])
    assert (space.tags(space.states(tags, sentences)) == tags).all()


def test_forbidden_sequences_have_no_states():
    space = LabelSpace(["B", "I", "O"], order=2, scheme="IOB2")
    with pytest.raises(InferenceError, match="cannot follow"):
        space.states(np.array([2, 1], dtype=np.int32), np.array([0, 2]))


def test_first_and_last_positions_are_masked_as_the_scheme_says():
    space = LabelSpace(["B-X", "E-X", "I-X", "O", "S-X"], order=1, scheme="BIOES")
    allowed = space.allowed(np.array([0, 3, 3, 4]))
    assert allowed is not None
    names = np.array(space.labels)
    assert set(names[allowed[0]]) == {"B-X", "O", "S-X"}
    assert set(names[allowed[1]]) == set(names)
    assert set(names[allowed[2]]) == {"E-X", "O", "S-X"}
    assert set(names[allowed[3]]) == {"O", "S-X"}
    assert LabelSpace(["A"]).allowed(np.array([0, 3])) is None


def test_bad_spaces_and_labels_are_refused():
    with pytest.raises(ConfigError, match="order 0, 1 or 2"):
        LabelSpace(["A"], order=3)
    with pytest.raises(ConfigError, match="distinct"):
        LabelSpace(["A", "A"])
    with pytest.raises(WeftError, match="'X' is not among the labels"):
        LabelSpace(["A"]).ids(["A", "X"])


@pytest.mark.parametrize("order", [1, 2])
def test_a_topology_says_what_begins_follows_and_ends(order):
    topology = Topology(start=("a",), follows={"a": ("a", "b"), "b": ("c",), "c": ("a",)}, end=("c",))
    space = LabelSpace(["a", "b", "c"], order, topology=topology)
    sentences = np.array([0, 4])
    scores = np.random.default_rng(0).normal(size=(4, space.n_states))
    chain = Chain(scores, np.zeros(space.legal.shape), sentences, space.allowed(sentences), space.legal)
    found = ["".join(space.labels[tag] for tag in space.tags(path)) for path in chain.kbest(10)[0]]
    assert sorted(found) == ["aabc"]
    assert Topology.from_dict(topology.as_dict()) == topology


def test_a_topology_must_know_its_labels():
    with pytest.raises(WeftError, match="does not have: z"):
        LabelSpace(["a"], topology=Topology(("z",), {"a": ("a",)}, ("a",)))
    with pytest.raises(ConfigError, match="not both"):
        LabelSpace(["O"], scheme="IOB2", topology=Topology(("O",), {"O": ("O",)}, ("O",)))
