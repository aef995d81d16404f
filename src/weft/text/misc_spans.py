"""Flat spans and probabilities in the MISC column of CoNLL-U: `NER=B-PER`, `NERProb=0.97`, `UPOSProb=0.99`.

Names of the attribute that are in use: NER (also `ner`), NE, name. Words without the attribute are outside spans. The
probability of a span stands at its first word, those of columns (`Doc.confidence`) at every word.
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
    layer = doc.spans[name]
    labels = encode([(*pieces[0], label) for pieces, label in layer], doc.n_words)
    _set(doc, WRITTEN, [label if label != "O" else "" for label in labels], READ)
    p = [""] * doc.n_words
    for number, (pieces, _) in enumerate(layer):
        if "probability" in layer.attributes.get(number, {}):
            p[pieces[0][0]] = f"{layer.attributes[number]['probability']:.4g}"
    _set(doc, f"{WRITTEN}Prob", p)


def misc_of_confidence(doc: Doc) -> None:
    """Write the probabilities of all columns into the MISC column.

    >>> import numpy as np
    >>> doc = Doc.of_words([["Dogs", "bark"]], upos=[["NOUN", "VERB"]])
    >>> doc.confidence["upos"] = np.array([0.9, 0.8], dtype=np.float32)
    >>> misc_of_confidence(doc)
    >>> doc.column("misc")
    ['UPOSProb=0.9', 'UPOSProb=0.8']
    """
    for column, p in doc.confidence.items():
        _set(doc, f"{column.upper()}Prob", [f"{value:.4g}" for value in p.tolist()])


def _set(doc: Doc, key: str, values: list[str], replaced: tuple[str, ...] = ()) -> None:
    """Give every word an attribute of MISC, in place of the one that stands there; none where the value is empty."""
    gone = (key.lower(), *replaced)
    found = []
    for misc, value in zip(doc.column("misc"), values, strict=True):
        kept = [item for item in misc.split("|") if item and item.partition("=")[0].lower() not in gone]
        found.append("|".join(sorted([*kept, f"{key}={value}"] if value else kept)))
    doc.set_column("misc", found)


def _label(misc: str) -> str:
    for item in misc.split("|"):
        key, _, value = item.partition("=")
        if value and key.lower() in READ:
            return value
    return ""
