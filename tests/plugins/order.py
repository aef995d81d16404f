"""The order of test files: those that take long come first, and files of one folder stand apart.

A file goes whole to one of two workers. They end at about the same time if the last files are short, and seldom compile
the same kernels at the same time if neighbours are of different folders.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

#: Files that take more than some 8 seconds of CPU in `make check`, longest first (`make budget BY=files`).
LONGEST = (
    "tests/test_pages.py",
    "tests/test_kernel.py",
    "tests/test_fuzz.py",
    "tests/scale/test_run.py",
    "tests/cli/apply/test_annotate.py",
    "tests/hostile/test_long_texts.py",
    "tests/serve/test_page.py",
    "tests/workbench/test_page.py",
    "tests/pipeline/test_warm.py",
    "tests/recipes/transfer/test_latent_sentiment.py",
    "tests/hostile/test_formats.py",
    "tests/test_site.py",
    "tests/tasks/labelling/test_labeller.py",
    "tests/pipeline/test_pipeline.py",
)
#: Folders whose files train models, on corpora where they are at hand.
LONG = (("tests", "recipes"), ("tests", "cli"))


def order_of(files: Iterable[Path]) -> dict[Path, tuple[int, int, str]]:
    """What to sort files by; they are given in the order in which they were found, relative to the repository.

    >>> found = map(Path, ["src/a.py", "tests/b/test_c.py", "tests/b/test_d.py", "tests/cli/test_e.py"])
    >>> order = order_of([*found, Path(LONGEST[1])])
    >>> [path.name for path in sorted(order, key=order.get)]
    ['test_kernel.py', 'test_e.py', 'a.py', 'test_c.py', 'test_d.py']
    """
    known = {name: number for number, name in enumerate(LONGEST)}
    seen: Counter[Path] = Counter()
    order = {}
    for path in files:
        if path not in order:
            seen[path.parent] += 1
            rank = len(known) + (path.parts[:2] not in LONG)
            order[path] = (known.get(path.as_posix(), rank), seen[path.parent], path.as_posix())
    return order
