"""Pathological texts against every kind of component and the models of the package, some of 50,000 characters.

All pairs of a text and a model take their turn. Most texts are short enough to go through every component in a moment;
each model also gets every fortieth text at full length, another one than the model before it. With `--journal FOLDER`
every pair is noted as soon as it is done, and an interrupted run with the same seed and commit resumes.
"""

from __future__ import annotations

import os
import random
import resource
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import weft
from weft.deadline import Stopped, deadline, stop_when
from weft.errors import WeftError
from weft.pipeline.pipeline import Pipeline
from weft.progress import progress
from weft.text.doc import Doc
from weft.text.split import split_by_rule
from weft.text.validity import check_doc

from .journal import Journal
from .outcome import Deadline, Outcome, attack_seed

#: Every text against every model.
COUNT = 7_500
SHARE = 3.0
#: Characters of the longest texts, as the service accepts them.
LENGTH = 50_000
#: Characters of most texts, and how many texts of a model there are to a long one.
SHORT, EVERY = 200, 40
#: Seconds until the work on a text is stopped, as the service does it, and until a process that does not stop is ended.
SECONDS, PATIENCE = 10.0, 300.0
#: Bytes that a text may take above what the process had.
MOST = 1_000_000_000
ROOT = Path(__file__).resolve().parents[2]
SHIPPED = Path(weft.__file__).parent / "models"
TAGS = ("NOUN", "VERB", "DET", "PUNCT", "ADP", "PRON")
WORDS = "the dog sees a cat and of course she gave it up to Ann Lee who may sleep in Bergen"

#: What is repeated up to the full length, by name.
REPEATED = {
    "letter": "a",
    "letter and space": "a ",
    "word": "harbour ",
    "words": WORDS + " ",
    "capitals": WORDS.upper() + " ",
    "title case": WORDS.title() + " ",
    "digits": "0123456789",
    "numbers": "1,234.56 ",
    "number": "7 ",
    "fractions": "½ ",
    "Roman numerals": "MCMXCIV ",
    "full stops": ".",
    "full stops and spaces": ". ",
    "ellipses": "… ",
    "commas": ",",
    "commas and words": "the dog, ",
    "question marks": "?!",
    "dashes": "—",
    "hyphens": "-",
    "hyphenated": "a-",
    "underscores": "_",
    "slashes": "/",
    "backslashes": "\\",
    "ampersands": "&amp;",
    "tags": "<b>",
    "comments": "<!--",
    "double quotes": '"',
    "single quotes": "'",
    "curly quotes": "“”",
    "low quotes": "„“ ",
    "guillemets": "«»",
    "backticks": "`",
    "quoted words": '"the dog" ',
    "round brackets": "(",
    "closing brackets": ")",
    "pairs": "()",
    "square brackets": "[",
    "braces": "{",
    "apostrophes": "don't ",
    "possessives": "dogs' ",
    "abbreviations": "e.g. ",
    "initials": "A. B. ",
    "titles": "Dr. Mr. ",
    "links": "http://a.b/c?d=e&f ",
    "addresses": "a@b.c ",
    "hashes": "#tag ",
    "times": "12:30:45 ",
    "dates": "2026-11-17 ",
    "money": "€5 $6 ",
    "percent": "5% ",
    "newlines": "\n",
    "Windows newlines": "\r\n",
    "old Mac newlines": "\r",
    "mixed newlines": "\r\n\n\r",
    "blank lines": "a\n\n",
    "lines": "a\n",
    "lines of Windows": "the dog\r\n",
    "tabs": "\t",
    "tabs and words": "the\tdog\t",
    "spaces": " ",
    "hard spaces": "\u00a0",
    "hard spaces and words": "the\u00a0",
    "ideographic spaces": "\u3000",
    "thin spaces": "the\u2009",
    "form feeds": "a\x0c",
    "vertical tabs": "a\x0b",
    "line separators": "a\u2028",
    "paragraph separators": "a\u2029",
    "next lines": "a\u0085",
    "NUL": "\x00",
    "NUL and words": "the\x00dog ",
    "controls": "".join(map(chr, range(1, 32))),
    "C1 controls": "".join(map(chr, range(128, 160))),
    "escapes": "\x1b[31mred\x1b[0m ",
    "soft hyphens": "har\u00adbour ",
    "only soft hyphens": "\u00ad",
    "zero-width spaces": "the\u200b",
    "only zero width": "\u200b\u200c\u200d\u2060",
    "byte-order marks": "\ufeffthe ",
    "zero-width joiners": "a\u200d",
    "accents": "e\u0301",
    "only accents": "\u0301",
    "accents on a letter": "a" + "\u0301" * 49,
    "Hangul jamo": "\u1112\u1161\u11ab",
    "right to left": "שלום עולם ",
    "Arabic": "مرحبا بالعالم ",
    "Arabic without spaces": "مرحبا",
    "overrides": "\u202eabc\u202c ",
    "only overrides": "\u202e",
    "isolates": "\u2067a\u2069 ",
    "Chinese": "我喜欢茶学生在图书馆看书",
    "Chinese sentences": "我喜欢茶。",
    "Chinese commas": "我喜欢茶，",
    "Japanese": "東京に行きます",
    "kana": "ひらがなカタカナ",
    "Thai": "ฉันชอบดื่มชา",
    "Lao": "ຂ້ອຍມັກຊາ",
    "Khmer": "ខ្ញុំចូលចិត្តតែ",
    "Devanagari": "नमस्ते दुनिया ",
    "Greek": "καλημέρα κόσμε ",
    "Cyrillic": "привет мир ",
    "Korean": "안녕하세요 세계 ",
    "half width": "ｶﾞｷﾞ",
    "full width": "ＡＢＣ　",
    "emoji": "😀",
    "emoji and words": "the 😀 ",
    "skin tones": "👍🏽",
    "families": "👩‍👩‍👧‍👦",
    "flags": "🇳🇴🇩🇪",
    "half a flag": "🇳",
    "keycaps": "1️⃣",
    "variation selectors": "a\ufe0f",
    "mathematical letters": "𝐇𝐞𝐥𝐥𝐨 ",
    "private use": "\ue000\U000f0000",
    "noncharacters": "\ufffe\uffff",
    "replacement characters": "\ufffd",
    "like surrogates": "\\ud800\\udfff ",
    "last character": "\U0010ffff",
    "tag characters": "\U000e0041",
    "ligatures": "ﬁﬂ ",
    "German": "Donaudampfschifffahrtsgesellschaft",
    "sharp s": "ß",
    "dotted i": "İı",
    "cues": "may ",
    "names": "Ann Lee ",
}


def texts(seed: int = 0, length: int = LENGTH) -> dict[str, str]:
    """Pathological texts by name; the seed changes those that are drawn at random.

    >>> len(texts()) >= 100, max(map(len, texts().values())) <= LENGTH
    (True, True)
    """
    made = {name: (piece * (length // len(piece) + 1))[:length] for name, piece in REPEATED.items()}
    made |= {name: text[:length] for name, text in _special(random.Random(seed), length).items()}
    return {name: text.encode("utf-8", "ignore").decode() for name, text in made.items()}


@cache
def _characters() -> Sequence[int]:
    """All that UTF-8 can write."""
    return [*range(0xD800), *range(0xE000, 0x110000)]


def _special(draw: random.Random, length: int) -> dict[str, str]:
    words, half = WORDS.split(), length // 2
    some = draw.choices(words, k=length // 4)
    return {
        "nothing": "",
        "one letter": "a",
        "one space": " ",
        "one newline": "\n",
        "one accent": "\u0301",
        "words without a full stop": " ".join(some),
        "words that never repeat": " ".join(f"w{number}" for number in range(length // 6)),
        "words of random letters": " ".join(
            "".join(draw.choices("abcdefghij", k=draw.randint(1, 12))) for _ in range(length // 7)
        ),
        "one long word, then words": "a" * half + " " + " ".join(some),
        "words, then one full stop": " ".join(some)[: length - 1] + ".",
        "nested brackets": "(" * half + ")" * half,
        "nested quotes": "“" * half + "”" * half,
        "brackets that never close": "the (dog [sees {a " * (length // 16),
        "brackets that close first": ")]} the " * (length // 8),
        "any Unicode": "".join(map(chr, draw.choices(_characters(), k=length))),
        "any letters": "".join(chr(draw.randrange(0x4E00, 0x9FFF)) for _ in range(length)),
        "many scripts": " ".join(chr(draw.randrange(0x100, 0x2000)) * draw.randint(1, 5) for _ in range(length // 4)),
        "sentences of one word": " ".join(f"{word.title()}." for word in some),
        "one long sentence between short ones": "Dogs bark. " + " ".join(some[: length // 6]) + ". Cats sleep.",
        "CoNLL-U": "1\tdogs\tdog\tNOUN\tNNS\t_\t2\tnsubj\t_\t_\n\n" * (length // 40),
        "JSON": '{"text": "dogs", "words": [1, 2]}, ' * (length // 35),
        "XML": "<a b='c'>dogs</a>&lt;" * (length // 21),
        "a tree": "(S (NP (NN dogs)) (VP (VB bark))) " * (length // 34),
    }


class Ran(NamedTuple):
    """What a text did to a component: seconds of CPU, the peak of memory in bytes, and how it ended.

    `fault` says what went wrong: "" if the document is valid, if its work was stopped in time, or if it was refused in
    plain words.
    """

    seconds: float
    peak: int
    stopped: bool
    fault: str


def attack(annotate: Callable[[Doc], None], text: str, seconds: float = SECONDS) -> Ran:
    """Annotate a text in this process and check the document."""
    before, start = _memory("VmRSS"), time.process_time()
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    doc, stopped, fault = Doc(text), False, ""
    try:
        with stop_when(deadline(seconds)):
            annotate(doc)
        check_doc(doc)
        doc.to_bytes()
    except Stopped:
        stopped = True
    except WeftError as error:
        fault = "" if "\n" not in str(error) and str(error) else f"refused without a reason: {error!r}"
    except BaseException as error:  # a crash is what is looked for
        fault = repr(error)
    peak = max(0, _memory("VmHWM") - before)
    if not fault and peak > MOST:
        fault = f"takes {peak / 1e6:,.0f} MB"
    return Ran(time.process_time() - start, peak, stopped, fault)


def attack_apart(annotate: Callable[[Doc], None], text: str) -> Ran:
    """The same in a process of its own, which may not take more than a few gigabytes."""
    context = get_context("fork")
    mine, theirs = context.Pipe(duplex=False)

    def work() -> None:
        limit = _memory("VmSize") + 4 * MOST
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        theirs.send(tuple(attack(annotate, text)))

    process = context.Process(target=work)
    process.start()
    theirs.close()
    try:
        if mine.poll(PATIENCE):
            return Ran(*mine.recv())
        process.kill()
        return Ran(PATIENCE, 0, False, f"does not stop within {PATIENCE:g} seconds")
    except EOFError:
        process.join()
        code = process.exitcode or 0
        return Ran(0.0, 0, False, f"died of signal {-code}" if code < 0 else f"ended with exit code {code}")
    finally:
        process.join()
        mine.close()


def report(models: Mapping[str, Callable[[Doc], None]], seed: int = 0) -> Iterator[tuple[str, str, Ran]]:
    """Every text against every model, each in a process of its own: the names of both and what happened."""
    for name, annotate in models.items():
        for kind, text in texts(seed).items():
            yield name, kind, attack_apart(annotate, text)


def run(count: int, seed: int, minutes: float | None = None) -> Outcome:
    outcome, end = Outcome("texts"), Deadline(minutes)
    known, kinds = models(), list(texts(length=SHORT))
    pairs, most = len(known) * len(kinds), dict[str, int]()
    with Journal("texts", seed) as journal, progress("pathological texts", count, "texts") as bar:
        for number in range(count):
            own = attack_seed(seed, number)
            if seed >= 0:  # the seed tells the pair: all of them in turn
                own += number % pairs - own % pairs
            name, kind, is_long = pair_of(own, list(known), kinds)
            text = texts(own, LENGTH if is_long else SHORT)[kind]
            row = journal.get(own)
            if row is None:
                if end.passed():
                    break
                row = attack_apart(known[name], text)._asdict()
                journal.note(own, {"model": name, "text": kind, "long": is_long, **row})
            if row["fault"]:
                outcome.fail(name, own, f"{kind}: {row['fault']}", case=text)
            else:
                outcome.hold(name)
            outcome.figures["long"] = outcome.figures.get("long", 0) + is_long
            outcome.figures["stopped"] = outcome.figures.get("stopped", 0) + row["stopped"]
            most[name] = max(most.get(name, 0), row["peak"])
            bar.advance(1)
    if most:
        outcome.figures["most MB"] = {name: round(peak / 1e6) for name, peak in most.items()}
    return outcome


def pair_of(own: int, names: Sequence[str], kinds: Sequence[str]) -> tuple[str, str, bool]:
    """The model and the kind of text of an attack, by its seed, and whether the text is long.

    >>> [pair_of(own, ["tagger", "parser"], ["words", "digits"]) for own in range(4)]
    [('tagger', 'words', True), ('parser', 'words', False), ('tagger', 'digits', False), ('parser', 'digits', False)]
    """
    kind, model = divmod(own % (len(names) * len(kinds)), len(names))
    return names[model], kinds[kind], (kind + model) % EVERY == 0


@cache
def models() -> dict[str, Callable[[Doc], None]]:
    """A tiny model of every kind of component, trained here, and the models of the package."""
    sys.path.insert(0, str(ROOT / "tests" / "helpers"))
    from long_models import MODELS

    made = {name: _annotator(Pipeline([make()])) for name, make in MODELS.items()}
    made |= {path.stem: _annotator(weft.load(path)) for path in sorted(SHIPPED.glob("*.weft"))}
    for annotate in made.values():
        annotate(Doc("The ferry left Bergen at nine."))  # compiles its kernels before the processes are forked
    return made


def _annotator(nlp: Pipeline) -> Callable[[Doc], None]:
    """A pipeline as a function of raw text; layers that it reads and does not make are made up."""
    provided = {layer for component in nlp.components for layer in component.provides}
    required = {layer for component in nlp.components for layer in component.requires} - provided

    def annotate(doc: Doc) -> None:
        if "tokens" not in provided:
            split_by_rule(doc)
            _make_up(doc, "head" in required)
        nlp.annotate([doc])

    return annotate


def _make_up(doc: Doc, trees: bool) -> None:
    tags = [TAGS[number % len(TAGS)] for number in range(doc.n_words)]
    for column in ("upos", "xpos"):
        doc.set_column(column, tags)
    doc.set_column("lemma", [form.lower() or "_" for form in doc.column("form")])
    if trees:
        heads = [word for first, end in pairwise(doc.sentence_offsets.tolist()) for word in range(end - first)]
        doc.head = np.array(heads, dtype=np.int32)
        doc.set_column("deprel", ["dep" if head else "root" for head in heads])


def _memory(key: str) -> int:
    """A value of this process in bytes, 0 where there is no /proc."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(key):
                return int(line.split()[1]) * 1024
    return 0


def main(arguments: list[str]) -> Any:
    """`python -m fuzz.texts [MODEL ...]` in bench/: a line for every text that fails, or that takes most."""
    known = {name: one for name, one in models().items() if not arguments or name in arguments}
    most: dict[str, tuple[str, Ran]] = {}
    for name, kind, ran in report(known):
        if ran.fault:
            print(f"{name}\t{kind}\t{ran.fault}", flush=True)
        if name not in most or ran.peak > most[name][1].peak:
            most[name] = kind, ran
    for name, (kind, ran) in most.items():
        print(f"{name}\t{kind}\t{ran.peak / 1e6:.0f} MB\t{ran.seconds:.1f} s", flush=True)


if __name__ == "__main__":
    os.environ.setdefault("WEFT_QUIET", "1")
    main(sys.argv[1:])
