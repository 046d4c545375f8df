// The query over time: a slider through the story, the queries of every layer, and the answer if it ended there.

import { bars, element } from "./api.js";
import { spoken, strip } from "./drawing.js";

const byId = (id) => document.getElementById(id);
const STEP = 900; // ms a sentence is shown while playing

export class OverTime {
  constructor() {
    this.slider = byId("time");
    this.slider.addEventListener("input", () => this.draw());
    byId("play").addEventListener("click", () => this.play());
  }

  // `rows` are the rows of the sentences that were read.
  show(trace, rows) {
    this.trace = trace;
    this.rows = rows;
    const read = Boolean(trace?.sentences.length);
    byId("time-card").hidden = !read;
    if (!read) return;
    this.slider.max = trace.sentences.length;
    this.slider.value = trace.sentences.length;
    this.draw();
  }

  draw() {
    const { trace } = this;
    const at = Number(this.slider.value) - 1;
    const end = trace.sentences.length - 1;
    this.rows.forEach((row, place) => {
      row.classList.toggle("later", place > at);
      row.classList.toggle("current", place === at && at < end);
    });
    this.slider.setAttribute("aria-valuetext", `after sentence ${at + 1}: ${trace.sentences[at]}`);
    byId("now").textContent = `After “${trace.sentences[at]}”`;
    const asked = trace.question_in_words
      ? [element("p", {}, "the question"), element("p", { class: "words" }, trace.question_in_words)] : [];
    // Only networks that reduce a query have one to show.
    byId("queries").replaceChildren(...asked, ...trace.layers.flatMap((layer, number) =>
      layer.reduced ? [...this.words(number, at), strip(layer.reduced[at])] : []));
    const reduces = trace.layers.some((layer) => layer.reduced);
    byId("stripes").hidden = !reduces;
    byId("time-title").textContent = reduces ? "The query over time" : "The answer over time";
    bars(byId("ending"), (trace.ending_here ?? trace.so_far)?.[at] ?? []);
  }

  words(number, at) {
    const { trace } = this;
    if (number === trace.layers.length - 1) return [element("p", {}, "state the answer is read from")];
    if (!trace.queries_in_words) return [element("p", {}, `query layer ${number + 2} reads with`)];
    return [
      element("p", {}, `query for layer ${number + 2}, so far`),
      spoken(trace.so_far_in_words[number][at], trace.so_far_trust[number][at], trace.least_trust),
      element("p", {}, "including later sentences"),
      spoken(trace.queries_in_words[number][at], trace.queries_trust[number][at], trace.least_trust),
    ];
  }

  play() {
    if (this.playing) {
      this.stop();
      return;
    }
    this.slider.value = 1;
    this.draw();
    byId("play").textContent = "❚❚";
    byId("play").setAttribute("aria-label", "pause");
    this.playing = setInterval(() => {
      if (this.slider.value === this.slider.max) {
        this.stop();
        return;
      }
      this.slider.value = Number(this.slider.value) + 1;
      this.draw();
    }, STEP);
  }

  stop() {
    clearInterval(this.playing);
    this.playing = null;
    byId("play").textContent = "▶";
    byId("play").setAttribute("aria-label", "play");
  }
}
