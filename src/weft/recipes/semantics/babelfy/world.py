"""A generated network with planted topics, to see whether coherence finds the senses that a text was made of.

Vertices belong to topics. Edges join vertices of a topic, those with more edges already more often, and a few lead
elsewhere. Every vertex has a name of its own and, in each topic, some vertices have names that vertices of other topics
have too. A text names vertices of one topic, partly by shared names: their reading in this topic is right.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weft.graph.strings import Strings
from weft.graph.walks import Signatures
from weft.lexical.network.names import NameIndex
from weft.lexical.network.network import Network, NetworkBuilder
from weft.text.conventions.links import LAYER
from weft.text.doc import Doc
from weft.text.layers import SpanLayer


@dataclass(frozen=True)
class World:
    """Sizes of a generated network."""

    topics: int = 60
    size: int = 40  #: vertices per topic
    degree: int = 16
    shared: int = 20  #: vertices per topic with a shared name
    readings: int = 12  #: topics that share a name
    astray: float = 0.5  #: edges that lead to another topic


def planted(world: World, seed: int) -> NetworkBuilder:
    """The builder of a network of entities; vertex `t.k` is number k of topic t."""
    random = np.random.default_rng(seed)
    builder = NetworkBuilder()
    n = world.topics * world.size
    for vertex in range(n):
        builder.vertex(vertex_id(world, vertex), f"own{vertex}", entity=True)
        builder.name(vertex_id(world, vertex), f"own{vertex}")
    for topic in range(world.topics):
        first = topic * world.size
        ends = [first]
        for vertex in range(first, first + world.size):
            for _ in range(world.degree // 2):
                if random.random() < world.astray:
                    other = int(random.integers(n))
                else:
                    other = ends[int(random.integers(len(ends)))]
                if other != vertex:
                    builder.edge(vertex_id(world, vertex), vertex_id(world, other))
                    ends += [vertex, other] if first <= other < first + world.size else [vertex]
    for number in range(world.topics * world.shared // world.readings):
        for topic in random.choice(world.topics, size=world.readings, replace=False).tolist():
            vertex = topic * world.size + int(random.integers(world.size))
            builder.name(vertex_id(world, vertex), f"shared{number}")
    return builder


def vertex_id(world: World, vertex: int) -> str:
    """The id of a vertex."""
    return f"{vertex // world.size}.{vertex % world.size}"


def texts(world: World, builder: NetworkBuilder, count: int, seed: int, length: int = 12) -> list[Doc]:
    """Texts of one topic each; shared names are mentions with their readings in that topic."""
    random = np.random.default_rng(seed + 1)
    by_topic: dict[int, list[tuple[str, str]]] = {}
    for name, ids in builder.names["en"].items():
        for id in ids if name.startswith("shared") else ():
            by_topic.setdefault(int(id.partition(".")[0]), []).append((name, id))
    docs: list[Doc] = []
    while len(docs) < count:
        topic = int(random.integers(world.topics))
        readings = dict(by_topic.get(topic, []))
        if len(readings) < length // 2:
            continue
        chosen = random.permutation(sorted(readings))[: length // 2].tolist()
        own = [f"own{topic * world.size + k}" for k in random.integers(0, world.size, length - len(chosen)).tolist()]
        words = random.permutation([*chosen, *own]).tolist()
        doc = Doc.from_words([words], upos=[["PROPN"] * len(words)])
        doc.spans[LAYER] = SpanLayer.of(
            doc.strings, [(at, at + 1, readings[word]) for at, word in enumerate(words) if word in readings]
        )
        docs.append(doc)
    return docs


def large(vertices: int, members: int, seed: int, topic: int = 50) -> Network:
    """A network of many entities whose signatures are drawn, for measuring time alone.

    A signature has so many vertices of its topic and of two others; every name of two tokens shares its first one with
    about `topic` others, so that loose matching gives as many candidates.
    """
    random = np.random.default_rng(seed)
    topics = random.integers(0, vertices // topic, (vertices, 3))
    topics[:, 0] = np.arange(vertices) // topic
    drawn = topics[np.arange(vertices)[:, None], random.integers(0, 3, (vertices, members))] * topic
    drawn = np.sort(np.minimum(drawn + random.integers(0, topic, drawn.shape), vertices - 1), axis=1).astype(np.int32)
    offsets = np.arange(vertices + 1, dtype=np.int64) * members
    first = random.permutation(vertices) // topic
    names = NameIndex.of({f"a{first[v]} b{v}": [(v, "")] for v in range(vertices)})
    ids = Strings.of(map(str, range(vertices)))
    empty = Strings.of([""] * vertices)
    degree = random.integers(1, 100, vertices).astype(np.int32)
    return Network(
        ids,
        ids,
        empty,
        np.ones(vertices, dtype=np.bool_),
        degree,
        {"en": names},
        Signatures(offsets, drawn.ravel().astype(np.int32)),
    )


def long_text(network: Network, words: int, seed: int, named: float = 0.3) -> Doc:
    """A text of which a share of the words is a first token of names, and the others are unknown."""
    random = np.random.default_rng(seed)
    index = network.names["en"]
    tokens = [
        index.words[int(index.tokens[index.name_offsets[name]])] for name in random.integers(0, len(index), words)
    ]
    there = random.random(words) < named
    forms = [token if own else "word" for token, own in zip(tokens, there, strict=True)]
    return Doc.from_words([forms], upos=[["PROPN" if own else "VERB" for own in there]])
