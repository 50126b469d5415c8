"""Work handed over by another installation: signed for one recipient, taken once, gone on with from its terms."""

import base64
import json
from dataclasses import replace
from datetime import timedelta

import pytest

from usr.plugins.software_orchestrator.helpers.flow import deliver, receive, received, remote
from usr.plugins.software_orchestrator.helpers.records.identity import fingerprint_of, signer_of
from usr.plugins.software_orchestrator.helpers.records.taken import take_once
from usr.plugins.software_orchestrator.helpers.remote.protocol import Task
from usr.plugins.software_orchestrator.helpers.values.errors import RefusedError, RequestError
from usr.plugins.software_orchestrator.helpers.values.parcel import LINE, line_of, signed_in
from usr.plugins.software_orchestrator.tests.core.conftest import KEY, Desk

THERE_KEY = b"t" * 32
HERE, THERE = signer_of(KEY), signer_of(THERE_KEY)
DESIGNER = "frontend_designer"
NOTE = {"what_happened": "a", "observations": "b", "user_state": "c", "next": "d"}


def trust(**changes):
    return {"name": "workshop", "key": HERE.public, "work": True, "project": "shop", "profiles": [DESIGNER], **changes}  # fmt: skip


def far(profile, **more):
    return {profile: {"remote": {"url": "https://far.example/", **more}}}


def test_tools_are_those_that_both_allow(here, there):
    remote_entry = far(DESIGNER, key=THERE.public)[DESIGNER]
    here.settings = Desk(
        here.root,
        roster={
            "a0_software_orchestrator": {"can_handoff_to": [DESIGNER]},
            DESIGNER: {**remote_entry, "tools": {"denied": ["code_execution_tool"]}},
        },
    ).settings
    take(there, package(here, hand_over(here)))
    assert there.events()[0].payload.tools.denied


@pytest.fixture
def here(tmp_path):
    roster = {
        "a0_software_orchestrator": {"can_handoff_to": [DESIGNER, "quality_reviewer"]},
        "quality_reviewer": {"can_handoff_to": [DESIGNER]},
        **far(DESIGNER, key=THERE.public),
    }
    return Desk(tmp_path / "here", roster=roster)


@pytest.fixture
def there(tmp_path):
    roster = {
        DESIGNER: {"can_handoff_to": ["quality_reviewer", "hacker", "release_auditor"]},
        "quality_reviewer": {"can_handoff_to": [DESIGNER]},
        "release_auditor": {},
        **far("hacker"),
    }
    desk = Desk(tmp_path / "there", roster=roster, trusted=[trust()])
    desk.ports = replace(desk.ports, key=lambda: THERE_KEY)
    return desk


def package(desk, prepared, **entry):
    entry = desk.settings.roster.find(DESIGNER).remote.model_copy(update=entry)
    return remote.outgoing(prepared.packet.identity.handover_id, desk.as_call(), entry).text


def hand_over(desk, **more):
    return desk.call(DESIGNER, goal="A hero", decisions=["CSS grid"], state={"budget": 5}, **more)


def take(desk, text, taken=lambda name: True):
    signed = signed_in(text)
    sender = received.check_parcel(signed, desk.as_call())
    terms = signed.parcel.terms
    desk.settings = terms.bound(desk.settings, DESIGNER)
    return received.prepare_received(signed.parcel, sender, desk.as_call(), taken)


def test_it_is_recorded_there_with_all_it_held_and_goes_on_from_its_hop(here, there):
    here.call("quality_reviewer", goal="Look")
    came = take(there, package(here, hand_over(here)))
    packet = came.packet
    assert (packet.identity.sender, packet.identity.hop) == ("a0_software_orchestrator@workshop", 2)
    assert [decision.text for decision in packet.decisions] == ["CSS grid"]
    assert packet.state[0].value == 5
    kinds = [event.kind for event in there.events()]
    assert kinds == ["prepared", "briefed"]
    assert there.events()[0].payload.came.startswith("workshop ho-")


def inside(desk, came, depth=0):
    identity = came.packet.identity
    return replace(desk.caller, sender=DESIGNER, inside=identity.handover_id)


def worked_on(desk, came):
    deliver.deliver(came.packet.identity.handover_id, desk.as_call(), way="a2a")
    return inside(desk, came)


def test_what_is_left_of_the_caps_counts_there(here, there):
    here.settings = here.settings.model_copy(update={"max_handovers_per_chain": 1})
    caller = worked_on(there, take(there, package(here, hand_over(here))))
    with pytest.raises(RefusedError) as caught:
        there.call("release_auditor", caller=caller, goal="Release")
    assert caught.value.code == "hops"


def test_depth_goes_on_from_that_of_the_sender(here, there):
    here.settings = here.settings.model_copy(update={"max_handover_depth": 2})
    text = package(here, hand_over(here))
    signed = signed_in(text)
    deep = signed.parcel.model_copy(
        update={"terms": signed.parcel.terms.model_copy(update={"depth": 1})}
    )
    caller = worked_on(there, take(there, line_of(deep, HERE.sign)))
    assert caller.inside and there.events()[0].depth == 1
    with pytest.raises(RefusedError) as caught:
        there.call("release_auditor", caller=caller, goal="Release")
    assert caught.value.code == "depth"


def test_who_had_the_work_and_further_machines_are_nobody_there(here, there):
    review = here.call("quality_reviewer", goal="Look")
    here.returns(review)
    text = package(here, hand_over(here))
    signed = signed_in(text)
    terms = signed.parcel.terms.model_copy(update={"visited": ("quality_reviewer",)})
    came = take(there, line_of(signed.parcel.model_copy(update={"terms": terms}), HERE.sign))
    caller = worked_on(there, came)
    for name in ("quality_reviewer", "hacker"):
        with pytest.raises(RequestError) as caught:
            there.call(name, caller=caller, goal="Other")
        assert caught.value.code == "unknown_specialist"
    assert there.call("release_auditor", caller=caller, goal="Release").packet.identity.depth == 1


def test_a_further_machine_is_asked_when_the_entry_lets_it(here, there):
    caller = worked_on(there, take(there, package(here, hand_over(here), remote_onward=True)))
    assert there.call("hacker", caller=caller, goal="Other").specialist.remote


def resigned(text, sign=HERE.sign, **changes):
    return line_of(signed_in(text).parcel.model_copy(update=changes), sign)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: resigned(text, to=fingerprint_of("ab" * 32)), "another installation"),
        (lambda text: resigned(text, sign=THERE.sign), "signature"),
        (lambda text: resigned(text, by=THERE.public), "does not work for"),
        (lambda text: resigned(text, handover="ho-" + "9" * 16), "another handover"),
        (lambda text: resigned(text, expires=signed_in(text).parcel.expires - timedelta(days=3)), "no longer good"),
        (lambda text: resigned(text, expires=signed_in(text).parcel.expires + timedelta(days=3)), "too long"),
        (lambda text: f"{text}\n{text}", "more than one"),
        (lambda text: f"{LINE}AAAA.{'0' * 128}\n", "damaged"),
    ],
)  # fmt: skip
def test_a_package_that_is_not_as_it_should_be_is_not_taken(here, there, change, words):
    with pytest.raises(RefusedError) as caught:
        take(there, change(package(here, hand_over(here))))
    assert words in caught.value.message
    assert not there.folder.ledgers()


def test_a_changed_byte_breaks_the_signature(here, there):
    signed = signed_in(package(here, hand_over(here)))
    content = json.loads(signed.content)
    content["packet"]["goal"] = "Something else"
    line = f"{LINE}{base64.urlsafe_b64encode(json.dumps(content).encode()).decode()}.{signed.signature}\n"
    with pytest.raises(RefusedError, match="signature"):
        take(there, line)


@pytest.mark.parametrize(
    "allowed", [{"work": False}, {"profiles": []}, {"profiles": ["hacker"]}, {"key": THERE.public}]
)
def test_believing_an_installation_is_not_working_for_it(here, there, allowed):
    there.settings = there.settings.model_copy(
        update={
            "trusted": tuple(
                type(item).model_validate(trust(**allowed)) for item in there.settings.trusted
            )
        }
    )
    with pytest.raises(RefusedError):
        take(there, package(here, hand_over(here)))


def test_it_is_taken_once_also_after_a_restart(here, there, tmp_path):
    text, folder = package(here, hand_over(here)), tmp_path / "taken"
    take(there, text, lambda name: take_once(folder, name))
    with pytest.raises(RefusedError, match="before"):
        take(there, text, lambda name: take_once(folder, name))


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ({"verdict": "done", **NOTE, "decisions": ["AVIF for pictures"], "artifacts": ["hero.css"]}, "done"),
        ({"verdict": "clarify", "missing": ["launch date"]}, "clarify"),
        ({"verdict": "reject", "reason": "not mine"}, "reject"),
        ({"verdict": "escalate", "reason": "the person must choose"}, "escalate"),
    ],
)  # fmt: skip
def test_its_verdict_comes_back_as_such(here, there, reply, verdict):
    prepared = hand_over(here)
    came = take(there, package(here, prepared))
    caller = worked_on(there, came)
    receive.reply(reply, there.as_call(caller))
    said = received.reply_of(came.packet.identity.handover_id, there.as_call(caller))
    here.deliver(prepared)
    entry = here.settings.roster.find(DESIGNER).remote
    task = Task("t", "c", "completed", "", said)
    answer = remote.came_to(prepared.packet.identity.handover_id, task, here.as_call(), entry)
    assert answer.summary["verdict"] == verdict
    newest = here.chain().newest
    if verdict == "done":
        assert [decision.text for decision in newest.decisions] == ["CSS grid", "AVIF for pictures"]
        assert not newest.artifacts
        assert "hero.css" in newest.notes[0]
    if verdict == "clarify":
        assert answer.summary["missing"] == ["launch date"]
    assert bool(answer.stops) == (verdict == "escalate")


def test_a_message_without_a_package_is_just_a_message():
    assert signed_in("Hello, build me a hero") is None
