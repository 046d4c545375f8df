// Talking to the server: JSON in, JSON out, errors as one readable line.

export class RefusedError extends Error {}

export async function get(path) {
  return unpack(await fetch(path));
}

export async function post(path, body, signal) {
  return unpack(
    await fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body), signal }),
  );
}

async function unpack(response) {
  const value = await response.json().catch(() => null);
  if (!response.ok) {
    const error = value?.error;
    throw new RefusedError(error ? (error.field ? `${error.field}: ` : "") + error.message : `the server answered ${response.status}`);
  }
  return value;
}

// Texts only ever become text nodes: nothing a story says can turn into markup.
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "class") made.className = value;
    else if (name.startsWith("--")) made.style.setProperty(name, value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

export function bars(into, ranked) {
  into.replaceChildren(
    ...ranked.map(({ answer, probability }) =>
      element("div", {},
        element("span", { title: answer }, answer),
        element("i", { "--w": `${100 * probability}%` }),
        element("b", {}, percent(probability)))));
}

export function percent(share) {
  return share >= 0.0995 ? `${Math.round(100 * share)} %` : `${(100 * share).toFixed(1)} %`;
}
