"""Installing models: a file, a folder or an index becomes models that `weft.load` finds by name.

A model is written to a hidden file beside its place, its size, SHA-256 and content are checked, and only then it takes
its place, so that a model by name is always whole: the old one or the new one.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from weft.errors import ModelError, WeftError, did_you_mean
from weft.pipeline.download import TIMEOUT, download, is_url
from weft.pipeline.index import FILE, Index, Offer, offer_of, pieces_of, read_index, sha256_of
from weft.pipeline.models import SUFFIX, folders, install_folder
from weft.progress import progress
from weft.storage import VERSION


@dataclass(frozen=True)
class Installed:
    """A model that was installed: `change` is `new`, `replaced`, or `none` if the same model was there already."""

    name: str
    path: Path
    size: int
    change: str


def index_of(source: str | os.PathLike[str], timeout: float = TIMEOUT) -> Index:
    """What a source offers: a model file, a folder of models (by its index if it has one), or an index."""
    source = os.fspath(source)
    path = Path(source)
    if is_url(source):
        if source.endswith(SUFFIX):
            raise ModelError(
                f"{source} is a model, whose checksum is not known; give the address of an index of models, "
                "or download the file and install that"
            )
        return read_index(source, timeout)
    if path.is_dir():
        if (path / FILE).is_file():
            return read_index(path / FILE)
        models = sorted(path.glob(f"*{SUFFIX}"))
        if not models:
            raise ModelError(f"{path} has neither model files (*{SUFFIX}) nor an index of models ({FILE})")
        return Index(str(path / FILE), tuple(map(offer_of, models)))
    if path.suffix == SUFFIX:
        return Index(str(path.parent / FILE), (offer_of(path),))
    return read_index(path, timeout)


def install(
    source: str | os.PathLike[str],
    names: Sequence[str] = (),
    into: Path | None = None,
    timeout: float = TIMEOUT,
) -> Iterator[Installed]:
    """Install models from a source one by one: those that are named, or all.

    The default folder is the first one of `$WEFT_MODELS`, or the user's folder.
    """
    index = index_of(source, timeout)
    offers = {offer.name: offer for offer in index.offers}
    for name in names:
        if name not in offers:
            hint = did_you_mean(name, offers, f"it offers {', '.join(offers) or 'none'}")
            raise ModelError(f"{index.source} offers no model {name!r}; {hint}")
    chosen = [offers[name] for name in dict.fromkeys(names or offers)]
    for offer in chosen:
        if offer.format > VERSION:
            raise ModelError(
                f"the model {offer.name!r} needs a newer version of Weft (format {offer.format}, this one reads up to "
                f"{VERSION}); upgrade Weft to use it"
            )
    folder = install_folder() if into is None else into
    for offer in chosen:
        yield _install(index, offer, folder, timeout)


def is_installed(offer: Offer) -> bool:
    """Whether `weft.load` would find this very model under its name."""
    for folder in folders():
        path = folder / f"{offer.name}{SUFFIX}"
        if path.is_file():
            return _is_same(path, offer)
    return False


def _install(index: Index, offer: Offer, folder: Path, timeout: float) -> Installed:
    place, target = index.place(offer), folder / f"{offer.name}{SUFFIX}"
    there = target.is_file()
    if there and _is_same(target, offer):
        return Installed(offer.name, target, offer.size, "none")
    part = folder / f".{target.name}.{os.getpid()}.part"
    pieces = download(place, offer.size, timeout) if is_url(place) else pieces_of(Path(place))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _fill(part, pieces, place, offer)
        _check_model(part, place, offer)
        part.replace(target)
    except OSError as error:
        raise ModelError(f"cannot write the model to {target}: {error.strerror}") from None
    finally:
        with suppress(OSError):
            part.unlink()
    return Installed(offer.name, target, offer.size, "replaced" if there else "new")


def _fill(part: Path, pieces: Iterator[bytes], place: str, offer: Offer) -> None:
    """Write a model to a file and check its size and SHA-256."""
    digest, received = hashlib.sha256(), 0
    with part.open("wb") as file, progress(offer.name, offer.size / 1000, "kB") as bar:
        for piece in pieces:
            received += len(piece)
            if received > offer.size:
                break
            digest.update(piece)
            file.write(piece)
            bar.advance(len(piece) / 1000)
        file.flush()
        os.fsync(file.fileno())
    if received != offer.size:
        much = "more than" if received > offer.size else f"{received:,} of"
        raise ModelError(
            f"{place}: received {much} the {offer.size:,} bytes that the index states; try again, or make a new index"
        )
    if digest.hexdigest() != offer.sha256:
        raise ModelError(
            f"{place} does not match the SHA-256 of the index: it is damaged, or not the model that the index lists; "
            "nothing was installed from it"
        )


def _check_model(part: Path, place: str, offer: Offer) -> None:
    """Refuse a file that `weft.load` could not load, or whose format is not the one stated."""
    from weft.pipeline.pipeline import Pipeline
    from weft.storage import read_header

    try:
        version = read_header(part)["version"]
        if version != offer.format:
            raise ModelError(f"{place} has format {version}, but the index states {offer.format}; it was not installed")
        Pipeline.load(part)
    except WeftError as error:
        raise ModelError(str(error).replace(str(part), place)) from None


def _is_same(path: Path, offer: Offer) -> bool:
    return path.stat().st_size == offer.size and sha256_of(path) == offer.sha256
