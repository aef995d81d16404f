"""Words and sentence ends of unusual text, learned from the patterns of the English model alone.

The sentences here are not among the patterns. `|` parts words, a line of the expectation is a sentence.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from weft.tasks.segmentation.segmenter import Segmenter, SegmenterSettings
from weft.text.doc import Doc
from weft.training.patterns import read_patterns

PATTERNS = Path(__file__).parents[3] / "configs" / "en-edges.txt"


@pytest.fixture(scope="module")
def segmenter() -> Segmenter:
    found = Segmenter(SegmenterSettings(line_ends=0.2, iterations=30, bias=False))
    found.fit(read_patterns(PATTERNS, copies=4))
    return found


CASES = {
    "citations are split and close their sentence": (
        "The poet disagreed.[5] Two others left.[7][12] Reviews [3,4] were kind.",
        "The poet disagreed . [ 5 ]\nTwo others left . [ 7 ] [ 12 ]\nReviews [ 3 , 4 ] were kind .",
    ),
    "letters with digits stay whole": (
        "The L2 group won. Part MPCC01 needs bit 0x80. An AC-130U left. See [SSS222].",
        "The L2 group won .\nPart MPCC01 needs bit 0x80 .\nAn AC-130U left .\nSee [ SSS222 ] .",
    ),
    "abbreviations before numbers and names end nothing": (
        "It stands on p. 12 of vol. 4, no. 7. Berg et al. (2019) met Wolf v. Stein.",
        "It stands on p. 12 of vol. 4 , no. 7 .\nBerg et al. ( 2019 ) met Wolf v. Stein .",
    ),
    "hashtags and handles stay whole": (
        "Thanks, @weft_nlp! See #science and #verse.",
        "Thanks , @weft_nlp !\nSee #science and #verse .",
    ),
    "addresses stay whole": (
        "Write to jo.lee@mail.example.org or see https://example.org/a/b?id=4&x=2 first. "
        "It is at www.example.co.uk/help.",
        "Write to jo.lee@mail.example.org or see https://example.org/a/b?id=4&x=2 first .\n"
        "It is at www.example.co.uk/help .",
    ),
    "list items are sentences": (
        "Shopping list\n- tea\n- two lemons\n- honey",
        "Shopping list\n- tea\n- two lemons\n- honey",
    ),
    "numbers of list items are split from their point": (
        "1. Open the door\n2. Close the window\n3. Leave",
        "1 . Open the door\n2 . Close the window\n3 . Leave",
    ),
    "a heading without a full stop is a sentence": (
        "Introduction\nThe old bridge was rejected. It was weak.",
        "Introduction\nThe old bridge was rejected .\nIt was weak .",
    ),
    "full lines end no sentence": (
        "The old ferry that Baker had brought from the island\nchanged in March and was never seen in the harbour\n"
        "again. Dr.\nChen stayed.",
        "The old ferry that Baker had brought from the island changed in March and was never seen in the harbour "
        "again .\nDr. Chen stayed .",
    ),
    "lines of verse are joined by their commas": (
        "The harbour sleeps beside the hill,\nand over the hill the early star falls,\ntill Anna comes home.",
        "The harbour sleeps beside the hill , and over the hill the early star falls , till Anna comes home .",
    ),
    "entities of HTML stay whole": (
        "Fish &amp; chips &nbsp; and &lt; or &gt; are fine.",
        "Fish &amp; chips &nbsp; and &lt; or &gt; are fine .",
    ),
    "cut-off words keep their hyphen": ("I w- I want th- the lamp.", "I w- I want th- the lamp ."),
    "hyphens inside words are split off": ("A long-term plan changed.", "A long - term plan changed ."),
    "a number before a full stop ends a sentence": (
        "He came on Jan. 5. Adams was 12. The score was 30 to 4. They left.",
        "He came on Jan. 5 .\nAdams was 12 .\nThe score was 30 to 4 .\nThey left .",
    ),
    "dates stay whole": (
        "On 2021-04-05 the river changed. It happened on 1999-12-24.",
        "On 2021-04-05 the river changed .\nIt happened on 1999-12-24 .",
    ),
    "formulas and ranges are split": (
        "With n=34 and p<0.05 ages 18–65 were included.",
        "With n = 34 and p < 0.05 ages 18 – 65 were included .",
    ),
    "dashes between words are split off": (
        "Yes—no—maybe. It grew—see Table 4.",
        "Yes — no — maybe .\nIt grew — see Table 4 .",
    ),
}


def shown(segmenter: Segmenter, text: str) -> str:
    doc = Doc(text)
    segmenter([doc])
    return "\n".join(" ".join(word.form for word in sentence.words) for sentence in doc.sentences)


@pytest.mark.parametrize("kind", CASES)
def test_unusual_text(segmenter: Segmenter, kind: str) -> None:
    text, expected = CASES[kind]
    assert shown(segmenter, text) == expected


@pytest.mark.parametrize(
    "emoji", ["👍🏽", "🇫🇷", "👩‍👩‍👧", "❤️", "1️⃣", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"]
)
def test_an_emoji_of_several_characters_is_one_word(segmenter: Segmenter, emoji: str) -> None:
    assert shown(segmenter, f"We won {emoji}!").split() == ["We", "won", emoji, "!"]


def test_flags_side_by_side_are_several_words(segmenter: Segmenter) -> None:
    assert shown(segmenter, "We won 🇫🇷🇩🇪🇯🇵 today").split() == ["We", "won", "🇫🇷", "🇩🇪", "🇯🇵", "today"]


def test_a_blank_line_ends_a_sentence_and_a_full_line_does_not(segmenter: Segmenter) -> None:
    line = "The old ferry that Baker had brought from the island"
    assert shown(segmenter, f"{line}\nchanged in March and was then seen in the harbour").count("\n") == 0
    assert shown(segmenter, f"{line}\n\nchanged in March and was then seen in the harbour").count("\n") == 1
