"""A grammar with few pairs of tags, to learn from and to be compared with: sentences with their trees by chance.

Ten of 64 pairs of eight tags occur. A verb has a subject, objects, prepositions, adverbs and an auxiliary; nouns have
adjectives and prepositions behind them and, mostly, a determiner before them: nouns stand without determiners,
determiners never without nouns.
"""

from __future__ import annotations

import numpy as np

TAGS = ("D", "N", "P", "V", "A", "S", "R", "X")
#: Child and parent.
PAIRS = {
    ("N", "V"), ("P", "V"), ("S", "V"), ("R", "V"), ("X", "V"), ("N", "S"), ("P", "S"), ("D", "N"), ("A", "N"),
    ("S", "N"),
}  # fmt: skip


class Sentence:
    """Tags and heads while a sentence is made; the head `None` is the verb, wherever it will stand."""

    def __init__(self, random, determiners):
        self.random, self.determiners = random, determiners
        self.tags, self.heads = [], []

    def chance(self, p):
        return self.random.random() < p

    def add(self, tag, head):
        self.tags.append(tag)
        self.heads.append(head)
        return len(self.tags)

    def noun_phrase(self, head, inner):
        if self.chance(0.2):
            self.add("P", head)
            return
        determined = self.chance(self.determiners)
        noun = len(self.tags) + 1 + determined
        if determined:
            self.add("D", noun)
        self.add("N", head)
        if self.chance(0.2):
            self.add("A", noun)
        if inner and self.chance(0.2):
            self.noun_phrase(self.add("S", noun), inner=False)

    def clause(self):
        if self.chance(0.3):
            self.noun_phrase(None, inner=False)
        if self.chance(0.2):
            self.add("X", None)
        verb = self.add("V", 0)
        if self.chance(0.3):
            self.add("R", verb)
        if self.chance(0.7):
            self.noun_phrase(verb, inner=True)
        if self.chance(0.5):
            self.noun_phrase(self.add("S", verb), inner=False)
        self.heads = [verb if head is None else head for head in self.heads]


def sparse_sentences(n, seed, determiners=0.75):
    """Sentences of 2 to 10 tags, and the heads of all their words."""
    random = np.random.default_rng(seed)
    tags, heads = [], []
    while len(tags) < n:
        sentence = Sentence(random, determiners)
        sentence.clause()
        if 2 <= len(sentence.tags) <= 10:
            tags.append(sentence.tags)
            heads += sentence.heads
    return tags, np.array(heads, dtype=np.int32)
