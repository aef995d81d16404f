"""What templates ask when words are said twice: whether two words, or two stretches of words, are the same.

    prefix(a, b)    how many first words of  le(a) ... a  and  le(b) ... b  agree, le: the leftmost descendant
    same(a, b)      whether the two stretches agree as a whole
    struck(a, d)    whether the word (or both words) next to a in direction d are struck out

(Rough copies and edited neighbours of Honnibal & Johnson 2014.) Words agree in one column of the table of words, so that
the same questions are asked of forms, tags or clusters. ROOT agrees with nothing.
"""  # noqa: E501

from __future__ import annotations

from weft.arrays import Keys
from weft.infer.transitions.state import HEAD, LE, LENGTH, R1, SCALAR, Table
from weft.kernel import inlined, kernel

#: Longer agreement is as good as this.
LONGEST = 5


@inlined
def agree(words: Keys, first: int, a: int, b: int, column: int) -> bool:
    """Whether two words have the same value; `first` is the row in front of the sentence's first word."""
    return a > 0 and b > 0 and words[first + a, column] == words[first + b, column]


@kernel
def prefix(state: Table, words: Keys, first: int, a: int, b: int, column: int) -> int:
    """How many first words of the stretches that end with a and b agree, at most `LONGEST`."""
    if a <= 0 or b <= 0:
        return 0
    one, other = state[a, LE], state[b, LE]
    count = 0
    while count < LONGEST and one <= a and other <= b and agree(words, first, one, other, column):
        count, one, other = count + 1, one + 1, other + 1
    return count


@kernel
def same(state: Table, words: Keys, first: int, a: int, b: int, column: int) -> bool:
    """Whether the stretches that end with a and b agree as a whole."""
    if a <= 0 or b <= 0 or a - state[a, LE] != b - state[b, LE]:
        return False
    for back in range(a - state[a, LE] + 1):  # noqa: SIM110
        if not agree(words, first, a - back, b - back, column):
            return False
    return True


@kernel
def struck_beside(state: Table, node: int, direction: int, count: int) -> bool:
    """Whether the `count` words next to a node are struck out, on its left (-1) or right (1)."""
    n = state[LENGTH, SCALAR]
    if node == 0:  # ROOT, after the last word
        node = n + 1
    for k in range(1, count + 1):
        word = node + direction * k
        if word < 1 or word > n or state[word, HEAD] != word:
            return False
    return True


@kernel
def right_edge(state: Table, node: int) -> int:
    """The rightmost descendant of a node of which no more right children are to come."""
    while state[node, R1] > node:
        node = state[node, R1]
    return node


@kernel
def innermost(state: Table, node: int, direction: int) -> int:
    """The child of a node that is nearest to it on its left (-1) or right (1), -1 if there is none."""
    n = state[LENGTH, SCALAR]
    word = node + direction
    end = state[node, LE] if direction < 0 else state[node, R1]
    if end < 0:
        return -1
    while 1 <= word <= n and (word - end) * direction <= 0:
        if state[word, HEAD] == node:
            return word
        word += direction
    return -1
