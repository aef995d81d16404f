"""Tables of transfer: what they count, refuse, and keep to."""

from __future__ import annotations

import numpy as np
import pytest
from small_treebank import treebank

from weft.errors import ConfigError, DataError
from weft.tasks.parsing_transfer.matrix import METRICS, TransferSettings, draw_sentences, load_language, transfer_matrix
from weft.text import Doc


def reversed_treebank() -> Doc:
    """The sentences of the small treebank from right to left: another order of words."""
    doc = treebank()
    rows = [(sentence.first, sentence.end) for sentence in doc.sentences]
    columns = {name: doc.column(name) for name in ("form", "upos", "deprel")}
    own = {name: [column[a:b][::-1] for a, b in rows] for name, column in columns.items()}
    heads = [[h and b - a + 1 - h for h in doc.head[a:b].tolist()[::-1]] for a, b in rows]
    return Doc.from_words(own["form"], upos=own["upos"], deprel=own["deprel"], head=heads)


def test_a_language_parses_itself_best_and_las_is_at_most_uas():
    languages = {"forth": [treebank()], "back": [reversed_treebank()]}
    matrix = transfer_matrix(languages, languages, TransferSettings(epochs=10))
    scores = np.array(matrix.scores("UAS"))
    assert scores[0, 0] > scores[1, 0]
    assert scores[1, 1] > scores[0, 1]
    assert (scores >= np.array(matrix.scores("LAS"))).all()
    assert matrix.ranking("forth") == ["back"]
    assert matrix.lead("forth") is None
    assert set(METRICS) <= set(matrix.to_json())


def test_threads_and_runs_change_nothing_but_the_number_of_words_counted():
    languages = {"forth": [treebank()], "back": [reversed_treebank()], "again": [treebank()]}
    one, two = (transfer_matrix(languages, languages, TransferSettings(), workers) for workers in (1, 3))
    for metric in METRICS:
        assert one.scores(metric) == two.scores(metric)
    twice = transfer_matrix(languages, languages, TransferSettings(runs=2))
    words = [matrix.counts["forth", "back"]["UAS"].total().gold for matrix in (one, twice)]
    assert words[1] == 2 * words[0]
    assert twice.by_draw("forth", "back").shape == (2, treebank().n_sentences, 3)
    assert (twice.by_draw("forth", "back").sum(axis=0) == twice.counts["forth", "back"]["UAS"].rows).all()
    lead = one.lead("forth", samples=100)
    assert lead is not None
    assert lead.difference > 0


def test_punctuation_is_left_out_by_form():
    gold = Doc.from_words([["go", "!"]], upos=[["VERB", "PUNCT"]], head=[[0, 1]], deprel=[["root", "punct"]])
    matrix = transfer_matrix({"a": [gold]}, {"a": [gold]})
    assert matrix.counts["a", "a"]["UAS"].total().gold == 2
    assert matrix.counts["a", "a"]["UAS*"].total().gold == 1


def test_tags_are_brought_to_one_set_and_others_refused():
    doc = Doc.from_words([["Ann", "is", "here", "."]], upos=[["PROPN", "AUX", "ADV", "PUNCT"]], head=[[3, 3, 0, 3]],
                       deprel=[["nsubj:outer", "cop", "root", "punct"]])  # fmt: skip
    (new,) = load_language("en", [doc])
    assert new.column("upos") == ["NOUN", "VERB", "ADV", "."]
    assert new.column("deprel") == ["nsubj", "cop", "root", "punct"]
    assert new.head.tolist() == [3, 3, 0, 3]
    (universal,) = load_language("en", [doc], "universal")
    assert universal.head.tolist() == [2, 0, 2, 2]
    assert set(universal.columns) == {"form", "upos", "deprel"}
    assert load_language("en", [universal], "universal")[0].head.tolist() == [2, 0, 2, 2]
    with pytest.raises(DataError, match="de: the tag 'NN' is not one of"):
        load_language("de", [Doc.from_words([["a"]], upos=[["NN"]], head=[[0]])])
    with pytest.raises(DataError, match="de: some words have no tag"):
        load_language("de", [Doc.from_words([["a"]], head=[[0]])])
    with pytest.raises(DataError, match="has no heads"):
        load_language("de", [Doc.from_words([["a"]], upos=[["X"]])])


def test_as_many_words_are_drawn_as_asked_and_by_seed():
    docs = [treebank(), treebank()]
    one, same, other = (draw_sentences(docs, 12, seed) for seed in (0, 0, 1))
    assert 12 <= sum(doc.n_words for doc in one) < 12 + 6
    assert [doc.text for doc in one] == [doc.text for doc in same]
    assert [doc.text for doc in one] != [doc.text for doc in other]
    assert sum(doc.n_words for doc in draw_sentences(docs, 10**6, 0)) == sum(doc.n_words for doc in docs)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"scheme": "penn"}, "scheme must be one of"), ({"runs": 0}, "runs must be at least 1"),
     ({"beam": 0}, "beam must be at least 1"), ({"update": "late"}, "update must be one of")],
)  # fmt: skip
def test_settings_that_make_no_sense_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        TransferSettings(**options).check()


def test_no_languages_are_refused():
    with pytest.raises(ConfigError, match="at least one source"):
        transfer_matrix({}, {})
