"""`weft evaluate` and `weft compare` on small files of several formats."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from weft.cli.app import app
from weft.formats import write
from weft.text import Doc, SpanLayer

Weft = Callable[..., "subprocess.CompletedProcess[str]"]
SENTENCES = [["Dogs", "bark"], ["Cats", "sleep", "here"], ["They", "run"], ["It", "rains"]]
TAGS = [["NOUN", "VERB"], ["NOUN", "VERB", "ADV"], ["PRON", "VERB"], ["PRON", "VERB"]]
HEADS = [[2, 0], [2, 0, 2], [2, 0], [2, 0]]
LABELS = [["nsubj", "root"], ["nsubj", "root", "advmod"], ["nsubj", "root"], ["nsubj", "root"]]


def treebank(path: Path, wrong_tags: int = 0, wrong_labels: int = 0) -> str:
    """The gold trees with the first tags and labels of some sentences made wrong."""
    tags = [["X", *row[1:]] if i < wrong_tags else row for i, row in enumerate(TAGS)]
    labels = [["obj", *row[1:]] if i < wrong_labels else row for i, row in enumerate(LABELS)]
    doc = Doc.from_words(SENTENCES, upos=tags, head=HEADS, deprel=labels)
    doc.comments = [("# genre = pets",), ("# genre = pets",), ("# genre = other",), ("# genre = other",)]
    write([doc], path)
    return str(path)


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, result.output
    return result.stdout


def fails(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code != 0
    return result.output


def test_trees_are_scored_with_the_ud_metrics(tmp_path: Path) -> None:
    gold, system = treebank(tmp_path / "gold.conllu"), treebank(tmp_path / "system.conllu", 2, 1)
    table = run("evaluate", gold, system)
    assert "LAS" in table
    assert "88.89" in table
    result = json.loads(run("evaluate", gold, system, "--json"))
    assert result["layer"] == "ud"
    assert result["units"] == 4
    assert result["scores"]["LAS"]["f1"] == pytest.approx(8 / 9)
    assert result["scores"]["UPOS"]["correct"] == 7
    assert "XPOS" not in result["scores"]  # the gold standard has none


def test_scores_are_split_by_a_comment(tmp_path: Path) -> None:
    gold, system = treebank(tmp_path / "gold.conllu"), treebank(tmp_path / "system.conllu", 2)
    result = json.loads(run("evaluate", gold, system, "--by", "genre", "--json"))
    assert result["by"]["pets"]["UPOS"]["f1"] == pytest.approx(3 / 5)
    assert result["by"]["other"]["UPOS"]["f1"] == 1.0
    assert "pets" in run("evaluate", gold, system, "--by", "genre")
    assert "no gold document or sentence has the key 'author'" in fails("evaluate", gold, system, "--by", "author")


def test_a_column_is_scored_by_accuracy_with_known_and_unknown_words(tmp_path: Path) -> None:
    gold, system = treebank(tmp_path / "gold.conllu"), treebank(tmp_path / "system.conllu", 1)
    train = tmp_path / "train.conllu"
    write([Doc.from_words([["Dogs", "run"]], upos=[["NOUN", "VERB"]])], train)
    result = json.loads(run("evaluate", gold, system, "--layer", "upos", "--train", str(train), "--json"))
    assert result["scores"]["upos"]["recall"] == pytest.approx(8 / 9)
    assert result["scores"]["upos (known)"]["gold"] == 2
    assert result["scores"]["upos (unknown)"]["correct"] == 7
    assert "accuracy" in run("evaluate", gold, system, "--layer", "upos")


def columns(path: Path, labels: str) -> str:
    words = [["Ada", "met", "Bob"], ["in", "Paris"]]
    rows = iter(labels.split())
    path.write_text("\n\n".join("\n".join(f"{w} {next(rows)}" for w in s) for s in words) + "\n\n", encoding="utf-8")
    return str(path)


def test_column_files_are_scored_as_conlleval_does_even_when_malformed(tmp_path: Path) -> None:
    gold = columns(tmp_path / "gold.conll", "B-PER O B-PER O B-LOC")
    system = columns(tmp_path / "system.conll", "I-PER O B-PER I-LOC I-LOC")
    result = json.loads(run("evaluate", gold, system, "--json"))
    assert result["layer"] == "entities"
    assert (result["scores"]["spans"]["gold"], result["scores"]["spans"]["correct"]) == (3, 2)
    assert result["scores"]["PER"]["f1"] == 1.0
    named = json.loads(run("evaluate", gold, system, "--fields", "form names:IOB2", "--json"))
    assert named["layer"] == "names"


def test_gold_and_system_may_have_different_formats(tmp_path: Path) -> None:
    gold = columns(tmp_path / "gold.conll", "B-PER O B-PER O B-LOC")
    system = str(tmp_path / "system.jsonl")
    run("convert", gold, system, "--fields", "form names:IOB2")
    result = json.loads(run("evaluate", gold, system, "--fields", "form names:IOB2", "--json"))
    assert result["scores"]["spans"]["f1"] == 1.0
    assert "--fields names the columns of column files" in fails("evaluate", system, system, "--fields", "form x")


def test_spans_of_jsonl_are_scored(tmp_path: Path) -> None:
    paths = []
    for name, spans in (("gold", [(0, 2, "X"), (1, 2, "Y")]), ("system", [(0, 2, "X"), (0, 1, "Y")])):
        doc = Doc.from_words([["a", "b", "c"]])
        doc.spans["things"] = SpanLayer.of(doc.strings, spans)
        paths.append(str(tmp_path / f"{name}.jsonl"))
        write([doc], paths[-1])
    assert json.loads(run("evaluate", *paths, "--json"))["scores"]["spans"]["f1"] == 0.5
    assert "labels of words" in fails("compare", *paths, paths[0], "--significance", "mcnemar")


def test_compare_says_in_plain_words_which_system_is_better(tmp_path: Path) -> None:
    gold, good, bad = (treebank(tmp_path / f"{name}.conllu", 0, n) for name, n in (("g", 0), ("good", 0), ("bad", 4)))
    text = " ".join(run("compare", gold, good, bad, "--samples", "200").split())
    assert "good.conllu scores 44.44 points higher than bad.conllu" in text
    assert "Only 4 sentences" in text
    text = " ".join(run("compare", gold, good, good, "--samples", "50").split())
    assert "good.conllu score the same (p = 1.0000)." in text


@pytest.mark.parametrize("test", ["bootstrap", "randomization", "mcnemar"])
def test_compare_corrects_all_pairs_of_several_systems(tmp_path: Path, test: str) -> None:
    gold, *systems = (treebank(tmp_path / f"{n}.conllu", 0, n) for n in (0, 1, 2, 4))
    arguments = ("compare", gold, *systems, "--significance", test, "--samples", "300", "--seed", "7", "--json")
    result = json.loads(run(*arguments))
    assert result == json.loads(run(*arguments))
    assert result["metric"] == "LAS"
    assert list(result["systems"]) == ["1.conllu", "2.conllu", "4.conllu"]
    assert [(pair["a"], pair["b"]) for pair in result["pairs"]] == [
        ("1.conllu", "2.conllu"), ("1.conllu", "4.conllu"), ("2.conllu", "4.conllu"),
    ]  # fmt: skip
    assert all(pair["p"] <= pair["p_corrected"] <= 1 for pair in result["pairs"])
    assert result["pairs"][1]["difference"] == pytest.approx(3 / 9)
    if test == "mcnemar":
        assert (result["pairs"][1]["only_a"], result["pairs"][1]["only_b"]) == (3, 0)
        assert result["pairs"][1]["p"] == 0.25


def test_compare_takes_any_metric(tmp_path: Path) -> None:
    gold, a, b = (treebank(tmp_path / f"{n}.conllu", n, 0) for n in (0, 1, 2))
    result = json.loads(run("compare", gold, a, b, "--metric", "upos", "--samples", "50", "--json"))
    assert result["metric"] == "UPOS"
    assert "choose from Tokens, Sentences, Words, UPOS" in fails("compare", gold, a, b, "--metric", "BLEU")


def test_errors_are_plain(tmp_path: Path) -> None:
    gold = treebank(tmp_path / "gold.conllu")
    other = tmp_path / "other.conllu"
    write([Doc.from_words([["Dogs", "purr"]])], other)
    assert "differ at character 5" in fails("evaluate", gold, str(other))
    assert "no file" in fails("evaluate", gold, str(tmp_path / "none.conllu"))
    assert "no layer 'ner' to score" in fails("evaluate", gold, gold, "--layer", "ner")
    assert "at least two system files" in fails("compare", gold, gold)
    assert "Traceback" not in fails("compare", gold, gold)


def test_a_model_is_scored_from_raw_text_gold_words_and_gold_tags_in_one_table(
    weft: Weft, tmp_path: Path, examples: Path
) -> None:
    gold = examples / "story.conllu"
    for task in ("tagger", "parser"):
        assert weft("train", task, gold, "--out", f"{task}.weft", "--epochs", "2").returncode == 0
    models = ["--model", "tagger.weft", "--model", "parser.weft"]
    table = weft("evaluate", gold, *models).stdout
    header = next(line for line in table.splitlines() if "raw text" in line)
    assert [cell.strip() for cell in header.split("┃") if cell.strip()] == ["raw text", "gold words", "gold tags"]
    found = json.loads(weft("evaluate", gold, *models, "--json", "--confusion").stdout)["from"]
    assert list(found) == ["raw text", "gold words", "gold tags"]
    assert {"UPOS", "UAS", "LAS", "Words"} <= set(found["raw text"]["scores"])
    assert "Lemmas" not in found["gold words"]["scores"]
    assert set(found["gold tags"]["scores"]) <= {"UAS", "LAS", "CLAS", "MLAS", "BLEX"}
    assert found["gold words"]["scores"]["Words"]["f1"] == 1.0
    total = sum(row["count"] for row in found["gold words"]["confusion"])
    assert total == found["gold words"]["scores"]["Words"]["gold"]
    weft("train", "chunker", examples / "chunks.conll", "--out", "chunker.weft", "--epochs", "1")
    chunks = json.loads(weft("evaluate", examples / "unseen.conll", "--model", "chunker.weft", "--json").stdout)
    assert list(chunks["from"]) == ["gold tags"]
    assert chunks["from"]["gold tags"]["layer"] == "chunks"
    assert set(chunks["missing"]) == {"raw text", "gold words"}
    alone = weft("evaluate", gold, "--model", "parser.weft").stdout
    assert "Nothing from raw text: parser needs the layer upos" in alone
    assert "gold tags" in alone


def test_confusions_are_shown_as_a_matrix(weft: Weft, tmp_path: Path) -> None:
    row = "{}\t{}\t_\t{}\t_\t_\t0\troot\t_\t_\n"
    (tmp_path / "gold.conllu").write_text(row.format(1, "a", "NOUN") + "\n" + row.format(1, "b", "VERB") + "\n")
    (tmp_path / "system.conllu").write_text(row.format(1, "a", "VERB") + "\n" + row.format(1, "b", "VERB") + "\n")
    shown = weft("evaluate", "gold.conllu", "system.conllu", "--confusion").stdout
    assert "Confusions of upos: gold in rows, system in columns" in shown
    rows = json.loads(weft("evaluate", "gold.conllu", "system.conllu", "--confusion", "--json").stdout)["confusion"]
    assert {(one["gold"], one["system"]): one["count"] for one in rows} == {("NOUN", "VERB"): 1, ("VERB", "VERB"): 1}
    same = weft("evaluate", "gold.conllu", "gold.conllu", "--confusion", "--layer", "upos").stdout
    assert "No label of upos was confused with another." in same


def test_a_system_or_a_model_is_given_and_not_both(weft: Weft, examples: Path) -> None:
    gold = examples / "story.conllu"
    for more in ([], [gold, "--model", "en"]):
        done = weft("evaluate", gold, *more)
        assert (done.returncode, "give the output of a system, or a model" in done.stderr) == (1, True)


def test_two_annotators_of_a_timeline_agree_in_what_follows():
    folder = Path(__file__).parents[3] / "examples" / "timeline"
    files = [str(folder / name) for name in ("surgery.anafora.xml", "surgery.Temporal-Relation.ben.completed.xml")]
    said = run("evaluate", *files, "--agreement")
    assert "alpha over all" in said
    found = json.loads(run("evaluate", *files, "--layer", "timeline", "--agreement", "--json"))["agreement"]
    # Ben spells out two links that follow, and has one that nobody else has.
    assert found["CONTAINS"]["f1"] == found["EVENT"]["alpha"] == 1
    assert found["links"]["f1"] == pytest.approx(2 * 8 / (8 + 9))
    assert found["DocTimeRel"]["f1"] == pytest.approx(6 / 7)
    assert "leave out --model" in fails("evaluate", *files, "--agreement", "--confusion")


def test_annotators_of_one_export_are_compared_two_by_two(tmp_path):
    def result(start, end, label):
        value = {"start": start, "end": end, "labels": [label], "text": "Mara Lind left Bergen."[start:end]}
        return {"from_name": "label", "to_name": "text", "type": "labels", "value": value}

    def said(who, *spans):
        return {"completed_by": who, "lead_time": 3.5, "result": [result(*span) for span in spans]}

    mara, bergen = (0, 9, "PER"), (15, 21, "LOC")
    task = {
        "id": 1, "data": {"text": "Mara Lind left Bergen."},
        "annotations": [said(7, mara, bergen), said(8, mara), said(9, mara, bergen)],
    }  # fmt: skip
    export = tmp_path / "export.json"
    export.write_text(json.dumps([task]))
    found = json.loads(run("evaluate", str(export), "--from", "label-studio", "--agreement", "--json"))
    f1 = {tuple(pair["annotators"]): pair["agreement"]["spans"]["f1"] for pair in found["pairs"]}
    assert f1 == {("7", "8"): pytest.approx(2 / 3), ("7", "9"): 1.0, ("8", "9"): pytest.approx(2 / 3)}
    assert "7 and 8" in run("evaluate", str(export), "--from", "label-studio", "--agreement")
    task["annotations"] = task["annotations"][:1]
    export.write_text(json.dumps([task]))
    assert "no text was annotated by two people" in fails(
        "evaluate", str(export), "--from", "label-studio", "--agreement"
    )
