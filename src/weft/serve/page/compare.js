// Two texts and what corresponds in them; or one text, and how its sentences hang together.
"use strict";

const compared = { turn: 0 };

async function compare() {
  const [text, other] = [$("text").value, $("other").value];
  if (!text.trim()) {
    complain("There is nothing to compare yet: type or paste a text.");
    $("text").focus();
    return;
  }
  const turn = (compared.turn += 1);
  $("go").disabled = true;
  $("results").setAttribute("aria-busy", "true");
  try {
    const body = { text, model: $("model").value };
    if (other.trim()) body.other = other;
    const found = await (await post("/compare", body)).json();
    if (turn === compared.turn) show(found);
  } catch (error) {
    if (turn === compared.turn) complain(error.message);
  } finally {
    $("go").disabled = false;
    $("results").removeAttribute("aria-busy");
  }
}

function show(found) {
  complain("");
  const pair = found.similarity !== null;
  const figure = pair ? `Similarity ${found.similarity.toFixed(2)}` : `Coherence ${found.coherence.toFixed(2)}`;
  const size = pair ? counted(found.links.length, "link") : counted(found.sentences, "sentence");
  $("summary").replaceChildren(make("strong", {}, figure), `, ${size}, ${(1000 * found.seconds).toFixed(0)} ms`);
  $("differs").replaceChildren(...(pair ? different(found.differs) : weak(found)));
  $("figure").hidden = !found.picture;
  if (found.picture) $("picture").replaceChildren(drawn(found.picture));
  $("results").hidden = false;
}

function different([here, there]) {
  if (!here.length && !there.length) return ["Every word corresponds to one of the other text."];
  const told = (name, words) => (words.length ? [`${name}: `, make("b", {}, words.join(" ")), ". "] : []);
  return [...told("Only in the first text", here), ...told("Only in the other", there)];
}

function weak({ sentences, weakest }) {
  if (sentences < 2) return ["A text of one sentence has no links between sentences."];
  return [`It hangs together least after ${weakest.length === 1 ? "sentence" : "sentences"} ${weakest.join(", ")}.`];
}

async function start() {
  $("form").addEventListener("submit", (event) => { event.preventDefault(); compare(); });
  for (const box of [$("text"), $("other")]) {
    box.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); compare(); }
    });
  }
  $("keep").addEventListener("click", () => saveSvg($("picture").firstElementChild, "compared"));
  try {
    const { models } = await (await fetch("/models")).json();
    $("model").replaceChildren(...models.map(({ name }) => make("option", { value: name }, name)));
  } catch {
    complain("The service does not respond. Is `weft serve` still running?");
  }
  $("text").focus();
}

start();
