"""Where the words of contractions are."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from weft.text.doc import Doc
from weft.text.layers import SpanLayer, chars_of_words, words_of_chars
from weft.text.offsets import contractions, word_offsets


def contracted(text, tokens, words):
    """A document of tokens at offsets; `words` lists the forms of every token."""
    doc = Doc(text)
    doc.set_offsets([start for start, _ in tokens], [end for _, end in tokens])
    doc.word_token = np.repeat(np.arange(len(tokens), dtype=np.int32), [len(forms) for forms in words])
    doc.set_column("form", [form for forms in words for form in forms])
    doc.set_sentences([0, doc.n_words])
    return doc


def test_a_span_on_a_part_of_a_contraction_reads_as_that_part():
    doc = contracted("Kenya's William Ruto", [(0, 7), (8, 15), (16, 20)], [["Kenya", "'s"], ["William"], ["Ruto"]])
    doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "LOC"), (2, 4, "PER")])
    assert [span.text for span in doc.entities] == ["Kenya", "William Ruto"]
    assert [(word.start, word.end, word.text) for word in doc.words[:2]] == [(0, 5, "Kenya"), (5, 7, "'s")]
    in_chars = chars_of_words(doc, doc.spans["entities"])
    assert [row.pieces for row in in_chars] == [((0, 5),), ((8, 20),)]
    assert [row.pieces for row in words_of_chars(doc, in_chars)] == [((0, 1),), ((2, 4),)]


def test_words_that_do_not_make_up_their_token_stand_for_all_of_it():
    doc = contracted("zum See", [(0, 3), (4, 7)], [["zu", "dem"], ["See"]])
    assert [word.text for word in doc.words] == ["zum", "zum", "See"]
    assert [array.tolist() for array in word_offsets(doc)] == [[0, 0, 4], [3, 3, 7]]


def test_the_case_of_forms_does_not_matter():
    doc = contracted("CANNOT", [(0, 6)], [["can", "not"]])
    assert [word.text for word in doc.words] == ["CAN", "NOT"]


@given(st.lists(st.lists(st.text("abc", min_size=1, max_size=3), min_size=1, max_size=3), min_size=1, max_size=6))
def test_parts_cover_their_tokens_in_order(words):
    tokens, reached = [], 0
    for forms in words:
        tokens.append((reached, reached + sum(map(len, forms))))
        reached = tokens[-1][1] + 1
    doc = contracted(" ".join("".join(forms) for forms in words), tokens, words)
    starts, ends = word_offsets(doc)
    assert [doc.text[a:b] for a, b in zip(starts, ends, strict=True)] == [form for forms in words for form in forms]
    assert [(word.start, word.end) for word in doc.words] == list(zip(starts.tolist(), ends.tolist(), strict=True))
    assert sum(end - first for first, end in contractions(doc.word_token)) == sum(len(f) for f in words if len(f) > 1)
