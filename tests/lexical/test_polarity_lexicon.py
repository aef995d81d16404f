"""Lists of positive and negative words, and votes under negation."""

from __future__ import annotations

import pytest

from weft.errors import FormatError
from weft.lexical.polarity_lexicon import PolarityLexicon, negated


def test_lists_and_tables_are_read(tmp_path):
    (tmp_path / "good.txt").write_text("; a comment\n\nsuperb\nfine ; too\n")
    (tmp_path / "bad.txt").write_text("slow\n")
    (tmp_path / "valence.txt").write_text("slow\t0.5\t1\t[1, 0]\ndull\t-1.3\nmeh\t0.0\n")
    lists = PolarityLexicon.read([tmp_path / "good.txt"], [tmp_path / "bad.txt"])
    assert lists.signs == {"superb": 1, "fine": 1, "slow": -1}
    both = PolarityLexicon.read([tmp_path / "good.txt"], [tmp_path / "bad.txt"], [tmp_path / "valence.txt"])
    assert (both.sign("slow"), both.sign("Dull"), both.sign("meh")) == (1, -1, 0)


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [("a\t1\n", "positive", "line 1: expected one word per line"), ("; none\n", "positive", "found none"),
     ("a b\n", "scored", "line 1: expected word<TAB>number")],
)  # fmt: skip
def test_bad_files_are_refused(tmp_path, text, kind, message):
    path = tmp_path / "words.txt"
    path.write_text(text)
    with pytest.raises(FormatError, match=message):
        PolarityLexicon.read(**{kind: [path]})


def test_negators_turn_votes_up_to_punctuation_or_but():
    lexicon = PolarityLexicon({"good": 1, "slow": -1})
    assert lexicon.vote(["It", "is", "not", "good"]) == -1
    assert lexicon.vote(["It", "isn’t", "slow", ",", "good"]) == 2
    assert lexicon.vote(["never", "slow", "but", "good"]) == 2
    assert lexicon.vote(["not", "good"], negators=["inte"]) == 1
    assert negated(["no", ",", "no"]) == [False, False, False]
