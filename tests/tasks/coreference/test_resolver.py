"""The component: training, both kinds of mentions, files, commands, damaged models, and how cost grows."""

from __future__ import annotations

import time

import pytest
from steps import exponent, steps_of

import weft
from weft.errors import ConfigError, DataError, ModelError, WeftError
from weft.evaluate.semantics.coreference import evaluate_coreference
from weft.formats import read
from weft.pipeline.pipeline import Pipeline
from weft.shipped import shipped
from weft.tasks.coreference.resolver import CorefResolver, CorefSettings
from weft.tasks.coreference.systems import SYSTEMS
from weft.text.conventions.coreference import LAYER, coreference_of
from weft.text.doc import Doc

EXAMPLES = shipped("examples") / "coref"
SMALL = {"epochs": 30, "rate": 0.3, "bits": 14}


def village(name: str = "village") -> list[Doc]:
    return list(read(EXAMPLES / f"{name}.conllu"))


@pytest.fixture(scope="module")
def resolver() -> CorefResolver:
    made = CorefResolver(CorefSettings(**SMALL))
    made.fit(village(), village("village-new"))
    return made


def bare(doc: Doc) -> Doc:
    """The document without its entities."""
    doc.set_column("misc", [""] * doc.n_words)
    return doc


def test_it_finds_most_entities_of_new_stories(resolver):
    gold, found = village("village-new"), [bare(doc) for doc in village("village-new")]
    resolver(found)
    report = evaluate_coreference(gold, found, singletons=False)
    assert report.conll > 0.7
    assert report.as_dict()["mentions"] > 0.9


def test_given_mentions_stay_as_they_are():
    made = CorefResolver(CorefSettings(mentions="given", singletons=True, **SMALL))
    made.fit(village())
    docs = village("village-new")
    before = [[row.pieces for row in coreference_of(doc)[0]] for doc in docs]
    made(docs)
    assert [[row.pieces for row in doc.spans[LAYER]] for doc in docs] == before
    with pytest.raises(DataError, match="no layer 'coref'"):
        made([bare(village("village-new")[0])])


@pytest.mark.parametrize("system", SYSTEMS)
def test_models_are_saved_and_loaded(tmp_path, system):
    made = CorefResolver(CorefSettings(system=system, **{**SMALL, "epochs": 3}))
    made.fit(village())
    Pipeline([made], {"name": "x"}).save(tmp_path / "x.weft")
    again = weft.load(tmp_path / "x.weft")
    ours, theirs = bare(village("village-new")[0]), bare(village("village-new")[0])
    made([ours])
    again.annotate([theirs])
    assert ours.clusters[LAYER].cluster.tolist() == theirs.clusters[LAYER].cluster.tolist()


def test_damaged_models_are_refused(resolver):
    header, arrays = resolver.state()
    slots = arrays["fine/slots"].copy()
    slots[-1] = 2**20
    with pytest.raises(ModelError, match="must hold numbers from 0"):
        CorefResolver.from_state(header, {**arrays, "fine/slots": slots})
    with pytest.raises(ModelError, match="genders"):
        CorefResolver.from_state({**header, "genders": {"queen": "green"}}, arrays)
    with pytest.raises(WeftError):
        CorefResolver.from_state({**header, "settings": {**header["settings"], "bits": 40}}, arrays)


def test_probabilities_stand_at_the_mentions(resolver):
    doc = bare(village("village-new")[0])
    resolver([doc], probabilities=True)
    assert all(0 < mention.probability <= 1 for entity in doc.entities_of(LAYER) for mention in entity.mentions)


def test_documents_without_mentions_have_no_entities(resolver):
    doc = Doc.from_words([["Run", "!"]], upos=[["VERB", "PUNCT"]], head=[[0, 1]], deprel=[["root", "punct"]])
    resolver([doc])
    assert doc.entities_of(LAYER) == []


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"system": "best"}, "system must be one of"), ({"gamma": 1.0}, "gamma must be"), ({"epochs": 0}, "epochs"),
     ({"names": {"f": "x.txt"}}, "names are lists of fem"), ({"rate": 0.0}, "rate above 0")],
)  # fmt: skip
def test_settings_are_checked(settings, message):
    with pytest.raises(ConfigError, match=message):
        CorefResolver(CorefSettings(**settings))


def test_data_that_teach_nothing_are_refused():
    docs = [bare(doc) for doc in village()]
    with pytest.raises(DataError, match="no layer 'coref'"):
        CorefResolver().fit(docs)
    with pytest.raises(DataError, match="annotate it before training"):
        CorefResolver().fit([Doc.from_words([["Ada", "slept"]])])


def test_lists_of_names_are_read(tmp_path):
    (tmp_path / "f.txt").write_text("# names\nMary\nKim\n")
    (tmp_path / "m.txt").write_text("Kim\nTom\n")
    made = CorefResolver(
        CorefSettings(names={"fem": str(tmp_path / "f.txt"), "masc": str(tmp_path / "m.txt")}, **SMALL)
    )
    made.fit(village())
    assert made.genders.names == {"mary": "fem", "kim": "both", "tom": "masc"}
    assert made.state()[0]["settings"]["names"] == {}


def test_commands_train_annotate_evaluate_and_draw(weft, tmp_path):
    model, out = tmp_path / "coref.weft", tmp_path / "out.conllu"
    weft("train", "coref", EXAMPLES / "village.conllu", "--epochs", 20, "--rate", 0.3, "--bits", 14, "--out", model)
    weft("annotate", EXAMPLES / "harbour.txt", "--model", "en", "--model", model, "--out", out)
    (doc,) = read(out)
    assert ["Mrs. Lark", "She"] in [[m.text for m in entity.mentions[:2]] for entity in doc.entities_of(LAYER)]
    told = weft("evaluate", out, out, "--layer", "coref", "--json").stdout
    assert '"CoNLL"' in told
    assert '"f1": 1.0' in told
    weft("draw", out, "--what", "spans", "--layer", "coref", "--out", tmp_path / "x.html")
    page = (tmp_path / "x.html").read_text()
    assert "<mark" in page


def joined(docs: list[Doc], times: int) -> Doc:
    """Several stories as one long document, repeated."""
    rows = [sentence for _ in range(times) for doc in docs for sentence in doc.sentences]
    columns = {
        name: [[word.get(name) for word in row] for row in rows] for name in ("upos", "deprel", "feats", "lemma")
    }
    heads = [row.doc.head[row.first : row.end].tolist() for row in rows]
    return Doc.from_words([[word.form for word in row] for row in rows], head=heads, **columns)


@pytest.mark.parametrize("system", ["lefttoright", "transitive"])
def test_the_work_grows_in_proportion_to_the_length_of_a_document(system):
    """Lines of kernels executed: candidates are bounded by their distance, and messages by the candidates."""
    made = CorefResolver(CorefSettings(system=system, features="paper", farthest=5, epochs=2, bits=10))
    made.fit(village())
    stories = village("village-new")
    sizes = (2, 3, 5)  # messages of a shorter document settle before the last sweep that is allowed
    counts = [steps_of(lambda doc=joined(stories, times): made([doc])) for times in sizes]
    assert exponent(sizes, counts) < 1.15


@pytest.mark.timing
def test_a_thousand_words_take_less_than_a_third_of_a_second_after_parsing():
    made = weft.load("en-coref").components[0]
    doc = joined(village(), 3)
    assert doc.n_words > 1000
    made([doc])
    start = time.process_time()
    made([doc])
    assert time.process_time() - start < 0.3
