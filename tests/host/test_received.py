"""What another installation hands over, in the temporary chat that the host makes for an A2A message."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from host_double.handover_kit import NOTE, call, done, kinds, of_kind, respond

IDENTITY = {
    "handover_id": "ho-00000000000000aa", "chain_id": "hero-x", "hop": 3, "depth": 1, "sender": "a0_software_orchestrator",
    "receiver": "frontend_designer", "created_at": "2026-06-05T14:03:00.000000Z",
}  # fmt: skip


def package(host, to=None, **packet):
    """A message as a trusted installation sends it, and the settings here that trust it."""
    from usr.plugins.software_orchestrator.helpers.records import identity, resources
    from usr.plugins.software_orchestrator.helpers.records.key import installation_key
    from usr.plugins.software_orchestrator.helpers.values.parcel import Parcel, Terms, line_of

    signer = identity.signer_of(b"s" * 32)
    here = identity.signer_of(installation_key(resources.ROOT))
    parcel = Parcel(
        by=signer.public,
        to=to or here.fingerprint,
        handover=IDENTITY["handover_id"],
        expires=datetime.now(UTC) + timedelta(minutes=5),
        terms=Terms(depth=1, max_depth=3, hops=5, rounds=9),
        packet={"identity": IDENTITY, "topic": "Hero", "goal": "Draft the hero", **packet},
    )
    trusted = {
        "name": "workshop", "key": signer.public, "work": True, "project": "acme", "profiles": ["frontend_designer"],
    }  # fmt: skip
    path = host.root / "usr/plugins/software_orchestrator/config.json"
    path.write_text(json.dumps({"trusted": [trusted]}), "utf-8")
    return f"# Handover as text\n{line_of(parcel, signer.sign)}"


def ask(host, text):
    """As the host's A2A server does: a new temporary chat for each message."""
    from agent import AgentContext, AgentContextType, UserMessage
    from initialize import initialize_agent

    chat = AgentContext(initialize_agent(), type=AgentContextType.BACKGROUND)
    chat.communicate(UserMessage(message=text))
    return host.wait(chat)


def test_the_named_specialist_works_with_its_persona_and_its_verdict_is_the_answer(host):
    folder = host.project("acme")
    text = package(host, decisions=[{"id": "d1", "text": "CSS grid"}])
    host.script(
        {"frontend_designer": [call("handover_reply", verdict="accept"), done(decisions=["AVIF"])]}
    )
    reply = json.loads(ask(host, text))
    assert (reply["verdict"], reply["what_happened"]) == ("done", NOTE["what_happened"])
    assert reply["decisions"][0]["text"] == "AVIF"
    asked = "".join(str(message.content) for message in host.model_calls[0]["messages"])
    assert "CSS grid" in asked
    assert "software-orchestrator-package" not in asked
    assert kinds(folder) == ["prepared", "briefed", "delivered", "accepted", "done", "briefed"]
    prepared = of_kind(folder, "prepared")[0]
    assert (prepared["from"], prepared["hop"], prepared["depth"]) == (
        "a0_software_orchestrator@workshop",
        3,
        1,
    )


def test_a_second_copy_is_refused_without_a_run(host):
    folder = host.project("acme")
    text = package(host)
    host.script({"frontend_designer": [done()]})
    ask(host, text)
    reply = json.loads(ask(host, text))
    assert reply["verdict"] == "reject"
    assert "before" in reply["reason"]
    assert kinds(folder).count("prepared") == 1


@pytest.mark.parametrize("packet", [{"to": "0" * 32}, {"goal": ""}])
def test_what_is_not_for_here_is_refused_and_what_lacks_a_goal_is_not(host, packet):
    host.project("acme")
    text = package(host, **packet)
    host.script({"frontend_designer": [done()]})
    reply = json.loads(ask(host, text))
    assert reply["verdict"] == ("reject" if "to" in packet else "done")


def test_a_part_goes_down_within_what_is_left_and_comes_back(host):
    folder = host.project("acme")
    text = package(host)
    part = call(
        "handover_to_specialist",
        specialist_profile="quality_reviewer",
        topic="Part",
        goal="Look",
        start=True,
    )
    host.script({"frontend_designer": [part, done()], "quality_reviewer": [done()]})
    assert json.loads(ask(host, text))["verdict"] == "done"
    assert [(event["hop"], event["depth"]) for event in of_kind(folder, "prepared")] == [
        (3, 1),
        (4, 2),
    ]


def test_who_gives_no_verdict_is_answered_in_its_words(host):
    host.project("acme")
    text = package(host)
    host.script({"frontend_designer": [respond("Here is a hero.")]})
    assert ask(host, text) == "Here is a hero."
