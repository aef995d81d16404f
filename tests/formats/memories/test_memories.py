"""Translators' files: what is read, what is written back, and what hostile files cannot do."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError, DataError, FormatError, WeftError
from weft.formats.memories.doors import fill, kind_of, read_memory, read_units, write_memory
from weft.formats.memories.units import Suggestion, TranslationUnit, with_codes, without_codes

TMX = """<?xml version="1.0"?><!DOCTYPE tmx SYSTEM "tmx14.dtd"><tmx version="1.4"><header srclang="en"/><body>
<tu tuid="a"><note>menu</note><tuv xml:lang="en-GB"><seg>Save &amp; <bpt i="1">&lt;b&gt;</bpt>quit<ept
i="1"/></seg></tuv>
<tuv xml:lang="es"><seg>Guardar y <bpt i="1">&lt;b&gt;</bpt>salir<ept i="1"/></seg></tuv>
<tuv xml:lang="de"><seg>Sichern</seg></tuv></tu>
<tu><tuv xml:lang="en"><seg>Only English</seg></tuv></tu></body></tmx>"""

XLIFF = """<?xml version="1.0" encoding="UTF-8"?>
<xliff version="1.2"><file original="app" source-language="en" target-language="es"><body>
<trans-unit id="1"><source>Open <g id="1">the file</g><x id="2"/></source></trans-unit>
<trans-unit id="2" approved="yes"><source>Close</source><target>Cerrar</target></trans-unit>
<trans-unit id="3"><source>Copy</source><target state="needs-translation"/><alt-trans><source>Copies</source>
<target>Copias</target></alt-trans></trans-unit>
<trans-unit id="4"><source>Cut</source><target>Cortar</target></trans-unit>
</body></file></xliff>
"""

XLIFF2 = """<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" srcLang="en" trgLang="es"><file id="f">
<unit id="u"><segment state="final"><source>One.</source><target>Uno.</target></segment>
<segment><source>Two <pc id="1">times</pc>.</source></segment></unit></file></xliff>
"""

PO = """# Manual
msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\\n"
"Language: es\\n"

#. a comment
#: app.c:10
msgid "Save the file"
msgstr "Guarde el archivo"

#, fuzzy
msgid "Save a file"
msgstr "Guarde el archivo"

msgctxt "menu"
msgid "Open the :file:`x.cfg` file"
msgstr ""

msgid "%d file"
msgid_plural "%d files"
msgstr[0] ""
msgstr[1] ""

#~ msgid "Gone"
#~ msgstr "Ido"
"""


def test_tmx_gives_the_two_languages_with_codes_as_placeholders(tmp_path: Path) -> None:
    path = tmp_path / "m.tmx.gz"
    path.write_bytes(gzip.compress(TMX.encode()))
    (unit,) = read_units(path, "en", "es")
    assert unit.source == "Save & ⟦1⟧quit⟦2⟧"
    assert unit.target == "Guardar y ⟦1⟧salir⟦2⟧"
    assert (unit.id, unit.note, unit.state) == ("a", "menu", "translated")
    assert unit.codes["⟦1⟧"] == '<bpt i="1">&lt;b&gt;</bpt>'
    assert [one.target for one in read_units(path, "en", "de")] == ["Sichern"]
    with pytest.raises(DataError, match=r"de, en, en-gb, es"):
        list(read_units(path, "en", "fr"))


def test_a_memory_survives_writing_and_reading(tmp_path: Path) -> None:
    (tmp_path / "m.tmx").write_text(TMX)
    units = list(read_units(tmp_path / "m.tmx", "en", "es"))
    assert write_memory(units, tmp_path / "n.tmx", "en", "es") == 1
    again = list(read_units(tmp_path / "n.tmx"))
    assert [(u.source, u.target, u.id, u.note, u.codes) for u in again] == [
        (u.source, u.target, u.id, u.note, u.codes) for u in units
    ]


@settings(max_examples=60)
@given(st.lists(st.tuples(st.text(min_size=1, max_size=20), st.text(min_size=1, max_size=20)), min_size=1, max_size=4))
def test_any_text_can_be_written_to_tmx(tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]]) -> None:
    path = tmp_path_factory.mktemp("any") / "m.tmx"
    write_memory([TranslationUnit(*pair) for pair in pairs], path, "en", "es")
    try:
        found = [(unit.source, unit.target) for unit in read_units(path)]
    except DataError:
        found = []  # nothing but blanks
    clean = [tuple(_readable(side) for side in pair) for pair in pairs]
    assert found == [pair for pair in clean if pair[0].strip() and pair[1].strip()]


def _readable(text: str) -> str:
    """What XML can hold of a text; it knows one line end."""
    text = "".join(each for each in text if each in "\t\n\r" or (each >= " " and each not in "\ufffe\uffff"))
    return text.replace("\r\n", "\n").replace("\r", "\n")


def test_xliff_knows_what_is_confirmed(tmp_path: Path) -> None:
    path = tmp_path / "app.xlf"
    path.write_text(XLIFF)
    units = list(read_units(path))
    assert [unit.state for unit in units] == ["new", "translated", "new", "fuzzy"]
    assert units[0].source == "Open ⟦1⟧the file⟦/1⟧⟦2⟧"
    assert [unit.source for unit in read_memory(path)] == ["Close"]


def test_suggestions_for_xliff_change_nothing_else(tmp_path: Path) -> None:
    path, out = tmp_path / "app.xlf", tmp_path / "out.xlf"
    path.write_text(XLIFF)
    wanted = {
        "app/1": Suggestion("Abra ⟦1⟧el archivo⟦/1⟧⟦2⟧ & más", origin="memory, 87 %"),
        "app/2": Suggestion("never"),
        "app/3": Suggestion("Copiar", fuzzy=False),
        "app/4": Suggestion("never"),
    }
    assert fill(path, out, wanted) == 2
    text = out.read_text()
    target = '<target state="needs-review-translation">Abra <g id="1">el archivo</g><x id="2"/> &amp; más</target>'
    assert target + "<!-- memory, 87 % -->" in text
    assert '<target state="translated">Copiar</target>' in text
    assert "never" not in text
    kept = text.replace(target + "<!-- memory, 87 % -->", "")
    kept = kept.replace('<target state="translated">Copiar</target>', '<target state="needs-translation"/>')
    assert kept == XLIFF
    assert [unit.state for unit in read_units(out)] == ["fuzzy", "translated", "translated", "fuzzy"]


def test_segments_of_xliff_2_are_units(tmp_path: Path) -> None:
    path, out = tmp_path / "app.xlf", tmp_path / "out.xlf"
    path.write_text(XLIFF2)
    units = list(read_units(path))
    assert [(unit.id, unit.state) for unit in units] == [("f/u", "translated"), ("f/u/2", "new")]
    assert fill(path, out, {"f/u/2": Suggestion("Dos ⟦1⟧veces⟦/1⟧.")}) == 1
    assert '<target>Dos <pc id="1">veces</pc>.</target>' in out.read_text()


def test_codes_that_do_not_nest_are_left_out() -> None:
    codes = {"⟦1⟧": "<g>", "⟦/1⟧": "</g>", "⟦2⟧": "<h>", "⟦/2⟧": "</h>", "⟦3⟧": "<x/>"}
    assert with_codes("⟦1⟧a⟦2⟧b⟦/1⟧c⟦/2⟧", codes) == "<g>ab</g>c"
    assert with_codes("⟦3⟧a⟦3⟧⟦9⟧", codes) == "<x/>a⟦9⟧"
    assert without_codes("⟦1⟧a⟦/1⟧") == "a"


def test_po_keeps_flags_and_plurals(tmp_path: Path) -> None:
    path, out = tmp_path / "m.po", tmp_path / "out.po"
    path.write_text(PO)
    units = list(read_units(path))
    assert [unit.state for unit in units] == ["translated", "fuzzy", "new", "new", "new"]
    assert [unit.source for unit in read_memory(path)] == ["Save the file"]
    wanted = {
        units[2].id: Suggestion("Abra el archivo :file:`x.cfg`", origin="memory, 80 %", previous="Open the file"),
        units[1].id: Suggestion("never"),
        units[4].id: Suggestion("%d archivos", fuzzy=False),
    }
    assert fill(path, out, wanted) == 2
    text = out.read_text()
    assert '#, fuzzy\n#| msgid "Open the file"\nmsgctxt "menu"' in text
    assert "# memory, 80 %" in text
    assert 'msgstr[1] "%d archivos"' in text
    assert "never" not in text
    assert "#~ msgid" in text
    assert [unit.state for unit in read_units(out)] == ["translated", "fuzzy", "fuzzy", "new", "translated"]


BOMB = (
    '<!DOCTYPE tmx [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>'
    '<tmx><body><tu><tuv xml:lang="en"><seg>&b;</seg></tuv></tu></body></tmx>'
)
OUTSIDE = '<!DOCTYPE tmx [<!ENTITY x SYSTEM "file:///etc/passwd">]><tmx><body>&x;</body></tmx>'


@pytest.mark.parametrize("suffix", ["tmx", "xlf"])
@pytest.mark.parametrize(
    "text",
    [
        BOMB, OUTSIDE, "", "x", "<html/>", "<tmx><body>" + "<tu>" * 300, "<tmx>\0</tmx>",
        "<xliff version='1.2'><file><body><trans-unit id='1'><source>a", "<tmx><body><tu><tuv><seg>a</seg></tuv></tu>",
        "<?xml version='1.0' encoding='no-such'?><tmx/>",
        "<xliff>" + "<trans-unit id='1'><source>a</source></trans-unit>" * 2 + "</xliff>",
    ],
)  # fmt: skip
def test_hostile_xml_is_refused_plainly(tmp_path: Path, suffix: str, text: str) -> None:
    path = tmp_path / f"bad.{suffix}"
    path.write_text(text)
    with pytest.raises(WeftError, match=r"bad\."):
        list(read_units(path))


@pytest.mark.parametrize(
    "text",
    ["", "hello", 'msgid "a', 'msgid "a"\nmsgstr[x] "b"\n', 'msgstr "a"\nmsgid\n', "\0", '"a"', "#" * 3 + "\nx y"],
)
def test_hostile_po_is_refused_plainly(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.po"
    path.write_text(text)
    with pytest.raises(WeftError, match=r"bad\.po"):
        list(read_memory(path))


def test_bytes_that_are_no_text_have_their_line(tmp_path: Path) -> None:
    path = tmp_path / "bad.po"
    path.write_bytes(b'msgid "a"\nmsgstr "\xff"\n')
    with pytest.raises(FormatError, match="line 2"):
        list(read_units(path))


def test_two_columns_and_bitexts(tmp_path: Path) -> None:
    (tmp_path / "m.tsv").write_text("a b\tc\n\nd\te\n")
    (tmp_path / "m.txt").write_text("a ||| b\nnew line\n")
    assert [(u.source, u.target) for u in read_units(tmp_path / "m.tsv")] == [("a b", "c"), ("d", "e")]
    assert [(u.source, u.state) for u in read_units(tmp_path / "m.txt")] == [("a", "translated"), ("new line", "new")]
    (tmp_path / "bad.tsv").write_text("a\tb\tc\n")
    with pytest.raises(FormatError, match="line 1"):
        list(read_units(tmp_path / "bad.tsv"))
    with pytest.raises(ConfigError):
        write_memory([], tmp_path / "m.doc", "en", "es")
    with pytest.raises(ConfigError):
        fill(tmp_path / "m.tsv", tmp_path / "n.tsv", {})
    assert kind_of("a.XLIFF") == "xliff"
