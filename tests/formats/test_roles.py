"""Predicates and arguments in columns: every layout is read, written and checked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import weft.formats
from weft.errors import FormatError, WeftError
from weft.formats import read, write
from weft.formats.roles.layouts import LAYOUTS, long_label, short_label
from weft.text import Doc
from weft.text.frames import FrameRow, Role, frame_rows, head_of_span, roles_at_heads, set_frames

UP = """# sent_id = 1
1\tShe\tshe\tPRON\tPRP\tNumber=Sing\t2\tnsubj\t_\t_\tA0
2\tgave\tgive\tVERB\tVBD\tTense=Past\t0\troot\tY\tgive.01\t_
3\thim\the\tPRON\tPRP\t_\t2\tiobj\t_\t_\tA2
4\tbooks\tbook\tNOUN\tNNS\t_\t2\tobj\t_\t_\tA1

# sent_id = 2
1\tYes\tyes\tINTJ\tUH\t_\t0\troot\t_\t_

"""
UP_CONLLU = """# newdoc id = one
1\tShe\tshe\tPRON\tPRP\t_\t2\tnsubj\t_\t_\t_\tARG0
2\tgave\tgive\tVERB\tVBD\t_\t0\troot\t_\t_\tgive.01\tV
3\tbooks\tbook\tNOUN\tNNS\t_\t2\tobj\t_\t_\t_\tARG1

1\tYes\tyes\tINTJ\tUH\t_\t0\troot\t_\t_\t_\t_

"""
PROPBANK = """# doc = a.xml
# genre = letters
1\tThe\tthe\tDT\t(TOP(S(NP*\t-\t-\t(ARG0*
2\tdogs\tdog\tNNS\t*)\t-\t-\t*)
3\tbark\tbark\tVBP\t(VP*\tbark\tbark.01\t(V*)
4\ttoday\ttoday\tNN\t(NP*))))\t-\t-\t(ARGM-TMP*)

"""
CONLL09 = """1\tDogs\tdog\tdog\tNNS\tNN\t_\t_\t2\t2\tSBJ\tOBJ\t_\t_\tACT|PAT
2\tbark\tbark\tbark\tVBP\tVB\t_\t_\t0\t0\tROOT\tROOT\tY\tbark.01\t_

"""
CONLL08 = """1\tDogs\tdog\tNNS\tNNS\tDogs\tdog\tNNS\t2\tSBJ\t_\tA0
2\tbark\tbark\tVBP\tVBP\tbark\tbark\tVBP\t0\tROOT\tbark.01\t_

"""
FILES = {"up": UP, "up-conllu": UP_CONLLU, "propbank": PROPBANK, "conll09": CONLL09, "conll08": CONLL08}


def written(tmp_path: Path, text: str, name: str = "roles.conllu") -> str:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("layout", FILES)
def test_layouts_are_found_by_their_columns_and_written_as_they_were_read(tmp_path: Path, layout: str):
    docs = list(read(written(tmp_path, FILES[layout]), "roles"))
    out = tmp_path / "again"
    write(docs, out, "roles", layout=layout)
    assert out.read_text(encoding="utf-8") == FILES[layout]


@pytest.mark.parametrize("layout", ["up", "up-conllu"])
def test_conllu_files_with_the_columns_of_universal_propositions_have_frames(tmp_path: Path, layout: str):
    (doc,) = read(written(tmp_path, FILES[layout]))
    (frame,) = doc.frames
    assert (frame.predicate.form, frame.sense) == ("gave", "give.01")
    assert ("A0", "She") in [(argument.label, argument.text) for argument in frame.arguments]
    assert all(argument.label != "V" for argument in frame.arguments)


def test_brackets_become_spans_of_words_whose_heads_need_a_tree(tmp_path: Path):
    (doc,) = read(written(tmp_path, PROPBANK), "roles")
    assert frame_rows(doc) == [FrameRow(2, "bark.01", (Role("A0", 0, 2), Role("AM-TMP", 3, 4)))]
    assert doc.id == "a.xml"
    assert doc.constituents is not None
    doc.head = np.array([2, 3, 0, 3], dtype=np.int32)
    assert roles_at_heads(doc) == 0
    assert frame_rows(doc)[0].roles[0] == Role("A0", 1, 2)
    doc.head = np.array([3, 3, 0, 3], dtype=np.int32)
    assert head_of_span(doc, 0, 2) == (0, 2)


def test_several_roles_of_one_word_are_several_arguments(tmp_path: Path):
    (doc,) = read(written(tmp_path, CONLL09), "roles")
    assert [role.label for role in frame_rows(doc)[0].roles] == ["ACT", "PAT"]
    assert doc.column("xpos") == ["NNS", "VBP"]
    (predicted,) = read(written(tmp_path, CONLL09), "roles", predicted=True)
    assert predicted.column("xpos") == ["NN", "VB"]
    assert predicted.column("deprel") == ["OBJ", "ROOT"]


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("Y\tgive.01\t_\n", "Y\tgive.01\n", 12, "11 columns, as in the rows above"),
        ("\t_\t_\tA2", "\tY\the.01\tA2", 11, "12 columns, 10 and one per predicate of a sentence with 2 predicates"),
        ("2\tiobj", "9\tiobj", 13, "a head from 0 to 4"),
    ],
)
def test_wrong_numbers_of_columns_and_heads_are_refused_with_file_and_line(
    tmp_path: Path, old: str, new: str, line: int, message: str
):
    path = written(tmp_path, UP + UP.replace(old, new, 1))
    with pytest.raises(FormatError, match=rf"roles.conllu, line {line}: ") as caught:
        list(read(path))
    assert message in str(caught.value)
    corpus = read(path, skip_bad=True)
    assert sum(len(doc.frames) for doc in corpus) == 1
    assert corpus.report.count == 1


def test_brackets_that_leave_the_sentence_are_refused_and_counted(tmp_path: Path):
    path = written(tmp_path, PROPBANK.replace("(ARGM-TMP*)", "(ARGM-TMP*") + PROPBANK)
    with pytest.raises(FormatError, match=r"line 6: .*ARGM-TMP in its sentence.*outside the sentence"):
        list(read(path, "roles"))
    corpus = read(path, "roles", skip_bad=True)
    assert sum(len(doc.frames) for doc in corpus) == 1
    assert corpus.report.count == 1


def test_roles_in_misc_that_point_outside_the_sentence_are_refused_and_counted(tmp_path: Path):
    row = "1\tDogs\t_\t_\t_\t_\t2\tnsubj\t_\t_\n2\tbark\t_\t_\t_\t_\t0\troot\t_\tFrame=bark.01|Roles=A0:{}\n\n"
    path = written(tmp_path, row.format(1) + row.format(7))
    with pytest.raises(FormatError, match=r"roles.conllu, line 5: expected roles at words 1 to 2, .* found 'A0:7'"):
        list(read(path))
    corpus = read(path, skip_bad=True)
    assert [doc.n_sentences for doc in corpus] == [1]
    assert corpus.report.count == 1


@pytest.mark.parametrize("suffix", ["jsonl", "records.jsonl", "parquet", "conllu", "up"])
def test_frames_survive_other_formats(tmp_path: Path, suffix: str):
    from weft.scale.job import fit

    (doc,) = read(written(tmp_path, UP))
    frames = frame_rows(doc)
    if suffix == "conllu":
        fit(doc, "conllu")
    weft.write([doc], tmp_path / f"out.{suffix}")
    (again,) = read(tmp_path / f"out.{suffix}")
    assert frame_rows(again) == frames
    assert frame_rows(Doc.from_bytes(doc.to_bytes())) == frames
    assert frame_rows(doc.subset([0])) == frames


def test_columns_refuse_what_they_cannot_represent():
    doc = Doc.from_words([["The", "dogs", "bark"]])
    set_frames(doc, [FrameRow(2, "bark.01", (Role("A0", 0, 2),))])
    with pytest.raises(WeftError, match="several words"):
        write([doc], "unused.up", "roles")
    set_frames(doc, [FrameRow(2, "bark.01"), FrameRow(2, "bark.02")])
    with pytest.raises(WeftError, match="two frames"):
        write([doc], "unused.up", "roles")
    with pytest.raises(WeftError, match="an argument needs words from 0 to 3"):
        set_frames(doc, [FrameRow(2, "bark.01", (Role("A0", 2, 4),))])


def test_labels_of_propbank_and_conll_are_the_same_labels():
    for label in ("A0", "AM-TMP", "R-A1", "C-AM-LOC", "AA", "ACT", "RSTR"):
        assert short_label(long_label(label)) == label
    assert set(LAYOUTS) >= set(FILES)


def test_files_of_universal_propositions_may_have_either_layout(examples: Path, tmp_path: Path) -> None:
    marked = tmp_path / "marked.up"
    marked.write_bytes((examples / "roles" / "evening.conllu").read_bytes())
    (doc,) = read(marked)
    write([doc], tmp_path / "columns.up")
    (again,) = read(tmp_path / "columns.up")
    assert frame_rows(doc) == frame_rows(again) != []
    bare = tmp_path / "bare.up"
    bare.write_text("1\tDogs\tdog\tNOUN\t_\t_\t0\troot\t_\t_\t_\t_\n")
    (doc,) = read(bare)
    assert frame_rows(doc) == []


def test_converting_to_conllu_keeps_frames_and_says_so(examples: Path, tmp_path: Path) -> None:
    source, target, again = examples / "roles" / "evening.conllu", tmp_path / "misc.conllu", tmp_path / "again.conllu"
    report = weft.formats.Report()
    weft.formats.convert(source, target, report=report)
    assert report.lost == set()
    assert [frame_rows(doc) for doc in read(target)] == [frame_rows(doc) for doc in read(source)]
    weft.formats.convert(target, again, report=report)
    assert again.read_bytes() == target.read_bytes()
    doc = Doc.from_words([["Dogs", "bark"]])
    set_frames(doc, [FrameRow(1, "bark.01"), FrameRow(1, "bark.02")])
    write([doc], tmp_path / "twice.jsonl")
    weft.formats.convert(tmp_path / "twice.jsonl", target, report=report)
    assert report.lost == {"spans/frames", "relations/frames"}
