"""Stanza documents: sentences as lists of dictionaries, one per token or word, as `Document.to_dict()` returns them.

A word is `{"id": 3, "text": ..., "lemma": ..., "upos": ..., "xpos": ..., "feats": ..., "head": 1, "deprel": ...,
"deps": ..., "misc": ..., "start_char": 8, "end_char": 12, "ner": "S-PER"}`; unset keys are missing. A token
of several words comes first, with `"id": (3, 4)`, and has the offsets and the entity of all its words.

Not preserved: empty nodes, custom columns, probabilities, spans other than flat entities, relations, clusters, graphs,
phrases. Only Stanza's `Document` preserves the text of a document.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from weft.errors import WeftError
from weft.packages import needed
from weft.text.doc import Doc, Multiword
from weft.text.layers import SpanLayer, words_of_chars
from weft.text.schemes import decode, encode
from weft.text.strings import StringTable

Entry = dict[str, Any]
_STRINGS = ("lemma", "upos", "xpos", "feats", "deprel", "deps", "misc")
_FIELDS = ("lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")  # of multiword tokens, after the form


def to_stanza(doc: Doc) -> list[list[Entry]]:
    """The sentences of a document as Stanza dictionaries.

    >>> to_stanza(Doc.from_words([["Dogs", "bark"]], upos=[["NOUN", "VERB"]]))[0][0]
    {'id': 1, 'text': 'Dogs', 'upos': 'NOUN', 'start_char': 0, 'end_char': 4}
    """
    entities = _entity_labels(doc)
    columns = {name: doc.column(name) for name in ("form", *_STRINGS) if name in doc.columns}
    several = {row.first: row for row in doc.multiwords}
    inside = {word for row in doc.multiwords for word in range(row.first, row.end)}
    starts, ends = doc.word_start.tolist(), doc.word_end.tolist()
    sentences = []
    for first, end in pairwise(doc.sentence_offsets.tolist()):
        rows: list[Entry] = []
        for word in range(first, end):
            number = word - first + 1
            where = {"start_char": starts[word], "end_char": ends[word]}
            if entities is not None:
                where["ner"] = entities[word]
            if word in several:
                row = several[word]
                entry: Entry = {"id": (number, number + row.end - row.first - 1), "text": row.fields[0]}
                entry |= {name: value for name, value in zip(_FIELDS, row.fields[1:], strict=True) if value}
                rows.append({**entry, **where, "end_char": ends[row.end - 1]})
            entry = {"id": number, "text": columns["form"][word]}
            entry |= {name: columns[name][word] for name in _STRINGS if name in columns and columns[name][word]}
            if doc.head is not None and int(doc.head[word]) >= 0:
                entry["head"] = int(doc.head[word])
            rows.append(entry if word in inside else {**entry, **where})
        sentences.append(rows)
    return sentences


def from_stanza(document: Any, text: str | None = None, strings: StringTable | None = None) -> Doc:
    """Convert Stanza dictionaries, or a `stanza.Document` with its text and comments, to a document.

    Without the text, offsets place the words and spaces fill the gaps; without offsets, words are separated by one
    space.

    >>> doc = from_stanza([[{"id": [1, 2], "text": "don't"}, {"id": 1, "text": "do"}, {"id": 2, "text": "n't"}]])
    >>> doc.text, [word.form for word in doc], doc.tokens
    ("don't", ['do', "n't"], [Token("don't", 0, 5)])
    """
    comments = None
    if hasattr(document, "to_dict"):
        text = document.text if text is None else text
        comments = [tuple(sentence.comments) for sentence in document.sentences]
        document = document.to_dict()
    tokens, offsets, per_word = _parted(document)
    doc = Doc("", strings)
    doc.text, starts, ends = _text_of(tokens, text)
    doc.set_offsets(starts, ends)
    doc.word_token = np.repeat(np.arange(len(tokens)), [len(words) for _, words in tokens]).astype(np.int32)
    doc.set_column("form", [str(word["text"]) for word in per_word])
    for name in _STRINGS:
        values = [str(word.get(name) or "") for word in per_word]
        if any(values):
            doc.set_column(name, values)
    heads = [word.get("head") for word in per_word]
    if any(head is not None for head in heads):
        doc.head = np.array([-1 if head is None else int(head) for head in heads], dtype=np.int32)
    doc.set_sentences(offsets)
    if comments is not None:
        doc.comments = comments
    first = 0
    for token, words in tokens:
        if token is not words[0]:
            fields = tuple(str(token.get(name) or "") for name in _FIELDS)
            doc.multiwords.append(Multiword(first, first + len(words), (str(token["text"]), *fields)))
        first += len(words)
    labels = [str(token.get("ner") or "") for token, words in tokens for _ in words]
    if any(labels):
        doc.spans["entities"] = _entities(doc, tokens)
    return doc


def to_stanza_document(doc: Doc) -> Any:
    """Convert a document to a `stanza.Document`; requires Stanza."""
    module = needed("stanza.models.common.doc", "to_stanza_document")
    return module.Document(to_stanza(doc), text=doc.text, comments=[list(lines) for lines in doc.comments])


def _entity_labels(doc: Doc) -> list[str] | None:
    """Labels in Stanza's scheme, one per word, the same for all words of a token."""
    if "entities" not in doc.spans:
        return None
    layer = words_of_chars(doc, doc.spans["entities"])
    firsts = np.searchsorted(doc.word_token, np.arange(len(doc.token_start) + 1))
    spans = []
    for pieces, label in layer:
        if len(pieces) > 1:
            raise WeftError("an entity has gaps, which Stanza cannot represent; remove it first")
        start, end = (int(doc.word_token[pieces[0][0]]), int(doc.word_token[pieces[0][1] - 1]) + 1)
        spans.append((start, end, label))
    labels = encode(sorted(spans), len(doc.token_start), "BIOES")
    return [label for token, label in enumerate(labels) for _ in range(int(firsts[token + 1] - firsts[token]))]


def _entities(doc: Doc, tokens: Sequence[tuple[Entry, list[Entry]]]) -> SpanLayer:
    layer = SpanLayer(doc.strings)
    labels = [str(token.get("ner") or "O") for token, _ in tokens]
    firsts = np.searchsorted(doc.word_token, np.arange(len(tokens) + 1)).tolist()
    places = np.searchsorted(firsts, doc.sentence_offsets).tolist()  # the first token of every sentence
    for first, end in pairwise(places):
        for start, stop, label in decode(labels[first:end], "BIOES", strict=False):
            layer.add([(firsts[first + start], firsts[first + stop])], label)
    return layer


def _parted(
    sentences: Iterable[Iterable[Entry]],
) -> tuple[list[tuple[Entry, list[Entry]]], list[int], list[Entry]]:
    """Tokens with their words, sentence boundaries in words, and all words."""
    tokens: list[tuple[Entry, list[Entry]]] = []
    offsets, words = [0], []
    for sentence in sentences:
        open_until = 0
        for entry in sentence:
            number = entry.get("id")
            span = [number] if isinstance(number, int) else list(number or [])
            if "text" not in entry or not span or not all(isinstance(part, int) for part in span):
                raise WeftError(f'expected a Stanza word with "id" and "text", found {entry!r}')
            if len(span) == 2:
                if span[1] < span[0]:
                    continue  # an empty node
                tokens.append((entry, []))
                open_until = span[1]
                continue
            words.append(entry)
            if span[0] <= open_until:
                tokens[-1][1].append(entry)
            else:
                tokens.append((entry, [entry]))
        offsets.append(len(words))
    bad = next((token for token, its_words in tokens if not its_words), None)
    if bad is not None:
        raise WeftError(f"the multiword token {bad['text']!r} is not followed by its words")
    return tokens, sorted(set(offsets)), words


def _text_of(tokens: Sequence[tuple[Entry, list[Entry]]], text: str | None) -> tuple[str, list[int], list[int]]:
    starts: list[int] = []
    ends: list[int] = []
    made = ""
    for token, words in tokens:
        form = str(token["text"])
        start = token.get("start_char", words[0].get("start_char"))
        if start is None:
            start = len(made) + (1 if made else 0)
        made += " " * (start - len(made)) + form
        if len(made) != start + len(form):
            raise WeftError(f"the token {form!r} begins at character {start}, inside the previous token")
        starts.append(start)
        ends.append(start + len(form))
    if text is None:
        return made, starts, ends
    for (token, _), start, end in zip(tokens, starts, ends, strict=True):
        if text[start:end] != token["text"]:
            raise WeftError(f"the text at {start}-{end} is {text[start:end]!r}, but the token is {token['text']!r}")
    return text, starts, ends
