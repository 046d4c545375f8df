// What the story tab draws of a trace: gates, vectors, queries in words.

import { element, percent } from "./api.js";

const MARKS = { update: "z", reset_forward: "→r", reset_backward: "←r", attention: "p" };

export function gateColumns(trace) {
  return trace.layers.flatMap((layer, number) =>
    Object.entries(layer.gates).map(([name, values], place) =>
      ({ mark: MARKS[name] ?? name, layer: String(number + 1), values, first: place === 0 && number > 0 })));
}

export function gateCell(column, at) {
  const value = at < 0 ? null : column.values[at];
  const kinds = [column.first ? "break" : "", value > 0.6 ? "strong" : ""].filter(Boolean).join(" ");
  return element("span", {
    class: kinds, "--g": value ?? 0, "data-mark": `${column.mark}${column.layer}`,
    title: `${column.mark}, layer ${column.layer}`,
  }, value === null ? "" : value.toFixed(2));
}

// A query in words with how far it can be trusted; words that would mislead are not shown.
export function spoken(text, trust, least) {
  if (!text || trust < least) return element("p", { class: "words" }, "…");
  return element("p", { class: "words" }, text, element("small", { title: "the decoder's probability of its least certain word" }, ` ${percent(trust)}`));
}

// A vector as a strip: one cell per unit, blue below zero and red above.
export function strip(vector) {
  const canvas = element("canvas", { width: vector.length, height: 1, role: "img", "aria-label": "the vector's units as colours" });
  const pen = canvas.getContext("2d");
  vector.forEach((value, place) => {
    const strength = Math.min(1, Math.abs(value));
    pen.fillStyle = value < 0 ? `rgba(47, 111, 222, ${strength})` : `rgba(229, 38, 43, ${strength})`;
    pen.fillRect(place, 0, 1, 1);
  });
  return canvas;
}
