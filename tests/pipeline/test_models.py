"""Models by name."""

from __future__ import annotations

from pathlib import Path

import pytest

import weft
from weft.errors import ModelError, WeftError
from weft.pipeline import models
from weft.pipeline.pipeline import Pipeline


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.delenv("WEFT_MODELS", raising=False)
    return tmp_path


def test_a_model_is_found_in_the_named_folders_first_then_in_the_users(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    users, first, second = models.user_folder(), folder / "first", folder / "second"
    for place in (users, first, second):
        Pipeline([], {"name": place.name}).save(place / "tlh.weft")
    assert models.find("tlh") == users / "tlh.weft"
    monkeypatch.setenv("WEFT_MODELS", f"{first}:{second}")
    assert weft.load("tlh").card["name"] == "first"


def test_a_name_that_is_nowhere_is_an_error_that_says_how_to_build_the_model(folder: Path) -> None:
    with pytest.raises(ModelError, match=r"no model 'de'.*weft train pipeline configs/de\.toml"):
        weft.load("de")


def test_the_command_prints_the_card_and_lists_models_with_names(folder: Path) -> None:
    from typer.testing import CliRunner

    from weft.cli.app import app

    Pipeline([], {"name": "tlh", "licence": "CC0", "scores": {"set, raw text": {"LAS": 71.0}}}).save(
        models.user_folder() / "tlh.weft"
    )
    card = CliRunner().invoke(app, ["models", "card", "tlh"])
    assert "| set, raw text | 71.00 |" in card.output
    listed = CliRunner().invoke(app, ["models", "list", "--json"])
    assert '"model": "tlh"' in listed.output


def test_the_option_for_speech_strikes_out_repairs_and_leaves_fluent_sentences(folder: Path) -> None:
    nlp = weft.load("en", "en-speech")
    doc = nlp("i want a flight to boston uh i mean to denver")
    assert [span.text for span in doc.span_views("disfluencies")] == ["to boston"]
    assert doc.column("deprel")[4:7] == ["reparandum", "reparandum", "discourse:filler"]
    assert not nlp("they wrote to the captain on friday and he closed the harbour").span_views("disfluencies")
    assert weft.load("en-speech").card["licence"] == "CC BY-SA 4.0"


def test_the_option_for_coreference_finds_who_is_meant(folder: Path) -> None:
    nlp = weft.load("en", "en-coref")
    doc = nlp("John Smith met Mary Jones in London. He told her that the city was beautiful, and she agreed with him.")
    found = [[mention.text for mention in entity.mentions] for entity in doc.entities_of("coref")]
    assert found == [["John Smith", "He", "him"], ["Mary Jones", "her", "she"]]
    card = weft.load("en-coref").card
    assert card["licence"] == "CC BY 4.0"
    assert all("raw text" in name for name in card["scores"])


def test_the_option_for_relations_finds_where_people_are_born(folder: Path) -> None:
    nlp = weft.load("en", "en-relations")
    doc = nlp("Marie Curie was born in Warsaw, the capital of Poland.", probabilities=True)
    found = {(each.label, *(span.text for _, span in each.members)) for each in doc.tuples}
    assert ("born in", "Marie Curie", "Warsaw") in found
    card = weft.load("en-relations").card
    assert "CC BY-SA" in card["licence"]
    assert card["scores"]


def test_the_option_for_roles_finds_predicates_senses_and_arguments_in_raw_text(folder: Path) -> None:
    nlp = weft.load("en", "en-roles")
    doc = nlp("The captain gave Anna a map. She saw the old boat.")
    frames = {frame.sense: {each.label: each.phrase for each in frame.arguments} for frame in doc.frames}
    assert frames["give.01"] == {"A0": "The captain", "A2": "Anna", "A1": "a map"}
    assert frames["see.01"] == {"A0": "She", "A1": "the old boat"}
    alone = weft.load("en-roles")
    assert alone.card["licence"] == "CC BY-SA 4.0"
    assert all("BY-SA" in corpus for corpus in alone.card["corpora"])
    parsed = weft.load("en")("The captain gave Anna a map. She saw the old boat.")
    alone(parsed)
    assert [frame.row for frame in parsed.frames] == [frame.row for frame in doc.frames]
    with pytest.raises(WeftError, match="needs the layer head, deprel"):
        alone("Dogs bark.")


def test_nouns_adjectives_and_auxiliaries_are_predicates_of_the_option_for_roles(folder: Path) -> None:
    nlp = weft.load("en", "en-roles")
    doc = nlp("Their decision was easy. They are afraid of him.")
    assert {"NOUN", "ADJ", "AUX"} <= {frame.predicate.upos for frame in doc.frames}


def test_the_models_of_the_package_are_listed_and_small(folder: Path) -> None:
    own = models.available()
    assert {"en", "en-coref", "en-relations", "en-roles", "en-speech", "en-times"} <= set(own)
    assert own["en-coref"].stat().st_size <= 4e6
    assert own["en-relations"].stat().st_size <= 4e6
    assert own["en-roles"].stat().st_size <= 6e6
    assert own["en-speech"].stat().st_size <= 3e6
    assert own["en-times"].stat().st_size <= 2e6
    assert own["en"].stat().st_size <= 18e6
    assert sum(path.stat().st_size for path in own.values()) <= 35e6


def test_a_path_is_taken_as_it_is(folder: Path) -> None:
    assert models.find("some/where") == Path("some/where")
    assert models.find("model.weft") == Path("model.weft")
    with pytest.raises(ModelError, match="no model file"):
        weft.load("model.weft")


def test_a_folder_does_not_hide_the_model_of_its_name(tmp_path, monkeypatch):
    (tmp_path / "en").mkdir()
    (tmp_path / "corpus").mkdir()
    monkeypatch.chdir(tmp_path)
    assert models.find("en").is_file()
    with pytest.raises(ModelError, match="is a folder"):
        weft.load("corpus")
