"""Reviews: a text with a star rating, a domain, and optionally a label for each sentence.

| file | one review is |
|---|---|
| `.tsv`, `.csv` | a line; the first line names the columns (see below) |
| `.jsonl` | a line `{"text": ..., "rating": 4}`, same names, or with `"sentences": [{"text": ..., "label": ...}]` |
| `.txt` | a block: its id, `domain<TAB>stars`, then lines `label<TAB>sentence`; blank lines between blocks |
| Weft documents | `.jsonl`, `.conllu`, `.parquet` with ratings and polarities (`weft.text.conventions.polarity`) |

Columns are `text` and `rating` (1 to 5) or `sentiment` (pos, neg, neu), and optionally `id`, `domain`, `product` and
`title`. Blocks are the format of Täckström and McDonald's fine-grained sentiment corpus; labels `mix` and `nr` count as
`neu`. If nothing else names the domain, a table's file name does (`books.tsv.gz`: books).
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from weft.errors import DataError, FormatError, WeftError
from weft.formats import jsonl, parquet
from weft.formats.conllu import files as conllu
from weft.formats.streams import document_name, numbered_lines, open_output
from weft.text.conventions.polarity import (
    RATING,
    document_polarity,
    merged_polarity,
    polarity_of_rating,
    rating_of,
    sentence_polarities,
    set_polarities,
)
from weft.text.doc import Doc
from weft.text.strings import StringTable
from weft.text.words import word_spans

PathLike = str | os.PathLike[str]

#: Suffixes of annotation tools, whose labels of documents may be polarities.
TOOLS = (".label-studio.json", ".doccano.jsonl", ".prodigy.jsonl")
COLUMNS = ("text", "rating", "sentiment", "id", "domain", "product", "title")


@dataclass(frozen=True)
class Review:
    """A review; `sentences` and `labels` are empty if its text is not split; a missing label is "".

    >>> review = Review("A slow plot. Superb acting.", rating=2, domain="films")
    >>> review.polarity
    'neg'
    """

    text: str
    rating: float | None = None
    sentiment: str = ""
    id: str = ""
    domain: str = ""
    product: str = ""
    title: str = ""
    sentences: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()

    @property
    def polarity(self) -> str:
        """`pos`, `neg` or `neu`, by its label or else its stars; "" if it has neither."""
        if self.sentiment or self.rating is None:
            return self.sentiment
        return polarity_of_rating(self.rating)

    def doc(self, strings: StringTable | None = None) -> Doc:
        """The review as a document: only its text, or the words of its sentences if it has sentences.

        >>> Review("Dull. Fine!", 3, sentences=("Dull.", "Fine!"), labels=("neg", "pos")).doc().comments
        [('# document_sentiment = neu', '# sentiment = neg'), ('# sentiment = pos',)]
        """
        meta: dict[str, Any] = {
            name: value for name in ("id", "domain", "product", "title") if (value := getattr(self, name))
        }
        if self.rating is not None:
            meta[RATING] = self.rating
        doc = Doc(self.text, strings, meta)
        if self.sentences:
            spans, bounds, place = [], [0], 0
            for sentence in self.sentences:
                spans += word_spans(self.text, place, place + len(sentence))
                bounds.append(len(spans))
                place += len(sentence) + 1
            doc.set_offsets([start for start, _ in spans], [end for _, end in spans])
            doc.set_sentences(bounds)
            set_polarities(doc, self.labels or [""] * len(self.sentences), self.polarity)
        elif self.polarity:
            doc.meta["sentiment"] = self.polarity
        return doc

    @classmethod
    def from_doc(cls, doc: Doc) -> Review:
        """Convert a document to a review.

        >>> Review.from_doc(Review("Dull. Fine!", 3, sentences=("Dull.", "Fine!"), labels=("neg", "pos")).doc()).labels
        ('neg', 'pos')
        """
        names = {name: str(doc.meta.get(name, "")) for name in ("id", "domain", "product", "title")}
        labels = sentence_polarities(doc)
        return cls(
            text=" ".join(_one_line(sentence.text) for sentence in doc.sentences) if doc.n_sentences else doc.text,
            rating=rating_of(doc),
            sentiment=document_polarity(doc),
            sentences=tuple(_one_line(sentence.text) for sentence in doc.sentences),
            labels=tuple(labels) if any(labels) else (),
            **names,
        )


def read_reviews(path: PathLike, *, encoding: str = "utf-8") -> Iterator[Review]:
    """The reviews in a file, in the format of its suffix (see the module docstring), read lazily.

    >>> from tempfile import TemporaryDirectory
    >>> from pathlib import Path
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "films.tsv").write_text("rating\\ttext\\n1\\tSlow plot.\\n5\\tSuperb!\\n")
    ...     [(review.polarity, review.domain, review.text) for review in read_reviews(f"{folder}/films.tsv")]
    [('neg', 'films', 'Slow plot.'), ('pos', 'films', 'Superb!')]
    """
    name = os.fspath(path)
    base = os.path.basename(name).removesuffix(".gz")
    if base.endswith(TOOLS):
        from weft.formats.doors import read

        reviews: Iterable[Review] = map(Review.from_doc, read(name, encoding=encoding))
    elif base.endswith((".tsv", ".csv")):
        reviews = _table(name, base[-4:] == ".csv", encoding)
    elif base.endswith((".jsonl", ".ndjson")):
        reviews = _json_lines(name, encoding)
    elif base.endswith((".txt", ".text")):
        reviews = _blocks(name, encoding)
    elif base.endswith(".conllu"):
        reviews = map(Review.from_doc, conllu.read(name, encoding=encoding))
    elif base.endswith(".parquet"):
        reviews = map(Review.from_doc, parquet.read(name))
    else:
        raise DataError(
            f"cannot tell the review format of {name} by its suffix: expected .tsv, .csv or .jsonl (one per line), "
            ".txt (blocks of labelled sentences), .conllu, .parquet, or that of an annotation tool"
        )
    any_review = False
    for review in reviews:
        any_review = True
        yield review
    if not any_review:
        raise FormatError(name, None, "at least one review", "none")


def without_duplicates(reviews: Iterable[Review]) -> list[Review]:
    """The reviews without duplicate texts; the first of each is kept.

    >>> len(without_duplicates([Review("Fine.", 4), Review("Dull.", 2), Review("Fine.", 5)]))
    2
    """
    seen: dict[str, Review] = {}
    for review in reviews:
        seen.setdefault(review.text, review)
    return list(seen.values())


def write_labelled(reviews: Iterable[Review], path: PathLike) -> int:
    """Write reviews with labelled sentences as blocks (`.txt`) and return their number."""
    count = 0
    with open_output(os.fspath(path)) as file:
        for count, review in enumerate(reviews, start=1):
            if not review.sentences:
                raise WeftError(f"review {count} has no labelled sentences to write")
            stars = f"{review.rating:g}" if review.rating is not None else review.sentiment or "_"
            lines = [review.id or str(count), f"{review.domain or '_'}\t{stars}"]
            labels = review.labels or ("_",) * len(review.sentences)
            lines += [f"{label or '_'}\t{text}" for label, text in zip(labels, review.sentences, strict=True)]
            file.write(("\n" * (count > 1) + "\n".join(lines) + "\n").encode())
    return count


def _table(path: str, commas: bool, encoding: str) -> Iterator[Review]:
    lines = numbered_lines(path, encoding)
    if commas:  # a quoted field may span several lines; the number is that of the last
        reader = csv.reader(f"{line}\n" for _, line in lines)
        rows: Iterator[tuple[int, Sequence[str]]] = _csv_rows(path, reader)
    else:
        rows = ((number, line.split("\t")) for number, line in lines)
    _, first = next(rows, (1, [""]))
    header = [name.strip().lower() for name in first]
    if "text" not in header:
        hint = "Further columns: " + ", ".join(COLUMNS[1:])
        raise FormatError(path, 1, "a first line that names the columns, including text", repr(list(first)), hint)
    domain = document_name(path).removesuffix(".tsv").removesuffix(".csv")
    for number, row in rows:
        if not any(field.strip() for field in row):
            continue
        if len(row) != len(header):
            raise FormatError(path, number, f"{len(header)} columns as in the first line", f"{len(row)} columns")
        yield _review({"domain": domain} | dict(zip(header, row, strict=True)), path, number)


def _csv_rows(path: str, reader: Any) -> Iterator[tuple[int, Sequence[str]]]:
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        hint = "Is a quotation mark not closed?"
        raise FormatError(path, reader.line_num, "comma-separated values", f"something else ({error})", hint) from error


def _json_lines(path: str, encoding: str) -> Iterator[Review]:
    for number, line in numbered_lines(path, encoding):
        if not line.strip():
            continue
        try:
            values = jsonl.load(line)
        except (ValueError, WeftError) as error:
            raise FormatError(path, number, "a review in JSON", f"a line that is not JSON ({error})") from error
        if not isinstance(values, dict):
            raise FormatError(path, number, 'a review in JSON, {"text": ...}', f"a {type(values).__name__}")
        if "tokens" in values or "meta" in values:
            try:
                yield Review.from_doc(jsonl.from_values(values))
            except (WeftError, LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
                raise FormatError(path, number, "a document", f"invalid values: {error}") from error
        else:
            yield _review(values, path, number)


def _blocks(path: str, encoding: str) -> Iterator[Review]:
    held: list[tuple[int, str]] = []
    for number, line in chain(numbered_lines(path, encoding), [(0, "")]):
        if line.strip():
            held.append((number, line))
        elif held:
            yield _block(path, held)
            held = []


def _block(path: str, lines: list[tuple[int, str]]) -> Review:
    first = lines[0][0]
    if len(lines) < 3:
        shape = "an id, a line domain<TAB>stars and lines label<TAB>sentence"
        raise FormatError(path, first, shape, f"a block of {len(lines)} lines")
    domain, tab, stars = lines[1][1].partition("\t")
    if not tab:
        raise FormatError(path, first + 1, "domain<TAB>stars", repr(lines[1][1]))
    sentences = []
    for number, line in lines[2:]:
        label, tab, text = line.partition("\t")
        if not tab or not text.strip():
            raise FormatError(path, number, "label<TAB>sentence", repr(line))
        sentences.append({"label": "" if label == "_" else label, "text": text, "line": number})
    values: dict[str, Any] = {"id": lines[0][1].strip(), "domain": "" if domain == "_" else domain}
    if stars.strip() != "_":
        values["rating" if stars.strip()[:1].isdigit() else "sentiment"] = stars
    return _review(values | {"sentences": sentences}, path, first + 1)


def _review(values: Mapping[str, Any], path: str, line: int) -> Review:
    """Build a review from named values."""
    rating: float | None = None
    given = values.get("rating")
    if given not in (None, ""):
        try:
            rating = float(given)
            polarity_of_rating(rating)
        except (TypeError, ValueError, OverflowError, WeftError) as error:
            raise FormatError(path, line, "a rating from 1 to 5", repr(given)[:60]) from error
    texts, labels = _sentences(values.get("sentences", ()), path, line)
    text = " ".join(texts) if texts else values.get("text")
    if not isinstance(text, str):
        raise FormatError(path, line, "a text", "none" if text is None else repr(text)[:60])
    return Review(
        text=text,
        rating=rating,
        sentiment=_polarity(values.get("sentiment", ""), path, line),
        sentences=texts,
        labels=labels,
        **{name: str(values.get(name, "")) for name in ("id", "domain", "product", "title")},
    )


def _sentences(items: Any, path: str, line: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Texts and merged labels of a list of sentences; no labels if no sentence has one."""
    texts, labels = [], []
    if not isinstance(items, list | tuple):
        raise FormatError(path, line, "a list of sentences", repr(items)[:60])
    for item in items:
        values = {"text": item} if isinstance(item, str) else item
        if not isinstance(values, dict) or not isinstance(values.get("text"), str) or not values["text"].strip():
            raise FormatError(path, line, 'sentences {"text": ..., "label": ...}', repr(item))
        texts.append(_one_line(values["text"]))
        labels.append(_polarity(values.get("label", ""), path, values.get("line", line)))
    return tuple(texts), tuple(labels) if any(labels) else ()


def _polarity(label: Any, path: str, line: int) -> str:
    try:
        return merged_polarity(str(label))
    except WeftError as error:
        raise FormatError(path, line, "a polarity (pos, neg, neu, mix, nr)", repr(label)) from error


def _one_line(text: str) -> str:
    return " ".join(text.split("\n")).strip()
