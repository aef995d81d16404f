"""What the two trees of a sentence say about two chunks: c-command, common ancestors, paths, domination.

A *chunk* in the phrase-structure tree is the deepest phrase that holds all its words; node A c-commands node B if
neither holds the other and the first branching phrase above A holds B. A *noun* in the dependency tree is the head of
its chunk. Relations are collapsed: that of a noun with a preposition names it, as in `nmod:in`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise

from weft.tasks.scope.phrases import Dependencies, phrases_of
from weft.text.constituents import Phrase
from weft.text.doc import Doc

_NOUNS = ("NN", "NNS", "NNP", "NNPS")


class Syntax:
    """The trees of one sentence.

    >>> tree = Dependencies(["Mark", "lines", "in", "files"], ["mark", "line", "in", "file"],
    ...     ["VERB", "NOUN", "ADP", "NOUN"], ["VB", "NNS", "IN", "NNS"], [-1, 0, 3, 1], ["root", "obj", "case", "nmod"])
    >>> syntax = Syntax(tree)
    >>> first, second = syntax.phrase(1, 2), syntax.phrase(3, 4)
    >>> syntax.c_commands(first, second), syntax.c_commands(second, first)
    (True, False)
    >>> syntax.labels_between(first, second), syntax.relation(3), syntax.dominates(1, 3)
    (['NP', 'NP', 'PP', 'NP'], 'nmod:in', True)
    """

    def __init__(self, tree: Dependencies, phrases: Sequence[Phrase] | None = None) -> None:
        self.tree = tree
        self.phrases = list(phrases) if phrases else phrases_of(tree)

    @cached_property
    def _branches(self) -> list[int]:
        """How many phrases and words stand directly below every phrase."""
        counts = [phrase.end - phrase.start for phrase in self.phrases]
        for phrase in self.phrases:
            if phrase.parent >= 0:
                counts[phrase.parent] -= phrase.end - phrase.start - 1
        return counts

    def phrase(self, start: int, end: int) -> int:
        """The deepest phrase that holds all the words, -1 if there is none."""
        found = -1
        for number, phrase in enumerate(self.phrases):
            if phrase.start > start:
                break
            if phrase.end >= end:
                found = number
        return found

    def above(self, phrase: int) -> Iterator[int]:
        """The phrase and all phrases that hold it, from the inside out."""
        while phrase >= 0:
            yield phrase
            phrase = self.phrases[phrase].parent

    def word_c_commands(self, word: int, phrase: int) -> bool:
        """Whether a word c-commands a phrase: the deepest branching phrase around the word holds it."""
        around = next((k for k in self.above(self.phrase(word, word + 1)) if self._branches[k] > 1), -1)
        start, end = self.phrases[phrase].start, self.phrases[phrase].end
        return around >= 0 and around in self.above(phrase) and not start <= word < end

    def phrase_c_commands_word(self, phrase: int, word: int) -> bool:
        """Whether a phrase c-commands a word."""
        around = self._branching_above(phrase)
        inside = self.phrases[phrase].start <= word < self.phrases[phrase].end
        return around >= 0 and not inside and self.phrases[around].start <= word < self.phrases[around].end

    def c_commands(self, first: int, second: int) -> bool:
        """Whether one phrase c-commands another."""
        if first < 0 or second < 0 or first in self.above(second) or second in self.above(first):
            return False
        around = self._branching_above(first)
        return around >= 0 and around in self.above(second)

    def _branching_above(self, phrase: int) -> int:
        return next((k for k in self.above(self.phrases[phrase].parent) if self._branches[k] > 1), -1)

    def ancestor(self, first: int, second: int) -> int:
        """The deepest phrase that holds two others, -1 if there is none."""
        around = set(self.above(first))
        return next((k for k in self.above(second) if k in around), -1)

    def path(self, first: int, second: int) -> list[int]:
        """The phrases between two phrases, both included."""
        top = self.ancestor(first, second)
        up = [k for k in self.above(first) if k > top]
        down = [k for k in self.above(second) if k > top]
        return [*up, *([top] if top >= 0 else []), *reversed(down)]

    def labels_between(self, first: int, second: int) -> list[str]:
        """The categories on the path."""
        return [self.phrases[k].label.partition("-")[0] for k in self.path(first, second)]

    def conjoined(self, phrases: Sequence[int]) -> bool:
        """Whether one of some phrases has a conjunction directly below it."""
        return any(self.tree.upos[word] == "CCONJ" for phrase in phrases for word in self.direct_words(phrase))

    def punctuation(self, phrases: Sequence[int]) -> list[str]:
        """The punctuation marks directly below some phrases."""
        words = {word for phrase in phrases for word in self.direct_words(phrase)}
        return [self.tree.forms[word] for word in sorted(words) if self.tree.upos[word] == "PUNCT"]

    def direct_words(self, phrase: int) -> list[int]:
        """The words that stand directly below a phrase."""
        return self._direct_words[phrase]

    @cached_property
    def _direct_words(self) -> list[list[int]]:
        deepest: list[int] = [-1] * len(self.tree.forms)
        for number, phrase in enumerate(self.phrases):
            deepest[phrase.start : phrase.end] = [number] * (phrase.end - phrase.start)
        found: list[list[int]] = [[] for _ in self.phrases]
        for word, number in enumerate(deepest):
            if number >= 0:
                found[number].append(word)
        return found

    @cached_property
    def _ancestors(self) -> dict[int, list[int]]:
        return {}

    @cached_property
    def children(self) -> list[list[int]]:
        return self.tree.children()

    def noun(self, start: int, end: int) -> int:
        """The head of a chunk: the word whose head is outside, nouns first and later ones before earlier ones."""
        outside = [word for word in range(start, end) if not start <= self.tree.heads[word] < end]
        nouns = [
            word for word in outside if self.tree.tags[word] in _NOUNS or self.tree.upos[word] in ("NOUN", "PROPN")
        ]
        plain = [word for word in outside if self.tree.upos[word] != "PUNCT"]
        return (nouns or plain or outside or [end - 1])[-1]

    def relation(self, word: int) -> str:
        """The collapsed relation of a word to its head."""
        relation = self.tree.relations[word]
        case = [self.tree.lemmas[child] for child in self.children[word] if self.tree.relation(child) == "case"]
        return f"{relation.partition(':')[0]}:{case[0].lower()}" if case and relation else relation

    def ancestors(self, word: int) -> list[int]:
        """The word and all words above it, up to the root (or to where a cycle closes)."""
        if word not in self._ancestors:
            found: dict[int, None] = {}
            at = word
            while 0 <= at < len(self.tree.heads) and at not in found:
                found[at] = None
                at = self.tree.heads[at]
            self._ancestors[word] = list(found)
        return self._ancestors[word]

    def dominates(self, above: int, word: int) -> bool:
        """Whether a word stands above another one in the dependency tree."""
        return above != word and above in self.ancestors(word)

    def common(self, first: int, second: int) -> tuple[int, int]:
        """The lowest common ancestor of two words (-1: none) and the length of the path between them (-1: none)."""
        up, other = self.ancestors(first), self.ancestors(second)
        for steps, word in enumerate(up):
            if word in other:
                return word, steps + other.index(word)
        return -1, -1


def syntaxes(doc: Doc, use_constituents: bool = True) -> list[Syntax]:
    """The syntax of every sentence of a document with dependency trees.

    Phrase-structure trees of the document are used if it has them; otherwise phrases come from the dependency trees.
    """
    columns = [doc.column(name) for name in ("form", "lemma", "upos", "xpos", "deprel")]
    forms, lemmas, upos, tags, relations = columns
    lemmas = [lemma or form.lower() for lemma, form in zip(lemmas, forms, strict=True)]
    heads = (doc.head - 1).tolist() if doc.head is not None else [-1] * doc.n_words
    layer = doc.constituents if use_constituents else None
    found = []
    for first, end in pairwise(doc.sentence_offsets.tolist()):
        rows = slice(first, end)
        tree = Dependencies(forms[rows], lemmas[rows], upos[rows], tags[rows], heads[rows], relations[rows])
        phrases = None
        if layer is not None:
            numbers = layer.between(first, end)
            phrases = [
                Phrase(
                    row.label, row.start - first, row.end - first, row.parent - numbers.start if row.parent >= 0 else -1
                )
                for row in (layer[k] for k in numbers)
            ]
        found.append(Syntax(tree, phrases))
    return found
