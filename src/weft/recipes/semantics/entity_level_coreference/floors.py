"""Rules that link mentions without learning: what a trained system has to beat."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from weft.arrays import Ints
from weft.tasks.coreference.candidates import clusters_of
from weft.tasks.coreference.mentions import PRONOUN
from weft.tasks.coreference.table import HEAD_FORM, KIND, STRING, TYPE, MentionTable


def one_entity(table: MentionTable) -> Ints:
    """Everything is one entity."""
    return np.zeros(len(table), dtype=np.int64)


def exact_string(table: MentionTable) -> Ints:
    """Mentions with the same words corefer."""
    return table.numbers[:, STRING].copy()


def head_rule(table: MentionTable) -> Ints:
    """A noun is linked to the nearest one with the same head, a pronoun to the nearest pronoun of its type.

    A pronoun without such a pronoun before it is linked to the nearest noun or name.
    """
    numbers, keys = table.numbers, table.keys
    chosen = np.full(len(table), -1, dtype=np.int64)
    for i in range(len(table)):
        pronoun = numbers[i, KIND] == PRONOUN
        for j in range(i - 1, -1, -1):
            same = keys[i, TYPE] == keys[j, TYPE] if pronoun else numbers[i, HEAD_FORM] == numbers[j, HEAD_FORM]
            if same and (numbers[j, KIND] == PRONOUN) == pronoun:
                chosen[i] = j
                break
        if chosen[i] < 0 and pronoun:
            nouns = np.flatnonzero(numbers[:i, KIND] != PRONOUN)
            chosen[i] = nouns[-1] if len(nouns) else -1
    return clusters_of(chosen)


RULES: dict[str, Callable[[MentionTable], Ints]] = {
    "one entity": one_entity, "exact string": exact_string, "head rule": head_rule,
}  # fmt: skip
