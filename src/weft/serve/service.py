"""The work behind the HTTP API: models, threads with a bounded queue, limits of size and time.

A request waits in the queue until one of `workers` threads takes it, together with others for the same model
(`weft.serve.batches`). Kernels run without the interpreter's lock, so that threads share one copy of the weights and
use several cores. A full queue refuses at once; a request whose time is up before its turn comes is never begun.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from weft.errors import ConfigError, WeftError, did_you_mean
from weft.pipeline.component import Asked
from weft.pipeline.pipeline import Pipeline
from weft.serve.batches import BatchQueue, Full, Job
from weft.text.doc import Doc
from weft.text.strings import StringTable

Answer = TypeVar("Answer")
_log = logging.getLogger("weft.serve")
#: The most alternatives that may be asked for.
ALTERNATIVES = 10
#: What every model is given once before the first request, so that its kernels are compiled and loaded.
_WARM = "The ferry left Bergen at nine. Nobody saw it go."


class TooBusy(WeftError):
    """The queue is full."""


class TooSlow(WeftError):
    """A request took longer than it may."""


class TooLong(WeftError):
    """A text has more characters than are taken."""


class Broken(WeftError):
    """Something that is not the fault of who asked."""


class UnknownModel(WeftError):
    """A model that is not served."""


@dataclass(frozen=True)
class Limits:
    """What the service takes and how long it works on it."""

    max_chars: int = 50_000  # characters of a text
    timeout: float = 30.0  # seconds, waiting included
    workers: int = 2  # threads
    queue: int = 512  # requests that may wait

    def __post_init__(self) -> None:
        for name in ("max_chars", "timeout", "workers", "queue"):
            if getattr(self, name) <= 0:
                raise ConfigError(f"{name} must be above 0, got {getattr(self, name)}")

    @property
    def max_bytes(self) -> int:
        """The longest body of a request: every character may be written as two escapes of six bytes."""
        return 12 * self.max_chars + 4096


class Service:
    """Models by name, and the threads that annotate with them.

    >>> from weft.tasks.tagging.tagger import Tagger
    >>> doc = Doc.from_words([["dogs", "bark"], ["cats", "sleep"]], upos=[["NOUN", "VERB"], ["NOUN", "VERB"]])
    >>> tagger = Tagger()
    >>> report = tagger.fit([doc])
    >>> service = Service({"tags": Pipeline([tagger])})
    >>> service.annotate("dogs sleep", "tags", probabilities=True).result().column("upos")
    ['NOUN', 'VERB']
    >>> service.close()
    """

    def __init__(self, models: Mapping[str, Pipeline], limits: Limits | None = None) -> None:
        if not models:
            raise ConfigError("there is no model to serve; name one with --model")
        self.models = dict(models)
        self.limits = limits if limits is not None else Limits()
        self.answered = 0
        self._lock = threading.Lock()
        self._queue = BatchQueue(self._work, self.limits.workers, self.limits.queue)

    @property
    def waiting(self) -> int:
        """How many requests wait or are being answered."""
        return len(self._queue)

    @property
    def default(self) -> str:
        """The model that is used where none is named: the first."""
        return next(iter(self.models))

    def pipeline(self, model: str | None) -> Pipeline:
        """The model of a name, or the default one."""
        name = self.default if model is None else model
        if name not in self.models:
            otherwise = f"there are: {', '.join(self.models)}"
            raise UnknownModel(f"there is no model {name!r}; {did_you_mean(name, self.models, otherwise)}")
        return self.models[name]

    def check(self, text: str) -> None:
        """Refuse a text that is too long or cannot be stored."""
        if len(text) > self.limits.max_chars:
            raise TooLong(
                f"the text has {len(text):,} characters, at most {self.limits.max_chars:,} are taken; "
                "send it in parts, or start the service with a larger --max-chars"
            )
        try:
            text.encode()
        except UnicodeEncodeError as error:
            place = error.start + 1
            raise WeftError(f"character {place} of the text is half of a character (a lone surrogate)") from None

    def annotate(
        self,
        text: str,
        model: str | None = None,
        probabilities: bool = False,
        alternatives: int = 0,
        finish: Callable[[Doc], Any] = lambda doc: doc,
    ) -> Future[Any]:
        """What `finish` makes of the annotated text, in a thread, when its turn comes.

        A model without components that give probabilities or alternatives answers without them.
        """
        self.check(text)
        nlp = self.pipeline(model)
        asked = Asked(probabilities and nlp.gives_probabilities, alternatives if nlp.gives_kbest else 0)
        key = (self.default if model is None else model, asked)
        job = Job(key, text, finish, time.monotonic() + self.limits.timeout)
        try:
            self._queue.put(job)
        except Full:
            raise TooBusy(f"{self.waiting} requests are waiting already; try again in a moment") from None
        return job.future

    async def within_time(self, future: Future[Answer]) -> Answer:
        """Wait for an answer as long as a request may take."""
        limit = self.limits.timeout
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), limit)
        except TimeoutError:
            raise TooSlow(f"this took longer than {limit:g} seconds; send less text at a time, or try later") from None
        except Full:
            raise TooBusy("the service is about to end") from None

    def _work(self, jobs: list[Job]) -> None:
        """Annotate the texts of jobs together; where that fails, one by one, so that one cannot spoil the others."""
        faults: dict[int, Exception] = {}
        key: tuple[str, Asked] = jobs[0].key  # type: ignore[assignment]
        model, asked = key
        annotate = partial(self.pipeline(model).annotate, probabilities=asked.probabilities, kbest=asked.kbest)
        strings = StringTable()
        docs = [Doc(job.text, strings) for job in jobs]
        try:
            annotate(docs)
        except Exception:
            docs = [Doc(job.text) for job in jobs]
            for number, doc in enumerate(docs):
                try:
                    annotate([doc])
                except Exception as error:
                    faults[number] = error
        for number, (job, doc) in enumerate(zip(jobs, docs, strict=True)):
            try:
                if number in faults:
                    raise faults[number]
                job.future.set_result(job.finish(doc))
            except WeftError as error:
                job.future.set_exception(error)
            except Exception as error:  # a defect: it must neither end the service nor show its inside
                _log.error("a request failed", exc_info=error)
                job.future.set_exception(Broken("something went wrong in the service; its log says what"))
        with self._lock:
            self.answered += len(jobs)

    def warm(self) -> None:
        """Annotate a few words with every model, so that the first request finds compiled kernels."""
        for nlp in self.models.values():
            nlp(_WARM)
            if nlp.gives_probabilities:
                nlp(_WARM, probabilities=True)
            if nlp.gives_kbest:
                nlp(_WARM, kbest=2)

    def close(self) -> None:
        """Stop the threads; what waits is not begun."""
        self._queue.close()
