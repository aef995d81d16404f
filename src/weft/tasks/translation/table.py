"""A phrase table: for every source phrase its translations with scores, links, and the sentences that they come from.

Source phrases are nodes of a trie (`phrases`), so that all phrases of a sentence are found in one walk from each of its
words; pairs are sorted by node, the most probable first. Everything is an array, which a file maps into memory.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weft.arrays import Bools, Floats, Ids, Ints, Singles
from weft.declared import Array, Arrays, Stored
from weft.errors import ConfigError, ModelError
from weft.infer.decoding.backoff import child
from weft.kernel import kernel
from weft.tasks.translation.phrases import Extraction
from weft.tasks.translation.scores import (
    lexical_weights,
    node_words,
    orientation_table,
    surprises,
    typical_places,
    word_tables,
)

#: The scores of a pair (s, t), all logarithms.
SCORES = ("p(t|s)", "p(s|t)", "lex(t|s)", "lex(s|t)")
_ARRAYS = (
    Array("words", "int32", ("nodes",), below="vocabulary"),
    Array("first", "int32", ("nodes+1",), low=1, below="ends"),
    Array("pair_first", "int64", ("nodes+1",), offsets_of="pairs"),
    Array("target_offsets", "int64", ("pairs+1",), offsets_of="target"),
    Array("target_words", "int32", ("target",), below="targets"),
    Array("scores", "float32", ("pairs", len(SCORES)), within=(-1e6, 1e-3)),
    Array("reordering", "float32", ("pairs", 6), within=(-1e6, 1e-3)),
    Array("count", "int32", ("pairs",)),
    Array("inside", "int64", ("pairs",)),
    Array("rule", "int32", ("pairs",)),
    Array("origin_offsets", "int64", ("pairs+1",), offsets_of="origins"),
    Array("origins", "int32", ("origins",)),
)


@dataclass(frozen=True)
class TableSettings:
    """What goes into a table."""

    limit: int = 20  #: translations per source phrase, by p(t|s); 0 for all
    least_surprise: float = 0.0  #: pairs less surprising than log N plus this are left out; 0 keeps all
    significance: bool = False  #: whether to leave out pairs by their surprise
    smoothing: float = 0.5  #: added to counts of orientations
    origins: int = 3  #: sentences remembered per pair; 0 for all

    def __post_init__(self) -> None:
        if self.limit < 0 or self.origins < 0 or not self.smoothing > 0:
            raise ConfigError("limit and origins must be at least 0 (0: all), smoothing above 0")


@dataclass(frozen=True, eq=False)
class PhraseTable:
    """Phrases and their translations, as arrays.

    >>> from weft.tasks.translation.phrases import extract
    >>> from weft.text.bitext import Links
    >>> extraction = extract([["das", "Haus"]], [["the", "house"]], Links.of([[(0, 0), (1, 1)]]))
    >>> table = PhraseTable.of(extraction)
    >>> len(table), table.target(2), table.links(2)
    (3, [0, 1], [(0, 0), (1, 1)])
    >>> [each.tolist() for each in table.find(np.array([0, 1]))]
    [[0, 0, 1], [1, 2, 2], [0, 2, 1]]
    """

    words: Ids  #: the last word of every node
    first: Ids  #: children of node v are first[v] ... first[v + 1] - 1, sorted by word
    pair_first: Ints  #: pairs of node v are pair_first[v] ... pair_first[v + 1] - 1
    target_offsets: Ints
    target_words: Ids
    scores: Singles  #: a row per pair, columns `SCORES`
    reordering: Singles  #: a row per pair: log probabilities of orientations before it and after it
    count: Ids  #: how often a pair was seen
    inside: Ints  #: its links, bit 7 i + j
    rule: Ids  #: its number among all extracted pairs, the same in all tables of one extraction
    origin_offsets: Ints
    origins: Ids  #: sentence pairs in which it was seen

    def __len__(self) -> int:
        return len(self.rule)

    @classmethod
    def of(
        cls, extraction: Extraction, keep: Bools | None = None, settings: TableSettings | None = None
    ) -> PhraseTable:
        """The table of the sentence pairs to keep, of all by default."""
        settings = settings or TableSettings()
        keep = np.ones(extraction.n_sentences, np.bool_) if keep is None else np.asarray(keep, np.bool_)
        sentences = extraction.sentence
        seen = keep[sentences] if len(sentences) else np.zeros(0, np.bool_)
        count = np.bincount(extraction.pair[seen], minlength=extraction.n_pairs)
        chosen, frequency = _chosen(extraction, keep, count, settings)
        number = np.full(extraction.n_pairs, -1, np.int64)
        number[chosen] = np.arange(len(chosen))
        places = typical_places(extraction, keep, number, len(chosen))
        lexical = lexical_weights(extraction, places, word_tables(extraction, keep))
        orientations = orientation_table(extraction, keep, number, len(chosen), settings.smoothing)
        target_offsets, target_words = node_words(extraction.target_grams, extraction.pair_target[chosen])
        origin_offsets, origins = _origins(sentences[seen], number[extraction.pair[seen]], len(chosen), settings)
        nodes, words, first = _trie(extraction, extraction.pair_source[chosen])
        pair_first = np.searchsorted(nodes[extraction.pair_source[chosen]], np.arange(len(words) + 1))
        return cls(
            words, first, pair_first.astype(np.int64), target_offsets, target_words,
            np.hstack([frequency, lexical]).astype(np.float32), orientations.astype(np.float32),
            count[chosen].astype(np.int32), places.inside, chosen.astype(np.int32), origin_offsets, origins,
        )  # fmt: skip

    def find(self, sentence: Ids) -> tuple[Ids, Ids, Ids]:
        """The start, end and pair of all ways to translate spans of a sentence; words are numbers, -1 if unknown."""
        room = 64 * (len(sentence) + 1)
        while True:
            rows = np.empty((3, room), np.int32)
            n = _find(self.first, self.words, self.pair_first, np.asarray(sentence, np.int32), rows)
            if n <= room:
                return rows[0, :n], rows[1, :n], rows[2, :n]
            room = n

    def target(self, pair: int) -> list[int]:
        """The target words of a pair."""
        found: list[int] = self.target_words[self.target_offsets[pair] : self.target_offsets[pair + 1]].tolist()
        return found

    def links(self, pair: int) -> list[tuple[int, int]]:
        """The links inside a pair."""
        bits = int(self.inside[pair])
        return [divmod(bit, 7) for bit in range(49) if bits >> bit & 1]

    def seen_in(self, pair: int) -> list[int]:
        """Sentence pairs in which a pair was seen, the first ones."""
        found: list[int] = self.origins[self.origin_offsets[pair] : self.origin_offsets[pair + 1]].tolist()
        return found

    def arrays(self) -> Arrays:
        """The arrays of a file."""
        return {each.name: getattr(self, each.name) for each in _ARRAYS}

    @classmethod
    def from_arrays(cls, stored: Stored, n_source: int, n_target: int) -> PhraseTable:
        """The table of checked arrays of a file."""
        nodes = len(stored.get("words", ()))
        arrays = stored.take(*_ARRAYS, vocabulary=max(1, n_source), targets=n_target, nodes=nodes, ends=nodes + 1)
        first, words = arrays["first"], arrays["words"]
        if (
            nodes < 1 + n_source
            or first[1] != 1 + n_source
            or not bool((words[1 : 1 + n_source] == range(n_source)).all())
        ):
            raise ModelError("the phrase table does not begin with the words of its language: the file is damaged")
        if first[0] != 1 or first[-1] != nodes or bool((np.diff(first) < 0).any()):
            raise ModelError("the phrase table's nodes are not in order: the file is damaged")
        return cls(**arrays)


def _chosen(extraction: Extraction, keep: Bools, count: Ints, settings: TableSettings) -> tuple[Ints, Floats]:
    """The pairs of a table, sorted by source and falling p(t|s), and the logarithms of p(t|s) and p(s|t)."""
    pairs = np.flatnonzero(count)
    s, t = extraction.pair_source[pairs], extraction.pair_target[pairs]
    own = count[pairs].astype(np.float64)
    of_source = np.bincount(s, own, len(extraction.source_grams.parent))
    of_target = np.bincount(t, own, len(extraction.target_grams.parent))
    frequency = np.log(np.column_stack([own / of_source[s], own / of_target[t]])).reshape(-1, 2)
    if settings.significance and len(pairs):
        least = np.log(keep.sum()) + settings.least_surprise
        kept = surprises(extraction, keep, pairs) > least + 1e-6
        pairs, s, frequency = pairs[kept], s[kept], frequency[kept]
    order = np.lexsort((pairs, -frequency[:, 1], -frequency[:, 0], s))
    pairs, s, frequency = pairs[order], s[order], frequency[order]
    if settings.limit:
        rank = np.arange(len(s)) - np.searchsorted(s, s)
        kept = rank < settings.limit
        pairs, frequency = pairs[kept], frequency[kept]
    return pairs, frequency


def _origins(sentences: Ids, pairs: Ints, n: int, settings: TableSettings) -> tuple[Ints, Ids]:
    kept = np.flatnonzero(pairs >= 0)
    keys = np.unique(pairs[kept] << 32 | sentences[kept])
    owner, found = keys >> 32, keys & 0xFFFFFFFF
    if settings.origins:
        some = np.arange(len(owner)) - np.searchsorted(owner, owner) < settings.origins
        owner, found = owner[some], found[some]
    return np.searchsorted(owner, np.arange(n + 1)).astype(np.int64), found.astype(np.int32)


def _trie(extraction: Extraction, sources: Ids) -> tuple[Ints, Ids, Ids]:
    """New numbers of nodes, and words and children of a trie of source phrases only."""
    grams = extraction.source_grams
    kept = grams.closed(np.unique(sources))
    nodes = np.cumsum(kept, dtype=np.int64) - 1
    old = np.flatnonzero(kept)
    parents = nodes[grams.parent[old]]
    sizes = np.bincount(parents[1:], minlength=len(old))
    first = np.concatenate([[1], 1 + np.cumsum(sizes)]).astype(np.int32)
    return nodes, grams.word[old], first


@kernel
def _find(first: Ids, words: Ids, pair_first: Ints, sentence: Ids, rows: Ids) -> int:
    n, room = 0, rows.shape[1]
    for start in range(len(sentence)):
        node = 0
        for end in range(start, len(sentence)):
            if sentence[end] < 0:
                break
            node = child(first, words, node, int(sentence[end]))
            if node < 0:
                break
            for pair in range(pair_first[node], pair_first[node + 1]):
                if n < room:
                    rows[0, n], rows[1, n], rows[2, n] = start, end + 1, pair
                n += 1
    return n
