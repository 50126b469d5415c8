// One chain as a picture: agents are lanes, time runs down, handovers and returns are arrows. SVG by d3, text by .text() only.
import "./vendor/d3/d3.min.js";
import { agent, duration, moment, number, sign, word } from "./words.js";

const d3 = globalThis.d3;
const GUTTER = 66;
const LANE = { least: 92, most: 420 };
const ROW = { arrow: 46, mark: 30 };
const FOOT = 26;
const GAP_S = 60;

/**
 * Draws `timeline` (the handler's) into `box`, in place of what was there. `choose(handover id)` is called when a person picks
 * an arrow by mouse, Enter or Space; the arrows of `chosen` are marked.
 */
export function drawPicture(box, timeline, chosen, choose) {
  const root = d3.select(box);
  const kept = box.scrollTop;
  root.selectAll("*").remove();
  if (!timeline?.arrows?.length) {
    root.append("p").attr("class", "so-empty").text("Nothing was handed over in this chain.");
    return;
  }
  const agents = timeline.lanes.map((lane) => lane.agent);
  const rows = placed(timeline);
  const room = (box.clientWidth - GUTTER) / agents.length;
  const lane = Math.max(LANE.least, Math.min(LANE.most, room || LANE.least));
  const width = GUTTER + lane * agents.length;
  const height = rows.at(-1).bottom + FOOT;
  const x = d3.scalePoint(agents, [GUTTER + lane / 2, width - lane / 2]);
  if (agents.length === 1) x.range([GUTTER + lane / 2, GUTTER + lane / 2]);

  for (const row of rows) if (row.arrow) [row.x1, row.x2] = [x(row.arrow.from), x(row.arrow.to)];
  header(root, timeline.lanes, lane, width);
  const svg = root
    .append("svg")
    .attr("class", "so-picture")
    .attr("width", width)
    .attr("height", height)
    .attr("role", "group")
    .attr("aria-label", `Picture of the chain ${timeline.topic}: ${rows.length} events, ${agents.length} agents`);
  lifelines(svg, agents, x, height);
  bars(svg, timeline.bars, rows, x, height);
  times(svg, rows, width, timeline.start);
  marks(svg, rows.filter((row) => row.mark), x);
  arrows(svg, rows.filter((row) => row.arrow), x, width, chosen, choose);
  box.scrollTop = kept;
  choosePicture(box, chosen);
}

/** Marks the arrows of another handover without drawing again, and brings the first one into sight. */
export function choosePicture(box, chosen) {
  const own = (row) => row.arrow.handover === chosen;
  const arrows = d3.select(box).selectAll("g.so-arrow").classed("so-chosen", own).attr("aria-pressed", (row) => String(own(row)));
  const first = arrows.filter(own).data()[0];
  if (!first || !box) return;
  if (first.top < box.scrollTop || first.bottom + 60 > box.scrollTop + box.clientHeight) box.scrollTop = first.top;
  const [left, right] = [Math.min(first.x1, first.x2) - GUTTER, Math.max(first.x1, first.x2) + LANE.least / 2];
  if (right > box.scrollLeft + box.clientWidth) box.scrollLeft = Math.min(left, right - box.clientWidth);
  else if (left < box.scrollLeft) box.scrollLeft = left;
}

/** Arrows and marks as one list in the order of time, each with its place: {arrow | mark, time, y, bottom, gap}. */
function placed(timeline) {
  const drawn = new Set(timeline.arrows.map((arrow) => arrow.id));
  const marks = timeline.marks.filter((mark) => mark.kind !== "superseded" && !drawn.has(mark.id));
  const waiting = { arrows: [...timeline.arrows], marks };
  const rows = [];
  let y = 8;
  while (waiting.arrows.length || waiting.marks.length) {
    const [arrow, mark] = [waiting.arrows[0], waiting.marks[0]];
    const next = !mark || (arrow && arrow.time <= mark.time) ? { arrow: waiting.arrows.shift() } : { mark: waiting.marks.shift() };
    const height = next.arrow ? ROW.arrow : ROW.mark;
    const time = (next.arrow || next.mark).time;
    const gap = rows.length ? (Date.parse(time) - Date.parse(rows.at(-1).time)) / 1000 : 0;
    rows.push({ ...next, time, gap, top: y, y: y + height - 14, bottom: y + height });
    y += height;
  }
  return rows;
}

function header(root, lanes, lane, width) {
  const head = root.append("div").attr("class", "so-lanes").style("width", `${width}px`).style("padding-left", `${GUTTER}px`);
  const cells = head.selectAll("div").data(lanes).join("div").style("width", `${lane}px`).attr("title", (item) => item.agent);
  cells.append("span").text((item) => agent(item.agent));
  cells.filter((item) => item.hops > 0).append("small").text((item) => `${item.hops} ${item.hops === 1 ? "hop" : "hops"}`);
}

function lifelines(svg, agents, x, height) {
  svg
    .append("g")
    .selectAll("line")
    .data(agents)
    .join("line")
    .attr("class", "so-lifeline")
    .attr("x1", x)
    .attr("x2", x)
    .attr("y1", 0)
    .attr("y2", height);
}

/** Who holds the work, from the handover's arrow to its return; an open one runs to the bottom and says so. */
function bars(svg, list, rows, x, height) {
  const of = (id) => rows.filter((row) => row.arrow?.handover === id);
  const shapes = list
    .map((bar) => ({ bar, from: of(bar.handover).at(0), to: of(bar.handover).at(-1) }))
    .filter(({ bar, from }) => from && !["prepared", "superseded"].includes(bar.state))
    .map((item) => ({ ...item, y1: item.from.y, y2: item.bar.open ? height - FOOT + 4 : item.to.y }));
  const groups = svg.append("g").selectAll("g").data(shapes).join("g").attr("class", (d) => `so-bar so-state-${d.bar.state}`);
  groups
    .append("rect")
    .attr("x", (d) => x(d.bar.agent) - 5)
    .attr("y", (d) => d.y1)
    .attr("width", 10)
    .attr("height", (d) => Math.max(6, d.y2 - d.y1))
    .attr("rx", 4);
  groups
    .filter((d) => d.bar.open)
    .classed("so-open", true)
    .append("text")
    .attr("x", (d) => x(d.bar.agent))
    .attr("y", height - 8)
    .attr("text-anchor", "middle")
    .text((d) => `${sign(d.bar.state)} ${word(d.bar.state)}`);
}

function times(svg, rows, width, start) {
  const groups = svg.append("g").attr("class", "so-times").attr("aria-hidden", "true").selectAll("g").data(rows).join("g");
  groups
    .append("text")
    .attr("x", 4)
    .attr("y", (row) => row.y + 4)
    .text((row) => moment(row.time).slice(11));
  groups
    .filter((row, at) => row.gap >= GAP_S || newDay(rows, at))
    .append("text")
    .attr("class", "so-gap")
    .attr("x", 4)
    .attr("y", (row) => row.y - 10)
    .text((row, at, nodes) => (newDay(rows, rows.indexOf(row)) ? moment(row.time).slice(0, 10) : `+${duration(row.gap)}`));
}

function newDay(rows, at) {
  return at === 0 || rows[at].time.slice(0, 10) !== rows[at - 1].time.slice(0, 10);
}

/** What happened at one agent: history reads, refusals, stops. Text beside a dot, on the side where there is room. */
function marks(svg, rows, x) {
  const groups = svg.append("g").selectAll("g").data(rows).join("g").attr("class", (row) => `so-mark so-kind-${row.mark.kind}`);
  const at = (row) => x(row.mark.agent) ?? GUTTER;
  const last = x.range()[1];
  const left = (row) => x.domain().length > 1 && at(row) >= last - 1;
  groups.append("circle").attr("cx", at).attr("cy", (row) => row.y).attr("r", 4);
  groups
    .append("text")
    .attr("x", (row) => at(row) + (left(row) ? -10 : 10))
    .attr("y", (row) => row.y + 4)
    .attr("text-anchor", (row) => (left(row) ? "end" : "start"))
    .text((row) => clipped(said(row.mark), Math.floor((left(row) ? at(row) - GUTTER : last + 40 - at(row)) / 6)));
  groups.append("title").text((row) => `${moment(row.time)} UTC ${said(row.mark)}`);
}

function said({ kind, text }) {
  const name = kind.replace(/_/g, " ");
  return kind === "history_read" && text ? text : [name, text].filter(Boolean).join(": ");
}

function arrows(svg, rows, x, width, chosen, choose) {
  const groups = svg
    .append("g")
    .selectAll("g")
    .data(rows)
    .join("g")
    .attr("class", (row) => `so-arrow so-${row.arrow.kind} so-state-${row.arrow.state}`)
    .classed("so-open", (row) => row.arrow.open)
    .attr("role", "button")
    .attr("tabindex", (_, at) => (at === 0 ? 0 : -1))
    .attr("aria-label", (row) => spoken(row))
    .on("click", (event, row) => choose(row.arrow.handover))
    .on("keydown", (event, row) => onKey(event, row, choose));
  groups
    .append("rect")
    .attr("class", "so-hit")
    .attr("x", 0)
    .attr("width", width)
    .attr("y", (row) => row.top)
    .attr("height", (row) => row.bottom - row.top);
  groups.append("path").attr("class", "so-line").attr("d", (row) => line(row, x));
  groups.append("path").attr("class", "so-head").attr("d", (row) => head(row, x));
  groups
    .append("text")
    .attr("x", (row) => (x(row.arrow.from) + x(row.arrow.to)) / 2)
    .attr("y", (row) => row.y - 8)
    .attr("text-anchor", "middle")
    .text(label);
  groups.append("title").text((row) => [spoken(row), row.arrow.why].filter(Boolean).join("\n"));
}

/** Arrow keys walk over the arrows, Enter and Space choose: one stop for Tab, however long the chain. */
function onKey(event, row, choose) {
  const steps = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity };
  if (event.key in steps) {
    const all = [...event.currentTarget.parentNode.children];
    const at = all.indexOf(event.currentTarget) + steps[event.key];
    const next = all[Math.max(0, Math.min(all.length - 1, at))];
    all.forEach((node) => node.setAttribute("tabindex", node === next ? 0 : -1));
    next.focus();
  } else if (event.key === "Enter" || event.key === " ") {
    choose(row.arrow.handover);
  } else {
    return;
  }
  event.preventDefault();
}

function label(row) {
  const { kind, hop, state, tokens } = row.arrow;
  const unit = Math.abs(row.x2 - row.x1) < 130 ? "" : " tokens";
  if (kind === "handover") return `${hop} · ${number(tokens)}${unit}` + (["prepared", "superseded"].includes(state) ? ` · ${word(state)}` : "");
  return `${sign(state)} ${word(state)}` + (kind === "on" ? ", moves on" : "");
}

function spoken(row) {
  const { kind, hop, from, to, state, tokens, open } = row.arrow;
  const ends = `${agent(from)} to ${agent(to)}, ${moment(row.time)} UTC`;
  if (kind !== "handover") return `Hop ${hop} comes back: ${word(state)}, ${ends}`;
  return `Hop ${hop}: ${ends}, ${number(tokens)} tokens, ${open ? "open, " : ""}${word(state)}`;
}

function line({ y, arrow }, x) {
  const [from, to] = ends(arrow, x);
  return d3.line()([[from, y], [to, y]]);
}

function head({ y, arrow }, x) {
  const [from, to] = ends(arrow, x);
  const back = to > from ? -8 : 8;
  return d3.line()([[to + back, y - 4.5], [to, y], [to + back, y + 4.5]]) + "Z";
}

/** Where an arrow starts and ends: beside the bars, not on them. */
function ends({ from, to }, x) {
  const side = x(to) >= x(from) ? 1 : -1;
  return from === to ? [x(from) + 6, x(to) + 34] : [x(from) + 6 * side, x(to) - 6 * side];
}

function clipped(text, most) {
  return text.length <= most ? text : text.slice(0, most - 1) + "…";
}
