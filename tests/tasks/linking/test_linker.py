"""Fragments, candidates and links of a text: what takes part, what is chosen, and what a card says of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError, ModelError
from weft.graph.walks import Signatures
from weft.lexical.network.entities import add_entities
from weft.lexical.network.network import Network, NetworkBuilder
from weft.pipeline.pipeline import Pipeline
from weft.tasks.linking.candidates import Fragment, Search, fragments
from weft.tasks.linking.interpretation import interpret
from weft.tasks.linking.linker import Linker, LinkSettings
from weft.text.conventions.links import NIL
from weft.text.doc import Doc
from weft.text.layers import SpanLayer


@pytest.fixture(scope="module")
def network(request) -> Network:
    builder = NetworkBuilder()
    add_entities(builder, [request.config.rootpath / "examples" / "links" / "football.tsv"])
    return builder.network()


def match() -> Doc:
    return Doc.from_words(
        [["Thomas", "and", "Mario", "are", "strikers", "playing", "in", "Munich", "."]],
        lemma=[["Thomas", "and", "Mario", "be", "striker", "play", "in", "Munich", "."]],
        upos=[["PROPN", "CCONJ", "PROPN", "AUX", "NOUN", "VERB", "ADP", "PROPN", "PUNCT"]],
    )


def read(network: Network, doc: Doc, **options) -> list[tuple[str, str]]:
    Linker(LinkSettings(**options), network)([doc])
    return [(link.text, link.id) for link in doc.links]


@pytest.mark.must_show("babelfy", 4)
def test_the_example_of_the_paper_is_read_as_football(network):
    assert read(network, match()) == [
        ("Thomas", "thomas-mueller"),
        ("Mario", "mario-gomez"),
        ("strikers", "striker-football"),
        ("Munich", "bayern"),
    ]


def test_a_link_says_why(network):
    doc = match()
    Linker(network=network)([doc])
    mario = doc.links[1]
    assert (mario.title, mario.kind) == ("Mario Gomez", "entity")
    assert "footballer" in mario.description
    assert {each["title"] for each in mario.alternatives} == {"Mario Basler", "Mario Adorf"}
    assert mario.score + sum(each["score"] for each in mario.alternatives) == pytest.approx(1, abs=1e-3)
    assert {"phrase": "thomas", "id": "thomas-mueller", "title": "Thomas Müller"} in mario.because


def texts_of(network: Network, doc: Doc, **options) -> dict[str, list[str]]:
    found = fragments(doc, network, network.names["en"], Search(**options))
    return {each.text: [network.ids[v] for v in each.vertices] for each in found}


def test_longer_names_of_entities_are_candidates_of_names_alone(network):
    loose = texts_of(network, match())
    assert set(loose["mario"]) == {"mario-gomez", "mario-basler", "mario-adorf"}
    assert loose["munich"][0] == "munich"
    assert set(loose["munich"]) == {"munich", "bayern"}
    assert "mario" not in texts_of(network, match(), loose="none")
    common = Doc.from_words([["trade"]], upos=[["NOUN"]])
    assert texts_of(network, common) == {}
    assert texts_of(network, common, loose="all") == {"trade": ["trade-union"]}


def test_overlapping_fragments_all_take_part_and_none_is_without_a_noun(network):
    doc = Doc.from_words([["FC", "Bayern", "Munich", "in", "Germany"]], upos=[["PROPN"] * 3 + ["ADP", "PROPN"]])
    assert set(texts_of(network, doc)) == {
        "fc", "fc bayern", "fc bayern munich", "bayern", "bayern munich", "munich", "germany",
    }  # fmt: skip
    verbs = Doc.from_words([["FC", "Bayern"]], upos=[["VERB", "X"]])
    assert texts_of(network, verbs) == {}


def test_fragments_stay_within_a_sentence(network):
    doc = Doc.from_words([["FC", "Bayern"], ["Munich"]], upos=[["PROPN"] * 2, ["PROPN"]])
    assert "bayern munich" not in texts_of(network, doc)


def test_occurrences_of_a_phrase_are_one_fragment_unless_asked_for_each(network):
    doc = Doc.from_words([["Munich", "is", "Munich"]], upos=[["PROPN", "VERB", "PROPN"]])
    [one] = fragments(doc, network, network.names["en"], Search())
    assert one.places == [(0, 1), (2, 3)]
    assert len(fragments(doc, network, network.names["en"], Search(occurrences=True))) == 2


def test_a_word_of_several_tokens_is_found(network):
    doc = Doc.from_words([["the", "trade unions"]], lemma=[["the", "trade union"]], upos=[["DET", "NOUN"]])
    assert texts_of(network, doc) == {"trade union": ["trade-union"]}


def test_candidates_are_cut_to_the_best_connected(network):
    cut = texts_of(network, match(), most=1)
    assert cut["mario"] == ["mario-basler"] or cut["mario"] == ["mario-gomez"]
    assert all(len(each) == 1 for each in cut.values())


def test_document_mode_joins_sentences_and_sentence_mode_does_not(network):
    def two() -> Doc:
        return Doc.from_words(
            [["Mario", "scored"], ["Thomas", "plays", "for", "Bayern"]],
            upos=[["PROPN", "VERB"], ["PROPN", "VERB", "ADP", "PROPN"]],
        )

    whole, apart = two(), two()
    Linker(LinkSettings(first_sense=False), network)([whole])
    Linker(LinkSettings(unit="sentence", first_sense=False), network)([apart])
    assert [link.text for link in whole.links] == ["Mario", "Thomas", "Bayern"]
    assert [link.text for link in apart.links] == ["Thomas", "Bayern"]


def test_below_the_threshold_the_first_sense_is_taken_only_if_asked_for(network):
    alone = Doc.from_words([["Munich"]], upos=[["PROPN"]])
    assert read(network, alone) == [("Munich", "munich")]
    assert alone.links[0].score == 0
    assert read(network, Doc.from_words([["Munich"]], upos=[["PROPN"]]), first_sense=False) == []
    strict = {"entity_threshold": 0.7, "first_sense": False}
    assert read(network, match(), **strict) == [("Thomas", "thomas-mueller"), ("strikers", "striker-football")]


def test_given_mentions_are_read_with_the_rest_as_context(network):
    doc = match()
    doc.spans["links"] = SpanLayer.of(doc.strings, [(2, 3, NIL)])
    alone = match()
    alone.spans["links"] = SpanLayer.of(alone.strings, [(2, 3, NIL)])
    assert read(network, doc, first_sense=False) == [("Mario", "mario-gomez")]
    assert read(network, alone, first_sense=False, context="none") == []


def test_names_of_the_language_of_the_text_are_used(network):
    doc = Doc.from_words([["Die", "Stürmer", "in", "Deutschland"]], upos=[["DET", "NOUN", "ADP", "PROPN"]])
    doc.meta["language"] = "de"
    assert read(network, doc) == [("Stürmer", "striker-football"), ("Deutschland", "germany")]
    with pytest.raises(ConfigError, match="no names of the language 'fr'"):
        read(network, match(), language="fr")


def test_linking_is_deterministic_and_survives_a_file(network, tmp_path):
    linker = Linker(LinkSettings(ambiguity=3), network)
    Pipeline([linker]).save(tmp_path / "net.weft")
    again = Pipeline.load(tmp_path / "net.weft")
    one, other = match(), match()
    linker([one])
    [component] = again.components
    component([other])
    assert one.same(other)
    assert component.settings == linker.settings


def test_hostile_files_are_refused(network):
    header, arrays = Linker(network=network).state()
    with pytest.raises(ModelError):
        Linker.from_state({**header, "settings": {"ambiguity": "much"}}, arrays)
    with pytest.raises(ModelError):
        Linker.from_state({**header, "network": {"languages": "en"}}, arrays)
    broken = {key: np.array(array) for key, array in arrays.items()}
    broken["members"][0] = len(network)
    with pytest.raises(ModelError, match="members"):
        Linker.from_state(header, broken)


@pytest.mark.parametrize(
    "options", [{"kinds": "some"}, {"ambiguity": 0}, {"threshold": 2.0}, {"unit": "page"}, {"most": 0}]
)
def test_bad_settings_are_plain_errors(options):
    with pytest.raises(ConfigError):
        LinkSettings(**options).check()


@st.composite
def interpretations(draw):
    n = draw(st.integers(2, 8))
    lists = [sorted(draw(st.sets(st.integers(0, n - 1), max_size=n))) for _ in range(n)]
    offsets = np.concatenate([[0], np.cumsum([len(own) for own in lists])]).astype(np.int64)
    members = np.array([x for own in lists for x in own], dtype=np.int32)
    parts = draw(st.lists(st.lists(st.integers(0, n - 1), min_size=1, max_size=4, unique=True), min_size=1, max_size=4))
    return lists, Signatures(offsets, members), [Fragment(str(k), [(k, k + 1)], own) for k, own in enumerate(parts)]


@settings(max_examples=100, deadline=None)
@given(interpretations())
def test_edges_join_candidates_of_different_fragments_whose_signatures_hold_the_other(given_parts):
    lists, signatures, found = given_parts
    result = interpret(found, signatures, dense=False)
    entries = [(v, number) for number, fragment in enumerate(found) for v in fragment.vertices]
    expected = {
        (i, j) for i, (v, f) in enumerate(entries) for j, (w, g) in enumerate(entries) if f != g and w in lists[v]
    }
    graph = result.graph
    assert set(zip(graph.sources.tolist(), graph.targets.tolist(), strict=True)) == expected
    assert len(graph.sources) == len(expected)
    for number, fragment in enumerate(found):
        best, score = result.best(number)
        own = [k for k, (_, f) in enumerate(entries) if f == number]
        assert score == result.scores[own].max()
        assert best == next(k for k in own if result.products[k] == result.products[own].max())
        assert len(fragment.vertices) == len(result.ranked(number))


def test_empty_documents_have_no_links(network):
    empty = Doc.from_words([])
    linker = Linker(replace(LinkSettings(), loose="all"), network)
    linker([empty])
    assert empty.links == []
