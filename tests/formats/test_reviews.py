"""Reviews on disk: tables, lines of JSON, blocks of labelled sentences, documents; and what is wrong with them."""

from __future__ import annotations

import json

import pytest

import weft.data
from weft.errors import DataError, FormatError
from weft.formats import write
from weft.formats.reviews import Review, read_reviews, without_duplicates, write_labelled

BLOCKS = "a1\nfilms\t2\nneg\tThe plot is slow.\nmix\tSuperb acting, poor sound.\n\n\na2\nbooks\t5\npos\tRead it!\n"


def save(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_table_is_read_by_the_names_in_its_first_line(tmp_path):
    path = save(tmp_path, "films.tsv", 'title\tRating\ttext\nHm\t3.0\tSo "so".\n\nAh\t5\tGreat, really.\n')
    first, second = read_reviews(path)
    assert (first.title, first.rating, first.text, first.domain, first.polarity) == (
        "Hm", 3.0, 'So "so".', "films", "neu",
    )  # fmt: skip
    assert second.polarity == "pos"


def test_a_table_with_commas_may_quote(tmp_path):
    path = save(tmp_path, "a.csv", 'sentiment,text,domain\nneg,"Slow, dull\nand long.",films\n')
    (review,) = read_reviews(path)
    assert (review.polarity, review.text, review.domain) == ("neg", "Slow, dull\nand long.", "films")


def test_blocks_hold_labelled_sentences(tmp_path):
    first, second = read_reviews(save(tmp_path, "a.txt", BLOCKS))
    assert first == Review(
        text="The plot is slow. Superb acting, poor sound.", rating=2.0, id="a1", domain="films",
        sentences=("The plot is slow.", "Superb acting, poor sound."), labels=("neg", "neu"),
    )  # fmt: skip
    assert second.labels == ("pos",)


def test_lines_of_json_hold_texts_or_sentences(tmp_path):
    rows = [
        {"text": "Fine.", "rating": 4, "domain": "films"},
        {"rating": 2, "sentences": [{"text": "Dull.", "label": "neg"}, "It rains."]},
    ]
    first, second = read_reviews(save(tmp_path, "a.jsonl", "".join(json.dumps(row) + "\n" for row in rows)))
    assert (first.text, first.polarity) == ("Fine.", "pos")
    assert (second.text, second.labels) == ("Dull. It rains.", ("neg", ""))


@pytest.mark.parametrize("suffix", ["jsonl", "conllu", "parquet"])
def test_documents_of_weft_are_reviews_too(tmp_path, suffix):
    reviews = list(read_reviews(save(tmp_path, "a.txt", BLOCKS)))
    options = {"comments": "add"} if suffix == "conllu" else {}
    write([review.doc() for review in reviews], tmp_path / f"b.{suffix}", **options)
    again = list(read_reviews(tmp_path / f"b.{suffix}"))
    assert [(r.sentences, r.labels, r.polarity, r.id) for r in again] == [
        (r.sentences, r.labels, r.polarity, r.id) for r in reviews
    ]


def test_labelled_reviews_are_written_as_they_are_read(tmp_path):
    reviews = list(read_reviews(save(tmp_path, "a.txt", BLOCKS)))
    assert write_labelled(reviews, tmp_path / "b.txt") == 2
    assert list(read_reviews(tmp_path / "b.txt")) == reviews
    part = Review("One. Two.", sentiment="pos", id="x", sentences=("One.", "Two."), labels=("", "neg"))
    write_labelled([part], tmp_path / "c.txt")
    assert list(read_reviews(tmp_path / "c.txt")) == [part]


def test_the_same_text_counts_once():
    assert [r.rating for r in without_duplicates([Review("a", 1), Review("b", 2), Review("a", 5)])] == [1, 2]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.tsv", "stars\tbody\n1\tx\n", "line 1: expected a first line that names the columns, including text"),
        ("a.tsv", "rating\ttext\n7\tx\n", "line 2: expected a rating from 1 to 5, found '7'"),
        ("a.tsv", "rating\ttext\n1\tx\ty\n", "line 2: expected 2 columns as in the first line, found 3"),
        ("a.tsv", "rating\ttext\n", "expected at least one review, found none"),
        ("a.txt", "id\nfilms\t1\ngood\tYes.\n", "line 3: expected a polarity"),
        ("a.txt", "id\nfilms 1\npos\tYes.\n", "line 2: expected domain<TAB>stars"),
        ("a.txt", "id\nfilms\t1\npos Yes.\n", "line 3: expected label<TAB>sentence"),
        ("a.txt", "Just a text.\n", "line 1: expected an id, a line domain<TAB>stars"),
        ("a.jsonl", '{"rating": 1}\n', "line 1: expected a text, found none"),
        ("a.jsonl", '{"rating": 1\n', "line 1: expected a review in JSON"),
        ("a.jsonl", '{"sentences": [1]}\n', "line 1: expected sentences"),
    ],
)
def test_bad_files_are_refused_with_the_place(tmp_path, name, text, message):
    with pytest.raises(FormatError, match=message):
        list(read_reviews(save(tmp_path, name, text)))


def test_an_unknown_suffix_is_refused(tmp_path):
    with pytest.raises(DataError, match="by its suffix"):
        list(read_reviews(tmp_path / "a.docx"))


def test_the_corpora_are_read_whole():
    try:
        blocks, table = weft.data.find("sentiment/tackstrom-finegrained"), weft.data.find("sentiment/blitzer-raw")
    except DataError as error:
        pytest.skip(str(error))
    reviews = list(read_reviews(blocks / "finegrained.txt.gz"))
    labels = [label for review in reviews for label in review.labels]
    assert len(reviews) == 294
    assert [labels.count(name) for name in ("pos", "neg", "neu")] == [923, 1320, 1593]
    assert len(list(read_reviews(table / "books.tsv.gz"))) == 2000
