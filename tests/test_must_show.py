"""Marks of checks say which check of which system they carry out, and what is asked less than the sheet asks."""

from __future__ import annotations

import pytest
from must_show import Mark, all_marks, checks_by_system, marks_in
from places import ROOT

from weft.recipes.catalogue import systems


@pytest.fixture(scope="module")
def marks() -> list[Mark]:
    return all_marks()


def test_every_present_system_has_marks_for_consecutive_checks(marks: list[Mark]) -> None:
    numbers: dict[str, set[int]] = {}
    for mark in marks:
        numbers.setdefault(mark.slug, set()).add(mark.check)
    present = {system.slug for system in systems() if system.state(ROOT / "results") == "present"}
    assert present <= numbers.keys()
    assert numbers.keys() <= {system.slug for system in systems()}
    for slug, own in numbers.items():
        assert own == set(range(1, max(own) + 1)), slug


def test_a_check_that_fails_is_claimed_by_no_other_test(marks: list[Mark]) -> None:
    failed = {(mark.slug, mark.check) for mark in marks if mark.fails}
    claimed = [mark.place for mark in marks if (mark.slug, mark.check) in failed and not (mark.weaker or mark.fails)]
    assert not claimed, "a test of a failed check says what it asks less, or what is found instead"


def test_reasons_are_sentences_that_say_something(marks: list[Mark]) -> None:
    for mark in marks:
        for reason in (mark.weaker, mark.fails):
            assert not reason or len(reason.split()) >= 5, mark.place


def test_a_failed_check_counts_neither_as_full_nor_as_weaker() -> None:
    text = (
        '@pytest.mark.must_show("a", 1)\n@pytest.mark.must_show("a", 1, weaker="small")\n'
        '@pytest.mark.must_show("a", 2, weaker="small")\n@pytest.mark.must_show("a", 3, fails="no")\n'
        '@pytest.mark.must_show("a", 3, weaker="small")\ndef test(): ...\n'
    )
    found = checks_by_system(marks_in(text))["a"]
    assert (found.full, found.weaker, found.failed) == ({1}, {2: "small"}, {3: "no"})
    assert str(found) == "1 full, 1 weaker, 1 failed"
    for wrong in ('must_show("a", 1, slower="x")', 'must_show("a", 1, weaker="")'):
        with pytest.raises(ValueError, match="takes a slug, a number"):
            marks_in(f"@pytest.mark.{wrong}\ndef test(): ...")
