"""Multiword expressions in the formats of STREUSLE and DiMSUM: one word per line, an empty line after each sentence.

| columns | format | content kept |
|---|---|---|
| 19 | CoNLL-U-Lex (`.conllulex`) | CoNLL-U, and the groups in the columns SMWE (strong) and WMWE (weak) |
| 9 | STREUSLE 2, DiMSUM (`.tags`) | word, lemma, upos, and groups from the parent and strength columns |

The 9 columns are: index, word, lemma, tag, MWE tag, index of the previous word in the same expression (0: none), the
strength of the link (`_` or `~`; empty: strong), class, sentence name. Expressions become the span layer `mwe`,
labelled strong or weak, gaps included. The writer produces the 9 columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from weft.errors import FormatError, WeftError
from weft.formats.conllu.faults import find_fault
from weft.formats.conllu.files import PART, parse_text
from weft.formats.gate import admitted
from weft.formats.streams import Faults, checked_blocks, encoding_error, stray_byte, write_texts
from weft.text.conventions.expressions import Expressions, encode, expressions_of, set_expressions
from weft.text.doc import Doc
from weft.text.strings import StringTable

LAYER = "mwe"
_PRINTED = {"I_": "Ī", "I~": "Ĩ", "i_": "ī", "i~": "ĩ"}
#: MWE tags of words that go on with an expression, and of those that begin one or are in none.
_INSIDE = ("I", "Ī", "Ĩ", "I_", "I~", "i", "ī", "ĩ", "i_", "i~")
_OUTSIDE = ("O", "o", "B", "b")
Row = list[str]
_Sentence = tuple[int, list[Row], list[str]]  # its first line, its rows and its comments


def read(path: str, faults: Faults | None = None, *, encoding: str = "utf-8") -> Iterator[Doc]:
    """The documents in a file; `# newdoc`, or the sentence names up to the last dot, group sentences into documents."""
    faults = faults or Faults()
    waiting: list[_Sentence] = []
    strings = StringTable()
    current, width = "", 0
    fresh_next, skipped = False, ""  # whether a skipped sentence began a document, and its name
    for line, block in _sentences(path, faults, encoding):
        comments = [text for text in block if text.startswith("#")]
        rows = [text.split("\t") for text in block if not text.startswith("#")]
        begins = any(text.startswith("# newdoc") for text in comments)
        name = next((text.partition("=")[2].strip() for text in comments if text.startswith("# newdoc")), "")
        try:
            _check_rows(path, line + len(comments), rows, width)
            sentence = (line, rows, comments)
            if len(rows[0]) == 19:
                _lex_sentence(path, sentence)
        except FormatError as error:
            faults.meet(error)
            if begins:
                fresh_next, skipped = True, name
            continue
        width = len(rows[0])
        lex = width == 19
        if lex and not begins and fresh_next:
            begins, name = True, skipped
            comments.insert(0, f"# newdoc id = {name}" if name else "# newdoc")
        fresh_next = False
        if not lex:
            name = rows[0][8].rpartition(".")[0]
        fresh = name != current if not lex else begins
        if waiting and (fresh or len(waiting) == PART):
            yield from _documents(path, current, waiting, strings, faults)
            waiting = []
        current = name if fresh or not lex else current
        waiting.append(sentence)
    if waiting:
        yield from _documents(path, current, waiting, strings, faults)


def write(docs: Iterable[Doc], path: str, *, layer: str = LAYER) -> int:
    """Write documents in 9 columns and return their number."""
    return write_texts((to_text(doc, layer) for doc in docs), path)


def to_text(doc: Doc, layer: str = LAYER) -> str:
    """A document in 9 columns.

    >>> doc = Doc.from_words([["Look", "it", "up"]], lemma=[["look", "it", "up"]])
    >>> set_expressions(doc, [Expressions.of(strong=[(0, 2)])])
    >>> print(to_text(doc).replace("\\t", " "), end="")
    1 Look look  B 0   1
    2 it it  o 0   1
    3 up up  Ī 1 _  1
    <BLANKLINE>
    """
    expressions = expressions_of(doc, layer) if layer in doc.spans else [Expressions()] * doc.n_sentences
    forms, lemmas, tags = doc.column("form"), doc.column("lemma"), doc.column("upos")
    lines: list[str] = []
    for number, (first, end) in enumerate(pairwise(doc.sentence_offsets.tolist())):
        labels = encode(expressions[number], end - first)
        tight = {pair for group in expressions[number].strong for pair in pairwise(group)}
        before = {b: a for group in expressions[number].outermost() for a, b in pairwise(group)}
        name = _name(doc, number)
        for word in range(end - first):
            parent = before.get(word)
            strength = "" if parent is None else "_" if (parent, word) in tight else "~"
            place = first + word
            label = _PRINTED.get(labels[word], labels[word])
            row = [str(word + 1), forms[place], lemmas[place], tags[place], label]
            lines.append("\t".join([*row, str(0 if parent is None else parent + 1), strength, "", name]))
        lines.append("")
    return "\n".join(lines) + "\n" if lines else ""


def groups_of_links(parents: Sequence[int], weak: Sequence[bool]) -> Expressions:
    """Expressions from each word's previous word (-1: none) and whether the link to it is weak.

    >>> groups_of_links([-1, 0, 1, -1], [False, True, False, False])
    Expressions(strong=((1, 2),), weak=((0, 1, 2),))
    """
    whole, tight = list(range(len(parents))), list(range(len(parents)))
    for word, parent in enumerate(parents):
        if parent >= 0:
            whole[word] = whole[parent]
            if not weak[word]:
                tight[word] = tight[parent]
    everything, strong = _grouped(whole), _grouped(tight)
    return Expressions.of(strong, [group for group in everything if group not in strong])


def _grouped(roots: Sequence[int]) -> list[list[int]]:
    groups: dict[int, list[int]] = {}
    for word, root in enumerate(roots):
        groups.setdefault(root, []).append(word)
    return [group for group in groups.values() if len(group) > 1]


def _sentences(path: str, faults: Faults, encoding: str) -> Iterator[tuple[int, list[str]]]:
    """The first line number and the lines of every sentence."""
    for block in checked_blocks(path, faults, encoding=encoding):
        lines: list[str] = []
        bad = False  # the sentence holds bytes that are not text
        for number, text in enumerate([*block.text.split("\n"), ""], block.line):
            if text.strip():
                lines.append(text)
                stray = None if block.clean else stray_byte(text)
                if stray is not None and not bad:
                    bad = True
                    faults.meet(encoding_error(path, number, stray[1]))
            elif lines:
                if not bad:
                    yield number - len(lines), lines
                lines, bad = [], False


def _check_rows(path: str, line: int, rows: Sequence[Row], width: int) -> None:
    if not rows:
        raise FormatError(path, line, "words", "a sentence that contains only comments")
    for place, row in enumerate(rows):
        if len(row) != (width or len(rows[0])) or len(row) not in (9, 19):
            expected = f"{width} tab-separated columns" if width else "9 or 19 tab-separated columns"
            raise FormatError(path, line + place, expected, f"{len(row)} columns")
        if len(row) == 19:
            continue
        if not (row[0] == str(place + 1) and row[5].isascii() and row[5].isdigit() and len(row[5]) < 9):
            raise FormatError(path, line + place, f"word {place + 1} and a number", f"{row[0]!r} and {row[5]!r}")
        if int(row[5]) > place:
            expected = f"word {place + 1}, linked to a word before it or to 0"
            raise FormatError(path, line + place, expected, f"word {row[0]!r} linked to {row[5]!r}")
        if not row[1].strip():
            raise FormatError(path, line + place, "a word", "an empty column")
        if row[4].strip("_") and not _agrees(row[4], int(row[5])):
            expected = (
                f"the MWE tag of a word linked to {row[5]}: one of {', '.join(_INSIDE if int(row[5]) else _OUTSIDE)}"
            )
            raise FormatError(path, line + place, expected, f"{row[4]!r}")


def _agrees(tag: str, parent: int) -> bool:
    """Whether a MWE tag says of a word what its link does; tags may be followed by a class, as in `B-N.ACT`."""
    mark = tag.partition("-")[0]
    return mark in (_INSIDE if parent else _OUTSIDE)


def _documents(
    path: str, name: str, sentences: Sequence[_Sentence], strings: StringTable, faults: Faults
) -> Iterator[Doc]:
    line = sentences[0][0]
    try:
        doc = _document(path, name, sentences, strings)
    except FormatError as error:
        faults.meet(error)
        return
    except WeftError as error:
        faults.meet(FormatError(path, line, "a valid document", f"a fault: {error}"))
        return
    yield from admitted(path, [(line, doc)], faults)


def _document(path: str, name: str, sentences: Sequence[_Sentence], strings: StringTable) -> Doc:
    if len(sentences[0][1][0]) == 19:
        return _lex_document(path, sentences)
    forms, lemmas, tags = ([[row[place] for row in rows] for _, rows, _ in sentences] for place in (1, 2, 3))
    doc = Doc.from_words(forms, strings=strings, lemma=lemmas, upos=tags)
    doc.comments = [(f"# sent_id = {rows[0][8]}",) for _, rows, _ in sentences]
    if name:
        doc.meta["id"] = name
    expressions = [
        groups_of_links([int(row[5]) - 1 for row in rows], [row[6] == "~" for row in rows]) for _, rows, _ in sentences
    ]
    set_expressions(doc, expressions, LAYER)
    return doc


def _lex_sentence(path: str, sentence: _Sentence) -> Expressions:
    """Check the CoNLL-U columns of a sentence and read its groups."""
    line, rows, comments = sentence
    fault = find_fault(path, _conllu(rows, comments), line)
    if fault is not None:
        raise fault
    words = [row for row in rows if row[0].isdigit()]
    groups: tuple[dict[str, list[int]], dict[str, list[int]]] = ({}, {})
    for word, row in enumerate(words):
        for kind, value in zip(groups, (row[10], row[15]), strict=True):
            number, colon, _ = value.partition(":")
            if colon:
                kind.setdefault(number, []).append(word)
            elif value != "_":
                raise FormatError(path, line, "groups written as 1:2", repr(value[:40]))
    try:
        return Expressions.of(groups[0].values(), groups[1].values())
    except WeftError as error:
        raise FormatError(path, line, "groups of words", f"a fault: {error}") from error


def _conllu(rows: Sequence[Row], comments: Sequence[str]) -> str:
    return "\n".join([*comments, *("\t".join(row[:10]) for row in rows)])


def _lex_document(path: str, sentences: Sequence[_Sentence]) -> Doc:
    """CoNLL-U with nine more columns."""
    parts = [_conllu(rows, comments) + "\n\n" for _, rows, comments in sentences]
    docs = parse_text("".join(parts), path)
    if len(docs) != 1:
        raise FormatError(path, sentences[0][0], "one document", f"{len(docs)} documents")
    set_expressions(docs[0], [_lex_sentence(path, sentence) for sentence in sentences], LAYER)
    return docs[0]


def _name(doc: Doc, sentence: int) -> str:
    """The sentence's name, or one made from the document's name and the sentence's number."""
    for comment in doc.comments[sentence]:
        key, _, value = comment.partition("=")
        if key.strip("# ") == "sent_id":
            return value.strip()
    return f"{doc.id}.{sentence + 1}" if doc.id else str(sentence + 1)
