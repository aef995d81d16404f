"""Explain what is wrong with a CoNLL-U sentence, with its line: the slow counterpart of the batch checks."""

from __future__ import annotations

import re

from weft.errors import FormatError
from weft.formats.streams import encoding_error, stray_byte

COLUMN_NAMES = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
_NUMBER = re.compile(r"0|[1-9][0-9]{0,7}")
_RANGE = re.compile(r"([1-9][0-9]{0,7})-([1-9][0-9]{0,7})")
_EMPTY = re.compile(r"(0|[1-9][0-9]{0,7})\.([1-9][0-9]{0,7})")


def find_fault(path: str, sentence: str, line: int, check_trees: bool = True) -> FormatError | None:
    """The first error in a sentence whose first line has this number, or None.

    >>> print(find_fault("a.conllu", "1\\tDogs\\tdog\\tNOUN\\t_\\t_\\t3\\troot\\t_\\t_", 1))
    a.conllu, line 1: expected a head from 0 to 1, the number of words, found '3'
    """
    try:
        _check(path, sentence, line, check_trees)
    except FormatError as error:
        return error
    return None


def _check(path: str, sentence: str, line: int, check_trees: bool) -> None:
    stray = stray_byte(sentence)
    if stray is not None:
        raise encoding_error(path, line + sentence.count("\n", 0, stray[0]), stray[1])
    rows: list[tuple[int, list[str]]] = []
    for number, text in enumerate(sentence.split("\n"), start=line):
        if text.startswith("#") and not rows:
            continue
        columns = text.split("\t")
        if len(columns) != 10:
            hint = "Columns are separated by tabs, not spaces" if len(columns) == 1 and " " in text else ""
            if text.startswith("#"):
                hint = "Comments must precede the words of their sentence"
            raise FormatError(path, number, "10 tab-separated columns", _count(len(columns), "column"), hint)
        if "" in columns:
            name = COLUMN_NAMES[columns.index("")]
            raise FormatError(path, number, "no empty columns", f"nothing under {name}", "Write _ for an unset value")
        rows.append((number, columns))
    if not rows:
        raise FormatError(path, line, "at least one word", "a sentence that contains only comments")
    _check_ids(path, rows)
    words = [(number, columns) for number, columns in rows if _NUMBER.fullmatch(columns[0])]
    if not words:
        raise FormatError(path, rows[0][0], "at least one word", "a sentence without words")
    heads = _check_heads(path, words)
    if check_trees:
        _check_cycles(path, words, heads)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _check_ids(path: str, rows: list[tuple[int, list[str]]]) -> None:
    n_words = sum(_NUMBER.fullmatch(columns[0]) is not None for _, columns in rows)
    seen: set[str] = set()
    word, covered, empty = 0, 0, 0
    awaited = 0  # the word that must follow a range line
    for line, columns in rows:
        text = columns[0]
        if text in seen:
            raise FormatError(path, line, "each ID once in a sentence", f"{text!r} again")
        seen.add(text)
        match = _RANGE.fullmatch(text)
        if match:
            begin, end = int(match[1]), int(match[2])
            if begin != word + 1 or awaited:
                raise FormatError(path, line, f"a range that begins with word {word + 1}", repr(text))
            if not begin <= end <= n_words:
                raise FormatError(path, line, f"a range of words up to {n_words}", repr(text))
            if begin <= covered:
                raise FormatError(path, line, "ranges that do not overlap", repr(text))
            covered, awaited = end, begin
            continue
        match = _EMPTY.fullmatch(text)
        if match:
            if awaited:
                raise FormatError(path, line, f"word {awaited} after its range", repr(text))
            if (int(match[1]), int(match[2])) != (word, empty + 1):
                raise FormatError(path, line, f"empty node {word}.{empty + 1} or word {word + 1}", repr(text))
            empty += 1
            continue
        if text != str(word + 1):
            raise FormatError(path, line, f"ID {word + 1}", repr(text))
        word, empty, awaited = word + 1, 0, 0
    if awaited:
        raise FormatError(path, rows[-1][0], f"word {awaited} after its range", "the end of the sentence")


def _check_heads(path: str, words: list[tuple[int, list[str]]]) -> list[int]:
    heads: list[int] = []
    for line, columns in words:
        text = columns[6]
        if text == "_":
            heads.append(-1)
            continue
        if not _NUMBER.fullmatch(text):
            raise FormatError(path, line, "a head's number or _", repr(text))
        if int(text) > len(words):
            raise FormatError(path, line, f"a head from 0 to {len(words)}, the number of words", repr(text))
        heads.append(int(text))
    return heads


def _check_cycles(path: str, words: list[tuple[int, list[str]]], heads: list[int]) -> None:
    hint = "To skip such sentences: --skip-bad (in Python skip_bad=True); to keep them: check_trees=False in Python"
    done = [False] * (len(heads) + 1)
    for start in range(1, len(heads) + 1):
        chain: list[int] = []
        word = start
        while word > 0 and not done[word]:
            if word in chain:
                cycle = chain[chain.index(word) :]
                shown = " -> ".join(str(number) for number in [*cycle, word])
                actual = f"word {word} as its own head" if len(cycle) == 1 else f"a cycle of heads: {shown}"
                raise FormatError(path, words[word - 1][0], "a tree", actual, hint)
            chain.append(word)
            word = heads[word - 1]
        for number in chain:
            done[number] = True
