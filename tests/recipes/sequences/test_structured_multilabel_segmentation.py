"""Checks of the sheet of structured-multilabel-segmentation on corpora, in sizes that take seconds."""

from __future__ import annotations

from itertools import pairwise

import pytest

from weft.data import find, have
from weft.evaluate.labels.spans import evaluate_span_sets
from weft.recipes.corpora.segment_samples import (
    Sample,
    document,
    generated,
    layered_columns,
    natural,
    split_coordination,
)
from weft.recipes.sequences import structured_multilabel_segmentation as recipe
from weft.tasks.spans.gapped import above, sentence_segments, threshold_curve

chunks_at_hand = pytest.mark.skipif(not have(recipe.CHUNKS[0]), reason="CoNLL-2000 is not at hand: set WEFT_DATA")
abstracts_at_hand = pytest.mark.skipif(not have(recipe.ABSTRACTS), reason="JNLPBA is not at hand: set WEFT_DATA")


@pytest.fixture(scope="module")
def chunks():
    """2,000 sentences to learn from, 500 to test on, and what three systems find in these."""
    samples = recipe.chunk_samples(find(recipe.CHUNKS[0]))
    train, test = samples[:2000], samples[-500:]
    templates = f"{recipe.CHUNK_WORDS}\n{recipe.CHUNK_MORE}"
    return {
        "gold": recipe.gold_of(test),
        "crf": recipe.tagger(train, test, recipe.CHUNK_WORDS),
        "free": recipe.multilabel(train, test, templates, epochs=5),
        "bound": recipe.multilabel(train, test, templates, "contiguous no-overlap", epochs=5),
    }


@pytest.mark.corpus
@chunks_at_hand
@pytest.mark.must_show("structured-multilabel-segmentation", 5)
def test_chunks_come_close_to_the_crf_and_restrictions_raise_recall(chunks):
    crf, free, bound = (chunks[name].report(chunks["gold"]).score for name in ("crf", "free", "bound"))
    assert bound.f1 >= crf.f1 - 0.01
    assert free.precision > free.recall + 0.02
    assert bound.recall > free.recall
    assert bound.f1 > free.f1


@pytest.mark.corpus
@chunks_at_hand
@pytest.mark.must_show("structured-multilabel-segmentation", 6)
@pytest.mark.parametrize("system", ["free", "bound"])
def test_precision_rises_and_recall_falls_with_the_threshold(chunks, system):
    output, gold = chunks[system], chunks["gold"]
    curve = threshold_curve(output.ranked, gold)
    assert [theta for theta, _ in curve][::10] == [-1.0, 0.0, 1.0]
    scores = [score for _, score in curve]
    assert all(a.recall >= b.recall for a, b in pairwise(scores))
    assert all(a.precision <= b.precision + 0.005 for a, b in pairwise(scores))
    # The curve comes from one ranking, and is that of evaluating every threshold by itself.
    for theta, score in curve[::5]:
        assert evaluate_span_sets(gold, above(output.ranked, theta)).score == score


@pytest.mark.corpus
@abstracts_at_hand
@pytest.mark.must_show("structured-multilabel-segmentation", 4)
def test_ellipsis_is_found_where_taggers_are_blind():
    plain = natural(recipe.stand_off(find(recipe.ABSTRACTS)))
    train, _ = recipe.folds(generated(plain), 4)[1]  # a coordination in 6 % of the sentences; features were made on [0]
    inner, dev = recipe.folds([sample for sample in train if sample.segments], 10)[0]
    seen = {sample.text for sample in train}
    pairs = zip(plain, generated(plain, share=1.0, seed=1), strict=True)
    test = [new for old, new in pairs if new.text not in seen and new != old][:400]
    gold = recipe.gold_of(test)
    templates = f"{recipe.PLAIN_WORDS}\n{recipe.PLAIN_MORE}"
    ours = recipe.multilabel(inner, test, templates, "no-embedding", dev, epochs=5, gap=8).tuned()
    crf = recipe.tagger(inner + dev, test, recipe.PLAIN_WORDS)
    assert len(test) == 400
    assert sum(map(len, recipe.with_gaps(gold))) > 400
    assert crf.gap_report(gold).score.recall == 0.0
    assert ours.gap_report(gold).score.f1 > 0.4
    assert ours.report(gold).score.f1 > crf.report(gold).score.f1 + 0.05


def test_coordinations_are_split_by_rule():
    assert split_coordination(["L1", "and", "L2", "genes"]) == [(0, 3), (2, 3)]
    assert split_coordination(["alpha", ",", "beta", ",", "or", "gamma", "chains"]) == [(0, 6), (2, 6), (5, 6)]
    assert split_coordination(["type", "1", "and", "2"]) == [(0, 1), (0, 3)]
    assert split_coordination(["AP-1", "/", "E3", "site"]) == [(0, 3), (2, 3)]
    assert split_coordination(["salt", "and", "pepper"]) is None
    assert split_coordination(["alpha", "and", "/", "chain"]) is None
    assert split_coordination(["red", "cells"]) is None


def test_generated_ellipsis_keeps_every_mention_at_its_words():
    sentences = [
        Sample(("we", "saw", "red", "cells", "and", "old", "mice"), ((((2, 4),), "C"), (((5, 7),), "M"))),
        Sample(("blue", "cells", "ate", "young", "mice"), ((((0, 2),), "C"), (((3, 5),), "M"))),
        Sample(("green", "cells", "slept"), ((((0, 2),), "C"),)),
    ]
    known = {("red", "cells"), ("blue", "cells"), ("green", "cells"), ("old", "mice"), ("young", "mice")}
    gaps = 0
    for seed in range(20):
        for sample in generated(sentences, share=1.0, seed=seed):
            doc = document([sample])
            ((segments),) = sentence_segments(doc, "segments")
            for parts, _ in segments:
                gaps += len(parts) > 1
                assert tuple(word for start, end in parts for word in sample.words[start:end]) in known
    assert gaps > 30


def test_texts_are_kept_together_in_folds():
    samples = [Sample(("a",), (), (), f"text {i // 3}") for i in range(30)]
    parts = recipe.folds(samples, 5)
    assert sum(len(test) for _, test in parts) == 30
    for train, test in parts:
        assert not {s.text for s in train} & {s.text for s in test}


def test_columns_of_labels_become_nested_segments(tmp_path):
    import gzip

    path = tmp_path / "nested.tsv.gz"
    path.write_bytes(gzip.compress(b"#\tsource\n1\tBonn\tB-ORG\tB-LOC\n2\tUniversity\tI-ORG\tO\n\n1\tno\tO\tO\n"))
    first, second = layered_columns(path, 1, slice(2, 4))
    assert first.segments == ((((0, 2),), "ORG"), (((0, 1),), "LOC"))
    assert second.segments == ()
    assert not first.flat
    assert second.flat
