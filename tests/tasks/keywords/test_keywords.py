"""Keywords of articles: what a collection says, links, the component, its files and the command."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from weft import load, read, train
from weft.errors import ConfigError, DataError
from weft.tasks.keywords import Article, Collection, KeywordExtractor, KeywordSettings
from weft.tasks.keywords.lexicon import Lexicon
from weft.text.doc import Doc

EXAMPLE = Path(__file__).parents[3] / "examples" / "keywords"


def test_preferences_are_the_paper_s() -> None:
    tea, iron = Article.of([["hot", "tea", "tea"]]), Article.of([["hot", "iron"]])
    collection = Collection.of([(tea, "drinks"), (iron, "tools")])
    assert dict(zip(tea.names, collection.preferences(tea, "tfidf").tolist(), strict=True)) == {"hot": 0.5, "tea": 2.0}
    assert collection.preferences(tea, "entropy").tolist() == [0.0, 1.0]
    log = collection.preferences(tea, "log")
    assert log[1] == pytest.approx(2 * np.log(3 / 1.5))
    assert log[0] == pytest.approx(np.log(3 / 2.5))
    with pytest.raises(ConfigError, match="unknown preference"):
        collection.preferences(tea, "fame")


def test_function_words_are_neither_preferred_nor_keywords() -> None:
    article = Article.of([["the", "boat", "of", "boats"]], {"the", "of"}, english=True)
    assert Collection().add(article).preferences(article, "tfidf").tolist() == [0.0, 2.0, 0.0]
    tagged = Article.of([["boats", "sail", "fast"]], tags=[["NOUN", "VERB", "ADV"]])
    assert tagged.content.tolist() == [True, True, True]
    assert tagged.candidates.tolist() == [True, False, False]


def test_links_are_those_of_a_trained_lexicon() -> None:
    pairs = [(["das", "haus"], ["the", "house"]), (["das", "buch"], ["the", "book"]), (["ein", "buch"], ["a", "book"])]
    lexicon = Lexicon.learn(pairs * 3)
    assert list(lexicon.links(["ein", "haus"], ["a", "house", "burns"])) == [(0, 0), (1, 1)]
    assert Lexicon.learn([([], ["a"])]).table == {}


@pytest.fixture(scope="module")
def fitted() -> KeywordExtractor:
    extractor = KeywordExtractor(KeywordSettings(count=4, language="en"))
    extractor.fit(list(read(EXAMPLE / "harbour.csv")))
    return extractor


def test_keywords_have_scores_and_the_sentences_behind_them(fitted: KeywordExtractor) -> None:
    [doc] = list(read(EXAMPLE / "strait.csv"))
    fitted([doc])
    words = [keyword.word for keyword in doc.keywords]
    assert len(words) == 4
    assert "ferry" in words
    assert not {"the", "of", "when"} & {word.lower() for word in words}
    scores = [keyword.score for keyword in doc.keywords]
    assert scores == sorted(scores, reverse=True)
    ferry = doc.keywords[words.index("ferry")]
    sentences = [sentence.text for sentence in doc.sentences]
    assert [k for k, text in enumerate(sentences) if "ferry" in text] == list(ferry.sentences)
    assert {span.text for span in doc.span_views("keywords") if span.label == "ferry"} == {"ferry"}


def test_the_translation_changes_scores_and_missing_ones_do_not_matter(fitted: KeywordExtractor) -> None:
    [doc] = list(read(EXAMPLE / "strait.csv"))
    alone = Doc(doc.text)
    fitted([doc, alone])
    assert len(alone.keywords) == 4
    assert [k.score for k in alone.keywords] != [k.score for k in doc.keywords]
    with pytest.raises(DataError, match="has 5 lines, its translation 1"):
        fitted([Doc(doc.text, meta={"translation": "Una sola línea."})])


def test_a_model_file_finds_the_same(fitted: KeywordExtractor) -> None:
    again = KeywordExtractor.from_state(*fitted.state())
    one, other = list(read(EXAMPLE / "strait.csv")) + list(read(EXAMPLE / "strait.csv"))
    fitted([one])
    again([other])
    assert [k.word for k in one.keywords] == [k.word for k in other.keywords]
    assert [k.score for k in one.keywords] == pytest.approx([k.score for k in other.keywords], abs=1e-5)


def test_neighbouring_keywords_are_joined_where_they_recur() -> None:
    docs = [Doc("Cold green tea is good."), Doc("Rain fell.")]
    extractor = KeywordExtractor(KeywordSettings(count=6, phrases=True, functions=0, language="en"))
    extractor.fit(docs)
    doc = Doc("Fresh green tea helps. They drink green tea when green leaves fall.")
    extractor([doc])
    assert "green tea" in [keyword.word for keyword in doc.keywords]
    assert doc.keywords[[k.word for k in doc.keywords].index("green tea")].sentences == (0, 1)


def test_entropy_needs_topics() -> None:
    with pytest.raises(DataError, match="at least two topics, but the column 'topic' names 0"):
        KeywordExtractor(KeywordSettings(preference="entropy")).fit([Doc("Tea is hot.")])
    with pytest.raises(ConfigError, match="preference must be one of"):
        KeywordExtractor.from_options({"preference": "fame"})


def test_the_command_learns_a_collection_and_the_model_annotates_and_draws(weft, tmp_path) -> None:
    model, out, page = tmp_path / "keywords.weft", tmp_path / "out.jsonl", tmp_path / "page.html"
    told = weft("train", "keywords", EXAMPLE / "harbour.csv", "--language", "en", "--out", model, "--json")
    assert json.loads(told.stdout)["training"]["topics"] == 3
    done = weft("annotate", EXAMPLE / "strait.csv", "--model", model, "--out", out)
    assert done.returncode == 0, done.stderr
    stored = json.loads(out.read_text(encoding="utf-8").splitlines()[0])
    assert stored["meta"]["keywords"][0].keys() == {"word", "score", "sentences"}
    assert [k.word for k in next(iter(read(out))).keywords] == [k["word"] for k in stored["meta"]["keywords"]]
    weft("draw", out, "--what", "spans", "--layer", "keywords", "--out", page)
    assert "<mark" in page.read_text(encoding="utf-8")


def test_three_lines_of_python_find_keywords(tmp_path) -> None:
    nlp = train("keywords", EXAMPLE / "harbour.csv", language="en", out=tmp_path / "keywords.weft")
    doc = nlp("The ferry is late. Guests wait for the ferry, and the old ferry waits for guests.")
    assert "ferry" in [keyword.word for keyword in doc.keywords]
    assert load(tmp_path / "keywords.weft")(doc.text).keywords == doc.keywords
