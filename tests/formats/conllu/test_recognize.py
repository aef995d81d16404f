"""CoNLL-U is recognized by its first lines, and nothing else is taken for it."""

from __future__ import annotations

import pytest

from weft.formats.conllu.recognize import is_conllu

WORD = b"1\tDogs\tdog\tNOUN\tNNS\t_\t2\tnsubj\t_\t_\n"


@pytest.mark.parametrize(
    "start",
    [
        WORD,
        b"\xef\xbb\xbf" + WORD,
        b"\n\n" + WORD,
        WORD.replace(b"\n", b"\r\n"),
        b"# any comment\n" + WORD,
        b"# sent_id = a\n# text = Dogs bark.\n" + WORD,
        b"1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_\n",
        b"0.1\tand\t_\t_\t_\t_\t_\t_\t0:exroot\t_\n",
        b"# newdoc id = a\n# sent_id",
        b"# newdoc\n",
        b"# text = Dogs bark and bark",
        WORD + b"2\tba",
    ],
)
def test_conllu_is_recognized(start: bytes) -> None:
    assert is_conllu(start)


@pytest.mark.parametrize(
    "start",
    [
        b"",
        b"\n",
        b"#\n",
        b"# Notes\n",
        b"# Text and pictures\nSome text.\n",
        b"# text = 1\nSome text.\n",
        b"Dogs bark.\n",
        WORD.replace(b"1", b"7", 1),
        WORD.replace(b"\t", b" "),
        b"1\tDogs\tNOUN\n",
        b"1\t2\t3\t4\t5\t6\t7\t8\t9\t10\t11\n",
        b"a\tb\tc\td\te\tf\tg\th\ti\tj\n",
    ],
)
def test_other_text_is_not_taken_for_conllu(start: bytes) -> None:
    assert not is_conllu(start)
