"""Scores of templates, computed once per word type, not once per word.

    score_i = sum over groups (k, o) of  S_ko[type_k(i + o)]  +  scores of the other templates at i

Most templates look at one place and one column: `w[0].suffix3`, `w[-1].lower`, `t[1]`. Those of a column k and an
offset o form a group; what they add to the scores of position i depends only on what stands at i + o in that column, or
on how far i + o lies outside the sentence. Batches of a stream share a string table: the scores of its first types,
among them nearly all frequent ones, are kept for the next batch.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from weft.arrays import Floats, Ids, Ints
from weft.features.extract import Extractor, read_column, runs_of, sentence_offsets
from weft.features.program import Inputs
from weft.features.templates import Template
from weft.features.weights import FrozenTable
from weft.kernel import kernel
from weft.text.doc import Doc
from weft.text.strings import StringTable

#: Of how many types of a column scores are kept: about half a megabyte per thousand types and component.
LIMIT = 6_000


class _Group(NamedTuple):
    offset: int
    extractor: Extractor
    outside: Floats  # row d: the scores of position d where it looks before, or d places behind, the sentence


class KnownScores:
    """Scores `[table, type, column]` of the first `limit` types of a string table; threads may share them.

    Rows that were handed out never change: new ones are appended, and growing makes new arrays.

    >>> strings, known = StringTable(), KnownScores(1, 1)
    >>> ids = strings.ids(["a", "b"])
    >>> known.scores(strings, ids, lambda types: types[None, :, None] / 2).tolist()
    [[[0.5], [1.0]]]
    >>> known.scores(strings, ids[::-1], lambda types: np.zeros((1, len(types), 1))).tolist()  # both are known
    [[[1.0], [0.5]]]
    """

    def __init__(self, tables: int, columns: int, limit: int = LIMIT) -> None:
        self._limit = limit
        self._none = np.empty((tables, 0, columns))
        self._kept, self._size = self._none, 0
        self._rows = np.zeros(0, dtype=np.int32)
        self._strings: weakref.ref[StringTable] | None = None
        self._lock = threading.Lock()

    def scores(self, strings: StringTable, types: Ids, compute: Callable[[Ids], Floats]) -> Floats:
        """The scores of distinct types; `compute` is called once, with those that are not known."""
        with self._lock:
            rows, kept = self._rows_of(strings)[types], self._kept
        missing = np.flatnonzero(rows < 0)
        if not len(missing):
            return kept.take(rows, axis=1)
        computed = compute(types[missing])
        with self._lock:
            self._keep(strings, types[missing], computed)
        if len(missing) == len(rows):
            return computed
        scores = kept.take(np.maximum(rows, 0), axis=1)
        scores[:, missing] = computed
        return scores

    def _rows_of(self, strings: StringTable) -> Ids:
        """The row of every string of a table, -1 where there is none; another table than before begins anew."""
        if self._strings is None or self._strings() is not strings:
            self._strings = weakref.ref(strings)
            self._kept, self._size = self._none, 0
            self._rows = np.zeros(0, dtype=np.int32)
        if len(self._rows) < len(strings):
            longer = np.full(len(strings), -1, dtype=np.int32)
            longer[: len(self._rows)] = self._rows
            self._rows = longer
        return self._rows

    def _keep(self, strings: StringTable, types: Ids, scores: Floats) -> None:
        rows = self._rows_of(strings)
        new = np.flatnonzero(rows[types] < 0)[: self._limit - self._size]  # another thread may have been faster
        end = self._size + len(new)
        if end > self._kept.shape[1]:
            room = min(self._limit, max(end, 2 * self._size))
            grown = np.empty((len(scores), room, scores.shape[2]))
            grown[:, : self._size] = self._kept[:, : self._size]
            self._kept = grown
        self._kept[:, self._size : end] = scores[:, new]
        rows[types[new]] = np.arange(self._size, end)
        self._size = end


class TypeScorer:
    """Scores the words of documents with a frozen table.

    >>> from weft.features.index import FeatureIndex
    >>> from weft.features.templates import Templates
    >>> from weft.features.weights import Layout
    >>> doc = Doc.from_words([["a", "b", "a"]])
    >>> extractor = Extractor(list(Templates("w[0] w[-1] w[-1]|w[0]")), {"w": "form"})
    >>> features, _ = extractor.features([doc])
    >>> index = FeatureIndex()
    >>> rows = index.add(features.keys)
    >>> layout = Layout.from_mask(np.ones((len(index), 1), dtype=bool))
    >>> table = FrozenTable.freeze(index, layout, np.arange(1.0, len(index) + 1))
    >>> scores, sentences = TypeScorer(extractor, table).score([doc])
    >>> scores.ravel().tolist() == table.score(features.keys, features.offsets, features.values).ravel().tolist()
    True
    """

    def __init__(self, extractor: Extractor, table: FrozenTable) -> None:
        self.table = table
        members: dict[tuple[str, int], list[Template]] = {}
        others: list[Template] = []
        for template in extractor.program.templates:
            place = extractor.place_of(template)
            if place is None:
                others.append(template)
            else:
                members.setdefault(place, []).append(template)
        self._others = extractor.restricted(others) if others else None
        self._groups: dict[str, list[_Group]] = {}
        for (column, offset), own in members.items():
            outside = np.zeros((abs(offset), table.n_columns))
            if offset:
                looking = extractor.restricted(own)
                nothing = np.zeros((abs(offset), looking.width), dtype=np.uint64)
                outside = self._score(looking, Inputs.of(np.array([0, abs(offset)]), nothing))
            here = [template.moved(-offset) for template in own]
            group = _Group(offset, extractor.restricted(here, list(map(str, own))), outside)
            self._groups.setdefault(column, []).append(group)
        self._known = {column: KnownScores(len(own), table.n_columns) for column, own in self._groups.items()}

    def score(self, docs: Sequence[Doc]) -> tuple[Floats, Ints]:
        """Scores `[position, column]` of all words, and the offsets of their sentences."""
        sentences = sentence_offsets(docs)
        if self._others is not None:
            out = self._score(self._others, self._others.inputs(docs))
        else:
            out = np.zeros((int(sentences[-1]), self.table.n_columns))
        runs = runs_of(docs)
        for column, groups in self._groups.items():
            numbers = np.empty(len(out), dtype=np.int32)
            typed: list[tuple[StringTable, Ids]] = []
            at = known = 0
            for table, group in runs:
                ids = read_column(group, column)
                met = np.full(len(table), -1, dtype=np.int32)
                own = np.empty(min(len(ids), len(table)), dtype=np.int32)
                count = _number_types(ids, known, met, own, numbers[at : at + len(ids)])
                typed.append((table, own[:count]))
                at, known = at + len(ids), known + count
            for scores, each in zip(self._scores_of(column, typed), groups, strict=True):
                _add(sentences, numbers, each.offset, scores, each.outside, out)
        return out, sentences

    def _scores_of(self, column: str, typed: Sequence[tuple[StringTable, Ids]]) -> Floats:
        """Scores `[group, type, column]` of types, those of one string table as far as they are known."""
        if len(typed) != 1:
            return self._typed(column, typed)
        ((strings, types),) = typed
        return self._known[column].scores(strings, types, lambda new: self._typed(column, [(strings, new)]))

    def _typed(self, column: str, types: Sequence[tuple[StringTable, Ids]]) -> Floats:
        """The same, computed."""
        groups = [each.extractor for each in self._groups[column]]
        return np.stack([self._score(extractor, extractor.inputs_of_types(types)) for extractor in groups])

    def _score(self, extractor: Extractor, inputs: Inputs) -> Floats:
        features = extractor.program.run(inputs)
        return self.table.score(features.keys, features.offsets, features.values)


@kernel
def _number_types(ids: Ids, known: int, met: Ids, types: Ids, numbers: Ids) -> int:
    """Number ids in the order of their first appearance from `known` on, and return how many are different."""
    count = 0
    for i in range(len(ids)):
        if met[ids[i]] < 0:
            met[ids[i]] = known + count
            types[count] = ids[i]
            count += 1
        numbers[i] = met[ids[i]]
    return count


@kernel
def _add(sentences: Ints, numbers: Ids, offset: int, scores: Floats, outside: Floats, out: Floats) -> None:
    """Add the scores of a group, looked up by the types at an offset."""
    for s in range(len(sentences) - 1):
        first, end = sentences[s], sentences[s + 1]
        for i in range(first, end):
            j = i + offset
            row = outside[i - first] if j < first else outside[j - end] if j >= end else scores[numbers[j]]
            own = out[i]
            for c in range(len(own)):
                own[c] += row[c]
