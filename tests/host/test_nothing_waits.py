"""On the host's event loop no lock is waited for: what cannot be recorded now is recorded later."""

import subprocess
import sys
import threading
import time

import pytest
from host_double.handover_kit import (
    call,
    done,
    extras,
    hand_over,
    kinds,
    next_call,
    of_kind,
    respond,
    result_of,
    states,
)

HOLD = """
import fcntl, sys
file = open(sys.argv[1], "r+b")
fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


class Holder:
    """Another process that holds the lock of a folder until it is let go."""

    def __init__(self, folder):
        path = str(folder / ".a0proj/handover/chains/.lock")
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLD, path], stdin=pipe, stdout=pipe, text=True
        )
        assert self.process.stdout.readline() == "held\n"

    def let_go(self):
        self.process.communicate()


@pytest.fixture
def holders():
    made = []
    yield made
    for holder in made:
        if holder.process.poll() is None:
            holder.let_go()


@pytest.fixture
def waits(monkeypatch):
    """The timeouts that the host's loop gave to a lock."""
    from usr.plugins.software_orchestrator.helpers.records import lock

    given, acquire = [], lock._acquired

    def watched(path, timeout_s):
        if threading.current_thread().name == "AgentContext" or _on_a_loop():
            given.append(timeout_s)
        return acquire(path, timeout_s)

    monkeypatch.setattr(lock, "_acquired", watched)
    return given


def _on_a_loop():
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def remembered(host):
    return host.context.data["software_orchestrator"]["unrecorded"]


def stop_while_held(host, folder, holders, stop):
    """The specialist works, another process takes the lock, and the person does something."""

    def then():
        holders.append(Holder(folder))
        stop()

    host.script(
        {
            "agent0": [hand_over(start=True)],
            "frontend_designer": [call("handover_reply", verdict="accept"), then],
        }
    )
    host.say("Please build the hero", wait=False)
    host.settle()


def test_a_stop_while_the_lock_is_held_is_recorded_at_the_next_use(any_host, holders, waits):
    host = any_host
    folder = host.project("acme")
    stop_while_held(host, folder, holders, host.cancel)
    assert states(folder) == {"frontend_designer": "accepted"}
    assert [entry["kind"] for entry in remembered(host)] == ["interrupted"]
    host.save()  # plain JSON: the chat can be saved
    holders[0].let_go()
    host.script(
        {"agent0": [lambda: next_call(extras(host)), respond("ok")], "frontend_designer": [done()]}
    )
    assert host.say("Go on please") == "ok"
    assert [kind for kind in kinds(folder) if kind != "briefed"][-4:] == [
        "accepted",
        "interrupted",
        "delivered",
        "done",
    ]
    assert remembered(host) == []
    assert set(waits) == {0.0}


def test_a_reset_while_the_lock_is_held_is_recorded_at_the_next_use(any_host, holders, waits):
    host = any_host
    folder = host.project("acme")
    stop_while_held(host, folder, holders, host.reset)
    assert states(folder) == {"frontend_designer": "accepted"}
    holders[0].let_go()
    host.script({"agent0": [hand_over(), respond("ok")]})
    assert host.say("Once more") == "ok"
    (cancelled,) = of_kind(folder, "cancelled")
    assert "reset" in cancelled["data"]["why"]
    assert set(waits) == {0.0}


def test_a_chat_removed_while_the_lock_is_held_is_recorded_behind(any_host, holders, waits):
    host = any_host
    folder = host.project("acme")
    from agent import AgentContext

    stop_while_held(host, folder, holders, lambda: AgentContext.remove(host.context.id))
    assert states(folder) == {"frontend_designer": "accepted"}
    holders[0].let_go()
    for _ in range(200):
        if of_kind(folder, "cancelled"):
            break
        time.sleep(0.05)
    assert states(folder) == {"frontend_designer": "cancelled"}
    assert set(waits) == {0.0}


def test_a_reference_that_arrives_while_the_lock_is_held_is_refused_in_words(host, holders, waits):
    folder = host.project("acme")
    from agent import Agent, UserMessage

    from usr.plugins.software_orchestrator.helpers.host import arrivals

    told = []

    def arrive(agent):
        holders.append(Holder(folder))
        below = Agent(1, agent.config, agent.context)
        below.data[Agent.DATA_NAME_SUPERIOR] = agent
        message = next_call(result_of(host)["next_step"])["tool_args"]["message"]
        data = {"args": (below, UserMessage(message=message, attachments=[])), "kwargs": {}}
        arrivals.incoming(below, data)
        told.append(str(data["exception"]))
        holders[0].let_go()
        return respond("ok")

    host.script({"agent0": [hand_over(), arrive]})
    assert host.say("Please build the hero") == "ok"
    assert "was not free" in told[0]
    assert "delivered" not in kinds(folder)
    assert set(waits) == {0.0}
