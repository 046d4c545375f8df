// What the story tab draws of a trace: gates, vectors, queries in words.

import { element, percent } from "./api.js";

const MARKS = { update: "z", reset_forward: "→r", reset_backward: "←r", attention: "p", slots: "g", pooled: "m", halting: "h" };
const NAMES = { update: "update gate", reset_forward: "forward reset gate", reset_backward: "backward reset gate", attention: "attention", slots: "mean gate of the memory slots", pooled: "pooling", halting: "halting" };
// What each mark means.
const MEANINGS = [
  ["z", ["z"], "update gate: how much the sentence changes the query."],
  ["→r", ["→r", "←r"], "reset gates, forward and backward in time."],
  ["p", ["p"], "attention: how much the sentence is read."],
  ["g", ["g"], "gates of the memory slots, on average: how much the sentence changes them."],
  ["m", ["m"], "pooling: the share of the query’s units that is taken from the sentence."],
  ["h", ["h"], "halting: the sum of the sentence’s halting probabilities so far; from 1 on its output stays as it is."],
];

// What a share is: of Query-Reduction Networks, and of others by the mark of their gates.
const SHARE = "how much of the answer was read from the sentence, through all layers.";
const SHARES = {
  p: "how much of what was read came from the sentence, on average.",
  g: "how much of what the question found came from the sentence, estimated by the size of its updates.",
  m: "how much of the query was taken from the sentence, on average.",
};

export function gateColumns(trace) {
  return trace.layers.flatMap((layer, number) =>
    Object.entries(layer.gates).map(([name, values], place) =>
      ({
        mark: MARKS[name] ?? name, layer: String(number + 1), values, first: place === 0 && number > 0,
        name: `${NAMES[name] ?? name}, layer ${number + 1}`,
      })));
}

// What the columns on show mean, and nothing else.
export function legendOf(columns) {
  if (!columns.length) return [];
  const marks = new Set(columns.map((column) => column.mark));
  const lines = MEANINGS.filter(([mark]) => marks.has(mark)).flatMap(([, named, meaning]) =>
    [...named.flatMap((name) => [element("b", {}, name), " "]), `${meaning} `]);
  const share = Object.keys(SHARES).find((mark) => marks.has(mark));
  return [
    ...lines, marks.has("p") ? "The number above is the layer (hop, pass or step). " : "The number above is the layer. ",
    element("b", {}, "share"), `: ${SHARES[share] ?? SHARE}`,
  ];
}

const raised = (digits) => digits.replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]);

// The number alone would not tell a screen reader which gate it is; on a narrow page the mark stands in the cell.
export function gateCell(column, at) {
  const kind = column.first ? "break" : "";
  if (at < 0) return element("span", { class: kind, "aria-hidden": "true" });
  const value = column.values[at];
  const text = value.toFixed(2);
  return element("span", {
    class: kind, "--g": value, "data-mark": column.mark + raised(column.layer), title: column.name,
    role: "img", "aria-label": `${column.name}: ${text}`,
  }, text);
}

// A query in words with how far it can be trusted; words that would mislead are not shown.
export function spoken(text, trust, least) {
  if (!text || trust < least) return element("p", { class: "words" }, "…");
  return element("p", { class: "words" }, text, element("small", { title: "the decoder's probability of its least certain word" }, ` ${percent(trust)}`));
}

// A vector as stripes: one per unit, blue below zero and red above.
export function strip(vector) {
  const canvas = element("canvas", { width: vector.length, height: 1, role: "img", "aria-label": `a vector of ${vector.length} units as stripes` });
  const pen = canvas.getContext("2d");
  vector.forEach((value, place) => {
    const strength = Math.min(1, Math.abs(value));
    pen.fillStyle = value < 0 ? `rgba(47, 111, 222, ${strength})` : `rgba(229, 38, 43, ${strength})`;
    pen.fillRect(place, 0, 1, 1);
  });
  return canvas;
}
