"""The tagger over a graph of trigrams, on small text made for it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from weft.errors import ConfigError, DataError
from weft.pipeline.pipeline import Pipeline
from weft.tasks.tagging.graph_propagation import PropagationTagger
from weft.tasks.tagging.trigram_graph import TypeGraph
from weft.text.doc import Doc

DETERMINERS, NOUNS, VERBS = ("a", "the"), ("dog", "cat", "bird", "car"), ("sees", "takes", "likes")
NEW_NOUNS, NEW_VERBS = ("unrar", "wug", "blick"), ("gorps", "plims")


def text(n: int, nouns: tuple[str, ...], verbs: tuple[str, ...], seed: int) -> tuple[list[list[str]], list[list[str]]]:
    rng = np.random.default_rng(seed)
    words, tags = [], []
    for _ in range(n):
        one, other = rng.choice(nouns, 2).tolist()
        words.append(
            [rng.choice(DETERMINERS).item(), one, rng.choice(verbs).item(), rng.choice(DETERMINERS).item(), other]
        )
        tags.append(["DET", "NOUN", "VERB", "DET", "NOUN"])
    return words, tags


def source(n: int = 30, seed: int = 0) -> Doc:
    words, tags = text(n, NOUNS, VERBS, seed)
    return Doc.from_words(words, upos=tags)


def raw(n: int = 30, seed: int = 1) -> Doc:
    return Doc.from_words(text(n, (*NOUNS, *NEW_NOUNS), (*VERBS, *NEW_VERBS), seed)[0])


def adapted(**options: object) -> tuple[PropagationTagger, dict]:
    tagger = PropagationTagger.from_options(options)
    return tagger, tagger.adapt([source()], [raw()])


def same(one: PropagationTagger, other: PropagationTagger) -> bool:
    (first, a), (second, b) = one.state(), other.state()
    return first["chain"] == second["chain"] and a.keys() == b.keys() and all(np.array_equal(a[x], b[x]) for x in a)


def test_new_words_take_the_tags_of_the_trigrams_they_are_like() -> None:
    tagger, report = adapted(eta=1.0)
    new = Doc.from_words([["unrar"], ["blick"], ["gorps"]])  # by themselves: only the word can tell
    tagger([new])
    assert new.column("upos") == ["NOUN", "NOUN", "VERB"]
    assert report["graph"]["disconnected"] == 0.0
    assert report["graph"]["path_length"] >= 1.0
    assert report["training"]["unlabelled_sentences"] == 30


def test_features_of_unlabelled_text_get_weights() -> None:
    graph, plain = (adapted(variant=variant)[1]["training"]["features"] for variant in ("graph", "supervised"))
    assert graph > plain


def test_a_run_that_begins_with_the_weights_of_another_is_the_same_to_the_bit() -> None:
    one, _ = adapted(variant="pooled")
    alone, _ = adapted()
    begun = PropagationTagger.from_options({})
    begun.adapt([source()], [raw()], first=one.first)
    assert same(begun, alone)
    with pytest.raises(DataError, match="initial weights"):
        PropagationTagger.from_options({}).adapt([source(5)], [raw()], first=one.first)


@pytest.mark.must_show("graph-ssl-crf", 4)
def test_without_sweeps_the_run_is_that_of_pooled_self_training_to_the_bit() -> None:
    rng = np.random.default_rng(3)
    odd = Doc.from_words([rng.permutation(words).tolist() for words in text(30, NEW_NOUNS, NEW_VERBS, 2)[0]])
    runs = []
    for options in ({"propagation_iterations": 0}, {"variant": "pooled"}, {}):
        runs.append(PropagationTagger.from_options({"alpha": 0.1, **options}))
        runs[-1].adapt([source()], [odd])
    bare, pooled, graph = runs
    assert same(bare, pooled)
    assert not same(graph, pooled)


@pytest.mark.must_show("graph-ssl-crf", 4)
def test_with_alpha_1_the_graph_has_no_influence_on_the_run() -> None:
    runs = [
        adapted(alpha=1.0, **options)[0]
        for options in ({}, {"mu": 5.0}, {"nu": 1.0}, {"neighbours": 1}, {"variant": "pooled"})
    ]
    assert all(same(runs[0], other) for other in runs[1:])


def test_eta_0_learns_nothing_from_unlabelled_text() -> None:
    tagger, _ = adapted(eta=0.0)
    words, _ = text(20, NOUNS, VERBS, 5)
    ours, theirs = Doc.from_words(words), Doc.from_words(words)
    tagger([ours])
    adapted(variant="supervised")[0]([theirs])
    assert ours.column("upos") == theirs.column("upos")


def test_dev_text_keeps_the_best_round() -> None:
    words, tags = text(10, (*NOUNS, *NEW_NOUNS), (*VERBS, *NEW_VERBS), 7)
    tagger = PropagationTagger.from_options({"eta": 1.0})
    report = tagger.adapt([source()], [raw()], dev=[Doc.from_words(words, upos=tags)])
    assert report["scores"]["dev accuracy"] == max(row["dev accuracy"] for row in report["rounds"])
    new = Doc.from_words(words)
    tagger([new])
    right = np.mean([a == b for a, b in zip(new.column("upos"), [tag for row in tags for tag in row], strict=True)])
    assert right == pytest.approx(report["scores"]["dev accuracy"])


def test_more_target_text_than_asked_for_and_raw_source_text_only_count() -> None:
    tagger = PropagationTagger.from_options({"sentences": 10})
    report = tagger.adapt([source()], [raw(7), raw(20, 3)], [source(15, 9)])
    assert report["training"]["unlabelled_sentences"] == 10
    alone = PropagationTagger.from_options({}).adapt([source()], [raw(7), raw(20, 3).subset([0, 1, 2])])
    assert report["graph"]["vertices"] == alone["graph"]["vertices"]  # others add to counts, not to the graph


def test_a_graph_made_before_serves() -> None:
    own, other = source(), raw()
    labels = sorted(set(own.column("upos")))
    types = TypeGraph.build([own], [labels.index(tag) for tag in own.column("upos")], [other], n_tags=3)
    one, two = PropagationTagger(), PropagationTagger()
    one.adapt([own], [other], graph=types)
    two.adapt([own], [other])
    assert same(one, two)
    with pytest.raises(DataError, match="build it from the same documents"):
        two.adapt([own], [raw(5)], graph=types)


def test_a_saved_tagger_tags_alike(tmp_path: Path) -> None:
    tagger, _ = adapted()
    Pipeline([tagger]).save(tmp_path / "graph.weft")
    docs = [Doc.from_words(text(10, NEW_NOUNS, NEW_VERBS, 4)[0]) for _ in range(2)]
    tagger([docs[0]])
    Pipeline.load(tmp_path / "graph.weft")(docs[1])
    assert docs[0].column("upos") == docs[1].column("upos")


def test_threads_learn_the_same_labels() -> None:
    one, two = (adapted(workers=workers)[1] for workers in (1, 2))
    assert [row.get("changed") for row in one["rounds"]] == [row.get("changed") for row in two["rounds"]]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"variant": "magic"}, "variant must be one of graph, pooled, one-best, supervised"),
        ({"transitions": "none"}, "transitions must be one of"),
        ({"alpha": 1.5}, "alpha must lie between 0 and 1"),
        ({"self_train": 0}, "self_train must be"),
        ({"eta": -1.0}, "eta must be at least 0"),
        ({"learner": "mira"}, "is a crf"),
        ({"templates": "w[0] w[0]|y[-1] y[-1]"}, "first-order chain whose transitions ignore words"),
    ],
)
def test_bad_settings_are_refused_in_plain_words(options: dict, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        adapted(**options)


def test_missing_text_is_named() -> None:
    with pytest.raises(DataError, match="no text of the target domain"):
        PropagationTagger().adapt([source()], [])
    with pytest.raises(DataError, match="no xpos"):
        PropagationTagger.from_options({"column": "xpos"}).adapt([source()], [raw()])


def test_propagation_flattens_what_the_search_adds_the_bigrams_to() -> None:
    by_types, by_words = (adapted(alpha=alpha)[1]["rounds"] for alpha in (0.6, 1.0))
    assert "spread of bigrams" not in by_types[0]
    assert by_types[1]["spread of interpolated"] < 0.7 * by_words[1]["spread of interpolated"]
    assert by_types[1]["spread of emissions"] == by_words[1]["spread of emissions"]
    half, whole = (adapted(transitions="potentials", strength=x)[1]["rounds"][1]["spread of bigrams"] for x in (0.5, 1))
    assert whole == pytest.approx(2 * half, abs=0.01)
