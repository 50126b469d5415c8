"""Chats on the disk: `usr/chats/<id>/chat.json`."""

import json
import uuid
from collections import OrderedDict
from datetime import datetime
from typing import Any

from agent import Agent, AgentConfig, AgentContext, AgentContextType
from helpers import files, history, shape
from helpers.log import Log, LogItem
from initialize import initialize_agent

CHATS_FOLDER = "usr/chats"
LOG_SIZE = 1000
CHAT_FILE_NAME = "chat.json"


def get_chat_folder_path(ctxid: str):
    return files.get_abs_path(f"{CHATS_FOLDER}/{ctxid}")


def get_chat_msg_files_folder(ctxid: str):
    return files.get_abs_path(f"{CHATS_FOLDER}/{ctxid}", "messages")


def save_tmp_chat(context: AgentContext):
    if context.type is not AgentContextType.BACKGROUND:
        files.write_file(_file_of(context.id), export_json_chat(context))


def save_tmp_chats():
    for context in AgentContext.all():
        save_tmp_chat(context)


def load_tmp_chats():
    loaded = []
    for name in files.list_files(CHATS_FOLDER, "*"):
        try:
            loaded.append(_context_from(json.loads(files.read_file(_file_of(name)))).id)
        except Exception as fault:  # one broken chat does not stop the others, in the host too
            print(f"chat {name} was not loaded: {fault}")
    return loaded


def load_json_chats(jsons: list[str]):
    """Imported chats get new ids."""
    return [_context_from({**json.loads(text), "id": None}).id for text in jsons]


def export_json_chat(context: AgentContext):
    return json.dumps(_as_data(context), default=_without_objects, ensure_ascii=False)


def remove_chat(ctxid):
    files.delete_dir(get_chat_folder_path(ctxid))


def remove_msg_files(ctxid):
    files.delete_dir(get_chat_msg_files_folder(ctxid))


def _file_of(ctxid: str):
    return files.get_abs_path(f"{CHATS_FOLDER}/{ctxid}", CHAT_FILE_NAME)


def _line_of(context: AgentContext) -> list[Agent]:
    line, agent = [], context.agent0
    while agent is not None:
        line.append(agent)
        agent = agent.data.get(Agent.DATA_NAME_SUBORDINATE)
    return line


def _public(data: dict) -> dict:
    return {key: value for key, value in data.items() if not key.startswith("_")}


def _as_data(context: AgentContext) -> dict[str, Any]:
    rows = [row.output() for row in list(context.log.logs)[-LOG_SIZE:]]
    return {
        **{field: getattr(context, field) for field in ("id", "name")},
        "created_at": context.created_at.isoformat(),
        "type": context.type.value,
        "last_message": context.last_message.isoformat(),
        "agents": [
            {
                "number": agent.number,
                "data": _public(agent.data),
                "history": agent.history.serialize(),
            }
            | shape.saved_profile(agent)
            for agent in _line_of(context)
        ],
        "streaming_agent": context.streaming_agent.number if context.streaming_agent else 0,
        "log": {
            "guid": context.log.guid,
            "logs": rows,
            "progress": context.log.progress,
            "progress_no": context.log.progress_no,
        },
        "data": _public(context.data),
        "output_data": _public(context.output_data),
    }


def _without_objects(value: Any) -> Any:
    """json asks for what it cannot write: null. A tuple as a key does not come here, it raises."""
    return None


def _context_from(data: dict[str, Any]) -> AgentContext:
    config = initialize_agent()
    epoch = datetime.fromtimestamp(0).isoformat()
    context = AgentContext(
        config=config,
        id=data.get("id"),
        name=data.get("name"),
        created_at=datetime.fromisoformat(data.get("created_at", epoch)),
        type=AgentContextType(data.get("type", "user")),
        last_message=datetime.fromisoformat(data.get("last_message", epoch)),
        log=_log_from(data["log"]),
        data=data.get("data", {}),
        output_data=data.get("output_data", {}),
    )
    context.agent0 = _agents_from(data.get("agents", []), config, context)
    speaker = context.agent0
    while speaker is not None and speaker.number != data.get("streaming_agent", 0):
        speaker = speaker.data.get(Agent.DATA_NAME_SUBORDINATE)
    context.streaming_agent = speaker
    return context


def _agents_from(saved: list[dict[str, Any]], config: AgentConfig, context: AgentContext) -> Agent:
    """`agent_init` runs in the constructor, before the saved data is there."""
    line: list[Agent] = []
    for one in saved:
        given = (
            {"agent_profile": one["agent_profile"]}
            if one.get("agent_profile") and shape.KEEPS_PROFILE
            else None
        )
        agent = Agent(
            one["number"], initialize_agent(override_settings=given) if given else config, context
        )
        agent.data = one.get("data", {})
        agent.history = history.deserialize_history(one.get("history", ""), agent=agent)
        if line:
            line[-1].set_data(Agent.DATA_NAME_SUBORDINATE, agent)
            agent.set_data(Agent.DATA_NAME_SUPERIOR, line[-1])
        line.append(agent)
    return line[0] if line else Agent(0, config, context)


def _log_from(data: dict[str, Any]) -> Log:
    log = Log()
    log.guid = data.get("guid") or f"{uuid.uuid4()}"
    for number, row in enumerate(data.get("logs", [])):
        kept = {key: row.get(key) for key in ("type", "id")}
        kept |= {key: row.get(key, "") for key in ("heading", "content")}
        kept |= {"timestamp": row.get("timestamp", 0.0), "agentno": row.get("agentno", 0)}
        log.logs.append(
            LogItem(
                log=log, no=number, kvps=OrderedDict(row["kvps"]) if row["kvps"] else None, **kept
            )
        )
        log.updates.append(number)
    return log
