"""Preprocessing of transcripts for the joint parser, and restoring its analyses.

Honnibal & Johnson (2014) parse lower-cased transcripts without punctuation, partial words (`sq-`) and filled pauses
(*uh*, *um*), and treat *you know* and *i mean* as one word. `prepare` removes such words, attaches their children to
the nearest kept ancestor, and merges markers; `restore` writes heads and relations for all words of the document.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from weft.text.conventions.repairs import FILLER, REPARANDUM
from weft.text.doc import Doc

#: Filled pauses of several languages, and discourse markers that the parser reads as one word.
FILLERS = ("uh", "um", "euh", "mh", "eee", "eem")
MARKERS = ("you_know", "i_mean")
#: Columns that the parser may read.
_COLUMNS = ("upos", "xpos", "feats", "lemma")


@dataclass(frozen=True)
class Transcript:
    """A document as the parser reads it, and for each of its words the numbers of the one or two original words."""

    doc: Doc
    origins: list[tuple[int, ...]]


def prepare(doc: Doc, fillers: Sequence[str] = FILLERS, markers: Sequence[str] = MARKERS) -> Transcript:
    """The words to parse, with the trees of the document if it has any; empty sentences are left out.

    >>> doc = Doc.from_words([["Go", "uh", ",", "I", "mean", "st-", "stop"]], upos=[["VERB", "INTJ", "PUNCT", "PRON",
    ...     "VERB", "X", "VERB"]], head=[[7, 1, 1, 5, 7, 7, 0]],
    ...     deprel=[["reparandum", "discourse", "punct", "nsubj", "parataxis", "reparandum", "root"]])
    >>> ready = prepare(doc)
    >>> ready.doc.column("form"), ready.doc.head.tolist(), ready.origins
    (['go', 'i_mean', 'stop'], [3, 3, 0], [(0,), (3, 4), (6,)])
    """
    forms = [form.lower() for form in doc.column("form")]
    tags = doc.column("upos") if doc.has("upos") else [""] * doc.n_words
    pairs = {tuple(marker.split("_")) for marker in markers}
    out = set(fillers)
    sentences: list[list[tuple[int, ...]]] = []
    for first, end in pairwise(doc.sentence_offsets.tolist()):
        kept = [word for word in range(first, end) if is_word(forms[word], tags[word]) and forms[word] not in out]
        groups: list[tuple[int, ...]] = []
        for word in kept:
            if groups and (forms[groups[-1][-1]], forms[word]) in pairs and len(groups[-1]) == 1:
                groups[-1] += (word,)
            else:
                groups.append((word,))
        if groups:
            sentences.append(groups)
    origins = [group for groups in sentences for group in groups]
    columns: dict[str, list[list[str]]] = {}
    for name in _COLUMNS:
        if doc.has(name):
            values = doc.column(name)
            columns[name] = [[values[group[-1]] for group in groups] for groups in sentences]
    words = [["_".join(forms[word] for word in group) for group in groups] for groups in sentences]
    ready = Doc.from_words(words, None, doc.strings, **columns)
    if doc.head is not None:
        _hang(doc, ready, sentences)
    return Transcript(ready, origins)


def is_word(form: str, tag: str) -> bool:
    """Whether a token is a complete word: not punctuation, a pause mark or a partial word.

    >>> [is_word(form, "X") for form in ("stop", "st-", "st~", "#", "[pause]", "uh-huh")]
    [True, False, False, False, False, True]
    """
    if tag == "PUNCT" or form.endswith(("-", "~")) or form.startswith("["):
        return False
    return any(character.isalnum() for character in form)


def _hang(doc: Doc, ready: Doc, sentences: Sequence[Sequence[tuple[int, ...]]]) -> None:
    """Attach the kept words to their nearest kept ancestors."""
    assert doc.head is not None
    relations = doc.column("deprel") if doc.has("deprel") else [""] * doc.n_words
    starts = np.repeat(doc.sentence_offsets[:-1], np.diff(doc.sentence_offsets)).tolist()
    original = doc.head.tolist()
    heads: list[int] = []
    names: list[str] = []
    for groups in sentences:
        place = {word: number for number, group in enumerate(groups, 1) for word in group}
        sentence_heads: list[int] = []
        for number, group in enumerate(groups, 1):
            word, head, struck = group[-1], -1, False
            for word in reversed(group):  # the word of a marker whose head is outside the marker
                head, struck = _kept_head(word, original, relations, starts, place)
                if head != number:
                    break
            sentence_heads.append(0 if head == number else head)
            names.append(REPARANDUM if struck else relations[word])
        roots = [number for number, head in enumerate(sentence_heads, 1) if head == 0]
        for other in roots[1:]:  # the root was removed: its first child replaces it
            sentence_heads[other - 1] = roots[0]
        heads += sentence_heads
    ready.head = np.array(heads, dtype=np.int32)
    ready.set_column("deprel", names)


def _kept_head(
    word: int, heads: Sequence[int], relations: Sequence[str], starts: Sequence[int], place: dict[int, int]
) -> tuple[int, bool]:
    """The position of the nearest kept ancestor (0: root, -1: unknown), and whether there is a reparandum on the
    way."""
    struck = False
    for _ in range(len(place) + len(heads)):
        head = heads[word]
        if head <= 0:
            return head, struck
        if word not in place:
            struck = struck or relations[word].split(":")[0] == REPARANDUM
        word = starts[word] + head - 1
        if word in place:
            return place[word], struck
    return -1, struck  # a cycle


def restore(doc: Doc, transcript: Transcript, heads: Sequence[int], relations: Sequence[str]) -> None:
    """Write the analysis of a transcript into its document.

    Edited words attach as reparanda to the next fluent word (of a marker, to its second word), removed words as
    punctuation, fillers and reparanda, so that every sentence is a tree.

    >>> doc = Doc.from_words([["Go", "uh", ",", "I", "mean", "stop"]])
    >>> restore(doc, prepare(doc), [1, 3, 0], ["", "parataxis", "root"])
    >>> doc.head.tolist(), doc.column("deprel")
    ([5, 5, 5, 5, 6, 0], ['reparandum', 'discourse:filler', 'punct', 'nsubj', 'parataxis', 'root'])
    """
    n = doc.n_words
    new_heads, names = np.full(n, -1, dtype=np.int32), [""] * n
    offsets = doc.sentence_offsets.tolist()
    sentence_of = np.repeat(np.arange(len(offsets) - 1), np.diff(doc.sentence_offsets)).tolist()
    at = 0
    fluent = [False] * n
    for size in np.diff(transcript.doc.sentence_offsets).tolist():
        groups = transcript.origins[at : at + size]
        first = offsets[sentence_of[groups[0][0]]]
        for number, (group, head, name) in enumerate(
            zip(groups, heads[at : at + size], relations[at : at + size], strict=True), 1
        ):
            if head == number:
                continue
            fluent[group[-1]] = True
            new_heads[group[-1]] = groups[head - 1][-1] - first + 1 if head > 0 else 0
            names[group[-1]] = name
            for word in group[:-1]:
                fluent[word] = True
                new_heads[word], names[word] = group[-1] - first + 1, "nsubj"
        at += size
    spoken = {word for group in transcript.origins for word in group}
    inside = {word for group in transcript.origins for word in group[:-1]}
    forms, tags = doc.column("form"), doc.column("upos") if doc.has("upos") else [""] * n
    for first, end in pairwise(offsets):
        roots = [word for word in range(first, end) if fluent[word] and new_heads[word] == 0]
        following = -1
        for word in range(end - 1, first - 1, -1):
            if fluent[word]:
                following = following if word in inside else word
            else:
                head = following if following >= 0 else (roots[0] if roots else first)
                new_heads[word] = head - first + 1
                names[word] = REPARANDUM if word in spoken else _left_out(forms[word], tags[word])
        if not roots and end > first:
            new_heads[first], names[first] = 0, "root"
    doc.head = new_heads
    doc.set_column("deprel", names)


def restore_tags(doc: Doc, transcript: Transcript) -> None:
    """Write the tags of a transcript into its document; words that it leaves out are punctuation, interjections or X.

    >>> doc = Doc.from_words([["Go", "uh", ",", "I", "mean", "st-", "stop"]])
    >>> ready = prepare(doc)
    >>> ready.doc.set_column("upos", ["VERB", "VERB", "VERB"])
    >>> restore_tags(doc, ready)
    >>> doc.column("upos")
    ['VERB', 'INTJ', 'PUNCT', 'PRON', 'VERB', 'X', 'VERB']
    """
    left_out = {FILLER: "INTJ", REPARANDUM: "X", "punct": "PUNCT"}
    tags = [left_out[_left_out(form, "")] for form in doc.column("form")]
    for group, tag in zip(transcript.origins, transcript.doc.column("upos"), strict=True):
        tags[group[-1]] = tag
        for word in group[:-1]:  # you, i
            tags[word] = "PRON"
    doc.set_column("upos", tags)


def _left_out(form: str, tag: str) -> str:
    """The relation of a word that the parser did not see."""
    if is_word(form, tag):
        return FILLER
    return REPARANDUM if form.endswith(("-", "~")) and any(c.isalnum() for c in form) else "punct"
