"""The detector of hedges on sentences made up here, and the rules behind the syntactic scope."""

import numpy as np
import pytest

from weft.errors import ConfigError, DataError, TemplateError, WeftError
from weft.features.templates import Templates
from weft.formats import read
from weft.pipeline.pipeline import Pipeline
from weft.pipeline.registry import train
from weft.tasks.uncertainty.data import Space, class_weights, look
from weft.tasks.uncertainty.detector import HedgeDetector, HedgeSettings
from weft.tasks.uncertainty.features import merged_units, observe, trees_of, with_cues
from weft.tasks.uncertainty.models import LabelModel, Margin, SentenceModel
from weft.tasks.uncertainty.syntax import Tree, syntactic_scope
from weft.text import Doc
from weft.text.conventions.hedges import Hedge, hedges_of, set_hedges, uncertain_of

SMALL = {"sentence_learner": "l2", "c": 10.0}


@pytest.fixture(scope="module")
def detector(examples):
    found = HedgeDetector(HedgeSettings(**SMALL))
    found.fit(read(examples / "hedges.xml"))
    return found


def tree(rows):
    """A tree from lines `form tag head relation`, heads counted from 1."""
    words = [row.split() for row in rows]
    forms = [word[0] for word in words]
    return Tree(forms, forms, [w[1] for w in words], [int(w[2]) - 1 for w in words], [w[3] for w in words])


def scope(rows, *cue):
    parsed = tree(rows)
    return " ".join(parsed.forms[slice(*syntactic_scope(parsed, list(cue)))])


def test_a_model_that_was_saved_finds_the_same(detector, examples, tmp_path):
    report = train("hedge", read(examples / "hedges.xml"), read(examples / "hedges.xml"), tmp_path / "m.weft", SMALL)
    assert report["scores"]["dev cues f1"] > 0.9
    assert report["scores"]["dev sentences f1"] > 0.9
    loaded = Pipeline.load(tmp_path / "m.weft")
    for component in (detector, loaded.components[0]):
        doc = Doc.from_words([["The", "gate", "may", "be", "open", "."], ["It", "is", "old", "."]])
        component([doc])
        assert hedges_of(doc) == [[Hedge((2,), (2, 5))], []]
        assert uncertain_of(doc) == [True, False]


def test_features_may_have_places_of_their_own(examples, tmp_path):
    train("hedge", read(examples / "hedges.xml"), None, tmp_path / "m.weft", {**SMALL, "hash_bits": 0})
    doc = Pipeline.load(tmp_path / "m.weft")("The gate may be open.")
    assert [hedge.cue for hedge in hedges_of(doc)[0]] == [(2,)]


def test_cues_may_be_given(detector):
    doc = Doc.from_words([["The", "gate", "may", "be", "open", "."]])
    hedges, _ = detector.find([doc], [[Hedge((0,))]])
    assert hedges[0][0].cue == (0,)
    assert hedges[0][0].scope[0] == 0


def test_sentences_alone_can_be_learned():
    doc = Doc.from_words([["Some", "say", "so"], ["It", "is", "so"], ["Some", "think", "so"], ["It", "was"]])
    set_hedges(doc, [[], [], [], []], uncertain=[True, False, True, False])
    for learner in ("l1", "l2", "margin"):
        found = HedgeDetector(HedgeSettings(sentence_learner=learner, c=10.0, sentence_l2=0.1))
        found.fit([doc])
        new = Doc.from_words([["Some", "know"], ["It", "knows"]])
        found([new])
        assert uncertain_of(new) == [True, False]
        assert found.cue_model is None
        assert found.scope_model is None


def test_pieces_that_belong_together_are_one_cue():
    rows = [["It", "is", "either", "cold", "or", "warm", "."], ["It", "is", "cold", "."]] * 4
    doc = Doc.from_words(rows)
    set_hedges(doc, [[Hedge((2, 4), (2, 6))], []] * 4)
    detector = HedgeDetector(HedgeSettings(**SMALL, scope_l2=0.1))  # so few sentences bear no more
    detector.fit([doc])
    new = Doc.from_words([["She", "is", "either", "late", "or", "lost", "."]])
    detector([new])
    assert hedges_of(new) == [[Hedge((2, 4), (2, 6))]]


def test_biases_speak_for_certain_sentences_and_all_else_for_uncertain_ones():
    doc = observe([Doc.from_words([["It", "may", "rain"], ["It", "rains"]])])
    templates = Templates("SENLEN[0] LEMMA[0]")
    space = Space.of(look(doc, templates), 2, 0)
    data = space.sentences(look(doc, templates))
    assert np.diff(data.offsets).tolist() == [4, 3]
    assert sorted(data.only[:4].tolist()) == [0, 1, 1, 1]
    assert class_weights(np.array([0, 0, 1])).tolist() == [1.5, 1.5, 3.0]


def test_ranges_products_heads_and_labels_are_templates():
    doc = Doc.from_words(
        [["it", "may", "rain"]], upos=[["PRON", "AUX", "VERB"]], head=[[3, 3, 0]], deprel=[["nsubj", "aux", "root"]]
    )
    seen = with_cues(observe([doc]), trees_of(doc), [(0, [1])])
    counts = {
        "TOKEN{-1..0}": [1, 2, 2],
        "TOKEN[0]|TOKEN[1]": [1, 1, 1],
        "HEAD_LEMMA[0]": [1, 1, 0],
        "HEAD_MORPH[0]": [1, 1, 0],
        "SYN[0]": [3, 3, 3],
        "SYN{0..1}|CUE[0]": [5, 5, 3],
        "CUE{-2..-1}": [0, 1, 2],
        "LABEL{-2..-1}|CUESCOPE[0]": [1, 1, 1],
    }
    for text, expected in counts.items():
        observed = look(seen, Templates(text))
        assert np.bincount(observed.word, minlength=3).tolist() == expected, text
    data = Space.of(observed, 3, 18).sequences(observed)
    assert data.patterns.reach == 2
    assert np.diff(data.past_offsets).tolist() == [1, 1, 1]
    assert len(data.base) == 0
    with pytest.raises(TemplateError, match="LABEL"):
        look(seen, Templates("y[-1]|TOKEN[0]"))


def test_features_of_some_sentences_and_templates_are_those_of_the_whole():
    doc = observe([Doc.from_words([["a", "b"], ["c"], ["d", "e", "f"]])])
    observed = look(doc, Templates("TOKEN[0] TOKEN[-1] TOKEN[0]|TOKEN[1]"))
    part = observed.choose([0, 2]).take([2, 0])
    assert part.sentences.tolist() == [0, 3, 5]
    direct = look(observe([Doc.from_words([["d", "e", "f"], ["a", "b"]])]), Templates("TOKEN[0] TOKEN[0]|TOKEN[1]"))
    assert part.keys.tolist() == direct.keys.tolist()
    assert part.word.tolist() == direct.word.tolist()


def test_fixed_expressions_are_single_words_for_sentences():
    doc = Doc.from_words([["Of", "course", "so"]], head=[[3, 1, 0]], deprel=[["advmod", "fixed", "root"]])
    merged = merged_units(observe([doc]))
    assert merged.column("LEMMA") == ["of_course", "so"]
    assert merged.sentence_offsets.tolist() == [0, 2]


@pytest.mark.parametrize(
    ("rows", "cue", "expected"),
    [
        (
            ["it PRON 3 nsubj", "may AUX 3 aux", "help VERB 0 root", "because SCONJ 6 mark", "we PRON 6 nsubj",
             "try VERB 3 advcl", ". PUNCT 3 punct"],
            [1],
            "may help",
        ),
        (
            ["birds NOUN 4 nsubj:pass", "may AUX 4 aux", "be AUX 4 aux:pass", "seen VERB 0 root", "[ PUNCT 6 punct",
             "16 NUM 4 dep", "] PUNCT 6 punct"],
            [1],
            "birds may be seen",
        ),
        (["rain NOUN 2 nsubj", "seems VERB 0 root", "to PART 4 mark", "help VERB 2 xcomp"], [1], "seems to help"),
        (["rain NOUN 2 nsubj", "appear VERB 0 root", "to PART 4 mark", "help VERB 2 xcomp"], [1],
         "rain appear to help"),
        (["we PRON 2 nsubj", "saw VERB 0 root", "possible ADJ 4 amod", "leaks NOUN 2 obj", "near ADP 6 case",
          "it PRON 4 nmod", ". PUNCT 2 punct"], [2], "possible leaks near it"),
        (["causes NOUN 3 nsubj", "are AUX 3 cop", "unclear ADJ 0 root", ". PUNCT 3 punct"], [2], "causes are unclear"),
        (["it PRON 3 expl", "is AUX 3 cop", "likely ADJ 0 root", "that SCONJ 6 mark", "we PRON 6 nsubj",
          "win VERB 3 ccomp"], [2], "likely that we win"),
        (["in ADP 2 case", "cats NOUN 5 obl", "or CCONJ 4 cc", "dogs NOUN 2 conj", "live VERB 0 root"], [2],
         "cats or dogs"),
        (["ask VERB 0 root", "whether SCONJ 4 mark", "he PRON 4 nsubj", "came VERB 1 ccomp", ". PUNCT 1 punct"], [1],
         "whether he came"),
        (["it PRON 3 nsubj", "probably ADV 3 advmod", "rains VERB 0 root", "today NOUN 3 obl"], [1],
         "probably rains today"),
    ],
)  # fmt: skip
def test_the_scope_of_a_cue_follows_the_guidelines(rows, cue, expected):
    assert scope(rows, *cue) == expected


def test_without_trees_the_scope_ends_where_another_clause_begins():
    rows = ["it PRON 0 _", "may AUX 0 _", "rain VERB 0 _", ", PUNCT 0 _", "but CCONJ 0 _", "we PRON 0 _", "go VERB 0 _"]
    assert scope(rows, 1) == "may rain"
    assert scope(["a DET 0 _", "possible ADJ 0 _", "leak NOUN 0 _", "ran VERB 0 _"], 1) == "possible leak"


def test_every_scope_of_any_tree_holds_its_cue():
    rng = np.random.default_rng(0)
    tags, relations = ["AUX", "VERB", "NOUN", "ADJ", "ADV", "CCONJ", "SCONJ", "PUNCT"], ["aux", "conj", "cc", "amod",
        "advmod", "mark", "nsubj", "xcomp", "root", "cop", "parataxis"]  # fmt: skip
    for _ in range(300):
        n = int(rng.integers(1, 9))
        heads = rng.integers(-1, n, n).tolist()  # cycles and several roots included
        words = [str(rng.choice(["may", "or", "it", ",", ")", "("])) for _ in range(n)]
        parsed = Tree(words, words, rng.choice(tags, n).tolist(), heads, rng.choice(relations, n).tolist())
        cue = sorted(rng.choice(n, int(rng.integers(1, n + 1)), replace=False).tolist())
        start, end = syntactic_scope(parsed, cue)
        assert 0 <= start <= cue[0]
        assert cue[-1] < end <= n


def test_bad_settings_and_data_are_refused(detector):
    with pytest.raises(ConfigError, match="l1, l2, margin"):
        HedgeSettings.from_options({"sentence_learner": "svm"})
    with pytest.raises(ConfigError, match="width must be above 0"):
        HedgeSettings.from_options({"width": "0"})
    with pytest.raises(DataError, match="no span layer 'speculation'"):
        HedgeDetector().fit([Doc.from_words([["a"]])])
    doc = Doc.from_words([["a"], ["b"]])
    set_hedges(doc, [[], []])
    with pytest.raises(DataError, match="has only one kind"):
        HedgeDetector().fit([doc])
    with pytest.raises(WeftError, match="not trained yet"):
        HedgeDetector()([Doc.from_words([["a"]])])
    observed = look(observe([Doc.from_words([["a"]])]), Templates("TOKEN[0]"))
    with pytest.raises(ConfigError, match="hash_bits"):
        LabelModel.fit(Templates("TOKEN[0]"), observed, np.zeros(1, dtype=np.int32), Margin(), bits=40)
    with pytest.raises(ConfigError, match="sentence learner must be one of"):
        SentenceModel.fit(Templates("TOKEN[0]"), observed, np.zeros(1), "perceptron")
