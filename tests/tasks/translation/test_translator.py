from functools import cache
from types import MappingProxyType

import numpy as np
import pytest
from decoding_twins import enumerated, reordering

from weft.errors import ConfigError, ModelError
from weft.tasks.language_models import lm
from weft.tasks.translation.phrases import extract
from weft.tasks.translation.table import PhraseTable, TableSettings
from weft.tasks.translation.translator import LANGUAGE_MODEL, Translator, TranslatorSettings
from weft.text.bitext import Links

BITEXT = [
    ("la casa roja", "the red house", "0-0 1-2 2-1"),
    ("la casa", "the house", "0-0 1-1"),
    ("la puerta", "the door", "0-0 1-1"),
    ("una puerta roja", "a red door", "0-0 1-2 2-1"),
    ("una casa", "a home", "0-0 1-1"),
    ("la puerta de la casa", "the door of the house", "0-0 1-1 2-2 3-3 4-4"),
]


def bitext():
    pairs = [(s.split(), t.split()) for s, t, _ in BITEXT]
    links = Links.of([[tuple(map(int, link.split("-"))) for link in each.split()] for _, _, each in BITEXT])
    return [s for s, _ in pairs], [t for _, t in pairs], links


def made(limit: int = 0, **options) -> Translator:
    source, target, links = bitext()
    extraction = extract(source, target, links, 3)
    model = lm.train(target, order=3, method="witten-bell")
    options.setdefault("settings", TranslatorSettings(0, 0, -1))
    return Translator.of(extraction, PhraseTable.of(extraction, None, TableSettings(limit=limit)), model, **options)


translator = cache(made)


def shown(translation):
    return [(" ".join(step.source), " ".join(step.target)) for step in translation.steps]


def test_a_phrase_turns_words_around():
    assert translator().translate("una casa roja").text == "a red house"


def test_unlimited_search_is_enumeration():
    model = translator()
    for text in ("una puerta", "casa roja Oslo", "la puerta roja"):
        sentence = model.sentence(text)
        options = model.options(sentence)
        graph = model.search(sentence, options)
        table = np.asarray(model.table.reordering, np.float64)
        judges = [numbered(model), reordering(table, (0.0,) * 6)]
        every = enumerated(options, judges, model.vector(graph.names), np.zeros(1), -1)
        best = max(each.score for each in every)
        assert graph.best().score == pytest.approx(best, abs=1e-9)
        assert len(graph.kbest(10**6)) == len(every)


def numbered(model):
    """The twin's score of the language model for the words of this model's vocabulary."""
    known = [*model.target_words]

    def judge(options, chosen):
        words = [known[w] if w < len(known) else "?" for o in chosen for w in options.target(o)]
        return [model.lm.score(words) * float(np.log(10.0))]

    return judge


def test_the_score_is_the_sum_of_weighted_features_and_of_sparse_weights():
    plain = translator()
    rng = np.random.default_rng(3)
    model = made(sparse=rng.normal(size=int(plain.table.rule.max()) + 1))
    for found in model.kbest("la puerta roja de la casa", 20):
        dense = sum(model.weights[name] * value for name, value in found.features.items())
        rules = sum(step.scores["rule"] for step in found.steps)
        assert found.score == pytest.approx(dense + rules, abs=1e-9)
        options = sum(step.scores["p(t|s)"] for step in found.steps)
        assert found.features["p(t|s)"] == pytest.approx(options, abs=1e-9)
        assert found.features[LANGUAGE_MODEL] == pytest.approx(model.lm.score(found.words) * np.log(10), abs=1e-9)


def test_forced_decoding_gives_the_translation_its_own_score():
    model = translator()
    for found in model.kbest("la puerta roja", 5):
        sentence = model.sentence("la puerta roja")
        graph = model.force(sentence, found.words)
        best = model.told(sentence, graph, graph.best())
        assert best.words == found.words
        assert best.score == pytest.approx(found.score, abs=1e-9)
    assert model.force(model.sentence("la puerta"), "a home").is_empty


def test_a_trace_tells_where_each_phrase_comes_from():
    found = translator().translate("la puerta de Oslo")
    assert found.text == "the door of Oslo"
    assert found.steps[-1].kind == "copied"
    source, target, _ = bitext()
    for step in found.steps[:-1]:
        assert step.count >= len(step.origins) > 0
        for origin in step.origins:
            assert " ".join(step.source) in " ".join(source[origin])
            assert " ".join(step.target) in " ".join(target[origin])
    assert "copied" in found.trace()
    assert found.links() == [(0, 0), (1, 1), (2, 2), (3, 3)]
    assert found.record()["translation"] == found.text


def test_k_best_translations_differ_and_fall():
    found = translator().kbest("la casa roja", 8)
    assert len({each.words for each in found}) == len(found) > 2
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)


def test_a_saved_translator_translates_alike(tmp_path):
    for sparse in (None, np.random.default_rng(0).normal(size=200)):
        model = made(limit=3, sparse=sparse)
        model.weights["words"] = 0.7
        model.save(tmp_path / "es-en.weft")
        again = Translator.load(tmp_path / "es-en.weft")
        for text in ("la puerta roja de la casa", "una casa Oslo", ""):
            assert again.kbest(text, 5) == pytest.approx(model.kbest(text, 5))
    lm.save(model.lm, tmp_path / "lm.weft")
    with pytest.raises(ModelError, match="not a translator"):
        Translator.load(tmp_path / "lm.weft")


def test_a_damaged_file_is_refused(tmp_path):
    model = made()
    table = model.table
    for name, value in (
        ("words", 99),
        ("target_words", 99),
        ("pair_first", 10**6),
        ("first", 0),
        ("origin_offsets", 7),
    ):
        changed = np.array(getattr(table, name))
        changed[-1] = value
        object.__setattr__(table, name, changed)
        model.save(tmp_path / "bad.weft")
        with pytest.raises(ModelError, match="damaged"):
            Translator.load(tmp_path / "bad.weft")
        model = made()
        table = model.table


class Wishes:
    """Says how much it likes some target words, and knows a translation that the table lacks."""

    weights = MappingProxyType({"wished": 5.0})

    def options(self, sentence, options):
        home = sentence.number("home")
        wished = [[float(home in options.target(o))] for o in range(len(options))]
        return options.with_scores(["wished"], wished)

    def features(self, sentence, options):
        return []


def test_an_extension_changes_translations_by_its_weight(tmp_path):
    assert translator().translate("la casa").text == "the house"
    model = made(extensions=[Wishes()])
    found = model.translate("la casa")
    assert found.text == "the home"
    assert found.features["wished"] == 1.0
    model.save(tmp_path / "m.weft")
    assert Translator.load(tmp_path / "m.weft").translate("la casa").text == "the house"
    assert Translator.load(tmp_path / "m.weft", [Wishes()]).translate("la casa").text == "the home"


def test_a_score_without_a_weight_is_refused():
    class Forgotten(Wishes):
        weights = MappingProxyType({})

    with pytest.raises(ConfigError, match="no weight for the score 'wished'"):
        made(extensions=[Forgotten()]).translate("la casa")


def test_case_is_ignored_if_so_wanted():
    model = made(settings=TranslatorSettings(lower=True))
    assert model.translate("La CASA").text == "the house"
    assert made().translate("La casa").words[0] == "La"
