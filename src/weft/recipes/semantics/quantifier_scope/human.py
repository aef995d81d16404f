"""Two-operator sentences with the scope that people prefer (Kamath et al., exp1b of scope-ambiguity).

Every sentence stands twice, with the answers swapped; one row of each is kept. *Surface* scope: the operator that comes
first outscopes the other; *inverse*: the second outscopes the first.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from weft.errors import DataError
from weft.tasks.scope.nodes import detect
from weft.tasks.scope.syntax import Syntax, syntaxes
from weft.text.conventions.scope import COLLECTION, DISTRIBUTIVE, NEGATION, Node, Scoping
from weft.text.doc import Doc

COLUMNS = ("idx", "sentence", "gold_scope_label", "OP1", "OP1_type", "OP2", "OP2_type")
LABELS = ("surface", "inverse")
#: In some rows the operator is another word of its type than the one in the sentence.
_OTHERS = {"indefinite": ("a", "an"), "negation": ("no", "neither"), "universal": ("all", "every", "each")}


class Item(NamedTuple):
    """A sentence, its two operators in text order, their types, and whether the first outscopes the second."""

    sentence: str
    operators: tuple[str, str]
    types: tuple[str, str]
    surface: bool


def read_items(path: str | os.PathLike[str]) -> list[Item]:
    """The items of a CSV file, gzipped or not, one per sentence."""
    data = Path(path).read_bytes()
    text = (gzip.decompress(data) if Path(path).suffix == ".gz" else data).decode("utf-8")
    rows = csv.DictReader(io.StringIO(text))
    missing = [name for name in COLUMNS if name not in (rows.fieldnames or ())]
    if missing:
        raise DataError(f"{path}, line 1: the header has no column {', '.join(missing)}; expected {', '.join(COLUMNS)}")
    found: dict[tuple[str, str], Item] = {}
    for row in rows:
        where = f"{path}, line {rows.line_num}"
        if row["gold_scope_label"] not in LABELS:
            raise DataError(f"{where}: the label is {row['gold_scope_label']!r}, expected surface or inverse")
        operators = row["OP1"].strip().lower(), row["OP2"].strip().lower()
        if not all(operators) or not row["sentence"].strip():
            raise DataError(f"{where}: a sentence and two operators are expected, got {row['sentence']!r}, {operators}")
        item = Item(
            row["sentence"], operators, (row["OP1_type"], row["OP2_type"]), row["gold_scope_label"] == "surface"
        )
        known = found.setdefault((row["idx"], row["sentence"]), item)
        if known != item:
            raise DataError(f"{where}: the two rows of sentence {row['idx']} disagree in label or operators")
    return list(found.values())


def nodes_of(item: Item, doc: Doc) -> tuple[Syntax, tuple[Node, Node]]:
    """The trees of an annotated item, and the chunks of its two operators."""
    syntax = syntaxes(doc)[0]
    chunks = [node for node in detect(doc, [syntax])[0] if node.kind not in (DISTRIBUTIVE, NEGATION)]
    forms = [form.lower() for form in syntax.tree.forms]
    first = _place(forms, item.operators[0], item.types[0], 0)
    second = _place(forms, item.operators[1], item.types[1], first + 1)
    nodes = [_chunk(syntax, chunks, place) for place in (first, second)]
    if nodes[0][:2] == nodes[1][:2]:
        nodes = [Node(place, place + 1) for place in (first, second)]
    return syntax, (nodes[0], nodes[1])


def scopings(items: Sequence[Item], docs: Sequence[Doc]) -> tuple[list[Syntax], list[Scoping]]:
    """The trees and the orders of annotated items."""
    trees, orders = [], []
    for item, doc in zip(items, docs, strict=True):
        syntax, nodes = nodes_of(item, doc)
        trees.append(syntax)
        orders.append(Scoping.of(nodes, [(0, 1) if item.surface else (1, 0)]))
    return trees, orders


def split(items: Sequence[Item], seed: int, shares: tuple[float, float] = (0.6, 0.1)) -> tuple[list[int], ...]:
    """Numbers of items for training, tuning and test, stratified by the pair of operator types."""
    random = np.random.default_rng(seed)
    parts: tuple[list[int], ...] = ([], [], [])
    groups: dict[tuple[str, str], list[int]] = {}
    for number, item in enumerate(items):
        groups.setdefault(item.types, []).append(number)
    for group in groups.values():
        order = [group[k] for k in random.permutation(len(group))]
        ends = [round(shares[0] * len(order)), round(sum(shares) * len(order))]
        for part, own in zip(parts, (order[: ends[0]], order[ends[0] : ends[1]], order[ends[1] :]), strict=True):
            part.extend(own)
    return parts


def _place(forms: Sequence[str], operator: str, kind: str, start: int) -> int:
    """Where an operator begins, at or after a word if possible; another word of its type, or its last, will do."""
    wanted = [operator.split(), *([each] for each in _OTHERS.get(kind, ())), operator.split()[-1:]]
    for words in wanted:
        for low in (start, 0):
            for at in range(low, len(forms) - len(words) + 1):
                if list(forms[at : at + len(words)]) == words:
                    return at
    return min(start, len(forms) - 1)


def _chunk(syntax: Syntax, chunks: Sequence[Node], place: int) -> Node:
    """The chunk around an operator, else the words from it to the next noun."""
    for node in chunks:
        if node.start <= place < node.end:
            return Node(node.start, node.end, COLLECTION if node.kind == COLLECTION else node.kind)
    end = place + 1
    while end < len(syntax.tree.upos) and syntax.tree.upos[end] in ("DET", "ADJ", "NUM", "ADV"):
        end += 1
    noun = end < len(syntax.tree.upos) and syntax.tree.upos[end] in ("NOUN", "PROPN")
    return Node(place, end + 1 if noun else place + 1)
