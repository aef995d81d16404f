"""The words of a language model and their numbers; three of them are not words of text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, repeat

import numpy as np

from weft.arrays import Ids, Ints

UNKNOWN, BEGIN, END = "<unk>", "<s>", "</s>"
#: Their numbers, in every vocabulary.
UNKNOWN_ID, BEGIN_ID, END_ID = 0, 1, 2
SPECIAL = (UNKNOWN, BEGIN, END)


class Vocabulary:
    """Words by number: first `<unk>`, `<s>` and `</s>`, then the others in the order given.

    >>> vocabulary = Vocabulary(["dogs", "bark"])
    >>> vocabulary.encode(["dogs", "bite"]).tolist(), vocabulary.words[4]
    ([3, 0], 'bark')
    """

    def __init__(self, words: Iterable[str]) -> None:
        self.words: list[str] = [*SPECIAL, *words]
        self.ids: dict[str, int] = {word: number for number, word in enumerate(self.words)}

    @classmethod
    def counted(cls, counts: Mapping[str, int], least: int = 1) -> Vocabulary:
        """The words with at least so many occurrences, the most frequent first.

        >>> Vocabulary.counted({"a": 1, "b": 3, "c": 2}, least=2).words
        ['<unk>', '<s>', '</s>', 'b', 'c']
        """
        kept = [(-count, word) for word, count in counts.items() if count >= least and word not in SPECIAL]
        return cls(word for _, word in sorted(kept))

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, words: Sequence[str]) -> Ids:
        """The numbers of words; `<s>` and `</s>` inside a text are unknown words."""
        found = np.fromiter(map(self.ids.get, words, repeat(UNKNOWN_ID)), np.int32, len(words))
        found[(found == BEGIN_ID) | (found == END_ID)] = UNKNOWN_ID
        return found

    def encode_sentences(self, sentences: Sequence[Sequence[str]]) -> tuple[Ids, Ints]:
        """The numbers of the words of sentences, each followed by `</s>`, and where the sentences begin.

        >>> [part.tolist() for part in Vocabulary(["dogs"]).encode_sentences([["dogs"], []])]
        [[3, 2, 2], [0, 2, 3]]
        """
        sizes = np.fromiter(map(len, sentences), np.int64, len(sentences))
        offsets = np.concatenate([[0], np.cumsum(sizes + 1)]).astype(np.int64)
        found = np.full(int(offsets[-1]), END_ID, dtype=np.int32)
        inside = np.ones(len(found), dtype=np.bool_)
        inside[offsets[1:] - 1] = False
        words = np.fromiter(
            map(self.ids.get, chain.from_iterable(sentences), repeat(UNKNOWN_ID)), np.int32, int(sizes.sum())
        )
        words[(words == BEGIN_ID) | (words == END_ID)] = UNKNOWN_ID
        found[inside] = words
        return found, offsets
