"""What a wheel holds besides the package itself: examples, configurations, and the results of published systems.

Everything else about the package stands in pyproject.toml.
"""

import shutil
import tomllib
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
JUNK = shutil.ignore_patterns("__pycache__", "*.pyc", "*.nbi", "*.nbc")


class BuildWithExamples(build_py):
    """Copies folders of the repository into the package; an editable installation reads them in their places."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        package = Path(self.build_lib) / "weft"
        for folder in ("examples", "configs"):
            shutil.copytree(ROOT / folder, package / folder, ignore=JUNK, dirs_exist_ok=True)
        catalogue = tomllib.loads((ROOT / "src/weft/recipes/catalogue.toml").read_text(encoding="utf-8"))
        (package / "results").mkdir(exist_ok=True)
        for system in catalogue["system"]:
            path = ROOT / "results" / f"{system['slug']}.json"
            if path.is_file():
                shutil.copyfile(path, package / "results" / path.name)


setup(cmdclass={"build_py": BuildWithExamples})
