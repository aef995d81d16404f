// The page: sends requests to the service, shows responses, saves files. Nothing is loaded from elsewhere.
"use strict";

const SAMPLES = {
  "A lighthouse": "The old lighthouse stood on a black rock. Nobody had lived there for many years. One evening a small boat came to the island, and a girl named Ilse climbed onto the stones.",
  "An office by the sea": "Marta Lindqvist opened the office in Bergen last spring. She had sailed with the Northern Ferry Company before, and she still wrote down every name in her blue book.",
  "Garden paths": "The old man the boat. Time flies like an arrow. Visiting relatives can be boring, she said, but I saw her duck.",
};
const FILES = {
  conllu: ["CoNLL-U", ".conllu"], records: ["Records", ".records.jsonl"], jsonl: ["JSON Lines", ".jsonl"], parquet: ["Parquet", ".parquet"],
  columns: ["Columns", ".conll"], plain: ["Plain text", ".txt"], html: ["Page", ".html"], svg: ["Pictures", ".svg"],
  brat: ["brat", ".zip"], penn: ["Bracketed trees", ".mrg"], streusle: ["STREUSLE", ".conllulex"],
  bioscope: ["BioScope", ".xml"], times: ["Time phrases", ".times.tsv"], timeml: ["TimeML", ".tml"],
  anafora: ["Anafora", ".anafora.xml"], xmi: ["UIMA XMI", ".xmi"], coref: ["Coreference", ".coref"], tuples: ["Relations", ".tuples.jsonl"],
  links: ["Links", ".links.jsonl"], nif: ["NIF", ".ttl"], json: ["API response", ".json"],
};
const VIEWS = ["trees", "spans", "words"];
const state = { models: null, answer: null, words: [], letters: [], ranked: null, opener: null, asked: 0 };

function modelFacts(name = state.answer?.model) {
  return state.models.models.find((model) => model.name === name) ?? state.models.models[0];
}

async function ask(body) {
  return nested(await (await post("/annotate", body)).json());
}

// A response lists all words once and counts from 0 in the document; the views go sentence by sentence, from 1.
function nested(answer) {
  answer.words.forEach((word, index) => Object.assign(word, { index }));
  answer.sentences.forEach((sentence, index) => {
    sentence.number = index + 1;
    sentence.words = answer.words.slice(sentence.first_word, sentence.end_word);
    sentence.words.forEach((word, place) => {
      word.number = place + 1;
      if (word.head !== undefined) word.head = word.head < 0 ? 0 : word.head - sentence.first_word + 1;
    });
  });
  for (const span of Object.values(answer.spans).flat()) {
    span.words = (span.pieces ?? [span]).map((piece) => [piece.first_word, piece.end_word]);
    span.probability ??= undefined;
  }
  return answer;
}

async function annotate() {
  const text = $("text").value;
  closeDetail();
  remember();
  if (!text.trim()) {
    state.asked += 1; // an answer that is under way is no longer wanted
    state.answer = null;
    $("results").hidden = true;
    complain("There is nothing to annotate yet: type or paste some text.");
    $("text").focus();
    return;
  }
  const turn = (state.asked += 1);
  $("go").disabled = true;
  $("results").setAttribute("aria-busy", "true");
  try {
    const model = $("model").value;
    const answer = await ask({ text, model, probabilities: modelFacts(model).probabilities, pictures: true });
    if (turn === state.asked) show(answer);
  } catch (error) {
    if (turn === state.asked) complain(error.message);
  } finally {
    $("go").disabled = false;
    $("results").removeAttribute("aria-busy");
  }
}

function show(answer) {
  complain(answer.notice ? `${answer.notice[0].toUpperCase()}${answer.notice.slice(1)}.` : "");
  state.answer = answer;
  state.ranked = null;
  state.letters = [...answer.text]; // the service counts characters, JavaScript counts UTF-16 code units
  state.words = answer.sentences.flatMap((sentence) => sentence.words);
  const facts = modelFacts(answer.model);
  $("summary").replaceChildren(
    make("strong", {}, counted(answer.sentences.length, "sentence")), ", ", counted(state.words.length, "word"),
    `, ${(1000 * answer.seconds).toFixed(0)} ms`);
  $("results").classList.toggle("shaded", $("shading").checked && facts.probabilities);
  $("shading-label").hidden = !facts.probabilities;
  const spans = Object.values(answer.spans).reduce((sum, layer) => sum + layer.length, 0);
  $("tab-spans").replaceChildren("Spans", make("small", {}, String(spans)));
  $("tab-words").replaceChildren("Words", make("small", {}, String(state.words.length)));
  $("tab-trees").replaceChildren("Sentences", make("small", {}, String(answer.sentences.length)));
  drawSentences($("view-trees"), answer, state.words);
  drawSpans($("view-spans"), answer, state.words);
  drawWords($("view-words"), answer);
  $("formats").replaceChildren(...[...facts.formats, "json"].map((format) => {
    const [title, suffix] = FILES[format] ?? [format, ""];
    return make("li", {}, make("button", { type: "button", onclick: () => download(format) }, title, make("small", {}, suffix)));
  }));
  $("results").hidden = false;
}

// The text and the model survive a reload, in this tab only.
function remember() {
  try {
    sessionStorage.text = $("text").value;
    sessionStorage.model = $("model").value;
  } catch {
    // the browser stores nothing
  }
}

function recall() {
  try {
    const { text, model } = sessionStorage;
    if (text) $("text").value = text;
    if (state.models.models.some((each) => each.name === model)) $("model").value = model;
  } catch {
    // the browser stores nothing
  }
}

function choose(view, focus = false) {
  for (const name of VIEWS) {
    const tab = $(`tab-${name}`);
    tab.setAttribute("aria-selected", String(name === view));
    tab.tabIndex = name === view ? 0 : -1;
    $(`view-${name}`).hidden = name !== view;
  }
  if (focus) $(`tab-${view}`).focus();
}

async function download(format) {
  $("downloads").open = false;
  const { text, model } = state.answer;
  try {
    const response = await post("/annotate", { text, model, format, probabilities: modelFacts().probabilities });
    save(await response.blob(), `weft${FILES[format]?.[1] ?? ""}`);
    complain("");
  } catch (error) {
    complain(error.message);
  }
}

function count() {
  const most = state.models?.max_chars;
  const used = [...$("text").value].length;
  $("count").textContent = most ? `${used.toLocaleString("en")} of ${most.toLocaleString("en")} characters` : "";
  $("count").classList.toggle("over", Boolean(most) && used > most);
}

function step(word, by) {
  const words = [...word.closest("[role=tabpanel]").querySelectorAll("[data-word]")];
  const next = words[words.indexOf(word) + by];
  if (!next) return;
  word.setAttribute("tabindex", "-1");
  next.setAttribute("tabindex", "0");
  next.focus();
  next.scrollIntoView({ block: "nearest", inline: "nearest" });
}

function onKey(event) {
  const target = event.target;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    annotate();
    return;
  }
  if (event.key === "Escape") {
    $("downloads").open = false;
    closeDetail();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const word = target.closest?.("[data-word]");
  const forward = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (word && forward) {
    event.preventDefault();
    step(word, forward);
  } else if (word && (event.key === "Enter" || event.key === " ")) {
    event.preventDefault();
    showDetail(Number(word.dataset.word), word);
  } else if (target.matches?.("[role=tab]") && forward) {
    event.preventDefault();
    const at = VIEWS.findIndex((view) => `tab-${view}` === target.id);
    choose(VIEWS[(at + forward + VIEWS.length) % VIEWS.length], true);
  } else if (!target.matches?.("textarea, select, input")) {
    shortcut(event);
  }
}

function shortcut(event) {
  const keys = {
    "/": () => $("text").focus(),
    "?": () => $("help").showModal(),
    s: () => $("shading").click(),
    d: () => { if (state.answer) { $("downloads").open = true; $("formats").querySelector("button").focus(); } },
  };
  const view = VIEWS[Number(event.key) - 1];
  if (view && state.answer) choose(view, true);
  else if (keys[event.key]) keys[event.key]();
  else return;
  event.preventDefault();
}

async function start() {
  choose("trees");
  $("form").addEventListener("submit", (event) => { event.preventDefault(); annotate(); });
  $("text").addEventListener("input", () => { count(); remember(); });
  $("model").addEventListener("change", () => { showAbout(modelFacts($("model").value)); annotate(); });
  $("shading").addEventListener("change", () => $("results").classList.toggle("shaded", $("shading").checked));
  $("help-button").addEventListener("click", () => $("help").showModal());
  for (const view of VIEWS) $(`tab-${view}`).addEventListener("click", () => choose(view));
  document.addEventListener("keydown", onKey);
  document.addEventListener("click", (event) => {
    const word = event.target.closest("[data-word]");
    if (word) showDetail(Number(word.dataset.word), word);
    if (!event.target.closest("#downloads")) $("downloads").open = false;
  });
  for (const name of Object.keys(SAMPLES)) $("sample").append(make("option", { value: name }, name));
  $("sample").addEventListener("change", () => {
    if (!$("sample").value) return;
    $("text").value = SAMPLES[$("sample").value];
    $("sample").value = "";
    count();
    annotate();
  });
  try {
    const response = await fetch("/models");
    state.models = await response.json();
  } catch {
    complain("The service does not respond. Is `weft serve` still running?");
    return;
  }
  if (state.models.graph) document.querySelector("nav").prepend(make("a", { href: "/ask", id: "questions" }, "Questions"));
  for (const model of state.models.models) $("model").append(make("option", { value: model.name }, model.name));
  recall();
  showAbout(modelFacts($("model").value));
  if (!$("text").value) $("text").value = Object.values(SAMPLES)[0];
  count();
  annotate();
}

start();
