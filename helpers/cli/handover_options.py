"""The options of `handover`, section by section as its help tells them.

What is handed over bears the tool's names: `--to` gives `specialist_profile`. To give one more of
the tool's arguments by option, add a row to `WHAT`.
"""

from __future__ import annotations

import click

from ..values.call import ORCHESTRATOR


def _text(option: str, argument: str, help: str, metavar: str = "TEXT") -> click.Option:
    return click.Option([option, argument], metavar=metavar, help=help)


def _texts(option: str, argument: str, help: str, metavar: str = "TEXT") -> click.Option:
    words = f"{help}; repeat for more"
    return click.Option([option, argument], metavar=metavar, help=words, multiple=True)


def _flag(option: str, help: str) -> click.Option:
    return click.Option([option], is_flag=True, help=help)


SOURCE = (
    _text("--args", "args_file", "the tool's arguments as JSON, - for standard input", "FILE"),
    _text("--chat", "chat_file", "a chat.json saved by Agent Zero; never written", "FILE"),
    _text("--project", "project", "the project's folder, where the record is kept", "DIR"),
    _text("--settings", "settings_file", "settings beside the defaults (JSON or YAML)", "FILE"),
)
WHAT = (
    _text("--to", "specialist_profile", "the specialist", "PROFILE"),
    _text("--topic", "topic", "short name of the piece of work"),
    _text("--goal", "goal", "default: the chat's first request"),
    _text("--summary", "summary", "what the older turns come to"),
    _text("--next-action", "next_action", "what the specialist does first"),
    _text("--return-condition", "return_condition", "when it hands back"),
    _text("--reason", "handover_reason", "why it is handed over"),
    _text("--user-state", "user_state", "how the person is"),
    _texts("--decision", "decisions", "replaces all that the chat states"),
    _texts("--acceptance", "acceptance_criteria", "criterion, replaces all of the chat"),
    _texts("--artifact", "artifacts", "a file it needs", "PATH"),
    _texts("--state", "state", "a carried field", "FIELD=VALUE"),
    _text("--turns", "include_recent_turns", "how many of the newest turns travel", "N"),
    _text("--max-tokens", "max_context_tokens", "limit of the package", "N"),
    _text("--overflow", "overflow", "a larger package: fitted, or delivered whole", "fit|whole"),
)
WHO = (
    _text("--from", "sender", f"default: {ORCHESTRATOR}", "PROFILE"),
    _text("--parent", "parent", "the handover the sender works in", "ID"),
)
HOW = (
    _flag("--dry-run", "check and show, write nothing"),
    _flag("--resume", "lift the stop of a stopped chain"),
    _texts(
        "--lift",
        "lifts",
        "the person takes back the decline of this field; its new value comes with --state, or in"
        " the arguments",
        "FIELD",
    ),
)
SECTIONS = {
    "Where it comes from (one of --args, --chat)": SOURCE,
    "What is handed over (with --chat; with --args the arguments say it)": WHAT,
    "Who hands over": WHO,
    "How": HOW,
}
OPTIONS = [option for section in SECTIONS.values() for option in section]


def option_names() -> dict[str, str]:
    """The tool's arguments that can be given by option -> the option."""
    return {option.name: option.opts[0] for option in WHAT if option.name}


class InSections(click.Command):
    """Its help tells the options in their sections."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, options in SECTIONS.items():
            rows = [option.get_help_record(ctx) for option in options]
            with formatter.section(title):
                formatter.write_dl([row for row in rows if row])
