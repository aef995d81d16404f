"""Between documents and the two stages of the parser: sentences, gold choices and edges, finished graphs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from weft.tasks.amr.aligner import Aligner, Fragment
from weft.tasks.amr.concepts import Choice, Sentence
from weft.tasks.amr.fragments import EMPTY, Piece, numbered_ops, plain_role
from weft.tasks.amr.relations import FOCUS, Problem
from weft.text.conventions.amr import Amr, Edge, fresh_names
from weft.text.doc import Doc


class Example(NamedTuple):
    """A sentence with the pieces of its graph and the edges between them, by numbers of nodes; FOCUS has source -1."""

    sentence: Sentence
    choices: list[Choice]
    edges: list[Edge]


def sentences_of(doc: Doc) -> list[Sentence]:
    """What the parser sees of the sentences of a document."""
    columns = [doc.column(name) for name in ("form", "lemma", "upos", "deprel")]
    heads = [-1] * doc.n_words if doc.head is None else doc.head.tolist()
    spans = list(doc.spans["entities"]) if "entities" in doc.spans else []
    result = []
    for first, end in pairwise(doc.sentence_offsets.tolist()):
        words, lemmas, tags, relations = (column[first:end] for column in columns)
        entities = {
            (pieces[0][0] - first, pieces[0][1] - first): label
            for pieces, label in spans
            if len(pieces) == 1 and first <= pieces[0][0] and pieces[0][1] <= end
        }
        lemmas = [lemma or word.lower() for lemma, word in zip(lemmas, words, strict=True)]
        result.append(Sentence(words, lemmas, tags, heads[first:end], relations, entities))
    return result


def example_of(sentence: Sentence, amr: Amr, aligner: Aligner) -> Example:
    """The training example of a graph: nodes that are not aligned, and their edges, are left out."""
    fragments = aligner.align(amr, sentence.words, sentence.lemmas)
    return example_from(sentence, amr, fragments)


def example_from(sentence: Sentence, amr: Amr, fragments: Sequence[Fragment]) -> Example:
    """The same for fragments that are known."""
    choices: list[Choice] = []
    place: dict[int, int] = {}
    for fragment in fragments:
        for node in fragment.nodes:
            place[node] = len(place)
        choices.append(Choice(fragment.start, fragment.end, Piece.of(amr, fragment)))
    of = {node: number for number, fragment in enumerate(fragments) for node in fragment.nodes}
    edges, pairs = [], set()
    for source, target, role in amr.relations():
        pair = (min(source, target), max(source, target))
        if source in of and target in of and of[source] != of[target] and pair not in pairs and source != target:
            pairs.add(pair)
            edges.append(Edge(place[source], place[target], plain_role(role)))
    if 0 in place and not amr.is_constant(0):
        edges.append(Edge(-1, place[0], FOCUS))
    return Example(sentence, choices, edges)


def finished(problem: Problem, edges: Sequence[Edge]) -> Amr:
    """The graph of chosen pieces and edges: the top first, `op` edges numbered, every node with its words."""
    constants = problem.nodes.constant.tolist()
    focus = next((edge.target for edge in edges if edge.role == FOCUS), -1)
    if focus < 0:
        return Amr([EMPTY], ["a"], [])
    position = [problem.choices[f].start for f in problem.nodes.span.tolist()]
    everything = [*problem.fixed, *(edge for edge in edges if edge.role != FOCUS)]
    everything = numbered_ops(everything, position)
    order = [focus, *(node for node in range(len(problem)) if node != focus)]
    number = {node: i for i, node in enumerate(order)}
    words = [tuple(range(*problem.choices[f][:2])) for f in problem.nodes.span.tolist()]
    labels = [problem.labels[node] for node in order]
    concepts = [node for node in order if not constants[node]]
    name = dict(zip(concepts, fresh_names([problem.labels[node] for node in concepts]), strict=True))
    return Amr(
        labels,
        [name.get(node, "") for node in order],
        [Edge(number[source], number[target], role) for source, target, role in everything],
        [words[node] for node in order],
    )
