"""Blended trees follow the weighted votes of the parsers, and learned weights find out who is right about which tag."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from weft.errors import ConfigError, DataError, ModelError
from weft.evaluate.significance import paired_bootstrap
from weft.evaluate.trees.ud import evaluate_ud
from weft.formats import read
from weft.infer.trees.arcs import all_arcs
from weft.infer.trees.nonprojective import SpanningTrees
from weft.infer.trees.projectivity import is_tree
from weft.tasks.parsing.blend import Blender
from weft.tasks.parsing.transitions.parser import Parser, ParserSettings
from weft.text import Doc

TAGS = ["NOUN", "VERB", "ADP", "ADJ"]


def documents(heads, relations, tags):
    """One document of sentences of equal shape."""
    words = [[f"w{i}" for i in range(len(row))] for row in heads]
    return [Doc.from_words(words, upos=tags, head=heads, deprel=relations)]


def gold_and_parsers(seed, n_sentences, wrong):
    """Random trees, and parsers that lose the head of a word with a probability by its tag."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(2, 12, n_sentences)
    space = all_arcs(np.concatenate([[0], np.cumsum(lengths)]))
    trees = SpanningTrees(space, np.zeros(space.n_arcs), single_root=True)
    gold = trees.best() if n_sentences == 0 else trees.sample(1, seed)[0]
    tags = rng.integers(0, len(TAGS), space.n_words)
    cuts = list(pairwise(space.offsets.tolist()))

    def doc(heads):
        relations = np.where(heads == 0, "root", np.where(heads % 2, "odd", "even"))
        return documents(
            [heads[a:b].tolist() for a, b in cuts],
            [relations[a:b].tolist() for a, b in cuts],
            [[TAGS[t] for t in tags[a:b]] for a, b in cuts],
        )

    parses = []
    for k, rates in enumerate(wrong):
        # A parser knows the right arc of most words; the others it makes up, as far as the whole is a tree.
        scores = np.random.default_rng([seed, k]).random(space.n_arcs)
        knows = np.random.default_rng([seed, k, 1]).random(space.n_words) > np.array(rates)[tags]
        scores[space.arcs_of(gold)[knows]] += 10.0
        parses.append(doc(SpanningTrees(space, scores, single_root=True).best()))
    return doc(gold), parses


def las(gold, docs):
    return evaluate_ud(gold, docs).counts["LAS"].total().f1


SPECIALISTS = [[0.1, 0.2, 0.6, 0.2], [0.3, 0.1, 0.1, 0.5], [0.5, 0.3, 0.3, 0.1]]


def test_the_heads_of_most_weight_win_where_they_make_a_tree():
    tags = [["PRON", "VERB", "DET", "NOUN", "ADP", "NOUN"]]
    relations = [["nsubj", "root", "det", "obj", "case", "obl"]]
    noun = [["nsubj", "root", "det", "obj", "case", "nmod"]]
    saw, same, man = [[2, 0, 4, 2, 6, 2]], [[2, 0, 4, 2, 6, 2]], [[2, 0, 4, 2, 6, 4]]
    parses = [documents(saw, relations, tags), documents(same, relations, tags), documents(man, noun, tags)]
    blender = Blender({"NOUN": [0.9, 0.7, 0.8]}, [1.0, 1.0, 1.0])
    assert blender.blend(parses)[0].head.tolist() == saw[0]  # 1.6 against 0.8
    assert Blender({"NOUN": [0.3, 0.4, 0.8]}, [1.0] * 3).blend(parses)[0].column("deprel")[5] == "nmod"


def test_the_relation_is_voted_for_by_the_parsers_that_chose_the_head():
    tags = [["VERB", "NOUN"]]
    parses = [
        documents([heads], [["root", relation]], tags)
        for heads, relation in [([0, 1], "obj"), ([0, 1], "obl"), ([0, 1], "obl"), ([0, 1], "obj")]
    ]
    chosen = Blender({"NOUN": [0.2, 0.3, 0.3, 0.5]}, [1.0] * 4).blend(parses)[0].column("deprel")
    assert chosen == ["root", "obj"]
    assert Blender({"NOUN": [0.2, 0.3, 0.3, 0.3]}, [1.0] * 4).blend(parses)[0].column("deprel") == ["root", "obl"]


def test_crossed_votes_still_make_a_tree():
    tags = [["NOUN", "NOUN", "NOUN"]]
    parses = [documents([heads], [["x"] * 3], tags) for heads in ([2, 0, 2], [0, 1, 2], [3, 0, 2])]
    # The heaviest head of word 1 is word 2 and that of word 2 word 1: together they would be a circle.
    blender = Blender({"NOUN": [0.9, 1.0, 0.3]}, [1.0] * 3)
    heads = blender.blend(parses)[0].head
    assert is_tree(heads)
    assert heads.tolist() == [2, 0, 2]


def test_equal_weights_are_a_majority_vote_and_ties_go_to_the_first_parser():
    tags = [["NOUN"] * 3]
    parses = [documents([heads], [["x"] * 3], tags) for heads in ([0, 1, 1], [0, 1, 2], [0, 3, 1])]
    assert Blender.equal(3).blend(parses)[0].head.tolist() == [0, 1, 1]
    assert Blender.equal(2).blend(parses[:2])[0].head.tolist() == [0, 1, 1]
    assert Blender.equal(2).blend(parses[1::-1])[0].head.tolist() == [0, 1, 2]


def test_a_sentence_without_any_tree_of_one_root_keeps_several_and_others_do_not():
    tags = [["NOUN"] * 2, ["NOUN"] * 2]
    parses = [
        documents([[0, 0], [0, 1]], [["x"] * 2] * 2, tags),
        documents([[0, 0], [2, 0]], [["x"] * 2] * 2, tags),
        documents([[0, 0], [2, 0]], [["x"] * 2] * 2, tags),
    ]
    assert Blender.equal(3).blend(parses)[0].head.tolist() == [0, 0, 2, 0]


def test_the_first_weights_are_accuracies_by_tag():
    gold, parses = gold_and_parsers(1, 60, SPECIALISTS)
    blender = Blender.learn(gold, parses, rounds=0)
    right = gold[0]
    tags = np.array(right.column("upos"))
    for k, docs in enumerate(parses):
        same = (docs[0].head == right.head) & (np.array(docs[0].column("deprel")) == np.array(right.column("deprel")))
        for tag in TAGS:
            assert blender.weights[tag][k] == pytest.approx(same[tags == tag].mean())
        assert blender.others[k] == pytest.approx(same.mean())


def test_the_blend_beats_its_best_parser_on_new_text_and_weights_beat_a_majority():
    gold, parses = gold_and_parsers(1, 300, SPECIALISTS)
    new_gold, new = gold_and_parsers(2, 300, SPECIALISTS)
    single = max(las(new_gold, docs) for docs in new)
    by_accuracy = Blender.learn(gold, parses, rounds=0)
    learned = Blender.learn(gold, parses)
    assert max(learned.history) >= learned.history[0]
    scores = {
        name: las(new_gold, blender.blend(new))
        for name, blender in [("equal", Blender.equal(3)), ("accuracy", by_accuracy), ("learned", learned)]
    }
    assert scores["equal"] > single + 0.02
    assert scores["accuracy"] > scores["equal"] + 0.01
    assert scores["learned"] > scores["equal"] + 0.01
    best = max(new, key=lambda docs: las(new_gold, docs))
    counts = [evaluate_ud(new_gold, docs).counts["LAS"] for docs in (learned.blend(new), best)]
    assert paired_bootstrap(*counts, samples=1000, seed=1).p < 0.01


def test_weights_are_kept_in_a_file(tmp_path: Path):
    gold, parses = gold_and_parsers(3, 20, SPECIALISTS)
    blender = Blender.learn(gold, parses, rounds=2)
    blender.save(str(tmp_path / "weights.json"))
    again = Blender.load(str(tmp_path / "weights.json"))
    assert (again.weights, again.others, again.column) == (blender.weights, blender.others, blender.column)
    assert again.blend(parses)[0].head.tolist() == blender.blend(parses)[0].head.tolist()


def test_what_does_not_fit_is_named(tmp_path: Path):
    tags = [["NOUN"] * 2]
    one, other = documents([[0, 1]], [["x"] * 2], tags), documents([[0, 1, 1]], [["x"] * 3], [["NOUN"] * 3])
    with pytest.raises(DataError, match=r"sentence 1 of b.conllu has other words than in a.conllu"):
        Blender.equal(2).blend([one, other], names=["a.conllu", "b.conllu"])
    circle = documents([[2, 1]], [["x"] * 2], tags)
    with pytest.raises(DataError, match="sentence 1 of parser 2 has no tree"):
        Blender.equal(2).blend([one, circle])
    with pytest.raises(ConfigError, match="for 3 parsers, but trees of 2 were given"):
        Blender.equal(3).blend([one, one])
    with pytest.raises(DataError, match=r"cannot be read"):
        Blender.load(str(tmp_path / "none.json"))
    for content in ("no JSON", "[]", '{"kind": "other"}'):
        (tmp_path / "bad.json").write_text(content)
        with pytest.raises(ModelError, match="weft blend --gold"):
            Blender.load(str(tmp_path / "bad.json"))


def test_the_command_learns_weights_and_blends_with_them(weft, examples: Path, tmp_path: Path):
    folder = examples / "blend"
    names = ("eager", "easy", "graph")
    learned = weft("blend", *(folder / f"{n}.conllu" for n in names), "--gold", folder / "gold.conllu",
                   "--weights", "weights.json")  # fmt: skip
    assert learned.returncode == 0, learned.stderr
    assert "NOUN" in learned.stdout
    done = weft("blend", *(folder / f"new-{n}.conllu" for n in names), "--weights", "weights.json",
                "--out", "blended.conllu")  # fmt: skip
    assert done.returncode == 0, done.stderr
    gold = list(read(folder / "new-gold.conllu"))
    blended = las(gold, list(read(tmp_path / "blended.conllu")))
    assert blended > max(las(gold, list(read(folder / f"new-{n}.conllu"))) for n in names)
    nothing = weft("blend", folder / "eager.conllu", folder / "easy.conllu")
    assert nothing.returncode == 1
    assert "--out" in nothing.stderr


@pytest.mark.corpus
def test_the_blend_of_three_parsers_beats_the_best_of_them_on_a_treebank(treebank):
    docs = treebank("train", 40_000)
    train, held = [doc for i, doc in enumerate(docs) if i % 6], docs[::6]
    dev = treebank("dev", 15_000)

    def fresh(docs):
        return [Doc.from_bytes(doc.to_bytes()) for doc in docs]

    held_parses, dev_parses = [], []
    for options in ({"system": "arc-eager"}, {"system": "arc-standard", "oracle": "static"}, {"system": "easy-first"}):
        parser = Parser(ParserSettings(epochs=3, seed=1, **options))
        parser.fit(train)
        for docs, into in ((fresh(held), held_parses), (fresh(dev), dev_parses)):
            parser(docs)
            into.append(docs)
    blender = Blender.learn(held, held_parses)
    blended = evaluate_ud(dev, blender.blend(dev_parses)).counts["LAS"]
    singles = [evaluate_ud(dev, docs).counts["LAS"] for docs in dev_parses]
    best = max(singles, key=lambda counts: counts.total().f1)
    found = paired_bootstrap(blended, best, samples=1000, seed=1)
    print(f"LAS {100 * found.a:.2f} blended, {100 * found.b:.2f} best single, p = {found.p:.4f}")
    assert found.difference > 0
    assert found.p < 0.05
