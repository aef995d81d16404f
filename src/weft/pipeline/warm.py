"""Compile everything that models need, in a process of its own: `weft models warm`.

The process annotates a text with words of many kinds, reads and writes it, with probabilities and with alternatives.
Numba stores the kernels that this compiles, in the folder that NUMBA_CACHE_DIR names if it is set. A process that finds
them there compiles nothing, provided that the package is at the same path and the processor is of the same kind.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from weft.errors import ModelError, WeftError

_TEXT = """The ferry left Bergen at 9:45 on 3 March 2021. Nobody saw it go, did they?

"I can't - won't - believe it," Dr. Ada Byron-King (of the U.N.) wrote to anna@example.org; see https://example.org/a?b=1.
JOHN gave Mary $1,000.50, look it up... :-) \U0001f468\u200d\U0001f469\u200d\U0001f467 Straße, naïve, 東京
Yes. The man who the dog that the cat had seen yesterday had bitten in the garden behind the old house was, as far as
anybody in the village knew, a well-known state-of-the-art engineer, and i want a flight to boston uh i mean to denver.
"""


def warm(paths: Sequence[Path], cache: Path | None = None) -> dict[str, Any]:
    """Compile what models need, each alone and all one after the other, into a folder if one is given.

    Gives the number of compiled kernels and the seconds it took.
    """
    environment = dict(os.environ)
    if cache is not None:
        _check_folder(cache)
        environment["NUMBA_CACHE_DIR"] = str(cache.absolute())
    command = [sys.executable, "-m", __name__, *map(str, paths)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise ModelError("the models could not be run; the message above says why")
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def _check_folder(cache: Path) -> None:
    try:
        cache.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=cache).close()
    except OSError as error:
        raise ModelError(f"cannot write compiled kernels to {cache}: {error.strerror}; give another --cache") from None


def _exercise(*paths: str) -> None:
    """Annotate a text and a file with models, one after the other, in all ways that differ in what they run."""
    import weft
    from weft.text.doc import Doc

    nlp = weft.load(*paths)
    asked: list[dict[str, Any]] = [{}]
    asked += [{"probabilities": True}] if nlp.gives_probabilities else []
    asked += [{"kbest": 2}] if nlp.gives_kbest else []
    for options in asked:
        for item in (_TEXT, "Yes", "", _split(_TEXT)):
            _try(nlp, item, options)
        list(nlp.pipe([_TEXT] * 3, batch_words=50, workers=2, on_error=_ignore, **options))
    with tempfile.TemporaryDirectory() as folder:
        docs = list(nlp.pipe([Doc(_TEXT)], on_error=_ignore))
        for name in ("text.conllu", "text.jsonl"):
            weft.write(docs, Path(folder, name))
            list(nlp.pipe(weft.read(Path(folder, name)), on_error=_ignore))


def _split(text: str) -> Any:
    from weft.text.doc import Doc
    from weft.text.split import split_by_rule

    doc = Doc(text)
    split_by_rule(doc)
    return doc


def _try(nlp: Any, item: Any, options: dict[str, Any]) -> None:
    with suppress(WeftError):  # a component may need layers of another model
        nlp(item, **options)


def _ignore(doc: Any, error: Any) -> None:
    pass


def main(paths: Sequence[str]) -> None:
    """Run the models and print what was compiled."""
    from weft.kernel import compiled

    try:
        for path in paths:
            _exercise(path)
        if len(paths) > 1:  # some models need what another one predicts
            _exercise(*paths)
    except WeftError as error:
        print(f"weft: {error}", file=sys.stderr)
        raise SystemExit(1) from None
    print(json.dumps({"kernels": len(compiled.names), "seconds": round(compiled.seconds, 1)}))


if __name__ == "__main__":
    main(sys.argv[1:])
