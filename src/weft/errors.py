"""One family of errors: every error that a user can cause is a `WeftError` whose message says what to do."""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import islice

#: Files of a folder that are compared with a name that does not exist.
MOST_FILES = 5000


class WeftError(Exception):
    """Base of all errors that Weft raises deliberately; the command line prints them without a traceback."""


class FormatError(WeftError):
    """A file whose content violates its format.

    >>> raise FormatError("a.conllu", 7, "10 tab-separated columns", "8 columns")
    Traceback (most recent call last):
    ...
    weft.errors.FormatError: a.conllu, line 7: expected 10 tab-separated columns, found 8 columns
    """

    def __init__(
        self, path: str, line: int | None, expected: str, found: str, hint: str = "", unit: str = "line"
    ) -> None:
        self.path, self.line, self.expected, self.found, self.hint = path, line, expected, found, hint
        self.unit = unit  #: what `line` counts: lines, or the rows of a table
        place = path if line is None else f"{path}, {unit} {line}"
        message = f"{place}: expected {expected}, found {found}"
        super().__init__(f"{message}. {hint}" if hint else message)

    def __reduce__(self) -> tuple[type[FormatError], tuple[str, int | None, str, str, str, str]]:
        return (FormatError, (self.path, self.line, self.expected, self.found, self.hint, self.unit))


class TemplateError(WeftError):
    """A feature template that cannot be parsed."""


class InferenceError(WeftError):
    """Scores or masks that rule out every structure."""


class ModelError(WeftError):
    """A model file that is corrupt, truncated, too new, or not the kind requested."""


class DataError(WeftError):
    """A corpus or file that is missing or empty."""


class ConfigError(WeftError):
    """An option that does not exist or conflicts with the others."""


def did_you_mean(name: str, known: Iterable[str], otherwise: str) -> str:
    """The end of an error message about an unknown name: similar names if there are any, else `otherwise`.

    >>> did_you_mean("conll200", ["conll2000", "genia"], "see the list")
    'did you mean conll2000?'
    >>> did_you_mean("x", ["conll2000", "genia"], "see the list")
    'see the list'
    """
    from difflib import get_close_matches

    near = get_close_matches(name, list(known), n=3, cutoff=0.5)
    return f"did you mean {' or '.join(near)}?" if near else otherwise


def did_you_mean_file(path: str | os.PathLike[str]) -> str:
    """The end of an error message about a missing file: `; did you mean ...?` if one beside it has a similar name.

    >>> did_you_mean_file("/no/such/folder/file.txt")
    ''
    """
    folder, name = os.path.split(os.fspath(path))
    try:
        with os.scandir(folder or os.curdir) as entries:
            beside = [entry.name for entry in islice(entries, MOST_FILES) if not entry.name.startswith(".")]
    except OSError:
        return ""
    from difflib import get_close_matches

    near = [os.path.join(folder, match) for match in get_close_matches(name, beside, n=3, cutoff=0.75)]
    return f"; did you mean {' or '.join(near)}?" if near else ""
