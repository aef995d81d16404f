"""Files with predicates and arguments: reading and writing every layout of `weft.formats.roles.layouts`.

The words of a sentence become CoNLL-U, with its checks; predicates and arguments become the layer `frames`
(`weft.text.frames`). `# newdoc`, or `# doc = ...` in PropBank's files, begins a document; longer ones are split.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

from weft.errors import ConfigError, FormatError, WeftError
from weft.formats.conllu.faults import find_fault
from weft.formats.conllu.files import PART, parse_text
from weft.formats.conllu.files import to_text as to_conllu
from weft.formats.gate import admitted
from weft.formats.roles.layouts import (
    EMPTY,
    LAYOUTS,
    PREDICTED,
    Layout,
    bracket_column,
    detect_layout,
    long_label,
    parse_frames,
)
from weft.formats.streams import Faults, TextBlock, checked_blocks, encoding_error, stray_byte, write_texts
from weft.text.constituents import set_trees
from weft.text.doc import Doc
from weft.text.frames import FrameRow, frame_rows, frames_by_sentence, set_frames
from weft.text.trees import Tree

_SUFFIXES = {".conll08": "conll08", ".conll09": "conll09", ".propbank": "propbank", ".up": "up-conllu"}
_BEGINNINGS = ("# newdoc", "# doc =", "# doc=")


class _Sentence(NamedTuple):
    """A sentence that passed all checks."""

    line: int
    conllu: str
    frames: list[FrameRow]
    kept: dict[str, list[str]]
    begins: str | None  # the name of the document that begins here


def read(
    path: str, faults: Faults | None = None, *, layout: str = "", predicted: bool = False, encoding: str = "utf-8"
) -> Iterator[Doc]:
    """The documents in a file; without a layout that of the suffix, else the one that its rows have.

    `predicted` takes lemmas, tags, features and trees from the predicted columns of CoNLL-2009.
    """
    faults = faults or Faults()
    blocks = checked_blocks(path, faults, encoding=encoding)
    own = _of_suffix(path)
    several = own == "up-conllu"  # Universal Propositions have two layouts
    yield from read_blocks(path, blocks, faults, layout or ("" if several else own), predicted, own)


def read_blocks(
    path: str, blocks: Iterable[TextBlock], faults: Faults, layout: str = "", predicted: bool = False,
    otherwise: str = "",
) -> Iterator[Doc]:  # fmt: skip
    """The documents in blocks of a file; `otherwise` is the layout of one whose rows have no predicates."""
    if layout and layout not in LAYOUTS:
        raise ConfigError(f"there is no layout {layout!r}; choose from {', '.join(LAYOUTS)}")
    stream = iter(blocks)
    first = next(stream, None)
    if first is None:
        return
    name = layout or detect_layout(first.text) or otherwise
    if not name:
        expected = f"a sentence with predicates in one of the layouts {', '.join(LAYOUTS)}"
        faults.meet(FormatError(path, first.line, expected, "none", "Name the layout if you know it: layout=..."))
        return
    waiting: list[_Sentence] = []
    name_now, part = "", 0
    begins: str | None = None
    for sentence in _sentences(path, chain([first], stream), faults, LAYOUTS[name], predicted):
        begins = sentence.begins
        if waiting and (begins is not None or len(waiting) == PART):
            part += begins is None or part > 0
            yield from _documents(path, waiting, name_now, part, faults)
            waiting = []
            part = part if begins is None else 0
        name_now = begins if begins is not None else name_now
        if sentence.conllu:
            waiting.append(sentence)
        else:
            yield Doc("", meta={"id": name_now} if name_now else {})
    if waiting:
        yield from _documents(path, waiting, name_now, part + (part > 0), faults)


def _sentences(
    path: str, blocks: Iterable[TextBlock], faults: Faults, layout: Layout, predicted: bool
) -> Iterator[_Sentence]:
    lost: str | None = None  # what bad sentences would have begun
    document = ""
    for block in blocks:
        lines: list[str] = []
        for number, text in enumerate([*block.text.split("\n"), ""], block.line):
            if text.strip():
                lines.append(text)
                continue
            if not lines:
                continue
            comments = [line for line in lines if line.startswith("#")]
            opened = _opened(comments, document)
            document = opened if opened is not None else document
            lost = opened if opened is not None else lost
            try:
                if len(comments) == len(lines):
                    if lost is not None:
                        yield _Sentence(number - len(lines), "", [], {}, lost)
                    lost = None
                else:
                    sentence = _sentence(path, number - len(lines), lines, block.clean, layout, predicted)
                    yield sentence._replace(begins=lost)
                    lost = None
            except FormatError as error:
                faults.meet(error)
            lines = []


def _opened(comments: Sequence[str], current: str) -> str | None:
    """The name of the document that begins with these comments, or None if none does."""
    for comment in comments:
        if comment.startswith(_BEGINNINGS):
            name = comment.partition("=")[2].strip()
            return None if comment.startswith("# doc") and name == current else name
    return None


def _sentence(path: str, line: int, lines: Sequence[str], clean: bool, layout: Layout, predicted: bool) -> _Sentence:
    comments = [text for text in lines if text.startswith("#")]
    first = line + len(comments)
    for place, text in enumerate(lines):
        stray = None if clean else stray_byte(text)
        if stray is not None:
            raise encoding_error(path, line + place, stray[1])
        if text.startswith("#") and place >= len(comments):
            raise FormatError(path, line + place, "comments before the words of their sentence", "one after them")
    rows = [text.split("\t") for text in lines[len(comments) :]]
    if layout.name == "misc":
        conllu = "\n".join(lines)
        frames: list[FrameRow] = []
    else:
        frames = parse_frames(path, first, rows, layout)
        columns = PREDICTED if predicted and layout.name == "conll09" else layout.words
        table = ["\t".join([row[0], *_cells(row, columns, layout)]) for row in rows]
        conllu = "\n".join([*comments, *table])
    fault = find_fault(path, conllu, line)
    if fault is not None:
        raise fault
    if layout.name == "misc":
        frames = parse_frames(path, first, rows, layout)
    words = [row for row in rows if row[0].isdigit()]
    kept = {name: ["" if row[at] in EMPTY else row[at] for row in words] for name, at in layout.kept.items()}
    return _Sentence(line, conllu, frames, kept, None)


def _cells(row: Sequence[str], columns: Sequence[int], layout: Layout) -> Iterator[str]:
    for field, column in enumerate(columns):
        value = "_" if column < 0 else row[column]
        if field == 0 and not value:
            value = "_"
        yield "_" if not value or (field > 1 and layout.brackets and value == "-") else value


def _documents(path: str, sentences: Sequence[_Sentence], name: str, part: int, faults: Faults) -> Iterator[Doc]:
    (doc,) = _one(parse_text("".join(f"{sentence.conllu}\n\n" for sentence in sentences), path), path, sentences)
    if name:
        doc.meta["id"] = name
    if part:
        doc.meta["part"] = part
    firsts = doc.sentence_offsets.tolist()
    for column in sentences[0].kept:
        doc.set_column(column, [value for sentence in sentences for value in sentence.kept[column]])
    set_frames(doc, [_moved(frame, first) for first, each in zip(firsts, sentences, strict=False)
                     for frame in each.frames])  # fmt: skip
    if "parse" in sentences[0].kept:
        trees = [_tree(path, sentence) for sentence in sentences]
        if any(tree is not None for tree in trees):
            set_trees(doc, trees)
    yield from admitted(path, [(sentences[0].line, doc)], faults)


def _one(docs: list[Doc], path: str, sentences: Sequence[_Sentence]) -> list[Doc]:
    if len(docs) != 1:
        raise FormatError(path, sentences[0].line, "one document", f"{len(docs)} documents")
    return docs


def _moved(frame: FrameRow, first: int) -> FrameRow:
    roles = tuple(role._replace(start=role.start + first, end=role.end + first) for role in frame.roles)
    return FrameRow(frame.predicate + first, frame.sense, roles)


def _tree(path: str, sentence: _Sentence) -> Tree | None:
    """The phrase-structure tree of a column of brackets with `*` for words; None if it has none or is damaged."""
    stack: list[tuple[str, list[Tree]]] = [("", [])]
    for bits in sentence.kept["parse"]:
        opened, star, closed = bits.partition("*")
        for label in opened.split("(")[1:]:
            stack.append((label, []))
        if star:
            stack[-1][1].append(Tree("_", (), "_"))
        for _ in range(closed.count(")")):
            if len(stack) < 2 or not stack[-1][1]:
                return None
            label, children = stack.pop()
            stack[-1][1].append(Tree(label, tuple(children)))
    return stack[0][1][0] if len(stack) == 1 and len(stack[0][1]) == 1 and stack[0][1][0].children else None


def write(docs: Iterable[Doc], path: str, *, layout: str = "") -> int:
    """Write documents and return their number; without a layout that of the suffix, else `up-conllu`."""
    name = layout or _of_suffix(path) or "up-conllu"
    if name not in LAYOUTS:
        raise ConfigError(f"there is no layout {name!r}; choose from {', '.join(LAYOUTS)}")
    return write_texts((to_text(doc, name) for doc in docs), path)


def to_text(doc: Doc, layout: str = "up-conllu") -> str:
    """A document in a layout.

    >>> from weft.text.frames import Role
    >>> doc = Doc.from_words([["Dogs", "bark"]], head=[[2, 0]], deprel=[["nsubj", "root"]])
    >>> set_frames(doc, [FrameRow(1, "bark.01", (Role("A0", 0, 1),))])
    >>> print(to_text(doc, "up").replace("\\t", " "), end="")
    1 Dogs _ _ _ _ 2 nsubj _ _ A0
    2 bark _ _ _ _ 0 root Y bark.01 _
    <BLANKLINE>
    """
    if layout == "misc":
        from weft.text.conventions.misc_frames import misc_of_frames

        misc_of_frames(doc)
        return to_conllu(doc)
    plan = LAYOUTS[layout]
    lines = to_conllu(doc).split("\n")[:-1]
    kept = {at: doc.column(name) for name, at in plan.kept.items()}
    out: list[str] = []
    sentences = frames_by_sentence(doc, frame_rows(doc))
    bounds = list(pairwise(doc.sentence_offsets.tolist()))
    sentence = word = 0
    cells: list[list[str]] | None = None
    for line in lines:
        if not line:
            sentence, cells = sentence + (cells is not None), None
        if not line or line.startswith("#"):
            out.append(line)
            continue
        first, end = bounds[sentence]
        if cells is None:
            cells = _argument_cells(doc, sentences[sentence], first, end, plan)
        row = line.split("\t")
        if not row[0].isdigit():
            blank = ["_"] * (plan.fixed + max(len(sentences[sentence]), layout == "up-conllu"))
            out.append("\t".join([*_placed(row, plan, blank)]))
            continue
        place = word - first
        frame = next((frame for frame in sentences[sentence] if frame.predicate == word), None)
        fixed = ["_"] * plan.fixed
        fixed = _placed(row, plan, fixed)
        for at, column in kept.items():
            fixed[at] = column[word] or ("-" if plan.brackets else fixed[at])
        if layout == "conll09":
            fixed = [_given(fixed, at) for at in range(plan.fixed)]
        fixed[plan.sense] = (frame.sense or "_") if frame is not None else "-" if plan.brackets else "_"
        if plan.mark >= 0:
            fixed[plan.mark] = "Y" if frame is not None else "_"
        out.append("\t".join([*fixed, *(column[place] for column in cells)]))
        word += 1
    return "".join(f"{line}\n" for line in out)


def _placed(row: Sequence[str], plan: Layout, cells: list[str]) -> list[str]:
    """CoNLL-U's columns at their places in a layout."""
    placed = list(cells)
    placed[0] = row[0]
    for value, at in zip(row[1:], plan.words, strict=True):
        if at >= 0:
            placed[at] = value
    if plan.name in ("conll08", "conll09", "propbank") and plan.words[3] >= 0 and row[4] == "_":
        placed[plan.words[3]] = row[3]
    return placed


def _given(cells: Sequence[str], at: int) -> str:
    """The predicted columns of CoNLL-2009 repeat the given ones where a document has no others."""
    before = {3: 2, 5: 4, 7: 6, 9: 8, 11: 10}
    return cells[before[at]] if at in before and cells[at] == "_" else cells[at]


def _argument_cells(doc: Doc, frames: Sequence[FrameRow], first: int, end: int, plan: Layout) -> list[list[str]]:
    """One column per frame of a sentence."""
    if len({frame.predicate for frame in frames}) != len(frames):
        raise WeftError(f"{doc!r} has a word with two frames, which columns cannot represent; write JSON Lines")
    columns = []
    for frame in frames:
        moved = _moved(frame, -first)
        if any(not 0 <= role.start < role.end <= end - first for role in moved.roles):
            raise WeftError(f"{doc!r} has a frame with an argument in another sentence; write JSON Lines")
        if plan.brackets:
            try:
                columns.append(bracket_column(moved.roles, end - first, moved.predicate))
            except ValueError as error:
                raise WeftError(f"{doc!r}: brackets cannot represent arguments that overlap: {error}") from None
            continue
        cells = ["_"] * (end - first)
        for label, start, stop in moved.roles:
            if stop - start > 1:
                raise WeftError(
                    f"{doc!r} has an argument of several words, which {plan.name} cannot represent; write "
                    "layout propbank, or shrink arguments to their heads (weft.text.frames.roles_at_heads)"
                )
            label = long_label(label) if plan.name == "up-conllu" else label
            cells[start] = label if cells[start] == "_" else f"{cells[start]}|{label}"
        if plan.name == "up-conllu" and cells[moved.predicate] == "_":
            cells[moved.predicate] = "V"
        columns.append(cells)
    if not columns and plan.name == "up-conllu":
        columns = [["_"] * (end - first)]
    return columns


def _of_suffix(path: str) -> str:
    name = path.removesuffix(".gz")
    return next((layout for suffix, layout in _SUFFIXES.items() if name.endswith(suffix)), "")
