"""`/handovers` in the chat's input of a host that has slash commands: opens the audit page."""

PAGE = "/plugins/software_orchestrator/webui/main.html"


def run(payload: object) -> dict[str, object]:
    """No text is sent to the agent; the page opens."""
    return {"text": "", "effects": [{"type": "open_modal", "path": PAGE}]}
