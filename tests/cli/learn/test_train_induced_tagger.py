import json

import pytest
from typer.testing import CliRunner

from weft.cli.app import app

TEXT, WORDS, GOLD = (f"examples/induction/market{name}" for name in (".txt", ".dic", "-tags.conllu"))


def weft(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


def test_tags_are_learned_from_text_and_a_dictionary_and_written_by_annotate(tmp_path):
    model, out = tmp_path / "tags.weft", tmp_path / "tagged.conllu"
    done = weft(
        "train",
        "tagger",
        TEXT,
        "--method",
        "induced",
        "--dict",
        WORDS,
        "--out",
        model,
        "--dev",
        GOLD,
        "--json",
        "--seed",
        1,
    )
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert report["scores"]["dev accuracy"] > 0.95
    assert report["training"]["method"] == "dmlc"
    assert weft("annotate", TEXT, "--model", model, "--out", out).exit_code == 0
    assert "\tDET\t" in out.read_text()


def test_workers_of_a_cluster_find_the_same_tags_as_one_process(tmp_path):
    distributed = pytest.importorskip("distributed")
    words, one, other = (
        ("train", "tagger", TEXT, "--method", "induced", "--dict", WORDS, "--seed", 1),
        tmp_path / "1.weft",
        tmp_path / "2.weft",
    )
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster:
        done = weft(*words, "--out", one, "--scheduler", cluster.scheduler_address, "--json")
    assert done.exit_code == 0, done.output
    shared = json.loads(done.stdout)["training"]
    alone = json.loads(weft(*words, "--out", other, "--json").stdout)["training"]
    times = {"seconds": 0, "cpu_seconds": 0}
    assert shared | times == alone | times
    for model in (one, other):
        assert weft("annotate", TEXT, "--model", model, "--out", model.with_suffix(".conllu")).exit_code == 0
    assert one.with_suffix(".conllu").read_text() == other.with_suffix(".conllu").read_text()


def test_a_cluster_is_refused_where_it_has_nothing_to_do(tmp_path):
    done = weft(
        "train",
        "tagger",
        TEXT,
        "--method",
        "induced",
        "--dict",
        WORDS,
        "--out",
        tmp_path / "m",
        "--scheduler",
        "tcp://127.0.0.1:1",
        "--objective",
        "em",
    )
    assert done.exit_code == 1
    assert "leave it out with objective=em" in done.stderr


def test_bad_input_ends_in_a_plain_message(tmp_path):
    other = tmp_path / "other.dic"
    other.write_text("ost\tNOUN\n")
    done = weft("train", "tagger", TEXT, "--method", "induced", "--dict", other, "--out", tmp_path / "m", "--no-rules")
    assert done.exit_code == 1
    assert "has none of the" in done.stderr
    broken = tmp_path / "broken.dic"
    broken.write_text("one word\n")
    done = weft("train", "tagger", TEXT, "--method", "induced", "--dict", broken, "--out", tmp_path / "m")
    assert done.exit_code == 1
    assert "broken.dic" in done.stderr
    done = weft(
        "train", "tagger", TEXT, "--method", "induced", "--dict", WORDS, "--out", tmp_path / "m", "--objective", "fast"
    )
    assert done.exit_code == 1
    assert "objective must be one of" in done.stderr
