"""The tables of verbs and their quirks, the generated world, baselines, and what the recorded run shows."""

from __future__ import annotations

import numpy as np
import pytest
from recorded import rows

from weft.errors import DataError
from weft.lexical.resources.source import read_patches
from weft.lexical.wordnet import find_wordnet
from weft.recipes.semantics.david_preference_violations import generated
from weft.recipes.semantics.david_preference_violations.crossed import attributed
from weft.recipes.semantics.david_preference_violations.data import (
    TSVETKOV,
    Example,
    development_verbs,
    read_moh_x,
    read_trofi_x,
    read_tsvetkov,
)
from weft.recipes.semantics.david_preference_violations.experiment import world_f1
from weft.recipes.semantics.david_preference_violations.scoring import Cell, judge_given, judge_predicted, memorized
from weft.recipes.semantics.david_preference_violations.sentences import Roles, roles_of
from weft.tasks.preferences.resources import PATCHES, SEMLINK, VERBNET, Resources, own_patches
from weft.text.doc import Doc
from weft.text.frames import FrameRow, Role, set_frames

SLUG = "david-preference-violations"


def test_the_tables_are_read_as_they_are(tmp_path):
    (tmp_path / "lit.csv").write_text(
        "J,J,J,J,J,subject,verb,object,sentence\n0,0,0,0,0,,prune,hedge,Prune the hedge\n"
    )
    (tmp_path / "met.csv").write_text("J,J,J,J,J,subject,verb,object,sentence\n1,1,1,0,1,talk,turn,,The talk turned\n")
    assert read_tsvetkov(tmp_path / "lit.csv", tmp_path / "met.csv") == [
        Example("prune", "", "hedge", "Prune the hedge", False), Example("turn", "talk", "", "The talk turned", True),
    ]  # fmt: skip
    (tmp_path / "moh.csv").write_text(
        "arg1,arg2,verb,sentence,verb_idx,label\nbudget,,prune, They pruned the budgets .,1,1\n"
        "budget,,grow, The budget grew ,2,1\n"
    )
    first, second = read_moh_x(tmp_path / "moh.csv")
    assert (first.subject, first.object, first.form, first.metaphor) == ("", "budget", "pruned", True)
    assert (second.subject, second.object, second.place) == ("budget", "", 2)
    (tmp_path / "trofi.csv").write_text(
        "arg1,arg2,verb,sentence,verb_stem,label\nminister,pruned,laws,The minister pruned laws .,prune,1\n"
    )
    [only] = read_trofi_x(tmp_path / "trofi.csv")
    assert only == Example("prune", "minister", "laws", "The minister pruned laws .", True, "pruned")


@pytest.mark.parametrize(
    ("line", "message"),
    [("a,b,c", "line 2: expected 6 columns"), ("a,b,c,d,e,2", "line 2: expected a lemma and a label")],
)
def test_bad_tables_are_refused_with_file_and_line(tmp_path, line, message):
    (tmp_path / "bad.csv").write_text(f"1,2,3,4,5,6\n{line}\n")
    with pytest.raises(DataError, match=f"bad.csv, {message}"):
        read_trofi_x(tmp_path / "bad.csv")
    (tmp_path / "bad.csv").write_text("1,2,3,4,5,6\nx,,v,a sentence,9,1\n")
    with pytest.raises(DataError, match=r"bad.csv, line 2: expected the place of a verb"):
        read_moh_x(tmp_path / "bad.csv")


def test_a_third_of_the_verbs_is_for_development():
    examples = [Example(f"v{i % 48}", "", "x", "", True) for i in range(480)]
    dev = development_verbs(examples)
    assert len(dev) == 16
    assert dev == development_verbs(examples[::-1])
    assert len(read_patches(PATCHES)) <= 40
    assert all(patch.reason.strip() for patch in own_patches())


def test_the_verb_of_a_sentence_is_found_by_place_form_or_lemma():
    doc = Doc.from_words(
        [["They", "cut", "and", "cut", "taxes"]], upos=[["PRON", "VERB", "CCONJ", "VERB", "NOUN"]],
        head=[[2, 0, 4, 2, 4]], deprel=[["nsubj", "root", "cc", "conj", "obj"]],
    )  # fmt: skip
    set_frames(doc, [FrameRow(1, "cut.01", (Role("A0", 0, 1),)), FrameRow(3, "cut.01", (Role("A1", 4, 5),))])
    assert sorted(roles_of(doc, Example("cut", "", "", "", True)).fillers) == ["A0"]
    assert sorted(roles_of(doc, Example("cut", "", "", "", True, "cut", 3)).fillers) == ["A1"]
    assert roles_of(doc, Example("sew", "", "", "", True)).why == "no frame"


def test_the_memorizer_does_not_see_the_example_itself():
    examples = [Example("v", "", "x", "", label) for label in (True, False, False)]
    assert [each.outcome for each in memorized(examples)] == ["ok", "ok", "ok"]
    assert memorized([Example("w", "", "x", "", True)])[0].outcome == "ok"


def test_shares_of_errors_add_up():
    random = np.random.default_rng(0)
    shares = attributed(*(random.random(50) < 0.5 for _ in range(4)))
    assert sum(shares.values()) == pytest.approx(100)


def test_the_generated_world_is_the_same_for_a_seed_and_its_patches_mend_it():
    world, again = generated.world(3, 60), generated.world(3, 60)
    assert world.sentences == again.sentences
    assert world.patches == again.patches
    assert world_f1(world, True, True) == 1.0
    assert world.mended.reverted() == world.resources


@pytest.mark.parametrize("seed", [0, 1])
def test_each_correction_helps_alone_in_the_generated_world(seed):
    world = generated.world(seed, 400)
    neither = world_f1(world, False, False)
    assert world_f1(world, True, False) > neither
    assert world_f1(world, False, True) > neither


@pytest.mark.must_show("david-preference-violations", 4)
def test_both_corrections_bring_more_than_the_sum_of_each_alone_in_the_generated_world():
    extra = []
    for seed in range(5):
        world = generated.world(seed, 500)
        neither, tools, resources, both = (
            world_f1(world, *corrected) for corrected in ((False, False), (True, False), (False, True), (True, True))
        )
        extra.append((both - neither) - (tools - neither) - (resources - neither))
    assert min(extra) > 0


@pytest.fixture(scope="module")
def real(corpus_file) -> Resources:
    if find_wordnet() is None:
        pytest.skip("there is no WordNet database here")
    return Resources.read(corpus_file(VERBNET), [corpus_file(path) for path in SEMLINK])


@pytest.mark.must_show(
    "david-preference-violations", 5, weaker="on Tsvetkov alone; on TroFi-X memorizing verbs is more precise"
)
def test_precision_on_given_triples_is_above_the_base_rate_and_a_baseline_without_a_lexicon(real, corpus_file):
    examples = read_tsvetkov(*(corpus_file(path) for path in TSVETKOV))
    patched = real.patched(own_patches())
    score = Cell(examples, [judge_given(each, patched) for each in examples]).counts.total()
    assert len(examples) == 222
    assert score.precision >= 0.85
    assert score.precision > 0.5
    assert score.precision > Cell(examples, memorized(examples)).counts.total().precision
    flagged = [
        each for each in examples if judge_predicted(each, Roles({}, "no frame"), patched).outcome == "violation"
    ]
    assert flagged == []


@pytest.mark.must_show(
    "david-preference-violations", 5, weaker="above base rates; on TroFi-X memorizing verbs is more precise"
)
def test_precision_of_the_recorded_run_is_above_base_rates():
    table = rows(SLUG, "Arguments of the tables")
    for name, bar in (("Tsvetkov", 85), ("MOH-X", 60)):
        assert table[f"{name}, patched"]["P"] >= bar
        assert table[f"{name}, patched"]["P"] > table[f"{name}, patched"]["base rate"]
    objects = table["TroFi-X, objects alone, patched"]
    assert objects["P"] > objects["base rate"]


@pytest.mark.must_show(
    "david-preference-violations", 5, weaker="above base rates; on TroFi-X memorizing verbs is more precise"
)
def test_patches_raise_f1_on_the_development_third_and_lose_nothing_elsewhere():
    gains = {}
    for part in ("development third of TroFi-X", "rest of TroFi-X", "MOH-X", "Tsvetkov"):
        table = rows(SLUG, f"Tools by resources, {part}")
        for tools in ("given", "predicted"):
            before, after = (table[f"{tools} arguments, {state} resources"]["F"] for state in ("raw", "patched"))
            gains[part, tools] = after - before
    assert min(gains["development third of TroFi-X", tools] for tools in ("given", "predicted")) > 10
    assert min(gains[part, tools] for part in ("MOH-X", "Tsvetkov") for tools in ("given", "predicted")) > 0
    assert min(gains["rest of TroFi-X", tools] for tools in ("given", "predicted")) >= 0
