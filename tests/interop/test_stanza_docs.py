"""Stanza itself needs PyTorch and is not installed for the tests: they hold to the documented form of `to_dict()`."""

from __future__ import annotations

import json
from importlib.util import find_spec
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from interop_docs import docs

from weft.errors import ConfigError, WeftError
from weft.interop.stanza_docs import from_stanza, to_stanza, to_stanza_document
from weft.text import Doc, SpanLayer
from weft.text.validity import check_doc


@settings(max_examples=200, deadline=None)
@given(docs())
def test_documents_come_back_from_dictionaries_as_they_were(doc: Doc) -> None:
    back = from_stanza(to_stanza(doc), doc.text)
    check_doc(back)
    del doc.spans["phrases"]
    assert back.same(doc)


@settings(max_examples=50, deadline=None)
@given(docs())
def test_dictionaries_may_go_through_json_and_lose_the_text_between_words(doc: Doc) -> None:
    back = from_stanza(json.loads(json.dumps(to_stanza(doc))))
    check_doc(back)
    assert back.column("form") == doc.column("form")
    assert back.token_start.tolist() == doc.token_start.tolist()
    assert back.multiwords == doc.multiwords


def test_the_dictionaries_are_those_of_stanza() -> None:
    doc = Doc.from_words([["Ada", "slept"]], upos=[["PROPN", "VERB"]], head=[[2, 0]], deprel=[["nsubj", "root"]])
    doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "PER")])
    assert to_stanza(doc) == [
        [
            {"id": 1, "text": "Ada", "upos": "PROPN", "deprel": "nsubj", "head": 2, "start_char": 0, "end_char": 3,
             "ner": "S-PER"},
            {"id": 2, "text": "slept", "upos": "VERB", "deprel": "root", "head": 0, "start_char": 4, "end_char": 9,
             "ner": "O"},
        ]
    ]  # fmt: skip


def test_a_document_of_stanza_brings_its_text_and_comments() -> None:
    sentences = [[{"id": 1, "text": "Hi", "start_char": 1, "end_char": 3}, {"id": 2, "text": "!", "start_char": 3}]]
    document = SimpleNamespace(
        text="\tHi!", to_dict=lambda: sentences, sentences=[SimpleNamespace(comments=["# sent_id = 1"])]
    )
    doc = from_stanza(document)
    assert doc.text == "\tHi!"
    assert doc.comments == [("# sent_id = 1",)]
    assert [token.start for token in doc.tokens] == [1, 3]


@pytest.mark.parametrize(
    ("sentence", "text", "said"),
    [
        ([{"text": "a"}], None, 'with "id" and "text"'),
        ([{"id": [1, 2], "text": "ab"}], None, "not followed by its words"),
        (
            [{"id": 1, "text": "ab", "start_char": 0}, {"id": 2, "text": "c", "start_char": 1}],
            None,
            "inside the previous token",
        ),
        ([{"id": 1, "text": "ab", "start_char": 0}], "cd", "the text at 0-2 is 'cd'"),
    ],
)
def test_dictionaries_that_do_not_fit_are_told(sentence: list[dict[str, object]], text: str | None, said: str) -> None:
    with pytest.raises(WeftError, match=said):
        from_stanza([sentence], text)


@pytest.mark.skipif(find_spec("stanza") is not None, reason="Stanza is installed")
def test_a_document_of_stanza_cannot_be_made_without_stanza() -> None:
    with pytest.raises(ConfigError, match="needs the package stanza; install it: pip install stanza"):
        to_stanza_document(Doc.from_words([["Hi"]]))
