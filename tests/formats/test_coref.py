"""Columns of coreference: three layouts, their faults, and files that only look like columns."""

from __future__ import annotations

import pytest

from weft.errors import FormatError
from weft.formats import read
from weft.formats.coref import read as read_coref
from weft.formats.streams import Faults
from weft.text.report import Report

LITBANK = "#begin document (tale); part 0\n0\tAda\t(0)\n1\tslept\t_\n\n0\tShe\t(0)\n1\tsnored\t_\n#end document\n"
ONTOGUM = "# begin document tale\n0\tDurham\t(3(4)\n1\tUniversity\t3)\n\n# begin document next\n0\tIt\t_\n"
CONLL = (
    "#begin document (bc/x); part 001\nbc/x 1 0 Ada NNP (TOP(S* - - - Ann (PERSON) (12)\n"
    "bc/x 1 1 slept VBD *)) sleep 01 1 Ann * -\n\n#end document\n"
)


def entities(doc):
    return [[mention.text for mention in entity.mentions] for entity in doc.entities_of("coref")]


def test_three_layouts_are_read(tmp_path):
    for name, text in (("a.conll", LITBANK), ("b.conll", ONTOGUM), ("c.v4_gold_conll", CONLL)):
        (tmp_path / name).write_text(text)
    (tale,) = read(tmp_path / "a.conll")
    assert (tale.id, tale.n_sentences, entities(tale)) == ("tale", 2, [["Ada", "She"]])
    first, second = read(tmp_path / "b.conll")
    assert entities(first) == [["Durham University"], ["Durham"]]
    assert second.id == "next"
    (talk,) = read(tmp_path / "c.v4_gold_conll")
    assert talk.id == "bc/x-1"
    assert talk.column("xpos") == ["NNP", "VBD"]
    assert talk.column("lemma") == ["", "sleep"]
    assert talk.comments == [("# speaker = Ann",)]
    assert entities(talk) == [["Ada"]]


def test_other_column_files_are_read_as_before(tmp_path):
    (tmp_path / "x.conll").write_text("Ada NNP B-NP\nslept VBD O\n\n")
    (doc,) = read(tmp_path / "x.conll")
    assert list(doc.spans) == ["chunks"]


@pytest.mark.parametrize(
    ("text", "line", "fault"),
    [
        ("#begin document (a); part 0\n0\tAda\t(0\n", 2, "opens but never closes"),
        ("#begin document (a); part 0\n0\tAda\t_\n1\tleft\t0)\n", 3, "closes without"),
        ("#begin document (a); part 0\n0\tAda\n1\tleft\t_\n", 3, "columns"),
        ("0\tAda\t(0)\n", 1, "#begin document"),
    ],
)
def test_faults_name_the_line(tmp_path, text, line, fault):
    path = tmp_path / "x.coref"
    path.write_text(text)
    with pytest.raises(FormatError, match=rf"line {line}: .*{fault}"):
        list(read_coref(str(path)))


def test_bad_documents_are_skipped_and_counted(tmp_path):
    path = tmp_path / "x.coref"
    path.write_bytes(
        b"#begin document (a); part 0\n0\tAda\t(0\n" + LITBANK.encode() + b"#begin document (b);\n0\t\xff\t_\n"
    )
    report = Report()
    docs = list(read_coref(str(path), Faults(True, report)))
    assert [doc.id for doc in docs] == ["tale"]
    assert report.count == 2
