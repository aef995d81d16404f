"""The manifest of an output folder: which shards are finished, and with which models and settings.

`_weft.manifest`, whose name Arrow, Spark and Dask skip, contains one JSON object per line: first the settings; then,
for every run, the outputs it may write; then, as they come, an entry for every finished shard with the digests of its
input and output. Lines are only appended, so a killed run loses at most the last one. Manifests without digests, from
before version 2, are still read: their shards are annotated again, because nothing tells whether they are complete.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from weft.errors import ConfigError, DataError
from weft.line_log import LineLog, json_object
from weft.scale.files import has_digest, holds, is_inside, is_regular, sync_folders
from weft.scale.shards import Shard
from weft.scale.work import Done

NAME = "_weft.manifest"
_OLD_NAME = "weft.manifest"
VERSION = 2
_COUNTS = ("size", "mtime_ns", "start", "documents", "sentences", "words", "left_out")
_DIGESTS = ("input_sha256", "output_sha256")


class Manifest:
    """The manifest of a folder, locked by one run at a time.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Manifest(folder, {"to": "conllu"}) as manifest:
    ...         manifest.add(Shard("a.txt", "a.txt", "a.conllu", "plain", 10, 1), Done("a.conllu", 1, 2, 20))
    ...     with Manifest(folder, {"to": "conllu"}) as manifest:
    ...         print(manifest.finished["a.conllu"]["words"])
    ...     Manifest(folder, {"to": "jsonl"})
    Traceback (most recent call last):
    ...
    weft.errors.ConfigError: /...weft.manifest: the folder contains shards made with to 'conllu', now it is 'jsonl'; ...
    """

    def __init__(self, folder: str | os.PathLike[str], settings: dict[str, Any]) -> None:
        self.folder = Path(folder)
        self.path = self.folder / NAME
        self.finished: dict[str, dict[str, Any]] = {}
        self.claimed: set[str] = set()
        self.version = VERSION
        try:
            self._made = not self.folder.exists()
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(f"cannot write {self.path}: {(error.strerror or str(error)).lower()}") from error
        if is_regular(self.folder / _OLD_NAME) and not os.path.lexists(self.path):
            os.rename(self.folder / _OLD_NAME, self.path)
        self._log = LineLog(self.path, follow_link=False)
        try:
            self._lock()
            self._log.read()
            self.is_new = not self._read(settings)
        except BaseException:
            self._log.close()
            raise
        self._settings = settings if self.is_new else None  # written before the first entry

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if os.fstat(self._log.fileno()).st_size == 0:  # nothing was started, so leave nothing behind
            with suppress(OSError):
                self.path.unlink()
                if self._made:
                    self.folder.rmdir()
        self._log.close()

    def claim(self, outputs: Iterable[str]) -> None:
        """Record which files this run and later ones may replace; refuse files that exist and are of other origin.

        From now on the folder is bound to the settings.
        """
        new = [output for output in outputs if output not in self.claimed]
        if self.version == VERSION:
            for output in new:
                if os.path.lexists(self.folder / output):
                    raise ConfigError(
                        f"{self.folder / output} exists, but no manifest says it may be replaced; use an empty folder"
                    )
        self._begin()
        if new:
            self._log.append({"claims": new})
            self.claimed.update(new)

    def is_finished(self, shard: Shard) -> bool:
        """Whether the shard's file is complete and was made from the current input, by the contents of both."""
        entry = self.finished.get(shard.output)
        now = (shard.name, shard.size, shard.mtime_ns, shard.start, shard.end)
        return (
            entry is not None
            and tuple(entry[key] for key in ("input", "size", "mtime_ns", "start", "end")) == now
            and "output_sha256" in entry
            and self._is_as_written(shard.output, entry)
            and has_digest(shard.path, entry["input_sha256"], shard.start, shard.end)
        )

    def is_unchanged(self, output: str) -> bool:
        """Whether a finished file is still as it was written; without a digest nothing says otherwise."""
        entry = self.finished[output]
        return "output_sha256" not in entry or self._is_as_written(output, entry)

    def _is_as_written(self, output: str, entry: Mapping[str, Any]) -> bool:
        """Whether a file has the content that was written; where nothing was, there must be none."""
        path = self.folder / output
        if entry["output_bytes"] == 0:
            return not os.path.lexists(path)
        return holds(path, entry["output_bytes"], entry["output_sha256"])

    def add(self, shard: Shard, done: Done) -> None:
        """Record that a shard is finished; its output must be on disk already."""
        entry = {
            "input": shard.name, "size": shard.size, "mtime_ns": shard.mtime_ns, "start": shard.start,
            "end": shard.end, **{key: value for key, value in asdict(done).items() if key != "error"},
        }  # fmt: skip
        self._begin()
        self._log.append(entry)
        self.finished[shard.output] = entry

    def _begin(self) -> None:
        if self._settings is not None:
            settings, self._settings = self._settings, None
            self._log.append({"manifest": VERSION, "settings": settings})
            sync_folders([self.folder, self.folder.absolute().parent])

    def _read(self, settings: dict[str, Any]) -> bool:
        """Read the lines of earlier runs; False if there are none."""
        lines = self._log.lines
        if not self._log.is_cut:
            raise self._damage(len(lines) + 1, "a line without an end")
        for number, line in enumerate(lines, start=1):
            try:
                if number == 1:
                    self._compare(self._settings_of(json_object(line)), settings)
                else:
                    self._take(json_object(line))
            except ValueError as error:
                raise self._damage(number, str(error)) from error
        self._log.drop_rest()  # a run ended while writing the last line
        return bool(lines)

    def _settings_of(self, values: Mapping[str, Any]) -> dict[str, Any]:
        version, settings = values.get("manifest", 1), values.get("settings")
        if not isinstance(settings, dict) or not isinstance(version, int):
            raise ValueError("no settings")
        if version > VERSION:
            raise DataError(f"{self.path} was written by a newer Weft; update Weft, or use another folder")
        self.version = version
        return settings

    def _take(self, values: dict[str, Any]) -> None:
        if "claims" in values:
            outputs = values["claims"]
            if not isinstance(outputs, list):
                raise ValueError("claims that are not a list")
            for output in outputs:
                _check_name(output)
            self.claimed.update(outputs)
        elif "plan" not in values:  # where older versions noted how they cut large inputs
            check_entry(values)
            self.claimed.add(values["output"])
            self.finished[values["output"]] = values

    def _damage(self, number: int, found: str) -> DataError:
        remedy = "use another folder" if number == 1 else "delete the line, and its file is annotated again"
        return DataError(f"{self.path}, line {number}: not a manifest entry but {found}: the file is damaged; {remedy}")

    def _compare(self, before: dict[str, Any], now: dict[str, Any]) -> None:
        for key in dict.fromkeys([*before, *now]):
            if before.get(key) != json.loads(json.dumps(now.get(key))):
                what = "another model" if key == "digests" else f"{key} {before.get(key)!r}, now it is {now.get(key)!r}"
                raise ConfigError(
                    f"{self.path}: the folder contains shards made with {what}; use the same again or another folder"
                )

    def _lock(self) -> None:
        try:
            import fcntl
        except ImportError:  # without such locks, concurrent runs go unnoticed
            return
        try:
            fcntl.flock(self._log.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not os.path.samestat(os.fstat(self._log.fileno()), os.stat(self.path)):
                raise OSError  # the other run has just removed its empty manifest
        except OSError:
            raise ConfigError(f"another run is writing to {self.folder}; wait for it, or use another folder") from None


def check_entry(values: Mapping[str, Any]) -> None:
    """Check the entry of a finished shard; a `ValueError` says what is wrong.

    >>> check_entry({"input": "a.txt", "output": "../precious.txt"})
    Traceback (most recent call last):
    ...
    ValueError: the output '../precious.txt', which is outside of the folder
    """
    for key in ("input", "output"):
        if not isinstance(values.get(key), str):
            raise ValueError(f"an entry without {key!r}")
    _check_name(values["output"])
    for key in _COUNTS:
        if not isinstance(values.get(key), int):
            raise ValueError(f"an entry without the number {key!r}")
    if "end" not in values or not isinstance(values["end"], int | None):
        raise ValueError("an entry without 'end'")
    messages = values.get("messages")
    if not isinstance(messages, list) or not all(isinstance(message, str) for message in messages):
        raise ValueError("an entry without 'messages'")
    if any(key in values for key in (*_DIGESTS, "output_bytes")) and not (
        all(isinstance(values.get(key), str) for key in _DIGESTS) and isinstance(values.get("output_bytes"), int)
    ):
        raise ValueError("an entry with incomplete digests")


def _check_name(output: Any) -> None:
    if not isinstance(output, str):
        raise ValueError("an output whose name is not a string")
    if not is_inside(output):
        raise ValueError(f"the output {output!r}, which is outside of the folder")
