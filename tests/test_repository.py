"""What a newcomer relies on: usable examples, an up-to-date README and documentation, complete packages."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
from places import ROOT

import weft
from weft import storage
from weft.serve.service import Limits


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
    assert text.strip().endswith("make test || make again")


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
    config = navigation.on_config({"docs_dir": ROOT / "docs", "nav": [{"Judge": [{"Systems": ["systems/index.md"]}]}]})
    pages = [page for entry in config["nav"][0]["Judge"][0]["Systems"][1:] for page in entry.values()]
    assert pages == [f"systems/{path.name}" for path in PAGES if path.parent.name == "systems" and path.stem != "index"]


def _robustness() -> ModuleType:
    spec = importlib.util.spec_from_file_location("robustness", ROOT / "docs" / "robustness.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_limits_of_the_security_page_stand_in_the_code() -> None:
    robustness, limits = _robustness(), Limits()
    shown = (ROOT / "SECURITY.md").read_text()
    for name in ("max_chars", "timeout", "queue", "workers"):
        assert robustness._value(f"weft.serve.service:Limits.{name}") == getattr(limits, name)
        assert f" {getattr(limits, name):,.0f} " in shown
        assert f"`weft.serve.service.Limits.{name}`" in shown
    missing = [place for _, place, _ in robustness.LIMITS if robustness._value(place) is None]
    assert not missing
    assert robustness._value("weft.storage:WORTH_PACKING") == storage.WORTH_PACKING
    assert robustness._value("weft.storage:NO_SUCH_LIMIT") is None
    assert robustness._value("weft.no_such_module:LIMIT") is None


def test_attacks_are_shown_with_seed_date_and_commit(tmp_path: Path) -> None:
    robustness = _robustness()
    load = {
        "title": "Mixed load", "attempts": 1900, "failures": 2, "seed": 7, "date": "2026-11-17T22:00:00Z",
        "commit": "0123abcd", "minutes": 60.0, "kinds": {"long": [900, 2], "short": [1000, 0]},
        "figures": {"minutes": [500.0, 510.5], "most_mb": 511.0, "MB": {"a": 5, "b": 9}},
    }  # fmt: skip
    path = tmp_path / "bench-fuzz.json"
    assert "Not measured yet" in robustness.attacks_block(path)
    path.write_text(json.dumps({"parts": {"load": load}}))
    assert "| load | 1,900 | 2 | 7 | 60.0 | 2026-11-17 | `0123abcd` |" in robustness.attacks_block(path)
    assert "| long | 900 | 2 |" in robustness.parts_block(path)
    assert "most mb: 511; MB: 9 (b)" in robustness.parts_block(path)
    curve = robustness.memory_curve(path)
    assert curve is not None
    assert curve.series == {"resident": [(0, 500.0), (1, 510.5)]}


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
