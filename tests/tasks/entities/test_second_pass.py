"""Two passes of the entity recognizer: what is clear in one sentence of a document decides about the others."""

import numpy as np
import pytest

from weft.errors import ConfigError, DataError
from weft.pipeline.pipeline import Pipeline
from weft.tasks.entities.recognizer import EntityRecognizer, EntitySettings
from weft.tasks.entities.second_pass import FOLDS, hints, labelled_apart
from weft.text import Doc, SpanLayer


def made(n: int, seed: int) -> list[Doc]:
    """Documents about one new name: `Mr X spoke` or `in X it rained` is clear, `X won` is not."""
    rng = np.random.default_rng(seed)
    docs = []
    for _ in range(n):
        name = "".join(rng.choice(list("aeioubdgklmnrst"), 6)).capitalize()
        person = rng.random() < 0.5
        clear = ["then", "Mr", name, "spoke"] if person else ["then", "in", name, "rained"]
        doc = Doc.from_words([clear, ["and", name, "won"]])
        kind = "PER" if person else "LOC"
        doc.spans["entities"] = SpanLayer.of(doc.strings, [(2, 3, kind), (5, 6, kind)])
        docs.append(doc)
    return docs


def right(recognizer: EntityRecognizer, docs: list[Doc]) -> float:
    """The share of documents whose second sentence is right."""
    bare = [Doc.from_words([doc.column("form")[:4], doc.column("form")[4:]]) for doc in docs]
    recognizer(bare)
    same = [
        (row := {tuple(each.pieces): each.label for each in new.spans["entities"]}).get(((5, 6),))
        == doc.spans["entities"][1].label
        and len(row) == 2
        for doc, new in zip(docs, bare, strict=True)
    ]
    return sum(same) / len(same)


@pytest.fixture(scope="module")
def twice() -> EntityRecognizer:
    recognizer = EntityRecognizer(EntitySettings(epochs=4, window=0, second_pass=True))
    recognizer.fit(made(90, seed=1))
    return recognizer


def test_the_second_pass_carries_a_type_to_the_other_sentences_of_a_document(twice: EntityRecognizer) -> None:
    once = EntityRecognizer(EntitySettings(epochs=4, window=0))
    once.fit(made(90, seed=1))
    new = made(60, seed=2)
    assert right(once, new) < 0.75
    assert right(twice, new) > 0.95


def test_two_passes_are_saved_with_the_model(twice: EntityRecognizer, tmp_path) -> None:
    Pipeline([twice]).save(tmp_path / "m.weft")
    new = made(30, seed=3)
    loaded = Pipeline.load(tmp_path / "m.weft").components[0]
    assert isinstance(loaded, EntityRecognizer)
    assert right(loaded, new) == right(twice, new)


def test_two_passes_give_probabilities_and_alternatives(twice: EntityRecognizer) -> None:
    doc = Doc.from_words([["then", "Mr", "Bolen", "spoke"], ["and", "Bolen", "won"]])
    twice([doc], probabilities=True, kbest=2)
    assert all(0 < each["probability"] <= 1 for each in doc.spans["entities"].attributes.values())
    assert "alternatives" in doc.meta


def test_a_word_does_not_hint_at_itself() -> None:
    assert hints(["Hill", "hill"], ["S-LOC", "O"]) == ["=S-LOC", ""]


def test_no_document_is_labelled_by_a_recognizer_that_was_trained_on_it() -> None:
    docs = [Doc.from_words([[str(i)]]) for i in range(7)]
    seen = []

    def label(others, part):
        seen.append((set(map(id, others)), set(map(id, part))))
        return list(part)

    assert labelled_apart(docs, label) == docs
    assert len(seen) == FOLDS
    assert all(not others & part and len(others | part) == 7 for others, part in seen)


def test_impossible_settings_are_refused() -> None:
    with pytest.raises(ConfigError, match="flat entities"):
        EntitySettings(second_pass=True, nested=True).check()
    with pytest.raises(DataError, match="at least two documents"):
        EntityRecognizer(EntitySettings(second_pass=True)).fit(made(1, seed=1))
