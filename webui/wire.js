// Talks to the plugin's handlers, and says what went wrong as a toast. Nothing here makes HTML of what came.
import { fetchApi } from "/js/api.js";

// Controls other than line feed and tab, separators that break lines, and everything that changes the direction of text.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;
const BASE = "/plugins/software_orchestrator/";

/** The JSON of a handler; throws an Error with the handler's own words, or with the status when it had none. */
export async function ask(handler, data) {
  const response = await fetchApi(BASE + handler, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(data),
  });
  const body = await response?.json().catch(() => null);
  if (body?.ok) return body;
  const words = body?.error ? [body.error, body.hint].filter(Boolean).join("; ") : `The server answered ${response?.status}`;
  throw new Error(words);
}

/** The same JSON with control and direction characters in its texts made visible, so that none can disguise what is written. */
export function visible(value) {
  if (typeof value === "string") return value.replace(HIDDEN, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
  if (Array.isArray(value)) return value.map(visible);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, visible(inner)]));
}

/** Shows an error as the host's toast. The host renders toasts as HTML, so the text is escaped first. */
export function complain(error, title = "Software Orchestrator") {
  const text = escaped(error?.message || String(error));
  if (globalThis.toastFrontendError) globalThis.toastFrontendError(text, title);
  else console.error(title, text);
}

export function escaped(text) {
  return String(text).replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
