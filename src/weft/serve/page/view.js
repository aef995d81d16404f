// The three views of a response: sentences with their trees, running text with its spans, tables of words.
"use strict";

const AT_ONCE = 20; // sentences drawn before the user requests more
const COLUMNS = ["lemma", "upos", "xpos", "feats", "head", "deprel"];
const TITLES = { lemma: "Lemma", upos: "UPOS", xpos: "XPOS", feats: "Features", head: "Head", deprel: "Relation" };

function percent(p) {
  if (p > 0.9995) return "100%";
  if (p < 0.0005) return "<0.1%";
  return `${(100 * p).toFixed(p > 0.1 ? 0 : 1)}%`;
}

// The uncertainty of a decision, as a class: u1 is practically certain.
function shade(p) {
  return p === undefined || p >= 0.97 ? "u1" : p >= 0.85 ? "u2" : p >= 0.6 ? "u3" : "u4";
}

// Pictures show tags, not lemmas, whose probabilities are those of rules for unknown words.
function leastSure(word) {
  const values = Object.entries(word.confidence ?? {}).filter(([name]) => !["form", "lemma"].includes(name)).map(([, p]) => p);
  return values.length ? Math.min(...values) : undefined;
}

// Make the words of a picture interactive: shaded, labelled for accessibility, reachable by keys. Where spans are
// highlighted, the spans are shaded, not the words in them.
function enliven(root, words) {
  const ofWords = !root.matches(".spans") || root.matches(".plain-text");
  for (const element of root.querySelectorAll("[data-word]")) {
    const word = words[element.dataset.word];
    if (!word) continue;
    const p = leastSure(word);
    if (ofWords) element.classList.add(shade(p));
    element.setAttribute("role", "button");
    element.setAttribute("tabindex", "-1");
    const sure = p === undefined ? "" : `, ${percent(p)} sure`;
    element.setAttribute("aria-label", [word.form, word.upos ?? word.xpos, word.deprel].filter(Boolean).join(", ") + sure);
  }
  for (const mark of root.querySelectorAll("mark[data-probability]")) {
    const p = Number(mark.dataset.probability);
    mark.classList.add(shade(p));
    mark.title = `${percent(p)} sure`;
  }
  // The words of a picture can be reached by keys, so it is no longer one image.
  if (root.matches("svg")) root.setAttribute("role", "group");
  return root;
}

// Fill a panel piece by piece, with a button for more.
function inSteps(panel, items, draw) {
  let shown = 0;
  const more = make("button", { type: "button", class: "more", onclick: () => next() });
  function next() {
    const first = shown;
    for (const item of items.slice(shown, shown + AT_ONCE)) {
      more.before(draw(item));
      shown += 1;
    }
    more.textContent = `Show more (${items.length - shown} left)`;
    more.hidden = shown >= items.length;
    rove(panel);
    if (first) panel.children[first].querySelector(".word")?.focus();
  }
  panel.replaceChildren(more);
  next();
}

// One word in each panel is in the tab order; arrow keys move on from there.
function rove(panel) {
  const words = [...panel.querySelectorAll("[data-word]")];
  if (words.length && !words.some((word) => word.tabIndex === 0)) words[0].setAttribute("tabindex", "0");
}

function drawTimeline(answer) {
  const picture = drawn(answer.timeline);
  const keep = { type: "button", class: "plain", onclick: () => saveSvg(picture, "timeline") };
  const head = make("header", {}, make("h2", {}, "Timeline"), make("button", keep, "SVG"));
  const place = make("div", { class: "picture", role: "group", "aria-label": "Timeline of the text" }, picture);
  watchScrolling(place);
  return make("article", { class: "card timeline" }, head, place);
}

function drawSentences(panel, answer, words) {
  inSteps(panel, answer.sentences, (sentence) => {
    const { tree, phrases, scope, amr, relations, events, opinions, spans } = sentence.pictures;
    const pictures = [tree, phrases, scope, amr, relations, events, opinions].filter(Boolean);
    const layer = Object.keys(spans).includes("entities") ? "entities" : Object.keys(spans)[0];
    const text = make("div", { class: "text" });
    text.append(layer ? enliven(drawn(spans[layer]), words) : plainText(sentence, words));
    const head = make("header", {}, make("h2", { "aria-label": `Sentence ${sentence.number}` }, String(sentence.number)), text);
    const card = make("article", { class: "card sentence" }, head);
    for (const markup of pictures) {
      const picture = drawn(markup);
      const keep = { type: "button", class: "plain", onclick: () => saveSvg(picture, `sentence-${sentence.number}`) };
      if (markup === pictures[0]) head.append(make("button", keep, "SVG"));
      const frame = { class: "picture", role: "group", "aria-label": `Picture of sentence ${sentence.number}`, dir: picture.dataset.dir ?? null };
      const place = make("div", frame, enliven(picture, words));
      watchScrolling(place);
      card.append(place);
    }
    if (!tree && !phrases && sentence.words.length > 250) {
      card.append(make("p", { class: "none" }, "This sentence is too long to draw; see the table of its words."));
    }
    return card;
  });
  if (answer.timeline) panel.append(drawTimeline(answer));
}

function plainText(sentence, words) {
  const line = make("p", { class: "weft spans plain-text", dir: "auto" });
  let reached = sentence.start;
  for (const word of sentence.words) {
    if (word.start < reached) continue;
    line.append(state.letters.slice(reached, word.start).join(""));
    line.append(make("span", { class: "word", "data-word": word.index }, state.letters.slice(word.start, word.end).join("")));
    reached = word.end;
  }
  return enliven(line, words);
}

function drawSpans(panel, answer, words) {
  const layers = Object.keys(answer.spans);
  panel.replaceChildren();
  if (!layers.length) {
    panel.append(make("p", { class: "none" }, "This model does not predict spans such as entities, chunks or expressions."));
    return;
  }
  const chosen = layers.includes("entities") ? "entities" : layers[0];
  const content = make("div");
  if (layers.length > 1) {
    const choices = layers.map((name) => {
      const input = make("input", { type: "radio", name: "layer", value: name, checked: name === chosen });
      input.addEventListener("change", () => drawLayer(content, answer, words, name));
      return make("label", {}, input, make("span", {}, `${layerName(name)} (${answer.spans[name].length})`));
    });
    panel.append(make("fieldset", { class: "layers", "aria-label": "Layers" }, ...choices));
  }
  panel.append(content);
  drawLayer(content, answer, words, chosen);
}

// The spans of a layer; mentions of coreference are labelled by the numbers of their entities, as in the picture, and
// times have their values, and metaphors what they compare.
function labelled(answer, layer) {
  const chains = (answer.clusters?.[layer] ?? []).filter((group) => group.members.length > 1);
  if (!answer.clusters?.[layer]) {
    const told = (span) => {
      const { value, target, source, concept, verb, title } = span.attributes ?? {};
      if (layer === "links" && title) return title;
      if (layer === "times" && value) return `${span.label} ${value}`;
      if (layer !== "metaphor" || !target) return span.label;
      const because = [verb && `with ${verb}`, concept && `as ${concept}`].filter(Boolean).join(", ");
      return `${target} ~ ${source}${because ? ` (${because})` : ""}`;
    };
    return answer.spans[layer].map((span) => ({ ...span, label: told(span) }));
  }
  return chains.flatMap((group, number) => group.members.map((member) => ({ ...answer.spans[layer][member], label: String(number + 1) })));
}

// A card for every link: what is meant, how sure it is, what else it could be, and which other phrases decided.
function linkCard(span) {
  const has = span.attributes ?? {};
  const facts = [];
  const add = (title, text) => facts.push(make("dt", {}, title), make("dd", { dir: "auto" }, text));
  add("Id", has.key && has.key !== span.label ? `${span.label} (${has.key})` : span.label);
  add("Score", has.score ? percent(has.score) : "first sense: nothing else in the text is related");
  if (has.alternatives?.length) add("Or", has.alternatives.map((each) => `${each.title} (${percent(each.score)})`).join(", "));
  if (has.because?.length) add("Because of", has.because.map((each) => `${each.phrase}: ${each.title}`).join(", "));
  return make("article", { class: "card link", "aria-label": `Link of ${span.text}` },
    make("h3", { dir: "auto" }, `${span.text}: ${has.title ?? span.label}`),
    make("p", { class: "none", dir: "auto" }, [has.kind, has.description].filter(Boolean).join(" · ")),
    make("dl", { class: "facts" }, ...facts));
}

// One card for all occurrences of a phrase with the same reading.
function linkCards(spans) {
  const cards = new Map(spans.map((span) => [`${span.label}\t${span.text}`, span]));
  return [...cards.values()].slice(0, 200).map(linkCard);
}

// What is said of every aspect: how often it is praised and criticized, compared, and with which words.
function aspectTable(spans, mentions) {
  const groups = new Map();
  for (const { label, text, attributes } of spans) {
    const has = attributes ?? {};
    const named = (number) => (number === undefined ? "" : mentions[number]?.text ?? "");
    const aspect = named(has.aspect).toLowerCase() || "as a whole";
    const group = groups.get(aspect) ?? { positive: 0, negative: 0, compared: [], words: [] };
    if (label === "positive" || label === "negative") group[label] += 1;
    else group.compared.push(`${named(has.entity)} ${label} than ${named(has.other)}`);
    if (has.evidence !== false) group.words.push(`“${text}”`);
    groups.set(aspect, group);
  }
  const rows = [...groups].sort(([a], [b]) => a.localeCompare(b)).map(([aspect, group]) => make("tr", {},
    make("td", { class: "form", dir: "auto" }, aspect), make("td", { class: "number" }, String(group.positive)),
    make("td", { class: "number" }, String(group.negative)), make("td", { dir: "auto" }, group.compared.join("; ")),
    make("td", { dir: "auto" }, group.words.slice(0, 20).join(", "))));
  const head = [["Aspect"], ["Positive", "number"], ["Negative", "number"], ["Compared"], ["In words"]];
  const table = make("table", { class: "found aspects", "aria-label": "Opinions by aspect" },
    make("thead", {}, make("tr", {}, ...head.map(([name, kind]) => make("th", { scope: "col", class: kind ?? "" }, name)))),
    make("tbody", {}, ...rows));
  return make("div", { class: "card scroll" }, table);
}

function drawLayer(content, answer, words, layer) {
  const text = make("div", { class: "card running" });
  for (const sentence of answer.sentences) {
    if (sentence.pictures.spans[layer]) text.append(enliven(drawn(sentence.pictures.spans[layer]), words));
  }
  content.replaceChildren(text);
  if (layer === "opinions" && answer.spans.opinions.length) {
    content.append(aspectTable(answer.spans.opinions, answer.spans.mentions ?? []));
    return rove(content);
  }
  const groups = new Map();
  for (const span of labelled(answer, layer)) {
    const key = `${span.label}\t${span.text}`;
    const group = groups.get(key) ?? { ...span, count: 0, least: span.probability };
    group.count += 1;
    if (span.probability !== undefined) group.least = Math.min(group.least, span.probability);
    groups.set(key, group);
  }
  if (groups.size) {
    const sure = [...groups.values()].some((group) => group.least !== undefined);
    const rows = [...groups.values()].map((group) => make("tr", {},
      make("td", { class: "form", dir: "auto" }, group.text), make("td", {}, group.label),
      make("td", { class: "number" }, String(group.count)),
      ...(sure ? [make("td", { class: `number ${shade(group.least)}` }, group.least === undefined ? "" : percent(group.least))] : [])));
    const head = [["Text"], ["Label"], ["Count", "number"], ...(sure ? [["Certainty", "number"]] : [])];
    const table = make("table", { class: "found" },
      make("thead", {}, make("tr", {}, ...head.map(([name, kind]) => make("th", { scope: "col", class: kind ?? "" }, name)))),
      make("tbody", {}, ...rows));
    content.append(make("div", { class: "card scroll" }, table));
  } else {
    content.append(make("p", { class: "none" }, `No ${layerName(layer)} were found in this text.`));
  }
  if (layer === "links") content.append(...linkCards(answer.spans.links));
  rove(content);
}

function drawWords(panel, answer) {
  const there = COLUMNS.filter((column) => answer.sentences.some((s) => s.words.some((word) => word[column] !== undefined)));
  inSteps(panel, answer.sentences, (sentence) => {
    const head = make("tr", {}, make("th", { scope: "col", class: "number" }, "#"), make("th", { scope: "col" }, "Form"),
      ...there.map((column) => make("th", { scope: "col" }, TITLES[column])));
    const rows = sentence.words.map((word) => make("tr", { class: "word", "data-word": word.index, tabindex: "-1", role: "row" },
      make("td", { class: "number" }, String(word.number)),
      make("td", { class: `form ${shade(word.confidence?.form)}`, dir: "auto" }, word.form),
      ...there.map((column) => cell(word, column, sentence))));
    const title = make("h2", { id: `words-${sentence.number}` }, make("small", {}, String(sentence.number)), make("bdi", {}, sentence.text));
    const table = make("table", { class: "words", "aria-labelledby": title.id }, make("thead", {}, head), make("tbody", {}, ...rows));
    return make("article", { class: "card sentence-table" }, title, make("div", { class: "scroll" }, table));
  });
}

function cell(word, column, sentence) {
  const value = word[column];
  if (value === undefined) return make("td");
  const td = make("td", { class: `${column} ${shade(word.confidence?.[column])}` });
  if (column === "head") {
    const head = value ? sentence.words[value - 1].form : "root";
    td.append(`${value} `, make("bdi", { class: "headword" }, head));
  } else if (column === "feats") {
    td.append(value.replaceAll("|", " "));
  } else {
    td.append(value);
  }
  return td;
}
