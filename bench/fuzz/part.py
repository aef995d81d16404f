"""One part in a process of its own: reads `task.json` from a folder, runs the part and writes `outcome.json`.

Parts of other shapes are adapted here: a `run` without `minutes`, an outcome given as a mapping or by another class.
"""

from __future__ import annotations

import base64
import faulthandler
import importlib
import importlib.util
import inspect
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from .adapters import ADAPTERS
from .outcome import Failure, Outcome

#: Modules that are never missing because an extra is not installed.
OURS = ("weft", "fuzz", "bench")


def main(folder: Path) -> None:
    task = json.loads((folder / "task.json").read_text(encoding="utf-8"))
    with open(folder / "faults.txt", "w", encoding="utf-8") as faults:
        faulthandler.enable(faults)
        values = _run(Path(task["path"]), task["count"], task["seed"], task["minutes"])
    part = folder / "outcome.part"
    part.write_text(json.dumps(values), encoding="utf-8")
    part.replace(folder / "outcome.json")


def _run(path: Path, count: int, seed: int, minutes: float | None) -> dict[str, Any]:
    try:
        return dumps(run_part(module_of(path), path.stem, count, seed, minutes))
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and (error.name or "weft").split(".")[0] not in OURS:
            return {"missing": error.name}
        broken = Outcome(path.stem)
        broken.fail("the part itself", seed, error)
        return dumps(broken)


def module_of(path: Path) -> ModuleType:
    """The module of a part: of this package, or of any other folder."""
    if path.parent == Path(__file__).resolve().parent:
        return importlib.import_module(f"{__package__}.{path.stem}")
    spec = importlib.util.spec_from_file_location(f"weft_fuzz_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def run_part(module: ModuleType, name: str, count: int, seed: int, minutes: float | None) -> Outcome:
    """Run a part, whatever it leaves out of the contract."""
    run = getattr(module, "run", None)
    arguments = list(inspect.signature(run).parameters) if run is not None else []
    if name in ADAPTERS and arguments[:1] != ["count"]:
        return ADAPTERS[name].run(module, count, seed, minutes)
    given = (count, seed, minutes)[: len(arguments)]
    return adapted(module.run(*given), name)


def adapted(values: Any, name: str) -> Outcome:
    """An outcome of any shape as an `Outcome`.

    >>> adapted({"attempts": 3, "failures": [{"what": "brat", "seed": 5, "detail": "no"}]}, "inputs").held
    2
    """
    if isinstance(values, Outcome):
        return values
    given = dict(values) if isinstance(values, Mapping) else vars(values)
    failures = [
        failure
        if isinstance(failure, Failure)
        else _failure(failure if isinstance(failure, Mapping) else vars(failure))
        for failure in given.get("failures", [])
    ]
    attempts = int(given.get("attempts", given.get("held", 0) + len(failures)))
    kinds = {str(kind): [int(value) for value in row] for kind, row in given.get("kinds", {}).items()}
    held = int(given.get("held", attempts - len(failures)))
    return Outcome(str(given.get("part", name)), attempts, held, failures, dict(given.get("figures", {})), kinds)


def _failure(values: Any) -> Failure:
    given = values if isinstance(values, Mapping) else vars(values)
    what, detail = (str(given.get(key, "")) for key in ("what", "detail"))
    return Failure(what, int(given.get("seed", 0)), detail, given.get("case"))


def dumps(outcome: Outcome) -> dict[str, Any]:
    """An outcome as plain values.

    >>> outcome = Outcome("inputs")
    >>> outcome.fail("brat", 5, "no", case=b"T1")
    >>> loads(dumps(outcome)) == outcome
    True
    """
    failures = [{**vars(failure), "case": _packed(failure.case)} for failure in outcome.failures]
    return {**vars(outcome), "failures": failures, "figures": json.loads(json.dumps(outcome.figures, default=_plain))}


def loads(values: Mapping[str, Any]) -> Outcome:
    """The outcome that `dumps` made plain."""
    failures = [Failure(**{**failure, "case": _unpacked(failure["case"])}) for failure in values["failures"]]
    return Outcome(**{**values, "failures": failures})


def _packed(case: bytes | str | None) -> list[str] | None:
    if case is None:
        return None
    data = case if isinstance(case, bytes) else case.encode("utf-8", "surrogatepass")
    return ["bytes" if isinstance(case, bytes) else "text", base64.b64encode(data).decode()]


def _unpacked(packed: list[str] | None) -> bytes | str | None:
    if packed is None:
        return None
    data = base64.b64decode(packed[1])
    return data if packed[0] == "bytes" else data.decode("utf-8", "surrogatepass")


def _plain(value: Any) -> Any:
    """Numbers of NumPy as Python's."""
    return value.item() if hasattr(value, "item") else str(value)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
