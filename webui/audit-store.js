// What the audit page shows and does. Texts of models come as strings and go to x-text or d3's .text(), never to HTML.
import { createStore } from "/js/AlpineStore.js";
import { drawCharts } from "./audit-charts.js";
import { eventSections, packetSections, returnSections, travelSections } from "./audit-packet.js";
import { choosePicture, drawPicture } from "./audit-picture.js";
import { openPage } from "./surface.js";
import { ask, complain, visible } from "./wire.js";
import * as words from "./words.js";

const PAGE = 100;
const PARTS = { packet: packetSections, travel: travelSections, back: returnSections, events: eventSections };

const model = {
  words,
  projects: [],
  chains: [],
  unreadable: [],
  project: "",
  search: "",
  state: "",
  specialist: "",
  most: PAGE,
  view: "chains",
  loading: false,
  loaded: false,
  // The chosen chain: its line of the list, what the handler tells of it, and the chosen handover.
  chosen: null,
  detail: null,
  handover: "",
  packet: null,
  part: "packet",
  briefing: null,
  verified: null,
  metrics: null,
  // What the person is about to do: {action, words, field} until it is confirmed, and the reason they give.
  act: null,
  reason: "",
  // The handover that a link in the chat wants to see first.
  wanted: "",
  watcher: null,
  root: null,

  async onOpen(element) {
    this.root = element;
    let width = element.clientWidth;
    this.watcher = new ResizeObserver(() => {
      if (element.clientWidth === width) return;
      width = element.clientWidth;
      this.draw();
    });
    this.watcher.observe(element);
    await this.load();
    if (this.wanted) await this.showWanted();
    else this.find("#so-search")?.focus();
  },

  async showWanted() {
    const wanted = this.wanted;
    this.wanted = "";
    const chain = this.chains.find((item) => item.ids.includes(wanted));
    if (chain) await this.choose(chain, wanted);
    else complain(new Error(`${wanted} is in no project that Agent Zero lists`), "Handover not found");
  },

  cleanup() {
    this.watcher?.disconnect();
    Object.assign(this, { watcher: null, root: null, chosen: null, detail: null, packet: null, briefing: null, handover: "", verified: null, act: null });
  },

  /** An element of this page, which may be open twice. */
  find(selector) {
    return this.root?.querySelector(selector) || null;
  },

  /** Runs `work`; what goes wrong becomes a toast. */
  async guarded(work, title) {
    this.loading = true;
    try {
      return await work();
    } catch (error) {
      complain(error, title);
      return null;
    } finally {
      this.loading = false;
    }
  },

  async load() {
    const found = await this.guarded(
      async () => ({ ...(await audit({ action: "projects" })), ...(await audit({ action: "chains" })) }),
      "The handovers could not be read",
    );
    if (!found) return;
    this.projects = found.projects;
    this.unreadable = found.unreadable;
    this.chains = found.chains.map((chain) => ({ ...chain, key: `${chain.project} ${chain.chain}`, text: searchable(chain) }));
    this.loaded = true;
    this.verified = null;
    this.metrics = null;
    if (this.view === "metrics") await this.showMetrics();
    if (found.unreadable.length) complain(new Error(found.unreadable.map((item) => `${item.project}: ${item.error}`).join("\n")), "Not readable");
  },

  get specialists() {
    return [...new Set(this.chains.flatMap((chain) => chain.agents))].sort();
  },

  get filtered() {
    const asked = this.search.toLowerCase().split(/\s+/).filter(Boolean);
    return this.chains.filter(
      (chain) =>
        (!this.project || chain.project === this.project) &&
        (!this.state || (this.state === "faulty" ? chain.faults > 0 : chain.state === this.state)) &&
        (!this.specialist || chain.agents.includes(this.specialist)) &&
        asked.every((part) => chain.text.includes(part)),
    );
  },

  get listed() {
    return this.filtered.slice(0, this.most);
  },

  get counted() {
    const [some, all] = [this.filtered.length, this.chains.length];
    return some === all ? words.plural(all, "chain") : `${words.number(some)} of ${words.plural(all, "chain")}`;
  },

  get states() {
    const counts = new Map();
    for (const chain of this.chains) counts.set(chain.state, (counts.get(chain.state) || 0) + 1);
    const faulty = this.chains.filter((chain) => chain.faults > 0).length;
    if (faulty) counts.set("faulty", faulty);
    return [...counts].map(([state, count]) => ({ state, label: `${words.word(state)} (${count})` }));
  },

  more() {
    this.most += PAGE;
  },

  async choose(chain, handover = "") {
    const found = await this.guarded(
      () => audit({ action: "chain", project: chain.project || "", chain: chain.chain }),
      "The chain could not be read",
    );
    if (!found) return;
    const known = found.summary.handovers.map((item) => item.handover);
    Object.assign(this, { chosen: { ...chain, project: found.summary.project }, detail: found, packet: null, briefing: null, verified: null, act: null });
    this.view = "chains";
    await later();
    this.draw();
    this.find("#so-chain-title")?.focus();
    const first = known.includes(handover) ? handover : known.at(-1);
    if (first) await this.pick(first);
  },

  back() {
    const key = this.chosen && `${this.chosen.project} ${this.chosen.chain}`;
    Object.assign(this, { chosen: null, detail: null, packet: null, briefing: null, handover: "", act: null });
    later().then(() => this.find(`[data-chain="${CSS.escape(key || "")}"]`)?.focus());
  },

  /** Show one handover of the chosen chain. */
  async pick(handover) {
    this.handover = handover;
    choosePicture(this.find("#so-picture"), handover);
    const { project, chain } = this.chosen;
    const found = await this.guarded(() => audit({ action: "packet", project, chain, handover }), "The packet could not be read");
    if (!found || this.handover !== handover) return;
    this.packet = found.packet;
    this.briefing = null;
    if (this.part === "briefing") await this.showBriefing();
  },

  get sections() {
    return this.packet && PARTS[this.part] ? PARTS[this.part](this.packet) : [];
  },

  get hop() {
    return this.detail?.summary.handovers.find((item) => item.handover === this.handover) || null;
  },

  async show(part) {
    this.part = part;
    if (part === "briefing" && !this.briefing) await this.showBriefing();
  },

  async showBriefing() {
    const place = this.packet?.summary.briefing.at(-1);
    if (!place) {
      this.briefing = { name: "", before: "", entry: "", after: "" };
      return;
    }
    const found = await this.guarded(
      () => audit({ action: "briefing", project: this.chosen.project, name: place.path }),
      "The briefing could not be read",
    );
    if (!found) return;
    this.briefing = { name: found.name, ...around(found.text, this.handover) };
    await later();
    this.find("#so-entry")?.scrollIntoView({ block: "nearest" });
  },

  get closable() {
    return Boolean(this.detail?.summary.own && this.hop && (this.hop.open || this.hop.state === "prepared"));
  },

  /** Ask whether it is meant; nothing is written before `confirm`. */
  async intend(action, words, field = "") {
    Object.assign(this, { act: { action, words, field, handover: this.handover }, reason: "" });
    await later();
    this.find("#so-act button, #so-act input")?.focus();
  },

  async confirm() {
    const { project, chain } = this.chosen;
    const { action, field, handover } = this.act;
    const done = await this.guarded(() => ask("act", { action, project, chain, field, handover, reason: this.reason }), "Nothing was changed");
    if (!done) return;
    this.act = null;
    await this.choose(this.chosen, handover);
    await this.load();
  },

  draw() {
    const box = this.find("#so-picture");
    if (box && this.detail) drawPicture(box, this.detail.timeline, this.handover, (handover) => this.pick(handover));
    const charts = this.find("#so-charts");
    if (charts && this.metrics) drawCharts(charts, this.metrics);
  },

  async verify() {
    const asked = { action: "verify", project: this.chosen?.project || this.project, chain: this.chosen?.chain || "" };
    this.verified = await this.guarded(() => audit(asked), "The records could not be verified");
  },

  async showMetrics() {
    this.view = "metrics";
    this.metrics = await this.guarded(() => audit({ action: "metrics", project: this.project }), "No metrics");
    await later();
    this.draw();
  },

  showChains() {
    this.view = "chains";
    later().then(() => this.draw());
  },

  async onProject() {
    this.most = PAGE;
    this.verified = null;
    if (this.view === "metrics") await this.showMetrics();
  },

  /** Down and Up walk over the list, and from the search into it. */
  onListKey(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    const rows = [...(this.root?.querySelectorAll(".so-row") || [])];
    const at = rows.indexOf(document.activeElement) + step;
    (rows[at] || (at < 0 ? this.find("#so-search") : null))?.focus();
    event.preventDefault();
  },

  onPartKey(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const tabs = [...event.currentTarget.querySelectorAll("[role=tab]")];
    const next = tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length];
    next.focus();
    next.click();
    event.preventDefault();
  },

  /** Opens the page at one handover; what a link in the chat calls. */
  async openAt(handover) {
    const isOpen = Boolean(this.root?.isConnected);
    this.wanted = handover;
    await openPage();
    if (!isOpen) return;
    await this.load();
    await this.showWanted();
  },
};

/** What the audit handler answers, with nothing hidden in its texts. */
async function audit(asked) {
  return visible(await ask("audit", asked));
}

function searchable(chain) {
  const parts = [chain.topic, chain.chain, chain.project, chain.project_title, chain.holder, chain.state, chain.stop, ...chain.agents, ...chain.ids];
  const text = parts.join(" ").toLowerCase();
  return text + " " + text.replace(/_/g, " ");
}

/** The briefing before, in and after the newest entry of a handover. */
function around(text, handover) {
  const end = text.lastIndexOf(`<!-- handover:end id=${handover} `);
  const start = end < 0 ? -1 : text.lastIndexOf("\n## ", end) + 1;
  if (end < 0) return { before: text, entry: "", after: "" };
  const stop = text.indexOf("\n", end) + 1 || text.length;
  return { before: text.slice(0, start), entry: text.slice(start, stop), after: text.slice(stop) };
}

function later() {
  return new Promise((done) => (globalThis.Alpine?.nextTick ? Alpine.nextTick(() => requestAnimationFrame(done)) : setTimeout(done)));
}

export const store = createStore("softwareOrchestratorAudit", model);
