"""The extension that builds trees while it translates, on a small bitext written for it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from shift_reduce_twins import TEXTS

from weft.errors import ConfigError, DataError
from weft.infer.decoding.shift_reduce import H, L, R
from weft.infer.trees.well_formed import CATEGORIES, category
from weft.tasks.language_models import lm
from weft.tasks.translation.phrases import Extraction, extract
from weft.tasks.translation.table import PhraseTable
from weft.tasks.translation.translator import Translator
from weft.tasks.translation.trees import ILL, STRUCTURE, TreeExtension, Trees, TreeSettings
from weft.text.bitext import Links


@cache
def bitext() -> tuple[Extraction, Trees, list[list[str]]]:
    english = [row[0].split() for row in TEXTS]
    links = Links.of([[(i, j) for j, i in enumerate(row[4])] for row in TEXTS])
    return extract([row[3].split() for row in TEXTS], english, links), trees_of(), english


def trees_of() -> Trees:
    return Trees.of([row[1] for row in TEXTS], [row[2].split() for row in TEXTS])


def extension(**settings: object) -> TreeExtension:
    extraction, trees, _ = bitext()
    return TreeExtension.fit(extraction, PhraseTable.of(extraction), trees, replace(TreeSettings(), **settings))


def translator(own: TreeExtension | None, **weights: float) -> Translator:
    extraction, _, english = bitext()
    model = lm.train(english, order=2, method="witten-bell")
    extensions = [] if own is None else [own]
    return Translator.of(
        extraction, PhraseTable.of(extraction), model, extensions=extensions, weights={"distortion": 0.0, **weights}
    )


@pytest.mark.must_show("shift-reduce-string-to-dependency", 3)
def test_pieces_of_a_pair_are_those_that_it_was_seen_with() -> None:
    extraction, trees, _ = bitext()
    table, own = PhraseTable.of(extraction), extension(structures=100)
    number = {int(rule): pair for pair, rule in enumerate(table.rule)}
    seen: dict[int, Counter] = {}
    for (s, _, _, j1, j2), rule in zip(extraction.spans.tolist(), extraction.pair.tolist(), strict=True):
        heads, tags = TEXTS[s][1], TEXTS[s][2].split()
        inner = tuple(h - 1 - j1 if j1 < h <= j2 else -1 for h in heads[j1:j2])
        form = CATEGORIES[category(heads, j1, j2)]
        seen.setdefault(number[rule], Counter())[form, inner, tuple(tags[j1:j2])] += 1
    kinds = {"fixed": [H], "left floating": [L], "right floating": [R]}
    for pair, counts in seen.items():
        wanted = Counter()
        for (form, inner, tags), times in counts.items():
            for kind in kinds.get(form, [H] if inner.count(-1) == 1 else [L, R]):
                share = round(float(np.log(times / counts.total())), 6)
                wanted[kind, inner, tags, form == "ill-formed", share] += 1
        found = Counter()
        for rule in range(own.first[pair], own.first[pair + 1]):
            tokens = own.pieces.tokens[own.pieces.offsets[rule] : own.pieces.offsets[rule + 1]]
            found[
                int(own.pieces.kind[rule]), tuple(own.pieces.heads_of(rule)),
                tuple(trees.names[own.tag[token]] for token in tokens), bool(own.pieces.ill_formed[rule]),
                round(float(own.logp[rule]), 6),
            ] += 1  # fmt: skip
        assert found == wanted
    assert own.report["ill-formed"] > 0
    assert own.report["left floating"] > 0


def test_every_word_of_a_translation_has_a_head_and_there_is_one_root() -> None:
    own = translator(extension())
    for source in ("d man e hund s", "e hund p", "d Oslo w e man s", "Oslo"):
        found = own.translate(source)
        assert len(found.heads) == len(found.words)
        assert found.heads.count(0) == 1
        assert found.record()["heads"] == list(found.heads)
    assert own.translate("d man e hund s").heads == (2, 3, 0, 5, 3)


@pytest.mark.must_show("shift-reduce-string-to-dependency", 2)
def test_scores_of_a_translation_are_those_of_its_tree() -> None:
    own = extension(rare=1)
    for each in translator(own).kbest("d man w e hund s", 5):
        assert each.score == pytest.approx(
            sum(translator(own).weights[name] * value for name, value in each.features.items()), abs=1e-6
        )
        assert each.features["dependency model"] == pytest.approx(own.model.score(each.words, each.heads), abs=1e-6)


def test_a_derivation_uses_pieces_that_lack_something_only_if_it_must() -> None:
    sentence, spoken = "d man w e hund s", translator(extension(), **{ILL: 5.0}).translate
    assert spoken(sentence).features[ILL] == 0
    only = extension(ill_formed=False)
    options = translator(only).options(translator(only).sentence(sentence.split()))
    assert options.scores[:, options.names.index(ILL)].min() == 0
    assert (options.scores[:, options.names.index(STRUCTURE)] <= 0).all()


def test_a_search_that_finds_nothing_is_repeated_with_more_room() -> None:
    found = translator(extension(pops=1, threshold=0.0)).translate("d man w e hund s p p p p")
    assert len(found.heads) == len(found.words) > 5


def test_features_that_are_left_out_have_no_weight() -> None:
    assert "dependency model" not in extension(dependencies=False).weights
    found = translator(extension(dependencies=False, reductions=False)).translate("d hund p")
    assert "reductions" not in found.features
    assert found.heads == (2, 3, 0)


def test_trees_must_fit_the_bitext() -> None:
    extraction, _, _ = bitext()
    with pytest.raises(DataError, match="target words, but the trees have 2"):
        TreeExtension.fit(extraction, PhraseTable.of(extraction), Trees.of([[2, 0]], [["D", "N"]]))
    with pytest.raises(DataError, match="a head and a tag"):
        Trees.of([[2, 0]], [["D"]])
    with pytest.raises(ConfigError, match="structures, events and rare"):
        TreeSettings(structures=0)
