"""CoNLL-U: bytes come back, text is restored, bad files are named."""

from __future__ import annotations

import gzip
import itertools
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft import data
from weft.errors import DataError, FormatError, WeftError
from weft.formats import Report, read, write
from weft.formats.conllu import files as conllu
from weft.formats.conllu.batch import parse
from weft.formats.conllu.faults import find_fault
from weft.formats.spacing import Spacing
from weft.text import Doc, StringTable
from weft.text.split import split_by_rule

SAMPLE = """\
# newdoc id = zoo
# newpar
# sent_id = zoo-1
# text = Vom Hund
0.1 _ PRON _ _ _ _ _ 1:dep _
1-2 Vom _ _ _ Typo=Yes _ _ _ Gloss=from
1 von von ADP APPR _ 3 case 3:case _
2 dem der DET ART Case=Dat 3 det 3:det _
3 Hund Hund NOUN NN Case=Dat 0 root 0:root SpaceAfter=No
3.1 _ bellen VERB _ _ _ _ 0:root CopyOf=3
4 ! ! PUNCT $. _ 3 punct 3:punct SpacesAfter=\\s\\n

1 25~000 25~000 NUM _ _ 0 root _ _
2 _ _ SYM _ _ 1 dep _ SpaceAfter=No

# newpar id = p2
1 So so ADV _ _ _ _ _ SpacesBefore=\\t

# newdoc
1 Ende _ _ _ _ 0 _ _ SpacesAfter=\\n

""".replace(" ", "\t").replace("~", " ")
SAMPLE = "\n".join(line.replace("\t", " ") if line.startswith("#") else line for line in SAMPLE.split("\n"))


def sentence(*rows: str) -> str:
    return "\n".join(row.replace(" ", "\t") for row in rows)


def row(number: str, form: str = "a", head: str = "_") -> str:
    return f"{number} {form} _ _ _ _ {head} _ _ _"


def test_all_kinds_of_rows_come_back_to_the_byte(tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text(SAMPLE)
    assert write(read(tmp_path / "a.conllu"), tmp_path / "b.conllu") == 2
    assert (tmp_path / "b.conllu").read_bytes() == SAMPLE.encode()


def test_text_is_restored_with_its_blanks() -> None:
    zoo, end = conllu.parse_text(SAMPLE)
    assert zoo.text == "Vom Hund! \n25 000 _\n\n\tSo"
    assert [token.text for token in zoo.tokens] == ["Vom", "Hund", "!", "25 000", "_", "So"]
    assert (zoo.id, end.id, end.text) == ("zoo", "", "Ende\n")
    assert zoo.words[0].text == "Vom"
    assert zoo.words[5].lemma == "_"
    assert [node.after for node in zoo.empty_nodes] == [0, 3]
    assert zoo.head is not None
    assert zoo.head.tolist() == [3, 3, 0, 3, 0, 1, -1]


@pytest.mark.parametrize(
    ("rows", "line", "words"),
    [
        ([row("1"), "2 a _ _ _ _ _ _ _"], 2, "expected 10 tab-separated columns, found 9 columns"),
        ([row("1"), row("2") + " x"], 2, "found 11 columns"),
        ([row("1"), row("1")], 2, "each ID once"),
        ([row("1"), row("3")], 2, "expected ID 2, found '3'"),
        ([row("0")], 1, "expected ID 1, found '0'"),
        ([row("x")], 1, "expected ID 1, found 'x'"),
        ([row("1", head="2")], 1, "expected a head from 0 to 1"),
        ([row("1", head="x")], 1, "expected a head's number or _, found 'x'"),
        ([row("1", head="01")], 1, "a head's number"),
        ([row("1", head="1")], 1, "word 1 as its own head"),
        ([row("1", head="2"), row("2", head="1"), row("3", head="0")], 1, "a cycle of heads: 1 -> 2 -> 1"),
        ([row("1-2"), row("1")], 1, "a range of words up to 1"),
        ([row("2-3"), row("1"), row("2"), row("3")], 1, "a range that begins with word 1"),
        ([row("1-2"), row("1"), row("2-3"), row("2"), row("3")], 3, "ranges that do not overlap"),
        ([row("1-2"), row("1.1"), row("1"), row("2")], 2, "word 1 after its range"),
        ([row("1"), row("1-1")], 2, "a range that begins with word 2"),
        ([row("1"), row("1.2")], 2, "empty node 1.1 or word 2"),
        ([row("1"), row("2.1"), row("2")], 2, "empty node 1.1 or word 2"),
        ([row("1"), "2  _ _ _ _ _ _ _ _"], 2, "nothing under FORM"),
        (["# text = nothing"], 1, "a sentence that contains only comments"),
        ([row("0.1")], 1, "a sentence without words"),
        ([row("1"), "# late"], 2, "Comments must precede the words"),
    ],
)
def test_bad_sentences_are_named_with_file_and_line(tmp_path: Path, rows: list[str], line: int, words: str) -> None:
    good = sentence(row("1"))
    bad = "\n".join(text if text.startswith("#") else text.replace(" ", "\t") for text in rows)
    path = tmp_path / "bad.conllu"
    path.write_text(f"# sent_id = 1\n{good}\n\n{bad}\n\n{good}\n\n")
    with pytest.raises(FormatError) as caught:
        list(read(path))
    assert (caught.value.path, caught.value.line) == (str(path), line + 3)
    assert words in str(caught.value)
    report = Report()
    (doc,) = read(path, skip_bad=True, report=report)
    assert (doc.n_sentences, report.count) == (2, 1)
    assert f"line {line + 3}" in report.messages[0]


def test_lines_are_counted_over_blocks_and_extra_empty_lines(tmp_path: Path) -> None:
    good = "\n".join(sentence(row("1")) + "\n" for _ in range(9000))
    path = tmp_path / "long.conllu"
    path.write_text("\n\n" + good + "\n\n\n" + good + "\n" + sentence(row("7")) + "\n\n" + good)
    expected = path.read_text().split("\n").index(sentence(row("7"))) + 1
    with pytest.raises(FormatError) as caught:
        list(read(path))
    assert caught.value.line == expected
    corpus = read(path, skip_bad=True)
    assert sum(doc.n_sentences for doc in corpus) == 27000
    assert corpus.report is not None
    assert corpus.report.count == 1


def test_a_bad_sentence_costs_no_more_than_one_pass_over_its_neighbours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "many.conllu"
    path.write_text("\n".join(sentence(row("1")) + "\n" for _ in range(500)) + "\n" + sentence(row("7")) + "\n\n")
    calls: list[int] = []
    height = conllu._Waiting._height
    monkeypatch.setattr(conllu._Waiting, "_height", lambda self, i: calls.append(i) or height(self, i))
    assert sum(doc.n_sentences for doc in read(path, skip_bad=True)) == 500
    assert len(calls) <= 501


def test_cycles_are_kept_when_trees_are_not_checked() -> None:
    text = sentence(row("1", head="2"), row("2", head="1")) + "\n\n"
    (doc,) = conllu.parse_text(text, check_trees=False)
    assert conllu.to_text(doc) == text


ids = st.sampled_from(["1", "2", "3", "1-2", "2-3", "1-1", "0.1", "1.1", "1.2", "0", "x", "01", "2-1"])
heads = st.sampled_from(["_", "0", "1", "2", "3", "4", "-1", "x"])


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(ids, heads), min_size=1, max_size=5), st.booleans())
def test_fast_and_slow_checks_agree(rows: list[tuple[str, str]], check_trees: bool) -> None:
    text = sentence(*(row(number, head=head) for number, head in rows))
    fast = parse([text], Spacing(StringTable()), check_trees) is not None
    assert fast == (find_fault("a", text, 1, check_trees) is None)


def test_documents_longer_than_a_part_are_cut(tmp_path: Path) -> None:
    text = "".join(f"# sent_id = {i}\n{sentence(row('1'))}\n\n" for i in range(2500))
    path = tmp_path / "long.conllu"
    path.write_text("# newdoc id = long\n" + text)
    docs = list(read(path))
    assert [doc.n_sentences for doc in docs] == [1000, 1000, 500]
    assert [doc.meta for doc in docs] == [{"id": "long", "part": part} for part in (1, 2, 3)]
    write(docs, tmp_path / "again.conllu")
    assert (tmp_path / "again.conllu").read_bytes() == path.read_bytes()


def test_string_tables_are_replaced_when_they_grow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "many.conllu"
    path.write_text("".join(f"# newdoc\n{sentence(row('1', form=f'w{i}'))}\n\n" for i in range(30000)))
    monkeypatch.setattr(conllu, "TABLE_LIMIT", 5000)
    tables = {id(doc.strings): doc.strings for doc in read(path)}
    assert len(tables) > 1
    assert max(map(len, tables.values())) < 20000


def test_windows_line_ends_and_byte_order_mark_are_accepted(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_bytes(b"\xef\xbb\xbf" + SAMPLE.replace("\n", "\r\n").encode())
    assert "".join(map(conllu.to_text, read(path))) == SAMPLE


def test_a_missing_last_empty_line_is_accepted() -> None:
    assert conllu.to_text(conllu.parse_text(sentence(row("1")))[0]) == sentence(row("1")) + "\n\n"


def test_documents_from_elsewhere_get_comments_and_spacing_when_asked() -> None:
    doc = Doc.from_words([["Dogs", "bark", "."], ["Yes"]], [[True, False, True], [True]])
    doc.meta["id"] = "d"
    lines = conllu.to_text(doc, "add").split("\n")
    assert lines[:3] == ["# newdoc id = d", "# sent_id = d-1", "# text = Dogs bark."]
    assert lines[4].endswith("SpaceAfter=No")
    assert conllu.parse_text("\n".join(lines))[0].text == doc.text


def test_new_names_of_sentences_are_distinct_over_documents_and_their_parts(tmp_path: Path) -> None:
    metas: list[dict[str, object]] = [{}, {}, {"id": "a", "part": 1}, {"id": "a", "part": 2}, {"id": "b"}, {}]
    docs = [Doc.from_words([["one"], ["two"]]) for _ in metas]
    for doc, meta in zip(docs, metas, strict=True):
        doc.meta.update(meta)
    write(docs, tmp_path / "a.conllu", comments="add")
    lines = (tmp_path / "a.conllu").read_text().splitlines()
    names = [line.removeprefix("# sent_id = ") for line in lines if line.startswith("# sent_id")]
    assert names == ["1", "2", "3", "4", "a-1", "a-2", "a-3", "a-4", "b-1", "b-2", "5", "6"]


@pytest.mark.parametrize(
    ("doc", "words"),
    [
        (Doc("text"), "split it first"),
        (Doc.from_words([["a\tb"]]), "tab or line break"),
        (Doc.from_words([["a"]], lemma=[["x\ny"]]), "tab or line break"),
    ],
)
def test_what_conllu_cannot_hold_is_refused_and_nothing_is_left(tmp_path: Path, doc: Doc, words: str) -> None:
    with pytest.raises(WeftError, match=words):
        write([doc], tmp_path / "a.conllu")
    assert list(tmp_path.iterdir()) == []


def treebanks() -> list[Path]:
    try:
        root = data.find("treebanks")
    except DataError:
        return []
    return sorted(itertools.chain(root.rglob("*.conllu.gz"), root.rglob("*.conllu")))


@pytest.mark.corpus
def test_every_treebank_comes_back_to_the_byte() -> None:
    files = treebanks()
    if not files:
        pytest.skip("no treebanks under WEFT_DATA")
    for file in files:
        data_of_file = file.read_bytes()
        original = gzip.decompress(data_of_file) if file.suffix == ".gz" else data_of_file
        docs = conllu.read(str(file), check_trees="Dutch-LassySmall" not in str(file))
        position = 0
        for doc in docs:
            places = zip(doc.token_start.tolist(), doc.token_end.tolist(), strict=True)
            assert [doc.text[start:end] for start, end in places] == _surface(doc)
            text = conllu.to_text(doc).encode()
            assert original[position : position + len(text)] == text, f"{file} differs"
            position += len(text)
        assert position == len(original), f"{file} is cut short"


def _surface(doc: Doc) -> list[str]:
    forms = doc.column("form")
    for multiword in doc.multiwords:
        forms[multiword.first] = multiword.fields[0]
    covered = {word for multiword in doc.multiwords for word in range(multiword.first + 1, multiword.end)}
    return [form for word, form in enumerate(forms) if word not in covered] if covered else forms


@pytest.mark.corpus
def test_cycles_of_a_treebank_are_reported(corpus_file: Callable[[str], Path]) -> None:
    file = corpus_file("treebanks/ud/Dutch-LassySmall/train.conllu.gz")
    with pytest.raises(FormatError, match="as its own head"):
        list(read(file))
    corpus = read(file, skip_bad=True)
    assert sum(doc.n_sentences for doc in corpus) == 6638
    assert corpus.report is not None
    assert corpus.report.count == 3


@pytest.mark.parametrize(
    "text", ["Dogs bark. ", "Dogs bark.", "Dogs bark.\n", " Dogs bark.  ", "Dogs bark. Cats purr. "]
)
def test_blanks_at_both_ends_of_a_text_are_kept(tmp_path: Path, text: str) -> None:
    doc = Doc(text)
    split_by_rule(doc)
    write([doc], tmp_path / "a.conllu", comments="add")
    (back,) = read(tmp_path / "a.conllu")
    assert back.text == text
