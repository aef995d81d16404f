"""A series of prices, one day per row: CSV or TSV whose first row names the columns.

| column | called |
|---|---|
| the day, as 2024-03-05 | `date`, `day` or `time` |
| the value | `price`, `value`, `adj_close`, `close` or `last` |
| how much was traded, if known | `volume` |
| the market, if the file has several | `market`, `ticker`, `symbol` or `name` |

Other columns are ignored. Days are in order within a market.
"""

from __future__ import annotations

import csv
import math
import os
from datetime import date
from typing import NamedTuple

from weft.errors import ConfigError, FormatError, did_you_mean
from weft.formats.streams import numbered_lines

_NAMES = {
    "date": ("date", "day", "time"),
    "price": ("price", "value", "adj_close", "close", "last"),
    "volume": ("volume",),
    "market": ("market", "ticker", "symbol", "name"),
}


class Series(NamedTuple):
    """Days with their prices; `volumes` is empty if the file has none."""

    market: str
    dates: list[str]
    prices: list[float]
    volumes: list[float]


def read_series(path: str | os.PathLike[str], market: str = "", *, encoding: str = "utf-8") -> Series:
    """The series of a market, or the only one of a file.

    >>> from tempfile import TemporaryDirectory
    >>> from pathlib import Path
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "prices.csv").write_text("date,price\\n2024-03-04,51.5\\n2024-03-05,50\\n")
    ...     read_series(f"{folder}/prices.csv").prices
    [51.5, 50.0]
    """
    found = read_all_series(path, encoding=encoding)
    name = os.fspath(path)
    if market:
        if market not in found:
            raise ConfigError(f"{name} has no market {market!r}; {did_you_mean(market, found, _known(found))}")
        return found[market]
    if len(found) > 1:
        raise ConfigError(f"{name} has several markets: name one with --market; {_known(found)}")
    return next(iter(found.values()))


def read_all_series(path: str | os.PathLike[str], *, encoding: str = "utf-8") -> dict[str, Series]:
    """All series of a file, by market."""
    name = os.fspath(path)
    columns: dict[str, int] = {}
    width, separator = 0, ","
    found: dict[str, Series] = {}
    for number, line in numbered_lines(name, encoding):
        if not line.strip():
            continue
        if not columns:
            separator = max("\t;,", key=line.count)
            header = [cell.strip().lower() for cell in next(csv.reader([line], delimiter=separator))]
            columns, width = _columns(header), len(header)
            if "date" not in columns or "price" not in columns:
                expected = "a first row with the columns date and price"
                raise FormatError(name, number, expected, ", ".join(header)[:80], "A volume is optional.")
            continue
        row = next(csv.reader([line.rstrip("\r\n")], delimiter=separator), [])
        if len(row) != width:
            raise FormatError(name, number, f"{width} columns, as the first row has", str(len(row)))
        market = row[columns["market"]].strip() if "market" in columns else ""
        series = found.setdefault(market, Series(market, [], [], []))
        day = row[columns["date"]].strip()[:10]
        if not _is_day(day):
            raise FormatError(name, number, "a day such as 2024-03-05", repr(row[columns["date"]]))
        if series.dates and day <= series.dates[-1]:
            hint = "Sort the rows by date; a market has one row per day."
            raise FormatError(name, number, f"a day after {series.dates[-1]}", day, hint)
        series.dates.append(day)
        series.prices.append(_number(row[columns["price"]], name, number, "a price"))
        if "volume" in columns:
            series.volumes.append(_number(row[columns["volume"]], name, number, "a volume"))
    if not found:
        raise FormatError(name, None, "rows of days and prices", "none")
    return found


def _columns(header: list[str]) -> dict[str, int]:
    """Where every known column is; of several names for one, the first of the table above counts."""
    return {
        kind: header.index(named[0])
        for kind, names in _NAMES.items()
        if (named := [each for each in names if each in header])
    }


def _is_day(text: str) -> bool:
    try:
        return len(text) == 10 and bool(date.fromisoformat(text))
    except ValueError:
        return False


def _number(text: str, path: str, line: int, what: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise FormatError(path, line, f"{what}, a number", repr(text))
    return value


def _known(found: dict[str, Series]) -> str:
    names = list(found)
    return f"it has {', '.join(names[:10])}{' and others' if len(names) > 10 else ''}"
