"""Trees as a parser finds them in sentences that it has not seen: what a second stage meets in use.

    heads of part k  =  those of a parser trained on all parts but k,     part of sentence s: s mod parts

A labeller of relations that learns from gold trees meets wrong heads for the first time in use; one that learns from
these trees has met them in training (McDonald, Lerman & Pereira 2006 label gold trees; this is an option beside).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from weft.arrays import Heads
from weft.errors import ConfigError
from weft.tasks.parsing.mst.parser import MSTParser
from weft.tasks.parsing.mst.settings import MSTSettings
from weft.text.doc import Doc


def jackknifed(docs: Sequence[Doc], settings: MSTSettings, parts: int) -> list[Doc]:
    """The documents with predicted heads, each of a parser that did not see the sentence; relations stay.

    >>> doc = Doc.from_words([["dogs", "bark"], ["cats", "sleep"]], upos=[["NOUN", "VERB"]] * 2, head=[[2, 0]] * 2,
    ...                    deprel=[["nsubj", "root"]] * 2)
    >>> (found,) = jackknifed([doc], MSTSettings(system="mst1", epochs=2, bits=16), 2)
    >>> found.head.tolist(), found.column("deprel")
    ([2, 0, 2, 0], ['nsubj', 'root', 'nsubj', 'root'])
    """
    sentences = [(doc, number) for doc, own in enumerate(docs) for number in range(own.n_sentences)]
    if not 1 < parts <= len(sentences):
        raise ConfigError(f"{len(sentences)} training sentences cannot be cut into {parts} parts, each parsed in turn")
    heads: list[Heads] = [np.zeros(doc.n_words, dtype=np.int32) for doc in docs]
    for part in range(parts):
        held_out = sentences[part::parts]
        rest = [docs[doc].subset([number]) for k, (doc, number) in enumerate(sentences) if k % parts != part]
        parser = MSTParser(replace(settings, relations="none", jackknife=0))
        parser.fit(rest)
        parsed = [docs[doc].subset([number]) for doc, number in held_out]
        parser(parsed)
        for (doc, number), system in zip(held_out, parsed, strict=True):
            first, end = docs[doc].sentence_offsets[number : number + 2]
            assert system.head is not None
            heads[doc][first:end] = system.head
    found = [doc.subset(range(doc.n_sentences)) for doc in docs]
    for copy, own in zip(found, heads, strict=True):
        copy.head = own
    return found
