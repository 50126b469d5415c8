// Where the audit page opens: beside the chat in a host that has a canvas there, else in a window.
export const SURFACE = "software_orchestrator";
export const PAGE = "/plugins/software_orchestrator/webui/main.html";

export async function openPage() {
  const canvas = globalThis.Alpine?.store?.("rightCanvas");
  if (canvas?.surfaces?.some((surface) => surface.id === SURFACE)) {
    if (await (canvas.openLatest ?? canvas.open).call(canvas, SURFACE)) return;
  }
  globalThis.openModal?.(PAGE); // its promise waits until the window is closed
}
