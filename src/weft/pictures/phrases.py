"""Phrase-structure trees as pictures: words in a row, tags above them, phrases above their children.

    height(word) = 0,   height(phrase) = 1 + the highest of its children

A phrase is centred between its first and its last child. Nothing here is recursive.
"""

from __future__ import annotations

from typing import NamedTuple

from weft.pictures.style import backing, clean, is_right_to_left, svg, text_width
from weft.text.constituents import tree_of
from weft.text.trees import Tree
from weft.text.views import Sentence

_GAP, _LEVEL, _MARGIN = 18, 38, 18


class _Node(NamedTuple):
    tree: Tree
    children: list[int]


def draw_phrases(sentence: Sentence, styled: bool = True) -> str:
    """A sentence with its constituents as SVG.

    >>> from weft.text.constituents import doc_of_trees
    >>> from weft.text.trees import parse_tree
    >>> doc = doc_of_trees([parse_tree("(S (NP (DT the) (NN dog)) (VP (VBZ barks)))")])
    >>> picture = draw_phrases(doc.sentences[0])
    >>> picture.startswith("<svg "), picture.count("<path"), ">NP<" in picture
    (True, 5, True)
    """
    tree = tree_of(sentence.doc, sentence.index)
    nodes = _numbered(tree)
    heights, centres, right = _places(nodes)
    width, mirrored = right + _MARGIN, is_right_to_left(sentence.text)
    if mirrored:
        centres = [width - centre for centre in centres]
    top = max(heights)
    ground = _MARGIN + 14 + _LEVEL * top

    def middle(i: int) -> float:
        return ground - _LEVEL * heights[i]

    lines, texts, word = [], [], sentence.first
    for i, (node, children) in enumerate(nodes):
        x, y = centres[i], middle(i)
        for child in children:
            lines.append(
                f'<path class="line" fill="none" stroke="#8793a0" '
                f'd="M{x:.1f},{y + 6:.0f} L{centres[child]:.1f},{middle(child) - 12:.0f}"/>'
            )
        if children:
            texts.append(f'<text class="phrase" x="{x:.1f}" y="{y:.0f}" fill="#1f5fae">{clean(node.label)}</text>')
            continue
        texts.append(
            f'<g class="word" data-word="{word}">{backing(x, y - 13, _half(node), 40)}'
            f'<text class="tag" x="{x:.1f}" y="{y:.0f}" fill="#57626d" '
            f'font-size="11">{clean(node.label)}</text><text x="{x:.1f}" y="{y + 20:.0f}">{clean(node.word)}</text></g>'
        )
        word += 1
    body = "".join(lines + texts)
    title = f"Phrase structure of: {sentence.text}"
    return svg(body, width, ground + 20 + _MARGIN, title, str(tree), "phrases", styled, mirrored)


def _half(node: Tree) -> float:
    return max(text_width(node.label, 13), text_width(node.word, 15)) / 2


def _numbered(tree: Tree) -> list[_Node]:
    """All nodes top-down and left to right, with the indices of their children."""
    nodes: list[_Node] = []
    waiting: list[tuple[Tree, int]] = [(tree, -1)]
    while waiting:
        node, parent = waiting.pop()
        if parent >= 0:
            nodes[parent].children.append(len(nodes))
        waiting.extend((child, len(nodes)) for child in reversed(node.children))
        nodes.append(_Node(node, []))
    return nodes


def _places(nodes: list[_Node]) -> tuple[list[int], list[float], float]:
    """The height and centre of every node, and where the picture ends; children come after their parents."""
    heights, widths = [0] * len(nodes), [0.0] * len(nodes)
    for i in reversed(range(len(nodes))):
        node, children = nodes[i]
        own_width = 2 * _half(node) + _GAP
        heights[i] = 1 + max(heights[child] for child in children) if children else 0
        widths[i] = max(own_width, sum(widths[child] for child in children))
    lefts = [float(_MARGIN - _GAP / 2)] * len(nodes)
    for i, (_, children) in enumerate(nodes):
        at = lefts[i] + (widths[i] - sum(widths[child] for child in children)) / 2
        for child in children:
            lefts[child] = at
            at += widths[child]
    centres = [left + width / 2 for left, width in zip(lefts, widths, strict=True)]
    for i in reversed(range(len(nodes))):
        if nodes[i].children:
            centres[i] = (centres[nodes[i].children[0]] + centres[nodes[i].children[-1]]) / 2
    return heights, centres, lefts[0] + widths[0] - _GAP / 2
