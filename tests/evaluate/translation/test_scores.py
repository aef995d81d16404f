import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError, DataError
from weft.evaluate.translation.scores import METRICS, compare, count, interval

metrics = pytest.importorskip("sacrebleu.metrics")
WORDS = ("the", "boat", "sinks", "boats", "a")


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**20), st.integers(1, 5))
def test_summed_counts_score_as_sacrebleu_scores_the_corpus(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    rows = [[" ".join(rng.choice(WORDS, rng.integers(1, 9))) for _ in range(3)] for _ in range(n)]
    said = [row[0] for row in rows]
    references = [[row[1], row[2]] for row in rows]
    streams = [list(each) for each in zip(*references, strict=True)]
    peers = {
        "BLEU": metrics.BLEU(tokenize="none", smooth_method="none", force=True),
        "chrF": metrics.CHRF(),
        "TER": metrics.TER(),
    }
    for metric in METRICS:
        found = count(said, references, metric).score()
        assert found == pytest.approx(peers[metric].corpus_score(said, streams).score, abs=1e-6)


def test_a_worse_system_is_worse_by_every_metric_and_the_test_sees_it() -> None:
    references = [[f"the boat number {k} sinks near the old pier"] for k in range(40)]
    good = [each[0] for each in references]
    bad = [text.replace("near the", "the near") for text in good]
    for metric in METRICS:
        found = compare(count(good, references, metric), count(bad, references, metric), 300)
        assert (found.difference > 0) == (metric != "TER")
        assert found.p < 0.01
        assert found.low <= found.difference <= found.high
    same = compare(count(bad, references), count(bad, references), 100, test="bootstrap")
    assert same.difference == 0
    assert same.p > 0.9


def test_the_interval_holds_the_score() -> None:
    references = [[f"a b c d {k % 7}"] for k in range(50)]
    counts = count([f"a b c d {k % 5}" for k in range(50)], references)
    found = interval(counts, 300)
    assert found.low < found.value < found.high
    assert found.value == pytest.approx(counts.score())


def test_what_cannot_be_scored_is_refused() -> None:
    with pytest.raises(DataError, match="must be equal"):
        count(["a"], [["a"], ["b"]])
    with pytest.raises(DataError, match="no translation"):
        count([], [])
    with pytest.raises(ConfigError, match="one of BLEU, chrF, TER"):
        count(["a"], [["a"]], "METEOR")
    with pytest.raises(ConfigError, match="cannot be compared"):
        compare(count(["a"], [["a"]]), count(["a"], [["a"]], "chrF"))
    with pytest.raises(ConfigError, match="randomization or bootstrap"):
        compare(count(["a"], [["a"]]), count(["a"], [["a"]]), test="t")
    assert np.isfinite(count(["a"], [["b"]]).score())
