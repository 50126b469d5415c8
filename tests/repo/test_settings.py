"""default_config.yaml is the one place of every default, and explains each."""

import ast
import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "default_config.yaml").read_text(encoding="utf-8")
SETTINGS = yaml.safe_load(TEXT)
NUMBERS = {key: value for key, value in SETTINGS.items() if type(value) is int}
UNITS = ("token", "turn", "megabyte", "minute", "second", "handover", "depth", "call")


def comment_above(key: str) -> str:
    """The comment lines that stand directly above a top-level key."""
    lines = TEXT.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith(f"{key}:"))
    found: list[str] = []
    while lines[at - 1].startswith("#"):
        at -= 1
        found.insert(0, lines[at].lstrip("# "))
    return " ".join(found)


def literals_given_to_settings(tree: ast.AST) -> set[str]:
    """Settings that code gives a literal value: as attribute, parameter default, dictionary entry, Field or get()."""
    given: list[tuple[str, ast.expr | None]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign):
            given.append((name_of(node.target), node.value))
        elif isinstance(node, ast.Assign):
            given += [(name_of(target), node.value) for target in node.targets]
        elif isinstance(node, ast.arguments):
            positional = [*node.posonlyargs, *node.args]
            given += [
                (a.arg, d)
                for a, d in zip(reversed(positional), reversed(node.defaults), strict=False)
            ]
            given += [(a.arg, d) for a, d in zip(node.kwonlyargs, node.kw_defaults, strict=True)]
        elif isinstance(node, ast.Dict):
            given += [
                (key.value, value)
                for key, value in zip(node.keys, node.values, strict=True)
                if is_text(key)
            ]
        elif isinstance(node, ast.Call) and len(node.args) == 2 and is_text(node.args[0]):
            given.append((node.args[0].value, node.args[1]))
    return {
        name
        for name, value in given
        if name.lower() in SETTINGS and value is not None and is_default(name.lower(), value)
    }


def name_of(target: ast.expr) -> str:
    return getattr(target, "id", getattr(target, "attr", ""))


def is_text(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def is_default(name: str, value: ast.expr) -> bool:
    """A constant of the setting's type, or a call (`Field(3000, ge=1)`) that is given one as its default."""
    if isinstance(value, ast.Call):
        if name_of(value.func) not in ("Field", "field"):
            return False
        keywords = [keyword.value for keyword in value.keywords if keyword.arg == "default"]
        return any(is_default(name, default) for default in (*value.args[:1], *keywords))
    return (
        isinstance(value, ast.Constant)
        and type(value.value) is type(SETTINGS[name])
        and value.value != name
    )


HELPERS = {file: ast.parse(file.read_text("utf-8")) for file in (ROOT / "helpers").rglob("*.py")}


def test_no_setting_stands_twice():
    keys = re.findall(r"^(\w+):", TEXT, re.MULTILINE)
    assert len(keys) == len(set(keys)) == len(SETTINGS)


def test_each_setting_has_a_comment_and_each_number_its_unit():
    assert not [key for key in SETTINGS if len(comment_above(key)) <= 20]
    comments = {key: comment_above(key).lower() for key in NUMBERS}
    assert not [key for key in NUMBERS if not any(unit in comments[key] for unit in UNITS)]


def test_no_number_is_negative():
    assert min(NUMBERS.values()) >= 0


def test_the_numbers_of_the_seed_document_are_the_defaults():
    assert SETTINGS["max_context_tokens"] == 3000
    assert SETTINGS["include_recent_turns"] == 5
    assert SETTINGS["full_history_max_tokens"] == 50_000
    assert SETTINGS["max_handover_depth"] == 3
    assert SETTINGS["summary_warning_tokens"] == 300
    assert SETTINGS["default_return_condition"] == "user_request"


def test_no_module_repeats_a_default_or_holds_a_large_limit_as_a_bare_number():
    large = {value for value in NUMBERS.values() if value >= 1000}
    assert len(HELPERS) > 30
    for file, tree in HELPERS.items():
        constants = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
        assert not literals_given_to_settings(tree), f"{file.name}: read these from the settings"
        assert not large & {value for value in constants if type(value) is int}, file.name


@pytest.mark.parametrize(
    "code",
    [
        "max_context_tokens: int = 3000",
        "MAX_CONTEXT_TOKENS = 3000",
        "max_context_tokens: int = Field(default=3000, ge=1)",
        "def f(max_context_tokens=3000): ...",
        "def f(*, transcript_log=True): ...",
        "settings.get('git_ignore', 'chains')",
        "D = {'lock_timeout_s': 10}",
    ],
)
def test_a_repeated_default_is_found_however_it_is_written(code):
    assert literals_given_to_settings(ast.parse(code))


@pytest.mark.parametrize(
    "code",
    [
        "max_context_tokens: int",
        "max_context_tokens: int = Field(ge=1)",
        "x = 3000",
        "D = {'max_context_tokens': 'limit of the package'}",
        "GIT_IGNORE = 'git_ignore'",
    ],
)
def test_a_field_without_a_default_is_no_repetition(code):
    assert not literals_given_to_settings(ast.parse(code))
