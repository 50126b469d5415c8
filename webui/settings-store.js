// The settings page: every setting of one scope, what it inherits and from where. The host saves `context.settings`; here it holds
// only what this scope itself sets, so that everything else stays inherited. Each open page has a state of its own.
import { createStore } from "/js/AlpineStore.js";
import { ask, complain } from "./wire.js";

const model = {
  // What the handler tells of the scope (settings_form.view), and the settings object of the host that was made from it.
  view: null,
  adopted: null,
  problem: "",
  asked: 0,
  timer: null,

  /** Runs whenever the host has loaded a scope, or put the defaults in: takes only what the scope itself sets. */
  follow(context) {
    const { pluginName, isLoading, settings, projectName, agentProfileKey } = context;
    if (!pluginName || isLoading || !settings || settings === this.adopted) return;
    this.guard(context);
    const loaded = JSON.stringify(settings) === context.settingsSnapshotJson;
    if (loaded || !this.view) this.load(context, projectName, agentProfileKey);
    // Later: Alpine does not run an effect twice in one flush, so what it has shown already would stay.
    else queueMicrotask(() => this.adopt(context, this.without(settings)));
  },

  async load(context, project, profile) {
    const turn = ++this.asked;
    this.view = null;
    try {
      const view = await ask("settings", { action: "view", project: project || "", profile: profile || "" });
      if (turn !== this.asked) return;
      this.view = view;
      this.problem = view.problem;
      this.adopt(context, { ...view.own });
      context.settingsSnapshotJson = JSON.stringify(context.settings);
    } catch (error) {
      complain(error, "The settings could not be read");
    }
  },

  adopt(context, values) {
    context.settings = values;
    this.adopted = context.settings;
  },

  /** The values that differ from what would hold without them. */
  without(values) {
    const plain = (value) => JSON.stringify(Array.isArray(value) && !value.length ? "" : value);
    const same = (key, value) => plain(this.view.inherited[key]?.value) === plain(value);
    return Object.fromEntries(Object.entries(values).filter(([key, value]) => !same(key, value)));
  },

  /** The host's Save answers a refusal with "Save failed" alone; so ask first, and say why. */
  guard(context) {
    if (context.softwareOrchestratorGuard) return;
    context.softwareOrchestratorGuard = true;
    const save = context.save;
    context.save = async () => {
      if (!(await this.check(context))) return complain(new Error(this.problem), "Not saved");
      return save.call(context);
    };
  },

  /** Whether the scope sets this itself; a control left empty inherits. */
  isOwn(context, field) {
    return ![undefined, ""].includes(context.settings?.[field.key]);
  },

  value(context, field) {
    return context.settings?.[field.key] ?? this.view.inherited[field.key].value;
  },

  source(context, field) {
    return this.isOwn(context, field) ? "set here" : `from ${this.view.inherited[field.key].source}`;
  },

  set(context, field, text) {
    context.settings[field.key] = typed(field, text);
    this.checkSoon(context);
  },

  inherit(context, field) {
    delete context.settings[field.key];
    this.checkSoon(context);
  },

  checkSoon(context) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.check(context), 250);
  },

  /** Whether the values could be saved; `problem` says why not. */
  async check(context) {
    clearTimeout(this.timer);
    try {
      await ask("settings", { action: "check", values: context.settings });
      this.problem = "";
    } catch (error) {
      this.problem = error.message;
    }
    return !this.problem;
  },

  cleanup() {
    clearTimeout(this.timer);
    this.asked += 1;
  },
};

/** What a control's text means; a number that is none stays text, so that the check can name it. */
function typed(field, text) {
  if (field.kind === "boolean") return Boolean(text);
  if (field.kind !== "integer" && field.kind !== "number") return text;
  return text === "" || Number.isNaN(Number(text)) ? text : Number(text);
}

export const store = createStore("softwareOrchestratorSettings", { page: () => ({ ...model }) });
