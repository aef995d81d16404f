"""One sentence to translate: its words as numbers, and the options that a phrase table gives for it.

Positions that no phrase of one word translates can be copied: their words get numbers of their own behind those of the
target language.

An `Extension` adds to this what it knows: more options, more scores of options, more features. It must have a weight
for every score that it names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np

from weft.arrays import Floats, Ids
from weft.infer.decoding.decoder import SearchSettings
from weft.infer.decoding.features import Feature
from weft.infer.decoding.hypergraph import Derivation, Hypergraph
from weft.infer.decoding.options import Options
from weft.tasks.translation.table import SCORES, PhraseTable

PHRASES, WORDS, COPIED = "phrases", "words", "copied"
#: The scores of options: those of the table, the numbers of phrases and of words, and of words that were copied.
OPTION_SCORES = (*SCORES, PHRASES, WORDS, COPIED)


@dataclass(eq=False)
class Sentence:
    """A source sentence, and the numbers of its target words."""

    words: Sequence[str]
    ids: Ids  #: source words as numbers, -1 for unknown ones
    target_ids: Mapping[str, int]
    target_words: Sequence[str]
    own: list[str] = field(default_factory=list)  #: target words of this sentence alone

    def number(self, word: str) -> int:
        """The number of a target word; one that the model does not know gets a new one.

        >>> sentence = Sentence(["Oslo"], np.array([-1]), {"in": 0}, ["in"])
        >>> sentence.number("in"), sentence.number("Oslo"), sentence.number("Oslo"), sentence.word(1)
        (0, 1, 1, 'Oslo')
        """
        known = self.target_ids.get(word)
        if known is not None:
            return known
        if word not in self.own:
            self.own.append(word)
        return len(self.target_words) + self.own.index(word)

    def word(self, number: int) -> str:
        """The target word with a number."""
        n = len(self.target_words)
        return self.target_words[number] if number < n else self.own[number - n]


class Extension(Protocol):
    """What adds options, scores and features to a translator: `Translator(..., extensions=[...])`.

    For each sentence, `options` gets the options of all phrases so far and returns those to search with, for instance
    `options.with_scores(...)` or `Options.joined([options, more])`; `features` returns features of the decoder, which
    may control the search. Every name of a score that is new needs a weight in `weights`, and tuning learns them with
    the others. `Sentence.number` turns target words into numbers; `options.pair` says which pair of the table an option
    is, -1 for others.

    >>> class Short:
    ...     weights = {"short words": 0.5}
    ...     def options(self, sentence, options):
    ...         return options.with_scores(["short words"], [[len(options.target(o)) < 2] for o in range(len(options))])
    ...     def features(self, sentence, options):
    ...         return []
    """

    @property
    def weights(self) -> Mapping[str, float]:
        """A weight for every score that this adds."""

    def options(self, sentence: Sentence, options: Options) -> Options:
        """The options of a sentence."""

    def features(self, sentence: Sentence, options: Options) -> Sequence[Feature]:
        """Features for a sentence."""


@runtime_checkable
class SecondPass(Protocol):
    """An extension that also rescores the hypergraph of a search, and builds a tree over translations."""

    def search(self, settings: SearchSettings) -> SearchSettings:
        """How the first pass searches, given how a search does without it."""

    @property
    def later_names(self) -> tuple[str, ...]:
        """The names of scores that the second pass adds."""

    def second_pass(self, graph: Hypergraph, weights: Floats, sparse: Floats | None) -> Hypergraph:
        """The hypergraph with these scores; weights are for `graph.names` and then for them."""

    def heads(self, graph: Hypergraph, derivation: Derivation) -> tuple[int, ...]:
        """The heads of the words of a derivation, counted from 1."""


def table_options(table: PhraseTable, sentence: Sentence, sparse: bool = False) -> Options:
    """The options of a sentence; with `sparse`, each fires the feature with the number of its rule.

    >>> from weft.tasks.translation.phrases import extract
    >>> from weft.text.bitext import Links
    >>> table = PhraseTable.of(extract([["das", "Haus"]], [["the", "house"]], Links.of([[(0, 0), (1, 1)]])))
    >>> sentence = Sentence(["das", "Dach"], np.array([0, -1]), {"the": 0, "house": 1}, ["the", "house"])
    >>> options = table_options(table, sentence)
    >>> [[sentence.word(w) for w in options.target(o)] for o in range(len(options))], options.pair.tolist()
    ([['the'], ['Dach']], [0, -1])
    >>> options.scores[:, 4:].tolist()
    [[1.0, 1.0, 0.0], [1.0, 1.0, 1.0]]
    """
    start, end, pair = table.find(sentence.ids)
    single = np.zeros(len(sentence.words), np.bool_)
    single[start[end == start + 1]] = True
    copied = np.flatnonzero(~single)
    names = [sentence.number(sentence.words[at]) for at in copied.tolist()]
    n, m = len(pair), len(copied)
    sizes = table.target_offsets[pair + 1] - table.target_offsets[pair]
    ends = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    places = np.arange(ends[-1]) + np.repeat(table.target_offsets[pair] - ends[:-1], sizes)
    scores = np.zeros((n + m, len(OPTION_SCORES)))
    scores[:n, : len(SCORES)] = table.scores[pair]
    scores[:, len(SCORES)] = 1.0
    scores[:n, len(SCORES) + 1] = sizes
    scores[n:, len(SCORES) + 1 :] = 1.0
    fired = np.concatenate([np.arange(n + 1), np.full(m, n)]) if sparse else np.zeros(n + m + 1)
    return Options(
        len(sentence.words),
        np.concatenate([start, copied]).astype(np.int32),
        np.concatenate([end, copied + 1]).astype(np.int32),
        np.concatenate([ends, ends[-1] + 1 + np.arange(m)]),
        np.concatenate([table.target_words[places], np.array(names, np.int32)]),
        scores,
        OPTION_SCORES,
        np.concatenate([pair, np.full(m, -1)]).astype(np.int32),
        fired.astype(np.int64),
        table.rule[pair].astype(np.int32) if sparse else np.zeros(0, np.int32),
        np.ones(n) if sparse else np.zeros(0),
    )
