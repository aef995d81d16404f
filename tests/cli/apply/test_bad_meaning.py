"""Files of graphs, roles and frames that are wrong: refused with file and line, or left out and counted."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Weft = Callable[..., "subprocess.CompletedProcess[str]"]
GRAPHS = "# ::snt a\n# ::tok a\n(a / b\n   :ARG0 (c / d)\n\n# ::snt e\n# ::tok e\n(e / f)\n"
ROLES = "1\tDogs\t_\t_\t_\t_\t2\tnsubj\t_\t_\n2\tbark\t_\t_\t_\t_\t0\troot\t_\tFrame=bark.01|Roles=A0:{}\n\n"


@pytest.mark.parametrize(
    ("name", "text", "line", "said"),
    [
        ("a.amr", GRAPHS, 4, "balanced brackets"),
        ("a.conllu", ROLES.format(1) + ROLES.format(7), 5, "found 'A0:7'"),
    ],
)
def test_bad_graphs_and_roles_are_refused_with_file_and_line_or_left_out_and_counted(
    weft: Weft, tmp_path: Path, name: str, text: str, line: int, said: str
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    failed = weft("convert", name, "out.jsonl")
    assert failed.returncode == 1
    assert f"{name}, line {line}: " in failed.stderr
    assert said in failed.stderr
    assert "Traceback" not in failed.stderr
    assert not (tmp_path / "out.jsonl").exists()
    done = weft("convert", name, "out.jsonl", "--skip-bad")
    assert done.returncode == 0, done.stderr
    assert f"left out: {name}, line {line}: " in done.stderr
    assert "1 document written, 1 piece left out" in done.stderr
    assert len((tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()) == 1


def test_annotating_bad_graphs_counts_what_is_left_out(weft: Weft, tmp_path: Path) -> None:
    (tmp_path / "a.amr").write_text(GRAPHS, encoding="utf-8")
    failed = weft("annotate", "a.amr", "--model", "en", "--out", "out.jsonl")
    assert failed.returncode == 1
    assert "a.amr, line 4: " in failed.stderr
    done = weft("annotate", "a.amr", "--model", "en", "--skip-bad", "--out", "out.jsonl", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["left_out"] == 1
