import json

from typer.testing import CliRunner

from weft.cli.app import app

TEXT, WORDS, GOLD = (f"examples/induction/market{name}" for name in (".txt", ".dic", "-tags.conllu"))


def weft(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


def test_tags_are_learned_from_text_and_a_dictionary_and_written_by_annotate(tmp_path):
    model, out = tmp_path / "tags.weft", tmp_path / "tagged.conllu"
    done = weft("induce", "tags", TEXT, "--dict", WORDS, "--out", model, "--dev", GOLD, "--json", "--seed", 1)
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert report["scores"]["dev accuracy"] > 0.95
    assert report["training"]["method"] == "dmlc"
    assert weft("annotate", TEXT, "--model", model, "--out", out).exit_code == 0
    assert "\tDET\t" in out.read_text()


def test_bad_input_ends_in_a_plain_message(tmp_path):
    other = tmp_path / "other.dic"
    other.write_text("ost\tNOUN\n")
    done = weft("induce", "tags", TEXT, "--dict", other, "--out", tmp_path / "m", "--set", "rules=false")
    assert done.exit_code == 1
    assert "has none of the" in done.stderr
    broken = tmp_path / "broken.dic"
    broken.write_text("one word\n")
    done = weft("induce", "tags", TEXT, "--dict", broken, "--out", tmp_path / "m")
    assert done.exit_code == 1
    assert "broken.dic" in done.stderr
    done = weft("induce", "tags", TEXT, "--dict", WORDS, "--out", tmp_path / "m", "--method", "fast")
    assert done.exit_code == 1
    assert "method must be one of" in done.stderr
