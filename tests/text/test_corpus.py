"""Corpora: passes, splits, domains, sentences cut out of documents."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

from weft.errors import WeftError
from weft.formats.conllu import files as conllu
from weft.text import ClusterLayer, Corpus, Doc, GraphLayer, RelationLayer, SpanLayer
from weft.text.corpus import batched


def numbered(n: int) -> list[Doc]:
    docs = [Doc.from_words([[f"{i}a", "x"], [f"{i}b"]]) for i in range(n)]
    for i, doc in enumerate(docs):
        doc.meta["id"] = str(i)
    return docs


@pytest.fixture(params=["memory", "stream"])
def corpus(request: pytest.FixtureRequest) -> Corpus:
    docs = numbered(200)

    def stream() -> Iterator[Doc]:
        yield from docs

    return Corpus(docs if request.param == "memory" else stream)


def ids(corpus: Corpus) -> list[str]:
    return [doc.id for doc in corpus]


def test_a_corpus_can_be_gone_through_again(corpus: Corpus) -> None:
    assert ids(corpus) == ids(corpus) == ids(corpus.load())
    assert ids(corpus.take(3)) == ["0", "1", "2"] == ids(corpus.take(3))
    assert ids(corpus.skip(198)) == ["198", "199"]
    assert corpus.load().in_memory


def test_shards_share_the_documents_out(corpus: Corpus) -> None:
    shards = corpus.shards(3)
    assert ids(shards[1])[:2] == ["1", "4"]
    assert sorted(name for shard in shards for name in ids(shard)) == sorted(ids(corpus))


def test_splits_are_disjoint_whole_repeatable_and_depend_on_the_seed(corpus: Corpus) -> None:
    parts = corpus.split(train=0.8, dev=0.1, test=0.1, seed=3)
    found = {name: ids(part) for name, part in parts.items()}
    assert sorted(chain.from_iterable(found.values()), key=int) == ids(corpus)
    assert 140 < len(found["train"]) < 180
    assert found == {
        name: ids(part) for name, part in corpus.load().split(train=0.8, dev=0.1, test=0.1, seed=3).items()
    }
    assert found != {name: ids(part) for name, part in corpus.split(train=0.8, dev=0.1, test=0.1, seed=4).items()}
    with pytest.raises(WeftError, match="sum to 1"):
        corpus.split(train=0.8, dev=0.1)


def test_sentences_are_cut_by_position(corpus: Corpus) -> None:
    train, dev = corpus.split_sentences(0.9, 0.1)
    texts = [sentence.text for sentence in corpus.sentences()]
    assert [sentence.text for sentence in train.sentences()] == texts[:360]
    assert [sentence.text for sentence in dev.sentences()] == texts[360:]
    assert [sentence.text for sentence in corpus.take_sentences(3).sentences()] == texts[:3]
    assert [doc.text for doc in corpus.slice_sentences(1, 3)] == ["0b", "1a x"]


def test_raw_text_counts_a_word_for_five_characters() -> None:
    docs = [Doc("x" * 49), Doc("x" * 49), Doc("x")]
    assert [len(batch) for batch in Corpus(docs).batches(20)] == [2, 1]
    assert list(batched(docs, 11)) == [docs[:2], docs[2:]]


def test_batches_hold_about_as_many_words_as_asked(corpus: Corpus) -> None:
    batches = list(corpus.batches(10))
    assert list(chain.from_iterable(batches)) == corpus.docs()
    assert all(sum(doc.n_words for doc in batch) >= 10 for batch in batches[:-1])


def test_domains_come_from_metadata_or_comments() -> None:
    docs = numbered(3)
    docs[0].meta["genre"] = "news"
    docs[1].comments = [("# genre = blog",), ("# genre = news",)]
    parts = Corpus(docs).by("genre")
    assert {name: [doc.text for doc in part] for name, part in parts.items()} == {
        "news": ["0a x 0b", "1b"], "blog": ["1a x"], "": ["2a x 2b"],
    }  # fmt: skip


def test_map_filter_and_write(corpus: Corpus, tmp_path: Path) -> None:
    assert [doc.text for doc in corpus.map(lambda doc: Doc(doc.id)).take(2)] == ["0", "1"]
    assert ids(corpus.filter(lambda doc: doc.id == "7")) == ["7"]
    assert corpus.take(5).write(str(tmp_path / "a.jsonl")) == 5


def test_subset_keeps_all_that_stands_on_its_sentences() -> None:
    doc = Doc.from_words([["a", "b"], ["c", "d"], ["e", "f"]], head=[[2, 0], [0, 1], [2, 0]], upos=[list("XY")] * 3)
    doc.comments = [("# 1",), ("# 2",), ("# 3",)]
    layer = doc.spans["s"] = SpanLayer(doc.strings)
    for pieces, label in [([(0, 1)], "P"), ([(1, 3)], "Q"), ([(4, 5)], "R"), ([(0, 1), (5, 6)], "S"), ([(2, 3)], "T")]:
        layer.add(pieces, label, f"T{label}", sure=label)
    chars = doc.spans["c"] = SpanLayer(doc.strings, "chars")
    chars.add([(8, 11)], "e f")
    relations = doc.relations["r"] = RelationLayer(doc.strings, "s")
    relations.add(0, 2, "kept")
    relations.add(0, 1, "gone")
    doc.clusters["k"] = ClusterLayer("s", [4, 4, 4, -1, 2])
    graph = doc.graphs["g"] = GraphLayer(doc.strings, "s")
    graph.edge(graph.node("A", 0), graph.node("B", 2), "kept")
    graph.edge(0, graph.node("C", 1), "gone")
    cut = doc.subset([0, 2])
    assert cut.text == "a b e f"
    assert cut.column("form") == ["a", "b", "e", "f"]
    assert [token.text for token in cut.tokens] == ["a", "b", "e", "f"]
    assert cut.head is not None
    assert cut.head.tolist() == [2, 0, 2, 0]
    assert cut.comments == [("# 1",), ("# 3",)]
    assert [(span.text, span.label) for span in cut.span_views("s")] == [("a", "P"), ("e", "R"), ("a ... f", "S")]
    assert cut.spans["s"].ids == ["TP", "TR", "TS"]
    assert cut.spans["s"].attributes[1] == {"sure": "R"}
    assert [span.text for span in cut.span_views("c")] == ["e f"]
    assert list(cut.relations["r"]) == [(0, 1, "kept")]
    assert cut.clusters["k"].cluster.tolist() == [4, 4, -1]
    assert list(cut.graphs["g"].edges()) == [(0, 1, "kept")]
    assert doc.subset(range(3)).same(doc)
    with pytest.raises(WeftError, match="must rise"):
        doc.subset([2, 1])


def test_sentences_cut_from_conllu_are_written_as_they_were() -> None:
    row = "1\t{}\t_\t_\t_\t_\t0\troot\t_\t{}"
    second = "2\tf\t_\t_\t_\t_\t1\tx\t_\t_"
    sentences = [
        row.format("a", "SpaceAfter=No"),
        "# newpar\n" + row.format("b", "_"),
        "# newpar\n" + row.format("c", "SpacesAfter=\\n"),
        row.format("d", "_"),
        "\n".join(["1-2\tef\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No", row.format("e", "_"), second]),
        "0.1\t_\t_\t_\t_\t_\t_\t_\t_\t_\n" + row.format("g", "_"),
    ]
    (doc,) = conllu.parse_text("\n\n".join(sentences) + "\n\n")
    for chosen in ([0, 1], [0, 2], [2, 4], [1, 3, 5], [4], [5], [0, 3, 4, 5], list(range(6))):
        expected = "".join(sentences[i] + "\n\n" for i in chosen)
        assert conllu.to_text(doc.subset(chosen)) == expected
