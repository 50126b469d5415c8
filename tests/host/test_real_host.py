"""Compares the double, and what the plugin uses of its host, with a real Agent Zero checkout named by `A0_ROOT`.

The checkout is read, not imported. What the plugin uses of its host is looked for in the double too, always, so that no
test runs against less than the plugin needs.
"""

import ast
import os
import re
import sys
from functools import cache
from pathlib import Path

import pytest
from host_double.assemble import HERE, PLUGIN, REPOSITORY

REAL = Path(os.environ["A0_ROOT"]) if os.environ.get("A0_ROOT") else None
needs_real = pytest.mark.skipif(
    REAL is None or sys.version_info < (3, 12),
    reason="A0_ROOT names no Agent Zero checkout"
    if REAL is None
    else "the host's source is Python 3.12",
)

TREE = HERE / "tree"
OVERLAY = HERE / "shapes/children"
ONLY_IN_THE_DOUBLE = {"helpers/shape.py", "double_driver.py", "double_script.py"}
HOST_MODULES = ("agent", "initialize", "helpers", "tools", "extensions", "plugins", "models", "api")

# Names of the 2.x host, which the plugin must look for before it uses them.
OPTIONAL = {
    "helpers.litellm_transport",
    "helpers.litellm_transport.LiteLLMTransport",
    "helpers.parallel_tools",
    "helpers.parallel_tools.extract_tool_calls",
    "helpers.parallel_tools.is_parallel_worker",
    "helpers.parallel_tools.normalize_parallel_tool_calls",
    "helpers.tool_policy",
    "helpers.tool_policy.ensure_tool_allowed",
    "tools.call_subordinate.get_or_create_subordinate",
    "tools.call_subordinate.run_subordinate",
}
DOUBLE_FILES = sorted(
    path.relative_to(TREE).as_posix()
    for path in TREE.rglob("*.py")
    if path.relative_to(TREE).as_posix() not in ONLY_IN_THE_DOUBLE
    and "__pycache__" not in path.parts
)


# ---------------------------------------------------------------------- reading sources


@cache
def tree_of(path):
    return ast.parse(path.read_text("utf-8"))


def real_file(relative):
    """The file in the checkout: in the core, or in one of its own plugins."""
    own = sorted(REAL.glob(f"plugins/*/{relative}"))
    found = [path for path in (REAL / relative, *own) if path.exists()]
    return found[0] if found else None


def definitions(path):
    """`{qualified name: node}` of the functions and classes of a file, and of the methods."""
    found = {}
    for node in tree_of(path).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found[node.name] = node
        if isinstance(node, ast.ClassDef):
            methods = [
                one for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
            ]
            found.update({f"{node.name}.{method.name}": method for method in methods})
    return found


def names_in(path):
    """Everything that a module holds at its top level, imports included."""
    names = set(definitions(path))
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
        if type(node).__name__ == "TypeAlias":
            names.add(node.name.id)
    return names


def signature(node):
    """Names, kinds and defaults of a function's parameters; `async`, and what stands on it."""
    args = node.args
    plain = [*args.posonlyargs, *args.args]
    defaults = [None] * (len(plain) - len(args.defaults)) + [ast.dump(one) for one in args.defaults]
    keyword = [
        (one.arg, ast.dump(value) if value else None)
        for one, value in zip(args.kwonlyargs, args.kw_defaults, strict=True)
    ]
    return {
        "plain": [(one.arg, default) for one, default in zip(plain, defaults, strict=True)],
        "keyword": keyword,
        "rest": (args.vararg and args.vararg.arg, args.kwarg and args.kwarg.arg),
        "async": isinstance(node, ast.AsyncFunctionDef),
        "decorators": sorted(
            decorators(node) & {"extensible", "staticmethod", "classmethod", "property"}
        ),
    }


def fits(ours, theirs):
    """The same but for parameters with a default that a newer host has at the end."""
    shared, more = theirs["plain"][: len(ours["plain"])], theirs["plain"][len(ours["plain"]) :]
    return ours == theirs | {"plain": shared} and all(default for _, default in more)


def decorators(node):
    return {
        one.attr if isinstance(one, ast.Attribute) else getattr(one, "id", "")
        for one in node.decorator_list
    }


def fields(node):
    """Names of a dataclass's or model's fields in order, and whether each has a default."""
    lines = [
        one
        for one in node.body
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
    ]
    return [(one.target.id, one.value is not None) for one in lines]


def literals(path):
    values = {}
    for node in tree_of(path).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if (
            isinstance(target, ast.Name)
            and target.id.isupper()
            and isinstance(node.value, ast.Constant)
        ):
            values[target.id] = node.value.value
    return values


# ---------------------------------------------------------------------- the double against the checkout


@needs_real
@pytest.mark.parametrize("relative", DOUBLE_FILES)
def test_the_double_has_the_hosts_names_signatures_fields_and_constants(relative):
    real = real_file(relative)
    assert real is not None, f"the host has no {relative}"
    ours, theirs = definitions(TREE / relative), definitions(real)
    known = names_in(real)
    for name, node in ours.items():
        owner, _, own = name.rpartition(".")
        private = owner.startswith("_") or (own.startswith("_") and own != "__init__")
        stands_for_an_import = owner in known and owner not in theirs
        called_by_keywords = own == "execute" and relative.startswith("extensions/")
        if private or own.startswith("double_") or stands_for_an_import or called_by_keywords:
            continue
        if name not in theirs:
            bases = map(base_name, getattr(theirs.get(owner), "bases", []))
            assert name in known or any(f"{base}.{own}" in theirs for base in bases), name
        elif isinstance(node, ast.ClassDef):
            if {"dataclass"} & decorators(node) or "BaseModel" in map(base_name, node.bases):
                assert fields(node) == fields(theirs[name]), name
        else:
            assert fits(signature(node), signature(theirs[name])), name
    constants = literals(real)
    for name, value in literals(TREE / relative).items():
        assert constants.get(name, value) == value, name


def base_name(node):
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


@needs_real
def test_the_2x_overlay_has_the_hosts_signatures_where_the_host_is_2x():
    relative = "tools/call_subordinate.py"
    theirs = definitions(REAL / relative)
    if "get_or_create_subordinate" not in theirs:
        pytest.skip("this checkout is the linear host")
    ours = definitions(OVERLAY / relative)
    for name in ("get_or_create_subordinate", "run_subordinate", "Delegation.execute"):
        assert signature(ours[name]) == signature(theirs[name]), name


@cache
def host_lines():
    """Stripped lines of each source and prompt of the checkout."""
    folders = ("helpers", "tools", "extensions", "prompts", "agents", "plugins/_error_retry")
    paths = [path for folder in folders for path in sorted((REAL / folder).rglob("*"))]
    return [
        lines_of(path)
        for path in (REAL / "agent.py", REAL / "initialize.py", *paths)
        if is_text(path)
    ]


def double_lines():
    return [(path, lines_of(path)) for path in sorted(HERE.rglob("*")) if is_text(path)]


def is_text(path):
    return path.suffix in (".py", ".md", ".yaml") and "__pycache__" not in path.parts


def lines_of(path):
    return [line.strip() for line in path.read_text("utf-8").splitlines() if line.strip()]


def is_a_fact(line):
    """Names, signatures, imports, constants, declared fields."""
    declared = re.match(r"[\w.]+: \S|[A-Z]\w* = |[)\]}]|return None|self, ", line)
    return bool(declared) or line.startswith(
        ("def ", "async def ", "class ", "from ", "import ", "@")
    )


@needs_real
def test_no_long_line_of_the_double_is_one_of_the_hosts():
    theirs = {
        line for lines in host_lines() for line in lines if len(line) >= 45 and not is_a_fact(line)
    }
    assert [
        (path.name, line) for path, lines in double_lines() for line in lines if line in theirs
    ] == []


@needs_real
def test_no_three_lines_of_the_double_in_a_row_are_the_hosts():
    """Where they have 60 characters or more together."""

    def runs(lines):
        own = [line for line in lines if not is_a_fact(line)]
        return {run for run in zip(own, own[1:], own[2:], strict=False) if sum(map(len, run)) >= 60}

    theirs = set().union(*map(runs, host_lines()))
    assert [
        (path.name, run) for path, lines in double_lines() for run in runs(lines) & theirs
    ] == []


# ---------------------------------------------------------------------- what the plugin uses, against both


def plugin_files():
    """The plugin's files that may use the host (a test of the layers sees to it that no others do)."""
    patterns = (
        "helpers/host/*.py",
        "tools/*.py",
        "extensions/python/**/*.py",
        "api/*.py",
        "hooks.py",
        "prompts/*.py",
    )
    return sorted(path for pattern in patterns for path in REPOSITORY.glob(pattern))


def uses_in(path):
    """`helpers.x` and `helpers.x.name` for each import of a host module, and each name read from one."""
    used, modules = set(), {}
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] in HOST_MODULES:
                    used.add(alias.name)
                    modules[alias.asname or alias.name] = alias.name
        if (
            isinstance(node, ast.ImportFrom)
            and node.level == 0
            and node.module.partition(".")[0] in HOST_MODULES
        ):
            for alias in node.names:
                used.add(f"{node.module}.{alias.name}")
                modules[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in modules:
            used.add(f"{modules[ast.unparse(node.value)]}.{node.attr}")
    return used


def exists_in(root, dotted):
    """Whether a dotted name is a module, a name of a module, or an attribute of a class there."""
    parts = dotted.split(".")
    for count in range(len(parts), 0, -1):
        path = root.joinpath(*parts[:count])
        rest = parts[count:]
        if path.with_suffix(".py").exists():
            return not rest or has_name(path.with_suffix(".py"), rest)
        if path.is_dir() and not rest:
            return True
    return False


def has_name(path, rest):
    if rest[0] not in names_in(path):
        return False
    owner = definitions(path).get(rest[0])
    return (
        len(rest) == 1
        or not isinstance(owner, ast.ClassDef)
        or rest[1] in attributes_of(path, rest[0])
    )


@cache
def attributes_of(path, name):
    """Methods, class variables, fields and `self.x = ...` of a class, with those of its bases in the same file."""
    owner = definitions(path)[name]
    found = {
        target.attr
        for target in ast.walk(owner)
        if isinstance(target, ast.Attribute) and base_name(target.value) == "self"
    }
    for node in owner.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        found |= {target.id for target in targets if isinstance(target, ast.Name)}
        found |= {node.name} if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else set()
    for base in map(base_name, owner.bases):
        found |= (
            attributes_of(path, base)
            if isinstance(definitions(path).get(base), ast.ClassDef)
            else set()
        )
    return frozenset(found)


def attributes_used(path):
    """(class, attribute) for `agent.x` and `agent.context.x`, by the names that our code gives to them."""
    used = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Attribute):
            receiver = ast.unparse(node.value)
            if receiver in ("agent", "self.agent"):
                used.add(("Agent", node.attr))
            if receiver in ("agent.context", "self.agent.context"):
                used.add(("AgentContext", node.attr))
    return used


def points_of(root):
    """Extension points that somebody calls by name."""
    files = [root / name for name in ("agent.py", "initialize.py", "double_driver.py")]
    files += [
        path
        for folder in ("helpers", "api", "extensions/python", "plugins")
        for path in (root / folder).rglob("*.py")
    ]
    pattern = re.compile(
        r"call_extensions(?:_a?sync)?\(\s*[\"']([\w/]+)[\"']|self\._point(?:_if_alive)?\([\"'](\w+)[\"']"
    )
    found = set()
    for path in files:
        if path.exists():
            found |= {one or other for one, other in pattern.findall(path.read_text("utf-8"))}
    return found | {"reasoning_stream_end", "response_stream_end"}


def point_exists(root, point):
    parts = point.split("/")
    if parts[0] != "_functions":
        return point in points_of(root)
    if parts[-1] not in ("start", "end"):
        return False
    for count in range(1, len(parts) - 2):
        path = root.joinpath(*parts[1 : 1 + count]).with_suffix(".py")
        if path.exists():
            node = definitions(path).get(".".join(parts[1 + count : -1]))
            return node is not None and "extensible" in decorators(node)
    return False


def our_points():
    top = REPOSITORY / "extensions/python"
    return sorted({path.parent.relative_to(top).as_posix() for path in top.rglob("*.py")})


ROOTS = [pytest.param(TREE, id="double"), pytest.param(REAL, id="real", marks=needs_real)]


@pytest.mark.parametrize("root", ROOTS)
def test_every_host_name_that_the_plugin_uses_is_there(root):
    used = {
        (name, path.relative_to(REPOSITORY).as_posix())
        for path in plugin_files()
        for name in uses_in(path)
    }
    assert (
        sorted(
            (name, path)
            for name, path in used
            if name not in OPTIONAL and not exists_in(root, name)
        )
        == []
    )


@pytest.mark.parametrize("root", ROOTS)
def test_every_attribute_of_agents_and_chats_that_the_plugin_uses_is_there(root):
    known = {
        name: attributes_of(root / "agent.py", name) | {"last_message", "loop_data"}
        for name in ("Agent", "AgentContext")
    }
    used = {
        (owner, name, path.name) for path in plugin_files() for owner, name in attributes_used(path)
    }
    assert sorted(one for one in used if one[1] not in known[one[0]]) == []


@pytest.mark.parametrize("root", ROOTS)
def test_every_extension_point_of_the_plugin_is_called_there(root):
    assert [point for point in our_points() if not point_exists(root, point)] == []


@pytest.mark.parametrize("root", ROOTS)
def test_the_points_that_the_design_builds_on_are_called_there(root):
    points = [
        "agent_init", "monologue_start", "message_loop_start", "message_loop_end", "monologue_end", "process_chain_end",
        "hist_add_before", "hist_add_tool_result", "tool_execute_before", "tool_execute_after",
        "system_prompt", "message_loop_prompts_before", "message_loop_prompts_after", "before_main_llm_call",
        "_functions/agent/Agent/validate_tool_request/start", "_functions/agent/Agent/hist_add_user_message/start",
        "_functions/agent/Agent/hist_add_message/end", "_functions/agent/Agent/monologue/end",
        "_functions/agent/Agent/handle_exception/end", "_functions/agent/AgentContext/communicate/start",
        "_functions/agent/AgentContext/kill_process/start", "_functions/agent/AgentContext/reset/end",
        "_functions/agent/AgentContext/remove/end", "_functions/agent/AgentContext/nudge/start",
    ]  # fmt: skip
    assert [point for point in points if not point_exists(root, point)] == []


def test_optional_names_are_there_in_another_shape_of_the_double():
    shapes = (OVERLAY, HERE / "shapes/native")
    for name in OPTIONAL:
        assert any(exists_in(shape, name) for shape in shapes), name


@needs_real
def test_no_extension_of_the_plugin_has_the_base_name_of_one_of_the_hosts():
    theirs = {path.name for path in REAL.rglob("extensions/python/**/*.py")}
    ours = {path.name for path in (REPOSITORY / "extensions/python").rglob("*.py")}
    assert ours & theirs == set()
    assert [name for name in ours if PLUGIN not in name] == []


def test_the_search_itself_finds_what_is_there_and_misses_what_is_not():
    there = (
        "helpers", "helpers.tool", "helpers.tool.Response", "agent.AgentContext.get", "agent.Agent.DATA_NAME_SUPERIOR",
    )  # fmt: skip
    missing = (
        "agent.Agent.not_there", "helpers.tool.NotThere", "helpers.not_there", "helpers.parallel_tools",
    )  # fmt: skip
    assert [name for name in (*there, *missing) if exists_in(TREE, name)] == [*there]
    no_points = (
        "not_a_point",
        "_functions/agent/Agent/monologue",
        "_functions/agent/Agent/_warn/end",
    )
    assert [point for point in no_points if point_exists(TREE, point)] == []


def test_the_search_itself_sees_what_a_file_uses(tmp_path):
    path = tmp_path / "probe.py"
    path.write_text(
        "import tools.call_subordinate as cs\nfrom helpers import projects\nfrom agent import Agent\n"
        "x = cs.Delegation, projects.get_project_folder, Agent.DATA_NAME_SUPERIOR\n"
        "def f(agent):\n    return agent.history, agent.context.log\n"
    )
    assert uses_in(path) == {
        "tools.call_subordinate", "tools.call_subordinate.Delegation", "helpers.projects", "agent.Agent",
        "helpers.projects.get_project_folder", "agent.Agent.DATA_NAME_SUPERIOR",
    }  # fmt: skip
    assert attributes_used(path) == {
        ("Agent", "history"),
        ("Agent", "context"),
        ("AgentContext", "log"),
    }
