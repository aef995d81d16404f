"""Files of denotation graphs: one file to go on with, tables for other tools, and the layout of the released graphs.

    graph.weft            everything, to load or to add captions to
    nodes.parquet         node, phrase, images, captions
    edges.parquet         parent (more generic), child, kind
    images.parquet        node, image
    pairs.parquet         a, b, images of both, nPMI, P(a|b), P(b|a)       nodes of 10 images that share 2

and with `layout="released"` `node.idx`, `node-tree.txt`, `node-cap.map`, `node-img.map`, `cap-node.map`,
`cap-orig.map`, `node-image.cnt`, `node-image.pmi`, `img.lst`.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from weft import storage
from weft.declared import ANY, Array, Arrays, Stored
from weft.errors import ConfigError, ModelError
from weft.graph.denotations.agenda import Agenda
from weft.graph.denotations.counts import Pairs, npmi
from weft.graph.denotations.units import Units
from weft.headers import Record, Text
from weft.packages import needed
from weft.tasks.denotations.captions import COLUMNS, Caption, Parses
from weft.tasks.denotations.graph import DenotationGraph
from weft.tasks.denotations.phrases import Heads
from weft.tasks.denotations.rules import KINDS

NAME = "graph.weft"
HEADER = Record(kind=Text(("denotations",)))
_ROWS = 200_000
_UNITS = ("source", "slot_offsets", "atoms", "root_offsets", "roots", "rule_offsets")
_TEXTS = ("images", "names", "texts", "symbols", "strings", "nouns", "hypernyms", "modifiers", "modified")
ARRAYS = (
    *(Array(name, "int32", ("tokens",), low=ANY if name == "head" else 0) for name in COLUMNS),
    Array("lengths", "int32", ("captions",)),
    Array("source", "int32", ("units",), below="captions"),
    Array("slot_offsets", "int64", ("units+1",), offsets_of="slots"),
    Array("symbols_of", "int32", ("slots",), below="symbols"),
    Array("atoms", "int32", ("slots",), below=63),
    Array("root_offsets", "int64", ("units+1",), offsets_of="roots"),
    Array("roots", "uint64", ("roots",)),
    Array("rule_offsets", "int64", ("units+1",), offsets_of="rules"),
    *(Array(name, "uint64", ("rules",)) for name in ("need", "forbid", "off", "on")),
    Array("kinds", "int32", ("rules",), below=len(KINDS)),
    Array("state_unit", "int32", ("states",), below="units"),
    Array("state_mask", "uint64", ("states",)),
    Array("state_node", "int32", ("states",), below="nodes"),
    Array("edges", "uint64", ("edges",)),
    Array("attested", "int64", ("attested",)),
)


def _packed(strings: Iterable[str]) -> np.ndarray[Any, np.dtype[np.uint8]]:
    return np.frombuffer("\n".join(strings).encode("utf-8") or b"", dtype=np.uint8)


def _unpacked(array: np.ndarray[Any, Any], name: str) -> list[str]:
    try:
        text = array.tobytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise ModelError(f"the array {name!r} is no text: the file is damaged") from error
    return text.split("\n") if len(array) else []


def save(graph: DenotationGraph, path: str | os.PathLike[str]) -> None:
    """Write a graph as one file."""
    units = graph.agenda.units or Units.of([], [])
    above = [(noun, up) for noun, own in graph.heads.hypernyms.items() for up in own]
    pairs = list(graph.attested)
    texts = {
        "images": [caption.image for caption in graph.captions], "names": [caption.name for caption in graph.captions],
        "texts": [" ".join(caption.text.split()) for caption in graph.captions], "symbols": graph.symbols,
        "strings": graph.parses.strings, "nouns": [noun for noun, _ in above], "hypernyms": [up for _, up in above],
        "modifiers": [modifier for modifier, _ in pairs], "modified": [head for _, head in pairs],
    }  # fmt: skip
    arrays: Arrays = {f"text/{name}": _packed(own) for name, own in texts.items()}
    arrays |= {name: np.ascontiguousarray(array) for name, array in graph.parses.arrays().items()}
    arrays |= {name: getattr(units, name) for name in (*_UNITS, "need", "forbid", "off", "on", "kinds")}
    arrays |= {"symbols_of": units.symbols, "attested": np.array(list(graph.attested.values()), dtype=np.int64)}
    arrays |= graph.agenda.state()
    storage.save(path, {"kind": "denotations"}, arrays, pack=True)


def load(path: str | os.PathLike[str]) -> DenotationGraph:
    """Read a graph: a file, or a folder with one."""
    place = Path(path)
    header, arrays = storage.load(place / NAME if place.is_dir() else place)
    HEADER.check(header)
    stored = Stored.of(arrays)
    texts = {}
    for name in _TEXTS:
        taken = stored.take(Array(f"text/{name}", "uint8", (f"bytes of {name}",)))
        texts[name] = _unpacked(taken[f"text/{name}"], name)
    captions = [Caption(*row) for row in zip(texts["images"], texts["names"], texts["texts"], strict=True)]
    nodes = int(arrays["state_node"].max(initial=-1)) + 1 if "state_node" in arrays else 0
    found = stored.take(*ARRAYS, captions=len(captions), symbols=len(texts["symbols"]), nodes=nodes)
    stored.refuse_rest()
    if int(found["lengths"].sum()) != len(found["head"]) or len(texts["modifiers"]) != len(found["attested"]):
        raise ModelError("lengths do not fit together: the file is damaged")
    hypernyms: dict[str, list[str]] = defaultdict(list)
    for noun, up in zip(texts["nouns"], texts["hypernyms"], strict=True):
        hypernyms[noun].append(up)
    graph = DenotationGraph(Heads(hypernyms))
    graph.captions, graph.symbols = captions, texts["symbols"]
    graph._symbol = {word: k for k, word in enumerate(graph.symbols)}
    graph._ids = {caption.id for caption in captions}
    graph.parses = Parses.of_arrays(texts["strings"], found)
    pairs = zip(texts["modifiers"], texts["modified"], strict=True)
    graph.attested = dict(zip(pairs, found["attested"].tolist(), strict=True))
    units = Units(
        found["source"], found["slot_offsets"], found["symbols_of"], found["atoms"], found["root_offsets"],
        found["roots"],
        found["rule_offsets"], found["need"], found["forbid"], found["off"], found["on"], found["kinds"],
    )  # fmt: skip
    graph.agenda = Agenda.of_state(units, found)
    graph._to_note = True
    return graph


def write_tables(graph: DenotationGraph, folder: str | os.PathLike[str], least: int = 10, joint: int = 2) -> list[Path]:
    """Write nodes, edges, images and pairs as Parquet, in parts that fit into memory."""
    arrow, parquet = needed("pyarrow", "writing Parquet"), needed("pyarrow.parquet", "writing Parquet")
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    sets = graph.sets
    nodes, _ = graph.caption_incidences()
    captions = np.bincount(nodes, minlength=graph.n_nodes)
    parents, children, kinds = graph.edges()

    def write(name: str, parts: Iterable[dict[str, Any]]) -> Path:
        path, writer = place / f"{name}.parquet", None
        for part in parts:
            table = arrow.table(part)
            writer = writer or parquet.ParquetWriter(path, table.schema)
            writer.write_table(table)
        if writer is not None:
            writer.close()
        return path

    def chunks(n: int) -> Iterable[slice]:
        return (slice(begin, begin + _ROWS) for begin in range(0, max(n, 1), _ROWS))

    def pair_rows() -> Iterable[dict[str, Any]]:
        sizes = sets.sizes
        none = Pairs(*(np.zeros(0, np.int32) for _ in range(3)))  # a table without rows says so
        for part in chain([none], sets.pairs(least, joint)):
            a, b = sizes[part.a], sizes[part.b]
            yield {
                "a": part.a, "b": part.b, "images": part.joint, "npmi": npmi(part.joint, a, b, sets.items),
                "p_a_given_b": part.joint / b, "p_b_given_a": part.joint / a,
            }  # fmt: skip

    every = np.arange(graph.n_nodes)
    labels, images = np.array(KINDS), np.array(graph.image_names)
    rows = np.repeat(every, sets.sizes).astype(np.int32)

    def node_rows() -> Iterable[dict[str, Any]]:
        for c in chunks(graph.n_nodes):
            own = {"node": every[c].astype(np.int32), "phrase": graph.strings(every[c])}
            yield {**own, "images": sets.sizes[c], "captions": captions[c]}

    edges = ({"parent": parents[c], "child": children[c], "kind": labels[kinds[c]]} for c in chunks(len(parents)))
    images_of = ({"node": rows[c], "image": images[sets.members[c]]} for c in chunks(len(rows)))
    return [
        write("nodes", node_rows()), write("edges", edges), write("images", images_of), write("pairs", pair_rows()),
    ]  # fmt: skip


def write_released(
    graph: DenotationGraph, folder: str | os.PathLike[str], least: int = 10, joint: int = 1
) -> list[Path]:
    """Write the text files of the released graphs."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    strings, sets = graph.strings(), graph.sets
    nodes, captions = graph.caption_incidences()
    ids, images = [caption.id for caption in graph.captions], graph.image_names
    of_node: dict[int, list[str]] = defaultdict(list)
    of_caption: dict[int, list[int]] = defaultdict(list)
    for node, caption in zip(nodes.tolist(), captions.tolist(), strict=True):
        of_node[node].append(ids[caption])
        of_caption[caption].append(node)
    origins: dict[int, list[int]] = defaultdict(list)
    for node, caption in zip(*(part.tolist() for part in graph.leaves()), strict=True):
        origins[caption].append(node)
    parents, children, kinds = graph.edges()
    written: list[Path] = []

    def write(name: str, rows: Iterable[Sequence[object]]) -> None:
        path = place / name
        with path.open("w", encoding="utf-8") as out:
            out.writelines("\t".join(map(str, row)) + "\n" for row in rows)
        written.append(path)

    write("node.idx", enumerate(strings))
    write(
        "node-tree.txt",
        (
            (child, KINDS[kind], parent)
            for parent, child, kind in zip(parents.tolist(), children.tolist(), kinds.tolist(), strict=True)
        ),
    )
    write("node-cap.map", ((node, *own) for node, own in sorted(of_node.items())))
    write("node-img.map", ((node, *(images[k] for k in sets[node].tolist())) for node in range(graph.n_nodes)))
    write("cap-node.map", ((ids[caption], *own) for caption, own in sorted(of_caption.items())))
    write("cap-orig.map", ((ids[caption], *own) for caption, own in sorted(origins.items())))
    write("img.lst", ((image,) for image in images))
    counts, scores = [], []
    sizes = sets.sizes
    for part in sets.pairs(least, joint):
        values = npmi(part.joint, sizes[part.a], sizes[part.b], sets.items).tolist()
        for a, b, both, value in zip(part.a.tolist(), part.b.tolist(), part.joint.tolist(), values, strict=True):
            counts.append((a, b, int(sizes[a]), int(sizes[b]), both))
            scores.append(
                (round(value, 6), both / int(sizes[b]), both / int(sizes[a]), int(sizes[a]), a, int(sizes[b]), b)
            )
    write("node-image.cnt", counts)
    write("node-image.pmi", scores)
    return written


def check_layout(layout: str) -> None:
    """Raise an error unless a layout is known."""
    if layout not in ("parquet", "released", "none"):
        raise ConfigError(f"a layout is parquet, released or none, got {layout!r}")
