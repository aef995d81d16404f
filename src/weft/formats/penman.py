"""Abstract Meaning Representations in PENMAN notation, as their corpora are distributed.

    # ::id 7 ::snt The boy wants to go .
    # ::tok The boy wants to go .
    # ::alignments 1-1.1 2-1 4-1.2
    (w / want-01
          :ARG0 (b / boy)
          :ARG1 (g / go-01
                :ARG0 b))

Blank lines separate graphs. The words of a sentence are those of `::tok`, else of `::snt` between spaces, else one `_`.
Alignments are pairs of a word, counted from 0, and a path: `1` is the top, `1.2` its second child, where constants and
re-entrancies count; `1.2.r`, the role above a node, stands in the comments only. Without `::alignments`, marks in the
graph (`boy~e.1`) are read, and so is the notation of JAMR (`1-2|0.0`).

What was read is written byte by byte, unless the graph was changed; then it is laid out anew, with its words and
alignments. The library `penman` reads the graphs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

from weft.errors import FormatError, WeftError
from weft.formats.conllu.files import PART, TABLE_LIMIT
from weft.formats.gate import admitted
from weft.formats.streams import (
    Faults,
    TextBlock,
    checked_blocks,
    encoding_error,
    stray_byte,
    unsplit_error,
    write_texts,
)
from weft.packages import needed
from weft.text.conventions.amr import Amr, Edge, amrs_of, inverted, set_amrs
from weft.text.doc import Doc
from weft.text.strings import StringTable

#: What stands for the words of a graph without a sentence.
NO_WORDS = "_"
#: Key in the metadata of a document: comments before its first graph, that belong to the file.
HEADER = "penman_header"
_KEY = re.compile(r"::(\S+)")
_MARK = re.compile(r"~(?:[a-z]\.?)?(\d+(?:,\d+)*)$")
_OWN = re.compile(r"::(?:snt|tok|alignments)\b.*")  # what is written anew with a new graph
_BRACKET = re.compile(r"[()]")
_STRING = re.compile(r'"(?:\\.|[^"\\])*"')
_INDENT = " " * 6


class Block(NamedTuple):
    """Comments and the text of a graph, with the line that the text begins on."""

    comments: tuple[str, ...]
    text: str
    line: int


def read(path: str, faults: Faults | None = None, *, encoding: str = "utf-8") -> Iterator[Doc]:
    """The documents in a file."""
    faults = faults or Faults()
    needed("penman", "reading AMR files")
    strings, held, header = StringTable(), list[tuple[Block, Amr, list[str]]](), ""
    for item in _blocks(path, faults, encoding):
        if isinstance(item, str):
            if held:  # comments in the middle of a file stay after the graph before them
                held[-1][1].text += "\n" + item.removesuffix("\n")
            else:
                header += item
            continue
        try:
            held.append((item, *_parsed(path, item)))
        except FormatError as error:
            faults.meet(error)
        if len(held) == PART:
            yield from admitted(path, [(held[0][0].line, _document(held, strings, header))], faults)
            held, header = [], ""
            if len(strings) > TABLE_LIMIT:
                strings = StringTable()
    if held:
        yield from admitted(path, [(held[0][0].line, _document(held, strings, header))], faults)


def write(docs: Iterable[Doc], path: str) -> int:
    """Write the AMRs of documents and return the number of documents."""
    return write_texts(map(to_text, docs), path)


def to_text(doc: Doc) -> str:
    """A document as PENMAN text; every sentence needs an AMR.

    >>> doc = Doc.from_words([["Boys", "want"]])
    >>> set_amrs(doc, [Amr(["want-01", "boy"], ["w", "b"], [Edge(0, 1, "ARG0")], [(1,), (0,)])])
    >>> print(to_text(doc), end="")
    # ::snt Boys want
    # ::tok Boys want
    # ::alignments 0-1.1 1-1
    (w / want-01
          :ARG0 (b / boy))
    <BLANKLINE>
    """
    if doc.text.strip() and not doc.n_words:
        raise unsplit_error(doc, "an AMR file")
    parts = [str(doc.meta.get(HEADER, ""))]
    for sentence, amr in zip(doc.sentences, amrs_of(doc), strict=True):
        if amr is None:
            raise WeftError(
                f"{doc!r}: the sentence {sentence.text[:40]!r} has no AMR to write; parse the text first, with a model "
                "trained by 'weft train amr'"
            )
        comments = doc.comments[sentence.index]
        if amr.text and amr.same(parse_amr(amr.text)):
            lines = [line for line in comments if line.startswith("#")]
            parts.append("".join(f"{line}\n" for line in lines) + amr.text + "\n")
            continue
        lines = [line for comment in comments if (line := _OWN.sub("", comment).rstrip()).strip("# ")]
        kept = _fields(comments)
        forms = [word.form for word in sentence.words]
        lines += [f"# ::snt {kept.get('snt', sentence.text)}", f"# ::tok {' '.join(forms)}"]
        text, paths = lay_out(amr)
        pairs = sorted((word, paths[node]) for node, words in enumerate(amr.words) for word in words)
        lines.append("# ::alignments " + " ".join(f"{word}-{'.'.join(map(str, at))}" for word, at in pairs))
        parts.append("".join(f"{line.rstrip()}\n" for line in lines) + text + "\n\n")
    return "".join(parts)


def parse_amr(text: str) -> Amr:
    """The graph of a PENMAN text; words come from marks such as `boy~e.1`.

    >>> amr = parse_amr("(w / want-01 :ARG0 (b / boy~e.1) :ARG1 (g / go-01 :ARG0 b :polarity -))")
    >>> amr.labels, amr.words[1]
    (['want-01', 'boy', 'go-01', '-'], (1,))
    >>> [(amr.labels[s], role, amr.labels[t]) for s, t, role in amr.edges]
    [('want-01', 'ARG0', 'boy'), ('want-01', 'ARG1', 'go-01'), ('go-01', 'ARG0', 'boy'), ('go-01', 'polarity', '-')]
    """
    return _Reader(text).amr


def lay_out(amr: Amr) -> tuple[str, list[tuple[int, ...]]]:
    """A graph as PENMAN text, and the path of every node in it.

    Inverse roles are written only for nodes that the roles themselves do not lead to from the top.

    >>> text, paths = lay_out(Amr(["boy", "want-01"], ["b", "w"], [Edge(1, 0, "ARG0")]))
    >>> print(text)
    (b / boy
          :ARG0-of (w / want-01))
    >>> paths
    [(1,), (1, 1)]
    """
    if not amr.connected():
        raise WeftError(f"an AMR with the top {amr.labels[0]!r} is not connected, so it cannot be written")
    relations = amr.relations()
    via = _spanning(len(amr), relations)
    rows: list[list[tuple[int, str, bool]]] = [[] for _ in amr.labels]  # (other, role, whether it is written out here)
    for number, (source, target, role) in enumerate(relations):
        if via[source] == number:
            rows[target].append((source, inverted(role), True))
        else:
            rows[source].append((target, role, via[target] == number))
    paths: list[tuple[int, ...]] = [()] * len(amr)
    paths[0] = (1,)
    out = [f"({amr.names[0]} / {amr.labels[0]}"]
    stack = [(0, 0)]  # node, next of its rows
    while stack:
        node, at = stack.pop()
        if at == len(rows[node]):
            out.append(")")
            continue
        other, role, here = rows[node][at]
        stack.append((node, at + 1))
        out.append("\n" + _INDENT * len(stack) + f":{role} ")
        if here:
            paths[other] = (*paths[node], at + 1)
        if here and not amr.is_constant(other):
            out.append(f"({amr.names[other]} / {amr.labels[other]}")
            stack.append((other, 0))
        else:
            out.append(amr.names[other] or amr.labels[other])
    return "".join(out), paths


def _spanning(n: int, relations: Sequence[Edge]) -> list[int]:
    """The relation by which each node is met first, from the top along roles, and against them if need be.

    Relations are numbered; -1 for the top.
    """
    via = [-1] * n
    outgoing: list[list[int]] = [[] for _ in range(n)]
    for number, relation in enumerate(relations):
        outgoing[relation.source].append(number)
    seen, waiting = {0}, [0]
    while True:
        while waiting:
            node = waiting.pop()
            met = [number for number in outgoing[node] if relations[number].target not in seen]
            for number in met:
                if relations[number].target not in seen:
                    seen.add(relations[number].target)
                    via[relations[number].target] = number
            waiting += [relations[number].target for number in reversed(met) if via[relations[number].target] == number]
        inverse = (k for k, edge in enumerate(relations) if edge.target in seen and edge.source not in seen)
        number = next(inverse, -1)
        if number < 0:
            return via
        waiting = [relations[number].source]
        seen.add(waiting[0])
        via[waiting[0]] = number


def _blocks(path: str, faults: Faults, encoding: str) -> Iterator[Block | str]:
    """Graphs with their comments, in order, and comments without a graph."""
    comments: list[str] = []
    graph: list[str] = []
    begun = 0
    for block in checked_blocks(path, faults, encoding=encoding):
        for number, line in enumerate(_lines(block), block.line):
            stray = None if block.clean else stray_byte(line)
            if stray is not None:
                faults.meet(encoding_error(path, number, stray[1]))
                continue
            if not line.strip():
                if graph:
                    graph.append(line)
                elif comments:
                    yield "".join(f"{row}\n" for row in [*comments, line])
                    comments = []
                elif line:
                    yield f"{line}\n"
                continue
            if graph and not graph[-1].strip():
                yield Block(tuple(comments), "\n".join(graph), begun)
                comments, graph = [], []
            if line.startswith("#") and not graph:
                comments.append(line)
            else:
                begun = begun if graph else number
                graph.append(line)
    if graph:
        yield Block(tuple(comments), "\n".join(graph), begun)
    elif comments:
        yield "".join(f"{row}\n" for row in comments)


def _lines(block: TextBlock) -> list[str]:
    lines = block.text.split("\n")
    return lines[:-1] if not lines[-1] else lines


def _fields(comments: Iterable[str]) -> dict[str, str]:
    """Values of `::key value` in comments; the value of `::snt` and `::tok` may hold anything but a line break."""
    fields: dict[str, str] = {}
    for comment in comments:
        for key in ("snt", "tok"):
            before, mark, value = comment.partition(f"::{key} ")
            if mark:
                fields.setdefault(key, value.strip())
                comment = before
        parts = _KEY.split(comment)[1:]
        for key, value in zip(parts[::2], parts[1::2], strict=True):
            fields.setdefault(key, value.strip())
    return fields


def _parsed(path: str, block: Block) -> tuple[Amr, list[str]]:
    """The graph of a block and its words."""
    from penman.exceptions import PenmanError

    _check_brackets(path, block)
    try:
        reader = _Reader(block.text)
    except PenmanError as error:
        line = block.line + max(int(getattr(error, "lineno", None) or 1), 1) - 1
        expected = "a graph in PENMAN notation: (variable / concept :role ...)"
        raise FormatError(path, line, expected, str(getattr(error, "message", "") or "something else")) from None
    except (RecursionError, WeftError) as error:
        reason = "a graph nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise FormatError(path, block.line, "a graph in PENMAN notation", reason) from None
    amr, fields = reader.amr, _fields(block.comments)
    words = fields.get("tok", fields.get("snt", "")).split() or [NO_WORDS]
    if "alignments" in fields:
        aligned: list[list[int]] = [[] for _ in amr.labels]
        for pair in fields["alignments"].split():
            for node, word in reader.links(pair, path, block.line):
                aligned[node].append(word)
        amr.words = [tuple(sorted(set(row))) for row in aligned]
    for label, row in zip(amr.labels, amr.words, strict=True):
        if row and row[-1] >= len(words):
            expected = f"alignments with the {len(words)} words of the sentence, counted from 0"
            raise FormatError(path, block.line, expected, f"the word {row[-1]} for {label!r}")
    amr.text = block.text
    return amr, words


def _check_brackets(path: str, block: Block) -> None:
    """Raise an error where a bracket closes what is not open, or at the end where one is not closed."""
    depth, lines = 0, block.text.rstrip().split("\n")
    for number, line in enumerate(lines, block.line):
        for bracket in _BRACKET.findall("" if line.startswith("#") else _STRING.sub("", line)):
            depth += 1 if bracket == "(" else -1
            if depth < 0:
                raise FormatError(path, number, "balanced brackets", "one that closes and was not opened")
    if depth:
        hint = "Graphs must be separated by blank lines, and have none inside"
        found = f"{depth} that are not closed at the end of the graph"
        raise FormatError(path, block.line + len(lines) - 1, "balanced brackets", found, hint)


class _Reader:
    """The graph of a PENMAN text, and the nodes that paths lead to."""

    def __init__(self, text: str) -> None:
        import penman

        lines = ["" if line.startswith("#") else line for line in text.split("\n")]
        trees = list(penman.iterparse(lines))
        if len(trees) != 1:
            raise WeftError(f"{len(trees)} graphs in one block; blank lines must separate them")
        root = trees[0].node
        self.defined = set(_variables(root))
        self.amr = Amr(["?"], ["?"], [])
        self.amr.labels, self.amr.names, self.amr.words = [], [], []
        self.by_name: dict[str, int] = {}
        self.paths: dict[tuple[int, ...], int] = {}
        self.own_paths: dict[tuple[int, ...], int] = {}  # as JAMR counts: from 0, without re-entrancies
        self._walk(root)

    def _walk(self, root: Any) -> None:
        """Visit the tree in the order of the text; re-entrancies may stand before their nodes, so edges come last."""
        mentions: list[tuple[str, tuple[int, ...]]] = []
        top = self._node(root, (1,), (0,))
        waiting: list[tuple[int, Iterator[tuple[str, Any]], tuple[int, ...], tuple[int, ...], list[int]]]
        waiting = [(top, iter(_branches(root)), (1,), (0,), [0, 0])]
        while waiting:
            source, branches, path, own, count = waiting[-1]
            branch = next(branches, None)
            if branch is None:
                waiting.pop()
                continue
            role, target = branch
            count[0] += 1
            below: tuple[int, ...] = (*path, count[0])
            name = _MARK.sub("", role).removeprefix(":")
            if not isinstance(target, tuple) and _MARK.sub("", str(target)) in self.defined:
                mentions.append((_MARK.sub("", target), below))
                self.amr.edges.append(Edge(source, -len(mentions), name))
                continue
            beside = (*own, count[1])
            count[1] += 1
            node = self._node(target, below, beside)
            self.amr.edges.append(Edge(source, node, name))
            if isinstance(target, tuple):
                waiting.append((node, iter(_branches(target)), below, beside, [0, 0]))
        for variable, at in mentions:
            self.paths[at] = self.by_name[variable]
        self.amr.edges = [
            Edge(source, target if target >= 0 else self.by_name[mentions[-target - 1][0]], role)
            for source, target, role in self.amr.edges
        ]

    def _node(self, target: Any, path: tuple[int, ...], own: tuple[int, ...]) -> int:
        """Add a concept or a constant."""
        number = len(self.amr.labels)
        name, label = "", target
        if isinstance(target, tuple):
            name, branches = target
            if name in self.by_name or not name:
                raise WeftError(f"the variable {name!r} has two concepts" if name else "a concept without a variable")
            self.by_name[name] = number
            label = next((concept for role, concept in branches if role == "/"), None)
        label = str(label or "")
        mark = _MARK.search(label) if not label.endswith('"') else None
        self.amr.labels.append(_MARK.sub("", label) if mark else label)
        self.amr.names.append(name)
        self.amr.words.append(tuple(sorted({int(word) for word in mark[1].split(",")})) if mark else ())
        self.paths[path] = self.own_paths[own] = number
        return number

    def links(self, pair: str, path: str, line: int) -> Iterator[tuple[int, int]]:
        """The (node, word) pairs of an alignment."""
        if pair == "*" or pair.endswith(".r"):
            return
        given = re.fullmatch(r"(\d{1,8})-(\d[\d.]*)", pair)
        if given and tuple(map(int, given[2].strip(".").split("."))) in self.paths:
            yield self.paths[tuple(map(int, given[2].strip(".").split(".")))], int(given[1])
            return
        given = re.fullmatch(r"(\d{1,8})-(\d{1,8})\|([\d.+]+)", pair)
        if given:
            nodes = [self.own_paths.get(tuple(map(int, at.split(".")))) for at in given[3].split("+") if at[-1:] != "."]
            if nodes and None not in nodes and int(given[2]) - int(given[1]) < 1000:
                yield from (
                    (node, w) for node in nodes if node is not None for w in range(*map(int, given.groups()[:2]))
                )
                return
        expected = "alignments WORD-PATH to nodes of the graph, such as 3-1.2"
        raise FormatError(path, line, expected, repr(pair))


def _branches(node: Any) -> list[tuple[str, Any]]:
    return [branch for branch in node[1] if branch[0] != "/"]


def _variables(root: Any) -> Iterator[str]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node[0]
        waiting += [target for _, target in _branches(node) if isinstance(target, tuple)]


def _document(held: Sequence[tuple[Block, Amr, list[str]]], strings: StringTable, header: str) -> Doc:
    doc = Doc.from_words([words for _, _, words in held], strings=strings)
    doc.comments = [block.comments for block, _, _ in held]
    set_amrs(doc, [amr for _, amr, _ in held])
    if header:
        doc.meta[HEADER] = header
    names = {_fields(chain(block.comments)).get("id", "") for block, _, _ in held}
    if len(names) == 1 and len(held) == 1 and "" not in names:
        doc.id = names.pop()
    return doc
