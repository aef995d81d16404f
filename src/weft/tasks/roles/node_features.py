"""The features of Samuelsson et al. (2008): what a word and its surroundings in the tree look like, and pairs of words.

Every feature is a nominal value. Of *single nodes*: lemma, tag and relation of the node, its parent and its siblings;
letter case; number of words; tags of the node with its children and of the parent with its children, lemmas and tags of
its first and last child, of the content words below it and below its parent, and relations, most of them as a sequence
and as a bag. Of *pairs*: position, distance, and paths. Values that are rare in training become one default value per
feature, except those of features that count something.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from weft.arrays import Bools, Floats, Ints, Keys
from weft.hashing import hash_string, hash_strings, join
from weft.kernel import kernel
from weft.tasks.roles.data import lemmas_of
from weft.text.doc import Doc

CONTENT = frozenset({"NOUN", "PROPN", "VERB", "ADJ", "ADV", "NUM"})
#: Features of a node; those whose rare values are kept come first.
_COUNTING = ("case", "words", "voice")
_AROUND = tuple(
    f"{place} {field}" for place in ("node", "parent", "left", "right") for field in ("lemma", "pos", "rel")
)
_CHILDREN = tuple(f"{place} {field}" for place in ("first", "last") for field in ("lemma", "pos"))
_SETS = ("family pos", "parent family pos", "content lemma", "content pos", "children content pos",
         "parent content pos", "parent children pos", "subtree rel", "children rel", "parent children rel")  # fmt: skip
NODE = (*_COUNTING, *_AROUND, *_CHILDREN, *(f"{name} {form}" for name in _SETS for form in ("sequence", "bag")))
#: Features of a pair: the first three count.
PAIR = ("position", "distance", "middle distance", "full path", "middle path", "short path")
_COUNTING_PAIR = 3
_BEFORE, _AFTER, _SELF = "before", "after", "self"
_PASSIVE = frozenset({"nsubj:pass", "aux:pass", "csubj:pass", "nsubjpass", "auxpass"})


class Sentences:
    """Documents as lists, with a tree per sentence; words are numbered over all documents."""

    def __init__(self, docs: Sequence[Doc]) -> None:
        self.tags = [tag for doc in docs for tag in doc.column("upos" if doc.has("upos") else "xpos")]
        self.fine = [tag for doc in docs for tag in doc.column("xpos" if doc.has("xpos") else "upos")]
        self.forms = [form for doc in docs for form in doc.column("form")]
        self.lemmas = [lemma for doc in docs for lemma in lemmas_of(doc)]
        self.relations = [name for doc in docs for name in doc.column("deprel")]
        self.firsts = np.cumsum([0, *(doc.n_words for doc in docs)]).tolist()
        self.offsets: list[int] = [0]
        self.parents: list[int] = []
        for doc in docs:
            heads = [-1] * doc.n_words if doc.head is None else doc.head.tolist()
            for sentence in doc.sentences:
                first = self.offsets[-1]
                own = heads[sentence.first : sentence.end]
                self.parents += [first + head - 1 if head > 0 else -1 for head in own]
                self.offsets.append(first + len(own))
        self.sentence = np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))
        self.children: list[list[int]] = [[] for _ in self.parents]
        for word, parent in enumerate(self.parents):
            if parent >= 0:
                self.children[parent].append(word)

    def __len__(self) -> int:
        return len(self.parents)

    @cached_property
    def depths(self) -> list[int]:
        """How many words are above each word; the last number, which stands for no word, is -1."""
        depths = [-1] * (len(self) + 1)
        for word in range(len(self)):
            above = []
            while word >= 0 and depths[word] < 0:
                above.append(word)
                word = self.parents[word]
            depth = depths[word]
            for each in reversed(above):
                depth += 1
                depths[each] = depth
        return depths

    def subtrees(self) -> list[list[int]]:
        """The words below each word, itself included, from left to right."""
        below: list[list[int]] = [[word] for word in range(len(self))]
        for word in sorted(range(len(self)), key=self.depths.__getitem__, reverse=True):
            if self.parents[word] >= 0:
                below[self.parents[word]] += below[word]
        return [sorted(words) for words in below]

    def between(self, word: int, other: int) -> tuple[list[int], list[int]]:
        """Each of two words and those above it, up to the first that is above both, which is left out."""
        rising, falling = [], []
        while word != other:
            if self.depths[word] >= self.depths[other]:
                rising.append(word)
                word = self.parents[word]
            else:
                falling.append(other)
                other = self.parents[other]
        return rising, falling


def node_values(sentences: Sentences) -> list[list[str]]:
    """The values of the features `NODE`, a row per word."""
    below = sentences.subtrees()
    return [_node(sentences, word, below) for word in range(len(sentences))]


def _node(sentences: Sentences, word: int, below: list[list[int]]) -> list[str]:
    tags, relations, lemmas = sentences.tags, sentences.relations, sentences.lemmas
    form, children, parent = sentences.forms[word], sentences.children[word], sentences.parents[word]
    family = sentences.children[parent] if parent >= 0 else [word]
    place = family.index(word)
    left = family[place - 1] if place > 0 else -1
    right = family[place + 1] if place + 1 < len(family) else -1
    passive = any(relations[child] in _PASSIVE for child in children)
    values = [
        "upper" if form[:1].isupper() else "lower",
        str(1 + form.count("-")),
        "passive" if passive else "active",
    ]
    for at in (word, parent, left, right):
        values += [lemmas[at], tags[at], relations[at]] if at >= 0 else ["", "", ""]
    for at in (children[0], children[-1]) if children else (-1, -1):
        values += [lemmas[at], tags[at]] if at >= 0 else ["", ""]
    content = [at for at in below[word] if tags[at] in CONTENT]
    above = [at for at in below[parent] if tags[at] in CONTENT] if parent >= 0 else []
    brothers = family if parent >= 0 else []
    for own in (
        [tags[at] for at in sorted([word, *children])],
        [tags[at] for at in sorted([parent, *brothers])] if parent >= 0 else [],
        [lemmas[at] for at in content],
        [tags[at] for at in content],
        [tags[at] for at in children if tags[at] in CONTENT],
        [tags[at] for at in above],
        [tags[at] for at in brothers],
        [relations[at] for at in below[word]],
        [relations[at] for at in children],
        [relations[at] for at in brothers],
    ):
        values += [" ".join(own), " ".join(sorted(set(own)))]
    return values


def pair_values(sentences: Sentences, predicate: int, argument: int) -> list[str]:
    """The values of the features `PAIR`.

    >>> doc = Doc.from_words([["Dogs", "bark"]], upos=[["NOUN", "VERB"]], head=[[2, 0]], deprel=[["nsubj", "root"]])
    >>> pair_values(Sentences([doc]), 1, 0)
    ['before', '1', '1', 'NOUN nsubj VERB', 'NOUN nsubj', 'nsubj root']
    """
    rising, falling = sentences.between(argument, predicate)
    relations, tags = sentences.relations, sentences.tags
    middle = " ".join([tags[argument], *(relations[word] for word in rising)])
    falls = [f"-{relations[word]}" for word in reversed(falling)]
    return [
        _BEFORE if argument < predicate else _AFTER if argument > predicate else _SELF,
        str(min(abs(argument - predicate), 12)),
        str(len(rising)),
        " ".join([middle, *falls, tags[predicate]]),
        middle,
        f"{relations[argument]} {relations[predicate]}",
    ]


@dataclass
class Values:
    """Which values of features are kept; all others of a feature are its default value."""

    known: Keys  # sorted

    @classmethod
    def learn(cls, nodes: Sequence[Sequence[str]], rare: int) -> Values:
        """Keep the values that occur so often, and all values of features that count."""
        keys, counts = np.unique(_keys(nodes, NODE), return_counts=True)
        counting = np.unique(_keys([row[: len(_COUNTING)] for row in nodes], NODE[: len(_COUNTING)]))
        return cls(np.union1d(keys[counts >= rare], counting))

    def of_nodes(self, nodes: Sequence[Sequence[str]]) -> Keys:
        """Keys `[word, feature]`."""
        keys = _keys(nodes, NODE)
        if not keys.size or not len(self.known):
            return keys
        place = np.minimum(np.searchsorted(self.known, keys), len(self.known) - 1)
        defaults = hash_strings([f"{name}=<rare>" for name in NODE])
        return np.where(self.known[place] == keys, keys, defaults[None, :])


def pair_keys(sentences: Sentences, predicates: Ints, arguments: Ints) -> Keys:
    """Keys `[pair, feature]`."""
    pairs = zip(predicates.tolist(), arguments.tolist(), strict=True)
    return _keys([pair_values(sentences, predicate, argument) for predicate, argument in pairs], PAIR)


def _keys(rows: Sequence[Sequence[str]], names: Sequence[str]) -> Keys:
    flat = hash_strings([f"{name}={value}" for row in rows for name, value in zip(names, row, strict=False)])
    return flat.reshape(len(rows), -1) if len(rows) else np.zeros((0, len(names)), dtype=np.uint64)


_PREDICATE, _ARGUMENT = np.uint64(hash_string("<predicate>")), np.uint64(hash_string("<argument>"))
_CONSTANT = np.uint64(hash_string("<constant>"))


@kernel
def _rows(nodes: Keys, pairs: Keys, predicates: Ints, arguments: Ints, salts: Keys, kept: Bools, out: Keys) -> None:
    width = nodes.shape[1]
    for i in range(len(predicates)):
        at = 0
        out[i, at] = join(_CONSTANT, salts[i])
        for k in range(width):
            if kept[k]:
                at += 1
                out[i, at] = join(join(_PREDICATE, nodes[predicates[i], k]), salts[i])
        for k in range(width):
            if pairs.shape[1] > 0 and kept[width + k]:
                at += 1
                out[i, at] = join(join(_ARGUMENT, nodes[arguments[i], k]), salts[i])
        for k in range(pairs.shape[1]):
            if kept[2 * width + k]:
                at += 1
                out[i, at] = join(pairs[i, k], salts[i])


def rows_of(nodes: Keys, pairs: Keys | None, predicates: Ints, arguments: Ints, salts: Keys, kept: Bools) -> Keys:
    """Keys `[row, feature]` of the kept features of predicates, arguments and pairs; of predicates alone without pairs.

    Rows with different salts share no features, so that each bin has a model of its own.
    """
    none = np.zeros((len(predicates), 0), dtype=np.uint64)
    chosen = kept if pairs is not None else kept[: nodes.shape[1]]
    out = np.zeros((len(predicates), 1 + int(chosen.sum())), dtype=np.uint64)
    _rows(nodes, none if pairs is None else pairs, predicates, arguments, salts, kept, out)
    return out


def information_gain(values: Keys, positive: Bools) -> float:
    """How many bits a nominal feature tells about a yes or no.

    >>> information_gain(np.array([1, 1, 2, 2], dtype=np.uint64), np.array([True, True, False, False]))
    1.0
    """
    _, number = np.unique(values, return_inverse=True)
    total = np.bincount(number).astype(np.float64)
    yes = np.bincount(number, weights=positive)
    return float(_entropy(np.array([positive.mean()]))[0] - (total * _entropy(yes / total)).sum() / len(values))


def _entropy(p: Floats) -> Floats:
    inside = np.clip(p, 1e-300, 1 - 1e-16)
    return np.where((p <= 0) | (p >= 1), 0.0, -inside * np.log2(inside) - (1 - inside) * np.log2(1 - inside))
