"""Scores for dependency graphs, in which words may have several heads.

    edges             (head, word) in system and gold; correct: in both
    labelled edges    the same with the relation, compared up to the colon
    further heads     edges of words with several heads in gold; system and correct edges of the same words

Documents must have the same words. Edges are read from DEPS, or from HEAD for words without DEPS.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from weft.errors import WeftError
from weft.evaluate.counts import Counts, sum_by_unit
from weft.text import Doc
from weft.text.edges import Edges, edges_of


def evaluate_graphs(gold: Sequence[Doc], system: Sequence[Doc]) -> dict[str, Counts]:
    """Edge counts per sentence.

    >>> words = [["Dogs", "bark", "and", "howl"]]
    >>> gold = Doc.from_words(words, deps=[["2:nsubj|4:nsubj", "0:root", "4:cc", "2:conj"]])
    >>> tree = Doc.from_words(words, head=[[2, 0, 4, 2]], deprel=[["nsubj", "root", "cc", "dep"]])
    >>> counts = evaluate_graphs([gold], [tree])
    >>> counts["edges"].total().precision, counts["edges"].total().recall, counts["labelled edges"].total().recall
    (1.0, 0.8, 0.6)
    """
    if len(gold) != len(system):
        raise WeftError(f"gold and system must be the same documents, but got {len(gold)} and {len(system)}")
    counts: dict[str, list[NDArray[np.int64]]] = {"edges": [], "labelled edges": [], "further heads": []}
    for doc, other in zip(gold, system, strict=True):
        if not np.array_equal(doc.sentence_offsets, other.sentence_offsets):
            raise WeftError(
                f"document {doc.id!r}: edges are compared word by word; gold and system have different words"
            )
        ours, theirs = edges_of(doc), edges_of(other)
        several = np.bincount(ours.word, minlength=doc.n_words) > 1
        sentence = np.repeat(np.arange(doc.n_sentences), np.diff(doc.sentence_offsets))
        one, two = _rows(ours, labelled=False), _rows(theirs, labelled=False)
        both = [row for row in one if row in two]
        named = _rows(ours, labelled=True) & _rows(theirs, labelled=True)
        for name, rows in (
            ("edges", (one, two, both)),
            ("labelled edges", (one, two, named)),
            ("further heads", tuple([row for row in part if several[row[0]]] for part in (one, two, both))),
        ):
            columns = (np.array([row[0] for row in part], dtype=np.int64) for part in rows)
            counts[name].append(np.stack([sum_by_unit(sentence[words], doc.n_sentences) for words in columns]))
    return {name: Counts.of(*np.concatenate([np.zeros((3, 0)), *rows], axis=1)) for name, rows in counts.items()}


def _rows(edges: Edges, labelled: bool) -> set[tuple[int, int, str]]:
    names = [name.split(":")[0] if labelled else "" for name in edges.relation]
    return set(zip(edges.word.tolist(), edges.head.tolist(), names, strict=True))
