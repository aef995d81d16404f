"""Blocks of the documentation about checks: what tests show of each published system, and which faults they notice."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from weft.recipes.render import markdown_table

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tests" / "helpers"))
from must_show import Checks, all_marks, checks_by_system  # noqa: E402

MUTANTS = ROOT / "results" / "mutants.json"


def checks_of_systems() -> dict[str, Checks]:
    """What tests show of every system that has marked tests."""
    return dict(sorted(checks_by_system(all_marks()).items()))


def checks_line(checks: dict[str, Checks]) -> str:
    """How many checks are full, weaker or failed in all."""
    full, weaker, failed = (
        sum(len(getattr(each, kind)) for each in checks.values()) for kind in ("full", "weaker", "failed")
    )
    return (
        f"Of {full + weaker + failed} checks of {len(checks)} systems, {full} are carried out in full, {weaker} ask "
        f"less than the sheet, and {failed} do not hold on the data at hand."
    )


def lesser_checks_block(checks: dict[str, Checks]) -> str:
    """Every check that is not shown in full, with what its tests say of it."""
    rows = [
        [f"`{slug}`", str(number), kind, reason]
        for slug, own in checks.items()
        for kind, found in (("weaker", own.weaker), ("failed", own.failed))
        for number, reason in found.items()
    ]
    return markdown_table(["system", "check", "", "what is asked less, or found instead"], rows)


def mutants_block(path: Path = MUTANTS) -> str:
    """Every deliberate fault, what became of it, and the test that noticed it."""
    if not path.is_file():
        return "Not run yet: `make mutants`."
    facts = json.loads(path.read_text(encoding="utf-8"))
    found = facts["mutants"]
    rows = [[f"`{row['system']}`", row["why"], row["outcome"], _test(row)] for row in found]
    killed = sum(row["outcome"] == "killed" for row in found)
    table = markdown_table(["system", "fault", "outcome", "test"], rows)
    return f"{killed} of {len(found)} mutants are killed ({facts['date'][:10]}).\n\n{table}"


def _test(row: dict[str, str]) -> str:
    name = row["test"].rpartition("::")[2].partition("[")[0]
    if not name:
        return ""
    return f"`{name}`" if row["test"].startswith("tests/") else f"example of `{name.rpartition('.')[2]}`"
