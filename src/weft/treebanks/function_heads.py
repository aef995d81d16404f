"""Function words as heads: prepositions, auxiliaries, copulas and subordinators above the words that UD puts above them.

    in April       UD: in <- April         here: in -> April
    will visit     UD: will <- visit       here: will -> visit

Of several function words before a word, each becomes the head of the next, and the last one that of the word. What
depended on the word and precedes a function word depends on that one, so projective trees stay projective.
"""

from __future__ import annotations

from collections.abc import Sequence

FUNCTION = frozenset({"case", "mark", "cop", "aux", "aux:pass"})


def function_heads(heads: Sequence[int], labels: Sequence[str]) -> list[int]:
    """The heads of a UD tree with function words that precede their heads turned into heads; 0 is the root.

    >>> function_heads([2, 4, 4, 0, 6, 4], ["det", "nsubj", "aux", "root", "case", "obl"])  # The president will go to Rome
    [2, 3, 0, 3, 4, 5]
    """
    changed = list(heads)
    children: dict[int, list[int]] = {}
    for word, head in enumerate(heads, start=1):
        children.setdefault(head, []).append(word)
    for word, own in children.items():
        words = [child for child in own if child < word and labels[child - 1] in FUNCTION]
        if word == 0 or not words:
            continue
        chain = [*words, word]
        top = changed[word - 1]
        for above, below in zip([top, *chain[:-1]], chain, strict=True):
            changed[below - 1] = above
        for child in own:
            before = [each for each in words if each > child]
            if child < words[-1] and child not in words:
                earlier = [each for each in words if each < child]
                changed[child - 1] = earlier[-1] if earlier else before[0]
    return changed
