// A trace as a picture that stands alone: the sentences with their gates and shares, the question and the answer.

import { percent } from "./api.js";
import { gateColumns } from "./drawing.js";

const NAMESPACE = "http://www.w3.org/2000/svg";
const FONT = "14px sans-serif";
const ROW = 26;
const GATE = 52;
const SHARE = 96;
const EDGE = 12;
const MOST_ROWS = 40;
const LONGEST = 90; // characters of a sentence
const SHARPNESS = 2; // pixels of a PNG per unit of the drawing

export function svgOf(trace) {
  const columns = gateColumns(trace);
  const rows = shown(trace);
  const texts = rows.map((at) => shortened(trace.sentences[at]));
  const question = shortened(trace.question);
  const left = EDGE + Math.ceil(Math.max(...[...texts, question].map(widthOf), 160)) + EDGE;
  const width = left + Math.max(GATE * columns.length + SHARE, Math.ceil(widthOf(trace.answer)) + 90) + EDGE;
  const height = ROW * (rows.length + 3) + EDGE;
  const svg = node("svg", { xmlns: NAMESPACE, width, height, viewBox: `0 0 ${width} ${height}`, role: "img" });
  svg.append(node("title", {}, `${trace.question} ${trace.answer}`), node("rect", { width, height, fill: "#ffffff" }));
  const write = (x, row, content, style = {}) =>
    svg.append(node("text", { x, y: ROW * (row + 0.5) + 5, "font-family": "sans-serif", "font-size": 14, fill: "#111111", ...style }, content));
  const line = (row) =>
    svg.append(node("line", { x1: EDGE, x2: width - EDGE, y1: ROW * row, y2: ROW * row, stroke: "#111111", "stroke-width": 0.8 }));
  const middle = { "text-anchor": "middle" };

  columns.forEach((column, place) => {
    const x = left + GATE * place;
    if (!place || column.first) write(x + 4, 0, `layer ${column.layer}`, { "font-weight": "bold" });
    write(x + GATE / 2, 1, column.mark, middle);
    rows.forEach((at, row) => {
      const value = column.values[at];
      svg.append(node("rect", { x: x + 1, y: ROW * (row + 2) + 1, width: GATE - 2, height: ROW - 2, fill: "#ef4444", "fill-opacity": value.toFixed(3) }));
      write(x + GATE / 2, row + 2, value.toFixed(2), { ...middle, fill: "#000000" });
    });
  });
  const end = left + GATE * columns.length;
  write(end + SHARE / 2, 1, "share", middle);
  rows.forEach((at, row) => {
    write(EDGE, row + 2, texts[row]);
    svg.append(node("rect", { x: end + 4, y: ROW * (row + 2) + 6, width: ((SHARE - 8) * trace.shares[at]).toFixed(1), height: ROW - 12, fill: "#9dbdf5" }));
    write(end + SHARE / 2, row + 2, percent(trace.shares[at]), middle);
  });
  [2, rows.length + 2].forEach(line);
  write(EDGE, rows.length + 2, question);
  write(width - EDGE, rows.length + 2, trace.answer, { "text-anchor": "end", "font-weight": "bold" });
  return new XMLSerializer().serializeToString(svg);
}

export async function pngOf(svg) {
  const address = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = image.naturalWidth * SHARPNESS;
    canvas.height = image.naturalHeight * SHARPNESS;
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((done) => canvas.toBlob(done, "image/png"));
  } finally {
    URL.revokeObjectURL(address);
  }
}

// Of a long story the sentences that contributed most, in its order.
function shown(trace) {
  const places = trace.sentences.map((_, at) => at).sort((one, other) => trace.shares[other] - trace.shares[one]);
  return places.slice(0, MOST_ROWS).sort((one, other) => one - other);
}

function shortened(text) {
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;
}

function widthOf(text) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = FONT;
  return pen.measureText(text).width;
}

function node(tag, attributes, ...children) {
  const made = document.createElementNS(NAMESPACE, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name !== "xmlns") made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}
