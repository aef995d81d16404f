"""Scopes as nested boxes, on pages and in answers of the server."""

from __future__ import annotations

import re

from weft.pictures import DocPictures, draw_scope, show
from weft.text.conventions.scope import Node, Scoping, set_scopings
from weft.text.doc import Doc

RECT = re.compile(r'<rect [^>]*x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"')


def command() -> Doc:
    doc = Doc.from_words([["Mark", "every", "line", "in", "the", "file", "with", "a", "tab"], ["Stop"]])
    nodes = [Node(1, 3), Node(4, 6), Node(7, 9)]
    set_scopings(doc, [Scoping.of(nodes, [(1, 0), (0, 2)]), Scoping.of([])])
    return doc


def boxes(picture: str) -> list[tuple[float, ...]]:
    """Left, top, right and bottom of every box, in the order in which they are drawn."""
    return [(x, y, x + w, y + h) for x, y, w, h in (map(float, found) for found in RECT.findall(picture))]


def inside(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return other[0] < one[0] and other[1] < one[1] and one[2] < other[2] and one[3] < other[3]


def test_what_is_outscoped_stands_inside_and_nothing_else():
    picture = draw_scope(command().scope[0])
    file, line, tab = boxes(picture)
    assert inside(line, file)
    assert inside(tab, line)
    assert not inside(file, line)
    assert "<desc>2&gt;1; 1&gt;3</desc>" in picture


def test_incomparable_nodes_stand_side_by_side_and_second_parents_are_named():
    doc = Doc.from_words([["a", "b", "c"]])
    set_scopings(doc, [Scoping.of([Node(0, 1), Node(1, 2), Node(2, 3)], [(0, 2), (1, 2)])])
    picture = draw_scope(doc.scope[0])
    first, shared, second = boxes(picture)
    assert inside(shared, first)
    assert not inside(second, first)
    assert second[0] > first[2]
    assert "also in 2" in picture


def test_pages_show_scopes_once_and_only_where_there_are_any():
    doc = command()
    drawn = DocPictures(doc)
    assert drawn.kinds == ["scope"]
    assert [len(drawn.svgs(sentence)) for sentence in doc.sentences] == [1, 0]
    assert show(doc).html.count('class="weft scopes"') == 1
    assert DocPictures(doc, ["spans"], ["scope"]).kinds == ["spans"]
