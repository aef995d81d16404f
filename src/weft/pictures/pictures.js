// A page of trees: search among its sentences, and pictures that show where they continue.
"use strict";

// Which sides of an element hide a part of its content; only what can be scrolled can be reached with Tab.
function showMore(element) {
  const hidden = element.scrollWidth - element.clientWidth;
  const left = getComputedStyle(element).direction === "rtl" ? hidden + element.scrollLeft : element.scrollLeft;
  const sides = hidden > 1 ? [left > 1 && "left", left < hidden - 1 && "right"].filter(Boolean) : [];
  element.dataset.more = sides.join(" ");
  if (hidden > 1) element.tabIndex = 0;
  else element.removeAttribute("tabindex");
}

function watchScrolling(element) {
  element.addEventListener("scroll", () => showMore(element), { passive: true });
  new ResizeObserver(() => showMore(element)).observe(element);
}

function searchSentences(input, output, sections) {
  const texts = sections.map((section) =>
    [...section.querySelectorAll("h2, .sentence-text, .spans")].map((each) => each.textContent).join(" ").toLowerCase());
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    for (const [i, section] of sections.entries()) {
      section.hidden = !words.every((word) => texts[i].includes(word));
      found += !section.hidden;
    }
    output.textContent = words.length ? `${found} of ${sections.length} sentences` : "";
  });
}

if (document.querySelector(".weft-doc")) {
  for (const figure of document.querySelectorAll(".weft-doc figure")) watchScrolling(figure);
  const input = document.querySelector(".weft-search input");
  if (input) searchSentences(input, document.querySelector(".weft-search output"), [...document.querySelectorAll(".weft-doc section")]);
}
