"""What the plugin looks at before each prompt and tool: nothing where nothing was handed over."""

import sys
import threading

import pytest
from host_double.handover_kit import done, hand_over, respond

_watch = threading.local()
_opened = []


def _audit(event, args):
    if event in ("open", "os.scandir", "os.listdir") and getattr(_watch, "on", False):
        _opened.append((event, str(args[0])))


sys.addaudithook(_audit)


def opened(host, *steps):
    """What is opened or listed while the steps run in the host's loop and its worker threads."""
    import asyncio

    async def run():
        to_thread, _watch.on = asyncio.to_thread, True
        try:
            for step in steps:
                answer = step()
                if asyncio.iscoroutine(answer):
                    await answer
        finally:
            _watch.on = False
        assert asyncio.to_thread is to_thread

    _opened.clear()
    host.run(run())
    return list(_opened)


@pytest.mark.parametrize("others", [False, True])
def test_a_chat_that_never_handed_over_has_no_file_opened(host, others):
    from usr.plugins.software_orchestrator.helpers.host import arrivals, events, functions, tools

    host.project("acme")
    if others:
        host.script(
            {"agent0": [hand_over(start=True), respond("ok")], "frontend_designer": [done()]}
        )
        host.say("Please build the hero")
    chat = host.new_chat()
    host.project("acme", chat=chat)
    agent = chat.agent0
    tools.roster_lines(agent)  # the settings as they are now

    threads = []

    async def worker(function, *args):
        threads.append(function)
        return function(*args)

    events.to_thread, kept = worker, events.to_thread
    try:
        seen = opened(
            host,
            lambda: events.restore(agent),
            lambda: events.offers(agent),
            lambda: events.offers_again(agent, {}),
            lambda: functions.tell(agent, []),
            lambda: tools.roster_lines(agent),
            lambda: arrivals.incoming(agent, {"args": (agent, "hello")}),
            lambda: events.before_tool(agent, "response", {}),
            lambda: events.before_tool(agent, "call_subordinate", {"message": "hello"}),
            lambda: events.ended(agent, {}),
        )
    finally:
        events.to_thread = kept
    assert seen == []
    assert threads == []


def test_a_tool_of_a_specialist_that_has_accepted_opens_no_file(host):
    from usr.plugins.software_orchestrator.helpers.host import events

    host.project("acme")
    seen = []

    def look(agent):
        _opened.clear()
        _watch.on = True
        try:
            events.before_tool(agent, "code_execution_tool", {}).send(None)
        except StopIteration:
            pass
        finally:
            _watch.on = False
        seen.extend(_opened)
        return done()

    from host_double.assemble import call

    host.script(
        {
            "agent0": [hand_over(start=True), respond("ok")],
            "frontend_designer": [call("handover_reply", verdict="accept"), look],
        }
    )
    assert host.say("Please build the hero") == "ok"
    assert seen == []
