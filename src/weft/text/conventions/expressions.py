"""Multiword expressions as one tag per word: strong and weak groups, with gaps, in four schemes.

| tags | scheme | regular language |
|---|---|---|
| 3 | no gaps, one strength | (O \\| B I+)+ |
| 4 | no gaps, two strengths | (O \\| B [I_ I~]+)+ |
| 6 | gaps, one strength | (O \\| B (o \\| b i+ \\| I)* I+)+ |
| 8 | gaps, two strengths | (O \\| B (o \\| b [i_ i~]+ \\| [I_ I~])* [I_ I~]+)+ |

`I_` and `I~` name the strength of the link to the previous word of the same expression (after a gap: the word before
it); small letters stand inside a gap. Words joined by strong links form a strong group; weak links join words and
strong groups into a weak group. What fills a gap lies wholly inside it and has no gaps itself (Schneider et al. 2014).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from weft.errors import ConfigError, DataError, WeftError
from weft.text.doc import Doc
from weft.text.layers import Pieces, SpanLayer
from weft.text.schemes import Topology

Group = tuple[int, ...]


class Expressions(NamedTuple):
    """The expressions of a sentence: strong groups, and weak groups, which hold strong ones whole or not at all."""

    strong: tuple[Group, ...] = ()
    weak: tuple[Group, ...] = ()

    @classmethod
    def of(cls, strong: Iterable[Iterable[int]] = (), weak: Iterable[Iterable[int]] = ()) -> Expressions:
        """Groups in their order in the sentence.

        >>> Expressions.of(strong=[[3, 2], [0, 5]])
        Expressions(strong=((0, 5), (2, 3)), weak=())
        """
        return cls(*(tuple(sorted(tuple(sorted(group)) for group in groups)) for groups in (strong, weak)))

    def outermost(self) -> list[Group]:
        """Weak groups, and strong groups that are in none."""
        held = {word for group in self.weak for word in group}
        return sorted([*self.weak, *(group for group in self.strong if group[0] not in held)])


def has_gap(group: Group) -> bool:
    """Whether words stand between those of a group.

    >>> has_gap((3, 4)), has_gap((3, 5))
    (False, True)
    """
    return group[-1] - group[0] >= len(group)


def _topology(strong: Sequence[str], gaps: Sequence[str] = ()) -> Topology:
    """The automaton of a scheme: `strong` are its inside tags, `gaps` those inside gaps."""
    inside = tuple(strong)
    within = ("o", "b") if gaps else ()
    follows: dict[str, tuple[str, ...]] = {"O": ("O", "B"), "B": (*within, *inside)}
    follows |= dict.fromkeys(inside, (*inside, *within, "O", "B"))
    if gaps:
        follows |= {"o": ("o", "b", *inside), "b": tuple(gaps)}
        follows |= dict.fromkeys(gaps, (*gaps, "o", "b", *inside))
    return Topology(start=("O", "B"), follows=follows, end=("O", *inside))


#: The tags of every scheme, by their number.
SCHEMES: dict[int, tuple[str, ...]] = {
    3: ("O", "B", "I"),
    4: ("O", "B", "I_", "I~"),
    6: ("O", "o", "B", "b", "I", "i"),
    8: ("O", "o", "B", "b", "I_", "I~", "i_", "i~"),
}
TOPOLOGIES: dict[int, Topology] = {
    3: _topology(["I"]),
    4: _topology(["I_", "I~"]),
    6: _topology(["I"], ["i"]),
    8: _topology(["I_", "I~"], ["i_", "i~"]),
}


def check_tags(tags: int) -> int:
    """The number of tags of a scheme, or a plain error.

    >>> check_tags(8)
    8
    """
    if tags not in SCHEMES:
        raise ConfigError(
            f"there are schemes of {', '.join(map(str, SCHEMES))} tags for multiword expressions, not {tags}"
        )
    return tags


def simplify(found: Expressions, tags: int) -> Expressions:
    """What a scheme can say of expressions: without gaps they fall apart at them, without strengths all are strong.

    >>> simplify(Expressions.of(strong=[[0, 3]], weak=[[1, 2]]), 4)
    Expressions(strong=(), weak=((1, 2),))
    >>> simplify(Expressions.of(strong=[[0, 3]], weak=[[1, 2]]), 6)
    Expressions(strong=((0, 3), (1, 2)), weak=())
    """
    strong, weak = found.strong, found.weak
    if check_tags(tags) in (3, 6):
        strong, weak = tuple(found.outermost()), ()
    if tags in (3, 4):
        strong, weak = _without_gaps(strong), _without_gaps(weak)
        weak = tuple(group for group in weak if group not in strong)
    return Expressions.of(strong, weak)


def encode(found: Expressions, length: int, tags: int = 8) -> list[str]:
    """One tag per word; expressions that no scheme can hold (crossing, gaps within gaps) are an error.

    >>> encode(Expressions.of(strong=[[1, 4], [2, 3], [6, 7]], weak=[[5, 6, 7]]), 9)
    ['O', 'B', 'b', 'i_', 'I_', 'B', 'I~', 'I_', 'O']
    >>> encode(Expressions.of(strong=[[0, 2], [1, 3]]), 4)
    Traceback (most recent call last):
    ...
    weft.errors.WeftError: expressions [0, 2] and [1, 3] cross; what fills a gap must lie wholly inside it
    """
    _check(found, length)
    found = simplify(found, tags)
    outer = found.outermost()
    host = _hosts(outer, length)
    tight = {pair for group in found.strong for pair in pairwise(group)}
    one_strength = tags in (3, 6)
    labels = ["O" if host[word] is None else "o" for word in range(length)]
    for group in outer:
        begin, inside = ("B", "I") if host[group[0]] is None else ("b", "i")
        labels[group[0]] = begin
        for pair in pairwise(group):
            labels[pair[1]] = inside + ("" if one_strength else "_" if pair in tight else "~")
    return labels


def decode(labels: Sequence[str], tags: int = 8) -> Expressions:
    """The expressions that tags encode; a sequence that the scheme does not allow is an error.

    >>> decode(["O", "B", "b", "i_", "I_", "B", "I~", "I_", "O"])
    Expressions(strong=((1, 4), (2, 3), (6, 7)), weak=((5, 6, 7),))
    """
    check_sequence(labels, tags)
    strong: list[list[int]] = []
    weak: list[list[int]] = []
    outer: list[tuple[int, bool]] = []  # words of the open expression, and whether their link is strong
    inner: list[tuple[int, bool]] = []  # the same for the one inside its gap
    for word, label in enumerate(labels):
        mark = label[0]
        if mark not in "i" and inner:
            _close(inner, strong, weak)
            inner = []
        if mark in "OB" and outer:
            _close(outer, strong, weak)
            outer = []
        if mark in "BI":
            outer.append((word, not label.endswith("~")))
        elif mark in "bi":
            inner.append((word, not label.endswith("~")))
    if outer:
        _close(outer, strong, weak)
    return Expressions.of(strong, weak)


def check_sequence(labels: Sequence[str], tags: int = 8) -> None:
    """Refuse a sequence of tags that the scheme does not allow.

    >>> check_sequence(["B", "o", "O"])
    Traceback (most recent call last):
    ...
    weft.errors.WeftError: tag 2: 'O' after 'o' is not allowed in the scheme of 8 tags
    """
    topology = TOPOLOGIES[check_tags(tags)]
    for word, label in enumerate(labels):
        allowed = topology.start if word == 0 else topology.follows[labels[word - 1]]
        if label not in allowed:
            before = repr(labels[word - 1]) if word else "the beginning"
            raise WeftError(f"tag {word}: {label!r} after {before} is not allowed in the scheme of {tags} tags")
    if labels and labels[-1] not in topology.end:
        raise WeftError(f"tag {len(labels) - 1}: {labels[-1]!r} at the end is not allowed in the scheme of {tags} tags")


def representable(found: Expressions, length: int) -> bool:
    """Whether the scheme of eight tags can hold the expressions.

    >>> representable(Expressions.of(strong=[[0, 2], [1, 3]]), 4)
    False
    """
    try:
        encode(found, length)
    except WeftError:
        return False
    return True


def repaired(found: Expressions, length: int) -> Expressions:
    """The expressions without the weak, then the longest gappy ones that no scheme can hold.

    >>> repaired(Expressions.of(strong=[[0, 2], [1, 4]]), 5)
    Expressions(strong=((0, 2),), weak=())
    """
    while not representable(found, length):
        suspects = list(found.weak) or sorted(found.strong, key=lambda group: group[-1] - group[0])
        if not suspects:
            break
        worst = max(suspects, key=lambda group: (group[-1] - group[0], group))
        found = Expressions(
            tuple(group for group in found.strong if group != worst),
            tuple(group for group in found.weak if group != worst),
        )
    return found


def expressions_of(doc: Doc, layer: str = "mwe") -> list[Expressions]:
    """The expressions of every sentence from a span layer, whose spans are labelled `strong` or `weak`.

    >>> doc = Doc.from_words([["He", "gave", "it", "up"]])
    >>> set_expressions(doc, [Expressions.of(strong=[(1, 3)])])
    >>> list(doc.spans["mwe"]), expressions_of(doc)
    ([SpanRow(pieces=((1, 2), (3, 4)), label='strong')], [Expressions(strong=((1, 3),), weak=())])
    """
    if layer not in doc.spans:
        known = ", ".join(doc.spans) or "none"
        raise DataError(f"there is no span layer {layer!r} of multiword expressions (there are: {known})")
    bounds = doc.sentence_offsets.tolist()
    found: list[tuple[list[Group], list[Group]]] = [([], []) for _ in bounds[1:]]
    for pieces, label in doc.spans[layer]:
        words = [word for start, end in pieces for word in range(start, end)]
        sentence = bisect_right(bounds, words[0]) - 1
        if words[-1] >= bounds[sentence + 1]:
            raise DataError(f"an expression of the layer {layer!r} goes beyond the end of its sentence")
        if len(words) > 1:  # an expression of one word says nothing
            found[sentence][label == "weak"].append(tuple(word - bounds[sentence] for word in words))
    return [Expressions.of(strong, weak) for strong, weak in found]


def set_expressions(doc: Doc, found: Sequence[Expressions], layer: str = "mwe") -> None:
    """Write the expressions of every sentence into a span layer."""
    spans = SpanLayer(doc.strings)
    for first, own in zip(doc.sentence_offsets.tolist(), found, strict=False):
        for pieces, label in pieces_of(own, first):
            spans.add(pieces, label)
    doc.spans[layer] = spans


def pieces_of(found: Expressions, first: int = 0) -> Iterator[tuple[list[tuple[int, int]], str]]:
    """The expressions of a sentence that begins at word `first`, as half-open runs of words and a strength.

    >>> list(pieces_of(Expressions.of(strong=[(1, 3)]), 10))
    [([(11, 12), (13, 14)], 'strong')]
    """
    labelled = [(group, "strong") for group in found.strong] + [(group, "weak") for group in found.weak]
    for group, label in sorted(labelled):
        yield [(first + start, first + end) for start, end in _pieces(group)], label


def _pieces(group: Group) -> Pieces:
    """A group as half-open runs of words."""
    starts = [group[0], *(b for a, b in pairwise(group) if b > a + 1)]
    ends = [*(a + 1 for a, b in pairwise(group) if b > a + 1), group[-1] + 1]
    return tuple(zip(starts, ends, strict=True))


def _close(words: list[tuple[int, bool]], strong: list[list[int]], weak: list[list[int]]) -> None:
    """Note the groups of a finished expression."""
    runs: list[list[int]] = []
    for place, (word, tight) in enumerate(words):
        if place and tight:
            runs[-1].append(word)
        else:
            runs.append([word])
    strong.extend(run for run in runs if len(run) > 1)
    if len(runs) > 1:
        weak.append([word for word, _ in words])


def _without_gaps(groups: Iterable[Group]) -> tuple[Group, ...]:
    """The runs of at least two words that groups consist of."""
    found: list[Group] = []
    for group in groups:
        run = [group[0]]
        for a, b in pairwise(group):
            if b != a + 1:
                found.append(tuple(run))
                run = []
            run.append(b)
        found.append(tuple(run))
    return tuple(run for run in found if len(run) > 1)


def _check(found: Expressions, length: int) -> None:
    for groups in found:
        words = [word for group in groups for word in group]
        if len(set(words)) != len(words) or any(len(group) < 2 for group in groups):
            raise WeftError(f"groups of one strength must be disjoint and of at least two words, got {list(groups)}")
        if words and not (min(words) >= 0 and max(words) < length):
            raise WeftError(f"a group goes beyond the {length} words of its sentence: {list(groups)}")
    for group in found.weak:
        inside = {word: place for place, word in enumerate(group)}
        for part in found.strong:
            places = [inside[word] for word in part if word in inside]
            if places and (len(places) < len(part) or places[-1] - places[0] != len(places) - 1):
                raise WeftError(
                    f"the weak group {list(group)} does not hold the strong group {list(part)} as one piece"
                )
            if len(places) == len(group):
                raise WeftError(f"the group {list(group)} is both strong and weak")


def _hosts(outer: Sequence[Group], length: int) -> list[tuple[int, int] | None]:
    """For every word the gap it stands in, as (number of the expression, word before the gap)."""
    host: list[tuple[int, int] | None] = [None] * length
    for number, group in enumerate(outer):
        for a, b in pairwise(group):
            for word in range(a + 1, b):
                if host[word] is not None:
                    raise WeftError(f"word {word} stands in the gaps of two expressions: gaps cannot be nested")
                host[word] = (number, a)
    for group in outer:
        places = {host[word] for word in group}
        if len(places) > 1:
            other = outer[next(place for place in places if place is not None)[0]]
            first, second = sorted((list(other), list(group)))
            raise WeftError(f"expressions {first} and {second} cross; what fills a gap must lie wholly inside it")
        if places != {None} and has_gap(group):
            raise WeftError(f"the expression {list(group)} has a gap and stands in one: gaps cannot be nested")
    return host
