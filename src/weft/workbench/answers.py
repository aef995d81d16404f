"""Answers: what a person says of an item, as a JSON value that the kind of task describes.

| kind | value |
|---|---|
| `spans` | `{"spans": [{"pieces": [[0, 2]], "label": "PER"}]}`: spans may overlap and have gaps |
| `relations` | the same with `"relations": [{"head": 0, "tail": 1, "label": "works-for"}]`, by places in `spans` |
| `tags` | `{"tags": ["DET", "NOUN"]}`, one per word |
| `trees` | `{"heads": [1, -1], "labels": ["det", "root"]}`, heads counted from 0 in the item, -1 for the root |
| `questions` | `{"accept": true}` |
| `labels` | `{"labels": ["spam"]}` |

A value falls into *parts* (a span with its label, a tag in its place), which is what F1 compares, and into *units*
(what is said of each word, or of the whole), which is what kappa and alpha compare.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from weft.errors import ConfigError, WeftError, did_you_mean

Value = dict[str, Any]
#: What is said of a unit, by its name.
Units = dict[Hashable, Hashable]
#: The most spans, and the longest label, that an answer may hold.
MOST_PARTS, LONGEST_LABEL = 10_000, 200


class WrongAnswer(WeftError):
    """A value that is not one of its kind of task."""


class Schema(NamedTuple):
    """What the answers to a task may say."""

    kind: str
    labels: tuple[str, ...]
    relations: tuple[str, ...] = ()
    several: bool = False  #: whether a text may have more or fewer than one label


def check_kind(kind: str) -> str:
    """The kind of task of a name; entities are spans.

    >>> check_kind("entities")
    'spans'
    """
    kind = ALIASES.get(kind, kind)
    if kind not in KINDS:
        raise ConfigError(f"there is no task {kind!r}; {did_you_mean(kind, KINDS, 'choose from ' + ', '.join(KINDS))}")
    return kind


def checked(schema: Schema, value: Any, words: int) -> Value:
    """A value in its normal form, or an error that says what is wrong with it.

    >>> schema = Schema("spans", ("PER",))
    >>> checked(schema, {"spans": [{"pieces": [[2, 3], [0, 1]], "label": "PER"}]}, 3)
    {'spans': [{'pieces': [[0, 1], [2, 3]], 'label': 'PER'}]}
    >>> checked(schema, {"spans": [{"pieces": [[2, 9]], "label": "PER"}]}, 3)
    Traceback (most recent call last):
    ...
    weft.workbench.answers.WrongAnswer: a piece of a span lies within the 3 words of the item, not at [2, 9]
    """
    if not isinstance(value, Mapping):
        raise WrongAnswer("an answer is a JSON object")
    return KINDS[schema.kind].check(schema, value, words)


def parts(schema: Schema, value: Value) -> set[Hashable]:
    """What F1 counts.

    >>> sorted(parts(Schema("tags", ("A", "B")), {"tags": ["A", "B"]}))
    [(0, 'A'), (1, 'B')]
    """
    return KINDS[schema.kind].parts(value)


def units(schema: Schema, value: Value, words: int) -> Units:
    """What kappa and alpha compare: what is said of every word, or of the whole.

    >>> units(Schema("spans", ("X",)), {"spans": [{"pieces": [[0, 1]], "label": "X"}]}, 2)
    {0: (('X', True),), 1: ()}
    """
    return KINDS[schema.kind].units(value, words)


def _list(value: Mapping[str, Any], key: str, length: int | None = None) -> list[Any]:
    found = value.get(key)
    if not isinstance(found, list) or len(found) > MOST_PARTS:
        raise WrongAnswer(f"the answer needs a list of {key}")
    if length is not None and len(found) != length:
        raise WrongAnswer(f"the answer needs {length} {key}, one per word; it has {len(found)}")
    return found


def _label(given: Any, known: Sequence[str]) -> str:
    if not isinstance(given, str) or not given or len(given) > LONGEST_LABEL:
        raise WrongAnswer("a label is a text")
    if known and given not in known:
        raise WrongAnswer(f"there is no label {given!r} in this project")
    return given


def _number(given: Any) -> int:
    if isinstance(given, bool) or not isinstance(given, int):
        raise WrongAnswer(f"expected a number, got {str(given)[:40]!r}")
    return given


def _piece(given: Any, words: int) -> list[int]:
    if not isinstance(given, list) or len(given) != 2:
        raise WrongAnswer("a piece of a span is [first word, end]")
    start, end = map(_number, given)
    if not 0 <= start < end <= words:
        raise WrongAnswer(f"a piece of a span lies within the {words} words of the item, not at [{start}, {end}]")
    return [start, end]


def _span(given: Any, schema: Schema, words: int) -> dict[str, Any]:
    if not isinstance(given, Mapping) or not isinstance(given.get("pieces"), list) or not given["pieces"]:
        raise WrongAnswer("a span has pieces and a label")
    pieces = sorted(_piece(piece, words) for piece in given["pieces"])
    if any(b[0] < a[1] for a, b in pairwise(pieces)):
        raise WrongAnswer("the pieces of a span must not overlap")
    return {"pieces": _joined(pieces), "label": _label(given.get("label"), schema.labels)}


def _joined(pieces: list[list[int]]) -> list[list[int]]:
    """Pieces that touch as one."""
    joined = [list(pieces[0])]
    for start, end in pieces[1:]:
        if start == joined[-1][1]:
            joined[-1][1] = end
        else:
            joined.append([start, end])
    return joined


def _key(span: Mapping[str, Any]) -> tuple[Any, ...]:
    return (tuple(map(tuple, span["pieces"])), span["label"])


def _spans(schema: Schema, value: Mapping[str, Any], words: int) -> Value:
    spans = [_span(given, schema, words) for given in _list(value, "spans")]
    unique = {_key(span): span for span in spans}
    return {"spans": [unique[key] for key in sorted(unique)]}


def _relations(schema: Schema, value: Mapping[str, Any], words: int) -> Value:
    given = [_span(each, schema, words) for each in _list(value, "spans")]
    result = _spans(schema, value, words)
    places = {_key(span): number for number, span in enumerate(result["spans"])}
    found = set()
    for row in _list(value, "relations"):
        if not isinstance(row, Mapping):
            raise WrongAnswer("a relation has a head, a tail and a label")
        head, tail = _number(row.get("head")), _number(row.get("tail"))
        if not (0 <= head < len(given) and 0 <= tail < len(given)) or head == tail:
            raise WrongAnswer("a relation joins two different spans of the answer")
        label = _label(row.get("label"), schema.relations)
        found.add((places[_key(given[head])], places[_key(given[tail])], label))
    names = ("head", "tail", "label")
    return {**result, "relations": [dict(zip(names, row, strict=True)) for row in sorted(found)]}


def _tags(schema: Schema, value: Mapping[str, Any], words: int) -> Value:
    return {"tags": [_label(tag, schema.labels) for tag in _list(value, "tags", words)]}


def _trees(schema: Schema, value: Mapping[str, Any], words: int) -> Value:
    heads = [_number(head) for head in _list(value, "heads", words)]
    labels = [_label(label, schema.labels) for label in _list(value, "labels", words)]
    if any(not -1 <= head < words or head == word for word, head in enumerate(heads)):
        raise WrongAnswer("the head of a word is another word of the item, or -1 for the root")
    for word in range(words):
        seen, at = set(), word
        while at >= 0:
            if at in seen:
                raise WrongAnswer(f"word {word + 1} hangs on itself: the heads form a circle")
            seen.add(at)
            at = heads[at]
    return {"heads": heads, "labels": labels}


def _question(schema: Schema, value: Mapping[str, Any], words: int) -> Value:
    if not isinstance(value.get("accept"), bool):
        raise WrongAnswer("the answer to a question is true or false")
    return {"accept": value["accept"]}


def _labels(schema: Schema, value: Mapping[str, Any], words: int) -> Value:
    chosen = {_label(label, schema.labels) for label in _list(value, "labels")}
    if not schema.several and len(chosen) != 1:
        raise WrongAnswer(f"a text has one label in this project; the answer has {len(chosen)}")
    order = {label: place for place, label in enumerate(schema.labels)}
    return {"labels": sorted(chosen, key=lambda label: (order.get(label, len(order)), label))}


def _span_units(value: Value, words: int) -> Units:
    """The labels of the spans that hold a word, and whether each begins there."""
    said: list[list[tuple[str, bool]]] = [[] for _ in range(words)]
    for span in value["spans"]:
        for place, (start, end) in enumerate(span["pieces"]):
            for word in range(start, end):
                said[word].append((span["label"], word == start and place == 0))
    return {word: tuple(sorted(labels)) for word, labels in enumerate(said)}


def _relation_parts(value: Value) -> set[Hashable]:
    keys = [_key(span) for span in value["spans"]]
    joined = {(keys[row["head"]], keys[row["tail"]], row["label"]) for row in value["relations"]}
    return {*keys, *joined}


class Kind(NamedTuple):
    """How the values of a kind of task are checked and compared."""

    check: Callable[[Schema, Mapping[str, Any], int], Value]
    parts: Callable[[Value], set[Hashable]]
    units: Callable[[Value, int], Units]


KINDS: dict[str, Kind] = {
    "spans": Kind(_spans, lambda value: {_key(span) for span in value["spans"]}, _span_units),
    "labels": Kind(
        _labels, lambda value: set(value["labels"]), lambda value, words: {"text": tuple(value["labels"])}
    ),
    "questions": Kind(
        _question, lambda value: {value["accept"]}, lambda value, words: {"text": value["accept"]}
    ),
    "tags": Kind(
        _tags, lambda value: set(enumerate(value["tags"])), lambda value, words: dict(enumerate(value["tags"]))
    ),
    "relations": Kind(_relations, _relation_parts, _span_units),
    "trees": Kind(
        _trees,
        lambda value: set(zip(range(len(value["heads"])), value["heads"], value["labels"], strict=True)),
        lambda value, words: dict(enumerate(zip(value["heads"], value["labels"], strict=True))),
    ),
}  # fmt: skip
#: Other names of kinds.
ALIASES = {"entities": "spans", "ner": "spans", "tagger": "tags", "parser": "trees", "review": "questions"}
