from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from weft.errors import ConfigError

RUN = Path(__file__).parents[1] / "bench" / "run.py"
sys.path.append(str(RUN.parent))
from run import benchmarks, run_benchmark, table_of  # noqa: E402


def bench(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(RUN), *words], capture_output=True, text=True, check=False)


def test_benchmarks_are_the_modules_that_can_run(tmp_path: Path) -> None:
    (tmp_path / "reading.py").write_text('"""Reading files.\n\nMore."""\n\n\ndef run():\n    return {}\n')
    (tmp_path / "_helper.py").write_text("def run():\n    return {}\n")
    (tmp_path / "words.py").write_text('"""Only helpers."""\n')
    assert benchmarks(tmp_path) == {"reading": "Reading files."}


def test_a_benchmark_is_kept_with_the_machine_and_the_time(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("ANSWER = 5.0\n")
    (tmp_path / "small.py").write_text("from helper import ANSWER\n\n\ndef run():\n    return {'ratio': ANSWER}\n")
    facts = run_benchmark(tmp_path / "small.py")
    assert facts["name"] == "small"
    assert facts["ratio"] == 5.0
    assert facts["machine"]["cpus"] >= 1
    assert facts["wall_seconds"] >= 0
    assert table_of(facts) == (["figure", "value"], [["ratio", "5"]])
    json.dumps(facts)


def test_a_package_is_a_benchmark_too(tmp_path: Path) -> None:
    package = tmp_path / "weft_small_package"
    package.mkdir()
    (package / "answer.py").write_text("ANSWER = 7.0\n")
    (package / "__init__.py").write_text(
        '"""Two files."""\n\nfrom .answer import ANSWER\n\n\ndef run():\n    return {"ratio": ANSWER}\n'
    )
    assert benchmarks(tmp_path) == {package.name: "Two files."}
    facts = run_benchmark(package / "__init__.py")
    assert (facts["name"], facts["ratio"]) == (package.name, 7.0)


def test_a_missing_peer_names_the_extra_to_install(tmp_path: Path) -> None:
    (tmp_path / "peer.py").write_text("import no_such_peer\n\n\ndef run():\n    return {}\n")
    with pytest.raises(ConfigError, match=r"no_such_peer.*weft\[bench\]"):
        run_benchmark(tmp_path / "peer.py")


def test_an_unknown_benchmark_is_refused_plainly() -> None:
    failed = bench("no-such-benchmark")
    assert failed.returncode == 1
    assert "there is no benchmark 'no-such-benchmark'" in failed.stderr


def test_benchmarks_can_be_listed() -> None:
    assert isinstance(json.loads(bench("--list", "--json").stdout), dict)
