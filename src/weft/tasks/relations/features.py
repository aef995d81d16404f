"""Features of pairs of mentions (McDonald et al. 2005), as names and as 64-bit keys.

    types of both; words, word pairs and tags in each; words, word pairs and tags between them; distance; last words of
    both; the whole text and the tags between them if they are short; each of these with the types and slots of both

Features of context, which the paper has not, are the types of mentions between both, how many others of either type the
sentence has, and whether one of them is nearer. With trees there are also the path of relations from one mention to the
other, and the words on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from weft.arrays import Ints, Keys
from weft.hashing import hash_string, hash_strings
from weft.tasks.relations.samples import Mention, Sample

#: Lower ends of the groups of distances, in words.
DISTANCES = (0, 1, 2, 3, 4, 6, 11, 21)
#: Longer texts between mentions are no feature as a whole.
SHORT = 6
#: Of longer texts between mentions only words near either end count.
NEAR = 20
_LONGEST_PATH = 8
_K, _S32 = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)


def pair_features(sample: Sample, one: int, other: int) -> list[str]:
    """The names of the features of two mentions, the first of which stands first; without those of types and slots.

    >>> sample = Sample(["ada", "runs", "quill"], [Mention(0, 1, "PER"), Mention(2, 3, "ORG")])
    >>> pair_features(sample, 0, 1)
    ['', '1w:ada', '2w:quill', 'w:runs', 'd:1', 'h:ada_quill', 's:runs']
    """
    first, second = sample.mentions[one], sample.mentions[other]
    found = [""]  # fires for every pair
    for side, mention in (("1", first), ("2", second)):
        words = sample.words[mention.start : mention.end]
        found += [f"{side}w:{word}" for word in words]
        found += [f"{side}b:{a}_{b}" for a, b in pairwise(words)]
        found += [f"{side}t:{tag}" for tag in sample.tags[mention.start : mention.end]]
    gap = second.start - first.end
    between, tags = (_near(column[first.end : second.start]) for column in (sample.words, sample.tags))
    found += [f"w:{word}" for word in between]
    found += [f"b:{a}_{b}" for a, b in pairwise(between)]
    found += [f"t:{tag}" for tag in tags]
    found.append("d:overlap" if gap < 0 else f"d:{max(low for low in DISTANCES if low <= gap)}")
    found.append(f"h:{sample.words[first.end - 1]}_{sample.words[second.end - 1]}")
    if 0 <= gap <= SHORT:
        found.append(f"s:{' '.join(between)}")
        if sample.tags:
            found.append(f"S:{' '.join(tags)}")
    if sample.context:
        found += _context_features(sample, one, other)
    if sample.heads:
        found += _path_features(sample, first, second)
    return list(dict.fromkeys(found))


def type_name(slot: str, kind: str) -> str:
    """A filled slot as a feature; the type alone if slots are called by types.

    >>> type_name("person", "person"), type_name("Arg1", "PER")
    ('person', 'Arg1/PER')
    """
    return kind if slot == kind else f"{slot}/{kind}"


def keys_of(names: Sequence[Sequence[str]]) -> tuple[Keys, Ints]:
    """The keys of the features of many pairs as one array with offsets."""
    offsets = np.cumsum([0, *map(len, names)], dtype=np.int64)
    numbers: dict[str, int] = {}
    places = [numbers.setdefault(name, len(numbers)) for row in names for name in row]
    return hash_strings(list(numbers))[places] if places else np.zeros(0, np.uint64), offsets


def with_value(keys: Keys, value: str) -> Keys:
    """The keys of features that are joined to a value, such as the types of both mentions."""
    joined = (keys ^ np.uint64(hash_string(value))) * _K
    return joined ^ (joined >> _S32)


def _near(column: Sequence[str]) -> list[str]:
    return list(column) if len(column) <= 2 * NEAR else [*column[:NEAR], *column[-NEAR:]]


def _context_features(sample: Sample, one: int, other: int) -> list[str]:
    """Types of the mentions between two mentions, how many there are of either type, and whether one is nearer."""
    first, second = sample.mentions[one], sample.mentions[other]
    between = [each for each in sample.mentions if first.end <= each.start and each.end <= second.start]
    found = [f"x:{each.type}" for each in between]
    gap = second.start - first.end
    for side, own, fixed in (("1", first, second), ("2", second, first)):
        rivals = [each for each in sample.mentions if each.type == own.type and each != own]
        nearer = any(_gap(each, fixed) < gap for each in rivals)
        found.append(f"{side}n:{min(len(rivals), 2)}{' nearer' if nearer else ''}")
    return found


def _gap(one: Mention, other: Mention) -> int:
    """The words between two mentions."""
    return max(one.start, other.start) - min(one.end, other.end)


def _path_features(sample: Sample, first: Mention, second: Mention) -> list[str]:
    """The path in the tree between the heads of two mentions: relations with directions, and words."""
    ups = [_up(sample, _head(sample, mention)) for mention in (first, second)]
    inside = set(ups[0])
    top = next((word for word in ups[1] if word in inside), None)
    if top is None:
        return []
    up, down = ups[0][: ups[0].index(top)], ups[1][: ups[1].index(top)]
    if len(up) + len(down) > _LONGEST_PATH:
        return ["p:long"]
    relations = [*(f"<{sample.relations[word]}" for word in up), *(f">{sample.relations[word]}" for word in down[::-1])]
    middle = [sample.words[word] for word in (*up[1:], *([top] if up and down else []), *down[:0:-1])]
    path = " ".join(relations)
    found = [f"p:{path}", f"q:{path} {' '.join(middle)}", f"c:{' '.join(middle)}"]
    return found + [f"v:{word}" for word in middle]


def _head(sample: Sample, mention: Mention) -> int:
    """The first word of a mention whose head is outside of it."""
    words = range(mention.start, mention.end)
    return next((word for word in words if not mention.start <= sample.heads[word] < mention.end), mention.start)


def _up(sample: Sample, word: int) -> list[int]:
    """A word and all above it."""
    path = [word]
    while 0 <= sample.heads[path[-1]] < len(sample.words) and len(path) <= len(sample.words):
        path.append(sample.heads[path[-1]])
    return path
