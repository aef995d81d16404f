"""Copies with line ends differ from the original in white space only, apart from capitals in verse."""

from __future__ import annotations

import numpy as np

from weft.tasks.segmentation import layouts
from weft.tasks.segmentation.layouts import with_line_ends
from weft.text.doc import Doc


def corpus(paragraphs: int = 60) -> Doc:
    """Paragraphs of three sentences, an empty line between them."""
    sentences = [["the", "cat", "saw", f"dog{i}", "in", "the", "long", "street", "."] for i in range(3 * paragraphs)]
    doc = Doc.from_words(sentences, [[True] * 7 + [False, True] for _ in sentences])
    text = list(doc.text)
    for sentence in range(3, 3 * paragraphs, 3):
        text[int(doc.word_end[doc.sentence_offsets[sentence] - 1])] = "\n\n"
    shift = np.repeat(np.arange(paragraphs), 27).astype(np.int32)
    doc.text = "".join(text)
    doc.token_start, doc.token_end = doc.token_start + shift, doc.token_end + shift
    return doc


def test_without_a_share_there_are_no_copies() -> None:
    doc = corpus(2)
    assert with_line_ends([doc], 0.0) == [doc]


def test_words_and_sentences_of_copies_are_those_of_the_original() -> None:
    doc = corpus()
    first, *copies = with_line_ends([doc], 1.0)
    assert first is doc
    forms = [form for copy in copies for form in copy.column("form")]
    assert forms == doc.column("form")
    assert sum(copy.n_sentences for copy in copies) == doc.n_sentences
    for copy in copies:
        pairs = zip(copy.token_start.tolist(), copy.token_end.tolist(), strict=True)
        assert [copy.text[a:b].lower() for a, b in pairs] == copy.column("form")


def test_a_share_of_the_text_is_repeated() -> None:
    repeated = sum(copy.n_sentences for copy in with_line_ends([corpus(400)], 0.25)[1:])
    assert 0.15 < repeated / 1200 < 0.35


def test_every_layout_occurs() -> None:
    texts = [copy.text for copy in with_line_ends([corpus(400)], 1.0)[1:]]
    lines = [text.split("\n") for text in texts]
    assert any(all(line.strip().endswith(".") and line.count(".") == 1 for line in each if line) for each in lines)
    assert any(all(line.count(".") == 3 for line in each) for each in lines)
    wrapped = [text for text in texts if "\n\n" in text and text.count("\n") > 2 * text.count("\n\n")]
    assert wrapped
    assert any(line[0] == "T" for each in lines for line in each if line)


def test_lines_are_as_long_as_the_width_allows() -> None:
    text = list("aa bb cc dd\nee ff gg")
    starts = layouts._wrap(text, 5)
    assert "".join(text) == "aa bb\ncc dd\nee ff\ngg"
    assert starts == [6, 18]


def test_the_seed_decides() -> None:
    doc = corpus()
    one, same, other = ([copy.text for copy in with_line_ends([doc], 0.5, seed)] for seed in (0, 0, 1))
    assert one == same != other
