"""Multiword tokens, which consist of several syntactic words: French `du` = `de le`, Spanish `dámelo` = `da me lo`.

A script describes a split: letters to remove from the front and the end of the token, and the words, one of which
contains the rest of the token (the stem, `*`):

    dámelo -> da me lo      -  | ámelo |  *a me lo          the stem is `d`
    couldn't -> could n't   -  | n't   |  * n't             the stem is `could`

Tokens that training data always treats the same way are split, or kept whole, in that way. For ambiguous tokens, and
for unseen tokens that match some script, a log-linear model over the token's letters and its neighbours chooses among
the matching scripts and no split. Letters of a script follow the casing of the token.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Keys
from weft.errors import ModelError
from weft.features.cache import LIMIT, Cache
from weft.features.index import FeatureIndex
from weft.features.weights import FrozenTable, Layout
from weft.hashing import hash_strings
from weft.headers import Many, Named, Record, Row, Text, Whole
from weft.learn.chains.labels import LabelSpace
from weft.learn.chains.model import ChainBatch, ChainModel, FeatureRows
from weft.storage import Arrays

Words = tuple[str, ...]
Split = Words | None
#: The possible analyses of a token: its words, None if it stays whole, or the labels to choose from.
Choice = tuple[str, ...] | tuple[int, ...] | None

#: Scripts of fewer token types only apply to the types they were seen with.
PRODUCTIVE = 2
#: An analysis that is rarer than this share of a token's occurrences counts as an annotation error.
SLIP = 0.02
#: Maximum number of training examples per unambiguous token: the model is for unseen tokens.
EXAMPLES = 8
_STEM = "*"
HEADER = Record(
    known=Named(Many(Many(Text()), least=1)),
    whole=Many(Text()),
    scripts=Many(Row((Text(), Text(), Many(Text(), least=1), Whole()))),
    productive=Whole(),
)
_WHOLE = 0  # label of tokens that stay whole


class Script(NamedTuple):
    """A split: `front` and `back` are removed; `host` is the word that contains the stem, between `pre` and `post`."""

    front: str
    back: str
    words: Words  # the host is written as its letters before and after the stem, separated by `*`
    host: int

    def fits(self, token: str) -> bool:
        """Whether a lower-cased token has the script's letters and a stem between them."""
        room = len(token) - len(self.front) - len(self.back)
        return room > 0 and token.startswith(self.front) and token.endswith(self.back)

    def apply(self, token: str) -> Words:
        """The words of a token that matches the script.

        >>> Script("", "n't", ("*", "n't"), 0).apply("COULDN'T")
        ('COULD', "N'T")
        """
        stem = token[len(self.front) : len(token) - len(self.back)]
        pre, post = self.words[self.host].split(_STEM)
        if token.isupper() and sum(map(str.isalpha, token)) > 1:
            words = [word.upper() for word in self.words]
            pre, post = pre.upper(), post.upper()
        else:
            words = list(self.words)
        words[self.host] = pre + stem + post
        if token[:1].isupper() and words[0][:1].islower():
            words[0] = words[0][:1].upper() + words[0][1:]
        return tuple(words)


def scripts_of(token: str, words: Sequence[str]) -> list[Script]:
    """The scripts that split a token into these words, one per word that shares letters with it.

    >>> [(script.back, script.words) for script in scripts_of("didn't", ["did", "n't"]) if not script.front]
    [("n't", ('*', "n't"))]
    """
    small, parts = lower(token), [lower(word) for word in words]
    scripts = []
    for host, part in enumerate(parts):
        begin, place, size = _common(small, part)
        if size and _STEM not in "".join(parts):
            shown = [*parts[:host], part[:place] + _STEM + part[place + size :], *parts[host + 1 :]]
            scripts.append(Script(small[:begin], small[begin + size :], tuple(shown), host))
    return scripts


def lower(string: str) -> str:
    """Lower-case letter by letter, which preserves the length: İ stays as it is."""
    small = string.lower()
    return small if len(small) == len(string) else "".join(c.lower() if len(c.lower()) == 1 else c for c in string)


def _common(one: str, other: str) -> tuple[int, int, int]:
    """The longest common substring: its start in both strings, and its length; the first one wins ties."""
    best = (0, 0, 0)
    for i in range(len(one)):
        for j in range(len(other)):
            size = 0
            while i + size < len(one) and j + size < len(other) and one[i + size] == other[j + size]:
                size += 1
            if size > best[2]:
                best = (i, j, size)
    return best


class Multiwords:
    """A trained splitter of multiword tokens.

    >>> tokens = ["do", "n't", "I", "couldn't", "didn't", "say", "Dogs", "wouldn't"]
    >>> splits = [None, None, None, ("could", "n't"), ("did", "n't"), None, None, ("would", "n't")]
    >>> multiwords = Multiwords.learn([(tokens, splits)] * 3)
    >>> sorted(multiwords.split(["We", "shouldn't", "say", "Didn't"]).items())
    [(1, ('should', "n't")), (3, ('Did', "n't"))]
    """

    def __init__(
        self,
        known: dict[str, list[Words]],
        scripts: list[Script],
        productive: int,
        weights: FrozenTable | None,
    ) -> None:
        self.known = known  # analyses of a lower-cased token in training; () stands for whole
        self.scripts = scripts
        self.productive = productive  # the first scripts, this many, may split unseen tokens
        self.weights = weights
        self.choices = Cache(self.choice)
        self._open = Cache(self._of_open)
        self._decided: dict[tuple[str, str, str], int] = {}  # labels of open tokens between their neighbours

    @property
    def empty(self) -> bool:
        """Whether the training data has no multiword tokens."""
        return not self.scripts and not any(any(ways) for ways in self.known.values())

    @classmethod
    def learn(
        cls, sentences: Iterable[tuple[Sequence[str], Sequence[Split]]], sigma: float = 1.0, iterations: int = 60
    ) -> Multiwords:
        """Train on sequences of tokens and the words of each (None: it is one word)."""
        runs = list(sentences)
        ways: dict[str, Counter[Words]] = defaultdict(Counter)
        for tokens, splits in runs:
            for token, split in zip(tokens, splits, strict=True):
                ways[lower(token)][() if split is None else tuple(map(lower, split))] += 1
        if not any(any(analyses) for analyses in ways.values()):
            return cls({}, [], 0, None)
        script_of, counts = _choose_scripts(ways)
        ambiguous = {token for token, analyses in ways.items() if len(_likely(analyses)) > 1}
        productive = [script for script, count in counts.most_common() if count >= PRODUCTIVE]
        more = {script_of[token, words] for token in ambiguous for words in _likely(ways[token])
                if (token, words) in script_of}  # fmt: skip
        scripts = productive + sorted(more - set(productive))
        model = cls({}, scripts, len(productive), None)
        # A token that was never split needs no entry unless it matches some script.
        model.known = {
            token: _likely(analyses) for token, analyses in ways.items() if any(analyses) or model._fitting(token)
        }
        model._train(runs, script_of, sigma, iterations)
        return model

    def _train(
        self,
        runs: list[tuple[Sequence[str], Sequence[Split]]],
        script_of: dict[tuple[str, Words], Script],
        sigma: float,
        iterations: int,
    ) -> None:
        from weft import learn

        number = {script: i + 1 for i, script in enumerate(self.scripts)}
        strings: list[str] = []
        gold: list[int] = []
        allowed: list[list[int]] = []
        met: Counter[str] = Counter()
        for tokens, splits in runs:
            small = [lower(token) for token in tokens]
            for i, split in enumerate(splits):
                fitting = self._fitting(small[i]) + self._own(small[i])
                if not fitting:
                    continue
                label = _WHOLE
                if split is not None:
                    script = script_of.get((small[i], tuple(map(lower, split))))
                    label = number.get(script, -1) if script is not None else -1
                if label >= 0 and (met[small[i]] < EXAMPLES or self._ambiguous(small[i])):
                    met[small[i]] += 1
                    strings += _features(tokens, small, i, self._ambiguous(small[i]))
                    gold.append(label)
                    allowed.append([_WHOLE, label, *fitting])
        if len(set(gold)) < 2:
            return
        index = FeatureIndex()
        rows = index.add(hash_strings(strings)).reshape(len(gold), -1)
        seen = np.zeros((len(index), len(self.scripts) + 1), dtype=np.bool_)
        mask = np.zeros((len(gold), len(self.scripts) + 1), dtype=np.bool_)
        for i, numbers in enumerate(allowed):
            mask[i, numbers] = True
        for column in range(rows.shape[1]):
            for label in range(mask.shape[1]):
                seen[rows[mask[:, label], column], label] = True
        keep = index.counts > 1
        index, layout = index.select(keep), Layout.from_mask(seen[keep])
        renumbered = np.where(keep, np.cumsum(keep) - 1, -1).astype(np.int32)[rows]
        space = LabelSpace([str(label) for label in range(mask.shape[1])], 0)
        model = ChainModel(space, layout, np.full((mask.shape[1],) * 2, -1, dtype=np.int32))
        offsets = np.arange(len(gold) + 1, dtype=np.int64)
        features = FeatureRows(renumbered.reshape(-1), offsets * rows.shape[1], np.zeros(0))
        batch = ChainBatch(offsets, features, None, np.array(gold, dtype=np.int32), np.ones(len(gold)), mask)
        objective = learn.Objective(model, list(batch.batches(4096)), learn.Gold(), sigma=sigma)
        result = learn.minimize(
            objective, np.zeros(model.size), learn.LBFGS(), max_iterations=iterations, describe="multiword tokens"
        )
        self.weights = FrozenTable.freeze(index, layout, result.weights, "int16")

    def _fitting(self, token: str) -> list[int]:
        """Labels of the productive scripts that match a lower-cased token."""
        labels = []
        for cut in range(min(len(token), self._longest) + 1):
            for number in self._by_back.get(token[len(token) - cut :], ()):
                if self.scripts[number].fits(token):
                    labels.append(number + 1)
        return labels

    @cached_property
    def _by_back(self) -> dict[str, list[int]]:
        groups: dict[str, list[int]] = defaultdict(list)
        for number, script in enumerate(self.scripts[: self.productive]):
            groups[script.back].append(number)
        return groups

    @cached_property
    def _longest(self) -> int:
        return max((len(script.back) for script in self.scripts), default=0)

    @cached_property
    def _by_way(self) -> dict[tuple[str, Words], int]:
        """The script that splits a known token into known words, if there is one."""
        numbers = {script: i for i, script in enumerate(self.scripts)}
        return {
            (token, words): numbers[script]
            for token, ways in self.known.items() if len(ways) > 1
            for words in ways if words
            for script in scripts_of(token, words) if script in numbers
        }  # fmt: skip

    def _ambiguous(self, token: str) -> bool:
        return len(self.known.get(token, ())) > 1

    def _own(self, token: str) -> list[int]:
        """Labels of the scripts that an ambiguous token was seen with."""
        return [self._by_way[token, words] + 1 for words in self.known.get(token, ()) if (token, words) in self._by_way]

    def choice(self, token: str) -> Choice:
        """The possible analyses of a token, without its context."""
        small = lower(token)
        ways = self.known.get(small)
        if ways is not None and len(ways) == 1:
            return _recase(ways[0], token) if ways[0] else None
        if ways is not None:
            labels = self._own(small)
            return (_WHOLE, *labels) if () in ways else tuple(labels) or None
        fitting = self._fitting(small)
        return (_WHOLE, *fitting) if fitting else None

    def _of_open(self, token: str) -> tuple[str, bool, Keys]:
        """An ambiguous token in lower case, whether it has its own weights, and the keys of its features."""
        small = lower(token)
        known = self._ambiguous(small)
        return small, known, hash_strings(_of_token(token, small, known))

    def split(self, tokens: Sequence[str], bounds: Iterable[int] = ()) -> dict[int, Words]:
        """The words of multiword tokens, in order; `bounds` are the offsets of documents."""
        number = {token: kind for kind, token in enumerate(dict.fromkeys(tokens))}
        return self.split_types(list(number), np.array([number[token] for token in tokens], dtype=np.int32), bounds)

    def split_types(
        self, types: Sequence[str], kinds: NDArray[np.int32], bounds: Iterable[int] = ()
    ) -> dict[int, Words]:
        """The same for tokens given as indices in a list of types."""
        from_types = list(map(self.choices.__getitem__, types))
        split = np.array([choice is not None for choice in from_types], dtype=np.bool_)
        words: dict[int, Words] = {}
        open_places: list[int] = []
        choices: list[tuple[int, ...]] = []
        places = np.flatnonzero(split[kinds])
        for i, kind in zip(places.tolist(), kinds[places].tolist(), strict=True):
            choice = from_types[kind]
            assert choice is not None
            if isinstance(choice[0], str):
                words[i] = choice
            else:
                open_places.append(i)
                choices.append(choice)
        for i, label in zip(open_places, self._decide(types, kinds, bounds, open_places, choices), strict=True):
            if label != _WHOLE:
                words[i] = self.scripts[label - 1].apply(types[kinds[i]])
        return dict(sorted(words.items()))

    def _decide(
        self,
        types: Sequence[str],
        kinds: NDArray[np.int32],
        bounds: Iterable[int],
        places: list[int],
        choices: list[tuple[int, ...]],
    ) -> list[int]:
        if not places:
            return []
        if self.weights is None:  # every matching token was split in training
            return [choice[-1] for choice in choices]
        edges = {0, len(kinds), *bounds}
        asked = [
            (types[kinds[i]], "<" if i in edges else lower(types[kinds[i - 1]]),
             ">" if i + 1 in edges else lower(types[kinds[i + 1]]))
            for i in places
        ]  # fmt: skip
        decided = self._decided
        new = {around: choice for around, choice in zip(asked, choices, strict=True) if around not in decided}
        if new:
            if len(decided) + len(new) > LIMIT:
                decided = {around: decided[around] for around in asked if around in decided}
            decided.update(zip(new, self._labels(list(new), list(new.values())), strict=True))
            self._decided = decided
        return [decided[around] for around in asked]

    def _labels(self, asked: list[tuple[str, str, str]], choices: list[tuple[int, ...]]) -> list[int]:
        """The best labels of tokens in context."""
        assert self.weights is not None
        strings: list[str] = []
        token_keys: list[Keys] = []
        for token, before, behind in asked:
            small, known, keys = self._open[token]
            token_keys.append(keys)
            strings += _of_neighbours(small, known, before, behind)
        near = hash_strings(strings).reshape(len(asked), -1)
        keys = np.concatenate([np.stack(token_keys), near], axis=1)
        offsets = np.arange(len(asked) + 1, dtype=np.int64)
        scores = self.weights.score(keys.ravel(), offsets * keys.shape[1], np.zeros(0))
        mask = np.zeros(scores.shape, dtype=np.bool_)
        mask[np.repeat(np.arange(len(choices)), list(map(len, choices))), list(chain.from_iterable(choices))] = True
        best: list[int] = np.where(mask, scores, -np.inf).argmax(axis=1).tolist()
        return best

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """The contents of a model file."""
        header = {
            "known": {token: [list(words) for words in ways] for token, ways in self.known.items() if any(ways)},
            "whole": sorted(token for token, ways in self.known.items() if not any(ways)),
            "scripts": [[script.front, script.back, list(script.words), script.host] for script in self.scripts],
            "productive": self.productive,
        }
        return header, {} if self.weights is None else self.weights.arrays

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> Multiwords:
        HEADER.check(header, "multiwords")
        known = {token: [tuple(words) for words in ways] for token, ways in header["known"].items()}
        known |= {token: [()] for token in header["whole"]}
        scripts = [Script(front, back, tuple(words), host) for front, back, words, host in header["scripts"]]
        for script in scripts:
            if script.host >= len(script.words) or script.words[script.host].count(_STEM) != 1:
                raise ModelError("a script of multiword tokens names no word for the stem: the model file is damaged")
        weights = FrozenTable(arrays, len(scripts) + 1) if arrays else None
        return cls(known, scripts, header["productive"], weights)


def _likely(found: Counter[Words]) -> list[Words]:
    """The analyses of a token, most frequent first, without rare ones."""
    total = found.total()
    return [words for words, count in sorted(found.items(), key=lambda item: (-item[1], item[0]))
            if count >= SLIP * total]  # fmt: skip


def _choose_scripts(
    ways: dict[str, Counter[Words]],
) -> tuple[dict[tuple[str, Words], Script], Counter[Script]]:
    """For every split of every type, the script that most types share; and the number of types per script."""
    options = {(token, words): scripts_of(token, words) for token, splits in ways.items() for words in splits if words}
    shared = Counter(script for scripts in options.values() for script in scripts)
    chosen = {
        split: max(scripts, key=lambda script: (shared[script], -len(script.front), -len(script.back), script))
        for split, scripts in options.items()
        if scripts
    }
    return chosen, Counter(chosen.values())


def _recase(words: Words, token: str) -> Words:
    """Known words in the casing of the token: letter by letter if they spell it, else by its kind of casing."""
    if sum(map(len, words)) == len(token) and "".join(words) == lower(token):
        ends = np.cumsum([len(word) for word in words]).tolist()
        return tuple(token[end - len(word) : end] for word, end in zip(words, ends, strict=True))
    if token.isupper() and sum(map(str.isalpha, token)) > 1:
        return tuple(word.upper() for word in words)
    if token[:1].isupper():
        return (words[0][:1].upper() + words[0][1:], *words[1:])
    return words


def _features(tokens: Sequence[str], small: Sequence[str], i: int, known: bool) -> list[str]:
    """A fixed number of strings: features of the token, then those of its neighbours.

    Token identity is a feature only if the token has its own weights (`known`), in training as well.
    """
    before = small[i - 1] if i else "<"
    after = small[i + 1] if i + 1 < len(small) else ">"
    return _of_token(tokens[i], small[i], known) + _of_neighbours(small[i], known, before, after)


def _of_token(token: str, small: str, known: bool) -> list[str]:
    """Features of a token: its letters, length and casing."""
    kind = "A" if token.isupper() else "a" if token.islower() else "Aa"
    return [
        "b", f"w{small if known else ''}", f"k{kind}{min(len(small), 12)}",
        *(f"s{small[-size:]}" if size < len(small) else "s" for size in range(1, 8)),
        *(f"p{small[:size]}" if size < len(small) else "p" for size in range(1, 6)),
    ]  # fmt: skip


def _of_neighbours(small: str, known: bool, before: str, behind: str) -> list[str]:
    """Features of the adjacent words, alone and combined with the token."""
    name, end = small if known else "", small[-3:]
    return [
        f"-{before}", f"+{behind}", f"-{name} {before}", f"+{name} {behind}", f"-+{name} {before} {behind}",
        f"-s{before[-3:]} {end}", f"+s{behind[-3:]} {end}", f"+p{behind[:2]} {end}",
        f"+s{behind[-2:]} {name}", f"-s{before[-2:]} {name}", f"+p{behind[:1]} {name}",
    ]  # fmt: skip
