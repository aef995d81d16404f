"""Marks of arcs against their definitions, arc by arc."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.infer.trees.arcs import all_arcs
from weft.learn.trees.arc_marks import both, has_arc, marks_of, same_stretch


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=4), st.integers(0, 10**6))
def test_marks_are_what_they_say_of_every_arc(sizes, seed):
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    space = all_arcs(offsets)
    heads = np.concatenate([rng.integers(0, n + 1, n) for n in sizes]).astype(np.int32)
    noun = rng.random(offsets[-1]) < 0.5
    stretch = rng.integers(-1, 2, offsets[-1])
    found = has_arc(space, heads), both(space, noun), same_stretch(space, stretch)
    for arc in range(space.n_arcs):
        first = offsets[space.sentence[arc]]
        h, m = int(space.head[arc]), int(space.modifier[arc])
        assert found[0][arc] == (heads[first + m - 1] == h)
        assert found[1][arc] == (h > 0 and bool(noun[first + m - 1]) and bool(noun[first + h - 1]))
        same = h > 0 and stretch[first + m - 1] >= 0 and stretch[first + m - 1] == stretch[first + h - 1]
        assert found[2][arc] == same
    assert ((marks_of(*found) != 0) == np.stack(found, axis=1)).all()
