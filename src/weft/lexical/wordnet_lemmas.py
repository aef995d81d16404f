"""Lemmas of English words as WordNet's `morphy` finds them: exceptions first, then endings that lead to an entry.

    lemmas(w) = exceptions(w)  +  {stem + e' : w = stem + e, (e -> e') a rule of endings, stem + e' an entry}

Without the database there are no entries to check against, so the rules alone decide: every result of a rule counts.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from weft.lexical.wordnet import WordNet, find_wordnet

#: Exception lists by part of speech.
EXCEPTIONS = {"n": "noun.exc", "v": "verb.exc", "a": "adj.exc", "r": "adv.exc"}
#: Endings by part of speech and what replaces them.
RULES = {
    "n": (
        ("s", ""), ("ses", "s"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"), ("men", "man"),
        ("ies", "y"),
    ),
    "v": (("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    "a": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
}  # fmt: skip
_SHORTEST = 3  # letters that must stay if there are no entries to check against


class Lemmas:
    """Lemmas of words, from entries with their parts of speech and lists of exceptions.

    >>> lemmas = Lemmas(WordNet({"want": "nv", "wan": "a"}), {"v": {"went": ["go"]}})
    >>> lemmas("wants"), lemmas("went"), lemmas("wanted"), lemmas("xyz")
    ({'want'}, {'go'}, {'want'}, set())
    >>> sorted(Lemmas()("wanted"))  # without WordNet
    ['want', 'wante']
    """

    def __init__(
        self, net: WordNet | None = None, exceptions: Mapping[str, Mapping[str, list[str]]] | None = None
    ) -> None:
        self.net, self.exceptions = net, exceptions or {}

    @classmethod
    def read(cls, folder: str | os.PathLike[str] | None = None) -> Lemmas:
        """Lemmas of the database in a folder, or of the one on this machine; by rules alone if there is none."""
        place = Path(folder) if folder is not None else find_wordnet()
        if place is None:
            return cls()
        exceptions: dict[str, dict[str, list[str]]] = {}
        for letter, name in EXCEPTIONS.items():
            own = exceptions[letter] = {}
            if (place / name).is_file():
                for line in (place / name).read_text(encoding="utf-8", errors="replace").splitlines():
                    form, *lemmas = line.replace("_", " ").split()
                    own.setdefault(form, []).extend(lemmas)
        return cls(WordNet.read(place), exceptions)

    def __call__(self, word: str) -> set[str]:
        """The lemmas of a word in lower case; the word itself counts if it is an entry."""
        found = {word} if self.net is not None and word in self.net else set()
        for listed in self.exceptions.values():
            found.update(listed.get(word, ()))
        for letter, rules in RULES.items():
            for ending, instead in rules:
                if word.endswith(ending) and len(word) > len(ending):
                    lemma = word[: len(word) - len(ending)] + instead
                    if (self.net is None and len(lemma) >= _SHORTEST) or (
                        self.net is not None and letter in self.net.parts_of_speech(lemma)
                    ):
                        found.add(lemma)
        return found
