// A story, its question and its model as the part of the address after #, which a browser never sends to a server.

const FORM = "1"; // how what follows is packed
const MOST = 1_000_000; // bytes a link may unpack to

export class LinkError extends Error {}

// An array of texts: the model, then the question and the sentences; a model alone means its opening example.
export async function pack(texts) {
  const bytes = await through(new Blob([JSON.stringify(texts)]), new CompressionStream("deflate-raw"));
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return `#${FORM}${btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
}

// What an address holds, or null if it holds nothing.
export async function unpack(hash) {
  if (hash.length < 2) return null;
  try {
    if (hash[1] !== FORM) throw new LinkError("unknown form");
    const letters = atob(hash.slice(2).replaceAll("-", "+").replaceAll("_", "/"));
    const packed = new Blob([Uint8Array.from(letters, (letter) => letter.charCodeAt(0))]);
    const texts = JSON.parse(new TextDecoder().decode(await through(packed, new DecompressionStream("deflate-raw"))));
    if (!Array.isArray(texts) || !texts.length || texts.some((text) => typeof text !== "string")) throw new LinkError("no texts");
    const [model, question = "", ...sentences] = texts;
    return { model, story: texts.length > 1 ? { question, sentences } : null };
  } catch {
    throw new LinkError("This link is damaged: perhaps its end was cut off when it was copied.");
  }
}

async function through(blob, stream) {
  const parts = [];
  let size = 0;
  const reader = blob.stream().pipeThrough(stream).getReader();
  for (let step = await reader.read(); !step.done; step = await reader.read()) {
    size += step.value.length;
    if (size > MOST) {
      await reader.cancel();
      throw new LinkError("too long");
    }
    parts.push(step.value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}
