"""Model files: arrays and a header, no executable code.

A model is one safetensors file:

    length of the JSON text (8 bytes) | JSON text | arrays, one after the other

The JSON text gives the name, type, shape and position of every array; its metadata contain a second JSON text under
the key `weft`: the format version, what the model is, and a checksum of every array. Arrays are memory-mapped, so
processes share one copy. Large arrays may be packed instead, to make the file smaller:

    packed = deflate( first bytes of all items, second bytes of all items, ... ),   of differences where items increase

The header then describes them under `packed`, and they are unpacked into memory when the file is loaded.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.declared import ANY, Array, Arrays, Stored
from weft.errors import ModelError

#: Incremented when a format change makes older programs misread newer files; files without packed arrays stay at 1.
VERSION = 2
#: Arrays smaller than this many bytes are not packed: mapping them is faster than unpacking.
WORTH_PACKING = 500_000

_DTYPES = {
    "F64": np.float64, "F32": np.float32, "I64": np.int64, "I32": np.int32, "I16": np.int16, "I8": np.int8,
    "U64": np.uint64, "U32": np.uint32, "U16": np.uint16, "U8": np.uint8, "BOOL": np.bool_,
}  # fmt: skip
_NAMES = {np.dtype(kind): name for name, kind in _DTYPES.items()}
_LONGEST_HEADER = 100 * 1024 * 1024
#: Sparse weights are stored as integer multiples of the largest weight divided by this number.
_STEPS = 32000
_AGAIN = "download or train the model again"


def save(path: str | os.PathLike[str], header: dict[str, Any], arrays: Arrays, pack: bool = False) -> None:
    """Write a model file, a smaller one with `pack`; an existing file is replaced only once the new one is complete.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(Path(folder, "m.weft"), {"task": "example"}, {"w": np.arange(3.0)})
    ...     header, arrays = load(Path(folder, "m.weft"))
    ...     print(header["task"], arrays["w"].tolist())
    example [0.0, 1.0, 2.0]
    """
    path = Path(path)
    packed: dict[str, Any] = {}
    if pack:
        arrays = dict(arrays)
        for name, array in arrays.items():
            candidate = _pack(np.asarray(array, order="C")) if array.nbytes >= WORTH_PACKING else None
            if candidate is not None:
                arrays[name], packed[name] = candidate
    # Largest items first keeps every array aligned to its item size; sorting by name makes the order reproducible.
    order = sorted(arrays, key=lambda name: (-arrays[name].dtype.itemsize, name))
    tensors = {name: np.asarray(arrays[name], order="C") for name in order}
    for name, array in tensors.items():
        if array.dtype not in _NAMES:
            raise ModelError(f"array {name!r} has type {array.dtype}; a model file can hold {', '.join(_DTYPES)}")
    checksums = {name: _checksum(array) for name, array in tensors.items()}
    about = {"packed": packed} if packed else {}
    version = VERSION if packed else 1
    text = json.dumps({"version": version, **header, **about, "checksums": checksums}, ensure_ascii=False)
    outer: dict[str, Any] = {"__metadata__": {"weft": text, "checksum": str(zlib.crc32(text.encode()))}}
    reached = 0
    for name, array in tensors.items():
        outer[name] = {
            "dtype": _NAMES[array.dtype],
            "shape": array.shape,
            "data_offsets": [reached, reached + array.nbytes],
        }
        reached += array.nbytes
    data = json.dumps(outer, ensure_ascii=False, separators=(",", ":")).encode()
    data += b" " * (-len(data) % 8)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            file.write(len(data).to_bytes(8, "little") + data)
            for array in tensors.values():
                file.write(_bytes(array))
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise ModelError(f"cannot write the model to {path}: {error.strerror}") from None
    finally:
        with suppress(OSError):
            part.unlink()


def read_header(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The header of a model file, without its arrays."""
    return _open(Path(path))[0]


def digest(path: str | os.PathLike[str]) -> str:
    """Identifies a model: a hash of its header, which contains the checksums of its arrays.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name, value in (("a", 1.0), ("b", 1.0), ("c", 2.0)):
    ...         save(Path(folder, name), {"task": "example"}, {"w": np.array([value])})
    ...     a, b, c = (digest(Path(folder, name)) for name in "abc")
    >>> a == b, a == c, len(a)
    (True, False, 16)
    """
    text = json.dumps(read_header(path), sort_keys=True)
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]


def load(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Arrays]:
    """The header and memory-mapped arrays of a model file; damaged, truncated and newer files are rejected."""
    path = Path(path)
    header, entries, start = _open(path)
    checksums = header["checksums"]
    if entries.keys() != checksums.keys():
        raise ModelError(f"{path}: the header and the arrays do not match; {_AGAIN}")
    arrays: Arrays = {}
    for name, (dtype, shape, first, end) in _places(path, entries, start).items():
        try:
            if first == end:  # an empty file region cannot be mapped
                array = np.zeros(shape, dtype=dtype)
                array.flags.writeable = False
            else:
                array = np.memmap(path, dtype=dtype, mode="r", offset=start + first, shape=shape).view(np.ndarray)
        except (ValueError, OverflowError):  # more or longer dimensions than NumPy supports
            raise ModelError(f"{path}: the entry of array {name!r} is damaged; {_AGAIN}") from None
        if _checksum(array) != checksums[name]:
            raise ModelError(f"{path}: array {name!r} does not match its checksum: the file is damaged; {_AGAIN}")
        arrays[name] = array
    packed = header.pop("packed", {})
    if not isinstance(packed, dict):
        raise ModelError(f"{path}: the header's list of packed arrays is damaged; {_AGAIN}")
    for name, entry in packed.items():
        try:
            arrays[name] = _unpack(arrays[name], entry)
        except (LookupError, TypeError, ValueError, zlib.error):
            raise ModelError(f"{path}: the packed array {name!r} is damaged; {_AGAIN}") from None
    return header, arrays


def to_sparse(name: str, weights: NDArray[Any]) -> Arrays:
    """Weights as a model file stores them: indices of the nonzero ones and their values in steps of the largest.

    >>> {name: array.tolist() for name, array in to_sparse("w", np.array([0.0, 2.0, -1.0])).items()}
    {'w.slots': [1, 2], 'w.weights': [32000, -16000], 'w.step': [6.25e-05]}
    """
    step = float(np.abs(weights).max(initial=0.0)) / _STEPS or 1.0
    multiples = np.rint(weights / step).astype(np.int16)
    slots = np.flatnonzero(multiples)
    return {
        f"{name}.slots": slots.astype(np.uint32),
        f"{name}.weights": multiples[slots],
        f"{name}.step": np.array([step]),
    }


def from_sparse(name: str, arrays: Arrays, size: int) -> NDArray[np.float32]:
    """Restore the weights that `to_sparse` encoded."""
    slots, multiples, step = (
        Stored.of(arrays)
        .take(
            Array(f"{name}.slots", "uint32", ("weights",), below=size),
            Array(f"{name}.weights", "int16", ("weights",), low=ANY),
            Array(f"{name}.step", "float64", (1,)),
        )
        .values()
    )
    weights = np.zeros(size, np.float32)
    weights[slots] = multiples * np.float64(step[0])
    return weights


def _pack(array: NDArray[Any]) -> tuple[NDArray[np.uint8], dict[str, Any]] | None:
    """A packed array and its description, or None if packing saves less than a third."""
    kind = _NAMES.get(array.dtype)
    if kind is None:
        return None
    rising = array.ndim == 1 and array.dtype.kind == "u" and bool((array[1:] >= array[:-1]).all())
    items = np.diff(array, prepend=array.dtype.type(0)) if rising else array
    planes = np.ascontiguousarray(items).reshape(-1).view(np.uint8).reshape(-1, array.dtype.itemsize).T
    data = zlib.compress(planes.tobytes(), 9)
    if 3 * len(data) > 2 * array.nbytes:
        return None
    return np.frombuffer(data, dtype=np.uint8), {"dtype": kind, "shape": list(array.shape), "rising": rising}


def _unpack(array: NDArray[Any], entry: dict[str, Any]) -> NDArray[Any]:
    """Undo `_pack`, producing no more bytes than the array's entry says."""
    dtype, shape = np.dtype(_DTYPES[entry["dtype"]]), tuple(entry["shape"])
    size = math.prod(shape)
    data = zlib.decompressobj().decompress(array.tobytes(), size * dtype.itemsize + 1)
    planes = np.frombuffer(data, dtype=np.uint8).reshape(dtype.itemsize, size)
    items = np.ascontiguousarray(planes.T).view(dtype).reshape(shape)
    unpacked: NDArray[Any] = np.cumsum(items, dtype=dtype) if entry["rising"] else items
    unpacked.flags.writeable = False
    return unpacked


def _open(path: Path) -> tuple[dict[str, Any], dict[str, Any], int]:
    """The header, the array entries, and the byte offset at which the arrays start."""
    if path.is_dir():
        raise ModelError(f"{path} is a folder; expected a model file")
    try:
        if path.exists() and not path.is_file():
            raise ModelError(f"{path} is a pipe or a device; expected a model file")
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            text = file.read(length) if length <= _LONGEST_HEADER else b""
    except FileNotFoundError:
        raise ModelError(f"there is no model file {path}; `weft models list` lists the available models") from None
    except OSError as error:
        raise ModelError(f"cannot read the model file {path}: {error.strerror}") from None
    if len(text) < length or length == 0:
        raise ModelError(f"{path} is not a model file, or is truncated; {_AGAIN}")
    try:
        entries = json.loads(text)
        metadata = entries.pop("__metadata__")
        inner = metadata["weft"]
        header = json.loads(inner)
        version = header["version"]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise ModelError(f"{path} is not a Weft model: it has no readable header") from None
    if not isinstance(version, int) or not isinstance(header, dict):
        raise ModelError(f"{path} is not a Weft model: its header gives no version")
    if version > VERSION:
        raise ModelError(
            f"{path} was written by a newer version of Weft (format {version}, this one reads up to {VERSION}); "
            "upgrade Weft to use it"
        )
    if metadata.get("checksum") != str(zlib.crc32(inner.encode(errors="replace"))):
        raise ModelError(f"{path}: the header does not match its checksum: the file is damaged; {_AGAIN}")
    if not isinstance(header.get("checksums"), dict):
        raise ModelError(f"{path}: the header has no checksums for the arrays; {_AGAIN}")
    return header, entries, 8 + length


Place = tuple[np.dtype[Any], tuple[int, ...], int, int]


def _places(path: Path, entries: dict[str, Any], start: int) -> dict[str, Place]:
    """Type, shape, first byte and end of every array; together they must fill the file without gaps or overlaps."""
    places: dict[str, Place] = {}
    for name, entry in entries.items():
        try:
            dtype = np.dtype(_DTYPES[entry["dtype"]])
            shape = tuple(entry["shape"])
            first, end = entry["data_offsets"]
            numbers = (*shape, first, end)
            fits = all(type(n) is int and n >= 0 for n in numbers) and end - first == dtype.itemsize * math.prod(shape)
        except (LookupError, TypeError, ValueError):
            fits = False
        if not fits:
            raise ModelError(f"{path}: the entry of array {name!r} is damaged; {_AGAIN}")
        places[name] = dtype, shape, first, end
    size = path.stat().st_size
    reached = 0
    for name, (_, _, first, end) in sorted(places.items(), key=lambda item: item[1][2:]):
        if first != reached:
            raise ModelError(f"{path}: array {name!r} leaves a gap or overlaps another: the file is damaged; {_AGAIN}")
        reached = end
    if start + reached > size:
        raise ModelError(f"{path}: truncated at byte {size:,} of {start + reached:,}; {_AGAIN}")
    if start + reached < size:
        raise ModelError(f"{path}: {size - start - reached:,} bytes too long: the file is damaged; {_AGAIN}")
    return places


def _bytes(array: NDArray[Any]) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def _checksum(array: NDArray[Any]) -> int:
    """CRC-32 of an array's type, shape and bytes."""
    return zlib.crc32(_bytes(array), zlib.crc32(f"{array.dtype.str} {array.shape}".encode()))
