"""AMR files: what is read is written to the byte, graphs are laid out, faults are named by file and line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from random_amrs import random_amr

from weft import data
from weft.errors import FormatError, WeftError
from weft.formats import convert, detect, read, write
from weft.formats.penman import lay_out, parse_amr, to_text
from weft.text import Doc
from weft.text.conventions.amr import Amr, Edge, amrs_of, set_amrs
from weft.text.report import Report

FILE = """# A small corpus
# written for a test

# ::id 1 ::date today ::snt The boys don't want to go .
# ::tok The boys don't want to go .
# ::alignments 1-1.1 1-1.1.r 2-1.3 3-1 5-1.2
(w / want-01~e.9
      :ARG0 (b / boy) :ARG1 (g / go-01
   :ARG0 b)  \n      :polarity -)

# ::id 2
# ::snt I am not her .
(i / i
    :domain-of (s / she :polarity~e.2 -~e.2))


# A remark in the middle

# ::id 3
(g / group :consist-of (b / bee) :prep-on-behalf-of (q / "queen (x)"))
"""


def written(tmp_path: Path, text: str = FILE) -> Path:
    path = tmp_path / "a.amr"
    path.write_text(text)
    return path


def test_files_come_back_to_the_byte(tmp_path):
    path = written(tmp_path)
    assert detect(path) == "penman"
    write(read(path), tmp_path / "b.amr")
    assert (tmp_path / "b.amr").read_text() == FILE


@pytest.mark.parametrize("name", ["c.jsonl", "c.parquet", "c.records.jsonl"])
def test_graphs_survive_other_formats(tmp_path, name):
    (doc,) = read(written(tmp_path))
    convert(tmp_path / "a.amr", tmp_path / name)
    (back,) = read(tmp_path / name)
    assert [amr.edges for amr in amrs_of(back)] == [amr.edges for amr in amrs_of(doc)]
    assert [(amr.labels, amr.names, amr.words) for amr in amrs_of(back)] == [
        (amr.labels, amr.names, amr.words) for amr in amrs_of(doc)
    ]
    assert amrs_of(Doc.from_bytes(doc.to_bytes())) == amrs_of(doc)
    if name != "c.records.jsonl":  # which has no comments
        assert to_text(back) == FILE


def test_words_concepts_and_alignments(tmp_path):
    (doc,) = read(written(tmp_path))
    first, second, third = amrs_of(doc)
    assert doc.sentences[0].text == "The boys don't want to go ."
    assert doc.sentences[2].text == "_"  # no sentence is given
    assert first.labels == ["want-01", "boy", "go-01", "-"]
    assert first.words == [(3,), (1,), (5,), (2,)]  # `::alignments` wins over marks
    assert first.names[3] == ""
    assert second.labels == ["i", "she", "-"], "a variable and its concept may have the same name"
    assert second.words == [(), (), (2,)]
    assert second.relations()[0] == Edge(0, 1, "mod")
    assert [edge.role for edge in third.relations()] == ["consist-of", "prep-on-behalf-of"]


def test_alignments_of_jamr_count_from_zero_without_reentrancies(tmp_path):
    graph = "(w / want-01 :ARG0 (b / boy) :ARG1 b :ARG2 (g / go-01))"
    path = written(tmp_path, f"# ::tok boys want going\n# ::alignments 0-1|0.0 1-3|0+0.1\n{graph}\n")
    (doc,) = read(path)
    assert amrs_of(doc)[0].words == [(1, 2), (0,), (1, 2)]


def test_a_subset_of_sentences_keeps_its_graphs(tmp_path):
    (doc,) = read(written(tmp_path))
    part = doc.subset([1, 2])
    assert amrs_of(part) == amrs_of(doc)[1:]


def test_a_changed_graph_is_laid_out_anew_with_its_alignments(tmp_path):
    (doc,) = read(written(tmp_path))
    amrs = amrs_of(doc)
    amrs[0].labels[1] = "girl"
    set_amrs(doc, amrs)
    write([doc], tmp_path / "b.amr")
    (back,) = read(tmp_path / "b.amr")
    assert amrs_of(back)[0].labels[1] == "girl"
    assert amrs_of(back)[0].words == amrs[0].words
    assert "# ::alignments 1-1.1 2-1.3 3-1 5-1.2\n" in (tmp_path / "b.amr").read_text()


@pytest.mark.parametrize("seed", range(200))
def test_layout_keeps_nodes_and_relations(seed):
    amr = random_amr(seed)
    text, paths = lay_out(amr)
    back = parse_amr(text)
    number = {amr.names[node] or amr.labels[node]: node for node in range(len(amr))}
    there = [number[name or label] for name, label in zip(back.names, back.labels, strict=True)]
    assert there[0] == 0
    assert [amr.labels[node] for node in there] == back.labels
    turned = sorted(Edge(there[source], there[target], role) for source, target, role in back.relations())
    assert turned == sorted(amr.relations())
    assert len(set(paths)) == len(amr)


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        (
            "# ::snt a\n(a / b\n  :ARG0 (c / d)\n\n# ::snt e\n(e / f)\n",
            3,
            "balanced brackets, found 1 that are not closed",
        ),
        ("(a / b))\n\n(e / f)\n", 1, "balanced brackets, found one that closes and was not"),
        ("(a / b)\n\n# x\n(e / f) (g / h)\n\n(e / f)\n", 4, "2 graphs in one block"),
        ("(a / b :ARG0 (a / c))\n\n(e / f)\n", 1, "the variable 'a' has two concepts"),
        ("# ::tok x\n# ::alignments 0-1.7\n(a / b)\n\n(e / f)\n", 3, "found '0-1.7'"),
        ("# ::tok x\n# ::alignments 4-1\n(a / b)\n\n(e / f)\n", 3, "the 1 words of the sentence"),
        ("hello\n\n(e / f)\n", 1, "PENMAN"),
        ("(a / b :ARG0" + " (c / d :ARG0" * 5000 + ")" * 5001 + "\n\n(e / f)\n", 1, "found"),
    ],
)
def test_faults_are_named_and_can_be_skipped(tmp_path, text, line, told):
    path = written(tmp_path, text)
    with pytest.raises(FormatError, match=rf"a\.amr, line {line}: .*{told}"):
        list(read(path))
    report = Report()
    (doc,) = read(path, skip_bad=True, report=report)
    assert report.count == 1
    assert amrs_of(doc)[-1].labels == ["f"]


def test_documents_without_graphs_are_refused(tmp_path):
    with pytest.raises(WeftError, match="has no AMR to write"):
        write([Doc.from_words([["a"]])], tmp_path / "a.amr")
    doc = Doc.from_words([["a"]])
    set_amrs(doc, [Amr(["a", "b"], ["a", "b"], [])])
    with pytest.raises(WeftError, match="is not connected"):
        to_text(doc)


@pytest.mark.corpus
@pytest.mark.parametrize("name", ["amr/little-prince-3.0/dev.amr", "amr/bio-amr-isi-alignments/dev.aligned.amr.gz"])
def test_corpora_come_back_to_the_byte(tmp_path, name):
    path = data.find(name)
    write(read(path), tmp_path / "b.amr")
    original = path.read_bytes()
    assert (tmp_path / "b.amr").read_bytes() == (gzip.decompress(original) if path.suffix == ".gz" else original)
