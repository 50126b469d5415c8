"""Projects: folders below `usr/projects`, each with its `.a0proj`."""

import os
from typing import Any

from helpers import dirty_json, files, persist_chat

PROJECTS_PARENT_DIR = "usr/projects"
PROJECT_META_DIR = ".a0proj"
PROJECT_INSTRUCTIONS_DIR = "instructions"
PROJECT_KNOWLEDGE_DIR = "knowledge"
PROJECT_HEADER_FILE = "project.json"

CONTEXT_DATA_KEY_PROJECT = "project"
_FIELDS = ("title", "description", "instructions", "color", "git_url")


def get_projects_parent_folder():
    return files.get_abs_path(*PROJECTS_PARENT_DIR.split("/"))


def get_project_folder(name: str):
    return files.get_abs_path(PROJECTS_PARENT_DIR, name)


def get_project_meta(name: str, *sub_dirs: str):
    return files.get_abs_path(PROJECTS_PARENT_DIR, name, PROJECT_META_DIR, *sub_dirs)


def delete_project(name: str):
    files.delete_dir(get_project_folder(name))
    deactivate_project_in_chats(name)
    return name


def create_project(name: str, data: Any):
    files.create_dir_safe(get_project_folder(name))
    create_project_meta_folders(name)
    save_project_header(name, {field: data.get(field, "") for field in _FIELDS})
    return name


def create_project_meta_folders(name: str):
    for folder in (PROJECT_INSTRUCTIONS_DIR, PROJECT_KNOWLEDGE_DIR):
        files.create_dir(get_project_meta(name, folder))


def save_project_header(name: str, data: Any):
    files.write_file(get_project_meta(name, PROJECT_HEADER_FILE), dirty_json.stringify(data))


def load_project_header(name: str):
    return dirty_json.parse(files.read_file(get_project_meta(name, PROJECT_HEADER_FILE))) | {
        "name": name
    }


def load_basic_project_data(name: str) -> Any:
    header = load_project_header(name)
    return {field: header.get(field, "") for field in _FIELDS}


def get_active_projects_list():
    found = []
    for name in sorted(files.get_subdirectories(PROJECTS_PARENT_DIR)):
        if os.path.exists(get_project_meta(name, PROJECT_HEADER_FILE)):
            header = load_basic_project_data(name)
            found.append(
                {"name": name}
                | {field: header[field] for field in ("title", "description", "color")}
            )
    return found


def activate_project(context_id: str, name: str, *, mark_dirty: bool = True):
    header = load_basic_project_data(name)
    title = header["title"] or name
    shown = {
        "name": name,
        "title": title if len(title) <= 25 else title[:22] + "...",
        "color": header["color"],
    }
    _set_project(context_id, name, shown)


def deactivate_project(context_id: str, *, mark_dirty: bool = True):
    _set_project(context_id, None, None)


def _set_project(context_id: str, name: str | None, shown: dict | None):
    from agent import AgentContext

    context = AgentContext.get(context_id)
    if context is None:
        raise Exception(f"no chat {context_id}")
    context.data[CONTEXT_DATA_KEY_PROJECT] = name
    context.output_data[CONTEXT_DATA_KEY_PROJECT] = shown
    persist_chat.save_tmp_chat(context)


def deactivate_project_in_chats(name: str):
    from agent import AgentContext

    for context in AgentContext.all():
        if get_context_project_name(context) == name:
            _set_project(context.id, None, None)


def get_context_project_name(context: Any) -> str | None:
    return context.get_data(key=CONTEXT_DATA_KEY_PROJECT)


def build_system_prompt_vars(name: str):
    data = load_basic_project_data(name)
    more = get_additional_instructions_files(name)
    instructions = data["instructions"] + "\n\n".join(more[file] for file in sorted(more))
    folder = get_project_folder(name)
    return {
        "project_name": data["title"],
        "project_description": data["description"],
        "project_instructions": instructions.strip(),
        "project_path": files.normalize_a0_path(folder),
        "project_git_url": data["git_url"],
    }


def get_additional_instructions_files(name: str):
    return files.read_text_files_in_dir(get_project_meta(name, PROJECT_INSTRUCTIONS_DIR))


def load_project_subagents(name: str) -> Any:
    path = get_project_meta(name, "agents.json")
    found = dirty_json.parse(files.read_file(path)) if files.exists(path) else {}
    return found if isinstance(found, dict) else {}


def save_project_subagents(name: str, subagents_data: Any):
    files.write_file(get_project_meta(name, "agents.json"), dirty_json.stringify(subagents_data))
