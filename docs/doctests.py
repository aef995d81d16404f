"""Show the examples of docstrings as code: a plug-in of the tool that generates the API pages."""

from __future__ import annotations

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^>>> .*?(?=\n\s*\n|\Z)", re.MULTILINE | re.DOTALL)


class Doctests(griffe.Extension):
    """Put a fence around every example."""

    def on_object(self, *, obj: griffe.Object, **others: Any) -> None:
        if obj.docstring is not None and "```" not in obj.docstring.value:
            obj.docstring.value = EXAMPLE.sub(lambda match: f"```pycon\n{match[0]}\n```", obj.docstring.value)
