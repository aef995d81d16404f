"""`weft diagnose preferences` and `weft diagnose resources` on annotated documents; `weft train preferences`."""

from __future__ import annotations

import json

import pytest
from places import ROOT

import weft as package
from weft.text.doc import Doc
from weft.text.frames import FrameRow, Role, set_frames

FOLDER = ROOT / "examples" / "preferences"
VERBS = ("--verbnet", FOLDER / "verbnet", "--semlink", FOLDER / "semlink.json", "--types", FOLDER / "types.tsv")
ALL = (*VERBS, "--wordnet", FOLDER / "wordnet")


@pytest.fixture
def annotated(tmp_path):
    """Two sentences with their roles, as a model would annotate them."""
    doc = Doc.from_words(
        [["Ministers", "pruned", "laws"], ["Towns", "sought", "advice"]],
        upos=[["NOUN", "VERB", "NOUN"]] * 2, head=[[2, 0, 2]] * 2, deprel=[["nsubj", "root", "obj"]] * 2,
        lemma=[["minister", "prune", "law"], ["town", "seek", "advice"]],
    )  # fmt: skip
    doc.id = "news"
    frames = [FrameRow(1 + k, name, (Role("A0", k, k + 1), Role("A1", k + 2, k + 3)))
              for k, name in ((0, "prune.01"), (3, "seek.01"))]  # fmt: skip
    set_frames(doc, frames)
    path = tmp_path / "roles.jsonl"
    package.write([doc], path)
    return path


def test_flags_come_with_class_role_restriction_senses_and_patch(weft, annotated):
    run = weft("diagnose", "preferences", annotated, *ALL, "--patches", FOLDER / "patches.tsv", "--all")
    assert run.returncode == 0, run.stderr
    assert (
        "prune.01 in trim-21.9-1: A1 'laws' breaks it: Patient asks for +concrete, stated by trim-21.9; "
        "senses: law%1:10:00::, law%1:14:00::"
    ) in run.stdout
    assert "(violation became ok)" in run.stdout
    assert "patches.tsv, line 2" in run.stdout
    assert run.stdout.endswith("1 of 2 verbs break preferences; 0 cannot be judged\n")
    raw = weft("diagnose", "preferences", annotated, *ALL)
    assert "2 of 2 verbs break preferences" in raw.stdout


def test_json_and_documents_hold_the_same_explanations(weft, annotated, tmp_path):
    run = weft("diagnose", "preferences", annotated, *ALL, "--json", "--out", tmp_path / "out.jsonl")
    told = json.loads(run.stdout)
    assert (told["verbs"], told["violation"], told["unknown"]) == (2, 2, 0)
    assert [row["form"] for row in told["judgements"]] == ["pruned", "sought"]
    [doc] = package.read(tmp_path / "out.jsonl")
    assert [each.explanation["readings"] for each in doc.preferences] == [row["readings"] for row in told["judgements"]]
    drawn = weft("draw", tmp_path / "out.jsonl", "--what", "spans", "--layer", "preferences", "--out", "page.html")
    assert drawn.returncode == 0, drawn.stderr
    assert "violation" in (tmp_path / "page.html").read_text()


def test_corrections_are_applied_and_named(weft, annotated, tmp_path):
    (tmp_path / "notes.tsv").write_text("2/2/A0\t1\tmissing\tnobody is named\n")
    run = weft("diagnose", "preferences", annotated, *ALL, "--corrections", tmp_path / "notes.tsv", "--all")
    assert "patch 2/2/A0: '1' became 'missing': nobody is named (notes.tsv, line 1) (violation became ok)" in run.stdout


def test_the_audit_counts_lists_and_repairs(weft, tmp_path):
    run = weft("diagnose", "resources", *VERBS, "--kind", "missing class", "--repairs", "repairs.tsv")
    assert run.returncode == 0, run.stderr
    assert "missing class: regulate.01/21.9-2: VerbNet 3 has no class 21.9-2; it has 21.9 above it" in run.stdout
    assert "1 repair in repairs.tsv" in run.stdout
    again = weft("diagnose", "resources", *VERBS, "--patches", "repairs.tsv", "--json")
    assert json.loads(again.stdout)["findings"] == {"stale role": 1, "not a member": 1}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("resources", *VERBS, "--kind", "typos"), "there is no kind 'typos'"),
        (("resources", "--verbnet", "none.zip", "--semlink", FOLDER / "semlink.json"), "none.zip: neither a folder"),
        (("resources", *VERBS, "--patches", "bad.tsv"), "bad.tsv, line 1: expected place, before, after and reason"),
        (("resources", *VERBS, "--patches", "odd.tsv"), "odd.tsv, line 1: expected a place that begins with one of"),
        (("preferences", "bad.tsv", *ALL, "--senses", "some"), "--senses is all or predicted"),
        (("preferences", "bad.tsv", *VERBS, "--wordnet", "."), "no file data.noun"),
    ],
)
def test_mistakes_are_told_in_words(weft, tmp_path, arguments, message):
    (tmp_path / "bad.tsv").write_text("put\n")
    (tmp_path / "odd.tsv").write_text("put-9.1/Agent\t\t+animate\ta test\n")
    run = weft("diagnose", *arguments)
    assert run.returncode != 0
    assert message in " ".join(run.stderr.split())
    assert "Traceback" not in run.stderr


def test_resources_become_a_model_that_annotates(weft, annotated, tmp_path):
    run = weft("train", "preferences", *ALL, "--patches", FOLDER / "patches.tsv", "--out", "preferences.weft")
    assert run.returncode == 0, run.stderr
    run = weft("annotate", annotated, "--model", "preferences.weft", "--out", "flags.jsonl")
    assert run.returncode == 0, run.stderr
    [doc] = package.read(tmp_path / "flags.jsonl")
    assert [each.outcome for each in doc.preferences] == ["violation", "ok"]
    run = weft("train", "preferences", annotated, *ALL, "--out", "other.weft")
    assert "preferences are not learned from text" in run.stderr
