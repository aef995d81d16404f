"""Greedy forward selection."""

from itertools import combinations

import numpy as np
import pytest

from weft.errors import ConfigError
from weft.features.templates import Templates
from weft.learn.selection import forward_selection, mean_less_deviation
from weft.tasks.uncertainty.data import look
from weft.tasks.uncertainty.models import LabelModel, Margin
from weft.text import Doc

FOLDS = 3


def planted(seed=0, sentences=90):
    """Sentences whose labels follow the token, or the label before where the token is `again`; other columns are noise.

    The relation matters through a product only: with the lemma it tells B from O where the token is `either`.
    """
    rng = np.random.default_rng(seed)
    columns = {name: [] for name in ("TOKEN", "LEMMA", "DEPREL", "DOCPT", "QUANT", "HEAD")}
    labels, lengths = [], []
    for _ in range(sentences):
        n = int(rng.integers(3, 9))
        lengths.append(n)
        before = 2
        for _ in range(n):
            token = rng.choice(["begin", "inside", "out", "again", "either"])
            lemma, relation = rng.choice(["l1", "l2"]), rng.choice(["r1", "r2"])
            if token == "again":
                label = before
            elif token == "either":
                label = 0 if (lemma == "l1") == (relation == "r1") else 2
            else:
                label = {"begin": 0, "inside": 1, "out": 2}[token]
            labels.append(label if rng.random() > 0.02 else int(rng.integers(3)))
            before = labels[-1]
            for name, value in (("TOKEN", token), ("LEMMA", lemma), ("DEPREL", relation)):
                columns[name].append(str(value))
            for name in ("DOCPT", "QUANT", "HEAD"):
                columns[name].append(str(rng.integers(4)))
    doc = Doc.from_words([])
    doc.word_token = np.arange(sum(lengths), dtype=np.int32)
    doc.set_sentences(np.concatenate([[0], np.cumsum(lengths)]))
    doc.columns = {name: doc.strings.ids(values) for name, values in columns.items()}
    return doc, np.array(labels, dtype=np.int32)


@pytest.mark.must_show("uncertainty-detection", 7)
@pytest.mark.parametrize("workers", [1, 2])
def test_planted_templates_are_found_and_the_search_stops(workers):
    doc, gold = planted()
    templates = Templates(
        "DOCPT[0] QUANT[0] HEAD[0] LABEL[-1]|TOKEN[0] TOKEN[0] TOKEN[0]|LEMMA[0]|DEPREL[0] HEAD[-1] QUANT[1] DOCPT[-1]"
    )
    names = [str(each) for each in templates]
    observed = look(doc, templates)
    fold = np.arange(doc.n_sentences) % FOLDS
    words = np.repeat(fold, np.diff(observed.sentences))

    def score(chosen):
        own = observed.choose([names.index(each) for each in chosen])
        scores = []
        for number in range(FOLDS):
            inside, outside = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
            model = LabelModel.fit(templates, own.take(outside), gold[words != number], Margin(epochs=5), bits=12)
            scores.append(float((model.best(own.take(inside)) == gold[words == number]).mean()))
        return scores

    found = forward_selection(names, score, least=0.002, workers=workers)
    informative = {"LABEL[-1]|TOKEN[0]", "TOKEN[0]|LEMMA[0]|DEPREL[0]"}
    assert informative <= set(found.chosen) <= {*informative, "TOKEN[0]"}
    assert found.steps[-1].value > 0.9
    assert found.tried <= sum(range(len(names) - len(found.chosen), len(names) + 1))


def test_the_stable_candidate_wins_over_the_lucky_one():
    scores = {"stable": [0.8, 0.8, 0.8], "lucky": [0.6, 0.9, 1.0]}
    found = forward_selection(list(scores), lambda chosen: scores[chosen[-1]], limit=1)
    assert found.chosen == ["stable"]
    assert forward_selection(list(scores), lambda chosen: scores[chosen[-1]], limit=1, deviations=0).chosen == ["lucky"]


def test_each_step_takes_the_best_of_all_candidates():
    rng = np.random.default_rng(1)
    values = {frozenset(each): rng.random(3) for size in range(1, 5) for each in combinations("abcd", size)}
    found = forward_selection(list("abcd"), lambda chosen: values[frozenset(chosen)])
    so_far: list[str] = []
    for step in found.steps:
        options = {each: mean_less_deviation(values[frozenset([*so_far, each])]) for each in set("abcd") - set(so_far)}
        assert step.value == max(options.values()) == options[step.added]
        so_far.append(step.added)
    more = [mean_less_deviation(values[frozenset([*so_far, each])]) for each in set("abcd") - set(so_far)]
    assert all(value <= found.steps[-1].value for value in more)


def test_a_start_is_kept_and_bad_options_refused():
    found = forward_selection(["a", "b"], lambda chosen: [float(len(chosen))], start=["a"])
    assert found.chosen == ["a", "b"]
    assert found.tried == 2
    with pytest.raises(ConfigError, match="workers"):
        forward_selection(["a"], lambda chosen: [0.0], workers=0)
