// Labels in words: models label words by codes for the beginning, the inside and the end of spans.
"use strict";

const PLACES = { B: "begins", I: "continues", E: "ends", S: "is all of", L: "ends", U: "is all of" };
const EXPRESSIONS = {
  O: "in no expression", o: "in the gap of an expression",
  B: "begins an expression", b: "begins an expression inside a gap",
  I: "continues an expression", i: "continues an expression inside a gap",
  I_: "continues a strong expression", "I~": "continues a weak expression",
  i_: "continues a strong expression inside a gap", "i~": "continues a weak expression inside a gap",
};
// As `weft.text.conventions.names` has them.
const LAYERS = { coref: "coreference", disfluencies: "repairs", mwe: "expressions" };
const PART = /^([BIESLU])-(.+)$/;

function layerName(layer) {
  return LAYERS[layer] ?? layer;
}

function tidy(label) {
  return label.replaceAll(" _", "").replaceAll("|", ", ");
}

// What the labels of a task mean: codes of spans if all its labels are such codes, else the labels themselves.
function inWords(readings) {
  const labels = readings.flatMap((each) => each.labels);
  if (labels.some((label) => PART.test(label)) && labels.every((label) => label === "O" || PART.test(label))) {
    return (label) => (label === "O" ? "outside" : label.replace(PART, (all, place, name) => `${PLACES[place]} ${name}`));
  }
  if (labels.every((label) => label in EXPRESSIONS)) return (label) => EXPRESSIONS[label];
  return tidy;
}
