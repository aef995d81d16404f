"""Columns: schemes, documents, real files, and what is wrong with bad ones."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from weft.errors import ConfigError, FormatError, WeftError
from weft.formats import Report, read, write
from weft.text import Corpus, Doc, SpanLayer

CHUNKS = "Dogs NNS B-NP\nbark VBP B-VP\n\nBig JJ B-NP\ncats NNS I-NP\npurr VBP B-VP\n\n"


def chunks(corpus: Corpus, layer: str = "chunks") -> list[tuple[str, str]]:
    return [(span.text, span.label) for doc in corpus for span in doc.span_views(layer)]


def test_three_columns_are_form_xpos_and_chunks(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_text(CHUNKS)
    (doc,) = read(path)
    assert doc.text == "Dogs bark Big cats purr"
    assert doc.column("xpos") == ["NNS", "VBP", "JJ", "NNS", "VBP"]
    assert chunks(read(path)) == [("Dogs", "NP"), ("bark", "VP"), ("Big cats", "NP"), ("purr", "VP")]
    write([doc], tmp_path / "b.conll")
    assert (tmp_path / "b.conll").read_text() == CHUNKS


@pytest.mark.parametrize("scheme", ["IO", "IOB1", "IOB2", "BIOES"])
def test_schemes_are_written_and_told_from_the_labels(tmp_path: Path, scheme: str) -> None:
    (tmp_path / "a.conll").write_text(CHUNKS)
    corpus = read(tmp_path / "a.conll")
    write(corpus, tmp_path / "b.conll", scheme=scheme)
    assert chunks(read(tmp_path / "b.conll")) == chunks(corpus)
    write(read(tmp_path / "b.conll"), tmp_path / "c.conll", fields="form xpos chunk", scheme="IOB2")
    assert (tmp_path / "c.conll").read_text() == CHUNKS


def test_docstart_lines_begin_documents_and_come_back(tmp_path: Path) -> None:
    text = "-DOCSTART- -X- O O\n\nEU NNP I-NP I-ORG\n\n-DOCSTART- -X- O O\n\nPeter NNP I-NP I-PER\nsat VBD I-VP O\n\n"
    (tmp_path / "a.conll").write_text(text)
    docs = list(read(tmp_path / "a.conll"))
    assert [doc.text for doc in docs] == ["EU", "Peter sat"]
    write(docs, tmp_path / "b.conll", scheme="IOB1")
    assert (tmp_path / "b.conll").read_text() == text


def test_fields_name_heads_numbers_and_layers(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("# text = Dogs bark\n1\tDogs\t2\tB-A\tx\n2\tbark\t0\tO\tx\n\n")
    (doc,) = read(path, fields="id form head mine:IOB2 _")
    assert doc.head is not None
    assert doc.head.tolist() == [2, 0]
    assert doc.comments == [("# text = Dogs bark",)]
    assert chunks(Corpus([doc]), "mine") == [("Dogs", "A")]


def test_plain_labels_are_read_as_io(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_text("A. author\nB. author\n1999 date\n\n")
    for options in ({"fields": "form entities"}, {"scheme": "IO"}):
        assert chunks(read(path, **options), "entities") == [("A. B.", "author"), ("1999", "date")]
    path.write_text("A. author\n, O\n1999 date\n\n")
    assert chunks(read(path), "entities") == [("A.", "author"), ("1999", "date")]


def test_two_columns_without_labels_of_spans_are_words_and_tags(tmp_path: Path) -> None:
    write([Doc.from_words([["Dogs", "bark"]], xpos=[["NNS", "VBP"]])], tmp_path / "a.conll")
    (doc,) = read(tmp_path / "a.conll")
    assert doc.column("xpos") == ["NNS", "VBP"]
    assert not doc.spans


def test_two_columns_with_labels_of_spans_are_words_and_entities(tmp_path: Path) -> None:
    for text in ("Oslo B-LOC\nsings O\n\n", "it O\nsings O\n\n"):
        (tmp_path / "a.conll").write_text(text)
        (doc,) = read(tmp_path / "a.conll")
        assert list(doc.spans) == ["entities"]


def test_a_label_that_belongs_to_no_scheme_is_named_even_among_others(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_text("Oslo NNP B-ORG\nrejects VBZ O\nDanish JJ Q-MISC\n\nAnna NNP B-PER\nHolm NNP I-PER\n\n")
    with pytest.raises(FormatError, match=r"expected IOB2 labels, found 'Q-MISC' \(chunks\)") as caught:
        list(read(path))
    assert caught.value.line == 3
    report = Report()
    assert chunks(read(path, skip_bad=True, report=report)) == [("Anna Holm", "PER")]
    assert report.count == 1


def test_where_no_scheme_fits_the_one_with_the_fewest_faults_tells_the_line(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_text("Oslo NNP B-ORG\nand CC O\nBergen NNP B-ORG\n\nAnna NNP O\nHolm NNP I-PER\n\n")
    with pytest.raises(FormatError, match="expected IOB2 labels, found 'I-PER' after 'O'") as caught:
        list(read(path))
    assert caught.value.line == 6


def test_a_scheme_is_told_from_the_first_spans_however_late_they_come(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_text("it PRP O\n\n" * 30_000 + "Oslo NNP I-LOC\n\n")
    assert chunks(read(path)) == [("Oslo", "LOC")]


def test_spans_counted_in_characters_are_written_as_labels_of_words(tmp_path: Path) -> None:
    doc = Doc.from_words([["Ada", "left"]])
    doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 3, "PER")], "chars")
    write([doc], tmp_path / "a.conll")
    assert (tmp_path / "a.conll").read_text() == "Ada B-PER\nleft O\n\n"


@pytest.mark.parametrize(
    ("text", "options", "line", "words"),
    [
        (CHUNKS + "Dogs NNS\n\n", {}, 8, "expected 3 columns, found 2 columns"),
        (CHUNKS + "Dogs NNS I-NP\n\n", {"scheme": "IOB2"}, 8, "'I-NP' after 'the beginning' (chunks)"),
        (CHUNKS + "Dogs NNS B-NP\nbark V I-VP\n\n", {"scheme": "IOB2"}, 9, "'I-VP' after 'B-NP'"),
        (CHUNKS + "Dogs NNS B-NP\n\n", {"scheme": "BIOES"}, 2, "after 'B-NP'"),
        (CHUNKS + "Dogs NNS NP\n\n", {"scheme": "IOB2"}, 8, "found 'NP'"),
        ("a b c d e\n", {}, 1, "Name them"),
        ("a 2\n\n", {"fields": "form head"}, 1, "a head from 0 to 1"),
    ],
)
def test_bad_files_are_named_with_line(
    tmp_path: Path, text: str, options: dict[str, str], line: int, words: str
) -> None:
    path = tmp_path / "a.conll"
    path.write_text(text)
    with pytest.raises(FormatError) as caught:
        list(read(path, **options))
    assert caught.value.line == line
    assert words in str(caught.value)


def test_bad_sentences_are_skipped_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_text("Dogs NNS\n\n" + CHUNKS + "Cows NNS I-VP\n\nx\n\n" + CHUNKS)
    report = Report()
    (doc,) = read(path, fields="form xpos chunks:IOB2", skip_bad=True, report=report)
    assert (doc.n_sentences, report.count) == (4, 3)


def test_broken_labels_are_read_as_conlleval_does_when_not_strict(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_text("Big JJ I-NP\ncats NNS I-NP\npurr VBP I-VP\n\n")
    assert chunks(read(path, scheme="IOB2", strict=False)) == [("Big cats", "NP"), ("purr", "VP")]


def test_what_columns_cannot_hold_is_refused(tmp_path: Path) -> None:
    doc = Doc.from_words([["25 000", "dogs"]])
    with pytest.raises(WeftError, match="separator"):
        write([doc], tmp_path / "a.conll")
    write([doc], tmp_path / "a.tsv")
    (back,) = read(tmp_path / "a.tsv", fields="form", separator="\t")
    assert back.column("form") == ["25 000", "dogs"]
    odd = Doc.from_words([["one\u00a0two"]], lemma=[["one\u2028two"]])
    with pytest.raises(WeftError, match="separator"):
        write([odd], tmp_path / "a.conll", fields="form lemma")
    doc.spans["x"] = SpanLayer.of(doc.strings, [(0, 2, "A"), (1, 2, "B")])
    with pytest.raises(WeftError, match="flat spans"):
        write([doc], tmp_path / "a.tsv")
    with pytest.raises(ConfigError, match="exactly once"):
        write([doc], tmp_path / "a.tsv", fields="xpos")


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("chunking/conll2000/train.txt.gz", "form xpos chunks:IOB2"),
        ("chunking/conll2000/test.txt.gz", "form xpos chunks:IOB2"),
        ("ner/conll2002-nl/train.txt.gz", "form xpos entities:IOB2"),
        ("ner/germeval2014-de/dev.tsv.gz", "id form entities:IOB2 inner:IOB2"),
    ],
)
def test_shared_task_files_come_back_to_the_byte(
    corpus_file: Callable[[str], Path], tmp_path: Path, name: str, fields: str
) -> None:
    file = corpus_file(name)
    separator = "\t" if file.name.endswith(".tsv.gz") else " "
    out = tmp_path / "out.conll"
    write(read(file, "columns", fields=fields), out, fields=fields, separator=separator)
    assert out.read_bytes().rstrip() == gzip.decompress(file.read_bytes()).rstrip()


@pytest.mark.corpus
def test_iob1_of_conll2003_is_told_from_the_labels(corpus_file: Callable[[str], Path]) -> None:
    corpus = read(corpus_file("ner/conll2003-en/dev.txt.gz"), "columns").load()
    assert len(list(corpus)) == 216
    assert sum(len(doc.spans["entities"]) for doc in corpus) == 5942


def test_a_tab_behind_the_last_column_is_no_column(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("Ada\tB-PER\nleft\tO\t\n\n")
    (doc,) = read(path, "columns", fields="form entities")
    assert doc.column("form") == ["Ada", "left"]
    path.write_text("Ada\tB-PER\nleft\tO\tx\n\n")
    with pytest.raises(FormatError, match="expected 2 columns, found 3 columns"):
        list(read(path, "columns", fields="form entities"))
