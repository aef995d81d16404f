"""Projects for tests of the workbench."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from workbench_help import Make, document

from weft.workbench.items import add_texts
from weft.workbench.project import Project, Settings, create, default_layer


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Makes a project with the three sentences, or with other documents."""
    opened: list[Project] = []

    def new(
        task: str = "spans", labels: Sequence[str] = ("PER", "LOC"), docs: Any = None, unit: str = "", **more: Any
    ) -> Project:
        settings = Settings(task, list(labels), layer=default_layer(task), **{"retrain": 0, **more})
        project = create(tmp_path / f"project{len(opened)}", settings)
        opened.append(project)
        if task != "questions":
            add_texts(project, [document()] if docs is None else docs, unit)
        return project

    yield new
    for project in opened:
        project.close()
