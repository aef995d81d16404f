"""Label schemes: flat spans `(start, end, label)` as one label per word, and back.

| scheme | first word of a span | other words | last word | span of one word |
|---|---|---|---|---|
| IO | I-X | I-X | I-X | I-X |
| IOB1 | I-X, but B-X right after a span of the same label | I-X | I-X | as a first word |
| IOB2 | B-X | I-X | I-X | B-X |
| BIOES | B-X | I-X | E-X | S-X |

Words outside spans are labelled O. IO cannot separate two neighbouring spans of one label. Reading IO, a label without
`I-` is taken for the span's label itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from weft.errors import WeftError
from weft.headers import Many, Named, Record, Text

Scheme = Literal["IO", "IOB1", "IOB2", "BIOES"]
SCHEMES: tuple[Scheme, ...] = ("IO", "IOB1", "IOB2", "BIOES")
TOPOLOGY = Record(start=Many(Text()), follows=Named(Many(Text())), end=Many(Text()))
Chunk = tuple[int, int, str]


class SchemeError(WeftError):
    """A label that its scheme does not allow where it stands."""

    def __init__(self, position: int, previous: str, label: str, scheme: str) -> None:
        self.position, self.previous, self.label, self.scheme = position, previous, label, scheme
        super().__init__(
            f"label {position}: {label!r} after {previous!r} is not allowed in {scheme}; "
            "name another scheme, or decode with strict=False"
        )

    def __reduce__(self) -> tuple[type[SchemeError], tuple[int, str, str, str]]:
        return (SchemeError, (self.position, self.previous, self.label, self.scheme))


class LabelError(WeftError):
    """A string that is not a label of any scheme."""

    def __init__(self, label: str) -> None:
        self.label = label
        super().__init__(f"{label!r} is not a label: expected O, or B-, I-, E- or S- before the label")

    def __reduce__(self) -> tuple[type[LabelError], tuple[str]]:
        return (LabelError, (self.label,))


@dataclass(frozen=True)
class Topology:
    """An automaton over labels: what may begin a sentence, what may follow each label, what may end a sentence.

    >>> pairs = Topology(start=("O", "B"), follows={"O": ("O", "B"), "B": ("I",), "I": ("I", "O", "B")}, end=("O", "I"))
    >>> start, follows, end = pairs.masks(["B", "I", "O"])
    >>> follows.astype(int).tolist()
    [[0, 1, 0], [1, 1, 1], [1, 0, 1]]
    """

    start: tuple[str, ...]
    follows: Mapping[str, tuple[str, ...]]
    end: tuple[str, ...]

    def masks(self, labels: Sequence[str]) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
        """Which labels may begin, follow one another (`pairs[previous, next]`) and end."""
        unknown = {*self.start, *self.end, *self.follows, *(b for after in self.follows.values() for b in after)}
        unknown -= set(labels)
        if unknown:
            raise WeftError(f"the topology names labels that the space does not have: {', '.join(sorted(unknown))}")
        start = np.array([label in self.start for label in labels])
        end = np.array([label in self.end for label in labels])
        pairs = np.array([[b in self.follows.get(a, ()) for b in labels] for a in labels])
        return start, pairs, end

    def as_dict(self) -> dict[str, Any]:
        """The automaton as plain values, for a model's header."""
        follows = {label: list(after) for label, after in self.follows.items()}
        return {"start": list(self.start), "follows": follows, "end": list(self.end)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Topology:
        """The automaton that `as_dict` wrote."""
        TOPOLOGY.check(values, "topology")
        follows = {label: tuple(after) for label, after in values["follows"].items()}
        return cls(tuple(values["start"]), follows, tuple(values["end"]))


def check_scheme(scheme: str) -> Scheme:
    """The scheme's name in capitals, or a plain error.

    >>> check_scheme("iob2")
    'IOB2'
    """
    name = {"BIO": "IOB2", "IOB": "IOB1", "IOBES": "BIOES"}.get(scheme.upper(), scheme.upper())
    for known in SCHEMES:
        if name == known:
            return known
    raise WeftError(f"no label scheme {scheme!r}; there are {', '.join(SCHEMES)}")


def encode(spans: Iterable[Chunk], length: int, scheme: str = "IOB2") -> list[str]:
    """One label per word for spans that do not overlap.

    >>> encode([(0, 2, "NP"), (2, 3, "NP")], 4, "IOB1")
    ['I-NP', 'I-NP', 'B-NP', 'O']
    >>> encode([(0, 2, "NP"), (2, 3, "NP")], 4, "BIOES")
    ['B-NP', 'E-NP', 'S-NP', 'O']
    """
    scheme = check_scheme(scheme)
    labels = ["O"] * length
    previous_end, previous_label = -1, ""
    for start, end, label in sorted(spans):
        if not max(previous_end, 0) <= start < end <= length:
            raise WeftError(
                f"span {start}-{end} ({label}) is empty, overlaps another or goes beyond {length} words; "
                "labels hold only flat spans"
            )
        tail = f"-{label}" if label else ""
        if end - start > 1:
            labels[start:end] = ["I" + tail] * (end - start)
        if scheme == "BIOES":
            labels[end - 1] = ("E" if end - start > 1 else "S") + tail
            if end - start > 1:
                labels[start] = "B" + tail
        elif scheme == "IOB2" or (scheme == "IOB1" and previous_end == start and previous_label == label):
            labels[start] = "B" + tail
        else:
            labels[start] = "I" + tail
        previous_end, previous_label = end, label
    return labels


def decode(labels: Sequence[str], scheme: str = "IOB2", strict: bool = True) -> list[Chunk]:
    """The spans that labels encode, left to right.

    `strict=False` reads as the scorer conlleval does: an `I-X` after O or after another label opens a span,
    a span without its `E-X` ends where the next begins.

    >>> decode(["B-NP", "I-NP", "O", "B-NP"])
    [(0, 2, 'NP'), (3, 4, 'NP')]
    >>> decode(["O", "I-NP", "I-VP"])
    Traceback (most recent call last):
    ...
    weft.text.schemes.SchemeError: label 1: 'I-NP' after 'O' is not allowed in IOB2; ...
    >>> decode(["O", "I-NP", "I-VP"], strict=False)
    [(1, 2, 'NP'), (2, 3, 'VP')]
    """
    scheme = check_scheme(scheme)
    if strict:
        _check_sequence(labels, scheme)
    spans: list[Chunk] = []
    begin, current = -1, ""  # begin is -1 outside spans
    known: dict[str, tuple[str, str]] = {}
    plain = scheme == "IO"
    for i, text in enumerate(labels):
        if text == "O":
            if begin >= 0:
                spans.append((begin, i, current))
                begin = -1
            continue
        pair = known.get(text)
        if pair is None:
            pair = known[text] = split_label(text, plain)
        mark, label = pair
        if begin >= 0 and (mark == "B" or mark == "S" or label != current):
            spans.append((begin, i, current))
            begin = -1
        if begin < 0:
            begin, current = i, label
        if mark == "E" or mark == "S":
            spans.append((begin, i + 1, current))
            begin = -1
    if begin >= 0:
        spans.append((begin, len(labels), current))
    return spans


def numbered(labels: Sequence[str]) -> tuple[list[str], NDArray[np.int32]]:
    """The distinct labels of a list, and the number of each in its place.

    >>> names, numbers = numbered(["O", "B-X", "O"])
    >>> names, numbers.tolist()
    (['O', 'B-X'], [0, 1, 0])
    """
    number = {label: i for i, label in enumerate(dict.fromkeys(labels))}
    return list(number), np.fromiter(map(number.__getitem__, labels), dtype=np.int32, count=len(labels))


def decode_sentences(
    names: Sequence[str], numbers: NDArray[np.integer], offsets: NDArray[np.integer], scheme: str = "IOB2"
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32], list[str]]:
    """The spans of many sentences at once: starts, ends, and the numbers of their labels in a list.

    Word i has the label `names[numbers[i]]`; sentence `s` is words `offsets[s]:offsets[s + 1]`, read as
    `decode(strict=False)` reads it.

    >>> labels = numbered(["B-X", "I-X", "I-X", "O"])
    >>> starts, ends, numbers, names = decode_sentences(*labels, np.array([0, 2, 4]))
    >>> starts.tolist(), ends.tolist(), [names[number] for number in numbers]
    ([0, 2], [2, 3], ['X', 'X'])
    """
    scheme = check_scheme(scheme)
    parts = [split_label(label, scheme == "IO") for label in names]
    found = ["", *dict.fromkeys(name for mark, name in parts if mark != "O")]
    kinds = np.array([0 if mark == "O" else found.index(name, 1) for mark, name in parts], dtype=np.int32)[numbers]
    opens = np.array([mark in "BS" for mark, _ in parts], dtype=np.bool_)[numbers]
    closes = np.array([mark in "ES" for mark, _ in parts], dtype=np.bool_)[numbers]
    breaks = np.ones(len(numbers) + 1, dtype=np.bool_)
    breaks[1:-1] = (kinds[1:] != kinds[:-1]) | opens[1:] | closes[:-1]
    breaks[offsets] = True
    bounds = np.flatnonzero(breaks)
    inside = kinds[bounds[:-1]] > 0
    starts, ends = bounds[:-1][inside], bounds[1:][inside]
    return starts, ends, kinds[starts], found


def convert(labels: Sequence[str], source: str, target: str, strict: bool = True) -> list[str]:
    """Labels of one scheme in another.

    >>> convert(["I-NP", "I-NP", "B-NP"], "IOB1", "BIOES")
    ['B-NP', 'E-NP', 'S-NP']
    """
    return encode(decode(labels, source, strict), len(labels), target)


def lost_boundaries(spans: Iterable[Chunk]) -> int:
    """How many boundaries IO cannot keep: those between neighbouring spans of one label.

    >>> lost_boundaries([(0, 2, "LOC"), (2, 3, "LOC"), (3, 4, "PER"), (5, 6, "PER")])
    1
    """
    return sum(one[1] == other[0] and one[2] == other[2] for one, other in pairwise(sorted(spans)))


def split_label(text: str, plain: bool = False) -> tuple[str, str]:
    """A label's mark (O, B, I, E, S) and what follows it; with `plain`, a label may go without a mark.

    >>> split_label("B-NP"), split_label("O"), split_label("author", plain=True)
    (('B', 'NP'), ('O', ''), ('I', 'author'))
    """
    if text == "O":
        return "O", ""
    mark, dash, label = text.partition("-")
    if mark in ("I", "B", "E", "S") and (dash or not label):
        if plain and mark != "I":
            return "I", text
        return mark, label
    if plain and text:
        return "I", text
    raise LabelError(text)


def legal_transitions(
    labels: Sequence[str], scheme: str = "IOB2"
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
    """Which labels may begin a sentence, follow one another (`pairs[previous, next]`) and end a sentence.

    >>> start, pairs, end = legal_transitions(["O", "B-NP", "I-NP"])
    >>> start.tolist(), pairs[0].tolist(), end.tolist()
    ([True, True, False], [True, True, False], [True, True, True])
    """
    scheme = check_scheme(scheme)
    parts = [split_label(label, scheme == "IO") for label in labels]
    outside = ("O", "")
    start = np.array([_follows(outside, part, scheme) for part in parts], dtype=np.bool_)
    end = np.array([_follows(part, outside, scheme) for part in parts], dtype=np.bool_)
    pairs = np.array([[_follows(a, b, scheme) for b in parts] for a in parts], dtype=np.bool_)
    return start, pairs.reshape(len(parts), len(parts)), end


def has_marks(labels: Iterable[str]) -> bool:
    """Whether any of the labels is O or has a mark with a dash (`B-`, `I-`, `E-`, `S-`), as labels of spans have.

    >>> has_marks(["NN", "VBZ"]), has_marks(["B-NP", "NN"]), has_marks(["author", "O"])
    (False, True, True)
    """
    return any(label == "O" or _is_marked(label) for label in labels)


def guess_scheme(sentences: Iterable[Sequence[str]]) -> Scheme:
    """The scheme that labelled sentences are written in: of IOB2, IOB1 and, if E or S occur, BIOES the one that the
    fewest labels break. Where no label has a mark and some could not stand in a scheme, it is IO.

    >>> guess_scheme([["B-NP", "I-NP", "O"]]), guess_scheme([["I-NP", "B-NP"]]), guess_scheme([["author", "title"]])
    ('IOB2', 'IOB1', 'IO')
    >>> guess_scheme([["B-NP", "I-NP", "B-NP"], ["O", "I-NP"]])
    'IOB2'
    """
    pairs = Counter(pair for labels in sentences for pair in pairwise(["O", *labels, "O"]))
    parts: dict[str, tuple[str, str] | None] = {}
    for label in dict.fromkeys(label for pair in pairs for label in pair):
        try:
            parts[label] = split_label(label)
        except LabelError:
            parts[label] = None
    if None in parts.values() and not any(map(_is_marked, parts)):
        return "IO"
    candidates: list[Scheme] = ["IOB2", "IOB1"]
    if any(part is not None and part[0] in "ES" for part in parts.values()):
        candidates.insert(0, "BIOES")

    def faults(scheme: Scheme) -> int:
        count = 0
        for (previous, label), number in pairs.items():
            part = parts[label]
            if part is not None and not _follows(parts[previous] or ("O", ""), part, scheme):
                count += number
        return count

    return min(candidates, key=faults)  # the first where they are equal


def _is_marked(label: str) -> bool:
    return label[:2] in ("B-", "I-", "E-", "S-")


def _follows(previous: tuple[str, str], current: tuple[str, str], scheme: Scheme) -> bool:
    """Whether a label may follow another; ("O", "") also stands for the sentence's two ends."""
    (last, last_label), (mark, label) = previous, current
    if scheme == "IO":
        return mark in "OI"
    if scheme == "IOB1":
        if mark == "B":
            return last != "O" and last_label == label
        return mark in "OI"
    inside = mark == "I" or (mark == "E" and scheme == "BIOES")
    if scheme == "IOB2":
        return mark in "OB" or (mark == "I" and last in ("B", "I") and last_label == label)
    open_before = last in ("B", "I")
    return inside == open_before and (not inside or last_label == label)


def _check_sequence(labels: Sequence[str], scheme: Scheme) -> None:
    plain = scheme == "IO"
    legal: dict[tuple[str, str], bool] = {}
    previous = "O"
    for i, text in enumerate(labels):
        pair = (previous, text)
        allowed = legal.get(pair)
        if allowed is None:
            allowed = legal[pair] = _follows(split_label(previous, plain), split_label(text, plain), scheme)
        if not allowed:
            raise SchemeError(i, previous if i else "the beginning", text, scheme)
        previous = text
    if scheme == "BIOES" and not _follows(split_label(previous), ("O", ""), scheme):
        raise SchemeError(len(labels), previous, "the end", scheme)
