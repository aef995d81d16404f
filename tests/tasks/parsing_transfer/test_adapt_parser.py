"""Parsers for another domain: methods are switched on and off, change nothing where nothing differs, and are saved."""

from __future__ import annotations

import numpy as np
import pytest

from weft.errors import ConfigError, DataError
from weft.features.tree_templates import compile_tree_templates
from weft.pipeline.pipeline import Pipeline
from weft.tasks.parsing.mst.features import FIELDS, templates_of
from weft.tasks.parsing.mst.parser import MSTParser
from weft.tasks.parsing.mst.settings import MSTSettings
from weft.tasks.parsing_transfer.adapt_parser import AdaptedParser, AdaptSettings
from weft.tasks.parsing_transfer.adaptation import METHODS, bagged, draw_bags, sentence_weights, without_nouns
from weft.text.doc import Doc

OPTIONS = {"system": "mst1", "epochs": 2, "bits": 14, "threshold": 0.0, "relations": "none"}
NOUNS, VERBS = ["dog", "cat", "boat", "pilot", "lamp"], ["sees", "hears", "wants"]


def treebank(n, seed, nouns=NOUNS):
    """Sentences `the (N) N V the (N) N`, some without an object."""
    rng = np.random.default_rng(seed)
    words, tags, heads = [], [], []
    for _ in range(n):
        row, tag, head = [], [], []
        verb = None
        for part in range(int(rng.integers(1, 3)) + 1):
            if part == 1:
                verb = len(row) + 1
                row.append(str(rng.choice(VERBS)))
                tag.append("VERB")
                head.append(0)
                continue
            size = int(rng.integers(1, 3))
            first, last = len(row) + 1, len(row) + 1 + size
            row += ["the", *(str(rng.choice(nouns)) for _ in range(size))]
            tag += ["DET"] + ["NOUN"] * size
            head += [last] * size + [-1]
            assert last - first == size
        words.append(row)
        tags.append(tag)
        heads.append([verb if h < 0 else h for h in head])
    return [Doc.from_words(words, upos=tags, head=heads)]


@pytest.fixture(scope="module")
def source():
    return treebank(40, 0)


@pytest.fixture(scope="module")
def target():
    return treebank(30, 1, ["enzyme", "protein", "cell"])


@pytest.fixture(scope="module")
def base(source):
    parser = MSTParser(MSTSettings(**OPTIONS))
    parser.fit(source)
    return parser


def adapted(source, target, methods, **more):
    parser = AdaptedParser(
        AdaptSettings(**{**OPTIONS, "methods": methods, "bags": 2, "folds": 2, **more}), target=target
    )
    report = parser.fit(source)
    return parser, report


@pytest.mark.must_show("hard-domain-adaptation", 1)
@pytest.mark.parametrize("methods", ["", "T1", "T3", "T4", "T5", "T1 T3 T4 T5"])
def test_no_methods_and_weights_from_the_source_itself_give_the_plain_parser_bit_for_bit(source, base, methods):
    parser, _ = adapted(source, source, methods)
    assert base.weights.any()
    assert np.array_equal(parser.weights, base.weights)


@pytest.mark.must_show("hard-domain-adaptation", 1)
def test_templates_of_marks_that_no_arc_has_change_nothing(source, base):
    plain = [Doc.from_words([["go", "now"]] * 3, upos=[["VERB", "ADV"]] * 3, head=[[0, 1]] * 3)]
    parser = AdaptedParser(AdaptSettings(**{**OPTIONS, "methods": "oracle"}))
    parser.fit(plain)  # there are no nouns
    own = MSTParser(MSTSettings(**OPTIONS))
    own.fit(plain)
    assert np.array_equal(parser.weights, own.weights)


@pytest.mark.parametrize("methods", [*METHODS, "F1 F2 F3 D1 T2 T3"])
def test_every_method_trains_a_parser_that_finds_trees(source, target, methods):
    parser, report = adapted(source, target, methods)
    copies = [doc.subset(range(doc.n_sentences)) for doc in target]
    parser(copies)
    assert parser.scores(target)["UAS"] > 0.8
    if methods in ("D2", "D3"):
        assert 0 <= report["training"]["bag disagreement"] <= 1
        assert 0 <= report["training"]["bag error"] <= 1


@pytest.mark.parametrize("method", METHODS)
def test_every_method_changes_the_weights_where_the_target_differs(source, target, method):
    options = {"bits": 18, "cap": 0.0, "slack": 0.01}
    plain = adapted(source, target, "", **options)[0].weights
    assert not np.array_equal(adapted(source, target, method, **options)[0].weights, plain)


def test_small_steps_distinguish_d3_from_d2(source, target):
    d2, d3 = (adapted(source, target, method)[0].weights for method in ("D2", "D3"))
    assert not np.array_equal(d2, d3)


@pytest.mark.parametrize("slack", [0.01, 0.02, 0.0])
def test_steps_of_d3_that_are_no_smaller_are_refused(slack):
    with pytest.raises(ConfigError, match="D3 is D2 with smaller steps"):
        AdaptSettings(methods="D3", cap=0.01, slack=slack).check()


def test_features_of_the_source_alone_get_no_weight_under_t4(source, target):
    parser, _ = adapted(source, target, "T4", bits=20, templates="arc: h.w|m.w")
    again, _ = adapted(source, target, "", bits=20, templates="arc: h.w|m.w")
    words = {word for doc in target for word in doc.column("form")}
    shared = {(h, m) for h in words for m in words}
    assert 0 < np.count_nonzero(parser.weights) < np.count_nonzero(again.weights)
    assert np.count_nonzero(parser.weights) <= 3 * len(shared)  # with direction and distance


@pytest.mark.parametrize("methods", ["F1 F2 F3", "D1", "T4 T5"])
def test_a_saved_parser_finds_the_same_trees(source, target, methods, tmp_path):
    parser, _ = adapted(source, target, methods)
    Pipeline([parser]).save(tmp_path / "a.weft")
    found = []
    for each in (parser, Pipeline.load(tmp_path / "a.weft").components[0]):
        copies = [doc.subset(range(doc.n_sentences)) for doc in target]
        each(copies)
        found.append(np.concatenate([doc.head for doc in copies]))
    assert np.array_equal(*found)
    assert isinstance(each, AdaptedParser)


def test_weights_of_sentences_may_cap_steps_instead(source, target):
    by_loss, by_cap = (adapted(source, target, "T2", weigh=weigh, cap=0.01)[0].weights for weigh in ("loss", "cap"))
    assert not np.array_equal(by_loss, by_cap)


def test_sentences_as_long_as_those_of_the_target_weigh_more():
    source = [Doc.from_words([["a"] * 2, ["a"] * 12], upos=[["X"] * 2, ["X"] * 12])]
    target = [Doc.from_words([["a"] * 11] * 4, upos=[["X"] * 11] * 4)]
    weights = sentence_weights("T1", source, target, "upos")
    assert weights[1] > weights[0]
    assert weights.mean() == pytest.approx(1)


def test_arcs_between_nouns_keep_only_their_coarse_tags():
    templates = without_nouns(templates_of(2), "a.1")
    assert " a.1|h.wt|m.wt " in templates
    assert " h.t|m.t " in templates
    assert "a.1|s" not in templates
    assert compile_tree_templates(templates, list(FIELDS)).marked.seeds.shape[1] > 20


def test_bags_parse_only_what_they_have_not_seen(source):
    bags = draw_bags(40, 2, 10, seed=3)
    asked: list[int] = []

    def fit(docs, number):
        del number
        assert len(docs) == 10
        return lambda found: asked.append(len(found))

    pooled, report = bagged(source, bags, fit, seed=0)
    assert asked == [40 - len(set(bag.tolist())) for bag in bags]
    assert len(pooled) == sum(asked)
    assert report == {"disagreement": 0.0, "error": 0.0}  # nobody parsed anything: all heads are gold


def test_what_cannot_be_done_is_said(source):
    with pytest.raises(ConfigError, match="methods must be among F1, F2"):
        AdaptedParser(AdaptSettings(methods="F9"))
    with pytest.raises(ConfigError, match="learner mira"):
        AdaptedParser(AdaptSettings(methods="T3", learner="perceptron"))
    with pytest.raises(DataError, match="need sentences of the target"):
        AdaptedParser(AdaptSettings(**{**OPTIONS, "methods": "T3"})).fit(source)
    bare = [Doc.from_words([["dog"]], upos=[["NOUN"]])]
    parser, _ = adapted(source, bare, "oracle")
    with pytest.raises(DataError, match="the oracle marks gold arcs"):
        parser(bare)
