"""Word lists in model files: long tables and lists of a header are stored as arrays, and equal ones only once.

    header      {"clusters": {"cat": "0010", "dog": "0010", ...}}   becomes   {"clusters": {"table of words": 3}}
    arrays      tables/3/words = "cat dog ..."    tables/3/values = "0010 ..."    tables/3/of = 0 0 ...

Components that read the same clusters or gazetteers share one table in the file and, once loaded, in memory. Arrays can
be packed (`weft.storage`), headers cannot.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.declared import Array, Stored
from weft.errors import ModelError
from weft.storage import Arrays

#: Tables and lists with fewer entries stay in the header.
LONG = 500
PREFIX = "tables/"
_MARK = "table of words"
_SEPARATOR = "\n"
_TEXT = ("words", "values")


def take_out(headers: Any) -> tuple[Any, Arrays]:
    """Headers with numbers in place of long tables from text to text and long lists of text, and the arrays of these.

    >>> clusters = {f"word{i}": "01" for i in range(600)}
    >>> headers, arrays = take_out([{"clusters": clusters}, {"clusters": dict(clusters), "order": 1}])
    >>> headers
    [{'clusters': {'table of words': 0}}, {'clusters': {'table of words': 0}, 'order': 1}]
    >>> sorted(arrays)
    ['tables/0/of', 'tables/0/values', 'tables/0/words']
    >>> put_back(headers, arrays)[1]["clusters"] == clusters
    True
    """
    tables: dict[Any, int] = {}
    short = _without_tables(headers, tables)
    arrays: Arrays = {}
    for content, number in tables.items():
        arrays |= {f"{PREFIX}{number}/{name}": array for name, array in _to_arrays(*content).items()}
    return short, arrays


def put_back(headers: Any, arrays: Arrays) -> Any:
    """Headers with the tables and lists that `take_out` replaced; those with the same number are one object."""
    stored, known = Stored.of(arrays).under(PREFIX), {}
    if not stored:
        return headers

    def table(number: Any) -> Any:
        if type(number) is not int:
            raise ModelError(f"the header refers to the table {number!r}, which is no number: the file is damaged")
        if number not in known:
            known[number] = _from_arrays(stored.under(f"{number}/"), number)
        return known[number]

    def walk(value: Any) -> Any:
        if isinstance(value, dict):
            return table(value[_MARK]) if value.keys() == {_MARK} else {name: walk(own) for name, own in value.items()}
        return [walk(own) for own in value] if isinstance(value, list) else value

    return walk(headers)


def _without_tables(value: Any, tables: dict[Any, int]) -> Any:
    content = _content(value)
    if content is not None:
        return {_MARK: tables.setdefault(content, len(tables))}
    if isinstance(value, dict):
        return {name: _without_tables(own, tables) for name, own in value.items()}
    return [_without_tables(own, tables) for own in value] if isinstance(value, list) else value


def _content(value: Any) -> tuple[tuple[str, ...], tuple[str, ...] | None] | None:
    """The words of a long table, sorted, and their values; the words of a long list, and None; None for all else."""
    if not isinstance(value, dict | list | tuple) or len(value) < LONG:
        return None
    words = sorted(value) if isinstance(value, dict) and all(isinstance(word, str) for word in value) else list(value)
    values = [value[word] for word in words] if isinstance(value, dict) else []
    if not all(isinstance(each, str) and _SEPARATOR not in each and _encodes(each) for each in (*words, *values)):
        return None
    return tuple(words), tuple(values) if isinstance(value, dict) else None


def _encodes(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def _to_arrays(words: tuple[str, ...], values: tuple[str, ...] | None) -> Arrays:
    if values is None:
        return {"words": _bytes(words)}
    numbers = {value: i for i, value in enumerate(sorted(set(values)))}
    kind = np.uint16 if len(numbers) < 2**16 else np.uint32
    of = np.fromiter((numbers[value] for value in values), dtype=kind, count=len(values))
    return {"words": _bytes(words), "values": _bytes(numbers), "of": of}


def _bytes(texts: Any) -> Any:
    return np.frombuffer(_SEPARATOR.join(texts).encode(), dtype=np.uint8)


def _from_arrays(stored: Stored, number: int) -> dict[str, str] | list[str]:
    texts = stored.take(*(Array(name, "uint8", ("*",), optional=name == "values") for name in _TEXT))
    try:
        words, *rest = (texts[name].tobytes().decode().split(_SEPARATOR) for name in _TEXT if name in texts)
    except UnicodeDecodeError:
        raise ModelError(f"table {number} of the header is not UTF-8: the file is damaged") from None
    if not rest:
        return words
    of = stored.take(Array("of", "uint16 uint32", (len(words),), below="values"), values=len(rest[0]))["of"]
    table = dict(zip(words, map(rest[0].__getitem__, of.tolist()), strict=True))
    if len(table) < len(words):
        raise ModelError(f"table {number} of the header has a word twice: the file is damaged")
    return table
