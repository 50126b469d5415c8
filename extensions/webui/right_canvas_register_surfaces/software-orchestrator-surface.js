// The audit page as a surface beside the chat. A host without a right canvas never calls this.
import { PAGE, SURFACE } from "/plugins/software_orchestrator/webui/surface.js";

export default function handoverSurface(canvas) {
  canvas?.registerSurface?.({ id: SURFACE, title: "Handovers", icon: "account_tree", order: 60, modalPath: PAGE });
}
