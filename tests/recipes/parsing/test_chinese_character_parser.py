"""Checks of the sheet of chinese-character-parser on the released trees, in sizes that take seconds.

Check 3 stands in tests/evaluate/test_parseval.py, random walks over any set of actions (check 2) in
tests/infer/transitions/test_constituents.py, and check 4, the joint parser against the pipeline, in
tests/recipes/recorded.
"""

import time

import numpy as np
import pytest
from steps import steps_of

from weft.data import have
from weft.infer.constituents.beam import action_sequence, follow, random_walk
from weft.infer.constituents.system import new_pool
from weft.recipes.framework import RecipeOptions
from weft.recipes.parsing.chinese_character_parser import data as files
from weft.recipes.parsing.chinese_character_parser import experiment as recipe
from weft.tasks.constituents.actions import actions_of, tree_of_actions
from weft.tasks.constituents.data import units_of
from weft.tasks.constituents.parser import ConstituentParser, ConstituentSettings, binary_tree
from weft.text.binarize import unbinarize

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not have(files.TRAIN), reason="the word structures are not at hand: set WEFT_DATA"),
]
SIZES = recipe.Sizes(sentences=300, beam=4, epochs=12, tagger_beam=4, tagger_epochs=12, parts=2)


@pytest.fixture(scope="module")
def material():
    return files.load(RecipeOptions())


@pytest.fixture(scope="module")
def train(material):
    return material.train[: SIZES.sentences]


@pytest.fixture(scope="module")
def known(train):
    return recipe.vocabulary(train)


@pytest.fixture(scope="module")
def joint(material, train):
    return recipe.train_joint(train, (), SIZES.beam, SIZES.epochs)[0]


@pytest.fixture(scope="module")
def outcome(joint, material, known):
    return recipe.score(material.dev, joint.parse_like(material.dev), known)


@pytest.fixture(scope="module")
def greedy(train):
    return recipe.train_joint(train, (), 1, SIZES.epochs)[0]


def text_of(sentence):
    return "".join(word for word, _ in sentence.words())


@pytest.mark.must_show("chinese-character-parser", 1)
def test_trees_binary_trees_and_actions_are_the_same_thing_on_all_trees(material):
    released = files.read_binary(RecipeOptions().find(files.TRAIN))
    for structures in ("annotated", "flat"):
        settings = ConstituentSettings(structures=structures)
        for number, sentence in enumerate([*material.train, *material.dev, *material.test]):
            tree = binary_tree(sentence, settings)
            if structures == "annotated" and number < len(released):
                assert tree == released[number]  # our head rules binarize as the released training file does
            (back,) = tree_of_actions(actions_of(tree), text_of(sentence))
            assert back == tree
            found = files.sentence_of(unbinarize(back))
            assert found.tree == sentence.tree
            assert structures == "flat" or found == sentence


@pytest.mark.must_show("chinese-character-parser", 1)
def test_gold_sequences_of_all_training_trees_are_legal(joint, material, train):
    number = {name: k for k, name in enumerate(joint.names)}
    cuts = [np.cumsum([len(word) for word, _ in sentence.words()]).tolist() for sentence in train]
    units, offsets = units_of([text_of(sentence) for sentence in train], joint.rules, cuts=cuts)
    pool = new_pool(int(np.diff(offsets).max()), 1)
    legal = np.zeros(len(number), dtype=np.int32)
    for s, sentence in enumerate(train):
        names = actions_of(binary_tree(sentence, joint.settings))
        gold = np.array([number[name] for name in names], dtype=np.int32)
        n = int(offsets[s + 1] - offsets[s])
        assert follow(joint.model, units, int(offsets[s]), s, n, gold, pool, legal) == len(gold)


@pytest.mark.must_show("chinese-character-parser", 2)
def test_random_walks_over_real_sentences_never_end_in_a_dead_end(joint, material):
    texts = [text_of(sentence) for sentence in [*material.dev, *material.test]]
    units, offsets = units_of(texts, joint.rules)
    pool = new_pool(int(np.diff(offsets).max()), 1)
    legal = np.zeros(len(joint.names), dtype=np.int32)
    out = np.zeros(len(pool), dtype=np.int32)
    random = np.random.default_rng(0)
    for s, text in enumerate(texts):
        for _ in range(3):
            draws = random.integers(0, 2**62, 997, dtype=np.uint64)
            row = random_walk(joint.model, units, int(offsets[s]), s, len(text), draws, pool, legal)
            assert row >= 0, text
            names = [joint.names[k] for k in out[: action_sequence(pool, row, out)].tolist()]
            (tree,) = tree_of_actions(names, text)
            assert "".join(leaf.word for leaf in tree.leaves()) == text


def test_the_tagger_of_the_pipeline_segments_about_as_well_as_the_joint_parser(outcome, material, train, known):
    pipeline, _ = recipe.train_pipeline(train, (), SIZES)
    baseline = recipe.score(material.dev, pipeline.parse_like(material.dev), known)
    ours, theirs = recipe.figures(outcome), recipe.figures(baseline)
    assert theirs["Seg F"] > ours["Seg F"] - 3


@pytest.mark.must_show("chinese-character-parser", 4, weaker="that there are such templates, not what they are worth")
def test_head_characters_are_features_of_their_own(joint, train):
    without = ConstituentParser(ConstituentSettings(beam=2, epochs=1, head_characters=False))
    without.learn(train[:30])
    assert len(without.model.program.seeds) == len(joint.model.program.seeds) - 24


@pytest.mark.must_show(
    "chinese-character-parser", 5, weaker="beams of 1 and 4 with 300 sentences; the recorded run has 16 too"
)
def test_a_wider_beam_parses_better_and_takes_more_steps(joint, greedy, outcome, material, known):
    narrow = recipe.figures(recipe.score(material.dev, greedy.parse_like(material.dev), known))
    wide = recipe.figures(outcome)
    assert narrow["Parse F"] < wide["Parse F"]
    assert narrow["Seg F"] < wide["Seg F"]
    texts = [text_of(sentence) for sentence in material.dev[:2]]
    narrow, wide = (
        steps_of(lambda parser=parser, beam=beam: parser.actions(texts, beam=beam))
        for parser, beam in ((greedy, 1), (joint, 4))
    )
    assert 1.5 * narrow < wide < 12 * narrow


@pytest.mark.timing
@pytest.mark.must_show(
    "chinese-character-parser", 5, weaker="beams of 1 and 4 with 300 sentences; the recorded run has 16 too"
)
def test_a_wider_beam_takes_longer(joint, greedy, material):
    slower = recipe.speed(greedy, material.dev, 1) / recipe.speed(joint, material.dev, 4)
    assert 1.5 < slower < 12


@pytest.mark.must_show(
    "chinese-character-parser", 6, weaker="55 % with 300 sentences in place of 80 % with all; the recorded run has all"
)
def test_word_structures_are_scored_and_unknown_words_apart(outcome):
    report = outcome.structures
    tags = outcome.scores.tags.total()
    assert 0.5 < report.counts.total().f1 < tags.f1
    assert report.counts.total().gold == tags.gold
    assert 0 < report.unknown_right <= report.unknown_tagged <= report.unknown
    # Four fifths are reached with the whole training file (see the recipe); three directions make a third by chance.
    assert report.unknown_recall_if_tagged > 0.55


@pytest.mark.must_show("chinese-character-parser", 7)
def test_greedy_parsing_takes_as_many_steps_a_character_whatever_the_length(greedy, material):
    whole = "".join(text_of(sentence) for sentence in material.dev)[:80]
    steps = {
        length: steps_of(lambda n=length: greedy.actions([whole[at : at + n] for at in range(0, 80, n)], beam=1))
        for length in (10, 20, 80)
    }
    assert max(steps[80], steps[20]) < 1.2 * steps[10], steps


@pytest.mark.must_show("chinese-character-parser", 7)
@pytest.mark.timing
def test_greedy_parsing_takes_the_same_time_a_character_whatever_the_length(greedy, material):
    whole = "".join(text_of(sentence) for sentence in material.dev)[:3200]

    def seconds(length):
        texts = [whole[at : at + length] for at in range(0, 3200, length)]
        taken = []
        for _ in range(3):
            started = time.process_time()
            greedy.actions(texts, beam=1)
            taken.append(time.process_time() - started)
        return min(taken)

    seconds(40)
    assert seconds(3200) < 1.6 * seconds(40)
    assert seconds(800) < 1.6 * seconds(40)
