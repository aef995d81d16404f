"""Bracketed phrase-structure trees in the style of the Penn Treebank.

    (S (NP (DT the) (NN dog)) (VP (VBZ barks)))

A tree may span several lines; a bracket in the first column begins a new one. Outermost brackets without a label are
kept. `; NAME` between trees begins a document of that name; lines that begin with `<` (as in the Chinese Treebank) are
skipped. Words are unescaped: `-LRB-` is `(`, `\\/` is `/`. The format has no spacing: words are joined by spaces, or
directly with `blanks=False`.

Traces (words under `-NONE-`) are not words of the text: they are removed along with phrases that contain nothing
else; `traces="keep"` keeps them as words. Trees may extend to the characters of words, as `weft.text.word_structures`
writes them: then the column `structure` holds the word-internal structure.

The writer puts one tree on each line; reading and writing its output again reproduces it byte by byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Literal

from weft.errors import ConfigError, FormatError, WeftError
from weft.formats.conllu.files import PART, TABLE_LIMIT
from weft.formats.gate import admitted
from weft.formats.streams import Faults, checked_blocks, encoding_error, stray_byte, unsplit_error, write_texts
from weft.text.constituents import doc_of_trees, tree_of
from weft.text.doc import Doc
from weft.text.strings import StringTable
from weft.text.trees import Tree, TreeBuilder, rebuild
from weft.text.word_structures import COLUMN, collapse, expand, flat

NO_WORD = "-NONE-"
Traces = Literal["drop", "keep"]
_TOKEN = re.compile(r"\n|[()]|[^\s()]+")


def read(
    path: str,
    faults: Faults | None = None,
    *,
    traces: Traces = "drop",
    blanks: bool | None = None,
    characters: bool | None = None,
    encoding: str = "utf-8",
) -> Iterator[Doc]:
    """The documents in a file of trees.

    `characters` says whether trees are over characters (by default, the tags decide); such trees have no spaces
    between words unless `blanks` says so, others do.
    """
    if traces not in ("drop", "keep"):
        raise ConfigError(f"traces={traces!r}: expected 'drop' or 'keep'")
    faults = faults or Faults()
    strings = StringTable()
    waiting: list[Tree] = []
    name, bare = "", False  # `bare`: no tree follows the name so far
    for item in parse_trees(path, faults, encoding):
        tree = without_traces(item) if isinstance(item, Tree) and traces == "drop" else item
        if waiting and (isinstance(item, str) or len(waiting) == PART):
            yield from _documents(path, waiting, name, strings, blanks, characters, faults)
            waiting = []
            if len(strings) > TABLE_LIMIT:
                strings = StringTable()
        if isinstance(item, str):
            if bare:
                yield Doc("", strings, {"id": name})
            name, bare = item, True
        elif isinstance(tree, Tree):
            waiting.append(tree)
            bare = False
    if waiting:
        yield from _documents(path, waiting, name, strings, blanks, characters, faults)
    elif bare:
        yield Doc("", strings, {"id": name})


def write(docs: Iterable[Doc], path: str, *, characters: bool = False) -> int:
    """Write documents, one tree per line, and return their number; `characters` extends trees to characters."""
    return write_texts((to_text(doc, characters) for doc in docs), path)


def to_text(doc: Doc, characters: bool = False) -> str:
    """A document as lines of trees, after its name if it has one.

    >>> print(to_text(Doc.from_words([["tea"], ["yes"]], xpos=[["NN"], ["UH"]])), end="")
    ( (NN tea))
    ( (UH yes))
    """
    if doc.text.strip() and not doc.n_words:
        raise unsplit_error(doc, "a file of trees")
    lines = [f"; {doc.id}"] if doc.id else []
    structures = doc.column(COLUMN)
    for number, (first, end) in enumerate(pairwise(doc.sentence_offsets.tolist())):
        if first < end:
            tree = tree_of(doc, number)
            if characters:
                words = zip(structures[first:end], tree.leaves(), strict=True)
                tree = expand(tree, [structure or flat(len(leaf.word)) for structure, leaf in words])
            lines.append(str(tree))
    return "".join(f"{line}\n" for line in lines)


def without_traces(tree: Tree) -> Tree | None:
    """The tree without traces and phrases of nothing else, or None if nothing is left.

    >>> from weft.text.trees import parse_tree
    >>> str(without_traces(parse_tree("(S (NP (-NONE- *)) (VP (VB Go)))")))
    '(S (VP (VB Go)))'
    """
    if all(node.label != NO_WORD for node in tree.nodes()):
        return tree
    return rebuild(tree, lambda leaf: leaf if leaf.label != NO_WORD else None, Tree)


def parse_trees(path: str, faults: Faults, encoding: str = "utf-8") -> Iterator[Tree | str]:
    """All trees in a file in order, and the names of documents where they begin."""
    builder = TreeBuilder()
    begun = 0  # line of the open tree's first bracket
    bad = False  # skip an unreadable tree until the next bracket in the first column
    for block in checked_blocks(path, faults, "\n", encoding):
        for number, line in enumerate(block.text.split("\n"), block.line):
            try:
                stray = None if block.clean else stray_byte(line)
                if stray is not None:
                    raise encoding_error(path, number, stray[1])
                if line.startswith("("):
                    bad = False
                    if builder.depth:
                        builder.clear()
                        _meet_unclosed(path, begun, faults)
                if not line.strip():
                    continue
                if not builder.depth and line[0] in ";<":
                    if line[0] == ";":
                        yield line[1:].strip()
                    continue
                if bad:
                    continue
                for token in _TOKEN.findall(line):
                    begun = begun if builder.depth else number
                    tree = builder.take(token)
                    if tree is not None:
                        yield tree
            except FormatError as error:
                bad = True
                builder.clear()
                faults.meet(error)
            except WeftError as error:
                bad = True
                builder.clear()
                expected, _, actual = str(error).partition(", found ")
                faults.meet(FormatError(path, number, expected, actual))
    if builder.depth:
        _meet_unclosed(path, begun, faults)


def _meet_unclosed(path: str, line: int, faults: Faults) -> None:
    hint = "Lines that continue a tree must not begin with a bracket in the first column"
    faults.meet(FormatError(path, line, "a tree whose brackets are all closed", "one that is not closed", hint))


def _documents(
    path: str,
    trees: list[Tree],
    name: str,
    strings: StringTable,
    blanks: bool | None,
    characters: bool | None,
    faults: Faults,
) -> Iterator[Doc]:
    """The document of some trees, unless they do not make one."""
    try:
        doc = _document(trees, name, strings, blanks, characters)
    except FormatError:
        raise
    except WeftError as error:
        faults.meet(FormatError(path, None, "trees over the words of a text", f"a fault: {error}"))
        return
    yield from admitted(path, [(None, doc)], faults)


def _document(trees: list[Tree], name: str, strings: StringTable, blanks: bool | None, characters: bool | None) -> Doc:
    if characters is None:
        characters = all(leaf.label.endswith(("#b", "#i")) for tree in trees for leaf in tree.leaves())
    collapsed = [collapse(tree) for tree in trees] if characters else [(tree, []) for tree in trees]
    doc = doc_of_trees([tree for tree, _ in collapsed], strings, not characters if blanks is None else blanks)
    if characters:
        doc.set_column(COLUMN, [structure for _, structures in collapsed for structure in structures])
    if name:
        doc.meta["id"] = name
    return doc
