// A packet as sections of the page: {title, text} | {title, items: [text]} | {title, columns, rows: [[text]]}. Empty ones are left out.
import { agent, duration, moment, number, plain, plural, word } from "./words.js";

/** What was handed over. `found` is the handler's packet. */
export function packetSections(found) {
  const packet = found.packet;
  return [
    text("Goal", packet.goal),
    text("Summary", packet.summary),
    text("User state", packet.user_state),
    table("Decisions", ["id", "decision", "why", "evidence", "owner", "status"], packet.decisions, (d) => [
      d.version > 1 ? `${d.id} v${d.version}` : d.id,
      d.text,
      d.rationale,
      d.evidence.join("\n"),
      agent(d.owner || "–"),
      d.supersedes ? `${d.status} (replaces ${d.supersedes})` : d.status,
    ]),
    table("State", ["field", "value", "status", "their words", "said at"], packet.state, (s) => [
      s.field,
      plain(s.value),
      s.status.replace(/_/g, " "),
      s.verbatim,
      [s.owner && agent(s.owner), s.hop ? `hop ${s.hop}` : ""].filter(Boolean).join(", "),
    ]),
    table("Artifacts", ["path", "kind", "at delivery"], packet.artifacts, (a) => [
      a.version ? `${a.path} (${a.version})` : a.path,
      a.kind,
      found.artifacts[a.path] || "",
    ]),
    table("Rejected paths", ["what", "why"], packet.rejected_paths, (r) => [r.what, r.why]),
    table("Open questions", ["id", "question", "field"], packet.open_questions, (q) => [q.id, q.text, q.field]),
    items("Flags", packet.flags.map((f) => [f.text, f.fields.join(", ")].filter(Boolean).join(" · "))),
    text("Next action", packet.next_action),
    items("Acceptance criteria", packet.acceptance_criteria),
    text("Return condition", packet.return_condition),
    text("Reason", packet.handover_reason),
    items("Authority", [...packet.authority.granted.map((w) => `may ${w}`), ...packet.authority.denied.map((w) => `must not ${w}`)]),
    text("Tools, enforced", found.tools),
    text("Stopped at", packet.stopped_at),
    items("Sections done", packet.sections_done),
    items("Notes", packet.notes),
    table("Recent turns", ["who", "text"], packet.recent_turns, (t) => [t.role, t.text]),
  ].filter(Boolean);
}

/** What travelled: counted, limited, left out. */
export function travelSections(found) {
  const { tokens, turns, history_reads: reads } = found.summary;
  const counted = tokens.estimated ? " (estimated)" : "";
  return [
    items("Tokens", [
      `${number(tokens.asked)} asked to travel${counted}`,
      `${number(tokens.delivered)} delivered, limit ${number(tokens.limit)}`,
      `${number(tokens.left_out)} left out`,
      plural(turns, "recent turn"),
    ]),
    items("Left out", found.omitted),
    table("Full history read", ["time", "why", "range", "tokens"], reads, (r) => [
      moment(r.time), r.reason, plain(r.range), number(r.tokens),
    ]),
  ].filter(Boolean);
}

/** What came back. */
export function returnSections(found) {
  const note = found.note;
  const summary = found.summary;
  const rest = Object.entries(note).filter(([key]) => !NOTE[key]);
  return [
    text("Verdict", [word(summary.state), summary.outcome, summary.implicit ? "implicit" : ""].filter(Boolean).join(" · ")),
    ...Object.entries(NOTE).map(([key, title]) => either(title, note[key])),
    text("Why", summary.why),
    text("Handed on to", summary.hand_to && agent(summary.hand_to)),
    items("Changed by the hand-back", found.news.map(plain)),
    ...rest.map(([key, value]) => either(key.replace(/_/g, " "), value)),
  ].filter(Boolean);
}

/** What happened when. */
export function eventSections(found) {
  const { queue_s, work_s, latency_s } = found.summary;
  return [
    text("Worked on", found.summary.on),
    items("Durations", [
      `handover ${duration(latency_s)}`,
      `queue ${duration(queue_s)}`,
      `work ${duration(work_s)}`,
    ]),
    table("Events", ["time (UTC)", "event", "id"], found.events, (e) => [moment(e.time), e.kind.replace(/_/g, " "), e.id]),
  ].filter(Boolean);
}

const NOTE = {
  what_happened: "What happened",
  observations: "Observations",
  user_state: "User state",
  next: "Next",
  missing: "Asked for",
  already_held: "Asked for, though the packet held it",
  incomplete: "Incomplete",
};

function either(title, value) {
  return Array.isArray(value) ? items(title, value.map(plain)) : text(title, plain(value));
}

function text(title, value) {
  return value ? { title, kind: "text", text: String(value) } : null;
}

function items(title, values) {
  const found = values.filter(Boolean).map(String);
  return found.length ? { title, kind: "items", items: found } : null;
}

/** Columns that are empty in every row are left out. */
function table(title, columns, values, row) {
  if (!values.length) return null;
  const rows = values.map((value) => row(value).map((cell) => String(cell ?? "")));
  const used = columns.map((_, at) => rows.some((cells) => cells[at]));
  const kept = (cells) => cells.filter((_, at) => used[at]);
  return { title, kind: "table", columns: kept(columns), rows: rows.map(kept) };
}
