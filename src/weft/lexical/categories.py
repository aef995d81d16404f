"""Categories of words: files in the format of LIWC, and a few closed classes.

A `.dic` file begins with numbered names of categories between lines `%`, and goes on with a word per line and the
numbers of its categories; a word that ends in `*` stands for all words that begin so.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from weft.errors import FormatError
from weft.formats.streams import numbered_lines

#: Closed classes of English, those that split best in the paper on empowerment; spelled as tokens of chat.
CLOSED: dict[str, tuple[str, ...]] = {
    "article": ("a", "an", "the"),
    "self": ("i", "me", "my", "mine", "myself", "im"),
    "you": ("you", "your", "yours", "yourself", "u", "ur", "ya"),
    "we": ("we", "us", "our", "ours", "ourselves"),
    "other": ("he", "she", "him", "her", "his", "hers", "they", "them", "their", "theirs"),
    "negate": ("no", "not", "n't", "never", "none", "nothing", "nobody", "nope", "nah", "cannot", "without", "neither"),
    "swear": ("damn", "hell", "crap", "shit", "fuck", "fucking", "ass", "bitch", "bastard", "wtf"),
}  # fmt: skip


def read_categories(path: str | os.PathLike[str], *, encoding: str = "utf-8") -> dict[str, tuple[str, ...]]:
    """The categories of a `.dic` file, each with its words.

    >>> from tempfile import TemporaryDirectory
    >>> from pathlib import Path
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "own.dic").write_text("%\\n1\\tfood\\n2\\tplace\\n%\\nbread*\\t1\\ncafe\\t1\\t2\\n")
    ...     read_categories(f"{folder}/own.dic")
    {'food': ('bread*', 'cafe'), 'place': ('cafe',)}
    """
    name = os.fspath(path)
    names: dict[str, str] = {}
    found: dict[str, list[str]] = {}
    marks = 0
    for number, line in numbered_lines(name, encoding):
        words = line.split()
        if words == ["%"]:
            marks += 1
        elif words and marks == 1:
            if len(words) < 2 or not words[0].isdigit():
                raise FormatError(name, number, "the number and the name of a category", line.strip()[:40])
            names[words[0]] = words[1]
            found[words[1]] = []
        elif words and marks == 2:
            unknown = [each for each in words[1:] if each not in names]
            if unknown or len(words) < 2:
                raise FormatError(name, number, "a word and numbers of categories", line.strip()[:40])
            for each in words[1:]:
                found[names[each]].append(words[0].lower())
        elif words:
            raise FormatError(name, number, "a line % before the categories", line.strip()[:40])
    if marks != 2:
        raise FormatError(name, None, "categories between two lines %", f"{marks} such lines")
    return {category: tuple(members) for category, members in found.items()}


def members(vocabulary: Mapping[str, int], words: Iterable[str]) -> list[int]:
    """The numbers of the words of a category in a vocabulary.

    >>> members({"bread": 0, "breads": 1, "cafe": 2}, ("bread*",))
    [0, 1]
    """
    whole = {word for word in words if not word.endswith("*")}
    begun = tuple(word[:-1] for word in words if word.endswith("*"))
    return sorted(n for word, n in vocabulary.items() if word in whole or (begun and word.startswith(begun)))
