// The page: enter, show an item, send its answer, show the next.
"use strict";

const state = { door: null, items: [], view: "work", since: 0, away: 0, hidden: 0, busy: false, disputes: [], editing: false, kind: "answer" };
const KEYS = [
  [["←", "→"], "move; with Shift, choose several words", ["spans", "relations", "tags", "trees"]],
  [["↓", "↑"], "next and previous mark, or uncertain word", ["spans", "relations", "tags", "trees"]],
  [["1", "2", "…"], "the label with this key; again takes it off"],
  [["y", "n"], "yes, no", ["questions"]],
  [["/"], "find a label by its name"],
  [["+"], "keep this piece, and add another after a gap", ["spans", "relations"]],
  [["r"], "relate this span to another one", ["relations"]],
  [["h"], "this word; go to its head; h again", ["trees"]],
  [["r"], "this word is the root", ["trees"]],
  [["Del"], "remove the mark here", ["spans", "relations", "tags", "trees"]],
  [["Enter"], "send, and show the next item"],
  [["u"], "undo a change, or the last answer"],
  [["s"], "skip: the item comes again at the end"],
  [["c"], "write a note"],
  [["g"], "guidelines"],
  [["b"], "progress"],
  [["?"], "this list"],
];

function show(view) {
  state.view = view;
  $("work").hidden = view === "board" || !state.door?.person || !editor.item;
  $("board").hidden = view !== "board";
  $("done").hidden = view === "board" || !state.door?.person || Boolean(editor.item);
  for (const name of ["work", "disputes", "board"]) $(`show-${name}`).setAttribute("aria-pressed", String(view === name));
}

async function start() {
  $("door").addEventListener("submit", (event) => { event.preventDefault(); enter($("door-field").value); });
  $("send").addEventListener("click", () => send());
  $("undo").addEventListener("click", undo);
  $("skip").addEventListener("click", skip);
  for (const name of ["gap", "relate", "head", "remove"]) $(name).addEventListener("click", () => { editor[name](); $("text").focus({ preventScroll: true }); });
  $("note-button").addEventListener("click", openNote);
  $("note").addEventListener("keydown", (event) => { if (event.key === "Escape") { event.stopPropagation(); $("text").focus(); } });
  $("filter").addEventListener("keydown", onFilter);
  $("show-work").addEventListener("click", openWork);
  $("show-disputes").addEventListener("click", openDisputes);
  $("show-board").addEventListener("click", openBoard);
  $("help-button").addEventListener("click", help);
  $("leave").addEventListener("click", async () => { await ask("/api/leave", {}).catch(() => {}); location.reload(); });
  $("text").addEventListener("pointerdown", onPointer);
  $("text").addEventListener("pointermove", onDrag);
  document.addEventListener("keydown", onKey);
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) state.hidden = performance.now();
    else if (state.hidden) { state.away += performance.now() - state.hidden; state.hidden = 0; }
  });
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token) {
    history.replaceState(null, "", location.pathname);
    await ask("/api/enter", { token }).catch((problem) => complain(problem.message));
  }
  await openDoor();
}

async function openDoor() {
  try {
    state.door = await ask("/api/door");
  } catch (problem) {
    complain(problem.message);
    return;
  }
  const inside = Boolean(state.door.person);
  $("door").hidden = inside;
  $("views").hidden = !inside;
  if (!inside) {
    editor.item = null;
    show("work");
    $("done").hidden = true;
    $("door-label").textContent = state.door.tokens ? "Your token" : "Your name";
    $("door-field").type = state.door.tokens ? "password" : "text";
    $("names").replaceChildren(...state.door.people.map((name) => make("button", { type: "button", class: "soft", onclick: () => enter(name) }, name)));
    $("door-field").focus();
    return;
  }
  const { project, person, role, labels, relations, task, guidelines } = state.door;
  document.title = `${project} · Weft`;
  $("project").textContent = project;
  $("leave").textContent = `Leave (${person})`;
  $("show-disputes").hidden = role !== "adjudicator";
  $("guidelines").textContent = guidelines;
  $("guide").open = innerWidth > 900;
  $("all-labels").replaceChildren(...[...labels, ...relations].map((label) => make("option", { value: label })));
  $("keys").replaceChildren(...KEYS.filter(([, , kinds]) => !kinds || kinds.includes(task)).map(([keys, told]) =>
    make("div", {}, make("dt", {}, ...keys.map((key) => make("kbd", {}, key))), make("dd", {}, told))));
  const kept = pending();
  if (kept && kept.person === person) await store(kept.path, kept.body, person).catch(() => keep(null));
  await openWork();
}

async function enter(given) {
  complain("");
  try {
    await ask("/api/enter", state.door.tokens ? { token: given.trim() } : { name: given.trim() });
  } catch (problem) {
    complain(problem.status === 401 && !state.door.tokens ? "Enter a name." : problem.message);
    return;
  }
  $("door-field").value = "";
  await openDoor();
}

async function openWork() {
  state.kind = "answer";
  try {
    take(await ask("/api/next?n=2"));
  } catch (problem) {
    failed(problem);
  }
}

function failed(problem) {
  complain(problem.message);
  if (problem.status === 401) {
    state.door = null;
    openDoor();
  }
}

// What the service says after an answer: the next items and how far the work is.
function take(told) {
  state.items = told.items;
  counted(told);
  if (told.items.length) begin(told.items[0]);
  else {
    editor.item = null;
    $("done").textContent = told.done >= told.wanted ? "All is labelled. Thank you." : "There is nothing left for you: others are at work on the rest.";
    show("work");
  }
}

function counted({ done, wanted, own, round }) {
  $("meter").setAttribute("aria-valuenow", done);
  $("meter").setAttribute("aria-valuemax", wanted);
  $("meter-fill").style.width = `${wanted ? (100 * done) / wanted : 0}%`;
  $("count").textContent = `${done.toLocaleString("en")} of ${wanted.toLocaleString("en")} answers, ${own.toLocaleString("en")} of them yours`;
  $("round").textContent = round ? roundInWords(round) : "";
}

function begin(item, value, note = "") {
  $("note").value = note;
  $("note").hidden = !note;
  $("said").hidden = state.kind !== "final";
  editor.open(state.door, item, value);
  state.since = performance.now();
  state.away = 0;
  state.hidden = document.hidden ? performance.now() : 0;
  show(state.kind === "final" ? "disputes" : "work");
  $("text").focus({ preventScroll: true });
  if (state.door.task === "trees") editor.draw(); // arcs need the widths of words
}

async function submit(kind, value) {
  if (state.busy || !editor.item) return;
  state.busy = true;
  $("card").setAttribute("aria-busy", "true");
  const { item } = editor;
  const { proposal } = item;
  const body = {
    item: item.id, kind, value, note: $("note").value, seconds: (performance.now() - state.since - state.away) / 1000,
    proposed: proposal ? { round: proposal.round, confidence: proposal.confidence, kept: same(value, proposal.value) } : null,
  };
  try {
    const told = await store("/api/answer", body, state.door.person);
    if (kind === "final") await openDisputes();
    else take(told);
  } catch (problem) {
    failed(problem);
  } finally {
    state.busy = false;
    $("card").removeAttribute("aria-busy");
  }
}

function send() {
  if (!editor.item) return;
  const open = missing(state.door.task, editor.value, state.door.several);
  complain(open);
  if (!open) submit(state.kind, editor.value);
}

const skip = () => (state.kind === "final" ? nextDispute() : submit("skip", null));

async function undo() {
  if (state.busy) return;
  if (editor.item && editor.back()) return;
  state.busy = true;
  try {
    const told = await store("/api/undo", {}, state.door.person);
    if (!told.item) complain("There is nothing to undo.");
    else if (told.kind === "final") await openDisputes();
    else {
      state.kind = "answer";
      begin(told.item, told.value, told.note);
      const { items, ...counts } = await ask("/api/next?n=2");
      counted(counts);
    }
  } catch (problem) {
    failed(problem);
  } finally {
    state.busy = false;
  }
}

function openNote() {
  $("note").hidden = false;
  $("note").focus();
}

function help() {
  $("help").showModal();
}

// Adjudication: what everybody says, side by side.
async function openDisputes() {
  try {
    const told = await ask("/api/disputes");
    state.disputes = told.items;
    state.kind = "final";
    nextDispute(told.left);
  } catch (problem) {
    failed(problem);
  }
}

function nextDispute(left) {
  const item = state.disputes.shift();
  state.editing = false;
  if (!item) {
    editor.item = null;
    $("done").textContent = "People agree on everything, or everything is decided.";
    show("disputes");
    return;
  }
  begin(item, { ...EMPTY[state.door.task](item.words.length), ...item.majority });
  drawSaid(item);
  if (left !== undefined) $("round").textContent = `${left.toLocaleString("en")} to decide`;
}

function drawSaid(item) {
  $("said").replaceChildren(
    make("p", { class: "hint" }, "Press the number of an answer to take it, ", make("kbd", {}, "e"), " to change it, ", make("kbd", {}, "↵"), " to decide."),
    make("div", { class: "side" }, ...item.answers.map((answer, at) => {
      const words = make("div", { class: "words", dir: "auto" });
      const marks = make("ul", { class: "marks" });
      const column = make("div", { class: "one" },
        make("button", { type: "button", class: "soft", onclick: () => choose(item, at) }, make("kbd", {}, String(at + 1)), ` ${answer.person}`),
        words, marks, ...(answer.value.labels && !answer.value.heads ? [make("p", {}, answer.value.labels.join(", "))] : []),
        ...(answer.value.accept !== undefined ? [make("p", {}, answer.value.accept ? "yes" : "no")] : []),
        ...(answer.note ? [make("p", { class: "hint" }, answer.note)] : []));
      if (state.door.task !== "trees") drawWords(words, state.door, { ...item, proposal: null }, answer.value);
      else words.textContent = answer.value.heads.map((head, word) => `${item.words[word][0]} ↑ ${head < 0 ? "root" : item.words[head][0]} (${answer.value.labels[word]})`).join(", ");
      drawMarks(marks, state.door, { ...item, proposal: null }, answer.value, null);
      return column;
    })));
}

function choose(item, at) {
  const answer = item.answers[at];
  if (!answer) return;
  editor.change({ ...EMPTY[state.door.task](item.words.length), ...answer.value });
  [...$("said").querySelectorAll(".one")].forEach((column, place) => column.classList.toggle("taken", place === at));
}

function onPointer(event) {
  const word = event.target.closest("[data-word]");
  if (!word || event.button) return;
  event.preventDefault();
  $("text").focus({ preventScroll: true });
  editor.tap(Number(word.dataset.word), event.shiftKey ? true : event.pointerType === "mouse" ? false : "tap");
}

function onDrag(event) {
  if (event.buttons !== 1 || event.pointerType !== "mouse" || !editor.marksSpans) return;
  const word = document.elementFromPoint(event.clientX, event.clientY)?.closest("#text [data-word]");
  if (word && Number(word.dataset.word) !== editor.cursor) editor.to(Number(word.dataset.word), true);
}

function onFilter(event) {
  event.stopPropagation();
  if (event.key === "Escape" || event.key === "Enter") {
    event.preventDefault();
    const typed = $("filter").value.trim().toLowerCase();
    const found = editor.choices.find((label) => label.toLowerCase() === typed) ?? editor.choices.find((label) => label.toLowerCase().startsWith(typed));
    $("filter").hidden = true;
    $("filter").value = "";
    $("text").focus();
    if (event.key === "Enter" && typed && found) editor.label(found);
  }
}

function onKey(event) {
  if ($("help").open || !state.door?.person || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches("input, textarea, select")) return;
  const pressesButton = event.target.matches("button, summary, a") && (event.key === "Enter" || event.key === " ");
  if (pressesButton) return;
  const commands = {
    "?": help, b: () => (state.view === "board" ? openWork() : openBoard()), g: () => { $("guide").open = !$("guide").open; },
    u: undo, s: skip, c: openNote, Enter: send,
    "/": () => { $("filter").hidden = false; $("filter").focus(); },
  };
  if (state.view === "board") {
    if (event.key === "b" || event.key === "Escape") openWork();
    else if (event.key === "?") help();
    else return;
  } else if (state.kind === "final" && editor.item && !state.editing && /^[1-9]$/.test(event.key)) choose(editor.item, Number(event.key) - 1);
  else if (state.kind === "final" && event.key === "e") state.editing = true;
  else if (commands[event.key]) commands[event.key]();
  else if (!editor.item || state.busy || !editor.key(event)) return;
  event.preventDefault();
}

start();
