"""The constituent parser's states: no dead ends, one sequence a tree, a beam that finds the best."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import InferenceError, TemplateError
from weft.infer.constituents.beam import (
    ConstituentModel,
    action_sequence,
    change,
    follow,
    new_room,
    random_walk,
    search,
)
from weft.infer.constituents.system import (
    DONE,
    NODE,
    TEMPORARY,
    Subwords,
    apply,
    find,
    legal_actions,
    new_pool,
    prefix_hashes,
    start,
    string_key,
)
from weft.infer.constituents.templates import compile_templates
from weft.infer.transitions.weights import new_wide
from weft.tasks.constituents.actions import actions_of, closed, compile_actions, tree_of_actions
from weft.tasks.constituents.data import WordRules, units_of
from weft.text.binarize import unbinarize
from weft.text.word_structures import collapse

LABELS = ["IP", "NP", "VP"]
TAGS = ["NN", "VV", "PU"]
NO_SUBWORDS = Subwords(np.zeros(0, np.uint64), np.zeros(0, np.uint8), np.zeros(0, np.uint64))
PHRASES = [f"binary {label} {side}" for label in LABELS for side in ("l", "r", "l*", "r*")]
ALL = [f"separate {tag}" for tag in TAGS] + ["subword l", "subword r", "subword c", *PHRASES, "unary NP", "unary IP"]


def model_of(names, flat=False):
    names = closed(names)
    labels = sorted({name.split(" ")[1] for name in names if name.startswith(("binary", "unary"))})
    tags = sorted(name.split(" ")[1] for name in names if name.startswith("separate"))
    program = compile_templates("all: S0.ntl S0.nw|Q0.c S0.l|S1.l Q0.c separate: Q0.c word: W0.w append: C1.c|Q0.c")
    model = ConstituentModel(compile_actions(names, tags, labels), program, new_wide(len(names)), NO_SUBWORDS, flat)
    return names, model


RULES = WordRules([("甲", "NN"), ("甲乙", "NN"), ("乙丙丁", "VV"), ("。", "PU")] + 9 * [("丙", "VV")], closed=("PU",))


@pytest.mark.must_show("chinese-character-parser", 2)
@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from(ALL), unique=True),
    st.text("甲乙丙。1２a", min_size=1, max_size=8),
    st.lists(st.integers(0, 2**63), min_size=1, max_size=60),
    st.booleans(),
)
def test_random_walks_over_any_set_of_actions_never_end_in_a_dead_end(chosen, text, draws, flat):
    needed = [f"separate {tag}" for tag in TAGS] + ["subword c", "unary NP"]
    names, model = model_of([*chosen, *needed], flat)
    units, _ = units_of([text], RULES)
    pool = new_pool(len(text), 1)
    legal = np.zeros(len(names), dtype=np.int32)
    row = random_walk(model, units, 0, 0, len(text), np.array(draws, dtype=np.uint64), pool, legal)
    assert row >= 0, f"nothing is legal in state {-1 - row}"
    out = np.zeros(len(pool), dtype=np.int32)
    taken = [names[k] for k in out[: action_sequence(pool, row, out)].tolist()]
    (tree,) = tree_of_actions(taken, text)
    assert actions_of(tree) == taken
    words, _ = collapse(unbinarize(tree))
    assert "".join(leaf.word for leaf in words.leaves()) == text
    assert all(leaf.label == "VV" for leaf in words.leaves() if leaf.word == "丙")  # a frequent word
    assert all(not node.label.endswith("*") for node in words.nodes())


def test_every_state_that_can_be_reached_can_be_finished():
    """All states of short sentences, by exhaustive search; unary phrases are left out to keep them few."""
    names, model = model_of(["separate NN", "subword c", "binary NP l", "binary NP l*", "binary NP r*", "unary IP"])
    legal = np.zeros(len(names), dtype=np.int32)
    for length in (1, 2, 3):
        text = "甲" * length
        units, _ = units_of([text], WordRules([("甲", "NN")]))
        pool = np.zeros((400_000, new_pool(1, 1).shape[1]), dtype=np.int32)
        start(pool)
        used, finishes, parent = 1, set(), [-1]
        waiting = [0]
        while waiting:
            row = waiting.pop()
            if pool[row, NODE] == DONE:
                at = row
                while at >= 0 and at not in finishes:
                    finishes.add(at)
                    at = parent[at]
                continue
            count = legal_actions(model.actions, units, NO_SUBWORDS, False, 0, 0, length, pool, row, legal)
            for action in legal[:count].tolist():
                apply(model.actions, action, pool, row, used)
                parent.append(row)
                waiting.append(used)
                used += 1
        assert len(finishes) == used


def test_a_search_over_everything_finds_the_best_sequence_of_actions():
    names, model = model_of(["separate NN", "separate VV", "subword c", "binary NP l", "binary NP r", "unary NP"])
    text = "甲乙"
    units, _ = units_of([text], WordRules([("甲", "NN"), ("乙", "VV"), ("甲乙", "NN")], closed=()))
    pool, width = new_pool(2, 400), 400
    room = new_room(model, width, len(pool))
    random = np.random.default_rng(0)
    start(pool)
    states = [0]
    used = 1
    legal = np.zeros(len(names), dtype=np.int32)
    for row in states:  # random weights wherever the search can come
        if pool[row, NODE] == DONE:
            continue
        count = legal_actions(model.actions, units, NO_SUBWORDS, False, 0, 0, 2, pool, row, legal)
        for action in legal[:count].tolist():
            change(model, units, 0, 0, 2, pool, row, action, int(random.integers(-2, 3)), 0.0, room)
            if used < 60:
                apply(model.actions, action, pool, row, used)
                states.append(used)
                used += 1
    none = np.zeros(0, dtype=np.int32)
    best, _, _ = search(model, units, 0, 0, 2, width, none, pool, room)
    top = int(room.totals[best])
    scores = []
    for _ in range(300):
        walked = new_pool(2, 1)
        row = random_walk(model, units, 0, 0, 2, random.integers(0, 2**62, 40, dtype=np.uint64), walked, legal)
        out = np.zeros(len(walked), dtype=np.int32)
        gold = out[: action_sequence(walked, row, out)].copy()
        _, golden, wanted = search(model, units, 0, 0, 2, width, gold, pool, room)
        assert wanted == -1  # a beam that holds everything never loses a sequence
        scores.append(int(room.totals[golden]))
    assert top == max(scores)
    narrow, _, _ = search(model, units, 0, 0, 2, 1, none, pool, room)
    assert int(room.totals[narrow]) <= top


def test_gold_sequences_fall_out_of_a_narrow_beam_with_the_action_they_lack():
    names, model = model_of(["separate NN", "separate VV", "subword c", "binary NP r", "unary NP"])
    units, _ = units_of(["甲"], WordRules([("甲", "NN"), ("甲", "VV")], closed=()))
    pool = new_pool(1, 1)
    room = new_room(model, 1, len(pool))
    gold = np.array([names.index(n) for n in ("separate VV", "word", "unary NP", "terminate")], dtype=np.int32)
    assert follow(model, units, 0, 0, 1, gold, pool, room.legal) == 4
    _, golden, wanted = search(model, units, 0, 0, 1, 1, gold, pool, room)
    assert (golden, names[wanted]) == (0, "separate VV")
    change(model, units, 0, 0, 1, pool, 0, names.index("separate VV"), 1, 1.0, room)
    best, golden, wanted = search(model, units, 0, 0, 1, 1, gold, pool, room)
    assert (best, wanted) == (golden, -1)


def test_equal_strings_have_equal_keys_wherever_they_stand():
    keys = np.array([5, 7, 5, 7, 9], dtype=np.uint64)
    prefix = np.zeros(7, dtype=np.uint64)
    prefix_hashes(keys, np.array([0, 4, 5]), prefix)
    assert string_key(prefix, 0, 2) == string_key(prefix, 2, 4)
    assert string_key(prefix, 0, 2) != string_key(prefix, 1, 3)
    assert string_key(prefix[5:], 0, 1) != string_key(prefix, 0, 1)
    assert [find(keys[[0, 1, 4]], np.uint64(k)) for k in (5, 7, 9, 6)] == [0, 1, 2, -1]


def test_segmenting_alone_ends_with_words_on_the_stack():
    _, model = model_of(["separate NN", "separate VV", "subword c"], flat=True)
    units, _ = units_of(["甲乙丙"], RULES)
    pool = new_pool(3, 4)
    best, _, _ = search(model, units, 0, 0, 3, 4, np.zeros(0, np.int32), pool, new_room(model, 4, len(pool)))
    assert pool[best, NODE] == DONE
    assert pool[best, TEMPORARY] == 0


@pytest.mark.parametrize("text", ["all: S9.w", "all: S0.x", "all: W0.i", "some: S0.w", "all: S0", ""])
def test_templates_that_cannot_be_read_are_refused(text):
    with pytest.raises(TemplateError):
        compile_templates(text)


def test_a_beam_of_no_width_is_refused():
    with pytest.raises(InferenceError, match="width of at least 1"):
        new_pool(3, 0)
