"""The tagger of structural correspondence learning: projection of tokens, scaling, selection, files, adaptation."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from weft.errors import ConfigError, DataError, ModelError
from weft.features.templates import Templates
from weft.pipeline.pipeline import Pipeline
from weft.tasks.tagging.scl import SCLSettings, SCLTagger
from weft.tasks.tagging.scl_projection import FEATURES, ProjectionSettings, RawTokens, TokenProjection
from weft.text.doc import Doc

#: Function words, the same in both domains; words of the other tags belong to one domain.
FUNCTION = {"D": ["the", "a", "every"], "P": ["of", "in", "with"], "C": ["and", "or"], "X": ["will", "must"]}
FOLLOWS = {
    "^": {"D": 5, "A": 2, "N": 3},
    "D": {"A": 4, "N": 5, "R": 1},
    "A": {"A": 1, "N": 8, "C": 1},
    "N": {"V": 3, "P": 2, "X": 2, "N": 2, "C": 1},
    "V": {"D": 4, "R": 2, "P": 2, "N": 2},
    "R": {"A": 4, "V": 3, "P": 2},
    "P": {"D": 4, "N": 3, "A": 3},
    "C": {"D": 3, "N": 3, "V": 2, "A": 2},
    "X": {"V": 6, "R": 4},
}
SETTINGS = ProjectionSettings(features="w[-1..1]", pivot_count=50, h=8, words=0, passes=3)


def language(domain: str, sentences: int, seed: int) -> Doc:
    """Sentences of an HMM whose content words are strange letters, other ones in every domain."""
    rng = np.random.default_rng(seed)
    content = {tag: [f"{domain}{(7919 * k + ord(tag) * 104729) % 100003}" for k in range(40)] for tag in "ANVR"}
    words, tags = [], []
    for _ in range(sentences):
        row: list[str] = []
        for _ in range(int(rng.integers(6, 13))):
            choices = FOLLOWS[row[-1] if row else "^"]
            row.append(str(rng.choice(list(choices), p=np.array(list(choices.values())) / sum(choices.values()))))
        words.append([str(rng.choice(FUNCTION.get(tag, content.get(tag, [])))) for tag in row])
        tags.append(row)
    return Doc.from_words(words, xpos=tags)


@cache
def two_domains() -> tuple[Doc, RawTokens, Doc]:
    """Annotated source, raw tokens of both domains, annotated target."""
    raw = [[language("s", 700, 1)], [language("t", 700, 2)]]
    return language("s", 120, 3), RawTokens.from_texts(raw, SETTINGS), language("t", 150, 4)


def without_tags(doc: Doc) -> Doc:
    words = doc.column("form")
    return Doc.from_words([words[a:b] for a, b in zip(doc.sentence_offsets, doc.sentence_offsets[1:], strict=False)])


def right(projection: TokenProjection | None, **options: object) -> NDArray[np.bool_]:
    """Of every word of the target, whether a tagger that learned from the source gives the right tag."""
    source, _, target = two_domains()
    templates = "y[-1] " + SETTINGS.features
    tagger = SCLTagger(SCLSettings(templates=templates, calibrate=False, keep=1.0, **options), projection)  # type: ignore[arg-type]
    tagger.fit([source])
    new = without_tags(target)
    tagger([new])
    return np.array(new.column("xpos")) == np.array(target.column("xpos"))


def unknown_error(correct: NDArray[np.bool_]) -> float:
    source, _, target = two_domains()
    known = set(source.column("form"))
    unknown = np.array([form not in known for form in target.column("form")])
    return float(1.0 - correct[unknown].mean())


@pytest.mark.must_show("scl-tagging", 1)
def test_no_predictor_looks_at_the_position_of_its_pivot() -> None:
    raw = [[language("s", 60, 1)], [language("t", 60, 2)]]
    settings = ProjectionSettings(pivot_count=10)
    tokens = RawTokens.from_texts(raw, settings)
    weights = tokens.predictors(settings).toarray()
    for k, pivot in enumerate(tokens.pivots):
        own = tokens.place == tokens.place[pivot]
        assert not weights[own, k].any()
        assert weights[~own, k].any()
    assert {name.partition("=")[0] for name in tokens.names} == {"w[-1]", "w[0]", "w[1]"}


def test_features_are_of_58_kinds() -> None:
    assert len(Templates(FEATURES)) == 58


def test_pivots_are_words_frequent_in_both_texts() -> None:
    _, tokens, _ = two_domains()
    assert {name.partition("=")[2] for name in tokens.names} == {word for own in FUNCTION.values() for word in own}


@pytest.mark.must_show("scl-tagging", 4)
def test_correspondence_cuts_errors_of_unknown_words_and_shuffled_pivots_do_not() -> None:
    _, tokens, _ = two_domains()
    supervised = unknown_error(right(None))
    adapted = unknown_error(right(TokenProjection.from_tokens(tokens, SETTINGS)))
    assert adapted <= 0.7 * supervised
    order = np.random.default_rng(0).permutation(tokens.matrix.shape[0])
    labels = tokens.matrix[:, tokens.pivots][order]
    shuffled = unknown_error(right(TokenProjection.from_tokens(tokens, SETTINGS, labels)))
    assert shuffled >= 0.95 * supervised


@pytest.mark.must_show(
    "scl-tagging", 6, weaker="58 % in place of 70 %, and a line through 25 projections in place of the first ones"
)
def test_nearest_source_words_of_a_target_noun_are_nouns() -> None:
    source, tokens, target = two_domains()
    projection = TokenProjection.from_tokens(tokens, SETTINGS)
    tag_of = dict(zip(source.column("form"), source.column("xpos"), strict=True))
    nouns = sorted({w for w, t in zip(target.column("form"), target.column("xpos"), strict=True) if t == "N"})[:20]
    among = [word for word, tag in tag_of.items() if tag in "ANVR"]
    nearest = [tag_of[found] for noun in nouns for found, _ in projection.similar(noun, among, 10)]
    assert nearest.count("N") / len(nearest) >= 0.7
    adjectives = sorted({w for w, t in zip(target.column("form"), target.column("xpos"), strict=True) if t == "A"})
    one, other = projection.from_words(nouns)[1], projection.from_words(adjectives)[1]
    spread = np.sqrt(one.var(axis=0) + other.var(axis=0)) + 1e-9
    assert (np.abs(one.mean(axis=0) - other.mean(axis=0)) / spread)[:5].max() > 2.0


@pytest.mark.must_show("scl-tagging", 3)
def test_the_projection_of_the_training_set_is_five_times_as_large_as_its_features() -> None:
    source, tokens, _ = two_domains()
    tagger = SCLTagger(SCLSettings(epochs=1, calibrate=False, keep=0.5), TokenProjection.from_tokens(tokens, SETTINGS))
    whole = tagger.projection.size  # type: ignore[union-attr]
    tagger.fit([source])
    projection = tagger.narrowed
    assert projection is not None
    assert projection.size == round(whole / 2)
    norm = np.abs(projection.project([source])).sum(axis=1, dtype=np.float64).mean()
    assert abs(norm / 3 - 5.0) < 5e-6  # three binary features a token


def test_kept_dimensions_are_those_whose_weights_vary_most_among_tags() -> None:
    _, tokens, _ = two_domains()
    projection = TokenProjection.from_tokens(tokens, SETTINGS)
    noise = TokenProjection.from_tokens(tokens, SETTINGS).correspondence
    noise.rows[:, 4:] *= 1e-4  # dimensions of next to nothing can hardly have weights that differ
    tagger = SCLTagger(SCLSettings(epochs=1, calibrate=False, keep=0.5), projection)
    tagger.projection = type(projection)(projection.templates, projection.keys, noise, projection.pivots)
    tagger.fit([two_domains()[0]])
    assert tagger.narrowed is not None
    assert tagger.narrowed.chosen is not None
    assert (tagger.narrowed.chosen % 8 < 4).mean() > 0.9


@pytest.mark.must_show("scl-tagging", 8)
def test_the_same_seed_gives_the_same_tagger_and_a_projection_from_a_file_does_too(tmp_path: Path) -> None:
    raw = [[language("s", 60, 1)], [language("t", 60, 2)]]
    settings = ProjectionSettings(pivot_count=10, h=4, words=300, seed=7)
    first, second = TokenProjection.learn(raw, settings), TokenProjection.learn(raw, settings)
    first.save(tmp_path / "theta.weft")
    kept = TokenProjection.load(tmp_path / "theta.weft")
    made = []
    for projection in (first, second, kept):
        tagger = SCLTagger(SCLSettings(epochs=2, calibrate=False, seed=7), projection)
        tagger.fit([language("s", 30, 3)])
        made.append(tagger.state()[1])
    for other in made[1:]:
        assert made[0].keys() == other.keys()
        assert all(np.array_equal(made[0][name], other[name]) for name in other)
    assert np.array_equal(first.project([language("t", 5, 9)]), kept.project([language("t", 5, 9)]))


def test_a_tagger_with_the_tags_of_another_comes_back_from_a_model_file(tmp_path: Path) -> None:
    source, target = language("s", 60, 3), language("t", 60, 4)
    first = SCLTagger(SCLSettings(epochs=2, calibrate=False))
    first.fit([source])
    second = SCLTagger(SCLSettings(epochs=2, calibrate=False), source=first)
    second.fit([target])
    assert "s[-1]|s[0]" in second.settings.templates
    Pipeline([second], {"name": "t"}).save(tmp_path / "t.weft")
    loaded = Pipeline.load(tmp_path / "t.weft")
    ours, theirs = without_tags(target), without_tags(target)
    second([ours])
    loaded.annotate([theirs])
    assert ours.column("xpos") == theirs.column("xpos")
    assert np.mean(np.array(ours.column("xpos")) == np.array(target.column("xpos"))) > 0.9


def test_bad_input_is_refused_in_plain_words(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="reads a single word"):
        RawTokens.from_texts([[language("s", 5, 1)]], ProjectionSettings(features="w[-1]|w[0]", pivot_count=0))
    with pytest.raises(DataError, match="no word occurs more than 5000 times"):
        TokenProjection.learn([[language("s", 5, 1)]], ProjectionSettings(pivot_count=5000))
    with pytest.raises(DataError, match="no words"):
        TokenProjection.learn([[language("s", 5, 1)], []])
    with pytest.raises(ConfigError, match="keep"):
        SCLTagger(SCLSettings(keep=0.0))
    with pytest.raises(DataError, match="have no xpos"):
        SCLTagger(SCLSettings(column="xpos")).fit([Doc.from_words([["a", "b"]])])
    tagger = SCLTagger(SCLSettings(epochs=1, calibrate=False))
    tagger.fit([language("s", 5, 1)])
    Pipeline([tagger], {"name": "t"}).save(tmp_path / "t.weft")
    with pytest.raises(ModelError, match="not a projection"):
        TokenProjection.load(tmp_path / "t.weft")
