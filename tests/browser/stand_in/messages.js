/** Draws a tool row as far as the plugin's handlers use it. */
export function drawMessageToolSimple(args) {
  const element = document.createElement("div");
  element.className = "process-step";
  const header = document.createElement("div");
  header.className = "process-step-header";
  const title = document.createElement("span");
  title.className = "step-title";
  title.textContent = args.heading;
  header.append(title);
  const detail = document.createElement("dl");
  for (const [key, value] of Object.entries(args.displayKvps ?? args.kvps ?? {})) {
    detail.append(Object.assign(document.createElement("dt"), { textContent: key }), Object.assign(document.createElement("dd"), { textContent: value }));
  }
  const buttons = document.createElement("div");
  buttons.className = "step-action-buttons";
  element.append(header, detail, buttons);
  element.dataset.code = args.code;
  return { element, step: element, detail };
}
