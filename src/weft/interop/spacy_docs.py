"""spaCy documents: `to_spacy(doc)`, `from_spacy(doc)`, and the same for `DocBin` files.

| Weft | spaCy |
|---|---|
| a token | a token; whitespace between tokens other than one space is a separate token, as in spaCy |
| several words of one token | one token with the annotation of their head; the words are kept in `user_data["weft"]` |
| upos, xpos, lemma, feats | `pos_` (the 17 tags of UD), `tag_`, `lemma_`, `morph` |
| head, deprel | `head`, `dep_`; roots have `ROOT` |
| sentences | sentence starts; if there are trees, spaCy derives them from the roots |
| flat spans `entities` | `ents` |
| other span layers, and nested entities | `spans[NAME]` |

Not preserved: spans with gaps, misc, deps, custom columns, comments, empty nodes, probabilities, relations, clusters,
graphs, phrases.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from weft.packages import needed
from weft.text.doc import Doc, Multiword
from weft.text.layers import SpanLayer
from weft.text.strings import StringTable

KEY = "weft"
_UPOS = (
    "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN", "PUNCT", "SCONJ",
    "SYM", "VERB", "X",
)  # fmt: skip
_STRINGS = ("lemma", "upos", "xpos", "feats")
_WORD_FIELDS = ("form", "lemma", "upos", "xpos", "feats", "deprel", "misc")


def to_spacy(doc: Doc, vocab: Any = None) -> Any:
    """Convert a document to a spaCy `Doc`; pass the `vocab` of the pipeline that will process it.

    >>> doc = to_spacy(Doc.from_words([["Dogs", "bark", "!"]], [[True, False, True]], upos=[["NOUN", "VERB", "PUNCT"]]))
    >>> [(token.text, token.pos_, token.whitespace_) for token in doc]
    [('Dogs', 'NOUN', ' '), ('bark', 'VERB', ''), ('!', 'PUNCT', '')]
    """
    spacy = needed("spacy", "to_spacy")
    tokens = needed("spacy.tokens", "to_spacy")
    vocab = vocab if vocab is not None else spacy.blank("xx").vocab
    places, words, spaces = _tiles(doc)
    result = tokens.Doc(vocab, words=words, spaces=spaces)
    heads = _outer_words(doc)
    for token, head in enumerate(heads):
        _set_values(result[places[token]], doc, head)
    if doc.head is not None and doc.n_words:
        _set_tree(result, doc, places, heads)
    elif doc.n_sentences:
        starts = {places[int(doc.word_token[first])] for first in doc.sentence_offsets[:-1].tolist()}
        for token in result:
            token.is_sent_start = token.i == 0 or token.i in starts
    set_spans(result, doc, places)
    rest = _rest(doc)
    if rest:
        result.user_data[KEY] = rest
    return result


def from_spacy(doc: Any, strings: StringTable | None = None) -> Doc:
    """Convert a spaCy `Doc` to a document; its whitespace tokens become gaps between tokens.

    >>> from weft.packages import needed
    >>> english = needed("spacy", "the example").blank("en")
    >>> [word.form for word in from_spacy(english("Dogs  don't bark."))]
    ['Dogs', 'do', "n't", 'bark', '.']
    """
    kept = [token for token in doc if not token.text.isspace()]
    place = {token.i: number for number, token in enumerate(kept)}
    rest = doc.user_data.get(KEY, {})
    result = Doc(doc.text, strings, dict(rest.get("meta", {})))
    result.set_offsets([token.idx for token in kept], [token.idx + len(token.text) for token in kept])
    offsets = _sentence_offsets(doc, place)
    result.set_sentences(offsets)
    if doc.has_annotation("LEMMA"):
        result.set_column("lemma", [token.lemma_ for token in kept])
    if doc.has_annotation("POS"):
        result.set_column("upos", [token.pos_ for token in kept])
    if doc.has_annotation("TAG"):
        result.set_column("xpos", [token.tag_ for token in kept])
    if doc.has_annotation("MORPH"):
        result.set_column("feats", [str(token.morph) for token in kept])
    if doc.has_annotation("DEP"):
        _read_tree(result, kept, place, offsets)
    _read_spans(result, doc, place)
    _split_tokens(result, rest.get("multiwords", []), rest.get("heads", []))
    return result


def to_docbin(docs: Iterable[Doc], vocab: Any = None) -> Any:
    """Documents as a spaCy `DocBin`, which `to_disk` and `to_bytes` write."""
    tokens = needed("spacy.tokens", "to_docbin")
    vocab = vocab if vocab is not None else needed("spacy", "to_docbin").blank("xx").vocab
    return tokens.DocBin(docs=(to_spacy(doc, vocab) for doc in docs), store_user_data=True)


def from_docbin(docbin: Any, vocab: Any = None) -> Iterator[Doc]:
    """The documents in a spaCy `DocBin`."""
    vocab = vocab if vocab is not None else needed("spacy", "from_docbin").blank("xx").vocab
    strings = StringTable()
    return (from_spacy(doc, strings) for doc in docbin.get_docs(vocab))


def set_spans(result: Any, doc: Doc, places: Sequence[int]) -> None:
    """Copy the span layers of a document to a spaCy document; token `t` corresponds to spaCy's token `places[t]`."""
    span_type = needed("spacy.tokens", "set_spans").Span
    for name, layer in doc.spans.items():
        spans = []
        for number, row in enumerate(layer):
            if len(row.pieces) > 1:  # spaCy cannot represent gaps
                continue
            start, end = row.pieces[0]
            if layer.unit == "words":
                first, last = places[int(doc.word_token[start])], places[int(doc.word_token[end - 1])]
                spans.append(span_type(result, first, last + 1, label=row.label, span_id=layer.id(number)))
            else:
                span = result.char_span(start, end, label=row.label, alignment_mode="expand")
                spans.append(span_type(result, span.start, span.end, label=row.label, span_id=layer.id(number)))
        rows = sorted((span.start, span.end) for span in spans)
        if name == "entities" and all(a[1] <= b[0] for a, b in pairwise(rows)):
            result.set_ents(spans)
        else:
            result.spans[name] = spans


def _tiles(doc: Doc) -> tuple[list[int], list[str], list[bool]]:
    """The text as spaCy tokens: the index of each token, their texts, and whether a space follows."""
    places: list[int] = []
    words: list[str] = []
    spaces: list[bool] = []

    def gap(text: str) -> None:
        if text.startswith(" ") and words:
            spaces[-1], text = True, text[1:]
        if text:
            words.append(text)
            spaces.append(False)

    reached = 0
    for start, end in zip(doc.token_start.tolist(), doc.token_end.tolist(), strict=True):
        gap(doc.text[reached:start])
        places.append(len(words))
        words.append(doc.text[start:end])
        spaces.append(False)
        reached = end
    gap(doc.text[reached:])
    return places, words, spaces


def _outer_words(doc: Doc) -> list[int]:
    """The word for every token, of several the one nearest to the root: then tokens form a tree as words do."""
    firsts = np.searchsorted(doc.word_token, np.arange(len(doc.token_start) + 1)).tolist()
    chosen = firsts[:-1]
    if doc.head is None or doc.n_words == len(chosen):
        return chosen
    for token, (first, end) in enumerate(pairwise(firsts)):
        if end - first > 1:
            chosen[token] = min(range(first, end), key=lambda word: _depth(doc, word))
    return chosen


def _depth(doc: Doc, word: int) -> int:
    """The number of words above a word."""
    depth = 0
    head = doc[word].head
    while head is not None and depth <= doc.n_words:
        depth, head = depth + 1, head.head
    return depth


def _set_values(token: Any, doc: Doc, word: int) -> None:
    values = {name: doc[word].get(name) for name in _STRINGS}
    if values["lemma"]:
        token.lemma_ = values["lemma"]
    if values["upos"] in _UPOS:
        token.pos_ = values["upos"]
    if values["xpos"]:
        token.tag_ = values["xpos"]
    if values["feats"]:
        token.set_morph(values["feats"])


def _set_tree(result: Any, doc: Doc, places: Sequence[int], words: Sequence[int]) -> None:
    """Heads and relations; whitespace tokens attach to the token before them."""
    from spacy.attrs import DEP, HEAD

    relations = ["" for _ in result]
    heads = list(range(len(result)))
    for token, word in enumerate(words):
        view = doc[word]
        if view.is_root:
            relations[places[token]] = "ROOT"
        elif view.head is not None:
            heads[places[token]] = places[int(doc.word_token[view.head.index])]
            relations[places[token]] = view.deprel or "dep"
    taken = set(places)
    for i in range(len(result)):
        if i not in taken:
            heads[i] = i - 1 if i else places[0]
    ids = [result.vocab.strings.add(relation) for relation in relations]
    values = np.array([[head - i, name] for i, (head, name) in enumerate(zip(heads, ids, strict=True))], dtype=np.int64)
    result.from_array([HEAD, DEP], values.astype(np.uint64))


def _rest(doc: Doc) -> dict[str, Any]:
    rest: dict[str, Any] = {}
    if doc.meta:
        rest["meta"] = doc.meta
    if doc.multiwords:
        rest["multiwords"] = [
            {
                "token": int(doc.word_token[row.first]),
                "fields": list(row.fields),
                "words": [
                    {**{name: doc[i].get(name) for name in _WORD_FIELDS}, "head": _place_of_head(doc, i)}
                    for i in range(row.first, row.end)
                ],
            }
            for row in doc.multiwords
        ]
        inside = {word for row in doc.multiwords for word in range(row.first, row.end)}
        rest["heads"] = [
            [int(doc.word_token[word.index]), *(_place_of_head(doc, word.index) or ())]
            for word in doc
            if word.head is not None and word.head.index in inside and word.index not in inside
        ]
    return rest


def _place_of_head(doc: Doc, word: int) -> list[int] | None:
    """The head of a word as its token and its index there, `[-1, 0]` for the root; None if it is not set."""
    if doc.head is None or int(doc.head[word]) < 0:
        return None
    head = doc[word].head
    if head is None:
        return [-1, 0]
    token = int(doc.word_token[head.index])
    return [token, head.index - int(np.searchsorted(doc.word_token, token))]


def _sentence_offsets(doc: Any, place: dict[int, int]) -> list[int]:
    if not place:
        return [0]
    starts = {0, len(place)}
    if doc.has_annotation("SENT_START"):
        for sentence in doc.sents:
            inside = [place[token.i] for token in sentence if token.i in place]
            starts |= {inside[0]} if inside else set()
    return sorted(starts)


def _read_tree(result: Doc, kept: Sequence[Any], place: dict[int, int], offsets: Sequence[int]) -> None:
    heads, relations = [], []
    sentence = 0
    for number, token in enumerate(kept):
        while number >= offsets[sentence + 1]:
            sentence += 1
        first, end = offsets[sentence], offsets[sentence + 1]
        head = token.head
        while head.i not in place and head.head.i != head.i:
            head = head.head
        at = place.get(head.i, -1)
        if head.i == token.i:
            heads.append(0 if token.dep_ else -1)
        else:
            heads.append(at - first + 1 if first <= at < end else 0)
        relations.append("root" if token.dep_ == "ROOT" else token.dep_)
    result.head = np.array(heads, dtype=np.int32)
    result.set_column("deprel", relations)


def _read_spans(result: Doc, doc: Any, place: dict[int, int]) -> None:
    groups: dict[str, Any] = dict(doc.spans)
    if doc.has_annotation("ENT_IOB") and ("entities" not in groups):
        groups["entities"] = doc.ents
    for name, spans in groups.items():
        layer = result.spans[name] = SpanLayer(result.strings)
        for span in spans:
            inside = [place[token.i] for token in span if token.i in place]
            if inside:
                layer.add([(inside[0], inside[-1] + 1)], span.label_, span.id_)


def _split_tokens(doc: Doc, rows: Sequence[dict[str, Any]], heads_inside: Sequence[Sequence[int]]) -> None:
    """Restore the words of multiword tokens; ignored if the tokens have changed.

    `heads_inside` says for other tokens which word of such a token they attach to.
    """
    texts = [token.text for token in doc.tokens]
    rows = [row for row in rows if row["token"] < len(texts) and texts[row["token"]] == row["fields"][0]]
    if not rows:
        return
    counts = np.ones(len(texts), dtype=np.int64)
    for row in rows:
        counts[row["token"]] = len(row["words"])
    firsts = np.concatenate([[0], np.cumsum(counts)])  # the future first word of every token
    old_offsets = doc.sentence_offsets.astype(np.int64)
    columns = {name: np.repeat(ids, counts) for name, ids in doc.columns.items()}
    heads = None if doc.head is None else _renumbered(doc, firsts, counts)
    doc.word_token = np.repeat(np.arange(len(texts)), counts).astype(np.int32)
    doc.columns = {name: ids.astype(np.int32) for name, ids in columns.items()}
    doc.head = heads
    doc.set_sentences(firsts[old_offsets])
    for name, layer in doc.spans.items():
        moved = SpanLayer(doc.strings)
        for number, (pieces, label) in enumerate(layer):
            start, end = pieces[0]
            moved.add([(int(firsts[start]), int(firsts[end]))], label, layer.id(number))
        doc.spans[name] = moved
    for row in rows:
        _fill(doc, row, firsts)
    for token, head, place in heads_inside if doc.head is not None else ():
        word = int(firsts[token])
        above = doc[word].head
        if above is not None and int(doc.word_token[above.index]) == head:
            _set_head(doc, word, int(firsts[head]) + place)


def _renumbered(doc: Doc, firsts: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Heads counted in the future words of tokens."""
    assert doc.head is not None
    heads = []
    for first, end in pairwise(doc.sentence_offsets.tolist()):
        for token in range(first, end):
            head = int(doc.head[token])
            moved = head if head <= 0 else int(firsts[first + head - 1] - firsts[first]) + 1
            heads += [moved] * int(counts[token])
    return np.array(heads, dtype=np.int32)


def _fill(doc: Doc, row: dict[str, Any], firsts: np.ndarray) -> None:
    first = int(firsts[row["token"]])
    doc.multiwords.append(Multiword(first, first + len(row["words"]), tuple(row["fields"])))
    for number, values in enumerate(row["words"]):
        for name in _WORD_FIELDS:
            if name in doc.columns or values[name]:
                doc.columns.setdefault(name, np.zeros(doc.n_words, dtype=np.int32))
                doc.columns[name][first + number] = doc.strings[values[name]]
        if doc.head is not None and values["head"] is not None:
            token, place = values["head"]
            _set_head(doc, first + number, -1 if token < 0 else int(firsts[token]) + place)


def _set_head(doc: Doc, word: int, head: int) -> None:
    """Attach a word to another word of the document, -1 for the root."""
    assert doc.head is not None
    doc.head[word] = 0 if head < 0 else head - doc[word].sentence.first + 1
