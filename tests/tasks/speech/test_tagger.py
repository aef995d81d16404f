"""The tagger that learns beside the parser of transcripts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import weft
from weft.errors import DataError, ModelError
from weft.pipeline.pipeline import Pipeline
from weft.tasks.speech import parser as module
from weft.tasks.speech.parser import DisfluencyParser, DisfluencySettings, TagsBeside
from weft.tasks.speech.tagger import TaggerRun
from weft.text import Doc


def fitted(docs: list[Doc], **settings) -> DisfluencyParser:
    parser = DisfluencyParser(DisfluencySettings(beam=2, epochs=2, joint_tagger=True, **settings))
    parser.fit(docs)
    return parser


@pytest.fixture(scope="module")
def spoken(examples: Path) -> list[Doc]:
    return list(weft.read(examples / "speech.conllu"))


@pytest.fixture(scope="module")
def trained(spoken) -> DisfluencyParser:
    return fitted(spoken)


def test_a_sentence_is_tagged_before_the_tagger_learns_from_it():
    doc = Doc.from_words([["boats", "sail"], ["we", "sail"]], upos=[["NOUN", "VERB"], ["PRON", "VERB"]])
    run = TaggerRun([doc])
    assert run.learn(0).tolist() == [0, 0]  # without weights all tags tie, and the first wins
    for _ in range(6):
        tags = [[run.labels[tag] for tag in run.learn(sentence)] for sentence in (0, 1)]
    assert tags == [["NOUN", "VERB"], ["PRON", "VERB"]]


def test_the_parser_learns_from_the_tags_that_the_tagger_predicts_at_that_time(spoken, monkeypatch):
    """Rows of words change to predicted tags right before the parser learns from the sentence, and nowhere else."""
    seen: list[tuple[int, np.ndarray]] = []
    learn = TaggerRun.learn

    def note(run: TaggerRun, sentence: int) -> np.ndarray:
        seen.append((sentence, learn(run, sentence)))
        return seen[-1][1]

    monkeypatch.setattr(TaggerRun, "learn", note)
    checked = []

    class Watched(TagsBeside):
        def __call__(self, sentence: int) -> None:
            before = self._words.copy()
            super().__call__(sentence)
            first, end = self._sentences[sentence : sentence + 2]
            predicted = self._values[seen[-1][1]]
            assert (self._words[first + 1 : end + 1][:, self._places] == predicted).all()
            changed = np.flatnonzero((self._words != before).any(axis=1))
            assert all(first < row <= end for row in changed)
            checked.append(len(changed))

    monkeypatch.setattr(module, "TagsBeside", Watched)
    parser = fitted(spoken)
    sentences = parser.fit(spoken)["training"]["sentences"]
    assert len(checked) == 2 * 2 * sentences  # two trainings of two epochs
    assert sorted(sentence for sentence, _ in seen[:sentences]) == list(range(sentences))
    assert sum(checked[:sentences]) > 10  # the first tags are wrong


def test_the_parser_is_another_one_than_with_gold_tags(spoken, trained):
    gold = DisfluencyParser(DisfluencySettings(beam=2, epochs=2))
    gold.fit(spoken)
    one, other = (each.parser.state()[1]["labels/weights"] for each in (trained, gold))
    assert one.shape != other.shape or (one != other).any()


def test_transcripts_need_no_tags_and_get_some(trained, tmp_path):
    assert trained.requires == ("tokens",)
    words = ["she", "saw", "uh", "the", "the", "old", "boat", "."]
    docs = [Doc.from_words([words]), Doc.from_words([words], upos=[["X"] * 7 + ["PUNCT"]])]
    trained(docs)
    assert docs[0].column("upos") == docs[1].column("upos")
    assert docs[0].column("upos")[:3] == ["PRON", "VERB", "INTJ"]
    assert docs[0].column("upos")[-1] == "PUNCT"
    assert docs[0].head.tolist() == docs[1].head.tolist()
    Pipeline([trained]).save(tmp_path / "speech.weft")
    again = Doc.from_words([words])
    weft.load(tmp_path / "speech.weft").components[0]([again])
    assert again.column("upos") == docs[0].column("upos")
    assert again.head.tolist() == docs[0].head.tolist()


def test_the_tagger_of_the_best_epoch_is_kept(spoken, examples):
    parser = DisfluencyParser(DisfluencySettings(beam=2, epochs=3, joint_tagger=True))
    held_out = list(weft.read(examples / "speech-unseen.conllu"))
    report = parser.fit(spoken, held_out)
    assert report["scores"]["dev F"] == parser.scores(held_out)["F"]


def test_bad_data_and_damaged_models_are_refused(trained):
    with pytest.raises(DataError, match="every word of the training data needs a UPOS"):
        fitted([Doc.from_words([["we", "sail"]], head=[[2, 0]], deprel=[["nsubj", "root"]])])
    header, arrays = trained.state()
    del header["tagger"]
    with pytest.raises(ModelError, match="damaged"):
        DisfluencyParser.from_state(header, arrays)
