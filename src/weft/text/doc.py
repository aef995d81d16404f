"""A document: one original string and columns of numbers over it.

There are three levels above the text. *Tokens* have character offsets. *Syntactic words* belong to tokens: usually one
per token, several if the token is a contraction (UD multiword tokens). *Sentences* are runs of words. Columns of string
ids hold the annotation of words (`doc.columns["upos"]`), and an integer column holds heads, counted within the sentence
as in CoNLL-U (1 = first word, 0 = root, -1 = not set), so that kernels can use the arrays directly.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Ids
from weft.errors import WeftError
from weft.text.constituents import ConstituentLayer
from weft.text.layers import ClusterLayer, GraphLayer, RelationLayer, SpanLayer
from weft.text.offsets import word_offsets
from weft.text.strings import StringTable
from weft.text.views import Sentence, Span, Token, Word

if TYPE_CHECKING:
    from weft.tasks.timelines.timeline import Timeline
    from weft.text.conventions.coreference import Entity
    from weft.text.conventions.events import Event
    from weft.text.conventions.keywords import Keyword
    from weft.text.conventions.links import Link
    from weft.text.conventions.metaphor import Metaphor
    from weft.text.conventions.opinions import Opinion
    from weft.text.conventions.preferences import Preference
    from weft.text.conventions.scope import Scope
    from weft.text.conventions.times import Timex
    from weft.text.conventions.tuples import RelationTuple
    from weft.text.frames import Frame

#: Word columns of CoNLL-U that hold strings; any other name may be used for a custom column.
WORD_COLUMNS = ("form", "lemma", "upos", "xpos", "feats", "deprel", "deps", "misc")


#: Layers that every document has, even without words.
_NONE: Ids = np.zeros(0, dtype=np.int32)
_NO_SENTENCES: Ids = np.zeros(1, dtype=np.int32)
_NO_SENTENCES.flags.writeable = False


class Multiword(NamedTuple):
    """A surface token of several words: `fields` are its CoNLL-U columns from FORM to MISC, "" if not set."""

    first: int  # number of its first word in the document
    end: int  # one past its last word
    fields: tuple[str, ...]


class EmptyNode(NamedTuple):
    """An empty node of enhanced UD, placed after word `after` (0: before the first) of its sentence."""

    sentence: int
    after: int
    number: int  # 1 for the `1` of `5.1`
    fields: tuple[str, ...]  # CoNLL-U columns from FORM to MISC, "" if not set


class Doc:
    """A text with its layers.

    >>> doc = Doc.from_words([["The", "dogs", "bark"]], upos=[["DET", "NOUN", "VERB"]], head=[[2, 3, 0]],
    ...                    deprel=[["det", "nsubj", "root"]])
    >>> doc.text
    'The dogs bark'
    >>> [(word.form, word.upos, word.head.form if word.head else None) for word in doc.words]
    [('The', 'DET', 'dogs'), ('dogs', 'NOUN', 'bark'), ('bark', 'VERB', None)]
    >>> print(doc.sentences[0].tree())
    bark VERB root
    └─ dogs NOUN nsubj
       └─ The DET det
    """

    __slots__ = (
        "clusters", "columns", "comments", "confidence", "constituents", "empty_nodes", "graphs", "head", "meta",
        "multiwords", "relations", "sentence_offsets", "spans", "strings", "text", "token_end", "token_start",
        "word_token",
    )  # fmt: skip

    def __init__(self, text: str = "", strings: StringTable | None = None, meta: dict[str, Any] | None = None) -> None:
        self.text = text
        self.strings = strings if strings is not None else StringTable()
        self.token_start: Ids = _NONE
        self.token_end: Ids = _NONE
        self.word_token: Ids = _NONE
        self.sentence_offsets: Ids = _NO_SENTENCES
        self.columns: dict[str, Ids] = {"form": _NONE}
        self.head: Ids | None = None
        self.constituents: ConstituentLayer | None = None
        self.multiwords: list[Multiword] = []
        self.empty_nodes: list[EmptyNode] = []
        self.comments: list[tuple[str, ...]] = []  # one tuple of lines per sentence, including "#"
        self.spans: dict[str, SpanLayer] = {}
        self.relations: dict[str, RelationLayer] = {}
        self.clusters: dict[str, ClusterLayer] = {}
        self.graphs: dict[str, GraphLayer] = {}
        self.confidence: dict[str, NDArray[np.float32]] = {}  # probability of the value in the column of that name
        self.meta: dict[str, Any] = meta if meta is not None else {}

    @classmethod
    def from_words(
        cls,
        sentences: Sequence[Sequence[str]],
        spaces: Sequence[Sequence[bool]] | None = None,
        strings: StringTable | None = None,
        **columns: Sequence[Sequence[Any]],
    ) -> Doc:
        """Create a document from words, joined by spaces except where `spaces` is false.

        Further arguments are columns of the same shape: `upos=...`, `head=...` or a custom name.
        """
        doc = cls(strings=strings)
        lengths = [len(sentence) for sentence in sentences]
        for name, column in columns.items():
            if [len(row) for row in column] != lengths:
                raise WeftError(f"column {name!r} does not have one value per word in every sentence")
        forms = list(chain.from_iterable(sentences))
        blanks = list(chain.from_iterable(spaces)) if spaces is not None else [True] * len(forms)
        doc.set_tokens(forms, blanks)
        doc.set_sentences(np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]))
        for name, column in columns.items():
            flat = list(chain.from_iterable(column))
            if name == "head":
                doc.head = np.array(flat, dtype=np.int32)
            else:
                doc.set_column(name, flat)
        return doc

    def set_tokens(self, forms: Sequence[str], blanks: Sequence[bool]) -> None:
        """Build the text from tokens (one word each), with a space after a token where `blanks` is true."""
        gaps = np.fromiter(blanks, dtype=np.int32, count=len(forms))
        self.text = " ".join(forms) if gaps[:-1].all() else "".join(_spaced(forms, blanks))
        sizes = np.fromiter(map(len, forms), dtype=np.int32, count=len(forms))
        self.token_end = (np.cumsum(sizes) + np.cumsum(gaps) - gaps).astype(np.int32)
        self.token_start = self.token_end - sizes
        self.word_token = np.arange(len(forms), dtype=np.int32)
        self.columns = {"form": self.strings.ids(forms)}
        self.head = None

    def set_offsets(self, starts: Sequence[int] | Ids, ends: Sequence[int] | Ids) -> None:
        """Set tokens (one word each) by their character offsets in the text."""
        self.token_start = np.asarray(starts, dtype=np.int32)
        self.token_end = np.asarray(ends, dtype=np.int32)
        self.word_token = np.arange(len(self.token_start), dtype=np.int32)
        text = self.text
        pairs = zip(self.token_start.tolist(), self.token_end.tolist(), strict=True)
        self.columns = {"form": self.strings.ids([text[start:end] for start, end in pairs])}
        self.head = None

    def set_sentences(self, offsets: Sequence[int] | NDArray[Any]) -> None:
        """Set the sentence boundaries: sentence `s` holds words `offsets[s]:offsets[s + 1]`."""
        self.sentence_offsets = np.asarray(offsets, dtype=np.int32)
        if len(self.comments) != len(self.sentence_offsets) - 1:
            self.comments = [()] * (len(self.sentence_offsets) - 1)

    def set_column(self, name: str, values: Sequence[str] | Ids) -> None:
        """Set a column of words from strings, or from ids of `doc.strings`."""
        column = values if isinstance(values, np.ndarray) else self.strings.ids(values)
        if len(column) != self.n_words:
            raise WeftError(f"column {name!r} has {len(column)} values for {self.n_words} words")
        self.columns[name] = column.astype(np.int32, copy=False)

    def column(self, name: str) -> list[str]:
        """A column of words as strings ("" if not set)."""
        if name not in self.columns:
            return [""] * self.n_words
        return self.strings.strings(self.columns[name])

    def has(self, layer: str) -> bool:
        """Whether the document has a layer: `tokens`, `sentences`, `head`, `constituents`, a column or `spans/NAME`."""
        if layer == "text":
            return True
        if layer in ("tokens", "words"):
            return self.n_words > 0
        if layer == "sentences":
            return len(self.sentence_offsets) > 1
        if layer == "head":
            return self.head is not None
        if layer == "constituents":
            return self.constituents is not None
        if "/" in layer:
            kind, name = layer.split("/", 1)
            return name in getattr(self, kind)
        return layer in self.columns and bool(self.columns[layer].any())

    @property
    def n_words(self) -> int:
        return len(self.word_token)

    @property
    def n_sentences(self) -> int:
        return len(self.sentence_offsets) - 1

    @property
    def word_start(self) -> Ids:
        """First character of every word; see `weft.text.offsets` for the words of contractions."""
        return word_offsets(self)[0]

    @property
    def word_end(self) -> Ids:
        """One past the last character of every word."""
        return word_offsets(self)[1]

    @property
    def id(self) -> str:
        """The document's name, "" if it has none."""
        return str(self.meta.get("id", ""))

    @id.setter
    def id(self, name: str) -> None:
        """Name the document; "" takes its name away."""
        self.meta["id"] = str(name)
        if not name:
            del self.meta["id"]

    @property
    def words(self) -> list[Word]:
        return [Word(self, i) for i in range(self.n_words)]

    @property
    def tokens(self) -> list[Token]:
        return [Token(self, i) for i in range(len(self.token_start))]

    @property
    def sentences(self) -> list[Sentence]:
        return [Sentence(self, i) for i in range(self.n_sentences)]

    def __len__(self) -> int:
        return self.n_words

    def __iter__(self) -> Iterator[Word]:
        return iter(self.words)

    def __getitem__(self, index: int) -> Word:
        if not -self.n_words <= index < self.n_words:
            raise IndexError(f"word {index} of a document of {self.n_words} words")
        return Word(self, index % self.n_words)

    def span_views(self, name: str) -> list[Span]:
        """The spans of a layer as views."""
        if name not in self.spans:
            raise WeftError(f"the document has no span layer {name!r}; it has: {', '.join(self.spans) or 'none'}")
        return [Span(self, name, i) for i in range(len(self.spans[name]))]

    @property
    def entities(self) -> list[Span]:
        """The spans of the layer `entities`; empty if the layer is missing.

        >>> doc = Doc.from_words([["Ada", "left"]])
        >>> doc.entities
        []
        >>> doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "PER")])
        >>> doc.entities
        [Span('Ada', 'PER')]
        """
        return self.span_views("entities") if "entities" in self.spans else []

    @property
    def frames(self) -> list[Frame]:
        """Predicates with their senses and arguments (see `weft.text.frames`); empty if there are none.

        >>> Doc.from_words([["Ada", "left"]]).frames
        []
        """
        from weft.text.frames import Frame, frame_rows

        return [Frame(self, row) for row in frame_rows(self)]

    @property
    def scope(self) -> list[Scope]:
        """Which quantifiers outscope which, for every sentence with scope-bearing nodes; empty without the layer."""
        from weft.text.conventions.scope import scope_views

        return list(scope_views(self))

    @property
    def preferences(self) -> list[Preference]:
        """Verbs and whether their arguments break selectional preferences; empty without the layer."""
        from weft.text.conventions.preferences import preferences_of

        return preferences_of(self)

    def timeline(self, rules: bool = False) -> Timeline:
        """The events and times of the layer `timeline` in their order, with all that follows from their links.

        `rules` adds what rules of the clinical domain say (`weft.tasks.timelines.rules`).
        """
        from weft.tasks.timelines.timeline import Timeline

        return Timeline(self, rules)

    def entities_of(self, layer: str = "coref") -> list[Entity]:
        """The entities of a layer of clusters, each with its mentions; see `weft.text.conventions.coreference`.

        >>> from weft.text.conventions.coreference import set_entities
        >>> doc = Doc.from_words([["Ada", "said", "she", "slept"]])
        >>> set_entities(doc, [(0, 1), (2, 3)], [0, 0])
        >>> doc.entities_of("coref")[0].mentions
        [Span('Ada', ''), Span('she', '')]
        """
        from weft.text.conventions.coreference import entities_of

        return entities_of(self, layer)

    @property
    def metaphors(self) -> list[Metaphor]:
        """The metaphors, with their explanations; empty without the layer."""
        from weft.text.conventions.metaphor import metaphors

        return list(metaphors(self))

    @property
    def times(self) -> list[Timex]:
        """Time expressions with their types and values; empty without the layer `times`.

        >>> Doc.from_words([["See", "you", "later"]]).times
        []
        """
        from weft.text.conventions.times import timexes

        return list(timexes(self))

    @property
    def keywords(self) -> list[Keyword]:
        """Keywords with their scores and the sentences behind them, the best first; empty if none were found.

        >>> Doc.from_words([["Fine"]]).keywords
        []
        """
        from weft.text.conventions.keywords import keywords_of

        return keywords_of(self)

    @property
    def opinions(self) -> list[Opinion]:
        """Opinions about aspects and comparisons, with the words that carry them; empty without the layer `opinions`.

        >>> Doc.from_words([["Fine"]]).opinions
        []
        """
        from weft.text.conventions.opinions import opinions

        return list(opinions(self))

    @property
    def tuples(self) -> list[RelationTuple]:
        """Relations of two or more mentions with the slots that they fill; empty without the layer `relations`.

        >>> Doc.from_words([["Ada", "left"]]).tuples
        []
        """
        from weft.text.conventions.tuples import tuple_views

        return list(tuple_views(self))

    @property
    def events(self) -> list[Event]:
        """Events with their triggers and arguments; empty without the layer `events`.

        >>> Doc.from_words([["Ada", "left"]]).events
        []
        """
        from weft.text.conventions.events import events_of

        return events_of(self)

    @property
    def links(self) -> list[Link]:
        """Phrases linked to senses and entities; empty without the layer `links`.

        >>> Doc.from_words([["Ada", "left"]]).links
        []
        """
        from weft.text.conventions.links import links_of

        return list(links_of(self))

    def subset(self, sentences: Sequence[int]) -> Doc:
        """A new document of the sentences with these indices (ascending).

        >>> Doc.from_words([["Dogs", "bark"], ["Cats", "purr"]]).subset([1]).text
        'Cats purr'
        """
        from weft.text.cut import subset

        return subset(self, sentences)

    def same(self, other: Doc) -> bool:
        """Whether another document has the same content, regardless of its string table."""
        from weft.text.record import same

        return same(self, other)

    def to_dict(self) -> dict[str, Any]:
        """The document as plain values: one record, counted in characters (see `weft.text.records`).

        >>> doc = Doc.from_words([["Dogs", "bark"]], upos=[["NOUN", "VERB"]])
        >>> doc.to_dict()["words"][0]
        {'start': 0, 'end': 4, 'form': 'Dogs', 'upos': 'NOUN'}
        """
        from weft.text.records import record_of

        return record_of(self)

    def to_json(self) -> str:
        """The same as one line of JSON, as `weft annotate --to records` writes it."""
        try:
            return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        except (TypeError, ValueError, RecursionError) as error:
            raise WeftError(
                f"{self!r}: metadata or attributes contain a value that JSON cannot represent: {error}"
            ) from error

    def to_bytes(self) -> bytes:
        """Serialize the document to bytes (safetensors and JSON, no pickle)."""
        from weft.text.serialize import doc_to_bytes

        return doc_to_bytes(self)

    @classmethod
    def from_bytes(cls, data: bytes, strings: StringTable | None = None) -> Doc:
        """Restore a document that `to_bytes` serialized."""
        from weft.text.serialize import doc_from_bytes

        return doc_from_bytes(data, strings)

    def _repr_html_(self) -> str | None:
        """The document as a notebook displays it: its spans and trees, or nothing if it has none."""
        from weft.pictures import show

        return show(self).html if self.has("sentences") and (self.spans or self.has("head")) else None

    def __repr__(self) -> str:
        name = f"{self.id!r}, " if self.id else ""
        return f"Doc({name}{self.n_sentences} sentences, {self.n_words} words)"


def _spaced(forms: Sequence[str], blanks: Sequence[bool]) -> Iterator[str]:
    """Forms with the spaces after them, except after the last."""
    for form, blank in zip(forms[:-1], blanks[:-1], strict=True):
        yield form + " " if blank else form
    yield from forms[-1:]
