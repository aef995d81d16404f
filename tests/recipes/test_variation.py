"""An experiment can be varied: other settings, some of its rows, or a recipe of one's own."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pytest
from places import EXAMPLES

from weft.errors import ConfigError, DataError
from weft.recipes.catalogue import systems
from weft.recipes.framework import RecipeOptions, RecipeResult, Table, kept_path, load_result, load_results, reproduce
from weft.recipes.variation import LeftOut, Rows, Variation, changed, where_run

OWN = '''"""An experiment of mine."""
from dataclasses import dataclass

from beside import twice
from weft.recipes.claims import gain
from weft.recipes.framework import RecipeResult, Table
from weft.recipes.variation import Variation, where_run


@dataclass(frozen=True)
class Size:
    epochs: int = 5
    names: tuple[str, ...] = ("a", "b")


ROWS = {"one": 1, "two": 2}
VARIATION = Variation((Size,), tuple(ROWS))


def run(options):
    size, rows = options.varied(Size()), options.chosen(ROWS)
    table = Table("Scores", [*size.names])
    for name, value in rows.items():
        table.add(name, {each: float(twice(value) * size.epochs) for each in size.names})
    result = RecipeResult("ignored", [table, Table("Nothing", ["x"])])
    with where_run():
        result.claim("two above one", gain(rows["two"] - rows["one"]))
    return result
'''


@dataclass(frozen=True)
class Size:
    epochs: int = 5
    rate: float = 0.5
    full: bool = False
    names: tuple[str, ...] = ("a", "b")
    ks: tuple[int, ...] = (1, 5)
    pairs: tuple[tuple[str, int], ...] = (("a", 1),)


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A recipe file with a module beside it, in the current folder."""
    (tmp_path / "mine.py").write_text(OWN)
    (tmp_path / "beside.py").write_text("def twice(x):\n    return 2 * x\n")
    monkeypatch.chdir(tmp_path)
    return "./mine.py"


def test_a_file_of_ones_own_runs_like_the_recipe_of_a_system(mine: str) -> None:
    result = reproduce(mine, RecipeOptions(seed=3))
    assert (result.slug, result.title) == ("mine", "An experiment of mine.")
    assert result.command == "weft reproduce mine.py --seed 3"
    assert [row.ours for row in result.tables[0].rows] == [{"a": 10.0, "b": 10.0}, {"a": 20.0, "b": 20.0}]
    assert [claim.text for claim in result.claims] == ["two above one"]


def test_settings_and_rows_of_it_can_be_varied(mine: str) -> None:
    result = reproduce(mine, RecipeOptions(vary={"epochs": "2", "names": "c"}, rows=("t*",)))
    assert result.command == "weft reproduce mine.py --seed 0 --vary epochs=2 --vary names=c --rows 't*'"
    (table,) = result.tables  # one without rows is left out
    assert [(row.name, row.ours) for row in table.rows] == [("two", {"c": 8.0})]
    assert result.claims == []  # nothing is claimed of a row that was left out


def test_results_of_ones_own_and_varied_ones_never_replace_published_ones(mine: str) -> None:
    own, varied = RecipeOptions(), RecipeOptions(vary={"epochs": "1"}, quick=True)
    paths = [reproduce(mine, options).save() for options in (own, varied)]
    assert [path.as_posix() for path in paths] == ["results/mine.own.json", "results/mine.own.varied.quick.json"]
    assert [kept_path(mine, None, options) for options in (own, varied)] == paths
    assert load_result(paths[1]).vary == {"epochs": "1"}
    result = RecipeResult("flors", rows=["a*"])
    assert result.save(Path("results")).name == "flors.varied.json"
    assert kept_path("flors", Path("results"), RecipeOptions(rows=("a*",))).name == "flors.varied.json"
    assert load_results(Path("results")) == []


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (RecipeOptions(vary={"epoch": "2"}), "mine.py has no setting 'epoch'; did you mean epochs?"),
        (RecipeOptions(vary={"zzz": "2"}), "mine.py has no setting 'zzz'; it has epochs, names"),
        (RecipeOptions(vary={"epochs": "two"}), "epochs must be a number, got 'two'"),
        (RecipeOptions(rows=("three",)), "no row of ./mine.py is called 'three'; its rows are: one, two"),
    ],
)
def test_what_a_recipe_does_not_have_is_told_before_it_runs(mine: str, options: RecipeOptions, told: str) -> None:
    with pytest.raises(ConfigError) as error:
        reproduce(mine, options)
    assert told in str(error.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("def run(", "mine.py cannot be run"),
        ("import no_such_module\n", "No module named 'no_such_module'"),
        ("x = 1\n", "has no function run(options: RecipeOptions) -> RecipeResult"),
        ("def run(options):\n    return 3\n", "must return a RecipeResult, got int"),
    ],
)
def test_a_file_that_is_no_recipe_is_refused_plainly(mine: str, text: str, told: str) -> None:
    Path("mine.py").write_text(text)
    with pytest.raises(ConfigError) as error:
        reproduce(mine, RecipeOptions())
    assert told in str(error.value)
    with pytest.raises(DataError, match="no file"):
        reproduce("./other.py", RecipeOptions())


def test_a_recipe_that_needs_a_row_says_which(mine: str) -> None:
    Path("mine.py").write_text(OWN.replace("with where_run():", "if True:"))
    with pytest.raises(ConfigError, match="cannot do without the row one"):
        reproduce(mine, RecipeOptions(rows=("two",)))


def test_values_take_the_types_of_their_fields() -> None:
    vary = {"epochs": "2", "rate": "0.25", "full": "yes", "names": "c, d", "ks": "2,3", "other": "x"}
    assert changed(Size(), vary) == {"epochs": 2, "rate": 0.25, "full": True, "names": ("c", "d"), "ks": (2, 3)}
    with pytest.raises(ConfigError, match="pairs cannot be given as text"):
        changed(Size, {"pairs": "a"})


def test_only_rows_that_were_left_out_are_passed_over() -> None:
    rows = Rows.chosen({"a": 1, "b": 2}, ["a"])
    with where_run():
        raise AssertionError(rows["b"])
    with pytest.raises(LeftOut):
        rows["b"]
    with pytest.raises(KeyError), where_run():
        rows["c"]  # a mistake in the recipe


def test_a_recipe_that_declares_nothing_points_to_copying_it() -> None:
    for options in (RecipeOptions(vary={"a": "1"}), RecipeOptions(rows=("a",))):
        with pytest.raises(ConfigError, match=r"copy its recipe and run that: weft reproduce \./mine\.py"):
            Variation().check("some-system", options.vary, options.rows)


def test_most_recipes_can_be_varied() -> None:
    modules = {entry.slug: import_module(entry.module) for entry in systems() if entry.has_recipe}
    variations = {slug: module.VARIATION for slug, module in modules.items() if hasattr(module, "VARIATION")}
    assert len(variations) >= 23
    assert all("templates" in variations[slug].names() for slug in VARIED)
    assert all(variations[slug].rows for slug in VARIED)


#: One row of each recipe with rows, and what makes it small.
VARIED = {
    "dynamic-oracles": ("eager*", {"treebanks": "Story", "seeds": "1"}),
    "tabular-dynamic-oracles": ("std *", {"treebanks": "Story", "seeds": "1"}),
    "lr-spine-parser": ("arc-*", {"treebanks": "Story", "seeds": "1", "predicted_tags": "no"}),
    "mira-dependency-parsing": ("MIRA k = *", {"treebanks": "Story"}),
    "crossing-sensitive-third-order": ("Proj*", {"treebanks": "Story"}),
    "crf-shallow-parsing": ("perceptron*", {}),
}


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The examples where recipes look for their corpora."""
    root = tmp_path_factory.mktemp("data")
    story, chunks = (EXAMPLES / name for name in ("story.conllu", "chunks.conll"))
    for part in ("train", "dev", "test"):
        path = root / "treebanks" / "ud" / "Story" / f"{part}.conllu"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(story.read_bytes())
    for part in ("train", "test"):
        path = root / "chunking" / "conll2000" / f"{part}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(chunks.read_bytes())
    return root


@pytest.mark.parametrize("slug", VARIED)
def test_recipes_run_a_part_of_their_rows_on_another_corpus(corpora: Path, slug: str) -> None:
    pattern, vary = VARIED[slug]
    vary = {"epochs": "1", **vary}
    result = reproduce(slug, RecipeOptions(data=corpora, quick=True, vary=vary, rows=(pattern,)))
    rows = [row.name for row in result.tables[0].rows]
    if slug == "crf-shallow-parsing":
        rows = [row.name for row in result.tables[1].rows]
    known = import_module(next(entry.module for entry in systems() if entry.slug == slug)).VARIATION.rows
    assert rows == [name for name in known if name.startswith(pattern.rstrip("*"))]
    named = [name for name in known if name not in rows]
    claims = " ".join(claim.text for claim in result.claims)
    assert not any(f" {name} " in f" {claims} " for name in named)


def test_templates_change_what_is_learned(corpora: Path) -> None:
    scores = []
    for templates in ("S0.t|N0.t", "N0.w"):
        vary = {"treebanks": "Story", "seeds": "1", "epochs": "2", "templates": templates}
        options = RecipeOptions(data=corpora, quick=True, vary=vary, rows=("eager static",))
        table: Table = reproduce("dynamic-oracles", options).tables[0]
        scores.append(table.rows[0].ours["Story"])
    assert scores[0] != scores[1]


@pytest.mark.parametrize("name", ["oracles", "chunkers"])
def test_the_example_recipes_run(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    result = reproduce(str(EXAMPLES / "recipes" / f"{name}.py"), RecipeOptions(data=EXAMPLES))
    assert len(result.tables[0].rows) >= 3
    assert result.claims
