"""Phrase-structure trees as values: a label over children, or a tag over a word.

    (S (NP (DT the) (NN dog)) (VP (VBZ barks)))

`Tree` is what tools that change trees work on (binarization, word structures); a document keeps trees as columns
(`weft.text.constituents`). Nothing here recurses, so trees may be as deep as sentences are long.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from weft.errors import WeftError

#: Brackets cannot stand in words of the bracket format; these are the Penn Treebank's names for them.
ESCAPES = {"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"}
_NAMES = {name: letter for letter, name in ESCAPES.items()}
_TOKEN = re.compile(r"[()]|[^\s()]+")


class Tree(NamedTuple):
    """A phrase with its children or, where `word` is set, a word under its tag.

    >>> tree = parse_tree("(S (NP (DT the) (NN dog)) (VP (VBZ barks)))")
    >>> [leaf.word for leaf in tree.leaves()], tree.children[0].label
    (['the', 'dog', 'barks'], 'NP')
    >>> str(tree)
    '(S (NP (DT the) (NN dog)) (VP (VBZ barks)))'
    """

    label: str
    children: tuple[Tree, ...] = ()
    word: str = ""

    @property
    def is_leaf(self) -> bool:
        """Whether this is a word under its tag."""
        return not self.children

    def nodes(self) -> Iterator[Tree]:
        """All nodes from the top down and from left to right, words included."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))

    def leaves(self) -> list[Tree]:
        """The words, from left to right."""
        return [node for node in self.nodes() if node.is_leaf]

    def __str__(self) -> str:
        parts: list[str] = []
        waiting: list[Tree | None] = [self]
        while waiting:
            node = waiting.pop()
            if node is None:
                parts.append(")")
                continue
            blank = " " if parts else ""
            if node.is_leaf:
                parts.append(f"{blank}({escape(node.label)} {escape(node.word)})")
                continue
            parts.append(f"{blank}({node.label}")
            waiting.append(None)
            waiting.extend(reversed(node.children))
        return "".join(parts)


def rebuild(
    tree: Tree,
    word: Callable[[Tree], Tree | None],
    phrase: Callable[[str, tuple[Tree, ...]], Tree],
    is_word: Callable[[Tree], bool] = lambda node: node.is_leaf,
) -> Tree | None:
    """A tree made anew from the inside out: `word` says what becomes of words (None: they go), `phrase` of phrases.

    What `is_word` calls a word is not looked into. Phrases that lose all their children go; None where nothing is left.

    >>> tree = parse_tree("(S (NP (DT the) (NN dog)) (VP (VBZ barks)))")
    >>> str(rebuild(tree, lambda leaf: leaf if leaf.label != "VBZ" else None, Tree))
    '(S (NP (DT the) (NN dog)))'
    """
    done: list[list[Tree]] = [[]]
    waiting: list[tuple[Tree, bool]] = [(tree, False)]
    while waiting:
        node, closing = waiting.pop()
        if closing:
            children = done.pop()
            if children:
                done[-1].append(phrase(node.label, tuple(children)))
        elif is_word(node):
            made = word(node)
            if made is not None:
                done[-1].append(made)
        else:
            done.append([])
            waiting.append((node, True))
            waiting.extend((child, False) for child in reversed(node.children))
    return done[0][0] if done[0] else None


def escape(text: str) -> str:
    """A word as the bracket format writes it.

    >>> escape("("), escape("a[1]"), escape("dog")
    ('-LRB-', 'a-LSB-1-RSB-', 'dog')
    """
    return "".join(ESCAPES.get(letter, letter) for letter in text)


def unescape(text: str) -> str:
    """A word of the bracket format as text has it: names of brackets, and `\\/` and `\\*` of the Penn Treebank.

    >>> unescape("-LRB-"), unescape(r"1\\/2")
    ('(', '1/2')
    """
    if "\\" in text:
        text = text.replace("\\/", "/").replace("\\*", "*")
    if "B-" in text:
        for name, letter in _NAMES.items():
            text = text.replace(name, letter)
    return text


def parse_tree(text: str) -> Tree:
    """The one tree that a text spells.

    >>> parse_tree("(NP (NN tea)) (NP (NN milk))")
    Traceback (most recent call last):
    ...
    weft.errors.WeftError: expected one tree in brackets, found more text after it
    """
    builder = TreeBuilder()
    found: Tree | None = None
    for token in _TOKEN.findall(text):
        if found is not None:
            raise WeftError("expected one tree in brackets, found more text after it")
        found = builder.take(token)
    if found is None:
        raise WeftError("expected one tree in brackets, found one that is not closed" if text.strip() else "no tree")
    return found


class TreeBuilder:
    """Builds trees from the tokens of the bracket format: brackets, labels and words.

    `take` gives a tree when its last bracket closes. What cannot be a tree raises `WeftError`.
    """

    def __init__(self) -> None:
        self._open: list[tuple[list[str], list[Tree]]] = []

    @property
    def depth(self) -> int:
        """How many brackets are open."""
        return len(self._open)

    def clear(self) -> None:
        """Forget the tree that was begun."""
        self._open.clear()

    def take(self, token: str) -> Tree | None:
        """One more token; the tree that it completes, if it does."""
        if token == "(":
            self._open.append(([], []))
            return None
        if not self._open:
            raise WeftError(f"a tree that begins with (, found {token!r} outside brackets")
        names, children = self._open[-1]
        if token != ")":
            if children:
                raise WeftError(f"words in brackets of their own with a tag, found {token!r} after a phrase")
            if len(names) == 2:
                raise WeftError(f"a tag and one word, or a label and phrases, found {token!r} as well")
            names.append(token)
            return None
        self._open.pop()
        if not children and len(names) < 2:
            raise WeftError("a word under a tag, or phrases, found brackets with " + (names[0] if names else "nothing"))
        if children and len(names) == 2:
            raise WeftError(f"words in brackets of their own with a tag, found {names[1]!r} before a phrase")
        if children:
            node = Tree(names[0] if names else "", tuple(children))
        else:
            node = Tree(unescape(names[0]), (), unescape(names[1]))
        if not self._open:
            return node
        self._open[-1][1].append(node)
        return None
