// The API's documentation, drawn from its own schema.

import { element, get } from "./api.js";

document.documentElement.dataset.theme =
  localStorage.getItem("theme") ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
const schema = await get("/openapi.json");
const example = document.querySelector("pre");
example.textContent = example.textContent.replace("ADDRESS", location.origin);

const named = (reference) => schema.components.schemas[reference.split("/").at(-1)];

function kind(value) {
  if (value.$ref) return value.$ref.split("/").at(-1);
  if (value.anyOf) return value.anyOf.map(kind).filter((name) => name !== "null").join(" or ");
  if (value.type === "array") return `list of ${kind(value.items ?? {})}`;
  return value.const ?? value.enum?.join(" or ") ?? value.type ?? "any";
}

function fields(title, content) {
  const reference = content?.["application/json"]?.schema?.$ref;
  if (!reference) return [];
  const shape = named(reference);
  const rows = Object.entries(shape.properties).map(([name, value]) =>
    element("tr", {}, element("td", {}, name), element("td", {}, kind(value)), element("td", { class: "soft" }, value.description ?? "")));
  return [element("h3", { class: "small" }, title), element("table", {}, ...rows)];
}

document.getElementById("operations").replaceChildren(
  ...Object.entries(schema.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      element("section", { class: "card" },
        element("h2", {}, element("b", {}, method.toUpperCase()), path),
        element("p", { class: "soft" }, operation.description ?? ""),
        ...fields("request", operation.requestBody?.content),
        ...fields("answer", operation.responses["200"]?.content)))));
