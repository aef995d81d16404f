"""Lookup of models by name: in `$WEFT_MODELS`, in the user's folder, or in the package.

`weft.load("en")` takes `en.weft` from the first of these folders that has it. `weft models install` puts models there
(`weft.pipeline.install`). `weft train pipeline` builds the models that are not part of the package from the
configurations in `configs/` (`weft data examples` copies them), and by default writes them to the user's folder.
"""

from __future__ import annotations

import os
from pathlib import Path

from weft.errors import ModelError, did_you_mean
from weft.shipped import shipped

SUFFIX = ".weft"
#: The default model.
DEFAULT = "en"


def user_folder() -> Path:
    """The folder of the user's models: `weft/models` in `$XDG_DATA_HOME` or `~/.local/share`."""
    home = os.environ.get("XDG_DATA_HOME")
    return (Path(home) if home else Path.home() / ".local" / "share") / "weft" / "models"


def package_folder() -> Path:
    """The folder of the models in the package."""
    return Path(__file__).parents[1] / "models"


def named_folders() -> list[Path]:
    """The folders in `$WEFT_MODELS`, which may name several, separated as in `$PATH`."""
    return [Path(part) for part in os.environ.get("WEFT_MODELS", "").split(os.pathsep) if part]


def folders() -> list[Path]:
    """All folders to search, in order."""
    return [*named_folders(), user_folder(), package_folder()]


def install_folder() -> Path:
    """The folder to install models in: the first one of `$WEFT_MODELS`, else the user's."""
    return (named_folders() or [user_folder()])[0]


def available() -> dict[str, Path]:
    """The available models by name.

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
    """Find the file of a model given by name or path.

    >>> find("german-of-mars")
    Traceback (most recent call last):
    ...
    weft.errors.ModelError: there is no model 'german-of-mars' ...
    """
    path = Path(model)
    if path.suffix or len(path.parts) != 1 or (path.exists() and not path.is_dir()):
        return path
    name = path.name
    models = available()
    if name in models:
        return models[name]
    if path.is_dir():
        return path  # loading says that it is a folder
    have = f"; available: {', '.join(sorted(models))}" if models else ""
    near = did_you_mean(name, models, "")
    build = (
        f"`weft data examples` copies configs/{name}.toml, and `weft train pipeline configs/{name}.toml` builds it; "
        if (shipped("configs") / f"{name}.toml").is_file()
        else ""
    )
    raise ModelError(
        f"there is no model {name!r} in $WEFT_MODELS, in {user_folder()} or in the package{have}"
        f"{' (' + near + ')' if near else ''}. `weft models install SOURCE {name}` installs it from an index; "
        f"{build}give a model file by its path"
    )
