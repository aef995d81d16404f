"""Scores of templates, computed once per word type, not once per word.

    score_i = sum over groups (k, o) of  S_ko[type_k(i + o)]  +  scores of the other templates at i

Most templates look at one place and one column: `w[0].suffix3`, `w[-1].lower`, `t[1]`. Those of a column k and an
offset o form a group; what they add to the scores of position i depends only on what stands at i + o in that column, or
on how far i + o lies outside the sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from weft.arrays import Floats, Ids, Ints
from weft.features.extract import Extractor, read_column, runs_of, sentence_offsets
from weft.features.program import Inputs
from weft.features.templates import Template
from weft.features.weights import FrozenTable
from weft.kernel import kernel
from weft.text.doc import Doc


class _Group(NamedTuple):
    offset: int
    extractor: Extractor
    outside: Floats  # row d: the scores of position d where it looks before, or d places behind, the sentence


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

    def score(self, docs: Sequence[Doc]) -> tuple[Floats, Ints]:
        """Scores `[position, column]` of all words, and the offsets of their sentences."""
        sentences = sentence_offsets(docs)
        if self._others is not None:
            out = self._score(self._others, self._others.inputs(docs))
        else:
            out = np.zeros((int(sentences[-1]), self.table.n_columns))
        runs = runs_of(docs)
        for column, groups in self._groups.items():
            types: list[Ids] = []
            numbers = np.empty(len(out), dtype=np.int32)
            at = known = 0
            for table, group in runs:
                ids = read_column(group, column)
                met = np.full(len(table), -1, dtype=np.int32)
                own = np.empty(min(len(ids), len(table)), dtype=np.int32)
                count = _number_types(ids, known, met, own, numbers[at : at + len(ids)])
                types.append(own[:count])
                at, known = at + len(ids), known + count
            typed = [(table, own) for (table, _), own in zip(runs, types, strict=True)]
            for each in groups:
                scores = self._score(each.extractor, each.extractor.inputs_of_types(typed))
                _add(sentences, numbers, each.offset, scores, each.outside, out)
        return out, sentences

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
