"""Checks of the sheet of disfluency-parser on generated repairs, in sizes that take seconds.

1 to 4 stand in tests/infer, 6 in tests/recipes/recorded.
"""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np
import pytest
from steps import steps_of

from weft.data import find, have
from weft.errors import FormatError
from weft.evaluate.labels.disfluency import analyses_of, score_analyses
from weft.recipes.framework import RecipeOptions
from weft.recipes.parsing.disfluency_parser import experiment as recipe
from weft.recipes.parsing.disfluency_parser.systems import (
    cleaned,
    detect,
    observe,
    parse_jointly,
    parse_rest,
    struck_in,
    train_detector,
    train_joint,
    train_plain,
)
from weft.tasks.speech.features import PLAIN, WITH_EDIT, WITH_LABELS
from weft.tasks.speech.generated import with_repairs
from weft.tasks.speech.switchboard import read_switchboard
from weft.text import Doc
from weft.text.conventions.repairs import struck_words

TRAIN = "treebanks/ud/English-EWT/train.conllu.gz"
SIZE = recipe.Size(("generated",), sentences=1500, test_sentences=1000, longest=14, beam=8, epochs=3)
SEEDS = (0, 1)
corpus = [
    pytest.mark.corpus,
    pytest.mark.skipif(not have(TRAIN), reason="UD_English-EWT is not at hand: set WEFT_DATA (see `weft data list`)"),
]


def test_generated_repairs_leave_the_tree_of_the_sentence_as_it_is():
    words, tags = ["we", "saw", "the", "old", "boat"], ["PRON", "VERB", "DET", "ADJ", "NOUN"]
    doc = Doc.from_words([words] * 200, upos=[tags] * 200, head=[[2, 0, 5, 5, 2]] * 200,
                       deprel=[["nsubj", "root", "det", "amod", "obj"]] * 200)  # fmt: skip
    made = with_repairs(doc, 0.1, seed=3)
    share = np.mean(struck_in([made])[0])
    assert 0.07 < share < 0.13
    rest = cleaned([made])[0]
    kept = [[w for w, r in zip(rest.column("form")[a:b], rest.column("deprel")[a:b], strict=True) if r != "discourse"]
            for a, b in pairwise(rest.sentence_offsets.tolist())]  # fmt: skip
    assert kept == [words] * 200
    for first, end in pairwise(made.sentence_offsets.tolist()):
        heads, names = made.head[first:end].tolist(), made.column("deprel")[first:end]
        struck = struck_words(heads, names)
        assert all(not struck[head - 1] for head, out in zip(heads, struck, strict=True) if head and not out)


def test_repairs_come_in_all_kinds():
    doc = Doc.from_words([["we", "saw", "boats"]] * 500, upos=[["PRON", "VERB", "NOUN"]] * 500,
                       head=[[2, 0, 2]] * 500, deprel=[["nsubj", "root", "obj"]] * 500)  # fmt: skip
    forms = with_repairs(doc, 0.1, seed=1).column("form")
    assert {"i_mean", "you_know", "well", "sorry"} <= set(forms)


def test_switchboard_is_read(tmp_path):
    path = tmp_path / "calls.tsv"
    rows = [
        ("1:A:0:sd", "(1:0:0)", "we", "PRP", '<rms id="1"/>'), ("", "(1:0:1)", "uh", "UH", "<e/>"),
        ("", "(1:0:2)", "$unc$we", "PRP", '<rps id="1"/>'), ("", "(1:0:3)", "sail", "VBP", "<f/>"),
        ("1:B:1:b", "(1:1:0)", "really", "UH", "<f/>"),
    ]  # fmt: skip
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    doc = read_switchboard(path)
    assert doc.column("form") == ["we", "we", "sail", "really"]
    assert doc.n_sentences == 2
    assert [pieces for pieces, _ in doc.spans["disfluencies"]] == [((0, 1),)]
    path.write_text("one\ttwo\n", encoding="utf-8")
    with pytest.raises(FormatError, match="five tab-separated fields"):
        read_switchboard(path)


def test_a_detector_sees_how_far_off_a_copy_is():
    doc = observe(Doc.from_words([["a", "b", "a", "b", "c"]], upos=[["X"] * 5]))
    assert doc.column("again") == ["2", "2", "", "", ""]
    assert doc.column("before") == ["", "", "2", "2", ""]
    assert doc.column("copy") == ["2:2", "2:1", "", "", ""]


@pytest.fixture(scope="module")
def data():
    return recipe.material(RecipeOptions(), "generated", SIZE)


@pytest.fixture(scope="module")
def joint(data):
    return {seed: train_joint(data[0], WITH_EDIT, SIZE.beam, SIZE.epochs, seed) for seed in SEEDS}


def scores_of(analyses, test):
    return score_analyses(analyses_of(test), analyses).as_dict()


class TestOrder:
    pytestmark = corpus

    @pytest.mark.must_show(
        "disfluency-parser", 5, weaker="joint parsing may lose 2.5 points of UAS against the pipeline"
    )
    def test_features_and_edit_each_raise_f_and_edit_parses_less_well_than_on_clean_text(self, data, joint):
        train, test = data
        rows = {"edit": [parse_jointly(joint[seed], test) for seed in SEEDS]}
        for name, templates in (("baseline", PLAIN), ("features", WITH_LABELS)):
            plain = [train_joint(train, templates, SIZE.beam, SIZE.epochs, seed, edit=False) for seed in SEEDS]
            rows[name] = [parse_jointly(parser, test) for parser in plain]
        parsers = [train_plain(cleaned(train), PLAIN, SIZE.beam, SIZE.epochs, seed) for seed in SEEDS]
        rows["oracle"] = [parse_rest(parser, test, struck_in(test)) for parser in parsers]
        found = detect(train_detector(train, struck_in(train)), test)
        rows["pipeline"] = [parse_rest(parser, test, found) for parser in parsers]
        means = {
            name: {key: float(np.mean([scores_of(run, test)[key] for run in runs])) for key in ("F", "UAS")}
            for name, runs in rows.items()
        }
        f = {name: mean["F"] for name, mean in means.items()}
        assert f["baseline"] < f["features"] < f["edit"], means
        assert f["edit"] - f["baseline"] >= 0.05, means
        uas = {name: mean["UAS"] for name, mean in means.items()}
        assert uas["edit"] < uas["oracle"], means
        # The sheet has joint parsing at least as good as the pipeline. On generated repairs, most of which are exact
        # copies that a CRF finds, it is one or two points below; the recipe reports the difference on all data.
        assert uas["baseline"] < uas["edit"], means
        assert uas["edit"] > uas["pipeline"] - 0.025, means

    @pytest.mark.must_show("disfluency-parser", 7)
    def test_steps_grow_with_the_length_of_utterances_and_edit_costs_at_most_a_tenth(self, data, joint):
        some, few = [data[0][0].subset(list(range(200)))], [data[1][0].subset(list(range(4)))]
        parsers = [train_joint(some, WITH_EDIT, SIZE.beam, 1, 0, edit) for edit in (True, False)]
        steps = [steps_of(lambda parser=parser: parse_jointly(parser, few)) for parser in parsers]
        assert steps[0] < 1.1 * steps[1], steps
        forms, tags = data[1][0].column("form")[:32], data[1][0].column("upos")[:32]
        steps = []
        for length in (8, 32):
            cuts = range(0, 32, length)
            doc = Doc.from_words([forms[at : at + length] for at in cuts], upos=[tags[at : at + length] for at in cuts])
            steps.append(steps_of(lambda doc=doc: joint[0].analyse([doc])))
        assert steps[1] < 2 * steps[0], steps  # as many words in fewer, longer utterances: 4 would be quadratic

    @pytest.mark.must_show("disfluency-parser", 7)
    @pytest.mark.timing
    def test_time_grows_with_the_length_of_utterances_and_edit_costs_at_most_a_tenth(self, data, joint):
        train, test = data
        with_edit = joint[0]
        plain = train_joint(train, WITH_EDIT, SIZE.beam, 2, 0, edit=False)
        best = {True: np.inf, False: np.inf}
        for done in range(40):  # in turn, until the best of both have been seen: a busy machine changes its mind
            for edit, parser in ((True, with_edit), (False, plain)):
                best[edit] = min(best[edit], seconds_of(lambda parser=parser: parse_jointly(parser, test)))
            if done >= 5 and best[True] < 1.05 * best[False]:
                break
        assert best[True] < 1.1 * best[False], best
        forms, tags = test[0].column("form"), test[0].column("upos")
        times = []
        for length in (60, 120, 240, 480):
            rows = [forms[at : at + length] for at in range(0, 960, length)]
            marks = [tags[at : at + length] for at in range(0, 960, length)]
            doc = Doc.from_words(rows, upos=marks)
            times.append(min(seconds_of(lambda doc=doc: with_edit.analyse([doc])) for _ in range(10)))
        assert times[-1] < 2.5 * times[0], times  # as many words in fewer, longer utterances: 8 would be quadratic


def seconds_of(action) -> float:
    started = time.process_time()
    action()
    return time.process_time() - started


@pytest.mark.corpus
@pytest.mark.skipif(not have(recipe.SWITCHBOARD[0]), reason="Switchboard is not at hand: set WEFT_DATA")
def test_rough_copies_help_a_detector_on_switchboard():
    calls = read_switchboard(find(recipe.SWITCHBOARD[0]))
    cut = calls.subset(list(range(1200))), calls.subset(list(range(1200, 1800)))
    marks = [recipe.spoken(doc) for doc in cut]
    f = {}
    for templates in (recipe.PLAIN_DETECTOR, recipe.DETECTOR):
        guess = np.array(detect(train_detector([cut[0]], [marks[0]], templates), [cut[1]])[0])
        gold = np.array(marks[1])
        f[templates] = 2 * (guess & gold).sum() / (guess.sum() + gold.sum())
    assert f[recipe.DETECTOR] > f[recipe.PLAIN_DETECTOR] + 0.05, f
