"""Probabilities of knowledge bases against sums over dictionaries."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.declared import Stored
from weft.errors import ConfigError, DataError, FormatError, ModelError
from weft.lexical.harvest.harvest import KINDS, Harvest
from weft.lexical.harvest.knowledge import Cleaning, Knowledge
from weft.text.doc import Doc

NAMES = "abcdef"
PAIRS = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES), st.integers(1, 9)), max_size=14)
USES = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from("vw"), st.integers(1, 9)), max_size=10)
HARVESTS = st.tuples(PAIRS.filter(bool), PAIRS, PAIRS, USES, USES)


def harvest_of(*tables):
    harvest = Harvest()
    for kind, rows in zip(KINDS, tables, strict=True):
        harvest.counts[kind].merge(rows)
    return harvest


class Twin:
    """The same knowledge as dictionaries and plain sums."""

    def __init__(self, isa, similes, copulas, cutoff):
        self.isa, simile, copula = (Counter() for _ in range(3))
        for table, rows in ((self.isa, isa), (simile, similes), (copula, copulas)):
            for x, y, n in rows:
                table[x, y] += n
        self.metaphors = {pair: n / sum(simile.values()) for pair, n in simile.items() if pair not in self.isa}
        for pair, n in copula.items():
            if pair in self.metaphors or (n >= cutoff and pair not in self.isa):
                self.metaphors[pair] = n / sum(copula.values())

    def typicality(self, x, h):
        return self.isa[x, h] / max(1, sum(n for (_, k), n in self.isa.items() if k == h))

    def weight(self, h, y):
        own = self.metaphors.get((h, y), 0.0)
        return own + sum(self.metaphors.get((x, y), 0.0) for x, k in self.isa if k == h)

    def probability(self, x, y):
        lifted = sum(self.weight(h, y) * self.typicality(x, h) for z, h in self.isa if z == x)
        return max(lifted, self.weight(x, y))

    def joint(self, x, h):
        return self.isa[x, h] / sum(self.isa.values())

    def literal(self, x, y):
        lifted = 0.0
        for z, h in self.isa:
            if z == x:
                above = self.joint(h, y) + sum(self.joint(w, y) for w, k in self.isa if k == h)
                lifted += above * self.typicality(x, h)
        return max(lifted, self.joint(x, y))


@pytest.mark.must_show("metaphor-knowledge", 2)
@settings(max_examples=40, deadline=None)
@given(tables=HARVESTS, cutoff=st.integers(1, 6))
def test_probabilities_equal_explicit_sums_lazily_and_materialized(tables, cutoff):
    known = Knowledge.of(harvest_of(*tables), Cleaning(copulas=cutoff))
    twin = Twin(*tables[:3], cutoff)
    full = known.materialized().toarray()
    assert {(x, y) for x in NAMES for y in NAMES if known.is_metaphor(x, y)} == set(twin.metaphors)
    for x in NAMES:
        row, column = known.metaphoric(x), known.metaphoric_of(x)
        for y in NAMES:
            expected = twin.probability(x, y)
            assert known.typicality(x, y) == pytest.approx(twin.typicality(x, y))
            assert known.weight(x, y) == pytest.approx(twin.weight(x, y))
            assert known.probability(x, y) == pytest.approx(expected)
            assert row.get(y, 0.0) == pytest.approx(expected)
            assert column.get(y, 0.0) == pytest.approx(twin.probability(y, x))
            assert known.literal_probability(x, y) == pytest.approx(twin.literal(x, y))
            if x in known.number and y in known.number:
                assert full[known.number[x], known.number[y]] == pytest.approx(expected)


@pytest.mark.must_show("metaphor-knowledge", 2)
@settings(max_examples=40, deadline=None)
@given(tables=HARVESTS)
def test_typicalities_of_a_concept_and_preferences_of_a_noun_sum_to_one(tables):
    known = Knowledge.of(harvest_of(*tables))
    concepts = {h for _, h, _ in tables[0]}
    for h in concepts:
        assert sum(known.typicality(x, h) for x in NAMES) == pytest.approx(1.0)
        assert sum(
            known.concept_given(x, h) * sum(n for z, _, n in tables[0] if z == x) for x in NAMES
        ) == pytest.approx(sum(n for _, k, n in tables[0] if k == h))
    for relation, rows in zip(("subject", "object"), tables[3:], strict=True):
        for y in known.names:
            total = sum(known.preference(relation, y, verb) for verb in known.verbs)
            assert total == pytest.approx(1.0 if any(noun == y for noun, *_ in rows) else 0.0)
            lifted = sum(known.preference(relation, y, verb, classes=True) for verb in known.verbs)
            assert lifted == pytest.approx(1.0) or lifted == 0.0


@settings(max_examples=40, deadline=None)
@given(tables=HARVESTS)
def test_with_classes_the_verbs_of_instances_count_for_their_concepts(tables):
    known = Knowledge.of(harvest_of(*tables))
    isa, uses = Counter(), defaultdict(Counter)
    for x, h, n in tables[0]:
        isa[x, h] += n
    for noun, verb, n in tables[3]:
        uses[noun][verb] += n
    for h in known.names:
        lifted = Counter(uses[h])
        for (x, k), n in isa.items():
            for verb, count in uses[x].items() if k == h else ():
                lifted[verb] += count * n / sum(m for (z, _), m in isa.items() if z == x)
        for verb in known.verbs:
            expected = lifted[verb] / max(sum(lifted.values()), 1e-12)
            assert known.preference("subject", h, verb, classes=True) == pytest.approx(expected)


def test_the_shared_concept_is_the_one_that_most_of_the_probability_comes_through():
    isa = [("ferrari", "sports car", 9), ("ferrari", "brand", 1), ("lotus", "sports car", 1), ("soap", "brand", 9)]
    known = Knowledge.of(harvest_of(isa, [("lotus", "beast", 1), ("soap", "beast", 1)], [], [], []))
    assert known.shared_concept("ferrari", "beast") == "sports car"
    assert known.shared_concept("ferrari", "soap") == known.shared_concept("nobody", "beast") == ""


@pytest.mark.must_show("metaphor-knowledge", 1)
def test_poetry_is_like_an_art_is_removed_by_cleaning():
    isa, similes = [("poetry", "art", 1)], [("poetry", "art", 3), ("poetry", "music", 1)]
    known = Knowledge.of(harvest_of(isa, similes, [("poetry", "art", 9)], [], []))
    assert not known.is_metaphor("poetry", "art")
    assert known.is_metaphor("poetry", "music")
    dirty = Knowledge.of(harvest_of(isa, similes, [], [], []), Cleaning(mutual=False))
    assert dirty.is_metaphor("poetry", "art")


def test_copulas_need_their_frequency_and_verbs_their_rank():
    isa, copulas = [("a", "b", 1)], [("c", "d", 4), ("e", "f", 5)]
    uses = [("a", "often", 3), ("b", "rarely", 1), ("a", "also", 2)]
    known = Knowledge.of(harvest_of(isa, [], copulas, uses, []), Cleaning(verbs=2))
    assert (known.is_metaphor("c", "d"), known.is_metaphor("e", "f")) == (False, True)
    assert known.verbs == ["also", "often"]
    with pytest.raises(ConfigError, match="verbs must be at least 1"):
        Cleaning(verbs=0)


def test_text_without_any_knowledge_is_an_error():
    harvest = Harvest()
    harvest.add(Doc.from_words([["It", "rains"]], lemma=[["it", "rain"]], upos=[["PRON", "VERB"]]))
    with pytest.raises(DataError, match="neither isA pairs nor similes"):
        Knowledge.of(harvest)
    with pytest.raises(DataError, match="has no lemma and no upos"):
        harvest.add(Doc.from_words([["It", "rains"]]))


def test_a_folder_keeps_a_harvest_and_a_damaged_one_is_refused(tmp_path):
    harvest = harvest_of([("a", "b", 2)], [("c", "d", 1)], [], [("a", "v", 3)], [])
    harvest.sentences = 7
    harvest.save(tmp_path / "counts")
    again = Harvest.load(tmp_path / "counts", most=1)
    again.merge(harvest)
    assert again.sentences == 14
    assert [list(again.counts[kind]) for kind in KINDS] == [[("a", "b", 4)], [("c", "d", 2)], [], [("a", "v", 6)], []]
    (tmp_path / "counts" / "sentences.txt").write_text("many")
    with pytest.raises(FormatError, match=r"sentences.txt, line 1: expected a number of sentences"):
        Harvest.load(tmp_path / "counts")
    (tmp_path / "counts" / "object.tsv.gz").unlink()
    with pytest.raises(DataError, match="no file object"):
        Harvest.load(tmp_path / "counts")
    with pytest.raises(DataError, match="there is no folder"):
        Harvest.load(tmp_path / "nowhere")


def test_knowledge_comes_back_from_its_state_and_a_damaged_one_is_refused():
    known = Knowledge.of(harvest_of([("a", "b", 2), ("a", "c", 1)], [("b", "d", 1)], [], [("a", "v", 3)], []))
    header, arrays = known.state()
    again = Knowledge.from_state(header, Stored.of(dict(arrays)))
    assert again.metaphoric("a") == known.metaphoric("a")
    assert again.preference("subject", "a", "v") == 1.0
    falling = dict(arrays) | {"isa/columns": np.array([2, 1], dtype=np.int32)}
    with pytest.raises(ModelError, match="must rise within every row"):
        Knowledge.from_state(header, Stored.of(falling))
    with pytest.raises(ModelError, match="numbers from"):
        Knowledge.from_state(header, Stored.of(dict(arrays) | {"pairs/values": np.array([2.0])}))
