"""Captions and their parses: one spelling per word, tags that are right for captions, and columns of integers."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from weft.arrays import Ids, Ints
from weft.errors import DataError, WeftError
from weft.formats.streams import numbered_lines
from weft.progress import progress
from weft.tasks.denotations.words import CLASSES, SPELLINGS, VERBS_IN_S

_SPELLINGS = [(re.compile(pattern, re.IGNORECASE), replacement) for pattern, replacement in SPELLINGS.items()]
_BATCH = 1000  # captions parsed together
#: What parses a caption: the parts of a pipeline by their tasks.
PARTS = ("segmenter", "tagger", "lemmatizer", "parser")


class Caption(NamedTuple):
    """A caption: its image, its own name, its text."""

    image: str
    name: str
    text: str

    @property
    def id(self) -> str:
        """The name that files use: `image#name`."""
        return f"{self.image}#{self.name}"


class Token(NamedTuple):
    """A word of a parsed caption; `head` is a position in the caption, -1 for the root."""

    form: str
    lemma: str
    tag: str
    rel: str
    head: int


def read_captions(path: str | os.PathLike[str]) -> Iterator[Caption]:
    """Captions of a TSV file, one per line: `image#number<TAB>text` or `image<TAB>number<TAB>text`.

    With two columns and no `#`, captions of an image are numbered in their order. Gzipped files are read transparently.
    """
    numbers: dict[str, int] = {}
    for number, line in numbered_lines(os.fspath(path)):
        if not line.strip():
            continue
        columns = line.rstrip("\r\n").split("\t")
        if len(columns) not in (2, 3) or not all(column.strip() for column in columns):
            raise DataError(
                f"{os.fspath(path)}, line {number}: expected image#number<TAB>caption or image<TAB>number<TAB>caption, "
                f"got {len(columns)} columns, of which {sum(not column.strip() for column in columns)} are empty"
            )
        image, text = columns[0].strip(), columns[-1].strip()
        if len(columns) == 3:
            name = columns[1].strip()
        elif "#" in image:
            image, name = image.rsplit("#", 1)
        else:
            name = str(numbers.get(image, 0))
            numbers[image] = numbers.get(image, 0) + 1
        yield Caption(image, name, text)


def normal_spelling(text: str) -> str:
    """A caption with one spelling per word, `and` for `&`, and a full stop.

    >>> normal_spelling("A brown haired man &amp; a Grey dog at a BBQ")
    'A brown-haired man and a gray dog at a barbecue.'
    """
    text = text.replace("&amp;", "and").replace(" & ", " and ").replace("\n", " ").strip()
    for pattern, replacement in _SPELLINGS:
        text = pattern.sub(lambda match, r=replacement: r.format(*(g or "" for g in match.groups()), ""), text)  # type: ignore[misc]
    text = text.rstrip(" .!?")
    return f"{text}." if text else "."


COLUMNS = Token._fields


@dataclass
class Parses:
    """Parsed captions as columns: strings are numbers in one list.

    >>> parses = Parses()
    >>> parses.add([Token("dog", "dog", "NN", "nsubj", 1), Token("runs", "run", "VBZ", "root", -1)])
    >>> len(parses), parses[0][1].lemma
    (1, 'run')
    """

    strings: list[str] = field(default_factory=list)
    columns: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in COLUMNS})
    lengths: list[int] = field(default_factory=list)
    _numbers: dict[str, int] = field(default_factory=dict)
    _arrays: dict[str, Ids] = field(default_factory=dict)
    _offsets: Ints | None = None

    def __len__(self) -> int:
        return len(self.lengths)

    def add(self, tokens: Sequence[Token]) -> None:
        """Add a caption."""
        for token in tokens:
            for name, value in zip(COLUMNS, token, strict=True):
                self.columns[name].append(self._number(value) if isinstance(value, str) else value)
        self.lengths.append(len(tokens))
        self._arrays.clear()

    def _number(self, string: str) -> int:
        if not self._numbers and self.strings:
            self._numbers = {known: k for k, known in enumerate(self.strings)}
        number = self._numbers.get(string)
        if number is None:
            number = self._numbers[string] = len(self.strings)
            self.strings.append(string)
        return number

    def __getitem__(self, caption: int) -> list[Token]:
        if not self._arrays:
            self._arrays = {name: np.asarray(column, dtype=np.int32) for name, column in self.columns.items()}
            self._offsets = np.concatenate([[0], np.cumsum(self.lengths, dtype=np.int64)]).astype(np.int64)
        assert self._offsets is not None
        begin, end = self._offsets[caption], self._offsets[caption + 1]
        strings = self.strings
        form, lemma, tag, rel, head = (self._arrays[name][begin:end].tolist() for name in COLUMNS)
        return [
            Token(strings[f], strings[m], strings[t], strings[r], h)
            for f, m, t, r, h in zip(form, lemma, tag, rel, head, strict=True)
        ]

    def __iter__(self) -> Iterator[list[Token]]:
        return (self[k] for k in range(len(self)))

    def arrays(self) -> dict[str, Ids]:
        """The columns and lengths as arrays, for a file."""
        found = {name: np.asarray(column, dtype=np.int32) for name, column in self.columns.items()}
        return {**found, "lengths": np.asarray(self.lengths, dtype=np.int32)}

    @classmethod
    def of_arrays(cls, strings: list[str], arrays: dict[str, Ids]) -> Parses:
        """What `arrays` gave."""
        columns = {name: arrays[name].tolist() for name in COLUMNS}
        return cls(strings, columns, arrays["lengths"].tolist())


class CaptionParser:
    """Parses captions by a pipeline with a tagger, a lemmatizer and a dependency parser.

    Between tagger and parser, tags that are wrong in captions are set right: after a singular noun for a person or an
    animal, `climbs` is a verb.
    """

    def __init__(self, nlp: Any = None) -> None:
        if nlp is None:
            from weft import load

            nlp = load("en")
        from weft.pipeline.pipeline import Pipeline

        parts = {component.task: component for component in nlp.components}
        missing = [name for name in PARTS if name not in parts]
        if missing:
            raise WeftError(f"captions are parsed by a model with {', '.join(PARTS)}; this one has no {missing[0]}")
        self.tagging = Pipeline([parts["segmenter"], parts["tagger"]])
        self.parsing = Pipeline([parts["lemmatizer"], parts["parser"]])

    def __call__(self, texts: Sequence[str]) -> list[list[Token]]:
        """The tokens of every caption; several sentences of a caption are one list with several roots."""
        from weft.text.doc import Doc
        from weft.text.strings import StringTable

        strings = StringTable()
        docs = [Doc(normal_spelling(text), strings) for text in texts]
        filled = [doc for doc in docs if doc.text.strip(" .")]
        self.tagging.annotate(filled)
        for doc in filled:
            _fix_tags(doc)
        self.parsing.annotate(filled)
        return [_tokens(doc) for doc in docs]

    def parse(self, texts: Iterable[str], total: int | None = None) -> Parses:
        """Parse a stream of captions."""
        found = Parses()
        stream = iter(texts)
        with progress("parsing", total, "captions") as bar:
            while batch := list(islice(stream, _BATCH)):
                for tokens in self(batch):
                    found.add(tokens)
                bar.advance(len(batch))
        return found


_BEINGS = CLASSES["person"] | CLASSES["animal"]


def _fix_tags(doc: Any) -> None:
    """Set tags right in place."""
    forms, tags = [form.lower() for form in doc.column("form")], doc.column("xpos")
    if "upos" not in doc.columns:
        return
    for k in range(1, len(forms)):
        if tags[k] != "NNS" or forms[k] not in VERBS_IN_S or tags[k - 1] != "NN":
            continue
        after = tags[k + 1] if k + 1 < len(forms) else "."
        if forms[k - 1] in _BEINGS and after not in ("VBZ", "VBP", "VBD", "MD"):
            doc.columns["xpos"][k] = doc.strings["VBZ"]
            doc.columns["upos"][k] = doc.strings["VERB"]


def _tokens(doc: Any) -> list[Token]:
    if not doc.n_words:
        return []
    columns = [doc.column(name) for name in ("form", "lemma", "xpos", "deprel")]
    heads: list[int] = []
    for begin, end in zip(doc.sentence_offsets[:-1].tolist(), doc.sentence_offsets[1:].tolist(), strict=True):
        heads += [begin + head - 1 if head > 0 else -1 for head in doc.head[begin:end].tolist()]
    return [
        Token(form.lower(), (lemma or form).lower(), tag, rel, head)
        for form, lemma, tag, rel, head in zip(*columns, heads, strict=True)
    ]
