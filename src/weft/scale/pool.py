"""Process bundles of shards in processes on this machine; shards are retried if a worker dies.

Processes rather than threads: reading and writing files is Python code, which threads execute one at a time.
"""

from __future__ import annotations

import multiprocessing
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnContext, SpawnProcess

from weft.errors import WeftError
from weft.scale.job import WrongModel
from weft.scale.shards import Shard
from weft.scale.work import Done

Work = Callable[[Sequence[Shard]], Iterable[Done]]
Bundle = Sequence[Shard]
#: How often a shard is tried if its worker dies.
TRIES = 3
#: What a worker says besides its results.
FINISHED, DIED = "finished", "died"


def in_this_process(work: Work, bundles: Iterable[Bundle]) -> Iterator[Done]:
    """Process bundles one after the other."""
    for bundle in bundles:
        yield from attempted(work, bundle)


def in_processes(work: Work, bundles: Iterable[Bundle], workers: int) -> Iterator[Done]:
    """Distribute bundles among worker processes; results come shard by shard, as they are ready.

    If a worker dies (killed, out of memory), the unfinished shards of its bundle are retried one by one, each at most
    `TRIES` times.
    """
    context = multiprocessing.get_context("spawn")
    source = iter(bundles)
    again: deque[tuple[Bundle, int]] = deque()
    running: list[_Worker] = []

    def following() -> tuple[Bundle, int] | None:
        if again:
            return again.popleft()
        bundle = next(source, None)
        return None if bundle is None else (bundle, 1)

    def keep_busy() -> None:
        while len(running) < workers and (task := following()) is not None:
            running.append(_Worker.start(context, work, *task))

    try:
        keep_busy()
        while running:
            ready = wait([worker.connection for worker in running])
            for worker in [worker for worker in running if worker.connection in ready]:
                done = worker.result()
                if isinstance(done, Done):
                    yield done
                    continue
                task = following() if done is FINISHED else None
                if task is not None:
                    worker.give(*task)
                    continue
                if done is DIED and (len(worker.bundle) > 1 or worker.tries < TRIES):
                    tries = worker.tries if len(worker.bundle) > 1 else worker.tries + 1
                    again.extend(([shard], tries) for shard in worker.bundle)
                elif done is DIED:
                    message = f"the worker died {TRIES} times on this shard; it may need more memory than is available"
                    yield from [Done(shard.output, error=message) for shard in worker.bundle]
                running.remove(worker)
                worker.stop()
            keep_busy()
    finally:
        for worker in running:
            worker.stop()


def attempted(work: Work, bundle: Bundle) -> Iterator[Done]:
    """The results of a bundle, or the error that prevented them; what would prevent all of them is raised."""
    finished = set()
    try:
        for done in work(bundle):
            finished.add(done.output)
            yield done
    except WrongModel:
        raise
    except WeftError as error:
        yield from [Done(shard.output, error=str(error)) for shard in bundle if shard.output not in finished]


@dataclass
class _Worker:
    process: SpawnProcess
    connection: Connection
    bundle: Bundle
    tries: int

    @classmethod
    def start(cls, context: SpawnContext, work: Work, bundle: Bundle, tries: int) -> _Worker:
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, work), daemon=True)
        with _deaf_to_interrupts():
            process.start()
        theirs.close()
        worker = cls(process, ours, bundle, tries)
        worker.give(bundle, tries)
        return worker

    def give(self, bundle: Bundle, tries: int) -> None:
        self.bundle, self.tries = bundle, tries
        with suppress(OSError):  # it has just died; `result` will handle that
            self.connection.send(bundle)

    def result(self) -> Done | str:
        """The worker's next result, or whether it finished its bundle or died."""
        try:
            answer = self.connection.recv()
        except (EOFError, OSError):
            return DIED
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Done):
            self.bundle = [shard for shard in self.bundle if shard.output != answer.output]
            return answer
        return FINISHED

    def stop(self) -> None:
        self.process.terminate()
        self.process.join()
        self.connection.close()


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Make processes started in this block ignore Ctrl-C, which is meant for the distributing process."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _serve(connection: Connection, work: Work) -> None:
    """The main loop of a worker: bundles in, results out, until the other side closes."""
    while True:
        try:
            bundle = connection.recv()
        except (EOFError, OSError):
            return
        try:
            for done in attempted(work, bundle):
                connection.send(done)
            answer: object = FINISHED
        except Exception as error:
            answer = error
        try:
            connection.send(answer)
        except OSError:
            return
        except Exception:  # an error that cannot be pickled
            connection.send(RuntimeError(repr(answer)))
