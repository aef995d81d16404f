"""Views give a document a convenient object API; a view stores only the document and an index."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from weft.text.offsets import word_offsets, word_place

if TYPE_CHECKING:
    from weft.text.doc import Doc


class _View:
    __slots__ = ("doc", "index")

    def __init__(self, doc: Doc, index: int) -> None:
        self.doc = doc
        self.index = index

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and other.doc is self.doc and other.index == self.index

    def __hash__(self) -> int:
        return hash((id(self.doc), self.index))


class Token(_View):
    """A surface token: a piece of the text."""

    __slots__ = ()

    @property
    def start(self) -> int:
        return int(self.doc.token_start[self.index])

    @property
    def end(self) -> int:
        return int(self.doc.token_end[self.index])

    @property
    def text(self) -> str:
        return self.doc.text[self.start : self.end]

    @property
    def words(self) -> list[Word]:
        return [Word(self.doc, int(i)) for i in np.flatnonzero(self.doc.word_token == self.index)]

    def __repr__(self) -> str:
        return f"Token({self.text!r}, {self.start}, {self.end})"


def _string_column(name: str) -> property:
    def get(self: Word) -> str:
        column = self.doc.columns.get(name)
        return "" if column is None else self.doc.strings.string(int(column[self.index]))

    def put(self: Word, value: str) -> None:
        if name not in self.doc.columns:
            self.doc.columns[name] = np.zeros(self.doc.n_words, dtype=np.int32)
        self.doc.columns[name][self.index] = self.doc.strings[value]

    return property(get, put, doc=f"The word's {name}, '' if not set.")


class Word(_View):
    """A syntactic word."""

    __slots__ = ()

    form = _string_column("form")
    lemma = _string_column("lemma")
    upos = _string_column("upos")
    xpos = _string_column("xpos")
    deprel = _string_column("deprel")
    deps = _string_column("deps")

    def get(self, column: str) -> str:
        """The word's value in any column, '' if not set."""
        ids = self.doc.columns.get(column)
        return "" if ids is None else self.doc.strings.string(int(ids[self.index]))

    @property
    def feats(self) -> dict[str, str]:
        """Morphological features: `{"Number": "Plur"}`."""
        return _pairs(self.get("feats"))

    @property
    def misc(self) -> dict[str, str]:
        return _pairs(self.get("misc"))

    @property
    def token(self) -> Token:
        return Token(self.doc, int(self.doc.word_token[self.index]))

    @property
    def start(self) -> int:
        return word_place(self.doc, self.index)[0]

    @property
    def end(self) -> int:
        return word_place(self.doc, self.index)[1]

    @property
    def text(self) -> str:
        """The word's characters in the text; of a contraction that is not made up of its words, all of them."""
        start, end = word_place(self.doc, self.index)
        return self.doc.text[start:end]

    @property
    def sentence(self) -> Sentence:
        return Sentence(self.doc, int(np.searchsorted(self.doc.sentence_offsets, self.index, side="right")) - 1)

    @property
    def number(self) -> int:
        """The word's number in its sentence, counted from 1 as in CoNLL-U."""
        return self.index - self.sentence.first + 1

    @property
    def head(self) -> Word | None:
        """The word this one attaches to; `None` for a root or if no head is set."""
        if self.doc.head is None or self.doc.head[self.index] <= 0:
            return None
        return Word(self.doc, self.sentence.first + int(self.doc.head[self.index]) - 1)

    @property
    def is_root(self) -> bool:
        return self.doc.head is not None and int(self.doc.head[self.index]) == 0

    @property
    def children(self) -> list[Word]:
        """The words attached to this one, left to right."""
        if self.doc.head is None:
            return []
        first = self.sentence.first
        heads = self.doc.head[first : self.sentence.end]
        return [Word(self.doc, first + int(i)) for i in np.flatnonzero(heads == self.index - first + 1)]

    def __repr__(self) -> str:
        return f"Word({self.form!r})"


class Sentence(_View):
    """A sentence: words `first` to `end` (exclusive) of the document."""

    __slots__ = ()

    @property
    def first(self) -> int:
        return int(self.doc.sentence_offsets[self.index])

    @property
    def end(self) -> int:
        return int(self.doc.sentence_offsets[self.index + 1])

    @property
    def words(self) -> list[Word]:
        return [Word(self.doc, i) for i in range(self.first, self.end)]

    def __len__(self) -> int:
        return self.end - self.first

    def __iter__(self) -> Iterator[Word]:
        return iter(self.words)

    def __getitem__(self, index: int) -> Word:
        if not -len(self) <= index < len(self):
            raise IndexError(f"word {index} of a sentence of {len(self)} words")
        return Word(self.doc, self.first + index % len(self))

    @property
    def text(self) -> str:
        if not len(self):
            return ""
        return self.doc.text[self[0].start : self[-1].end]

    @property
    def meta(self) -> dict[str, str]:
        """Comments of the form `# name = value`."""
        pairs = (line[1:].split("=", 1) for line in self.doc.comments[self.index] if "=" in line)
        return {name.strip(): value.strip() for name, value in pairs}

    @property
    def root(self) -> Word | None:
        return next((word for word in self.words if word.is_root), None)

    def tree(self) -> str:
        """The dependency tree as text, one word per line, with children indented below their head in order."""
        lines: list[str] = []
        roots = [word for word in self.words if word.head is None]
        stack: list[tuple[Word, str, str]] = [(word, "", "") for word in reversed(roots)]
        seen: set[int] = set()
        while stack:
            word, lead, below = stack.pop()
            if word.index in seen:
                continue
            seen.add(word.index)
            lines.append(lead + " ".join(filter(None, (word.form, word.upos or word.xpos, word.deprel))))
            children = word.children
            for child in reversed(children):
                last = child == children[-1]
                stack.append((child, below + ("└─ " if last else "├─ "), below + ("   " if last else "│  ")))
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"Sentence({self.text!r})"


class Span(_View):
    """One span of a span layer.

    >>> from weft.text import Doc, SpanLayer
    >>> doc = Doc.from_words([["Ada", "left", "New", "York"]])
    >>> doc.spans["entities"] = SpanLayer.of(doc.strings, [(2, 4, "LOC")])
    >>> span = doc.entities[0]
    >>> span.text, span.label, span.start, span.end, span.probability
    ('New York', 'LOC', 9, 17, None)
    >>> span.words
    [Word('New'), Word('York')]
    """

    __slots__ = ("layer",)

    def __init__(self, doc: Doc, layer: str, index: int) -> None:
        super().__init__(doc, index)
        self.layer = layer

    @property
    def label(self) -> str:
        return self.doc.spans[self.layer][self.index].label

    @property
    def pieces(self) -> tuple[tuple[int, int], ...]:
        return self.doc.spans[self.layer][self.index].pieces

    @property
    def words(self) -> list[Word]:
        """The words of the span; of a span counted in characters, all words that it touches."""
        if self.doc.spans[self.layer].unit == "words":
            return [Word(self.doc, i) for start, end in self.pieces for i in range(start, end)]
        starts, ends = word_offsets(self.doc)
        touched = np.zeros(len(starts), dtype=np.bool_)
        for start, end in self.pieces:
            touched |= (starts < end) & (ends > start)
        return [Word(self.doc, int(i)) for i in np.flatnonzero(touched)]

    @property
    def characters(self) -> tuple[tuple[int, int], ...]:
        """The pieces of the span, counted in characters of the document's text."""
        if self.doc.spans[self.layer].unit == "chars":
            return self.pieces
        return tuple((Word(self.doc, start).start, Word(self.doc, end - 1).end) for start, end in self.pieces)

    @property
    def start(self) -> int:
        """The first character."""
        return self.characters[0][0]

    @property
    def end(self) -> int:
        """One past the last character."""
        return self.characters[-1][1]

    @property
    def text(self) -> str:
        """The span's text; pieces are joined by ` ... `."""
        return " ... ".join(self.doc.text[start:end] for start, end in self.characters)

    @property
    def probability(self) -> float | None:
        """The probability of the span; None if the model was not asked for probabilities."""
        return self.attributes.get("probability")

    @property
    def attributes(self) -> dict[str, Any]:
        return self.doc.spans[self.layer].attributes.get(self.index, {})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Span) and super().__eq__(other) and other.layer == self.layer

    def __hash__(self) -> int:
        return hash((id(self.doc), self.layer, self.index))

    def __repr__(self) -> str:
        return f"Span({self.text!r}, {self.label!r})"


def _pairs(packed: str) -> dict[str, str]:
    items = (item.split("=", 1) for item in packed.split("|") if item)
    return {item[0]: item[1] if len(item) > 1 else "" for item in items}
