"""The documentation site: its menu, what it needs to be built, and whether people find what they look for first."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from packaging.requirements import Requirement
from places import ROOT


def loaded(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"docs_{name}", ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


search = loaded("search")
navigation = loaded("navigation")
needs_search = pytest.mark.skipif(bool(search.missing()), reason=search.missing() or "the search can be asked")


@pytest.fixture(scope="module")
def index() -> dict[str, Any]:
    made: dict[str, Any] = search.index_of_pages()
    return made


@pytest.fixture(scope="module")
def hits(index: dict[str, Any]) -> dict[str, list[str]]:
    """What the search finds for all queries of these tests: Node reads the whole index, so it is asked once."""
    made: dict[str, list[str]] = search.hits_of(index, [*search.WANTED, *PARAPHRASES, *SUBJECTS, NAME])
    return made


@needs_search
def test_the_twelve_things_people_look_for_first_are_the_first_hits(hits: dict[str, list[str]]) -> None:
    assert len(search.WANTED) == 12
    wrong = {query: hits[query][:3] for query in search.WANTED if not search.is_first(query, hits[query])}
    assert not wrong


#: Other words for them, which no page is given as keywords.
PARAPHRASES = {
    "pip install weft": "start/install",
    "explain a prediction": "judge/explaining",
    "annotating a text file": "start/tour",
    "NER with my own labels": "tasks/entities",
    "pandas dataframe": "apply/interop",
    "compare models": "judge/evaluation",
    "vary templates of an experiment": "judge/change-one-thing",
    "large folders of text": "apply/scale",
}
SUBJECTS = ("entities", "parser", "training", "tagger", "formats", "service")
NAME = "evaluate_span_sets"


@needs_search
def test_guides_come_before_the_api_and_recipes(hits: dict[str, list[str]]) -> None:
    for query in (*PARAPHRASES, *SUBJECTS):
        assert not hits[query][0].startswith(("api/", "systems/", "develop/")), (query, hits[query][:3])
    first = {query: hits[query][0].split("#")[0].strip("/") for query in PARAPHRASES}
    assert sum(first[query] == page for query, page in PARAPHRASES.items()) >= len(PARAPHRASES) - 1, first


@needs_search
def test_names_of_the_api_are_found_all_the_same(hits: dict[str, list[str]]) -> None:
    assert any(place.startswith("api/") for place in hits[NAME][:3])


def menu() -> list[Any]:
    """The menu, read by indentation: titles of the first level."""
    nav = (ROOT / "mkdocs.yml").read_text().split("\nnav:\n")[1].split("\nvalidation:")[0]
    return re.findall(r"^  - ([^:\n]+):", nav, re.MULTILINE)


def test_the_menu_has_five_groups() -> None:
    assert menu() == ["Weft", "Start", "Use", "Learn", "Judge", "Reference"]


def test_every_folder_of_a_room_has_an_api_page_of_its_own(tmp_path: Path) -> None:
    code = "import json, generate; print(json.dumps({str(p): t for p, t in generate._api_pages().items()}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT / "docs", capture_output=True, text=True, check=True)
    pages = json.loads(done.stdout)
    names = {Path(path).relative_to(ROOT / "docs" / "api").as_posix(): text for path, text in pages.items()}
    assert "::: weft.tasks.parsing.transitions.parser\n" in names["tasks/parsing-transitions.md"]
    assert "::: weft.tasks.parsing.transitions.parser\n" not in names["tasks.md"]
    listed = [line for text in names.values() for line in text.splitlines() if line.startswith("::: weft.")]
    assert len(listed) == len(set(listed))
    modules = [path for path in (ROOT / "src" / "weft").rglob("*.py") if not path.name.startswith("_")]
    modules = [path for path in modules if not {"cli", "_"} & set(path.relative_to(ROOT).parts)]
    assert len(listed) == len(modules)
    assert max(text.count("\n::: ") for text in names.values()) <= 30
    for name, text in names.items():
        (tmp_path / "docs" / "api" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "docs" / "api" / name).write_text(text)
    config = {"docs_dir": tmp_path / "docs", "nav": [{"API": [{"Tasks": "api/tasks.md"}, {"Text": "api/none.md"}]}]}
    (api,) = navigation.on_config(config)["nav"]
    tasks, text = api["API"]
    assert tasks["Tasks"][0] == "api/tasks.md"
    assert {"parsing-transitions": "api/tasks/parsing-transitions.md"} in tasks["Tasks"]
    assert text == {"Text": "api/none.md"}


def rule(target: str) -> str:
    found = re.search(rf"^{target}:.*\n(?:\t.*\n)*", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert found is not None
    return found[0]


def test_the_site_is_built_without_running_examples() -> None:
    assert "mkdocs build --strict" in rule("site")
    assert "pages.py" not in rule("site")
    assert "render" not in rule("site")
    assert "docs/search.py site" in rule("site")
    assert re.match(r"docs: \$\(VENV\)/\.docs render site\n", rule("docs"))


def test_what_examples_of_pages_need_is_installed_with_the_documentation() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = {Requirement(line).name for line in extras["docs"]}
    assert {"pandas", "nltk", "mkdocs-material", "mkdocstrings"} <= named
    assert any(Requirement(line).extras & {"all", "serve"} for line in extras["docs"])
    blocks = "".join(path.read_text() for path in (ROOT / "docs").rglob("*.md") if "api" not in path.parts)
    imported = set(re.findall(r"^(?:>>>|\.\.\.) +(?:import|from) ([a-z_]+)", blocks, re.MULTILINE))
    own = {"weft", "numpy", "scipy", "sklearn", "pyarrow", *sys.stdlib_module_names}
    assert imported - own <= named


def test_the_first_page_says_what_the_readme_says() -> None:
    first = (ROOT / "docs" / "index.md").read_text()
    for piece in ("pip install", "weft annotate", "weft.load(", "weft train", "weft serve", "images/page.png"):
        assert piece in first, piece
    for subject in ("trees", "entities", "language", "service", "CPU", "Python"):
        assert subject in first, subject
    folders = {match.split("/")[0] for match in re.findall(r"\]\(([a-z]+/[a-z-]+)\.md", first)}
    assert {"start", "apply", "tasks", "learn", "transfer", "judge"} <= folders
