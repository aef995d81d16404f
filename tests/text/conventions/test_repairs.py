"""Words that trees strike out."""

from __future__ import annotations

import pytest

from weft.errors import WeftError
from weft.text import Doc
from weft.text.conventions.repairs import analysis_of, fluent_text, struck_words


def test_all_words_below_a_reparandum_are_struck_out_and_are_their_own_heads():
    heads, relations = [2, 4, 2, 0, 4], ["det", "reparandum", "nmod", "root", "obj"]
    assert struck_words(heads, relations) == [True, True, True, False, False]
    assert analysis_of(heads, relations) == [1, 2, 3, 0, 4]


def test_subtypes_of_the_relation_count_and_cycles_end():
    assert struck_words([2, 0], ["reparandum:restart", "root"]) == [True, False]
    assert struck_words([2, 1], ["dep", "dep"]) == [False, False]


def test_fluent_text_needs_trees():
    with pytest.raises(WeftError, match="no trees"):
        fluent_text(Doc.from_words([["so"]]))
