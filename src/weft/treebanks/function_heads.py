"""Function words as heads: prepositions, auxiliaries, copulas and subordinators above what UD puts above them.

    in April       UD: in <- April         here: in -> April
    will visit     UD: will <- visit       here: will -> visit

Of several function words before a word, each becomes the head of the next, and the last one that of the word. What
depended on the word and precedes a function word depends on that one, so projective trees stay projective.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

FUNCTION = frozenset({"case", "mark", "cop", "aux", "aux:pass"})


def function_heads(heads: Sequence[int], labels: Sequence[str]) -> list[int]:
    """The heads of a UD tree with function words that precede their heads turned into heads; 0 is the root.

    >>> labels = ["det", "nsubj", "aux", "root", "case", "obl"]  # The president will go to Rome
    >>> function_heads([2, 4, 4, 0, 6, 4], labels)
    [2, 3, 0, 3, 4, 5]
    """
    n = len(heads)
    functions: list[list[int]] = [[] for _ in range(n + 1)]
    for child, head in enumerate(heads, start=1):
        if head > child and labels[child - 1] in FUNCTION:
            functions[head].append(child)

    def top(word: int) -> int:
        """The word that now stands for a word towards its head."""
        while functions[word]:
            word = functions[word][0]
        return word

    changed = list(heads)
    for word in range(1, n + 1):
        chain = [*functions[word], word]
        for above, below in pairwise(chain):
            changed[(below if below == word else top(below)) - 1] = above
        head = heads[word - 1]
        if word in functions[head]:
            continue
        above = head
        if functions[head] and word < functions[head][-1]:
            above = max((each for each in functions[head] if each < word), default=functions[head][0])
        changed[top(word) - 1] = above
    return changed
