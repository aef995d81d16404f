"""Settings of components: dataclasses whose fields are the options on the command line (`--set name=value`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from weft.errors import ConfigError


@dataclass
class Settings:
    """Fields with defaults; a subclass adds its own.

    >>> @dataclass
    ... class Own(Settings):
    ...     epochs: int = 3
    >>> Own.from_options({"epochs": "5"})
    Own(epochs=5)
    >>> Own.from_options({"rounds": 5})
    Traceback (most recent call last):
    ...
    weft.errors.ConfigError: unknown setting 'rounds'; the settings are: epochs
    """

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Self:
        """Settings from names and values; a wrong name or type is an error that says what is known."""
        known = {each.name: each for each in fields(cls)}
        chosen: dict[str, Any] = {}
        for name, value in options.items():
            if name not in known:
                raise ConfigError(f"unknown setting {name!r}; the settings are: {', '.join(known)}")
            chosen[name] = _typed(name, value, getattr(cls(), name), optional="None" in str(known[name].type))
        settings = cls(**chosen)
        settings.check()
        return settings

    def check(self) -> None:
        """Refuse values that do not exist or make no sense."""


def _typed(name: str, value: Any, default: Any, optional: bool = False) -> Any:
    """A setting's value in the type of its default; text is converted, as the command line gives it.

    The text `none` is a value like others where a setting cannot be left out.
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
