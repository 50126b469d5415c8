"""What a call claims of the person is looked for in what they wrote: a real decline is never doubted, an invented one mostly."""

import ast
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from usr.plugins.software_orchestrator.helpers.arguments import schema
from usr.plugins.software_orchestrator.helpers.history import grounding, heard, log
from usr.plugins.software_orchestrator.helpers.history.grounding import about
from usr.plugins.software_orchestrator.helpers.records.resources import default_settings
from usr.plugins.software_orchestrator.helpers.text.tokens import counter
from usr.plugins.software_orchestrator.helpers.values.packet import Decision, StateField
from usr.plugins.software_orchestrator.helpers.values.settings import settings
from usr.plugins.software_orchestrator.helpers.views.metrics import metrics, sla_of
from usr.plugins.software_orchestrator.tests.data.grounding import (
    INVENTED,
    NOTHING_DECLINED,
    OPENING,
    REAL,
    SAID_WITHOUT_THE_NAME,
)

ROOT = Path(__file__).resolve().parents[2]
NOW = "2026-06-05T14:03:07.123456Z"


def written(path, *messages, whose="chat"):
    """The log of a chat; a tuple is what the agent said."""
    for message in messages:
        if isinstance(message, tuple):
            call = {"tool_name": "response", "tool_args": {"text": message[0]}}
            record = {"id": "a", "ai": True, "content": json.dumps(call)}
        else:
            record = {"id": "u", "ai": False, "content": {"user_message": message}}
        source = log.Source(person=lambda words: whose)
        log.append(path, log.line_of(record, source, NOW, str), 10**8)
    return path


@pytest.fixture
def chat(tmp_path):
    def make(*messages):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.jsonl"
        return heard.heard(str(written(path, *messages)))

    return make


def declined(field, verbatim=""):
    return StateField(field=field, status="declined", verbatim=verbatim)


def real_declines():
    for language, fields in REAL.items():
        for field, texts in fields.items():
            for text in texts:
                said = text if isinstance(text, list) else [text]
                yield language, field, [OPENING[language], *said]
    for language, texts in SAID_WITHOUT_THE_NAME.items():
        for text in texts:
            yield language, "prices", [OPENING[language], text]


def unheard(chats):
    """Invented declines of fields that a chat has no word for."""
    for language, talks in chats.items():
        for talk in talks:
            for field in INVENTED:
                yield language, field, talk


def count(messages):
    return sum(isinstance(message, str) for message in messages)


def test_a_real_decline_is_never_doubted(chat):
    doubted = []
    for language, field, messages in real_declines():
        known = chat(*messages)
        if known.is_whole(count(messages), 0) and not grounding.is_founded(
            declined(field), (), known
        ):
            doubted.append((language, field, messages[1:]))
    assert not doubted


def test_an_invented_decline_is_mostly_told(chat):
    believed, all_of_them = [], 0
    for language, field, messages in unheard(NOTHING_DECLINED):
        known = chat(*messages)
        all_of_them += 1
        if not known.is_whole(count(messages), 0):
            believed.append((language, "not checked", messages))
        elif grounding.is_founded(declined(field), (), known):
            believed.append((language, field, messages))
    assert len(believed) < all_of_them / 10, believed


# what a name or words account for


def test_name_value_and_words_found_a_decline(chat):
    known = chat("Our pricing changes weekly, so think about that. The number is DE123456789.")
    assert grounding.is_founded(declined("show_prices"), (), known)
    assert grounding.is_founded(StateField(field="vat", value="DE123456789"), (), known)
    assert grounding.is_founded(declined("rates", "think about that changes weekly"), (), known)
    assert not grounding.is_founded(declined("budget", "the budget stays secret"), (), known)


def test_a_refusal_that_another_field_accounts_for_founds_nothing_else(chat):
    known = chat("Please build the page. No phone number, please.")
    phone = declined("phone")
    assert grounding.is_founded(phone, (), known)
    assert not grounding.is_founded(declined("prices"), (phone,), known)
    assert grounding.is_founded(declined("prices"), (declined("colour"),), known)


def test_a_refusal_of_several_things_is_accounted_for_by_none(chat):
    known = chat("Please build the page. No phone numbers and no costs on it.")
    assert grounding.is_founded(declined("prices"), (declined("phone"),), known)


# when nothing is checked


@pytest.mark.parametrize(
    "message",
    [
        "Παρακαλώ φτιάξε μια σελίδα για το κατάστημα",
        "Kerlek keszits nekunk egy szep oldalt a boltnak",
        "Lütfen dükkan için bir sayfa yap ve fiyat olmasın",
        "Prosím udělej stránku pro náš obchod, ale ceny tam nebudou",
    ],
)
def test_a_language_without_patterns_is_not_judged(chat, message):
    assert not chat(message, "Build it, please, as I said in the mail.").is_whole(2, 0)


def test_a_log_that_lacks_a_message_or_has_a_gap_is_not_whole(chat, tmp_path):
    assert chat("Build the page, please.").is_whole(1, 0)
    assert not chat("Build the page, please.").is_whole(2, 0)
    assert not chat("Build the page, please.").is_whole(0, 0)
    assert not chat("Build the page, please.").is_whole(1, 1)
    damaged = written(tmp_path / "damaged", "Build the page, please.")
    damaged.write_bytes(damaged.read_bytes() + b"torn\n")
    assert not heard.heard(str(damaged)).is_whole(1, 0)
    assert heard.heard(str(tmp_path / "none")) is None
    assert heard.heard("") is None


def test_words_that_no_person_wrote_found_nothing(tmp_path):
    path = written(tmp_path / "log", "Build the page, please.")
    written(path, "Handover: prices are declined, phone too", whose="")
    known = heard.heard(str(path))
    assert known.is_whole(1, 0)
    assert not grounding.is_founded(declined("prices"), (), known)


def test_a_log_is_read_on_not_again(tmp_path, monkeypatch):
    path = written(tmp_path / "log", *["Build the page, please."] * 50)
    heard.heard(str(path))
    read = []
    add = heard.Heard.add
    monkeypatch.setattr(heard.Heard, "add", lambda self, line: (read.append(line), add(self, line)))
    written(path, "No prices.")
    assert grounding.is_founded(declined("prices"), (), heard.heard(str(path)))
    assert len(read) == 1


def test_a_log_that_was_begun_anew_is_read_anew(tmp_path):
    path = written(tmp_path / "log", "No prices on the page, please.", "Thank you.")
    heard.heard(str(path))
    path.unlink()
    written(path, "Build it, please, with a map and a form.")
    assert not grounding.is_founded(declined("prices"), (), heard.heard(str(path)))


# decisions


@pytest.mark.parametrize(
    ("said", "decision"),
    [
        ("No Redis.", "Use Redis for sessions"),
        ("We keep sessions in Postgres, no Redis please.", "Redis holds the sessions"),
        ("Do not cache node_modules, that broke the build.", "Cache node_modules in CI"),
        ("Use Redis for sessions.", "No Redis"),
        ("Bitte kein Bootstrap verwenden.", "Wir nehmen Bootstrap"),
        ("Pas de Bootstrap, s'il vous plaît.", "Utiliser Bootstrap"),
        ("No uses jQuery.", "Usamos jQuery"),
        ("Никакого Redis, пожалуйста.", "Redis для сессий"),
        ("缓存不要用Redis。", "缓存用Redis"),
        ("Use Postgres instead of Redis.", "Sessions live in Redis"),
    ],
)
def test_a_decision_against_the_persons_words_is_found(chat, said, decision):
    found = grounding.contradicts(Decision(text=decision), chat("Hello there.", said))
    assert found and found.sentence in said


@pytest.mark.parametrize(
    ("said", "decision"),
    [
        ("No Redis for sessions.", "No Redis"),
        ("No Redis for sessions.", "Use Redis for the job queue"),
        ("At most 150 kB, no more than that.", "Stay below 150 kB"),
        ("The build doesn't work with Redis.", "Use Redis for sessions"),
        ("Use Postgres instead of Redis.", "Use Postgres, not Redis"),
        ("Never commit to main.", "Commit small steps"),
        ("No Redis?", "Use Redis for sessions"),
        ("The brand colour is #112233.", "Do not change the colour"),
        ("No problem, use Redis.", "Use Redis for sessions"),
    ],
)
def test_a_decision_that_agrees_or_is_about_something_else_is_none(chat, said, decision):
    assert not grounding.contradicts(Decision(text=decision), chat(said))


def test_what_the_person_took_back_contradicts_nothing(chat):
    known = chat("No Redis.", "All right, use Redis for sessions after all.")
    assert not grounding.contradicts(Decision(text="Use Redis for sessions"), known)
    assert grounding.contradicts(Decision(text="No Redis"), known)


def test_a_decision_is_the_persons_where_its_words_are_or_where_they_agreed(chat):
    known = chat(
        "Please keep the sessions in Postgres.",
        ("Shall we deploy with Ansible on Fridays?",),
        "Yes",
    )
    assert grounding.is_said(Decision(text="Sessions are kept in Postgres"), known)
    assert grounding.is_said(Decision(text="Deploy with Ansible on Fridays"), known)
    assert grounding.is_said(
        Decision(text="Sitzungen liegen in einer Datenbank für die Kunden"), known
    )
    assert not grounding.is_said(Decision(text="The footer has four columns with icons"), known)


# in a handover


@pytest.fixture
def spoken(desk, tmp_path):
    """A desk whose person says something, in the chat's log."""
    path = tmp_path / "chat.jsonl"

    def say(*messages):
        written(path, *messages)
        count_now = desk.caller.person_count + count(messages)
        desk.caller = replace(desk.caller, log_path=str(path), person_count=count_now)
        return desk

    return say


def fields(prepared):
    return {item.field: item.status for item in prepared.packet.state}


DECLINE = {"status": "declined"}


def test_an_invented_decline_travels_as_claimed_and_is_told(spoken):
    desk = spoken("Please build the page for our shop.")
    prepared = desk.call(state={"prices": DECLINE, "colour": "blue"})
    assert fields(prepared) == {"prices": "claimed", "colour": "answered"}
    assert any("never spoke of prices" in warning for warning in prepared.warnings)
    text = prepared.packed.package.text
    assert "ask before relying on it" in text and "do not ask again" not in text


def test_a_real_decline_binds(spoken):
    desk = spoken("Please build the page for our shop. We would rather keep costs quiet.")
    prepared = desk.call(state={"prices": DECLINE})
    assert fields(prepared) == {"prices": "declined"}
    assert not prepared.warnings or "never spoke" not in " ".join(prepared.warnings)


def test_without_a_whole_log_a_decline_binds(desk, spoken):
    assert fields(desk.call(state={"prices": DECLINE})) == {"prices": "declined"}
    spoken("Please build the page for our shop.")
    desk.caller = replace(desk.caller, person_count=2)
    assert fields(desk.call("hacker", state={"phone": DECLINE}))["phone"] == "declined"


@pytest.mark.parametrize(
    ("later", "status"),
    [
        ({"state": {"prices": "from 10 EUR"}}, "answered"),
        ({"state": {"prices": ""}}, None),
        ({"state": {"prices": {"status": "open"}}}, None),
        ({"open_questions": [{"text": "Which prices?", "field": "prices"}]}, None),
        ({"state": {"prices": DECLINE}}, "claimed"),
        ({"state": {"prices": {"status": "claimed"}}}, "claimed"),
        ({"summary": "nothing of it"}, "claimed"),
    ],
)
def test_a_claimed_decline_is_replaced_or_taken_back(spoken, later, status):
    desk = spoken("Please build the page for our shop.")
    desk.call(state={"prices": DECLINE})
    assert fields(desk.call("hacker", **{"summary": "s", **later})).get("prices") == status


def test_a_claimed_decline_is_one_as_soon_as_the_words_are_there_and_then_binds(spoken):
    desk = spoken("Please build the page for our shop.")
    desk.call(state={"prices": DECLINE})
    spoken("And no prices, please.")
    assert fields(desk.call("hacker", summary="s")) == {"prices": "declined"}
    assert fields(desk.call("solution_architect", state={"prices": 5})) == {"prices": "declined"}


def test_a_claim_replaces_no_value_and_no_decline(spoken):
    desk = spoken("Please build the page for our shop. Never show the phone number.")
    desk.call(state={"seats": 12, "phone": DECLINE})
    after = desk.call("hacker", state={"seats": DECLINE, "phone": {"status": "claimed"}})
    assert fields(after) == {"seats": "answered", "phone": "declined"}


def test_the_same_call_again_is_the_same(spoken):
    desk = spoken("Please build the page for our shop.")
    first = desk.call(state={"prices": DECLINE})
    again = desk.call(state={"prices": DECLINE})
    assert again.repeated and again.packet == first.packet


def test_a_decision_of_the_person_needs_their_words_and_the_opposite_is_told(spoken):
    desk = spoken("We keep the sessions in Postgres. No Redis.")
    prepared = desk.call(
        decisions=[
            {"text": "Use Redis for sessions", "owner": "user"},
            {"text": "Sessions in Postgres", "owner": "user"},
            {"text": "Footer with four columns", "owner": "user"},
        ]
    )
    owners = {item.text: item.owner for item in prepared.packet.decisions}
    assert owners == {
        "Use Redis for sessions": "a0_software_orchestrator",
        "Sessions in Postgres": "user",
        "Footer with four columns": "a0_software_orchestrator",
    }
    assert any('"No Redis."' in warning for warning in prepared.warnings)
    assert prepared_event(desk, prepared).contradicted == ("Use Redis for sessions",)


def prepared_event(desk, prepared):
    return desk.chain().find(prepared.packet.identity.handover_id).prepared


# the person's own words


def test_the_persons_deciding_sentences_travel_newest_first_with_their_turns(spoken):
    desk = spoken(
        "Hello! We need a page. No Redis.",
        ("Fine.",),
        "At most 150 kB, please.",
        "How is it going?",
    )
    prepared = desk.call(summary="s")
    assert [(item.turn, item.text) for item in prepared.packet.person_said] == [
        (3, "At most 150 kB, please."),
        (1, "No Redis."),
    ]
    text = prepared.packed.package.text
    assert text.index("turn 3: At most 150 kB") < text.index("turn 1: No Redis.")
    assert "turn 3" in prepared.briefing.path.read_text() and "Fine." not in text


def test_a_sentence_stands_once_and_not_where_a_field_holds_it(spoken):
    desk = spoken("No Redis.", "No prices on the page.", "No redis.")
    prepared = desk.call(state={"prices": {**DECLINE, "verbatim": "No prices on the page"}})
    assert [item.text for item in prepared.packet.person_said] == [
        "No redis.",
        "No prices on the page.",
    ]
    assert prepared.packed.package.text.lower().count("no redis.") == 1
    assert prepared.packed.package.text.count("No prices on the page") == 1


def test_what_does_not_fit_is_named_with_its_turns(spoken):
    desk = spoken(*[f"Never use library number {n} for the pages of this shop." for n in range(90)])
    prepared = desk.call(summary="s", max_context_tokens=1000)
    text = prepared.packed.package.text
    section = text.split("## The person said\n")[1].split("##")[0]
    assert counter().count(section) <= 200
    assert "turn 90: " in section and "request_full_history" in section
    assert any(
        "turns" in line and "The person said" in line for line in prepared.packed.package.omitted
    )


def test_it_is_inherited_where_the_log_is_away_and_left_out_where_it_is_switched_off(
    open_desk, tmp_path
):
    desk = open_desk()
    path = written(tmp_path / "chat.jsonl", "No Redis.")
    desk.caller = replace(desk.caller, log_path=str(path), person_count=1)
    desk.call(summary="s")
    path.unlink()
    assert [item.text for item in desk.call("hacker", summary="s").packet.person_said] == [
        "No Redis."
    ]
    desk.settings = desk.settings.model_copy(update={"person_said": False})
    assert not desk.call("solution_architect", summary="new").packet.person_said


def test_what_the_person_took_back_by_lifting_a_decline_does_not_travel(spoken):
    desk = spoken("No prices on the page.", "No Redis.")
    desk.call(state={"prices": DECLINE})
    spoken("You may show the prices now, from 10 EUR.")
    desk.caller = replace(
        desk.caller, person_messages=("You may show the prices now, from 10 EUR.",)
    )
    lifted = desk.call(
        "hacker",
        state={"prices": {"value": "from 10 EUR", "verbatim": "You may show the prices now"}},
    )
    assert fields(lifted)["prices"] == "answered"
    assert [item.text for item in lifted.packet.person_said] == ["No Redis."]


def test_a_project_cannot_switch_it_off():
    ours, theirs = default_settings(), {"person_said": False}
    assert settings(ours, project=[theirs]).person_said
    assert not settings(ours, theirs, project=[{"person_said": True}]).person_said


# what our own words are worth


def our_texts():
    """Every line that a model reads of us, and every text in what we refuse with."""
    for path in sorted((ROOT / "prompts").glob("*.md")) + sorted(
        ROOT.glob("agents/*/prompts/*.md")
    ):
        yield from path.read_text(encoding="utf-8").splitlines()
    yield from schema.WORDS.values()
    for path in sorted(ROOT.glob("helpers/*/*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and "Error" in ast.unparse(node.func):
                yield from (
                    part.value
                    for part in ast.walk(node)
                    if isinstance(part, ast.Constant) and isinstance(part.value, str)
                )


def examples():
    """The arguments of every example call in what a model reads of us."""
    for path in sorted(ROOT.glob("prompts/*.md")) + sorted(ROOT.glob("agents/*/prompts/*.md")):
        for block in re.findall(r"~~~json\n(.*?)~~~", path.read_text(encoding="utf-8"), re.DOTALL):
            yield json.loads(block)["tool_args"]


def test_nothing_of_our_own_prompts_hints_and_errors_is_taken_for_the_persons(spoken):
    texts = [text for text in dict.fromkeys(our_texts()) if len(about(text.casefold())) > 1]
    assert len(texts) > 300
    desk = spoken("Kindly repaint my bicycle green by Tuesday.")
    known = heard.heard(desk.caller.log_path)
    for text in texts:
        assert not grounding.is_founded(declined("alpha", text), (), known), text
        owned = Decision(text=text, owner="user")
        assert grounding.languages_of(text.casefold()) is None or not grounding.is_said(
            owned, known
        ), text


def test_an_example_that_is_sent_back_binds_nobody(spoken):
    desk = spoken("Kindly repaint my bicycle green by Tuesday.")
    for number, args in enumerate(examples()):
        given = {name: args[name] for name in args if name in ("state", "decisions", "goal")}
        fields_of_it = given.pop("state", {})
        prepared = desk.call(
            topic=f"topic {number}",
            **given,
            state={**fields_of_it, "ticket": DECLINE, "vat_id": DECLINE, "prices": DECLINE},
        )
        assert "declined" not in fields(prepared).values()
        assert "user" not in {item.owner for item in prepared.packet.decisions}


# what is counted


def test_metrics_count_claims_contradictions_and_quoted_sentences(spoken):
    desk = spoken("Please use Redis for the sessions. Show no phone number anywhere.")
    prepared = desk.call(
        state={"prices": DECLINE, "phone": DECLINE}, decisions=["No Redis for the sessions"]
    )
    desk.deliver(prepared)
    decided = Decision(
        id="d9", text="Plain sessions", rationale="They said: show no phone number anywhere"
    )
    desk.returns(prepared, decisions=(*prepared.packet.decisions, decided))
    found = metrics(desk.events(), sla_of(desk.settings))
    assert (found.find("claimed_declines").n, found.find("claimed_declines").hits) == (2, 1)
    against = found.find("contradicted_decisions")
    assert (against.n, against.hits, against.detail) == (1, 1, {"decisions": 1})
    said = found.find("person_said_used")
    assert (said.n, said.hits) == (len(prepared.packet.person_said), 1)
