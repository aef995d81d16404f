"""Ask the search of the documentation for what people look for first: `python docs/search.py site`.

The search is the theme's own: its script, which browsers run, runs in Node here. An index is either that of a built
site, or made from the pages alone, without building them (`index_of_pages`), which is what the tests do.
"""

from __future__ import annotations

import ast
import html
import json
import re
import shutil
import subprocess
import sys
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "docs"))
from navigation import set_search  # noqa: E402

#: What people look for first, and the page that must come first.
WANTED = {
    "install": "start/install",
    "annotate": "start/tour",
    "entities in Python": "start/python",
    "train on own labels": "tasks/entities",
    "save and load": "start/python",
    "schema": "start/files",
    "data frame": "apply/interop",
    "another language": "start/models",
    "pipeline from a treebank": "start/pipelines",
    "compare": "judge/evaluation",
    "much text": "apply/scale",
    "why this label": "judge/explaining",
}
#: How the theme's script is asked: it is made for a browser, which passes messages to it.
_ASK = """
const fs = require("fs"), vm = require("vm");
const listeners = [];
let answered;
global.self = global;
global.addEventListener = (type, listener) => listeners.push(listener);
global.postMessage = (message) => answered(message);
const send = (data) => new Promise((resolve) => { answered = resolve; listeners[0]({ data }); });
vm.runInThisContext(fs.readFileSync(process.argv[1], "utf-8"));
(async () => {
  const { index, queries } = JSON.parse(fs.readFileSync(0, "utf-8"));
  await send({ type: 0, data: { ...index, options: {} } });
  const found = {};
  for (const query of queries) {
    const { data } = await send({ type: 2, data: query });
    found[query] = data.items.map((group) => group[0].location);
  }
  console.log(JSON.stringify(found));
})();
"""


def main() -> int:
    index = json.loads((Path(sys.argv[1]) / "search" / "search_index.json").read_text(encoding="utf-8"))
    if missing():
        print(f"the search was not tested: {missing()}")
        return 0
    wrong = {query: hits for query, hits in hits_of(index, list(WANTED)).items() if not is_first(query, hits)}
    for query, hits in wrong.items():
        print(f"searching for {query!r} finds {', '.join(hits[:3]) or 'nothing'}; expected {WANTED[query]} first")
    return 1 if wrong else 0


def missing() -> str:
    """What is missing to run the search, "" if nothing is."""
    if shutil.which("node") is None:
        return "there is no Node on this machine"
    try:
        import material  # noqa: F401
    except ImportError:
        return "MkDocs Material is not installed: pip install 'weft[docs]'"
    return ""


def is_first(query: str, hits: Sequence[str]) -> bool:
    """Whether the page that a query is for comes first."""
    return bool(hits) and hits[0].split("#")[0].strip("/") == WANTED[query]


def hits_of(index: dict[str, Any], queries: Sequence[str]) -> dict[str, list[str]]:
    """The places that the search finds for each query, best first."""
    import material

    (script,) = (Path(material.__file__).parent / "templates/assets/javascripts/workers").glob("search.*.min.js")
    asked = json.dumps({"index": index, "queries": list(queries)})
    done = subprocess.run(
        ["node", "-e", _ASK, str(script)], input=asked, capture_output=True, text=True, check=True, timeout=120
    )
    if "Invalid query" in done.stderr:
        raise RuntimeError(done.stderr)
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


def index_of_pages() -> dict[str, Any]:
    """The index of all pages, by the theme's own code; pages of the API hold docstrings as they are written."""
    from markdown import Markdown
    from material.plugins.search.plugin import SearchIndex
    from mkdocs.structure.toc import get_toc
    from mkdocs.utils.meta import get_data

    fields = {"title": {"boost": 1e3}, "text": {"boost": 1.0}, "tags": {"boost": 1e6}}
    (separator,) = re.findall(
        r"^      separator: '(.*)'$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE
    )
    index = SearchIndex(lang=["en"], separator=separator, pipeline=["stopWordFilter"], fields=fields)
    reader = Markdown(extensions=["admonition", "tables", "toc", "fenced_code"])
    for path in sorted((ROOT / "docs").rglob("*.md")):
        place = path.relative_to(ROOT / "docs").as_posix()
        if not place.startswith("api/"):
            text, meta = get_data(path.read_text(encoding="utf-8"))
            content = reader.reset().convert(text)
            toc = get_toc(reader.toc_tokens)  # type: ignore[attr-defined]
            index.add_entry_from_context(_page(place, meta, content, toc, text.split("\n", 1)[0].strip("# ")))
    for place, title, content in _api_pages():
        index.add_entry_from_context(_page(place, {}, content, (), title))
    found: dict[str, Any] = json.loads(index.generate_search_index(None))
    return found


def _page(place: str, meta: dict[str, Any], content: str, toc: Iterable[Any], title: str) -> SimpleNamespace:
    set_search(meta, place)
    url = re.sub(r"(^|/)index$", r"\1", place.removesuffix(".md"))
    url = f"{url}/" if url and not url.endswith("/") else url
    return SimpleNamespace(meta=meta, content=content, toc=toc, url=url, title=title)


def _api_pages() -> Iterator[tuple[str, str, str]]:
    """A page per module: its place, its title, and docstrings in HTML, which needs no Markdown: it would take longer
    than everything else here."""
    for path in sorted((ROOT / "src" / "weft").rglob("*.py")):
        if path.name.startswith("_") or "cli" in path.parts:
            continue
        module = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
        tree = ast.parse(path.read_text(encoding="utf-8"))
        parts, seen = [_section(1, module, module, tree)], Counter[str]()
        for node in _definitions(tree):
            if not node.name.startswith("_"):
                seen[node.name] += 1
                parts.append(_section(2, node.name, f"{node.name}-{seen[node.name]}", node))
        yield f"api/{module.replace('.', '/')}.md", module, "\n".join(parts)


def _section(level: int, name: str, anchor: str, node: ast.Module | ast.ClassDef | ast.FunctionDef) -> str:
    told = html.escape(ast.get_docstring(node) or "", quote=False).replace("\n\n", "</p>\n<p>")
    return f'<h{level} id="{anchor}">{name}</h{level}>\n<p>{told}</p>'


def _definitions(tree: ast.Module) -> Iterator[ast.ClassDef | ast.FunctionDef]:
    """Classes and functions of a module, however deep, outer ones first; expressions, which hold none, are left out."""
    waiting: deque[ast.AST] = deque([tree])
    while waiting:
        node = waiting.popleft()
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield node
        for part in ("body", "cases", "handlers", "orelse", "finalbody"):
            waiting += getattr(node, part, ())


if __name__ == "__main__":
    sys.exit(main())
