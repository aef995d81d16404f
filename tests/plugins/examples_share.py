"""Fewer generated examples in the inner loop: `make check` takes a share of what `make test` makes.

Half the time of the tests without a corpus goes into examples of Hypothesis. Every run draws other ones, so a quick run
of a part of them still finds most faults, and the full number is made before anything is accepted.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hypothesis import settings

LEAST = 5  # examples of a test, whatever the share


def take_examples(items: Iterable[Any], share: float) -> None:
    """Have the tests of Hypothesis among `items` make this share of their examples."""
    if share >= 1:
        return
    tests = {id(test): test for test in (getattr(item, "obj", None) for item in items)}
    for test in tests.values():
        if getattr(test, "is_hypothesis_test", False):
            test = getattr(test, "__func__", test)
            given = test._hypothesis_internal_use_settings
            fewer = max(min(LEAST, given.max_examples), round(share * given.max_examples))
            test._hypothesis_internal_use_settings = settings(given, max_examples=fewer)
