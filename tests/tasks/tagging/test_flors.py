"""FLORS: words under new names, margins of LIBLINEAR, switches, streaming, model files."""

from __future__ import annotations

import string
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix, hstack

from weft.errors import ConfigError, DataError, WeftError
from weft.features.representations.counts import BOUNDARY, NeighbourCounts
from weft.features.representations.words import DenseVectors
from weft.learn.linear.classifiers import linear_svm
from weft.pipeline.pipeline import Pipeline
from weft.tasks.tagging.flors import Flors, FlorsSettings
from weft.text.doc import Doc

NEWS = Doc.from_words(
    [["The", "dog", "runs", "."], ["A", "cat", "sleeps", "."], ["the", "old", "dog", "sleeps", "."]],
    upos=[["DET", "NOUN", "VERB", "PUNCT"], ["DET", "NOUN", "VERB", "PUNCT"], ["DET", "ADJ", "NOUN", "VERB", "PUNCT"]],
)
CHAT = Doc.from_words(
    [["the", "doggo", "runs", "."], ["a", "lil", "doggo", "naps", "."], ["the", "lil", "cat", "naps"]]
)


def tagger(**settings: object) -> Flors:
    found = Flors(FlorsSettings.from_options({"indicators": 6, **settings}))
    found.adapt([NEWS], [CHAT])
    return found


def tags(found: Flors, words: list[str]) -> list[str]:
    doc = Doc.from_words([words])
    found([doc])
    return doc.column("upos")


class Language:
    """A made-up language: five tags that follow each other by a table, thirty words of random letters each."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.table = rng.dirichlet(np.full(5, 0.5), size=6)
        letters = list(string.ascii_lowercase)
        self.words = [["".join(rng.choice(letters, 6)) for _ in range(30)] for _ in range(5)]

    def sentences(self, n: int, seed: int) -> tuple[list[list[str]], list[list[str]]]:
        rng = np.random.default_rng(seed)
        words, tags = [], []
        for _ in range(n):
            before, row = 5, []
            for _ in range(8):
                before = int(rng.choice(5, p=self.table[before]))
                row.append(before)
            tags.append([f"T{tag}" for tag in row])
            words.append([self.words[tag][int(rng.integers(30))] for tag in row])
        return words, tags


@pytest.mark.must_show("flors", 3, weaker="with 800 labelled sentences, where letters tell less than with 3,500")
def test_words_under_new_names_are_tagged_as_well_as_before_and_a_tagger_of_names_collapses() -> None:
    language = Language(3)
    words, gold = language.sentences(400, 1)
    source = Doc.from_words(words, xpos=gold)
    raw, _ = language.sentences(2_500, 2)
    test, test_gold = language.sentences(250, 3)
    rng = np.random.default_rng(0)
    chosen = [word for own in language.words for word in own if rng.random() < 0.3]
    names = {word: "".join(rng.choice(list(string.ascii_lowercase), 6)) for word in chosen}

    def accuracy(found: Flors, renamed: bool) -> float:
        doc = Doc.from_words([[names.get(word, word) if renamed else word for word in row] for row in test])
        found([doc])
        flat = [
            (word, tag) for row, own in zip(test, test_gold, strict=True) for word, tag in zip(row, own, strict=True)
        ]
        pairs = zip(doc.column("xpos"), flat, strict=True)
        return float(np.mean([found_tag == tag for found_tag, (word, tag) in pairs if word in names]))

    def learned(renamed: bool, **settings: object) -> Flors:
        text = [[names.get(word, word) for word in row] for row in raw] if renamed else raw
        found = Flors(FlorsSettings.from_options({"column": "xpos", "indicators": 100, **settings}))
        found.adapt([source], [Doc.from_words(text)])
        return found

    before, after = accuracy(learned(False), False), accuracy(learned(True), True)
    by_name = learned(False, centre="identity", neighbours="identity")
    assert before > 0.9, before
    assert after > before - 0.03, (before, after)
    assert accuracy(by_name, False) > 0.9
    assert accuracy(by_name, True) < before - 0.2


@pytest.mark.must_show("flors", 7)
def test_margins_of_the_tagger_are_those_of_liblinear_on_rows_written_out() -> None:
    found = tagger(tolerance=1e-5)
    assert found.vectors is not None
    rows = []
    for first, end in pairwise(NEWS.sentence_offsets.tolist()):
        words = [BOUNDARY, BOUNDARY, *NEWS.column("form")[first:end], BOUNDARY, BOUNDARY]
        opens = [place == 2 for place in range(len(words))]
        vectors = found.vectors.rows(words, opens)
        rows += [hstack([vectors[i + place] for place in range(5)]) for i in range(end - first)]
    written = csr_matrix(np.vstack([row.toarray() for row in rows]))
    theirs = linear_svm(written, NEWS.column("upos"), intercept=False, tolerance=1e-8, max_iterations=100_000)
    assert theirs.labels.tolist() == found.tags
    assert found.margins([NEWS]) == pytest.approx(theirs.scores(written), abs=1e-3)


def test_unknown_words_get_the_tags_of_words_in_their_places() -> None:
    assert tags(tagger(), ["the", "lil", "doggo", "naps", "."]) == ["DET", "ADJ", "NOUN", "VERB", "PUNCT"]


@pytest.mark.parametrize(
    "settings",
    [
        {"indicators": 0}, {"indicators": 2}, {"window": 1}, {"window": 0}, {"left_to_right": True},
        {"centre": "contexts,shape", "neighbours": "contexts,shape"}, {"neighbours": "contexts,suffixes"},
        {"centre": "contexts suffixes shape identity", "neighbours": "identity"}, {"mark_words": True},
        {"streaming": True}, {"workers": 2},
    ],
    ids=str,
)  # fmt: skip
def test_every_switch_learns_the_training_text_and_survives_a_model_file(settings, tmp_path: Path) -> None:
    found = tagger(**settings)
    Pipeline([found]).save(tmp_path / "chat.weft")
    again = Pipeline.load(tmp_path / "chat.weft").components[0]
    for own in (found, again):
        doc = Doc.from_words(
            [NEWS.column("form")[first:end] for first, end in pairwise(NEWS.sentence_offsets.tolist())]
        )
        own([doc])
        right = [a == b for a, b in zip(doc.column("upos"), NEWS.column("upos"), strict=True)]
        assert sum(right) >= len(right) - (2 if "indicators" in settings or "window" in settings else 0)


def test_classes_and_dense_vectors_may_stand_in_for_counts(tmp_path: Path) -> None:
    classes = tmp_path / "paths"
    classes.write_text("00\tdog\t3\n00\tdoggo\t2\n01\tsleeps\t3\n01\tnaps\t3\n10\tthe\t4\n")
    found = tagger(contexts="clusters", clusters=str(classes))
    assert tags(found, ["the", "doggo", "naps"]) == ["DET", "NOUN", "VERB"]
    header, arrays = found.state()
    assert header["settings"]["clusters"] == ""
    assert tags(Flors.from_state(header, arrays), ["the", "doggo", "naps"]) == ["DET", "NOUN", "VERB"]
    dense = DenseVectors(["dog", "doggo", "UNKNOWN", "PADDING"], np.eye(4)[[0, 0, 1, 2]])
    other = Flors(FlorsSettings(contexts="embeddings"))
    other.adapt([NEWS], dense=dense)
    assert tags(other, ["the", "doggo", "sleeps", "."])[1] == "NOUN"


def test_streaming_counts_what_it_tags_and_batch_mode_does_not() -> None:
    for streaming in (False, True):
        found = tagger(streaming=streaming)
        tags(found, ["a", "kitteh", "naps"])
        assert found.vectors is not None
        assert isinstance(found.vectors.contexts, NeighbourCounts)
        assert found.vectors.contexts.frequency("kitteh") == int(streaming)


def test_raw_text_observed_later_gives_the_vectors_of_raw_text_read_before() -> None:
    early, late = tagger(), Flors(FlorsSettings(indicators=6))
    late.adapt([NEWS])
    late.observe([CHAT])
    assert early.vectors is not None
    assert late.vectors is not None
    assert isinstance(early.vectors.contexts, NeighbourCounts)
    assert isinstance(late.vectors.contexts, NeighbourCounts)
    assert late.vectors.contexts.frequency("doggo") == early.vectors.contexts.frequency("doggo") == 2
    # The indicators stay those of the first text: vectors differ in their columns only.
    assert late.vectors.contexts.vectors(["doggo"]).nnz > 0


def test_a_batch_of_documents_is_tagged_as_its_documents_one_by_one() -> None:
    found = tagger()
    rows = [["the", "doggo", "naps"], ["a", "cat"], ["The", "lil", "dog", "runs", "."]]
    together = [Doc.from_words([row]) for row in rows]
    found(together)
    assert [doc.column("upos") for doc in together] == [tags(found, row) for row in rows]


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(ConfigError, match="unknown part 'prefixes'"):
        FlorsSettings.from_options({"centre": "prefixes"})
    with pytest.raises(ConfigError, match="contexts must be one of"):
        FlorsSettings.from_options({"contexts": "topics"})
    with pytest.raises(ConfigError, match="it needs contexts=counts"):
        FlorsSettings.from_options({"contexts": "clusters", "streaming": True})
    with pytest.raises(ConfigError, match="set clusters=FILE"):
        tagger(contexts="clusters")
    with pytest.raises(ConfigError, match="set embeddings=FILE"):
        tagger(contexts="embeddings")
    with pytest.raises(DataError, match="no xpos"):
        tagger(column="xpos")
    with pytest.raises(DataError, match="nothing to train on"):
        Flors().fit([])
    with pytest.raises(WeftError, match="not trained"):
        Flors()([NEWS])
