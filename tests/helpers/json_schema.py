"""A checker for the part of JSON Schema that Weft's own schema uses."""

from __future__ import annotations

from typing import Any

TYPES = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "null": type(None)}
KEYWORDS = {
    "$schema", "title", "description", "type", "properties", "required", "additionalProperties", "items", "minimum",
    "maximum",
}  # fmt: skip


def faults(value: Any, schema: dict[str, Any], place: str = "$") -> list[str]:
    """What is wrong with a value, each with its place."""
    assert set(schema) <= KEYWORDS, f"{place}: the checker does not know {set(schema) - KEYWORDS}"
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if isinstance(value, bool) or not any(isinstance(value, TYPES[kind]) for kind in kinds):
        return [f"{place} is no {' or '.join(kinds)}"]
    found = []
    if isinstance(value, int | float):
        low, high = schema.get("minimum", value), schema.get("maximum", value)
        found += [] if low <= value <= high else [f"{place} is {value}"]
    if isinstance(value, list) and "items" in schema:
        found += [fault for i, item in enumerate(value) for fault in faults(item, schema["items"], f"{place}[{i}]")]
    if isinstance(value, dict):
        found += [f"{place} lacks {name}" for name in schema.get("required", ()) if name not in value]
        for name, inner in value.items():
            others = schema.get("additionalProperties", True)
            of_name = schema.get("properties", {}).get(name, others)
            if of_name is False:
                found.append(f"{place} has {name}")
            elif of_name is not True:
                found += faults(inner, of_name, f"{place}.{name}")
    return found
