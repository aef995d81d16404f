"""Command-line options that are generated from the fields of a settings class, or that form a fixed group."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any

from weft.cli.common import DATA, RUNNING, SETTINGS, option, read_pairs
from weft.cli.inputs import Encoding, Fields, FromFormat, Reading, SkipBad, StripHtml, TextColumn
from weft.errors import ConfigError
from weft.pipeline.settings import Option

#: Settings that concern how to run, not the model.
_RUNNING = ("seed", "workers", "scheduler", "checkpoint", "checkpoints")
#: Longest list of values to show in the column of values.
WIDEST = 24
_PREFIX = "set_"
#: The options for reading files, in the order of the fields of `Reading`.
READ: dict[str, tuple[str, Any, Any]] = {
    "from_format": ("from_format", FromFormat, None),
    "skip_bad": ("skip_bad", SkipBad, False),
    "fields": ("fields", Fields, None),
    "encoding": ("encoding", Encoding, "utf-8"),
    "text_column": ("text_column", TextColumn, None),
    "strip_html": ("strip_html", StripHtml, False),
}


def with_settings(function: Callable[..., None], options: Sequence[Option]) -> Callable[..., None]:
    """Add one option per setting to a command; its parameter `settings` receives those that are given."""
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
    """Replace the parameter `reading` of a command, if it has one, by the options for reading files."""
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
    """Give a function of arbitrary keywords the parameters and documentation that Typer shows."""
    keywords = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in parameters]
    command.__signature__ = inspect.Signature(keywords)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in keywords}
    command.__doc__ = doc
    return command


def annotation(each: Option) -> Any:
    """A command-line option for a settings field; if it is not given, the field keeps its value."""
    panel = RUNNING if each.name in _RUNNING else DATA if "FILE" in each.metavar or each.many else SETTINGS
    choices = "|".join(each.choices)
    metavar = each.metavar or (choices if 0 < len(choices) <= WIDEST else "NAME" if choices else None)
    flag = f"{each.flag}/--no-{each.flag[2:]}" if each.type is bool and each.default else each.flag
    info = option(
        flag, help=_help(each, choices if metavar == "NAME" else ""), metavar=metavar, panel=panel, hidden=each.hidden,
        show_default=False, autocompletion=starting(each.choices) if each.choices else None,
    )  # fmt: skip
    kind = list[str] if each.many else str if each.type is dict else each.type
    return Annotated[kind | None, info]


def starting(words: Iterable[str]) -> Callable[[str], list[str]]:
    """A function that completes one of some words.

    >>> starting(["crf", "mira", "margin"])("m")
    ['mira', 'margin']
    """
    return lambda incomplete: [word for word in words if word.startswith(incomplete)]


def _help(each: Option, choices: str) -> str:
    """The help of a setting: its purpose, its values if they are too many for their column, and its default."""
    shown = _default(each)
    values = f" One of: {choices.replace('|', ', ')}." if choices else ""
    return each.help + values + (f" [dim]\\[default: {shown}][/dim]" if shown else "")


def _default(each: Option) -> str:
    """The default of a setting in words; empty if its help already says it."""
    if not each.show_default or each.default in ("", None, {}) or each.default is False:
        return ""
    if isinstance(each.default, dict):
        return ",".join(f"{name}={value}" for name, value in each.default.items())
    if each.default is True:
        return "yes"
    return f"{each.default:g}" if isinstance(each.default, float) else str(each.default)


def value_of(each: Option, given: Any) -> Any:
    """Convert the value of an option to that of its setting."""
    if each.type is dict:
        return read_pairs(each.flag, ",".join(given) if each.many else given)
    if each.many:
        for part in given:
            if "," in part:
                raise ConfigError(f"file names for {each.flag} must not contain a comma, got {part}")
        return ",".join(given)
    return given
