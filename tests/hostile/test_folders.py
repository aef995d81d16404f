"""Output folders and journals that were tampered with, damaged or interrupted.

Nothing outside is touched, nothing finished is lost, and what is damaged is made again or refused in plain words.
`bench/fuzz/kills.py` kills real runs for longer.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path, PureWindowsPath
from types import ModuleType
from typing import Any

import pytest
from places import ROOT

import weft as package
from weft.annotate.journal import Decision, Journal
from weft.errors import ConfigError, DataError, FormatError, WeftError
from weft.line_log import LineLog
from weft.pipeline.registry import train
from weft.scale import files
from weft.scale.job import Job, WrongModel, pipeline_of
from weft.scale.manifest import NAME
from weft.scale.run import Summary, annotate_into
from weft.storage import digest

Weft = Callable[..., "subprocess.CompletedProcess[str]"]
Contents = dict[str, bytes]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory, examples: Path) -> Path:
    """A tagger trained on the story."""
    path = tmp_path_factory.mktemp("models") / "tagger.weft"
    train("tagger", package.read(examples / "story.conllu"), None, path, {"epochs": 1})
    return path


class Folder:
    """An output folder, its inputs and its job."""

    def __init__(self, home: Path, model: Path) -> None:
        self.home, self.inputs, self.out = home, home / "in", home / "out"
        self.job = Job((str(model),), (digest(model),), "conllu")
        self.inputs.mkdir()
        paragraphs = [f"The ferry {i} left the harbour.\n\n" for i in range(60)]
        (self.inputs / "large.txt").write_text("".join(paragraphs))
        (self.inputs / "small.txt").write_text("A thin fog covered the town!\n")

    def run(self) -> Summary:
        return annotate_into(self.out, [self.inputs], self.job, shard_bytes=500)

    def contents(self) -> Contents:
        found = (path for path in self.out.rglob("*") if path.is_file() and path.name != NAME)
        return {path.relative_to(self.out).as_posix(): path.read_bytes() for path in found}

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.out / NAME).read_bytes().splitlines()]

    def rewrite(self, change: Callable[[list[dict[str, Any]]], None]) -> None:
        """Change the lines of the manifest."""
        lines = self.lines()
        change(lines)
        (self.out / NAME).write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.fixture
def folder(tmp_path: Path, model: Path) -> Folder:
    """A finished output folder."""
    made = Folder(tmp_path, model)
    assert made.run().shards > 3
    return made


# Names that lead out of the folder.

NAMES = ["../precious.txt", "/etc/passwd", "a/../../precious.txt", "C:\\precious.txt", "\\\\host\\share\\precious.txt"]
NAMES += ["..\\precious.txt", "..", ".", "", "a\0b", "\ud800"]


@pytest.mark.parametrize("name", NAMES)
def test_names_that_lead_out_of_a_folder_are_refused(name: str) -> None:
    assert not files.is_inside(name)


def test_drives_without_a_root_are_refused_where_there_are_drives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "PurePath", PureWindowsPath)
    assert not files.is_inside("C:precious.txt")
    assert files.is_inside("a\\b.txt")


@pytest.mark.parametrize("key", ["output", "claims"])
def test_a_manifest_cannot_have_files_outside_of_its_folder_removed(folder: Folder, key: str) -> None:
    precious = folder.home / "precious.txt"
    precious.write_text("mine")

    def point_outside(lines: list[dict[str, Any]]) -> None:
        line = next(line for line in lines if key in line)
        line[key] = "../precious.txt" if key == "output" else ["../precious.txt"]

    folder.rewrite(point_outside)
    (folder.inputs / "large.txt").write_text("Now it is short.")
    with pytest.raises(DataError, match=r"weft\.manifest, line \d+: .*'\.\./precious\.txt', which is outside of the"):
        folder.run()
    assert precious.read_text() == "mine"


def test_a_manifest_cannot_have_other_files_of_the_folder_removed(folder: Folder) -> None:
    (folder.out / "precious.txt").write_text("mine")
    (folder.out / "large-notes.conllu").write_text("mine")

    def adopt(lines: list[dict[str, Any]]) -> None:
        entry = next(line for line in lines if line.get("input") == "large.txt")
        bare = {key: value for key, value in entry.items() if key not in ("output_bytes", "output_sha256")}
        bare.pop("input_sha256")
        lines += [{**bare, "output": "precious.txt"}, {**bare, "output": "large-notes.conllu"}]

    folder.rewrite(adopt)
    (folder.inputs / "large.txt").write_text("Now it is short.")
    folder.run()
    others = {"precious.txt": b"mine", "large-notes.conllu": b"mine"}
    assert {name: folder.contents()[name] for name in others} == others
    assert {"large.conllu", "small.conllu", *others} == set(folder.contents())


def test_outputs_of_earlier_cuts_are_removed_unless_they_were_edited(folder: Folder) -> None:
    edited = folder.out / "large-00002.conllu"
    edited.write_bytes(edited.read_bytes() + b"# my note\n")
    (folder.inputs / "large.txt").write_text("Now it is short.")
    folder.run()
    assert set(folder.contents()) == {"large.conllu", "small.conllu", "large-00002.conllu"}


def test_nothing_is_written_through_links(folder: Folder) -> None:
    elsewhere = folder.home / "elsewhere"
    elsewhere.mkdir()
    (folder.inputs / "sub").mkdir()
    (folder.inputs / "sub" / "a.txt").write_text("Here.")
    (folder.out / "sub").symlink_to(elsewhere)
    with pytest.raises(ConfigError, match="outside of"):
        folder.run()
    assert list(elsewhere.iterdir()) == []
    (folder.out / "sub").unlink()
    precious = folder.home / "precious.txt"
    precious.write_text("mine")
    (folder.out / "small.conllu").unlink()
    (folder.out / "small.conllu").symlink_to(precious)
    with pytest.raises(ConfigError, match=r"small\.conllu exists and is not a regular file"):
        folder.run()
    (folder.out / "small.conllu").unlink()
    (folder.out / NAME).rename(folder.home / "kept")
    (folder.out / NAME).symlink_to(precious)
    with pytest.raises(DataError, match="symbolic link"):
        folder.run()
    assert precious.read_text() == "mine"


# Files of others, and files of this run.


def test_only_own_unfinished_files_are_removed(folder: Folder) -> None:
    before = folder.contents()
    foreign = [".download.part", ".notes.txt.abcdefgh.part", "small.conllu.part", ".small.conllu.mine-and-long.part"]
    for name in foreign:
        (folder.out / name).write_text("mine")
    (folder.out / ".small.conllu.abcd_123.part").write_text("half-written")
    (folder.out / ".small.conllu.x.part").mkdir()
    folder.run()
    assert folder.contents() == {**before, **dict.fromkeys(foreign, b"mine")}
    assert (folder.out / ".small.conllu.x.part").is_dir()


def test_a_file_that_no_run_has_claimed_is_not_replaced(folder: Folder) -> None:
    (folder.inputs / "new.txt").write_text("A new input.")
    (folder.out / "new.conllu").write_text("mine")
    with pytest.raises(ConfigError, match=r"new\.conllu exists, but no manifest says it may be replaced"):
        folder.run()
    assert (folder.out / "new.conllu").read_text() == "mine"


# Contents.


@pytest.mark.parametrize("damage", [lambda data: data[:-10], lambda data: b"", lambda data: data[:-2] + b"x\n"])
def test_a_damaged_output_is_made_again(folder: Folder, damage: Callable[[bytes], bytes]) -> None:
    before = folder.contents()
    path = folder.out / "large-00002.conllu"
    path.write_bytes(damage(path.read_bytes()))
    assert folder.run().finished_before == len(before) - 1
    assert folder.contents() == before


def test_an_input_that_changed_under_the_same_size_and_time_is_noticed(folder: Folder) -> None:
    path = folder.inputs / "large.txt"
    state = path.stat()
    path.write_text(path.read_text().replace("ferry 5 ", "fairy 5 "))
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    done = folder.run()
    assert done.shards - done.finished_before == 1
    assert b"fairy" in b"".join(folder.contents().values())
    path.write_text(path.read_text().replace("\n\nThe ferry 50", "  The ferry 50"))  # where a piece may begin
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    folder.run()
    after = folder.contents()
    folder.out = folder.home / "anew"
    folder.run()
    assert after == folder.contents()


def test_outputs_are_on_disk_before_the_manifest_names_them(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: set[str] = set()
    fsync, append = os.fsync, LineLog.append

    def noted(descriptor: int) -> None:
        synced.add(os.path.realpath(f"/proc/self/fd/{descriptor}"))
        fsync(descriptor)

    def checked(log: LineLog, values: dict[str, Any]) -> None:
        if "output" in values:
            assert {str(folder.out / values["output"]), str(folder.out)} <= synced
        append(log, values)

    if not os.path.exists("/proc/self/fd"):
        pytest.skip("this system does not tell the names of descriptors")
    folder.out = folder.out.with_name("anew").resolve()
    monkeypatch.setattr(os, "fsync", noted)
    monkeypatch.setattr(LineLog, "append", checked)
    assert folder.run().finished_before == 0


# Manifests.


def test_a_manifest_of_an_older_version_is_read_and_its_shards_are_made_again(folder: Folder) -> None:
    before = folder.contents()

    def downgrade(lines: list[dict[str, Any]]) -> None:
        lines[:] = [line for line in lines if "claims" not in line]
        lines[0].pop("manifest")
        lines.insert(1, {"plan": "large.txt", "size": 1, "mtime_ns": 2, "cuts": [[0, 1]]})
        for line in lines:
            for key in ("input_sha256", "output_bytes", "output_sha256"):
                line.pop(key, None)

    folder.rewrite(downgrade)
    assert folder.run().finished_before == 0
    assert folder.run().finished_before == len(before)
    assert folder.contents() == before


@pytest.mark.parametrize(
    "line",
    [b"nonsense", b'{"output": "small.conllu"}', b"[1]", b"\xff\xfe", b"[" * 100_000, b'{"output": 3, "input": "x"}',
     b'{"claims": "small.conllu"}', b'{"output": "a", "input": "b", "size": 1e400}', b""],
    ids=lambda line: line[:12],
)  # fmt: skip
def test_a_damaged_manifest_is_refused_with_its_line_and_a_remedy(folder: Folder, line: bytes) -> None:
    before, good = folder.contents(), (folder.out / NAME).read_bytes().splitlines(keepends=True)
    damaged = b"".join([*good[:3], line + b"\n", *good[3:]])
    (folder.out / NAME).write_bytes(damaged)
    with pytest.raises(DataError, match=r"weft\.manifest, line 4: not a manifest entry .* delete the line"):
        folder.run()
    assert folder.contents() == before
    assert (folder.out / NAME).read_bytes() == damaged


def test_a_file_that_is_no_manifest_is_left_as_it_is(folder: Folder) -> None:
    for text in (b"my notes without an end", b"my notes\n", b'{"claims": []}\n'):
        (folder.out / NAME).write_bytes(text)
        with pytest.raises(DataError, match=r"line 1: not a manifest entry .* use another folder"):
            folder.run()
        assert (folder.out / NAME).read_bytes() == text
    (folder.out / NAME).write_bytes(b'{"manifest": 99, "settings": {}}\n')
    with pytest.raises(DataError, match="newer Weft"):
        folder.run()


def test_a_manifest_cut_anywhere_costs_only_work(folder: Folder) -> None:
    before, data = folder.contents(), (folder.out / NAME).read_bytes()
    first = data.index(b"\n", data.index(b'"claims"')) + 1
    for size in [first, first + 1, first + 2, (first + len(data)) // 2, len(data) - 1]:
        (folder.out / NAME).write_bytes(data[:size] + (b"\0" * 64 if size % 2 else b""))
        folder.run()
        assert folder.contents() == before
        assert folder.run().finished_before == len(before)


# Models.


def test_a_worker_refuses_another_model_than_that_of_the_run(folder: Folder) -> None:
    other = replace(folder.job, digests=("0123456789abcdef",))
    with pytest.raises(WrongModel, match=r"tagger\.weft .*not the model this run began with .*expected 0123"):
        pipeline_of(other)
    for workers in (1, 2):
        with pytest.raises(WrongModel, match="run the same command again to resume"):
            annotate_into(folder.home / f"other-{workers}", [folder.inputs / "small.txt"], other, workers=workers)


# Journals.


def test_a_journal_cut_inside_its_first_line_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "j"
    Journal(path, 4, "x").close()
    data = path.read_bytes()
    for size in range(len(data)):
        path.write_bytes(data[:size])
        with Journal(path, 4, "x") as journal:
            journal.record("0.0.0-1.X", True)
        with Journal(path, 4, "x") as journal:
            assert journal.decisions == {"0.0.0-1.X": Decision(True, 0.0)}


@pytest.mark.parametrize("line", [b"\xff\xfe", b'{"question": "\xe9"}', b"[" * 100_000, b"{}", b"[]", b"null", b"",
                                  b'{"question": 1, "accept": true}', b'{"question": "a", "accept": null}',
                                  b'{"question": "a", "accept": true, "seconds": 1' + b"0" * 400 + b"}"],
                         ids=lambda line: line[:20])  # fmt: skip
def test_damage_inside_a_journal_is_told_with_its_line_and_loses_nothing(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "j"
    with Journal(path, 4, "x") as journal:
        journal.record("0.0.0-1.X", True)
    whole = path.read_bytes()
    damaged = whole + line + b'\n{"question": "b", "accept": true}\n{"cut'
    path.write_bytes(damaged)
    with pytest.raises(FormatError, match=r"line 3: expected a decision .* Delete the line, and its question is asked"):
        Journal(path, 4, "x")
    assert path.read_bytes() == damaged


def test_a_file_that_is_no_journal_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "j"
    for text in (b"my notes", b"my notes\n", b'{"question": "a", "accept": true}\n', b"\xff"):
        path.write_bytes(text)
        with pytest.raises(FormatError, match="line 1: expected the journal of a review"):
            Journal(path, 4, "x")
        assert path.read_bytes() == text
    with pytest.raises(WeftError, match="cannot write"):
        Journal(tmp_path, 4, "x")


def test_a_line_separator_in_a_label_does_not_break_a_journal(tmp_path: Path) -> None:
    with Journal(tmp_path / "j", 1, "x") as journal:
        journal.record("0.0.0-1.A\u2028B\x85", True)
    with Journal(tmp_path / "j", 1, "x") as journal:
        assert list(journal.decisions) == ["0.0.0-1.A\u2028B\x85"]


def test_a_line_that_does_not_fit_on_the_disk_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with LineLog(tmp_path / "log") as log:
        log.append({"a": 1})
        monkeypatch.setattr(os, "fsync", _no_space)
        with pytest.raises(DataError, match="no space left"):
            log.append({"b": 2})
        monkeypatch.undo()
        log.append({"c": 3})
    assert (tmp_path / "log").read_text() == '{"a": 1}\n{"c": 3}\n'


def _no_space(descriptor: int) -> None:
    raise OSError(28, "No space left on device")


# Real runs, killed.


def _load_kills() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bench_fuzz_kills", ROOT / "bench" / "fuzz" / "kills.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # which dataclasses look up
    spec.loader.exec_module(module)
    return module


def test_a_killed_run_ends_as_an_undisturbed_one(tmp_path: Path, model: Path) -> None:
    kills = _load_kills().Kills(tmp_path / "rounds", 5, model)
    kills.annotate(workers=1, kills=1)
    assert kills.tally.failures == []
    assert kills.tally.counts["annotate"] == 1
