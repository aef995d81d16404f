"""Conversion between trees and actions of the constituent parser.

Actions have the names that model files store: `separate NN`, `append`, `subword r`, `word`, `binary NP r*`,
`unary IP`, `terminate`. The actions of a binary tree over characters are its nodes in post-order: each tree has one
sequence, and each sequence one tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from weft.errors import ModelError, WeftError
from weft.infer.constituents.system import DIRECTIONS, KINDS, LEFT, RIGHT, Actions
from weft.text.binarize import mark
from weft.text.trees import Tree


def actions_of(tree: Tree) -> list[str]:
    """The actions that build a binary tree over characters.

    >>> from weft.text.trees import parse_tree
    >>> actions_of(parse_tree("(NP#s (NN#t (NN#r (NN#b 公) (NN#i 司))))"))
    ['separate NN', 'append', 'subword r', 'word', 'unary NP', 'terminate']
    """
    found: list[str] = []
    waiting: list[tuple[Tree, bool]] = [(tree, False)]
    while waiting:
        node, closing = waiting.pop()
        label, kind = node.label.rpartition("#")[0], mark(node.label)
        if not closing and not node.is_leaf:
            waiting.append((node, True))
            waiting.extend((child, False) for child in reversed(node.children))
        elif kind == "b":
            found.append(f"separate {label}")
        elif kind == "i":
            found.append("append")
        elif kind == "t":
            found.append("word")
        elif kind == "s":
            found.append(f"unary {label}")
        elif kind in DIRECTIONS and _is_subword(node):
            found.append(f"subword {kind}")
        elif kind.rstrip("*") in ("l", "r"):
            found.append(f"binary {label} {kind}")
        else:
            raise WeftError(f"the label {node.label!r} does not belong to a binary tree over characters")
    return [*found, "terminate"]


def _is_subword(node: Tree) -> bool:
    """Whether a node is inside a word: the path to its first leaf passes no full word."""
    while not node.is_leaf:
        if mark(node.label) == "t":
            return False
        node = node.children[0]
    return True


def tree_of_actions(actions: Iterable[str], units: Sequence[str]) -> list[Tree]:
    """The binary trees that actions leave on the stack; exactly one if there are phrases.

    >>> (tree,) = tree_of_actions(["separate NN", "append", "subword r", "word", "unary NP", "terminate"], "公司")
    >>> str(tree)
    '(NP#s (NN#t (NN#r (NN#b 公) (NN#i 司))))'
    """
    stack: list[Tree] = []
    at = 0
    for action in actions:
        kind, _, argument = action.partition(" ")
        if kind in ("separate", "append"):
            tag = argument if kind == "separate" else stack[-1].label.rpartition("#")[0]
            stack.append(Tree(f"{tag}#{'b' if kind == 'separate' else 'i'}", (), units[at]))
            at += 1
        elif kind in ("subword", "binary"):
            right, left = stack.pop(), stack.pop()
            label = right.label.rpartition("#")[0] if kind == "subword" else argument.rpartition(" ")[0]
            stack.append(Tree(f"{label}#{argument.rpartition(' ')[2]}", (left, right)))
        elif kind in ("word", "unary"):
            top = stack.pop()
            label = f"{top.label.rpartition('#')[0]}#t" if kind == "word" else f"{argument}#s"
            stack.append(Tree(label, (top,)))
    return stack


def closed(actions: Iterable[str]) -> list[str]:
    """Add the actions needed to finish every partial tree; returns all actions ordered by kind.

    A temporary X must be able to become X, whichever side is still to grow.

    >>> closed(["binary NP l*", "separate NN"])
    ['separate NN', 'append', 'word', 'binary NP l', 'binary NP l*', 'binary NP r', 'terminate']
    """
    known = {*actions, "append", "word", "terminate"}
    for action in list(known):
        if action.startswith("binary ") and action.endswith("*"):
            label = action.split(" ")[1]
            known |= {f"binary {label} r"} | ({f"binary {label} l"} if action.endswith("l*") else set())
    labels = sorted(action.split(" ")[1] for action in known if action.startswith("unary "))
    if labels and not any(action.startswith("binary ") for action in known):
        known.add(f"binary {labels[0]} r")
    return sorted(known, key=lambda action: (KINDS.index(action.partition(" ")[0]), action))


def compile_actions(names: Sequence[str], tags: Sequence[str], labels: Sequence[str]) -> Actions:
    """Encode actions as numbers; `names` are in the order that `closed` returns."""
    rows = []
    for name in names:
        kind, *arguments = name.split(" ")
        if kind not in KINDS:
            raise ModelError(f"unknown action {name!r} of a constituent parser")
        number, side, temporary = 0, LEFT, 0
        if kind == "separate":
            number = tags.index(arguments[0])
        elif kind == "subword":
            number = DIRECTIONS.index(arguments[0])
            side = RIGHT if arguments[0] == "r" else LEFT
        elif kind == "unary":
            number = labels.index(arguments[0])
        elif kind == "binary":
            number, side = labels.index(arguments[0]), RIGHT if arguments[1].startswith("r") else LEFT
            temporary = int(arguments[1].endswith("*"))
        rows.append((KINDS.index(kind), number, side, temporary))
    table = np.array(rows, dtype=np.int32)
    first = np.array([sum(row[0] < kind for row in rows) for kind in range(len(KINDS) + 1)], dtype=np.int32)
    kind_, argument, head, temporary_ = (np.ascontiguousarray(table[:, k]) for k in range(4))
    return Actions(kind_, argument, head, temporary_, first)
