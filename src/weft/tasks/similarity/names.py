"""Links between mentions of one name: full matches, acronyms, and parts of longer mentions.

    Secure Computing ~ Secure Computing     word by word
    SC               ~ Secure Computing     the acronym with every word of the name
    Obama            ~ Barack Obama         equal words; every other word of the longer mention with every shorter one

A mention that a sentence has twice is left to the contexts of its words.
"""

from __future__ import annotations

from collections.abc import Sequence

Mention = tuple[int, int]
_LEAST_LETTERS = 2
#: Words inside names that stand for nobody.
_INSIDE = frozenset({"the", "of", "and", "'s"})


def name_links(
    source: Sequence[str],
    target: Sequence[str],
    source_names: Sequence[Mention],
    target_names: Sequence[Mention],
) -> list[tuple[int, int]]:
    """The links between names, given as spans of words.

    >>> name_links("Barack Obama spoke".split(), "Obama left".split(), [(0, 2)], [(0, 1)])
    [(0, 0), (1, 0)]
    >>> name_links(["SC", "grew"], ["Secure", "Computing"], [(0, 1)], [(0, 2)])
    [(0, 0), (0, 1)]
    """
    if not source_names and not target_names:
        return []
    one, other = [word.lower() for word in source], [word.lower() for word in target]
    # A word recognized as a name in one sentence is one in the other, too.
    left = _completed(source_names, [other[a:b] for a, b in target_names], source, one)
    right = _completed(target_names, [one[a:b] for a, b in source_names], target, other)
    left = [each for each in left if _once(one, left, each)]
    right = [each for each in right if _once(other, right, each)]
    links: dict[tuple[int, int], None] = {}
    done_left: set[int] = set()
    done_right: set[int] = set()
    for a, b in left:
        for c, d in right:
            if one[a:b] == other[c:d]:
                links.update(((a + k, c + k), None) for k in range(b - a))
                done_left.add(a)
                done_right.add(c)
    for a, b in left:
        for c, d in right:
            if a in done_left or c in done_right:
                continue
            if _is_acronym(source, (a, b), target[c:d]) or _is_acronym(target, (c, d), source[a:b]):
                found = [(i, j) for i in range(a, b) for j in range(c, d)]
            else:
                found = _part((a, b), (c, d), one, other)
            if found:
                links.update((link, None) for link in found)
                done_left.add(a)
                done_right.add(c)
    return list(links)


def _completed(
    names: Sequence[Mention], others: Sequence[Sequence[str]], words: Sequence[str], lower: Sequence[str]
) -> list[Mention]:
    """The names of a sentence, and capitalized runs of it that are names in the other one."""
    found = sorted(set(names))
    taken = {i for a, b in found for i in range(a, b)}
    for other in others:
        size = len(other)
        for i in range(len(words) - size + 1):
            if (
                list(lower[i : i + size]) == list(other)
                and words[i][:1].isupper()
                and taken.isdisjoint(range(i, i + size))
            ):
                found.append((i, i + size))
                taken.update(range(i, i + size))
    for i, word in enumerate(words):
        if i not in taken and len(word) >= _LEAST_LETTERS and word.isupper() and word.isalpha():
            found.append((i, i + 1))
            taken.add(i)
    return sorted(found)


def _once(lower: Sequence[str], names: Sequence[Mention], name: Mention) -> bool:
    own = list(lower[name[0] : name[1]])
    return sum(list(lower[a:b]) == own for a, b in names) == 1


def _is_acronym(words: Sequence[str], name: Mention, full: Sequence[str]) -> bool:
    """Whether a mention of one word is the first letters of a longer one.

    >>> _is_acronym(["U.N."], (0, 1), ["United", "Nations"]), _is_acronym(["It"], (0, 1), ["I", "think"])
    (True, False)
    """
    letters = words[name[0]].replace(".", "")
    if name[1] - name[0] != 1 or len(full) < _LEAST_LETTERS or not (letters.isupper() and letters.isalpha()):
        return False
    return letters.lower() in (
        "".join(word[0] for word in full).lower(), "".join(word[0] for word in full if word[:1].isupper()).lower()
    )  # fmt: skip


def _part(left: Mention, right: Mention, one: Sequence[str], other: Sequence[str]) -> list[tuple[int, int]]:
    """Links of a mention whose words are all in the longer other one."""
    (a, b), (c, d) = left, right
    turned = b - a > d - c
    short, long = ((c, d), (a, b)) if turned else ((a, b), (c, d))

    few, words = (other, one) if turned else (one, other)
    equal = [(x, y) for x in range(*short) for y in range(*long) if few[x] == words[y]]
    if len({x for x, _ in equal}) < short[1] - short[0] or short[1] - short[0] == long[1] - long[0]:
        return []
    matched = {y for _, y in equal}
    rest = [y for y in range(*long) if y not in matched and words[y][:1].isalpha() and words[y] not in _INSIDE]
    found = equal + [(x, y) for y in rest for x in range(*short)]
    return sorted((y, x) for x, y in found) if turned else sorted(found)
