"""Chats on the disk: `usr/chats/<id>/chat.json`."""

import json
import os
from datetime import datetime
from typing import Any

from agent import Agent, AgentConfig, AgentContext, AgentContextType
from helpers import files, history, shape
from helpers.log import Log, LogItem
from initialize import initialize_agent

CHATS_FOLDER = "usr/chats"
CHAT_FILE_NAME = "chat.json"


def get_chat_folder_path(ctxid: str):
    return files.get_abs_path(f"{CHATS_FOLDER}/{ctxid}")


def get_chat_msg_files_folder(ctxid: str):
    return files.get_abs_path(CHATS_FOLDER, ctxid, "messages")


def save_tmp_chat(context: AgentContext):
    if context.type is not AgentContextType.BACKGROUND:
        path = os.path.join(get_chat_folder_path(context.id), CHAT_FILE_NAME)
        files.write_file(path, export_json_chat(context))


def load_tmp_chats():
    folder, loaded = files.get_abs_path(CHATS_FOLDER), []
    for name in os.listdir(folder) if os.path.isdir(folder) else []:
        path = os.path.join(folder, name, CHAT_FILE_NAME)
        if os.path.exists(path):
            loaded.append(_context_from(json.loads(files.read_file(path))).id)
    return loaded


def load_json_chats(jsons: list[str]):
    """Imported chats get new ids."""
    return [_context_from({**json.loads(text), "id": None}).id for text in jsons]


def export_json_chat(context: AgentContext):
    """Objects become null; a tuple as a key raises."""
    return json.dumps(_as_data(context), default=lambda _: None, ensure_ascii=False)


def remove_chat(ctxid):
    files.delete_dir(get_chat_folder_path(ctxid))


def remove_msg_files(ctxid):
    files.delete_dir(get_chat_msg_files_folder(ctxid))


def _public(data: dict) -> dict:
    return {key: value for key, value in data.items() if not key.startswith("_")}


def _as_data(context: AgentContext) -> dict[str, Any]:
    agents, agent = [], context.agent0
    while agent is not None:
        one = {"number": agent.number, "data": _public(agent.data)}
        agents.append(one | {"history": agent.history.serialize()} | shape.saved_profile(agent))
        agent = agent.data.get(Agent.DATA_NAME_SUBORDINATE)
    speaker = context.streaming_agent
    log = {"guid": context.log.guid, "logs": [row.output() for row in context.log.logs]}
    return {
        "id": context.id,
        "name": context.name,
        "created_at": context.created_at.isoformat(),
        "type": context.type.value,
        "last_message": context.last_message.isoformat(),
        "agents": agents,
        "streaming_agent": speaker.number if speaker else 0,
        "log": log | {"progress": "", "progress_no": 0},
        "data": _public(context.data),
        "output_data": _public(context.output_data),
    }


def _context_from(data: dict[str, Any]) -> AgentContext:
    config = initialize_agent()
    context = AgentContext(
        config=config,
        id=data["id"],
        name=data["name"],
        created_at=datetime.fromisoformat(data["created_at"]),
        type=AgentContextType(data["type"]),
        last_message=datetime.fromisoformat(data["last_message"]),
        log=_log_from(data["log"]),
        data=data["data"],
        output_data=data["output_data"],
    )
    context.agent0 = _agents_from(data["agents"], config, context)
    speaker = context.agent0
    while speaker is not None and speaker.number != data["streaming_agent"]:
        speaker = speaker.data.get(Agent.DATA_NAME_SUBORDINATE)
    context.streaming_agent = speaker
    return context


def _agents_from(saved: list[dict[str, Any]], config: AgentConfig, context: AgentContext) -> Agent:
    """`agent_init` runs in the constructor, before the saved data is there."""
    line: list[Agent] = []
    for one in saved:
        agent = Agent(one["number"], shape.loaded_config(one, config), context)
        agent.data = one["data"]
        agent.history = history.deserialize_history(one["history"], agent=agent)
        if line:
            line[-1].set_data(Agent.DATA_NAME_SUBORDINATE, agent)
            agent.set_data(Agent.DATA_NAME_SUPERIOR, line[-1])
        line.append(agent)
    return line[0]


def _log_from(data: dict[str, Any]) -> Log:
    log = Log()
    log.guid = data["guid"]
    for row in data["logs"]:
        log.logs.append(LogItem(log, **row))
    return log
