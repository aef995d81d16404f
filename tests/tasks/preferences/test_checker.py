"""Resources in a model file: the same judgements, patches that are still named, and files that are refused."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from places import ROOT

from weft.errors import ConfigError, ModelError, WeftError
from weft.pipeline.pipeline import Pipeline
from weft.tasks.preferences.checker import PreferenceChecker, PreferenceSettings
from weft.tasks.preferences.stored import restored, stored
from weft.text.doc import Doc
from weft.text.frames import FrameRow, Role, set_frames

FOLDER = ROOT / "examples" / "preferences"


def checker(**options: str) -> PreferenceChecker:
    names = {"verbnet": "verbnet", "semlink": "semlink.json", "wordnet": "wordnet", "types": "types.tsv"}
    paths = {option: str(FOLDER / name) for option, name in names.items()}
    return PreferenceChecker(PreferenceSettings(**{**paths, "patches": str(FOLDER / "patches.tsv"), **options}))


@pytest.fixture(scope="module")
def trained() -> PreferenceChecker:
    component = checker()
    assert component.fit([])["training"]["nouns"] == 30
    return component


def sought(subject: str) -> Doc:
    doc = Doc.from_words(
        [["The", subject, "sought", "advice"]], upos=[["DET", "NOUN", "VERB", "NOUN"]], head=[[2, 3, 0, 3]],
        lemma=[["the", subject, "seek", "advice"]], deprel=[["det", "nsubj", "root", "obj"]],
    )  # fmt: skip
    set_frames(doc, [FrameRow(2, "seek.01", (Role("A0", 0, 2), Role("A1", 3, 4)))])
    return doc


def test_a_saved_model_judges_as_before_and_names_patches(trained, tmp_path):
    pipeline = Pipeline([trained])
    pipeline.save(tmp_path / "model.weft")
    [again] = Pipeline.load(tmp_path / "model.weft").components
    docs = [sought("company"), sought("hedge")]
    others = [sought("company"), sought("hedge")]
    trained(docs)
    again(others)
    assert [doc.preferences[0].explanation for doc in docs] == [doc.preferences[0].explanation for doc in others]
    [change] = others[0].preferences[0].patches
    assert (change["before"], change["after"]) == ("violation", "ok")
    assert "patches.tsv, line 2" in change["patch"]
    assert others[1].preferences[0].outcome == "violation"


def test_stored_senses_are_those_of_wordnet(trained, raw):
    nouns = trained.resources.nouns
    for noun, senses in raw.nouns.all_senses():
        assert nouns.senses(noun.replace("_", " ")) == tuple(senses)
        assert all(nouns.sense(sense.key) == sense for sense in senses)
    assert nouns.senses("Laws") == raw.nouns.senses("Laws")
    assert nouns.senses("blockchain") == ()
    with pytest.raises(ModelError, match="no sense 'law%1:99:00::'"):
        nouns.sense("law%1:99:00::")


def test_patches_of_types_have_rows_of_their_own(tmp_path):
    patches = tmp_path / "types-patches.tsv"
    patches.write_text("types:comestible\tfood%1:13:00::\tfood%1:13:00:: communication%1:03:00::\tfood for thought\n")
    component = checker(patches=str(patches))
    component.fit([])
    header, arrays = component.state()
    assert len(arrays["nouns/has"]) == 2
    again = PreferenceChecker.from_state(header, arrays)
    doc = sought("judge")
    set_frames(doc, [FrameRow(2, "drink.01", (Role("A0", 0, 2), Role("A1", 3, 4)))])
    doc.set_column("lemma", ["the", "judge", "drink", "advice"])
    again([doc])
    assert doc.preferences[0].outcome == "ok"
    assert doc.preferences[0].patches[0]["before"] == "violation"


def with_class(header, **fields):
    """The header with another first class: id, parent, members, roles, own."""
    names = ("id", "parent", "members", "roles", "own")
    header["classes"][0] = [fields.get(name, old) for name, old in zip(names, header["classes"][0], strict=True)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda header, arrays: with_class(header, parent=header["classes"][0][0]), "do not lead from"),
        (lambda header, arrays: with_class(header, parent="nothing-1"), "do not lead from"),
        (lambda header, arrays: with_class(header, roles={"Agent": "animate"}), "expected restrictions"),
        (lambda header, arrays: with_class(header, id=header["classes"][1][0]), "one id twice"),
        (lambda header, arrays: header["types"].update(a=["=b"], b=["!a"]), "leads nowhere"),
        (lambda header, arrays: header["types"].update({f"t{i}": ["x"] for i in range(99)}), "types must be at most"),
        (lambda header, arrays: header["patches"].append(["verbnet:x-1/Agent", "", "", "", ""]), "to patch"),
        (lambda header, arrays: header["links"].update({"a.01": {"9": {"A0": 3}}}), "header's links must be a text"),
        (lambda header, arrays: header["sources"].pop(), "a list of at least 4"),
        (lambda header, arrays: arrays.update({"nouns/has": np.zeros((3, 30), np.int64)}), "nouns/has"),
        (lambda header, arrays: arrays.update({"nouns/senses": arrays["nouns/senses"][::-1].copy()}), "nouns/senses"),
        (lambda header, arrays: arrays.pop("nouns/text"), "'nouns/text' is missing"),
    ],
)
def test_contents_that_cannot_be_are_refused(trained, change, message):
    header, arrays = stored(trained.resources)
    header, arrays = copy.deepcopy(header), dict(arrays)
    change(header, arrays)
    with pytest.raises(ModelError, match=message):
        restored(header, arrays)


def test_settings_and_untrained_components_are_refused_in_words():
    with pytest.raises(ConfigError, match="senses must be all or predicted"):
        checker(senses="first")
    with pytest.raises(WeftError, match="not trained yet"):
        checker()([sought("judge")])
