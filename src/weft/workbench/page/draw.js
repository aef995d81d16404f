// Drawing an item with a value. Text is only ever set as text, never as markup.
"use strict";

const COLOURS = 12;

function colour(label, labels) {
  return `c${Math.max(0, labels.indexOf(label)) % COLOURS}`;
}

// Lanes for spans, so that overlapping ones lie below each other.
function lanes(spans) {
  const ends = [];
  const order = spans.map((span, at) => ({ at, start: span.pieces[0][0], end: span.pieces[span.pieces.length - 1][1] }))
    .sort((a, b) => a.start - b.start || b.end - a.end);
  const found = [];
  for (const { at, start, end } of order) {
    let lane = ends.findIndex((reached) => reached <= start);
    if (lane < 0) lane = ends.length;
    ends[lane] = end;
    found[at] = lane;
  }
  return { lane: found, count: ends.length };
}

function shade(sure) {
  return sure === null || sure === undefined || sure >= 0.9 ? "" : sure >= 0.7 ? "u2" : sure >= 0.5 ? "u3" : "u4";
}

// The words of an item with what a value says of them.
function drawWords(place, project, item, value, view = {}) {
  const kind = project.task;
  const spans = kind === "questions" ? (item.question ? [item.question] : []) : value.spans ?? [];
  const { lane, count } = lanes(spans);
  const sure = item.proposal?.sure ?? [];
  const words = item.words.map(([form, gap], word) => {
    const classes = ["w"];
    if (view.from <= word && word < view.to) classes.push("sel");
    if (view.cursor === word) classes.push("cursor");
    if (view.held?.some(([start, end]) => start <= word && word < end)) classes.push("held");
    if (view.dependent === word) classes.push("held");
    if (kind === "tags" && same(value.tags[word], item.proposal?.value.tags?.[word])) classes.push(shade(sure[word]));
    const element = make("span", { class: classes.filter(Boolean).join(" "), "data-word": word }, make("b", {}, form), gap || "​");
    for (let row = 0; row < count; row += 1) {
      const at = spans.findIndex((span, number) => lane[number] === row && holds(span, word));
      const inGap = at < 0 && spans.findIndex((span, number) => lane[number] === row
        && span.pieces[0][0] <= word && word < span.pieces[span.pieces.length - 1][1]);
      const bar = make("i", { class: at >= 0 ? `bar ${colour(spans[at].label, project.labels)}` : inGap >= 0 && inGap !== false ? "bar gap" : "bar" });
      if (at >= 0 && spans[at].pieces[0][0] === word) {
        bar.classList.add("first");
        bar.append(make("small", {}, spans[at].label));
      }
      element.append(bar);
    }
    if (kind === "tags") element.append(make("small", { class: `tag ${value.tags[word] ? colour(value.tags[word], project.labels) : "none"}` }, value.tags[word] || "–"));
    if (kind === "trees") {
      const head = value.heads[word];
      const to = head === null || head === undefined ? "–" : head < 0 ? "root" : `${head + 1} ${item.words[head][0]}`;
      element.append(make("small", { class: "tag" }, value.labels[word] || "–"), make("small", { class: "to" }, `↑ ${to}`));
    }
    return element;
  });
  place.classList.toggle("tree", kind === "trees");
  place.replaceChildren(...words);
  if (kind === "trees") drawArcs(place, value);
}

function drawArcs(place, value) {
  const svg = (name, attributes, ...children) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, each] of Object.entries(attributes)) element.setAttribute(key, each);
    element.append(...children);
    return element;
  };
  const centre = [...place.querySelectorAll(".w")].map((word) => word.offsetLeft + word.offsetWidth / 2);
  const widest = Math.max(1, ...value.heads.map((head, word) => (head === null || head < 0 ? 0 : Math.abs(head - word))));
  const height = Math.min(160, 24 + 12 * widest);
  const arcs = value.heads.flatMap((head, word) => {
    if (head === null || head < 0) return [];
    const top = height - Math.min(height - 6, 16 + (12 * Math.abs(head - word)));
    const [a, b] = [centre[head], centre[word]];
    return [svg("path", { d: `M${a},${height} C${a},${top} ${b},${top} ${b},${height - 5}`, class: "arc" }),
      svg("circle", { cx: b, cy: height - 4, r: 3, class: "tip" })];
  });
  place.prepend(svg("svg", { class: "arcs", width: place.scrollWidth, height, "aria-hidden": "true" }, ...arcs));
  place.style.paddingTop = `${height + 4}px`;
}

function spanText(item, span) {
  return span.pieces.map(([start, end]) => item.words.slice(start, end).map(([form, gap], at, all) => form + (at < all.length - 1 ? gap : "")).join("")).join(" … ");
}

// The value in words, one line per mark, for the list below the text and for adjudication.
function drawMarks(place, project, item, value, actions) {
  const sureOf = (span) => {
    const at = item.proposal?.value.spans?.findIndex((each) => same(each, span)) ?? -1;
    return at >= 0 ? item.proposal.sure[at] : undefined;
  };
  const button = (name, label, act) => (actions ? [make("button", { type: "button", class: "plain", "aria-label": label, onclick: act }, name)] : []);
  const rows = (value.spans ?? []).map((span, at) => {
    const sure = sureOf(span);
    const percent = sure === undefined || sure === null ? [] : [make("small", { class: shade(sure) }, `${Math.round(100 * sure)} %`)];
    const row = make("li", { class: actions?.from === at ? "from" : "" },
      make("span", { class: `name ${colour(span.label, project.labels)}` }, span.label), " ", make("q", {}, spanText(item, span)), " ", ...percent,
      ...button("×", `Remove ${span.label} ${spanText(item, span)}`, () => actions.remove(at)));
    if (actions?.choose) row.addEventListener("click", (event) => { if (!event.target.closest("button")) actions.choose(at); });
    return row;
  });
  const relations = (value.relations ?? []).map((each, at) => make("li", { class: "relation" },
    make("q", {}, spanText(item, value.spans[each.head])), " ", make("span", { class: "name" }, `— ${each.label} →`), " ",
    make("q", {}, spanText(item, value.spans[each.tail])),
    ...button("×", `Remove relation ${each.label}`, () => actions.unrelate(at))));
  place.replaceChildren(...rows, ...relations);
}
