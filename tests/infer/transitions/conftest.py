"""Lets the tests of this folder, and of others, share `transition_twins`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
