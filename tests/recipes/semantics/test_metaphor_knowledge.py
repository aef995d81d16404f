"""The generated world of metaphors, a small run in it, and the readers of the real test sets."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

from weft.errors import DataError
from weft.lexical.harvest.harvest import Harvest
from weft.recipes.semantics.metaphor_knowledge import sets
from weft.recipes.semantics.metaphor_knowledge.generated import run_world
from weft.recipes.semantics.metaphor_knowledge.scores import Score, best_threshold
from weft.recipes.semantics.metaphor_knowledge.world import Amounts, World


@pytest.fixture(scope="module")
def outcome():
    return run_world(0, Amounts().times(0.04), (0.1, 1.0), tests=160)


@pytest.mark.must_show(
    "metaphor-knowledge",
    5,
    weaker="a twenty-fifth of the text, one seed; the recorded run has all of it and five seeds",
)
def test_knowledge_beats_preferences_and_the_taxonomy_in_a_small_world(outcome):
    f1 = {name: score.f1 for name, score in outcome.clauses.items()}
    assert f1["ours"] > max(f1["SA"], f1["CP"], f1["VH (net of properties)"], f1["ours, without literal readings"])
    ours, taxonomy = outcome.copulas["ours"], outcome.copulas["KZ (taxonomy)"]
    assert ours.precision > taxonomy.precision
    assert ours.accuracy > taxonomy.accuracy
    assert outcome.copulas["ours, without derived pairs"].recall < ours.recall - 20
    assert outcome.explained["ours"]["top 1"] > outcome.explained["VH (net of properties)"]["top 1"] + 20


@pytest.mark.must_show(
    "metaphor-knowledge",
    6,
    weaker="a twenty-fifth of the text, one seed; the recorded run has all of it and five seeds",
)
def test_more_text_brings_pairs_and_recall_in_a_small_world(outcome):
    first, last = outcome.growth.values()
    for key in ("pairs", "isA pairs", "type 1 R", "types 2/3 R"):
        assert last[key] > first[key], key


def test_a_world_is_the_same_for_a_seed_and_keeps_held_out_words_out_of_metaphors():
    amounts = Amounts(400, 300, 300, 600)
    one, again, other = (list(World(seed).docs(amounts)) for seed in (1, 1, 2))
    assert [doc.text for doc in one] == [doc.text for doc in again]
    assert one[0].text != other[0].text
    world, harvest = World(1), Harvest()
    for doc in world.docs(amounts):
        harvest.add(doc)
    assert harvest.sentences == 1600
    assert harvest.counts["subject"].total + harvest.counts["object"].total == 600
    held_out = sum(count for x, _, count in harvest.counts["simile"] if x in world.held_out)
    assert harvest.counts["simile"].total > 290
    assert held_out < 0.03 * 300  # noise is about any word
    mapped = sum(
        count
        for x, y, count in harvest.counts["simile"]
        if any(x in world.words[a] and world.is_of(y, b) for a, b in world.mappings)
    )
    assert mapped > 0.9 * harvest.counts["simile"].total


def test_test_sentences_are_what_they_say():
    world = World(0)
    copulas, clauses = world.copula_tests(200), world.clause_tests(200)
    assert sum(each.metaphor for each in copulas) == 100
    assert sum(each.x in world.held_out for each in copulas if each.metaphor) == 50
    assert sum(each.metaphor for each in clauses) == 60
    assert all(each.noun in world.held_out for each in clauses if each.unseen)
    for each in clauses:
        if each.kind == "target":
            assert any(each.noun in world.words[a] and b == each.other for a, b in world.mappings)


def test_thresholds_are_chosen_for_f_and_scores_are_percentages():
    margins, gold = np.array([0.0, 0.5, 2.0, 9.0, np.inf]), [False, False, True, False, True]
    assert best_threshold(margins, gold) == 2.0
    assert best_threshold(np.zeros(3), [True, False, True]) == 1.0
    assert Score.of([True, False, True], [True, True, False]).f1 == pytest.approx(50.0)
    assert Score.of([False], [True]).f1 == 0.0


def test_sets_are_read_by_position(tmp_path):
    row = {"5-folds": ["train", "test"], "sentences": ["War is a game."], "A_positions": [[0, 3]],
           "B_positions": [[9, 13]], "labels": [2]}  # fmt: skip
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(row) + "\n")
    assert sets.read_predications(path) == [sets.Predication("War is a game.", (0, 3), (9, 13), 2, 1)]
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(b"arg1,arg2,verb,sentence,verb_stem,label\nplan,struck,wall,It did .,strike,1\n"))
    assert sets.read_trofi_x(path) == [sets.Verbal("strike", (("plan", "subject"), ("wall", "object")), True)]
    path = tmp_path / "m.csv"
    path.write_text("arg1,arg2,verb,sentence,verb_idx,label\ncost,,absorb, We absorbed the costs .,1,1\n")
    assert sets.read_moh_x(path) == [sets.Verbal("absorb", (("cost", "object"),), True)]
    path.write_text("arg1,arg2,verb,sentence,verb_idx,label\ncost,,rise, The costs rise .,2,0\n")
    assert sets.read_moh_x(path)[0].arguments == (("cost", "subject"),)
    one, two = tmp_path / "l.csv", tmp_path / "t.csv"
    for place in (one, two):
        place.write_text("a,b,c,d,e,subject,verb,object,sentence\n0,0,0,0,0,bus,arrive,,The bus arrived.\n")
    assert [each.metaphor for each in sets.read_tsvetkov(one, two)] == [False, True]
    path.write_text("verb,sentence,human_label,cluster_label\nEat,We eat .,metaphorical,L\n")
    assert sets.read_trofi(path) == [("eat", "We eat .", True)]
    path.write_text(";Source Domain;Target Domain;Title;Metaphor;Example\n\n0;Food;Idea;T;M;He chewed on it.\n\n")
    assert sets.read_mappings(path) == [sets.Example("He chewed on it.", "food", "idea")]


@pytest.mark.parametrize(
    ("reader", "text", "message"),
    [
        (sets.read_predications, '{"sentences": []}\n', "line 1: expected a set of labelled sentences"),
        (sets.read_trofi_x, "h\na,b,c\n", "line 2: expected 6 columns, found 3"),
        (sets.read_trofi_x, "h\na,b,c,d,e,2\n", "line 2: expected the label 0 or 1, found '2'"),
        (sets.read_moh_x, "h\na,,c,one two,9,1\n", "line 2: the verb is word '9' of 2"),
        (sets.read_trofi, "h\neat,We eat,maybe,L\n", "line 2: expected literal or metaphorical, found 'maybe'"),
    ],
)
def test_bad_rows_are_refused_with_file_and_line(tmp_path, reader, text, message):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=f"bad.csv, {message}"):
        reader(path)


def test_the_sets_have_the_sizes_of_the_plan(corpus_file):
    cardillo = sets.read_predications(corpus_file("metaphor/is-a/cardillo.jsonl"))
    assert (len(cardillo), sum(row.label == sets.METAPHOR for row in cardillo)) == (520, 260)
    jankowiak = sets.read_predications(corpus_file("metaphor/is-a/jankowiak.jsonl"))
    assert [sum(row.label == label for row in jankowiak) for label in range(3)] == [120, 120, 120]
    moh_x = sets.read_moh_x(corpus_file("metaphor/moh-x/MOH-X_formatted_svo_cleaned.csv"))
    assert len(moh_x) == 647
    assert len(sets.read_trofi_x(corpus_file("metaphor/trofi-x/TroFi-X_formatted_svo.csv.gz"))) == 1444
    assert len(sets.read_trofi(corpus_file("metaphor/trofi/TroFi_annotated.csv.gz"))) == 3737
