// The metrics as small charts: one figure a measure, its number, its n, and bars where there is something to compare.
import "./vendor/d3/d3.min.js";
import { duration, number, plural } from "./words.js";

const d3 = globalThis.d3;
const WIDTH = 280;
const BAR = 22;
const LABEL = 112;

/** Draws what the handler's `metrics` tells into `box`, in place of what was there. */
export function drawCharts(box, found) {
  const root = d3.select(box);
  root.selectAll("*").remove();
  root
    .append("p")
    .attr("class", "so-charts-of")
    .text(
      `${plural(found.chains, "chain")}, ${plural(found.handovers, "handover")}` +
        (found.foreign ? `; ${plural(found.foreign, "event")} of another installation not counted` : "") +
        (found.unreadable ? `; ${plural(found.unreadable, "chain")} not read whole` : "") +
        (found.unreadable_projects.length ? `; not readable: ${found.unreadable_projects.join(", ")}` : ""),
    );
  const figures = root.selectAll("figure").data(found.measures).join("figure").attr("class", "so-chart").attr("data-measure", (item) => item.id);
  figures.append("figcaption").text((item) => item.label);
  figures.append("p").attr("class", "so-big").text(headline);
  figures.append("p").attr("class", "so-dim").text(smallPrint);
  figures.each(function (item) {
    const compared = bars(item);
    if (compared.length) draw(d3.select(this), item, compared);
  });
}

function headline(item) {
  if (item.n === 0) return "–";
  if (item.rate !== null) return `${(item.rate * 100).toFixed(item.rate > 0 && item.rate < 0.1 ? 1 : 0)} %`;
  return item.id === "handover_latency" ? duration(item.value) : number(Math.round(item.value * 100) / 100);
}

function smallPrint(item) {
  const of = item.hits === null ? `n = ${number(item.n)}` : `${number(item.hits)} of ${number(item.n)}`;
  const { limit_s, median_s, max_s, max } = item.detail;
  const more = [
    item.n === 0 ? "nothing to measure yet" : of,
    typeof limit_s === "number" ? `limit ${duration(limit_s)}` : "",
    typeof median_s === "number" && item.rate !== null ? `median ${duration(median_s)}` : "",
    typeof max_s === "number" ? `longest ${duration(max_s)}` : "",
    max ? `most ${number(max)}` : "",
    item.detail.open ? `${number(item.detail.open)} open` : "",
    item.detail.unfinished ? `${number(item.detail.unfinished)} unfinished` : "",
    item.detail.reads ? `${plural(item.detail.reads, "read")}, ${number(item.detail.tokens)} tokens` : "",
    item.detail.estimated ? `${number(item.detail.estimated)} counted by estimate` : "",
  ];
  return more.filter(Boolean).join(" · ");
}

/** What is compared in a figure: [{name, value}]; the rate itself where there is no break-down. */
function bars(item) {
  const { by_hops, by_reason, rejected_by_receiver: rejected } = item.detail;
  if (by_hops) return Object.entries(by_hops).map(([hops, value]) => ({ name: plural(Number(hops), "hop"), value }));
  if (by_reason) {
    const refusals = Object.entries(by_reason).map(([name, value]) => ({ name: name.replace(/_/g, " "), value }));
    const back = Object.values(rejected || {}).reduce((sum, value) => sum + value, 0);
    if (back) refusals.push({ name: "by the receiver", value: back });
    if (refusals.length) return refusals;
  }
  if (item.id === "tokens") return ["asked", "delivered", "left_out"].map((name) => ({ name: name.replace("_", " "), value: item.detail[name] }));
  if (item.id === "decision_retention" && item.n) {
    const parts = ["shortened", "altered", "lost"].map((name) => ({ name, value: item.detail[name] }));
    return [{ name: "intact", value: item.hits }, ...parts];
  }
  return item.rate === null || !item.n ? [] : [{ name: "", value: item.hits, of: item.n }];
}

function draw(figure, item, compared) {
  const single = compared[0].of !== undefined;
  const left = single ? 0 : LABEL;
  const height = single ? 14 : BAR * compared.length;
  const y = d3.scaleBand(compared.map((bar) => bar.name), [0, height]).padding(single ? 0 : 0.25);
  const most = single ? compared[0].of : d3.max(compared, (bar) => bar.value) || 1;
  const x = d3.scaleLinear([0, most], [0, WIDTH - left - (single ? 0 : 48)]);
  const svg = figure
    .append("svg")
    .attr("viewBox", `0 0 ${WIDTH} ${height}`)
    .attr("role", "img")
    .attr("aria-label", `${item.label}: ${compared.map((bar) => `${bar.name} ${number(bar.value)}`.trim()).join(", ")}`);
  if (single) svg.append("rect").attr("class", "so-whole").attr("width", WIDTH).attr("height", height).attr("rx", 3);
  const rows = svg.selectAll("g").data(compared).join("g").attr("transform", (bar) => `translate(0,${y(bar.name)})`);
  rows
    .append("rect")
    .attr("x", left)
    .attr("width", (bar) => x(bar.value))
    .attr("height", y.bandwidth())
    .attr("rx", 3);
  if (single) return;
  const middle = y.bandwidth() / 2 + 4;
  rows.append("text").attr("x", left - 6).attr("y", middle).attr("text-anchor", "end").text((bar) => short(bar.name)).append("title").text((bar) => bar.name);
  rows.append("text").attr("x", (bar) => left + x(bar.value) + 5).attr("y", middle).text((bar) => number(bar.value));
}

function short(name) {
  return name.length <= 18 ? name : name.slice(0, 17) + "…";
}
