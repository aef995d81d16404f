"""Where an opinion may be expressed: constituents around the mentions of an edge (Qu et al. 2014, section 6.1).

From the constituent that overlaps a mention best one climbs in the tree.

    type I     the highest constituent with no word of another mention and no contrast such as *but*
    type II    the highest constituent that covers exactly two mentions of the edge and no other mention
    free       the highest constituents with no mention and no contrast at all: "are great" in "lens and zoom are great"
    sentence   the whole sentence, if there is nothing else

Free constituents are ours: coordinated aspects share what is said of them, and of type I they have only themselves,
which is no evidence then: it has no word of content beside the mention.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weft.tasks.opinions.sentences import Edge, OpinionSentence

#: Words that set what follows against what precedes.
CONTRASTS = frozenset(["but", "however", "although", "though", "while", "whereas", "yet", "except", "despite"])
KINDS = ("aspect", "entity", "both", "free", "sentence")
#: Free constituents of an edge: those nearest to its mentions.
MOST_FREE = 4
_CONTENT = frozenset(["NOUN", "VERB", "ADJ", "ADV", "PROPN", "INTJ", "AUX"])
#: Without tags: short words and these have no content.
_EMPTY = frozenset(["that", "this", "than", "with", "from", "those", "these", "what", "which", "them", "they", "have"])
Bracket = tuple[int, int]


@dataclass(frozen=True)
class Evidence:
    """The evidence of a sentence, and for every edge the pieces that it may rest on, with their kinds."""

    spans: list[Bracket]
    of_edge: list[list[tuple[int, str]]]


def find_evidence(
    sentence: OpinionSentence, edges: Sequence[Edge], free: bool = True, needed: bool = False
) -> Evidence:
    """The evidence candidates of edges; with `needed`, free ones only for edges that have nothing else of their own.

    >>> from weft.tasks.opinions.sentences import ASPECT, Mention
    >>> words = "the lens is great but the zoom jams".split()
    >>> sentence = OpinionSentence(words, [Mention(1, 2, ASPECT), Mention(6, 7, ASPECT)],
    ...                            brackets=[(0, 8), (0, 4), (0, 2), (2, 4), (5, 8), (5, 7)])
    >>> found = find_evidence(sentence, sentence.edges())
    >>> [[" ".join(words[slice(*found.spans[n])]) for n, kind in own if kind != "sentence"] for own in found.of_edge]
    [['the lens is great', 'jams'], ['the zoom jams', 'is great']]
    """
    tree = _Tree(sentence)
    spans: dict[Bracket, int] = {}
    found = []
    loose = tree.free() if free else []
    for edge in edges:
        own: dict[Bracket, str] = {}
        starts = [edge.aspect] if edge.aspect >= 0 else edge.mentions
        for mention in starts:
            best = tree.type_one(mention)
            if best and (not free or tree.says_something(best)):
                own.setdefault(best, "aspect" if edge.aspect >= 0 else "entity")
        if edge.is_ternary and (both := tree.type_two(edge)):
            own.setdefault(both, "both")
        near = sorted(loose, key=lambda span: tree.distance(edge, span))
        for span in [] if needed and own and not edge.compares else near[:MOST_FREE]:
            if not any(a <= span[0] and span[1] <= b for a, b in own):
                own.setdefault(span, "free")
        if not own:
            own.setdefault((0, len(sentence.words)), "sentence")
        found.append([(spans.setdefault(span, len(spans)), kind) for span, kind in own.items()])
    return Evidence(list(spans), found)


class _Tree:
    """The constituents of a sentence, single words among them, and which of them hold mentions and contrasts."""

    def __init__(self, sentence: OpinionSentence) -> None:
        self.sentence = sentence
        n = len(sentence.words)
        spans = {*sentence.brackets, *((k, k + 1) for k in range(n)), (0, n)}
        self.spans = sorted(spans, key=lambda span: (span[1] - span[0], span))
        self.owners: list[set[int]] = [set() for _ in range(n)]
        for number, mention in enumerate(sentence.mentions):
            for word in range(max(mention.start, 0), max(mention.end, 0)):
                self.owners[word].add(number)
        self.contrast = [word.lower() in CONTRASTS for word in sentence.words]

    def _start(self, mention: int) -> Bracket | None:
        """The constituent with the largest Jaccard overlap with a mention."""
        place = self.sentence.mentions[mention]
        if place.in_context:
            return None
        low, high = place.start, place.end

        def overlap(span: Bracket) -> float:
            both = min(high, span[1]) - max(low, span[0])
            return both / (max(high, span[1]) - min(low, span[0]))

        return max(self.spans, key=overlap)

    def _above(self, start: Bracket) -> list[Bracket]:
        return [span for span in self.spans if span[0] <= start[0] and start[1] <= span[1]]

    def _held(self, span: Bracket) -> set[int]:
        return {owner for word in range(*span) for owner in self.owners[word]}

    def type_one(self, mention: int) -> Bracket | None:
        start = self._start(mention)
        if start is None:
            return None
        # A mention that lies within another one does not keep it from climbing.
        own = self.owners[self.sentence.mentions[mention].start]
        fitting = [
            span for span in self._above(start) if self._held(span) <= own and not any(self.contrast[slice(*span)])
        ]
        return fitting[-1] if fitting else None

    def type_two(self, edge: Edge) -> Bracket | None:
        start = self._start(edge.aspect)
        if start is None:
            return None
        own = set(edge.mentions)
        fitting = [
            span for span in self._above(start) if len(self._held(span) & own) == 2 and not self._held(span) - own
        ]
        return fitting[-1] if fitting else None

    def free(self) -> list[Bracket]:
        """The highest constituents without mentions and contrasts, of which at least one word has content."""
        kept: list[Bracket] = []
        for span in reversed(self.spans):
            if any(a <= span[0] and span[1] <= b for a, b in kept) or self._held(span):
                continue
            if any(self.contrast[slice(*span)]):
                continue
            if self.says_something(span):
                kept.append(span)
        return sorted(kept)

    def says_something(self, span: Bracket) -> bool:
        """Whether a constituent has a word of content beside mentions."""
        tags, words = self.sentence.tags, self.sentence.words
        return any(
            not self.owners[k]
            and (tags[k] in _CONTENT if tags else words[k].isalpha() and len(words[k]) > 3 and words[k] not in _EMPTY)
            for k in range(*span)
        )

    def distance(self, edge: Edge, span: Bracket) -> tuple[int, Bracket]:
        """The words between a constituent and the aspect of an edge, or the nearest mention if it has none."""
        numbers = [edge.aspect] if edge.aspect >= 0 else edge.mentions
        places = [self.sentence.mentions[n] for n in numbers if not self.sentence.mentions[n].in_context]
        gaps = [max(place.start, span[0]) - min(place.end, span[1]) for place in places]
        return min(gaps, default=0), span


def brackets_of_heads(heads: Sequence[int]) -> list[Bracket]:
    """Constituents that a dependency tree implies: every word with all below it, and a head with all to its right.

    Only pieces without gaps count.

    >>> brackets_of_heads([1, 3, 3, -1])
    [(0, 2), (0, 4)]
    """
    n = len(heads)
    below: list[list[int]] = [[] for _ in range(n)]
    for word in range(n):
        up, steps = word, 0
        while up >= 0 and steps <= n:
            below[up].append(word)
            up, steps = heads[up], steps + 1
    found = set()
    for word, own in enumerate(below):
        for part in (own, [k for k in own if k >= word], [k for k in own if k <= word]):
            low, high = min(part, default=word), max(part, default=word) + 1
            if high - low == len(part) > 1:
                found.add((low, high))
    return sorted(found)


def brackets_of_words(words: Sequence[str]) -> list[Bracket]:
    """Without a tree: clauses, cut at punctuation and conjunctions.

    >>> brackets_of_words("the lens is fine , but it jams".split())
    [(0, 4), (6, 8)]
    """
    found, start = [], 0
    for place in range(len(words) + 1):
        ends = place == len(words) or not any(c.isalnum() for c in words[place])
        if ends or words[place].lower() in CONTRASTS or words[place].lower() in ("and", "or", "because", "so"):
            if place - start > 1:
                found.append((start, place))
            start = place + 1
    return found
