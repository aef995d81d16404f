"""Transition systems of one's own: registered by a package, with an oracle by search, and as good as compiled ones."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from places import EXAMPLES

import weft
from weft.errors import ConfigError
from weft.infer.transitions import arc_eager, plain, system_named
from weft.infer.transitions.plain import Configuration, PlainSystem
from weft.infer.transitions.search import SearchOracle
from weft.infer.transitions.state import MOVES, gold_table, new_state
from weft.infer.transitions.trace import trace
from weft.tasks import Parser
from weft.tasks.parsing.transitions.parser import ParserSettings
from weft.text import Doc

MORE = """
from arc_eager import ArcEager
from weft.infer.transitions.plain import Configuration, PlainSystem

class Wide(ArcEager):
    moves = ("left", "right", "reduce", "shift", "a", "b")

class Other:
    pass

class Swapping(PlainSystem):
    name, moves = "swapping", ("left", "right", "swap", "shift")
    like, projective = "arc-standard", False

    def start(self, n):
        return Configuration.of(n, stack=(0,), buffer=range(1, n + 1))

    def finished(self, c):
        return c.stack == (0,) and not c.buffer

    def legal(self, c, single_root):
        if c.buffer:
            yield "shift"
        if len(c.stack) > 1:
            if c.stack[-2]:
                yield "left"
                if c.stack[-2] < c.stack[-1]:
                    yield "swap"
            if c.stack[-2] or not single_root or (not c.buffer and len(c.stack) == 2):
                yield "right"

    def apply(self, c, move):
        if move == "shift":
            return c.shift()
        *rest, below, top = c.stack
        if move == "swap":
            return Configuration((*rest, top), (below, *c.buffer), c.heads)
        if move == "left":
            return Configuration((*rest, top), c.buffer, c.heads).attach(top, below)
        return c.attach(below, top).pop()

class Endless(Swapping):
    def apply(self, c, move):
        return c
"""
POINTS = {
    "plain-arc-eager": "arc_eager:ArcEager", "wide": "more:Wide", "other": "more:Other", "gone": "no_such_module:A",
    "swapping": "more:Swapping", "endless": "more:Endless",
}  # fmt: skip


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package with systems, as pip would install it."""
    folder = tmp_path / "site"
    info = folder / "plain_arc_eager-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plain-arc-eager\nVersion: 1\n")
    lines = [f"{name} = {place}" for name, place in POINTS.items()]
    (info / "entry_points.txt").write_text("\n".join([f"[{plain.GROUP}]", *lines, ""]))
    (folder / "arc_eager.py").write_text((EXAMPLES / "systems" / "arc_eager.py").read_text())
    (folder / "more.py").write_text(MORE)
    monkeypatch.syspath_prepend(folder)
    importlib.invalidate_caches()
    for name in ("arc_eager", "more"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    plain.plain_system.cache_clear()
    yield
    plain.plain_system.cache_clear()


def eager() -> PlainSystem:
    found = system_named("plain-arc-eager").plain
    assert found is not None
    return found


def random_tree(rng: np.random.Generator, n: int) -> list[int]:
    """A random projective tree, by random arc-hybrid moves."""
    heads, stack, front = [0] * (n + 1), [0], 1
    while front <= n or len(stack) > 1:
        if front <= n and (len(stack) == 1 or rng.random() < 0.5):
            stack.append(front)
            front += 1
        elif front <= n and rng.random() < 0.5:
            heads[stack.pop()] = front
        else:
            top = stack.pop()
            heads[top] = stack[-1]
    return heads[1:]


@pytest.mark.parametrize("exact", [True, False])
def test_search_finds_the_costs_that_were_derived_for_arc_eager(exact: bool) -> None:
    rng = np.random.default_rng(5)
    system = eager()
    if not exact:
        system.can_build = lambda c, h, d: PlainSystem.can_build(system, c, h, d)  # type: ignore[method-assign]
    compared = 0
    for n in (1, 2, 3, 4, 5) if not exact else (1, 2, 3, 5, 7, 9):
        for _ in range(4):
            heads = random_tree(rng, n)
            gold = gold_table(np.array(heads, np.int32), np.zeros(n, np.int32))
            oracle = SearchOracle(system, heads)
            state, c = new_state(n), system.start(n)
            arc_eager.start(state, n)
            while not system.finished(c):
                costs = oracle.costs(c)
                legal = arc_eager.legal(state, False)
                assert {MOVES.index(move) for move in costs} == {m for m in range(4) if legal >> m & 1}
                for move, cost in costs.items():
                    assert cost == arc_eager.cost(state, gold, MOVES.index(move)), (heads, c, move)
                    compared += 1
                move = list(costs)[int(rng.integers(len(costs)))]
                arc_eager.apply(state, MOVES.index(move), 0)
                c = system.apply(c, move)
    assert compared > 200


@pytest.mark.parametrize("oracle", ["static", "dynamic"])
def test_a_parser_in_plain_python_learns_what_a_compiled_one_does(oracle: str) -> None:
    docs = list(weft.read(EXAMPLES / "story.conllu").take_sentences(12))
    new = list(weft.read(EXAMPLES / "story.conllu").slice_sentences(12, 24))
    states = []
    for system in ("arc-eager", "plain-arc-eager"):
        parser = Parser(ParserSettings(system=system, oracle=oracle, epochs=2, k=0))
        parser.fit(docs)
        states.append((parser.state()[1], parser._find(new)))
    (one, found), (two, again) = states
    assert one.keys() == two.keys()
    assert all(np.array_equal(one[name], two[name]) for name in one)
    assert all(np.array_equal(a, b) for a, b in zip(found, again, strict=True))


def test_a_model_is_kept_and_needs_the_package_of_its_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    docs = list(weft.read(EXAMPLES / "story.conllu").take_sentences(4))
    parser = Parser(ParserSettings(system="plain-arc-eager", epochs=1))
    parser.fit(docs)
    weft.Pipeline([parser]).save(tmp_path / "own.weft")
    (again,) = weft.load(tmp_path / "own.weft").components
    assert np.array_equal(again._find(docs)[0], parser._find(docs)[0])
    monkeypatch.setattr("weft.tasks.parsing.transitions.parser.registered", dict)
    with pytest.raises(weft.WeftError, match="system must be one of arc-eager"):
        weft.load(tmp_path / "own.weft")


def test_crossing_trees_are_learned_by_a_system_that_can_build_them() -> None:
    heads = [[2, 0, 2, 1], [2, 0, 2, 1]]
    rows = [["a", "b", "c", "d"], ["e", "b", "c", "f"]]
    tags = [["N", "V", "A", "D"]] * 2
    doc = Doc.from_words(rows, upos=tags, head=heads, deprel=[["s", "root", "m", "x"]] * 2)
    parser = Parser(ParserSettings(system="swapping", epochs=8, prune=0.0))
    assert parser.fit([doc])["training"]["non-projective trees"] == 2
    new = Doc.from_words(rows, upos=tags)
    parser([new])
    assert new.head is not None
    assert new.head.tolist() == [head for each in heads for head in each]
    assert SearchOracle(system_named("swapping").plain, heads[0], True).loss(parser.parser.system.plain.start(4)) == 0


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("wide", "wide has 6 moves; a system has 1 to 5"),
        ("other", "must be a weft PlainSystem"),
        ("gone", "cannot be loaded from no_such_module:A: No module named 'no_such_module'"),
        ("missing", "unknown transition system 'missing'; the systems are: arc-eager"),
    ],
)
def test_what_cannot_be_used_is_told(name: str, told: str) -> None:
    with pytest.raises(ConfigError) as error:
        system_named(name)
    assert told in str(error.value)


def test_a_system_that_does_not_end_is_stopped() -> None:
    doc = Doc.from_words([["a", "b"]], upos=[["N", "V"]], head=[[2, 0]], deprel=[["s", "root"]])
    with pytest.raises(ConfigError, match="does not come to an end"):
        Parser(ParserSettings(system="endless", epochs=1)).fit([doc])


def test_beams_are_for_compiled_systems() -> None:
    doc = Doc.from_words([["a", "b"]], upos=[["N", "V"]], head=[[2, 0]], deprel=[["s", "root"]])
    with pytest.raises(ConfigError, match="parses greedily: beam must be 1, got 4"):
        Parser(ParserSettings(system="plain-arc-eager", beam=4)).fit([doc])


def test_a_search_without_end_says_what_would_shorten_it() -> None:
    with pytest.raises(ConfigError, match="define can_build"):
        SearchOracle(eager(), [2, 0, 2], most=2).costs(eager().start(3))


def test_the_system_is_known_on_the_command_line() -> None:
    assert ParserSettings.from_options({"system": "plain-arc-eager"}).system == "plain-arc-eager"
    with pytest.raises(ConfigError, match=r"system must be one of .*covington, plain-arc-eager"):
        ParserSettings.from_options({"system": "arc-eagre"})


def test_configurations_are_values() -> None:
    c = Configuration.of(2, (), (1, 2, 0))
    assert c.shift().attach(2, 1).pop() == Configuration((), (2, 0), (-1, 2, -1))
    assert (c.top, c.front, c.shift().top) == (-1, 1, 1)


def test_a_parser_with_a_system_in_python_explains_its_heads() -> None:
    docs = list(weft.read(EXAMPLES / "story.conllu"))
    parser = Parser(ParserSettings(system="plain-arc-eager", epochs=1, prune=0.0))
    parser.fit([docs[0].subset(range(6))])
    doc = docs[0].subset([2])
    parser([doc])
    assert parser.parser is not None
    words, _ = parser.words_of([doc])
    steps = trace(parser.parser, words)
    explained = 0
    for word in doc.words:
        found = parser.explain(doc, word.index)
        assert found.decision.startswith(word.deprel)
        if found.runner_up:
            explained += 1
            step = steps.attaching(word.index + 1)
            chosen, legal = int(steps.steps[step, 0]), int(steps.steps[step, 1])
            others = [a for a, (move, _) in enumerate(parser.parser.actions) if legal >> move & 1 and a != chosen]
            scores = steps.scores[step]
            assert found.margin == pytest.approx(scores[chosen] - max(scores[others]))
    assert explained
