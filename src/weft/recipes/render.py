"""Results as tables: on the terminal with Rich, in the documentation as Markdown, the paper's numbers beside ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from weft.pictures.lines import draw_lines
from weft.recipes.catalogue import FAMILIES, System, system
from weft.recipes.claims import Claim
from weft.recipes.framework import Curve, RecipeResult, Row, Table, Value

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


#: The maximum number of columns for which the paper's are shown beside ours.
_BESIDE = 6


def cells(table: Table) -> tuple[list[str], list[list[str]]]:
    """A table as strings: the header and the rows, with a column "(paper)" after each column that the paper gives.

    If that would be too wide, the paper's numbers are a separate row below ours.

    >>> table = Table("", ["F"])
    >>> table.add("CRF", {"F": 94.31}, paper={"F": 94.38}, interval={"F": (94.0, 94.6)})
    >>> table.add("MEMM", {"F": 93.7})
    >>> cells(table)
    (['', 'F', 'F (paper)'], [['CRF', '94.31 [94.00, 94.60]', '94.38'], ['MEMM', '93.70', '']])
    """
    compared = set(table.compared())
    if len(compared) > _BESIDE:
        rows = []
        for row in table.rows:
            rows.append(_row_cells(table, row, set()))
            if row.paper:
                rows.append(_row_cells(table, Row(f"{row.name} (paper)", row.paper), set()))
        return ["", *table.columns], rows
    header = [""]
    for column in table.columns:
        header += [column, f"{column} (paper)"] if column in compared else [column]
    return header, [_row_cells(table, row, compared) for row in table.rows]


def number(value: Value, digits: int = 2) -> str:
    """A number as text.

    >>> number(94.3), number(820000), number(None), number("-"), number(float("nan"))
    ('94.30', '820,000', '', '-', 'nan')
    """
    if value is None:
        return ""
    if isinstance(value, bool | str):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.{digits}f}"


def show(result: RecipeResult, console: Console) -> None:
    """Print a result on a terminal."""
    from rich.markup import escape
    from rich.table import Table as RichTable
    from rich.text import Text

    if result.title:
        console.print(f"[bold]{escape(result.title)}[/bold]")
    else:
        entry = system(result.slug)
        console.print(f"[bold]{escape(entry.title)}[/bold]  {escape(entry.authors)}, {escape(entry.venue)}")
    for table in result.tables:
        header, rows = cells(table)
        shown = RichTable(title=table.title, title_justify="left", caption=table.note or None, caption_justify="left")
        for name in header:
            # A number is never truncated: if there is no room, it wraps to the next line.
            shown.add_column(
                name,
                justify="right" if name else "left",
                style="dim" if name.endswith("(paper)") else None,
                overflow="fold",
            )
        for row in rows:
            shown.add_row(*(Text(cell) for cell in row))
        console.print(shown)
    for title, claims in _groups(result):
        console.print(_claim_table(title, claims))
    for note in result.notes:
        console.print(Text(note))
    console.print(Text(_footer(result), style="dim"))


def markdown(result: RecipeResult, figures: Sequence[str] = ()) -> str:
    """A result as part of a page; `figures` are image files to show, one per curve."""
    parts = []
    for table in result.tables:
        header, rows = cells(table)
        parts += [f"**{table.title}**", markdown_table(header, rows)]
        parts += [table.note] if table.note else []
    parts += [f"![{curve.title}]({file})" for curve, file in zip(result.curves, figures, strict=False)]
    for title, claims in _groups(result):
        rows = [[claim.sentence, claim.outcome, claim.evidence] for claim in claims]
        parts.append(markdown_table([title, "outcome", "evidence"], rows))
    parts += result.notes
    parts.append(f"*{_footer(result)}*")
    return "\n\n".join(parts) + "\n"


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown; numeric columns are right-aligned.

    >>> print(markdown_table(["", "F"], [["CRF", "94.3"]]))
    |  | F |
    |---|--:|
    | CRF | 94.3 |
    """
    rows = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    figures = [bool(rows) and all(_is_figure(row[i]) for row in rows) for i in range(len(header))]
    rule = "|" + "|".join("--:" if right else "---" for right in figures) + "|"
    return "\n".join([f"| {' | '.join(header)} |", rule, *(f"| {' | '.join(row)} |" for row in rows)])


def systems_table(
    entries: Iterable[tuple[System, str]],
    page_of: Callable[[str], str] = lambda slug: "",
    checks: Mapping[str, str] | None = None,
) -> str:
    """All systems with their state as Markdown, one table per family.

    `page_of` gives the page that a slug links to, `checks` says what tests show of a system.
    """
    entries = list(entries)
    shown = checks or {}
    header = ["slug", "title", "paper", "state", *(["checks"] if shown else [])]
    parts = []
    for family, title in FAMILIES.items():
        rows = [
            [
                _linked(entry.slug, page_of(entry.slug)),
                entry.title,
                f"{entry.authors}, {entry.venue}",
                state,
                *([shown.get(entry.slug, "")] if shown else []),
            ]
            for entry, state in entries
            if entry.family == family
        ]
        parts += [f"### {title[0].upper()}{title[1:]}", markdown_table(header, rows)]
    return "\n\n".join(parts) + "\n"


def _linked(slug: str, page: str) -> str:
    return f"[`{slug}`]({page})" if page else f"`{slug}`"


def _row_cells(table: Table, row: Row, compared: set[str]) -> list[str]:
    shown = [row.name]
    for column in table.columns:
        digits = table.digits.get(column, 2)
        text = number(row.ours.get(column), digits)
        if column in row.interval:
            low, high = row.interval[column]
            text += f" [{number(float(low), digits)}, {number(float(high), digits)}]"
        shown.append(text)
        if column in compared:
            shown.append(number(row.paper.get(column), digits))
    return shown


def _groups(result: RecipeResult) -> Iterator[tuple[str, list[Claim]]]:
    """The claims of the paper, then our own checks."""
    for title, paper in (("claim of the paper", True), ("check of our own", False)):
        claims = [claim for claim in result.claims if claim.paper == paper]
        if claims:
            yield title, claims


def _claim_table(title: str, claims: Sequence[Claim]) -> RenderableType:
    from rich.table import Table as RichTable
    from rich.text import Text

    shown = RichTable()
    for name in (title, "outcome", "evidence"):
        shown.add_column(name, overflow="fold")
    colours = {"yes": "green", "level": "yellow", "no": "red"}
    for claim in claims:
        outcome = Text(claim.outcome, style=colours[claim.outcome])
        shown.add_row(Text(claim.sentence), outcome, Text(claim.evidence))
    return shown


def _footer(result: RecipeResult) -> str:
    machine = result.machine
    parts = [
        result.command,
        f"{number(result.wall_seconds, 0)} s, {number(result.cpu_seconds, 0)} s of processor time",
        f"peak {number(result.peak_mb, 0)} MB",
        f"{machine.get('cpus', '?')} cores, Python {machine.get('python', '?')}",
        f"commit {result.commit or 'unknown'}, {result.date[:10]}",
    ]
    return "; ".join(parts)


def _is_figure(text: str) -> bool:
    return (not text.strip("0123456789.,-+%x× []naif") and any(c.isdigit() for c in text)) or text in ("", "-", "nan")


def svg(curve: Curve) -> str:
    """Draw a curve.

    >>> text = svg(Curve("Convergence", "calls", "objective", {"L-BFGS": [(1, -10.0), (2, -4.0)]}))
    >>> text.startswith("<svg") and "L-BFGS" in text and text.count("<polyline") == 1
    True
    """
    return draw_lines(curve.title, curve.x, curve.y, curve.series)
