"""What was attacked and what the limits are, for the documentation: from `results/bench-fuzz.json` and the code."""

from __future__ import annotations

import ast
import json
import operator
from collections.abc import Callable
from pathlib import Path
from typing import Any

from weft.recipes.framework import Curve
from weft.recipes.render import markdown_table

#: Limits: what is limited, where its number stands, and its unit.
LIMITS: tuple[tuple[str, str, str], ...] = (
    ("characters of a text sent to the service", "weft.serve.service:Limits.max_chars", ""),
    ("time of a request, including waiting", "weft.serve.service:Limits.timeout", "s"),
    ("waiting requests", "weft.serve.service:Limits.queue", ""),
    ("threads that annotate", "weft.serve.service:Limits.workers", ""),
    ("all request bodies in memory", "weft.serve.body:_ALL_BODIES", "bytes"),
    ("connections", "weft.serve.connections:_CONNECTIONS", ""),
    ("time to send the head of a request, and idle time of a connection", "weft.serve.connections:Bounds.head", "s"),
    ("time in which a client reads nothing", "weft.serve.connections:Bounds.stalled", "s"),
    ("memory for the search of one sentence", "weft.budget:SENTENCE_BYTES", "bytes"),
    ("steps of the search of one sentence", "weft.budget:SENTENCE_STEPS", ""),
    ("all arrays of a model file, unpacked", "weft.storage:MOST_BYTES", "bytes"),
    ("unpacked size of a model's arrays, as a multiple of the file", "weft.storage:_RATIO", ""),
    ("always allowed for unpacked arrays", "weft.storage:_ALLOWANCE", "bytes"),
    ("header of a model file", "weft.storage:_LONGEST_HEADER", "bytes"),
    ("a line of a file, or a sentence of lines", "weft.formats.streams:LONGEST", "bytes"),
    ("unpacked size of a gzipped file, as a multiple of the file", "weft.formats.streams:GZIP_RATIO", ""),
    ("always allowed for unpacked files", "weft.formats.streams:GZIP_FREE", "bytes"),
    ("values in a row group of Parquet", "weft.formats.parquet:MOST_VALUES", ""),
    ("nesting of metadata and attributes", "weft.text.validity:DEEPEST", ""),
)
#: Where the package lies.
PACKAGE = Path(__file__).resolve().parent.parent / "src"
OPERATIONS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
}  # fmt: skip
MEMORY, FIGURE = "Memory of the service under mixed load", "fuzz-load.svg"
_UNITS = ((2**30, "GB"), (2**20, "MB"), (2**10, "kB"))


def attacks_block(path: Path) -> str:
    """Every part with its attempts and failures, and when and of what commit they were made."""
    parts = _parts(path)
    if not parts:
        return "Not measured yet: `make fuzz`."
    rows = [
        [
            name, f"{facts['attempts']:,}", f"{facts['failures']:,}", str(facts["seed"]), f"{facts['minutes']:,.1f}",
            facts["date"][:10], f"`{facts['commit']}`",
        ]
        for name, facts in parts.items()
    ]  # fmt: skip
    total = [sum(facts[key] for facts in parts.values()) for key in ("attempts", "failures")]
    rows.append(["all", *(f"{number:,}" for number in total), "", "", "", ""])
    return markdown_table(["part", "attacks", "failures", "seed", "minutes", "date", "commit"], rows)


def parts_block(path: Path) -> str:
    """What each part attacks, its kinds of attack, and what else it measured."""
    return "\n\n".join(_part_block(name, facts) for name, facts in _parts(path).items()) or "Not measured yet."


def _part_block(name: str, facts: dict[str, Any]) -> str:
    blocks = [f"### {name}", f"{facts['title']}."]
    if len(facts["kinds"]) > 1:
        rows = [[kind, f"{attempts:,}", f"{failures:,}"] for kind, (attempts, failures) in facts["kinds"].items()]
        blocks.append(markdown_table(["kind", "attacks", "failures"], rows))
    if _memory(facts):
        blocks.append(f"![{MEMORY}](../figures/{FIGURE})")
    told = [f"{key.replace('_', ' ')}: {_figure(value)}" for key, value in facts["figures"].items() if _figure(value)]
    if told:
        blocks.append("; ".join(told))
    return "\n\n".join(blocks)


def _figure(value: Any) -> str:
    """A figure of a part: itself, or the highest of several with its name; "" for series."""
    if isinstance(value, dict):
        name, highest = max(value.items(), key=lambda item: item[1], default=("", ""))
        return f"{_number(highest)} ({name})" if value else ""
    return "" if isinstance(value, list) else _number(value)


def memory_curve(path: Path) -> Curve | None:
    """The memory of the service under load, minute by minute."""
    samples = _memory(_parts(path).get("load", {}))
    return Curve(MEMORY, "minutes", "MB", {"resident": list(enumerate(samples))}) if samples else None


def _memory(facts: dict[str, Any]) -> list[float]:
    """Samples of memory, one per minute."""
    figures = facts.get("figures", {})
    return list(figures.get("minutes", figures.get("rss_mb", []))) if facts else []


def limits_block() -> str:
    """The limits that stand in the code."""
    rows = [
        [what, f"{_amount(value, unit)}", f"`{place.replace(':', '.')}`"]
        for what, place, unit in LIMITS
        if (value := _value(place)) is not None
    ]
    return markdown_table(["limit", "value", "in the code"], rows)


def _parts(path: Path) -> dict[str, dict[str, Any]]:
    return dict(json.loads(path.read_text(encoding="utf-8")).get("parts", {})) if path.is_file() else {}


def _value(place: str) -> float | None:
    """The number that a module or one of its classes assigns to a name, None if there is no such limit.

    It is read from the source: the service's modules cannot be imported without their extra.
    """
    module, _, names = place.partition(":")
    path = PACKAGE.joinpath(*module.split(".")).with_suffix(".py")
    if not path.is_file():
        return None
    body = ast.parse(path.read_text(encoding="utf-8")).body
    *classes, name = names.split(".")
    for wanted in classes:
        body = next((node.body for node in body if isinstance(node, ast.ClassDef) and node.name == wanted), [])
    assigned = [pair for node in body for pair in _assignments(node)]
    return next((_constant(value) for target, value in assigned if target == name), None)


def _assignments(node: ast.stmt) -> list[tuple[str, ast.expr]]:
    """The names that a statement assigns to, with their values."""
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        targets, values = [node.target], [node.value]
    elif isinstance(node, ast.Assign):
        target, value = node.targets[0], node.value
        both = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
        targets, values = (target.elts, value.elts) if both else ([target], [value])
    else:
        return []
    return [(target.id, value) for target, value in zip(targets, values, strict=True) if isinstance(target, ast.Name)]


def _constant(node: ast.expr) -> float | None:
    """The number of an expression of numbers, None if it is anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return node.value
    operation = OPERATIONS.get(type(node.op)) if isinstance(node, ast.BinOp) else None
    if operation is None:
        return None
    left, right = _constant(node.left), _constant(node.right)
    return None if left is None or right is None else operation(left, right)


def _amount(value: float, unit: str) -> str:
    if unit == "bytes":
        size, name = next(((size, name) for size, name in _UNITS if value >= size), (1, "bytes"))
        return f"{value / size:,.4g} {name}"
    return f"{_number(value)} {unit}".rstrip()


def _number(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
