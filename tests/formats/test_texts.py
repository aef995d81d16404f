"""Raw text as people have it: empty files, folders of the same names, tables, Markdown, HTML."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from weft.errors import ConfigError, FormatError
from weft.formats import FORMATS, Report, detect, read, write
from weft.formats.doors import unread_files
from weft.formats.markup import strip_html
from weft.text import Doc


def test_an_empty_file_is_an_empty_document(tmp_path: Path) -> None:
    for name, text in (("a.txt", ""), ("b.txt", " \n"), ("c.txt", "Hello.")):
        (tmp_path / name).write_text(text)
    assert [(doc.id, doc.text) for doc in read(tmp_path)] == [("a", ""), ("b", " \n"), ("c", "Hello.")]


@pytest.mark.parametrize("format", [name for name in FORMATS if name != "brat"])
def test_what_is_written_for_an_empty_document_has_bytes_and_is_read_again(tmp_path: Path, format: str) -> None:
    path = tmp_path / f"a{FORMATS[format][0]}"
    assert write([Doc("", meta={"id": "a"})], path, format) == 1
    assert path.stat().st_size > 0
    (doc,) = read(path, format)
    assert (doc.text.strip(), doc.n_words, doc.id) == ("", 0, "a")


def test_empty_documents_keep_their_place_and_name_in_conllu(tmp_path: Path) -> None:
    named = [Doc.from_words([["Dogs"]]), Doc(""), Doc(""), Doc.from_words([["Cats"], ["purr"]]), Doc(" ")]
    for number, doc in enumerate(named):
        doc.meta["id"] = f"x/{number}"
    path = tmp_path / "a.conllu"
    write(named, path, comments="add")
    again = list(read(path))
    assert [(doc.id, doc.n_words) for doc in again] == [("x/0", 1), ("x/1", 0), ("x/2", 0), ("x/3", 2), ("x/4", 0)]
    write(again, tmp_path / "b.conllu")
    assert (tmp_path / "b.conllu").read_bytes() == path.read_bytes()


def test_bad_sentences_leave_empty_documents_in_conllu_alone(tmp_path: Path) -> None:
    good, bad = "1\tDogs\t_\t_\t_\t_\t0\troot\t_\t_\n\n", "1\tCats\t_\t_\t_\t_\t9\troot\t_\t_\n\n"
    (tmp_path / "a.conllu").write_text(f"# newdoc id = a\n\n# newdoc id = b\n{bad}# newdoc id = c\n{good}# newdoc\n\n")
    report = Report()
    docs = list(read(tmp_path / "a.conllu", skip_bad=True, report=report))
    assert [(doc.id, doc.n_words) for doc in docs] == [("a", 0), ("c", 1), ("", 0)]
    assert report.count == 1


def test_a_file_of_bad_sentences_only_has_no_documents(tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text("1\tCats\t_\t_\t_\t_\t9\troot\t_\t_\n\n")
    report = Report()
    assert list(read(tmp_path / "a.conllu", skip_bad=True, report=report)) == []
    assert report.count == 1


def test_a_file_of_no_bytes_is_still_an_error_where_documents_are_marked(tmp_path: Path) -> None:
    for name in ("a.conllu", "a.jsonl", "a.conll"):
        (tmp_path / name).touch()
        with pytest.raises(FormatError, match="found an empty file"):
            list(read(tmp_path / name))


def test_a_document_is_called_by_its_path_in_the_folder_without_the_suffix(tmp_path: Path) -> None:
    for name in ("a/x.txt", "b/x.txt", "b/deep/y.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("Hello.")
    assert [doc.id for doc in read(tmp_path)] == ["a/x", "b/deep/y", "b/x"]
    assert [doc.id for doc in read([tmp_path / "a" / "x.txt", tmp_path / "b" / "x.txt"])] == ["a/x", "b/x"]
    assert [doc.id for doc in read(f"{tmp_path}/*/x.txt")] == ["a/x", "b/x"]
    assert [doc.id for doc in read(tmp_path / "b" / "x.txt")] == ["x"]


def test_brat_keeps_the_folders_of_names_and_refuses_two_documents_of_one_name(tmp_path: Path) -> None:
    docs = [Doc("One.", meta={"id": name}) for name in ("a/x", "b/x", "../../out")]
    write(docs, tmp_path / "ann", "brat")
    files = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.txt"))
    assert files == ["ann/a/x.txt", "ann/b/x.txt", "ann/out.txt"]
    assert [doc.id for doc in read(tmp_path / "ann")] == ["a/x", "b/x", "out"]
    from weft.errors import WeftError

    with pytest.raises(WeftError, match="two documents are called 'x'"):
        write([Doc("One.", meta={"id": "x"}), Doc("Two.", meta={"id": "x"})], tmp_path / "two", "brat")


def test_markdown_is_plain_text(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("# Notes\n")
    assert detect(tmp_path / "notes.md") == "plain"
    (doc,) = read(tmp_path)
    assert (doc.id, doc.text) == ("notes", "# Notes\n")


def test_notes_and_tables_beside_data_do_not_decide_what_a_folder_holds(tmp_path: Path) -> None:
    write([Doc.from_words([["Dogs"]])], tmp_path / "a.conllu")
    for name in ("README.md", "stats.csv"):
        (tmp_path / name).write_text("id,text\n1,Cats\n")
    assert [doc.text for doc in read(tmp_path)] == ["Dogs"]
    assert [Path(name).name for name in unread_files([tmp_path])] == ["README.md", "stats.csv"]
    (tmp_path / "a.conllu").unlink()
    (tmp_path / "README.md").unlink()
    assert [doc.text for doc in read(tmp_path)] == ["Cats"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", 'id,body,stars\nr1,"Good, very\ngood",5\nr2,,1\n'),
        ("a.csv", 'id;body;stars\r\nr1;"Good, very\r\ngood";5\r\nr2;"";1\r\n'),
        ("a.tsv", 'id\tbody\tstars\nr1\t"Good, very\ngood"\t5\nr2\t\t1\n'),
        (
            "a.jsonl",
            '{"id": "r1", "body": "Good, very\\ngood", "stars": "5"}\n{"id": "r2", "body": "", "stars": "1"}\n',
        ),
    ],
)
def test_tables_and_lines_have_their_text_in_a_named_column(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_bytes(content.encode())
    docs = list(read(tmp_path / name, text_column="body"))
    assert [(doc.id, doc.text, doc.meta["stars"]) for doc in docs] == [("r1", "Good, very\ngood", "5"), ("r2", "", "1")]


def test_documents_of_a_table_without_names_are_numbered(tmp_path: Path) -> None:
    (tmp_path / "mails.csv").write_text("text\nOne.\nTwo.\n")
    assert [(doc.id, doc.text) for doc in read(tmp_path / "mails.csv")] == [("mails-1", "One."), ("mails-2", "Two.")]


def test_a_text_column_is_for_the_files_that_have_columns(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("body\nOne.\n")
    (tmp_path / "b.txt").write_text("Two.")
    files = [tmp_path / "a.csv", tmp_path / "b.txt"]
    assert [doc.text for doc in read(files, text_column="body")] == ["One.", "Two."]
    with pytest.raises(ConfigError, match="has no option 'text_column'"):
        read(tmp_path / "b.txt", text_column="body")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.csv", "id,body\n1,a\n", "line 1: expected a column 'text', found the columns id, body. .*--text-column"),
        ("a.csv", "id,text\n1,a,b\n2,c\n", "line 2: expected 2 columns"),
        ("a.csv", "", "found an empty file"),
        ("a.csv", "text\nZo\udceb\n", "line 2: expected UTF-8 text, found the byte 0xeb"),
        ("a.jsonl", '{"id": 1}\n', '"text"'),
    ],
)
def test_bad_tables_are_told_with_their_line(tmp_path: Path, name: str, content: str, words: str) -> None:
    (tmp_path / name).write_bytes(content.encode(errors="surrogateescape"))
    with pytest.raises(FormatError, match=words):
        list(read(tmp_path / name))


def test_lines_without_the_named_key_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": "r1", "words": "x"}\n')
    with pytest.raises(FormatError, match="expected the text under 'body', found the keys id, words"):
        list(read(tmp_path / "a.jsonl", text_column="body"))


@pytest.mark.parametrize(
    ("text", "stripped"),
    [
        ("One.<br/>&nbsp;Two.</div", "One.\nTwo."),
        ("<div class='a'><p>Brexit.</p>\n<p>Deal</p></div>", "Brexit.\n\nDeal"),
        ("Tom &amp; <b>Ana</b>: 1 < 2, x<y, <3", "Tom & Ana: 1 < 2, x<y, <3"),
        ("From <ada@example.org> and <https://example.org/a>", "From <ada@example.org> and <https://example.org/a>"),
        ("<style>p {}</style><script>if (a<b) c()</script><!-- x -->Text", "Text"),
        ("<o:p>Word</o:p> <Ada Lovelace>", "Word <Ada Lovelace>"),
        ("no markup", "no markup"),
        ("<!-- <!-- open <style> open", "<!-- <!-- open  open"),
    ],
)
def test_html_is_stripped_and_other_brackets_stay(text: str, stripped: str) -> None:
    assert strip_html(text) == stripped


def test_raw_text_is_stripped_on_request_and_annotated_text_is_not(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("<b>Hi</b>")
    write([Doc.from_words([["<b>", "Hi"]])], tmp_path / "b.jsonl")
    files = [tmp_path / "a.txt", tmp_path / "b.jsonl"]
    assert [doc.text for doc in read(files, strip_html=True)] == ["Hi", "<b> Hi"]
    assert [doc.text for doc in read(files)] == ["<b>Hi</b>", "<b> Hi"]


def test_long_fields_are_read_and_the_limit_of_other_readers_stays(tmp_path: Path) -> None:
    before = csv.field_size_limit()
    (tmp_path / "long.csv").write_text('text,stars\n"' + "a " * 100_000 + '",4\n')
    (doc,) = read(tmp_path / "long.csv")
    assert len(doc.text) >= 199_999
    assert csv.field_size_limit() == before
