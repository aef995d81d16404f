// The human-readable API description, generated from /openapi.json.
"use strict";

function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

const nameOf = (reference) => reference.split("/").pop();

function typeOf(schema) {
  if (schema.$ref) return nameOf(schema.$ref);
  if (schema.anyOf) return schema.anyOf.map(typeOf).filter((type) => type !== "null").join(" or ");
  if (schema.enum) return schema.enum.join(" | ");
  if (schema.prefixItems) return `[${schema.prefixItems.map(typeOf).join(", ")}]`;
  if (schema.type === "array") return `list of ${typeOf(schema.items ?? {})}`;
  if (schema.additionalProperties?.type || schema.additionalProperties?.$ref) return `${typeOf(schema.additionalProperties)} by name`;
  return schema.const ?? schema.type ?? "anything";
}

function fields(schema) {
  const rows = Object.entries(schema.properties ?? {}).map(([name, field]) => make("tr", {},
    make("td", {}, make("code", {}, name)), make("td", {}, typeOf(field)),
    make("td", {}, [field.description, "default" in field && field.default !== null ? `Default: ${field.default}.` : ""].filter(Boolean).join(" ").replaceAll("`", ""))));
  const head = make("tr", {}, ...["Field", "Type", ""].map((title) => make("th", { scope: "col" }, title)));
  return make("div", { class: "scroll" }, make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows)));
}

async function start() {
  const api = await (await fetch("/openapi.json")).json();
  document.getElementById("curl").textContent =
    `curl ${location.origin}/annotate -H 'Content-Type: application/json' \\\n     -d '{"text": "The ferry left Bergen."}'`;
  const place = document.getElementById("paths");
  const known = api.components.schemas;
  const told = new Set();
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const title = make("h2", {}, make("span", { class: "method" }, method.toUpperCase()), path);
      const section = make("section", { class: "card docs" }, title, make("p", {}, (operation.description ?? "").replaceAll("`", "")));
      const body = operation.requestBody?.content["application/json"].schema.$ref;
      if (body) section.append(make("h3", {}, "Request"), fields(known[nameOf(body)]));
      const answer = operation.responses["200"].content?.["application/json"]?.schema.$ref;
      const waiting = answer ? [nameOf(answer)] : [];
      while (waiting.length) {
        const name = waiting.shift();
        if (told.has(name)) continue;
        told.add(name);
        section.append(make("h3", {}, name), fields(known[name]));
        waiting.push(...[...JSON.stringify(known[name]).matchAll(/#\/components\/schemas\/(\w+)/g)].map((match) => match[1]));
      }
      const codes = Object.entries(operation.responses).filter(([code]) => code !== "200");
      if (codes.length) {
        section.append(make("h3", {}, "Errors"), make("p", {}, codes.map(([code, what]) => `${code}: ${what.description}`).join(" · ")));
      }
      place.append(section);
    }
  }
}

start();
