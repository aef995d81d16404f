"""Graph-based parsers: every system learns, keeps its promises, and refuses what it cannot do."""

from __future__ import annotations

import numpy as np
import pytest
from small_treebank import bare, treebank

from weft.errors import ConfigError, DataError, ModelError, WeftError
from weft.infer.trees.projectivity import is_projective, is_tree
from weft.pipeline.pipeline import Pipeline
from weft.pipeline.registry import new_component
from weft.tasks.parsing.mst.parser import MSTParser
from weft.tasks.parsing.mst.settings import MSTSettings
from weft.text import Doc
from weft.text.conventions.alternatives import alternatives

KINDS = [
    ("mst1", "projective", "mira"),
    ("mst1", "projective", "crf"),
    ("mst1", "nonprojective", "mira"),
    ("mst1", "nonprojective", "crf"),
    ("mst1", "crossing", "mira"),
    ("mst2", "projective", "mira"),
    ("mst2", "projective", "perceptron"),
    ("mst2", "nonprojective", "mira"),
    ("mst3", "projective", "mira"),
    ("crossing", "projective", "mira"),
]


def fitted(**options) -> MSTParser:
    parser = MSTParser(MSTSettings(**{"epochs": 8, "bits": 16, **options}))
    parser.fit([treebank()])
    return parser


@pytest.mark.parametrize(("system", "shape", "learner"), KINDS)
@pytest.mark.parametrize("threshold", [0.0, 0.01])
def test_every_system_learns_a_small_treebank(system, shape, learner, threshold):
    doc, gold = bare(treebank()), treebank()
    fitted(system=system, shape=shape, learner=learner, threshold=threshold)([doc])
    assert doc.head.tolist() == gold.head.tolist()
    assert doc.column("deprel") == gold.column("deprel")


def test_k_best_mira_and_factors_of_learners_can_be_set():
    doc, gold = bare(treebank()), treebank()
    fitted(system="mst1", k=4, cap=0.0, relations="atomic", morphology=False)([doc])
    assert doc.head.tolist() == gold.head.tolist()


@pytest.mark.parametrize("system", ["mst1", "mst2", "mst3", "crossing"])
def test_a_saved_parser_says_the_same(tmp_path, system):
    parser = fitted(system=system)
    Pipeline([parser], {"name": "p"}).save(tmp_path / "p.weft")
    again = Pipeline.load(tmp_path / "p.weft")
    one, other = bare(treebank()), bare(treebank())
    parser([one])
    again.components[0]([other])
    assert one.head.tolist() == other.head.tolist()
    assert one.column("deprel") == other.column("deprel")


def test_damaged_weights_are_refused():
    header, arrays = fitted(system="mst1").state()
    with pytest.raises(ModelError, match="are inconsistent"):
        MSTParser.from_state(header, {**arrays, "parser.slots": arrays["parser.slots"][1:]})


@pytest.mark.parametrize("system", ["mst1", "mst2", "mst3", "crossing"])
def test_every_sentence_gets_a_tree_with_one_root_whatever_its_length(system):
    parser = fitted(system=system, epochs=2)
    doc = Doc.from_words([["a"], ["dogs", "see", "cats"] * 13], upos=[["DET"], ["NOUN", "VERB", "NOUN"] * 13])
    parser([doc])
    for first, end in ((0, 1), (1, 40)):
        heads = doc.head[first:end]
        assert is_tree(heads)
        assert int((heads == 0).sum()) == 1
        assert system == "crossing" or is_projective(heads)
    empty = Doc("")
    parser([empty])
    assert empty.n_words == 0


def test_probabilities_of_heads_are_those_of_all_trees_and_k_best_trees_add_up():
    parser = fitted(system="mst2", threshold=0.0)
    doc = Doc.from_words([["the", "dog", "sees"]], upos=[["DET", "NOUN", "VERB"]])
    parser([doc], probabilities=True, kbest=200)
    (ranked,) = alternatives(doc, "graph-parser")
    assert sum(each["probability"] for each in ranked) == pytest.approx(1.0, abs=0.01)
    best = [int(label.split()[0]) for label in ranked[0]["labels"]]
    assert best == doc.head.tolist()
    for i, head in enumerate(best):
        from_trees = sum(each["probability"] for each in ranked if each["labels"][i].split()[0] == str(head))
        assert doc.confidence["head"][i] == pytest.approx(from_trees, abs=0.01)


@pytest.mark.parametrize(
    ("system", "shape"), [("mst2", "nonprojective"), ("crossing", "projective"), ("mst1", "crossing")]
)
def test_searches_without_sums_say_so(system, shape):
    parser = fitted(system=system, shape=shape, epochs=1)
    with pytest.raises(ConfigError, match="gives no probabilities"):
        parser([bare(treebank())], probabilities=True)
    with pytest.raises(ConfigError, match="no k best trees"):
        MSTSettings(system=system, shape=shape, k=2).check()


def test_crossing_trees_are_learned_only_by_systems_that_have_them():
    words, tags = ["a", "hearing", "is", "scheduled", "on", "it"], ["DET", "NOUN", "AUX", "VERB", "ADP", "PRON"]
    heads, relations = [2, 4, 4, 0, 6, 2], ["det", "nsubj", "aux", "root", "case", "nmod"]
    doc = Doc.from_words([words] * 3, upos=[tags] * 3, head=[heads] * 3, deprel=[relations] * 3)
    for system, shape, found in (
        ("mst1", "nonprojective", True),
        ("crossing", "projective", True),
        ("mst1", "projective", False),
    ):
        parser = MSTParser(MSTSettings(system=system, shape=shape, epochs=10, bits=16))
        report = parser.fit([doc])
        assert report["training"]["non-projective trees"] == 3
        new = Doc.from_words([words], upos=[tags])
        parser([new])
        assert (new.head.tolist() == heads) is found


def test_broken_trees_are_left_out_and_counted():
    doc = Doc.from_words([["a", "b"], ["dogs", "bark"]], upos=[["X", "X"], ["NOUN", "VERB"]], head=[[2, 1], [2, 0]],
                       deprel=[["x", "x"], ["nsubj", "root"]])  # fmt: skip
    report = MSTParser(MSTSettings(system="mst1", epochs=1, bits=12)).fit([doc])
    assert report["training"]["broken trees"] == 1
    with pytest.raises(DataError, match="training sentences is usable"):
        MSTParser(MSTSettings(bits=12)).fit([Doc.from_words([["a", "b"]], head=[[2, 1]], deprel=[["x", "x"]])])
    with pytest.raises(DataError, match="no heads"):
        MSTParser().fit([Doc.from_words([["a", "b"]])])


@pytest.mark.parametrize("system", ["mst1", "mst3"])
def test_classes_of_words_tell_of_unseen_words_and_are_kept_in_the_model(tmp_path, system):
    words = [f"{name}-{i}" for i in range(21) for name in ("near", "far")]
    path = tmp_path / "words.paths"
    path.write_text("".join(f"{'0000' if word < 'g' else '1111'}\t{word}\t9\n" for word in words), encoding="utf-8")

    def sentences(chosen: list[str]) -> Doc:
        heads = [[0, 1, 1 if word < "g" else 2] for word in chosen]
        rows = [["one", "two", word] for word in chosen]
        relations = [["root", "dep", "dep"]] * len(rows)
        return Doc.from_words(rows, upos=[["X"] * 3] * len(rows), head=heads, deprel=relations)

    parser = MSTParser(MSTSettings(system=system, clusters=str(path), epochs=6, bits=14))
    parser.fit([sentences(words[:-2])])
    gold = sentences(words[-2:])
    found = bare(gold)
    Pipeline([parser]).save(tmp_path / "parser.weft")
    path.unlink()
    Pipeline.load(tmp_path / "parser.weft").annotate([found])
    assert found.head.tolist() == gold.head.tolist()


def test_options_that_do_not_fit_are_refused():
    for options in (
        {"system": "mst9"},
        {"shape": "round"},
        {"system": "mst3", "shape": "nonprojective"},
        {"system": "mst2", "shape": "crossing"},
        {"epochs": 0},
    ):
        with pytest.raises(ConfigError):
            MSTParser(MSTSettings(**options))
    with pytest.raises(WeftError, match="not trained"):
        MSTParser()([bare(treebank())])
    with pytest.raises(ConfigError, match="transition system"):
        new_component("parser", {"system": "arc-eager", "shape": "nonprojective"})
    assert new_component("parser", {"system": "crossing"}).task == "graph-parser"


def test_dev_data_choose_the_epoch_are_scored_and_set_the_temperature():
    parser = MSTParser(MSTSettings(system="mst1", epochs=3, bits=16))
    report = parser.fit([treebank()], [treebank()])
    assert report["scores"]["dev LAS"] == 1.0
    assert parser.temperature != 1.0


def test_the_same_seed_gives_the_same_weights():
    one, other = fitted(system="mst2", seed=3), fitted(system="mst2", seed=3)
    np.testing.assert_array_equal(one.weights, other.weights)
