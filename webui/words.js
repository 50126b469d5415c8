// How values of the records read on the page. Plain strings in, plain strings out.

/** What each state is called, and the sign beside it: colour never stands alone. */
export const STATES = {
  open: ["●", "open"],
  prepared: ["○", "prepared"],
  delivered: ["●", "delivered"],
  accepted: ["●", "at work"],
  interrupted: ["‖", "interrupted"],
  done: ["✓", "done"],
  closed: ["–", "closed"],
  clarify: ["?", "clarify"],
  rejected: ["✕", "rejected"],
  escalated: ["▲", "escalated"],
  stopped: ["■", "stopped"],
  failed: ["!", "failed"],
  cancelled: ["⊘", "cancelled"],
  superseded: ["↷", "superseded"],
  foreign: ["⚑", "other installation"],
  unreadable: ["!", "unreadable"],
};

export function sign(state) {
  return STATES[state]?.[0] ?? "·";
}

export function word(state) {
  return STATES[state]?.[1] ?? String(state ?? "");
}

export function number(value) {
  return typeof value === "number" ? value.toLocaleString("en-US") : "–";
}

/** `2026-06-05 14:03:07` of a ledger's time, in UTC as in the briefings. */
export function moment(time) {
  return typeof time === "string" && time.length >= 19 ? time.slice(0, 19).replace("T", " ") : "";
}

/** Seconds as `42 s`, `12 min`, `3 h 5 min`, `2 d 4 h`. */
export function duration(seconds) {
  if (typeof seconds !== "number") return "–";
  const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  const at = units.findIndex(([, size]) => seconds >= size);
  if (at < 0) return "0 s";
  const [unit, size] = units[at];
  const first = Math.floor(seconds / size);
  const rest = units[at + 1] ? Math.floor((seconds % size) / units[at + 1][1]) : 0;
  return `${first} ${unit}` + (rest && at < 2 ? ` ${rest} ${units[at + 1][0]}` : "");
}

export function bytes(count) {
  if (typeof count !== "number") return "–";
  return count < 1000 ? `${count} B` : count < 1e6 ? `${(count / 1000).toFixed(1)} kB` : `${(count / 1e6).toFixed(1)} MB`;
}

/** `frontend_designer` -> `frontend designer`. */
export function agent(profile) {
  return String(profile ?? "").replace(/_/g, " ").trim() || "unknown";
}

export function plural(count, one, many = one + "s") {
  return `${number(count)} ${count === 1 ? one : many}`;
}

/** Any JSON as a person reads it: text as it is, the rest as JSON. */
export function plain(value) {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
