"""Where models are found by name: in `$WEFT_MODELS`, in the user's folder, or in the package.

`weft.load("en")` takes `en.weft` from the first of these folders that has it. Models that are not part of the package
are built by `weft train pipeline` with the configurations of the repository (`configs/`), which writes into the user's
folder unless told otherwise.
"""

from __future__ import annotations

import os
from pathlib import Path

from weft.errors import ModelError, did_you_mean

SUFFIX = ".weft"
#: The model that is used where none is named.
DEFAULT = "en"


def user_folder() -> Path:
    """The folder of the user's own models: `weft/models` in `$XDG_DATA_HOME` or `~/.local/share`."""
    home = os.environ.get("XDG_DATA_HOME")
    return (Path(home) if home else Path.home() / ".local" / "share") / "weft" / "models"


def folders() -> list[Path]:
    """All folders that are looked into, in order; `$WEFT_MODELS` may name several, parted as in `$PATH`."""
    named = [Path(part) for part in os.environ.get("WEFT_MODELS", "").split(os.pathsep) if part]
    return [*named, user_folder(), Path(__file__).parents[1] / "models"]


def available() -> dict[str, Path]:
    """The models at hand by name.

    >>> all(path.suffix == SUFFIX for path in available().values())
    True
    """
    found: dict[str, Path] = {}
    for folder in folders():
        if folder.is_dir():
            for path in sorted(folder.glob(f"*{SUFFIX}")):
                found.setdefault(path.stem, path)
    return found


def find(model: str | os.PathLike[str]) -> Path:
    """The file of a model that is given by name or by path.

    >>> find("german-of-mars")
    Traceback (most recent call last):
    ...
    weft.errors.ModelError: there is no model 'german-of-mars' ...
    """
    path = Path(model)
    if path.exists() or path.suffix or len(path.parts) != 1:
        return path
    name = path.name
    models = available()
    if name in models:
        return models[name]
    have = f"; at hand: {', '.join(sorted(models))}" if models else ""
    near = did_you_mean(name, models, "")
    raise ModelError(
        f"there is no model {name!r} in $WEFT_MODELS, in {user_folder()} or in the package{have}"
        f"{' (' + near + ')' if near else ''}. Where the repository has configs/{name}.toml, "
        f"`weft train pipeline configs/{name}.toml` builds it; a model file is named by its path"
    )
