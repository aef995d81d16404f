"""Coordination styles in dependency trees: conversions from Universal Dependencies and back.

Conjuncts c1 < c2 < ... < ck, with q the conjunction before ck:

    ud        ci attaches to c1 (conj), q to the conjunct after it (cc)
    stanford  ci and q attach to c1
    melcuk    ci attaches to c(i-1), or to the conjunction before it, which attaches to c(i-1)
    prague    all conjuncts attach to the last conjunction, else to the last comma between them, which replaces c1

In the Prague style, relations of conjuncts end in `_Co` and the relation above them begins with `Coord:`, so that the
conversion can be reversed. Coordinations without a conjunction or comma are unchanged. Dependents of conjuncts keep
their heads: the trees do not say which of them all conjuncts share. The reverse conversion is exact for coordinations
that are not nested (`is_single_level`).

Treebanks annotated in these styles go further, which the options `commas` and `nested` cover. With `commas`, commas
between conjuncts attach to c1 (stanford) or the conjunction (prague), and other dependents of the conjunction, which
all conjuncts share, move to c1 in the reverse conversion; a conjunction that cannot move without crossing arcs stays.
With `nested`, a coordination ends after its conjunction: in *a, b and c or d*, `or` joins the first three, as one, to
the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from weft.errors import ConfigError, DataError
from weft.text.doc import Doc

__all__ = [
    "STYLES", "convert", "is_single_level", "prague_of_stanford", "restore", "stanford_of_prague", "with_coordination",
]  # fmt: skip

STYLES = ("ud", "stanford", "melcuk", "prague")
MEMBER, ABOVE = "_Co", "Coord:"

Tree = tuple[list[int], list[str]]


def convert(
    heads: Sequence[int],
    relations: Sequence[str],
    forms: Sequence[str],
    style: str,
    commas: bool = False,
    nested: bool = False,
) -> Tree:
    """Heads and relations of a sentence in another style.

    >>> heads, relations, forms = [0, 3, 1, 5, 1], ["root", "punct", "conj", "cc", "conj"], ["a", ",", "b", "and", "c"]
    >>> convert(heads, relations, forms, "stanford")[0]
    [0, 3, 1, 1, 1]
    >>> convert(heads, relations, forms, "melcuk")[0]
    [0, 3, 1, 3, 4]
    >>> convert(heads, relations, forms, "prague")
    ([4, 3, 4, 0, 4], ['root_Co', 'punct', 'conj_Co', 'Coord:cc', 'conj_Co'])
    """
    _check(style)
    above, names = list(heads), list(relations)
    place: dict[int, int] = {}  # the word that represents a first conjunct
    for first, conjuncts in reversed(_coordinations(heads, relations)):  # inner coordinations begin later
        links = {c: _between(heads, relations, before, c, "cc") for before, c in pairwise([first, *conjuncts])}
        marks = {
            c: [mark for mark in _between(heads, relations, before, c, "punct", "p") if _is_comma(forms[mark - 1])]
            for before, c in pairwise([first, *conjuncts])
            if commas
        }
        if style == "stanford":
            for c, its_links in links.items():
                moving = [*its_links, *marks.get(c, [])]
                in_the_way = (heads[d - 1] == c and d not in moving for d in range(1, max(moving, default=0)))
                if not commas or not any(in_the_way):
                    for link in moving:
                        above[link - 1] = first
        elif style == "melcuk":
            for before, c in pairwise([first, *conjuncts]):
                above[c - 1] = before
                if links[c]:
                    above[c - 1], above[links[c][-1] - 1] = links[c][-1], before
        elif style == "prague":
            for group in _groups(conjuncts, links) if nested else [conjuncts]:
                candidates = [link for c in group for link in links[c]]
                if not candidates:
                    pairs = pairwise([first, *group])
                    candidates = [
                        mark for before, c in pairs for mark in _between(heads, relations, before, c, "punct", "p")
                    ]
                    candidates = [mark for mark in candidates if forms[mark - 1] == ","]
                if candidates:
                    _put_above(above, names, candidates[-1], [place.get(c, c) for c in (first, *group)])
                    place[first] = candidates[-1]
                    for mark in (mark for c in group for mark in marks.get(c, []) if mark != candidates[-1]):
                        above[mark - 1] = candidates[-1]
    return above, names


def restore(
    heads: Sequence[int],
    relations: Sequence[str],
    style: str,
    forms: Sequence[str] = (),
    commas: bool = False,
) -> Tree:
    """Heads and relations in the style of Universal Dependencies.

    >>> restore([4, 3, 4, 0, 4], ["root_Co", "punct", "conj_Co", "Coord:cc", "conj_Co"], "prague")
    ([0, 3, 1, 5, 1], ['root', 'punct', 'conj', 'cc', 'conj'])
    """
    _check(style)
    if commas and len(forms) != len(heads):
        raise ConfigError("commas are recognized by their forms; pass the forms of the words too")
    above, names = list(heads), list(relations)
    if style == "stanford":
        for first, conjuncts in _coordinations(heads, relations):
            for link in range(first + 1, conjuncts[-1]):
                if heads[link - 1] == first and _base(relations[link - 1]) == "cc":
                    above[link - 1] = min(c for c in conjuncts if c > link)
            if commas:
                for mark in _leading(heads, relations, forms, first):
                    above[mark - 1] = min(c for c in conjuncts if c > mark)
    elif style == "melcuk":
        for c in range(1, len(above) + 1):
            if _base(relations[c - 1]) == "conj":
                before = heads[c - 1]
                if before and _base(relations[before - 1]) == "cc":
                    above[before - 1] = c
                    before = heads[before - 1]
                # those further left are already attached there
                above[c - 1] = above[before - 1] if before and _base(relations[before - 1]) == "conj" else before
    elif style == "prague":
        links = [word for word, name in enumerate(relations, start=1) if name.startswith(ABOVE)]
        for link in sorted(links, key=lambda word: -_depth(heads, word)):  # inner coordinations first
            _put_back(above, names, link, forms if commas else ())
    return above, names


def stanford_of_prague(heads: Sequence[int], relations: Sequence[str], forms: Sequence[str]) -> Tree:
    """Convert Prague coordinations, with commas and shared dependents on the conjunction, to Stanford style.

    >>> stanford_of_prague([4, 4, 4, 0, 4], ["root_Co", "punct", "conj_Co", "Coord:cc", "conj_Co"], list("a,b&c"))
    ([0, 1, 1, 1, 1], ['root', 'punct', 'conj', 'cc', 'conj'])
    """
    heads, relations = restore(heads, relations, "prague", forms, commas=True)
    return convert(heads, relations, forms, "stanford", commas=True)


def prague_of_stanford(heads: Sequence[int], relations: Sequence[str], forms: Sequence[str]) -> Tree:
    """Convert Stanford coordinations to Prague style: the inverse of `stanford_of_prague`.

    >>> prague_of_stanford([0, 1, 1, 1, 1], ["root", "punct", "conj", "cc", "conj"], list("a,b&c"))
    ([4, 4, 4, 0, 4], ['root_Co', 'punct', 'conj_Co', 'Coord:cc', 'conj_Co'])
    """
    heads, relations = restore(heads, relations, "stanford", forms, commas=True)
    return convert(heads, relations, forms, "prague", commas=True, nested=True)


def is_single_level(heads: Sequence[int], relations: Sequence[str]) -> bool:
    """Whether no coordination contains another and conjunctions precede the conjunct that they attach to.

    >>> is_single_level([0, 3, 1, 5, 1], ["root", "punct", "conj", "cc", "conj"])
    True
    >>> is_single_level([0, 3, 1, 5, 3], ["root", "punct", "conj", "cc", "conj"])  # the last belongs to the second
    False
    """
    for word, (head, relation) in enumerate(zip(heads, relations, strict=True), start=1):
        if _base(relation) == "conj" and (head == 0 or head > word or _base(relations[head - 1]) in ("conj", "cc")):
            return False
        if _base(relation) == "cc":
            if head and head < word and any(heads[c - 1] == head for c in _words(relations, "conj")):
                return False
            if head and _base(relations[head - 1]) == "conj":
                earlier = [c for c in _words(relations, "conj") if heads[c - 1] == heads[head - 1] and c < head]
                if not max([heads[head - 1], *earlier]) < word < head:
                    return False
    return True


def with_coordination(docs: Sequence[Doc], style: str) -> list[Doc]:
    """New documents with coordinations in a given style; the input must follow Universal Dependencies.

    >>> doc = Doc.from_words([["cats", "and", "dogs"]], head=[[0, 3, 1]], deprel=[["root", "cc", "conj"]])
    >>> with_coordination([doc], "prague")[0].head.tolist()
    [2, 0, 2]
    """
    _check(style)
    converted = []
    for doc in docs:
        if doc.head is None:
            raise DataError("converting coordinations needs trees, but the column HEAD of a document is empty")
        new = doc.subset(range(doc.n_sentences))
        assert new.head is not None
        forms, names = doc.column("form"), doc.column("deprel")
        for begin, end in pairwise(doc.sentence_offsets.tolist()):
            heads, relations = convert(doc.head[begin:end].tolist(), names[begin:end], forms[begin:end], style)
            new.head[begin:end], names[begin:end] = heads, relations
        new.set_column("deprel", names)
        converted.append(new)
    return converted


def _check(style: str) -> None:
    if style not in STYLES:
        raise ConfigError(f"the style of coordination must be one of {', '.join(STYLES)}, but is {style!r}")


def _base(relation: str) -> str:
    return relation.split(":")[0]


def _words(relations: Sequence[str], base: str) -> list[int]:
    return [word for word, relation in enumerate(relations, start=1) if _base(relation) == base]


def _coordinations(heads: Sequence[int], relations: Sequence[str]) -> list[tuple[int, list[int]]]:
    """First conjuncts, ascending, with the others; conjuncts left of their head are ignored."""
    conjuncts: dict[int, list[int]] = {}
    for word in _words(relations, "conj"):
        if 0 < heads[word - 1] < word:
            conjuncts.setdefault(heads[word - 1], []).append(word)
    return sorted(conjuncts.items())


def _between(heads: Sequence[int], relations: Sequence[str], before: int, conjunct: int, *bases: str) -> list[int]:
    """Words with a relation to a conjunct, between the previous conjunct and itself."""
    between = range(before + 1, conjunct)
    return [word for word in between if heads[word - 1] == conjunct and _base(relations[word - 1]) in bases]


def _is_comma(form: str) -> bool:
    return form in (",", ";", "、", "،")


def _groups(conjuncts: Sequence[int], links: dict[int, list[int]]) -> list[list[int]]:
    """The non-first conjuncts by coordination: each group ends with one preceded by a conjunction."""
    groups: list[list[int]] = [[]]
    for c in conjuncts:
        groups[-1].append(c)
        if links[c]:
            groups.append([])
    return groups if groups[-1] else groups[:-1]


def _leading(heads: Sequence[int], relations: Sequence[str], forms: Sequence[str], first: int) -> list[int]:
    """Commas on the first conjunct that lead to another one: only commas and conjunctions are in between."""
    commas, leads = [], False
    for word in reversed([word for word, head in enumerate(heads, start=1) if head == first and word > first]):
        base = _base(relations[word - 1])
        if leads and base in ("punct", "p") and _is_comma(forms[word - 1]):
            commas.append(word)
        else:
            leads = base == "conj" or (leads and base == "cc")
    return commas


def _put_above(above: list[int], names: list[str], link: int, conjuncts: Sequence[int]) -> None:
    """Attach the conjuncts, or their replacements, to the link, which takes the place of the first."""
    above[link - 1], names[link - 1] = above[conjuncts[0] - 1], ABOVE + names[link - 1]
    for conjunct in conjuncts:
        above[conjunct - 1] = link
        names[conjunct - 1] += MEMBER


def _put_back(above: list[int], names: list[str], link: int, forms: Sequence[str] = ()) -> None:
    """Put the first conjunct in place of the link; given forms, commas lead to conjuncts and the rest is shared."""
    members = [i for i in range(1, len(above) + 1) if above[i - 1] == link and names[i - 1].endswith(MEMBER)]
    first, relation = members[0], names[link - 1].removeprefix(ABOVE)
    for at in members:
        names[at - 1] = names[at - 1].removesuffix(MEMBER)
        above[at - 1] = first
    above[first - 1] = above[link - 1]
    if relation.endswith(MEMBER):
        relation = relation.removesuffix(MEMBER)
        names[first - 1] += MEMBER
    if forms:
        for other in (i for i in range(1, len(above) + 1) if above[i - 1] == link):
            if (
                _base(names[other - 1]) in ("punct", "p")
                and _is_comma(forms[other - 1])
                and first < other < members[-1]
            ):
                above[other - 1] = min(at for at in members if at > other)
            elif _base(names[other - 1]) not in ("fixed", "mwe"):
                above[other - 1] = first
    above[link - 1] = min(at for at in members if at > link)
    names[link - 1] = relation


def _depth(heads: Sequence[int], word: int) -> int:
    depth = 0
    while word:
        word, depth = heads[word - 1], depth + 1
    return depth
