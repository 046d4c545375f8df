// The page: which model, which tab, which theme.

import { element, get } from "./api.js";
import { DialogTab } from "./dialog.js";
import { StoryTab } from "./story.js";

const byId = (id) => document.getElementById(id);
const problem = byId("problem");
const showProblem = (text) => {
  problem.textContent = text;
  problem.hidden = !text;
};

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

async function start() {
  theme.start();
  const { models } = await get("/api/models");
  const kinds = {
    story: { models: models.filter((model) => model.kind === "story"), tab: new StoryTab(showProblem) },
    dialog: { models: models.filter((model) => model.kind === "dialog"), tab: new DialogTab(byId("dialog-panel"), showProblem) },
  };
  const select = byId("model");
  const tabs = Object.keys(kinds).filter((kind) => kinds[kind].models.length);
  let current = "";

  const show = (kind) => {
    if (kind === current) return;
    current = kind;
    for (const name of Object.keys(kinds)) {
      const chosen = name === kind;
      byId(`${name}-panel`).hidden = !chosen;
      byId(`tab-${name}`).setAttribute("aria-selected", String(chosen));
      byId(`tab-${name}`).tabIndex = chosen ? 0 : -1;
    }
    choices(select, kinds[kind].models);
    kinds[kind].tab.use(kinds[kind].models[0]);
  };

  for (const kind of Object.keys(kinds)) {
    const tab = byId(`tab-${kind}`);
    tab.hidden = !tabs.includes(kind);
    tab.addEventListener("click", () => show(kind));
    tab.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
      const other = tabs[(tabs.indexOf(kind) + 1) % tabs.length];
      byId(`tab-${other}`).focus();
      show(other);
    });
  }
  select.addEventListener("change", () => {
    const { models: ours, tab } = kinds[current];
    tab.use(ours.find((model) => model.name === select.value));
  });
  show(tabs[0]);
}

start().catch((error) => showProblem(`The server cannot be reached: ${error.message}`));
