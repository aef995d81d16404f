// Editing the value of one item with keys, mouse or thumb.
"use strict";

// Letters that labels get after the digits; the others are commands.
const LABEL_KEYS = [..."1234567890qwetiopadfjklzxvnmy"];

const editor = {
  project: null, item: null, value: null, past: [], cursor: 0, anchor: 0, held: [], from: null, dependent: null, fresh: true,

  open(project, item, value) {
    Object.assign(this, { project, item, value: value ?? startValue(project.task, item), past: [], held: [], from: null, dependent: null });
    this.cursor = this.anchor = Math.min(firstDoubt(project.task, item, this.value), item.words.length - 1);
    this.fresh = true;
    for (const name of ["before", "after"]) {
      $(name).textContent = item[name];
      $(name).hidden = !item[name];
    }
    $("ask").hidden = project.task !== "questions";
    if (item.question) $("ask").replaceChildren("Is ", make("q", {}, spanText(item, item.question)), " ", make("strong", {}, item.question.label), "?");
    for (const [id, kinds] of Object.entries({ gap: ["spans", "relations"], relate: ["relations"], head: ["trees"], remove: ["spans", "relations", "tags", "trees"] })) {
      $(id).hidden = !kinds.includes(project.task);
    }
    $("send").hidden = project.task === "questions";
    this.draw();
  },

  get marksSpans() { return ["spans", "relations"].includes(this.project.task); },
  get range() { return [Math.min(this.anchor, this.cursor), Math.max(this.anchor, this.cursor) + 1]; },
  get relating() { return this.from !== null; },
  get choices() { return this.relating ? this.project.relations : this.project.task === "questions" ? ["yes", "no"] : this.project.labels; },

  draw() {
    const { project, item, value } = this;
    const [from, to] = this.range;
    const whole = ["labels", "questions"].includes(project.task);
    drawWords($("text"), project, item, value, whole ? {} : { from, to, cursor: this.cursor, held: this.held, dependent: this.dependent });
    drawMarks($("marks"), project, item, value, {
      from: this.from,
      remove: (at) => this.change(without(this.value, at)),
      unrelate: (at) => this.change({ ...this.value, relations: this.value.relations.filter((row, place) => place !== at) }),
      choose: (at) => this.chooseSpan(at),
    });
    const chosen = project.task === "labels" ? value.labels : [];
    const sure = project.task === "labels" ? item.proposal : null;
    $("labels").replaceChildren(...this.choices.map((label, at) => {
      const key = project.task === "questions" ? label[0] : LABEL_KEYS[at];
      const proposed = sure?.value.labels?.indexOf(label) ?? -1;
      const percent = proposed >= 0 && sure.sure[proposed] !== undefined ? [make("small", {}, `${Math.round(100 * (sure.sure[proposed] ?? 1))} %`)] : [];
      return make("button", {
        type: "button", class: `label ${colour(label, this.choices)}`, "aria-pressed": String(chosen.includes(label)),
        ...(key ? { "aria-keyshortcuts": key } : {}), onclick: () => this.label(label),
      }, ...(key ? [make("kbd", {}, key)] : []), ` ${label} `, ...percent);
    }));
    if (project.task === "questions" && item.proposal && item.proposal.value.accept !== undefined) {
      const [said] = item.proposal.sure;
      $("told").textContent = `The model says ${item.proposal.value.accept ? "yes" : "no"}${said === undefined ? "" : `, ${Math.round(100 * said)} %`}.`;
    } else if (!whole) {
      this.tell();
    } else {
      $("told").textContent = "";
    }
    $("text").querySelector(".cursor")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  },

  // What the cursor stands on, for people who listen to the page.
  tell() {
    const { value, item, cursor } = this;
    const word = item.words[cursor][0];
    const parts = [];
    if (this.relating) parts.push(`From ${spanText(item, value.spans[this.from])}: go to the other end and choose a relation.`);
    else if (this.dependent !== null) parts.push(`Head of ${item.words[this.dependent][0]}: go there and press h.`);
    if (this.held.length) parts.push("Gap: choose the next piece, then a label.");
    parts.push(`Word ${cursor + 1}: ${word}`);
    if (value.spans) parts.push(value.spans.filter((span) => holds(span, cursor)).map((span) => span.label).join(", "));
    if (value.tags) parts.push(value.tags[cursor]);
    $("told").textContent = parts.filter(Boolean).join(" · ");
  },

  change(value) {
    this.past.push(this.value);
    this.value = value;
    this.draw();
  },

  // Take back the last change to this item; false if there is none.
  back() {
    if (!this.past.length) return false;
    this.value = this.past.pop();
    this.held = [];
    this.from = this.dependent = null;
    this.draw();
    return true;
  },

  cancel() {
    this.held = [];
    this.from = this.dependent = null;
    this.anchor = this.cursor;
    this.draw();
  },

  move(by, extend) {
    this.to(Math.max(0, Math.min(this.item.words.length - 1, this.cursor + by)), extend);
  },

  to(word, extend) {
    this.cursor = word;
    if (!extend) this.anchor = word;
    this.fresh = false;
    this.draw();
  },

  // The next mark, or the next word that is not labelled.
  jump(by) {
    const { task } = this.project;
    const starts = this.marksSpans ? [...new Set(this.value.spans.map((span) => span.pieces[0][0]))].sort((a, b) => a - b)
      : this.item.words.map((word, at) => at).filter((at) => (task === "tags" ? !this.value.tags[at] || shade(this.item.proposal?.sure[at]) : this.value.heads?.[at] === null));
    const next = by > 0 ? starts.find((at) => at > this.cursor) : starts.filter((at) => at < this.cursor).pop();
    if (next === undefined) return this.move(by);
    this.to(next);
    const span = this.marksSpans && this.value.spans.find((each) => each.pieces[0][0] === next);
    if (span) {
      this.anchor = next;
      this.cursor = span.pieces[0][1] - 1;
      this.draw();
    }
  },

  // A tap or click: a second tap extends what is chosen, a tap on the chosen word starts anew.
  tap(word, extend) {
    const [from, to] = this.range;
    const again = !this.fresh && this.marksSpans && extend === "tap" && !(from <= word && word < to) && from + 1 === to;
    if (this.relating) {
      this.to(word);
      return;
    }
    this.to(word, again || extend === true);
  },

  gap() {
    if (!this.marksSpans) return;
    this.held = [...this.held, this.range];
    this.move(this.range[1] - this.cursor);
    this.fresh = true;
  },

  spanAt(word) {
    const found = this.value.spans.map((span, at) => ({ span, at })).filter(({ span }) => holds(span, word));
    const [from, to] = this.range;
    const exact = found.find(({ span }) => same(span.pieces, [[from, to]]));
    return (exact ?? found[found.length - 1])?.at ?? -1;
  },

  chooseSpan(at) {
    const [start, end] = this.value.spans[at].pieces[0];
    this.anchor = start;
    this.cursor = end - 1;
    this.fresh = false;
    this.draw();
  },

  relate() {
    if (this.project.task !== "relations") return;
    const at = this.spanAt(this.cursor);
    if (at < 0) return complain("Go to a marked span first; a relation joins two of them.");
    complain("");
    this.from = at;
    this.draw();
  },

  // Trees: first the word, then its head.
  head() {
    if (this.project.task !== "trees") return;
    if (this.dependent === null) {
      this.dependent = this.cursor;
      return this.draw();
    }
    const word = this.dependent;
    this.dependent = null;
    if (word === this.cursor) return this.root();
    this.change({ ...this.value, heads: put(this.value.heads, word, this.cursor) });
    this.to(word);
  },

  root() {
    const label = this.project.labels.includes("root") ? "root" : this.value.labels[this.cursor];
    this.change({ heads: put(this.value.heads, this.cursor, -1), labels: put(this.value.labels, this.cursor, label) });
  },

  remove() {
    const { task } = this.project;
    if (this.marksSpans) {
      const at = this.spanAt(this.cursor);
      if (at >= 0) this.change(without(this.value, at));
    } else if (task === "tags") {
      this.change({ tags: put(this.value.tags, this.cursor, "") });
    } else if (task === "trees") {
      this.change({ heads: put(this.value.heads, this.cursor, null), labels: put(this.value.labels, this.cursor, "") });
    }
  },

  label(label) {
    const { task, several } = this.project;
    complain("");
    if (this.relating) {
      const tail = this.spanAt(this.cursor);
      if (tail < 0 || tail === this.from) return complain("Go to another marked span, then choose the relation.");
      const head = this.from;
      this.from = null;
      this.change(related(this.value, head, tail, label));
    } else if (this.marksSpans) {
      const pieces = [...this.held, this.range];
      this.held = [];
      this.fresh = true;
      this.change(labelled(this.value, pieces, label));
      this.anchor = this.cursor;
    } else if (task === "tags") {
      const [from, to] = this.range;
      const end = to < this.item.words.length ? to : this.cursor;
      this.anchor = this.cursor = end;
      this.change({ tags: this.value.tags.map((tag, word) => (from <= word && word < to ? label : tag)) });
    } else if (task === "trees") {
      const word = this.cursor;
      this.change({ ...this.value, labels: put(this.value.labels, word, label) });
      this.move(1);
    } else if (task === "labels") {
      const had = this.value.labels.includes(label);
      if (several) this.change({ labels: had ? this.value.labels.filter((each) => each !== label) : [...this.value.labels, label] });
      else {
        this.change({ labels: [label] });
        send();
      }
    } else if (task === "questions") {
      this.change({ accept: label === "yes" });
      send();
    }
  },

  // A key; true if it meant something.
  key(event) {
    const { task } = this.project;
    const forward = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const words = !["labels", "questions"].includes(task);
    const rtl = getComputedStyle($("text")).direction === "rtl" ? -1 : 1;
    if (words && forward) this.move(forward * rtl, event.shiftKey);
    else if (words && event.key === "ArrowDown") this.jump(1);
    else if (words && event.key === "ArrowUp") this.jump(-1);
    else if (words && (event.key === "Home" || event.key === "End")) this.to(event.key === "Home" ? 0 : this.item.words.length - 1, event.shiftKey);
    else if (event.key === "Escape") this.cancel();
    else if (event.key === "Delete" || event.key === "Backspace") this.remove();
    else if (event.key === "+" || event.key === "=") this.gap();
    else if (event.key === "r" && task === "relations") this.relate();
    else if (event.key === "r" && task === "trees") this.root();
    else if (event.key === "h" && task === "trees") this.head();
    else if (task === "questions" && (event.key === "y" || event.key === "n")) this.label(event.key === "y" ? "yes" : "no");
    else if (task !== "questions" && this.choices[LABEL_KEYS.indexOf(event.key)] !== undefined) this.label(this.choices[LABEL_KEYS.indexOf(event.key)]);
    else return false;
    return true;
  },
};
