from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import weft
from weft.errors import ConfigError
from weft.scale.shards import Shard, bundles, find_cuts, plan

lines = st.lists(st.sampled_from(["a", "bb ccc", "dé", ""]), max_size=60)


@settings(max_examples=100, deadline=None)
@given(lines, st.integers(1, 40), st.sampled_from(["\n", "\r\n"]))
def test_pieces_of_text_make_up_the_file_and_know_their_lines(
    tmp_path_factory: pytest.TempPathFactory, content: list[str], shard_bytes: int, end: str
) -> None:
    path = tmp_path_factory.mktemp("plain") / "a.txt"
    data = "".join(line + end for line in content).encode()
    path.write_bytes(data)
    cuts = find_cuts(str(path), "plain", len(data), shard_bytes)
    assert cuts[0] == (0, 1)
    for start, line in cuts[1:]:
        assert data[start - 1 : start] == b"\n"
        assert line == data[:start].count(b"\n") + 1
    assert cuts == sorted(set(cuts))
    if len(data) > 3 * shard_bytes + 20:
        assert len(cuts) > 1


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 30), st.integers(20, 400))
def test_documents_of_json_lines_are_the_same_in_pieces(
    tmp_path_factory: pytest.TempPathFactory, count: int, shard_bytes: int
) -> None:
    path = tmp_path_factory.mktemp("jsonl") / "a.jsonl"
    path.write_text("".join(f'{{"text": "Dog number {i} barks é."}}\n' for i in range(count)))
    shards = plan([path], "conllu", shard_bytes=shard_bytes)
    texts = [doc.text for shard in shards for doc in weft.read(shard.source(), "jsonl")]
    assert texts == [doc.text for doc in weft.read(path)]


def conllu(count: int, newdoc: bool) -> str:
    head = [f"# newdoc id = d{i}\n" if newdoc and i % 3 == 0 else "" for i in range(count)]
    return "".join(f"{head[i]}# sent_id = {i}\n1\tDogs\t_\t_\t_\t_\t_\t_\t_\t_\n\n" for i in range(count))


def test_treebanks_are_cut_where_documents_begin(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text(conllu(300, newdoc=True))
    shards = plan([path], "conllu", shard_bytes=1000)
    assert len(shards) > 5
    assert all(path.read_bytes()[shard.start :].startswith(b"# newdoc") for shard in shards)
    ids = [doc.id for shard in shards for doc in weft.read(shard.source())]
    assert ids == [f"d{i}" for i in range(0, 300, 3)]


def test_treebanks_without_documents_are_cut_between_sentences(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text(conllu(300, newdoc=False))
    shards = plan([path], "conllu", shard_bytes=1000)
    assert len(shards) > 5
    sentences = [sentence.meta["sent_id"] for shard in shards for sentence in weft.read(shard.source()).sentences()]
    assert sentences == [str(i) for i in range(300)]


def test_faults_in_pieces_name_the_line_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a"}\n' * 50 + "broken\n" + '{"text": "a"}\n' * 9)
    shards = plan([path], "conllu", shard_bytes=200)
    assert len(shards) > 2
    with pytest.raises(weft.WeftError, match="line 51"):
        [list(weft.read(shard.source())) for shard in shards]


def test_files_that_cannot_be_cut_stay_whole(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "packed.txt.gz", "wt") as file:
        file.write("A line.\n\n" * 1000)
    (tmp_path / "latin.txt").write_bytes("é\n\n".encode("latin-1") * 1000)
    (tmp_path / "columns.conll").write_text("Dogs NNS\n\n" * 1000)
    (tmp_path / "line.txt").write_text("a " * 10_000)
    for name, encoding in (
        ("packed.txt.gz", "utf-8"),
        ("latin.txt", "latin-1"),
        ("columns.conll", "utf-8"),
        ("line.txt", "utf-8"),
    ):
        assert len(plan([tmp_path / name], "jsonl", encoding=encoding, shard_bytes=100)) == 1


def test_outputs_keep_the_folders_of_their_inputs(tmp_path: Path) -> None:
    for name in ("a/x.txt", "b/x.txt"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("Dogs bark.")
    assert [shard.output for shard in plan([tmp_path], "jsonl")] == ["a/x.jsonl", "b/x.jsonl"]
    files = [tmp_path / "a" / "x.txt", tmp_path / "b" / "x.txt"]
    assert [shard.output for shard in plan(files, "jsonl")] == ["a/x.jsonl", "b/x.jsonl"]
    assert [shard.output for shard in plan([str(tmp_path / "*" / "x.txt")], "jsonl")] == ["a/x.jsonl", "b/x.jsonl"]
    assert [shard.output for shard in plan([files[0], files[0]], "jsonl")] == ["x.jsonl"]


def test_two_inputs_never_share_an_output(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("Dogs bark.")
    (tmp_path / "x.jsonl").write_text('{"text": "Dogs bark."}\n')
    with pytest.raises(ConfigError, match=r"both be written to x\.conllu"):
        plan([tmp_path / "x.txt", tmp_path / "x.jsonl"], "conllu")


def test_standard_input_has_no_shards() -> None:
    with pytest.raises(ConfigError, match="standard input cannot be annotated into a folder"):
        plan(["-"], "conllu", "plain")


def test_small_shards_are_bundled_in_order() -> None:
    shards = [Shard(f"{i}", f"{i}", f"{i}", "plain", 10, 0) for i in range(7)]
    groups = list(bundles(shards, 25))
    assert [len(group) for group in groups] == [2, 2, 2, 1]
    assert [shard for group in groups for shard in group] == shards
    assert [len(group) for group in bundles(shards, 1000, most=3)] == [3, 3, 1]
    assert [len(group) for group in bundles(shards, 1)] == [1] * 7
