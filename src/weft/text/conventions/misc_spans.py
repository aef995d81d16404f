"""Spans and probabilities in the MISC column of CoNLL-U: `NER=B-PER`, `NERProb=0.97`, `UPOSProb=0.99`.

| layer | attribute | labels |
|---|---|---|
| entities | NER (also read: `ner`, NE, name) | IOB2 |
| chunks | Chunk | IOB2 |
| mwe | MWE | the eight tags of `weft.text.conventions.expressions`, gaps and all |
| disfluencies | Disfluency | IOB2 |

Words without the attribute are outside spans. The probability of a span stands at its first word, those of columns
(`Doc.confidence`) at every word.
"""

from __future__ import annotations

from itertools import pairwise

from weft.text.conventions.expressions import encode as encode_expressions
from weft.text.conventions.expressions import expressions_of, repaired
from weft.text.doc import Doc
from weft.text.layers import SpanLayer
from weft.text.schemes import decode, encode, guess_scheme

#: The attribute that is written for a layer of spans, and those that are read as entities.
WRITTEN = {"entities": "NER", "chunks": "Chunk", "mwe": "MWE", "disfluencies": "Disfluency"}
READ = ("ner", "ne", "name")


def spans_of_misc(doc: Doc) -> SpanLayer | None:
    """The spans that the MISC column spells, in whichever scheme; None where no word has the attribute.

    >>> doc = Doc.from_words([["Ada", "Byron", "slept"]], misc=[["NER=B-PER", "NER=I-PER", "SpaceAfter=No"]])
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


def misc_of_layers(doc: Doc) -> None:
    """Write all span layers that have an attribute into the MISC column.

    >>> doc = Doc.from_words([["Ada", "gave", "up"]])
    >>> doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "PER")])
    >>> doc.spans["mwe"] = SpanLayer.of(doc.strings, [(1, 3, "strong")])
    >>> misc_of_layers(doc)
    >>> doc.column("misc")
    ['NER=B-PER', 'MWE=B', 'MWE=I_']
    """
    for name in WRITTEN:
        if name in doc.spans:
            misc_of_spans(doc, name)


def misc_of_spans(doc: Doc, name: str) -> None:
    """Write a span layer into the MISC column, in place of the labels that stand there; other layers than those above
    are written as entities are, and must be flat.

    >>> doc = Doc.from_words([["Ada", "slept"]], misc=[["SpaceAfter=No", "NER=B-LOC"]])
    >>> doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "PER")])
    >>> misc_of_spans(doc, "entities")
    >>> doc.column("misc")
    ['NER=B-PER|SpaceAfter=No', '']
    """
    layer = doc.spans[name]
    key = WRITTEN.get(name, "NER")
    if name == "mwe":
        bounds = pairwise(doc.sentence_offsets.tolist())
        found = zip(bounds, expressions_of(doc, name), strict=True)
        labels = [
            tag for (first, end), own in found for tag in encode_expressions(repaired(own, end - first), end - first)
        ]
    else:
        labels = encode([(*pieces[0], label) for pieces, label in layer], doc.n_words)
    _set(doc, key, [label if label != "O" else "" for label in labels], READ if key == "NER" else ())
    p = [""] * doc.n_words
    for number, (pieces, _) in enumerate(layer):
        if "probability" in layer.attributes.get(number, {}):
            p[pieces[0][0]] = f"{layer.attributes[number]['probability']:.4g}"
    _set(doc, f"{key}Prob", p)


def misc_of_confidence(doc: Doc) -> None:
    """Write the probabilities of all columns into the MISC column, at words that have a value there.

    >>> import numpy as np
    >>> doc = Doc.from_words([["Dogs", "bark"]], upos=[["NOUN", "VERB"]])
    >>> doc.confidence["upos"] = np.array([0.9, 0.8], dtype=np.float32)
    >>> misc_of_confidence(doc)
    >>> doc.column("misc")
    ['UPOSProb=0.9', 'UPOSProb=0.8']
    """
    for column, p in doc.confidence.items():
        has_value = doc.columns[column] > 0 if column in doc.columns else [True] * len(p)
        values = zip(p.tolist(), has_value, strict=True)
        _set(doc, f"{column.upper()}Prob", [f"{value:.4g}" if known else "" for value, known in values])


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
