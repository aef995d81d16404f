// Values of answers while they are edited: pure functions, which leave what they are given as it is.
"use strict";

const EMPTY = {
  spans: () => ({ spans: [] }),
  relations: () => ({ spans: [], relations: [] }),
  tags: (n) => ({ tags: Array(n).fill("") }),
  trees: (n) => ({ heads: Array(n).fill(null), labels: Array(n).fill("") }),
  questions: () => ({ accept: null }),
  labels: () => ({ labels: [] }),
};

function startValue(kind, item) {
  const empty = EMPTY[kind](item.words.length);
  const given = item.proposal?.value;
  return given ? { ...empty, ...structuredClone(given) } : empty;
}

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
const holds = (span, word) => span.pieces.some(([start, end]) => start <= word && word < end);

function joined(pieces) {
  const found = [];
  for (const [start, end] of [...pieces].sort((a, b) => a[0] - b[0])) {
    const last = found[found.length - 1];
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else found.push([start, end]);
  }
  return found;
}

// Label the pieces: a new span, another label for the same pieces, or none if the label is there already.
function labelled(value, pieces, label) {
  const own = joined(pieces);
  const at = value.spans.findIndex((span) => same(span.pieces, own));
  if (at < 0) return { ...value, spans: [...value.spans, { pieces: own, label }] };
  if (value.spans[at].label === label) return without(value, at);
  return { ...value, spans: value.spans.map((span, place) => (place === at ? { ...span, label } : span)) };
}

function without(value, at) {
  const spans = value.spans.filter((span, place) => place !== at);
  if (!value.relations) return { ...value, spans };
  const relations = value.relations
    .filter((row) => row.head !== at && row.tail !== at)
    .map((row) => ({ ...row, head: row.head - (row.head > at), tail: row.tail - (row.tail > at) }));
  return { ...value, spans, relations };
}

function related(value, head, tail, label) {
  const others = value.relations.filter((row) => row.head !== head || row.tail !== tail);
  const had = value.relations.some((row) => row.head === head && row.tail === tail && row.label === label);
  return { ...value, relations: had ? others : [...others, { head, tail, label }] };
}

const put = (list, at, what) => list.map((each, place) => (place === at ? what : each));

// What is still missing before an answer can be sent, in words; "" if nothing is.
function missing(kind, value, several) {
  if (kind === "tags") {
    const open = value.tags.filter((tag) => !tag).length;
    return open ? `${open} ${open === 1 ? "word has" : "words have"} no tag yet.` : "";
  }
  if (kind === "trees") {
    const open = value.heads.findIndex((head, word) => head === null || !value.labels[word]);
    if (open >= 0) return `Word ${open + 1} has no ${value.heads[open] === null ? "head" : "label"} yet.`;
  }
  if (kind === "questions" && value.accept === null) return "Yes or no?";
  if (kind === "labels" && !several && value.labels.length !== 1) return "Choose one label.";
  return "";
}

// Where the eye should go: the first word that has no tag or head, or of whose part the model is least sure.
function firstDoubt(kind, item, value) {
  if (kind === "tags") return Math.max(0, value.tags.findIndex((tag) => !tag));
  if (kind === "trees") return Math.max(0, value.heads.findIndex((head) => head === null));
  if (kind === "questions" && item.question) return item.question.pieces[0][0];
  return 0;
}
