from __future__ import annotations

import tomllib
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from interop_docs import docs
from places import ROOT

import weft
from weft.errors import ConfigError
from weft.text import Doc, SpanLayer
from weft.text.validity import check_doc

spacy = pytest.importorskip("spacy")

from weft.interop.spacy_docs import from_docbin, from_spacy, to_docbin, to_spacy  # noqa: E402

VOCAB = spacy.blank("xx").vocab


def plain(doc: Doc) -> dict[str, object]:
    """What spaCy can hold of a document, as plain values."""
    head = None if doc.head is None else doc.head.tolist()
    return {
        "text": doc.text, "tokens": doc.tokens and [(token.start, token.end) for token in doc.tokens],
        "words": doc.word_token.tolist(), "sentences": doc.sentence_offsets.tolist(), "head": head,
        **{name: doc.column(name) for name in ("form", "lemma", "upos", "xpos", "feats", "deprel")},
        "multiwords": doc.multiwords, "spans": {name: sorted(layer) for name, layer in doc.spans.items() if len(layer)},
    }  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(docs())
def test_documents_come_back_from_spacy_as_they_were(doc: Doc) -> None:
    there = to_spacy(doc, VOCAB)
    assert there.text == doc.text
    back = from_spacy(there)
    check_doc(back)
    assert plain(back) == plain(doc)


@settings(max_examples=30, deadline=None)
@given(docs())
def test_documents_come_back_from_bytes_of_a_docbin(doc: Doc) -> None:
    data = to_docbin([doc, doc], VOCAB).to_bytes()
    first, second = from_docbin(spacy.tokens.DocBin().from_bytes(data))
    assert plain(first) == plain(second) == plain(doc)


def test_annotation_of_spacy_is_taken_over() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    doc = nlp("Ada  lives in Oslo. She sings!")
    doc.ents = [doc.char_span(0, 3, label="PER"), doc.char_span(14, 18, label="LOC")]
    doc[0].pos_ = "PROPN"
    found = from_spacy(doc)
    assert [sentence.text for sentence in found.sentences] == ["Ada  lives in Oslo.", "She sings!"]
    assert [(span.text, span.label) for span in found.span_views("entities")] == [("Ada", "PER"), ("Oslo", "LOC")]
    assert found[0].upos == "PROPN"
    assert found.head is None


def test_trees_stay_trees_where_white_space_stands_between_words() -> None:
    doc = Doc("Dogs \n\n bark\t!")
    doc.set_offsets([0, 8, 13], [4, 12, 14])
    doc.set_sentences([0, 3])
    doc.head = np.array([2, 0, 2], dtype=np.int32)
    doc.set_column("deprel", ["nsubj", "root", "punct"])
    there = to_spacy(doc)
    assert [token.text for token in there] == ["Dogs", "\n\n ", "bark", "\t", "!"]
    assert [token.text for token in there[2].children] == ["Dogs", "\t", "!"] or there[0].head == there[2]
    assert len(list(there.sents)) == 1
    assert from_spacy(there).head.tolist() == [2, 0, 2]  # type: ignore[union-attr]


def test_nested_entities_become_a_group_of_spans() -> None:
    doc = Doc.from_words([["University", "of", "Oslo"]])
    doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 3, "ORG"), (2, 3, "LOC")])
    there = to_spacy(doc)
    assert not there.ents
    assert [(span.text, span.label_) for span in there.spans["entities"]] == [
        ("University of Oslo", "ORG"), ("Oslo", "LOC"),
    ]  # fmt: skip


def test_spans_with_gaps_are_left_out_and_others_stay() -> None:
    doc = Doc.from_words([["give", "it", "up", "at", "once"]])
    doc.spans["mwe"] = SpanLayer(doc.strings)
    doc.spans["mwe"].add([(0, 1), (2, 3)], "strong")
    doc.spans["mwe"].add([(3, 5)], "strong")
    there = to_spacy(doc)
    assert [span.text for span in there.spans["mwe"]] == ["at once"]


@pytest.fixture(scope="module")
def tagger(tmp_path_factory: pytest.TempPathFactory, examples: Path) -> Path:
    from weft.pipeline.registry import train

    path = tmp_path_factory.mktemp("models") / "tagger.weft"
    train("tagger", weft.read(examples / "story.conllu"), None, path, {"epochs": 2})
    return path


@pytest.mark.parametrize("tokens", ["weft", "spacy"])
def test_a_spacy_pipeline_can_use_weft(tagger: Path, tokens: str) -> None:
    import_module("weft.interop.spacy_component")
    nlp = spacy.blank("en")
    nlp.add_pipe("weft", config={"model": str(tagger), "tokens": tokens})
    texts = [f"The ferry {i} left. The fog came!" for i in range(5)]
    found = list(nlp.pipe(texts, batch_size=2))
    assert [doc.text for doc in found] == texts
    for doc in found:
        assert all(token.pos_ for token in doc)
        assert len(list(doc.sents)) == 2
    assert nlp(texts[0]).to_json()["tokens"] == found[0].to_json()["tokens"]
    assert [doc.text for doc in nlp.pipe(["", "  ", "Fine."])] == ["", "  ", "Fine."]


def test_the_component_is_saved_by_its_settings(tagger: Path, tmp_path: Path) -> None:
    import_module("weft.interop.spacy_component")
    nlp = spacy.blank("en")
    nlp.add_pipe("weft", config={"model": str(tagger)})
    nlp.to_disk(tmp_path / "nlp")
    again = spacy.load(tmp_path / "nlp")
    text = "The ferry left."
    assert [token.pos_ for token in again(text)] == [token.pos_ for token in nlp(text)]
    with pytest.raises(ConfigError, match="expected 'weft' or 'spacy'"):
        spacy.blank("en").add_pipe("weft", config={"model": str(tagger), "tokens": "mine"})


def test_spacy_finds_the_component_by_the_entry_point_of_the_package() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    module, name = settings["project"]["entry-points"]["spacy_factories"]["weft"].split(":")
    factory = getattr(import_module(module), name)
    assert spacy.Language.get_factory_meta("weft").factory == "weft"
    assert callable(factory)
