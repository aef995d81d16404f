"""What a newcomer relies on: usable examples, an up-to-date README and documentation, complete packages."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from places import ROOT

import weft


def test_the_chunked_examples_can_be_read_and_do_not_overlap(examples: Path) -> None:
    train, unseen = (list(weft.read(examples / name).sentences()) for name in ("chunks.conll", "unseen.conll"))
    assert len(train) == 120
    assert len(unseen) == 10
    assert not {sentence.text for sentence in train} & {sentence.text for sentence in unseen}
    labels = {span.label for doc in weft.read(examples / "chunks.conll") for span in doc.spans["chunks"]}
    assert {"NP", "VP", "PP", "ADVP", "ADJP", "SBAR"} <= labels


def test_the_story_is_a_treebank_of_whole_trees(examples: Path) -> None:
    sentences = list(weft.read(examples / "story.conllu").sentences())
    assert len(sentences) == 40
    for sentence in sentences:
        assert sum(word.is_root for word in sentence) == 1
        assert len(sentence.tree().splitlines()) == len(sentence)
        assert sentence.meta["text"] == sentence.text


def test_the_readme_shows_what_results_hold() -> None:
    done = subprocess.run(
        [sys.executable, "docs/generate.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_target_of_the_readme_is_in_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for page in ("README.md", "CONTRIBUTING.md"):
        for target in re.findall(r"make ([a-z]+)", (ROOT / page).read_text()):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"{page}: make {target}"


def test_continuous_integration_runs_make_test() -> None:
    text = (ROOT / ".ci" / "run").read_text()
    assert "set -euo pipefail" in text
    assert text.strip().endswith("make test")


def test_lower_bounds_stand_in_one_place_and_make_lowest_installs_them() -> None:
    spec = importlib.util.spec_from_file_location("lowest", ROOT / "tests" / "lowest.py")
    assert spec is not None
    assert spec.loader is not None
    lowest = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(lowest)
    bounds = [(each.name, str(lowest.lowest(each))) for each in lowest.requirements()]  # each has one lower bound
    assert len(set(bounds)) == len({name for name, _ in bounds}), "a package has two lower bounds"
    assert {name: str(version) for name, version in lowest.constraints().items()} == dict(bounds)
    rule = re.search(r"^lowest:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert rule is not None
    assert "-r $(LOWEST)/requirements.txt -c $(LOWEST)/constraints.txt" in rule[1]
    for name in ("constraints", "requirements"):
        assert f"tests/lowest.py {name} > $(LOWEST)/{name}.txt" in rule[1]
    for path in ("Makefile", "tests/lowest.py", ".ci/lowest"):
        assert not re.search(r"[a-z][=~><]=\d", (ROOT / path).read_text()), path
    assert (ROOT / ".ci" / "lowest").read_text().strip().endswith("make lowest")


def test_the_package_holds_its_data_files() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    patterns = settings["tool"]["setuptools"]["package-data"]["weft"]
    package = ROOT / "src" / "weft"
    packed = {path for pattern in patterns for path in package.glob(pattern)}
    code = (".py", ".pyc", ".nbi", ".nbc")  # the last three are made by Python and Numba
    data_files = {path for path in package.rglob("*") if path.is_file() and path.suffix not in code}
    assert data_files == packed


PAGES = [path for path in sorted((ROOT / "docs").rglob("*.md")) if "api" not in path.relative_to(ROOT).parts]


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    made = tuple((ROOT / "docs" / folder).as_posix() for folder in ("api", "figures"))  # by docs/generate.py
    for target in re.findall(r"\]\(([^)#\s]+[./][^)#\s]+)(?:#[^)\s]*)?\)", page.read_text()):
        path = (page.parent / target).resolve()
        if "://" not in target and not path.as_posix().startswith(made):
            assert path.exists(), target


def test_every_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text()
    listed = [page for page in PAGES if page.parent.name != "systems" or page.stem == "index"]
    for page in listed:
        assert re.search(rf" {re.escape(page.relative_to(ROOT / 'docs').as_posix())}$", navigation, re.MULTILINE), page


def test_the_navigation_lists_the_pages_of_all_systems() -> None:
    spec = importlib.util.spec_from_file_location("navigation", ROOT / "docs" / "navigation.py")
    assert spec is not None
    assert spec.loader is not None
    navigation = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(navigation)
    config = navigation.on_config({"docs_dir": ROOT / "docs", "nav": [{"Systems": ["systems/index.md"]}, {"API": []}]})
    pages = [page for entry in config["nav"][0]["Systems"][1:] for page in entry.values()]
    assert pages == [f"systems/{path.name}" for path in PAGES if path.parent.name == "systems" and path.stem != "index"]


def test_only_the_first_page_is_in_no_group() -> None:
    assert [page.name for page in (ROOT / "docs").glob("*.md")] == ["index.md"]


def test_the_readme_is_an_invitation() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150


def test_the_readme_shows_eight_benchmarks() -> None:
    block = (ROOT / "README.md").read_text().split("<!-- generated: benchmarks-eight -->")[1]
    rows = [line for line in block.split("<!-- end generated -->")[0].splitlines() if line.startswith("| ")]
    assert len(rows) == 1 + 8


def test_every_room_has_an_api_page() -> None:
    navigation, generator = ((ROOT / name).read_text() for name in ("mkdocs.yml", "docs/generate.py"))
    for room in (path.parent.name for path in (ROOT / "src" / "weft").glob("*/__init__.py")):
        if room != "cli":
            assert f" api/{room}.md\n" in navigation
            assert f'"{room}": "' in generator
