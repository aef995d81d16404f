"""Model files: arrays and a header, no executable code.

A model is one safetensors file:

    length of the JSON text (8 bytes) | JSON text | arrays, one after the other

The JSON text gives the name, type, shape and position of every array; its metadata contain a second JSON text under
the key `weft`: the format version, what the model is, and a checksum of every array. Large arrays may be packed, to
make the file smaller:

    packed = deflate( first bytes of all items, second bytes of all items, ... ),   of differences where items increase

The header then describes them under `packed`, and they are unpacked when the file is loaded.

Loading reads a file through one descriptor into private, read-only memory: indices are checked once, then kernels trust
them, so a file that is overwritten, cut or deleted later must not reach a model in use, as it would through a memory
map. Threads share one copy, and so do processes forked after loading. What a file may ask for is checked before any
memory is taken: the lengths against the file, the sizes of arrays and of the header against the limits below.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import zlib
from contextlib import suppress
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.declared import ANY, Array, Arrays, Stored
from weft.errors import ModelError, did_you_mean_file

#: Incremented when a format change makes older programs misread newer files: 2 has packed arrays, 3 has word lists as
#: arrays (`weft.pipeline.tables`). Files that need neither stay at 1.
VERSION = 3
#: Arrays smaller than this many bytes are not packed: mapping them is faster than unpacking.
WORTH_PACKING = 500_000

_DTYPES = {
    "F64": np.float64, "F32": np.float32, "I64": np.int64, "I32": np.int32, "I16": np.int16, "I8": np.int8,
    "U64": np.uint64, "U32": np.uint32, "U16": np.uint16, "U8": np.uint8, "BOOL": np.bool_,
}  # fmt: skip
_NAMES = {np.dtype(kind): name for name, kind in _DTYPES.items()}
#: The longest header in bytes; parsed, hostile JSON takes up to 25 times as much memory.
_LONGEST_HEADER = 32 * 1024 * 1024
#: How deeply lists and objects of a header may be nested, so that nothing that walks through one recurses too deeply.
_DEEPEST_HEADER = 64
#: The most dimensions of an array.
_DIMENSIONS = 32
#: The most bytes of all arrays of a file, unpacked.
MOST_BYTES = 4 * 1024**3
#: Unpacked, arrays may be this many times as large as the file, beyond a number of bytes that is always allowed.
_RATIO, _ALLOWANCE = 64, 64 * 1024 * 1024
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
    total = sum(array.nbytes for array in arrays.values())
    if total > MOST_BYTES:
        raise ModelError(f"the arrays of {path} have {total:,} bytes, but a model file can hold {MOST_BYTES:,}")
    arrays, packed = _packed(arrays, total) if pack else (arrays, {})
    # Largest items first keeps every array aligned to its item size; sorting by name makes the order reproducible.
    order = sorted(arrays, key=lambda name: (-arrays[name].dtype.itemsize, name))
    tensors = {name: np.asarray(arrays[name], order="C") for name in order}
    for name, array in tensors.items():
        if array.dtype not in _NAMES:
            raise ModelError(f"array {name!r} has type {array.dtype}; a model file can hold {', '.join(_DTYPES)}")
    checksums = {name: _checksum(array) for name, array in tensors.items()}
    about = {"packed": packed} if packed else {}
    version = 2 if packed else 1
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
    if len(data) > _LONGEST_HEADER:
        raise ModelError(f"the header of {path} has {len(data):,} bytes, but at most {_LONGEST_HEADER:,} can be read")
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
    """The header and read-only arrays of a model file; damaged, truncated and newer files are rejected."""
    path = Path(path)
    with _opened(path) as file:
        header, entries, start = _read_header(path, file)
        checksums = header["checksums"]
        if entries.keys() != checksums.keys():
            raise ModelError(f"{path}: the header and the arrays do not match; {_AGAIN}")
        size = os.fstat(file.fileno()).st_size
        places = _places(path, entries, start, size)
        packed = _packed_places(path, header.pop("packed", {}), places, size)
        arrays: Arrays = {}
        try:
            for name, place in places.items():
                arrays[name] = _read_array(path, file, name, place, start, checksums[name])
                if name in packed:
                    arrays[name] = _unpack(path, name, arrays[name], *packed[name])
        except MemoryError:
            total = _unpacked_bytes(places, packed)
            raise ModelError(f"{path}: its arrays take {total:,} bytes, more memory than there is") from None
        except OSError as error:
            raise ModelError(f"cannot read the model file {path}: {error.strerror}") from None
    return header, arrays


def load_mapped(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Arrays]:
    """The header and arrays of a file, the arrays mapped: pages are read when they are used, and shared by processes.

    For graphs that are too large to copy. The file must not change while it is in use, and its checksums are not
    checked, which would read all of it; use `load` for models of others. Packed arrays cannot be mapped.
    """
    path = Path(path)
    with _opened(path) as file:
        header, entries, start = _read_header(path, file)
        places = _places(path, entries, start, os.fstat(file.fileno()).st_size)
    if header.pop("packed", {}):
        raise ModelError(f"{path} has packed arrays, which cannot be mapped; load it")
    return header, {
        name: np.memmap(path, dtype, "r", start + first, shape) if end > first else np.zeros(shape, dtype)
        for name, (dtype, shape, first, end) in places.items()
    }


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
    if 4 * size > MOST_BYTES:
        raise ModelError(
            f"the model asks for {size:,} weights of the {name}, but at most {MOST_BYTES // 4:,} are allowed"
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


def _packed(arrays: Arrays, total: int) -> tuple[Arrays, dict[str, Any]]:
    """Arrays of a model with the large ones packed, as far as a file that small may ask for all their bytes."""
    packed, entries = dict(arrays), {}
    stored = total
    for name, array in arrays.items():
        candidate = _pack(np.asarray(array, order="C")) if array.nbytes >= WORTH_PACKING else None
        if candidate is None:
            continue
        smaller = stored - array.nbytes + candidate[0].nbytes
        if total <= _most_unpacked(smaller):
            (packed[name], entries[name]), stored = candidate, smaller
    return packed, entries


def _most_unpacked(size: int) -> int:
    """The most bytes that the arrays of a file of this size may take."""
    return min(MOST_BYTES, _ALLOWANCE + _RATIO * size)


def _unpack(path: Path, name: str, array: NDArray[Any], dtype: np.dtype[Any], shape: Shape, rising: bool) -> Any:
    """Undo `_pack`, producing no more bytes than the array's entry says."""
    size = math.prod(shape)
    try:
        data = zlib.decompressobj().decompress(_bytes(array), size * dtype.itemsize + 1)
        planes = np.frombuffer(data, dtype=np.uint8).reshape(dtype.itemsize, size)
        items = np.ascontiguousarray(planes.T).view(dtype).reshape(shape)
    except (ValueError, OverflowError, zlib.error):
        raise ModelError(f"{path}: the packed array {name!r} is damaged; {_AGAIN}") from None
    unpacked: NDArray[Any] = np.cumsum(items, dtype=dtype) if rising else items
    unpacked.flags.writeable = False
    return unpacked


def _read_array(
    path: Path, file: BufferedReader, name: str, place: Place, start: int, checksum: object
) -> NDArray[Any]:
    """A private copy of one array of a file, which must match its checksum."""
    dtype, shape, first, end = place
    data = np.empty(end - first, dtype=np.uint8)
    file.seek(start + first)
    if file.readinto(data.data) != end - first:
        raise ModelError(f"{path}: array {name!r} is truncated: the file has changed while it was read; try again")
    try:
        array = data.view(dtype).reshape(shape)
    except (ValueError, OverflowError):  # longer dimensions than NumPy supports
        raise ModelError(f"{path}: the entry of array {name!r} is damaged; {_AGAIN}") from None
    if _checksum(array) != checksum:
        raise ModelError(f"{path}: array {name!r} does not match its checksum: the file is damaged; {_AGAIN}")
    array.flags.writeable = False
    return array


def _open(path: Path) -> tuple[dict[str, Any], dict[str, Any], int]:
    """The header, the array entries, and the byte offset at which the arrays start."""
    with _opened(path) as file:
        return _read_header(path, file)


def _opened(path: Path) -> BufferedReader:
    """A model file, open for reading."""
    if path.is_dir():
        raise ModelError(f"{path} is a folder; expected a model file")
    try:
        if path.exists() and not path.is_file():
            raise ModelError(f"{path} is a pipe or a device; expected a model file")
        return path.open("rb")
    except FileNotFoundError:
        near = did_you_mean_file(path) or "; `weft models list` lists the available models"
        raise ModelError(f"there is no model file {path}{near}") from None
    except OSError as error:
        raise ModelError(f"cannot read the model file {path}: {error.strerror}") from None


def _read_header(path: Path, file: BufferedReader) -> tuple[dict[str, Any], dict[str, Any], int]:
    """The header, the array entries, and the byte offset at which the arrays start."""
    try:
        length = int.from_bytes(file.read(8), "little")
        size = os.fstat(file.fileno()).st_size
        text = file.read(length) if 8 + length <= size and length <= _LONGEST_HEADER else b""
    except OSError as error:
        raise ModelError(f"cannot read the model file {path}: {error.strerror}") from None
    if _LONGEST_HEADER < length <= size - 8:
        raise ModelError(f"{path}: the header is longer than {_LONGEST_HEADER:,} bytes; {_AGAIN}")
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
    try:
        encoded = inner.encode()
        if b"\\ud" in encoded or b"\\uD" in encoded:  # an escaped half of a surrogate pair, or an escaped backslash
            json.dumps(header, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ModelError(f"{path}: the header is not valid Unicode: the file is damaged; {_AGAIN}") from None
    if metadata.get("checksum") != str(zlib.crc32(encoded)):
        raise ModelError(f"{path}: the header does not match its checksum: the file is damaged; {_AGAIN}")
    if not isinstance(header.get("checksums"), dict):
        raise ModelError(f"{path}: the header has no checksums for the arrays; {_AGAIN}")
    if _depth_exceeds(header, _DEEPEST_HEADER):
        raise ModelError(f"{path}: the header is nested more than {_DEEPEST_HEADER} levels deep; {_AGAIN}")
    return header, entries, 8 + length


def _depth_exceeds(value: Any, limit: int) -> bool:
    """Whether lists and objects are nested more deeply than a limit.

    >>> _depth_exceeds({"a": [1, {"b": 2}]}, 3), _depth_exceeds({"a": [1, {"b": 2}]}, 2)
    (False, True)
    """
    level = [value]
    for _ in range(limit):
        children = [item.values() if type(item) is dict else item for item in level]
        # Most items are long lists of strings, which need no closer look.
        inner = [items for items in children if not {dict, list}.isdisjoint(map(type, items))]
        level = [item for items in inner for item in items if type(item) is dict or type(item) is list]
        if not level:
            return False
    return True


Shape = tuple[int, ...]
Place = tuple[np.dtype[Any], Shape, int, int]
Packed = tuple[np.dtype[Any], Shape, bool]


def _kind(entry: Any) -> tuple[np.dtype[Any], Shape] | None:
    """Type and shape in the entry of an array, or None if they cannot be."""
    try:
        dtype, shape = np.dtype(_DTYPES[entry["dtype"]]), entry["shape"]
    except (LookupError, TypeError):
        return None
    if not isinstance(shape, list) or len(shape) > _DIMENSIONS:
        return None
    return (dtype, tuple(shape)) if all(type(n) is int and 0 <= n <= MOST_BYTES for n in shape) else None


def _places(path: Path, entries: dict[str, Any], start: int, size: int) -> dict[str, Place]:
    """Type, shape, first byte and end of every array; together they must fill the file without gaps or overlaps."""
    places: dict[str, Place] = {}
    for name, entry in entries.items():
        kind = _kind(entry)
        try:
            first, end = entry["data_offsets"]
            fits = all(type(n) is int and n >= 0 for n in (first, end)) and kind is not None
        except (LookupError, TypeError, ValueError):
            fits = False
        if not fits or kind is None or end - first != kind[0].itemsize * math.prod(kind[1]):
            raise ModelError(f"{path}: the entry of array {name!r} is damaged; {_AGAIN}")
        places[name] = *kind, first, end
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


def _packed_places(path: Path, entries: Any, places: dict[str, Place], size: int) -> dict[str, Packed]:
    """What packed arrays are when unpacked; all arrays together must not take more memory than the file may ask for."""
    if not isinstance(entries, dict):
        raise ModelError(f"{path}: the header's list of packed arrays is damaged; {_AGAIN}")
    packed: dict[str, Packed] = {}
    for name, entry in entries.items():
        kind = _kind(entry)
        if kind is None or name not in places or type(entry.get("rising")) is not bool:
            raise ModelError(f"{path}: the packed array {name!r} is damaged; {_AGAIN}")
        packed[name] = *kind, entry["rising"]
    total, most = _unpacked_bytes(places, packed), _most_unpacked(size)
    if total > most:
        what = (
            f"the packed array {max(packed, key=lambda name: math.prod(packed[name][1]))!r} is damaged: "
            if packed
            else ""
        )
        raise ModelError(
            f"{path}: {what}all arrays take {total:,} bytes, of a file of this size {most:,} may; {_AGAIN}"
        )
    return packed


def _unpacked_bytes(places: dict[str, Place], packed: dict[str, Packed]) -> int:
    """The number of bytes of all arrays in memory."""
    kinds = [packed.get(name, place) for name, place in places.items()]
    return sum(kind[0].itemsize * math.prod(kind[1]) for kind in kinds)


def _bytes(array: NDArray[Any]) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def _checksum(array: NDArray[Any]) -> int:
    """CRC-32 of an array's type, shape and bytes."""
    return zlib.crc32(_bytes(array), zlib.crc32(f"{array.dtype.str} {array.shape}".encode()))
