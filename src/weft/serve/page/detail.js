// Details of one word: its annotations, their probabilities, and alternatives.
"use strict";

const DETAILS = { lemma: "Lemma", upos: "Part of speech", xpos: "Tag", feats: "Features", deprel: "Relation" };
const READINGS = 10;

function meter(p, name) {
  if (p === undefined) return make("dd");
  const bar = make("progress", { max: "1", value: String(p), "aria-label": `${name}: ${percent(p)} sure` });
  return make("dd", { class: "meter" }, percent(p), bar);
}

function showDetail(index, opener) {
  const panel = document.getElementById("detail");
  const word = state.words[index];
  const sentence = state.answer.sentences.find((each) => each.words.includes(word));
  for (const element of document.querySelectorAll(".chosen")) element.classList.remove("chosen");
  for (const element of document.querySelectorAll(`[data-word="${index}"]`)) element.classList.add("chosen");
  const list = make("dl");
  for (const [column, title] of Object.entries(DETAILS)) {
    if (word[column] === undefined) continue;
    let value = word[column].replaceAll("|", ", ");
    if (column === "deprel") value = word.head ? `${value} of ${sentence.words[word.head - 1].form}` : value;
    list.append(make("dt", {}, title), make("dd", {}, value), meter(word.confidence?.[column], title));
  }
  if (word.confidence?.form !== undefined) {
    list.append(make("dt", {}, "Boundary"), make("dd", {}, `characters ${word.start} to ${word.end}`), meter(word.confidence.form, "Boundary"));
  }
  for (const [layer, spans] of Object.entries(state.answer.spans)) {
    for (const span of spans.filter((each) => each.words.some(([start, end]) => start <= index && index < end))) {
      list.append(make("dt", {}, layer), make("dd", {}, `${span.label}: ${span.text}`), meter(span.probability, layer));
    }
  }
  const readings = make("div", { id: "readings", "aria-live": "polite" });
  const why = modelFacts().explains ? [reasons(index)] : [];
  const close = make("button", { type: "button", class: "plain", "aria-label": "Close", onclick: closeDetail }, "✕");
  panel.replaceChildren(
    make("header", {}, make("h2", { id: "detail-title", dir: "auto" }, word.form), close), list, ...why, readings);
  panel.hidden = false;
  state.opener = opener;
  panel.focus({ preventScroll: true });
  if (modelFacts().alternatives) showReadings(readings, word, sentence);
}

// Why the word was annotated as it is, requested when the user opens it: every decision with its strongest reasons.
function reasons(index) {
  const place = make("div", { "aria-live": "polite" });
  const block = make("details", { id: "why" }, make("summary", {}, "Why"), place);
  block.addEventListener("toggle", async () => {
    if (!block.open || place.children.length) return;
    place.replaceChildren(make("p", { class: "none" }, "Looking for the reasons …"));
    try {
      const { explanations } = await ask({ text: state.answer.text, model: state.answer.model, explain: index });
      place.replaceChildren(...explanations.map(reasonsOf));
    } catch (error) {
      place.replaceChildren(make("p", { class: "none" }, error.message));
    }
  });
  return block;
}

function reasonsOf(found) {
  const title = make("h3", { dir: "auto" }, `${found.task}: ${found.decision}`);
  if (!found.runner_up || !found.reasons.length) return make("section", {}, title, make("p", { class: "none" }, "There was no choice."));
  const head = ["Feature", "Value", `Against ${found.runner_up}`].map((name) => make("th", { scope: "col" }, name));
  const rows = found.reasons.map((each) => make("tr", {}, make("td", {}, each.template),
    make("td", { dir: "auto" }, each.value), make("td", { class: "number" }, (each.weight - each.runner_up).toFixed(2))));
  return make("section", {}, title, make("table", { class: "found" }, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows)));
}

function closeDetail() {
  const panel = document.getElementById("detail");
  if (panel.hidden) return;
  panel.hidden = true;
  for (const element of document.querySelectorAll(".chosen")) element.classList.remove("chosen");
  if (state.opener?.isConnected) state.opener.focus({ preventScroll: true });
}

// The best readings of the sentence by task, requested when a word is first opened.
async function showReadings(place, word, sentence) {
  place.replaceChildren(make("h3", {}, "Alternatives"), make("p", { class: "none" }, "Looking for other readings …"));
  let answer;
  try {
    state.ranked ??= ask({ text: state.answer.text, model: state.answer.model, alternatives: READINGS });
    answer = await state.ranked;
  } catch (error) {
    state.ranked = null;
    place.replaceChildren(make("p", { class: "none" }, error.message));
    return;
  }
  const ranked = answer.sentences[sentence.number - 1]?.alternatives ?? {};
  const at = word.number - 1;
  const differing = [];
  const same = [];
  for (const [task, readings] of Object.entries(ranked)) {
    const shares = sharesOf(readings, at);
    if (shares.length > 1) differing.push([task, shares]);
    else if (shares.length) same.push(task);
  }
  place.replaceChildren();
  for (const [task, shares] of differing) {
    const wordsFor = inWords(ranked[task]);
    place.append(make("h3", {}, `What else it could be (${task})`));
    place.append(make("ol", { class: "readings" }, ...shares.map(([label, p]) => reading(wordsFor(label), p))));
  }
  if (same.length) {
    place.append(make("p", { class: "none" }, `The same in all ${READINGS} best readings of the sentence: ${same.join(", ")}.`));
  }
  for (const [task, readings] of Object.entries(ranked)) {
    if (readings.length > 1) place.append(wholeReadings(task, readings, sentence));
  }
}

// The labels that a word has in the best readings, each with its share of their probability.
function sharesOf(readings, at) {
  const total = readings.reduce((sum, each) => sum + each.probability, 0);
  const shares = new Map();
  for (const each of readings) shares.set(each.labels[at], (shares.get(each.labels[at]) ?? 0) + each.probability / total);
  return [...shares].sort((a, b) => b[1] - a[1]);
}

function reading(text, p, more = "") {
  const own = make("span", {}, text);
  if (more) own.append(make("small", {}, more));
  const bar = make("progress", { max: "1", value: String(p), "aria-hidden": "true" });
  return make("li", {}, own, make("div", { class: "meter" }, percent(p), bar));
}

// The readings of the whole sentence: how they differ from the best one.
function wholeReadings(task, readings, sentence) {
  const best = readings[0].labels;
  const wordsFor = inWords(readings);
  const items = readings.map((each) => {
    const other = each.labels.map((label, i) => (label !== best[i] ? `${sentence.words[i].form}: ${wordsFor(label)}` : null));
    return reading(other.filter(Boolean).join("; ") || "as shown", each.probability);
  });
  const list = make("ol", { class: "readings" }, ...items);
  return make("details", {}, make("summary", {}, `Best readings of the sentence (${task})`), list);
}
