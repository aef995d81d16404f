"""Options of the command line that are made from the fields of a settings class, or that always come together."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Annotated, Any

from weft.cli.common import DATA, RUNNING, SETTINGS, option, read_pairs
from weft.cli.inputs import Encoding, Fields, FromFormat, Reading, SkipBad
from weft.errors import ConfigError
from weft.pipeline.settings import Option

#: Settings that say how to run, not what to learn.
_RUNNING = ("seed", "workers", "scheduler", "checkpoint", "checkpoints")
#: Longest list of values that the column of values shows.
WIDEST = 24
_PREFIX = "set_"
#: The options for reading files, in the order of the fields of `Reading`.
READ: dict[str, tuple[str, Any, Any]] = {
    "from_format": ("from_format", FromFormat, None),
    "skip_bad": ("skip_bad", SkipBad, False),
    "fields": ("fields", Fields, None),
    "encoding": ("encoding", Encoding, "utf-8"),
}


def with_settings(function: Callable[..., None], options: Sequence[Option]) -> Callable[..., None]:
    """A command that has one option per setting beside its own; its parameter `settings` holds those that are given."""
    signature = inspect.signature(function, eval_str=True)
    names = {f"{_PREFIX}{each.name}": each for each in options}

    def command(**values: Any) -> None:
        given = {
            each.name: value_of(each, values.pop(name)) for name, each in names.items() if values[name] is not None
        }
        own = {name: value for name, value in values.items() if name in signature.parameters}
        function(**own, settings=given)

    parameters = [each for each in signature.parameters.values() if each.name != "settings"]
    parameters += [parameter(name, annotation(each)) for name, each in names.items()]
    return described(command, parameters, function.__doc__)


def with_reading(function: Callable[..., None]) -> Callable[..., None]:
    """A command whose parameter `reading`, if it has one, is made of the four options for reading files."""
    signature = inspect.signature(function, eval_str=True)
    if "reading" not in signature.parameters:
        return function

    def command(**values: Any) -> None:
        reading = Reading(*(values.pop(name) for name in READ))
        function(**values, reading=reading)

    parameters: list[inspect.Parameter] = []
    for each in signature.parameters.values():
        parameters += [parameter(*of) for of in READ.values()] if each.name == "reading" else [each]
    return described(command, parameters, function.__doc__)


def parameter(name: str, kind: Any, default: Any = None) -> inspect.Parameter:
    """A parameter of a command."""
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def described(
    command: Callable[..., None], parameters: Sequence[inspect.Parameter], doc: str | None
) -> Callable[..., None]:
    """A function of any arguments with the parameters and the documentation that Typer is to see."""
    keywords = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in parameters]
    command.__signature__ = inspect.Signature(keywords)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in keywords}
    command.__doc__ = doc
    return command


def annotation(each: Option) -> Any:
    """An option of the command line for a field of settings; one that is not given leaves the field alone."""
    panel = RUNNING if each.name in _RUNNING else DATA if "FILE" in each.metavar or each.many else SETTINGS
    choices = "|".join(each.choices)
    metavar = each.metavar or (choices if 0 < len(choices) <= WIDEST else "NAME" if choices else None)
    flag = f"{each.flag}/--no-{each.flag[2:]}" if each.type is bool and each.default else each.flag
    info = option(
        flag, help=_help(each, choices if metavar == "NAME" else ""), metavar=metavar, panel=panel, hidden=each.hidden,
        show_default=False,
    )  # fmt: skip
    kind = list[str] if each.many else str if each.type is dict else each.type
    return Annotated[kind | None, info]


def _help(each: Option, choices: str) -> str:
    """The help of a setting: what it does, its values where they are too many for the column of values, its default."""
    shown = _default(each)
    values = f" One of: {choices.replace('|', ', ')}." if choices else ""
    return each.help + values + (f" [dim]\\[default: {shown}][/dim]" if shown else "")


def _default(each: Option) -> str:
    """The default of a setting in words; nothing where its help says it."""
    if not each.show_default or each.default in ("", None, {}) or each.default is False:
        return ""
    if isinstance(each.default, dict):
        return ",".join(f"{name}={value}" for name, value in each.default.items())
    if each.default is True:
        return "yes"
    return f"{each.default:g}" if isinstance(each.default, float) else str(each.default)


def value_of(each: Option, given: Any) -> Any:
    """The value of a setting as its option gives it."""
    if each.type is dict:
        return read_pairs(each.flag, ",".join(given) if each.many else given)
    if each.many:
        for part in given:
            if "," in part:
                raise ConfigError(f"the name of a file for {each.flag} must not have a comma: {part}")
        return ",".join(given)
    return given
