"""Graphs of captions: what images of phrases share, adding, files, and the tables of other tools."""

from __future__ import annotations

import json
from collections import defaultdict

import numpy as np
import pytest
from places import ROOT

from weft import data
from weft.errors import DataError, WeftError
from weft.recipes.grounding.visual_denotations.corpora import CAPTIONS, multi30k
from weft.tasks.denotations import DenotationGraph
from weft.tasks.denotations.captions import Caption, CaptionParser, read_captions
from weft.tasks.denotations.files import write_released, write_tables
from weft.tasks.denotations.phrases import Heads
from weft.tasks.denotations.rules import KIND

LEXICON = {
    "man": ["adult"],
    "woman": ["adult"],
    "lady": ["woman"],
    "adult": ["person"],
    "fisherman": ["man"],
    "sailor": ["adult"],
    "girl": ["child"],
    "girl_woman": ["woman"],
    "boy": ["child"],
    "kid": ["child"],
    "poodle": ["dog"],
    "ferry": ["boat"],
    "apple": ["fruit"],
    "sandwich": ["food"],
    "fruit": ["food"],
    "jacket": ["clothing"],
    "hat": ["clothing"],
}


@pytest.fixture(scope="module")
def parser():
    return CaptionParser()


@pytest.fixture(scope="module")
def captions():
    return list(read_captions(ROOT / "examples" / "denotations" / "captions.tsv"))


@pytest.fixture(scope="module")
def graph(captions, parser):
    return of(captions, parser)


def of(captions, parser):
    return DenotationGraph.of_parses(captions, parser.parse(caption.text for caption in captions), Heads(LEXICON))


def denotations(graph):
    """Phrases with their captions, and edges by phrases."""
    strings, found = graph.strings(), defaultdict(set)
    for node, caption in zip(*graph.caption_incidences(), strict=True):
        found[strings[node]].add(graph.captions[caption].id)
    edges = {(strings[a], strings[b], int(kind)) for a, b, kind in zip(*graph.edges(), strict=True)}
    return dict(found), edges


def enumerated(graph: DenotationGraph) -> tuple[dict[str, set[int]], set[str], set[tuple[str, str]]]:
    """All strings with their captions, the most generic ones, and all pairs of a string and its child."""
    units = graph.agenda.units
    assert units is not None
    found: dict[str, set[int]] = defaultdict(set)
    tops, links = set(), set()
    for unit in range(len(units)):
        part = slice(units.slot_offsets[unit], units.slot_offsets[unit + 1])
        slots = list(zip(units.symbols[part].tolist(), units.atoms[part].tolist(), strict=True))
        own = range(units.rule_offsets[unit], units.rule_offsets[unit + 1])
        rules = [tuple(int(getattr(units, name)[r]) for name in ("need", "forbid", "off", "on")) for r in own]
        roots = units.roots[units.root_offsets[unit] : units.root_offsets[unit + 1]].tolist()
        written: dict[int, str] = {}
        work = list(roots)
        children: dict[int, list[int]] = {}
        while work:
            state = work.pop()
            if state in written:
                continue
            written[state] = " ".join(graph.symbols[symbol] for symbol, atom in slots if state >> atom & 1)
            children[state] = [
                state & ~off | on for need, forbid, off, on in rules if state & need == need and not state & forbid
            ]
            work += children[state]
        for state, string in written.items():
            found[string].add(int(units.source[unit]))
            links |= {(string, written[child]) for child in children[state]}
        tops |= {written[root] for root in roots}
    return found, tops, links


def expected(graph: DenotationGraph) -> tuple[set[str], dict[str, set[int]]]:
    """The strings of two captions and more with their children and all roots, and the captions of the former."""
    found, tops, links = enumerated(graph)
    several = {string: own for string, own in found.items() if len(own) > 1}
    return tops | several.keys() | {child for parent, child in links if parent in several}, several


def of_agenda(graph: DenotationGraph) -> dict[str, set[int]]:
    """The strings that the agenda found, with their captions."""
    strings, found = graph.strings(), defaultdict(set)
    for node, source in zip(*(part.tolist() for part in graph.agenda.incidences()), strict=True):
        found[strings[node]].add(source)
    return dict(found)


@pytest.mark.must_show("visual-denotations", 1)
def test_images_of_a_phrase_are_images_of_all_that_is_more_generic(graph):
    parents, children, _ = graph.edges()
    assert len(parents) > 300
    for parent, child in zip(parents.tolist(), children.tolist(), strict=True):
        assert set(graph.sets[child].tolist()) <= set(graph.sets[parent].tolist())
    order, waiting = {}, set(range(graph.n_nodes))
    above = defaultdict(set)
    for parent, child in zip(parents.tolist(), children.tolist(), strict=True):
        above[child].add(parent)
    while waiting:
        free = {node for node in waiting if not above[node] & waiting}
        assert free, "the graph has a cycle"
        order |= dict.fromkeys(free, len(order))
        waiting -= free
    roots = {graph.agenda._nodes.hash[node] for node in range(graph.n_nodes) if not above[node]}
    units = graph.agenda.units
    starts = set()
    for unit in range(len(units)):
        for root in units.roots[units.root_offsets[unit] : units.root_offsets[unit + 1]].tolist():
            part = slice(units.slot_offsets[unit], units.slot_offsets[unit + 1])
            words = zip(units.symbols[part].tolist(), units.atoms[part].tolist(), strict=True)
            starts.add(graph.agenda.find([symbol for symbol, atom in words if root >> atom & 1]))
    assert roots <= {graph.agenda._nodes.hash[node] for node in starts}  # whatever has no parent is a root of a caption


@pytest.mark.must_show("visual-denotations", 2)
def test_the_agenda_finds_what_all_strings_of_all_captions_give(graph):
    kept, several = expected(graph)
    found = of_agenda(graph)
    assert set(found) == kept
    assert all(found[string] == own for string, own in several.items())


@pytest.mark.corpus
@pytest.mark.must_show("visual-denotations", 2)
def test_on_two_hundred_captions_the_agenda_equals_the_enumeration_of_all_strings(parser):
    if not data.have(f"{CAPTIONS}/train.images.txt"):
        pytest.skip("the captions are not there")
    captions = multi30k(40)
    assert len(captions) == 200
    parses = parser.parse(caption.text for caption in captions)
    made = DenotationGraph.of_parses(captions, parses, Heads(LEXICON))
    kept, several = expected(made)
    found = of_agenda(made)
    assert len(several) > 300
    assert set(found) == kept
    assert all(found[string] == own for string, own in several.items())


@pytest.mark.must_show("visual-denotations", 4)
def test_similarities_are_in_range_symmetric_and_certain_towards_what_is_more_generic(graph):
    strings = graph.strings()
    common = [strings[node] for node in graph.sets.common(2).tolist()]
    for a in common[:40]:
        for b in common[:40]:
            assert -1 <= graph.npmi(a, b) <= 1
            assert graph.npmi(a, b) == graph.npmi(b, a)
            if graph.images(a) == graph.images(b):
                assert graph.npmi(a, b) == pytest.approx(1)
            assert graph.p(a, given=b) == pytest.approx(len(graph.shared(a, b)) / len(graph.images(b)))
    parents, children, _ = graph.edges()
    for parent, child in zip(parents.tolist(), children.tolist(), strict=True):
        assert graph.p(strings[parent], given=strings[child]) == 1
    assert graph.p("dog", given="unheard of") == graph.npmi("dog", "unheard of") == 0
    assert graph.npmi("dog", "dog") == graph.p("x", given="x") == 1


def test_phrases_of_different_captions_of_an_image_are_about_it(graph):
    assert graph.images("dog run") == ["quay-02", "beach-01"]
    assert graph.p("play", given="dog run") == 1.0
    assert graph.p("sit", given="eat lunch") == 1.0
    assert graph.shared("sit", "eat lunch") == ["ferry-02", "beach-03"]
    assert "dog" in graph.parents("dog run")
    assert graph.children("dog")["poodle"] == "NPHEAD"
    assert graph.similar("dog run", least=2)[0].p == 1.0
    assert not {found.phrase for found in graph.similar("dog run", n=99)} & {"dog", "run"}
    with pytest.raises(WeftError, match="no node 'cat run'; no caption has 'cat'"):
        graph.parents("cat run")


@pytest.mark.must_show("visual-denotations", 8)
@pytest.mark.parametrize("cut", [1, 7, 20])
def test_captions_that_come_later_give_the_graph_of_all(captions, parser, graph, cut):
    later = of(captions[:cut], parser)
    later.sets  # noqa: B018  # what was computed must be forgotten
    later.add(captions[cut:])
    assert denotations(later) == denotations(graph)


def test_a_modifier_that_is_seen_with_its_head_later_gives_old_captions_more_rules(parser):
    old = [Caption("a", str(k), "A white stone building.") for k in range(2)]
    new = [Caption("b", "0", "A white building."), Caption("c", "0", "A white wall.")]
    later = of(old, parser)
    assert later.find("white building") < 0
    later.add(new)
    assert denotations(later) == denotations(of(old + new, parser))
    assert later.images("white building") == ["a", "b"]


def test_girls_are_women_where_other_captions_say_so_even_if_these_come_later(parser):
    old = [Caption("a", "0", "A girl runs."), Caption("b", "0", "A girl runs.")]
    new = [Caption("a", "1", "A woman runs."), Caption("b", "1", "A child runs.")]
    later = of(old, parser)
    assert later.images("child") == ["a", "b"]
    later.add(new)
    assert denotations(later) == denotations(of(old + new, parser))
    assert later.images("child") == ["b"]
    assert later.images("adult") == ["a"]


def test_a_graph_on_disk_is_the_same_and_goes_on(captions, parser, graph, tmp_path):
    of(captions[:20], parser).save(tmp_path / "graph.weft")
    for place in (tmp_path, tmp_path / "graph.weft"):
        loaded = DenotationGraph.load(place)
        assert denotations(loaded) == denotations(of(captions[:20], parser))
        loaded.add(captions[20:])
        assert denotations(loaded) == denotations(graph)


def test_a_damaged_file_is_refused(captions, parser, tmp_path):
    path = tmp_path / "graph.weft"
    of(captions[:4], parser).save(path)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(WeftError):
        DenotationGraph.load(path)


def test_tables_say_what_the_graph_says(graph, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    write_tables(graph, tmp_path, least=2, joint=1)
    nodes, edges, images, pairs = (
        parquet.read_table(tmp_path / f"{n}.parquet").to_pylist() for n in ("nodes", "edges", "images", "pairs")
    )
    assert [row["phrase"] for row in nodes] == graph.strings()
    assert {(row["parent"], row["child"]) for row in edges} == set(
        zip(*(x.tolist() for x in graph.edges()[:2]), strict=True)
    )
    assert len(images) == len(graph.sets.members)
    phrase = {row["node"]: row["phrase"] for row in nodes}
    assert len(pairs) > 20
    for row in pairs:
        a, b = phrase[row["a"]], phrase[row["b"]]
        assert row["npmi"] == pytest.approx(graph.npmi(a, b))
        assert (row["p_a_given_b"], row["p_b_given_a"]) == pytest.approx((graph.p(a, given=b), graph.p(b, given=a)))


def test_released_files_have_the_documented_columns(graph, tmp_path):
    write_released(graph, tmp_path, least=2)
    lines = {path.name: [line.split("\t") for line in path.read_text().splitlines()] for path in tmp_path.iterdir()}
    strings = dict(lines["node.idx"])
    child, kind, parent = lines["node-tree.txt"][0]
    assert kind in KIND
    assert kind in graph.parents(strings[child]).values()
    assert strings[parent] in graph.parents(strings[child])
    assert {caption for _, *own in lines["node-cap.map"] for caption in own} == {
        caption.id for caption in graph.captions
    }
    assert {caption for caption, *_ in lines["cap-orig.map"]} <= {caption.id for caption in graph.captions}
    x, y, a, b, both = lines["node-image.cnt"][0]
    assert (len(graph.images(strings[x])), len(graph.images(strings[y]))) == (int(a), int(b))
    assert len(graph.shared(strings[x], strings[y])) == int(both)


def test_overlaps_and_pairs_are_intersections(graph):
    node = graph.find("dog")
    counts = graph.overlaps.of(node)
    for other in graph.sets.common(2).tolist():
        assert counts[other] == graph.sets.joint(node, other)
    found = {
        (a, b): n
        for part in graph.sets.pairs(2, 1, rows=7)
        for a, b, n in zip(*(x.tolist() for x in part), strict=True)
    }
    assert all(n == graph.sets.joint(a, b) for (a, b), n in found.items())
    inside = graph.sets.within(np.array([0, 1, 2]))
    assert inside.items == 3
    assert set(inside[node].tolist()) == set(graph.sets[node].tolist()) & {0, 1, 2}


def test_captions_are_read_with_and_without_numbers(tmp_path):
    path = tmp_path / "c.tsv"
    path.write_text("a#x\tA dog.\nb\tA cat.\nb\tTwo cats.\nc\t7\tA cow.\n\n")
    assert [caption.id for caption in read_captions(path)] == ["a#x", "b#0", "b#1", "c#7"]
    path.write_text("a\tA dog.\nA cat.\n")
    with pytest.raises(DataError, match="line 2: expected image#number"):
        list(read_captions(path))


def test_a_name_that_is_there_twice_is_refused(captions, parser):
    with pytest.raises(DataError, match=r"ferry-01#0 is there twice"):
        of([captions[0], captions[0]], parser)


def test_sentences_find_their_nodes_without_being_added(graph, parser):
    before = graph.n_nodes
    nodes = {graph.string(node) for node in graph.nodes_of(parser(["A dog runs after a cat."])[0]).tolist()}
    assert {"dog", "run", "dog run"} <= nodes
    assert graph.n_nodes == before
    assert json.dumps(sorted(nodes))
