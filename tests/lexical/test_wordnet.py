"""The index files of a WordNet."""

import pytest

from weft.errors import DataError
from weft.lexical.wordnet import FILES, WordNet, find_wordnet


def write_index(folder):
    for name in FILES.values():
        (folder / name).write_text("  1 licence text\n  2 more of it\n")
    with (folder / "index.noun").open("a") as file:
        file.write("look n 4 5 @ ~ + ; - 4 3 001 002\nLooking_glass n 1 1 @ 1 0 003\n")
    with (folder / "index.verb").open("a") as file:
        file.write("look v 1 1 @ 1 0 001\nlook_up v 1 1 @ 1 0 001\n")


def test_entries_have_the_parts_of_speech_of_their_files(tmp_path, monkeypatch):
    write_index(tmp_path)
    net = WordNet.read(tmp_path)
    assert len(net) == 3
    assert net.parts_of_speech("look") == "nv"
    assert dict(net.multiwords()) == {"looking glass": "n", "look up": "v"}
    monkeypatch.setenv("WNHOME", str(tmp_path))
    assert find_wordnet() == tmp_path


def test_a_folder_without_the_files_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"no file index\.noun"):
        WordNet.read(tmp_path)
