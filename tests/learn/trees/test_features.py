"""Features of parts of trees: the kernels beside the plainest way to make the same keys."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import TemplateError
from weft.features.tree_templates import B, Block, G, H, M, S, compile_tree_templates
from weft.hashing import hash_string
from weft.infer.trees.arcs import ArcSpace, TreeParts, all_arcs
from weft.learn.trees.features import TreeWords
from weft.learn.trees.model import TreeBatch, TreeModel

TEMPLATES = (
    "arc: h.w m.w h.w|m.t h-1.t|h.t|m.t|m+1.t h.t|b.t|m.t h.F m.F h.F|m.F "
    "sibling: h.t|s.t|m.t s.w|m.w grand: g.t|h.t|m.t g.w grandsib: g.t|h.t|s.t|m.t s.w|g.w crossed: h.t|m.t"
)
PROGRAM = compile_tree_templates(TEMPLATES, ["w", "t"])
WORD = (1 << 64) - 1
BITS = 12


def words_of(sentences: list[list[tuple[int, int, list[int]]]]) -> tuple[TreeWords, np.ndarray]:
    rows = [(91, 92)] + [(w, t) for sentence in sentences for w, t, _ in sentence]
    sets = [[]] + [members for sentence in sentences for _, _, members in sentence]
    offsets = np.concatenate([[0], np.cumsum([len(members) for members in sets])]).astype(np.int64)
    flat = np.array([member for members in sets for member in members], dtype=np.uint64)
    ends = np.concatenate([[0], np.cumsum([len(sentence) for sentence in sentences])]).astype(np.int64)
    return TreeWords(np.array(rows, dtype=np.uint64), offsets, flat), ends


def value(sentence: list[tuple[int, int, list[int]]], node: int, column: int) -> int:
    if node == 0:
        return (91, 92)[column]
    if node < 0:
        return hash_string("before ROOT")
    if node > len(sentence):
        return hash_string("after the end")
    return sentence[node - 1][column]


def slots(key: int, shape: int) -> list[int]:
    slot = (key & WORD) >> (64 - BITS)
    return [slot, slot ^ shape]


def shape_of(one: int, other: int) -> int:
    distance = abs(one - other)
    number = 6 if distance > 10 else 5 if distance > 5 else distance - 1
    return 1 + number + (7 if one < other else 0)


def block_slots(
    block: Block, sentence: list[tuple[int, int, list[int]]], nodes: dict[int, int], shape: int
) -> list[int]:
    """`nodes`: the node of every role, -9 for no word."""
    found = []
    for t in range(block.seeds.shape[1]):
        key = sum(int(block.seeds[role, t]) for role in nodes)
        fires = True
        for (template, role, offset, column), factor in zip(block.atoms.tolist(), block.factors.tolist(), strict=True):
            if template == t:
                none = nodes[role] == -9
                own = hash_string("no word") if none else value(sentence, nodes[role] + offset, column)
                fires = fires and own != 0
                key += factor * own
        if fires:
            found += slots(key, shape)
    return found


def arc_slots(sentence: list[tuple[int, int, list[int]]], h: int, m: int) -> list[int]:
    shape = shape_of(h, m)
    found = block_slots(PROGRAM.arc, sentence, {H: h, M: m}, shape)
    first_with: dict[int, int] = {}
    for node in range(len(sentence) + 1):
        first_with.setdefault(value(sentence, node, 1), node)
    for tag in {value(sentence, node, 1) for node in range(min(h, m) + 1, max(h, m))}:
        if tag:
            found += block_slots(PROGRAM.between, sentence, {H: h, M: m, B: first_with[tag]}, shape)
    of_head, of_modifier, of_pair = PROGRAM.sets.tolist()
    own, other = ([] if h == 0 else sentence[h - 1][2]), sentence[m - 1][2]
    for x in own:
        found += slots(of_head * x, shape)
    for y in other:
        found += slots(of_modifier * y, shape)
    for x in own:
        for y in other:
            found += slots(of_pair * x + of_head * (y ^ of_pair), shape)
    return found


def bend(g: int, h: int, m: int) -> int:
    return 1 + (2 if g < h or h == 0 else 0) + (1 if h < m else 0)


def grand_slots(sentence: list[tuple[int, int, list[int]]], g: int, h: int, m: int, s: int) -> list[int]:
    return block_slots(PROGRAM.grandsib, sentence, {H: h, M: m, S: s, G: g}, bend(g, h, m))


SENTENCES = st.lists(
    st.lists(
        st.tuples(st.integers(1, 2**63), st.integers(0, 2**20), st.lists(st.integers(1, 2**63), max_size=2)),
        min_size=1,
        max_size=4,
    ),
    min_size=1,
    max_size=3,
)


def everything(space: ArcSpace, sentences: list[list[tuple[int, int, list[int]]]]) -> TreeParts:
    """Scores of all parts under weights that are the numbers of slots, part by part."""
    weight = np.sin(np.arange(1 << BITS))
    arc, sibling, grand = np.zeros(space.n_arcs), np.zeros(space.n_siblings), np.zeros(space.n_grands)
    grand_arc, crossed = np.zeros(space.n_grand_arcs), np.zeros(space.n_arcs)
    for a in range(space.n_arcs):
        sentence = sentences[int(space.sentence[a])]
        h, m, v = int(space.head[a]), int(space.modifier[a]), int(space.node[a])
        arc[a] = weight[arc_slots(sentence, h, m)].sum()
        crossed[a] = weight[block_slots(PROGRAM.crossed, sentence, {H: h, M: m}, shape_of(h, m))].sum()
        for k in range(int(space.rank[a]) + 1):
            s = -9 if k == 0 else int(space.modifier[a - space.rank[a] + k - 1])
            part = int(space.siblings[a]) + k
            shape = shape_of(h if s == -9 else s, m)
            sibling[part] = weight[block_slots(PROGRAM.sibling, sentence, {H: h, M: m, S: s}, shape)].sum()
            own = slice(int(space.into_first[v]), int(space.into_first[v + 1]))
            above = [-9] if h == 0 else space.head[space.into[own]].tolist()
            base, width = (
                space.siblings[space.first[v]],
                space.siblings[space.first[v + 1]] - space.siblings[space.first[v]],
            )
            for up, g in enumerate(above):
                if k == 0:
                    own_slots = block_slots(PROGRAM.grand, sentence, {H: h, M: m, G: g}, bend(g, h, m))
                    out = int(space.first[v + 1] - space.first[v])
                    grand_arc[space.grand_arcs[v] + up * out + a - space.first[v]] = weight[own_slots].sum()
                grand[space.grands[v] + up * width + part - base] = weight[grand_slots(sentence, g, h, m, s)].sum()
    return TreeParts(arc, sibling, grand, grand_arc=grand_arc, crossed=crossed)


@settings(max_examples=30, deadline=None)
@given(SENTENCES)
def test_scores_of_all_parts_are_sums_over_features_made_one_by_one(sentences) -> None:
    words, offsets = words_of(sentences)
    space = all_arcs(offsets)
    found = TreeModel(PROGRAM, 3, "crossing", bits=BITS).scores(space, words, np.sin(np.arange(1 << BITS)))
    expected = everything(space, sentences)
    for one, other in zip(found.arrays, expected.arrays, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)


@pytest.mark.parametrize("shape", ["projective", "crossing"])
@settings(max_examples=15, deadline=None)
@given(SENTENCES, st.integers(0, 10**6))
def test_scatter_is_the_transpose_of_score_and_sparse_lists_the_same(shape, sentences, seed) -> None:
    words, offsets = words_of(sentences)
    batch = TreeBatch(offsets, words, None, np.ones(len(sentences)))
    model = TreeModel(PROGRAM, 3, shape, single_root=False, bits=BITS)
    random = np.random.default_rng(seed)
    weights = random.normal(size=model.size)
    trees = model.score(batch, weights)
    heads = trees.best()
    parts = trees.parts(heads)
    into = np.zeros(model.size)
    model.scatter(batch, parts, into)
    assert float(trees.score(heads).sum()) == pytest.approx(float(into @ weights), abs=1e-8)
    indices, values = model.sparse(batch, parts)
    again = np.zeros(model.size)
    again[indices] = values
    np.testing.assert_allclose(again, into, atol=1e-9)
    assert set(indices.tolist()) <= set(model.active(batch).tolist())


def test_a_cut_of_a_batch_scores_as_the_whole() -> None:
    words, offsets = words_of([[(5, 1, [3]), (6, 2, [])], [(7, 1, [4, 5]), (8, 3, []), (9, 1, [3])]])
    whole = TreeBatch(offsets, words, None, np.ones(2))
    model = TreeModel(PROGRAM, 2, bits=BITS)
    weights = np.sin(np.arange(model.size))
    both = model.scores(whole.arc_space, words, weights)
    for part, arcs in ((whole.cut(0, 1), slice(0, 4)), (whole.select([1]), slice(4, None))):
        alone = model.scores(part.arc_space, part.words, weights)
        np.testing.assert_allclose(alone.arc, both.arc[arcs])


@pytest.mark.parametrize(
    ("templates", "said"),
    [
        ("arc: s.w", "expected WORD.FIELDS"),
        ("sibling: h.t|s.t|m.t", "no templates of arcs"),
        ("arc: h.q", "unknown field 'q'"),
        ("arcs: h.w", "unknown block"),
        ("arc: h.w h.F|m.w", "sets stand alone"),
    ],
)
def test_a_template_that_cannot_be_read_is_named(templates: str, said: str) -> None:
    with pytest.raises(TemplateError, match=said):
        compile_tree_templates(templates, ["w", "t"])


ACROSS = "arc: h.t|m.t length: h.t|m.t m.w direction: h.t|m.t"


@pytest.mark.parametrize("bins", [7, 5, 1])
@settings(max_examples=10, deadline=None)
@given(SENTENCES)
def test_blocks_of_length_and_direction_see_only_these(bins, sentences) -> None:
    program = compile_tree_templates(ACROSS, ["w", "t"], bins)
    (n_arc, n_length, n_direction), arc = program.arc.ends.tolist(), program.arc
    assert (n_arc, n_length, n_direction) == (1, 3, 4)
    words, offsets = words_of(sentences)
    space = all_arcs(offsets)
    weight = np.sin(np.arange(1 << BITS))
    found = TreeModel(program, bits=BITS).scores(space, words, weight).arc
    for a in range(space.n_arcs):
        sentence = sentences[int(space.sentence[a])]
        h, m = int(space.head[a]), int(space.modifier[a])
        distance = min((shape_of(h, m) - 1) % 7 + 1, bins)
        shapes = [distance + (7 if h < m else 0)] * n_arc + [distance] * (n_length - n_arc)
        total = 0.0
        for t in range(n_direction):
            rows = arc.atoms[:, 0] == t
            atoms = arc.atoms[rows] - [t, 0, 0, 0]
            own = Block(atoms, arc.factors[rows], arc.seeds[:, t : t + 1], np.ones(3, np.int32))
            plain_and_shaped = block_slots(own, sentence, {H: h, M: m}, shapes[t] if t < n_length else 1 + (h > m))
            total += weight[plain_and_shaped if t < n_length else plain_and_shaped[1:]].sum()
        assert found[a] == pytest.approx(total, abs=1e-9)


def test_length_does_not_tell_directions_apart_and_direction_not_lengths() -> None:
    words, offsets = words_of([[(5, 6, [])] * 4])
    space = all_arcs(offsets)
    weight = np.sin(np.arange(1 << BITS))
    pairs = list(zip(space.head.tolist(), space.modifier.tolist(), strict=True))

    def scores(block: str) -> dict[tuple[int, int], float]:
        program = compile_tree_templates(f"{block}: h.t|m.t", ["w", "t"])
        return dict(zip(pairs, TreeModel(program, bits=BITS).scores(space, words, weight).arc.tolist(), strict=True))

    length, direction, both = scores("length"), scores("direction"), scores("arc")
    assert length[1, 3] == length[3, 1] != length[1, 2]
    assert direction[1, 3] == direction[1, 2] != direction[3, 1]
    assert len({both[1, 3], both[3, 1], both[1, 2]}) == 3


def test_a_number_of_distances_that_cannot_be_is_refused() -> None:
    with pytest.raises(TemplateError, match="between 1 and 7 distances"):
        compile_tree_templates("arc: h.t", ["t"], 9)
