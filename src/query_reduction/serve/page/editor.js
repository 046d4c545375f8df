// The rows of a story: one sentence each, edited by keyboard, filled by pasting.

import { element, post } from "./api.js";

const LONGEST = 1000; // characters of a sentence

export const textOf = (row) => row.querySelector("textarea").value;

export class Editor {
  constructor(list, changed, failed) {
    this.list = list;
    this.changed = changed;
    this.failed = failed;
  }

  get rows() {
    return [...this.list.children];
  }

  get filled() {
    return this.rows.filter((row) => textOf(row).trim());
  }

  set(sentences) {
    this.list.replaceChildren(...sentences.map((text) => this.row(text)));
  }

  row(text) {
    const input = element("textarea", {
      rows: 1, maxlength: LONGEST, autocomplete: "off", spellcheck: "false", placeholder: "a sentence",
      oninput: () => this.changed(),
      onkeydown: (event) => this.key(event, row),
      onpaste: (event) => this.paste(event, row),
    }, text);
    const row = element("li", { class: "row" },
      element("span", { class: "number" }),
      input,
      element("div", { class: "gates" }),
      element("div", { class: "share" }, element("i"), element("b")),
      element("button", { type: "button", class: "quiet delete", title: "delete", onclick: () => this.remove(row) }, "×"));
    return row;
  }

  key(event, row) {
    const step = { ArrowUp: row.previousElementSibling, ArrowDown: row.nextElementSibling }[event.key];
    if (event.key === "Enter") {
      this.addAfter(row);
    } else if (event.key === "Backspace" && !event.target.value) {
      this.remove(row);
    } else if (step) {
      step.querySelector("textarea").focus();
    } else {
      return;
    }
    event.preventDefault();
  }

  // A few words are pasted as anywhere; of a longer text the server makes sentences, and each gets its row.
  async paste(event, row) {
    const lines = event.clipboardData.getData("text").split(/\r?\n/).map((line) => line.trim()).filter(Boolean);
    if (!lines.length || (lines.length === 1 && lines[0].length <= LONGEST && !/[.!?…]\s/.test(lines[0]))) return;
    event.preventDefault();
    const numbered = lines.every((line) => /^\d+ /.test(line));
    const kept = lines.filter((line) => !line.includes("\t")).map((line) => (numbered ? line.replace(/^\d+ /, "") : line));
    try {
      const { sentences } = await post("/api/sentences", { sentences: kept });
      const added = sentences.map((sentence) => this.row(sentence));
      const stayed = row.contains(document.activeElement); // whoever has gone on to the question keeps the caret there
      row.after(...added);
      if (!textOf(row).trim()) row.remove();
      if (stayed) added.at(-1).querySelector("textarea").focus();
      this.changed();
    } catch (error) {
      this.failed(error, "Not pasted: ");
    }
  }

  // The server cuts what was written into sentences: each gets its own row, and the caret stays at the end.
  layOut(story, filled) {
    if (story.length === filled.length) return filled;
    const laid = [];
    let next = 0;
    for (const row of filled) {
      const input = row.querySelector("textarea");
      const text = input.value;
      const own = [];
      for (let from = 0, at; next < story.length && (at = text.indexOf(story[next], from)) >= 0; next += 1) {
        own.push(story[next]);
        from = at + story[next].length;
      }
      const added = own.slice(1).map((sentence) => this.row(sentence));
      if (added.length) {
        const typing = document.activeElement === input;
        input.value = own[0];
        row.after(...added);
        const last = added.at(-1).querySelector("textarea");
        if (typing) {
          last.focus();
          last.setSelectionRange(last.value.length, last.value.length);
        }
      }
      laid.push(row, ...added);
    }
    return laid;
  }

  addAfter(row) {
    const added = this.row("");
    if (row) row.after(added);
    else this.list.append(added);
    added.querySelector("textarea").focus();
    this.changed();
  }

  remove(row) {
    const near = row.previousElementSibling ?? row.nextElementSibling;
    row.remove();
    if (near) near.querySelector("textarea").focus();
    else this.addAfter(null);
    this.changed();
  }
}
