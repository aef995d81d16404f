"""Checks of the sheet of scl-tagging on newspaper and reviews, in sizes that take seconds (others: tests/tasks)."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import roc_auc_score

from weft.data import have
from weft.evaluate.labels.tagging import TagReport
from weft.evaluate.significance import mcnemar
from weft.recipes.corpora import adaptation as material
from weft.recipes.framework import RecipeOptions
from weft.recipes.sequences import scl_tagging as recipe
from weft.tasks.tagging.scl import SCLTagger
from weft.tasks.tagging.scl_projection import ProjectionSettings, TokenProjection
from weft.text.doc import Doc

NEEDED = (material.SAMPLE, material.NEWSPAPER.format("train"), material.EWT.format("train"))
pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(
        not all(map(have, NEEDED)), reason="newspaper and web text are not at hand: set WEFT_DATA (`weft data list`)"
    ),
]
#: Annotated sentences of newspaper, few and many, with epochs; words of each raw text that predictors learn from.
FEW, MANY, WORDS = 250, 1_000, 25_000
EPOCHS = {FEW: 4, MANY: 2}


@cache
def reviews() -> recipe.Target:
    """Reviews with a projection of little raw text, judged on their dev part."""
    options = RecipeOptions()
    source = [Doc.from_words(material.newspaper_words(options))]
    raw = material.sentences_of(material.web(options, "reviews", "train")) + material.review_words(options, 200_000)
    both, alone = ProjectionSettings(words=WORDS, pivot_count=100), ProjectionSettings(words=2 * WORDS, pivot_count=200)
    projections: dict[str, TokenProjection | None] = {
        recipe.SCL: TokenProjection.learn([source, [Doc.from_words(raw)]], both),
        recipe.ASO: TokenProjection.learn([[Doc.from_words(raw)]], alone),
    }
    dev = material.web(options, "reviews", "dev")
    return recipe.Target("reviews", dev, material.newspaper(options, 0, MANY), "xpos", projections)


@cache
def trained(method: str, sentences: int = FEW) -> tuple[SCLTagger, TagReport]:
    target = reviews()
    train = target.source.subset(range(sentences))
    tagger = recipe.learn([train], target, method, epochs=EPOCHS[sentences])
    return tagger, recipe.tagged(tagger, target.test, "xpos", set(train.column("form")))


def unknown(report: TagReport) -> float:
    return report.groups["unknown"].total().accuracy


@pytest.mark.must_show("scl-tagging", 5, weaker="SCL and semi-ASO not significantly different, in place of SCL ahead")
def test_with_few_source_sentences_scl_is_above_the_supervised_tagger_on_all_and_on_unknown_words() -> None:
    (_, plain), (_, adapted) = trained(recipe.SUPERVISED), trained(recipe.SCL)
    assert adapted.accuracy > plain.accuracy
    assert unknown(adapted) > unknown(plain)
    assert mcnemar(adapted.right, plain.right).p < 0.05


@pytest.mark.must_show("scl-tagging", 5, weaker="SCL and semi-ASO not significantly different, in place of SCL ahead")
def test_the_relative_gain_is_larger_with_few_source_sentences_than_with_four_times_as_many() -> None:
    cut = {}
    for sentences in (FEW, MANY):
        plain, adapted = trained(recipe.SUPERVISED, sentences)[1], trained(recipe.SCL, sentences)[1]
        assert unknown(adapted) > unknown(plain)
        cut[sentences] = 1 - (1 - adapted.accuracy) / (1 - plain.accuracy)
    assert cut[FEW] > cut[MANY]


@pytest.mark.must_show("scl-tagging", 5, weaker="SCL and semi-ASO not significantly different, in place of SCL ahead")
def test_raw_text_of_the_target_alone_helps_as_much_as_that_of_both_domains() -> None:
    # The sheet: SCL not below semi-ASO. Found: semi-ASO a little ahead at every size, here and in the recipe, by less
    # than either is ahead of the supervised tagger on unknown words.
    plain, alone, both = (trained(method)[1] for method in (recipe.SUPERVISED, recipe.ASO, recipe.SCL))
    assert mcnemar(both.right, alone.right).p > 0.05
    assert unknown(alone) > unknown(plain)
    assert abs(unknown(alone) - unknown(both)) < unknown(both) - unknown(plain)


@pytest.mark.must_show(
    "scl-tagging", 6, weaker="58 % in place of 70 %, and a line through 25 projections in place of the first ones"
)
def test_source_words_nearest_to_nouns_of_the_target_are_nouns_more_often_than_by_chance() -> None:
    target = reviews()
    theta = target.projections[recipe.SCL]
    assert theta is not None
    tags = recipe.main_tags(material.newspaper(RecipeOptions(), 0, material.LEARN), "xpos")
    gold = recipe.main_tags(target.test, "xpos")
    open_class = [word for word, tag in tags.items() if tag in ("NN", "NNS", "JJ", "VB", "VBD", "VBN", "VBG", "RB")]
    known, _ = theta.from_words(open_class)
    for wanted in (("NN", "NNS"), ("VB", "VBD", "VBN", "VBG")):
        words = theta.from_words([word for word, tag in gold.items() if tag in wanted])[0][:60]
        nearest = [tags[found] for word in words for found, _ in theta.similar(word, known, 10)]
        chance = np.mean([tags[word] in wanted for word in known])
        assert np.mean([tag in wanted for tag in nearest]) > chance + 0.03


@pytest.mark.must_show(
    "scl-tagging", 6, weaker="58 % in place of 70 %, and a line through 25 projections in place of the first ones"
)
def test_source_words_nearest_to_nouns_that_only_the_target_has_are_nouns_more_often_than_by_chance() -> None:
    # The sheet: in at least 70 %. Found: 63 %, of which 52 % are chance; weighting directions by their singular values,
    # or taking affixes in, changes nothing. In a made language, with raw text enough, it is 70 % (tests/tasks).
    target, options = reviews(), RecipeOptions()
    theta = target.projections[recipe.SCL]
    assert theta is not None
    tags = recipe.main_tags(material.newspaper(options, 0, material.LEARN), "xpos")
    seen = set(tags) | {word for words in material.newspaper_words(options) for word in words}
    gold = recipe.main_tags(material.web(options, "reviews", "train"), "xpos")
    nouns = theta.from_words([word for word, tag in gold.items() if tag in ("NN", "NNS") and word not in seen])[0]
    open_class = [word for word, tag in tags.items() if tag in ("NN", "NNS", "JJ", "VB", "VBD", "VBN", "VBG", "RB")]
    known, _ = theta.from_words(open_class)
    nearest = [tags[found] for noun in nouns for found, _ in theta.similar(noun, known, 10)]
    assert len(nouns) > 30
    share, chance = (np.mean([tag in ("NN", "NNS") for tag in own]) for own in (nearest, [tags[w] for w in known]))
    assert share > 0.58
    assert share > chance + 0.06


@pytest.mark.must_show(
    "scl-tagging", 6, weaker="58 % in place of 70 %, and a line through 25 projections in place of the first ones"
)
def test_projections_together_tell_nouns_from_adjectives_though_none_of_the_first_does_alone() -> None:
    # The sheet: the first projections separate them. Found: a line through the first five ranks a noun above an
    # adjective in about two of three cases, through all 25 in four of five.
    theta = reviews().projections[recipe.SCL]
    assert theta is not None
    tags = recipe.main_tags(material.newspaper(RecipeOptions(), 0, material.LEARN), "xpos")
    groups = [theta.from_words([word for word, own in tags.items() if own == tag])[1] for tag in ("NN", "JJ")]
    is_noun = np.repeat([True, False], [len(each) for each in groups])
    order = np.random.default_rng(0).permutation(len(is_noun))
    learn, judge = order[::2], order[1::2]
    found = {}
    for dimensions in (5, 25):
        rows = np.concatenate(groups)[:, :dimensions]
        line = LinearDiscriminantAnalysis().fit(rows[learn], is_noun[learn])
        found[dimensions] = roc_auc_score(is_noun[judge], line.decision_function(rows[judge]))
    assert found[5] > 0.6
    assert found[25] > 0.75


@pytest.mark.must_show(
    "scl-tagging", 7, weaker="half a point of slack with small sources; the recorded run has the largest"
)
@pytest.mark.parametrize("sentences", [FEW, MANY])
def test_tags_of_source_taggers_help_a_tagger_of_fifty_annotated_reviews(sentences: int) -> None:
    # The sheet: SCL >= supervised >= no source, for the largest source. So it is in the recipe, with 3,500 sentences;
    # with 1,000 and fifty reviews supervised tags are ahead by a few words there, as here.
    target = reviews()
    pool = material.web(RecipeOptions(), "reviews", "train", most=50)
    known = set(pool.column("form"))
    found = {}
    for name, source in (
        ("nosource", None),
        ("supervised", trained(recipe.SUPERVISED, sentences)[0]),
        ("SCL", trained(recipe.SCL, sentences)[0]),
    ):
        tagger = recipe.learn([pool], target, "", source=source)
        found[name] = recipe.tagged(tagger, target.test, "xpos", known).accuracy
    assert found["supervised"] > found["nosource"]
    assert found["SCL"] >= found["supervised"] - 0.005  # which of the two is ahead is a matter of a few words here
    assert found["SCL"] > found["nosource"]
