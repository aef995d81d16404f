from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

import weft
from weft.errors import ConfigError, WeftError
from weft.pipeline.component import Asked
from weft.scale import cluster, work
from weft.scale.job import Job, WrongModel
from weft.scale.manifest import NAME, Manifest
from weft.scale.run import Summary, annotate_into
from weft.scale.shards import Shard
from weft.tasks.tagging.tagger import Tagger

MakeJob = Callable[..., Job]
Annotated = Callable[[str, int], tuple[Path, Summary]]
SMALL = 20_000


def contents(folder: Path) -> dict[str, bytes]:
    """All files of an output folder but the manifest, half-written ones included."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != NAME)
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@contextmanager
def a_worker_killed(folder: Path, pid: Callable[[], int]) -> Iterator[list[int]]:
    """Kill a worker once the first shards are done; the list tells which it was."""
    killed: list[int] = []

    def wait_and_kill() -> None:
        while not (folder / NAME).is_file() or b'"output"' not in (folder / NAME).read_bytes():
            time.sleep(0.01)
        killed.append(pid())
        os.kill(killed[0], signal.SIGKILL)

    thread = threading.Thread(target=wait_and_kill, daemon=True)
    thread.start()
    yield killed
    thread.join(60)


def test_a_folder_becomes_a_folder_of_one_file_a_shard(annotated: Annotated) -> None:
    out, done = annotated("conllu", SMALL)
    written = contents(out)
    assert done.shards == len(written) > 10
    assert {"small/0.conllu", "small/1.conllu", "small/2.conllu", "large-00001.conllu"} <= set(written)
    assert done.words == sum(doc.n_words for doc in weft.read(out))
    assert done.words > 50_000
    assert done.report.count == done.failed == 0


def test_small_files_are_annotated_as_if_each_were_alone(
    corpus: Path, tmp_path: Path, job: MakeJob, tagger: Path
) -> None:
    annotate_into(tmp_path / "out", [corpus / "small"], job())
    for i in range(3):
        alone = tmp_path / f"{i}.conllu"
        weft.write(weft.load(tagger).pipe(weft.read(corpus / "small" / f"{i}.txt")), alone, comments="add")
        assert (tmp_path / "out" / f"{i}.conllu").read_bytes() == alone.read_bytes()


@pytest.mark.parametrize("to_format", ["conllu", "jsonl", "parquet"])
def test_the_number_of_workers_changes_nothing(
    corpus: Path, tmp_path: Path, job: MakeJob, annotated: Annotated, to_format: str
) -> None:
    annotate_into(tmp_path, [corpus], job(to_format), workers=2, shard_bytes=SMALL)
    assert contents(tmp_path) == contents(annotated(to_format, SMALL)[0])


def test_pieces_of_json_lines_make_up_what_one_stream_writes(tmp_path: Path, job: MakeJob, tagger: Path) -> None:
    rows = "".join(f'{{"text": "The ferry {i} left. A fog came."}}\n' for i in range(500))
    (tmp_path / "a.jsonl").write_text(rows)
    annotate_into(tmp_path / "out", [tmp_path / "a.jsonl"], job("jsonl"), shard_bytes=2000)
    weft.write(weft.load(tagger).pipe(weft.read(tmp_path / "a.jsonl")), tmp_path / "whole.jsonl")
    pieces = sorted(contents(tmp_path / "out").items())
    assert len(pieces) > 5
    assert b"".join(data for _, data in pieces) == (tmp_path / "whole.jsonl").read_bytes()


def test_names_of_sentences_are_unique_over_the_pieces_of_a_file(corpus: Path, tmp_path: Path, job: MakeJob) -> None:
    annotate_into(tmp_path / "out", [corpus / "large.txt"], job(), shard_bytes=SMALL)
    names = [sentence.meta["sent_id"] for sentence in weft.read(tmp_path / "out").sentences()]
    assert len(names) == len(set(names)) == 8000


def test_finished_shards_are_not_done_again(
    corpus: Path, tmp_path: Path, job: MakeJob, annotated: Annotated, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    whole = contents(annotated("conllu", SMALL)[0])
    seen: list[str] = []

    def stop_after_a_while(job: Job, folder: str, shards: list[work.Shard]) -> list[work.Done]:
        if len(seen) > 5:
            raise KeyboardInterrupt
        seen.extend(shard.output for shard in shards)
        return work.annotate_bundle(job, folder, shards)

    with monkeypatch.context() as patched:
        patched.setattr("weft.scale.run.annotate_bundle", stop_after_a_while)
        with pytest.raises(KeyboardInterrupt):
            annotate_into(out, [corpus], job(), shard_bytes=SMALL)
    assert 0 < len(contents(out)) < len(whole)
    times = {name: (out / name).stat().st_mtime_ns for name in contents(out)}
    done = annotate_into(out, [corpus], job(), shard_bytes=SMALL)
    assert done.finished_before == len(seen)
    assert contents(out) == whole
    assert all((out / name).stat().st_mtime_ns == before for name, before in times.items())
    assert annotate_into(out, [corpus], job(), shard_bytes=SMALL).finished_before == done.shards


def test_a_manifest_that_breaks_off_is_gone_on_with(
    corpus: Path, tmp_path: Path, job: MakeJob, annotated: Annotated
) -> None:
    out = shutil.copytree(annotated("conllu", SMALL)[0], tmp_path / "out")
    whole = contents(out)
    text = (out / NAME).read_bytes()
    (out / NAME).write_bytes(text[:-20])
    (out / "small" / ".2.conllu.x.part").write_text("half-written")
    done = annotate_into(out, [corpus], job(), shard_bytes=SMALL)
    assert done.finished_before == done.shards - 1
    assert contents(out) == whole
    (out / NAME).write_bytes(b"nonsense\n" + text)
    with pytest.raises(WeftError, match="line 1: not a manifest entry"):
        annotate_into(out, [corpus], job(), shard_bytes=SMALL)


def test_inputs_that_changed_are_done_again(corpus: Path, tmp_path: Path, job: MakeJob) -> None:
    out, corpus = tmp_path / "out", shutil.copytree(corpus, tmp_path / "corpus")
    text = (corpus / "large.txt").read_text()[: 5 * SMALL]
    (corpus / "large.txt").write_text(text)
    first = annotate_into(out, [corpus], job(), shard_bytes=SMALL)
    (corpus / "large.txt").write_text(text[: len(text) // 2])
    (corpus / "small" / "3.txt").write_text("A new file.")
    done = annotate_into(out, [corpus], job(), shard_bytes=SMALL)
    assert done.finished_before == 3
    assert done.shards < first.shards
    annotate_into(tmp_path / "anew", [corpus], job(), shard_bytes=SMALL)
    assert contents(out) == contents(tmp_path / "anew")


def test_models_and_settings_are_not_mixed_in_a_folder(corpus: Path, tmp_path: Path, job: MakeJob) -> None:
    out = tmp_path / "out"
    annotate_into(out, [corpus / "small"], job())
    before = contents(out)
    with pytest.raises(ConfigError, match="made with to_format 'conllu', now it is 'jsonl'"):
        annotate_into(out, [corpus / "small"], job("jsonl"))
    with pytest.raises(ConfigError, match="made with probabilities False, now it is True"):
        annotate_into(out, [corpus / "small"], job(probabilities=True))
    with pytest.raises(ConfigError, match="made with another model"):
        annotate_into(out, [corpus / "small"], replace(job(), digests=("other",)))
    assert contents(out) == before


def test_files_of_other_origin_are_not_written_over(corpus: Path, tmp_path: Path, job: MakeJob) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "1.conllu").write_text("mine")
    with pytest.raises(ConfigError, match=r"1\.conllu exists"):
        annotate_into(out, [corpus / "small"], job())
    assert [path.name for path in out.iterdir()] == ["1.conllu"]


def test_one_run_at_a_time_writes_to_a_folder(corpus: Path, tmp_path: Path, job: MakeJob) -> None:
    with Manifest(tmp_path, {}), pytest.raises(ConfigError, match="another run is writing"):
        annotate_into(tmp_path, [corpus], job())


def test_bad_documents_are_left_out_and_counted(tmp_path: Path, job: MakeJob, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [json.dumps({"text": f"The ferry {i} left."}) for i in range(20)]
    rows[3] = "not JSON"
    rows[5] = '{"text": "A lone surrogate \\ud800 cannot be written."}'
    rows[9] = json.dumps({"text": "This one makes the tagger fail."})
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jsonl").write_text("\n".join(rows) + "\n")
    (tmp_path / "in" / "b.jsonl").write_text("\n")
    (tmp_path / "in" / "c.jsonl").write_text(rows[0] + "\n")
    annotate = Tagger.annotate

    def fail(self: Tagger, docs: list[weft.Doc], asked: Asked) -> None:
        if any("makes the tagger fail" in doc.text for doc in docs):
            raise IndexError("a fault of the program")
        annotate(self, docs, asked)

    monkeypatch.setattr(Tagger, "annotate", fail)
    done = annotate_into(tmp_path / "out", [tmp_path / "in"], job("conllu"))
    assert done.documents == 18
    assert done.report.count == 4
    said = "\n".join(done.report.messages)
    assert "a.jsonl, line 4" in said
    assert "a.jsonl, line 6" in said
    assert "fault of Weft" in said
    assert "b.jsonl" in said
    texts = [doc.text for doc in weft.read(tmp_path / "out" / "a.conllu")]
    assert len(texts) == 17
    assert not (tmp_path / "out" / "b.conllu").exists()
    again = annotate_into(tmp_path / "out", [tmp_path / "in"], job("conllu"))
    assert again.finished_before == 3
    assert again.report.count == 4


def test_a_document_that_a_format_cannot_hold_is_left_out(tmp_path: Path, job: MakeJob) -> None:
    rows = [{"text": "a b", "tokens": [[0, 1], [2, 3]], "sentences": [0, 2]} for _ in range(3)]
    rows[1]["columns"] = {"lemma": ["a\tb", "c"]}
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = annotate_into(tmp_path / "out", [tmp_path / "a.jsonl"], job("conllu"))
    assert (done.documents, done.report.count) == (2, 1)
    assert "tab or line break" in done.report.messages[0]


def test_a_shard_that_cannot_be_read_is_tried_by_the_next_run(corpus: Path, tmp_path: Path, job: MakeJob) -> None:
    shards = tmp_path / "gone.txt"
    shards.write_text("Here.")
    bundle = [work.Shard(str(tmp_path / "nowhere.txt"), "nowhere.txt", "nowhere.conllu", "plain", 5, 0)]
    bundle.append(work.Shard(str(shards), "gone.txt", "gone.conllu", "plain", 5, 0))
    (first, second) = work.annotate_bundle(job(), str(tmp_path), bundle)
    assert "nowhere.txt" in first.error
    assert not (tmp_path / "nowhere.conllu").exists()
    assert second.documents == 1


def test_a_killed_worker_costs_only_another_try(
    corpus: Path, tmp_path: Path, job: MakeJob, annotated: Annotated
) -> None:
    out = tmp_path / "out"
    with a_worker_killed(out, lambda: multiprocessing.active_children()[0].pid or 0) as killed:
        done = annotate_into(out, [corpus], job(), workers=2, shard_bytes=SMALL // 4)
    assert killed
    assert done.failed == 0
    assert contents(out) == contents(annotated("conllu", SMALL // 4)[0])


def test_a_killed_dask_worker_costs_only_another_try(
    corpus: Path, tmp_path: Path, job: MakeJob, annotated: Annotated
) -> None:
    distributed = pytest.importorskip("distributed")
    out = tmp_path / "out"
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with (
        distributed.LocalCluster(**options) as cluster,
        a_worker_killed(out, lambda: next(iter(cluster.workers.values())).pid) as killed,
    ):
        done = annotate_into(out, [corpus], job(), cluster=cluster.scheduler_address, shard_bytes=SMALL // 4)
    assert killed
    assert done.failed == 0
    assert contents(out) == contents(annotated("conllu", SMALL // 4)[0])


def _held_up(seen: str, bundle: Sequence[Shard]) -> Iterator[work.Done]:
    """The second shard of a bundle is ready only after the first has been seen."""
    for number, shard in enumerate(bundle):
        end = time.monotonic() + 60
        while number and not Path(seen).exists():
            assert time.monotonic() < end, "the first shard is not told of"
            time.sleep(0.01)
        yield work.Done(shard.output, documents=number)


def test_dask_tells_of_each_file_before_its_bundle_is_complete(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    shards = [Shard("a.txt", "a.txt", name, "plain", 10, 0) for name in ("a.conllu", "b.conllu", "c.conllu")]
    told = []
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as local:
        seen = tmp_path / "seen"
        for done in cluster.on_cluster(partial(_held_up, str(seen)), [shards], local.scheduler_address):
            seen.touch()
            told.append((done.output, done.documents))
    assert sorted(told) == [("a.conllu", 0), ("b.conllu", 1), ("c.conllu", 2)]  # each once


def test_a_scheduler_that_is_not_there_is_told_plainly(corpus: Path, tmp_path: Path, job: MakeJob) -> None:
    pytest.importorskip("distributed")
    with pytest.raises(ConfigError, match="cannot reach a Dask scheduler at 'nonsense://x'"):
        annotate_into(tmp_path / "out", [corpus], job(), cluster="nonsense://x")


def test_a_client_that_starts_late_on_a_busy_machine_is_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    started: list[str] = []

    def client(address: str, **options: object) -> str:
        started.append(address)
        assert len(started) > late
        return address

    monkeypatch.setattr(distributed, "Client", client)
    late = 1
    assert cluster._client("tcp://x") == "tcp://x"
    late = 100
    with pytest.raises(ConfigError, match="too busy"):
        cluster._client("tcp://x")


@contextmanager
def a_cluster_of_processes(folder: Path) -> Iterator[tuple[str, int]]:
    """A scheduler and a worker as users start them; gives the scheduler's address and process."""
    file = folder / "scheduler.json"
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--no-dashboard", "--port", "0"]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--no-dashboard", "--no-nanny", "--nthreads", "1"]
    processes = [
        subprocess.Popen([*each, "--scheduler-file", str(file)], stderr=subprocess.DEVNULL)
        for each in (command, worker)
    ]
    try:
        while not file.is_file() or not file.read_text():
            assert processes[0].poll() is None
            time.sleep(0.01)
        yield json.loads(file.read_text())["address"], processes[0].pid
    finally:
        for process in processes:
            process.kill()
            process.wait()


def test_a_scheduler_that_dies_ends_the_run_plainly_and_the_next_run_resumes(
    corpus: Path, tmp_path: Path, job: MakeJob, caplog: pytest.LogCaptureFixture
) -> None:
    pytest.importorskip("distributed")
    out = tmp_path / "out"
    with (
        a_cluster_of_processes(tmp_path) as (address, pid),
        a_worker_killed(out, lambda: pid) as killed,
        pytest.raises(WeftError, match=f"lost the Dask scheduler at {address} .*run the same command again"),
    ):
        annotate_into(out, [corpus], job(), cluster=address, shard_bytes=SMALL // 8)
    assert killed
    assert "Traceback" not in caplog.text
    done = annotate_into(out, [corpus], job(), shard_bytes=SMALL // 8)
    assert 0 < done.finished_before < done.shards


def test_a_dask_worker_refuses_another_model_than_that_of_the_run(corpus: Path, tmp_path: Path, job: MakeJob) -> None:
    distributed = pytest.importorskip("distributed")
    other = replace(job(), digests=("0123456789abcdef",))
    with (
        distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster,
        pytest.raises(WrongModel, match="not the model this run began with"),
    ):
        annotate_into(tmp_path / "out", [corpus / "small"], other, cluster=cluster.scheduler_address)
    assert contents(tmp_path / "out") == {}
