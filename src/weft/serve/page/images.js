// Pictures found by a sentence, with their ranks; a click on one finds those like it.
"use strict";

const searched = { turn: 0 };

async function search() {
  const text = $("text").value;
  if (!text.trim()) {
    complain("There is nothing to search by yet: type a sentence.");
    $("text").focus();
    return;
  }
  const turn = (searched.turn += 1);
  $("results").setAttribute("aria-busy", "true");
  try {
    const found = await (await post("/search", { text })).json();
    if (turn === searched.turn) show(found);
  } catch (error) {
    if (turn === searched.turn) complain(error.message);
  } finally {
    $("results").removeAttribute("aria-busy");
  }
}

function show(found) {
  complain("");
  const size = `The best ${found.hits.length} of ${counted(found.images, "image")}`;
  $("summary").replaceChildren(make("strong", {}, size), `, ${(1000 * found.seconds).toFixed(0)} ms`);
  $("hits").replaceChildren(...found.hits.map(card));
  $("results").hidden = false;
}

function card({ rank, image, score, picture }) {
  const alike = () => { $("text").value = image; search(); };
  const name = make("button", { type: "button", class: "plain", title: "Images like this one", onclick: alike }, image);
  const parts = [make("span", { class: "rank" }, make("strong", {}, `${rank}`), ` · ${score.toFixed(3)}`), name];
  if (picture) parts.unshift(make("img", { src: picture, alt: image, loading: "lazy" }));
  return make("li", { class: "card" }, ...parts);
}

$("form").addEventListener("submit", (event) => { event.preventDefault(); search(); });
$("text").focus();
