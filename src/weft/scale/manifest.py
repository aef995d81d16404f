"""The manifest of an output folder: which shards are finished, and with which models and settings.

`weft.manifest` contains one JSON object per line: first the settings, then, as they come, a plan for every large input
and an entry for every finished shard. Lines are only appended, so a killed run loses at most the last one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from weft.errors import ConfigError, DataError
from weft.scale.shards import Cut, Shard
from weft.scale.work import Done

NAME = "weft.manifest"


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
        self.plans: dict[str, tuple[int, int, list[Cut]]] = {}
        try:
            self._made = not self.folder.exists()
            self.folder.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("a+b")
        except OSError as error:
            raise DataError(f"cannot write {self.path}: {(error.strerror or str(error)).lower()}") from error
        try:
            self._lock()
            self.is_new = not self._read(settings)
        except BaseException:
            self._file.close()
            raise
        self._settings = settings if self.is_new else None  # written before the first entry

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        empty = self.path.stat().st_size == 0
        self._file.close()
        if empty:  # nothing was started, so leave nothing behind
            self.path.unlink()
            if self._made:
                with suppress(OSError):
                    self.folder.rmdir()

    def begin(self) -> None:
        """Write the settings, if the manifest is new: from now on the folder is bound to them."""
        if self._settings is not None:
            settings, self._settings = self._settings, None
            self._append({"settings": settings})

    def is_finished(self, shard: Shard) -> bool:
        """Whether the shard's file exists and was made from the current input."""
        entry = self.finished.get(shard.output)
        now = (shard.name, shard.size, shard.mtime_ns, shard.start, shard.end)
        return (
            entry is not None
            and tuple(entry[key] for key in ("input", "size", "mtime_ns", "start", "end")) == now
            and (self.folder / shard.output).is_file()
        )

    def add_plans(self, shards: Iterable[Shard]) -> None:
        """Record where large inputs are cut, which takes a pass over them to compute."""
        cuts_of: dict[str, tuple[int, int, list[Cut]]] = {}
        for shard in shards:
            if shard.number:
                cuts_of.setdefault(shard.name, (shard.size, shard.mtime_ns, []))[2].append((shard.start, shard.line))
        for name, (size, mtime_ns, cuts) in cuts_of.items():
            if self.plans.get(name) != (size, mtime_ns, cuts):
                self.plans[name] = (size, mtime_ns, cuts)
                self._append({"plan": name, "size": size, "mtime_ns": mtime_ns, "cuts": cuts})

    def add(self, shard: Shard, done: Done) -> None:
        """Record that a shard is finished."""
        entry = {
            "input": shard.name, "size": shard.size, "mtime_ns": shard.mtime_ns, "start": shard.start,
            "end": shard.end, **{key: value for key, value in asdict(done).items() if key != "error"},
        }  # fmt: skip
        self._append(entry)
        self.finished[shard.output] = entry

    def _read(self, settings: dict[str, Any]) -> bool:
        """Read the lines of earlier runs; False if there are none."""
        self._file.seek(0)
        lines = self._file.read().split(b"\n")
        if lines[-1]:  # a run ended while writing the last line
            self._file.truncate(sum(map(len, lines[:-1])) + len(lines) - 1)
        values = [self._value(number, line) for number, line in enumerate(lines[:-1], start=1)]
        if not values:
            return False
        self._compare(values[0].get("settings", {}), settings)
        for value in values[1:]:
            if "plan" in value:
                cuts = [(int(start), int(line)) for start, line in value["cuts"]]
                self.plans[value["plan"]] = (value["size"], value["mtime_ns"], cuts)
            else:
                self.finished[value["output"]] = value
        return True

    def _value(self, number: int, line: bytes) -> dict[str, Any]:
        try:
            value = json.loads(line)
            if isinstance(value, dict) and ("settings" in value or "plan" in value or "output" in value):
                return value
        except ValueError:
            pass
        raise DataError(f"{self.path}, line {number}: not a manifest entry; remove the folder or use another")

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
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ConfigError(f"another run is writing to {self.folder}; wait for it, or use another folder") from None

    def _append(self, value: dict[str, Any]) -> None:
        self.begin()
        self._file.write(json.dumps(value, ensure_ascii=False).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
