"""What a document and an annotation tool can both express comes back from its format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from weft.formats import read, write
from weft.formats.exchange.regions import LABELS, labels_of, relations_of
from weft.formats.losses import lost_layers
from weft.text import Doc, RelationLayer, SpanLayer
from weft.text.validity import check_doc

SUFFIX = {"label-studio": "a.label-studio.json", "doccano": "a.doccano.jsonl", "prodigy": "a.prodigy.jsonl"}
many = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
texts = st.text(st.sampled_from('ab \n\t"\\é语🙂𝔘\u2028'), min_size=2, max_size=14)
names = st.sampled_from(["PER", "ORG", "a b", "ä🙂"])


@st.composite
def annotated(draw: st.DrawFn, layers: tuple[str, ...] = ("entities",)) -> Doc:
    """Overlapping spans with gaps, relations (to themselves too), labels and metadata."""
    doc = Doc(
        draw(texts), meta=draw(st.dictionaries(st.sampled_from(["id", "source"]), st.text(max_size=3), max_size=2))
    )
    for layer in layers:
        if not draw(st.booleans()):
            continue
        spans = doc.spans[layer] = SpanLayer(doc.strings, "chars")
        for number in range(draw(st.integers(0, 4))):
            borders = sorted(draw(st.sets(st.integers(0, len(doc.text)), min_size=2, max_size=5)))
            pieces = list(zip(borders[::2], borders[1::2], strict=False))
            spans.add(pieces, draw(names), draw(st.sampled_from(["", f"T{number}"])))
        if len(spans) and draw(st.booleans()):
            own = doc.relations[relations_of(layer)] = RelationLayer(doc.strings, layer)
            for _ in range(draw(st.integers(0, 3))):
                own.add(draw(st.integers(0, len(spans) - 1)), draw(st.integers(0, len(spans) - 1)), draw(names))
    if draw(st.booleans()):
        doc.meta[LABELS] = {"label": draw(st.lists(names, min_size=1, max_size=2, unique=True))}
    return doc


def content(doc: Doc) -> dict[str, object]:
    """What is to survive: relations by their spans, whatever numbers these have."""
    relations = {
        name: sorted((layer.spans, *doc.spans[layer.spans][head], *doc.spans[layer.spans][tail], label)
                     for head, tail, label in layer)
        for name, layer in doc.relations.items() if len(layer)
    }  # fmt: skip
    spans = {name: sorted(layer) for name, layer in doc.spans.items() if len(layer)}
    source = doc.meta.get("source")
    return {"text": doc.text, "id": doc.id, "source": source, "spans": spans, "relations": relations,
            "labels": labels_of(doc)}  # fmt: skip


def there_and_back(doc: Doc, format: str, folder: Path) -> Doc:
    path = folder / SUFFIX[format]
    assert write([doc], path) == 1
    (back,) = read(path)
    check_doc(back)
    return back


@many
@given(annotated(("entities", "mwe", "label")))
def test_label_studio_keeps_all_layers_of_spans(tmp_path: Path, doc: Doc) -> None:
    assert lost_layers(doc, "label-studio") == set()
    back = there_and_back(doc, "label-studio", tmp_path)
    assert content(back) == content(doc)
    assert content(there_and_back(back, "label-studio", tmp_path)) == content(doc)


@many
@given(annotated())
@pytest.mark.parametrize("format", ["doccano", "prodigy"])
def test_doccano_and_prodigy_keep_entities_relations_and_labels(format: str, tmp_path: Path, doc: Doc) -> None:
    assert lost_layers(doc, format) == set()
    back = there_and_back(doc, format, tmp_path)
    assert content(back) == content(doc)
    assert content(there_and_back(back, format, tmp_path)) == content(doc)


@many
@given(st.lists(annotated(), min_size=1, max_size=4))
@pytest.mark.parametrize("format", list(SUFFIX))
def test_documents_keep_their_order_and_number(format: str, tmp_path: Path, docs: list[Doc]) -> None:
    path = tmp_path / (SUFFIX[format] + ".gz")
    assert write(docs, path) == len(docs)
    assert [content(doc) for doc in read(path)] == [content(doc) for doc in docs]


@many
@given(annotated())
@pytest.mark.parametrize("format", list(SUFFIX))
def test_what_is_read_is_written_to_the_same_bytes(format: str, tmp_path: Path, doc: Doc) -> None:
    path = tmp_path / SUFFIX[format]
    write([doc], path)
    write(list(read(path)), path)
    before = path.read_bytes()
    write(list(read(path)), path)
    assert path.read_bytes() == before
    assert json.loads(before)


def test_spans_of_words_and_tokens_survive_prodigy(tmp_path: Path) -> None:
    doc = Doc.from_words([["Ada", "left", "Oslo", "🙂", "."]], [[True, True, False, False, False]])
    doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "PER"), (2, 4, "LOC")])
    back = there_and_back(doc, "prodigy", tmp_path)
    assert (back.text, back.column("form")) == (doc.text, doc.column("form"))
    assert list(back.spans["entities"]) == [(((0, 3),), "PER"), (((9, 14),), "LOC")]
    task = json.loads((tmp_path / SUFFIX["prodigy"]).read_text())
    assert [span["token_end"] for span in task["spans"]] == [0, 3]
    assert [token["ws"] for token in task["tokens"]] == [True, True, False, False, False]


def test_what_a_tool_cannot_express_is_named() -> None:
    doc = Doc.from_words([["a", "b"], ["c"]], upos=[["X", "X"], ["X"]], head=[[0, 1], [0]])
    for layer in ("entities", "mwe"):
        doc.spans[layer] = SpanLayer(doc.strings)
        doc.spans[layer].add([(0, 1)], "PER", sure=True)
    doc.relations["other"] = RelationLayer(doc.strings, "entities")
    assert lost_layers(doc, "label-studio") == {"tokens", "upos", "head", "relations/other"}
    assert lost_layers(doc, "doccano") == {
        "tokens", "upos", "head", "relations/other", "spans/mwe", "attributes of spans/entities",
    }  # fmt: skip
    assert lost_layers(doc, "prodigy") == {"sentences", "upos", "head", "relations/other", "spans/mwe"}


@pytest.mark.parametrize("format", list(SUFFIX))
def test_a_relation_called_like_a_gap_is_refused(format: str, tmp_path: Path) -> None:
    from weft import WeftError

    doc = Doc("ab")
    doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "X"), (1, 2, "X")], "chars")
    doc.relations["relations"] = RelationLayer(doc.strings, "entities")
    doc.relations["relations"].add(0, 1, "weft:gap")
    with pytest.raises(WeftError, match="stands for the gap"):
        write([doc], tmp_path / SUFFIX[format])
