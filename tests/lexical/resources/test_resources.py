"""PropBank, VerbNet and SemLink: contents, versions, patches, and what is refused with file and line."""

from __future__ import annotations

import gzip
import zipfile

import pytest

from weft.errors import DataError
from weft.lexical.resources.propbank import PropBank, Role
from weft.lexical.resources.restrictions import Restriction
from weft.lexical.resources.semlink import SemLink
from weft.lexical.resources.source import Patch, read_patches
from weft.lexical.resources.verbnet import VerbNet

FRAMES = (
    "lemma\troleset\tname\taliases\troles(n:f:descr;...)\n"
    "give\tgive.01\ttransfer\tgive/v,gift/n\t0:pag:giver;1:ppt:gift; a thing;2:gol:given to: whom\n"
    "rain\train.01\train\train/v\t\n"
)
CLASS = """<VNCLASS xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" ID="put-9.1"
 xsi:noNamespaceSchemaLocation="vn_schema-3.xsd">
<MEMBERS><MEMBER name="put" wn="put%2:35:00 put%2:35:01" grouping="put.01"/></MEMBERS>
<THEMROLES>
<THEMROLE type="Agent"><SELRESTRS logic="or"><SELRESTR Value="+" type="animate"/><SELRESTR Value="+" type="machine"/>
</SELRESTRS></THEMROLE>
<THEMROLE type="Goal"><SELRESTRS><SELRESTR Value="+" type="location"/><SELRESTR Value="-" type="region"/></SELRESTRS>
</THEMROLE>
</THEMROLES>
<SUBCLASSES><VNSUBCLASS ID="put-9.1-1"><MEMBERS><MEMBER name="set_down" wn="" grouping=""/></MEMBERS>
<THEMROLES><THEMROLE type="Goal"><SELRESTRS/></THEMROLE></THEMROLES><SUBCLASSES/></VNSUBCLASS></SUBCLASSES>
</VNCLASS>
"""


def test_frames_have_roles_aliases_and_senses(tmp_path):
    path = tmp_path / "frames.tsv.gz"
    path.write_bytes(gzip.compress(FRAMES.encode()))
    frames = PropBank.read(path)
    assert len(frames) == 2
    assert frames["give.01"].roles == (
        Role("0", "pag", "giver"), Role("1", "ppt", "gift; a thing"), Role("2", "gol", "given to: whom"),
    )  # fmt: skip
    assert [roleset.id for roleset in frames.senses("gift", "n")] == ["give.01"]
    assert frames.senses("gift", "v") == []
    assert frames["rain.01"].roles == ()
    with pytest.raises(DataError, match=r"no roleset 'give\.02'"):
        frames["give.02"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<frameset>\n", "line 1: this is no table of frames"),
        ("", "line 1: this is no table of frames"),
        (FRAMES + "x\ty\n", "line 4: expected lemma, roleset"),
        (FRAMES.replace("give/v", "give"), "line 2: expected an alias"),
        (FRAMES.replace("0:pag", "pag"), "line 2: expected a role"),
    ],
)
def test_bad_frame_files_are_refused_with_file_and_line(tmp_path, text, message):
    path = tmp_path / "bad.tsv"
    path.write_text(text)
    with pytest.raises(DataError, match=f"bad.tsv, {message}"):
        PropBank.read(path)


def test_a_frame_file_of_another_version_is_refused(tmp_path):
    path = tmp_path / "frames.tsv"
    path.write_text(FRAMES)
    assert PropBank.read(path).source.version == "unknown"
    with pytest.raises(
        DataError, match=r"frames\.tsv, line 1: this is PropBank unknown, but version c66e0ccf is asked"
    ):
        PropBank.read(path, version="c66e0ccf")


def test_classes_inherit_roles_and_are_found_by_number_and_verb(tmp_path):
    (tmp_path / "put-9.1.xml").write_text(CLASS)
    net = VerbNet.read(tmp_path, version="3")
    archive = tmp_path / "net.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("verbnet3/put-9.1.xml", CLASS)
    assert VerbNet.read(archive).all_classes == net.all_classes
    assert [each.id for each in net.classes("set down")] == ["put-9.1-1"]
    assert net["9.1"].members[0].senses == ("put%2:35:00", "put%2:35:01")
    assert net.roles("9.1-1") == {"Agent": Restriction(("+animate", "+machine"), True), "Goal": Restriction()}
    assert str(net.roles("9.1")["Agent"]) == "+animate | +machine"
    assert str(net.roles("9.1")["Goal"]) == "+location & -region"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<VNCLASS>", r"put-9\.1\.xml, line 1: no XML of a verb class"),
        ("<x>\n<y>\n</x>", r"put-9\.1\.xml, line 3: no XML"),
        ("<frameset/>", r"put-9\.1\.xml, line 1: expected a VNCLASS"),
        (CLASS.replace("vn_schema-3", "vn_schema-2"), "this is VerbNet 2, but version 3 is asked for"),
        (CLASS.replace('ID="put-9.1-1"', ""), "a class has no ID"),
    ],
)
def test_bad_class_files_are_refused_by_name(tmp_path, text, message):
    (tmp_path / "put-9.1.xml").write_text(text)
    with pytest.raises(DataError, match=message):
        VerbNet.read(tmp_path, version="3")


def test_a_folder_without_classes_is_refused(tmp_path):
    with pytest.raises(DataError, match="no class files"):
        VerbNet.read(tmp_path)
    with pytest.raises(DataError, match="neither a folder nor a zip"):
        VerbNet.read(tmp_path / "none.zip")


OLD = '{"give.01": {"13.1": {"ARG0": "agent", "ARG1": "theme"}},\n "rain.01": {"57": {}}}'
NEW = '{"give.01": [{"vnclass": "13.1", "args": [["A0", "CAUSE"], ["A2", "NONE"], ["NM", "GOAL"], ["A3", "NM"]]}]}'


def test_links_of_both_layouts_are_laid_over_each_other(tmp_path):
    (tmp_path / "old.json").write_text(OLD)
    (tmp_path / "new.json").write_text(NEW)
    old, new = SemLink.read(tmp_path / "old.json", "2"), SemLink.read(tmp_path / "new.json", "3.4")
    assert (len(old), len(new)) == (2, 1)
    assert new.classes("give.01") == {"13.1": {"A0": "cause", "A2": None}}  # without a role, and not mapped at all
    assert old.overlaid(new).classes("give.01") == {"13.1": {"A0": "cause", "A1": "theme", "A2": None}}
    assert old.classes("give.01") == {"13.1": {"A0": "agent", "A1": "theme"}}  # unchanged


@pytest.mark.parametrize(
    ("text", "version", "message"),
    [
        ("{\n{", None, "line 2: no JSON of SemLink"),
        ("[]", None, "line 1: expected an object"),
        (OLD, "3.4", "line 1: this is SemLink 2, but version 3.4 is asked for"),
        (OLD.replace("{}", "3"), None, "line 2: the links of 'rain.01'"),
        (NEW.replace('"vnclass"', '"class"'), None, "line 1: the links of 'give.01' are not those of layout 3.4"),
    ],
)
def test_bad_links_are_refused_with_file_and_line(tmp_path, text, version, message):
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(DataError, match=f"bad.json, {message}"):
        SemLink.read(path, version)


def test_every_patch_is_checked_applied_and_remembered(tmp_path):
    (tmp_path / "put-9.1.xml").write_text(CLASS)
    (tmp_path / "old.json").write_text(OLD)
    net, links = VerbNet.read(tmp_path), SemLink.read(tmp_path / "old.json")
    path = tmp_path / "patches.tsv"
    path.write_text("# of roles\n\nput-9.1/Goal\t+location & -region\t+location | +state\tput to sleep\n")
    patched = net.patched(read_patches(path))
    assert str(patched.roles("9.1")["Goal"]) == "+location | +state"
    assert str(net.roles("9.1")["Goal"]) == "+location & -region"
    assert patched.source.provenance("put-9.1/Goal").endswith("put to sleep (patches.tsv, line 3)")
    assert patched.source.provenance("put-9.1/Agent") == "VerbNet 3"
    new = links.patched(
        [Patch("give.01/13.1/A1", "theme", "", "test"), Patch("give.01/13.1/A2", "missing", "goal", "test")]
    )
    assert new.classes("give.01") == {"13.1": {"A0": "agent", "A1": None, "A2": "goal"}}
    assert len(new.source.patches) == 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("put-9.1/Goal\t+region\t+state\twhy", "holds '\\+location & -region', but the patch expects '\\+region'"),
        ("put-9.1/Theme\t\t+state\twhy", "patches.tsv, line 1: VerbNet has no 'put-9.1/Theme' to patch"),
        ("put-9.1/Goal\t+location & -region\tstate\twhy", "line 1: expected restrictions as in"),
        ("put-9.1/Goal\t+location & -region\t+state\t ", "line 1: expected place, before, after and reason"),
        ("put-9.1/Goal", "line 1: expected place, before, after and reason"),
    ],
)
def test_patches_that_do_not_fit_are_refused(tmp_path, line, message):
    (tmp_path / "put-9.1.xml").write_text(CLASS)
    path = tmp_path / "patches.tsv"
    path.write_text(line + "\n")
    with pytest.raises(DataError, match=message):
        VerbNet.read(tmp_path).patched(read_patches(path))


def test_the_resources_have_the_sizes_of_the_plan(corpus_file):
    frames = PropBank.read(corpus_file("srl/propbank-frames/frames.tsv.gz"), version="c66e0ccf")
    assert len(frames) == 11_198
    net = VerbNet.read(corpus_file("lexicons/verbnet3/verbnet3.zip"), version="3")
    assert (len(net), len(net.verbs)) == (594, 4569)
    types = [each for verb_class in net.all_classes for may in verb_class.roles.values() for each in may.types()]
    assert (types.count("+animate"), types.count("+organization"), types.count("-region")) == (328, 177, 29)
    old = SemLink.read(corpus_file("lexicons/semlink/pb-vn2.json.gz"), version="2")
    new = SemLink.read(corpus_file("lexicons/semlink/pb-vn3.4.json"), version="3.4")
    assert (len(old), len(new), sum(not roles for *_, roles in old.pairs())) == (5279, 525, 924)
    assert [len({each for _, each, _ in links.pairs() if each not in net}) for links in (old, new)] == [11, 10]
