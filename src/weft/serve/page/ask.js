// Questions to a graph: suggestions while typing, the answer as a table and a picture, the question as a query.
"use strict";

const LANGUAGES = ["sql", "sparql", "cypher"];
const asked = { found: [], active: -1, typed: 0, busy: false, waiting: null, turn: 0, answer: null, language: "sql" };
// The service keeps what it read of earlier words under this name; it says nothing about who asks.
const session = Array.from({ length: 4 }, () => Math.random().toString(36).slice(2, 8)).join("");

// One request for suggestions at a time; of what is typed meanwhile, the last counts.
async function suggest() {
  asked.typed += 1;
  asked.waiting = $("question").value;
  if (asked.busy) return;
  asked.busy = true;
  try {
    while (asked.waiting !== null) {
      const text = asked.waiting;
      const turn = asked.typed;
      asked.waiting = null;
      const { suggestions } = await (await post("/suggest", { text, session })).json();
      if (turn === asked.typed) list(suggestions, text);
    }
    complain("");
  } catch (error) {
    asked.waiting = null;
    complain(error.message);
  } finally {
    asked.busy = false;
  }
}

// Words that were typed, or begin as they do, stand out from those that were filled in.
function told(sentence, typed) {
  const begun = typed.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const known = (word) => begun.some((each) => word.startsWith(each.slice(0, Math.max(2, each.length - 2))));
  return (sentence.match(/[\p{L}\p{N}]+|[^\p{L}\p{N}]+/gu) ?? []).map((piece) =>
    /[\p{L}\p{N}]/u.test(piece) && known(piece.toLowerCase()) ? make("b", {}, piece) : piece);
}

function list(sentences, typed) {
  asked.found = sentences;
  const options = sentences.map((sentence, place) => make("li", {
    id: `suggestion-${place}`, role: "option", "aria-selected": "false",
    onmousedown: (event) => { event.preventDefault(); answer(sentence); },
  }, ...told(sentence, typed)));
  $("suggestions").replaceChildren(...options);
  const shown = options.length > 0 && document.activeElement === $("question");
  $("suggestions").hidden = !shown;
  $("question").setAttribute("aria-expanded", String(shown));
  mark(-1);
}

function close() {
  asked.typed += 1; // suggestions that are under way are no longer wanted
  asked.waiting = null;
  $("suggestions").hidden = true;
  $("question").setAttribute("aria-expanded", "false");
  mark(-1);
}

function mark(place) {
  asked.active = place;
  [...$("suggestions").children].forEach((option, number) => option.setAttribute("aria-selected", String(number === place)));
  if (place >= 0) $("question").setAttribute("aria-activedescendant", `suggestion-${place}`);
  else $("question").removeAttribute("aria-activedescendant");
}

async function answer(text) {
  $("question").value = text;
  close();
  if (!text.trim()) {
    complain("There is nothing to ask yet: type a question.");
    return;
  }
  const turn = (asked.turn += 1);
  $("results").setAttribute("aria-busy", "true");
  try {
    const found = await (await post("/ask", { text })).json();
    if (turn !== asked.turn) return;
    complain("");
    show(found);
    history.replaceState(null, "", `#${encodeURIComponent(text)}`);
  } catch (error) {
    if (turn === asked.turn) complain(error.message);
  } finally {
    $("results").removeAttribute("aria-busy");
  }
}

function show(found) {
  asked.answer = found;
  const understood = found.understood !== null;
  $("how").textContent = understood ? "Understood:" : "";
  $("understood").textContent = understood ? found.understood : "This question means nothing in the graph.";
  $("figures").textContent = understood ? `${counted(found.total, "result")}, ${(1000 * found.seconds).toFixed(0)} ms` : "";
  $("ignored").textContent = `Left out: ${found.ignored.join(", ")}`;
  $("ignored").hidden = !found.ignored.length;
  $("table").replaceChildren(tabled(found));
  $("answer").hidden = !understood;
  $("graph").hidden = !found.picture;
  if (found.picture) {
    $("picture").replaceChildren(drawn(found.picture));
    $("caption").textContent = found.drawn < found.total ? `${found.drawn} of ${counted(found.total, "result")} are drawn` : "";
  }
  const others = found.others.map((text) => make("button", { type: "button", onclick: () => answer(text) }, text));
  $("others").replaceChildren(understood ? "Or:" : "It can be asked:", ...others);
  $("others").hidden = !others.length;
  $("query").hidden = !understood;
  if (understood) choose(asked.language);
  $("results").hidden = false;
}

function tabled(found) {
  if (!found.rows.length) return make("p", { class: "none" }, "The graph has no answer.");
  if (found.columns.length === 1 && found.columns[0] === "value") return make("p", { class: "value" }, found.rows[0][0]);
  const head = make("tr", {}, ...found.columns.map((name) => make("th", { scope: "col" }, name)));
  const rows = found.rows.map((row) => make("tr", {}, ...row.map((cell, place) =>
    make("td", { class: place ? "" : "form", dir: "auto" }, cell))));
  const table = make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows));
  if (found.rows.length === found.total) return table;
  return make("div", {}, table, make("p", { class: "none" }, `${found.rows.length} of ${counted(found.total, "result")} are shown.`));
}

function choose(language, focus = false) {
  asked.language = language;
  for (const name of LANGUAGES) {
    const tab = $(`tab-${name}`);
    tab.setAttribute("aria-selected", String(name === language));
    tab.tabIndex = name === language ? 0 : -1;
  }
  $("written").setAttribute("aria-labelledby", `tab-${language}`);
  $("written").textContent = asked.answer?.queries[language] ?? "";
  if (focus) $(`tab-${language}`).focus();
}

async function copy() {
  const text = $("written").textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without a secure connection there is no clipboard: the text is selected, and the browser asked to copy it.
    getSelection().selectAllChildren($("written"));
    document.execCommand("copy");
  }
  $("copy").textContent = "Copied";
  setTimeout(() => { $("copy").textContent = "Copy"; }, 1500);
}

function onQuestionKey(event) {
  const open = !$("suggestions").hidden;
  const last = asked.found.length - 1;
  if (event.key === "ArrowDown" && !open) suggest();
  else if (event.key === "ArrowDown") mark(asked.active === last ? -1 : asked.active + 1);
  else if (event.key === "ArrowUp" && open) mark(asked.active < 0 ? last : asked.active - 1);
  else if (event.key === "Enter") answer(open && asked.active >= 0 ? asked.found[asked.active] : $("question").value);
  else if (event.key === "ArrowRight" && open && asked.active >= 0 && $("question").selectionStart === $("question").value.length) {
    $("question").value = `${asked.found[asked.active]} `;
    suggest();
  } else if (event.key === "Escape" && open) close();
  else return;
  event.preventDefault();
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
  if (event.target.id === "question") return;
  const tab = event.target.closest?.("[role=tab]");
  if (tab && (event.key === "ArrowLeft" || event.key === "ArrowRight")) {
    const step = event.key === "ArrowRight" ? 1 : LANGUAGES.length - 1;
    choose(LANGUAGES[(LANGUAGES.indexOf(asked.language) + step) % LANGUAGES.length], true);
  } else if (event.key === "/") $("question").focus();
  else if (event.key === "?") $("help").showModal();
  else if (asked.answer?.queries && ["1", "2", "3"].includes(event.key)) choose(LANGUAGES[event.key - 1]);
  else if (asked.answer?.queries && event.key.toLowerCase() === "c") copy();
  else return;
  event.preventDefault();
}

async function start() {
  $("form").addEventListener("submit", (event) => { event.preventDefault(); answer($("question").value); });
  $("question").addEventListener("input", suggest);
  $("question").addEventListener("keydown", onQuestionKey);
  $("question").addEventListener("focus", () => { if (!$("question").value) suggest(); });
  $("question").addEventListener("blur", close);
  $("help-button").addEventListener("click", () => $("help").showModal());
  $("copy").addEventListener("click", copy);
  $("keep").addEventListener("click", () => saveSvg($("picture").firstElementChild, "answer"));
  for (const name of LANGUAGES) $(`tab-${name}`).addEventListener("click", () => choose(name));
  document.addEventListener("keydown", onKey);
  try {
    const facts = await (await fetch("/graph")).json();
    const about = [counted(facts.nodes, "node"), counted(facts.edges, "edge"), facts.types.join(", ")];
    $("about").textContent = `${about.filter(Boolean).join(" · ")}${facts.me ? ` · asked as ${facts.me}` : ""}`;
    $("texts").hidden = !facts.models.length;
  } catch {
    complain("The service does not respond. Is `weft serve` still running?");
    return;
  }
  let given = "";
  try {
    given = decodeURIComponent(location.hash.slice(1));
  } catch {
    // the address was cut
  }
  if (given) answer(given);
  else $("question").focus();
}

start();
