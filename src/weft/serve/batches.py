"""A bounded queue processed in batches: a free thread takes all waiting jobs for the same model.

    batch = the first waiting job, and those after it with the same key, up to `batch_chars` characters

One call of a model costs about the same for one sentence as for a hundred, so batches carry the load when there are
many requests; a single request does not wait for others.
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
#: Maximum jobs in a batch: its responses are built one after the other, and none should wait long for the others.
BATCH_JOBS = 32


@dataclass(eq=False)
class Job:
    """A waiting text, and what to do with the annotated document."""

    key: Hashable  # jobs with the same key can be batched
    text: str
    finish: Callable[[Any], Any]
    deadline: float = float("inf")  # on the monotonic clock
    future: Future[Any] = field(default_factory=Future)


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
        self._closed = False
        for number in range(workers):
            threading.Thread(target=self._run, name=f"weft-serve-{number}", daemon=True).start()

    def __len__(self) -> int:
        """The number of jobs waiting or in progress."""
        return len(self._waiting) + self._busy

    def put(self, job: Job) -> None:
        """Add a job, or raise `Full`."""
        with self._changed:
            if self._closed or len(self._waiting) >= self._limit:
                raise Full
            self._waiting.append(job)
            self._changed.notify()

    def close(self) -> None:
        """End the threads when they finish their batches; waiting jobs are not started."""
        with self._changed:
            self._closed = True
            for job in self._waiting:
                job.future.set_exception(Full())
            self._waiting.clear()
            self._changed.notify_all()

    def _run(self) -> None:
        while jobs := self._take():
            # The client may have gone: a cancelled future is not run.
            wanted = [job for job in jobs if job.future.set_running_or_notify_cancel()]
            now = time.monotonic()
            for job in wanted:
                if job.deadline < now:
                    job.future.set_exception(TimeoutError())
            try:
                if timely := [job for job in wanted if job.deadline >= now]:
                    self._work(timely)
            finally:
                with self._changed:
                    self._busy -= len(jobs)

    def _take(self) -> list[Job]:
        """The next batch; empty when the queue is closed."""
        with self._changed:
            while not self._waiting and not self._closed:
                self._changed.wait()
            if self._closed:
                return []
            first = self._waiting.popleft()
            jobs, left, size = [first], deque[Job](), len(first.text)
            while self._waiting and len(jobs) < BATCH_JOBS and size < BATCH_CHARS:
                job = self._waiting.popleft()
                if job.key == first.key and size + len(job.text) <= BATCH_CHARS:
                    jobs.append(job)
                    size += len(job.text)
                else:
                    left.append(job)
            self._waiting.extendleft(reversed(left))
            self._busy += len(jobs)
            return jobs
