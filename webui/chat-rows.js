// How the plugin's tools look in the chat. Text goes to the host's own row drawing, which escapes it, or to textContent.
import { agent, number, word } from "./words.js";

export const TOOLS = ["handover_to_specialist", "handover_reply", "request_full_history"];
const ID = /ho-[0-9a-f]{16}/;
// `🖌️ Frontend Designer (A1): Using tool …` of a row's heading; without a persona the name is `A1` alone.
const HEADING = /^(?:icon:\/\/\w+(?:\[[^\]]*\])?\s*)?(?:(.+) \()?(A\d+)\)?:\s*/u;

/** Who speaks in a row: {persona, number, rest of the heading}. */
export function speaker(heading) {
  const found = HEADING.exec(String(heading ?? ""));
  if (!found) return { persona: "", number: "", rest: String(heading ?? "") };
  return { persona: found[1]?.trim() || "", number: found[2], rest: heading.slice(found[0].length) };
}

/** Heading, code and lines of a row of ours, and the handover it is about ("" while that is not known). */
export function row(args) {
  const tool = args.kvps?._tool_name;
  const { persona, number: place } = speaker(args.heading);
  const who = persona || place || "Agent";
  const content = String(args.content ?? "");
  const drawn = { handover_to_specialist: handover, handover_reply: reply, request_full_history: history }[tool](who, args.kvps, content);
  const lines = Object.entries(drawn.lines).filter(([, value]) => value !== "" && value !== undefined && value !== null);
  return {
    heading: [persona ? `${persona} (${place})` : place, drawn.heading].filter(Boolean).join(": "),
    code: drawn.code,
    displayKvps: Object.fromEntries(lines.map(([key, value]) => [key, harmless(value)])),
    handover: ID.exec(drawn.id || content)?.[0] || "",
  };
}

function handover(who, asked, content) {
  const found = parsed(content);
  const packed = found?.package || {};
  const receiver = packed.specialist || asked.specialist_profile || "";
  const name = [packed.marker, agent(receiver)].filter(Boolean).join(" ");
  const topic = packed.topic || asked.topic || "";
  const refused = content.startsWith("ERROR:");
  const verdict = refused ? "refused" : found?.reply?.verdict ? word(found.reply.verdict) : found ? "prepared" : content ? "" : "running";
  return {
    code: "HND",
    heading: `→ ${name}: ${topic}`,
    id: packed.handover_id,
    lines: {
      Handover: `${who} → ${name}` + (packed.hop ? `, hop ${packed.hop}` : ""),
      Topic: topic,
      Tokens: packed.delivered_tokens === undefined ? "" : `${number(packed.delivered_tokens)} delivered, limit ${number(packed.max_context_tokens)}`,
      "Left out": (packed.omitted || []).join("\n"),
      Verdict: [verdict, found?.reply?.outcome].filter(Boolean).join(", "),
      "What happened": found?.reply?.what_happened || "",
      Refused: refused ? content.slice(7) : "",
      Warnings: (packed.warnings || []).join("\n"),
    },
  };
}

function reply(who, asked, content) {
  const refused = content.startsWith("ERROR:");
  return {
    code: "HND",
    heading: asked.verdict === "accept" ? "takes the handover" : `hands back: ${word(asked.verdict)}`,
    id: "",
    lines: {
      Verdict: [word(asked.verdict), asked.outcome].filter(Boolean).join(", "),
      "What happened": asked.what_happened,
      "Asked for": list(asked.missing),
      Why: asked.reason,
      Next: asked.next,
      "Moves on to": asked.hand_to ? agent(asked.hand_to) : "",
      Refused: refused ? content.slice(7) : "",
    },
  };
}

function history(who, asked, content) {
  const range = asked.query ? `search: ${asked.query}` : asked.turns ? `turns ${asked.turns}` : "all";
  return {
    code: "HND",
    heading: `reads the full history: ${asked.reason ?? ""}`,
    id: "",
    lines: { Reads: range, Why: asked.reason, "At most": asked.max_tokens ? `${asked.max_tokens} tokens` : "", Refused: content.startsWith("ERROR:") ? content.slice(7) : "" },
  };
}

/** The JSON at the head of a tool's answer; of one that the host cut in the middle, what its lines still say. */
function parsed(content) {
  const end = content.lastIndexOf("\n}");
  try {
    return JSON.parse(content.slice(0, end + 2));
  } catch {
    const word = (key) => new RegExp(`"${key}": "((?:[^"\\\\]|\\\\.)*)"`).exec(content)?.[1];
    const count = (key) => Number(new RegExp(`"${key}": (\\d+)`).exec(content)?.[1] ?? NaN);
    if (!word("handover_id")) return null;
    const texts = Object.fromEntries(["specialist", "topic", "marker", "handover_id"].map((key) => [key, word(key)]));
    const counts = Object.fromEntries(["hop", "delivered_tokens", "max_context_tokens"].map((key) => [key, count(key)]));
    return { package: { ...texts, ...counts }, reply: word("verdict") ? { verdict: word("verdict") } : undefined };
  }
}

function list(value) {
  return Array.isArray(value) ? value.join(", ") : value;
}

/** The host draws a value that begins with img:// as a picture; texts of models are texts. */
function harmless(value) {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.startsWith("img://") ? ` ${text}` : text;
}
