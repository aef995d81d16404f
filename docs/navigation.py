"""A hook of MkDocs: every page of a published system appears in the navigation, without being listed by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def on_config(config: Any) -> Any:
    """Add the pages of docs/systems below the page that lists them all."""
    pages = sorted(path.stem for path in (Path(config["docs_dir"]) / "systems").glob("*.md") if path.stem != "index")
    for group in config["nav"]:
        group.get("Systems", []).extend({slug: f"systems/{slug}.md"} for slug in pages)
    return config
