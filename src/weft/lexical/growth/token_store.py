"""Raw text as integers: passes over a large corpus read these instead of the text.

Words are numbered in string order once all text has been read, so nothing depends on the order of documents or on how
they were distributed. Tokens are stored in pieces of about half a million, in memory or in the files of a folder,
together with each word's document frequency and number of occurrences:

    idf(w) = log(N / n_w)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from weft.arrays import Floats, Ids, Ints, Keys
from weft.errors import DataError
from weft.hashing import hash_strings
from weft.progress import progress
from weft.text.corpus import Corpus
from weft.text.doc import Doc
from weft.text.strings import StringTable

#: Numbers that no word in a text has: the end of a sentence on either side, and the slot of a pattern.
EDGE, SLOT = 1, 2
EDGE_NAME, SLOT_NAME = "-EDGE-", "-ENT-"
_RESERVED = ("\0edge", "\0slot")  # they sort before all words
_PIECE = 1 << 19
_BATCH_WORDS = 50_000


class Piece(NamedTuple):
    """Tokens as word numbers; sentence `s` is `tokens[sentences[s]:sentences[s + 1]]`."""

    tokens: Ids
    sentences: Ints

    def reversed(self) -> Piece:
        """Every sentence reversed.

        >>> piece = Piece(np.array([3, 4, 5], dtype=np.int32), np.array([0, 1, 3])).reversed()
        >>> piece.tokens.tolist(), piece.sentences.tolist()
        ([5, 4, 3], [0, 2, 3])
        """
        return Piece(np.ascontiguousarray(self.tokens[::-1]), len(self.tokens) - self.sentences[::-1])


class TokenStore:
    """All tokens of a corpus as numbers, with the strings and document frequencies of its words.

    >>> store = TokenStore.of(Corpus([Doc("Ada's cat sleeps."), Doc("The cat purrs.")]))
    >>> store.n_tokens, store.n_documents, [store.words[token] for token in store.piece(0).tokens[:4]]
    (9, 2, ['Ada', "'s", 'cat', 'sleeps'])
    >>> round(float(store.idf()[store.words.index("Ada")]), 3)
    0.693
    """

    def __init__(self, document_words: int = 2000, folder: Path | None = None) -> None:
        self.document_words = document_words  # longer documents are split when counting document frequencies
        self.n_tokens = self.n_documents = 0
        self.words: list[str] = []
        self._table = StringTable(_RESERVED)
        self._folder = folder
        self._pieces: list[Piece | Path] = []
        self._held: list[tuple[Ids, Ints]] = []
        self._frequency = np.zeros(1024, dtype=np.int64)
        self._documents = np.zeros(1024, dtype=np.int64)

    @classmethod
    def of(
        cls,
        corpora: Corpus | Sequence[Corpus],
        document_words: int = 2000,
        workers: int = 1,
        folder: Path | None = None,
    ) -> TokenStore:
        """Read a corpus, or its shards; documents without words are split by rule, in `workers` processes."""
        store = cls(document_words, folder)
        with progress("reading", unit="documents") as bar:
            for corpus in [corpora] if isinstance(corpora, Corpus) else corpora:
                for documents, count in _encoded(corpus, workers):
                    store._add(*documents)
                    bar.advance(count)
        store._finish()
        return store

    def _add(self, strings: Sequence[str], documents: Sequence[tuple[Ids, Ints]]) -> None:
        numbers = self._table.ids(strings)
        if len(self._table) > len(self._frequency):
            grown = max(len(self._table), 2 * len(self._frequency)) - len(self._frequency)
            self._frequency = np.concatenate([self._frequency, np.zeros(grown, dtype=np.int64)])
            self._documents = np.concatenate([self._documents, np.zeros(grown, dtype=np.int64)])
        for local, sentences in documents:
            tokens = numbers[local]
            types, counts = np.unique(tokens, return_counts=True)
            self._frequency[types] += counts
            for first, end in _cuts(sentences, self.document_words):
                self._documents[np.unique(tokens[first:end])] += 1
                self.n_documents += 1
            self._held.append((tokens, sentences))
            self.n_tokens += len(tokens)
        if sum(len(tokens) for tokens, _ in self._held) >= _PIECE:
            self._flush()

    def _flush(self) -> None:
        if not self._held:
            return
        starts = np.cumsum([0, *(len(tokens) for tokens, _ in self._held)])
        shifted = [sentences[1:] + start for (_, sentences), start in zip(self._held, starts, strict=False)]
        piece = Piece(
            np.concatenate([tokens for tokens, _ in self._held]), np.concatenate([np.zeros(1, np.int64), *shifted])
        )
        self._held = []
        if self._folder is None:
            self._pieces.append(piece)
            return
        path = self._folder / f"tokens-{len(self._pieces):06d}.npz"
        np.savez(path, tokens=piece.tokens, sentences=piece.sentences)
        self._pieces.append(path)

    def _finish(self) -> None:
        self._flush()
        if not self.n_tokens:
            raise DataError("the text contains no words to grow lists from")
        strings = self._table.strings(range(len(self._table)))
        order = sorted(range(len(strings)), key=strings.__getitem__)
        self.words = [strings[i] for i in order]
        self._rank = np.empty(len(order), dtype=np.int32)
        self._rank[order] = np.arange(len(order), dtype=np.int32)
        self._frequency, self._documents = self._frequency[order], self._documents[order]
        self.keys: Keys = hash_strings(self.words)
        self._numbers = {word: i for i, word in enumerate(self.words)}

    def __len__(self) -> int:
        """The number of pieces."""
        return len(self._pieces)

    def piece(self, number: int) -> Piece:
        """One piece of the text."""
        kept = self._pieces[number]
        if isinstance(kept, Path):
            with np.load(kept) as arrays:
                kept = Piece(arrays["tokens"], arrays["sentences"])
        return Piece(self._rank[kept.tokens], kept.sentences)

    def number(self, word: str) -> int:
        """The number of a word, or -1 if the text does not contain it."""
        return self._numbers.get(word, -1)

    def idf(self) -> Floats:
        """log(N / n_w) of every word; 0 for a word in no document."""
        with np.errstate(divide="ignore"):
            return np.where(self._documents > 0, np.log(self.n_documents / self._documents), 0.0)

    def stop_words(self, n: int) -> set[str]:
        """The `n` most frequent lower-case words (at most a tenth of them), and all words that are seldom capitalized.

        >>> store = TokenStore.of(Corpus([Doc("Yes, yes, yes! Ada said yes to the man.")]))
        >>> sorted(store.stop_words(10))
        ['yes']
        """
        lower = [i for i, word in enumerate(self.words) if word[:1].isalpha() and word.islower()]
        lower.sort(key=lambda i: (-int(self._frequency[i]), i))
        droppable = {self.words[i] for i in lower[: min(n, len(lower) // 10)]}
        for i, word in enumerate(self.words):
            if word[:1].isupper():
                plain = self._numbers.get(word.lower())
                if plain is not None and self._frequency[plain] > self._frequency[i]:
                    droppable.add(word.lower())
        return droppable

    def string(self, tokens: Iterable[int]) -> str:
        """The words with these numbers, joined by spaces."""
        names = {EDGE: EDGE_NAME, SLOT: SLOT_NAME}
        return " ".join(names.get(token, self.words[token]) for token in tokens)


def split_possessives(strings: Sequence[str]) -> list[tuple[str, ...]]:
    """Split each English possessive into two words, as treebanks do.

    >>> split_possessives(["Ada's", "cats", "’s"])
    [('Ada', "'s"), ('cats',), ('’s',)]
    """
    return [(word[:-2], word[-2:]) if word.endswith(("'s", "’s")) and len(word) > 2 else (word,) for word in strings]


def _encoded(corpus: Corpus, workers: int) -> Iterator[tuple[tuple[Sequence[str], list[tuple[Ids, Ints]]], int]]:
    """The documents of a corpus in batches, each with its own word numbering, in order."""
    batches = corpus.batches(_BATCH_WORDS)
    if workers == 1:
        for batch in batches:
            yield _encode(batch), len(batch)
        return
    from multiprocessing import get_context

    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        pending: list[tuple[object, int]] = []
        for batch in batches:
            ready = all(doc.n_words for doc in batch)
            work = _encode(batch) if ready else pool.submit(_encode_texts, [doc.text for doc in batch])
            pending.append((work, len(batch)))
            if len(pending) > 2 * workers:
                yield _result(*pending.pop(0))
        for each in pending:
            yield _result(*each)


def _result(work: object, count: int) -> tuple[tuple[Sequence[str], list[tuple[Ids, Ints]]], int]:
    return (work if isinstance(work, tuple) else work.result()), count  # type: ignore[attr-defined]


def _encode_texts(texts: Sequence[str]) -> tuple[Sequence[str], list[tuple[Ids, Ints]]]:
    return _encode([Doc(text) for text in texts])


def _encode(docs: Sequence[Doc]) -> tuple[Sequence[str], list[tuple[Ids, Ints]]]:
    """Strings, and the documents as their numbers with sentence offsets."""
    from weft.text.split import split_by_rule

    table = StringTable()
    documents: list[tuple[Ids, Ints]] = []
    for doc in docs:
        by_rule = not doc.n_words
        if by_rule:
            split_by_rule(doc)
        types, local = np.unique(doc.columns["form"], return_inverse=True)
        strings = doc.strings.strings(types)
        parts = split_possessives(strings) if by_rule else [(string,) for string in strings]
        sizes = np.array([len(part) for part in parts], dtype=np.int64)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        numbers = table.ids([word for part in parts for word in part])
        bounds = np.concatenate([[0], np.cumsum(sizes[local])])
        within = np.arange(bounds[-1]) - np.repeat(bounds[:-1], sizes[local])
        tokens = numbers[np.repeat(starts[:-1][local], sizes[local]) + within]
        documents.append((tokens, bounds[doc.sentence_offsets].astype(np.int64)))
    return table.strings(range(len(table))), documents


def _cuts(sentences: Ints, words: int) -> Iterator[tuple[int, int]]:
    """Parts of a document of about `words` words each, cut between sentences; one part if `words` is 0."""
    n = int(sentences[-1])
    if not words or n <= words:
        if n:
            yield 0, n
        return
    targets = np.arange(0, n + words // 2, words)
    targets[-1] = n
    borders = np.unique(sentences[np.searchsorted(sentences, targets)])
    yield from pairwise(borders.tolist())
