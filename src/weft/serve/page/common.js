// What both pages share: elements, counts, messages, files to keep.
"use strict";

const $ = (id) => document.getElementById(id);

// An element with attributes and children; text is never parsed as HTML.
function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "class") element.className = value;
    else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== false && value !== null) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

// Pictures come from the service, which escapes their content.
function drawn(markup) {
  return new DOMParser().parseFromString(markup, "text/html").body.firstElementChild;
}

// A response of the service, or an error in its own words.
async function post(path, body) {
  let response;
  try {
    response = await fetch(path, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
    });
  } catch {
    throw new Error("The service does not respond. Is `weft serve` still running?");
  }
  if (!response.ok) {
    const told = await response.json().catch(() => ({}));
    const words = told.error ?? `The service responded with ${response.status}.`;
    throw new Error(words[0].toUpperCase() + words.slice(1));
  }
  return response;
}

function complain(words) {
  $("problem").textContent = words;
  $("problem").hidden = !words;
}

function counted(n, name) {
  return `${n.toLocaleString("en")} ${name}${n === 1 ? "" : "s"}`;
}

function save(blob, name) {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// A picture with its style sheet, for use on its own.
async function saveSvg(picture, name) {
  const copy = picture.cloneNode(true);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("role", "img");
  for (const word of copy.querySelectorAll("[data-word]")) {
    for (const attribute of ["role", "tabindex", "aria-label"]) word.removeAttribute(attribute);
    word.setAttribute("class", "word");
  }
  const style = document.createElementNS("http://www.w3.org/2000/svg", "style");
  style.textContent = await (await fetch("/pictures.css")).text();
  copy.prepend(style);
  save(new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }), `${name}.svg`);
}
