// Talking to the service: every answer has an id of its own, is kept in this browser until the service has stored it, and is
// sent again with the same id when the network or the service fails.
"use strict";

const $ = (id) => document.getElementById(id);

function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "class") element.className = value;
    else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key.startsWith("data-") || key.startsWith("aria-") || key === "role") element.setAttribute(key, value);
    else element[key] = value;
  }
  element.append(...children);
  return element;
}

function complain(words) {
  $("problem").textContent = words;
  $("problem").hidden = !words;
}

function newId() {
  // crypto.randomUUID exists only on pages that came over HTTPS or from this machine
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

class Problem extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function ask(path, body) {
  const options = body === undefined ? {} : {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  };
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", ...options });
  } catch {
    throw new Problem(0, "The workbench does not respond.");
  }
  const told = await response.json().catch(() => ({}));
  if (!response.ok) {
    const words = told.error ?? `The workbench responded with ${response.status}.`;
    throw new Problem(response.status, words[0].toUpperCase() + words.slice(1));
  }
  return told;
}

const KEPT = "weft-workbench-pending";

function pending() {
  try {
    return JSON.parse(localStorage.getItem(KEPT) ?? "null");
  } catch {
    return null;
  }
}

function keep(sent) {
  try {
    if (sent) localStorage.setItem(KEPT, JSON.stringify(sent));
    else localStorage.removeItem(KEPT);
  } catch {
    // the browser stores nothing: the answer is kept in memory while this page is open
  }
}

// Send until it is stored; returns what the service says.
async function store(path, body, person) {
  const id = body.id ?? newId();
  const sent = { path, person, body: { id, ...body } };
  keep(sent);
  for (let wait = 300; ; wait = Math.min(wait * 2, 5000)) {
    try {
      const told = await ask(path, sent.body);
      keep(null);
      complain("");
      return told;
    } catch (problem) {
      if (problem.status && problem.status < 500) {
        if (problem.status !== 401) keep(null);
        throw problem;
      }
      complain(`${problem.message} Your answer is kept in this browser and sent again.`);
      await new Promise((resume) => setTimeout(resume, wait));
    }
  }
}
