// The story tab: an editor whose rows are the heat map, the answer, and the query over time.

import { RefusedError, bars, element, percent, post } from "./api.js";
import { gateCell, gateColumns, legendOf } from "./drawing.js";
import { Editor, textOf } from "./editor.js";
import { OverTime } from "./over_time.js";
import { Take } from "./take.js";

const byId = (id) => document.getElementById(id);
const WAIT = 120; // ms of quiet before an edit is sent
const MOST_WIDE = 8; // columns of gates that have room at their full width
const OPENING = 260; // the seed of the story that a ready model opens with: a short one of its hardest task

export class StoryTab {
  // `keep` is told the texts on show, for the address.
  constructor(showProblem, keep) {
    this.showProblem = showProblem;
    this.keep = keep;
    this.question = byId("question");
    this.trace = null;
    this.told = null; // the story with its answer and facts, while it is unedited
    this.editor = new Editor(byId("sentences"), () => this.changed(), (error, before) => this.failed(error, before));
    this.overTime = new OverTime();
    this.take = new Take(() => ({ trace: this.trace, model: this.model.name }), (error) => this.failed(error));
    byId("another").addEventListener("click", () => this.tell(crypto.getRandomValues(new Uint32Array(1))[0]));
    byId("clear").addEventListener("click", () => this.set([""], ""));
    byId("add").addEventListener("click", () => this.editor.addAfter(this.editor.rows.at(-1)));
    byId("ask").addEventListener("submit", (event) => {
      event.preventDefault();
      this.ask();
    });
    this.question.addEventListener("input", () => this.changed());
  }

  // With a story it shows that one, without one what the model has to offer.
  use(model, story = null) {
    this.model = model;
    byId("another").disabled = !model.tasks.length;
    if (story) this.set(story.sentences.length ? story.sentences : [""], story.question);
    else if (model.example) this.set(model.example.sentences, model.example.question, model.example);
    else if (model.tasks.length) this.tell(OPENING);
    else if (this.editor.rows.length) this.ask();
    else this.set([""], "");
  }

  async tell(seed) {
    try {
      const told = await post("/api/story", { model: this.model.name, seed });
      this.set(told.sentences, told.question, told);
    } catch (error) {
      this.failed(error);
    }
  }

  set(sentences, question, told = null) {
    this.told = told;
    byId("task-title").textContent = told?.title ?? "";
    this.editor.set(sentences);
    this.question.value = question;
    this.ask();
  }

  changed() {
    this.told = null;
    byId("task-title").textContent = "";
    this.editor.list.classList.add("stale");
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(), WAIT);
  }

  async ask() {
    clearTimeout(this.timer);
    this.pending?.abort();
    this.overTime.stop();
    const { filled } = this.editor;
    const sentences = filled.map(textOf);
    const question = this.question.value.trim();
    this.keep([this.model.name, question, ...sentences]);
    if (!sentences.length || !question) {
      this.show(null, []);
      return;
    }
    this.pending = new AbortController();
    try {
      const body = { model: this.model.name, sentences, question };
      const { signal } = this.pending;
      const trace = await post("/api/trace", { ...body, vectors: true }, signal)
        .catch((error) => this.answerAlone(body, signal, error));
      // Edited meanwhile: this answer is outdated, the next is on its way.
      if (filled.some((row, place) => textOf(row) !== sentences[place])) return;
      this.show(trace, this.editor.layOut(trace.story, filled));
      this.showProblem("");
    } catch (error) {
      this.failed(error);
    }
  }

  // Some networks answer but have nothing to show: then the answer stands alone, and a note says why.
  async answerAlone(body, signal, error) {
    if (!(error instanceof RefusedError)) throw error;
    const [found, { sentences }] = await Promise.all([
      post("/api/answer", body, signal), post("/api/sentences", { sentences: body.sentences }, signal),
    ]).catch(() => { throw error; });
    const unread = new Set(found.omitted);
    const positions = sentences.map((_, place) => place).filter((place) => !unread.has(place)).slice(found.beyond_memory);
    const ranked = [{ answer: found.answer, probability: found.confidence }, ...found.runners_up];
    return { ...found, ranked, positions, story: sentences, sentences: [], shares: [], layers: [], notes: [...found.notes, error.message] };
  }

  failed(error, before = "") {
    if (error.name === "AbortError") return;
    this.showProblem(before + (error instanceof RefusedError ? error.message : "the server cannot be reached"));
  }

  show(trace, filled) {
    this.trace = trace;
    const read = trace ? trace.positions.map((place) => filled[place]) : [];
    const places = new Map(read.map((row, at) => [row, at]));
    const omitted = new Set(trace ? trace.omitted.map((place) => filled[place]) : []);
    this.editor.list.classList.remove("stale");
    const columns = trace ? gateColumns(trace) : [];
    byId("heads").replaceChildren(
      element("span"), element("span"),
      element("div", { class: "gates" }, ...columns.map((column) =>
        element("span", { class: column.first ? "break" : "", title: column.name }, column.mark, element("sup", {}, column.layer)))),
      element("span", {}, trace?.shares.length ? "share" : ""), element("span"));
    this.editor.list.classList.toggle("plain", Boolean(trace) && !trace.shares.length);
    this.editor.list.parentElement.classList.toggle("many", columns.length > MOST_WIDE);
    byId("legend").replaceChildren(...legendOf(columns));
    const support = new Set(this.told?.support);
    const highest = trace ? Math.max(0, ...trace.shares) : 0;
    this.editor.rows.forEach((row, place) => {
      const at = places.get(row) ?? -1;
      row.querySelector(".number").textContent = place + 1;
      row.querySelector("textarea").setAttribute("aria-label", `sentence ${place + 1}`);
      row.querySelector(".delete").setAttribute("aria-label", `delete sentence ${place + 1}`);
      row.classList.toggle("fact", support.has(place));
      row.classList.toggle("unread", Boolean(trace) && at < 0);
      row.title = omitted.has(row) ? "could not be read and was left out" : "";
      row.querySelector(".gates").replaceChildren(...columns.map((column) => gateCell(column, at)));
      const share = trace?.shares[at] ?? 0;
      row.querySelector(".share i").style.setProperty("--w", `${highest ? (100 * share) / highest : 0}%`);
      row.querySelector(".share b").textContent = trace && at in trace.shares ? percent(share) : "";
    });
    this.showAnswer();
    this.take.show();
    this.overTime.show(trace, read);
  }

  showAnswer() {
    const { trace, told } = this;
    byId("answer").textContent = !trace ? "–" : trace.declined ? "I don't know" : trace.answer;
    const sure = trace ? `${percent(trace.confidence)} sure` : "Write a story and ask a question.";
    byId("confidence").textContent = trace?.declined ? `best guess: ${trace.answer}, ${sure}` : sure;
    bars(byId("ranked"), trace ? trace.ranked : []);
    const truth = byId("truth");
    truth.textContent = trace && told ? (told.answer === trace.answer ? "✓ right" : `✗ the story says: ${told.answer}`) : "";
    truth.className = `truth ${told && trace && told.answer === trace.answer ? "right" : "wrong"}`;
    const notes = byId("unknown");
    const remarks = [...(trace?.doubts ?? []), ...(trace?.notes ?? [])];
    notes.hidden = !remarks.length;
    notes.replaceChildren(...remarks.map((note) => element("li", {}, note)));
  }
}
