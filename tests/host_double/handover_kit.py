"""What the tests of the loop share: calls of a model, and how to look at what was recorded."""

import json

from host_double.assemble import call, respond

__all__ = [
    "NOTE",
    "agents",
    "call",
    "done",
    "extras",
    "hand_over",
    "kinds",
    "ledger",
    "next_call",
    "of_kind",
    "respond",
    "result_of",
    "states",
    "texts_sent",
]

NOTE = {
    "what_happened": "Hero drafted in index.html.",
    "observations": "Fits the 150 kB.",
    "user_state": "not spoken to",
    "next": "Show the draft.",
}


def hand_over(receiver="frontend_designer", **more):
    args = {
        "specialist_profile": receiver,
        "topic": "landing page hero",
        "goal": "First draft of the hero",
    }
    return call(
        "handover_to_specialist", **{**args, "decisions": ["CSS grid, no framework"], **more}
    )


def done(**more):
    return call("handover_reply", **{"verdict": "done", **NOTE, **more})


def result_of(host, tool="handover_to_specialist", number=-1, agent=None):
    """The JSON object of a handover's result."""
    return json.JSONDecoder().raw_decode(host.tool_results(tool, agent)[number]["tool_result"])[0]


def next_call(text):
    """The tool call that stands at the end of a next_step or a note."""
    return json.JSONDecoder().raw_decode(text, text.index('{"tool_name": "call_subordinate"'))[0]


def agents(host):
    """Every living agent of every chat, superiors first in each."""
    found = []
    for chat in host.chats():
        agent = chat.agent0
        while agent is not None:
            found.append(agent)
            agent = agent.data.get("_subordinate")
    return found


def extras(host):
    """What stands in the extras, at the end of the prompt that is answered now."""
    return (
        str(host.model_calls[-1]["messages"][-1].content)
        .rpartition("Double extras:")[2]
        .replace('\\"', '"')
    )


def ledger(folder):
    """The events of every ledger; of a write that is under way its whole lines."""
    events = []
    for path in sorted((folder / ".a0proj/handover/chains").glob("*.jsonl")):
        whole = path.read_bytes().rpartition(b"\n")[0]
        events += [json.loads(line) for line in whole.splitlines()]
    return events


def kinds(folder):
    return [event["kind"] for event in ledger(folder)]


def of_kind(folder, kind):
    return [event for event in ledger(folder) if event["kind"] == kind]


def states(folder):
    """The last state of each handover, by receiver, the newest handover of each."""
    found = {}
    for event in ledger(folder):
        if event["handover"] and event["kind"] not in ("briefed", "refused", "history_read"):
            found[event["handover"]] = (
                event["to"],
                "accepted" if event["kind"] == "reopened" else event["kind"],
            )
    return dict(found.values())


def texts_sent(host, profile):
    """What an agent of that profile read as messages when it was asked first, as one text."""
    for asked in host.model_calls:
        if profile in asked["names"]:
            return "\n".join(str(message.content) for message in asked["messages"][1:])
    return ""
