"""Entity grids: what every sentence mentions, and as what.

Rows are sentences, columns entities; a cell says whether the entity is a subject (S), an object (O) or anything else
(X) of the sentence. Entities are

    nouns    all common and proper nouns, the same if their lemmas are, whatever their case
    heads    the same without nouns that only modify another noun (compounds, parts of names)
    LAYER    mentions of a layer: clusters of coreference, or spans, the same if their words are

An entity that is mentioned several times in a sentence has the highest of its roles, S before O before X. With clusters
of coreference, a mention counts by its head word, and nouns that no mention is about stay columns of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from weft.arrays import Bools, Ids, Ints
from weft.errors import ConfigError, DataError
from weft.graph.sequences import Links, link_rows
from weft.tasks.coherence.mentions import mentions_of
from weft.text.doc import Doc

NOUNS, HEADS = "nouns", "heads"
#: Roles by number, and what each weighs.
ROLES = ("-", "X", "O", "S")
WEIGHTS = (0.0, 1.0, 2.0, 3.0)
_TAGS = ("NOUN", "PROPN")
_SUBJECTS, _OBJECTS = ("nsubj", "csubj"), ("obj", "iobj", "dobj")
_MODIFIERS = ("compound", "flat", "amod", "fixed", "goeswith")


class EntityGrid(NamedTuple):
    """A grid by rows: sentence s mentions the entities `columns[offsets[s]:offsets[s + 1]]` in `roles` (1 to 3)."""

    offsets: Ints
    columns: Ids
    roles: Ids
    names: tuple[str, ...]

    @classmethod
    def of_rows(cls, rows: Sequence[Mapping[str, str]]) -> EntityGrid:
        """A grid from the roles of the entities of every sentence.

        >>> grid = EntityGrid.of_rows([{"leader": "S", "virtue": "X"}, {"virtue": "S"}])
        >>> grid.names, grid.n, grid.row(1)
        (('leader', 'virtue'), 2, {'virtue': 'S'})
        """
        names: dict[str, int] = {}
        cells = []
        for number, row in enumerate(rows):
            for name, role in row.items():
                if role not in ROLES[1:]:
                    raise DataError(f"sentence {number + 1}: the role of {name!r} is S, O or X, not {role!r}")
                cells.append((number, names.setdefault(name, len(names)), ROLES.index(role)))
        table = np.array(cells, dtype=np.int64).reshape(-1, 3)
        return _grid(len(rows), table[:, 0], table[:, 1], table[:, 2], tuple(names))

    @property
    def n(self) -> int:
        """The number of sentences."""
        return len(self.offsets) - 1

    def row(self, sentence: int) -> dict[str, str]:
        """The entities of a sentence and their roles."""
        cells = slice(self.offsets[sentence], self.offsets[sentence + 1])
        both = zip(self.columns[cells].tolist(), self.roles[cells].tolist(), strict=True)
        return {self.names[column]: ROLES[role] for column, role in both}

    def dense(self) -> Ids:
        """Roles by number: [sentence, entity], 0 where an entity is absent.

        >>> EntityGrid.of_rows([{"leader": "S"}, {"virtue": "X"}]).dense().tolist()
        [[3, 0], [0, 1]]
        """
        table = np.zeros((self.n, len(self.names)), dtype=np.int32)
        table[np.repeat(np.arange(self.n), np.diff(self.offsets)), self.columns] = self.roles
        return table

    def links(self, weights: Sequence[float] = WEIGHTS) -> Links:
        """The links between sentences; `weights` are what -, X, O and S weigh."""
        if len(weights) != len(ROLES) or not min(weights[1:]) > 0:
            raise ConfigError(f"roles weigh {len(ROLES) - 1} numbers above 0, after 0 for absent: got {weights}")
        return link_rows(self.offsets, self.columns, np.asarray(weights)[self.roles])


def entity_grid(doc: Doc, entities: str = NOUNS) -> EntityGrid:
    """The grid of a document with tags and trees; `entities` is nouns, heads or the name of a layer.

    >>> doc = Doc.from_words([["Cats", "eat", "mice"], ["Mice", "flee"]], lemma=[["cat", "eat", "mouse"], ["mouse",
    ...     "flee"]], upos=[["NOUN", "VERB", "NOUN"], ["NOUN", "VERB"]], head=[[2, 0, 2], [2, 0]],
    ...     deprel=[["nsubj", "root", "obj"], ["nsubj", "root"]])
    >>> [entity_grid(doc).row(s) for s in range(2)]
    [{'cat': 'S', 'mouse': 'O'}, {'mouse': 'S'}]
    """
    for layer, what in (("upos", "tags"), ("deprel", "dependency trees")):
        if doc.n_words and not doc.has(layer):
            name = doc.id or "a document"
            raise DataError(f"{name} has no {what}, which coherence needs; annotate it first with `weft annotate`")
    numbers, names = _noun_columns(doc)
    chosen = _are(doc, "upos", _TAGS)
    if entities == HEADS:
        chosen &= ~_are(doc, "deprel", _MODIFIERS)
    if entities not in (NOUNS, HEADS):
        found = mentions_of(doc, entities)
        if not found.joins_nouns:
            chosen[:] = False
        chosen[found.heads] = False
        numbers, names = np.append(numbers[chosen], found.entities + len(names)), [*names, *found.names]
        words = np.append(np.flatnonzero(chosen), found.heads)
    else:
        words = np.flatnonzero(chosen)
        numbers = numbers[words]
    sentences = np.searchsorted(doc.sentence_offsets, words, side="right") - 1
    used, columns = np.unique(numbers, return_inverse=True)
    return _grid(
        doc.n_sentences, sentences, columns.reshape(-1), _roles(doc)[words], tuple(names[k] for k in used.tolist())
    )


def _grid(n: int, sentences: Ints, columns: Ints, roles: Ints | Ids, names: tuple[str, ...]) -> EntityGrid:
    """One cell for every sentence and entity, with the highest role."""
    keys = sentences.astype(np.int64) * max(len(names), 1) + columns
    order = np.lexsort((-roles, keys))
    first = np.ones(len(keys), dtype=np.bool_)
    first[1:] = keys[order][1:] != keys[order][:-1]
    kept = order[first]
    sizes = np.bincount(sentences[kept], minlength=n)[:n] if n else np.zeros(0, dtype=np.int64)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return EntityGrid(offsets, columns[kept].astype(np.int32), roles[kept].astype(np.int32), names)


def _by_string(doc: Doc, column: str) -> tuple[Ids, list[str]]:
    """The distinct strings of a column, and the number of each word's among them."""
    used, numbers = np.unique(doc.columns[column], return_inverse=True)
    return numbers.reshape(-1).astype(np.int32), doc.strings.strings(used)


def _are(doc: Doc, column: str, wanted: Sequence[str]) -> Bools:
    """The words whose tag or relation, without its subtype, is one of some."""
    if not doc.n_words:
        return np.zeros(0, dtype=np.bool_)
    numbers, strings = _by_string(doc, column)
    found: Bools = np.array([text.partition(":")[0] in wanted for text in strings])[numbers]
    return found


def _roles(doc: Doc) -> Ids:
    """The role of every word by its relation."""
    roles = np.ones(doc.n_words, dtype=np.int32)
    roles[_are(doc, "deprel", _OBJECTS)] = 2
    roles[_are(doc, "deprel", _SUBJECTS)] = 3
    return roles


def _noun_columns(doc: Doc) -> tuple[Ids, list[str]]:
    """The number of every word's lemma in lower case; the form stands for a lemma that is missing."""
    if not doc.n_words:
        return np.zeros(0, dtype=np.int32), []
    names: dict[str, int] = {}
    forms, lemmas = doc.columns["form"], doc.columns.get("lemma")
    own = forms if lemmas is None else np.where(lemmas > 0, lemmas, forms)
    used, numbers = np.unique(own, return_inverse=True)
    lowered = [names.setdefault(text.lower(), len(names)) for text in doc.strings.strings(used)]
    return np.array(lowered, dtype=np.int32)[numbers.reshape(-1)], list(names)
