"""Semantic frames: predicates with their senses, and the arguments that fill their roles.

    She gave him books      give.01 (A0 She) (A2 him) (A1 books)

A document keeps frames in two layers of one name. The span layer has one row per predicate (one word, labelled with its
sense) and one per argument (labelled with its role); the relation layer connects a predicate to each of its arguments.
A predicate is a span that no relation ends in, so every format that keeps spans and relations keeps frames.

Arguments are spans of words. Dependency-based corpora give their head word only, a span of one word.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from weft.errors import WeftError
from weft.text.layers import RelationLayer, SpanLayer
from weft.text.views import Sentence, Word

if TYPE_CHECKING:
    from weft.text.doc import Doc

#: The name of the layers.
LAYER = "frames"


class Role(NamedTuple):
    """An argument as plain values: its label and its words `start:end`, numbered in the document."""

    label: str
    start: int
    end: int


class FrameRow(NamedTuple):
    """A frame as plain values: the number of its predicate in the document, its sense, its arguments."""

    predicate: int
    sense: str
    roles: tuple[Role, ...] = ()


class Argument:
    """An argument of a frame: a view of one span."""

    __slots__ = ("doc", "role", "row")

    def __init__(self, doc: Doc, role: Role, row: FrameRow | None = None) -> None:
        self.doc = doc
        self.role = role
        self.row = row  # the frame

    @property
    def label(self) -> str:
        """The role, such as `A0`."""
        return self.role.label

    @property
    def words(self) -> list[Word]:
        """The words of the argument, in a dependency-based corpus its head only."""
        return [Word(self.doc, word) for word in range(self.role.start, self.role.end)]

    @property
    def word(self) -> Word:
        """The head word of the argument."""
        return Word(self.doc, head_of_span(self.doc, self.role.start, self.role.end)[0])

    @property
    def text(self) -> str:
        words = self.words
        return self.doc.text[words[0].start : words[-1].end]

    @property
    def phrase(self) -> str:
        """The text of the whole argument: its words and all words below them in the tree.

        The branch of the predicate and other arguments of the frame are left out, and so is punctuation at either end.

        >>> from weft.text import Doc
        >>> doc = Doc.from_words([["The", "old", "dog", "which", "barked", ",", "slept"]],
        ...                      head=[[3, 3, 7, 5, 3, 5, 0]])
        >>> set_frames(doc, [FrameRow(4, "bark.01", (Role("A0", 2, 3),)), FrameRow(6, "sleep.01", (Role("A0", 2, 3),))])
        >>> [frame.arguments[0].phrase for frame in doc.frames]
        ['The old dog', 'The old dog which barked']
        """
        if self.row is None:
            return phrase_of(self.doc, self.role.start, self.role.end)
        others = [  # a relative pronoun (R-A0) stands inside the phrase that it refers to
            role.start for role in self.row.roles
            if not self.role.start <= role.start < self.role.end and not role.label.startswith("R-")
        ]  # fmt: skip
        return phrase_of(self.doc, self.role.start, self.role.end, self.row.predicate, others)

    def __repr__(self) -> str:
        return f"Argument({self.text!r}, {self.label!r})"


class Frame:
    """One frame of a document.

    >>> from weft.text import Doc
    >>> doc = Doc.from_words([["She", "gave", "him", "books"]])
    >>> set_frames(doc, [FrameRow(1, "give.01", (Role("A0", 0, 1), Role("A1", 3, 4)))])
    >>> for frame in doc.frames:
    ...     print(frame.predicate, frame.sense, frame.arguments)
    Word('gave') give.01 [Argument('She', 'A0'), Argument('books', 'A1')]
    """

    __slots__ = ("doc", "row")

    def __init__(self, doc: Doc, row: FrameRow) -> None:
        self.doc = doc
        self.row = row

    @property
    def predicate(self) -> Word:
        return Word(self.doc, self.row.predicate)

    @property
    def sense(self) -> str:
        """The sense, such as `give.01`, "" if it is not known."""
        return self.row.sense

    @property
    def arguments(self) -> list[Argument]:
        return [Argument(self.doc, role, self.row) for role in self.row.roles]

    @property
    def sentence(self) -> Sentence:
        return self.predicate.sentence

    def __repr__(self) -> str:
        return f"Frame({self.predicate.form!r}, {self.sense!r})"


def frame_rows(doc: Doc, layer: str = LAYER) -> list[FrameRow]:
    """The frames of a document as plain values, in the order of their predicates; none if the layer is missing.

    >>> from weft.text import Doc
    >>> frame_rows(Doc.from_words([["Dogs", "bark"]]))
    []
    """
    spans, relations = doc.spans.get(layer), doc.relations.get(layer)
    if spans is None:
        return []
    if spans.unit != "words":
        raise WeftError(f"the frames of {doc!r} are counted in characters; frames are layers of words")
    rows = [(pieces[0][0], pieces[-1][1], label) for pieces, label in spans]
    roles: dict[int, list[Role]] = {}
    ends: set[int] = set()
    for head, tail, label in relations if relations is not None else ():
        start, end, _ = rows[tail]
        roles.setdefault(head, []).append(Role(label, start, end))
        ends.add(tail)
    frames = [
        FrameRow(start, label, tuple(roles.get(number, ())))
        for number, (start, _, label) in enumerate(rows)
        if number not in ends
    ]
    return sorted(frames, key=lambda frame: frame.predicate)


def set_frames(doc: Doc, frames: Iterable[FrameRow], layer: str = LAYER) -> None:
    """Give a document frames, in place of those it has.

    >>> from weft.text import Doc
    >>> doc = Doc.from_words([["Dogs", "bark"]])
    >>> set_frames(doc, [FrameRow(1, "bark.01", (Role("A0", 0, 1),))])
    >>> list(doc.spans["frames"])
    [SpanRow(pieces=((1, 2),), label='bark.01'), SpanRow(pieces=((0, 1),), label='A0')]
    >>> list(doc.relations["frames"])
    [(0, 1, 'A0')]
    """
    strings = doc.strings
    pieces: list[tuple[int, int]] = []
    labels: list[int] = []
    relations = RelationLayer(strings, layer)
    limit = doc.n_words
    for predicate, sense, roles in frames:
        head = len(pieces)
        if not 0 <= predicate < limit:
            raise WeftError(f"a frame needs a predicate from 0 to {limit - 1}, got {predicate}")
        pieces.append((predicate, predicate + 1))
        labels.append(strings[sense])
        for label, start, end in roles:
            if not 0 <= start < end <= limit:
                raise WeftError(f"an argument needs words from 0 to {limit}, got {start}-{end} ({label})")
            relations.add(head, len(pieces), label)
            pieces.append((start, end))
            labels.append(strings[label])
    doc.spans[layer] = SpanLayer.from_pieces(strings, pieces, labels)
    doc.relations[layer] = relations


def head_of_span(doc: Doc, start: int, end: int) -> tuple[int, int]:
    """The first word of a span whose head is outside of it, and how many such words there are.

    Without a tree the first word stands for the span.

    >>> from weft.text import Doc
    >>> doc = Doc.from_words([["the", "old", "dogs", "bark"]], head=[[3, 3, 4, 0]])
    >>> head_of_span(doc, 0, 3)
    (2, 1)
    """
    if doc.head is None or end - start == 1:
        return start, 1
    first = Word(doc, start).sentence.first
    heads = doc.head[start:end].tolist()
    outside = [start + k for k, head in enumerate(heads) if not start <= first + head - 1 < end or head <= 0]
    return (outside[0], len(outside)) if outside else (start, 0)


def phrase_of(doc: Doc, start: int, end: int, without: int = -1, others: Sequence[int] = ()) -> str:
    """The text of words `start:end` and of all words below them in the tree.

    Left out are the branch that holds the word `without`, what stands below `others`, and punctuation at either end.
    Pieces that other words separate are joined by a space. Without a tree it is the text of the words.

    >>> from weft.text import Doc
    >>> phrase_of(Doc.from_words([["on", "the", "old", "roof", ",", "we"]], head=[[4, 4, 4, 6, 4, 0]]), 3, 4)
    'on the old roof'
    """
    inside = set(range(start, end))
    if doc.head is not None:
        sentence = Word(doc, start).sentence
        first = sentence.first
        heads = [first + head - 1 if head > 0 else -1 for head in doc.head[first : sentence.end].tolist()]
        closed = {*others, *_up_from(heads, first, without)} - inside
        for word in range(first, sentence.end):
            path = [word]
            while path[-1] >= 0 and path[-1] not in inside and len(path) <= len(heads):
                path.append(heads[path[-1] - first])
            if path[-1] in inside and closed.isdisjoint(path):
                inside.update(path)
    words = sorted(inside)
    while len(words) > 1 and not any(map(str.isalnum, Word(doc, words[-1]).form)):
        words.pop()
    while len(words) > 1 and not any(map(str.isalnum, Word(doc, words[0]).form)):
        words.pop(0)
    pieces: list[list[int]] = []
    for word in words:
        if pieces and pieces[-1][1] == word - 1:
            pieces[-1][1] = word
        else:
            pieces.append([word, word])
    return " ".join(doc.text[Word(doc, one).start : Word(doc, last).end] for one, last in pieces)


def _up_from(heads: Sequence[int], first: int, word: int) -> set[int]:
    """A word and all words above it in a sentence."""
    above: set[int] = set()
    while first <= word < first + len(heads) and word not in above:
        above.add(word)
        word = heads[word - first]
    return above


def roles_at_heads(doc: Doc, layer: str = LAYER) -> int:
    """Shrink every argument to its head word, in place; returns how many had several words with outside heads.

    Of two arguments of a predicate with one label and one head word the first stays.

    >>> from weft.text import Doc
    >>> doc = Doc.from_words([["the", "dogs", "bark"]], head=[[2, 3, 0]])
    >>> set_frames(doc, [FrameRow(2, "bark.01", (Role("A0", 0, 2),))])
    >>> roles_at_heads(doc), frame_rows(doc)[0].roles
    (0, (Role(label='A0', start=1, end=2),))
    """
    several = 0
    frames: list[FrameRow] = []
    for predicate, sense, roles in frame_rows(doc, layer):
        moved: dict[tuple[str, int], Role] = {}
        for label, start, end in roles:
            word, count = head_of_span(doc, start, end)
            several += count > 1
            moved.setdefault((label, word), Role(label, word, word + 1))
        frames.append(FrameRow(predicate, sense, tuple(moved.values())))
    set_frames(doc, frames, layer)
    return several


def frames_by_sentence(doc: Doc, frames: Sequence[FrameRow]) -> list[list[FrameRow]]:
    """Frames sorted into the sentences of their predicates.

    >>> from weft.text import Doc
    >>> doc = Doc.from_words([["Dogs", "bark"], ["Cats", "purr"]])
    >>> [len(each) for each in frames_by_sentence(doc, [FrameRow(3, "purr.01")])]
    [0, 1]
    """
    found: list[list[FrameRow]] = [[] for _ in range(doc.n_sentences)]
    ends = doc.sentence_offsets[1:].tolist()
    place = 0
    for frame in sorted(frames, key=lambda row: row.predicate):
        while frame.predicate >= ends[place]:
            place += 1
        found[place].append(frame)
    return found
