"""Features of an edge with its evidence (Qu et al. 2014, section 5), as names with values; labels are joined later.

| group | features |
|---|---|
| unigrams | lemmas inside the evidence; ours: negated ones, and aspects joined to what is said of them |
| context | the label of the same entity in the sentence before |
| predictors | the lexicon rule and the bag of opinions on the evidence, as integers |
| tags | part-of-speech tags in the evidence |
| types | kinds of the edge, of its mentions and of the evidence |
| paths | dependency path, words and mentions between adjacent mentions; path from the evidence to the nearest mention |

Co-occurrence, the sixth group, belongs to pairs of edges: see `contrasting`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from weft.lexical.polarity_lexicon import PolarityLexicon, is_negator, negated
from weft.tasks.opinions.bag import BagOfOpinions
from weft.tasks.opinions.candidates import CONTRASTS
from weft.tasks.opinions.rules import clipped, comparative_signs, is_comparative, word_signs
from weft.tasks.opinions.sentences import LABELS, Edge, OpinionSentence

GROUPS = ("unigrams", "context", "cooccurrence", "predictors", "tags", "types", "paths")
#: Words on either side of a mention that the model without evidence reads.
WINDOW = 4
_LONGEST_PATH = 6
_DISTANCES = (0, 1, 2, 4, 7, 12)
_SAYING = frozenset(["ADJ", "ADV", "VERB", "JJR", "RBR", "JJ", "RB"])
Feature = tuple[str, float]


@dataclass
class FeatureMaker:
    """Which features there are, and the knowledge they draw on."""

    lexicon: PolarityLexicon = field(default_factory=PolarityLexicon)
    bag: BagOfOpinions | None = None
    without: frozenset[str] = frozenset()
    turned: bool = False  # what is known of a word counts the other way round where it is negated
    extended: bool = True  # negated lemmas, aspects joined to words, predictors on the whole sentence

    def read(self, sentence: OpinionSentence) -> SentenceReader:
        return SentenceReader(self, sentence)


class SentenceReader:
    """The features of one sentence."""

    def __init__(self, maker: FeatureMaker, sentence: OpinionSentence) -> None:
        self.maker, self.sentence = maker, sentence
        words = sentence.words
        self.negated = negated(words)
        self.negators = [is_negator(word) for word in words]
        self.signs = word_signs(words, maker.lexicon)
        self.turns = comparative_signs(words, sentence.tags, maker.lexicon)
        self.compares = is_comparative(words)
        self.values = maker.bag.values(words) if maker.bag else []
        self._ups: dict[int, list[int]] = {}
        total = clipped(sum(self.signs), 2)
        self._background: list[Feature] = [("sentence rule", float(total)), (f"sentence rule {total}", 1.0)]
        if self.values:
            value = sum(self.values)
            self._background += [("sentence bag", max(-6.0, min(6.0, value)) / 2)]
            self._background += [(f"sentence bag {clipped(round(value), 4)}", 1.0)]

    def features(self, edge: Edge, span: tuple[int, int], kind: str) -> list[Feature]:
        """The features of an edge that rests on a span."""
        return self._features(edge, list(range(*span)), kind, span)

    def window_features(self, edge: Edge) -> list[Feature]:
        """The features of an edge without evidence: all words within four of its mentions."""
        sentence = self.sentence
        places = [sentence.mentions[n] for n in edge.mentions if not sentence.mentions[n].in_context]
        n = len(sentence.words)
        inside = {
            k for place in places for k in range(max(0, place.start - WINDOW), min(n, place.end + WINDOW))
        } or set(range(n))  # fmt: skip
        return self._features(edge, sorted(inside), "window", None)

    def _features(self, edge: Edge, inside: list[int], kind: str, span: tuple[int, int] | None) -> list[Feature]:
        without, sentence = self.maker.without, self.sentence
        found: list[Feature] = [("bias", 1.0)]
        if "unigrams" not in without:
            found += self._unigrams(edge, inside)
        if "context" not in without:
            for number in edge.mentions:
                if number in sentence.previous:
                    found.append((f"before {LABELS[sentence.previous[number]]}", 1.0))
        if "predictors" not in without:
            found += self._predictors(edge, inside)
        if "tags" not in without and sentence.tags:
            found += [(f"tag {tag}", 1.0) for tag in dict.fromkeys(sentence.tags[k] for k in inside)]
        if "types" not in without:
            found += self._types(edge, kind)
        if "paths" not in without:
            found += self._between(edge)
            if span is not None:
                found += self._to_evidence(edge, span)
        return list(dict(found).items())

    def _unigrams(self, edge: Edge, inside: list[int]) -> list[Feature]:
        sentence = self.sentence
        own = self._owned(edge)
        found: list[Feature] = []
        aspect = sentence.mentions[edge.aspect] if edge.aspect >= 0 else None
        head = sentence.lemmas[aspect.end - 1] if aspect is not None and not aspect.in_context else ""
        for k in inside:
            lemma = sentence.lemmas[k]
            if k in own or not any(c.isalnum() for c in lemma):
                continue
            if not self.maker.extended:
                found.append((f"word {lemma}", 1.0))
                continue
            name = f"not {lemma}" if self.negated[k] else lemma
            found.append((f"word {name}", 1.0))
            if self.negated[k] and self.maker.turned:  # what is known of a word holds the other way round
                found.append((f"word {lemma}", -1.0))
            if head and (not sentence.tags or sentence.tags[k] in _SAYING):
                found.append((f"said {head}: {name}", 1.0))
        return found

    def _owned(self, edge: Edge) -> set[int]:
        places = [self.sentence.mentions[n] for n in edge.mentions]
        return {word for place in places if not place.in_context for word in range(place.start, place.end)}

    def _predictors(self, edge: Edge, inside: list[int]) -> list[Feature]:
        found: list[Feature] = []
        rule = clipped(sum(self.signs[k] for k in inside))
        if edge.compares:
            turn = clipped(sum(self.turns[k] for k in inside))
            found += [("direction", float(turn)), (f"direction {_sign(turn)}", 1.0), ("rule", float(rule))]
            found.append((f"compares {self.compares}", 1.0))
            return found
        found += [("rule", float(rule)), (f"rule {_sign(rule)}", 1.0)]
        found.append((f"negators {min(2, sum(self.negators[k] for k in inside))}", 1.0))
        if self.values:
            value = sum(self.values[k] for k in inside)
            low = min((self.values[k] for k in inside), default=0.0)
            found += [("bag", max(-6.0, min(6.0, value)) / 2), (f"bag {clipped(round(value), 4)}", 1.0)]
            found.append(("bag lowest", max(-2.0, low / 2)))
        if self.compares:
            found.append(("compares", 1.0))
        if self.maker.extended and edge.aspect >= 0:
            found += self._background
        return found

    def _types(self, edge: Edge, kind: str) -> list[Feature]:
        form = (
            "ternary" if edge.is_ternary else "entities" if edge.compares else "aspect" if edge.aspect >= 0 else "whole"
        )
        found: list[Feature] = [(f"edge {form}", 1.0), (f"evidence {kind} {form}", 1.0)]
        if any(self.sentence.mentions[n].in_context for n in edge.mentions):
            found.append((f"context {form}", 1.0))
        return found

    def _between(self, edge: Edge) -> list[Feature]:
        """Adjacent mentions of the edge: path, words and other mentions between them."""
        sentence = self.sentence
        places = sorted(
            (sentence.mentions[n].start, sentence.mentions[n].end, n)
            for n in edge.mentions
            if not sentence.mentions[n].in_context
        )
        found: list[Feature] = []
        for number, (one, other) in enumerate(pairwise(places)):
            gap = max(0, other[0] - one[1])
            kinds = f"{number} {sentence.mentions[one[2]].kind}-{sentence.mentions[other[2]].kind}"
            found.append((f"gap {kinds} {max(low for low in _DISTANCES if low <= gap)}", 1.0))
            others = sum(one[1] <= m.start and m.end <= other[0] for m in sentence.mentions if not m.in_context)
            found.append((f"others {kinds} {min(others, 2)}", 1.0))
            if sentence.heads:
                found.append((f"path {kinds} {self.path(self._head(one[:2]), self._head(other[:2]))}", 1.0))
        return found

    def _to_evidence(self, edge: Edge, span: tuple[int, int]) -> list[Feature]:
        """The evidence and the nearest mention that does not overlap it."""
        sentence = self.sentence
        outside = [
            (max(place.start - span[1], span[0] - place.end), place.start, place.end, place.kind)
            for place in (sentence.mentions[n] for n in edge.mentions)
            if not place.in_context and (place.start >= span[1] or place.end <= span[0])
        ]
        if not outside:
            return [("evidence holds all", 1.0)]
        gap, start, end, kind = min(outside)
        side = "after" if start < span[0] else "before"
        found: list[Feature] = [
            (f"evidence {side} {kind} {max(low for low in _DISTANCES if low <= gap)}", 1.0),
            (f"evidence lacks {len(outside)} {kind}", 1.0),
        ]
        between = range(min(end, span[1]), max(start, span[0]))
        crossed = any(sentence.words[k].lower() in CONTRASTS for k in between)
        found.append((f"evidence crossed {crossed}", 1.0))
        if sentence.heads:
            found.append((f"evidence path {self.path(self._head(span), self._head((start, end)))}", 1.0))
        return found

    def _head(self, span: tuple[int, int]) -> int:
        """The first word of a span whose head is outside of it."""
        heads = self.sentence.heads
        return next((k for k in range(*span) if not span[0] <= heads[k] < span[1]), span[0])

    def path(self, one: int, other: int) -> str:
        """The relations from one word up and down to another one.

        >>> sentence = OpinionSentence(["great", "lens"], [], heads=[1, -1], relations=["amod", "root"])
        >>> FeatureMaker().read(sentence).path(0, 1)
        '<amod'
        """
        ups = self._up(one), self._up(other)
        inside = set(ups[0])
        top = next((word for word in ups[1] if word in inside), None)
        if top is None:
            return "none"
        up, down = ups[0][: ups[0].index(top)], ups[1][: ups[1].index(top)]
        if len(up) + len(down) > _LONGEST_PATH:
            return "long"
        relations = self.sentence.relations
        return " ".join([*(f"<{relations[word]}" for word in up), *(f">{relations[word]}" for word in down[::-1])])

    def _up(self, word: int) -> list[int]:
        if word not in self._ups:
            heads, path = self.sentence.heads, [word]
            while 0 <= heads[path[-1]] < len(heads) and len(path) <= len(heads):
                path.append(heads[path[-1]])
            self._ups[word] = path
        return self._ups[word]


def contrasting(sentence: OpinionSentence, edges: Sequence[Edge]) -> list[tuple[int, int]]:
    """Pairs of edges that share an entity and have a contrast between the mentions that they do not share.

    >>> from weft.tasks.opinions.sentences import ASPECT, Mention
    >>> words = "the lens is great but the zoom jams".split()
    >>> sentence = OpinionSentence(words, [Mention(1, 2, ASPECT), Mention(6, 7, ASPECT)])
    >>> contrasting(sentence, sentence.edges())
    [(0, 1)]
    """
    turns = [place for place, word in enumerate(sentence.words) if word.lower() in CONTRASTS]
    if not turns:
        return []
    found = []
    for a, one in enumerate(edges):
        for b in range(a + 1, len(edges)):
            other = edges[b]
            if not {one.entity, one.other} & {other.entity, other.other} - {-1}:
                continue
            left, right = (
                [n for n in edge.mentions if n not in rest.mentions] for edge, rest in ((one, other), (other, one))
            )
            places = [
                [sentence.mentions[n] for n in own if not sentence.mentions[n].in_context] for own in (left, right)
            ]
            if any(
                min(x.end, y.end) <= turn < max(x.start, y.start)
                for x in places[0]
                for y in places[1]
                for turn in turns
            ):
                found.append((a, b))
    return found


def _sign(value: int) -> str:
    return "+" if value > 0 else "-" if value < 0 else "0"
