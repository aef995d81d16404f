"""Model files whose checksums are right and whose contents are not: refused, or used without harm.

`bench/fuzz/models.py` changes arrays and headers; here a part of its changes is tried on a small model of every kind.
"""

from __future__ import annotations

import importlib.util
import random
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from places import ROOT

import weft
from weft import storage
from weft.errors import ModelError
from weft.pipeline.registry import KINDS


def _load_mutators() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hostile_models", ROOT / "bench" / "fuzz" / "models.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


hostile = _load_mutators()


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A small model of every kind, and those that are no pipelines."""
    folder = tmp_path_factory.mktemp("models")
    paths: dict[str, Path] = hostile.small_models(folder) | hostile.other_models(folder)
    return paths


def failures(models: dict[str, Path], count: int, **options: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = hostile.hostile_models(models, count, **options)["failures"]
    return found


def changed(path: Path, out: Path, place: str, array: Any) -> Path:
    """The model with another array, and valid checksums."""
    header, arrays = storage.load(path)
    for name in ("version", "checksums"):
        del header[name]
    storage.save(out, header, {**arrays, place: array})
    return out


def test_the_models_are_of_every_kind_and_work_unchanged(models: dict[str, Path]) -> None:
    entries = [entry for path in models.values() for entry in storage.read_header(path).get("components", [])]
    assert {entry["task"] for entry in entries} == set(KINDS)
    for name, path in models.items():
        assert hostile.outcome(path) == "works", name


@pytest.mark.parametrize("kind", ["arrays", "headers"])
def test_hostile_arrays_and_headers_are_refused_or_do_no_harm(models: dict[str, Path], kind: str) -> None:
    assert failures(models, 180, arrays=kind == "arrays", headers=kind == "headers") == []


def test_hostile_changes_of_the_shipped_models_are_refused_or_do_no_harm() -> None:
    shipped = {path.stem: path for path in sorted(hostile.SHIPPED.glob("*.weft"))}
    assert failures(shipped, 9, headers=False) == []


@pytest.mark.parametrize("name", ["buckets", "starts", "columns"])
def test_signed_indices_of_a_weight_table_are_refused(models: dict[str, Path], tmp_path: Path, name: str) -> None:
    place = f"0/node/{name}"
    _, arrays = storage.load(models["chunker"])
    signed = arrays[place].astype(np.dtype(f"i{arrays[place].dtype.itemsize}"))
    signed[len(signed) // 2] = -1
    with pytest.raises(ModelError, match=rf"'{place}' must have the type uint.*, found int"):
        weft.load(changed(models["chunker"], tmp_path / "m.weft", place, signed))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("starts", "must hold offsets that rise from 0 to"),
        ("columns", "must hold numbers from 0 to"),
        ("weights", "does not fit together with the rest, sizes are inconsistent: expected the shape"),
    ],
)
def test_an_error_names_the_array_and_what_is_wrong_with_it(
    models: dict[str, Path], tmp_path: Path, name: str, message: str
) -> None:
    place = f"0/node/{name}"
    _, arrays = storage.load(models["chunker"])
    wrong = arrays[place][:-1] if name == "weights" else np.full_like(arrays[place], 200)
    with pytest.raises(ModelError, match=f"component 1: the array '{place}' {message}"):
        weft.load(changed(models["chunker"], tmp_path / "m.weft", place, wrong))


@pytest.mark.parametrize("place", ["0/further", "7/node/columns", "stray"])
def test_arrays_that_nothing_declares_are_refused(models: dict[str, Path], tmp_path: Path, place: str) -> None:
    with pytest.raises(ModelError, match=f"'{place}' does not belong to this kind of model"):
        weft.load(changed(models["parser"], tmp_path / "m.weft", place, np.zeros(3)))


def test_a_move_that_is_missing_is_refused_before_a_parser_lacks_it(models: dict[str, Path], tmp_path: Path) -> None:
    header, arrays = storage.load(models["parser"])
    parser = header["components"][0]["parser"]
    parser["actions"] = [action for action in parser["actions"] if action[0] != 0]
    for name in ("version", "checksums"):
        del header[name]
    storage.save(tmp_path / "m.weft", header, arrays)
    with pytest.raises(ModelError, match="lacks moves of its system"):
        weft.load(tmp_path / "m.weft")


def test_the_mutators_change_what_they_say() -> None:
    array = np.arange(6, dtype=np.uint16)
    made = {name: change(array, random.Random(1)) for name, change in hostile.ARRAY_MUTATORS.items()}
    assert made["all largest"].tolist() == [65535] * 6
    assert made["other sign"].dtype == np.int16
    assert made["signed and negative"].min() < 0
    assert len(made["too long"]) == 7
    assert len(made["too short"]) == 5
    assert made["reversed"].tolist() == [5, 4, 3, 2, 1, 0]
    assert made["more dimensions"].shape == (1, 6)
    assert sorted(made["past the end"].tolist())[-1] == 6
    assert made["all NaN"] is None
    assert array.tolist() == list(range(6))
