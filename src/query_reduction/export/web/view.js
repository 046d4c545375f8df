// What the page shows.
const byId = (id) => document.getElementById(id);
const percent = (value) => `${(100 * value).toFixed(1)}%`;

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
  made.append(...children);
  return made;
}

const GATES = [["update", "z", "update gate"], ["reset_forward", "→r", "reset gate, forward"], ["reset_backward", "←r", "reset gate, backward"]];

function gateColumns(found) {
  return found.layers.flatMap((layer, number) => GATES.filter(([name]) => layer.gates[name]).map(([name, mark, title]) => (
    { mark, layer: number + 1, title: `${title}, layer ${number + 1}`, values: layer.gates[name] })));
}

function gateCell(column, at) {
  const value = column.values[at];
  const cell = element("td", { class: "gate", title: column.title }, value.toFixed(2));
  cell.style.setProperty("--g", `${Math.round(100 * value)}%`);
  return cell;
}

function table(found) {
  const columns = gateColumns(found);
  const most = Math.max(...found.shares) || 1;
  const heading = (attributes, ...text) => element("th", { scope: "col", ...attributes }, ...text);
  const head = element("tr", {}, heading({ class: "number" }, "#"), heading({}, "sentence"),
    ...columns.map((column) => heading({ class: "gate", title: column.title },
      element("span", { "aria-hidden": "true" }, column.mark, element("sup", {}, column.layer)),
      element("span", { class: "spoken" }, column.title))),
    heading({}, "share"));
  const rows = found.story.map((sentence, place) => {
    const at = found.positions.indexOf(place);
    const row = element("tr", at < 0 ? { class: "unread", title: "was not read" } : {},
      element("td", { class: "number" }, place + 1), element("th", { scope: "row", class: "sentence" }, sentence));
    if (at < 0) {
      row.append(element("td", { colspan: columns.length + 1 }));
    } else {
      const bar = element("i");
      bar.style.width = `${Math.round((100 * found.shares[at]) / most)}%`;
      row.append(...columns.map((column) => gateCell(column, at)),
        element("td", { class: "share" }, element("span", {}, bar), element("b", {}, percent(found.shares[at]))));
    }
    return row;
  });
  return element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows));
}

function show() {
  const [story, question] = [byId("story").value, strip(byId("question").value)];
  const asked = splitSentences(story).length > 0 && question !== "";
  byId("reading").hidden = !asked;
  if (!asked) {
    byId("answer").textContent = "–";
    byId("sure").textContent = "Write a story and a question.";
    byId("others").textContent = "";
    byId("notes").replaceChildren();
    return;
  }
  const found = answer(story, question);
  byId("answer").textContent = found.declined ? "I don't know" : found.answer;
  const sure = `${percent(found.confidence)} sure`;
  byId("sure").textContent = found.declined ? `best guess: ${found.answer}, ${sure}` : sure;
  const others = found.runners_up.map(({ answer: text, probability }) => `${text} ${percent(probability)}`);
  byId("others").textContent = others.length ? `then ${others.join(", ")}` : "";
  byId("notes").replaceChildren(...[...found.doubts, ...found.notes].map((note) => element("li", {}, note)));
  byId("table").replaceChildren(table(found));
}

byId("story").value = model.example.sentences.join("\n");
byId("question").value = model.example.question;
byId("story").addEventListener("input", show);
byId("question").addEventListener("input", show);
show();
