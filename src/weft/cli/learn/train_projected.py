"""`weft train ner --bitext SOURCE TARGET --links FILE --source-model MODEL`: names learnt from a bitext."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from weft.errors import ConfigError


def bitext_settings(
    task: str,
    bitext: tuple[Path, Path] | None,
    links: Path | None,
    source_model: str | None,
    others: dict[str, str | Path | None],
) -> dict[str, Any]:
    """The settings of a recognizer that learns from a bitext; none where no bitext is given."""
    given = {"--links": links, "--source-model": source_model, **{f"--{name}": value for name, value in others.items()}}
    if bitext is None:
        for option, value in given.items():
            if value is not None:
                raise ConfigError(f"{option} is for learning from a bitext: give --bitext SOURCE TARGET, too")
        return {}
    if task != "ner":
        raise ConfigError(f"--bitext is for the task ner, not {task}")
    for option, what in (
        ("--links", "the links of its words, which `weft align` makes"),
        ("--source-model", "a model that finds names in its source"),
    ):
        if given[option] is None:
            raise ConfigError(f"--bitext needs {what}: {option}")
    found = {"source_text": bitext[0], "target_text": bitext[1], "links": links, "source_model": source_model, **others}
    return {name: str(value) for name, value in found.items() if value is not None}
