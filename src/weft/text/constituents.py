"""Phrase-structure trees of a document as columns: label, first word, last word and parent of every phrase.

    phrase k of label[k] holds words start[k] : end[k] and stands directly below phrase parent[k] (-1: nothing above)

Phrases come sentence by sentence, each from the top down and from left to right, so that a parent stands in front of
its children. Words are no phrases: their tags are the column `xpos`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from weft.arrays import Ids
from weft.errors import WeftError
from weft.text.strings import StringTable
from weft.text.trees import Tree
from weft.text.views import Word

if TYPE_CHECKING:
    from weft.text.doc import Doc


class Phrase(NamedTuple):
    """One row of a layer of constituents."""

    label: str
    start: int
    end: int
    parent: int


class ConstituentLayer:
    """The phrases of a document.

    >>> layer = ConstituentLayer.of(StringTable(), [("S", 0, 3, -1), ("NP", 0, 2, 0), ("VP", 2, 3, 0)])
    >>> len(layer), layer[1]
    (3, Phrase(label='NP', start=0, end=2, parent=0))
    """

    __slots__ = ("end", "label", "parent", "start", "strings")

    def __init__(self, strings: StringTable, label: Ids, start: Ids, end: Ids, parent: Ids) -> None:
        self.strings = strings
        self.label, self.start, self.end, self.parent = label, start, end, parent

    @classmethod
    def of(cls, strings: StringTable, rows: Iterable[Sequence[object]]) -> ConstituentLayer:
        """A layer of rows `(label, start, end, parent)`, checked: children lie within their parents, in order."""
        table = [(str(label), int(a), int(b), int(p)) for label, a, b, p in rows]  # type: ignore[call-overload]
        _check(table)
        numbers = np.array([row[1:] for row in table], dtype=np.int32).reshape(-1, 3)
        start, end, parent = (np.ascontiguousarray(numbers[:, k]) for k in range(3))
        return cls(strings, strings.ids([row[0] for row in table]), start, end, parent)

    def __len__(self) -> int:
        return len(self.label)

    def __getitem__(self, index: int) -> Phrase:
        label = self.strings.string(int(self.label[index]))
        return Phrase(label, int(self.start[index]), int(self.end[index]), int(self.parent[index]))

    def __iter__(self) -> Iterator[Phrase]:
        columns = (self.start.tolist(), self.end.tolist(), self.parent.tolist())
        return map(Phrase, self.strings.strings(self.label), *columns)

    def between(self, first: int, end: int) -> range:
        """The numbers of the phrases of the words `first` to `end`, those of one sentence."""
        return range(int(np.searchsorted(self.start, first)), int(np.searchsorted(self.start, end)))


class Constituent:
    """A view of one phrase of a document."""

    __slots__ = ("doc", "index")

    def __init__(self, doc: Doc, index: int) -> None:
        self.doc, self.index = doc, index

    @property
    def _layer(self) -> ConstituentLayer:
        return layer_of(self.doc)

    @property
    def label(self) -> str:
        return self._layer[self.index].label

    @property
    def words(self) -> list[Word]:
        row = self._layer[self.index]
        return [Word(self.doc, i) for i in range(row.start, row.end)]

    @property
    def text(self) -> str:
        words = self.words
        return self.doc.text[words[0].start : words[-1].end]

    @property
    def parent(self) -> Constituent | None:
        above = self._layer[self.index].parent
        return Constituent(self.doc, above) if above >= 0 else None

    @property
    def children(self) -> list[Constituent | Word]:
        """Phrases and words directly below, from left to right."""
        layer, row = self._layer, self._layer[self.index]
        found: list[Constituent | Word] = []
        at = row.start
        for number in range(self.index + 1, layer.between(row.start, row.end).stop):
            child = layer[number]
            if child.parent == self.index:
                found += [Word(self.doc, i) for i in range(at, child.start)]
                found.append(Constituent(self.doc, number))
                at = child.end
        return [*found, *(Word(self.doc, i) for i in range(at, row.end))]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constituent) and other.doc is self.doc and other.index == self.index

    def __hash__(self) -> int:
        return hash((id(self.doc), self.index))

    def __repr__(self) -> str:
        return f"Constituent({self.label!r}, {self.text!r})"


def layer_of(doc: Doc) -> ConstituentLayer:
    """The document's constituents, or a plain error."""
    if doc.constituents is None:
        raise WeftError(f"{doc!r} has no constituents; read a file of trees in brackets or annotate it first")
    return doc.constituents


def constituents(doc: Doc, sentence: int) -> list[Constituent]:
    """The phrases of a sentence, from the top down and from left to right.

    >>> from weft.text.doc import Doc
    >>> from weft.text.trees import parse_tree
    >>> doc = doc_of_trees([parse_tree("(S (NP (DT the) (NN dog)) (VP (VBZ barks)))")])
    >>> constituents(doc, 0)
    [Constituent('S', 'the dog barks'), Constituent('NP', 'the dog'), Constituent('VP', 'barks')]
    >>> constituents(doc, 0)[1].children
    [Word('the'), Word('dog')]
    """
    offsets = doc.sentence_offsets
    rows = layer_of(doc).between(int(offsets[sentence]), int(offsets[sentence + 1]))
    return [Constituent(doc, number) for number in rows]


def doc_of_trees(trees: Sequence[Tree], strings: StringTable | None = None, blanks: bool = True) -> Doc:
    """A document whose sentences are trees; without `blanks` its words follow each other directly, as in Chinese.

    >>> from weft.text.trees import parse_tree
    >>> doc_of_trees([parse_tree("(NP (JJ 新) (NN 书))")], blanks=False).text
    '新书'
    """
    from weft.text.doc import Doc

    leaves = [tree.leaves() for tree in trees]
    forms = [[leaf.word for leaf in sentence] for sentence in leaves]
    spaces = None if blanks else [[False] * len(sentence) for sentence in forms]
    doc = Doc.from_words(forms, spaces, strings, xpos=[[leaf.label for leaf in sentence] for sentence in leaves])
    set_trees(doc, trees)
    return doc


def set_trees(doc: Doc, trees: Sequence[Tree | None]) -> None:
    """Give a document the phrases of one tree per sentence (None: no tree); words and tags stay as they are."""
    if len(trees) != doc.n_sentences:
        raise WeftError(f"expected one tree per sentence, got {len(trees)} trees for {doc.n_sentences} sentences")
    rows: list[tuple[str, int, int, int]] = []
    for tree, (first, end) in zip(trees, pairwise(doc.sentence_offsets.tolist()), strict=True):
        if tree is not None:
            found = list(_rows(tree, first, len(rows)))
            if found and found[0][2] != end:
                raise WeftError(f"a tree of {found[0][2] - first} words was given to a sentence of {end - first} words")
            rows += found
    doc.constituents = ConstituentLayer.of(doc.strings, rows)


def tree_of(doc: Doc, sentence: int) -> Tree:
    """The tree of a sentence; words that no tree holds stand below a phrase without a label.

    >>> from weft.text.doc import Doc
    >>> str(tree_of(Doc.from_words([["the", "dog"]], xpos=[["DT", "NN"]]), 0))
    '( (DT the) (NN dog))'
    """
    first, end = int(doc.sentence_offsets[sentence]), int(doc.sentence_offsets[sentence + 1])
    column = "xpos" if doc.has("xpos") else "upos"
    tags, forms = doc.columns.get(column), doc.columns["form"]
    leaves = [
        Tree(doc.strings.string(int(tags[i])) if tags is not None else "X", (), doc.strings.string(int(forms[i])))
        for i in range(first, end)
    ]
    layer = doc.constituents
    rows = layer.between(first, end) if layer is not None else range(0)
    below: dict[int, list[tuple[int, Tree]]] = {}
    covered = [-1] * (end - first)  # the innermost phrase of every word
    for number in rows:
        row = layer[number]  # type: ignore[index]
        covered[row.start - first : row.end - first] = [number] * (row.end - row.start)
    for i, (leaf, number) in enumerate(zip(leaves, covered, strict=True)):
        below.setdefault(number, []).append((first + i, leaf))
    for number in reversed(rows):
        row = layer[number]  # type: ignore[index]
        children = sorted(below.pop(number), key=lambda pair: pair[0])
        node = Tree(row.label, tuple(child for _, child in children))
        below.setdefault(row.parent, []).append((row.start, node))
    top = [node for _, node in sorted(below.pop(-1, []), key=lambda pair: pair[0])]
    return top[0] if len(top) == 1 and not top[0].is_leaf else Tree("", tuple(top))


def _rows(tree: Tree, first: int, number: int) -> Iterator[tuple[str, int, int, int]]:
    """The rows of a tree whose first word is `first` and whose first phrase gets that number."""
    rows: list[list[object]] = []
    at = first
    waiting: list[tuple[Tree | None, int]] = [(tree, -1)]
    while waiting:
        node, parent = waiting.pop()
        if node is None:
            rows[parent][2] = at
        elif node.is_leaf:
            at += 1
        else:
            own = len(rows)
            rows.append([node.label, at, at, parent + number if parent >= 0 else -1])
            waiting.append((None, own))
            waiting.extend((child, own) for child in reversed(node.children))
    return ((str(label), int(a), int(b), int(p)) for label, a, b, p in rows)  # type: ignore[call-overload]


def _check(rows: Sequence[tuple[str, int, int, int]]) -> None:
    """Parents in front of their children and around them; phrases in the order of their words."""
    for number, (label, start, end, parent) in enumerate(rows):
        if start >= end:
            raise WeftError(f"phrase {number} ({label}) holds no words: {start} to {end}")
        if not -1 <= parent < number:
            raise WeftError(f"phrase {number} ({label}) names the parent {parent}; parents stand before their children")
        if parent >= 0 and not (rows[parent][1] <= start and end <= rows[parent][2]):
            raise WeftError(f"phrase {number} ({label}, {start} to {end}) is not within its parent {rows[parent]}")
        if number and start < rows[number - 1][1]:
            raise WeftError(f"phrase {number} ({label}) begins at word {start}, before the end of the previous phrase")
