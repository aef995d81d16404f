// About a model, from its card: what it predicts, its training data, its scores and its weaknesses.
"use strict";

function lines(title, values) {
  if (!values?.length) return [];
  return [make("dt", {}, title), make("dd", {}, ...values.map((value) => make("div", {}, String(value))))];
}

// Scores by set and metric as a table, single scores as lines.
function scoreTable(scores) {
  const rows = Object.entries(scores ?? {});
  if (!rows.length) return [];
  if (rows.some(([, row]) => typeof row !== "object")) return lines("Scores", rows.map(([name, value]) => `${name}: ${value}`));
  const metrics = [...new Set(rows.flatMap(([, row]) => Object.keys(row)))];
  const head = make("tr", {}, make("th", { scope: "col" }, "Set"),
    ...metrics.map((name) => make("th", { scope: "col", class: "number" }, name)));
  const body = rows.map(([name, row]) => make("tr", {}, make("td", {}, name),
    ...metrics.map((metric) => make("td", { class: "number" }, row[metric] === undefined ? "" : row[metric].toFixed(1)))));
  const table = make("table", {}, make("thead", {}, head), make("tbody", {}, ...body));
  return [make("dt", {}, "Scores"), make("dd", { class: "scroll" }, table)];
}

function showAbout(facts) {
  const { card } = facts;
  const list = make("dl", {},
    ...lines("Predicts", [card.what, facts.components.join(", ")].filter(Boolean)),
    ...lines("Language", card.language && [card.language]),
    ...lines("Trained on", card.corpora),
    ...lines("Licence", card.licence && [card.licence]),
    ...scoreTable(card.scores),
    ...lines("Known weaknesses", card.weaknesses));
  $("about").replaceChildren(make("summary", {}, "About this model"), list);
}
