from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import weft
from weft.data import find
from weft.errors import DataError, InferenceError, ModelError, WeftError
from weft.features.morphology import Morphology
from weft.features.relation_templates import PLAIN
from weft.features.tree_relations import look_at
from weft.infer.chains.chain import Chain
from weft.infer.trees.projectivity import is_projective, is_tree
from weft.learn.online.mira import MIRA
from weft.learn.trees.sibling_labels import Trees, check_trees, fill_places, new_room, pair_keys, pair_place
from weft.learn.trees.sibling_learner import SiblingLearner
from weft.pipeline.pipeline import Pipeline
from weft.tasks.parsing.relation_features import RELATION_FIELDS
from weft.tasks.parsing.relations import RelationLabeller, Relations, RelationSettings
from weft.text.doc import Doc

Heads = NDArray[np.int32]


def random_tree(rng: np.random.Generator, n: int) -> Heads:
    """A tree of any shape: every word hangs on ROOT or on a word that was hung before it, in a random order."""
    order = rng.permutation(n) + 1
    heads = np.zeros(n, np.int32)
    for k, word in enumerate(order):
        heads[word - 1] = 0 if k == 0 else rng.choice([0, *order[:k]])
    return heads


def random_batch(rng: np.random.Generator, lengths: Sequence[int], fields: int = 8) -> tuple[Any, ...]:
    """Words with few different values, morphological features, sentences, heads."""
    n = sum(lengths)
    words = rng.integers(0, 4, (n + 1, fields)).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    sizes = rng.integers(0, 3, n)
    names = rng.integers(1, 4, sizes.sum()).astype(np.uint64)
    values = names * np.uint64(10) + rng.integers(0, 2, sizes.sum()).astype(np.uint64)
    members = Morphology(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), values, names)
    sentences = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    heads = np.concatenate([np.zeros(0, np.int32), *(random_tree(rng, length) for length in lengths)]).astype(np.int32)
    return words, members, sentences, heads


def random_labeller(
    rng: np.random.Generator, batch: tuple[Any, ...], n_labels: int, **options: Any
) -> RelationLabeller:
    """A labeller with random weights in a small array, so that every row of them overlaps with others."""
    labeller = RelationLabeller(RELATION_FIELDS, RelationSettings(bits=12, epochs=1, **options))
    labels = rng.integers(0, n_labels, len(batch[3])).astype(np.int32)
    labeller.fit(*batch, labels, n_labels)
    assert labeller.model is not None
    weights = rng.integers(-1000, 1000, len(labeller.model.weights)).astype(np.int16)
    labeller.model = labeller.model._replace(weights=weights)
    return labeller


@pytest.mark.must_show("two-stage-multilingual-parser", 1)
@given(st.integers(0, 2**32), st.integers(1, 5), st.integers(1, 5), st.booleans(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_best_labels_are_those_of_all_sequences_with_the_start_factor(
    seed: int, n: int, n_labels: int, sequence: bool, morphology: bool
) -> None:
    rng = np.random.default_rng(seed)
    batch = random_batch(rng, [n])
    labeller = random_labeller(rng, batch, n_labels, restrict=False, sequence=sequence, morphology=morphology)
    found = labeller.label(*batch)
    everything = product(range(n_labels), repeat=n)
    scores = {y: float(labeller.scores(*batch, np.array(y, np.int32))[0]) for y in everything}
    assert scores[tuple(found.tolist())] == max(scores.values())


@pytest.mark.must_show("two-stage-multilingual-parser", 1)
@given(st.integers(0, 2**32), st.integers(1, 5))
@settings(max_examples=40, deadline=None)
def test_restricted_labels_are_the_best_of_the_sequences_allowed(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    seen, batch = random_batch(rng, [30]), random_batch(rng, [n])
    labeller = random_labeller(rng, seen, 4)
    assert labeller.model is not None
    labels = rng.integers(0, 4, 30).astype(np.int32)
    trained = labeller.model._replace(allowed=labeller._allowed(check_trees(*seen), labels, 4))
    labeller.model = trained
    whole_seen, alone_seen = pair_keys(check_trees(*seen), trained.columns)
    options = []
    for whole, alone in zip(*pair_keys(check_trees(*batch), trained.columns), strict=True):
        with_both, with_tag = labels[whole_seen == whole], labels[alone_seen == alone]
        options.append(sorted(set(with_both.tolist()) or set(with_tag.tolist()) or set(range(4))))
    found = labeller.label(*batch)
    assert all(label in allowed for label, allowed in zip(found.tolist(), options, strict=True))
    best = max(float(labeller.scores(*batch, np.array(y, np.int32))[0]) for y in product(*options))
    assert float(labeller.scores(*batch, found)[0]) == best


@pytest.mark.must_show("two-stage-multilingual-parser", 2)
@given(st.integers(0, 2**32), st.lists(st.integers(0, 12), min_size=1, max_size=4), st.booleans())
@settings(max_examples=60, deadline=None)
def test_every_arc_gets_one_label_and_heads_stay_in_trees_of_any_shape(
    seed: int, lengths: list[int], sequence: bool
) -> None:
    rng = np.random.default_rng(seed)
    batch = random_batch(rng, lengths)
    labeller = random_labeller(rng, random_batch(rng, [12, 9]), 6, sequence=sequence)
    before = batch[3].copy()
    found = labeller.label(*batch)
    assert found.dtype == np.int32
    assert found.shape == before.shape
    assert ((found >= 0) & (found < 6)).all()
    assert (batch[3] == before).all()
    for s, length in enumerate(lengths):  # a batch is its sentences
        first, end = batch[2][s], batch[2][s + 1]
        words = np.concatenate([batch[0][:1], batch[0][first + 1 : end + 1]])
        offsets = batch[1].offsets[first : end + 1]
        members = Morphology(offsets - offsets[0], *(part[offsets[0] : offsets[-1]] for part in batch[1][1:]))
        alone = labeller.label(words, members, np.array([0, length]), before[first:end])
        assert (alone == found[first:end]).all()


def test_random_trees_are_also_non_projective_and_have_several_roots() -> None:
    rng = np.random.default_rng(0)
    trees = [random_tree(rng, 8) for _ in range(50)]
    assert all(is_tree(tree) for tree in trees)
    assert sum(not is_projective(tree) for tree in trees) > 10
    assert sum((tree == 0).sum() > 1 for tree in trees) > 10


class HeadsModel:
    """The hashed model, one head a batch, written slowly: what `mira` needs, from scores of single labels."""

    def __init__(self, labeller: RelationLabeller) -> None:
        assert labeller.model is not None
        self.model = labeller.model
        self.size = len(self.model.weights)

    def rows(self, batch: OneHead, m: int, label: int, before: int) -> tuple[list[int], list[int]]:
        """Weights of a label at a position: of the arc, and of the pair with the label before (-1: start)."""
        room = new_room(batch.n, self.model)
        look_at(batch.trees.heads, batch.offset, batch.n, room.tree)
        fill_places(self.model, batch.trees, batch.offset, batch.n, batch.head, m, True, room)
        pairs = [pair_place(self.model, room, m, g, before) + label for g in range(room.pair_counts[m])]
        return [int(place) + label for place in room.places[m, : room.counts[m]]], [int(place) for place in pairs]

    def score(self, batch: OneHead, weights: NDArray[np.float64]) -> Chain:
        labels = range(self.model.n_labels)
        node = np.zeros((batch.length, self.model.n_labels))
        edge = np.zeros((batch.length, self.model.n_labels, self.model.n_labels))
        for m, label in product(range(batch.length), labels):
            arc, start = self.rows(batch, m, label, -1)
            node[m, label] = weights[arc].sum() + (weights[start].sum() if m == 0 else 0.0)
            for before in labels if m > 0 else ():
                edge[m, before, label] = weights[self.rows(batch, m, label, before)[1]].sum()
        return Chain(node, edge, [0, batch.length])

    def sparse(self, batch: OneHead, parts: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        total: Counter[int] = Counter()
        for m, label in zip(*np.nonzero(parts.node), strict=True):
            arc, start = self.rows(batch, int(m), int(label), -1)
            for place in [*arc, *(start if m == 0 else [])]:
                total[place] += parts.node[m, label]
        for m, before, label in zip(*np.nonzero(parts.edge), strict=True):
            for place in self.rows(batch, int(m), int(label), int(before))[1]:
                total[place] += parts.edge[m, before, label]
        places = sorted(place for place, value in total.items() if value)
        return np.array(places, np.int64), np.array([total[place] for place in places], np.float64)


class OneHead:
    """A head with its dependents, as `weft.learn.online.mira` sees sentences."""

    def __init__(self, trees: Trees, s: int, head: int, labels: Heads) -> None:
        self.trees, self.head, self.offset = trees, head, int(trees.sentences[s])
        self.n = int(trees.sentences[s + 1]) - self.offset
        own = np.arange(self.offset, self.offset + self.n)
        self.gold = labels[own[trees.heads[own] == head]]
        self.length = len(self.gold)
        self.weight = np.ones(1)

    def __len__(self) -> int:
        return 1


@pytest.mark.parametrize("cap", [float("inf"), 0.01])
def test_training_is_mira_on_the_single_best_sequence_of_every_head(cap: float) -> None:
    rng = np.random.default_rng(3)
    batch = random_batch(rng, [4, 1, 5])
    trees, labels = check_trees(*batch), rng.integers(0, 3, 10).astype(np.int32)
    labeller = random_labeller(rng, batch, 3, restrict=False)
    assert labeller.model is not None
    blank = labeller.model._replace(weights=np.zeros(len(labeller.model.weights), np.float32))
    found, wrong = SiblingLearner(epochs=3, cap=cap, shuffle=False).fit(blank, trees, labels)
    heads = [OneHead(trees, s, head, labels) for s, n in enumerate([4, 1, 5]) for head in range(n + 1)]
    instances = [one for one in heads if one.length]
    result = MIRA(epochs=3, k=1, cap=cap, shuffle=False).fit(HeadsModel(labeller), instances)
    assert wrong[0] > wrong[-1]
    np.testing.assert_allclose(found, result.weights, atol=1e-6)


def test_heads_with_an_unknown_label_are_not_learned_from() -> None:
    rng = np.random.default_rng(5)
    batch = random_batch(rng, [6])
    batch[3][:] = [0, 1, 1, 1, 2, 2]
    labels = np.array([0, 1, 2, -1, 1, 0], np.int32)
    labeller = RelationLabeller(RELATION_FIELDS, RelationSettings(bits=12, epochs=1, restrict=False))
    report = labeller.fit(*batch, labels, 3)
    assert report["words"] == 5
    assert report["wrong"][0] <= 3  # the three dependents of word 1 are left out, as one of them is unknown


def test_without_a_label_there_is_nothing_to_learn() -> None:
    batch = random_batch(np.random.default_rng(1), [3])
    with pytest.raises(DataError, match="the training data has no relations"):
        RelationLabeller("wt").fit(*batch, np.full(3, -1, np.int32))


def test_heads_outside_their_sentence_are_refused() -> None:
    words, members, sentences, heads = random_batch(np.random.default_rng(1), [3, 2])
    heads[:] = [0, 1, 2, 3, 0]
    with pytest.raises(InferenceError, match=r"from 0 .ROOT. up to the length of its sentence"):
        check_trees(words, members, sentences, heads)


def test_a_labeller_is_the_same_after_saving_and_loading() -> None:
    rng = np.random.default_rng(11)
    batch = random_batch(rng, [20, 10, 15])
    labeller = random_labeller(rng, batch, 7, cap=0.5)
    header, arrays = labeller.state()
    again = RelationLabeller.from_state(json.loads(json.dumps(header)), arrays)
    other = random_batch(rng, [12, 30])
    assert again.settings == labeller.settings
    assert (again.label(*other) == labeller.label(*other)).all()
    arrays["allowed.labels"] = arrays["allowed.labels"] + 7
    with pytest.raises(ModelError, match="damaged"):
        RelationLabeller.from_state(header, arrays)


def test_a_component_names_relations_and_leaves_heads_alone(examples: Path, tmp_path: Path) -> None:
    docs = list(weft.read(examples / "story.conllu"))
    relations = Relations(RelationSettings(bits=16))
    report = relations.fit(docs, docs)
    assert report["scores"]["dev relations"] > 0.95
    Pipeline([relations]).save(tmp_path / "relations.weft")
    loaded = Pipeline.load(tmp_path / "relations.weft")
    for doc in docs:
        assert doc.head is not None
        heads, gold = doc.head.copy(), doc.column("deprel")
        doc.set_column("deprel", [""] * doc.n_words)
        loaded(doc)
        assert (doc.head == heads).all()
        found = doc.column("deprel")
        assert all(found)
        assert np.mean([a == b for a, b in zip(found, gold, strict=True)]) > 0.9


def test_documents_without_whole_trees_are_refused() -> None:
    doc = Doc.from_words([["dogs", "bark"]], upos=[["NOUN", "VERB"]], head=[[2, 0]], deprel=[["nsubj", "root"]])
    with pytest.raises(DataError, match="no heads with relations"):
        Relations().fit([Doc.from_words([["dogs"]])])
    relations = Relations(RelationSettings(bits=10))
    with pytest.raises(WeftError, match="not trained yet"):
        relations([doc])
    relations.fit([doc])
    with pytest.raises(DataError, match="without a head inside their sentence"):
        relations([Doc.from_words([["dogs", "bark"]], head=[[-1, 0]])])


def test_broken_trees_are_left_out_of_training() -> None:
    doc = Doc.from_words(
        [["dogs", "bark"], ["cats", "sleep"]], upos=[["NOUN", "VERB"]] * 2, head=[[2, 0], [2, 1]],
        deprel=[["nsubj", "root"]] * 2,
    )  # fmt: skip
    report = Relations(RelationSettings(bits=10)).fit([doc])
    assert report["training"]["broken trees"] == 1
    assert report["training"]["words"] == 2


def treebank(name: str, part: str, most: int) -> list[Doc]:
    """The first sentences of a treebank."""
    docs: list[Doc] = []
    for doc in weft.read(find(f"treebanks/ud/{name}/{part}.conllu.gz")):
        left = most - sum(each.n_sentences for each in docs)
        if left <= 0:
            break
        docs.append(doc.subset(list(range(min(left, doc.n_sentences)))))
    return docs


def f_scores(gold: list[str], found: list[str], names: Sequence[str]) -> list[float]:
    return [
        2 * sum(a == b == name for a, b in zip(gold, found, strict=True)) / (gold.count(name) + found.count(name))
        for name in names
    ]


@pytest.fixture(scope="module")
def sequence_and_atomic() -> dict[str, dict[bool, NDArray[np.float64]]]:
    """Accuracy, F of subjects and F of objects on gold trees, means of seeds, by treebank."""
    out: dict[str, dict[bool, NDArray[np.float64]]] = {}
    for name in ("Turkish-IMST", "Portuguese-Bosque"):
        try:
            train, dev = treebank(name, "train", 1500), treebank(name, "dev", 2000)
        except WeftError:
            pytest.skip(f"the treebank {name} is not here")
        gold = [label for doc in dev for label in doc.column("deprel")]
        out[name] = {}
        for sequence in (True, False):
            rows = []
            for seed in range(4):
                options = RelationSettings(sequence=sequence, templates=PLAIN, seed=seed, bits=20)
                relations = Relations(options)
                relations.fit(train)
                copies = [doc.subset(list(range(doc.n_sentences))) for doc in dev]
                relations(copies)
                found = [label for doc in copies for label in doc.column("deprel")]
                right = float(np.mean([a == b for a, b in zip(gold, found, strict=True)]))
                rows.append([right, *f_scores(gold, found, ("nsubj", "obj"))])
            out[name][sequence] = np.mean(rows, axis=0)
    return out


@pytest.mark.must_show("two-stage-multilingual-parser", 4, weaker="Portuguese gains; Turkish may lose 0.3")
def test_labels_of_a_sequence_are_better_than_atomic_ones_and_subjects_and_objects_gain_most(
    sequence_and_atomic: dict[str, dict[bool, NDArray[np.float64]]],
) -> None:
    accuracy, subjects, objects = (
        sequence_and_atomic["Portuguese-Bosque"][True] - sequence_and_atomic["Portuguese-Bosque"][False]
    )
    assert accuracy > 0
    assert subjects > accuracy
    assert objects > accuracy
    # On Turkish the two are as good as each other, with 1,500 sentences and with all; see the page of relations.
    turkish = sequence_and_atomic["Turkish-IMST"]
    assert turkish[True][0] > turkish[False][0] - 0.003
