"""Parsers of languages without a treebank: what they share between languages, what they learn from sets of heads."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from weft.errors import ConfigError, DataError
from weft.formats import read
from weft.infer.trees.arcs import all_arcs
from weft.learn.trees.head_sets import tree_sets
from weft.learn.trees.model import TreeModel
from weft.lexical.typology import typology
from weft.pipeline.pipeline import Pipeline
from weft.tasks.parsing_transfer.features import (
    ARCS,
    FIELDS,
    FUNCTION_HEADS,
    TEMPLATES,
    TransferReader,
    partners,
    transfer_program,
)
from weft.tasks.parsing_transfer.parser import TransferParser, TransferSettings, read_sources
from weft.text.doc import Doc

BITS = 16
LANGUAGES = ["es", "pt", "de", "nl", "tr", "eu"]


def arc_scores(share, language, tags, arcs=ARCS, twelve=False):
    """Scores of all arcs of a sentence under the same odd weights, by (head, modifier)."""
    groups = partners(share, typology(), LANGUAGES)
    reader = TransferReader(FIELDS, typology(), groups, language, arcs, twelve)
    doc = Doc.from_words([["w"] * len(tags)], upos=[tags])
    words, _, sentences = reader.read([doc])
    model = TreeModel(transfer_program(TEMPLATES[share], FIELDS), bits=BITS)
    space = all_arcs(sentences)
    found = model.scores(space, words, np.sin(np.arange(model.size) ** 2)).arc
    return dict(zip(zip(space.head.tolist(), space.modifier.tolist(), strict=True), found.tolist(), strict=True))


def test_delex_and_bare_are_the_same_for_all_languages():
    tags = ["NOUN", "ADP", "VERB", "NOUN"]
    for share in ("delex", "bare"):
        assert arc_scores(share, "es", tags) == arc_scores(share, "tr", tags)


def test_bare_tells_no_directions_apart_and_delex_does():
    bare, delex = (arc_scores(share, "es", ["NOUN"] * 3) for share in ("bare", "delex"))
    assert bare[1, 3] == bare[3, 1] != bare[1, 2]
    assert delex[1, 3] != delex[3, 1]


@pytest.mark.parametrize(
    ("head", "modifier", "alike", "unlike"),
    [
        ("VERB", "NOUN", "pt", "tr"), ("VERB", "PRON", "pt", "tr"), ("NOUN", "ADP", "de", "tr"),
        ("NOUN", "NOUN", "de", "tr"), ("NOUN", "ADJ", "eu", "de"),
    ],
)  # fmt: skip
def test_share_tells_directions_apart_where_a_trait_speaks_of_the_arc_and_languages_by_its_value(
    head, modifier, alike, unlike
):
    own, like, other = (arc_scores("share", code, [head, modifier, head]) for code in ("es", alike, unlike))
    assert own[1, 2] != pytest.approx(own[3, 2])
    assert own[1, 2] == like[1, 2]
    assert own[3, 2] == like[3, 2]
    assert own[1, 2] != pytest.approx(other[1, 2])


@pytest.mark.parametrize("tags", [("NOUN", "DET"), ("VERB", "ADV"), ("ADJ", "NOUN"), ("ADP", "NOUN")])
def test_share_is_bare_for_arcs_that_no_trait_speaks_of(tags):
    head, modifier = tags
    assert arc_scores("share", "es", [head, modifier])[1, 2] == arc_scores("bare", "es", [head, modifier])[1, 2]


def test_where_adpositions_are_heads_85a_speaks_of_the_arcs_from_them():
    plain = arc_scores("bare", "es", ["ADP", "NOUN"])
    flipped = arc_scores("share", "es", ["ADP", "NOUN"], FUNCTION_HEADS)
    assert flipped[1, 2] != pytest.approx(plain[1, 2])
    assert flipped[2, 1] == plain[2, 1]


@pytest.mark.parametrize("share", ["similar", "family"])
def test_a_language_without_a_partner_has_the_features_of_share(share):
    tags = ["NOUN", "ADP", "VERB", "NOUN", "DET"]
    assert arc_scores(share, "eu", tags) == arc_scores("share", "eu", tags)
    with_partner = arc_scores(share, "es", tags)
    assert all(with_partner[arc] != pytest.approx(score) for arc, score in arc_scores("share", "es", tags).items())


def test_groups_have_delex_features_of_their_own_and_there_are_none_for_all():
    tags = ["DET", "NOUN", "VERB", "ADV"]
    own = [arc_scores("similar", code, tags)[3, 4] for code in ("es", "pt", "de", "nl")]
    assert own[0] == own[1] != pytest.approx(own[2])
    assert own[2] == own[3]
    family = [arc_scores("family", code, tags)[3, 4] for code in ("es", "de")]
    assert family[0] == family[1]


def test_tags_are_read_as_they_are_or_as_the_twelve_universal_ones():
    own, universal = ["PROPN", "AUX", "SCONJ"], ["NOUN", "VERB", "CONJ"]
    assert arc_scores("delex", "es", own, twelve=True) == arc_scores("delex", "es", universal, twelve=True)
    assert arc_scores("delex", "es", own) != arc_scores("delex", "es", universal)
    assert arc_scores("delex", "es", universal) == arc_scores("delex", "es", universal, twelve=True)


def test_to_traits_names_are_nouns():
    for language in ("es", "tr"):
        noun, name = (arc_scores("share", language, ["VERB", tag]) for tag in ("NOUN", "PROPN"))
        plain_noun, plain_name = (arc_scores("bare", language, ["VERB", tag]) for tag in ("NOUN", "PROPN"))
        assert noun[1, 2] - plain_noun[1, 2] == pytest.approx(name[1, 2] - plain_name[1, 2])


@pytest.fixture(scope="module")
def files(request) -> Path:
    return request.config.rootpath / "examples" / "languages"


@pytest.fixture(scope="module")
def sources(files):
    return read_sources({code: str(files / f"{code}.conllu") for code in ("en", "de", "es")})


@pytest.fixture
def dutch(files):
    return list(read(files / "nl-text.conllu")), list(read(files / "nl-trees.conllu"))


SMALL = TransferSettings(target="nl", share="similar", bits=14, iterations=40)


def trained(sources, dutch, **changes) -> TransferParser:
    parser = TransferParser(replace(SMALL, **changes), target=dutch[0])
    parser.fit(sources)
    return parser


@pytest.mark.parametrize("share", ["delex", "bare", "share", "similar", "family"])
def test_every_way_to_share_finds_the_trees_of_a_near_language(sources, dutch, share):
    assert trained(sources, dutch, share=share).scores(dutch[1])["UAS"] > 0.9


@pytest.mark.parametrize(
    "changes", [{"adapt": "viterbi"}, {"adapt": "aast"}, {"adapt": "aaet"}, {"adapt": "aast", "lexicalized": False},
                {"adapt": "aast", "adapt_iterations": 2}],
)  # fmt: skip
def test_every_way_to_adapt_learns_trees_from_eight_sentences_without_any(sources, dutch, changes):
    assert trained(sources, dutch, **changes).scores(dutch[1])["UAS"] > 0.8


def test_viterbi_is_the_smallest_sigma_and_the_largest_teaches_nothing(sources, dutch):
    viterbi, smallest = (
        trained(sources, dutch, **own) for own in ({"adapt": "viterbi"}, {"adapt": "aast", "sigma": 0})
    )
    np.testing.assert_array_equal(viterbi.weights, smallest.weights)
    assert viterbi.set_report()["heads per word"] == 1.0
    everything = trained(sources, dutch, adapt="aast", sigma=1.0)
    assert not everything.weights.any()


def test_sets_grow_by_the_second_parser_and_by_what_is_known(sources, dutch):
    plain, united = (trained(sources, dutch, adapt=adapt).head_sets for adapt in ("aast", "aaet"))
    assert (plain <= united).all()
    known = dutch[0][0].subset(range(dutch[0][0].n_sentences))
    known.head = np.full(known.n_words, -1, np.int32)
    known.head[0] = 6  # of the first sentence's first word: no parser would say so
    more = trained(sources, [[known]], adapt="aast", known=True)
    assert (plain <= more.head_sets).all()
    assert more.head_sets.sum() == plain.sum() + 1


def test_the_trees_of_the_second_parser_are_in_the_sets_of_an_ensemble(sources, dutch, monkeypatch):
    def chains(docs):
        """Every word attaches to the one before it, which no trained parser would say."""
        for doc in docs:
            sizes = np.diff(doc.sentence_offsets)
            doc.head = np.concatenate([np.arange(size) for size in sizes]).astype(np.int32)

    monkeypatch.setattr(TransferParser, "second_parser", lambda self: chains)
    plain, united = (trained(sources, dutch, adapt=adapt) for adapt in ("aast", "aaet"))
    lengths = np.concatenate([np.diff(doc.sentence_offsets) for doc in united._learned])
    space = all_arcs(np.concatenate([[0], np.cumsum(lengths)]))
    wanted = tree_sets(space, np.concatenate([np.arange(size) for size in lengths]))
    assert (wanted <= united.head_sets).all()
    assert not (wanted <= plain.head_sets).all()


def test_reports_tell_sizes_and_with_gold_heads_what_the_sets_hold(sources, dutch):
    parser = trained(sources, dutch, adapt="aast")
    assert set(parser.set_report()) == {"heads per word", "words with one head"}
    assert parser.weak_report().accuracy is None
    with_gold = trained(sources, (dutch[1], dutch[1]), adapt="aast")
    found = with_gold.set_report()
    assert found["oracle UAS of the sets"] <= found["gold heads in the sets"] <= 1
    report = with_gold.weak_report()
    assert report.accuracy == pytest.approx(with_gold.scores(dutch[1])["UAS"])
    assert report.ambiguity == pytest.approx(found["heads per word"], abs=1e-3)
    assert sum(count for *_, count in report.histogram) == report.decisions


@pytest.mark.parametrize("adapt", ["none", "aast"])
def test_a_saved_parser_is_an_ordinary_one_and_does_not_tell_folders(sources, dutch, tmp_path, files, adapt):
    own = {code: str(files / f"{code}.conllu") for code in ("en", "de", "es")}
    settings = replace(SMALL, adapt=adapt, sources=own, target=f"nl={files / 'nl-text.conllu'}")
    parser = TransferParser(settings)
    parser.fit()
    Pipeline([parser], {}).save(tmp_path / "nl.weft")
    assert str(files).encode() not in (tmp_path / "nl.weft").read_bytes()
    loaded = Pipeline.load(tmp_path / "nl.weft")
    one, other = (dutch[1][0].subset(range(4)) for _ in range(2))
    one.head = other.head = None
    one.meta["language"] = "tr"  # the parser is for Dutch, whatever the document says
    parser([one])
    loaded(other)
    assert one.head.tolist() == other.head.tolist()
    assert one.column("deprel") == dutch[1][0].column("deprel")


def test_probabilities_and_alternatives_are_at_hand(sources, dutch):
    parser = trained(sources, dutch, adapt="aast")
    doc = dutch[1][0].subset([0])
    parser([doc], probabilities=True, kbest=2)
    assert ((doc.confidence["head"] > 0) & (doc.confidence["head"] <= 1)).all()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"share": "all"}, "share must be one of delex, bare"),
        ({"adapt": "em"}, "adapt must be one of none, viterbi"),
        ({"sigma": 1.5}, "from 0 to 1, got 1.5"),
        ({"system": "mst2"}, "supports only system='mst1'"),
        ({"penalty": -1}, "penalty must be at least 0"),
        ({"iterations": 0}, "iterations must be at least 1"),
        ({"fields": {"t": "upos"}}, r"fields w \(words\) and t \(tags\)"),
    ],
)
def test_settings_that_make_no_sense_are_refused(changes, said):
    with pytest.raises(ConfigError, match=said):
        TransferParser(replace(SMALL, **changes))


@pytest.mark.parametrize(
    ("changes", "target", "kind", "said"),
    [
        ({"target": ""}, [], ConfigError, "the parser needs a target language"),
        ({"target": "xx"}, [], DataError, "there is no typology for the language 'xx'"),
        ({"target": "de"}, [], ConfigError, "the target de is among the source languages"),
        ({"adapt": "aast"}, [], DataError, "trains on target sentences"),
        ({"adapt": "aast", "longest": 2}, ["text"], DataError, "no training sentence of at most 2 words"),
    ],
)
def test_what_cannot_be_learned_is_said_plainly(sources, dutch, changes, target, kind, said):
    trees = [Doc.from_words([["a"]], upos=[["X"]], head=[[0]])] if "longest" in changes else sources
    trees[0].meta["language"] = trees[0].meta.get("language", "en")
    with pytest.raises(kind, match=said):
        TransferParser(replace(SMALL, **changes), target=dutch[0] if target else []).fit(trees)


def test_documents_without_a_language_or_without_heads_are_refused(files, dutch):
    with pytest.raises(DataError, match="a training document has no language"):
        TransferParser(SMALL).fit(dutch[1])
    with pytest.raises(DataError, match="has no heads; expected them in the column HEAD"):
        read_sources({"nl": str(files / "nl-text.conllu")})


def test_tags_of_two_sets_are_refused():
    german = Doc.from_words([["er", "ist", "da"]], upos=[["PRON", "AUX", "ADV"]], head=[[3, 3, 0]])
    german.meta["language"] = "de"
    dutch = Doc.from_words([["hij", "is", "er", "."]], upos=[["PRON", "VERB", "ADV", "."]])
    with pytest.raises(DataError, match=r"the tag '\.' is not one of Universal Dependencies"):
        TransferParser(TransferSettings(target="nl", bits=BITS), target=[dutch]).fit([german])
    TransferParser(TransferSettings(target="nl", bits=BITS, tags="twelve", iterations=2), target=[dutch]).fit([german])
