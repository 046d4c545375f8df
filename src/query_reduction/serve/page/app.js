// The page: which model, which tab, which theme.

import { element, get } from "./api.js";
import { DialogTab } from "./dialog.js";
import { LinkError, pack, unpack } from "./share.js";
import { StoryTab } from "./story.js";

const SHOWN_FIRST = "task2"; // a question about two facts: one can watch it being reduced

const byId = (id) => document.getElementById(id);
const showIn = (id) => (text) => {
  byId(id).textContent = text;
  byId(id).hidden = !text;
};
const showProblem = showIn("problem"); // until the next answer
const showNotice = showIn("notice"); // about the link that was opened

const theme = {
  set(name) {
    document.documentElement.dataset.theme = name;
  },
  start() {
    const system = matchMedia("(prefers-color-scheme: dark)");
    const saved = localStorage.getItem("theme");
    this.set(saved ?? (system.matches ? "dark" : "light"));
    system.addEventListener("change", () => localStorage.getItem("theme") ?? this.set(system.matches ? "dark" : "light"));
    byId("theme").addEventListener("click", () => {
      const other = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
      localStorage.setItem("theme", other);
      this.set(other);
    });
  },
};

function choices(select, models) {
  select.replaceChildren(
    ...models.map((model) => element("option", { value: model.name }, model.title ? `${model.name} – ${model.title}` : model.name)));
}

// The address always holds what is on show, so that a reload or whoever gets the link sees the same.
const address = {
  latest: 0,
  async keep(texts) {
    const number = ++this.latest;
    const hash = await pack(texts);
    if (number === this.latest) history.replaceState(null, "", hash);
  },
  async read(hash) {
    try {
      showNotice("");
      return await unpack(hash);
    } catch (error) {
      if (!(error instanceof LinkError)) throw error;
      showNotice(error.message);
      return null;
    }
  },
};

async function start() {
  theme.start();
  const { models } = await get("/api/models");
  const tabs = {
    story: new StoryTab(showProblem, (texts) => address.keep(texts)),
    dialog: new DialogTab(byId("dialog-panel"), showProblem),
  };
  const select = byId("model");
  const ofKind = (kind) => models.filter((model) => model.kind === kind);
  const kinds = Object.keys(tabs).filter((kind) => ofKind(kind).length);
  const firstOf = (kind) => ofKind(kind).find((model) => model.name === SHOWN_FIRST) ?? ofKind(kind)[0];

  const show = (model, story = null) => {
    for (const kind of Object.keys(tabs)) {
      const chosen = kind === model.kind;
      byId(`${kind}-panel`).hidden = !chosen;
      byId(`tab-${kind}`).setAttribute("aria-selected", String(chosen));
      byId(`tab-${kind}`).tabIndex = chosen ? 0 : -1;
    }
    choices(select, ofKind(model.kind));
    select.value = model.name;
    if (model.kind === "dialog") address.keep([model.name]);
    tabs[model.kind].use(model, story);
  };

  const showLink = async (hash) => {
    const shared = await address.read(hash);
    const asked = models.find((model) => model.name === shared?.model);
    const model = asked ?? firstOf(kinds[0]);
    show(model, model.kind === "story" ? shared?.story : null);
    if (shared && !asked) showNotice(`This server has no model “${shared.model}”, for which the link was made; ${model.name} answers instead.`);
  };

  for (const kind of Object.keys(tabs)) {
    const tab = byId(`tab-${kind}`);
    tab.hidden = !kinds.includes(kind);
    tab.addEventListener("click", () => tab.getAttribute("aria-selected") === "true" || show(firstOf(kind)));
    tab.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
      const other = kinds[(kinds.indexOf(kind) + 1) % kinds.length];
      byId(`tab-${other}`).focus();
      if (other !== kind) show(firstOf(other));
    });
  }
  select.addEventListener("change", () => show(models.find((model) => model.name === select.value)));
  // By the time of the event the address may hold the next answer already.
  addEventListener("hashchange", (event) => showLink(new URL(event.newURL).hash));
  await showLink(location.hash);
}

start().catch((error) => showProblem(`The server cannot be reached: ${error.message}`));
