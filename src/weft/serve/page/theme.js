// Colours: automatic, light or dark. Runs before anything is drawn, so that the page does not flash.
"use strict";

const THEMES = ["auto", "light", "dark"];

function setTheme(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  const button = document.getElementById("theme");
  if (button) {
    button.textContent = `◐ ${theme[0].toUpperCase()}${theme.slice(1)}`;
    button.setAttribute("aria-label", `Colours: ${theme === "auto" ? "automatic" : theme}`);
  }
}

function storedTheme() {
  try {
    return THEMES.includes(localStorage.theme) ? localStorage.theme : "auto";
  } catch {
    return "auto"; // the browser stores nothing
  }
}

setTheme(storedTheme());
document.addEventListener("DOMContentLoaded", () => {
  let theme = storedTheme();
  setTheme(theme);
  document.getElementById("theme")?.addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    setTheme(theme);
    try {
      localStorage.theme = theme;
    } catch {
      // only for this visit
    }
  });
});
