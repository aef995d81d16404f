"""Model files: arrays and a header, nothing that runs.

A model is one safetensors file. Its metadata holds one JSON text under the name `weft`: the format's version, what the
model is, and a checksum of every array. Arrays are memory-mapped, so that processes share one copy.
"""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.errors import ModelError

#: Raised when a change to the format makes older programs misread newer files.
VERSION = 1

Arrays = dict[str, NDArray[Any]]

_DTYPES = {
    "F64": np.float64, "F32": np.float32, "I64": np.int64, "I32": np.int32, "I16": np.int16, "I8": np.int8,
    "U64": np.uint64, "U32": np.uint32, "U16": np.uint16, "U8": np.uint8, "BOOL": np.bool_,
}  # fmt: skip
_LONGEST_HEADER = 100 * 1024 * 1024
_AGAIN = "fetch or train the model again"


def save(path: str | os.PathLike[str], header: dict[str, Any], arrays: Arrays) -> None:
    """Write a model file; an existing file is replaced only when the new one is complete.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(Path(folder, "m.weft"), {"task": "example"}, {"w": np.arange(3.0)})
    ...     header, arrays = load(Path(folder, "m.weft"))
    ...     print(header["task"], arrays["w"].tolist())
    example [0.0, 1.0, 2.0]
    """
    from safetensors.numpy import save as serialise

    path = Path(path)
    tensors = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    full = {"version": VERSION, **header, "checksums": {name: _checksum(array) for name, array in tensors.items()}}
    data = serialise(tensors, metadata={"weft": json.dumps(full, ensure_ascii=False)})
    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(data)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise ModelError(f"cannot write the model to {path}: {error.strerror}") from None


def read_header(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The header of a model file, without its arrays."""
    return _open(Path(path))[0]


def load(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Arrays]:
    """Header and memory-mapped arrays of a model file. Damaged, truncated and newer files are refused."""
    path = Path(path)
    header, entries, start = _open(path)
    size = path.stat().st_size
    checksums = header.get("checksums", {})
    arrays: Arrays = {}
    for name, entry in entries.items():
        try:
            dtype = np.dtype(_DTYPES[entry["dtype"]])
            shape = tuple(int(length) for length in entry["shape"])
            first, end = (int(offset) for offset in entry["data_offsets"])
            fits = 0 <= first <= end and end - first == dtype.itemsize * int(np.prod(shape, dtype=np.int64))
        except (KeyError, TypeError, ValueError):
            fits = False
        if not fits:
            raise ModelError(f"{path}: the entry of array {name!r} is damaged; {_AGAIN}")
        if start + end > size:
            raise ModelError(f"{path}: truncated at byte {size:,} of {start + end:,}; {_AGAIN}")
        if first == end:
            arrays[name] = np.zeros(shape, dtype=dtype)
        else:
            arrays[name] = np.memmap(path, dtype=dtype, mode="r", offset=start + first, shape=shape).view(np.ndarray)
        if _checksum(arrays[name]) != checksums.get(name):
            raise ModelError(f"{path}: array {name!r} does not match its checksum: the file is damaged; {_AGAIN}")
    return header, arrays


def _open(path: Path) -> tuple[dict[str, Any], dict[str, Any], int]:
    """Header, array entries and the byte at which the arrays start."""
    if path.is_dir():
        raise ModelError(f"{path} is a folder, expected a model file")
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            text = file.read(length) if length <= _LONGEST_HEADER else b""
    except FileNotFoundError:
        raise ModelError(f"there is no model file {path}; `weft models list` shows the models at hand") from None
    except OSError as error:
        raise ModelError(f"cannot read the model file {path}: {error.strerror}") from None
    if len(text) < length or length == 0:
        raise ModelError(f"{path} is not a model file, or it is truncated; {_AGAIN}")
    try:
        entries = json.loads(text)
        header = json.loads(entries.pop("__metadata__")["weft"])
        version = int(header["version"])
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ModelError(f"{path} is not a Weft model: it has no readable header") from None
    if version > VERSION:
        raise ModelError(
            f"{path} was written by a newer version of Weft (format {version}, this one reads up to {VERSION}); "
            "upgrade Weft to use it"
        )
    return header, entries, 8 + length


def _checksum(array: NDArray[Any]) -> int:
    return zlib.crc32(array.reshape(-1).view(np.uint8).data) if array.size else 0
