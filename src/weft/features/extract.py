"""From documents to features: binds the fields of templates to columns of documents.

A field is bound by a short text: `form` (any column of words), `feats:set` (a column whose values are sets separated by
`|`), `score:real` (a column of numbers), or by a `Gazetteer`, `Surroundings` or `WordClasses`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from weft.errors import TemplateError, WeftError
from weft.features.gazetteer import Gazetteer
from weft.features.lexicon import Lexicon, MemberLexicon, WordClasses
from weft.features.program import Features, Inputs, Program
from weft.features.surroundings import Surroundings
from weft.features.templates import Template
from weft.text.doc import Doc
from weft.text.strings import Ids, StringTable

Ints = NDArray[np.int64]
Binding = str | Gazetteer | Surroundings | WordClasses


class Extractor:
    """Computes the features of observation templates at every word of documents.

    >>> from weft.features.templates import Templates
    >>> doc = Doc.of_words([["a", "b"]], xpos=[["X", "Y"]])
    >>> extractor = Extractor(list(Templates("w[0] t[-1]|t[0]")), {"w": "form", "t": "xpos"})
    >>> features, sentences = extractor.features([doc])
    >>> features.offsets.tolist(), sentences.tolist()
    ([0, 2, 4], [0, 2])
    """

    def __init__(
        self,
        templates: Sequence[Template],
        fields: Mapping[str, Binding],
        clusters: Mapping[str, str] | None = None,
    ) -> None:
        wanted: dict[str, list[str]] = {}
        for template in templates:
            for atom in template.atoms:
                if atom.field not in fields:
                    known = ", ".join(fields)
                    raise TemplateError(f"template {template}: unknown field {atom.field!r}; the fields are: {known}")
                wanted.setdefault(atom.field, [])
                if atom.attribute not in wanted[atom.field]:
                    wanted[atom.field].append(atom.attribute)
        self._plain: list[tuple[str, Lexicon]] = []
        self._sets: list[tuple[str, MemberLexicon | Gazetteer | Surroundings]] = []
        self._reals: list[str] = []
        columns: dict[tuple[str, str], int] = {}
        sets: dict[str, int] = {}
        reals: dict[str, int] = {}
        for field, attributes in wanted.items():
            binding = fields[field]
            if isinstance(binding, Gazetteer | Surroundings):
                sets[field] = len(self._sets)
                self._sets.append(("form", binding))
                continue
            if isinstance(binding, WordClasses):
                for attribute in attributes:
                    columns[field, attribute] = len(columns)
                self._plain.append(("form", Lexicon(attributes, clusters, classes=binding)))
                continue
            column, _, kind = binding.partition(":")
            if kind == "":
                for attribute in attributes:
                    columns[field, attribute] = len(columns)
                self._plain.append((column, Lexicon(attributes, clusters)))
            elif kind == "set":
                sets[field] = len(self._sets)
                self._sets.append((column, MemberLexicon()))
            elif kind == "real":
                reals[field] = len(self._reals)
                self._reals.append(column)
            else:
                raise TemplateError(
                    f"field {field!r} is bound to {binding!r}: expected a column, column:set or column:real"
                )
        self.program = Program(templates, columns, sets, reals)

    def features(self, docs: Sequence[Doc]) -> tuple[Features, Ints]:
        """Features of all words of documents, and the offsets of their sentences."""
        inputs = self.inputs(docs)
        return self.program.run(inputs), inputs.sentences

    def inputs(self, docs: Sequence[Doc]) -> Inputs:
        """What the kernel reads."""
        sentences = sentence_offsets(docs)
        runs = [(table, list(group)) for table, group in groupby(docs, key=lambda doc: doc.strings)]
        n = int(sentences[-1])
        scalars = np.empty((n, sum(len(lexicon.attributes) for _, lexicon in self._plain)), dtype=np.uint64)
        at = 0
        for column, lexicon in self._plain:
            width = len(lexicon.attributes)
            row = 0
            for table, group in runs:
                ids = _column(group, column)
                rows, values = lexicon.lookup(table, ids)
                scalars[row : row + len(ids), at : at + width] = values[rows]
                row += len(ids)
            at += width
        set_offsets = np.zeros((len(self._sets), n + 1), dtype=np.int64)
        members = [np.zeros(0, dtype=np.uint64)]
        total = 0
        for k, (column, source) in enumerate(self._sets):
            row = 0
            for table, group in runs:
                ids = _column(group, column)
                if isinstance(source, Gazetteer):
                    offsets, found = source.match(table, ids, sentence_offsets(group))
                elif isinstance(source, Surroundings):
                    offsets, found = source.members(group)
                else:
                    offsets, found = source.lookup(table, ids)
                set_offsets[k, row : row + len(ids) + 1] = offsets + total
                members.append(found)
                total += len(found)
                row += len(ids)
        reals = np.empty((n, len(self._reals)))
        for k, column in enumerate(self._reals):
            row = 0
            for table, group in runs:
                ids = _column(group, column)
                reals[row : row + len(ids), k] = _numbers(table, ids, column)
                row += len(ids)
        return Inputs(sentences, scalars, set_offsets, np.concatenate(members), reals)


def sentence_offsets(docs: Sequence[Doc]) -> Ints:
    """The sentences of several documents as one array of offsets."""
    parts = [np.zeros(1, dtype=np.int64)]
    total = 0
    for doc in docs:
        parts.append(doc.sentence_offsets[1:].astype(np.int64) + total)
        total += doc.n_words
    return np.concatenate(parts)


def _column(docs: Sequence[Doc], name: str) -> Ids:
    columns = [doc.columns[name] if name in doc.columns else np.zeros(doc.n_words, dtype=np.int32) for doc in docs]
    return columns[0] if len(columns) == 1 else np.concatenate(columns)


def _numbers(table: StringTable, ids: Ids, column: str) -> NDArray[np.float64]:
    types, inverse = np.unique(ids, return_inverse=True)
    try:
        values = np.array([float(string or 0.0) for string in table.strings(types)])
    except ValueError as error:
        raise WeftError(f"column {column!r} is used as real-valued, but holds something else: {error}") from None
    return values[inverse]
