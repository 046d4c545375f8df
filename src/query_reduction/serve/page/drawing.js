// What the story tab draws of a trace: gates, vectors, queries in words.

import { element, percent } from "./api.js";

const MARKS = { update: "z", reset_forward: "→r", reset_backward: "←r", attention: "p" };
const NAMES = { update: "update gate", reset_forward: "forward reset gate", reset_backward: "backward reset gate", attention: "attention" };

export function gateColumns(trace) {
  return trace.layers.flatMap((layer, number) =>
    Object.entries(layer.gates).map(([name, values], place) =>
      ({
        mark: MARKS[name] ?? name, layer: String(number + 1), values, first: place === 0 && number > 0,
        name: `${NAMES[name] ?? name}, layer ${number + 1}`,
      })));
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
