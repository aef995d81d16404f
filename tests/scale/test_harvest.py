"""Harvests of files: the same in one process, in parts, on Dask, and in whatever memory."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from weft.errors import ConfigError, FormatError
from weft.formats import Report
from weft.lexical.harvest.harvest import KINDS
from weft.scale.harvest import HarvestJob, harvest_bundle, harvest_files

TEXTS = Path(__file__).parents[2] / "examples" / "metaphor" / "texts"
JOB = HarvestJob(("en",))


@pytest.fixture(scope="module")
def whole():
    return counts_of(harvest_files([TEXTS], JOB))


def counts_of(harvest):
    counts = {kind: list(harvest.counts[kind]) for kind in KINDS}
    harvest.close()
    return counts | {"sentences": harvest.sentences}


def test_parts_and_little_memory_give_the_same_counts(whole):
    seen = []
    parts = harvest_files([TEXTS], JOB, most=5, bundle_bytes=300, watch=lambda done, total: seen.append((done, total)))
    assert counts_of(parts) == whole
    assert len(seen) > 3
    assert seen[-1][0] == seen[-1][1] == sum(path.stat().st_size for path in TEXTS.iterdir())
    assert ("horse", "animal", 1) in whole["isa"]


def test_dask_gives_the_same_counts(whole):
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 1, "threads_per_worker": 2, "processes": False, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster:
        harvest = harvest_files([TEXTS], JOB, scheduler=cluster.scheduler_address, bundle_bytes=1000)
    assert counts_of(harvest) == whole


def test_processes_are_asked_for_bundle_by_bundle(whole, monkeypatch):
    """With threads in place of processes, which would take seconds to start."""
    from concurrent.futures import ThreadPoolExecutor

    import weft.scale.harvest as module

    monkeypatch.setattr(module, "ProcessPoolExecutor", lambda workers, context: ThreadPoolExecutor(workers))
    assert counts_of(harvest_files([TEXTS], JOB, workers=2, bundle_bytes=1000)) == whole


def test_annotated_files_are_taken_as_they_are_and_bad_ones_named(tmp_path):
    path = tmp_path / "a.conllu"
    cells = ["Life life NOUN 5 nsubj", "is be AUX 5 cop", "like like ADP 5 case", "a a DET 5 det"]
    rows = [each.split() for each in [*cells, "journey journey NOUN 0 root"]]
    row = "".join(f"{k}\t{a}\t{b}\t{c}\t_\t_\t{d}\t{e}\t_\t_\n" for k, (a, b, c, d, e) in enumerate(rows, 1)) + "\n"
    path.write_text(row, encoding="utf-8")
    found = harvest_files([path], HarvestJob(("no such model",)))
    assert list(found.counts["simile"]) == [("life", "journey", 1)]
    path.write_text(row + "1\tbad\n\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r"a.conllu, line 7"):
        harvest_files([path], HarvestJob(("en",)))
    report = Report()
    harvest_files([path], HarvestJob(("en",), skip_bad=True), report=report)
    assert report.count == 1
    assert "line 7" in report.messages[0]


def test_a_scheduler_that_is_not_there_is_named():
    with pytest.raises(ConfigError, match="cannot reach a Dask scheduler"):
        harvest_files([TEXTS], JOB, scheduler="nonsense://x")


def test_a_bundle_tells_its_bytes():
    from weft.scale.shards import plan

    gathered = harvest_bundle(JOB, plan([TEXTS / "machines.txt"], "jsonl"))
    assert gathered.n_bytes == (TEXTS / "machines.txt").stat().st_size
    assert gathered.sentences > 20


def test_work_and_answers_can_be_sent_to_other_processes(whole):
    from weft.scale.shards import plan

    work, job, shards = pickle.loads(pickle.dumps((harvest_bundle, JOB, plan([TEXTS], "jsonl"))))
    gathered = pickle.loads(pickle.dumps(work(job, shards)))
    assert gathered.counts == {kind: whole[kind] for kind in KINDS}
