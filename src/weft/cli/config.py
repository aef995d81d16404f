"""`--config file.toml`: options from a file, for every command.

Keys are the names of the command's options; flags override the file. A file may serve several commands: a table named
after a command, `[train]` or `[data.list]`, holds that command's options, and tables of other commands are ignored.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import typer

from weft.errors import ConfigError


def add_config_option(command: Any) -> None:
    """Give a command, or all commands of a group, the option `--config`."""
    for part in getattr(command, "commands", {}).values():
        add_config_option(part)
    if not hasattr(command, "commands"):
        command.params.append(_config_parameter())


def word_of(flag: str, command: Sequence[str], words: Sequence[str]) -> str | None:
    """The value of an option among the arguments of a command, or in the file of its `--config`.

    >>> word_of("--method", ["train", "tagger"], ["--method", "flors", "a.conllu"])
    'flors'
    """
    for word, following in pairwise([*words, ""]):
        name, sign, value = word.partition("=")
        if name == flag and (sign or following):
            return value if sign else following
    config = None if flag == "--config" else word_of("--config", command, words)
    if config is None:
        return None
    try:
        own = tables = tomllib.loads(Path(config).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None  # the command itself reports what is wrong with the file
    for step in command:
        own = own[step] if isinstance(own.get(step), dict) else {}
    found = {**tables, **own}.get(flag.removeprefix("--"))
    return found if isinstance(found, str) else None


def read_config(path: Path, known: dict[str, str], command: Sequence[str], tables: Collection[str]) -> dict[str, Any]:
    """The options of a TOML file by parameter name.

    `known` maps the names of options to those of parameters, `command` is the path to the command (`data`, `list`), and
    `tables` are the names of all commands, whose tables are not options.
    """
    try:
        settings = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read the configuration file {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not a TOML file: {error}") from None
    own = settings
    for step in command:
        own = own[step] if isinstance(own.get(step), dict) else {}
    general = {key: value for key, value in settings.items() if not (key in tables and isinstance(value, dict))}
    chosen: dict[str, Any] = {}
    for key, value in (general | own).items():
        name = key.replace("_", "-")
        if name not in known:
            said = f"`weft {' '.join(command)}` has no option {key!r}; it knows {', '.join(sorted(known))}"
            raise ConfigError(f"{path}: {said}")
        chosen[known[name]] = _flags(value)
    return chosen


def _config_parameter() -> Any:
    holder = typer.Typer(add_completion=False)

    @holder.command()
    def hold(
        config: Annotated[
            Path | None,
            typer.Option("--config", metavar="FILE", is_eager=True, callback=_apply, help="Options from a TOML file."),
        ] = None,
    ) -> None: ...

    parameter = next(p for p in typer.main.get_command(holder).params if p.name == "config")
    parameter.expose_value = False
    return parameter


def _apply(ctx: typer.Context, config: Path | None) -> None:
    if config is None or ctx.resilient_parsing:
        return
    known = {}
    for parameter in ctx.command.params:
        if parameter.name in (None, "config", "help"):
            continue
        for spelling in parameter.opts:
            if spelling.startswith("--") or not spelling.startswith("-"):
                known[spelling.lstrip("-").replace("_", "-")] = parameter.name
    *command, _ = [step.info_name or "" for step in _upwards(ctx)]
    tables = getattr(ctx.find_root().command, "commands", {})
    chosen = read_config(config, known, command[::-1], tables)
    several = {parameter.name for parameter in ctx.command.params if parameter.multiple or parameter.nargs == -1}
    for name in several & chosen.keys():
        chosen[name] = [chosen[name]] if isinstance(chosen[name], str) else chosen[name]
    ctx.default_map = {**(ctx.default_map or {}), **chosen}


def _upwards(ctx: typer.Context) -> Iterator[typer.Context]:
    """The contexts from that of a command up to that of the program."""
    step: Any = ctx
    while step is not None:
        yield step
        step = step.parent


def _flags(value: Any) -> Any:
    """Convert a table (`[set]`) to repeated flags `key=value`."""
    if not isinstance(value, dict):
        return value
    return [f"{key}={part if isinstance(part, str) else json.dumps(part)}" for key, part in value.items()]
