"""Pictures found by sentences behind the HTTP API: a collection of images, and the folder of their pictures if any."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from weft.errors import ConfigError, DataError, WeftError
from weft.serve.batches import Answer, BatchQueue, Full, Job
from weft.serve.service import TooBusy, TooLong, answer_job
from weft.tasks.images.collection import Collection, Hit

#: Characters of a sentence, images of an answer.
LONGEST, SHOWN = 1_000, 24
#: Suffixes of files that a browser shows.
SUFFIXES = (".jpg", ".jpeg", ".png", ".gif", ".webp", ".avif")


class PictureDesk:
    """A collection that can be searched, and the thread that does it; pictures are files of one folder only."""

    def __init__(self, collection: Collection, folder: Path | None = None, queue: int = 512) -> None:
        if folder is not None and not folder.is_dir():
            raise ConfigError(f"--pictures {folder} is not a folder")
        self.collection, self.folder = collection, folder
        self._files = {} if folder is None else _files(folder)
        self._places = set(self._files.values())
        self._queue = BatchQueue(_work, 1, queue)

    def submit(self, what: Callable[[str], dict[str, Any]], text: str, seconds: float) -> Answer:
        """What a method makes of a sentence, in the thread, when its turn comes."""
        if len(text) > LONGEST:
            raise TooLong(f"the sentence has {len(text):,} characters; at most {LONGEST:,} are allowed")
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise WeftError(f"character {error.start + 1} of the sentence is an unpaired surrogate") from None
        job = Job(object(), text, what, time.monotonic() + seconds)
        try:
            self._queue.put(job)
        except Full:
            raise TooBusy("too many searches are already waiting; try again in a moment") from None
        return job.future

    def search(self, text: str) -> dict[str, Any]:
        """The images that a sentence describes best; the name of an image finds those nearest to it."""
        started = time.perf_counter()
        if not text.strip():
            raise DataError("there is no sentence to search by")
        name = text.strip()
        hits = (
            self.collection.like(name, SHOWN) if name in self.collection.images else self.collection.find(text, SHOWN)
        )
        return {
            "images": len(self.collection.images),
            "hits": [self._shown(hit) for hit in hits],
            "seconds": round(time.perf_counter() - started, 4),
        }

    def _shown(self, hit: Hit) -> dict[str, Any]:
        file = self._files.get(Path(hit.path or hit.image).name) or self._files.get(Path(hit.image).stem)
        return {
            "rank": hit.rank, "image": hit.image, "score": round(hit.score, 4),
            "picture": None if file is None else f"/pictures/{quote(file)}",
        }  # fmt: skip

    def file(self, place: str) -> Path | None:
        """The file of a picture, None for all that is no picture of the folder."""
        return self.folder / place if self.folder is not None and place in self._places else None

    def warm(self) -> None:
        """Search once, so that the first page finds compiled kernels."""
        self.search("A dog runs.")

    def close(self) -> None:
        """Stop the thread."""
        self._queue.close()


def _files(folder: Path) -> dict[str, str]:
    """The pictures of a folder by name and by name without suffix, as paths within it."""
    found: dict[str, str] = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() in SUFFIXES and path.is_file():
            place = path.relative_to(folder).as_posix()
            found.setdefault(path.stem, place)
            found[path.name] = place
    return found


def _work(jobs: list[Job]) -> None:
    for job in jobs:
        answer_job(job, job.text)
