"""Candidate labels of words: a dictionary for frequent words, endings for all others.

Words come in groups (parts of speech). Given the group, the candidates of a word are

    the labels it was seen with, if it was seen at least `frequent` times in the group;
    else the labels seen with its longest ending that was seen at least `enough` times in the group.

Many words share a list of candidates, so each list is stored once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Ints, Rows
from weft.errors import ModelError
from weft.features.cache import Cache
from weft.headers import MOST, Many, Named, Record, Table, Whole
from weft.text.doc import Doc

HEADER = Record(words=Table(), endings=Table(), longest=Whole(0, 1000))


class CandidateLists:
    """Candidates of words.

    >>> lists = CandidateLists.from_words([("dogs", "NOUN", 1), ("cats", "NOUN", 1), ("dog", "NOUN", 0)], enough=2)
    >>> lists.find("Cats", "NOUN"), lists.find("birds", "NOUN"), lists.find("child", "NOUN")
    ([1], [1], [0, 1])
    """

    def __init__(
        self,
        lists: Sequence[Sequence[int]],
        words: dict[str, dict[str, int]],
        endings: dict[str, dict[str, int]],
        longest: int,
    ) -> None:
        self.lists = [list(members) for members in lists]
        self.words, self.endings, self.longest = words, endings, longest
        self.groups = sorted(endings)
        self._sizes = np.array([len(members) for members in lists], dtype=np.int64)
        self._starts = np.cumsum(self._sizes) - self._sizes
        self._members = np.array([label for members in lists for label in members], dtype=np.int32)
        self._numbers = Cache(self._number)

    @classmethod
    def from_words(
        cls,
        words: Iterable[tuple[str, str, int]],
        frequent: int = 10,
        enough: int = 5,
        longest: int = 4,
        most: int = 48,
    ) -> CandidateLists:
        """Build the lists from words with their group and label; an ending has at most `most` candidates."""
        by_word: dict[tuple[str, str], Counter[int]] = defaultdict(Counter)
        by_ending: dict[tuple[str, str], Counter[int]] = defaultdict(Counter)
        for (form, group, label), count in Counter(words).items():
            lower = form.lower()
            for spelling in {form, lower}:
                by_word[group, spelling][label] += count
            for n in range(min(longest, len(lower)) + 1):
                by_ending[group, lower[len(lower) - n :]][label] += count
        lists: dict[tuple[int, ...], int] = {}

        def number(seen: Counter[int]) -> int:
            return lists.setdefault(tuple(sorted(label for label, _ in seen.most_common(most))), len(lists))

        endings: dict[str, dict[str, int]] = defaultdict(dict)
        for (group, ending), seen in sorted(by_ending.items()):
            if ending == "" or seen.total() >= enough:
                endings[group][ending] = number(seen)
        for of_group in endings.values():
            # An ending with the same candidates as the next shorter one is redundant.
            for ending in sorted(of_group, key=len, reverse=True):
                if ending and of_group.get(ending[1:]) == of_group[ending]:
                    del of_group[ending]
        known: dict[str, dict[str, int]] = {group: {} for group in endings}
        for (group, form), seen in sorted(by_word.items()):
            if seen.total() >= frequent and len(endings[group]) > 1:
                known[group][form] = number(seen)
        return cls(list(lists), known, dict(endings), longest)

    @property
    def decided(self) -> bool:
        """Whether every word has a single candidate."""
        return max(map(len, self.lists), default=0) < 2

    def find(self, form: str, group: str) -> list[int]:
        """The candidates of a word."""
        return self.lists[self._number((form, group))]

    def _number(self, word: tuple[str, str]) -> int:
        """The number of the candidate list of a form in a group."""
        form, group = word
        words = self.words[group]
        number = words.get(form)
        if number is not None:
            return number
        lower = form.lower()
        number = words.get(lower)
        if number is not None:
            return number
        endings = self.endings[group]
        for n in range(min(self.longest, len(lower)), 0, -1):
            number = endings.get(lower[-n:])
            if number is not None:
                return number
        return endings[""]

    def slots(self, docs: Sequence[Doc], groups: NDArray[Any]) -> tuple[Ints, Rows]:
        """The candidates of all words of documents, given the indices of their groups in `self.groups`.

        Position `i` has candidates `labels[slots[i]:slots[i + 1]]`.
        """
        chosen = np.empty(len(groups), dtype=np.int64)
        n = len(self.groups)
        at = 0
        for table, run in groupby(docs, key=lambda doc: doc.strings):
            forms = np.concatenate([doc.columns["form"] for doc in run]).astype(np.int64)
            end = at + len(forms)
            kinds, inverse = np.unique(forms * n + groups[at:end], return_inverse=True)
            strings = table.strings((kinds // n).astype(np.int32))
            names = map(self.groups.__getitem__, (kinds % n).tolist())
            list_numbers = np.fromiter(
                map(self._numbers.__getitem__, zip(strings, names, strict=True)), np.int64, len(kinds)
            )
            chosen[at:end] = list_numbers[inverse]
            at = end
        sizes = self._sizes[chosen]
        slots = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        within = np.arange(int(slots[-1])) - np.repeat(slots[:-1], sizes)
        return slots, self._members[np.repeat(self._starts[chosen], sizes) + within]

    def state(self) -> dict[str, Any]:
        """The contents of a model file."""
        return {"lists": self.lists, "words": self.words, "endings": self.endings, "longest": self.longest}

    @classmethod
    def from_state(cls, state: dict[str, Any], n_labels: int = MOST) -> CandidateLists:
        """Restore the lists of a file; they may name labels below `n_labels`."""
        HEADER.check(state, "lists")
        Record(lists=Many(Many(Whole(0, n_labels - 1), least=1))).check(state, "lists")
        numbers = Named(Named(Whole(0, len(state["lists"]) - 1)))
        Record(words=numbers, endings=numbers).check(state, "lists")
        if not state["endings"] or any("" not in of_group for of_group in state["endings"].values()):
            raise ModelError("a group of candidate lists has no list for other words: the model file is damaged")
        if state["words"].keys() != state["endings"].keys():
            raise ModelError("the groups of words and of endings differ: the model file is damaged")
        return cls(state["lists"], state["words"], state["endings"], state["longest"])
