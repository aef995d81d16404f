"""Blending parses: combine the trees of several parsers into one tree per sentence,

    tree = argmax over trees y of  sum over words d of  weight(y_d, d)
    weight(h, d) = sum over parsers k that made h the head of d of  omega(k, tag of d)

a maximum spanning tree over the proposed arcs (Sagae & Lavie 2006; Samuelsson et al. 2008). Each chosen arc gets the
relation with the greatest weight among the parsers that chose it. The initial weight of parser k is its labelled
accuracy on words with that tag in a file with gold trees. Training then goes through the sentences: every arc of the
blended tree updates the weights of the parsers that voted for it, up if it is correct and down if it is wrong, until
the labelled accuracy of the blend no longer increases.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest

import numpy as np

from weft.arrays import Bools, Floats
from weft.errors import ConfigError, DataError, ModelError
from weft.infer.trees.arcs import ArcSpace
from weft.infer.trees.nonprojective import SpanningTrees
from weft.infer.trees.projectivity import is_tree
from weft.ragged import Indices, States, sentence_of, sum_by_sentence
from weft.text import Doc
from weft.text.strings import StringTable

__all__ = ["Blender"]

#: The name of the format, stored inside weight files.
_KIND = "weights of parsers by tag"
#: Without gold trees all parsers have the same weight, but an earlier one wins ties.
_TIE = 1e-6


@dataclass
class Blender:
    """Weights of parsers by tag of the dependent; unseen tags use the mean over all words.

    >>> def parse(heads):
    ...     return [Doc.from_words([["she", "saw", "him", "there"]], upos=[["PRON", "VERB", "PRON", "ADV"]],
    ...             head=[heads], deprel=[["dep" if head else "root" for head in heads]])]
    >>> one, two, three = parse([2, 0, 2, 3]), parse([2, 0, 2, 2]), parse([3, 0, 2, 2])
    >>> Blender.equal(3).blend([one, two, three])[0].head.tolist()
    [2, 0, 2, 2]
    >>> Blender.learn(two, [one, two, three]).weights["ADV"]
    [0.0, 1.0, 1.0]
    """

    #: For every tag, one weight per parser.
    weights: dict[str, list[float]]
    #: One weight per parser for all other tags.
    others: list[float]
    #: The column with the tags.
    column: str = "upos"
    #: Labelled accuracy of the blend on the gold trees, before the first round and after each round.
    history: tuple[float, ...] = ()

    @classmethod
    def equal(cls, parsers: int) -> Blender:
        """Weights that give every parser one vote; the first parser wins ties."""
        return cls({}, [1.0 - _TIE * k for k in range(parsers)])

    @classmethod
    def learn(
        cls,
        gold: Sequence[Doc],
        parses: Sequence[Sequence[Doc]],
        column: str = "upos",
        rounds: int = 20,
        step: float = 0.002,
        single_root: bool = True,
        names: Sequence[str] = (),
    ) -> Blender:
        """Train on the same documents with gold trees and with the trees of each parser.

        With 0 rounds the weights are the labelled accuracies. Messages call the parsers by their `names`.
        """
        if rounds < 0 or step <= 0:
            raise ConfigError(f"rounds must be at least 0 and the step above 0, got {rounds} and {step}")
        whole, tag_names, _ = _collect([*parses, gold], [*_names(names, len(parses)), "the gold file"], column)
        votes, gold_heads, gold_relations = whole.from_parsers(len(parses)), whole.heads[-1], whole.relations[-1]
        correct = (votes.heads == gold_heads) & (votes.relations == gold_relations)
        count = np.bincount(votes.tags, minlength=len(tag_names))
        omega = np.array([np.bincount(votes.tags, weights=row, minlength=len(count)) for row in correct]) / count
        means = correct.mean(axis=1)
        best, history = omega.copy(), [_accuracy(votes.blend(omega, single_root), gold_heads, gold_relations)]
        sentences = [votes.from_sentence(s) for s in range(len(votes.offsets) - 1)] if rounds else []
        for _ in range(rounds):
            for s, one in enumerate(sentences):
                own = slice(votes.offsets[s], votes.offsets[s + 1])
                heads, relations = one.blend(omega, single_root)
                hit = (heads == gold_heads[own]) & (relations == gold_relations[own])
                voted = (one.heads == heads) & (one.relations == relations)
                move = voted * np.where(hit, step, -step)
                np.add.at(omega, (np.arange(len(omega))[:, None], one.tags), move)
                np.maximum(omega, 0.0, out=omega)
            history.append(_accuracy(votes.blend(omega, single_root), gold_heads, gold_relations))
            if history[-1] > max(history[:-1]):
                best = omega.copy()
            elif len(history) > 2 and history[-2] <= max(history[:-2]):
                break  # two rounds without a gain
        by_tag = {name: best[:, t].tolist() for t, name in enumerate(tag_names)}
        return cls(by_tag, means.tolist(), column, tuple(history))

    def blend(
        self,
        parses: Sequence[Sequence[Doc]],
        single_root: bool = True,
        names: Sequence[str] = (),
        confidences: Floats | None = None,
    ) -> list[Doc]:
        """The documents of the first parser with the blended trees of all parsers.

        A sentence keeps several roots if no parser gives it a tree with a single root. With `confidences`, one number
        per word, the last parses are not weighed by tag: each of their votes counts as much as its confidence, and they
        need not be trees.
        """
        weighed = len(parses) - (confidences is not None)
        if weighed != len(self.others):
            raise ConfigError(f"the weights are for {len(self.others)} parsers, but trees of {weighed} were given")
        votes, tag_names, relation_names = _collect(parses, _names(names, len(parses)), self.column, weighed)
        omega = np.array([self.weights.get(name, self.others) for name in tag_names]).reshape(-1, weighed).T
        heads, relations = votes.blend(omega, single_root, confidences)
        blended, at = [], 0
        for doc in parses[0]:
            copy = Doc.from_bytes(doc.to_bytes())
            copy.head = heads[at : at + doc.n_words]
            copy.set_column("deprel", relation_names.strings(relations[at : at + doc.n_words]))
            blended.append(copy)
            at += doc.n_words
        return blended

    def check(self, parsers: int) -> None:
        """Raise an error if these are not the weights of so many parsers."""
        if any(len(row) != parsers for row in (self.others, *self.weights.values())):
            raise ModelError(f"the weights of the blend are not those of {parsers} parsers: the file is damaged")

    def save(self, path: str) -> None:
        """Write the weights to a JSON file."""
        from weft.formats.streams import open_output

        content = {"kind": _KIND, "column": self.column, "others": self.others, "weights": self.weights}
        with open_output(path) as file:
            file.write((json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())

    @classmethod
    def load(cls, path: str) -> Blender:
        """Read the weights that `save` wrote."""
        try:
            with open(path, encoding="utf-8") as file:
                content = json.load(file)
        except OSError as error:
            raise DataError(f"{path} cannot be read: {(error.strerror or str(error)).lower()}") from error
        except ValueError as error:
            raise ModelError(f"{path} is not JSON; give a file that `weft blend --gold` wrote") from error
        if not isinstance(content, dict) or content.get("kind") != _KIND:
            raise ModelError(f"{path} does not hold {_KIND}; give a file that `weft blend --gold` wrote")
        return cls(content["weights"], content["others"], content["column"])


def _names(names: Sequence[str], parsers: int) -> list[str]:
    if parsers < 1:
        raise ConfigError("give the trees of one parser or more")
    return list(names) or [f"parser {k + 1}" for k in range(parsers)]


def _accuracy(predicted: tuple[States, Indices], heads: States, relations: Indices) -> float:
    return float(np.mean((predicted[0] == heads) & (predicted[1] == relations))) if len(heads) else 0.0


@dataclass
class _Votes:
    """The trees of all parsers over the same words: heads and relations as [parsers, words], and the words' tags."""

    offsets: Indices
    heads: States
    relations: Indices
    tags: Indices
    trees: int | None = None  # how many parsers have trees, if not all

    def __post_init__(self) -> None:
        sentence = sentence_of(self.offsets)
        place = np.arange(len(sentence)) - self.offsets[sentence] + 1
        width = int(self.heads.max(initial=0)) + 1
        proposed = np.unique(np.arange(len(sentence)) * width + self.heads)
        word, head = proposed // width, proposed % width
        self.space = ArcSpace(self.offsets, head, place[word], sentence[word])
        self.arcs = np.array([self.space.arcs_of(heads) for heads in self.heads]).reshape(self.heads.shape)
        roots = np.array(
            [sum_by_sentence((heads == 0).astype(np.float64), self.offsets) for heads in self.heads[: self.trees]]
        )
        self.one_root: Bools = (roots == 1).any(axis=0)

    def from_parsers(self, n: int) -> _Votes:
        """The votes of the first n parsers."""
        return _Votes(self.offsets, self.heads[:n], self.relations[:n], self.tags, self.trees)

    def from_sentence(self, s: int) -> _Votes:
        """The votes on one sentence."""
        own = slice(self.offsets[s], self.offsets[s + 1])
        n = self.offsets[s + 1] - self.offsets[s]
        return _Votes(np.array([0, n]), self.heads[:, own], self.relations[:, own], self.tags[own], self.trees)

    def from_sentences(self, sentences: Indices) -> _Votes:
        """The votes on a selection of sentences."""
        words = np.isin(sentence_of(self.offsets), sentences)
        offsets = np.concatenate([[0], np.cumsum(np.diff(self.offsets)[sentences])])
        return _Votes(offsets, self.heads[:, words], self.relations[:, words], self.tags[words], self.trees)

    def blend(self, omega: Floats, single_root: bool, confidences: Floats | None = None) -> tuple[States, Indices]:
        """The heads and relations of the blended trees, given weights as [parsers, tags], and for votes of a further
        parser as [words]."""
        if single_root and not self.one_root.all():
            heads, relations = np.zeros_like(self.heads[0]), np.zeros_like(self.relations[0])
            for able in (True, False):
                chosen = np.flatnonzero(self.one_root == able)
                words = np.isin(sentence_of(self.offsets), chosen)
                own = None if confidences is None else confidences[words]
                heads[words], relations[words] = self.from_sentences(chosen).blend(omega, able, own)
            return heads, relations
        weight = omega[:, self.tags]
        if confidences is not None:
            weight = np.vstack([weight, confidences])
        arc = np.bincount(self.arcs.ravel(), weights=weight.ravel(), minlength=self.space.n_arcs)
        heads = SpanningTrees(self.space, arc, single_root).best()
        # For each parser's relation, the total weight of the parsers that chose both this head and this relation.
        for_head = np.where(self.heads == heads, weight, 0.0)
        same = self.relations[:, None] == self.relations[None, :]
        support = np.where(self.heads == heads, (same * for_head).sum(axis=1), -1.0)
        return heads, np.take_along_axis(self.relations, support.argmax(axis=0)[None], axis=0)[0]


def _collect(
    parses: Sequence[Sequence[Doc]], names: Sequence[str], column: str, trees: int | None = None
) -> tuple[_Votes, list[str], StringTable]:
    """The votes, tag names and relation names; the first parsers, or all, must have trees over the same words."""
    lengths = np.concatenate([np.zeros(0, np.int64), *(np.diff(doc.sentence_offsets) for doc in parses[0])])
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    forms = [form for doc in parses[0] for form in doc.column("form")]
    relation_names = StringTable()
    heads, relations = [], []
    for number, (docs, name) in enumerate(zip(parses, names, strict=True)):
        own = np.concatenate([np.zeros(0, np.int64), *(np.diff(doc.sentence_offsets) for doc in docs)])
        if not np.array_equal(own, lengths) or [form for doc in docs for form in doc.column("form")] != forms:
            s = _first_difference(parses[0], docs)
            raise DataError(f"sentence {s} of {name} has other words than in {names[0]}; give parses of the same text")
        heads.append(
            np.concatenate([np.zeros(0), *(np.full(doc.n_words, -1) if doc.head is None else doc.head for doc in docs)])
        )
        relations.append([relation_names[label] for doc in docs for label in doc.column("deprel")])
        for s, (begin, end) in enumerate(pairwise(offsets.tolist()), start=1):
            if number == trees:
                break
            if not is_tree(heads[-1][begin:end].astype(np.int32)):
                raise DataError(f"sentence {s} of {name} has no tree: a head is missing or the arcs form a cycle")
    tag_names, tags = np.unique(
        np.array([tag for doc in parses[0] for tag in doc.column(column)], dtype=np.str_), return_inverse=True
    )
    votes = _Votes(offsets, np.array(heads, np.int32), np.array(relations, np.int64), tags.astype(np.int64), trees)
    return votes, tag_names.tolist(), relation_names


def _first_difference(one: Sequence[Doc], other: Sequence[Doc]) -> int:
    """The number of the first sentence whose words differ, counted from 1."""
    sides = ([[word.form for word in sentence] for doc in docs for sentence in doc.sentences] for docs in (one, other))
    for s, (left, right) in enumerate(zip_longest(*sides), start=1):
        if left != right:
            return s
    return 0
