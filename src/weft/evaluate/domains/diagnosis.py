"""Why a parser loses accuracy in another domain: compare its errors on a source and a target domain.

    loss = error(target) - error(source) <= divergence of the inputs + difference of the annotations

after Ben-David et al. (2006). Only the first term can be reduced without target trees, so the report says which of the
two dominates (Dredze et al. 2007). Four tables break the loss down completely: by the tag of the dependent, by how many
of its two words are unknown to the parser, by fine tags with the shift in their frequencies, and by the two tags that
an arc connects, with the *direction profile*: how often the left word is the head. If the gold profiles of the domains
differ and the parser follows the source's, the guidelines differ. Nouns attached to nouns, the paper's case, have a
separate table and flatness statistics.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Ints
from weft.errors import WeftError
from weft.evaluate.domains.loss_tables import LossTable, loss_table
from weft.text.doc import Doc

#: Coarse noun tags: universal ones, and the first letters of Penn's.
NOUNS = frozenset(("NOUN", "PROPN", "NN"))
UNKNOWN = ("both known", "one unknown", "both unknown")
NOUN_NOUN, FOLLOWS, OTHER = "noun-noun arc", "follows from one", "other"
#: The minimum number of arcs and the minimum difference for a profile to count as different rather than noise.
FEWEST, LARGEST = 20, 0.3


@dataclass(frozen=True)
class Parsed:
    """The words of a domain in one row, with gold and predicted heads as positions in the row (-1: the root)."""

    forms: list[str]
    coarse: list[str]
    fine: list[str]
    gold: Ints
    found: Ints
    sentence: Ints

    @classmethod
    def of(cls, gold: Iterable[Doc], system: Iterable[Doc], name: str = "documents") -> Parsed:
        """Build from gold documents and the same documents as parsed.

        The coarse tag is UPOS, or the first two letters of XPOS if there is no UPOS; tags come from `gold`.
        """
        right, parsed = (_Row.of(docs, f"{name} ({what})") for docs, what in ((gold, "gold"), (system, "parsed")))
        if right.forms != parsed.forms or (right.sentence != parsed.sentence).any():
            raise WeftError(
                f"{name}: the parsed sentences have different words than the gold ones ({len(parsed.forms):,} and "
                f"{len(right.forms):,} words); provide the same sentences, parsed with gold words"
            )
        return cls(right.forms, right.coarse, right.fine, right.head, parsed.head, right.sentence)

    @property
    def wrong(self) -> NDArray[np.bool_]:
        """Which words have the wrong head."""
        return self.gold != self.found

    @property
    def error(self) -> float:
        """The fraction of words with a wrong head."""
        return float(self.wrong.mean())


@dataclass(frozen=True)
class Shift:
    """The relative frequency of a tag, or a tag trigram, in the two domains."""

    name: str
    source: float
    target: float

    @property
    def difference(self) -> float:
        return self.target - self.source


@dataclass(frozen=True)
class Profile:
    """Arcs between a word and a later one, by tags: their number, and how often the left word is the head.

    `..` before the right tag means that there are words between the two.
    """

    left: str
    right: str
    source: tuple[int, float]
    target: tuple[int, float]
    parsed: tuple[int, float]  # in the parser's trees of the target
    contribution: float  # to the loss, by words whose gold arc is one of these

    @property
    def name(self) -> str:
        return f"{self.left} {self.right}"

    @property
    def differs(self) -> bool:
        """Whether guidelines seem to differ: the gold trees do, and the parser follows those of the source."""
        own, other, parser = self.source[1], self.target[1], self.parsed[1]
        enough = min(self.source[0], self.target[0]) >= FEWEST
        return enough and abs(own - other) >= LARGEST and abs(parser - own) < abs(parser - other)


@dataclass(frozen=True)
class Flatness:
    """Noun phrases in trees: mean number of noun dependents of nouns that have any, and longest all-noun path down."""

    dependents: float
    depth: float


@dataclass(frozen=True)
class Diagnosis:
    """The result of `diagnose`: errors, tables that each add up to the loss, and shifts of tags and arcs."""

    source_words: int
    target_words: int
    source_error: float
    target_error: float
    tables: dict[str, LossTable]  # tags, fine tags, unknown words, arcs, nouns
    divergence: dict[str, float]  # of coarse tags, fine tags, trigrams of fine tags
    tags: list[Shift]
    trigrams: list[Shift]
    profiles: list[Profile]
    flatness: dict[str, Flatness]  # of the trees: source, target, parsed target

    @property
    def loss(self) -> float:
        """Target error minus source error."""
        return self.target_error - self.source_error

    @property
    def guidelines(self) -> list[Profile]:
        """Arcs on which the guidelines of the domains seem to differ, most costly first."""
        return sorted((each for each in self.profiles if each.differs), key=lambda each: -each.contribution)

    @property
    def verdict(self) -> str:
        """A one-sentence explanation of the loss."""
        lost = 100 * self.loss
        if self.loss <= 0:
            return f"There is no loss: the parser makes {-lost:.2f} points fewer errors on the target."
        clash = self.guidelines
        cost = 100 * sum(each.contribution for each in clash)
        if not clash:
            return (
                f"{lost:.2f} points are lost, and the two gold standards attach alike: it looks like a shift of words "
                "and constructions, which unlabelled target text may help with."
            )
        names = ", ".join(each.name for each in clash[:5])
        return (
            f"{lost:.2f} points are lost, {cost:.2f} of them on arcs that the two gold standards direct differently "
            f"({names}): it looks like different guidelines, which only target trees can teach."
        )

    def figures(self) -> dict[str, Any]:
        """All results, for JSON."""
        return {
            "source": {"words": self.source_words, "error": self.source_error},
            "target": {"words": self.target_words, "error": self.target_error},
            "loss": self.loss,
            "tables": {name: [row.figures() for row in table] for name, table in self.tables.items()},
            "divergence": self.divergence,
            "tags": [{"tag": each.name, "source": each.source, "target": each.target} for each in self.tags],
            "trigrams": [{"tags": each.name, "source": each.source, "target": each.target} for each in self.trigrams],
            "profiles": [
                {"left": each.left, "right": each.right, "source": each.source, "target": each.target,
                 "parsed": each.parsed, "contribution": each.contribution, "differs": each.differs}
                for each in self.profiles
            ],
            "flatness": {name: vars(each) for name, each in self.flatness.items()},
            "verdict": self.verdict,
        }  # fmt: skip


def diagnose(source: Parsed, target: Parsed, known: Collection[str] | None = None) -> Diagnosis:
    """Break down the loss of a parser between two domains.

    `known` are the word forms in the parser's training data (`weft.evaluate.vocabulary_of`), case-insensitive. Without
    them there is no table of unknown words.

    >>> tags = [["DET", "NOUN", "NOUN", "VERB"]]
    >>> right, flat, other = [[3, 3, 4, 0]], [[3, 3, 4, 0]], [[2, 4, 2, 0]]
    >>> news = Doc.from_words([["the", "ferry", "captain", "waved"]], upos=tags, head=right)
    >>> lab = Doc.from_words([["the", "enzyme", "catalase", "acted"]], upos=tags, head=other)
    >>> parsed = Doc.from_words([["the", "enzyme", "catalase", "acted"]], upos=tags, head=flat)
    >>> found = diagnose(Parsed.of([news], [news]), Parsed.of([lab], [parsed]), {"the"})
    >>> found.loss, {row.name: row.contribution for row in found.tables["nouns"]}
    (0.75, {'noun-noun arc': 0.5, 'follows from one': 0.25, 'other': 0.0})
    """
    pair = (source, target)
    wrong = (source.wrong, target.wrong)

    def table(
        title: str, classes: tuple[Sequence[str], Sequence[str]], order: Sequence[str] | None = None
    ) -> LossTable:
        return loss_table(title, (classes[0], wrong[0]), (classes[1], wrong[1]), order)

    arcs = table("arc", (_arc_names(source), _arc_names(target)))
    tables = {
        "tags": table("tag", (source.coarse, target.coarse)),
        "fine tags": table("fine tag", (source.fine, target.fine)),
        "arcs": arcs,
        "nouns": table("noun phrases", (_noun_classes(source), _noun_classes(target)), (NOUN_NOUN, FOLLOWS, OTHER)),
    }
    if known is not None:
        lower = {form.lower() for form in known}
        classes = (_unknown(source, lower), _unknown(target, lower))
        tables["unknown words"] = table("words of the arc", classes, UNKNOWN)
    coarse, fine, three = (
        tuple(count(each) for each in pair)
        for count in (lambda p: Counter(p.coarse), lambda p: Counter(p.fine), _trigrams)
    )
    return Diagnosis(
        len(source.forms), len(target.forms), source.error, target.error, tables,
        {"tags": divergence(*coarse), "fine tags": divergence(*fine), "three tags": divergence(*three)},
        _shifts(*fine), _shifts(*three), _profiles(source, target, arcs),
        {"source": flatness(source, source.gold), "target": flatness(target, target.gold),
         "parsed": flatness(target, target.found)},
    )  # fmt: skip


def divergence(one: Counter[Any], other: Counter[Any]) -> float:
    """Jensen-Shannon divergence of two sets of counts in bits: 0 for the same frequencies, 1 for nothing in common.

    >>> divergence(Counter("ab"), Counter("ab")), divergence(Counter("ab"), Counter("cd"))
    (0.0, 1.0)
    """
    if not one.total() or not other.total():
        return float(one.total() != other.total())
    names: list[Hashable] = sorted({*one, *other})
    p, q = (np.array([count[name] for name in names], dtype=np.float64) for count in (one, other))
    p, q = p / p.sum(), q / q.sum()
    middle = (p + q) / 2
    return float(sum((a[a > 0] * np.log2(a[a > 0] / middle[a > 0])).sum() for a in (p, q)) / 2)


def flatness(parsed: Parsed, heads: Ints) -> Flatness:
    """How flat the noun phrases are in trees over the words of a domain.

    >>> doc = Doc.from_words([["a", "b", "c"]], upos=[["NOUN"] * 3], head=[[3, 3, 0]])
    >>> flatness(Parsed.of([doc], [doc]), np.array([2, 2, -1]))
    Flatness(dependents=2.0, depth=1.0)
    """
    below = _joins_nouns(parsed, heads)
    dependents = np.bincount(heads[below], minlength=len(heads))
    tops = np.flatnonzero((dependents > 0) & ~below)
    depth = np.zeros(len(heads), dtype=np.int64)
    for word in np.flatnonzero(below & (dependents == 0)).tolist():
        steps = 0
        while below[word] and steps < len(heads):
            word, steps = int(heads[word]), steps + 1
            depth[word] = max(depth[word], steps)
    some = dependents[dependents > 0]
    return Flatness(float(some.mean()) if len(some) else 0.0, float(depth[tops].mean()) if len(tops) else 0.0)


@dataclass(frozen=True)
class _Row:
    """The words of documents in one row."""

    forms: list[str]
    coarse: list[str]
    fine: list[str]
    head: Ints
    sentence: Ints

    @classmethod
    def of(cls, docs: Iterable[Doc], name: str) -> _Row:
        forms: list[str] = []
        coarse: list[str] = []
        fine: list[str] = []
        heads, sentences, done = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], 0
        for doc in docs:
            if doc.head is None or (doc.head < 0).any():
                raise WeftError(f"{name}: there are words without a head; fill the column HEAD of CoNLL-U")
            sizes = np.diff(doc.sentence_offsets)
            first = len(forms) + np.repeat(doc.sentence_offsets[:-1], sizes).astype(np.int64)
            heads.append(np.where(doc.head > 0, first + doc.head - 1, -1))
            sentences.append(done + np.repeat(np.arange(len(sizes)), sizes))
            done += len(sizes)
            forms += doc.column("form")
            universal, language_specific = doc.column("upos"), doc.column("xpos")
            coarse += [tag or other[:2] for tag, other in zip(universal, language_specific, strict=True)]
            fine += [other or tag for tag, other in zip(universal, language_specific, strict=True)]
        if not forms:
            raise WeftError(f"{name}: there are no words")
        return cls(forms, coarse, fine, np.concatenate(heads), np.concatenate(sentences))


def _arc_names(parsed: Parsed) -> list[str]:
    return [" ".join(pair) for pair in _pairs(parsed, parsed.gold)]


def _pairs(parsed: Parsed, heads: Ints) -> list[tuple[str, str]]:
    """Tags of the left and right word of every arc, the right one with dots if they are not adjacent; the root is
    left of all words."""
    tags, pairs = parsed.coarse, []
    for m, h in enumerate(heads.tolist()):
        left, right = (h, m) if h < m else (m, h)
        pairs.append(("ROOT", tags[m]) if h < 0 else (tags[left], f"{'.. ' if right - left > 1 else ''}{tags[right]}"))
    return pairs


def _unknown(parsed: Parsed, known: Collection[str]) -> list[str]:
    new = np.array([form.lower() not in known for form in parsed.forms])
    count = new.astype(np.int64) + np.where(parsed.gold >= 0, new[parsed.gold], False)
    return [UNKNOWN[number] for number in count.tolist()]


def _joins_nouns(parsed: Parsed, heads: Ints) -> NDArray[np.bool_]:
    noun = np.array([tag in NOUNS for tag in parsed.coarse])
    return noun & (heads >= 0) & noun[heads]


def _noun_classes(parsed: Parsed) -> list[str]:
    """Whether the gold or predicted arc of a word connects two nouns, or its wrong head is in the same phrase as the
    gold head, connected to it by arcs between nouns."""
    right, predicted = (_joins_nouns(parsed, heads) for heads in (parsed.gold, parsed.found))
    phrase = np.arange(len(right))
    for word in range(len(right)):
        top = word
        while right[top]:
            top = int(parsed.gold[top])
        phrase[word] = top
    both = (parsed.gold >= 0) & (parsed.found >= 0) & parsed.wrong
    follows = both & (phrase[parsed.gold] == phrase[parsed.found])
    return np.where(right | predicted, NOUN_NOUN, np.where(follows, FOLLOWS, OTHER)).tolist()


def _trigrams(parsed: Parsed) -> Counter[str]:
    tags, sentence = parsed.fine, parsed.sentence
    same = np.flatnonzero(sentence[2:] == sentence[:-2]).tolist()
    return Counter(" ".join(tags[i : i + 3]) for i in same)


def _shifts(source: Counter[str], target: Counter[str]) -> list[Shift]:
    sums = max(source.total(), 1), max(target.total(), 1)
    shifts = [Shift(name, source[name] / sums[0], target[name] / sums[1]) for name in {*source, *target}]
    return sorted(shifts, key=lambda each: (-abs(each.difference), each.name))


def _profiles(source: Parsed, target: Parsed, arcs: LossTable) -> list[Profile]:
    """Profiles of the tag pairs that arcs connect in either gold standard, most costly first."""
    counts = []
    for parsed, heads in ((source, source.gold), (target, target.gold), (target, target.found)):
        left: Counter[tuple[str, str]] = Counter()
        every: Counter[tuple[str, str]] = Counter()
        for pair, h, m in zip(_pairs(parsed, heads), heads.tolist(), range(len(heads)), strict=True):
            every[pair] += 1
            left[pair] += 0 <= h < m
        counts.append({pair: (n, left[pair] / n) for pair, n in every.items()})
    names = {pair for pair in (*counts[0], *counts[1]) if pair[0] != "ROOT"}
    adds = {row.name: row.contribution for row in arcs}
    none = (0, 0.0)
    profiles = []
    for pair in names:
        own, other, parser = (count.get(pair, none) for count in counts)
        profiles.append(Profile(*pair, own, other, parser, adds.get(" ".join(pair), 0.0)))
    return sorted(profiles, key=lambda each: (-each.contribution, each.name))
