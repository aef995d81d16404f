"""Mentions from files, their vectors, and entities with evidence, at several thresholds, resumed after a stop."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from weft.errors import ConfigError, DataError, FormatError, ModelError
from weft.evaluate.clusters import Overlaps, b_cubed, pairwise
from weft.formats.streams import Faults
from weft.infer.sampling.levels import Search, check_nested
from weft.tasks.coreference.across.entities import EntityClusterer, EntitySettings
from weft.tasks.coreference.across.evidence import MOST_PARTS, merges
from weft.tasks.coreference.across.files import entity_rows, mention_rows, write_entities
from weft.tasks.coreference.across.mentions import Mentions, mentions_of_docs, read_mentions
from weft.tasks.coreference.across.vectors import MentionVectors, Similarity
from weft.text.doc import Doc
from weft.text.layers import SpanLayer

SETTINGS = EntitySettings((0.22,), Similarity(0.8, 0.2), rounds=8)


@pytest.fixture(scope="module")
def news(examples: Path) -> Mentions:
    return read_mentions([examples / "mentions" / "news.jsonl"])


def test_one_name_of_two_people_is_split_and_several_names_of_one_are_joined(news):
    clusters = EntityClusterer(SETTINGS).cluster(news).clusters()
    assert clusters == [
        ["n01", "n02", "n03", "n04"], ["n05", "n06", "n07"], ["n08", "n09", "n10"], ["n11", "n12", "n13"], ["n14"],
    ]  # fmt: skip


def test_a_search_starts_from_equal_names_or_from_single_mentions(news):
    vectors = MentionVectors.of(news, SETTINGS.similarity)
    for start, count in (("names", len(set(news.names))), ("alone", len(news))):
        search = EntityClusterer(EntitySettings(start=start)).search(vectors, news.names)
        assert len(set(search.labels[-1].tolist())) == count


def test_equal_names_alone_are_string_match(news):
    settings = EntitySettings((0.5,), Similarity(0.0, 0.0, 1.0), rounds=3)
    found = EntityClusterer(settings).cluster(news)
    assert len(found.clusters()) == len(set(news.names))


def test_thresholds_give_nested_clusterings_of_one_run(news):
    found = EntityClusterer(EntitySettings((0.1, 0.22, 0.35), Similarity(0.8, 0.2), rounds=8)).cluster(news)
    check_nested(found.labels)
    sizes = [len(found.clusters(threshold)) for threshold in (0.35, 0.22, 0.1)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[1] > sizes[2]
    with pytest.raises(ConfigError, match=r"there is no clustering at 0\.2; the thresholds are 0\.35, 0\.22, 0\.1"):
        found.at(0.2)
    rows = list(mention_rows(found))
    assert [*rows[0]] == ["id", "name", "score", "entity@0.35", "entity@0.22", "entity@0.1"]


def test_merges_say_what_they_rest_on_and_there_is_one_for_every_part(news):
    found = EntityClusterer(SETTINGS).cluster(news)
    evidence = list(merges(found))
    names = {(news.names[k], label) for k, label in enumerate(found.labels[0])}
    assert len(evidence) == len(names) - len(found.clusters())
    [merge] = [each for each in evidence if each.names == ["Oscar Lindt"]]
    assert (merge.entity, merge.into_names[0], merge.mentions) == ("n08", "Oskar Lindt", 1)
    assert set(merge.words) >= {"railway", "tunnel", "minister"}
    vectors = found.vectors
    parts = vectors.similarity([8], [7])
    if merge.into_mentions == 1:
        assert merge.similarity == pytest.approx(parts["similarity"], abs=1e-6)
    assert merge.similarity == pytest.approx(0.2 * merge.name + 0.8 * merge.context, abs=1e-6)


def test_an_entity_of_many_names_has_a_merge_for_each():
    count = MOST_PARTS + 20
    mentions = Mentions.of((str(k), f"Anna Lindqvist {k}", "harbour pilot boat") for k in range(count))
    found = EntityClusterer(EntitySettings((0.2,), rounds=4)).cluster(mentions)
    assert len(found.clusters()) == 1
    assert len(list(merges(found))) == count - 1


def test_scores_are_mean_similarities(news):
    found = EntityClusterer(SETTINGS).cluster(news)
    scores = found.scores()
    others = [found.vectors.similarity([4], [k])["similarity"] for k in (5, 6)]
    assert scores[4] == pytest.approx(np.mean(others), abs=1e-6)
    assert np.isnan(scores[13])
    rows = list(entity_rows(found))
    assert rows[1]["names"] == [{"name": "Nora Vance", "mentions": 2}, {"name": "Vance", "mentions": 1}]
    assert rows[1]["score"] == pytest.approx(np.mean(scores[4:7]), abs=1e-3)
    assert rows[-1]["score"] is None


def test_vectors_leave_the_mentions_as_they_are():
    mentions = Mentions.of([("1", "Ann", "b a b c a"), ("2", "Bo", "c d b")])
    words = mentions.words.copy()
    one, two = MentionVectors.of(mentions), MentionVectors.of(mentions)
    assert np.array_equal(mentions.words, words)
    assert np.array_equal(one.items.values, two.items.values)


def test_vectors_have_the_weights_as_lengths_and_keep_the_terms_with_most_weight():
    rows = [(str(k), f"Name{k}", [f"w{k}", "all", *(["rare"] if k < 2 else [])]) for k in range(6)]
    vectors = MentionVectors.of(Mentions.of(rows), Similarity(0.5, 0.2, 0.3, terms=1))
    assert vectors.items.norms == pytest.approx(np.ones(6), abs=1e-5)
    kept = {
        vectors.words[column - vectors.starts[1]] for column in vectors.items.columns if column >= vectors.starts[1]
    }
    assert kept == {f"w{k}" for k in range(6)}
    assert vectors.similarity([0], [0])["equal"] == pytest.approx(1.0)
    with pytest.raises(ConfigError, match="one of them above 0"):
        Similarity(0.0, 0.0)


class Stop(Exception):
    """What ends a run in the middle."""


def test_a_stopped_run_resumes_to_the_same_clusters_with_any_number_of_workers(news, tmp_path):
    whole = EntityClusterer(SETTINGS).cluster(news)

    def stop(search: Search) -> None:
        if search.round == 3:
            raise Stop

    checkpoint = tmp_path / "checkpoint.weft"
    with pytest.raises(Stop):
        EntityClusterer(SETTINGS).cluster(news, checkpoint, stop)
    seen: list[int] = []
    resumed = EntityClusterer(SETTINGS, workers=2).cluster(news, checkpoint, lambda search: seen.append(search.round))
    assert seen == [4, 5, 6, 7, 8]
    assert np.array_equal(resumed.labels[0], whole.labels[0])
    assert resumed.trace == whole.trace


def test_a_checkpoint_of_another_run_is_refused(news, tmp_path):
    checkpoint = tmp_path / "checkpoint.weft"
    EntityClusterer(SETTINGS).cluster(news, checkpoint)
    other = EntitySettings((0.5,), Similarity(0.8, 0.2), rounds=8)
    with pytest.raises(ConfigError, match="other mentions or settings"):
        EntityClusterer(other).cluster(news, checkpoint)
    with pytest.raises(ConfigError, match="other mentions or settings"):
        EntityClusterer(SETTINGS).cluster(Mentions.of([("1", "Ann", "x"), ("2", "Bo", "y")]), checkpoint)
    checkpoint.write_bytes(checkpoint.read_bytes()[:-3])
    with pytest.raises(ModelError):
        EntityClusterer(SETTINGS).cluster(news, checkpoint)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"thresholds": ()}, "one or more different numbers"),
        ({"thresholds": (0.1, 0.1)}, "one or more different numbers"),
        ({"start": "nowhere"}, "starts from one of names, alone"),
        ({"reach": 0}, "reach must be at least 1"),
        ({"blocks": -1.0}, "blocks 0 or more"),
        ({"rounds": 0}, "at least one round"),
    ],
)
def test_settings_are_checked(arguments, message):
    with pytest.raises(ConfigError, match=message):
        EntitySettings(**arguments)


def test_tables_are_written_as_json_lines_and_parquet_and_read_again(news, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    found = EntityClusterer(SETTINGS).cluster(news)
    lines = {path.stem: path for path in write_entities(found, tmp_path / "a", "jsonl")}
    tables = {path.stem: path for path in write_entities(found, tmp_path / "b", "parquet")}
    for name, path in lines.items():
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        assert rows == parquet.read_table(tables[name]).to_pylist()
    with pytest.raises(ConfigError, match="one of jsonl, parquet"):
        write_entities(found, tmp_path, "csv")


def test_mentions_are_the_same_from_json_lines_and_parquet(news, tmp_path, examples):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    lines = (examples / "mentions" / "news.jsonl").read_text(encoding="utf-8").splitlines()
    parquet.write_table(pyarrow.Table.from_pylist([json.loads(line) for line in lines]), tmp_path / "m.parquet")
    again = read_mentions([tmp_path / "m.parquet"])
    assert (again.ids, again.names) == (news.ids, news.names)
    assert np.array_equal(again.words, news.words)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[1, 2]", "line 2: expected an object with id, name and context, found list"),
        ("{bad", "line 2: expected a JSON object"),
        ('{"id": "b", "context": "x"}', r"line 2: expected a name \(field name or text\), found None"),
        ('{"id": "b", "name": "  "}', "line 2: expected a name"),
        ('{"id": "a", "name": "B"}', "line 2: expected an id that no other mention has, found 'a'"),
        ('{"id": 1.5, "name": "B"}', "line 2: expected a string or number as id, found float"),
        ('{"id": "b", "name": "B", "context": {"x": 1}}', "line 2: expected a text or a list of words as context"),
        ('{"id": "b", "name": "B", "context": ["x", 1]}', "line 2: expected a text or a list of words as context"),
    ],
)
def test_bad_lines_are_refused_with_file_and_line_or_skipped(tmp_path, line, message):
    path = tmp_path / "bad.jsonl"
    path.write_text(f'{{"id": "a", "name": "A", "context": "x"}}\n{line}\n', encoding="utf-8")
    with pytest.raises(FormatError, match=f"bad.jsonl, {message}"):
        read_mentions([path])
    faults = Faults(skip_bad=True)
    assert read_mentions([path], faults).ids == ["a"]
    assert faults.report.count == 1


def test_files_without_mentions_and_files_that_are_no_tables_are_refused(tmp_path):
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(DataError, match="there are no mentions"):
        read_mentions([tmp_path / "empty.jsonl"])
    pytest.importorskip("pyarrow")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 and more")
    with pytest.raises(FormatError, match=r"bad.parquet: expected a Parquet file"):
        read_mentions([tmp_path / "bad.parquet"])
    with pytest.raises(DataError, match=r"there is no file .*none.parquet"):
        read_mentions([tmp_path / "none.parquet"])


def test_spans_of_documents_are_mentions_with_the_words_around_them():
    doc = Doc.from_words([["The", "rower", "Nora", "Vance", "won", "."], ["Critics", "praised", "Vance", "."]])
    doc.spans["entities"] = SpanLayer.of(doc.strings, [(2, 4, "PER"), (8, 9, "PER")])
    mentions = mentions_of_docs([doc], window=3)
    assert mentions.names == ["Nora Vance", "Vance"]
    assert [mentions.context(k) for k in range(2)] == [
        ["the", "rower", "won", ".", "critics"],
        [".", "critics", "praised", "."],
    ]
    assert len(set(mentions.ids)) == 2
    with pytest.raises(DataError, match="no document has a layer 'people'"):
        mentions_of_docs([doc], "people")


def test_b_cubed_and_pairwise_agree_with_their_definitions():
    random = np.random.default_rng(0)
    gold, found = random.integers(0, 5, 60), random.integers(0, 7, 60)
    same_gold, same_found = gold[:, None] == gold, found[:, None] == found
    both = same_gold & same_found
    score = b_cubed(gold, found)
    assert score.precision == pytest.approx(np.mean(both.sum(1) / same_found.sum(1)))
    assert score.recall == pytest.approx(np.mean(both.sum(1) / same_gold.sum(1)))
    pairs = pairwise(gold, found)
    assert pairs.precision == pytest.approx((both.sum() - 60) / (same_found.sum() - 60))
    assert pairs.recall == pytest.approx((both.sum() - 60) / (same_gold.sum() - 60))
    assert pairwise([1, 2], [1, 1]).recall == 1.0
    twice = Overlaps.of(gold, found).b_cubed(weights=np.where(np.arange(60) < 30, 2, 0))
    assert twice.precision == pytest.approx(np.mean((both.sum(1) / same_found.sum(1))[:30]))
    with pytest.raises(DataError, match="same items"):
        b_cubed([1], [1, 2])
