"""Sentences cut out of a document as a new document, with everything that hangs on them.

Words, tokens, characters and spans are renumbered; spans that leave the chosen sentences go, and with them the
relations, cluster places and graph nodes that stand on them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.errors import WeftError
from weft.text.constituents import ConstituentLayer
from weft.text.doc import Doc
from weft.text.layers import ClusterLayer, GraphLayer, Pieces, RelationLayer, SpanLayer


def subset(doc: Doc, numbers: Sequence[int]) -> Doc:
    """The document of the sentences with these numbers (rising).

    >>> doc = Doc.from_words([["Dogs", "bark"], ["Cats", "purr"], ["Cows", "moo"]])
    >>> subset(doc, [0, 2]).text
    'Dogs bark Cows moo'
    """
    chosen = np.asarray(numbers, dtype=np.int64)
    if len(chosen) and ((np.diff(chosen) <= 0).any() or chosen[0] < 0 or chosen[-1] >= doc.n_sentences):
        raise WeftError(f"sentence numbers must rise within 0 to {doc.n_sentences - 1}, got {list(numbers)[:10]}")
    offsets = doc.sentence_offsets.astype(np.int64)
    lengths = offsets[chosen + 1] - offsets[chosen]
    words = _ranges(offsets[chosen], lengths)
    tokens, word_token = np.unique(doc.word_token[words], return_inverse=True)

    result = Doc(strings=doc.strings, meta=dict(doc.meta))
    shifts = _set_text(doc, result, chosen)
    token_shift = np.zeros(len(doc.token_start), dtype=np.int64)
    token_shift[doc.word_token[words]] = np.repeat(shifts, lengths)
    result.token_start = (doc.token_start[tokens] + token_shift[tokens]).astype(np.int32)
    result.token_end = (doc.token_end[tokens] + token_shift[tokens]).astype(np.int32)
    result.word_token = word_token.astype(np.int32)
    result.columns = {name: ids[words] for name, ids in doc.columns.items()}
    result.head = None if doc.head is None else doc.head[words]
    result.confidence = {name: values[words] for name, values in doc.confidence.items()}
    result.comments = [doc.comments[i] for i in chosen.tolist()]
    result.set_sentences(np.concatenate([[0], np.cumsum(lengths)]))

    word_map = np.full(doc.n_words + 1, -1, dtype=np.int64)
    word_map[words] = np.arange(len(words))
    sentence_map = {old: new for new, old in enumerate(chosen.tolist())}
    result.multiwords = [
        row._replace(first=int(word_map[row.first]), end=int(word_map[row.end - 1]) + 1)
        for row in doc.multiwords
        if word_map[row.first] >= 0
    ]
    result.empty_nodes = [
        row._replace(sentence=sentence_map[row.sentence]) for row in doc.empty_nodes if row.sentence in sentence_map
    ]
    char_map = _char_map(doc, chosen, shifts)
    for name, layer in doc.spans.items():
        _cut_spans(doc, result, name, layer, word_map if layer.unit == "words" else char_map)
    if doc.constituents is not None:
        result.constituents = _cut_constituents(doc.constituents, word_map)
    for name, graph in doc.graphs.items():
        if graph.spans not in doc.spans:
            result.graphs[name] = _cut_graph(doc, graph, {})
    return result


def _cut_constituents(layer: ConstituentLayer, word_map: np.ndarray) -> ConstituentLayer:
    """The phrases of the chosen sentences."""
    kept = word_map[layer.start] >= 0
    number = np.append(np.cumsum(kept) - 1, -1)
    starts, ends = word_map[layer.start[kept]], word_map[layer.end[kept] - 1] + 1
    columns = (column.astype(np.int32) for column in (starts, ends, number[layer.parent[kept]]))
    return ConstituentLayer(layer.strings, layer.label[kept], *columns)


def _ranges(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """All numbers of the ranges `starts[i] : starts[i] + lengths[i]`, one range after the other."""
    total = int(lengths.sum())
    begins = np.concatenate([[0], np.cumsum(lengths)])[: len(lengths)]
    return np.arange(total, dtype=np.int64) + np.repeat(starts - begins, lengths)


def _extent(doc: Doc, sentence: int) -> tuple[int, int]:
    first, end = int(doc.sentence_offsets[sentence]), int(doc.sentence_offsets[sentence + 1])
    if first == end:
        return 0, 0
    return int(doc.token_start[doc.word_token[first]]), int(doc.token_end[doc.word_token[end - 1]])


def _set_text(doc: Doc, result: Doc, chosen: np.ndarray) -> np.ndarray:
    """Join the sentences' texts; returns how far each sentence moves.

    Neighbours keep what stood between them. Otherwise a paragraph break or a blank is put, unless the text or the MISC
    column of the last word asks for something else.
    """
    pieces: list[str] = []
    shifts: list[int] = []
    position = 0
    last_multiword = {row.end: row.fields[-1] for row in doc.multiwords}
    for place, number in enumerate(chosen.tolist()):
        start, end = _extent(doc, number)
        if not pieces:
            lead = doc.text[:start] if number == 0 else ""
            pieces.append(lead)
            position = len(lead)
        shifts.append(position - start)
        following = int(chosen[place + 1]) if place + 1 < len(chosen) else -1
        after = doc.text[end : _extent(doc, number + 1)[0]] if number + 1 < doc.n_sentences else doc.text[end:]
        said = _said(doc, number, last_multiword)
        if following == number + 1 or "SpacesAfter=" in said or (following < 0 and number + 1 == doc.n_sentences):
            gap = after
        elif following < 0:
            gap = ""
        elif any(line.startswith("# newpar") for line in doc.comments[following]):
            gap = "\n\n"
        elif "SpaceAfter=No" in said:
            gap = ""
        else:
            gap = "" if after == "" and number + 1 < doc.n_sentences else " "
        pieces.append(doc.text[start:end] + gap)
        position += end - start + len(gap)
    result.text = "".join(pieces)
    return np.array(shifts, dtype=np.int64)


def _said(doc: Doc, sentence: int, last_multiword: dict[int, str]) -> str:
    """What the MISC column says of the last token of a sentence."""
    end = int(doc.sentence_offsets[sentence + 1])
    if end in last_multiword or end == 0:
        return last_multiword.get(end, "")
    return doc[end - 1].get("misc")


def _char_map(doc: Doc, chosen: np.ndarray, shifts: np.ndarray) -> np.ndarray:
    mapped = np.full(len(doc.text) + 1, -1, dtype=np.int64)
    for number, shift in zip(chosen.tolist(), shifts.tolist(), strict=True):
        start, end = _extent(doc, number)
        mapped[start:end] = np.arange(start, end) + shift
    return mapped


def _moved(pieces: Pieces, mapped: np.ndarray) -> Pieces | None:
    """Pieces renumbered, or None where a part of them was left out."""
    found = []
    for start, end in pieces:
        first, last = int(mapped[start]), int(mapped[end - 1])
        if first < 0 or last < 0 or last - first != end - 1 - start:
            return None
        found.append((first, last + 1))
    return tuple(found)


def _cut_spans(doc: Doc, result: Doc, name: str, layer: SpanLayer, mapped: np.ndarray) -> None:
    kept: dict[int, int] = {}
    spans = result.spans[name] = SpanLayer(doc.strings, layer.unit)
    for number, row in enumerate(layer):
        pieces = _moved(row.pieces, mapped)
        if pieces is not None:
            kept[number] = spans.add(pieces, row.label, layer.id(number))
            if number in layer.attributes:
                spans.attributes[kept[number]] = dict(layer.attributes[number])
    for key, relations in doc.relations.items():
        if relations.spans == name:
            copy = result.relations[key] = RelationLayer(doc.strings, name)
            for number, (head, tail, label) in enumerate(relations):
                if head in kept and tail in kept:
                    new = copy.add(kept[head], kept[tail], label, relations.ids[number])
                    if number in relations.attributes:
                        copy.attributes[new] = dict(relations.attributes[number])
    for key, clusters in doc.clusters.items():
        if clusters.spans == name:
            result.clusters[key] = ClusterLayer(name, [int(clusters.cluster[old]) for old in kept])
    for key, graph in doc.graphs.items():
        if graph.spans == name:
            result.graphs[key] = _cut_graph(doc, graph, kept)


def _cut_graph(doc: Doc, graph: GraphLayer, kept: dict[int, int]) -> GraphLayer:
    copy = GraphLayer(doc.strings, graph.spans)
    nodes: dict[int, int] = {}
    for number, (label, anchor) in enumerate(graph.nodes()):
        if anchor < 0 or anchor in kept:
            nodes[number] = copy.node(label, kept.get(anchor, -1), graph.ids[number])
            if number in graph.attributes:
                copy.attributes[nodes[number]] = dict(graph.attributes[number])
    for source, target, label in graph.edges():
        if source in nodes and target in nodes:
            copy.edge(nodes[source], nodes[target], label)
    return copy
