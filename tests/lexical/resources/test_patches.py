"""Patches of VerbNet and SemLink: any of them can be undone, and none changes what lies below it."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.errors import DataError
from weft.lexical.resources.restrictions import Restriction
from weft.lexical.resources.semlink import SemLink
from weft.lexical.resources.source import MISSING, Patch, Source
from weft.lexical.resources.verbnet import Member, VerbClass, VerbNet

RESTRICTIONS = ("", "+animate", "+animate | +organization", "+concrete & -region", "+animate | (+concrete & -region)")
PUT = VerbClass(
    "put-9.1", "", (Member("put", ("put%2:35:00",), ("put.01",)),), {"Agent": Restriction.parse("+animate")}
)
INNER = VerbClass("put-9.1-1", "put-9.1", (Member("set", (), ()),), {"Goal": Restriction()})


def verbs() -> VerbNet:
    return VerbNet([PUT, INNER], Source("VerbNet", "3", "net.zip"))


def links() -> SemLink:
    return SemLink({"put.01": {"9.1": {"A0": "agent", "A2": None}, "9.1-1": {}}}, Source("SemLink", "2", "links.json"))


def contents(net: VerbNet) -> dict[str, object]:
    """All that a net holds, without the order of members and roles."""
    return {
        each.id: (each.parent, sorted(each.members), {role: str(may) for role, may in each.roles.items()},
                  each.own_frames_only)
        for each in net.all_classes
    }  # fmt: skip


@st.composite
def net_patches(draw):
    """Patches of VerbNet that apply one after the other: each says what the cell holds by then."""
    net, patches = verbs(), []
    for _ in range(draw(st.sampled_from(range(1, 7)))):
        each = draw(st.sampled_from(net.all_classes))
        kind = draw(st.sampled_from(("role", "member", "frames", "id", "new", "delete")))
        if kind == "role":
            role = draw(st.sampled_from(("Agent", "Goal", "Theme")))
            before = str(each.roles[role]) if role in each.roles else MISSING
            patch = Patch(f"{each.id}/{role}", before, draw(st.sampled_from((*RESTRICTIONS, MISSING))), "a test")
        elif kind == "member":
            verb = draw(st.sampled_from(("put", "set", "lay")))
            before = next((str(member) for member in each.members if member.name == verb), MISSING)
            patch = Patch(f"{each.id}/members/{verb}", before, draw(st.sampled_from((MISSING, "", "a%2:35:00; b"))), "")
        elif kind == "frames":
            before = "own" if each.own_frames_only else "all"
            patch = Patch(f"{each.id}/frames", before, draw(st.sampled_from(("own", "all"))), "a test")
        elif kind == "id":
            patch = Patch(f"{each.id}/id", each.id, f"new-{draw(st.sampled_from(range(10, 100)))}", "a test")
        elif kind == "new":
            patch = Patch(
                f"add-{draw(st.sampled_from(range(1, 10)))}",
                MISSING,
                draw(st.sampled_from(("top", f"below {each.id}"))),
                "",
            )
        else:
            patch = Patch(each.id, f"below {each.parent}" if each.parent else "top", MISSING, "a test")
        try:
            net = net.patched([patch])
        except DataError:  # a new id that is taken, a class that is not empty
            continue
        patches.append(patch)
    return patches


@pytest.mark.must_show("david-preference-violations", 4)
@given(net_patches())
def test_patches_of_classes_are_undone_by_their_inverses_and_by_reverting(patches):
    net = verbs()
    before = copy.deepcopy(contents(net))
    patched = net.patched(patches)
    assert contents(net) == before
    assert patched.reverted() == net
    if patches:
        assert contents(patched.reverted(1)) == contents(net.patched(patches[:-1]))
    undone = patched.patched([patch.inverse() for patch in reversed(patches)])
    assert contents(undone) == before
    assert len(undone.source.patches) == 2 * len(patches)


ROLE = st.sampled_from(("agent", "theme", "", MISSING))
LINK = st.sampled_from(("A0=agent A1=", "", MISSING))


@st.composite
def link_patches(draw):
    """Patches of SemLink that apply one after the other."""
    found, patches = links(), []
    for _ in range(draw(st.sampled_from(range(1, 7)))):
        roleset = draw(st.sampled_from(("put.01", "lay.01")))
        number = draw(st.sampled_from(("9.1", "9.1-1", "9.2")))
        roles = found.classes(roleset).get(number)
        if roles is not None and draw(st.booleans()):
            argument = draw(st.sampled_from(("A0", "A1", "A2")))
            before = (roles[argument] or "") if argument in roles else MISSING
            patch = Patch(f"{roleset}/{number}/{argument}", before, draw(ROLE), "a test")
        else:
            before = MISSING if roles is None else " ".join(f"{a}={r or ''}" for a, r in sorted(roles.items()))
            patch = Patch(f"{roleset}/{number}", before, draw(LINK), "a test")
        found = found.patched([patch])
        patches.append(patch)
    return patches


@pytest.mark.must_show("david-preference-violations", 4)
@given(link_patches())
def test_patches_of_links_are_undone_by_their_inverses_and_by_reverting(patches):
    raw = links()
    before = sorted(raw.pairs(), key=str)
    patched = raw.patched(patches)
    assert sorted(raw.pairs(), key=str) == before
    assert patched.reverted() == raw
    undone = patched.patched([patch.inverse() for patch in reversed(patches)])
    assert sorted(undone.pairs(), key=str) == sorted(before, key=str)


def test_an_argument_without_a_role_is_not_one_that_is_missing():
    raw = links()
    null = raw.patched([Patch("put.01/9.1/A1", MISSING, "", "PropBank has it, VerbNet does not")])
    assert null.classes("put.01")["9.1"] == {"A0": "agent", "A1": None, "A2": None}
    gone = raw.patched([Patch("put.01/9.1/A2", "", MISSING, "nobody knows")])
    assert gone.classes("put.01")["9.1"] == {"A0": "agent"}
    with pytest.raises(DataError, match=r"has no 'put\.01/9\.1/A1' to patch"):
        raw.patched([Patch("put.01/9.1/A1", "", "theme", "a test")])


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        (Patch("put-9.1", "top", MISSING, "x"), "has members, roles or subclasses"),
        (Patch("put-9.1", "top", "below put-9.1-1", "x"), "at the 'top' or 'below' another one"),
        (Patch("lay-9.2", MISSING, "below nothing-1", "x"), "at the 'top' or 'below' another one"),
        (Patch("put-9.1/id", "put-9.1", "put-9.1-1", "x"), "expected the new id of a class"),
        (Patch("put-9.1/frames", "all", "some", "x"), "hold for 'all' frames of a class or its 'own'"),
        (Patch("lay-9.2/Agent", MISSING, "+animate", "x"), "has no 'lay-9.2/Agent' to patch"),
        (Patch("put-9.1/Agent", "+animate", "animate", "x"), "expected restrictions as in"),
    ],
)
def test_patches_of_classes_that_make_no_sense_are_refused(patch, message):
    with pytest.raises(DataError, match=message):
        verbs().patched([patch])


@pytest.mark.parametrize("place", ["put.01", "put/9.1", "put.01/9.9/A0", ""])
def test_places_that_links_do_not_have_are_refused(place):
    with pytest.raises(DataError, match="to patch"):
        links().patched([Patch(place, MISSING, "A0=agent", "a test")])


def test_a_renamed_class_keeps_its_subclasses():
    net = verbs().patched([Patch("put-9.1/id", "put-9.1", "put-9.7", "the right number")])
    assert net["9.1-1"].parent == "put-9.7"
    assert str(net.roles("9.1-1")["Agent"]) == "+animate"
