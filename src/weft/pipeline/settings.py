"""Settings of components: dataclasses whose fields are the options of `weft train`.

`option` declares a field with its default and what the command line shows: help, choices, and the name of the option
if it differs from that of the field.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import Field, dataclass, field, fields
from typing import Any, NamedTuple, Self

from weft.errors import ConfigError, ModelError
from weft.headers import MOST, Flag, Maybe, Named, Real, Record, Text, Value, Whole

_KEY = "weft"
#: Value types by the annotation of their field.
_TYPES: dict[str, type[Any]] = {"bool": bool, "int": int, "float": float, "str": str, "dict": dict}


class Option(NamedTuple):
    """A field of settings as the command line shows it."""

    name: str
    flag: str
    type: type[Any]  #: bool, int, float, str, or dict for NAME=VALUE pairs
    default: Any
    help: str
    choices: tuple[str, ...] = ()
    metavar: str = ""
    many: bool = False  #: may be given several times
    hidden: bool = False
    show_default: bool = True


def option(
    default: Any,
    help: str,
    *,
    choices: Iterable[str] = (),
    metavar: str = "",
    flag: str = "",
    many: bool = False,
    hidden: bool = False,
    show_default: bool = True,
) -> Any:
    """Declare a field of a settings class; a dictionary as default is copied for every instance.

    `flag` is the name of the option if it differs from that of the field, `many` allows it to be given several times
    (the values of a text field are then joined by commas), `hidden` keeps it out of the help.
    """
    facts: dict[str, Any] = {
        "help": help, "choices": tuple(choices), "metavar": metavar, "flag": flag, "many": many, "hidden": hidden,
        "show_default": show_default,
    }  # fmt: skip
    if isinstance(default, dict):
        return field(default_factory=lambda: dict(default), metadata={_KEY: facts})
    return field(default=default, metadata={_KEY: facts})


def clusters_option() -> Any:
    """Declare the file of word clusters that a component reads."""
    return option("", "File of word clusters: a path or class and a word per line.", metavar="FILE")


def native_clusters_option() -> Any:
    """Declare a second file of word clusters that a component reads."""
    text = "Word clusters of the language itself, beside clusters shared with other languages."
    return option("", text, metavar="FILE")


def template_fields_option(default: dict[str, str]) -> Any:
    """Declare which columns the fields of feature templates read."""
    text = "Columns that the fields of templates read, such as w=form,t=xpos."
    return option(default, text, flag="--template-fields", metavar="NAME=COLUMN,...")


def dictionaries_option() -> Any:
    """Declare the tag dictionaries that a component reads."""
    text = "Tag dictionary: a word and a tag per line; repeat for several, which are joined."
    return option("", text, flag="--dict", metavar="FILE", many=True)


@dataclass
class Settings:
    """Fields with defaults; a subclass adds its own.

    >>> @dataclass
    ... class Own(Settings):
    ...     epochs: int = option(3, "Passes over the data.")
    >>> Own.from_options({"epochs": "5"})
    Own(epochs=5)
    >>> Own.from_options({"rounds": 5})
    Traceback (most recent call last):
    ...
    weft.errors.ConfigError: unknown setting 'rounds'; the settings are: epochs
    >>> [(each.flag, each.type, each.help) for each in Own.options()]
    [('--epochs', <class 'int'>, 'Passes over the data.')]
    """

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Self:
        """Create settings from names and values; a wrong name or type is an error that lists what is known."""
        known = {each.name: each for each in fields(cls)}
        chosen: dict[str, Any] = {}
        for name, value in options.items():
            if name not in known:
                raise ConfigError(f"unknown setting {name!r}; the settings are: {', '.join(known)}")
            chosen[name] = typed_value(name, value, getattr(cls(), name), optional="None" in str(known[name].type))
        settings = cls(**chosen)
        settings.check()
        return settings

    @classmethod
    def from_saved(cls, saved: Any) -> Self:
        """Restore the settings in the header of a model file, which may lack fields but not have others.

        >>> @dataclass
        ... class Own(Settings):
        ...     epochs: int = option(3, "Passes over the data.")
        >>> Own.from_saved({"epochs": 5})
        Own(epochs=5)
        >>> Own.from_saved({"epochs": "five"})
        Traceback (most recent call last):
        ...
        weft.errors.ModelError: the header's settings.epochs must be a whole number from -2147483647 to 2147483647, \
found 'five': the file is damaged
        """
        settings = cls(**checked_settings(cls, saved))
        settings.check()
        return settings

    @classmethod
    def options(cls) -> list[Option]:
        """The fields for the command line; a field that only changes a default inherits the parent's help."""
        return options_of(cls)

    def check(self) -> None:
        """Raise an error for invalid values."""


def checked_settings(settings: type[Any], saved: Any) -> dict[str, Any]:
    """The values in the header of a model file, once they have the types of the fields of a dataclass."""
    declared = {each.name: _declared(settings, each) for each in fields(settings)}
    Record().with_optional(**declared).check(saved, "settings")
    unknown = sorted(saved.keys() - declared.keys())
    if unknown:
        raise ModelError(f"the header has the setting {unknown[0]!r}, which this version of Weft does not know")
    values: dict[str, Any] = saved
    return values


def _declared(settings: type[Any], each: Field[Any]) -> Value:
    """What a model file may hold as the value of a field."""
    kind, _, rest = str(each.type).partition(" | ")
    choices = tuple(_facts(settings, each).get("choices", ()))
    values: dict[str, Value] = {
        "bool": Flag(),
        "int": Whole(-MOST, MOST),
        "float": Real(high=math.inf) if each.default == math.inf else Real(),
        "str": Text((*choices, str(each.default)) if choices else ()),
        "dict[str, str]": Named(Text()),
    }
    return Maybe(values[kind]) if rest else values[kind]


def options_of(settings: type[Any]) -> list[Option]:
    """The fields of a dataclass that are declared with `option`."""
    listed = []
    for each in fields(settings):
        facts = dict(_facts(settings, each))
        if not facts:
            continue
        flag = facts.pop("flag") or f"--{each.name.replace('_', '-')}"
        kind = _TYPES[str(each.type).partition("[")[0].partition(" ")[0]]
        default = each.default_factory() if callable(each.default_factory) else each.default
        listed.append(Option(each.name, flag, kind, default, **facts))
    return listed


def _facts(settings: type[Any], each: Field[Any]) -> Mapping[str, Any]:
    """The arguments of `option` for a field, in the class itself or its nearest parent."""
    for kind in settings.__mro__:
        above = getattr(kind, "__dataclass_fields__", {}).get(each.name)
        if above is not None and _KEY in above.metadata:
            facts: Mapping[str, Any] = above.metadata[_KEY]
            return facts
    return {}


def typed_value(name: str, value: Any, default: Any, optional: bool = False) -> Any:
    """Convert a setting's value, such as text from the command line, to the type of its default.

    The text `none` has no special meaning for a setting that is not optional.
    """
    if isinstance(default, bool):
        if isinstance(value, str) and value.lower() in ("true", "false", "yes", "no"):
            return value.lower() in ("true", "yes")
        if not isinstance(value, bool):
            raise ConfigError(f"{name} must be true or false, got {value!r}")
        return value
    if isinstance(default, dict):
        if isinstance(value, str):
            pairs = [item.partition("=") for item in value.replace(",", " ").split()]
            if not all(middle and right for _, middle, right in pairs):
                raise ConfigError(f"{name} must be written as w=form,t=xpos, got {value!r}")
            return {left: right for left, _, right in pairs}
        return dict(value)
    if isinstance(default, int | float):
        try:
            return type(default)(value)
        except (TypeError, ValueError):
            raise ConfigError(f"{name} must be a number, got {value!r}") from None
    return None if value is None or (optional and value == "none") else str(value)
