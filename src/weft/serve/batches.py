"""A bounded queue processed in batches: a free thread takes all waiting jobs for the same model.

    batch = the first waiting job, and those after it with the same key, up to `batch_chars` characters

One call of a model costs about the same for one sentence as for a hundred, so batches carry the load when there are
many requests; a single request does not wait for others.

One thread more takes only texts of at most `short_chars` characters, and only while all others are busy with longer
ones: texts that take long never keep the rest waiting.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

#: Maximum characters in a batch; a longer text is a batch by itself.
BATCH_CHARS = 20_000
#: Texts of at most this many characters do not wait for longer ones.
SHORT_CHARS = 5_000
#: Maximum jobs in a batch: its responses are built one after the other, and none should wait long for the others.
BATCH_JOBS = 32


class Answer(Future[Any]):
    """The future of a job; whoever waits for it can stop the work."""

    def __init__(self) -> None:
        super().__init__()
        self.stopped = False

    def stop(self) -> None:
        """Nobody waits any more: do not start the work, or end it soon."""
        self.stopped = True
        self.cancel()


@dataclass(eq=False)
class Job:
    """A waiting text, and what to do with the annotated document."""

    key: Hashable  # jobs with the same key can be batched
    text: str
    finish: Callable[[Any], Any]
    deadline: float = float("inf")  # on the monotonic clock
    future: Answer = field(default_factory=Answer)

    @property
    def is_over(self) -> bool:
        """Whether nobody waits for it any more: it is late, or it was stopped."""
        return self.future.stopped or self.deadline < time.monotonic()


class Full(Exception):
    """The queue takes no more jobs."""


class BatchQueue:
    """Threads that pass batches of jobs to `work`, which must give every job's future a result or an exception.

    >>> def shout(jobs):
    ...     for job in jobs:
    ...         job.future.set_result(job.finish(job.text.upper()))
    >>> queue = BatchQueue(shout, workers=1, limit=10)
    >>> job = Job("same", "tea", lambda text: text + "!")
    >>> queue.put(job)
    >>> job.future.result()
    'TEA!'
    >>> queue.close()
    """

    def __init__(self, work: Callable[[list[Job]], None], workers: int, limit: int) -> None:
        self._work, self._limit = work, limit
        self._waiting: deque[Job] = deque()
        self._changed = threading.Condition()
        self._busy = 0
        self._workers, self._on_long = workers, 0  # threads, and how many of them are busy with long texts
        self._closed = False
        for number in range(workers + 1):
            spare = number == workers
            threading.Thread(target=self._run, args=(spare,), name=f"weft-serve-{number}", daemon=True).start()

    def __len__(self) -> int:
        """The number of jobs waiting or in progress."""
        return len(self._waiting) + self._busy

    def put(self, job: Job) -> None:
        """Add a job, or raise `Full`."""
        with self._changed:
            if self._closed or len(self._waiting) >= self._limit:
                raise Full
            self._waiting.append(job)
            self._changed.notify_all()

    def close(self) -> None:
        """End the threads when they finish their batches; waiting jobs are not started."""
        with self._changed:
            self._closed = True
            for job in self._waiting:
                job.future.set_exception(Full())
            self._waiting.clear()
            self._changed.notify_all()

    def _run(self, spare: bool) -> None:
        while jobs := self._take(spare):
            # The client may have gone: a cancelled future is not run.
            wanted = [job for job in jobs if job.future.set_running_or_notify_cancel()]
            timely = []
            for job in wanted:
                if job.is_over:
                    job.future.set_exception(TimeoutError())
                else:
                    timely.append(job)
            try:
                if timely:
                    self._work(timely)
            finally:
                with self._changed:
                    self._busy -= len(jobs)
                    self._on_long -= _is_long(jobs[0])

    def _next(self, spare: bool) -> Job | None:
        """The first job that a thread may take now."""
        if not spare:
            return self._waiting[0] if self._waiting else None
        if self._on_long < self._workers:
            return None
        return next((job for job in self._waiting if not _is_long(job)), None)

    def _take(self, spare: bool) -> list[Job]:
        """The next batch; empty when the queue is closed."""
        with self._changed:
            while (first := self._next(spare)) is None and not self._closed:
                self._changed.wait()
            if self._closed or first is None:
                return []
            self._waiting.remove(first)
            self._on_long += _is_long(first)
            jobs, left, size = [first], deque[Job](), len(first.text)
            while self._waiting and len(jobs) < BATCH_JOBS and size < BATCH_CHARS:
                job = self._waiting.popleft()
                together = job.key == first.key and size + len(job.text) <= BATCH_CHARS
                if together and _is_long(job) == _is_long(first):
                    jobs.append(job)
                    size += len(job.text)
                else:
                    left.append(job)
            self._waiting.extendleft(reversed(left))
            self._busy += len(jobs)
            self._changed.notify_all()
            return jobs


def _is_long(job: Job) -> bool:
    return len(job.text) > SHORT_CHARS
