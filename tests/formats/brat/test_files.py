"""brat stand-off: every kind of line, and what is wrong with bad ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from weft.errors import DataError, FormatError
from weft.formats import Report, read, write
from weft.formats.brat import files as brat
from weft.text.record import to_record

TEXT = "Ada, who knew Bob well,\nleft London. She did not return."
ANN = """\
T1\tPER 0 3\tAda
T2\tPER 14 17\tBob
T3\tPhrase 9 13;18 22\tknew well
T4\tLeave 24 28\tleft
T5\tLOC 29 35\tLondon
T6\tPER 37 40\tShe
T7\tReturn 49 55\treturn
T8\tPhrase 18 28\twell, left
R1\tKnows Arg1:T1 Arg2:T2
R2\tKnows Who:T6 Whom:T2
E1\tLeave:T4 Agent:T1 Place:T5
E2\tReturn:T7 Agent:T6 After:E1
R3\tBefore Arg1:E1 Arg2:E2
A1\tNegation E2
A2\tConfidence E1 high
M3\tOld R1
A4\tGender T1 female
N1\tReference T1 Wikipedia:974\tAda Lovelace
#1\tAnnotatorNotes T5\tthe capital
#2\tAnnotatorNotes A1\tsure?
*\tEquiv T1 T6
"""


def test_every_kind_of_line_is_read() -> None:
    doc = brat.parse(TEXT, [("a.ann", ANN)], "a")
    spans = doc.spans["entities"]
    assert [span.text for span in doc.span_views("entities")][2:4] == ["knew ... well", "left"]
    assert spans.unit == "chars"
    assert list(doc.relations["relations"]) == [(0, 1, "Knows"), (5, 1, "Knows")]
    assert doc.relations["relations"].attributes == {0: {"Old": True}, 1: {"roles": ["Who", "Whom"]}}
    events = doc.graphs["events"]
    assert list(events.nodes())[:2] == [("Leave", 3), ("Return", 6)]
    roles = {(events.ids[a], label, events.ids[b]) for a, b, label in events.edges()}
    assert roles == {("E1", "Agent", "T1"), ("E1", "Place", "T5"), ("E2", "Agent", "T6"), ("E2", "After", "E1")}
    assert events.attributes[1]["Negation"] is True
    assert events.attributes[1]["notes"] == [["AnnotatorNotes", "sure?"]]
    assert spans.attributes[0]["normalizations"] == [["Reference", "Wikipedia:974", "Ada Lovelace"]]
    assert doc.clusters["equivalences"].groups() == [[0, 5]]


def test_folders_come_back_with_all_their_content(tmp_path: Path) -> None:
    one = brat.parse(TEXT, [("a.ann", ANN)], "one")
    two = brat.parse("Nothing here.\r\n", [("b.ann", "")], "two")
    assert write([one, two], tmp_path / "folder", "brat") == 2
    back = list(read(tmp_path / "folder"))
    assert [to_record(doc) for doc in back] == [to_record(one), to_record(two)]
    (alone,) = read(tmp_path / "folder" / "one.ann")
    assert alone.same(one)


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
def test_lines_keep_the_order_of_their_names_through_other_formats(tmp_path: Path, name: str) -> None:
    lines = [f"T{i}\tPER 0 3\tAda" for i in (2, 11, 1)]
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "one.txt").write_text(TEXT)
    (tmp_path / "in" / "one.ann").write_text(ANN)
    (tmp_path / "in" / "two.txt").write_text(TEXT)
    (tmp_path / "in" / "two.ann").write_text("\n".join(lines))
    write(read(tmp_path / "in"), tmp_path / name)
    write(read(tmp_path / "in"), tmp_path / "direct", "brat")
    write(read(tmp_path / name), tmp_path / "out", "brat")
    for part in ("one.ann", "two.ann"):
        assert (tmp_path / "out" / part).read_text() == (tmp_path / "direct" / part).read_text()
    names = [line.split("\t")[0] for line in (tmp_path / "out" / "one.ann").read_text().splitlines()]
    assert [name for name in names if name[0] in "TRE"] == [
        "T1", "T2", "T3", "T4", "T5", "T6", "T7", "T8", "R1", "R2", "R3", "E1", "E2",
    ]  # fmt: skip
    assert [name for name in names if name[0] == "A"] == ["A1", "A2", "A3", "A4"]
    assert [line.split("\t")[0] for line in (tmp_path / "out" / "two.ann").read_text().splitlines()] == [
        "T1", "T2", "T11",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("T1\tPER 0 4\tAda", "expected the text at 0 4"),
        ("T1\tPER 0 400\tAda", "inside the text"),
        ("T1\tPER 3 3\t", "inside the text"),
        ("T1\tPER zero 3\tAda", "offsets such as"),
        ("T1 PER 0 3 Ada", "a name, a tab"),
        ("R1\tKnows Arg1:T0 Arg2:T9", "of this document, found 'T9'"),
        ("R1\tKnows T0 T0", "a relation of two arguments"),
        ("E1\tLeave:T9", "a T line of this document"),
        ("E1\tLeave:T0 Agent", "a role such as"),
        ("A1\tNegation E7", "found 'E7'"),
        ("T0\tPER 0 3\tAda", "'T0' again"),
        ("*\tSame T0 T0", "`Equiv`"),
        ("?1\tx", "begins with T, R, E"),
    ],
)
def test_bad_lines_are_named(tmp_path: Path, line: str, words: str) -> None:
    for name in ("bad", "good"):
        (tmp_path / f"{name}.txt").write_text(TEXT)
        (tmp_path / f"{name}.ann").write_text("T0\tPER 0 3\tAda\n" + (line + "\n") * (name == "bad"))
    with pytest.raises(FormatError) as caught:
        list(read(tmp_path))
    assert words in str(caught.value)
    assert (Path(caught.value.path).name, caught.value.line) == ("bad.ann", 2)
    report = Report()
    assert [doc.id for doc in read(tmp_path, skip_bad=True, report=report)] == ["good"]
    assert report.count == 1


def test_missing_partners_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.ann").write_text("")
    with pytest.raises(DataError, match="no text next to it"):
        list(read(tmp_path / "a.ann"))
    with pytest.raises(DataError, match=r"with an \.ann file"):
        list(read(tmp_path))
