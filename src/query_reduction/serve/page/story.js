// The story tab: an editor whose rows are the heat map, the answer, and the query over time.

import { RefusedError, bars, element, percent, post } from "./api.js";
import { gateCell, gateColumns, spoken, strip } from "./drawing.js";

const byId = (id) => document.getElementById(id);
const WAIT = 120; // ms of quiet before an edit is sent
const LONGEST = 1000; // characters of a sentence

export class StoryTab {
  constructor(showProblem) {
    this.showProblem = showProblem;
    this.list = byId("sentences");
    this.question = byId("question");
    this.trace = null;
    this.told = null; // the generated story, while it is unedited
    byId("another").addEventListener("click", () => this.another());
    byId("clear").addEventListener("click", () => this.set([""], ""));
    byId("add").addEventListener("click", () => this.addAfter(this.rows.at(-1)));
    byId("ask").addEventListener("submit", (event) => {
      event.preventDefault();
      this.ask();
    });
    this.question.addEventListener("input", () => this.changed());
    byId("time").addEventListener("input", () => this.showTime());
    byId("play").addEventListener("click", () => this.play());
  }

  get rows() {
    return [...this.list.children];
  }

  use(model) {
    this.model = model;
    byId("another").disabled = !model.tasks.length;
    if (model.tasks.length) this.another();
    else if (this.rows.length) this.ask();
    else this.set([""], "");
  }

  async another() {
    try {
      const seed = crypto.getRandomValues(new Uint32Array(1))[0];
      const told = await post("/api/story", { model: this.model.name, seed });
      this.set(told.sentences, told.question, told);
    } catch (error) {
      this.failed(error);
    }
  }

  set(sentences, question, told = null) {
    this.told = told;
    byId("task-title").textContent = told ? told.title : "";
    this.list.replaceChildren(...sentences.map((text) => this.row(text)));
    this.question.value = question;
    this.ask();
  }

  row(text) {
    const input = element("textarea", {
      rows: 1, maxlength: LONGEST, autocomplete: "off", spellcheck: "false", placeholder: "a sentence",
      oninput: () => this.changed(),
      onkeydown: (event) => this.key(event, row),
      onpaste: (event) => this.paste(event, row),
    }, text);
    const row = element("li", { class: "row" },
      element("span", { class: "number" }),
      input,
      element("div", { class: "gates" }),
      element("div", { class: "share" }, element("i"), element("b")),
      element("button", { type: "button", class: "quiet delete", title: "delete", onclick: () => this.remove(row) }, "×"));
    return row;
  }

  key(event, row) {
    const step = { ArrowUp: row.previousElementSibling, ArrowDown: row.nextElementSibling }[event.key];
    if (event.key === "Enter") {
      this.addAfter(row);
    } else if (event.key === "Backspace" && !event.target.value) {
      this.remove(row);
    } else if (step) {
      step.querySelector("textarea").focus();
    } else {
      return;
    }
    event.preventDefault();
  }

  paste(event, row) {
    const lines = event.clipboardData.getData("text").split(/\r?\n/).map((line) => line.trim()).filter(Boolean);
    if (lines.length < 2 && (lines[0] ?? "").length <= LONGEST) return;
    event.preventDefault();
    const numbered = lines.every((line) => /^\d+ /.test(line));
    const kept = lines.filter((line) => !line.includes("\t")).map((line) => (numbered ? line.replace(/^\d+ /, "") : line));
    row.after(...kept.map((line) => this.row(line)));
    if (!row.querySelector("textarea").value.trim()) row.remove();
    this.changed();
  }

  // The server cuts what was written into sentences: each gets its own row, and the caret stays at the end.
  layOut(story, filled) {
    if (story.length === filled.length) return filled;
    const laid = [];
    let next = 0;
    for (const row of filled) {
      const input = row.querySelector("textarea");
      const text = input.value;
      const own = [];
      for (let from = 0, at; next < story.length && (at = text.indexOf(story[next], from)) >= 0; next += 1) {
        own.push(story[next]);
        from = at + story[next].length;
      }
      const added = own.slice(1).map((sentence) => this.row(sentence));
      if (added.length) {
        const typing = document.activeElement === input;
        input.value = own[0];
        row.after(...added);
        const last = added.at(-1).querySelector("textarea");
        if (typing) {
          last.focus();
          last.setSelectionRange(last.value.length, last.value.length);
        }
      }
      laid.push(row, ...added);
    }
    return laid;
  }

  addAfter(row) {
    const added = this.row("");
    if (row) row.after(added);
    else this.list.append(added);
    added.querySelector("textarea").focus();
    this.changed();
  }

  remove(row) {
    const near = row.previousElementSibling ?? row.nextElementSibling;
    row.remove();
    if (near) near.querySelector("textarea").focus();
    else this.addAfter(null);
    this.changed();
  }

  changed() {
    this.told = null;
    byId("task-title").textContent = "";
    this.list.classList.add("stale");
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(), WAIT);
  }

  async ask() {
    clearTimeout(this.timer);
    this.pending?.abort();
    this.stop();
    const filled = this.rows.filter((row) => row.querySelector("textarea").value.trim());
    const sentences = filled.map((row) => row.querySelector("textarea").value);
    const question = this.question.value.trim();
    if (!sentences.length || !question) {
      this.show(null, []);
      return;
    }
    this.pending = new AbortController();
    try {
      const body = { model: this.model.name, sentences, question, vectors: true };
      const trace = await post("/api/trace", body, this.pending.signal);
      // Edited meanwhile: this answer is outdated, the next is on its way.
      if (filled.some((row, place) => row.querySelector("textarea").value !== sentences[place])) return;
      this.show(trace, this.layOut(trace.story, filled));
      this.showProblem("");
    } catch (error) {
      this.failed(error);
    }
  }

  failed(error) {
    if (error.name === "AbortError") return;
    this.showProblem(error instanceof RefusedError ? error.message : "The server cannot be reached.");
  }

  show(trace, filled) {
    this.trace = trace;
    this.read = trace ? trace.positions.map((place) => filled[place]) : [];
    const leftOut = new Set(trace ? trace.left_out.map((place) => filled[place]) : []);
    this.list.classList.remove("stale");
    const columns = trace ? gateColumns(trace) : [];
    byId("heads").replaceChildren(
      element("span"), element("span"),
      element("div", { class: "gates" }, ...columns.map((column) => element("span", { class: column.first ? "break" : "" }, column.mark, element("sup", {}, column.layer)))),
      element("span", {}, trace ? "share" : ""), element("span"));
    const support = new Set(this.told?.support);
    const highest = trace ? Math.max(...trace.shares) : 0;
    this.rows.forEach((row, place) => {
      const at = this.read.indexOf(row);
      row.querySelector(".number").textContent = place + 1;
      row.querySelector("textarea").setAttribute("aria-label", `sentence ${place + 1}`);
      row.querySelector(".delete").setAttribute("aria-label", `delete sentence ${place + 1}`);
      row.classList.toggle("fact", support.has(place));
      row.classList.toggle("unread", Boolean(trace) && at < 0);
      row.title = leftOut.has(row) ? "could not be read and was left out" : "";
      row.querySelector(".gates").replaceChildren(...columns.map((column) => gateCell(column, at)));
      const share = at < 0 || !trace ? 0 : trace.shares[at];
      row.querySelector(".share i").style.setProperty("--w", `${highest ? (100 * share) / highest : 0}%`);
      row.querySelector(".share b").textContent = trace && at >= 0 ? percent(share) : "";
    });
    this.showAnswer();
    const slider = byId("time");
    const read = Boolean(trace?.sentences.length);
    byId("time-card").hidden = !read;
    if (read) {
      slider.max = trace.sentences.length;
      slider.value = trace.sentences.length;
      this.showTime();
    }
  }

  showAnswer() {
    const { trace, told } = this;
    byId("answer").textContent = trace ? trace.answer : "–";
    byId("confidence").textContent = trace ? `${percent(trace.confidence)} sure` : "Write a story and ask a question.";
    bars(byId("ranked"), trace ? trace.ranked : []);
    const truth = byId("truth");
    truth.textContent = trace && told ? (told.answer === trace.answer ? "✓ right" : `✗ the story says: ${told.answer}`) : "";
    truth.className = `truth ${told && trace && told.answer === trace.answer ? "right" : "wrong"}`;
    const notes = byId("unknown");
    notes.hidden = !trace?.notes.length;
    notes.replaceChildren(...(trace?.notes ?? []).map((note) => element("li", {}, note)));
  }

  showTime() {
    const { trace } = this;
    const at = Number(byId("time").value) - 1;
    const last = trace.sentences.length - 1;
    this.read.forEach((row, place) => {
      row.classList.toggle("later", place > at);
      row.classList.toggle("current", place === at && at < last);
    });
    byId("time").setAttribute("aria-valuetext", `after sentence ${at + 1}: ${trace.sentences[at]}`);
    byId("now").textContent = `After “${trace.sentences[at]}”`;
    const last_layer = trace.layers.length - 1;
    const asked = trace.question_in_words
      ? [element("p", {}, "the question"), element("p", { class: "words" }, trace.question_in_words)] : [];
    byId("queries").replaceChildren(...asked, ...trace.layers.flatMap((layer, number) => {
      const parts = [];
      if (number < last_layer && trace.queries_in_words) {
        parts.push(element("p", {}, `query for layer ${number + 2}, so far`));
        parts.push(spoken(trace.so_far_in_words[number][at], trace.so_far_trust[number][at], trace.least_trust));
        parts.push(element("p", {}, "including later sentences"));
        parts.push(spoken(trace.queries_in_words[number][at], trace.queries_trust[number][at], trace.least_trust));
      } else {
        parts.push(element("p", {}, number < last_layer ? `query layer ${number + 2} reads with` : "state the answer is read from"));
      }
      return [...parts, strip(layer.reduced[at])];
    }));
    bars(byId("ending"), (trace.ending_here ?? trace.so_far)[at]);
  }

  play() {
    if (this.playing) {
      this.stop();
      return;
    }
    const slider = byId("time");
    slider.value = 1;
    this.showTime();
    byId("play").textContent = "❚❚";
    byId("play").setAttribute("aria-label", "pause");
    this.playing = setInterval(() => {
      if (slider.value === slider.max) {
        this.stop();
        return;
      }
      slider.value = Number(slider.value) + 1;
      this.showTime();
    }, 900);
  }

  stop() {
    clearInterval(this.playing);
    this.playing = null;
    byId("play").textContent = "▶";
    byId("play").setAttribute("aria-label", "play");
  }
}
