"""Finds or makes the chat that a web request names."""

from typing import Any


def use_context(lock: Any, ctxid: str, create_if_not_exists: bool = True):
    from agent import AgentContext
    from initialize import initialize_agent

    with lock:
        found = AgentContext.use(ctxid) if ctxid else AgentContext.first()
        if found is not None:
            AgentContext.set_current(found.id)
            return found
        if ctxid and not create_if_not_exists:
            raise Exception(f"no chat {ctxid}")
        return AgentContext(config=initialize_agent(), id=ctxid or None, set_current=True)
