"""The extractor of relations: training, annotation, missing slots, explanations, model files and the command line."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from weft.errors import ConfigError, DataError, ModelError, WeftError
from weft.formats import read
from weft.pipeline.pipeline import Pipeline
from weft.shipped import shipped
from weft.tasks.relations.extractor import GRID, LONGEST, MOST_MENTIONS, ExtractorSettings, RelationExtractor
from weft.tasks.relations.features import pair_features
from weft.tasks.relations.samples import Mention, Reading, Sample, samples_of
from weft.text.conventions.tuples import TupleRow, set_tuples, tuple_rows
from weft.text.doc import Doc
from weft.text.layers import SpanLayer

EXAMPLES = shipped("examples") / "relations"


@pytest.fixture(scope="module")
def extractor() -> RelationExtractor:
    trained = RelationExtractor()
    trained.fit(read(EXAMPLES / "jobs.tuples.jsonl"))
    return trained


def new_docs() -> list[Doc]:
    from weft.text.split import with_words

    docs = with_words(read(EXAMPLES / "new.tuples.jsonl"))
    for doc in docs:
        doc.relations.clear()
    return docs


def sentence(words: str, **mentions: str) -> Doc:
    """A sentence with one mention per type."""
    doc = Doc.from_words([words.split()])
    places = {word: number for number, word in enumerate(words.split())}
    rows = sorted((places[word], places[word] + 1, kind) for kind, word in mentions.items())
    doc.spans["entities"] = SpanLayer.of(doc.strings, rows)
    return doc


def test_missing_slots_stay_missing(extractor: RelationExtractor) -> None:
    doc = sentence("Zoe joined Octavo .", person="Zoe", company="Octavo")
    extractor([doc])
    assert repr(doc.tuples) == "[RelationTuple('employment', person='Zoe', company='Octavo')]"
    negated = sentence("Zoe never worked for Octavo .", person="Zoe", company="Octavo")
    extractor([negated])
    assert negated.tuples == []
    assert "relations" in negated.relations


def test_tuples_of_four_slots_and_of_two_in_one_sentence(extractor: RelationExtractor) -> None:
    gold = list(read(EXAMPLES / "new.tuples.jsonl"))
    docs = new_docs()
    extractor(docs, probabilities=True)
    right = total = 0
    for one, other in zip(gold, docs, strict=True):
        wanted = {(row.label, frozenset(row.members)) for row in tuple_rows(one)}
        found = {(row.label, frozenset(row.members)) for row in tuple_rows(other)}
        right, total = right + len(wanted & found), total + len(wanted | found)
    assert right / total > 0.85
    assert {len(each) for doc in docs for each in doc.tuples} == {2, 3, 4}
    for doc in docs:
        for each in doc.tuples:
            assert each.probability >= 0.5 - 1e-4  # type: ignore[operator]
            assert len(each.pairs) == len(each) * (len(each) - 1) // 2


def test_maximal_cliques_need_every_pair(extractor: RelationExtractor) -> None:
    strict = RelationExtractor(ExtractorSettings(search="maximal"))
    strict.model, strict.schemas = extractor.model, extractor.schemas
    docs = new_docs()
    strict(docs, probabilities=True)
    pairs = [edge.probability for doc in docs for each in doc.tuples for edge in each.pairs]
    assert min(pairs) >= 0.5  # type: ignore[type-var]


def test_a_threshold_is_chosen_on_dev_data() -> None:
    files = [list(read(EXAMPLES / f"{name}.tuples.jsonl")) for name in ("jobs", "new")]
    chosen = RelationExtractor(ExtractorSettings(threshold=0.0))
    best = chosen.fit(*files)["scores"]["dev F"]
    assert chosen.settings.threshold in GRID
    for threshold in GRID:
        other = RelationExtractor(ExtractorSettings(threshold=threshold))
        other.model, other.schemas, other.tagged = chosen.model, chosen.schemas, chosen.tagged
        assert other._scored(*other._samples(files[1]))["F"] <= best
    with pytest.raises(ConfigError, match="--dev"):
        RelationExtractor(ExtractorSettings(threshold=0.0)).fit(files[0])


def test_a_model_file_gives_the_same_answers(extractor: RelationExtractor, tmp_path: Path) -> None:
    path = tmp_path / "jobs.weft"
    Pipeline([extractor], {"name": "jobs"}).save(path)
    one, other = new_docs(), new_docs()
    extractor(one)
    Pipeline.load(path).components[0](other)
    assert [tuple_rows(doc) for doc in one] == [tuple_rows(doc) for doc in other]


@pytest.mark.parametrize("fault", ["keys", "weights", "schemas", "slots", "limit", "threshold"])
def test_hostile_states_are_refused(extractor: RelationExtractor, fault: str) -> None:
    header, arrays = extractor.state()
    header, arrays = json.loads(json.dumps(header)), dict(arrays)
    if fault == "keys":
        arrays["keys"] = arrays["keys"][::-1].copy()
    elif fault == "weights":
        arrays["weights"] = np.full_like(arrays["weights"], np.nan)
    elif fault == "schemas":
        header["schemas"] = []
    elif fault == "threshold":
        header["settings"]["threshold"] = 0.0
    elif fault == "slots":
        header["schemas"][0]["slots"] *= 2
    else:
        header["schemas"][0]["slots"][0]["limit"] = -1
    with pytest.raises((ModelError, ConfigError)):
        RelationExtractor.from_state(header, arrays)


def test_a_clique_is_explained_by_its_edges(extractor: RelationExtractor) -> None:
    doc = sentence("Zoe works as a binder for Blot in Elm .", person="Zoe", job="binder", company="Blot", town="Elm")
    found = extractor.explain(doc, 0)
    assert found.decision == "employment(person=zoe, job=binder, company=blot, town=elm)"
    assert {reason.template for reason in found.reasons} == {"edge"}
    assert len(found.reasons) == 6
    # The edges sum up to what decided: log of the geometric mean against the threshold, six times.
    assert found.margin == pytest.approx(6 * (math.log(found.probability) - math.log(0.5)))  # type: ignore[arg-type]


def test_a_pair_is_explained_by_its_features(extractor: RelationExtractor) -> None:
    doc = sentence("Zoe joined Octavo .", person="Zoe", company="Octavo")
    found = extractor.explain(doc, 0)
    assert any(reason.value.startswith("joined") for reason in found.reasons)
    p = found.probability or 0.0
    assert found.margin == pytest.approx(math.log(p / (1 - p)), abs=1e-4)


def test_what_has_no_relation_is_explained_by_its_best_pair(extractor: RelationExtractor) -> None:
    doc = sentence("Zoe never worked for Octavo .", person="Zoe", company="Octavo")
    found = extractor.explain(doc, 0)
    assert found.decision == "no relation"
    assert found.margin > 0
    assert extractor.explain(doc, 1).runner_up == ""


def test_types_may_fill_several_slots_and_slots_be_told_apart() -> None:
    def chase(words: str, related: bool = True) -> Doc:
        doc = Doc.from_words([words.split()])
        doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "animal"), (2, 3, "animal")])
        if related:
            order = (("chaser", 0), ("chased", 1)) if "chases" in words else (("chased", 0), ("chaser", 1))
            set_tuples(doc, [TupleRow("chase", order)])
        return doc

    train = [chase(f"{a} {verb} {b}") for a, b in (("cat", "dog"), ("dog", "fox"), ("fox", "cat"))
             for verb in ("chases", "flees")]  # fmt: skip
    learned = RelationExtractor(ExtractorSettings(c=10.0))
    learned.fit(train)
    new = chase("hen flees fox", related=False)
    learned([new])
    assert repr(new.tuples) == "[RelationTuple('chase', chaser='fox', chased='hen')]"


def test_slots_that_repeat_and_arities_of_any_size() -> None:
    def mixed(n: int, related: bool = True) -> Doc:
        words = [word for k in range(n) for word in (f"drug{k}", "with")][:-1]
        doc = Doc.from_words([words])
        doc.spans["entities"] = SpanLayer.of(doc.strings, [(2 * k, 2 * k + 1, "drug") for k in range(n)])
        if related:
            set_tuples(doc, [TupleRow("mix", tuple(("drug", k) for k in range(n)))])
        return doc

    alone = Doc.from_words([["drug1", "against", "drug2"]])
    alone.spans["entities"] = SpanLayer.of(alone.strings, [(0, 1, "drug"), (2, 3, "drug")])
    set_tuples(alone, [])
    new = mixed(5, related=False)
    for arity, largest in (("schema", 3), ("any", 5)):
        learned = RelationExtractor(ExtractorSettings(arity=arity, c=10.0))
        learned.fit([mixed(2), mixed(3), alone])
        learned([new])
        assert max(map(len, new.tuples)) == largest
        for each in new.tuples:  # members of one slot stand in text order
            places = [number for _, number in each.row.members]
            assert places == sorted(places)


def test_training_needs_tuples_within_sentences_and_names_what_is_missing() -> None:
    across = Doc.from_words([["Ada", "left"], ["Quill", "closed"]])
    across.spans["entities"] = SpanLayer.of(across.strings, [(0, 1, "PER"), (2, 3, "ORG")])
    set_tuples(across, [TupleRow("work", (("Arg1", 0), ("Arg2", 1)))])
    with pytest.raises(DataError, match="1 tuples are not within one sentence"):
        RelationExtractor().fit([across])
    with pytest.raises(DataError, match="spans/entities"):
        RelationExtractor().fit([Doc.from_words([["Ada", "left"]])])
    with pytest.raises(WeftError, match="not trained"):
        RelationExtractor()([across])
    assert samples_of(across, Reading("entities", "relations"), gold=True)[1] == 1


@pytest.mark.parametrize(
    "options", [{"threshold": -0.1}, {"threshold": 1.5}, {"search": "x"}, {"c": 0.0}, {"least": 0}]
)
def test_bad_settings_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        RelationExtractor.from_options(options)


def test_sentences_of_any_length_and_any_number_of_mentions(extractor: RelationExtractor) -> None:
    n = 3 * LONGEST
    doc = Doc.from_words([[f"w{k}" for k in range(n)]])
    kinds = ("person", "job", "company", "town")
    doc.spans["entities"] = SpanLayer.of(doc.strings, [(k, k + 1, kinds[k % 4]) for k in range(n)])
    extractor([doc])
    assert all(len(each) <= 4 for each in doc.tuples)
    assert MOST_MENTIONS < LONGEST


def test_features_of_trees_and_of_other_mentions() -> None:
    words = ["ada", "who", "sings", "joined", "quill", "near", "blot"]
    mentions = [Mention(0, 1, "PER"), Mention(4, 5, "ORG"), Mention(6, 7, "ORG")]
    plain = Sample(words, mentions)
    assert not any(name.startswith(("x:", "1n:", "p:")) for name in pair_features(plain, 0, 2))
    near = Sample(words, mentions, context=True)
    assert {"x:ORG", "2n:1 nearer", "1n:0"} <= set(pair_features(near, 0, 2))
    assert "2n:1" in pair_features(near, 0, 1)
    tree = Sample(words, mentions, heads=[3, 2, 0, -1, 3, 6, 4],
                  relations=["nsubj", "nsubj", "acl", "root", "obj", "case", "nmod"])  # fmt: skip
    assert {"p:<nsubj >obj", "c:joined", "v:joined"} <= set(pair_features(tree, 0, 1))
    assert "p:<nsubj >obj >nmod" in pair_features(tree, 0, 2)


def test_l1_makes_a_smaller_model(extractor: RelationExtractor) -> None:
    small = RelationExtractor(ExtractorSettings(penalty="l1"))
    small.fit(read(EXAMPLES / "jobs.tuples.jsonl"))
    assert len(small.model.keys) < len(extractor.model.keys) / 5  # type: ignore[union-attr]
    docs = new_docs()
    small(docs)
    assert sum(len(doc.tuples) for doc in docs) > 30


def test_from_the_command_line(weft, tmp_path: Path) -> None:
    model, out = tmp_path / "jobs.weft", tmp_path / "out.tuples.jsonl"
    weft("train", "relations", EXAMPLES / "jobs.tuples.jsonl", "--out", model)
    weft("annotate", EXAMPLES / "new.tuples.jsonl", "--model", model, "--probabilities", "--out", out)
    told = json.loads(weft("evaluate", EXAMPLES / "new.tuples.jsonl", out, "--layer", "relations", "--json").stdout)
    assert "4 slots" in json.dumps(told)
    explained = weft("annotate", EXAMPLES / "new.tuples.jsonl", "--model", model, "--explain", "--word", "Finn").stdout
    assert "employment(" in explained
