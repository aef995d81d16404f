"""The constituent parser as a component: it learns, is saved, parses raw text, words, anything."""

import numpy as np
import pytest
from places import EXAMPLES

import weft
from weft.errors import ConfigError, WeftError
from weft.formats import read, write
from weft.pipeline.registry import train
from weft.tasks.constituents.actions import actions_of, closed, tree_of_actions
from weft.tasks.constituents.data import WordRules, units_of
from weft.tasks.constituents.parser import (
    ConstituentParser,
    ConstituentSettings,
    Sentence,
    binary_tree,
    document_of,
    sentences_of,
)
from weft.text import Corpus, Doc
from weft.text.constituents import doc_of_trees, tree_of
from weft.text.trees import parse_tree

TEA = EXAMPLES / "tea.mrg"


@pytest.fixture(scope="module")
def docs():
    return list(read(TEA))


@pytest.fixture(scope="module")
def parser(docs):
    found = ConstituentParser(ConstituentSettings(beam=4, epochs=15))
    found.fit(docs)
    return found


def test_files_over_characters_give_words_with_their_structures(docs, tmp_path):
    assert docs[0].text.startswith("我喜欢茶。")
    assert docs[0].column("structure")[:4] == [".", "..c", ".", "."]
    write(docs, tmp_path / "tea.mrg", characters=True)
    assert (tmp_path / "tea.mrg").read_text() == TEA.read_text()


def test_it_learns_its_training_sentences(parser, docs):
    gold = sentences_of(docs)
    assert parser.parse_like(gold) == gold
    assert parser.score(gold) == 100.0


def test_a_tagger_learns_words_without_their_structures(docs):
    tagger = ConstituentParser(ConstituentSettings(phrases=False, beam=4, epochs=15))
    tagger.fit(docs)
    assert {name for name in tagger.names if name.startswith("subword")} == {"subword c"}
    gold = sentences_of(docs)
    assert [sentence.words() for sentence in tagger.parse_like(gold)] == [sentence.words() for sentence in gold]


def test_raw_text_gets_words_tags_structures_and_trees(parser):
    doc = Doc("学生 喜欢茶。\n她在图书馆看书！")
    parser([doc])
    assert [word.form for word in doc.sentences[0]] == ["学生", "喜欢", "茶", "。"]
    assert [(token.start, token.end) for token in doc.tokens][:3] == [(0, 2), (3, 5), (5, 6)]
    assert doc.n_sentences == 2
    assert doc.has("constituents")
    assert "".join(word.form for word in doc.words) == doc.text.replace(" ", "").replace("\n", "")


def test_a_saved_parser_parses_the_same(parser, docs, tmp_path):
    report = train(
        "constituents", Corpus(lambda: iter(docs)), None, tmp_path / "tea.weft", {"beam": "2", "epochs": "3"}
    )
    assert report["training"]["sentences"] == 12
    nlp = weft.load(tmp_path / "tea.weft")
    doc = nlp("老师买了新书。")
    own = ConstituentParser(ConstituentSettings(beam=2, epochs=3))
    own.fit(docs)
    assert tree_of(doc, 0) == own.parse(["老师买了新书。"])[0].tree


def test_threads_change_nothing(parser, docs):
    texts = ["".join(word for word, _ in sentence.words()) for sentence in sentences_of(docs)]
    one = parser.parse(texts)
    parser.settings.workers = 3
    assert parser.parse(texts) == one
    parser.settings.workers = 1


def test_empty_short_and_very_long_sentences(parser):
    assert parser.parse([""])[0].structures == ()
    assert len(parser.parse(["茶"])[0].words()) == 1
    long = parser.parse(["茶杯" * 2500], beam=1)[0]
    assert "".join(word for word, _ in long.words()) == "茶杯" * 2500
    assert parser.parse(["2026年ABC"])[0].words()


def test_words_with_tags_can_be_the_units(docs):
    words = ConstituentParser(ConstituentSettings(units="words", beam=4, epochs=15))
    words.fit(docs)
    doc = docs[0].subset(range(docs[0].n_sentences))
    doc.constituents = None
    words([doc])
    assert [tree_of(doc, k) for k in range(12)] == [tree_of(docs[0], k) for k in range(12)]
    english = ConstituentParser(ConstituentSettings(units="words", beam=4, epochs=6, heads="left"))
    trees = ["(S (NP-SBJ (DT the) (NN dog)) (VP (VBZ barks)))", "( (S (NP (NN tea)) (VP (VBZ is) (ADJP (JJ hot)))))"]
    english.fit([doc_of_trees([parse_tree(tree) for tree in trees])])
    (found,) = english.parse([["the", "tea", "is", "hot"]], [["DT", "NN", "VBZ", "JJ"]])
    assert [leaf.word for leaf in found.tree.leaves()] == ["the", "tea", "is", "hot"]


def test_without_phrases_it_is_a_segmenter_and_tagger(docs):
    gold = sentences_of(docs)
    tagger = ConstituentParser(ConstituentSettings(phrases=False, beam=4, epochs=15))
    report = tagger.learn(gold, gold)
    assert report["scores"]["tags"] == 100.0
    assert [sentence.words() for sentence in tagger.parse_like(gold)] == [sentence.words() for sentence in gold]


def test_a_segmenter_and_tagger_needs_no_trees(docs):
    doc = Doc.from_words([["我", "喝", "茶"], ["她", "喝", "咖啡"]], xpos=[["PN", "VV", "NN"]] * 2)
    tagger = ConstituentParser(ConstituentSettings(phrases=False, beam=2, epochs=5))
    tagger.fit([doc])
    text = Doc("她喝茶")
    tagger([text])
    assert [(word.form, word.xpos) for word in text.words] == [("她", "PN"), ("喝", "VV"), ("茶", "NN")]
    assert text.constituents is None
    assert tagger.tag([["我", "喝", "咖啡"]]) == [["PN", "VV", "NN"]]


def test_gold_actions_of_training_sentences_are_legal_and_build_the_tree(docs):
    for sentence in sentences_of(docs):
        for structures in ("annotated", "flat"):
            tree = binary_tree(sentence, ConstituentSettings(structures=structures))
            text = "".join(word for word, _ in sentence.words())
            assert tree_of_actions(actions_of(tree), text) == [tree]


def test_temporary_nodes_can_always_become_complete():
    names = closed(["binary UCP l*", "binary NP r*"])
    assert {"binary UCP l", "binary UCP r", "binary NP r"} <= set(names)
    assert "binary NP l" not in names
    assert any(name.startswith("binary") for name in closed(["unary NP"]))


def test_words_keep_to_the_tags_and_lengths_that_were_seen():
    rules = WordRules([("的", "DEG")] * 9 + [("书", "NN"), ("茶杯", "NN"), ("看", "VV")])
    assert rules.allowed("的", 1) == ["DEG"]
    assert rules.allowed("书", 1) == ["NN", "VV"]  # rare: any open tag
    assert rules.allowed("天上", 2) == ["NN"]  # no verb of two characters was seen
    assert rules.allowed("天上下", 3) == []
    units, _ = units_of(["12A"], rules)
    assert units.longest[1].tolist() == [0, 0, 0]  # no word begins inside a run of digits
    assert units.longest[0].max() == 3
    again = WordRules.from_state(rules.state())
    assert [again.allowed(word, 1) for word in ("的", "书", "x")] == [
        rules.allowed(word, 1) for word in ("的", "书", "x")
    ]


def test_wrong_settings_and_documents_are_refused():
    with pytest.raises(ConfigError, match="units must be one of characters, words"):
        ConstituentSettings.from_options({"units": "letters"})
    with pytest.raises(ConfigError, match="beam must be at least 1"):
        ConstituentSettings.from_options({"beam": 0})
    with pytest.raises(ConfigError, match="predicts only phrases"):
        ConstituentSettings.from_options({"units": "words", "phrases": "false"})
    with pytest.raises(WeftError, match="has no constituents; read a file"):
        ConstituentParser().fit([Doc.from_words([["茶"]])])
    with pytest.raises(WeftError, match="no sentences"):
        ConstituentParser().fit([])
    with pytest.raises(WeftError, match="not trained yet"):
        ConstituentParser().parse(["茶"])
    with pytest.raises(ConfigError, match="at most 64"):
        WordRules([("a", str(k)) for k in range(65)])


def test_given_tags_may_be_unknown(docs):
    words = ConstituentParser(ConstituentSettings(units="words", beam=2, epochs=2))
    words.fit(docs)
    (found,) = words.parse([["茶", "好"]], [["NN", "QQ"]])
    assert len(found.words()) == 2


def test_documents_of_sentences_keep_structures():
    doc = document_of([Sentence(parse_tree("(NP (NN 茶杯))"), ("..r",))])
    assert doc.column("structure") == ["..r"]
    assert np.array_equal(doc.sentence_offsets, [0, 1])
