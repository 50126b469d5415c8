"""A folder or branch that goes away takes nothing with it; a folder that cannot be used stops no other."""

import pytest
from host_double.handover_kit import NOTE, call, done, hand_over, kinds, of_kind, respond, states


def persona(host):
    return host.subordinate().agent_name if host.subordinate() else ""


def moving(folder, part):
    """Two functions: away with a part of the project, and back with it."""
    place, away = folder / part, folder.parent / "away"

    def go():
        place.rename(away)

    def come():
        if place.is_dir():  # the host makes a project's folder again when it asks for it
            place.rename(folder.parent / "left")
        away.rename(place)

    return go, come


PARTS = ["", ".a0proj/handover", ".a0proj/handover/chains"]


def place_for(host, part, tmp_path):
    """A folder, and how a call names it; the host itself needs that of an active project."""
    if part:
        return host.project("acme"), {}
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return folder, {"project_root": str(folder)}


@pytest.mark.parametrize("part", PARTS)
def test_a_reply_while_the_record_is_away_is_refused_and_taken_when_it_is_back(
    any_host, part, tmp_path
):
    host = any_host
    folder, named = place_for(host, part, tmp_path)
    go, come = moving(folder, part)
    seen = []

    def away(agent):
        go()
        return done()

    def back(agent):
        seen.append(
            (agent.agent_name, host.tool_results("handover_reply", agent)[-1]["tool_result"])
        )
        come()
        return done(what_happened="Hero drafted, second try.")

    host.script(
        {
            "agent0": [hand_over(start=True, **named), respond("ok")],
            "frontend_designer": [call("handover_reply", verdict="accept"), away, back],
        }
    )
    assert host.say("Please build the hero") == "ok"
    assert seen[0][0] == "🖌️ Frontend Designer (A1)"
    assert "ERROR" in seen[0][1]
    assert states(folder) == {"frontend_designer": "done"}
    (event,) = of_kind(folder, "done")
    assert event["data"]["note"]["what_happened"] == "Hero drafted, second try."


@pytest.mark.parametrize("part", PARTS)
def test_a_run_that_ends_while_the_record_is_away_is_recorded_with_its_note(
    any_host, part, tmp_path
):
    host = any_host
    folder, named = place_for(host, part, tmp_path)
    go, come = moving(folder, part)

    def away(agent):
        go()
        return done()

    host.script(
        {
            "agent0": [hand_over(start=True, **named), respond("ok")],
            "frontend_designer": [
                call("handover_reply", verdict="accept"),
                away,
                respond("I could not hand it back."),
            ],
        }
    )
    assert host.say("Please build the hero") == "ok"
    assert "I could not hand it back." in str(host.tool_results("handover_to_specialist"))
    come()
    host.script({"agent0": [respond("well")]})
    assert host.say("What stands?") == "well"
    (event,) = of_kind(folder, "done")
    assert event["data"]["note"] == NOTE
    assert "cancelled" not in kinds(folder)


def test_what_is_kept_for_later_is_masked_in_the_saved_chat(host):
    folder = host.project("acme")
    host.secrets(API_KEY="hunter2-very-secret")
    go, _ = moving(folder, ".a0proj/handover")

    def away(agent):
        go()
        return done(observations="the key is hunter2-very-secret")

    host.script(
        {
            "agent0": [hand_over(start=True), respond("ok")],
            "frontend_designer": [away, respond("hunter2-very-secret it was")],
        }
    )
    host.say("Please build the hero")
    kept = host.save()["data"]["software_orchestrator"]["unrecorded"]
    assert len(kept) == 1
    assert "hunter2" not in str(kept)


@pytest.mark.parametrize("what", ["link", "file", "root is a file"])
def test_a_folder_of_before_that_cannot_be_used_is_passed_over_and_named(any_host, tmp_path, what):
    host = any_host
    old = host.project("old")
    host.script({"agent0": [hand_over(start=True), respond("ok")], "frontend_designer": [done()]})
    assert host.say("Please build the hero") == "ok"
    place = old if what == "root is a file" else old / ".a0proj/handover"
    folder = host.project("acme")
    place.rename(tmp_path / "moved")
    if what == "link":
        place.symlink_to(tmp_path / "moved")
    else:
        place.write_text("mine")
    host.script({"agent0": [hand_over(start=True), respond("yes")], "frontend_designer": [done()]})
    assert host.say("Now here, please") == "yes"
    assert states(folder) == {"frontend_designer": "done"}
    named = [row for row in host.rows(type="warning") if str(old) in row["content"]]
    assert len(named) == 1
