"""Judgements: the worked example, readings that are ruled out, monotonicity, and patches that are named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.errors import DataError
from weft.lexical.resources.restrictions import Restriction
from weft.lexical.resources.semantic_types import Sense, TypeTable
from weft.lexical.resources.semlink import SemLink
from weft.lexical.resources.source import MISSING, Patch, Source
from weft.lexical.resources.verbnet import Member, VerbClass, VerbNet
from weft.lexical.wordnet import find_wordnet
from weft.tasks.preferences.fillers import NOUN, Filler
from weft.tasks.preferences.judge import Judgement, explained, judge
from weft.tasks.preferences.resources import Resources, own_patches

#: The paper's table 1: the arguments of the four verbs of its example.
TABLE = {
    "prune": {"A0": "politician", "A1": "laws"}, "regulate": {"A0": "laws", "A1": "bags"},
    "create": {"A0": "politician", "A1": "fees"}, "inspect": {"A1": "farms"},
}  # fmt: skip


def judged(resources: Resources, verb: str, **arguments: str) -> Judgement:
    return explained(verb, {label: Filler.of_word(word) for label, word in arguments.items()}, resources)


@pytest.mark.must_show("david-preference-violations", 1)
def test_the_worked_example_flags_pruned_and_explains_all_four_verbs(repaired):
    found = {verb: judged(repaired, verb, **arguments) for verb, arguments in TABLE.items()}
    assert {verb: each.outcome for verb, each in found.items()} == {
        "prune": "violation", "regulate": "ok", "create": "ok", "inspect": "ok",
    }  # fmt: skip
    [(reading, broken)] = found["prune"].violated
    assert (reading.verb_class, broken.argument, broken.role) == ("trim-21.9-1", "A1", "Patient")
    assert (broken.stated_by, str(broken.restriction), broken.filler.text) == ("trim-21.9", "+concrete", "laws")
    assert broken.keys == ["law%1:10:00::", "law%1:14:00::"]
    for verb, each in found.items():
        checks = [check.as_dict() for reading in each.readings for check in reading.checks]
        assert [check["argument"] for check in checks] == sorted(TABLE[verb])
        assert all(check["class"] and check["role"] and check["senses"] for check in checks)


@pytest.mark.must_show(
    "david-preference-violations",
    1,
    weaker="with the real resources regulating is unknown: SemLink 2 and 3.4 have no class for it",
)
def test_the_worked_example_with_the_real_resources(corpus_file):
    if find_wordnet() is None:
        pytest.skip("there is no WordNet database here")
    real = Resources.read(
        corpus_file("lexicons/verbnet3/verbnet3.zip"),
        [corpus_file("lexicons/semlink/pb-vn2.json.gz"), corpus_file("lexicons/semlink/pb-vn3.4.json")],
    )
    for resources in (real, real.patched(own_patches())):
        found = {verb: judged(resources, verb, **arguments) for verb, arguments in TABLE.items()}
        assert [each.outcome for each in found.values()] == ["violation", "unknown", "ok", "ok"]
    classes = {reading.verb_class: check for reading, check in found["prune"].violated}
    assert str(classes["carve-21.2-2"].restriction) == "+concrete"
    assert "law%1:10:00::" in classes["carve-21.2-2"].keys


def test_a_reading_without_a_role_for_an_observed_argument_is_ruled_out(raw):
    assert judged(raw, "drink", A0="town", A1="rumours").outcome == "violation"
    extra = judged(raw, "drink", A0="town", A1="rumours", A2="bag")
    assert (extra.outcome, extra.why) == ("unknown", "every reading is ruled out")
    assert extra.readings[0].ruled_out == "A2 is not mapped"


def test_null_missing_and_stale_roles_are_told_apart(raw):
    null = raw.patched([Patch("semlink:drink.01/39.9/A2", MISSING, "", "a test")])
    assert judged(null, "drink", A0="town", A2="bag").readings[0].ruled_out == "A2 has no role in the class"
    assert judged(raw, "drink", A0="town", A2="bag").readings[0].ruled_out == "A2 is not mapped"
    stale = judged(raw, "sip", A0="judge", A1="tea").readings[0].ruled_out
    assert stale == "A1 is mapped to theme, which is no role of the class"
    assert judged(raw, "regulate", A0="laws").readings[0].ruled_out == "VerbNet has no class 21.9-2"


def test_a_verb_is_flagged_only_if_every_reading_that_is_left_is_violated(raw):
    other = raw.patched([Patch("semlink:drink.01/35.9", MISSING, "A0=agent A1=theme", "a second reading")])
    assert judged(other, "drink", A0="judge", A1="rumours").outcome == "ok"
    assert judged(other, "drink", A0="town", A1="rumours").outcome == "violation"
    assert len(judged(other, "drink", A0="town", A1="rumours").violated) == 3


def test_unknown_is_an_outcome_with_a_reason(raw):
    assert judged(raw, "seem", A0="judge").why == "excluded: seeming verb"
    assert judged(raw, "drink").why == "no core arguments"
    assert judged(raw, "google", A0="judge").why == "no reading: SemLink has no class for it"
    without = raw.patched([Patch("excluded:drink", MISSING, "light", "a test")])
    assert judged(without, "drink", A0="town").why == "excluded: light verb"


def test_only_the_readings_of_a_given_sense_count(raw):
    two = raw.patched([Patch("semlink:drink.02/35.9", MISSING, "A0=agent A1=theme", "a second sense")])
    arguments = {"A0": Filler.of_word("judge"), "A1": Filler.of_word("rumours")}
    assert [judge("drink", arguments, two, sense).outcome for sense in ("", "drink.01", "drink.02", "drink.03")] == [
        "ok", "violation", "ok", "unknown",
    ]  # fmt: skip


def test_a_subclass_may_restrict_its_own_frames_only(raw):
    tighter = raw.patched([Patch("verbnet:trim-21.9-1/Patient", MISSING, "+animate", "a test")])
    assert judged(tighter, "prune", A0="judge", A1="bag").outcome == "violation"
    loose = tighter.patched([Patch("verbnet:trim-21.9-1/frames", "all", "own", "inherited frames are free of it")])
    assert judged(loose, "prune", A0="judge", A1="bag").outcome == "ok"
    assert judged(loose, "prune", A0="judge", A1="laws").outcome == "violation"


@pytest.mark.parametrize(
    ("word", "outcome"),
    [("he", "ok"), ("who", "ok"), ("it", "ok"), ("they", "ok"), ("blockchain", "ok"), ("town", "violation")],
)  # fmt: skip
def test_what_nobody_knows_breaks_nothing(raw, word, outcome):
    assert judged(raw, "drink", A0=word, A1="tea").outcome == outcome


def test_a_pronoun_for_people_is_a_person(raw):
    assert judged(raw, "drink", A0="judge", A1="her").outcome == "violation"
    assert judged(raw, "drink", A0="judge", A1="it").outcome == "ok"


def test_a_number_breaks_what_forbids_abstract_things(raw):
    strict = raw.patched([Patch("verbnet:sip-39.9/Patient", "+comestible", "+comestible & -abstract", "a test")])
    assert judged(raw, "drink", A0="judge", A1="40").outcome == "ok"
    assert judged(strict, "drink", A0="judge", A1="40").outcome == "violation"


@pytest.mark.must_show("david-preference-violations", 4)
def test_every_patch_that_changes_a_judgement_is_named_and_no_other(raw):
    patches = [
        Patch("verbnet:seek-35.9/Agent", "+animate", "+animate | +organization", "companies seek", "p.tsv, line 1"),
        Patch("verbnet:sip-39.9/Agent", "+animate", "+int_control", "companies drink", "p.tsv, line 2"),
        Patch("semlink:seek.01/35.9/A1", "theme", "", "nothing is sought", "p.tsv, line 3"),
        Patch("types:comestible", "food%1:13:00::", "food%1:13:00:: matter%1:03:00::", "all matter", "p.tsv, line 4"),
    ]
    patched = raw.patched(patches)
    both = judged(patched, "seek", A0="company", A1="advice")
    assert [(each.patch.origin, each.before, each.after) for each in both.changes] == [
        ("p.tsv, line 1", "violation", "ok"), ("p.tsv, line 3", "ok", "unknown"),
    ]  # fmt: skip
    one = judged(patched, "seek", A0="company")
    assert [each.patch.origin for each in one.changes] == ["p.tsv, line 1"]
    assert judged(patched, "prune", A0="judge", A1="laws").changes == ()
    assert judged(patched.reverted(), "seek", A0="company").outcome == "violation"
    assert patched.reverted() == raw
    assert judged(patched.reverted(3), "seek", A0="company", A1="advice").outcome == "ok"


def test_a_patch_that_does_not_fit_is_refused_with_its_line(raw):
    with pytest.raises(DataError, match=r"p\.tsv, line 7: 'seek-35\.9/Agent' of VerbNet holds '\+animate'"):
        raw.patched([Patch("verbnet:seek-35.9/Agent", "+human", "", "a test", "p.tsv, line 7")])
    with pytest.raises(DataError, match="has no 'seem2' to patch"):
        raw.patched([Patch("excluded:seem2", "seeming", "", "a test")])


TYPES = ("animate", "concrete", "organization")
BITS = {name: 1 << number for number, name in enumerate(TYPES)}
LITERALS = tuple(f"{sign}{name}" for sign in "+-" for name in TYPES)
SENSES = st.lists(st.sampled_from(range(8)), min_size=1, max_size=2).map(
    lambda all_has: tuple(Sense(f"s{i}", has) for i, has in enumerate(all_has))
)
RESTRICTIONS = st.builds(Restriction, st.lists(st.sampled_from(LITERALS), max_size=2).map(tuple), st.booleans())


class FixedNouns:
    """Nouns with given senses."""

    def __init__(self, senses: dict[str, tuple[Sense, ...]]) -> None:
        self._senses, self.bits, self.source = senses, BITS, Source("nouns", "1", "")

    def nouns(self, table: TypeTable) -> FixedNouns:
        return self

    def senses(self, *forms: str) -> tuple[Sense, ...]:
        return self._senses[forms[0]]

    def sense(self, key: str) -> Sense:
        return Sense(key, 0, 0)


def outcome(senses: dict[str, tuple[Sense, ...]], restrictions: list[dict[str, Restriction]]) -> str:
    """The outcome for a verb with one class per item of `restrictions`."""
    classes = [VerbClass(f"c-{i}", "", (Member("v", (), ()),), roles) for i, roles in enumerate(restrictions)]
    mapping: dict[str, str | None] = {"A0": "agent", "A1": "patient"}
    links = {"v.01": {str(i): dict(mapping) for i in range(len(classes))}}
    resources = Resources(
        VerbNet(classes, Source("VerbNet", "3", "")), SemLink(links, Source("SemLink", "2", "")), FixedNouns(senses),
        TypeTable({}, Source("types", "1", "")), {},
    )  # fmt: skip
    arguments = {"A0": Filler("n0", NOUN, (("n0",),)), "A1": Filler("n1", NOUN, (("n1",),))}
    return judge("v", arguments, resources).outcome


NOUNS = st.fixed_dictionaries({"n0": SENSES, "n1": SENSES})
CLASSES = st.lists(
    st.fixed_dictionaries({"Agent": RESTRICTIONS, "Patient": RESTRICTIONS}), min_size=1, max_size=2
)  # fmt: skip


@pytest.mark.must_show("david-preference-violations", 2)
@given(NOUNS, CLASSES, st.sampled_from(("n0", "n1")), st.sampled_from(range(8)))
def test_another_sense_of_a_noun_can_only_remove_violations(nouns, classes, noun, has):
    more = {**nouns, noun: (Sense("more", has), *nouns[noun])}
    if outcome(nouns, classes) == "ok":
        assert outcome(more, classes) == "ok"


@pytest.mark.must_show("david-preference-violations", 2)
@given(NOUNS, CLASSES, st.sampled_from(("Agent", "Patient")), st.sampled_from(LITERALS))
def test_another_alternative_can_only_remove_violations(nouns, classes, role, literal):
    old = classes[0][role]
    wider = Restriction((*old.parts, literal) if old.any_of and old.parts else (old, literal), True)
    if outcome(nouns, classes) == "ok":
        assert outcome(nouns, [{**classes[0], role: wider}, *classes[1:]]) == "ok"


@pytest.mark.must_show("david-preference-violations", 2)
@given(NOUNS, CLASSES, st.sampled_from(("Agent", "Patient")), st.sampled_from(LITERALS))
def test_another_condition_can_only_add_violations(nouns, classes, role, literal):
    old = classes[0][role]
    tighter = Restriction((*old.parts, literal) if not old.any_of else (old, literal))
    if outcome(nouns, classes) == "violation":
        assert outcome(nouns, [{**classes[0], role: tighter}, *classes[1:]]) == "violation"
