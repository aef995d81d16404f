"""The browser of the documentation's screenshots, for tests of pages."""

from __future__ import annotations

import importlib.util

from places import ROOT

_spec = importlib.util.spec_from_file_location("screenshots", ROOT / "docs" / "screenshots.py")
assert _spec is not None
assert _spec.loader is not None
screenshots = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(screenshots)
