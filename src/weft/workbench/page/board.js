// Progress: answers, people, agreement, hours left, and whether the model got better.
"use strict";

let boardTimer = 0;

function roundInWords({ number, outcome, score, before }) {
  const scored = score === null || score === undefined ? "" : `: F1 ${score.toFixed(3)}`;
  const told = { better: `better than before${scored} (was ${before?.toFixed(3)})`, worse: `not used, since it is worse${scored} (the one in use: ${before?.toFixed(3)})`,
    "too close to tell": `as good as before${scored}`, first: `the first${scored}`, failed: "training failed" };
  return `Model ${number}: ${told[outcome] ?? outcome}`;
}

async function openBoard() {
  show("board");
  clearTimeout(boardTimer);
  try {
    drawBoard(await ask("/api/board"));
  } catch (problem) {
    failed(problem);
    return;
  }
  boardTimer = setTimeout(() => { if (state.view === "board") openBoard(); }, 5000);
}

function table(header, rows) {
  return make("div", { class: "scroll" }, make("table", {},
    make("thead", {}, make("tr", {}, ...header.map((name) => make("th", {}, name)))),
    make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map((cell) => make("td", {}, cell === null || cell === undefined ? "–" : String(cell))))))));
}

function drawBoard(told) {
  const figure = (value, name) => make("div", { class: "figure" }, make("strong", {}, value === null ? "–" : String(value)), make("span", {}, name));
  const { agreement } = told;
  const fixed = (value) => (value === null ? null : value.toFixed(2));
  $("board").replaceChildren(
    make("div", { class: "card figures" },
      figure(`${told.answers.toLocaleString("en")} of ${told.wanted.toLocaleString("en")}`, "answers"), figure(told["hours left"], "hours left"),
      figure(fixed(agreement.kappa), "kappa"), figure(fixed(agreement.alpha), "alpha (Krippendorff)"), figure(fixed(agreement.f1), "F1 between people"),
      figure(told.disputed, "items in dispute")),
    make("div", { class: "card" }, make("h2", {}, "Model"), ...curve(told.rounds, told.training)),
    make("div", { class: "card" }, make("h2", {}, "People"),
      table(["Name", "Role", "Answers", "Seconds per item"], told.people.map((each) => [each.name, each.active ? each.role : "removed", each.answers, each["seconds per item"]])),
      ...(agreement.pairs.length ? [table(["Pair", "Items", "Kappa", "F1"], agreement.pairs.map((each) => [`${each.first}, ${each.second}`, each.items, fixed(each.kappa), fixed(each.f1)]))] : [])));
}

function curve(rounds, training) {
  const scored = rounds.filter((each) => each.score !== null && each.score !== undefined);
  const state = training ? [make("p", { class: "hint" }, "A new model is being trained.")] : [];
  if (!rounds.length) return [...state, make("p", { class: "hint" }, "No model has been trained on these answers yet.")];
  const list = make("ul", { class: "rounds" }, ...rounds.slice(-6).reverse().map((each) => make("li", {}, `${roundInWords(each)}, from ${each["trained on"] ?? 0} items${each.reason ? ` (${each.reason})` : ""}`)));
  if (scored.length < 2) return [...state, list];
  const [width, height, pad] = [480, 160, 28];
  const most = Math.max(...scored.map((each) => each["trained on"]));
  const x = (each) => pad + ((width - 2 * pad) * each["trained on"]) / most;
  const y = (score) => height - pad - (height - 2 * pad) * score;
  const svg = (name, attributes, ...children) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "curve", role: "img" },
    svg("title", {}, "F1 on held-out items by the number of items trained on"),
    ...[0, 0.5, 1].flatMap((score) => [svg("line", { x1: pad, x2: width - pad, y1: y(score), y2: y(score), class: "grid" }), svg("text", { x: 2, y: y(score) + 4 }, String(score))]),
    svg("polyline", { points: scored.map((each) => `${x(each)},${y(each.score)}`).join(" "), class: "line" }),
    ...scored.map((each) => svg("circle", { cx: x(each), cy: y(each.score), r: 3.5, class: "dot" })),
    svg("text", { x: width - pad, y: height - 8, "text-anchor": "end" }, `${most} items`));
  return [...state, picture, list];
}
