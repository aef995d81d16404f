"""Strings and tuples as 64-bit keys that are identical on every machine and in every process.

hash(s)      = mix over the UTF-8 bytes of s, FNV-1a style, with a final avalanche
join(h, v)   = (h ^ v) * K, folded:  how a template adds one more atom
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Keys
from weft.kernel import inlined, kernel

_FNV_START = np.uint64(0xCBF29CE484222325)
_FNV_PRIME = np.uint64(0x100000001B3)
_K = np.uint64(0x9E3779B97F4A7C15)
_A = np.uint64(0xBF58476D1CE4E5B9)
_B = np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)


@kernel
def avalanche(h: np.uint64) -> np.uint64:
    """Let every input bit affect every output bit."""
    h = (h ^ (h >> _S30)) * _A
    h = (h ^ (h >> _S27)) * _B
    return h ^ (h >> _S31)


@kernel
def join(h: np.uint64, value: np.uint64) -> np.uint64:
    """Add one more value to a key; the order of values matters."""
    h = (h ^ value) * _K
    return h ^ (h >> _S32)


@inlined
def mix(h: np.uint64, byte: int) -> np.uint64:
    """Add one more byte to the hash of a string that has not seen the final avalanche."""
    return (h ^ np.uint64(byte)) * _FNV_PRIME


@kernel
def _hash_bytes(data: NDArray[np.uint8], offsets: NDArray[np.int64], out: Keys) -> None:
    for i in range(len(offsets) - 1):
        h = _FNV_START
        for k in range(offsets[i], offsets[i + 1]):
            h = mix(h, data[k])
        out[i] = avalanche(h)


def hash_strings(strings: Sequence[str]) -> Keys:
    """One key per string.

    >>> a, b, c = hash_strings(["weft", "warp", "weft"]).tolist()
    >>> a == c, a == b
    (True, False)
    """
    encoded = [string.encode("utf-8", "surrogatepass") for string in strings]
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded)), out=offsets[1:])
    out = np.empty(len(encoded), dtype=np.uint64)
    _hash_bytes(np.frombuffer(b"".join(encoded) or b"\0", dtype=np.uint8), offsets, out)
    return out


def hash_string(string: str) -> int:
    """The key of one string, as a Python integer.

    >>> hash_string("weft") == int(hash_strings(["weft"])[0])
    True
    """
    return int(hash_strings([string])[0])


def begun(string: str) -> int:
    """The hash of a string before the final avalanche, for `mix` to go on with.

    >>> begun("") == 0xCBF29CE484222325
    True
    """
    h = int(_FNV_START)
    for byte in string.encode("utf-8", "surrogatepass"):
        h = (h ^ byte) * int(_FNV_PRIME) % 2**64
    return h
