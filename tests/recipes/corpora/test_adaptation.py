"""Texts for adapting taggers: sizes, tags, and what must not be in them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from weft.recipes.corpora import adaptation as material
from weft.recipes.framework import RecipeOptions


def test_newspaper_is_cut_into_text_to_learn_from_and_to_test(corpus_file: Callable[[str], Path]) -> None:
    corpus_file(material.SAMPLE)
    options = RecipeOptions()
    learn, test = material.newspaper(options, 0, material.LEARN), material.newspaper(options, material.LEARN)
    assert learn.n_sentences == 3500
    assert learn.n_words + test.n_words == 94_084
    assert "-NONE-" not in learn.column("xpos")
    assert not {"``", "''"} & set(learn.column("form"))
    assert {"``", "''"} <= set(learn.column("xpos"))


def test_raw_newspaper_text_does_not_hold_the_sample(corpus_file: Callable[[str], Path]) -> None:
    corpus_file(material.SAMPLE)
    corpus_file(material.NEWSPAPER.format("test"))
    options = RecipeOptions()
    raw = {tuple(words) for words in material.newspaper_words(options)}
    sample = {tuple(words) for words in material.sentences_of(material.newspaper(options))}
    assert len(raw) > 10_000
    assert not raw & sample


def test_genres_of_the_web_are_told_apart(corpus_file: Callable[[str], Path]) -> None:
    corpus_file(material.EWT.format("dev"))
    docs = {genre: material.web(RecipeOptions(), genre, "dev") for genre in material.GENRES}
    assert sum(doc.n_sentences for doc in docs.values()) == 2001
    assert docs["reviews"].n_sentences == 554
    assert all(all(doc.column("xpos")) for doc in docs.values())


def test_reviews_are_split_like_the_treebank(corpus_file: Callable[[str], Path]) -> None:
    corpus_file(material.REVIEWS.format("books"))
    sentences = material.review_words(RecipeOptions(), 8_000)
    words = [word for sentence in sentences for word in sentence]
    assert 8_000 <= len(words) < 12_000
    assert "n't" in words
    assert not any(word.lower().endswith("n't") and len(word) > 3 for word in words)
