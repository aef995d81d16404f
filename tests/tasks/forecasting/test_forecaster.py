"""The component: the next day as the harness forecasts it, files cut before a day, tables, warnings, saved models."""

from __future__ import annotations

import csv
import json
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest
from places import ROOT

from weft import load, train
from weft.errors import ConfigError, DataError, FormatError, ModelError
from weft.evaluate.significance import Interval
from weft.formats.csv.plain_rows import write_rows
from weft.formats.csv.series import read_all_series, read_series
from weft.tasks.forecasting import Forecaster, ForecastSettings
from weft.tasks.forecasting.backtest import HISTORY, REPRESENTATIONS, Setup, backtest
from weft.tasks.forecasting.market import Market
from weft.tasks.forecasting.next_day import COMBINATIONS
from weft.tasks.forecasting.report import warning_of
from weft.text.doc import Doc

EXAMPLE = ROOT / "examples" / "markets"


def news(days=40, seed=0):
    """Two sentences a day about who defeated whom, parsed, with its date; and the changes of Quill's price."""
    rng = np.random.default_rng(seed)
    docs, changes = [], []
    for k in range(days):
        won = bool(rng.integers(2))
        names = ["Quill", "Harlan"] if won else ["Harlan", "Quill"]
        doc = Doc.from_words(
            [[names[0], "defeated", names[1]], [names[0], "cheered"]],
            upos=[["PROPN", "VERB", "PROPN"], ["PROPN", "VERB"]], head=[[2, 0, 2], [2, 0]],
            deprel=[["nsubj", "root", "obj"], ["nsubj", "root"]],
        )  # fmt: skip
        doc.meta["date"] = (date(2024, 1, 1) + timedelta(days=k)).isoformat()
        docs.append(doc)
        changes.append((1.0 if won else -1.0) + rng.normal() * 0.3)
    return docs, changes


@pytest.fixture
def series(tmp_path):
    """A function that writes prices and returns the file."""

    def write(changes, name="prices.csv"):
        prices = 50 + np.cumsum(changes)
        days = [(date(2024, 1, 1) + timedelta(days=k)).isoformat() for k in range(len(changes))]
        rows = [f"{day},{price:.6f},{100 + k % 7}" for k, (day, price) in enumerate(zip(days, prices, strict=True))]
        (tmp_path / name).write_text("\n".join(["date,price,volume", *rows]) + "\n", encoding="utf-8")
        return str(tmp_path / name)

    return write


def forecaster(path, **settings):
    chosen = {"entities": "quill,harlan", "start": 10, "least": 3} | settings
    return Forecaster(ForecastSettings(path, **chosen))


@pytest.mark.must_show("reading-the-markets", 1)
@pytest.mark.parametrize("features", REPRESENTATIONS)
def test_files_cut_at_a_day_give_its_forecast(series, features):
    """All texts and prices from day t on are deleted, but for the morning's news of day t itself."""
    docs, changes = news()
    whole = forecaster(series(changes), features=features)
    days = {row["date"]: row for row in whole.fit(docs)["days"]}
    for t in (12, 25, 39):
        cut = forecaster(series(changes[:t], "cut.csv"), features=features)
        report = cut.fit(docs[: t + 1])
        row = days[docs[t].meta["date"]]
        found = cut.forecast([docs[t]])
        assert found.direction == row["direction"]
        assert found.by == row["by"]
        assert report["forecast"]["direction"] == row["direction"]
        assert [each["news"] for each in report["days"]] == [days[each["date"]]["news"] for each in report["days"]]


@pytest.mark.parametrize("combine", COMBINATIONS)
@pytest.mark.parametrize("features", ["words", "focus", "dependency"])
def test_the_next_day_is_forecast_as_in_the_run(series, features, combine):
    docs, changes = news(30, seed=2)
    chosen = forecaster(series(changes[:-1]), features=features, combine=combine)
    chosen.fit(docs)
    run = chosen.tested
    found, days = chosen.forecast([docs[-1]]), len(changes) - 1
    name = chosen._name_of(features)
    assert found.direction == {1.0: "up", -1.0: "down", 0.0: "abstain"}[float(np.sign(run.forecasts[name][days]))]
    of_news = run.forecasts[name if combine == "one-model" else features][days]
    assert found.probability == pytest.approx(1 / (1 + np.exp(-of_news)), abs=1e-4)
    assert found.change == pytest.approx(run.forecasts[HISTORY][days])
    loaded = Forecaster.from_state(*chosen.state())
    assert loaded.forecast([docs[-1]]) == found
    assert loaded.forecast([]).probability is None


def test_events_that_move_the_series_have_their_direction(series):
    docs, changes = news(60)
    chosen = forecaster(series(changes))
    report = chosen.fit(docs)
    moves = {row["event"]: row["moves"] for row in report["events"]}
    assert moves["quill/nsubj parent defeated/VERB/root"] == "up"
    assert moves["harlan/nsubj parent defeated/VERB/root"] == "down"
    assert report["scores"]["profit, news"] > 80
    assert "warning" not in report
    last = report["days"][-1]
    assert last["profit"] == pytest.approx(sum(row["earned"] for row in report["days"]), abs=1e-4)
    assert all(each.split()[0].startswith(("quill/", "harlan/")) for each in last["because"])


def test_a_profit_that_may_be_chance_is_told(series):
    docs, _ = news(40)
    noise = np.random.default_rng(5).normal(size=40)
    report = forecaster(series(noise), features="entity").fit([Doc("Quill spoke.", meta=doc.meta) for doc in docs])
    assert "contains 0: this profit cannot be told from chance" in report["warning"]
    assert warning_of(Interval(-9.0, -12.0, -3.0)).startswith("the forecasts lose money")


def test_what_is_missing_is_told(series, tmp_path):
    docs, changes = news(20)
    path = series(changes)
    with pytest.raises(ConfigError, match="needs the entities of the market"):
        Forecaster(ForecastSettings(path))
    with pytest.raises(ConfigError, match="give the prices to forecast"):
        forecaster("").fit(docs)
    with pytest.raises(DataError, match="is not parsed, which features=dependency needs"):
        forecaster(path).fit([Doc("Quill won.", meta={"date": "2024-01-03"})])
    with pytest.raises(DataError, match="the texts have no features"):
        forecaster(path, features="entity").fit([Doc("Nobody won.", meta={"date": "2024-01-03"})])
    with pytest.raises(ConfigError, match="forecasts start after 30 days, but there are 20"):
        forecaster(path, start=30).fit(docs)
    with pytest.raises(ConfigError, match="give no dev data"):
        forecaster(path).fit(docs, docs)
    for wrong in ({"cut": "future"}, {"window": 0}, {"c": -1.0}, {"smoothing": 0.0}, {"combine": "all"}):
        with pytest.raises(ConfigError, match="must be"):
            forecaster(path, **wrong)
    market = Market("", [f"2024-01-{k:02}" for k in range(1, 31)], np.arange(30.0))
    with pytest.raises(ConfigError, match="there is no representation 'phrases'"):
        backtest(market, {}, ["phrases"], Setup(start=3))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("day;amount\n", "line 1: expected a first row with the columns date and price"),
        ("date,price\n2024-01-02\n", "line 2: expected 2 columns"),
        ("date,price\n02.01.2024,5\n", "line 2: expected a day such as 2024-03-05"),
        ("date,price\n2024-01-02,five\n", "line 2: expected a price, a number"),
        ("date,price\n2024-01-02,5\n2024-01-01,5\n", "line 3: expected a day after 2024-01-02"),
        ("date,price\n", "expected rows of days and prices"),
    ],
)
def test_a_series_that_cannot_be_read_is_told_with_its_line(tmp_path, text, told):
    path = tmp_path / "prices.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=told):
        read_series(path)


def test_a_file_may_hold_several_markets(tmp_path):
    path = tmp_path / "prices.tsv"
    path.write_text("ticker\tdate\tclose\nA\t2024-01-02\t5\nB\t2024-01-02\t7\n", encoding="utf-8")
    assert read_series(path, "B").prices == [7.0]
    assert list(read_all_series(path)) == ["A", "B"]
    with pytest.raises(ConfigError, match="has several markets: name one with --market; it has A, B"):
        read_series(path)
    with pytest.raises(ConfigError, match="has no market 'C'"):
        read_series(path, "C")


def test_a_damaged_model_is_refused(series):
    docs, changes = news(25)
    chosen = forecaster(series(changes))
    chosen.fit(docs)
    header, arrays = chosen.state()
    for wrong in ({"recent": header["recent"][1:]}, {"change": "much"}, {"outcomes": [1, "x"]}):
        with pytest.raises(ModelError):
            Forecaster.from_state({**header, **wrong}, dict(arrays))
    for wrong in ({"weights": arrays["weights"][1:]}, {"counts": arrays["counts"] - 9}, {"names": arrays["names"][:9]}):
        with pytest.raises(ModelError):
            Forecaster.from_state(header, {**arrays, **wrong})


def test_rows_are_written_in_every_format(tmp_path):
    rows = [{"day": "2024-01-02", "change": 1.5, "because": ["a", "b"]}]
    columns = ["day", "change", "because"]
    for suffix in (".csv", ".tsv", ".json", ".parquet"):
        assert write_rows(rows, tmp_path / f"rows{suffix}", columns) == 1
    assert json.loads((tmp_path / "rows.json").read_text()) == rows
    assert (tmp_path / "rows.tsv").read_text() == "day\tchange\tbecause\n2024-01-02\t1.5\ta; b\n"
    parquet = pytest.importorskip("pyarrow.parquet")
    assert parquet.read_table(tmp_path / "rows.parquet").to_pylist() == [{**rows[0], "because": "a; b"}]
    with pytest.raises(ConfigError, match=r"ends in \.csv, \.tsv, \.json, \.parquet"):
        write_rows(rows, tmp_path / "rows.xls", columns)


def test_the_command_trains_on_a_folder_of_days_and_writes_tables(weft, tmp_path):
    daily = tmp_path / "daily"
    daily.mkdir()
    with open(EXAMPLE / "news.csv", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            (daily / f"{row['date']}.txt").write_text(row["text"] + "\n", encoding="utf-8")
    prices, model = EXAMPLE / "prices.csv", tmp_path / "council.weft"
    curve, days, events = (tmp_path / name for name in ("curve.svg", "days.csv", "events.json"))
    told = weft(
        "train", "forecast", "--daily", daily, "--series", prices, "--entities", "quill,harlan", "--features", "entity",
        "--least", "5", "--out", model, "--curve", curve, "--days", days, "--events", events, "--json",
    )  # fmt: skip
    report = json.loads(told.stdout)
    assert report["training"]["days with text"] == 90
    assert "contains 0" in report["warning"]
    assert len(report["days"]) == 60
    picture = curve.read_text()
    assert picture.startswith("<svg")
    assert picture.count("<polygon") == 1  # the interval, wider than the line it belongs to
    assert len(days.read_text().splitlines()) == 61
    assert json.loads(events.read_text()) == report["events"]
    out = tmp_path / "tomorrow.jsonl"
    weft("annotate", EXAMPLE / "tomorrow.txt", "--model", model, "--out", out)
    forecast = json.loads(out.read_text())["meta"]["forecast"]
    assert forecast["after"] == "2024-05-29"
    assert forecast["direction"] in ("up", "down", "abstain")


def test_training_from_python_takes_files(tmp_path):
    nlp = train(
        "forecast", EXAMPLE / "news.csv", series=str(EXAMPLE / "prices.csv"), entities="quill,harlan", features="focus",
        least=5, out=tmp_path / "council.weft",
    )  # fmt: skip
    doc = load(tmp_path / "council.weft")(Path(EXAMPLE / "tomorrow.txt").read_text())
    assert doc.meta["forecast"] == nlp(doc.text).meta["forecast"]
