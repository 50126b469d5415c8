"""Projects: folders below `usr/projects`, each with its `.a0proj`."""

import json
import os
from typing import Any

from helpers import files, persist_chat

PROJECTS_PARENT_DIR = "usr/projects"
PROJECT_META_DIR = ".a0proj"
PROJECT_HEADER_FILE = "project.json"
CONTEXT_DATA_KEY_PROJECT = "project"


def get_projects_parent_folder():
    return files.get_abs_path(*PROJECTS_PARENT_DIR.split("/"))


def get_project_folder(name: str):
    return files.get_abs_path(PROJECTS_PARENT_DIR, name)


def get_project_meta(name: str, *sub_dirs: str):
    return files.get_abs_path(PROJECTS_PARENT_DIR, name, PROJECT_META_DIR, *sub_dirs)


def create_project(name: str, data: Any):
    files.write_file(get_project_meta(name, PROJECT_HEADER_FILE), json.dumps(data))
    return name


def get_active_projects_list():
    found = []
    for name in sorted(os.listdir(get_projects_parent_folder())):
        header = get_project_meta(name, PROJECT_HEADER_FILE)
        if files.exists(header):
            data = json.loads(files.read_file(header))
            shown = ("title", "description", "color")
            found.append({"name": name} | {field: data.get(field, "") for field in shown})
    return found


def activate_project(context_id: str, name: str, *, mark_dirty: bool = True):
    from agent import AgentContext

    context = AgentContext.get(context_id)
    context.data[CONTEXT_DATA_KEY_PROJECT] = name
    context.output_data[CONTEXT_DATA_KEY_PROJECT] = {"name": name}
    persist_chat.save_tmp_chat(context)


def get_context_project_name(context: Any) -> str | None:
    return context.get_data(key=CONTEXT_DATA_KEY_PROJECT)
