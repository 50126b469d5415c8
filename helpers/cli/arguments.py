"""The tool's arguments on the command line: in a JSON file, or what a saved chat says by itself."""

from __future__ import annotations

from collections.abc import Sequence

from ..arguments.sent import arguments_of
from ..chain.answered import name_key
from ..history.extract import Extract, stated
from ..history.saved_chat import text_in
from ..text.quote import one_line
from ..values.errors import RequestError

Arguments = dict[str, object]


def arguments_in(file: str) -> Arguments:
    """The arguments in a file, or in standard input for "-"; also those of a whole tool call.

    Raises RequestError.
    """
    text = text_in(file, "the arguments", "give one JSON object with the tool's arguments")
    return dict(arguments_of(text))


def arguments_of_chat(chat: Extract) -> Arguments:
    """What the chat says in its own words; of its state, `declines`."""
    return {
        "goal": chat.first_request,
        "decisions": [_decision(quote) for quote in chat.decisions],
        "rejected_paths": [{"what": words} for words in chat.rejected],
        "acceptance_criteria": list(chat.acceptance),
    }


def _decision(quote: str) -> Arguments:
    said = stated(quote)
    return {"text": said.text, "rationale": said.rationale, "owner": said.owner or "chat"}


def declines(chat: Extract, lifts: Sequence[str]) -> Arguments:
    """The fields that the chat declines, without those that the person takes back just now."""
    lifted = {name_key(field) for field in lifts}
    state: Arguments = {}
    for decline in chat.declines:
        if name_key(decline.field) not in lifted:
            state[decline.field] = {
                "status": "declined",
                "verbatim": decline.verbatim,
                "owner": "person",
            }
    return state


def state_fields(pairs: Sequence[str]) -> dict[str, str]:
    """`FIELD=VALUE` each. Raises RequestError for another form."""
    state = {}
    for pair in pairs:
        field, equals, value = pair.partition("=")
        if not (field.strip() and equals):
            raise RequestError(
                f'--state must be FIELD=VALUE, got "{one_line(pair, 60)}"',
                "for example --state budget_eur=500",
            )
        state[field.strip()] = value
    return state
