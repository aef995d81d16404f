"""Layers written into MISC together, against attributes given to words one after the other."""

from hypothesis import given, settings
from hypothesis import strategies as st

from weft.text.conventions.misc_spans import misc_of_layers, misc_of_spans, set_attribute
from weft.text.doc import Doc
from weft.text.layers import SpanLayer
from weft.text.strings import StringTable

MISC = st.sampled_from(["", "SpaceAfter=No", "NER=B-LOC", "ner=O|Gloss=x", "ChunkProb=1|MWE=B", "name=I-PER"])
WORDS = 5


@st.composite
def documents(draw: st.DrawFn, strings: StringTable) -> Doc:
    misc = draw(st.lists(MISC, min_size=WORDS, max_size=WORDS))
    doc = Doc.from_words([list("abcde")], strings=strings, misc=[misc])
    if draw(st.booleans()):
        del doc.columns["misc"]
    for name in draw(st.sets(st.sampled_from(["entities", "chunks", "mwe"]))):
        doc.spans[name] = SpanLayer(strings)
        for start, end in draw(st.sampled_from([[], [(0, 2)], [(1, 3), (3, 5)]])):
            sure = {"probability": 0.25} if draw(st.booleans()) else {}
            doc.spans[name].add([(start, end)], "strong" if name == "mwe" else "X", **sure)
    return doc


def one_after_the_other(doc: Doc) -> list[str]:
    marks = {"entities": ("NER", "B-X", "I-X"), "chunks": ("Chunk", "B-X", "I-X"), "mwe": ("MWE", "B", "I_")}
    for name, (key, begin, inside) in marks.items():
        if name in doc.spans:
            values: dict[int, str] = {}
            sure: dict[int, str] = {}
            for number, (((start, end),), _) in enumerate(doc.spans[name]):
                values |= dict.fromkeys(range(start + 1, end), inside) | {start: begin}
                if number in doc.spans[name].attributes:
                    sure[start] = "0.25"
            set_attribute(doc, key, values, ("ner", "ne", "name") if key == "NER" else ())
            set_attribute(doc, f"{key}Prob", sure)
    return doc.column("misc")


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_layers_written_together_are_those_written_one_by_one(data: st.DataObject) -> None:
    strings = StringTable()
    for doc in (data.draw(documents(strings)) for _ in range(3)):
        before = doc.columns.get("misc")
        expected = one_after_the_other(doc)
        for write in (misc_of_layers, lambda doc: [misc_of_spans(doc, name) for name in doc.spans]):
            if before is None:
                doc.columns.pop("misc", None)
            else:
                doc.columns["misc"] = before
            write(doc)
            assert doc.column("misc") == expected


def test_a_value_that_reads_like_no_label_is_a_value() -> None:
    doc = Doc.from_words([["a", "b"]])
    set_attribute(doc, "Gloss", {0: "O", 1: ""})
    assert doc.column("misc") == ["Gloss=O", ""]
