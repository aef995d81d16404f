"""Indexes of models: small JSON files beside the models that they list.

    {"weft-models": 1,
     "models": [{"name": "de", "version": "0.1.0", "format": 2, "language": "German", "file": "de.weft",
                 "size": 3812345, "sha256": "9f86d0...", "licence": "CC BY-SA 4.0", "what": "Words, sentences, tags"}]}

`version` is the version of Weft that trained the model, `format` the version of the file format that is needed to read
it. `file` is relative to the index and stays below its folder. Fields that are not known are ignored.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from weft.errors import ModelError
from weft.pipeline.download import TIMEOUT, download, is_url
from weft.pipeline.models import SUFFIX
from weft.storage import VERSION, read_header

#: The version of the layout of indexes.
LAYOUT = 1
#: The name of the index of a folder.
FILE = "index.json"
#: The most bytes of an index and of a model.
LONGEST, LARGEST = 1_000_000, 2_000_000_000
_KEY = "weft-models"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_STEP = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_PIECE = 1 << 20


@dataclass(frozen=True)
class Offer:
    """A model in an index."""

    name: str
    version: str
    format: int
    language: str
    file: str
    size: int
    sha256: str
    licence: str = ""
    what: str = ""


@dataclass(frozen=True)
class Index:
    """The models that the index at an address or in a file lists."""

    source: str
    offers: tuple[Offer, ...]

    def place(self, offer: Offer) -> str:
        """The address or the file of a model.

        >>> offer = Offer("de", "0.1.0", 2, "German", "de.weft", 1, "0" * 64)
        >>> Index("https://example.org/models/index.json", (offer,)).place(offer)
        'https://example.org/models/de.weft'
        """
        if is_url(self.source):
            return urljoin(self.source, offer.file)
        return str(Path(self.source).parent / offer.file)


def read_index(source: str | os.PathLike[str], timeout: float = TIMEOUT) -> Index:
    """Read an index from an http(s) address or a file, and check every field that Weft uses."""
    source = os.fspath(source)
    text = b"".join(download(source, LONGEST, timeout)) if is_url(source) else _text_of(Path(source))
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise ModelError(f"{source} is not an index of models: it is not JSON{where}") from None
    layout = content.get(_KEY) if isinstance(content, dict) else None
    if not isinstance(layout, int) or not isinstance(content.get("models"), list):
        raise ModelError(f'{source} is not an index of models: expected {{"{_KEY}": {LAYOUT}, "models": [...]}}')
    if layout > LAYOUT:
        raise ModelError(
            f"{source} is an index of a newer version of Weft (layout {layout}, this one reads up to {LAYOUT}); "
            "upgrade Weft to use it"
        )
    offers = tuple(_offer(source, i, entry) for i, entry in enumerate(content["models"], 1))
    names = [offer.name for offer in offers]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ModelError(f"{source} lists the model {twice!r} twice; names must differ")
    return Index(source, offers)


def make_index(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """The index of all models in a folder and below it."""
    folder = Path(folder)
    if not folder.is_dir():
        raise ModelError(f"{folder} is not a folder; give the folder with the models to list")
    paths = sorted(folder.rglob("*.weft"))
    if not paths:
        raise ModelError(f"{folder} has no model files (*.weft)")
    entries = [asdict(offer_of(path, path.relative_to(folder).as_posix())) for path in paths]
    names = [entry["name"] for entry in entries]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ModelError(f"{folder} has several models named {twice!r}; names must differ")
    return {_KEY: LAYOUT, "models": entries}


def offer_of(path: Path, file: str | None = None) -> Offer:
    """The entry of a model file; the name of a model is that of its file."""
    header = read_header(path)
    size = path.stat().st_size
    offer = Offer(
        name=path.stem,
        version=str(header.get("weft", "")),
        format=header["version"],
        language=str(header.get("language", "")),
        file=path.name if file is None else file,
        size=size,
        sha256=sha256_of(path),
        licence=str(header.get("licence", "")),
        what=str(header.get("what", "")),
    )
    _check(str(path), offer)
    return offer


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    digest = hashlib.sha256()
    for piece in pieces_of(path):
        digest.update(piece)
    return digest.hexdigest()


def pieces_of(path: Path) -> Iterator[bytes]:
    """The content of a file, piece by piece."""
    try:
        with path.open("rb") as file:
            while piece := file.read(_PIECE):
                yield piece
    except OSError as error:
        raise ModelError(f"cannot read {path}: {error.strerror}") from None


def _text_of(path: Path) -> bytes:
    if not path.is_file():
        raise ModelError(f"there is no index of models {path}; `weft models index FOLDER` writes one")
    if path.stat().st_size > LONGEST:
        raise ModelError(f"{path} is not an index of models: it is longer than {LONGEST:,} bytes")
    return b"".join(pieces_of(path))


def _offer(source: str, number: int, entry: Any) -> Offer:
    place = f"{source}, model {number}"
    if not isinstance(entry, dict):
        raise ModelError(f"{place}: expected a JSON object")
    known = {field.name for field in fields(Offer)}
    try:
        offer = Offer(**{name: value for name, value in entry.items() if name in known})
    except TypeError:
        missing = sorted(known - {"licence", "what"} - entry.keys())
        raise ModelError(f"{place}: the fields {', '.join(missing)} are missing") from None
    _check(place, offer)
    return offer


def _check(place: str, offer: Offer) -> None:
    """Refuse an entry with a field of the wrong kind, or one that would lead out of the folder of the index."""
    for name in ("name", "version", "language", "file", "sha256", "licence", "what"):
        if not isinstance(getattr(offer, name), str):
            raise ModelError(f"{place}: the field {name!r} must be a string")
    if not _NAME.fullmatch(offer.name):
        raise ModelError(f"{place}: {offer.name!r} cannot be the name of a model; use letters, digits, - and _")
    if not offer.file.endswith(SUFFIX) or not all(map(_STEP.fullmatch, offer.file.split("/"))):
        raise ModelError(
            f"{place}: {offer.file!r} cannot be the file of a model; expected a path below the folder of the index "
            "that ends in .weft and has letters, digits, -, _ and . in its names"
        )
    if not _SHA256.fullmatch(offer.sha256):
        raise ModelError(f"{place}: the field 'sha256' must be 64 hexadecimal digits in lower case")
    if not _is_count(offer.size) or not 1 <= offer.size <= LARGEST:
        raise ModelError(f"{place}: the field 'size' must be a number of bytes from 1 to {LARGEST:,}")
    if not _is_count(offer.format) or offer.format < 1:
        raise ModelError(f"{place}: the field 'format' must be the version of the file's format, such as {VERSION}")


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
