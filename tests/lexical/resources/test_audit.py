"""The audit of SemLink against VerbNet: what it finds, and repairs that follow from numbers."""

from __future__ import annotations

from collections import Counter

import pytest
from places import ROOT

from weft.lexical.resources.audit import KINDS, audit, missing_classes, repairs
from weft.lexical.resources.propbank import PropBank, Role, Roleset
from weft.lexical.resources.restrictions import Restriction
from weft.lexical.resources.semantic_types import TypeTable, coverage
from weft.lexical.resources.semlink import SemLink
from weft.lexical.resources.source import Patch, Source
from weft.lexical.resources.verbnet import Member, VerbClass, VerbNet
from weft.tasks.preferences.resources import REPAIRS, Resources, read_patches

PUT = VerbClass(
    "put-9.1", "", (Member("put", (), ()), Member("lay", (), ())),
    {"Agent": Restriction.parse("+animate & +shiny"), "Initial_Location": Restriction()},
)  # fmt: skip
NET = VerbNet([PUT, VerbClass("put-9.1-1", "put-9.1", (Member("set", (), ()),), {})], Source("VerbNet", "3", ""))
LINKS = SemLink(
    {
        "put.01": {"9.1": {"A0": "agent", "A1": "theme", "A2": "initial_location", "A3": None}, "9.1_1": {}},
        "set.01": {"9.1": {}, "9.1-2-1": {}},
        "run.01": {"9.1-1": {"A0": "AGENT"}, "51": {}},
        "lay.01": {},
    },
    Source("SemLink", "2", ""),
)


def test_every_kind_of_fault_is_found_at_its_place():
    frames = PropBank([Roleset("put", "put.01", "", (), (Role("0", "", ""), Role("1", "", "")))], Source("P", "1", ""))
    found = audit(LINKS, NET, TypeTable.read(), frames)
    by_kind = {kind: [each.place for each in found if each.kind == kind] for kind in KINDS}
    assert by_kind == {
        "missing class": ["put.01/9.1_1", "run.01/51", "set.01/9.1-2-1"],
        "stale role": ["put.01/9.1/A1"],
        "not a member": ["run.01/9.1-1"],
        "empty link": ["set.01/9.1"],
        "unmapped class": ["put-9.1-1/members/set", "put-9.1/members/lay"],
        "unknown type": ["put-9.1/Agent"],
        "unknown roleset": ["run.01/51", "run.01/9.1-1", "set.01/9.1", "set.01/9.1-2-1"],
        "unknown argument": ["put.01/9.1/A2", "put.01/9.1/A3"],
    }


def test_repairs_add_subclasses_and_correct_numbers_and_nothing_else():
    found = audit(LINKS, NET)
    assert [patch[:3] for patch in repairs(found, LINKS, NET)] == [
        ("semlink:put.01/9.1_1", "", "missing"),
        ("semlink:put.01/9.1-1", "missing", ""),
        ("verbnet:put-9.1-2", "missing", "below put-9.1"),
        ("verbnet:put-9.1-2-1", "missing", "below put-9.1-2"),
    ]
    whole = Resources(NET, LINKS, None, TypeTable.read(), {}).patched(repairs(found, LINKS, NET))
    assert missing_classes(audit(whole.links, whole.verbs)) == Counter({"51": 1})
    assert "Agent" in whole.verbs.roles("9.1-2-1")


def test_coverage_says_which_types_have_no_row():
    rows = coverage(NET, TypeTable.read())
    assert [(each.type, each.uses, bool(each.roots)) for each in rows] == [("animate", 1, True), ("shiny", 1, False)]


def test_the_classes_and_types_of_the_examples_are_all_known():
    folder = ROOT / "examples" / "preferences"
    net, links = VerbNet.read(folder / "verbnet"), SemLink.read(folder / "semlink.json")
    found = audit(links, net, TypeTable.read(folder / "types.tsv"))
    assert [(each.kind, each.place) for each in found] == [
        ("missing class", "regulate.01/21.9-2"), ("stale role", "sip.01/39.9/A1"),
    ]  # fmt: skip


@pytest.mark.must_show("david-preference-violations", 6)
def test_every_missing_class_of_the_real_links_is_reported(corpus_file):
    net = VerbNet.read(corpus_file("lexicons/verbnet3/verbnet3.zip"), version="3")
    old = SemLink.read(corpus_file("lexicons/semlink/pb-vn2.json.gz"), version="2")
    new = SemLink.read(corpus_file("lexicons/semlink/pb-vn3.4.json"), version="3.4")
    assert set(missing_classes(audit(old, net))) == {
        "15.1-1", "19-1", "19-1-1", "21.2-3", "23.1-1-1", "39.1-1-1", "41.1.1-1-1", "41.3.1-1", "41.3.1-2", "95.1-1-1",
        "95.2.2-1",
    }  # fmt: skip
    assert {"19-1", "21.2-3", "60.1", "51.9.2"} <= set(missing_classes(audit(new, net)))
    assert len(missing_classes(audit(new, net))) == 10
    for links in (old, new, old.overlaid(new)):  # none is left out, and none is made up
        named = {number for _, number, _ in links.pairs()}
        assert set(missing_classes(audit(links, net))) == {number for number in named if number not in net}


def test_the_repairs_that_weft_ships_are_those_that_the_audit_proposes(corpus_file):
    net = VerbNet.read(corpus_file("lexicons/verbnet3/verbnet3.zip"))
    links = SemLink.read(corpus_file("lexicons/semlink/pb-vn2.json.gz")).overlaid(
        SemLink.read(corpus_file("lexicons/semlink/pb-vn3.4.json"))
    )
    proposed = repairs(audit(links, net), links, net)
    assert [patch[:4] for patch in read_patches(REPAIRS)] == [patch[:4] for patch in proposed]


def test_patches_name_their_resource():
    whole = Resources(NET, LINKS, None, TypeTable.read(), {})
    with pytest.raises(Exception, match=r"begins with one of verbnet:, semlink:, types:, excluded:"):
        whole.patched([Patch("put-9.1/Agent", "", "", "a test")])
