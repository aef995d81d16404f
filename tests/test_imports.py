"""The import direction: every room imports only rooms below it, and no folder grows too large."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import weft

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "weft"
#: Modules that stand directly in the package, except its front door (`__init__`) and `__main__`.
FOUNDATION = "foundation"
#: Folders that hold data, not code.
DATA = {"models"}
#: Every room and the rooms that it may import. A new room needs a line here.
ROOMS = {
    "foundation": "",
    "text": "foundation",
    "formats": "foundation text",
    "features": "foundation text",
    "infer": "foundation",
    "graph": "foundation",
    "learn": "foundation text formats features infer graph",
    "lexical": "foundation text formats features infer graph learn",
    "evaluate": "foundation text formats features infer graph learn lexical",
    "treebanks": "foundation text formats features infer graph learn lexical evaluate",
    "pipeline": "foundation text formats features infer graph learn lexical evaluate treebanks",
    "tasks": "foundation text formats features infer graph learn lexical evaluate treebanks pipeline",
    "training": "foundation text formats features infer graph learn lexical evaluate treebanks pipeline tasks",
    "annotate": "foundation text formats features infer graph learn lexical evaluate treebanks pipeline tasks",
    "recipes": "foundation text formats features infer graph learn lexical evaluate treebanks pipeline tasks "
    "training annotate pictures",
    "pictures": "foundation text",
    "interop": "foundation text",
    "scale": "foundation text formats features infer graph learn lexical evaluate treebanks pipeline",
    "serve": "foundation text formats features infer graph learn lexical evaluate treebanks pipeline tasks "
    "training annotate recipes pictures interop scale",
    "workbench": "foundation text formats features infer graph learn lexical evaluate treebanks pipeline tasks "
    "annotate serve",
    "cli": "foundation text formats features infer graph learn lexical evaluate treebanks pipeline tasks "
    "training annotate recipes pictures interop scale serve workbench",
}
MAY_IMPORT = {room: {room, *below.split()} for room, below in ROOMS.items()}
#: Imports that still point the wrong way: module and imported module.
EXCEPTIONS = {
    # A notebook asks a document for its picture by a method of its own.
    ("weft.text.doc", "weft.pictures"),
    # The same with its timeline, which is a closure.
    ("weft.text.doc", "weft.tasks.timelines.timeline"),
    # spaCy makes the component from the name of a model, so the component has to load it.
    ("weft.interop.spacy_component", "weft.pipeline"),
    ("weft.interop.spacy_component", "weft.pipeline.pipeline"),
    # Spark sends a function to its workers, which load the model by its name.
    ("weft.interop.arrow", "weft.pipeline"),
    # An estimator of scikit-learn makes and scores its own component.
    ("weft.interop.sklearn", "weft.pipeline.registry"),
    ("weft.interop.sklearn", "weft.evaluate.labels.spans"),
}
MOST_FILES = 25


class Import(NamedTuple):
    """An import of one module of the package by another."""

    path: str
    line: int
    room: str
    module: str
    imported: str


def room_of(module: str) -> str:
    """The room of a module of the package: `weft.infer.trees.arcs` is in `infer`."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and (PACKAGE / parts[1]).is_dir() else FOUNDATION


def module_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_modules(node: ast.AST, module: str, is_package: bool) -> list[str]:
    """The modules of the package that a statement imports, relative imports resolved."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        base = node.module or ""
        if node.level:
            parts = module.split(".")
            kept = parts[: len(parts) - node.level + is_package]
            base = ".".join([*kept, base] if base else kept)
        names = [behind_the_front_door(alias.name) for alias in node.names] if base == "weft" else [base]
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "weft":
        names = [behind_the_front_door(node.attr)]
    else:
        return []
    return [name for name in names if name.startswith("weft.")]


def behind_the_front_door(name: str) -> str:
    """The module that `weft.name` needs: `weft.text` for itself and for `Doc`, `weft.pipeline` for `load`."""
    if name == "__version__" or (PACKAGE / name).is_dir() or (PACKAGE / f"{name}.py").is_file():
        return f"weft.{name}"
    return weft._HOMES.get(name, "weft.pipeline")


@cache
def all_imports() -> list[Import]:
    """All imports between modules of the package, those of functions and of `TYPE_CHECKING` blocks included."""
    return list(_imports())


def _imports() -> Iterator[Import]:
    for path in sorted(PACKAGE.rglob("*.py")):
        module = module_of(path)
        if path.parent == PACKAGE and path.name in ("__init__.py", "__main__.py"):
            continue
        text = path.read_text(encoding="utf-8")
        for node in _nodes(ast.parse(text), expressions=re.search(r"import .*\bweft\b", text) is not None):
            for imported in imported_modules(node, module, path.name == "__init__.py"):
                yield Import(str(path.relative_to(ROOT)), getattr(node, "lineno", 0), room_of(module), module, imported)


def _nodes(tree: ast.AST, expressions: bool) -> Iterator[ast.AST]:
    """All nodes of a tree, or all but those inside expressions, which import nothing where `weft` is no name."""
    if expressions:
        yield from ast.walk(tree)
        return
    todo = [tree]
    while todo:
        node = todo.pop()
        yield node
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, name, [])
            todo.extend(inner if isinstance(inner, list) else [])  # that of a lambda is an expression


def test_every_room_is_in_the_table():
    rooms = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"} - DATA
    assert rooms | {FOUNDATION} == set(ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_import_only_rooms_below_them(room: str):
    wrong = [
        f"{each.path}:{each.line}: {room} may not import {each.imported}"
        for each in all_imports()
        if each.room == room
        and room_of(each.imported) not in MAY_IMPORT[room]
        and (each.module, each.imported) not in EXCEPTIONS
    ]
    assert not wrong, "\n".join(wrong)


def test_the_table_has_no_cycles():
    reached: set[str] = set()
    while ready := {room for room in set(ROOMS) - reached if MAY_IMPORT[room] - {room} <= reached}:
        reached |= ready
    assert reached == set(ROOMS)


def test_exceptions_are_still_needed():
    assert {(each.module, each.imported) for each in all_imports()} >= EXCEPTIONS


@pytest.mark.parametrize(
    ("statement", "module", "is_package", "expected"),
    [
        ("import weft.text.doc", "weft.infer.x", False, ["weft.text.doc"]),
        ("from weft import text, kernel", "weft.infer.x", False, ["weft.text", "weft.kernel"]),
        ("from ..text.doc import Doc", "weft.infer.x", False, ["weft.text.doc"]),
        ("from .. import text", "weft.infer.x", False, ["weft.text"]),
        ("from .doc import Doc", "weft.text", True, ["weft.text.doc"]),
        ("from weft import Doc, load", "weft.infer.x", False, ["weft.text", "weft.pipeline"]),
        ("import numpy, weftless", "weft.infer.x", False, []),
    ],
)
def test_imports_are_found_in_every_spelling(statement: str, module: str, is_package: bool, expected: list[str]):
    assert imported_modules(ast.parse(statement).body[0], module, is_package) == expected


def test_no_folder_holds_more_python_files_than_a_reader_can_survey():
    folders = {path.parent for top in (PACKAGE, ROOT / "tests") for path in top.rglob("*.py")}
    sizes = {str(folder.relative_to(ROOT)): len(list(folder.glob("*.py"))) for folder in folders}
    assert not {folder: size for folder, size in sizes.items() if size > MOST_FILES}
