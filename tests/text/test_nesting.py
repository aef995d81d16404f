"""Levels of nested spans and entities in MISC."""

from hypothesis import given, settings
from hypothesis import strategies as st

from weft.text import Doc, SpanLayer
from weft.text.conventions.misc_spans import misc_of_spans, spans_of_misc
from weft.text.nesting import levels_of
from weft.text.schemes import encode

SPANS = st.lists(
    st.tuples(st.integers(0, 8), st.integers(1, 5), st.sampled_from("AB")).map(lambda s: (s[0], s[0] + s[1], s[2])),
    max_size=8,
    unique=True,
)


@given(SPANS)
@settings(max_examples=100, deadline=None, derandomize=True)
def test_every_level_is_flat_and_longer_spans_come_first(spans):
    level = levels_of(spans)
    for height in set(level):
        encode([span for span, own in zip(spans, level, strict=True) if own == height], 13)  # refuses overlaps
    for one, own in zip(spans, level, strict=True):
        held = [h for other, h in zip(spans, level, strict=True)
                if other != one and other[0] <= one[0] and one[1] <= other[1] and other[:2] != one[:2]]  # fmt: skip
        assert all(h < own for h in held)
        around = [h for other, h in zip(spans, level, strict=True)
                  if other != one and other[0] < one[1] and one[0] < other[1] and h < own]  # fmt: skip
        assert own == 0 or own - 1 in around  # no level is left empty below a span


def test_entities_survive_the_misc_column():
    doc = Doc.from_words([["Ada", "Byron", "met", "Bo"], ["Rome"]], misc=[["", "Gloss=x", "", ""], ["NE=B-OLD"]])
    assert [row.label for row in spans_of_misc(doc)] == ["OLD"]
    doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 2, "PER"), (3, 4, "PER"), (4, 5, "LOC")])
    misc_of_spans(doc, "entities")
    assert doc.column("misc") == ["NER=B-PER", "Gloss=x|NER=I-PER", "", "NER=B-PER", "NER=B-LOC"]
    doc.spans["entities"].attributes[1] = {"probability": 0.75}
    misc_of_spans(doc, "entities")
    assert doc.column("misc")[3] == "NER=B-PER|NERProb=0.75"
    assert list(spans_of_misc(doc)) == list(doc.spans["entities"])


def test_documents_without_labels_have_no_spans_in_misc():
    assert spans_of_misc(Doc.from_words([["a"]], misc=[["SpaceAfter=No"]])) is None
    assert spans_of_misc(Doc.from_words([["a"]])) is None
