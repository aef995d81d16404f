"""Edges from a synset to the words of its gloss, where the reading of the word is clear.

    monosemous   nouns with one reading alone
    linked       also those of which one reading has much more in common with the synset and with the monosemous words
                 of the gloss than any other: the share of its signature that theirs hold is more than twice as large

Examples in quotes are left out, and the longest noun of up to three words wins.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from weft.arrays import Ids, Ints
from weft.graph.triangles import transitions, triangle_weights
from weft.graph.walks import signatures
from weft.kernel import kernel
from weft.lexical.network.network import NetworkBuilder
from weft.lexical.wordnet_lemmas import RULES
from weft.text.words import word_spans

GLOSSES = ("none", "monosemous", "linked")
GLOSS = "gloss"
#: Readings with small signatures need more than a chance hit: this is added to their sizes.
_SMOOTHING = 5.0
_MARGIN = 2.0
_LONGEST = 3
_QUOTED = re.compile(r'"[^"]*"?')


def add_glosses(
    builder: NetworkBuilder, glosses: Sequence[tuple[str, str]], kind: str, workers: int = 1, language: str = "en"
) -> int:
    """Join vertices to words of their glosses; returns how many edges were added."""
    readings: dict[str, list[str]] = {}
    for name, ids in builder.names.get(language, {}).items():
        own = readings.setdefault(name.lower(), [])
        own += [id for id in ids if id not in own]
    found = [(id, words) for id, gloss in glosses if (words := _nouns(gloss, readings))]
    count = 0
    for id, words in found:
        for word in words:
            if len(readings[word]) == 1:
                builder.edge(id, readings[word][0], GLOSS)
                count += 1
    return count + _link(builder, found, readings, workers) if kind == "linked" else count


def _nouns(gloss: str, readings: dict[str, list[str]]) -> list[str]:
    """The nouns of a gloss as the network calls them, each once."""
    text = _QUOTED.sub(" ", gloss)
    words = [text[start:end].lower() for start, end in word_spans(text)]
    found: dict[str, None] = {}
    at = 0
    while at < len(words):
        for size in range(min(_LONGEST, len(words) - at), 0, -1):
            name = _lemma(" ".join(words[at : at + size]), readings)
            if name:
                found[name] = None
                at += size
                break
        else:
            at += 1
    return list(found)


def _lemma(phrase: str, readings: dict[str, list[str]]) -> str:
    if len(phrase) < 3:
        return ""
    if phrase in readings:
        return phrase
    for ending, instead in RULES["n"]:
        if phrase.endswith(ending) and len(phrase) > len(ending) + 1:
            lemma = phrase[: -len(ending)] + instead
            if lemma in readings:
                return lemma
    return ""


def _link(
    builder: NetworkBuilder, glosses: list[tuple[str, list[str]]], readings: dict[str, list[str]], workers: int
) -> int:
    """Add the edges to words of several readings, by the signatures of the graph so far."""
    graph = builder.typed_graph()
    rows = graph.rows()
    own = signatures(rows, transitions(rows, triangle_weights(rows, workers)), workers=workers)
    number = {name: place for place, name in enumerate(graph.names)}
    words = [word for _, row in glosses for word in row]
    candidates = [[number[builder.same.get(id, id)] for id in readings[word]] for word in words]
    sizes = np.fromiter(map(len, candidates), dtype=np.int64, count=len(candidates))
    chosen = np.full(len(words), -1, dtype=np.int32)
    vertices = np.array([number[builder.same.get(id, id)] for id, _ in glosses], dtype=np.int32)
    _choose(
        vertices, np.concatenate([[0], np.cumsum([len(row) for _, row in glosses])]).astype(np.int64),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.array([each for row in candidates for each in row], dtype=np.int32), own.offsets, own.members,
        np.full(graph.n_nodes, -1, dtype=np.int32), chosen, _SMOOTHING, _MARGIN,
    )  # fmt: skip
    ids = [id for id, row in glosses for _ in row]
    for place in np.flatnonzero(chosen >= 0).tolist():
        builder.edge(ids[place], graph.names[int(chosen[place])], GLOSS)
    return int((chosen >= 0).sum())


@kernel
def _choose(
    vertices: Ids, words: Ints, bounds: Ints, candidates: Ids, offsets: Ints, members: Ids, seen: Ids, chosen: Ids,
    smoothing: float, margin: float,
) -> None:  # fmt: skip
    """The reading of every word of several readings, -1 where none is clear."""
    for g in range(len(vertices)):
        # Word -1 stands for the vertex itself.
        for w in range(words[g] - 1, words[g + 1]):
            if w >= words[g] and bounds[w + 1] - bounds[w] != 1:
                continue
            v = vertices[g] if w < words[g] else candidates[bounds[w]]
            seen[v] = g
            for e in range(offsets[v], offsets[v + 1]):
                seen[members[e]] = g
        for w in range(words[g], words[g + 1]):
            if bounds[w + 1] - bounds[w] == 1:
                continue
            best, second, at = 0.0, 0.0, -1
            for k in range(bounds[w], bounds[w + 1]):
                v = candidates[k]
                common = 1 if seen[v] == g else 0
                for e in range(offsets[v], offsets[v + 1]):
                    if seen[members[e]] == g:
                        common += 1
                share = common / (offsets[v + 1] - offsets[v] + smoothing)
                if share > best:
                    best, second, at = share, best, v
                elif share > second:
                    second = share
            if best > margin * second:
                chosen[w] = at
