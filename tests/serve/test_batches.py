"""The queue: jobs of one key together and in order, never more than it may hold, none begun too late."""

from __future__ import annotations

import time
from threading import Event

import pytest

from weft.serve.batches import BATCH_CHARS, BATCH_JOBS, SHORT_CHARS, BatchQueue, Full, Job


class Held:
    """Work that notes its batches and waits until it may go on."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.go, self.begun = Event(), Event()

    def __call__(self, jobs: list[Job]) -> None:
        self.batches.append([job.text for job in jobs])
        self.begun.set()
        self.go.wait(10)
        for job in jobs:
            job.future.set_result(job.finish(job.text))


@pytest.fixture
def held():
    work = Held()
    queue = BatchQueue(work, workers=1, limit=100)
    first = Job("a", "first", len)
    queue.put(first)
    assert work.begun.wait(10)
    yield work, queue
    work.go.set()
    queue.close()


def put(queue: BatchQueue, *jobs: Job) -> list[Job]:
    for job in jobs:
        queue.put(job)
    return list(jobs)


def test_jobs_of_one_key_are_done_together_and_the_others_keep_their_order(held) -> None:
    work, queue = held
    jobs = put(queue, *(Job(key, f"{key}{i}", len) for i, key in enumerate("abacb")))
    assert len(queue) == 6
    work.go.set()
    assert [job.future.result(10) for job in jobs] == [2] * 5
    assert work.batches == [["first"], ["a0", "a2"], ["b1", "b4"], ["c3"]]


def test_batches_are_bounded_in_characters_and_in_jobs(held) -> None:
    work, queue = held
    long = "x" * (BATCH_CHARS // 2 + 1)
    jobs = put(queue, *(Job("a", long, len) for _ in range(2)), *(Job("a", "y", len) for _ in range(BATCH_JOBS + 1)))
    work.go.set()
    for job in jobs:
        job.future.result(10)
    assert all(len(batch) <= BATCH_JOBS and sum(map(len, batch)) <= BATCH_CHARS for batch in work.batches)
    assert sum(map(len, work.batches)) == len(jobs) + 1


def test_a_full_queue_takes_no_more(held) -> None:
    _, queue = held
    queue._limit = 2
    put(queue, Job("a", "1", len), Job("a", "2", len))
    with pytest.raises(Full):
        queue.put(Job("a", "3", len))


def test_what_was_cancelled_or_is_late_is_not_begun(held) -> None:
    work, queue = held
    gone, late, well = put(queue, Job("a", "gone", len), Job("a", "late", len, time.monotonic()), Job("a", "well", len))
    gone.future.cancel()
    work.go.set()
    assert well.future.result(10) == 4
    with pytest.raises(TimeoutError):
        late.future.result(10)
    assert work.batches[1:] == [["well"]]


def test_closing_tells_those_who_wait(held) -> None:
    _, queue = held
    (job,) = put(queue, Job("a", "waiting", len))
    queue.close()
    with pytest.raises(Full):
        job.future.result(10)
    with pytest.raises(Full):
        queue.put(Job("a", "more", len))


def test_short_texts_do_not_wait_for_long_ones() -> None:
    work = Held()
    queue = BatchQueue(work, workers=2, limit=100)
    long = put(queue, *(Job(key, "x" * (SHORT_CHARS + 1), len) for key in "ab"))
    while len(work.batches) < 2:
        pass
    short, longer = put(queue, Job("a", "y", len), Job("a", "z" * (SHORT_CHARS + 1), len))
    work.begun.clear()
    assert work.begun.wait(10)
    assert work.batches[2:] == [["y"]]
    assert not long[0].future.done()
    work.go.set()
    assert [job.future.result(10) for job in (*long, short, longer)] == [SHORT_CHARS + 1] * 2 + [1, SHORT_CHARS + 1]
    queue.close()


def test_a_stopped_job_is_not_begun_and_says_so_while_it_runs(held) -> None:
    work, queue = held
    (late,) = put(queue, Job("a", "late", len))
    late.future.stop()
    assert late.is_over
    assert late.future.cancelled()
    work.go.set()
    (last,) = put(queue, Job("a", "last", len))
    assert last.future.result(10) == 4
    assert ["late"] not in work.batches
