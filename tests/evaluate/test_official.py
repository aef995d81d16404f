"""Our scores are those of the official scorers: `udtools` for Universal Dependencies, `seqeval` for spans."""

from __future__ import annotations

from collections import Counter, defaultdict
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
import seqeval.metrics as seqeval
from hypothesis import given, settings
from hypothesis import strategies as st
from udtools import udeval

import weft
from weft.data import find, have
from weft.evaluate import evaluate_ud
from weft.evaluate.labels.spans import conlleval
from weft.evaluate.trees.ud import METRICS
from weft.formats.conllu.files import parse_text
from weft.recipes.sequences import crf_shallow_parsing
from weft.text import Doc

TREEBANKS = [f"treebanks/ud/{name}/dev.conllu.gz" for name in ("English-EWT", "French-Sequoia", "Turkish-IMST")]
RELATIONS = ("nsubj", "nsubj:pass", "obj", "obl:arg", "case", "det", "mark", "cc", "conj", "punct", "flat", "aux")
FEATURES = ("_", "Number=Sing", "Number=Plur|Case=Nom", "Case=Acc|Style=Coll", "Typo=Yes")


def official(gold: str, system: str) -> dict[str, object]:
    return udeval.evaluate(*(udeval.load_conllu(StringIO(text), "", {}) for text in (gold, system)))


def assert_same(gold: str, system: str) -> dict[str, object]:
    """Every metric has the counts of the official scorer."""
    theirs = official(gold, system)
    ours = evaluate_ud(parse_text(gold), parse_text(system)).scores
    for name in METRICS:
        assert ours[name].correct == theirs[name].correct, name
        assert ours[name].gold == theirs[name].gold_total, name
        assert ours[name].system == theirs[name].system_total, name
        assert ours[name].f1 == pytest.approx(theirs[name].f1), name
    return theirs


def generated(characters: str, seed: int) -> str:
    """Random sentences, words, multiword tokens, tags and trees over given characters, in CoNLL-U."""
    random = np.random.default_rng(seed)
    tokens, at = [], 0
    while at < len(characters):
        size = int(random.integers(1, 5))
        tokens.append(characters[at : at + size])
        at += size
    lines: list[str] = []
    while tokens:
        rows, size = [], int(random.integers(1, 8))
        sentence, tokens = tokens[:size], tokens[size:]
        words: list[tuple[str, list[str]]] = [
            (token, [token[:1], token[1:]] if len(token) > 1 and random.random() < 0.2 else [token])
            for token in sentence
        ]
        n = sum(len(parts) for _, parts in words)
        order = random.permutation(n) + 1
        heads = {int(word): 0 if i == 0 else int(order[random.integers(0, i)]) for i, word in enumerate(order)}
        number = 0
        for token, parts in words:
            if len(parts) > 1:
                rows.append("\t".join([f"{number + 1}-{number + 2}", token, *["_"] * 8]))
            for part in parts:
                number += 1
                relation = "root" if heads[number] == 0 else str(random.choice(RELATIONS))
                upos, feats = (str(random.choice(values)) for values in (("NOUN", "VERB", "ADP"), FEATURES))
                lemma, xpos = (str(random.choice(values)) for values in (("_", part, "x"), ("A", "B")))
                rows.append(
                    "\t".join([str(number), part, lemma, upos, xpos, feats, str(heads[number]), relation, "_", "_"])
                )
        lines += [*rows, ""]
    return "\n".join(lines) + "\n"


@pytest.mark.must_show("universal-treebank", 6)
@settings(max_examples=40, deadline=None)
@given(st.text("abcdeéß", min_size=1, max_size=40), st.integers(0, 2**16))
def test_universal_dependencies_are_scored_as_by_the_official_scorer_on_generated_trees(characters, seed):
    assert_same(generated(characters, seed), generated(characters, seed + 1))


def as_conllu(docs: list[Doc], path: Path) -> str:
    weft.write(docs, path)
    return path.read_text(encoding="utf-8")


@pytest.mark.must_show("universal-treebank", 6)
@pytest.mark.corpus
@pytest.mark.parametrize("treebank", TREEBANKS)
def test_universal_dependencies_are_scored_as_by_the_official_scorer_on_parsed_text(treebank, tmp_path):
    """Our English model on the text of treebanks: right and wrong sentences, tokens, tags and trees."""
    if not have(treebank):
        pytest.skip("the treebank is not at hand: set WEFT_DATA (see `weft data list`)")
    gold = list(weft.read(find(treebank)).take_sentences(60))
    system = [weft.load("en")(doc.text) for doc in gold]
    theirs = assert_same(as_conllu(gold, tmp_path / "gold.conllu"), as_conllu(system, tmp_path / "system.conllu"))
    assert 0 < theirs["LAS"].f1 < 1
    assert theirs["Words"].f1 < 1 or treebank.endswith("EWT/dev.conllu.gz")


labels = st.sampled_from(["O", "B-NP", "I-NP", "B-VP", "I-VP"])
rows = st.lists(st.lists(st.tuples(labels, labels), min_size=1, max_size=8), min_size=1, max_size=5)


def assert_same_spans(gold: list[list[str]], system: list[list[str]]) -> float:
    ours = conlleval(gold, system)
    for name, value in (("precision", ours.score.precision), ("recall", ours.score.recall), ("f1", ours.score.f1)):
        theirs = getattr(seqeval, f"{name}_score")(gold, system, zero_division=0)
        assert value == pytest.approx(float(theirs)), name
    table = seqeval.classification_report(gold, system, output_dict=True, zero_division=0)
    for label, counts in ours.by_label.items():
        assert counts.total().f1 == pytest.approx(table.get(label, {"f1-score": 0.0})["f1-score"]), label
    return ours.score.f1


@pytest.mark.must_show("crf-shallow-parsing", 7)
@pytest.mark.filterwarnings("ignore")
@settings(max_examples=80, deadline=None)
@given(rows)
def test_spans_are_scored_as_by_seqeval_on_generated_labels_well_formed_or_not(sentences):
    gold, system = ([[pair[side] for pair in row] for row in sentences] for side in (0, 1))
    assert_same_spans(gold, system)


@pytest.mark.must_show("crf-shallow-parsing", 7)
@pytest.mark.corpus
def test_spans_are_scored_as_by_seqeval_on_chunks_by_the_most_frequent_label_of_a_tag():
    """A tag's most frequent label makes labellings that are often malformed."""
    if not have(crf_shallow_parsing.TRAIN):
        pytest.skip("CoNLL-2000 is not at hand: set WEFT_DATA (see `weft data list`)")
    train = crf_shallow_parsing.sentences(
        weft.read(find(crf_shallow_parsing.TRAIN), format="columns").load().take_sentences(400)
    )
    tags = [row for doc in train.docs for row in rows_of(doc, "xpos")]
    seen: dict[str, Counter[str]] = defaultdict(Counter)
    for row, given_labels in zip(tags, train.labels, strict=True):
        for tag, label in zip(row, given_labels, strict=True):
            seen[tag][label] += 1
    system = [[seen[tag].most_common(1)[0][0] for tag in row] for row in tags]
    assert 0.6 < assert_same_spans([list(row) for row in train.labels], system) < 0.9


def rows_of(doc: Doc, column: str) -> list[list[str]]:
    values = doc.column(column)
    return [values[a:b] for a, b in zip(doc.sentence_offsets[:-1], doc.sentence_offsets[1:], strict=True)]
