"""What the audit page is answered when a record, or the question itself, is hostile."""

import json

import pytest

from usr.plugins.software_orchestrator.helpers.records.ledger import Ledger
from usr.plugins.software_orchestrator.helpers.values.errors import HandoverError
from usr.plugins.software_orchestrator.helpers.values.events import Draft
from usr.plugins.software_orchestrator.helpers.views import page
from usr.plugins.software_orchestrator.helpers.views.page import Project, Records
from usr.plugins.software_orchestrator.tests.core.chain_maker import (
    KEY,
    OTHER_KEY,
    SETTINGS,
    ChainMaker,
    hero_chain,
)

# The longest number that Python reads from JSON; a sum of such has more digits and is not written.
HUGE = int("9" * 4300)
CHAIN = "landing-page-hero-chat1"
DEEP = 1
for _ in range(254):
    DEEP = [DEEP]
HOSTILE = {
    "identity": ("prepared", {"packet": {"identity": "x"}}),
    "no-packet": ("prepared", {"packet": []}),
    "newer": ("prepared", {"packet": {"identity": {"schema": 99}}}),
    "sizes": ("prepared", {"estimated": HUGE, "delivered": HUGE, "limit": HUGE}),
    "reads": ("history_read", {"tokens": HUGE}),
    "note": ("done", {"note": "x"}),
    "hop": ("prepared", {"packet": {"identity": {"hop": HUGE}}}),
    "deep": ("prepared", {"packet": {"state": [{"field": "x", "value": DEEP}]}}),
    "too-deep": ("prepared", {"packet": {"state": [{"field": "x", "value": [DEEP] * 2}]}}),
    "lists": ("delivered", {"artifacts": [1], "tokens": {}, "omitted": "x"}),
    "place": ("briefed", {"event": 1, "path": None, "offset": "x", "length": -HUGE}),
    "texts": ("refused", {"code": 7, "why": [], "asked": "x"}),
    "damage": ("escalated", {"why": {}, "damage": [{"missing": 1}]}),
    "lifted": ("decline_lifted", {"field": [], "by": {}}),
    "nothing": ("done", {"packet": None, "note": None}),
}
UNDERSTOOD = ("sizes", "reads", "deep", "nothing")


def known(root, *names):
    projects = tuple(Project(name, name.title(), root / name) for name in names)
    return Records(projects, KEY, lambda _: SETTINGS)


def asked(records, action, **more):
    """The answer as the browser gets it; a refusal in words is one too."""
    try:
        return json.loads(json.dumps(page.answer({"action": action, **more}, records)))
    except HandoverError as error:
        return {"refused": error.message}


@pytest.fixture(params=[KEY, OTHER_KEY], ids=["own", "foreign"])
def maker(request, tmp_path):
    return ChainMaker(tmp_path / "hostile", key=request.param, seed=500)


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_ledger_in_one_project_leaves_every_answer_about_the_rest(tmp_path, maker, case):
    hero_chain(tmp_path / "whole")
    packet = maker.hand_over()
    maker.deliver(packet)
    kind, more = HOSTILE[case]
    first = Ledger(maker.ledger, maker.ports.key()).read().events[0]
    data = {**first.data, **more} if kind == "prepared" else more
    if case in ("hop", "deep", "too-deep"):
        identity = {**first.data["packet"]["identity"], "handover_id": "ho-" + "f" * 16}
        identity |= more["packet"].get("identity", {})
        data["packet"] = {**first.data["packet"], **more["packet"], "identity": identity}
    handover = "ho-" + "f" * 16 if kind == "prepared" else packet.identity.handover_id
    with maker.folder.lock(1):
        draft = Draft(kind, first.chain, handover, data=data)
        Ledger(maker.ledger, maker.ports.key()).append([draft] * 12)

    records = known(tmp_path, "hostile", "whole")
    chains = {chain["project"]: chain for chain in asked(records, "chains")["chains"]}
    hostile = chains["hostile"]
    assert packet.identity.handover_id in hostile["ids"]
    assert hostile["lost"] or case in UNDERSTOOD
    assert not hostile["error"]
    assert chains.keys() == {"hostile", "whole"}
    assert (chains["whole"]["state"], chains["whole"]["hops"]) == ("open", 3)
    assert asked(records, "metrics")["chains"] >= 1
    assert asked(records, "verify")["files"] >= 5
    for name, chain in chains.items():
        for action in ("chain", "verify"):
            assert asked(records, action, project=name, chain=chain["chain"]).get("ok")
        for handover in chain["ids"]:
            asked(records, "packet", project=name, chain=chain["chain"], handover=handover)


@pytest.mark.parametrize("field", ["action", "project", "chain", "handover", "name"])
@pytest.mark.parametrize(
    "value",
    [3, [], {}, ["x"], "../x", "\0", "\ud800", "x" * 5000],
    ids=["number", "list", "object", "names", "path", "nul", "surrogate", "long"],
)
def test_a_hostile_question_is_refused_in_words(tmp_path, field, value):
    hero_chain(tmp_path / "whole")
    records = known(tmp_path, "whole")
    question = {"project": "whole", "chain": CHAIN, "handover": "ho-" + "0" * 16, "name": "x.md"}
    for action in page.ACTIONS:
        asked(records, **{"action": action, **question, field: value})
