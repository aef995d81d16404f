"""What is compiled for a transition system."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CODE = """
import sys
from weft.infer.transitions import systems
from weft.infer.transitions.state import SHIFT, new_state
from weft.kernel import compiled

number, state = getattr(systems, sys.argv[1]), new_state(2)
systems.legal(number, state, 0, True)
systems.finished(number, state)
systems.apply(number, state, 0, SHIFT, -1)
print(*compiled.names)
"""


@pytest.mark.parametrize(
    ("system", "names"),
    [
        ("ARC_EAGER", "legal legal finished finished apply apply attach"),
        ("ARC_HYBRID", "legal legal finished finished apply apply attach"),
    ],
)
def test_no_other_system_is_compiled(system: str, names: str, tmp_path: Path) -> None:
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "WEFT_QUIET": "1"}
    done = subprocess.run([sys.executable, "-c", CODE, system], env=env, capture_output=True, text=True, check=False)
    assert done.stdout.split() == names.split(), done.stderr
