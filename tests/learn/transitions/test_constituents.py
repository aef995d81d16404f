"""Early update: weights move by gold beginning minus best beginning, and nothing else."""

from collections import Counter

import numpy as np
import pytest

from weft.infer.constituents.beam import ConstituentModel, new_room, search
from weft.infer.constituents.system import ACTION, PREV, Subwords, new_pool, path
from weft.infer.constituents.templates import block_keys, compile_templates, fill_atoms
from weft.infer.transitions.weights import add_wide, new_look_ups, new_wide
from weft.learn.transitions.constituents import ConstituentTrainer
from weft.tasks.constituents.actions import actions_of, closed, compile_actions
from weft.tasks.constituents.data import WordRules, units_of
from weft.text.trees import parse_tree

TREES = [
    "(IP#r (NP#s (PN#t (PN#b 我))) (VP#l (VV#t (VV#c (VV#b 喜) (VV#i 欢))) (NP#s (NN#t (NN#b 茶)))))",
    "(IP#r (NP#s (NN#t (NN#r (NN#b 茶) (NN#i 杯)))) (VP#s (VA#t (VA#b 好))))",
]
TEMPLATES = "all: S0.ntl S0.nw S0.nl|S1.nl Q0.c Q0.c|Q1.c S0.c separate: Q0.c W1.t word: W0.w W0.ite append: C1.c|Q0.c"
BLOCK = {0: 1, 1: 2, 2: 3, 3: 4}


@pytest.fixture
def problem():
    gold = [actions_of(parse_tree(tree)) for tree in TREES]
    texts = ["我喜欢茶", "茶杯好"]
    words = [("我", "PN"), ("喜欢", "VV"), ("茶", "NN"), ("茶杯", "NN"), ("好", "VA")]
    rules = WordRules(words, closed=())
    names = closed([name for row in gold for name in row])
    labels = sorted({name.split(" ")[1] for name in names if name.startswith(("binary", "unary"))})
    units, sentences = units_of(texts, rules)
    numbers = [np.array([names.index(name) for name in row], dtype=np.int32) for row in gold]
    none = Subwords(np.zeros(0, np.uint64), np.zeros(0, np.uint8), np.zeros(0, np.uint64))

    def model(**sizes):
        actions = compile_actions(names, rules.tags, labels)
        return ConstituentModel(actions, compile_templates(TEMPLATES), new_wide(len(names), **sizes), none, False)

    return model, units, sentences, numbers


def features(model, units, first, sentence, n, pool, row, action, room):
    """The keys that fire for an action in a state."""
    fill_atoms(units, model.subwords, first, sentence, n, pool, row, room.atoms)
    end = block_keys(model.program, 0, units, first, pool, row, room.atoms, room.keys)
    found = [int(key) for key in room.keys[:end] if key]
    block = BLOCK.get(int(model.actions.kind[action]))
    if block is not None:
        end = block_keys(model.program, block, units, first, pool, row, room.atoms, room.keys)
        found += [int(key) for key in room.keys[model.program.blocks[block] : end] if key]
    return found


@pytest.mark.parametrize("width", [1, 3])
def test_one_update_is_gold_beginning_minus_best_beginning(problem, width):
    make, units, sentences, gold = problem
    model = make()
    n = int(sentences[1])
    pool = new_pool(n, width)
    room = new_room(model, width, len(pool))
    best, golden, wanted = search(model, units, 0, 0, n, width, gold[0], pool, room)
    assert wanted >= 0  # without weights the gold sequence falls out of so narrow a beam
    rows = np.zeros(len(pool), dtype=np.int32)
    expected: Counter[tuple[int, int]] = Counter()
    for end, by in ((golden, 1), (best, -1)):
        for row in rows[: path(pool, end, rows)].tolist():
            before, action = int(pool[row, PREV]), int(pool[row, ACTION])
            for key in features(model, units, 0, 0, n, pool, before, action, room):
                expected[key, action] += by
    for key in features(model, units, 0, 0, n, pool, golden, wanted, room):
        expected[key, int(wanted)] += 1
    trainer = ConstituentTrainer(make(), units, sentences, gold, width)
    told = trainer.epoch([0])
    assert (told.sentences, told.wrong, told.early) == (1, 1, 1)
    for key in {key for key, _ in expected}:
        scores = np.zeros(len(model.actions.kind), dtype=np.int32)
        add_wide(trainer.model.weights, np.array([key], np.uint64), 0, 1, new_look_ups(1), scores)
        assert scores.tolist() == [expected[key, action] for action in range(len(scores))]


def test_training_ends_when_all_is_right_and_small_tables_grow_to_the_same_weights(problem):
    make, units, sentences, gold = problem
    told = []
    for sizes in ({}, {"features": 4, "cells": 8, "lines": 1}):
        trainer = ConstituentTrainer(make(**sizes), units, sentences, gold, 2)
        told.append([trainer.epoch([0, 1]).wrong for _ in range(25)])
        best, golden, wanted = search(
            trainer.model, units, 0, 0, int(sentences[1]), 2, gold[0], trainer.pool, trainer.room
        )
        assert (best, wanted) == (golden, -1)
    assert told[0] == told[1]
    assert told[0][0] == 2
    assert told[0][-1] == 0
