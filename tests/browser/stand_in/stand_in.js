// The few functions of the host's page that the plugin's pages call. What is opened stands in the address: #/plugins/…/x.html
import { createStore } from "/js/AlpineStore.js";
import { fetchApi } from "/js/api.js";

window.toasts = [];
window.toastFrontendError = (message, title) => {
  toasts.push(`${title}: ${message}`);
  const line = document.createElement("p");
  line.innerHTML = message; // as the host does
  document.getElementById("toasts").append(line);
};

async function component(path, place) {
  const page = new DOMParser().parseFromString(await (await fetch(path)).text(), "text/html");
  for (const script of page.querySelectorAll("script[type=module]")) {
    const url = URL.createObjectURL(new Blob([script.textContent.replaceAll('"/', `"${location.origin}/`)], { type: "text/javascript" }));
    await import(url);
  }
  await Promise.all([...page.querySelectorAll("link")].map((link) => new Promise((done) => {
    link.onload = link.onerror = done;
    document.head.append(link);
  })));
  page.querySelectorAll("style").forEach((style) => document.head.append(style));
  page.querySelectorAll("script, link").forEach((node) => node.remove());
  place.replaceChildren(...page.body.childNodes);
  return page;
}

window.openModal = async (path) => {
  const inner = document.createElement("div");
  inner.className = "modal-inner";
  document.getElementById("place").replaceChildren(inner);
  const page = await component(path, inner);
  inner.classList.add(...page.documentElement.classList);
};
window.closeModal = () => document.getElementById("place").replaceChildren();

// What the host's settings page gives to a plugin's config.html: `context` and `config` in scope.
const scope = {
  pluginName: "software_orchestrator", projectName: "", agentProfileKey: "", settings: {}, settingsSnapshotJson: "",
  loadedPath: "", loadedProjectName: "", loadedAgentProfile: "", isLoading: false, isSaving: false, error: null, saved: 0,
  get hasUnsavedChanges() { return JSON.stringify(this.settings) !== this.settingsSnapshotJson; },
  async ask(action, more = {}) {
    const body = { action, plugin_name: this.pluginName, project_name: this.projectName, agent_profile: this.agentProfileKey, ...more };
    const response = await fetchApi("/plugins", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    return response.json().catch(() => ({}));
  },
  async loadSettings() {
    this.isLoading = true;
    const found = await this.ask("get_config");
    this.settings = found.data;
    this.loadedProjectName = found.loaded_project_name;
    this.loadedAgentProfile = found.loaded_agent_profile;
    this.loadedPath = found.loaded_path;
    this.settingsSnapshotJson = JSON.stringify(this.settings);
    this.isLoading = false;
  },
  async resetToDefault() { this.settings = (await this.ask("get_default_config")).data; },
  async save() {
    const result = await this.ask("save_config", { settings: this.settings });
    this.error = result.ok ? null : "Save failed";
    if (result.ok) { this.settingsSnapshotJson = JSON.stringify(this.settings); this.saved += 1; }
  },
};
createStore("hostSettings", scope);

window.openSettings = async () => {
  const inner = document.createElement("div");
  inner.className = "modal-inner";
  inner.setAttribute("x-data", "{ get context() { return $store.hostSettings }, get config() { return $store.hostSettings.settings } }");
  inner.innerHTML = '<div class="body"></div><button class="btn btn-ok" id="save" @click="context.save()">Save</button>'
    + '<button class="btn" id="default" @click="context.resetToDefault()">Default</button>';
  await Alpine.store("hostSettings").loadSettings();
  await component("/plugins/software_orchestrator/webui/config.html", inner.querySelector(".body"));
  document.getElementById("place").replaceChildren(inner);
};

document.addEventListener("alpine:init", () => {
  for (const name of ["create", "destroy"]) {
    Alpine.directive(name, (_, { expression }, { evaluateLater, cleanup }) => {
      const run = evaluateLater(expression);
      if (name === "create") run();
      else cleanup(() => run());
    });
  }
});
await import("/alpine.min.js");
if (location.hash === "#settings") await window.openSettings();
else if (location.hash.startsWith("#/")) await window.openModal(location.hash.slice(1));
document.body.dataset.ready = "yes";
