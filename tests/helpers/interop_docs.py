"""Random documents that other libraries can hold: trees with one root, tags of UD, white space between tokens."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

from weft.text import Doc, Multiword, SpanLayer

forms = st.text(st.sampled_from("abcXYZ09éß语🙂-.'"), min_size=1, max_size=6)
gaps = st.sampled_from([" ", " ", " ", "", "\n", "  ", " \n\n", "\t"])
upos = st.sampled_from(["", "NOUN", "VERB", "PUNCT", "X"])
values = st.sampled_from(["", "NN", "VBZ", "dog", "le"])
feats = st.sampled_from(["", "Number=Sing", "Case=Nom|Number=Plur"])
relations = st.sampled_from(["nsubj", "obj", "punct", "acl:relcl"])
labels = st.sampled_from(["PER", "ORG", "LOC"])


@st.composite
def docs(draw: st.DrawFn, multiwords: bool = True, layers: bool = True, spacing: bool = True) -> Doc:
    """A document of a few sentences, some tokens of several words, with columns, trees and spans."""
    sizes = draw(st.lists(st.lists(st.sampled_from([1, 1, 1, 2, 3] if multiwords else [1]), min_size=1, max_size=5),
                          min_size=1, max_size=4))  # fmt: skip
    counts = [size for sentence in sizes for size in sentence]
    text, starts, ends = draw(gaps) if spacing else "", [], []
    for i in range(len(counts)):
        starts.append(len(text))
        text += draw(forms)
        ends.append(len(text))
        text += draw(gaps) if spacing else " " if i + 1 < len(counts) else ""
    doc = Doc(text)
    doc.set_offsets(starts, ends)
    doc.word_token = np.repeat(np.arange(len(counts)), counts).astype(np.int32)
    tokens = [doc.text[a:b] for a, b in zip(starts, ends, strict=True)]
    firsts = np.concatenate([[0], np.cumsum(counts)]).tolist()
    words: list[str] = []
    for token, size in zip(tokens, counts, strict=True):
        words += [token] if size == 1 else [draw(forms) for _ in range(size)]
    doc.set_column("form", words)
    for token, size in enumerate(counts):
        if size > 1:
            doc.multiwords.append(Multiword(firsts[token], firsts[token] + size, (tokens[token], *[""] * 8)))
    offsets = [0]
    for sentence in sizes:
        offsets.append(offsets[-1] + sum(sentence))
    doc.set_sentences(offsets)
    for name, kind in (("lemma", values), ("upos", upos), ("xpos", values), ("feats", feats)):
        if draw(st.booleans()):
            doc.set_column(name, [draw(kind) for _ in words])
    if draw(st.booleans()):
        _set_trees(draw, doc, sizes)
    if layers:
        _set_spans(draw, doc, firsts)
    return doc


def _set_trees(draw: st.DrawFn, doc: Doc, sizes: list[list[int]]) -> None:
    heads: list[int] = []
    relation: list[str] = []
    for sentence in sizes:
        length = sum(sentence)
        order = draw(st.permutations(range(1, length + 1)))
        own = dict.fromkeys(order, 0)
        for place, word in enumerate(order[1:], start=1):
            own[word] = order[draw(st.integers(0, place - 1))]
        heads += [own[word] for word in range(1, length + 1)]
        relation += ["root" if own[word] == 0 else draw(relations) for word in range(1, length + 1)]
    doc.head = np.array(heads, dtype=np.int32)
    doc.set_column("deprel", relation)


def _set_spans(draw: st.DrawFn, doc: Doc, firsts: list[int]) -> None:
    """Flat entities that stay within sentences, and spans that overlap; both of whole tokens."""
    entities = doc.spans["entities"] = SpanLayer(doc.strings)
    for start, end in pairwise(firsts):
        if draw(st.booleans()):
            entities.add([(start, end)], draw(labels))
    others = doc.spans["phrases"] = SpanLayer(doc.strings)
    for _ in range(draw(st.integers(0, 3))):
        a, b = sorted(draw(st.lists(st.integers(0, len(firsts) - 1), min_size=2, max_size=2, unique=True)))
        others.add([(firsts[a], firsts[b])], draw(labels))
