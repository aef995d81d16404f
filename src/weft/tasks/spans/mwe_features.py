"""Features of the multiword expression tagger beyond words and tags (appendix A of Schneider et al. 2014).

`ExpressionFeatures` gives every word of a sentence a set of features as strings, numbered as in the paper:

| number | feature |
|---|---|
| 2, 3, 4 | among the first two, the last two words; capitalized, sentence-initial or not |
| 8, 9 | contains a digit, contains a character other than letters and digits |
| 12 | lemma and a nearby lemma, if one is a verb and the other a content word, preposition or particle |
| 17 - 20 | by WordNet: not listed; compounds with a neighbour; over a hyphen; ambiguity class and longest match |
| 21, 22 | for every lexicon: position in the shortest path, category, gaps; with the tags of the match's two ends |
| 23, 24 | how many lexicons match; with the tags of the ends |
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import pairwise

from weft.lexical.mwe_lexicon import Match, MweLexicon
from weft.lexical.wordnet import WordNet
from weft.text.conventions.expressions import has_gap
from weft.text.doc import Doc
from weft.text.strings import StringTable

#: The paper's templates over words (w), their lower-case forms (u), lemmas (l) and tags (t); x holds all others.
TEMPLATES = (
    "true y[-1] w[0].shape u[0].prefix1..4 u[0].suffix1..4 u[-2..2] u[-2]|u[-1] u[-1]|u[0] u[0]|u[1] u[1]|u[2] "
    "t[-2..2] t[-2]|t[-1] t[-1]|t[0] t[0]|t[1] t[1]|t[2] u[0]|t[-1] u[0]|t[1] u[-1]|t[0] u[1]|t[0] x[0]"
)
FIELDS = {"w": "form", "u": "lower", "l": "lemma", "t": "tag", "x": "mwe:set"}
CLUSTER_TEMPLATES = "c[-1] c[1] c[0]|l[0]"

_CLASSES = {
    "verb": ("V", "MD", "AUX"),
    "noun": ("N", "PROPN"),
    "adjective": ("J", "ADJ"),
    "adverb": ("RB", "ADV", "WRB"),
    "particle": ("RP", "PART", "TO", "IN", "ADP"),
}
_CONTENT = ("verb", "noun", "adjective", "adverb")


@cache
def word_class(tag: str) -> str:
    """Verb, noun, adjective, adverb or particle (including prepositions), from a Penn or UD tag; empty for others.

    >>> [word_class(tag) for tag in ("VBZ", "NNP", "NUM", "ADV", "RP", "ADP", "DT")]
    ['verb', 'noun', '', 'adverb', 'particle', 'particle', '']
    """
    if tag in ("NUM", "VERB", "NOUN"):
        return {"NUM": "", "VERB": "verb", "NOUN": "noun"}[tag]
    return next((name for name, starts in _CLASSES.items() if tag.startswith(starts)), "")


@dataclass
class ExpressionFeatures:
    """Lexicons, and the features they give to sentences.

    >>> features = ExpressionFeatures([MweLexicon.of("mine", [("give up", "verb")])])
    >>> found = features.from_sentence(["gave", "up"], ["give", "up"], ["VBD", "RP"])
    >>> [name for name in found[0] if name.startswith(("21", "22", "23"))]
    ['21 mine B verb', '22 mine B verb VBD RP', '23 1']
    """

    lexicons: Sequence[MweLexicon] = ()
    wordnet: WordNet | None = None
    max_gap: int = 2
    _compounds: dict[tuple[str, str], bool] = field(default_factory=dict, repr=False)

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
            ambiguity = known if kind in _CONTENT and known else "" if kind in _CONTENT else tags[i]
            found[i].append(f"20 {ambiguity}{longest[i]}")

    def _compound(self, net: WordNet, lemmas: Sequence[str], i: int, j: int) -> bool:
        pair = (lemmas[i], lemmas[j])
        known = self._compounds.get(pair)
        if known is None:
            known = any(joint.join(pair) in net for joint in ("", "-", " "))
            if len(self._compounds) > 200_000:
                self._compounds.clear()
            self._compounds[pair] = known
        return known


def observed_doc(
    doc: Doc,
    features: ExpressionFeatures,
    tag_column: str,
    seen: Sequence[Sequence[MweLexicon]] = (),
    strings: StringTable | None = None,
) -> Doc:
    """A document with the columns that the templates read, in a new string table or the given one.

    `seen[s]` are additional lexicons for sentence s. The lemma defaults to the lower-case form.
    """
    new = Doc(strings=strings)
    forms = doc.column("form")
    lower = [form.lower() for form in forms]
    lemmas = [lemma.lower() or form for lemma, form in zip(doc.column("lemma"), lower, strict=True)]
    tags = doc.column(tag_column) if tag_column else [""] * len(forms)
    members: list[str] = []
    for number, (first, end) in enumerate(pairwise(doc.sentence_offsets.tolist())):
        extra_lexicons = seen[number] if seen else ()
        sets = features.from_sentence(forms[first:end], lemmas[first:end], tags[first:end], extra_lexicons)
        members += ["|".join(names) for names in sets]
    new.word_token = doc.word_token
    new.sentence_offsets = doc.sentence_offsets
    columns = {"form": forms, "lower": lower, "lemma": lemmas, "tag": tags, "mwe": members}
    for name, values in columns.items():
        new.set_column(name, values)
    return new


@lru_cache(maxsize=50_000)
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
