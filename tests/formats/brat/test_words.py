"""brat keeps span layers apart and holds dependency trees; what is changed by hand is read."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from random_docs import full, with_conllu_extras

from weft.errors import FormatError
from weft.formats import Report, convert, read, write
from weft.formats.brat import files as brat
from weft.text import Doc, RelationLayer, SpanLayer
from weft.text.record import to_record

few = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


def a_tree() -> Doc:
    doc = Doc.from_words(
        [["Ada", "was", "seen", "."], ["Go", "!"]], [[True, True, False, True], [False, True]],
        upos=[["PROPN", "AUX", "VERB", "PUNCT"], ["VERB", "PUNCT"]], lemma=[["Ada", "be", "see", "."], ["go", "!"]],
        head=[[3, 3, 0, 3], [0, 1]], deprel=[["nsubj:pass", "aux:pass", "root", "punct"], ["root", "punct"]],
    )  # fmt: skip
    doc.meta["id"] = "a/x"
    doc.comments[0] = ("# sent_id = s1",)
    doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "PER")])
    doc.spans["chunks"] = SpanLayer.of(doc.strings, [(0, 1, "NP"), (1, 3, "VP")])
    doc.spans["times"] = SpanLayer.of(doc.strings, [(0, 3, "X Y")], "chars")
    doc.relations["links"] = RelationLayer(doc.strings, "chunks")
    doc.relations["links"].add(0, 1, "before")
    return doc


def back(doc: Doc) -> Doc:
    return brat.parse(doc.text, [("a.ann", brat.to_text(doc))], doc.id)


def test_words_are_t_lines_and_arcs_are_r_lines_from_the_head() -> None:
    lines = brat.to_text(a_tree()).splitlines()
    names = {line.split("\t")[1]: line.split("\t")[0] for line in lines if line.startswith("T")}
    ada, seen = names["PROPN 0 3"], names["VERB 8 12"]
    assert f"nsubj-pass Arg1:{seen} Arg2:{ada}" in [line.split("\t")[1] for line in lines]
    assert sum(line.startswith("R") for line in lines) == 4 + 1


def test_layers_trees_and_columns_come_back_as_they_were() -> None:
    assert to_record(back(a_tree())) == to_record(a_tree())


def test_layers_stay_apart_without_trees_too(tmp_path: Path) -> None:
    doc = a_tree()
    doc.head = None
    write([doc], tmp_path, "brat")
    (again,) = read(tmp_path)
    rows = {name: [(span.text, span.label) for span in again.span_views(name)] for name in again.spans}
    assert rows == {
        "entities": [("Ada", "PER")],
        "chunks": [("Ada", "NP"), ("was seen", "VP")],
        "times": [("Ada", "X Y")],
    }
    assert (again.relations["links"].spans, list(again.relations["links"])) == ("chunks", [(0, 1, "before")])


@few
@given(with_conllu_extras())
def test_trees_of_any_document_come_back(doc: Doc) -> None:
    if doc.head is None:
        return
    doc.empty_nodes = []
    assert to_record(back(doc)) == to_record(doc)


@few
@given(full())
def test_spans_of_any_document_come_back(doc: Doc) -> None:
    doc.empty_nodes, doc.constituents, doc.graphs, doc.clusters, doc.meta = [], None, {}, {}, {}
    for layer in doc.spans.values():
        layer.ids = []
    for relations in doc.relations.values():
        relations.ids = [""] * len(relations)
    again = back(doc)
    trees = doc.head is not None and (doc.head >= 0).any()
    for name, layer in doc.spans.items():
        if len(layer):
            assert [span.text for span in again.span_views(name)] == [span.text for span in doc.span_views(name)]
            assert not trees or list(again.spans[name]) == list(layer)
    assert {name: list(layer) for name, layer in again.relations.items()} == {
        name: list(layer) for name, layer in doc.relations.items() if len(layer)
    }


def test_what_annotators_change_in_brat_is_read() -> None:
    lines = brat.to_text(a_tree()).splitlines()
    (word,) = (line for line in lines if line.startswith("T") and line.split("\t")[1] == "AUX 4 7")
    (arc,) = (line for line in lines if line.startswith("R") and "aux-pass" in line)
    name, ada = word.split("\t")[0], next(line.split("\t")[0] for line in lines if "\tPROPN 0 3" in line)
    new = [line for line in lines if not (line.startswith("#") and f" {arc.split(chr(9))[0]}\t" in line)]
    new[new.index(word)] = word.replace("AUX", "VERB")
    new[new.index(arc)] = f"{arc.split(chr(9))[0]}\tcop Arg1:{ada} Arg2:{name}"
    new.append("T99\tLOC 8 12\tseen")
    doc = brat.parse(a_tree().text, [("a.ann", "\n".join(new))])
    was = doc.words[1]
    assert (was.upos, was.deprel, was.head and was.head.form, was.lemma) == ("VERB", "cop", "Ada", "be")
    assert [(span.text, span.label) for span in doc.span_views("entities")] == [("Ada", "PER"), ("seen", "LOC")]


def test_a_treebank_goes_to_brat_and_back_as_it_was(tmp_path: Path, examples: Path) -> None:
    report = Report()
    convert(examples / "story.conllu", tmp_path / "ann", None, "brat", report=report)
    assert report.lost == set()
    convert(tmp_path / "ann", tmp_path / "again.conllu", write_options={"comments": "keep"})
    assert (tmp_path / "again.conllu").read_bytes() == (examples / "story.conllu").read_bytes()


@pytest.mark.parametrize("note", ["no JSON", "[]", '{"word": "x"}', '{"word": 0, "multiword": 3}'])
def test_notes_that_are_not_as_weft_writes_them_are_told(note: str) -> None:
    lines = f'T1\tNOUN 0 3\tAda\n#1\tWeft T1\t{note}\nT2\tVERB 4 8\tleft\n#2\tWeft T2\t{{"word": 1}}\n'
    with pytest.raises(FormatError, match="Weft"):
        brat.parse("Ada left", [("a.ann", lines)])
