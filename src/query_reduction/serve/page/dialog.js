// The dialog tab: a conversation with a chat model, with its knowledge base alongside.

import { RefusedError, element, get, percent, post } from "./api.js";

const OPENINGS = ["hello", "can you book a table", "Italian food, please.", "In Paris.", "for 4", "cheap", "no", "I love that!", "thank you"];
const SHOWN = 60; // places drawn at once; the search box finds the others

const isCall = (said) => said.text.startsWith("api_call ");
// A call that finds nothing may give one row that says so; it names no place.
const placesOf = (said) => new Set(said.rows.map((row) => row.split(" ")[0]).filter((name) => name !== "api_call"));

const advised = (lines) => lines.map((line) => element("li", { class: "warn" }, line));

export class DialogTab {
  constructor(panel, showProblem) {
    this.showProblem = showProblem;
    this.log = element("ol", { class: "chat", tabindex: 0, "aria-live": "polite", "aria-label": "the conversation" });
    this.input = element("input", { type: "text", id: "utterance", maxlength: 1000, autocomplete: "off", placeholder: "say something; empty means silence" });
    this.search = element("input", { type: "search", "aria-label": "search the knowledge base", placeholder: "search places" });
    this.places = element("ul", { class: "places", tabindex: 0, "aria-label": "places" });
    this.count = element("span", { class: "soft" });
    this.search.addEventListener("input", () => this.drawPlaces());
    const openings = element("div", { class: "openings" }, ...OPENINGS.map((text) =>
      element("button", { type: "button", class: "chip", onclick: () => this.say(text) }, text)));
    const form = element("form", { class: "ask" },
      element("label", { for: "utterance" }, "You say"),
      element("div", { class: "line" }, this.input, element("button", { type: "submit", class: "main" }, "Say")),
      openings);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.say(this.input.value);
    });
    panel.append(element("div", { class: "columns" },
      element("section", { class: "card", "aria-label": "conversation" },
        element("div", { class: "bar" },
          element("h2", {}, "Conversation"), element("span", { class: "gap" }),
          element("button", { type: "button", onclick: () => this.reset() }, "New conversation")),
        this.log, form),
      element("section", { class: "card knowledge", "aria-label": "knowledge base" },
        element("div", { class: "bar" }, element("h2", { class: "small" }, "Knowledge base"), element("span", { class: "gap" }), this.count),
        this.search, this.places)));
  }

  async use(model) {
    this.model = model;
    this.known = [];
    this.reset();
    try {
      this.known = (await get(`/api/knowledge/${encodeURIComponent(model.name)}`)).places;
      this.drawPlaces();
    } catch (error) {
      this.failed(error);
    }
  }

  reset() {
    this.state = { sentences: [], turns: [], pending: "" };
    this.found = new Set();
    this.spoken = [];
    this.log.replaceChildren(element("li", { class: "soft" }, "Say hello, and ask for a table."));
    this.drawPlaces();
    this.input.focus({ preventScroll: true });
  }

  async say(text) {
    if (this.waiting) return;
    this.waiting = true;
    try {
      const answer = await post("/api/chat", { model: this.model.name, text, ...this.state });
      this.state = { sentences: answer.sentences, turns: answer.turns, pending: answer.pending };
      this.input.value = "";
      this.draw(answer);
      this.showProblem("");
    } catch (error) {
      this.failed(error);
    } finally {
      this.waiting = false;
    }
    this.input.focus({ preventScroll: true });
  }

  draw({ said, advice, sentences, turns, shares, state, pending }) {
    if (!turns.length) {
      this.log.replaceChildren(...advised(advice));
      this.found = new Set();
      this.mentioned = "";
      this.drawPlaces();
      return;
    }
    const spokenNow = said.length;
    const details = new Map(said.map((one, place) => [turns.length - spokenNow + place, one]));
    this.spoken = turns.map((turn, place) => details.get(place) ?? this.spoken[place]);
    const highest = Math.max(...shares, 0.001);
    const last = turns.at(-1).after;
    const bubble = (who, text, place, notes, said = "") => {
      const share = place < last ? shares[place] : 0;
      return element("li", { class: `bubble ${who}`, "--w": `${(100 * share) / highest}%`, title: `contributed ${percent(share)} to the last response` },
        element("p", {}, text), ...notes.map((note) => element("p", { class: "note" }, note)),
        ...(said && said !== text ? [element("details", {}, element("summary", {}, "details"), element("code", {}, said))] : []));
    };
    this.log.replaceChildren(...turns.flatMap((turn, number) => {
      const one = this.spoken[number];
      const notes = [`${percent(one.confidence)} sure`];
      const places = placesOf(one).size;
      if (places) notes.push(`${places} ${places === 1 ? "place" : "places"} found`);
      else if (isCall(one)) notes.push("nothing found");
      if (number === turns.length - 1 && one.unknown_words.length) notes.push(`never seen: ${one.unknown_words.slice(0, 8).join(", ")}`);
      const silent = turn.text === "<SILENCE>";
      return [
        ...(silent ? [] : [bubble("user", turn.text, turn.after, [])]),
        bubble("bot", one.shown, turn.after + 1, notes, one.text),
      ];
    }), ...advised(advice), ...(pending ? [this.yesOrNo()] : []),
    ...(state.length && !advice.includes(state[0]) ? [element("li", { class: "soft" }, state[0])] : []));
    for (const one of said) {
      if (isCall(one)) this.found = placesOf(one);
    }
    this.mentioned = turns.at(-1).answer;
    this.rowShares = new Map();
    sentences.slice(0, last).forEach((text, place) => {
      const name = text.split(" ")[0];
      this.rowShares.set(name, (this.rowShares.get(name) ?? 0) + shares[place]);
    });
    this.drawPlaces();
    this.log.lastElementChild.scrollIntoView({ block: "nearest" });
  }

  yesOrNo() {
    const button = (text) => element("button", { type: "button", class: "chip", onclick: () => this.say(text) }, text);
    return element("li", { class: "openings" }, button("yes"), button("no"));
  }

  drawPlaces() {
    const wanted = this.search.value.trim().toLowerCase();
    const match = (place) => `${place.shown} ${place.name} ${Object.values(place.facts).join(" ")}`.toLowerCase().includes(wanted);
    const listed = this.known.filter(match).sort((one, other) => this.found.has(other.name) - this.found.has(one.name));
    this.count.textContent = this.found.size ? `${this.found.size} found` : `${this.known.length} places`;
    this.places.replaceChildren(...listed.slice(0, SHOWN).map((place) => {
      const marks = [this.found.has(place.name) ? "found" : "", this.mentioned?.includes(place.name) ? "named" : ""].filter(Boolean);
      const facts = Object.entries(place.facts).map(([relation, value]) =>
        element("span", { class: "fact-chip", title: relation }, `${relation.replace(/^R_/i, "")}: ${value}`));
      return element("li", { class: marks.join(" "), "--w": `${100 * (this.rowShares?.get(place.name) ?? 0)}%` },
        element("b", {}, place.shown), element("div", {}, ...facts));
    }));
  }

  failed(error) {
    this.showProblem(error instanceof RefusedError ? error.message : "The server cannot be reached.");
  }
}
