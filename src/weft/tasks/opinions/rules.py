"""What a lexicon and a few rules say: polarity with negation, the *but* rule, comparatives (after Ding et al. 2009).

The same predictor is a feature of the learned models, on their evidence, and alone the baseline: every opinion word
goes to the mention that is nearest to it.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.lexical.polarity_lexicon import PolarityLexicon, negated
from weft.tasks.opinions.sentences import BETTER, NEGATIVE, POSITIVE, WORSE, Edge, OpinionSentence

#: Comparatives whose direction no stem tells.
IRREGULAR = {"better": 1, "best": 1, "worse": -1, "worst": -1, "prefer": 1, "beats": 1, "beat": 1, "outperforms": 1,
             "superior": 1, "inferior": -1, "lacks": -1}  # fmt: skip
MORE, LESS = frozenset(["more", "most"]), frozenset(["less", "least", "fewer"])


def word_signs(words: Sequence[str], lexicon: PolarityLexicon) -> list[int]:
    """The polarity of every word where it stands: negated ones are flipped.

    >>> word_signs("not good but the lens is superb".split(), PolarityLexicon({"good": 1, "superb": 1}))
    [0, -1, 0, 0, 0, 0, 1]
    """
    flags = negated(words)
    return [lexicon.sign(word) * (-1 if flag else 1) for word, flag in zip(words, flags, strict=True)]


def comparative_signs(words: Sequence[str], tags: Sequence[str], lexicon: PolarityLexicon) -> list[int]:
    """The direction of every comparative word, as far as the lexicon tells it: 1 if the first entity is better.

    >>> comparative_signs("it is less noisy and sharper".split(), [], PolarityLexicon({"noisy": -1, "sharp": 1}))
    [0, 0, 0, 1, 0, 1]
    """
    lower, flags = [word.lower() for word in words], negated(words)
    found = []
    for place, word in enumerate(lower):
        before = lower[place - 1] if place else ""
        sign = IRREGULAR.get(word, 0)
        if not sign and (before in MORE or before in LESS):
            sign = lexicon.sign(word) * (-1 if before in LESS else 1)
        if not sign and word.endswith("er") and (not tags or tags[place] in ("ADJ", "ADV")):
            stems = (word[:-2], word[:-1], word[:-3], word[:-3] + "y")
            sign = next((lexicon.sign(stem) for stem in stems if lexicon.sign(stem)), 0)
        found.append(-sign if flags[place] else sign)
    return found


def is_comparative(words: Sequence[str]) -> bool:
    """Whether a sentence has a word that compares.

    >>> is_comparative("sharper than the old one".split()), is_comparative("sharp".split())
    (True, False)
    """
    lower = {word.lower() for word in words}
    return bool(lower & {"than", *MORE, *LESS, *IRREGULAR, "compared", "versus"})


def rule_labels(sentence: OpinionSentence, lexicon: PolarityLexicon, forced: int = -1) -> dict[Edge, int]:
    """The labels of edges by the rules alone.

    Every opinion word goes to the nearest mention; a clause after *but* without one is the opposite of what precedes.
    With `forced`, an aspect about which nothing is said has this label.
    """
    signs = word_signs(sentence.words, lexicon)
    edges = sentence.edges()
    found: dict[Edge, int] = {}
    if is_comparative(sentence.words) and any(edge.compares for edge in edges):
        turns = comparative_signs(sentence.words, sentence.tags, lexicon)
        ternary = [edge for edge in edges if edge.is_ternary] or [edge for edge in edges if edge.compares]
        for place, sign in enumerate(turns):
            if sign:
                edge = min(ternary, key=lambda each: _gap(sentence, each.aspect, place))
                found.setdefault(edge, BETTER if sign > 0 else WORSE)
                signs[place] = 0
    taken = {edge.aspect for edge in found}
    judged = [edge for edge in edges if not edge.compares and edge.aspect not in taken - {-1}]
    totals = dict.fromkeys(judged, 0)
    for place, sign in enumerate(signs):
        if sign and judged:
            edge = min(
                judged, key=lambda each: min(_gap(sentence, n, place) for n in (each.aspect, each.entity) if n >= 0)
            )
            totals[edge] += sign
    _turn_after_but(sentence, totals)
    if forced >= 0 and (whole := sum(signs)):
        forced = POSITIVE if whole > 0 else NEGATIVE
    for edge, total in totals.items():
        if total or (forced >= 0 and edge.aspect >= 0):
            found[edge] = (POSITIVE if total > 0 else NEGATIVE) if total else forced
    return found


def _turn_after_but(sentence: OpinionSentence, totals: dict[Edge, int]) -> None:
    lower = [word.lower() for word in sentence.words]
    if "but" not in lower:
        return
    but = lower.index("but")
    before = sum(total for edge, total in totals.items() if 0 <= _place(sentence, edge) < but)
    for edge, total in totals.items():
        if not total and _place(sentence, edge) > but and edge.aspect >= 0 and before:
            totals[edge] = -1 if before > 0 else 1


def _place(sentence: OpinionSentence, edge: Edge) -> int:
    return sentence.mentions[edge.aspect if edge.aspect >= 0 else edge.entity].start


def _gap(sentence: OpinionSentence, mention: int, place: int) -> int:
    """The words between a mention and a word; mentions of the context are far."""
    if mention < 0 or sentence.mentions[mention].in_context:
        return len(sentence.words)
    start, end, _ = sentence.mentions[mention]
    return start - place if place < start else place - end + 1 if place >= end else 0


def clipped(value: int, most: int = 3) -> int:
    """A score as a small integer.

    >>> clipped(-7), clipped(2)
    (-3, 2)
    """
    return max(-most, min(most, value))
