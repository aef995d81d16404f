"""Names, WordNet, entities and glosses of semantic networks."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft import storage
from weft.errors import ConfigError, DataError, FormatError, ModelError
from weft.lexical.network.entities import add_entities
from weft.lexical.network.names import NameIndex, tokens_of
from weft.lexical.network.network import Network, NetworkBuilder
from weft.lexical.network.wordnet import add_names, add_wordnet

WORDS = st.sampled_from(["mario", "gomez", "fc", "bayern", "munich"])
NAMES = st.lists(st.lists(WORDS, min_size=1, max_size=7).map(" ".join), min_size=1, max_size=12, unique=True)


@settings(max_examples=100, deadline=None)
@given(NAMES, st.lists(WORDS, min_size=1, max_size=5))
def test_names_are_found_as_a_whole_and_as_superstrings(names, phrase):
    index = NameIndex.of({name: [(number, "")] for number, name in enumerate(names)})
    text = " ".join(phrase)
    assert index.exact(text) == [number for number, name in enumerate(names) if name == text]
    inside = [number for number, name in enumerate(names) if f" {text} " in f" {name} "]
    assert index.containing(text) == inside


@settings(max_examples=60, deadline=None)
@given(NAMES, st.lists(st.sampled_from(["mario", "gomez", "fc", "bayern", "and"]), max_size=9), st.integers(0, 9))
def test_all_phrases_of_a_text_are_found_and_none_crosses_a_border(names, words, border):
    index = NameIndex.of({name: [(number, "")] for number, name in enumerate(names)})
    border = min(border, len(words))
    ends = np.array([border if at < border else len(words) for at in range(len(words))], dtype=np.int32)
    found = index.phrases(index.ids(words), ends)
    expected = {
        (at, size)
        for at in range(len(words))
        for size in range(1, 6)
        if at + size <= ends[at] and any(f" {' '.join(words[at : at + size])} " in f" {name} " for name in names)
    }
    assert set(zip(found.start.tolist(), found.length.tolist(), strict=True)) == expected


def test_case_and_underscores_do_not_matter_and_senses_keep_their_order():
    index = NameIndex.of({"New_York": [(5, "a")], "new york": [(2, "b"), (5, "c")]})
    assert index.exact("NEW YORK") == [5, 2]
    assert index.senses(0) == ([5, 2], ["a", "b"])
    assert tokens_of("O'Brien-Smith & Co.") == ["o'brien-smith", "&", "co", "."]


def small() -> Network:
    builder = NetworkBuilder()
    for id, name in (("Q1", "Mario Gomez"), ("Q2", "Munich"), ("v", "")):
        builder.vertex(id, name, f"about {name}", entity=True)
        builder.name(id, name)
    builder.edge("Q1", "v")
    builder.edge("v", "Q2")
    return builder.network()


def test_vertices_without_names_are_on_the_way_but_not_in_the_result():
    network = small()
    assert list(network.ids) == ["Q1", "Q2"]
    assert network.signatures.of(0) == [0, 1]
    assert network.degree.tolist() == [2, 2]


def test_a_network_survives_its_state_and_hostile_ones_are_refused(tmp_path):
    header, arrays = small().state()
    again = Network.from_state(header, arrays)
    assert again.names["en"].exact("munich") == [1]
    assert again.descriptions[0] == "about Mario Gomez"
    for name, value in [
        ("members", 7), ("signature_offsets", 3), ("names/0/vertices", 2), ("names/0/order", 1),
        ("names/0/tokens", 0), ("names/0/tokens", 99), ("names/0/name_offsets", 5), ("names/0/sense_offsets", -1),
        ("ids/offsets", 1), ("names/0/words/offsets", 4), ("degree", -4),
    ]:  # fmt: skip
        broken = {key: np.array(array) for key, array in arrays.items()}
        broken[name][0] = value
        with pytest.raises(ModelError):
            Network.from_state(header, broken)
    with pytest.raises(ModelError, match="languages"):
        Network.from_state({"languages": []}, arrays)
    with pytest.raises(ModelError, match="missing"):
        Network.from_state({"languages": ["en", "de"]}, arrays)
    storage.save(tmp_path / "n.weft", header, arrays)


def test_a_network_needs_names():
    with pytest.raises(DataError, match="names"):
        NetworkBuilder().network()
    builder = NetworkBuilder()
    builder.name("never added", "x")
    with pytest.raises(ConfigError, match="never added"):
        builder.network()


LICENCE = "  1 This software and database is being provided to you ... WordNet 3.0 Copyright 2006 ...\n"


def wordnet(folder, nouns: list[tuple[list[str], str, list[tuple[str, int]]]]) -> list[int]:
    """Write a database of nouns: words, gloss, and pointers to others by number; returns their offsets."""
    folder.mkdir(exist_ok=True)
    # Words of one spelling have different numbers in their lexicographer file: sense keys are unique.
    every = [word for words, _, _ in nouns for word in words]

    def lines(offsets: list[int]) -> list[str]:
        rows, reached = [], 0
        for number, (words, gloss, pointers) in enumerate(nouns):
            cells = " ".join(f"{word} {every[: reached + k].count(word):x}" for k, word in enumerate(words))
            reached += len(words)
            ends = " ".join(f"{symbol} {offsets[target]:08d} n 0000" for symbol, target in pointers)
            rows.append(f"{offsets[number]:08d} 03 n {len(words):02x} {cells} {len(pointers):03d} {ends} | {gloss}\n")
        return rows

    offsets, reached = [], len(LICENCE)
    for line in lines([0] * len(nouns)):
        offsets.append(reached)
        reached += len(line.encode())
    (folder / "data.noun").write_text(LICENCE + "".join(lines(offsets)), encoding="utf-8")
    senses: dict[str, list[int]] = {}
    for (words, _, _), offset in zip(nouns, offsets, strict=True):
        for word in words:
            senses.setdefault(word.lower(), []).append(offset)
    index = [
        f"{word} n {len(own)} 0 {len(own)} 0 {' '.join(f'{each:08d}' for each in own)}  \n"
        for word, own in sorted(senses.items())
    ]
    (folder / "index.noun").write_text(LICENCE + "".join(index), encoding="utf-8")
    for name in ("verb", "adj", "adv"):
        for kind in ("data", "index"):
            (folder / f"{kind}.{name}").write_text(LICENCE, encoding="utf-8")
    return offsets


NOUNS: list[tuple[list[str], str, list[tuple[str, int]]]] = [
    (["bank"], 'sloping land beside a river; "he sat on the money"', [("@", 2)]),
    (["bank", "depository"], "an institution that keeps money", [("@", 3)]),
    (["land"], "solid ground", []),
    (["institution"], "an organization", []),
    (["river"], "a stream on land", []),
    (["money"], "a medium of exchange in a bank", []),
    (["Bergen"], "a port in Norway", [("@i", 2)]),
    (["Norway"], "a country", [("@i", 3)]),
]


def test_wordnet_becomes_vertices_names_and_edges_with_sense_keys(tmp_path):
    wordnet(tmp_path / "wn", NOUNS)
    builder = NetworkBuilder()
    added = add_wordnet(builder, tmp_path / "wn", "none")
    assert len(added.vertices) == 8
    assert added.instances == {"bergen%1:03:00::", "norway%1:03:00::"}
    network = builder.network()
    bank = network.names["en"].exact("bank")
    assert [network.descriptions[v].split()[0] for v in bank] == ["sloping", "an"]
    first, second = network.names["en"].senses(network.names["en"].whole(*network.names["en"]._range("bank")))[1]
    assert (first, second) == ("bank%1:03:00::", "bank%1:03:01::")
    assert network.kind(network.names["en"].exact("bergen")[0]) == "entity"


def edges_of(builder: NetworkBuilder) -> set[tuple[str, str]]:
    return {(s.split("%")[0], t.split("%")[0]) for s, r, t, _ in builder.typed_graph().edges() if r == "gloss"}


def test_words_of_glosses_with_one_reading_are_edges_and_examples_are_not(tmp_path):
    nouns = [(["riverbank"] if k == 0 else words, gloss, own) for k, (words, gloss, own) in enumerate(NOUNS)]
    wordnet(tmp_path / "wn", nouns)
    builder = NetworkBuilder()
    add_wordnet(builder, tmp_path / "wn", "monosemous")
    found = edges_of(builder)
    assert {("riverbank", "land"), ("riverbank", "river"), ("bank", "institution"), ("bergen", "norway")} <= found
    assert ("riverbank", "money") not in found


def test_an_ambiguous_word_of_a_gloss_is_an_edge_where_one_reading_is_much_nearer(tmp_path):
    wordnet(tmp_path / "wn", [
        (["shore"], "land", [("@", 2)]), (["bank"], "land", [("@", 0)]), (["land"], "ground", []),
        (["bank"], "an office", [("@", 4)]), (["office"], "a place", []), (["teller"], "works in an office", []),
        (["cashier"], "a teller of a bank", [("@", 5)]), (["loan"], "from a teller", [("@", 3)]),
    ])  # fmt: skip
    plain, linked = NetworkBuilder(), NetworkBuilder()
    add_wordnet(plain, tmp_path / "wn", "monosemous")
    add_wordnet(linked, tmp_path / "wn", "linked")
    more = {
        (s, t) for s, r, t, _ in linked.typed_graph().edges() if r == "gloss"
    } - {(s, t) for s, r, t, _ in plain.typed_graph().edges() if r == "gloss"}  # fmt: skip
    assert more == {("cashier%1:03:00::", "bank%1:03:01::")}
    with pytest.raises(ConfigError, match="not 'all'"):
        add_wordnet(NetworkBuilder(), tmp_path / "wn", "all")


def test_names_of_other_languages_join_by_the_offsets_of_wordnet(tmp_path):
    offsets = wordnet(tmp_path / "wn", NOUNS)
    builder = NetworkBuilder()
    added = add_wordnet(builder, tmp_path / "wn", "none")
    tab = tmp_path / "wn-data-fra.tab"
    tab.write_text(
        f"# Wolf\tfra\thttp://example.org\tfree\n{offsets[1]:08d}-n\tfra:lemma\tbanque\n"
        f"{offsets[1]:08d}-n\tfra:def\t0\tune institution\n00000007-v\tlemma\tcourir\n",
        encoding="utf-8",
    )
    assert add_names(builder, tab, added) == 1
    network = builder.network()
    [vertex] = network.names["fra"].exact("banque")
    assert network.labels[vertex] == "bank"
    tab.write_text("00000001-n\tlemma\trien\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"offsets must be those of WordNet 3\.0"):
        add_names(builder, tab, added)
    tab.write_text("nothing\n", encoding="utf-8")
    with pytest.raises(FormatError, match="line 1:"):
        add_names(builder, tab, added)


LMF = """<?xml version="1.0" encoding="UTF-8"?>
<LexicalResource xmlns:dc="http://purl.org/dc/elements/1.1/">
<Lexicon id="oewn" language="en" label="x">
<LexicalEntry id="e1"><Lemma writtenForm="dog" partOfSpeech="n"/>
<Sense id="oewn-dog__1.05.00.." synset="oewn-1-n"><SenseRelation relType="other" target="oewn-bark__2.32.00.."/></Sense>
</LexicalEntry>
<LexicalEntry id="e2"><Lemma writtenForm="Rex" partOfSpeech="n"/>
<Sense id="oewn-rex__1.05.00.." synset="oewn-2-n"/></LexicalEntry>
<LexicalEntry id="e3"><Lemma writtenForm="bark" partOfSpeech="v"/>
<Sense id="oewn-bark__2.32.00.." synset="oewn-3-v"/></LexicalEntry>
<Synset id="oewn-1-n" ili="i1"><Definition>an animal</Definition></Synset>
<Synset id="oewn-2-n" ili="i2"><Definition>a certain dog</Definition>
<SynsetRelation relType="instance_hypernym" target="oewn-1-n"/></Synset>
<Synset id="oewn-3-v" ili="i3"><Definition>make a noise</Definition></Synset>
</Lexicon></LexicalResource>
"""


def test_the_open_english_wordnet_is_read(tmp_path):
    (tmp_path / "oewn.xml").write_text(LMF, encoding="utf-8")
    builder = NetworkBuilder()
    added = add_wordnet(builder, tmp_path / "oewn.xml", "none")
    assert added.instances == {"rex%1:05:00::"}
    network = builder.network()
    assert sorted(network.ids) == ["dog%1:05:00::", "rex%1:05:00::"]
    dog = network.ids.find("dog%1:05:00::")
    assert network.descriptions[dog] == "an animal"
    assert {r for _, r, _, _ in builder.typed_graph().edges()} >= {"other", "instance_hypernym"}
    for broken in (LMF.replace("</Lexicon>", ""), "<x/>", LMF.replace(' synset="oewn-2-n"', "")):
        (tmp_path / "bad.xml").write_text(broken, encoding="utf-8")
        with pytest.raises(FormatError):
            add_wordnet(NetworkBuilder(), tmp_path / "bad.xml", "none")


def test_entities_are_read_named_and_joined_by_title(tmp_path):
    wordnet(tmp_path / "wn", NOUNS)
    builder = NetworkBuilder()
    added = add_wordnet(builder, tmp_path / "wn", "none")
    (tmp_path / "kg.tsv").write_text(
        "Q26793\tlabel\tBergen\nQ26793\tlabel@de\tBergen (Norwegen)\nQ1\tlabel\tHansa Brewery\nQ1\talias\tHansa\n"
        "Q1\tdescription\ta brewery\nQ1\tlocated in\tQ26793\n",
        encoding="utf-8",
    )
    found = add_entities(builder, [tmp_path / "kg.tsv"], added.instances)
    assert found == (2, 1, 1)
    network = builder.network()
    [bergen] = network.names["en"].exact("bergen")
    [hansa] = network.names["en"].exact("hansa")
    assert network.ids[bergen] == "bergen%1:03:00::"
    assert bergen in network.signatures.of(hansa)
    assert network.names["de"].containing("norwegen") == [bergen]
    assert (network.labels[hansa], network.descriptions[hansa], network.kind(hansa)) == (
        "Hansa Brewery", "a brewery", "entity",
    )  # fmt: skip


def test_entities_come_as_objects_too(tmp_path):
    rows = [
        {"id": "Q1", "label": "Ada", "aliases": ["Countess"], "description": "mathematician"},
        {"source": "Q1", "target": "Q2", "relation": "knows"},
    ]
    (tmp_path / "kg.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    builder = NetworkBuilder()
    assert add_entities(builder, [tmp_path / "kg.jsonl"]) == (2, 0, 1)
    network = builder.network()
    assert network.names["en"].exact("countess") == [0]
    assert network.names["en"].exact("Q2") == [1]
    (tmp_path / "kg.jsonl").write_text('{"label": "no id"}\n', encoding="utf-8")
    with pytest.raises(FormatError, match="line 1:"):
        add_entities(NetworkBuilder(), [tmp_path / "kg.jsonl"])
    (tmp_path / "kg.tsv").write_text("# nothing\n", encoding="utf-8")
    with pytest.raises(DataError, match="no entities"):
        add_entities(NetworkBuilder(), [tmp_path / "kg.tsv"])
