"""Corpora: streams of documents that can be gone through again and again, read lazily or held in memory.

Splits are by position: document `i` falls into the part that owns `hash(seed, i)` in [0, 1), so that a stream of
unknown length is split in constant memory, and always in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any

from weft.errors import WeftError
from weft.text.doc import Doc
from weft.text.views import Sentence

if TYPE_CHECKING:
    from weft.formats.streams import Report


class Corpus:
    """Documents, in a sequence or behind a function that opens a new stream of them.

    >>> corpus = Corpus([Doc.from_words([["Dogs", "bark"], ["Cats", "purr"]]), Doc.from_words([["Cows", "moo"]])])
    >>> [sentence.text for sentence in corpus.sentences()]
    ['Dogs bark', 'Cats purr', 'Cows moo']
    >>> sum(doc.n_words for doc in corpus.take(1))
    4
    """

    def __init__(self, source: Callable[[], Iterator[Doc]] | Sequence[Doc], report: Report | None = None) -> None:
        self._source = source
        self.report = report  #: what a reader with `skip_bad` left out in the last pass

    def __iter__(self) -> Iterator[Doc]:
        return iter(self._source()) if callable(self._source) else iter(self._source)

    @property
    def in_memory(self) -> bool:
        return not callable(self._source)

    def load(self) -> Corpus:
        """The same corpus in memory."""
        return self if self.in_memory else Corpus(list(self), self.report)

    def docs(self) -> list[Doc]:
        """All documents as a list."""
        return list(self)

    def take(self, n: int) -> Corpus:
        """The first `n` documents."""
        return self._derived(lambda docs: islice(docs, n))

    def skip(self, n: int) -> Corpus:
        """All but the first `n` documents."""
        return self._derived(lambda docs: islice(docs, n, None))

    def map(self, function: Callable[[Doc], Doc]) -> Corpus:
        """The corpus with a function applied to every document, each time it is gone through."""
        return Corpus(lambda: map(function, self), self.report)

    def filter(self, keep: Callable[[Doc], bool]) -> Corpus:
        """The documents for which a function says yes."""
        return self._derived(lambda docs: filter(keep, docs))

    def shards(self, n: int) -> list[Corpus]:
        """`n` corpora that share the documents out: document `i` goes to shard `i % n`."""
        if n < 1:
            raise WeftError(f"a corpus has at least 1 shard, asked for {n}")
        return [self._derived(_every(shard, n)) for shard in range(n)]

    def split(self, seed: int = 0, **shares: float) -> dict[str, Corpus]:
        """Split by document into named parts: `split(train=0.8, dev=0.1, test=0.1)`.

        Shares are probabilities, so that parts of small corpora come out only about as large as asked for.

        >>> corpus = Corpus([Doc(str(i)) for i in range(1000)])
        >>> parts = corpus.split(train=0.9, test=0.1)
        >>> [len(part.docs()) for part in parts.values()], sum(len(part.docs()) for part in parts.values())
        ([919, 81], 1000)
        """
        shares = shares or {"train": 0.8, "dev": 0.1, "test": 0.1}
        if min(shares.values()) < 0 or abs(sum(shares.values()) - 1.0) > 1e-9:
            raise WeftError(f"shares of a split must be positive and sum to 1, got {shares}")
        parts: dict[str, Corpus] = {}
        low = 0.0
        for name, share in shares.items():
            high = low + share
            parts[name] = self._derived(_hashed(seed, low, high if len(parts) + 1 < len(shares) else 1.0))
            low = high
        return parts

    def by(self, key: str) -> dict[str, Corpus]:
        """One corpus a domain: the value of `key` in `doc.meta`, or else in the sentences' comments `# key = value`.

        Documents whose sentences differ are cut. Goes through the corpus once to find the domains; what has none
        stands under "".

        >>> one, two = Doc.from_words([["Dogs", "bark"]]), Doc.from_words([["Cows", "moo"]])
        >>> one.meta["genre"], two.comments[0] = "news", ("# genre = fiction",)
        >>> {name: [doc.text for doc in part] for name, part in Corpus([one, two]).by("genre").items()}
        {'news': ['Dogs bark'], 'fiction': ['Cows moo']}
        """
        names: dict[str, None] = {}
        for doc in self:
            names.update(dict.fromkeys(_domains(doc, key)))
        return {name: self._derived(_of_domain(key, name)) for name in names}

    def sentences(self) -> Iterator[Sentence]:
        """Every sentence of every document."""
        for doc in self:
            yield from doc.sentences

    def take_sentences(self, n: int) -> Corpus:
        """The first `n` sentences, the last document cut."""
        return self.slice_sentences(0, n)

    def slice_sentences(self, start: int, end: int | None = None) -> Corpus:
        """Sentences `start` to `end` (exclusive) of the whole corpus, documents cut where needed."""
        return self._derived(_sentence_slice(start, end))

    def split_sentences(self, *shares: float) -> tuple[Corpus, ...]:
        """Split by sentence, in order: `train, dev = corpus.split_sentences(0.9, 0.1)` puts the last tenth into dev.

        >>> corpus = Corpus([Doc.from_words([["a"], ["b"], ["c"], ["d"]])])
        >>> [[sentence.text for sentence in part.sentences()] for part in corpus.split_sentences(0.75, 0.25)]
        [['a', 'b', 'c'], ['d']]
        """
        if not shares or min(shares) < 0 or abs(sum(shares) - 1.0) > 1e-9:
            raise WeftError(f"shares of a split must be positive and sum to 1, got {shares}")
        total = sum(doc.n_sentences for doc in self)
        borders, reached = [0], 0.0
        for share in shares:
            reached += share
            borders.append(round(reached * total))
        return tuple(self.slice_sentences(low, high) for low, high in pairwise(borders))

    def batches(self, n_words: int = 20_000) -> Iterator[list[Doc]]:
        """Lists of documents of at least `n_words` words (the last: fewer); see `batched`."""
        return batched(self, n_words)

    def write(self, path: str, format: str | None = None, **options: Any) -> int:
        """Write the documents to a file in the format of its suffix; returns how many."""
        from weft.formats import write

        return write(self, path, format, **options)

    def __repr__(self) -> str:
        return f"Corpus({len(self._source)} documents)" if not callable(self._source) else "Corpus(stream)"

    def _derived(self, change: Callable[[Iterable[Doc]], Iterable[Doc]]) -> Corpus:
        """A corpus made of this one; in memory if this one is."""
        if self.in_memory:
            return Corpus(list(change(self)), self.report)
        return Corpus(lambda: iter(change(self)), self.report)


def batched(docs: Iterable[Doc], n_words: int = 20_000) -> Iterator[list[Doc]]:
    """Documents in lists of at least `n_words` words (the last: fewer); five characters of raw text count as a word.

    >>> [[doc.text for doc in batch] for batch in batched(map(Doc, ["Dogs bark.", "Cats purr.", "Cows moo."]), 5)]
    [['Dogs bark.', 'Cats purr.'], ['Cows moo.']]
    """
    batch: list[Doc] = []
    size = 0
    for doc in docs:
        batch.append(doc)
        size += doc.n_words or len(doc.text) // 5 + 1
        if size >= n_words:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _every(start: int, step: int) -> Callable[[Iterable[Doc]], Iterable[Doc]]:
    return lambda docs: islice(docs, start, None, step)


def _hashed(seed: int, low: float, high: float) -> Callable[[Iterable[Doc]], Iterable[Doc]]:
    return lambda docs: (doc for i, doc in enumerate(docs) if low <= _uniform(seed, i) < high)


def _uniform(seed: int, position: int) -> float:
    """A number in [0, 1) that depends on seed and position only (splitmix64)."""
    mask = (1 << 64) - 1
    state = (seed * 0x9E3779B97F4A7C15 + (position + 1) * 0xBF58476D1CE4E5B9) & mask
    state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
    state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & mask
    return ((state ^ (state >> 31)) >> 11) / (1 << 53)


def _domains(doc: Doc, key: str) -> list[str]:
    """The domain of each sentence, or of the whole document if it is tagged (or has no sentences)."""
    if key in doc.meta or not doc.n_sentences:
        return [str(doc.meta.get(key, ""))]
    return [sentence.meta.get(key, "") for sentence in doc.sentences]


def _of_domain(key: str, name: str) -> Callable[[Iterable[Doc]], Iterable[Doc]]:
    def choose(docs: Iterable[Doc]) -> Iterator[Doc]:
        for doc in docs:
            domains = _domains(doc, key)
            chosen = [i for i, domain in enumerate(domains) if domain == name]
            if len(chosen) == len(domains):
                yield doc
            elif chosen:
                yield doc.subset(chosen)

    return choose


def _sentence_slice(start: int, end: int | None) -> Callable[[Iterable[Doc]], Iterable[Doc]]:
    def choose(docs: Iterable[Doc]) -> Iterator[Doc]:
        position = 0
        for doc in docs:
            if end is not None and position >= end:
                return
            low = max(start - position, 0)
            high = doc.n_sentences if end is None else min(end - position, doc.n_sentences)
            position += doc.n_sentences
            if low == 0 and high == doc.n_sentences:
                yield doc
            elif low < high:
                yield doc.subset(range(low, high))

    return choose
