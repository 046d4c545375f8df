// What one can take along from the story tab: a link, a picture, the data.

import { pngOf, svgOf } from "./picture.js";

const byId = (id) => document.getElementById(id);
const SAID = 4000; // ms that a confirmation stays

export class Take {
  // `current` gives the model's name and the trace on show, or null.
  constructor(current, failed) {
    this.current = current;
    byId("copy").addEventListener("click", () => this.copy());
    const offers = {
      svg: (trace) => new Blob([svgOf(trace)], { type: "image/svg+xml" }),
      png: (trace) => pngOf(svgOf(trace)),
      json: (trace, model) => new Blob([`${JSON.stringify({ model, ...trace }, null, 1)}\n`], { type: "application/json" }),
    };
    for (const [ending, make] of Object.entries(offers)) {
      byId(ending).addEventListener("click", async () => {
        try {
          const { trace, model } = this.current();
          save(await make(trace, model), `${fileName(trace.question)}.${ending}`);
        } catch (error) {
          failed(error);
        }
      });
    }
  }

  show() {
    const { trace } = this.current();
    byId("copy").disabled = !trace;
    for (const id of ["svg", "png", "json"]) byId(id).disabled = !trace?.layers.length;
  }

  // The address always holds the story. Browsers let a page copy only over https or on one's own machine.
  async copy() {
    try {
      await navigator.clipboard.writeText(location.href);
      this.say("Link copied.");
    } catch {
      this.say("The link is in the address bar: copy it there.");
    }
  }

  say(text) {
    byId("taken").textContent = text;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => { byId("taken").textContent = ""; }, SAID);
  }
}

function fileName(question) {
  return question.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60) || "story";
}

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
