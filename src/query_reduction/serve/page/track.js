// The grid of a track: a row per sentence, a column per thing; it fills while one steps through the story.

import { element, get, percent, post } from "./api.js";

const $ = (name) => document.getElementById(name);
let track = null;
let shown = 0;

function rows() {
  return ["(before the first sentence)", ...track.sentences];
}

function cell(states, at) {
  const state = states[at];
  const changed = at > 0 && state.text !== states[at - 1].text;
  const sure = `${percent(state.confidence)} sure${state.change ? `; ${state.change}` : ""}`;
  return element("td", { class: changed ? "changed" : state.text === "-" ? "absent" : "", title: sure, dir: "auto" }, state.text);
}

function draw() {
  const things = Object.entries(track.things);
  const head = element("tr", {}, element("th", { scope: "col" }, "after"), ...things.map(([name]) => element("th", { scope: "col", dir: "auto" }, name)));
  const body = rows().map((sentence, at) =>
    element("tr", { class: at > shown ? "ahead" : at === shown ? "now" : "" },
      element("th", { scope: "row", dir: "auto", class: "soft" }, sentence),
      ...things.map(([, states]) => cell(states, at))));
  $("grid").replaceChildren(head, ...body);
  $("back").disabled = shown === 0;
  $("on").disabled = shown === track.sentences.length;
  $("notes").textContent = track.notes.join("; ");
}

function step(to) {
  shown = Math.max(0, Math.min(track.sentences.length, to));
  draw();
}

function quoted(text) {
  return `"${text.replaceAll('"', '""')}"`;
}

function asTable() {
  const things = Object.entries(track.things);
  const lines = [["number", "sentence", ...things.map(([name]) => name)]];
  ["", ...track.sentences].forEach((sentence, at) => lines.push([String(at), sentence, ...things.map(([, states]) => states[at].text)]));
  return lines.map((line) => line.map(quoted).join(",")).join("\n") + "\n";
}

async function follow(event) {
  event.preventDefault();
  $("problem").hidden = true;
  const sentences = $("story").value.split("\n").filter((line) => line.trim());
  const things = $("things").value.split(",").map((name) => name.trim()).filter(Boolean);
  try {
    track = await post("/api/track", { model: $("model").value, sentences, things });
    $("found").hidden = false;
    step(track.sentences.length);
  } catch (error) {
    $("problem").textContent = error.message;
    $("problem").hidden = false;
  }
}

$("ask").addEventListener("submit", follow);
$("back").addEventListener("click", () => step(shown - 1));
$("on").addEventListener("click", () => step(shown + 1));
$("all").addEventListener("click", () => step(track.sentences.length));
$("csv").addEventListener("click", () => {
  const link = element("a", { href: URL.createObjectURL(new Blob([asTable()], { type: "text/csv" })), download: "track.csv" });
  link.click();
  URL.revokeObjectURL(link.href);
});

const { models } = await get("/api/trackers");
$("model").replaceChildren(...models.map((name) => element("option", { value: name }, name)));
if (!models.length) {
  $("problem").textContent = "none of the models that are served tracks things: qrn serve runs/process";
  $("problem").hidden = false;
}
