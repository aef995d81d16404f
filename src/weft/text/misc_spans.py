"""Flat spans in the MISC column of CoNLL-U: one label a word, `NER=B-PER`.

Names of the attribute that are in use: NER (also `ner`), NE, name. Words without the attribute are outside spans.
"""

from __future__ import annotations

from itertools import pairwise

from weft.text.doc import Doc
from weft.text.layers import SpanLayer
from weft.text.schemes import decode, encode, guess_scheme

#: The attribute that is written, and those that are read.
WRITTEN, READ = "NER", ("ner", "ne", "name")


def spans_of_misc(doc: Doc) -> SpanLayer | None:
    """The spans that the MISC column spells, in whichever scheme; None where no word has the attribute.

    >>> doc = Doc.of_words([["Ada", "Byron", "slept"]], misc=[["NER=B-PER", "NER=I-PER", "SpaceAfter=No"]])
    >>> list(spans_of_misc(doc))
    [SpanRow(pieces=((0, 2),), label='PER')]
    """
    labels = [_label(misc) for misc in doc.column("misc")] if doc.has("misc") else []
    if not any(labels):
        return None
    offsets = doc.sentence_offsets.tolist()
    sentences = [[label or "O" for label in labels[first:end]] for first, end in pairwise(offsets)]
    scheme = guess_scheme(sentences)
    layer = SpanLayer(doc.strings)
    for first, sentence in zip(offsets, sentences, strict=False):
        for start, end, label in decode(sentence, scheme, strict=False):
            layer.add([(first + start, first + end)], label)
    return layer


def misc_of_spans(doc: Doc, name: str) -> None:
    """Write a flat span layer into the MISC column as IOB2 labels, in place of those that stand there.

    >>> doc = Doc.of_words([["Ada", "slept"]], misc=[["SpaceAfter=No", "NER=B-LOC"]])
    >>> doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "PER")])
    >>> misc_of_spans(doc, "entities")
    >>> doc.column("misc")
    ['NER=B-PER|SpaceAfter=No', '']
    """
    spans = [(*pieces[0], label) for pieces, label in doc.spans[name]]
    labels = encode(spans, doc.n_words)
    values = []
    for misc, label in zip(doc.column("misc"), labels, strict=True):
        kept = [item for item in misc.split("|") if item and item.partition("=")[0].lower() not in READ]
        values.append("|".join(sorted([*kept, f"{WRITTEN}={label}"] if label != "O" else kept)))
    doc.set_column("misc", values)


def _label(misc: str) -> str:
    for item in misc.split("|"):
        key, _, value = item.partition("=")
        if value and key.lower() in READ:
            return value
    return ""
