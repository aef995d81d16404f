"""From documents to features: binds the fields of templates to columns of documents.

A field is bound by a short text: `form` (any column of words), `form:lower` (the same in lower case), `feats:set` (a
column whose values are sets separated by `|`), `score:real` (a column of numbers), or by a `Gazetteer`, `WordClasses`
or anything with `Members`, such as `Surroundings`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Ids, Ints, Keys
from weft.errors import TemplateError, WeftError
from weft.features.gazetteer import Gazetteer
from weft.features.lexicon import Lexicon, LowerCase, MemberLexicon, WordClasses
from weft.features.program import Features, Inputs, Program
from weft.features.templates import Atom, Template
from weft.kernel import kernel
from weft.text.doc import Doc
from weft.text.strings import StringTable
from weft.text.views import Sentence


@runtime_checkable
class Members(Protocol):
    """A source of set-valued features."""

    def members(self, docs: Sequence[Doc]) -> tuple[Ints, Keys]:
        """Members of every word of documents that share a string table, as a ragged array: offsets and keys."""
        ...

    def names(self, doc: Doc, column: str) -> dict[int, str]:
        """The members that may occur in a document, by their keys."""
        ...


Binding = str | Gazetteer | Members | WordClasses


class Extractor:
    """Computes the features of observation templates at every word of documents.

    >>> from weft.features.templates import Templates
    >>> doc = Doc.from_words([["a", "b"]], xpos=[["X", "Y"]])
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
        self._plain: list[tuple[str, Lexicon, list[int]]] = []  # column, lexicon, attributes of it that are used
        self._field_columns: dict[str, str] = {}  # of fields that look up words in a lexicon
        self._places: dict[tuple[str, str], tuple[int, int]] = {}  # of attributes: lexicon, attribute in it
        self._sets: list[tuple[str, MemberLexicon | Gazetteer | Members]] = []
        self._reals: list[str] = []
        columns: dict[tuple[str, str], int] = {}
        sets: dict[str, int] = {}
        reals: dict[str, int] = {}
        for field, attributes in wanted.items():
            binding = fields[field]
            if isinstance(binding, Gazetteer | Members):
                sets[field] = len(self._sets)
                self._sets.append(("form", binding))
                continue
            if isinstance(binding, WordClasses):
                self._add(field, attributes, "form", Lexicon(attributes, clusters, classes=binding), columns)
                continue
            column, _, kind = binding.partition(":")
            if kind == "":
                self._add(field, attributes, column, Lexicon(attributes, clusters), columns)
            elif kind == "lower":
                self._add(field, attributes, column, Lexicon(attributes, clusters, classes=LowerCase()), columns)
            elif kind == "set":
                sets[field] = len(self._sets)
                self._sets.append((column, MemberLexicon()))
            elif kind == "real":
                reals[field] = len(self._reals)
                self._reals.append(column)
            else:
                raise TemplateError(
                    f"field {field!r} is bound to {binding!r}: expected COLUMN or COLUMN:lower, :set, :real"
                )
        self._set_columns, self._real_columns = sets, reals
        self.program = Program(templates, columns, sets, reals)

    def _add(
        self, field: str, attributes: list[str], column: str, lexicon: Lexicon, columns: dict[tuple[str, str], int]
    ) -> None:
        for k, attribute in enumerate(attributes):
            columns[field, attribute] = len(columns)
            self._places[field, attribute] = len(self._plain), k
        self._field_columns[field] = column
        self._plain.append((column, lexicon, list(range(len(attributes)))))

    @property
    def width(self) -> int:
        """Columns of the plain values that are read."""
        return sum(len(used) for *_, used in self._plain)

    def place_of(self, template: Template) -> tuple[str, int] | None:
        """The column and the offset that a template looks at, None if it looks at several or at none."""
        found = {
            (self._field_columns.get(atom.field), atom.lo) if not atom.bag else (None, 0) for atom in template.atoms
        }
        column, offset = found.pop() if len(found) == 1 else (None, 0)
        return None if column is None else (column, offset)

    def restricted(self, templates: Sequence[Template], names: Sequence[str] | None = None) -> Extractor:
        """An extractor for templates whose atoms this one has too; it shares the lexicons and reads what it needs.

        `names` are what keys are made from, if not the templates as they are written.
        """
        other = copy.copy(self)
        used: list[list[int]] = [[] for _ in self._plain]
        atoms = [(atom.field, atom.attribute) for template in templates for atom in template.atoms]
        for lexicon, k in dict.fromkeys(self._places[atom] for atom in atoms if atom in self._places):
            used[lexicon].append(k)
        starts = np.concatenate([[0], np.cumsum([len(each) for each in used])]).tolist()
        columns = {
            atom: starts[lexicon] + used[lexicon].index(k)
            for atom, (lexicon, k) in self._places.items()
            if k in used[lexicon]
        }
        other._plain = [(column, lexicon, own) for (column, lexicon, _), own in zip(self._plain, used, strict=True)]
        other.program = Program(templates, columns, self._set_columns, self._real_columns, names)
        return other

    def features(self, docs: Sequence[Doc]) -> tuple[Features, Ints]:
        """Features of all words of documents, and the offsets of their sentences."""
        inputs = self.inputs(docs)
        return self.program.run(inputs), inputs.sentences

    def describe(self, doc: Doc, word: int) -> list[tuple[Template, str]]:
        """What fires at a word, in the order of `features`: templates and the values that they read, as text.

        >>> from weft.features.templates import Templates
        >>> extractor = Extractor(list(Templates("w[-1] w[0].suffix2|w[0]")), {"w": "form"})
        >>> [(str(template), value) for template, value in extractor.describe(Doc.from_words([["a", "dog"]]), 1)]
        [('w[-1]', 'a'), ('w[0].suffix2|w[0]', 'og|dog')]
        """
        inputs, sentence = self.inputs([doc]), doc[word].sentence
        described = []
        for template in self.program.templates:
            texts: list[tuple[str, ...]] = [()]
            for atom in template.atoms:
                own = self._texts(atom, doc, word, sentence, inputs)
                texts = [(*text, value) for value in own for text in texts]  # keys are joined in this order
            described += [(template, "|".join(text)) for text in texts]
        return described

    def _texts(self, atom: Atom, doc: Doc, word: int, sentence: Sentence, inputs: Inputs) -> list[str]:
        """The values of an atom at a word."""
        places = [at for at in range(word + atom.lo, word + atom.hi + 1) if sentence.first <= at < sentence.end]
        if atom.field in self._set_columns:
            number = self._set_columns[atom.field]
            column, source = self._sets[number]
            names, offsets = source.names(doc, column), inputs.set_offsets[number]
            keys = (key for at in places for key in inputs.set_members[offsets[at] : offsets[at + 1]].tolist())
            return [names.get(key, "?") for key in keys]
        if atom.field in self._real_columns:
            return [f"{inputs.reals[at, self._real_columns[atom.field]]:g}" for at in places]
        if not places and not atom.bag:
            return ["<before>" if word + atom.lo < sentence.first else "<after>"]
        lexicon, attribute = self._places[atom.field, atom.attribute]
        column, words, _ = self._plain[lexicon]
        values = doc.column(column)
        return [text for at in places if (text := words.text(values[at], attribute))]

    def inputs(self, docs: Sequence[Doc]) -> Inputs:
        """What the kernel reads."""
        sentences = sentence_offsets(docs)
        runs = runs_of(docs)
        n = int(sentences[-1])
        scalars = self._scalars(n, lambda column: [(table, read_column(group, column)) for table, group in runs])
        set_offsets = np.zeros((len(self._sets), n + 1), dtype=np.int64)
        members = [np.zeros(0, dtype=np.uint64)]
        total = 0
        for k, (column, source) in enumerate(self._sets):
            row = 0
            for table, group in runs:
                ids = read_column(group, column)
                if isinstance(source, Gazetteer):
                    offsets, found = source.match(table, ids, sentence_offsets(group))
                elif isinstance(source, Members):
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
                ids = read_column(group, column)
                reals[row : row + len(ids), k] = _numbers(table, ids, column)
                row += len(ids)
        return Inputs(sentences, scalars, set_offsets, np.concatenate(members), reals)

    def inputs_of_types(self, types: Sequence[tuple[StringTable, Ids]]) -> Inputs:
        """The same for strings by themselves, each a sentence; the templates must look at one column."""
        n = sum(len(ids) for _, ids in types)
        return Inputs.of(np.arange(n + 1), self._scalars(n, lambda column: types))

    def _scalars(self, n: int, ids_of: Callable[[str], Iterable[tuple[StringTable, Ids]]]) -> Keys:
        """Values of plain fields at n positions, whose ids are given by column and string table."""
        scalars = np.empty((n, self.width), dtype=np.uint64)
        at = 0
        for column, lexicon, used in self._plain:
            row = 0
            for table, ids in ids_of(column) if used else ():
                rows, values = lexicon.lookup(table, ids)
                gather_rows(values, rows, np.array(used), np.arange(at, at + len(used)), scalars, row)
                row += len(ids)
            at += len(used)
        return scalars


@kernel
def gather_rows(values: Keys, rows: Ids, columns: Ints, places: Ints, out: Keys, first: int) -> None:
    """Some columns of some rows, into the rows of `out` from `first` on, each column into its place."""
    for i in range(len(rows)):
        for k in range(len(columns)):
            out[first + i, places[k]] = values[rows[i], columns[k]]


def runs_of(docs: Sequence[Doc]) -> list[tuple[StringTable, list[Doc]]]:
    """Documents in runs that share a table of strings."""
    return [(table, list(group)) for table, group in groupby(docs, key=lambda doc: doc.strings)]


def sentence_offsets(docs: Sequence[Doc]) -> Ints:
    """The sentences of several documents as one array of offsets."""
    own = [doc.sentence_offsets for doc in docs]
    sizes = np.array([len(offsets) for offsets in own], dtype=np.int64)
    starts = np.zeros(len(own), dtype=np.int64)
    np.cumsum(np.array([len(doc.word_token) for doc in docs[:-1]], dtype=np.int64), out=starts[1:])
    found = np.concatenate([np.zeros(1, dtype=np.int64), *own]) + np.concatenate([[0], np.repeat(starts, sizes)])
    kept = np.ones(len(found), dtype=np.bool_)
    kept[(np.cumsum(sizes) - sizes + 1)[sizes > 0]] = False  # every document begins with a 0 of its own
    return found[kept]


def read_column(docs: Sequence[Doc], name: str) -> Ids:
    """A column of several documents as one array of ids."""
    columns = [doc.columns[name] if name in doc.columns else np.zeros(doc.n_words, dtype=np.int32) for doc in docs]
    return columns[0] if len(columns) == 1 else np.concatenate(columns)


def write_column(docs: Sequence[Doc], name: str, values: Sequence[str], numbers: NDArray[np.integer]) -> None:
    """Write a column of several documents: word i of them gets `values[numbers[i]]`.

    >>> doc = Doc.from_words([["dogs", "bark"]])
    >>> write_column([doc], "upos", ["VERB", "NOUN"], np.array([1, 0]))
    >>> doc.column("upos")
    ['NOUN', 'VERB']
    """
    at = 0
    for table, group in runs_of(docs):
        end = at + sum([len(doc.word_token) for doc in group])
        write_ids(group, name, table.ids(values)[numbers[at:end]])
        at = end


def write_ids(docs: Sequence[Doc], name: str, ids: Ids) -> None:
    """The same for documents that share a table of strings, from the numbers of strings in it."""
    first = 0
    for doc in docs:
        end = first + len(doc.word_token)
        doc.columns[name] = ids[first:end]
        first = end


def _numbers(table: StringTable, ids: Ids, column: str) -> NDArray[np.float64]:
    types, inverse = np.unique(ids, return_inverse=True)
    try:
        values = np.array([float(string or 0.0) for string in table.strings(types)])
    except ValueError as error:
        raise WeftError(f"column {column!r} is used as real-valued, but holds something else: {error}") from None
    return values[inverse]
