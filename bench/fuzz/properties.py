"""Properties of every text and every document, whatever they hold. Each function raises AssertionError.

offsets        tokens lie in the text in order; what stands between them is blank or invisible; the text is unchanged
determinism    a text is annotated alike alone, in any batch, in any order, by any number of workers, and once more
round trips    JSON Lines, Parquet and bytes keep everything, CoNLL-U all that it can hold
stability      what a format writes of a document it read is what it wrote before
"""

from __future__ import annotations

import gzip
import random
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import weft
from weft.formats.conllu import files as conllu
from weft.formats.jsonl import to_line
from weft.pipeline.pipeline import Pipeline
from weft.text import Doc
from weft.text.doc import WORD_COLUMNS
from weft.text.record import to_record
from weft.text.validity import check_doc

#: Categories of characters that may stand outside of all tokens.
OUTSIDE = ("Z", "C")
#: Formats of words and trees, with the options that describe their columns.
WORD_FORMATS: tuple[tuple[str, dict[str, Any], dict[str, Any]], ...] = (
    ("a.conllu", {"comments": "add"}, {}),
    ("a.mst", {}, {}),
    ("a.mrg", {}, {}),
    ("a.conll", {"fields": "form xpos lemma head chunks:IOB2"}, {"fields": "form xpos lemma head chunks:IOB2"}),
    ("a.iob1", {"fields": "form xpos chunks:IOB1"}, {"fields": "form xpos chunks:IOB1"}),
    ("a.tsv", {"fields": "form xpos chunks:BIOES"}, {"fields": "form xpos chunks:BIOES"}),
    ("a.tags", {}, {}),
)


def offsets_cover(doc: Doc, text: str) -> None:
    """The document holds the text, and its tokens everything in it that can be seen."""
    assert doc.text == text, "the text was changed"
    check_doc(doc)
    place = 0
    for start, end in zip(doc.token_start.tolist(), doc.token_end.tolist(), strict=True):
        if start > place:
            _check_gap(text[place:start])
        place = end
    _check_gap(text[place:])


def _check_gap(gap: str) -> None:
    for letter in gap:
        if not letter.isspace():
            category = unicodedata.category(letter)
            assert category[0] in OUTSIDE, f"{letter!r} ({category}) is in no token"


def lines_of(docs: Sequence[Doc]) -> list[str]:
    """Everything in documents, as text that can be compared."""
    return [to_line(doc) for doc in docs]


#: Ways of annotating texts that must not matter.
WAYS: dict[str, Callable[[Pipeline, list[str], random.Random], list[Doc]]] = {
    "one by one": lambda nlp, texts, _: [nlp(text) for text in texts],
    "batches of a few words": lambda nlp, texts, source: list(nlp.pipe(texts, batch_words=source.randint(1, 60))),
    "two workers": lambda nlp, texts, source: list(nlp.pipe(texts, workers=2, batch_words=source.randint(20, 400))),
    "backwards": lambda nlp, texts, _: list(nlp.pipe(texts[::-1]))[::-1],
    "once more": lambda nlp, texts, _: list(nlp.pipe(texts)),
}


def annotated_alike(nlp: Pipeline, texts: list[str], lines: Sequence[str], source: random.Random) -> None:
    """Another way of annotating the texts gives the same documents, to the byte."""
    way = source.choice(list(WAYS))
    for number, (one, other) in enumerate(zip(lines, lines_of(WAYS[way](nlp, texts, source)), strict=True)):
        assert one == other, f"text {number} is annotated differently: {way}"


def files_keep(docs: Sequence[Doc], lines: Sequence[str], folder: Path, name: str) -> None:
    """A file keeps everything in documents (JSON Lines, Parquet); `lines` are those of the documents."""
    weft.write(docs, folder / name)
    back = list(weft.read(folder / name))
    assert len(back) == len(docs), f"{name}: {len(docs)} documents became {len(back)}"
    for number, (one, other) in enumerate(zip(lines, lines_of(back), strict=True)):
        assert one == other, f"{name}: document {number} was changed"
    for doc in back:
        check_doc(doc)


def bytes_keep(doc: Doc, line: str) -> None:
    """`to_bytes` keeps everything; `line` is that of the document."""
    assert to_line(Doc.from_bytes(doc.to_bytes())) == line, "bytes change the document"


def conllu_keeps(doc: Doc) -> None:
    """CoNLL-U keeps words, trees, comments and the text, and writes the same again."""
    doc = words_of(doc)
    written = conllu.to_text(doc)
    back = list(conllu.parse_text(written))
    assert len(back) == 1, f"CoNLL-U makes {len(back)} documents of one"
    assert back[0].text == doc.text, "CoNLL-U changes the text"
    assert spacing_told(back[0]) == spacing_told(doc), "CoNLL-U changes the document"
    assert conllu.to_text(back[0]) == written, "CoNLL-U is written differently the second time"


def words_of(doc: Doc) -> Doc:
    """What CoNLL-U holds of a document."""
    words = Doc(doc.text, doc.strings)
    for name in ("token_start", "token_end", "word_token", "head", "comments", "multiwords", "empty_nodes"):
        setattr(words, name, getattr(doc, name))
    words.sentence_offsets = doc.sentence_offsets
    words.columns = {name: ids for name, ids in doc.columns.items() if name in WORD_COLUMNS}
    return words


def spacing_told(doc: Doc) -> dict[str, Any]:
    """A record without MISC, which CoNLL-U uses to tell the spacing."""
    record = to_record(doc)
    columns = {name: values for name, values in record.pop("columns", {}).items() if name != "misc"}
    record["multiwords"] = [[*row[:2], row[2][:-1]] for row in record.get("multiwords", [])]
    return {**record, "columns": columns}


def stable(docs: Sequence[Doc], folder: Path, name: str, writing: dict[str, Any], reading: dict[str, Any]) -> None:
    """A word format keeps words and sentences, and what is read is written to the same bytes."""
    path, again = folder / name, folder / f"again-{name}"
    weft.write(docs, path, **writing)
    back = list(weft.read(path, **reading))
    for doc in back:
        check_doc(doc)
    words, words_back = ([form for doc in some for form in doc.column("form")] for some in (docs, back))
    assert words == words_back, f"{name}: words were changed"
    assert sum(doc.n_sentences for doc in back) == sum(doc.n_sentences for doc in docs), f"{name}: other sentences"
    weft.write(back, again, **writing)
    assert path.read_bytes() == again.read_bytes(), f"{name} is written differently the second time"


def text_file_keeps(text: str, folder: Path) -> None:
    """A file of plain text, gzipped or not, is read as it is, line ends included; only a byte-order mark is dropped.

    NUL makes a file binary, which is refused.
    """
    text = text.replace("\0", "")
    for name, pack in (("a.txt", bytes), ("a.txt.gz", gzip.compress)):
        (folder / name).write_bytes(pack(text.encode()))
        back = "".join(doc.text for doc in weft.read(folder / name))
        assert back == text.removeprefix("\ufeff"), f"{name}: the text was changed"
