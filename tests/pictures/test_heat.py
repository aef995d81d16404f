"""Tables as pictures: shades follow the figures, everything is told in words too."""

from __future__ import annotations

import math
from xml.etree import ElementTree

import pytest

from weft.errors import ConfigError
from weft.pictures import draw_heat


def shades(picture: str) -> list[int]:
    tree = ElementTree.fromstring(picture)
    fills = [each.get("fill") for each in tree.iter("{http://www.w3.org/2000/svg}rect")]
    return [int(fill[1:3], 16) for fill in fills if fill != "none"]


def test_larger_figures_are_darker_and_the_picture_is_good_xml():
    found = shades(draw_heat(["a<b", "c"], ["x", "y"], [[1.0, 2.0], [3.0, 4.0]], "A & B", [("c", "y")]))
    assert found == sorted(found, reverse=True)
    assert len(set(found)) == 4


def test_equal_and_missing_figures_can_be_drawn():
    picture = draw_heat(["a"], ["x", "y"], [[5.0, math.nan]])
    assert "–" in picture
    assert "a: x 5.0" in picture


def test_another_shape_than_the_names_say_is_refused():
    with pytest.raises(ConfigError, match="2 rows and 1 columns"):
        draw_heat(["a", "b"], ["x"], [[1.0]])
