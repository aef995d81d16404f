"""Pictures of a few nodes and their edges: well-formed, inside their frame, and safe whatever names hold."""

import re
from xml.etree import ElementTree

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from weft.pictures.networks import Node, draw_network

NAMES = st.text(max_size=12) | st.sampled_from(["a name that is longer than a box should ever be", "<b>&"])


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(NAMES, NAMES, st.integers(0, 3)), min_size=1, max_size=8), st.data())
def test_any_graph_is_a_picture_inside_its_frame(rows, data):
    nodes = [Node(*row) for row in rows]
    ends = st.integers(0, len(nodes) - 1)
    edges = data.draw(st.lists(st.tuples(NAMES, ends, ends), max_size=10))
    root = ElementTree.fromstring(draw_network(nodes, edges, "a question"))
    width, height = float(root.get("width")), float(root.get("height"))
    boxes = [each for each in root.iter() if each.tag.endswith("rect")]
    assert len(boxes) == len(nodes)
    for box in boxes:
        assert float(box.get("x")) >= 0
        assert float(box.get("x")) + float(box.get("width")) <= width + 1
        assert 0 <= float(box.get("y")) <= height
    tops = {(box.get("x"), box.get("y")) for box in boxes}
    assert len(tops) == len(nodes)


def test_names_are_text_and_nothing_else():
    evil = "<script>alert(1)</script>\" onload='x'"
    picture = draw_network([Node(evil, evil, 0), Node("Oslo", "city", 1)], [(evil, 0, 1)], evil)
    assert "<script" not in picture
    assert not re.search(r"<[^>]* onload=", picture)
    assert "&lt;script" in picture


def test_an_arrow_ends_at_the_target_on_either_side():
    nodes = [Node("Ada", "person", 0), Node("Oslo", "city", 1)]
    there = draw_network(nodes, [("lives in", 0, 1)], "?")
    back = draw_network(nodes, [("home of", 1, 0)], "?")

    def tip(picture):
        return float(re.search(r'class="tip"[^>]* d="M([\d.]+)', picture)[1])

    assert tip(there) > tip(back)
