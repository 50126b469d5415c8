// Talks to the plugin's handlers, and says what went wrong as a toast. Nothing here makes HTML of what came.
import { fetchApi } from "/js/api.js";

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

/** Shows an error as the host's toast. The host renders toasts as HTML, so the text is escaped first. */
export function complain(error, title = "Software Orchestrator") {
  const text = escaped(error?.message || String(error));
  if (globalThis.toastFrontendError) globalThis.toastFrontendError(text, title);
  else console.error(title, text);
}

export function escaped(text) {
  return String(text).replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
