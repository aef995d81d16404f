"""The features of the multiword expression tagger as strings, sentence by sentence, as the paper lists them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.lexical.mwe_lexicon import Match, MweLexicon
from weft.lexical.wordnet import WordNet
from weft.tasks.spans.mwe_features import word_class
from weft.text.conventions.expressions import has_gap

CONTENT = ("verb", "noun", "adjective", "adverb")


@dataclass
class StringFeatures:
    """Lexicons, and the features they give to sentences."""

    lexicons: Sequence[MweLexicon] = ()
    wordnet: WordNet | None = None
    max_gap: int = 2

    def from_sentence(
        self,
        forms: Sequence[str],
        lemmas: Sequence[str],
        tags: Sequence[str],
        seen: Iterable[MweLexicon] = (),
    ) -> list[list[str]]:
        """The features of every word; `seen` are additional lexicons for this sentence only."""
        lower = [form.lower() for form in forms]
        features = [list(_of_form(form)) for form in forms]
        _places(forms, features)
        _lemma_pairs(lemmas, tags, features)
        if self.wordnet is not None:
            self._by_wordnet(self.wordnet, lower, lemmas, tags, features)
        self._by_lexicons([*self.lexicons, *seen], lower, lemmas, tags, features)
        return features

    def _by_lexicons(
        self,
        lexicons: Sequence[MweLexicon],
        lower: Sequence[str],
        lemmas: Sequence[str],
        tags: Sequence[str],
        found: list[list[str]],
    ) -> None:
        """Features 21 to 24."""
        ends: dict[int, dict[tuple[str, str], int]] = {}
        for lexicon in lexicons:
            place: dict[int, tuple[str, Match]] = {}
            for match in lexicon.segment(lemmas, self.max_gap, lower).matches:
                for rank, word in enumerate(match.words):
                    place[word] = ("I" if rank else "B", match)
            outside = f"21 {lexicon.name} O"
            for word, names in enumerate(found):
                if word not in place:
                    names.append(outside)
            for word, (mark, match) in place.items():
                first, last = tags[match.words[0]], tags[match.words[-1]]
                told = f"{lexicon.name} {mark} {match.category}" + (" gappy" if has_gap(match.words) else "")
                told = _written(told)
                found[word] += [f"21 {told}", f"22 {told} {first} {last}"]
                counts = ends.setdefault(word, {})
                counts[first, last] = counts.get((first, last), 0) + 1
        for word, counts in ends.items():
            found[word] += [f"23 {k}" for k in range(1, sum(counts.values()) + 1)]
            for (first, last), number in counts.items():
                found[word] += [f"24 {k} {first} {last}" for k in range(1, number + 1)]

    def _by_wordnet(
        self,
        net: WordNet,
        lower: Sequence[str],
        lemmas: Sequence[str],
        tags: Sequence[str],
        found: list[list[str]],
    ) -> None:
        """Features 17 to 20."""
        longest: list[str] = [""] * len(found)
        size = [0] * len(found)
        for lexicon in self.lexicons:
            if lexicon.name != "wordnet":
                continue
            for match in lexicon.matches(lemmas, 0, lower):
                for rank, word in enumerate(match.words):
                    if len(match.words) > size[word]:
                        size[word] = len(match.words)
                        longest[word] = f" {match.category} {'I' if rank else 'B'}"
        wordlike = [any(character.isalnum() for character in lemma) for lemma in lemmas]
        for i, lemma in enumerate(lemmas):
            kind = word_class(tags[i])
            known = net.parts_of_speech(lemma) or net.parts_of_speech(lower[i])
            if not known:
                found[i].append(f"17 {tags[i]}")
            if wordlike[i]:
                for step, name in ((-1, "previous"), (1, "next")):
                    j = i + step
                    if 0 <= j < len(lemmas) and lemmas[j] == "-":
                        j += step
                    if 0 <= j < len(lemmas) and wordlike[j] and self._compound(net, lemmas, min(i, j), max(i, j)):
                        found[i].append(f"18 {name}")
            elif lemma == "-" and 0 < i < len(lemmas) - 1 and self._compound(net, lemmas, i - 1, i + 1):
                found[i].append("19")
            ambiguity = known if kind in CONTENT and known else "" if kind in CONTENT else tags[i]
            found[i].append(f"20 {ambiguity}{longest[i]}")

    def _compound(self, net: WordNet, lemmas: Sequence[str], i: int, j: int) -> bool:
        return any(joint.join((lemmas[i], lemmas[j])) in net for joint in ("", "-", " "))


def _of_form(form: str) -> tuple[str, ...]:
    """Features 4, 8 and 9 of a word that is not sentence-initial."""
    features = ["4"] if form[:1].isupper() else []
    if form.isalpha():
        return tuple(features)
    if any(character.isdigit() for character in form):
        features.append("8")
    return (*features, *(f"9 {_written(character)}" for character in sorted(set(form)) if not character.isalnum()))


def _places(forms: Sequence[str], found: list[list[str]]) -> None:
    """Features 2 and 3, and feature 4 of the first word."""
    n = len(forms)
    for i in range(min(2, n)):
        found[i].append(f"2 {i}")
        found[n - 1 - i].append(f"3 {i}")
    if n and forms[0][:1].isupper():
        found[0][found[0].index("4")] = "4 first"


def _written(text: str) -> str:
    """Part of a feature name, without the separator of set members."""
    return text.replace("|", "/")


def _lemma_pairs(lemmas: Sequence[str], tags: Sequence[str], found: list[list[str]]) -> None:
    """Feature 12."""
    kinds = [word_class(tag) for tag in tags]
    lemmas = [_written(lemma) for lemma in lemmas]
    n = len(kinds)
    for i, kind in enumerate(kinds):
        if not kind:
            continue
        for j in range(i + 1, min(n, i + 3)):
            if (kind == "verb" and kinds[j]) or kinds[j] == "verb":
                found[i].append(f"12 {j - i} {lemmas[i]} {lemmas[j]}")
                found[j].append(f"12 {i - j} {lemmas[j]} {lemmas[i]}")
