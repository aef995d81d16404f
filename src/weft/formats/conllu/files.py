"""CoNLL-U: ten tab-separated columns per word, an empty line after each sentence, comments before it.

Reading and then writing reproduces the same bytes. The text is restored from the forms and the MISC column (see
`weft.formats.spacing`), so `doc.text[token.start:token.end]` is always the token's form. `# newdoc` begins a document,
an empty one if no sentence follows;
documents of more than `PART` sentences and files without `# newdoc` are split into parts of that many sentences, so
that a stream of any length is read in bounded memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal, NamedTuple

import numpy as np

from weft.arrays import Ids, Ints
from weft.errors import ConfigError, WeftError
from weft.formats.conllu.batch import FIELDS, documents, parse
from weft.formats.conllu.faults import find_fault
from weft.formats.conllu.rows import TableBytes, assemble, is_valid
from weft.formats.gate import admitted
from weft.formats.spacing import BLANK, Spacing, begins_paragraph, escape, parse_misc, with_blanks
from weft.formats.streams import Faults, TextBlock, checked_blocks, open_output, stray_byte, unsplit_error
from weft.text.conventions.coreference import LAYER as COREFERENCE
from weft.text.conventions.coreference import with_entities
from weft.text.doc import Doc, Multiword
from weft.text.offsets import word_offsets
from weft.text.strings import StringTable
from weft.text.validity import faulty

PART = 1000
#: A reader begins a new string table when the current one exceeds this size.
TABLE_LIMIT = 200_000

Comments = Literal["keep", "add"]


@dataclass
class _Start:
    """Where a document (or a part of one) begins."""

    sentence: int
    id: str | None
    part: int = 0  # 0: the document is whole


class _Waiting:
    """Sentences read but not yet assembled into documents; the last document may continue in the next block."""

    def __init__(self) -> None:
        self.comments: list[tuple[str, ...]] = []
        self.bodies: list[str] = []  # the rows of each sentence
        self.starts: list[_Start] = []
        self.paragraphs: list[bool] = []  # which sentences begin a paragraph
        self.lines: list[tuple[int, int]] = []  # (sentence, its first line), known at block boundaries
        self.clean = True

    def add(self, block: TextBlock) -> None:
        """Split the block into sentences, and sentences into comments and rows."""
        self.clean &= block.clean
        text = block.text.strip("\n")
        if not text:
            return
        pieces = text.split("\n\n")
        line = block.line + len(block.text) - len(block.text.lstrip("\n"))
        self.lines.append((len(self.bodies), line))
        if "\n\n\n" in text:
            for piece in pieces:
                sentence = piece.strip("\n")
                if sentence:
                    self.lines.append((len(self.bodies), line + len(piece) - len(piece.lstrip("\n"))))
                    self._add_sentence(sentence)
                line += piece.count("\n") + 2
        else:
            for piece in pieces:
                self._add_sentence(piece)
        self.lines.append((len(self.bodies), block.line + block.text.count("\n")))

    def _add_sentence(self, sentence: str) -> None:
        here = len(self.bodies)
        comments: tuple[str, ...] = ()
        name = None
        paragraph = False
        if sentence.startswith("#"):
            cut = sentence.find("\n1")  # the first row is usually word 1
            head = sentence[:cut]
            comments = tuple(head.split("\n"))
            if cut < 0 or head.count("\n#") != len(comments) - 1:
                lines = sentence.split("\n")
                rows = next((i for i, line in enumerate(lines) if not line.startswith("#")), len(lines))
                comments = tuple(lines[:rows])
                cut = sum(map(len, comments)) + rows - 1
            sentence = sentence[cut + 1 :]
            if "# new" in head:
                name = _new_document(comments)
                paragraph = begins_paragraph(comments)
        if name is not None or not self.starts:
            self.starts.append(_Start(here, name))
            if name is not None and not sentence:
                return  # a document without sentences
        elif here - self.starts[-1].sentence == PART:
            last = self.starts[-1]
            last.part = last.part or 1
            self.starts.append(_Start(here, last.id, last.part + 1))
        self.comments.append(comments)
        self.bodies.append(sentence)
        self.paragraphs.append(paragraph)

    def take(self, final: bool = False) -> _Waiting:
        """The complete documents, or all of them at the end of the input."""
        taken = _Waiting()
        end = len(self.bodies) if final or not self.starts else self.starts[-1].sentence
        kept = len(self.starts) if final else len(self.starts) - 1
        taken.clean = self.clean
        taken.lines = self.lines
        self.lines = [(sentence - end, line) for sentence, line in self.lines if sentence >= end]
        taken.paragraphs, self.paragraphs = self.paragraphs[:end], self.paragraphs[end:]
        taken.comments, self.comments = self.comments[:end], self.comments[end:]
        taken.bodies, self.bodies = self.bodies[:end], self.bodies[end:]
        taken.starts, self.starts = self.starts[:kept], self.starts[kept:]
        for start in self.starts:
            start.sentence -= end
        self.clean = taken.clean or not self.bodies
        return taken

    def line(self, sentence: int) -> int:
        """The line number at which a sentence begins."""
        known, line = max((mark for mark in self.lines if mark[0] <= sentence), default=min(self.lines))
        for i in range(known, sentence):
            line += self._height(i)
        for i in range(sentence, known):
            line -= self._height(i)
        return line

    def _all_lines(self) -> list[int]:
        """The line number at which each sentence begins."""
        known = dict(sorted(self.lines))
        lines = [self.line(0)] if self.bodies else []
        for i in range(1, len(self.bodies)):
            lines.append(known.get(i, lines[-1] + self._height(i - 1)))
        return lines

    def _height(self, sentence: int) -> int:
        body = self.bodies[sentence]
        return len(self.comments[sentence]) + (body.count("\n") + 1 if body else 0) + 1

    def without_bad(self, path: str, faults: Faults, check_trees: bool) -> _Waiting:
        """The same without the sentences that violate the format; documents that lose all sentences are dropped.

        What a dropped sentence begins, a document or a paragraph, begins with the next sentence that is kept.
        """
        good = _Waiting()
        lines = self._all_lines()
        ends = [start.sentence for start in self.starts[1:]] + [len(self.bodies)]
        for start, end in zip(self.starts, ends, strict=True):
            opened: _Start | None = start
            if start.sentence == end:
                good.starts.append(_Start(len(good.bodies), start.id, start.part))
            lost: list[str] = []  # comments of dropped sentences that begin something
            for i in range(start.sentence, end):
                sentence = "\n".join(filter(None, [*self.comments[i], self.bodies[i]]))
                if find_fault(path, sentence, 1, check_trees) is None:
                    comments = _with_beginnings(self.comments[i], lost)
                    if opened is not None:
                        name = opened.id if stray_byte(opened.id or "") is None else ""
                        good.starts.append(_Start(len(good.bodies), name, opened.part))
                    opened, lost = None, []
                    good.lines.append((len(good.bodies), lines[i]))
                    good.bodies.append(self.bodies[i])
                    good.comments.append(comments)
                    good.paragraphs.append(begins_paragraph(comments))
                    continue
                fault = find_fault(path, sentence, lines[i], check_trees)
                assert fault is not None
                faults.meet(fault)
                # Where the empty line between two sentences is missing, the second is part of the first one's rows.
                inside = [line for line in self.bodies[i].split("\n") if line.startswith("# newdoc")]
                name = _new_document(inside)
                if name is not None:
                    opened, lost = _Start(0, name), []
                for line in (*self.comments[i], *inside):
                    if line.startswith(("# newdoc", "# newpar")):
                        lost.append(line if stray_byte(line) is None else line[:8])
        return good


def read(
    path: str, faults: Faults | None = None, *, check_trees: bool = True, encoding: str = "utf-8"
) -> Iterator[Doc]:
    """The documents in a CoNLL-U file.

    `check_trees=False` keeps sentences whose heads form a cycle. A file with the further columns of Universal
    Propositions, or with roles in MISC, is read as `weft.formats.roles` does.
    """
    from weft.formats.roles import detect_layout, read_blocks

    faults = faults or Faults()
    spacing = Spacing(StringTable())
    waiting = _Waiting()
    blocks = checked_blocks(path, faults, encoding=encoding)
    first = next(blocks, None)
    layout = detect_layout(first.text) if first is not None and may_hold_roles(first.text) else ""
    if first is not None and layout in ("up", "up-conllu", "misc"):
        yield from read_blocks(path, chain([first], blocks), faults, layout)
        return
    for block in chain([first] if first is not None else [], blocks):
        waiting.add(block)
        yield from _documents(path, waiting.take(), spacing, faults, check_trees)
        if len(spacing.strings) > TABLE_LIMIT:
            spacing = Spacing(StringTable())
    yield from _documents(path, waiting.take(final=True), spacing, faults, check_trees)


def may_hold_roles(text: str) -> bool:
    """Whether a text seems to have more columns than CoNLL-U, or roles in MISC; quick, for `detect_layout` to decide.

    >>> may_hold_roles("1\\tDogs\\t_\\t_\\t_\\t_\\t0\\troot\\t_\\t_\\n")
    False
    """
    start = text[:100_000]
    rows = [line for line in start.split("\n") if line[:1].isdigit()]
    return "Roles=" in text or any(line.count("\t") > 9 for line in rows)


def parse_text(text: str, path: str = "text", check_trees: bool = True) -> list[Doc]:
    """Parse the documents in a CoNLL-U string.

    >>> rows = "1 Dogs dog NOUN _ _ 2 nsubj _ _|2 bark bark VERB _ _ 0 root _ _||"
    >>> (doc,) = parse_text(rows.replace(" ", "\\t").replace("|", "\\n"))
    >>> doc.text, doc.words[0].head
    ('Dogs bark', Word('bark'))
    """
    waiting = _Waiting()
    waiting.add(TextBlock(text.replace("\r\n", "\n"), 1, True))
    return list(_documents(path, waiting.take(final=True), Spacing(StringTable()), Faults(), check_trees))


def _documents(path: str, waiting: _Waiting, spacing: Spacing, faults: Faults, check_trees: bool) -> Iterable[Doc]:
    batch = parse(waiting.bodies, spacing, check_trees) if waiting.clean and waiting.bodies else None
    if batch is None and waiting.bodies:
        waiting = waiting.without_bad(path, faults, check_trees)
        batch = parse(waiting.bodies, spacing, check_trees) if waiting.bodies else None
        assert batch is not None or not waiting.bodies, "the batch checks and the fault finder disagree"
    starts = [start.sentence for start in waiting.starts]
    ends = [*starts[1:], len(waiting.bodies)] if starts else []
    some = [start for start, end in zip(starts, ends, strict=True) if start < end]
    full = iter(documents(batch, waiting.comments, waiting.paragraphs, some, spacing) if batch is not None else ())
    docs = [next(full) if a < b else Doc("", spacing.strings) for a, b in zip(starts, ends, strict=True)]
    for doc, start in zip(docs, waiting.starts, strict=True):
        if start.id:
            doc.meta["id"] = start.id
        if start.part:
            doc.meta["part"] = start.part
    # The batch has no cycles unless they are allowed.
    if not (bad := faulty(docs, trees=False)):
        return docs
    placed = ((waiting.line(start) if place in bad else None, docs[place]) for place, start in enumerate(starts))
    return admitted(path, placed, faults, trees=False)


def _with_beginnings(comments: tuple[str, ...], lost: Sequence[str]) -> tuple[str, ...]:
    """Comments with those that begin a document or a paragraph in dropped sentences before them."""
    kinds = ("# newdoc", "# newpar")
    missing = [kind for kind in kinds if not any(line.startswith(kind) for line in comments)]
    latest = {kind: line for line in lost for kind in missing if line.startswith(kind)}
    return (*(latest[kind] for kind in kinds if kind in latest), *comments)


def _new_document(comments: Sequence[str]) -> str | None:
    """The name that `# newdoc` gives ("" for none), or None if the sentence does not begin a document."""
    for line in comments:
        if line.startswith("# newdoc"):
            key, _, value = line[2:].partition("=")
            if key.split() == ["newdoc", "id"]:
                return value.strip()
            if key.split() == ["newdoc"]:
                return ""
    return None


def write(docs: Iterable[Doc], path: str, *, comments: Comments = "keep") -> int:
    """Write documents as CoNLL-U and return their number.

    `comments="add"` adds `# newdoc`, `# sent_id` and `# text` to documents that have none of them, such as
    documents from other formats.
    """
    if comments not in ("keep", "add"):
        raise ConfigError(f"comments={comments!r}: expected 'keep' or 'add'")
    count = 0
    tables: _Tables | None = None
    unnamed, before, previous = 0, 0, ""  # sentences of documents without a name, and of earlier parts of this one
    with open_output(path) as file:
        for doc in docs:
            if tables is None or tables.spacing.strings is not doc.strings:
                tables = _Tables.of(doc.strings)
            before = unnamed if not doc.id else before if doc.id == previous else 0
            data = _to_bytes(doc, comments, tables, before)
            file.write(data if is_valid(data) else data.decode("utf-8", "surrogatepass").encode())
            before, previous = before + doc.n_sentences, doc.id
            unnamed = unnamed if doc.id else before
            count += 1
    return count


class _Tables(NamedTuple):
    """What is known of the strings of a table: the spacing that MISC encodes, and their bytes."""

    spacing: Spacing
    encoded: TableBytes

    @classmethod
    def of(cls, strings: StringTable) -> _Tables:
        return cls(Spacing(strings), TableBytes(strings))


def to_text(doc: Doc, comments: Comments = "keep", before: int = 0) -> str:
    """A document as CoNLL-U; numbers in generated sentence names continue from `before`.

    >>> print(to_text(Doc.from_words([["Dogs", "bark", "!"]], [[True, False, True]])).replace("\\t", " "), end="")
    1 Dogs _ _ _ _ _ _ _ _
    2 bark _ _ _ _ _ _ _ SpaceAfter=No
    3 ! _ _ _ _ _ _ _ _
    <BLANKLINE>
    """
    return _to_bytes(doc, comments, _Tables.of(doc.strings), before).decode("utf-8", "surrogatepass")


def _to_bytes(doc: Doc, comments: Comments, tables: _Tables, before: int) -> bytes:
    if not doc.n_words:
        if doc.text.strip():
            raise unsplit_error(doc, "CoNLL-U")
        return f"{_new_doc(doc)}\n\n".encode("utf-8", "surrogatepass")
    if not doc.n_sentences:
        raise WeftError(f"{doc!r} has words but no sentences; split it into sentences before writing CoNLL-U")
    offsets = doc.sentence_offsets
    if (offsets[1:] == offsets[:-1]).any():
        raise WeftError(f"{doc!r} has a sentence without words, which CoNLL-U cannot represent")
    if COREFERENCE in doc.clusters:
        doc = with_entities(doc)
    misc, multiwords = _told_spacing(doc, tables.spacing)
    names = [name for name in FIELDS if name != "head"]
    columns = np.zeros((len(names), doc.n_words), dtype=np.int32)
    for own, name in zip(columns, names, strict=True):
        if name in doc.columns:
            own[:] = doc.columns[name]
    columns[names.index("misc")] = misc
    heads = np.full(doc.n_words, -1, dtype=np.int32) if doc.head is None else np.asarray(doc.head, dtype=np.int32)
    rare = _rare_rows(doc, multiwords)
    notes = doc.comments if comments == "keep" or _has_names(doc) else _new_comments(doc, before)
    data = assemble(columns, heads, offsets.astype(np.int64), tables.encoded, notes, rare)
    inside = sum(map(len, notes)) + doc.n_sentences
    tabs = data.count(b"\t") - sum(line.count("\t") for lines in notes for line in lines)
    if tabs != 9 * (doc.n_words + len(rare)) or data.count(b"\n") != doc.n_words + len(rare) + inside:
        rows = list(zip(*(doc.strings.strings(column) for column in columns), strict=True))
        bad = next((value for row in rows for value in row if "\t" in value or "\n" in value), "a comment or other row")
        raise WeftError(f"{doc!r} contains a tab or line break inside a value, which CoNLL-U cannot represent: {bad!r}")
    return data


def _told_spacing(doc: Doc, spacing: Spacing) -> tuple[Ids, list[Multiword]]:
    """MISC of words and multiword tokens with the spacing of the text; unchanged if it already encodes it."""
    misc = doc.columns["misc"] if "misc" in doc.columns else np.zeros(doc.n_words, dtype=np.int32)
    begins = np.ones(doc.n_words, dtype=np.bool_)
    np.not_equal(doc.word_token[1:], doc.word_token[:-1], out=begins[1:])
    firsts = np.flatnonzero(begins)
    if len(firsts) != len(doc.token_start):
        raise WeftError(f"{doc!r} has tokens without words, which CoNLL-U cannot represent")
    ids = misc[firsts]
    if doc.multiwords:
        place = {word: token for token, word in enumerate(firsts.tolist())}
        ids = ids.copy()
        for row in doc.multiwords:
            ids[place[row.first]] = doc.strings[row.fields[-1]]
    lasts = doc.word_token[doc.sentence_offsets[1:] - 1]
    paragraphs = [begins_paragraph(lines) for lines in doc.comments]
    codes = spacing.codes(ids)
    if (codes != BLANK).any():
        forms = [doc.text[a:b] for a, b in zip(doc.token_start.tolist(), doc.token_end.tolist(), strict=True)]
        if spacing.layout(forms, ids, lasts, paragraphs, [0]).text == doc.text:
            return misc, doc.multiwords
    # One space after a token whose MISC says nothing needs no saying, but where a sentence ends it may.
    letters = np.frombuffer(doc.text.encode("utf-32-le", "surrogatepass") or bytes(4), dtype=np.uint32)
    ends = np.minimum(doc.token_end, len(letters) - 1)
    single = (np.append(doc.token_start[1:], -1) == doc.token_end + 1) & (letters[ends] == ord(" "))
    tokens = ~single | (codes != BLANK)
    tokens[0] = tokens[lasts] = True
    return _tell_spacing(doc, misc, firsts, np.flatnonzero(tokens).tolist(), set(lasts.tolist()), paragraphs)


def _tell_spacing(
    doc: Doc, misc: Ids, firsts: Ints, tokens: list[int], lasts: set[int], paragraphs: list[bool]
) -> tuple[Ids, list[Multiword]]:
    """Add SpaceAfter, SpacesAfter and SpacesBefore where MISC does not agree with the text, at some tokens."""
    misc = misc.copy()
    owners = {row.first: row for row in doc.multiwords}
    starts, ends = doc.token_start.tolist(), doc.token_end.tolist()
    sentence = 0
    for token, word in zip(tokens, firsts[tokens].tolist(), strict=True):
        old = owners[word].fields[-1] if word in owners else doc.strings.string(int(misc[word]))
        final = token + 1 == len(starts)
        after = doc.text[ends[token] :] if final else doc.text[ends[token] : starts[token + 1]]
        before = doc.text[: starts[0]] if token == 0 else ""
        said_before, said_after, spelled = parse_misc(old)
        encoded = " " if said_after is None else said_after
        if token in lasts:
            sentence += 1
            if not spelled:
                encoded = "" if final else "\n\n" if paragraphs[sentence] else encoded
        if (said_before, encoded) == (before, after):
            continue
        new = with_blanks(old, before, after)
        if final and after == "":
            new = with_blanks(old, before, " ")
        elif token in lasts and (after == " " if final else paragraphs[sentence] and after in ("", " ")):
            new = "|".join(filter(None, [with_blanks(old, before, " "), f"SpacesAfter={escape(after)}"]))
        if word in owners:
            row = owners[word]
            owners[word] = row._replace(fields=(*row.fields[:-1], new))
        else:
            misc[word] = doc.strings[new]
    return misc, [owners[row.first] for row in doc.multiwords]


def _rare_rows(doc: Doc, multiwords: list[Multiword]) -> list[tuple[int, int, str]]:
    """Rows that are not words, in their order: the sentence, the number of words before them, and the row.

    Empty nodes come before a range that begins there.
    """
    rare: list[tuple[int, int, str]] = []
    for node in doc.empty_nodes:
        row = "\t".join([f"{node.after}.{node.number}", *(value or "_" for value in node.fields)])
        rare.append((node.sentence, node.after, row))
    for first, end, fields in multiwords:
        sentence = int(np.searchsorted(doc.sentence_offsets, first, side="right")) - 1
        begin = first - int(doc.sentence_offsets[sentence])
        row = "\t".join([f"{begin + 1}-{begin + end - first}", *(value or "_" for value in fields)])
        rare.append((sentence, begin, row))
    return sorted(rare, key=lambda item: item[:2])


def _has_names(doc: Doc) -> bool:
    """Whether a document has comments that name it or its sentences, not only those an annotator wrote."""
    return any(line.startswith(("# newdoc", "# sent_id", "# text")) for lines in doc.comments for line in lines)


def _new_comments(doc: Doc, before: int) -> list[tuple[str, ...]]:
    notes: list[tuple[str, ...]] = []
    prefix = f"{doc.id}-" if doc.id else ""
    starts, ends = word_offsets(doc)
    firsts, lasts = doc.sentence_offsets[:-1], doc.sentence_offsets[1:] - 1
    places = zip(starts[firsts].tolist(), ends[lasts].tolist(), doc.comments, strict=True)
    for number, (start, end, own) in enumerate(places, start=before + 1):
        text = doc.text[start:end].replace("\n", " ").replace("\r", " ")
        notes.append((f"# sent_id = {prefix}{number}", f"# text = {text}", *own))
    if doc.meta.get("part", 1) == 1:
        notes[0] = (_new_doc(doc), *notes[0])
    return notes


def _new_doc(doc: Doc) -> str:
    return f"# newdoc id = {doc.id}" if doc.id else "# newdoc"
