"""Parts of the parsers of papers that scores on a treebank do not tell apart: each of them changes what is learned."""

from __future__ import annotations

import numpy as np
import pytest
from small_treebank import treebank

import weft
from weft.features.morphology import Morphology
from weft.features.relation_templates import MORPHOLOGY
from weft.infer.crossing.parts import is_one_endpoint_crossing
from weft.infer.transitions.model import TransitionParser
from weft.infer.trees.projectivity import is_projective
from weft.learn.online.demands import HeadByHead
from weft.learn.transitions.learner import TransitionLearner
from weft.tasks.constituents.templates import HEAD_CHARACTERS, templates_of
from weft.tasks.parsing import relations
from weft.tasks.parsing.mst.parser import MSTParser
from weft.tasks.parsing.mst.settings import MSTSettings
from weft.tasks.parsing.relations import RelationLabeller, RelationSettings
from weft.tasks.parsing.transitions.parser import Parser, ParserSettings
from weft.tasks.speech.parser import DisfluencyParser, DisfluencySettings
from weft.text import Doc

#: Two of its arcs cross.
CROSSING = Doc.from_words([list("abcd")], upos=[list("WXYZ")], head=[[3, 4, 0, 3]], deprel=[["x"] * 4])
#: Of its two modifiers after the verb the first may be reduced late: there are several right computations.
SPURIOUS = Doc.from_words(
    [list("abcde"), list("bcade")], upos=[list("NVDNA"), list("VNDAN")], head=[[2, 0, 4, 2, 2], [0, 1, 1, 1, 1]],
    deprel=[["x"] * 5] * 2,
)  # fmt: skip


def mst(**options) -> MSTParser:
    settings = {"system": "mst1", "epochs": 2, "bits": 14, "threshold": 0.0, "relations": "none", **options}
    return MSTParser(MSTSettings(**settings))


def weights_of(parser: MSTParser, doc: Doc) -> np.ndarray:
    parser.fit([doc])
    return parser.weights


def test_the_number_of_trees_of_an_update_changes_what_mira_learns():
    one, five = (mst(constraints="trees", k=k, cap=0.0) for k in (1, 5))
    assert (one._learner().k, five._learner().k) == (1, 5)
    assert not np.array_equal(weights_of(one, treebank()), weights_of(five, treebank()))


def test_averaged_weights_are_not_the_last_ones():
    averaged, last = (weights_of(mst(k=5, constraints="trees", average=each), treebank()) for each in (True, False))
    assert not np.array_equal(averaged, last)


def test_factored_mira_asks_for_heads_one_by_one():
    factored, trees = mst(constraints="heads", k=2), mst(constraints="trees", k=2)
    assert isinstance(factored._learner().demands, HeadByHead)
    assert not np.array_equal(weights_of(factored, treebank()), weights_of(trees, treebank()))


def test_crossing_trees_are_lifted_reordered_or_kept_before_training(monkeypatch):
    seen = {}
    for way in ("lift", "reorder", "keep"):
        parser = mst(crossings=way)

        def note(batch, held_out, way=way):
            seen[way] = batch
            return {}

        monkeypatch.setattr(parser, "_learn", note)
        parser.fit([CROSSING])
    assert not is_projective(seen["keep"].gold)
    assert is_projective(seen["lift"].gold)
    assert is_projective(seen["reorder"].gold)
    assert not np.array_equal(seen["reorder"].words.values, seen["keep"].words.values)


def test_trees_that_cross_too_much_become_the_nearest_one_endpoint_crossing_ones(monkeypatch):
    doc = Doc.from_words([list("abcde")], upos=[list("VWXYZ")], head=[[2, 0, 2, 1, 3]], deprel=[["x"] * 5])
    assert not is_one_endpoint_crossing(doc.head)
    parser = mst(system="crossing")
    seen = []
    monkeypatch.setattr(parser, "_learn", lambda batch, held_out: seen.append(batch) or {})
    parser.fit([doc])
    (batch,) = seen
    assert is_one_endpoint_crossing(batch.gold)
    assert not is_projective(batch.gold)
    assert (batch.gold == doc.head).sum() == 4


def test_sequences_and_morphology_change_what_a_labeller_of_relations_sees(monkeypatch):
    templates = []
    compiled = relations.compile_relation_templates
    monkeypatch.setattr(relations, "compile_relation_templates", lambda text: templates.append(text) or compiled(text))
    words = np.array([[1, 1], [5, 2], [6, 3], [7, 2]], dtype=np.uint64)
    heads, labels = np.array([2, 0, 2], np.int32), np.array([1, 0, 2], np.int32)
    for sequence in (True, False):
        for morphology in (True, False):
            templates.clear()
            options = RelationSettings(sequence=sequence, morphology=morphology, bits=10, epochs=1)
            labeller = RelationLabeller("wt", options)
            labeller.fit(words, Morphology.none(3), np.array([0, 3]), heads, labels)
            assert (labeller.model.sequence, labeller.model.morphology) == (sequence, morphology)
            assert (MORPHOLOGY in templates[0]) == morphology


@pytest.mark.parametrize(("way", "sequence"), [("sequence", True), ("atomic", False)])
def test_a_parser_labels_dependents_together_or_one_by_one_as_it_is_told(way, sequence):
    parser = mst(relations=way)
    parser.fit([treebank()])
    assert parser.labeller.settings.sequence is sequence


def test_head_characters_are_features_of_parsers_over_characters():
    assert HEAD_CHARACTERS in templates_of("characters", True, True)
    assert HEAD_CHARACTERS not in templates_of("characters", True, False)


@pytest.mark.parametrize("system", ["arc-standard", "lr-spine"])
def test_an_oracle_of_several_right_moves_learns_otherwise_than_one_of_a_single_sequence(system):
    found = {}
    for oracle in ("static", "nondet"):
        parser = Parser(ParserSettings(system=system, oracle=oracle, epochs=3, prune=0.0, beam=1))
        parser.fit([SPURIOUS])
        found[oracle] = [array.tolist() for array in parser.state()[1].values()]
    assert found["static"] != found["nondet"]


def test_exploring_learns_from_the_mistakes_that_it_follows():
    found = {}
    for p in (0.0, 1.0):
        parser = Parser(ParserSettings(system="arc-eager", oracle="dynamic", epochs=4, prune=0.0, beam=1, k=0, p=p))
        parser.fit([SPURIOUS, treebank()])
        found[p] = [array.tolist() for array in parser.state()[1].values()]
    assert found[0.0] != found[1.0]


def test_analyses_of_unequal_length_are_ranked_by_their_means_in_training_and_parsing(monkeypatch, examples):
    asked = []
    parse, fit = TransitionParser.parse, TransitionLearner.fit

    def parse_and_note(self, words, sentences, single_root, constraints, beam, by_mean):
        asked.append(by_mean)
        return parse(self, words, sentences, single_root, constraints, beam, by_mean)

    def fit_and_note(self, *given, **options):
        asked.append(self.by_mean)
        return fit(self, *given, **options)

    monkeypatch.setattr(TransitionParser, "parse", parse_and_note)
    monkeypatch.setattr(TransitionLearner, "fit", fit_and_note)
    docs = [doc.subset(range(4)) for doc in weft.read(examples / "speech.conllu")]
    for by_mean in (True, False):
        asked.clear()
        parser = DisfluencyParser(DisfluencySettings(beam=2, epochs=1, by_mean=by_mean))
        parser.fit(docs)
        parser(docs)
        assert set(asked) == {by_mean}
        assert len(asked) >= 2
