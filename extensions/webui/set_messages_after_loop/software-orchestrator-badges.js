// A badge with the persona on each row of a specialist. Drawing again changes nothing; what is not there is passed over.
import { speaker } from "/plugins/software_orchestrator/webui/chat-rows.js";

export default function personaBadges(context) {
  for (const { args, result } of context?.results ?? []) {
    const header = result?.element?.querySelector?.(".process-step-header");
    const { persona, number } = speaker(args?.heading);
    const old = header?.querySelector(".software-orchestrator-persona");
    if (!header || !persona) {
      old?.remove();
      continue;
    }
    const badge = old || document.createElement("span");
    badge.className = "software-orchestrator-persona";
    badge.style.cssText =
      "flex:none;max-width:14rem;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;padding:0 0.45em;border:1px solid var(--color-border);border-radius:1em;font-size:0.75rem;line-height:1.6";
    if (badge.textContent !== persona) badge.textContent = persona;
    badge.title = `${persona} is working as ${number}`;
    const title = header.querySelector(".step-title");
    if (!old) header.insertBefore(badge, title?.parentNode === header ? title : null);
    const twice = `${persona} (${number}):`;
    if (title?.textContent.startsWith(twice)) title.textContent = `${number}:${title.textContent.slice(twice.length)}`;
  }
}
