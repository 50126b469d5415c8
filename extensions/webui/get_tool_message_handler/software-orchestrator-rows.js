// Rows of handovers: who hands what to whom, with a link to the audit page. A host without the hook never calls this.
import { drawMessageToolSimple } from "/js/messages.js";
import { row, TOOLS } from "/plugins/software_orchestrator/webui/chat-rows.js";

export default function handoverRows(context) {
  if (TOOLS.includes(context?.tool_name)) context.handler = draw;
}

async function draw(args) {
  const { handover, heading, code, displayKvps } = row(args);
  const result = await drawMessageToolSimple({ ...args, heading, code, displayKvps });
  colour();
  if (handover) link(result?.element, handover);
  return result;
}

/** The colour of our badge in the host's two themes. */
function colour() {
  if (document.getElementById("software-orchestrator-rows")) return;
  const style = document.createElement("style");
  style.id = "software-orchestrator-rows";
  style.textContent = `
    .process-group .HND { --step-accent: #c79bff }
    .light-mode .process-group .HND { --step-accent: #6f35b8 }
    .software-orchestrator-audit {
      flex: none; margin-left: auto; padding: 0 0.6em; color: var(--step-accent); background: none; cursor: pointer;
      border: 1px solid var(--color-border); border-radius: 1em; font: inherit; font-size: 0.75rem; line-height: 1.6;
    }`;
  document.head.append(style);
}

/** One button at the end of the row's first line, also when the row is drawn again. */
function link(element, handover) {
  const place = element?.querySelector(".process-step-header");
  if (!place || place.querySelector(".software-orchestrator-audit")) return;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "software-orchestrator-audit";
  button.textContent = "Audit";
  button.title = "Show this handover on the audit page";
  button.addEventListener("click", async (event) => {
    event.stopPropagation();
    const { store } = await import("/plugins/software_orchestrator/webui/audit-store.js");
    await store.openAt(handover);
  });
  place.append(button);
}
