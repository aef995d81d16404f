"""Files of JSON lines that only grow: a killed process loses at most the line that it was writing.

A line is on disk when `append` returns. If a write fails, for instance because the disk is full, the file is cut back
to the last complete line. What a file contains is never changed before its reader has accepted all of it.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from contextlib import suppress
from typing import Any, Self

from weft.errors import DataError

_OPENING = b'{"'  # of every line that `append` writes


class LineLog:
    """An open file of JSON lines.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with LineLog(os.path.join(folder, "log")) as log:
    ...         log.append({"answer": 42})
    ...     with open(os.path.join(folder, "log"), "ab") as file:
    ...         _ = file.write(b'{"answ')
    ...     with LineLog(os.path.join(folder, "log")) as log:
    ...         log.lines, log.rest, log.is_cut
    ([b'{"answer": 42}'], b'{"answ', True)
    """

    def __init__(self, path: str | os.PathLike[str], follow_link: bool = True) -> None:
        self.path = path
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        if not follow_link:
            if os.path.islink(path):
                raise DataError(f"cannot write {path}: it is a symbolic link; remove it, or use another folder")
            flags |= getattr(os, "O_NOFOLLOW", 0)
        try:
            self._file = os.fdopen(os.open(path, flags, 0o666), "a+b", buffering=0)
        except OSError as error:
            raise self._writing_error(error) from error
        try:
            if not stat.S_ISREG(os.fstat(self._file.fileno()).st_mode):
                raise DataError(f"cannot write {path}: it is not a file")
        except BaseException:
            self._file.close()
            raise
        self.lines: list[bytes] = []  #: the complete lines when the file was read
        self.rest = b""  #: what follows the last complete line
        self.read()

    def read(self) -> None:
        """Read the file, again if another process may have written to it."""
        self._file.seek(0)
        *self.lines, self.rest = self._file.read().split(b"\n")

    @property
    def is_cut(self) -> bool:
        """Whether the file ends inside a line of this kind; a power cut may leave zeros at the end."""
        rest = self.rest.rstrip(b"\0")
        return rest.startswith(_OPENING) or _OPENING.startswith(rest)

    def drop_rest(self) -> None:
        """Remove what follows the last complete line: a line whose writing was never confirmed."""
        if self.rest:
            self._file.truncate(sum(map(len, self.lines)) + len(self.lines))
            self.rest = b""

    def append(self, values: dict[str, Any]) -> None:
        """Write a line; it is on disk when this returns."""
        data = _encoded(values) + b"\n"
        before = os.fstat(self._file.fileno()).st_size
        try:
            if self._file.write(data) != len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(self._file.fileno())
        except OSError as error:
            with suppress(OSError):
                self._file.truncate(before)
            raise self._writing_error(error) from error

    def fileno(self) -> int:
        """The descriptor, for locks."""
        return self._file.fileno()

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _writing_error(self, error: OSError) -> DataError:
        return DataError(f"cannot write {self.path}: {(error.strerror or str(error)).lower()}")


def _encoded(values: dict[str, Any]) -> bytes:
    try:
        return json.dumps(values, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # the name of a file that is not UTF-8
        return json.dumps(values).encode()


def json_object(line: bytes) -> dict[str, Any]:
    """The JSON object of a line; a `ValueError` says why it is none.

    >>> json_object(b'{"answer": 42}')
    {'answer': 42}
    """
    try:
        value = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ValueError(f"the byte 0x{line[error.start]:02x}, which is not UTF-8") from None
    except RecursionError:
        raise ValueError("JSON that is nested too deeply") from None
    except ValueError:
        raise ValueError("a line that is not JSON") from None
    if not isinstance(value, dict):
        raise ValueError("JSON that is not an object")
    return value
