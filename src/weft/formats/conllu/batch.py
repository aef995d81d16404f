"""Parse many CoNLL-U sentences at once into arrays.

One `split` cuts the fields of all rows, and strides separate them: with `\\t\\n\\t` in place of every line end, field
`k` of row `i` is piece `11 i + k`, and rows have exactly ten fields if every eleventh piece is a line end. Columns are
interned as a whole and checked with NumPy; only multiword and empty-node rows are handled individually.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Ids
from weft.formats.spacing import Spacing
from weft.text.doc import Doc, EmptyNode, Multiword
from weft.text.validity import has_cycle

#: The columns of CoNLL-U after ID, in file order; HEAD is stored as numbers.
FIELDS = ("form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
_STRIDE = 11
_HEAD = 6


class _Numbers(dict[str, int]):
    """Row and head numbers: `_` is -1, anything that is not a plain number is -2."""

    def __missing__(self, text: str) -> int:
        if text.isascii() and text.isdigit() and text[0] != "0" and len(text) < 9:
            return int(text)
        return -2


_NUMBERS = _Numbers({"_": -1, **{str(i): i for i in range(1000)}})


class Batch(NamedTuple):
    """Sentences as arrays; `documents` cuts documents out of them."""

    offsets: Ids  # of the sentences, counted in words
    columns: dict[str, Ids]
    head: Ids
    forms: list[str]  # of the tokens
    token_misc: Ids
    word_token: Ids
    multiwords: list[Multiword]
    empty_nodes: list[EmptyNode]


def parse(bodies: Sequence[str], spacing: Spacing, check_trees: bool) -> Batch | None:
    """The rows of sentences as arrays, or None if any sentence violates the format."""
    strings = spacing.strings
    row_counts = np.array([body.count("\n") + 1 for body in bodies], dtype=np.int64)
    n_rows = int(row_counts.sum())
    pieces = "\n".join(bodies).replace("\n", "\t\n\t").split("\t")
    if len(pieces) != _STRIDE * n_rows - 1 or pieces[10::_STRIDE].count("\n") != n_rows - 1:
        return None
    ids = np.fromiter(map(_NUMBERS.__getitem__, pieces[0::_STRIDE]), dtype=np.int32, count=n_rows)
    is_word = ids > 0
    all_words = bool(is_word.all())
    row_starts = np.concatenate([[0], np.cumsum(row_counts)])
    lengths = row_counts if all_words else np.add.reduceat(is_word, row_starts[:-1], dtype=np.int64)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    numbers = ids if all_words else ids[is_word]
    if not lengths.all() or (numbers != np.arange(1, len(numbers) + 1) - np.repeat(offsets[:-1], lengths)).any():
        return None

    head = np.fromiter(map(_NUMBERS.__getitem__, pieces[_HEAD::_STRIDE]), dtype=np.int32, count=n_rows)
    head = head if all_words else head[is_word]
    if (head < -1).any() or (head > np.repeat(lengths, lengths)).any():
        return None
    if check_trees and has_cycle(head, offsets):
        return None

    columns: dict[str, Ids] = {}
    underscore = strings["_"]
    for field, name in enumerate(FIELDS, start=1):
        if name == "head":
            continue
        values = pieces[field::_STRIDE]
        if values[0] == "_" and name != "form" and values.count("_") == n_rows:
            continue
        column = strings.ids(values)
        if not column.all():
            return None
        if not all_words:
            column = column[is_word]
        if name != "form":
            column[column == underscore] = 0
        columns[name] = column
    if "lemma" in columns:  # FORM and LEMMA both `_`: the word is an underscore
        columns["lemma"][(columns["lemma"] == 0) & (columns["form"] == underscore)] = underscore

    forms = pieces[1::_STRIDE]
    misc = columns.get("misc", np.zeros(len(head), dtype=np.int32))
    word_token = np.arange(len(head), dtype=np.int32)
    if all_words:
        return Batch(offsets, columns, head, forms, misc, word_token, [], [])
    rare = _rare_rows(pieces, ids, row_starts, offsets)
    if rare is None:
        return None
    multiwords, empty_nodes = rare
    begins = np.ones(len(head), dtype=np.bool_)
    forms = list(compress(forms, is_word.tolist()))
    misc = misc.copy()
    for first, end, fields in multiwords:
        begins[first + 1 : end] = False
        forms[first] = fields[0]
        misc[first] = strings[fields[-1]]
    if multiwords:
        forms = list(compress(forms, begins.tolist()))
        word_token = (np.cumsum(begins) - 1).astype(np.int32)
    return Batch(offsets, columns, head, forms, misc[begins], word_token, multiwords, empty_nodes)


def _rare_rows(
    pieces: list[str], ids: Ids, row_starts: NDArray[np.int64], offsets: Ids
) -> tuple[list[Multiword], list[EmptyNode]] | None:
    """Multiword and empty-node rows, or None if one of them is misplaced."""
    multiwords: list[Multiword] = []
    empty_nodes: list[EmptyNode] = []
    rows = np.flatnonzero(ids <= 0)
    owners = (np.searchsorted(row_starts, rows, side="right") - 1).tolist()
    covered = 0  # words before this one already belong to a multiword token
    previous = (-1, -1, -1)  # row, position and number of the previous empty node
    for row, sentence in zip(rows.tolist(), owners, strict=True):
        text = pieces[_STRIDE * row]
        values = pieces[_STRIDE * row + 1 : _STRIDE * row + 10]
        if "" in values:
            return None
        fields = tuple("" if value == "_" else value for value in values)
        first, last = int(offsets[sentence]), int(offsets[sentence + 1])
        if "-" in text:
            low, _, high = text.partition("-")
            begin, end = _NUMBERS[low], _NUMBERS[high]
            follows = row + 1 < row_starts[sentence + 1] and int(ids[row + 1]) == begin
            if not (0 < begin <= end <= last - first and follows and first + begin - 1 >= covered):
                return None
            covered = first + end
            multiwords.append(Multiword(first + begin - 1, covered, (values[0], *fields[1:])))
        else:
            left, _, right = text.partition(".")
            after, number = _NUMBERS[left], _NUMBERS[right]
            if number == 1:
                fits = row == row_starts[sentence] if after == 0 else row > 0 and int(ids[row - 1]) == after
                fits = fits and (after == 0 or row > row_starts[sentence])
            else:
                fits = previous == (row - 1, after, number - 1)
            if number < 1 or not fits:
                return None
            previous = (row, after, number)
            empty_nodes.append(EmptyNode(sentence, after, number, fields))
    return multiwords, empty_nodes


def documents(
    batch: Batch,
    comments: list[tuple[str, ...]],
    paragraphs: Sequence[bool],
    doc_starts: Sequence[int],
    spacing: Spacing,
) -> list[Doc]:
    """Cut a batch into documents that begin at the given sentences."""
    offsets = batch.offsets
    lasts = batch.word_token[offsets[1:] - 1]
    layout = spacing.layout(batch.forms, batch.token_misc, lasts, paragraphs, doc_starts)
    docs: list[Doc] = []
    sentence_ends = [*doc_starts[1:], len(offsets) - 1]
    multiwords, empty_nodes = iter(batch.multiwords), iter(batch.empty_nodes)
    next_multiword, next_empty = next(multiwords, None), next(empty_nodes, None)
    any_head = bool((batch.head >= 0).any())
    for low, high, (text_start, text_end) in zip(doc_starts, sentence_ends, layout.bounds, strict=True):
        first, end = int(offsets[low]), int(offsets[high])
        token, token_end = int(batch.word_token[first]), int(batch.word_token[end - 1]) + 1
        doc = Doc(layout.text[text_start:text_end], spacing.strings)
        doc.token_start = (layout.start[token:token_end] - text_start).astype(np.int32)
        doc.token_end = (layout.end[token:token_end] - text_start).astype(np.int32)
        doc.word_token = batch.word_token[first:end] - np.int32(token)
        doc.sentence_offsets = offsets[low : high + 1] - np.int32(first)
        doc.columns = {name: ids[first:end] for name, ids in batch.columns.items()}
        doc.head = batch.head[first:end] if any_head else None
        doc.comments = comments[low:high]
        while next_multiword is not None and next_multiword.first < end:
            begin, stop, fields = next_multiword
            doc.multiwords.append(Multiword(begin - first, stop - first, fields))
            next_multiword = next(multiwords, None)
        while next_empty is not None and next_empty.sentence < high:
            doc.empty_nodes.append(next_empty._replace(sentence=next_empty.sentence - low))
            next_empty = next(empty_nodes, None)
        docs.append(doc)
    return docs
