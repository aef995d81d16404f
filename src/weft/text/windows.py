"""Long sentences cut into windows, annotated window by window, and joined again.

    sentence of n words  ->  windows of at most m words  ->  annotation of each  ->  annotation of the sentence

`in_windows` gives a document whose sentences are the windows; `join_windows` carries what was added to it back. Words
keep their numbers, so columns, probabilities and spans stay as they are. The first window keeps its root: the roots of
the others attach to it (as `parataxis` if they were labelled `root`), so that windows of trees form a tree, projective
if they are. Phrases of the windows stand below one phrase of the sentence. Alternatives of a cut sentence are left out.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Ids
from weft.text.constituents import ConstituentLayer, Phrase
from weft.text.conventions.alternatives import KEY
from weft.text.doc import Doc

#: The relation of the roots of windows, except the first, if they were labelled `root`.
RELATION = "parataxis"
#: The label of the phrase above the phrases of the windows.
TOP = "TOP"


class Windows(NamedTuple):
    """A document whose long sentences are cut: a copy with the windows as sentences, the sentence of each window, and
    those arrays of the copy that had to change, by name."""

    doc: Doc
    sentence: NDArray[np.int64]
    moved: dict[str, Ids]

    @property
    def first(self) -> NDArray[np.bool_]:
        """Whether a window is the first of its sentence."""
        return np.diff(self.sentence, prepend=-1) != 0

    @property
    def cut(self) -> NDArray[np.int64]:
        """The numbers of the sentences that were cut."""
        numbers: NDArray[np.int64] = np.unique(self.sentence[~self.first])
        return numbers


def in_windows(doc: Doc, longest: int, size: int, head_key: str = "") -> Windows:
    """A copy of a document in which sentences of more than `longest` words are cut into windows of at most `size`.

    Windows end after a word without letters and digits if there is one in their second half. Heads that lie outside
    the window become roots; so do heads that MISC holds under `head_key`.

    >>> doc = Doc.from_words([["a", "b", ",", "c", "d"], ["e"]], head=[[0, 1, 4, 2, 4], [0]])
    >>> windows = in_windows(doc, 4, 4)
    >>> windows.doc.sentence_offsets.tolist(), windows.sentence.tolist(), windows.doc.head.tolist()
    ([0, 3, 5, 6], [0, 0, 1], [0, 1, 0, 0, 1, 0])
    """
    offsets, sentence = [0], []
    marks = _without_letters(doc) if doc.n_words else np.zeros(0, np.int64)
    for number, (first, end) in enumerate(pairwise(doc.sentence_offsets.tolist())):
        limit = size if end - first > longest else end - first
        while end - offsets[-1] > limit:
            offsets.append(_end_of_window(offsets[-1], limit, marks))
            sentence.append(number)
        offsets.append(end)
        sentence.append(number)
    copy = _copy(doc, np.array(offsets, dtype=np.int32))
    windows = Windows(copy, np.array(sentence, dtype=np.int64), {})
    shift = _shift(doc, windows)
    if doc.head is not None:
        copy.head = windows.moved["head"] = _local(doc.head, shift, copy)
    if head_key and doc.has("misc"):
        _move_heads_in_misc(doc, copy, shift, head_key)
        windows.moved["misc"] = copy.columns["misc"]
    return windows


def _copy(doc: Doc, offsets: Ids) -> Doc:
    copy = Doc(doc.text, doc.strings, {name: value for name, value in doc.meta.items() if name != KEY})
    copy.token_start, copy.token_end, copy.word_token = doc.token_start, doc.token_end, doc.word_token
    copy.columns, copy.confidence, copy.multiwords = dict(doc.columns), dict(doc.confidence), list(doc.multiwords)
    copy.spans, copy.relations = dict(doc.spans), dict(doc.relations)
    copy.clusters, copy.graphs = dict(doc.clusters), dict(doc.graphs)
    copy.set_sentences(offsets)
    return copy


def _without_letters(doc: Doc) -> NDArray[np.int64]:
    """The words without letters and digits."""
    ids, inverse = np.unique(doc.columns["form"], return_inverse=True)
    plain = [not any(map(str.isalnum, form)) for form in doc.strings.strings(ids)]
    return np.flatnonzero(np.array(plain, dtype=np.bool_)[inverse])


def _end_of_window(first: int, size: int, marks: NDArray[np.int64]) -> int:
    """One past the last word of the window that begins with the word `first`."""
    before = int(np.searchsorted(marks, first + size))
    last = int(marks[before - 1]) if before else -1
    return last + 1 if last >= first + size // 2 else first + size


def _shift(doc: Doc, windows: Windows) -> NDArray[np.int64]:
    """How many words of its sentence stand before the window of each word."""
    starts = windows.doc.sentence_offsets[:-1].astype(np.int64)
    before = starts - doc.sentence_offsets.astype(np.int64)[windows.sentence]
    result: NDArray[np.int64] = np.repeat(before, np.diff(windows.doc.sentence_offsets))
    return result


def _local(head: Ids, shift: NDArray[np.int64], copy: Doc) -> Ids:
    """Heads counted within windows; those outside become 0."""
    sizes = np.diff(copy.sentence_offsets)
    moved = head - shift
    inside = (moved > 0) & (moved <= np.repeat(sizes, sizes))
    return np.where(inside, moved, np.minimum(head, 0)).astype(np.int32)


def _move_heads_in_misc(doc: Doc, copy: Doc, shift: NDArray[np.int64], key: str) -> None:
    rows = doc.column("misc")
    heads = np.full(doc.n_words, -1, dtype=np.int32)
    for word, row in enumerate(rows):
        for field in row.split("|"):
            if field.startswith(f"{key}=") and field[len(key) + 1 :].isdecimal():
                heads[word] = min(int(field[len(key) + 1 :]), doc.n_words)
    moved = _local(heads, shift, copy)
    for word in np.flatnonzero(heads >= 0).tolist():
        fields = [field for field in rows[word].split("|") if not field.startswith(f"{key}=")]
        rows[word] = "|".join([*fields, f"{key}={moved[word]}"])
    copy.set_column("misc", rows)


def join_windows(doc: Doc, windows: Windows) -> None:
    """Give a document what was added to its windows: see the module's text.

    >>> doc = Doc.from_words([["a", "b", "c", "d"]])
    >>> windows = in_windows(doc, 2, 2)
    >>> windows.doc.head = np.array([0, 1, 2, 0], np.int32)
    >>> join_windows(doc, windows)
    >>> doc.head.tolist()
    [0, 1, 4, 1]
    """
    new, shift = windows.doc, _shift(doc, windows)
    for name in [name for name in doc.columns if name not in new.columns]:
        del doc.columns[name]
    known = {**doc.columns, **windows.moved}
    changed = {name: ids for name, ids in new.columns.items() if ids is not known.get(name)}
    doc.columns |= changed
    doc.confidence |= new.confidence
    if new.head is not None and new.head is not windows.moved.get("head"):
        _join_heads(doc, windows, shift)
    if "deps" in changed:
        _join_deps(doc, windows, shift)
    for layers in ("spans", "relations", "clusters", "graphs"):
        getattr(doc, layers).update(getattr(new, layers))
    if new.constituents is not None:
        doc.constituents = _join_phrases(new.constituents, doc, windows)
    _join_meta(doc, windows)


def _roots(doc: Doc, windows: Windows, is_root: NDArray[np.bool_]) -> NDArray[np.int64]:
    """For every word, the number within its sentence of the first word of the sentence's first window that is a root
    (or of the first word)."""
    sentence = np.repeat(np.arange(doc.n_sentences), np.diff(doc.sentence_offsets))
    earlier = np.repeat(windows.first, np.diff(windows.doc.sentence_offsets))
    anchor = np.ones(doc.n_sentences, dtype=np.int64)
    words = np.flatnonzero(is_root & earlier)[::-1]
    anchor[sentence[words]] = words - doc.sentence_offsets[sentence[words]] + 1
    result: NDArray[np.int64] = anchor[sentence]
    return result


def _join_heads(doc: Doc, windows: Windows, shift: NDArray[np.int64]) -> None:
    head = windows.doc.head
    assert head is not None
    attached = (head == 0) & (shift > 0)
    moved = np.where(attached, _roots(doc, windows, head == 0), np.where(head > 0, head + shift, head))
    doc.head = moved.astype(np.int32)
    if "deprel" in doc.columns:
        root, own = doc.strings.ids(["root", RELATION]).tolist()
        relations = doc.columns["deprel"]
        doc.columns["deprel"] = np.where(attached & (relations == root), own, relations).astype(np.int32)
    if "head" in windows.doc.confidence:
        doc.confidence["head"] = np.where(attached, 0.0, windows.doc.confidence["head"]).astype(np.float32)


def _join_deps(doc: Doc, windows: Windows, shift: NDArray[np.int64]) -> None:
    rows = windows.doc.column("deps")
    is_root = np.array([any(edge.startswith("0:") for edge in row.split("|")) for row in rows], dtype=np.bool_)
    anchors = _roots(doc, windows, is_root)
    for word in np.flatnonzero(shift > 0).tolist():
        edges = []
        for edge in rows[word].split("|") if rows[word] else ():
            head, _, relation = edge.partition(":")
            if head == "0":
                edges.append((int(anchors[word]), RELATION if relation == "root" else relation))
            else:
                edges.append((int(head) + int(shift[word]), relation))
        rows[word] = "|".join(f"{head}:{relation}" for head, relation in sorted(edges))
    doc.set_column("deps", rows)


def _join_phrases(layer: ConstituentLayer, doc: Doc, windows: Windows) -> ConstituentLayer:
    """The phrases of windows, with one phrase more above those of each sentence that was cut."""
    starts = {int(doc.sentence_offsets[s]): int(doc.sentence_offsets[s + 1]) for s in windows.cut.tolist()}
    rows: list[Phrase] = []
    number: list[int] = []  # of each phrase of the layer, in `rows`
    top, end = -1, -1
    for row in layer:
        if row.start >= end:
            top, end = -1, -1
        if row.parent < 0 and row.start in starts and top < 0:
            top, end = len(rows), starts[row.start]
            rows.append(Phrase(TOP, row.start, end, -1))
        number.append(len(rows))
        rows.append(row._replace(parent=top if row.parent < 0 else number[row.parent]))
    return ConstituentLayer.of(doc.strings, rows)


def _join_meta(doc: Doc, windows: Windows) -> None:
    ranked = windows.doc.meta.pop(KEY, {})
    doc.meta |= windows.doc.meta
    for task, rows in ranked.items():
        joined: list[list[dict[str, object]]] = [[] for _ in range(doc.n_sentences)]
        cut = set(windows.cut.tolist())
        for sentence, own in zip(windows.sentence.tolist(), rows, strict=True):
            if sentence not in cut:
                joined[sentence] = own
        doc.meta.setdefault(KEY, {})[task] = joined
