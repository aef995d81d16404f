"""The work behind the HTTP API: models, threads with a bounded queue, limits on size and time.

A request waits in the queue until one of `workers` threads takes it, together with others for the same model
(`weft.serve.batches`). Kernels run without the interpreter's lock, so threads share one copy of the weights and use
several cores. A full queue rejects requests at once; a request that times out before its turn is never started, and the
work on one that times out later, or whose client has gone, is stopped at its next check (`weft.deadline`).
"""

from __future__ import annotations

import asyncio
import logging
import math
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from weft.deadline import Stopped, deadline, stop_when
from weft.errors import ConfigError, WeftError, did_you_mean
from weft.pipeline.component import Asked
from weft.pipeline.pipeline import Pipeline
from weft.serve.batches import Answer, BatchQueue, Full, Job
from weft.text.doc import Doc
from weft.text.strings import StringTable

if TYPE_CHECKING:
    from weft.serve.graphs import GraphDesk
    from weft.serve.images import PictureDesk

_log = logging.getLogger("weft.serve")
#: The maximum number of alternatives per request.
ALTERNATIVES = 10
#: Seconds that several texts may take together before they are annotated one by one.
TOGETHER = 5.0
#: Seconds between two looks whether a client has gone.
LOOK = 1.0
#: Annotated once by every model before the first request, so that its kernels are compiled and loaded.
_WARM = "The ferry left Bergen at nine. Nobody saw it go."


class TooBusy(WeftError):
    """The queue is full."""


class TooSlow(WeftError):
    """A request exceeded the time limit."""


class TooLong(WeftError):
    """A text exceeds the character limit."""


class Broken(WeftError):
    """An internal error, not caused by the request."""


class UnknownModel(WeftError):
    """A model that is not available."""


@dataclass(frozen=True)
class Limits:
    """What the service accepts and how long it may take."""

    max_chars: int = 50_000  # characters of a text
    timeout: float = 30.0  # seconds, including waiting
    workers: int = 2  # threads
    queue: int = 512  # maximum number of waiting requests

    def __post_init__(self) -> None:
        for name in ("max_chars", "timeout", "workers", "queue"):
            if getattr(self, name) <= 0:
                raise ConfigError(f"{name} must be above 0, got {getattr(self, name)}")

    @property
    def max_bytes(self) -> int:
        """The maximum length of a request body: every character may be written as two escapes of six bytes."""
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

    def __init__(
        self, models: Mapping[str, Pipeline], limits: Limits | None = None, graph: GraphDesk | None = None,
        pictures: PictureDesk | None = None,
    ) -> None:  # fmt: skip
        if not models and graph is None and pictures is None:
            raise ConfigError("there is no model to serve; name one with --model")
        self.models = dict(models)
        self.graph, self.pictures = graph, pictures
        self.limits = limits if limits is not None else Limits()
        self.answered = 0
        self._lock = threading.Lock()
        self._queue = BatchQueue(self._work, self.limits.workers, self.limits.queue)

    @property
    def waiting(self) -> int:
        """The number of requests waiting or in progress."""
        return len(self._queue)

    @property
    def default(self) -> str:
        """The default model: the first; "" if only a graph is served."""
        return next(iter(self.models), "")

    def pipeline(self, model: str | None) -> Pipeline:
        """The model of a name, or the default one."""
        name = self.default if model is None else model
        if not self.models:
            raise UnknownModel("this service has no model to annotate with; start it with --model to annotate texts")
        if name not in self.models:
            otherwise = f"there are: {', '.join(self.models)}"
            raise UnknownModel(f"there is no model {name!r}; {did_you_mean(name, self.models, otherwise)}")
        return self.models[name]

    def check(self, text: str) -> None:
        """Reject a text that is too long or cannot be stored."""
        if len(text) > self.limits.max_chars:
            raise TooLong(
                f"the text has {len(text):,} characters, but at most {self.limits.max_chars:,} are allowed; "
                "send it in parts, or start the service with a larger --max-chars"
            )
        try:
            text.encode()
        except UnicodeEncodeError as error:
            place = error.start + 1
            raise WeftError(f"character {place} of the text is an unpaired surrogate") from None

    def annotate(
        self,
        text: str,
        model: str | None = None,
        probabilities: bool = False,
        alternatives: int = 0,
        finish: Callable[[Doc], Any] = lambda doc: doc,
    ) -> Answer:
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
            raise TooBusy(f"{self.waiting} requests are already waiting; try again in a moment") from None
        return job.future

    async def within_time(self, answer: Answer, gone: Callable[[], Awaitable[bool]] | None = None) -> Any:
        """Wait for a response within the time limit; the work is stopped if it is exceeded, or if `gone` says that the
        client does not wait any more."""
        limit = self.limits.timeout
        waiting = asyncio.wrap_future(answer)
        end = time.monotonic() + limit
        try:
            while not waiting.done() and time.monotonic() < end:
                await asyncio.wait({waiting}, timeout=min(LOOK, end - time.monotonic()))
                if not waiting.done() and gone is not None and await gone():
                    break
            if not waiting.done():
                raise TimeoutError
            return waiting.result()
        except TimeoutError:
            raise TooSlow(
                f"the request took longer than {limit:g} seconds; send less text at a time, or try later"
            ) from None
        except Full:
            raise TooBusy("the service is shutting down") from None
        finally:
            waiting.cancel()
            answer.stop()

    def _work(self, jobs: list[Job]) -> None:
        """Annotate the texts of jobs together; if that fails or takes too long, one by one, so that one cannot spoil
        the others."""
        key: tuple[str, Asked] = jobs[0].key  # type: ignore[assignment]
        model, asked = key
        annotate = partial(self.pipeline(model).annotate, probabilities=asked.probabilities, kbest=asked.kbest)
        strings = StringTable()
        docs = [Doc(job.text, strings) for job in jobs]
        late = deadline(TOGETHER if len(jobs) > 1 else math.inf)
        try:
            with stop_when(lambda: all(job.is_over for job in jobs) or late()):
                annotate(docs)
        except Exception:
            left = jobs
            for limit in (TOGETHER, math.inf):  # what takes long comes last
                left = [job for job in left if not _work_alone(job, annotate, deadline(limit))]
        else:
            for job, doc in zip(jobs, docs, strict=True):
                answer_job(job, doc)
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
        if self.models:
            from weft.serve import comparing

            comparing.warm()
        if self.graph is not None:
            self.graph.warm()
        if self.pictures is not None:
            self.pictures.warm()

    def close(self) -> None:
        """Stop the threads; waiting requests are not started."""
        self._queue.close()
        if self.graph is not None:
            self.graph.close()
        if self.pictures is not None:
            self.pictures.close()


def _work_alone(job: Job, annotate: Callable[[list[Doc]], None], late: Callable[[], bool]) -> bool:
    """Annotate the text of a job and answer it; returns whether it is answered, which it is not if it is late."""
    doc = Doc(job.text)
    try:
        with stop_when(lambda: job.is_over or late()):
            annotate([doc])
    except Stopped as error:
        if not job.is_over:
            return False
        answer_job(job, error)
    except Exception as error:
        answer_job(job, error)
    else:
        answer_job(job, doc)
    return True


def answer_job(job: Job, found: Any) -> None:
    """Give the future of a job its result, or say why there is none."""
    try:
        if isinstance(found, Exception):
            raise found
        job.future.set_result(job.finish(found))
    except Stopped:
        job.future.set_exception(TimeoutError())
    except WeftError as error:
        job.future.set_exception(error)
    except Exception as error:  # a bug: it must neither end the service nor expose its internals
        _log.error("a request failed", exc_info=error)
        job.future.set_exception(Broken("something went wrong in the service; its log says what"))
