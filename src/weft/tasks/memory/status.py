"""What a match of the memory says of one phrase pair: the features of Wang, Zong and Su (2013), as numbers.

SCM  does the source phrase equal its counterpart in the match?           same, high (> .5), low, none
TCM  does the target phrase equal the candidate of the match?             same, high (> .5), low, none
NLN  how many neighbours match, and how many of these are linked?         <2,2> <2,1> <2,0> <1,1> <1,0> <0,0>
SPL  the length of the source phrase                                      1, 2, 3, 4, 5 and more
SEP  is it the mark at the end of the sentence?                           no, yes
CSS  to which sides can the candidate be extended?                        none further, left, right, both, none
LTC  how far is it extended?                                              not, to an end, in between, none
CPM  how does it follow the candidate of the phrase before?               nine values
z    the score of the match                                               ten intervals
"""

from __future__ import annotations

SAME, HIGH, LOW, NONE = 0, 1, 2, 3
CONTENTS = ("same", "high", "low", "none")

NEIGHBOURS = ((2, 2), (2, 1), (2, 0), (1, 1), (1, 0), (0, 0))

SINGLE, LEFT_EXT, RIGHT_EXT, BOTH_EXT, NO_CANDIDATE = 0, 1, 2, 3, 4
SETS = ("single", "left", "right", "both", "none")

ORIGINAL, LEFT_LONGEST, RIGHT_LONGEST, BOTH_LONGEST, MEDIUM, NO_EXTENSION = 0, 1, 2, 3, 4, 5
EXTENSIONS = ("original", "left longest", "right longest", "both longest", "medium", "none")

ADJACENT_SAME, ADJACENT_SUBSTITUTE, LINKED_INTERLEAVED, LINKED_CROSS, LINKED_REVERSED = 0, 1, 2, 3, 4
SKIP_FORWARD, SKIP_CROSS, SKIP_REVERSED, NO_ORDER = 5, 6, 7, 8
ORDERS = (
    "adjacent same", "adjacent substitute", "linked interleaved", "linked cross", "linked reversed",
    "skip forward", "skip cross", "skip reversed", "none",
)  # fmt: skip

LENGTHS, ENDS, INTERVALS = 5, 2, 10
_EPSILON = 1e-9


def interval(score: float) -> int:
    """The interval of a fuzzy match score, [0, .1) to [.9, 1].

    >>> interval(0.667), interval(0.9), interval(1.0)
    (6, 9, 9)
    """
    return min(int(score * INTERVALS + _EPSILON), INTERVALS - 1)


def content_status(score: float) -> int:
    """How well two phrases agree, by their fuzzy match score.

    >>> CONTENTS[content_status(1.0)], CONTENTS[content_status(0.75)], CONTENTS[content_status(0.5)]
    ('same', 'high', 'low')
    """
    return SAME if score >= 1 - _EPSILON else HIGH if score > 0.5 + _EPSILON else LOW


def neighbour_status(matched: int, linked: int) -> int:
    """The number of a pair: matched neighbours, and those of them that are linked.

    >>> NEIGHBOURS[neighbour_status(1, 1)]
    (1, 1)
    """
    return NEIGHBOURS.index((matched, linked))


def length_status(words: int) -> int:
    """The class of a length, 5 and more being one.

    >>> length_status(1), length_status(7)
    (0, 4)
    """
    return min(words, LENGTHS) - 1


def set_status(left: int, right: int) -> int:
    """The kind of a set of candidates that can be extended by so many words to the left and right.

    >>> SETS[set_status(1, 2)]
    'both'
    """
    return (BOTH_EXT if right else LEFT_EXT) if left else (RIGHT_EXT if right else SINGLE)


def extension_status(left: int, right: int, most_left: int, most_right: int) -> int:
    """How far a candidate is extended, of what is possible.

    >>> EXTENSIONS[extension_status(1, 0, 1, 2)], EXTENSIONS[extension_status(1, 1, 1, 2)]
    ('left longest', 'medium')
    """
    if not left and not right:
        return ORIGINAL
    if not right:
        return LEFT_LONGEST if left == most_left else MEDIUM
    if not left:
        return RIGHT_LONGEST if right == most_right else MEDIUM
    return BOTH_LONGEST if left == most_left and right == most_right else MEDIUM


def order_status(
    before: tuple[int, int], here: tuple[int, int] | None, follows: bool, last_equal: bool, first_equal: bool
) -> int:
    """How a candidate stands to the last one, both as spans; `follows`: this one belongs to the phrase before.

    `last_equal`: the last words of the phrase before and of its candidate are the same; `first_equal`: the first words
    of this phrase and of its candidate.

    >>> ORDERS[order_status((0, 2), (2, 6), True, True, True)], ORDERS[order_status((0, 2), (1, 6), True, True, True)]
    ('adjacent same', 'linked cross')
    >>> ORDERS[order_status((0, 2), (4, 6), False, False, True)]
    'skip forward'
    """
    if here is None:
        return NO_ORDER
    right = here[0] >= before[1]
    cross = not right and here[1] > before[0]
    if not follows:
        return SKIP_FORWARD if right else SKIP_CROSS if cross else SKIP_REVERSED
    if right and here[0] == before[1]:
        return ADJACENT_SAME if last_equal and first_equal else ADJACENT_SUBSTITUTE
    return LINKED_INTERLEAVED if right else LINKED_CROSS if cross else LINKED_REVERSED
