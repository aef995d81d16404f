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

import re
import weakref
from collections.abc import Iterable, Sequence
from itertools import pairwise, repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.errors import WeftError
from weft.text.conventions.expressions import encode as encode_expressions
from weft.text.conventions.expressions import expressions_of, repaired
from weft.text.doc import Doc
from weft.text.layers import SpanLayer
from weft.text.schemes import decode, encode, guess_scheme
from weft.text.strings import StringTable

#: The attribute that is written for a layer of spans, and those that are read as entities.
WRITTEN = {"entities": "NER", "chunks": "Chunk", "mwe": "MWE", "disfluencies": "Disfluency"}
READ = ("ner", "ne", "name")
#: Keys of attributes, those that they replace, and values that mean that there is none.
Keys = tuple[tuple[str, tuple[str, ...], str], ...]
#: How many changes of a string table are kept.
_LIMIT = 10_000


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
    _set_attributes(doc, [each for name in WRITTEN if name in doc.spans for each in _attributes_of(doc, name)])


def misc_of_spans(doc: Doc, name: str) -> None:
    """Write a span layer into the MISC column, in place of the labels that stand there; other layers than those above
    are written as entities are, and must be flat.

    >>> doc = Doc.from_words([["Ada", "slept"]], misc=[["SpaceAfter=No", "NER=B-LOC"]])
    >>> doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "PER")])
    >>> misc_of_spans(doc, "entities")
    >>> doc.column("misc")
    ['NER=B-PER|SpaceAfter=No', '']
    """
    _set_attributes(doc, _attributes_of(doc, name))


def _attributes_of(doc: Doc, name: str) -> list[_Attribute]:
    """The labels of a span layer and their probabilities."""
    layer = doc.spans[name]
    key = WRITTEN.get(name, "NER")
    if name != "mwe":
        labels = encode(layer.flat(), doc.n_words)
    else:
        labels = ["O"] * doc.n_words
        bounds = pairwise(doc.sentence_offsets.tolist())
        for (first, end), own in zip(bounds, expressions_of(doc, name) if len(layer) else (), strict=False):
            if own.strong or own.weak:
                try:
                    labels[first:end] = encode_expressions(own, end - first)
                except WeftError:
                    labels[first:end] = encode_expressions(repaired(own, end - first), end - first)
    told = {number: own["probability"] for number, own in layer.attributes.items() if "probability" in own}
    probabilities = {layer[number].pieces[0][0]: f"{told[number]:.4g}" for number in sorted(told)}
    return [
        _Attribute(key, labels, READ if key == "NER" else (), "O"),
        _Attribute(f"{key}Prob", list(map(probabilities.get, range(doc.n_words))) if told else []),
    ]


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
        words = np.flatnonzero(doc.columns[column] > 0) if column in doc.columns else np.arange(len(p))
        told = zip(words.tolist(), p[words].tolist(), strict=True)
        set_attribute(doc, f"{column.upper()}Prob", {word: f"{value:.4g}" for word, value in told})


def confidence_of_misc(doc: Doc, column: str) -> NDArray[np.float32] | None:
    """The probabilities of a column that stand in MISC, 1 at words without one; None if no word has one.

    >>> doc = Doc.from_words([["Dogs", "bark"]], misc=[["UPOSProb=0.9", "Gloss=wuff"]])
    >>> confidence_of_misc(doc, "upos").tolist() == [np.float32(0.9), 1.0], confidence_of_misc(doc, "lemma")
    (True, None)
    """
    pattern = re.compile(rf"(?:^|\|){re.escape(column.upper())}Prob=([0-9.eE+-]+)(?:\||$)")
    found = [pattern.search(cell) for cell in doc.column("misc")]
    if not any(found):
        return None
    try:
        values = [1.0 if match is None else float(match[1]) for match in found]
    except ValueError:
        return None
    return np.clip(np.array(values, dtype=np.float32), 0.0, 1.0)


def set_attribute(doc: Doc, key: str, values: dict[int, str], replaced: tuple[str, ...] = ()) -> None:
    """Give words an attribute of MISC, in place of the one that stands there; the others have none.

    >>> doc = Doc.from_words([["Dogs", "bark"]], misc=[["", "SpaceAfter=No"]])
    >>> set_attribute(doc, "Gloss", {1: "woof"})
    >>> doc.column("misc")
    ['', 'Gloss=woof|SpaceAfter=No']
    """
    _set_attributes(doc, [_Attribute(key, list(map(values.get, range(doc.n_words))), replaced)])


class _Attribute(NamedTuple):
    """An attribute and its values, one per word; none of a word, or no values at all, takes it away."""

    key: str
    values: Sequence[str | None]
    replaced: tuple[str, ...] = ()  # other attributes in whose place it stands
    none: str = ""  # a value that means that there is none


class _Changes(dict[tuple[Any, ...], int]):
    """The number of MISC with new attributes, from its number without them and their values, in a string table."""

    def __init__(self, strings: StringTable, keys: Keys) -> None:
        super().__init__()
        self.strings, self.attributes = weakref.ref(strings), keys

    def __missing__(self, given: tuple[Any, ...]) -> int:
        strings = self.strings()
        assert strings is not None  # who asks has a document that holds it
        misc = strings.string(given[0])
        for (key, replaced, none), value in zip(self.attributes, given[1:], strict=True):
            misc = _changed(misc, (key.lower(), *replaced), key, value if value and value != none else "")
        if len(self) >= _LIMIT:
            self.clear()
        self[given] = found = strings[misc]
        return found


#: What was computed for string tables in use.
_changes: weakref.WeakKeyDictionary[StringTable, dict[Keys, _Changes]] = weakref.WeakKeyDictionary()


def _set_attributes(doc: Doc, attributes: Sequence[_Attribute]) -> None:
    """Give words attributes of MISC, one after the other; all at once, as most words of a text get the same few."""
    known = _changes.setdefault(doc.strings, {})
    keys = tuple((each.key, each.replaced, each.none) for each in attributes)
    if keys not in known:
        known[keys] = _Changes(doc.strings, keys)
    misc = doc.columns["misc"].tolist() if "misc" in doc.columns else [0] * doc.n_words
    columns: list[Iterable[Any]] = [misc, *(each.values or repeat(None, doc.n_words) for each in attributes)]
    changed = map(known[keys].__getitem__, zip(*columns, strict=True))
    doc.columns["misc"] = np.fromiter(changed, dtype=np.int32, count=doc.n_words)


def _changed(misc: str, gone: tuple[str, ...], key: str, value: str) -> str:
    kept = [item for item in misc.split("|") if item and item.partition("=")[0].lower() not in gone]
    return "|".join(sorted([*kept, f"{key}={value}"] if value else kept))


def _label(misc: str) -> str:
    for item in misc.split("|"):
        key, _, value = item.partition("=")
        if value and key.lower() in READ:
            return value
    return ""
