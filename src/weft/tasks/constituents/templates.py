"""Templates of the constituent parser: those of Zhang et al. (2013) over characters, of Zhang & Clark over words."""

from __future__ import annotations

#: Nodes of the stack and characters of the queue.
STRUCTURE = """
all:
S0.ntl S0.nwl S1.ntl S1.nwl S2.ntl S2.nwl S3.ntl S3.nwl
Q0.c Q1.c Q2.c Q3.c Q0.c|Q1.c Q1.c|Q2.c Q2.c|Q3.c
S0l.twl S0r.twl S0u.twl S1l.twl S1r.twl S1u.twl
S0.nw|S1.nw S0.nw|S1.nl S0.nl|S1.nw S0.nl|S1.nl
S0.nw|Q0.c S0.nl|Q0.c S1.nw|Q0.c S1.nl|Q0.c
S0.nl|S1.nl|S2.nl S0.nw|S1.nl|S2.nl S0.nl|S1.nw|S2.nl S0.nl|S1.nl|S2.nw
S0.nw|S1.nl|Q0.c S0.nl|S1.nw|Q0.c S0.nl|S1.nl|Q0.c
"""

#: Features from the structure of words: head characters, and known parts of words.
HEAD_CHARACTERS = """
all:
S0.ncl S0.nct S0.nctl S1.ncl S1.nct S1.nctl S2.ncl S2.nct S2.nctl S3.ncl S3.nct S3.nctl
S0.nc|S1.nc S0.ncl|S1.nl S0.nl|S1.ncl S0.ncl|S1.ncl
S0.nc|Q0.c S1.nc|Q0.c S0.nc|S1.nc|Q0.c S0.nc|S1.nc|Q0.c|Q1.c
subword:
S0.s|S1.s S0.s|S1.e D.d D.g
"""

#: Words as strings, for word boundaries and tags; the tag of SEPARATE is part of the action.
STRINGS = """
separate:
W1.t W2.t|W1.t W1.w Q0.c W1.s C1.c|Q0.c|W1.t
word:
W0.w W1.w|W0.w W0.wo W0.e|Q0.c W0.sm W0.em W0.se W0.w|Q0.c W1.e|W0.w W0.s|Q0.c W1.e|W0.e W1.w|W0.m W0.w|W1.m
W0.wt W0.w|W1.t W0.wt|Q0.c W0.wt|W1.e C2.c|C1.c|Q0.c|W0.to W0.et W0.ite
append:
Q0.c|W0.t C1.c|Q0.c W0.s|Q0.c|W0.t C1.c|Q0.c|W0.t
"""

#: Over words with tags: nodes of the stack, words and tags of the queue.
WORDS = """
all:
S0.tl S0.wl S1.tl S1.wl S2.tl S2.wl S3.tl S3.wl
Q0.ct Q1.ct Q2.ct Q3.ct
S0l.twl S0r.twl S0u.twl S1l.twl S1r.twl S1u.twl
S0.w|S1.w S0.w|S1.l S0.l|S1.w S0.l|S1.l
S0.w|Q0.c S0.w|Q0.t S0.l|Q0.c S0.l|Q0.t Q0.c|Q1.c Q0.c|Q1.t Q0.t|Q1.c Q0.t|Q1.t
S1.w|Q0.c S1.w|Q0.t S1.l|Q0.c S1.l|Q0.t
S0.l|S1.l|S2.l S0.w|S1.l|S2.l S0.l|S1.w|S2.l S0.l|S1.l|S2.w
S0.l|S1.l|Q0.t S0.w|S1.l|Q0.t S0.l|S1.w|Q0.t S0.l|S1.l|Q0.c
"""


def templates_of(units: str, phrases: bool, head_characters: bool) -> str:
    """The templates of a parser over characters or words, or of a segmenter and tagger without phrases.

    >>> templates_of("words", True, False) == WORDS
    True
    """
    if units == "words":
        return WORDS
    if not phrases:
        return STRINGS
    return STRUCTURE + (HEAD_CHARACTERS if head_characters else "") + STRINGS
