"""Parts of the methods of domain adaptation for parsers: each of them changes what is learned from the source."""

from __future__ import annotations

import numpy as np
import pytest

from weft.tasks.parsing_transfer import adapt_parser
from weft.tasks.parsing_transfer.adapt_parser import AdaptedParser, AdaptSettings
from weft.text import Doc

OPTIONS = {"system": "mst1", "epochs": 2, "bits": 18, "threshold": 0.0, "relations": "none", "cap": 0.0}


def sentences(nouns: list[str], verbs: list[str]) -> Doc:
    """Sentences of two lengths."""
    pairs = [(noun, verb) for noun in nouns for verb in verbs]
    short = [(["the", noun, verb], ["DT", "NN", "VBZ"], [2, 3, 0]) for noun, verb in pairs]
    long = [
        (["we", verb, "the", noun, "and", "see"], ["PRP", "VBP", "DT", "NN", "CC", "VBP"], [2, 0, 4, 2, 6, 2])
        for noun, verb in pairs
    ]
    words, tags, heads = zip(*short, *long, strict=True)
    return Doc.from_words(words, upos=tags, xpos=tags, head=heads, deprel=[["x"] * len(row) for row in words])


SOURCE = sentences(["ship", "lamp", "stone"], ["sinks", "glows"])
TARGET = Doc.from_words(
    [["the", "lamp", "glows"], ["lamp", "lamp", "glows"], ["cell", "grows"]] * 4,
    upos=[["DT", "NN", "VBZ"], ["NN", "NN", "VBZ"], ["NN", "VBZ"]] * 4,
    xpos=[["DT", "NN", "VBZ"], ["NN", "NN", "VBZ"], ["NN", "VBZ"]] * 4,
)


def weights(methods: str, **options) -> np.ndarray:
    settings = AdaptSettings(**{**OPTIONS, "methods": methods, "bags": 2, "folds": 2, "slack": 0.001, **options})
    parser = AdaptedParser(settings, target=[TARGET])
    parser.fit([SOURCE])
    return parser.weights


@pytest.mark.parametrize("method", ["T1", "T2", "T3", "T4", "T5"])
def test_every_method_changes_what_is_learned_where_the_target_differs(method):
    plain = weights("")
    assert plain.any()
    assert not np.array_equal(weights(method), plain)


def test_smaller_steps_tell_bagged_parsers_apart():
    assert not np.array_equal(weights("D2"), weights("D3"))


def test_the_guide_of_stacked_training_has_not_seen_its_sentences(monkeypatch):
    asked = []
    jackknife = adapt_parser.jackknife_guide

    def note(docs, train, folds):
        def fit(part):
            parser = train(part)
            asked.append(parser)
            return parser

        return jackknife(docs, fit, folds)

    trained = []
    fit_guide = AdaptedParser._fit_guide
    monkeypatch.setattr(adapt_parser, "jackknife_guide", note)
    monkeypatch.setattr(
        AdaptedParser,
        "_fit_guide",
        lambda self, docs: trained.append(sum(d.n_sentences for d in docs)) or fit_guide(self, docs),
    )
    weights("D1")
    whole, *folds = trained
    assert whole == SOURCE.n_sentences
    assert len(folds) == len(asked) == 2
    assert sum(folds) == whole  # each fold's guide learned from the other half
