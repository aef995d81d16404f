from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interop_docs import docs

from weft.errors import ConfigError, WeftError
from weft.interop.frames import Library, docs_of_frames, documents_frame, spans_frame, words_frame
from weft.text import Doc, SpanLayer


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_documents_come_back_from_frames(library: Library) -> None:
    pytest.importorskip(library)

    @settings(max_examples=60, deadline=None)
    @given(st.lists(docs(), min_size=1, max_size=3))
    def check(found: list[Doc]) -> None:
        for number, doc in enumerate(found):
            doc.meta["id"] = f"d{number}"
            doc.spans = {name: layer for name, layer in doc.spans.items() if len(layer)}
        frames = [make(found, library) for make in (documents_frame, words_frame, spans_frame)]
        assert len(frames[1]) == sum(doc.n_words for doc in found)
        assert len(frames[2]) == sum(len(layer) for doc in found for layer in doc.spans.values())
        back = docs_of_frames(*frames)
        assert all(one.same(other) for one, other in zip(back, found, strict=True))

    check()


def test_spans_with_gaps_and_of_characters_come_back() -> None:
    pytest.importorskip("pandas")
    doc = Doc.from_words([["give", "it", "up"]])
    doc.spans["mwe"] = SpanLayer(doc.strings)
    doc.spans["mwe"].add([(0, 1), (2, 3)], "strong")
    doc.spans["letters"] = SpanLayer.of(doc.strings, [(1, 3, "middle")], "chars")
    frame = spans_frame([doc])
    assert frame["text"].tolist() == ["give ... up", "iv"]
    assert docs_of_frames(documents_frame([doc]), words_frame([doc]), frame)[0].same(doc)


def test_frames_of_spans_have_ids_characters_and_probabilities() -> None:
    pytest.importorskip("pandas")
    doc = Doc.from_words([["In", "New", "York"]])
    doc.id = "a/x"
    doc.spans["entities"] = SpanLayer(doc.strings)
    doc.spans["entities"].add([(1, 3)], "LOC", probability=0.5)
    doc.spans["entities"].add([(0, 1)], "X")
    frame = spans_frame([doc])
    shown = frame[["id", "label", "text", "start", "end", "probability"]].values.tolist()
    assert shown[0] == ["a/x", "LOC", "New York", 3, 11, 0.5]
    assert docs_of_frames(documents_frame([doc]), words_frame([doc]), frame)[0].same(doc)


def test_frames_that_do_not_fit_are_told() -> None:
    pandas = pytest.importorskip("pandas")
    documents = documents_frame([Doc("Hi")])
    words = words_frame([Doc.from_words([["Hi", "there"]])])
    with pytest.raises(WeftError, match="ends at character 8, but the text has 2 characters"):
        docs_of_frames(documents, words)
    with pytest.raises(WeftError, match="no column 'document'"):
        docs_of_frames(documents, pandas.DataFrame({"form": ["Hi"]}))
    with pytest.raises(WeftError, match="no document 0"):
        docs_of_frames(pandas.DataFrame({"document": [5], "text": ["Hi"]}), words)
    with pytest.raises(ConfigError, match="expected 'pandas' or 'polars'"):
        words_frame([], "numpy")  # type: ignore[arg-type]
    with pytest.raises(WeftError, match="expected a pandas or Polars frame, but got list"):
        docs_of_frames([])


def test_no_documents_make_empty_frames() -> None:
    pytest.importorskip("pandas")
    assert docs_of_frames(documents_frame([]), words_frame([]), spans_frame([])) == []
