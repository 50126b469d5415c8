"""A package fits its limit by a real count, keeps what is never cut, and names everything it left out."""

import re

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from usr.plugins.software_orchestrator.helpers.text import fitting, package
from usr.plugins.software_orchestrator.helpers.text.tokens import counter, estimate
from usr.plugins.software_orchestrator.helpers.values.errors import RequestError
from usr.plugins.software_orchestrator.helpers.values.packet import HandoverPacket

count = counter().count
IDENTITY = {
    "handover_id": "ho-0123456789abcdef",
    "chain_id": "topic-chat",
    "hop": 1,
    "depth": 0,
    "sender": "a0_software_orchestrator",
    "receiver": "solution_architect",
    "created_at": "2026-06-05T14:03:00.000000Z",
    "schema": 1,
}


@pytest.fixture(scope="module")
def real():
    """tiktoken's own count of a text as a whole."""
    tiktoken = pytest.importorskip("tiktoken")
    from usr.plugins.software_orchestrator.helpers.text import tokens

    encoding = tokens._encoding()
    if not isinstance(encoding, tiktoken.Encoding):
        pytest.skip("no vocabulary")
    return lambda text: len(encoding.encode(text, disallowed_special=()))


def parts_of(**fields):
    packet = HandoverPacket.model_validate({"identity": IDENTITY, "topic": "topic", **fields})
    return package.package_parts(
        packet, head="head\n", foot="briefing: /p/b.md\nAnswer with handover_reply.\n"
    )


def fitted(parts, limit, count=count):
    return fitting.fit(parts, limit, count, lambda section: f"see {section}")


def turns(number, text="The quick brown fox jumps over the lazy dog again and again."):
    return [{"role": "user", "text": f"{text} {n}"} for n in range(number)]


texts = st.one_of(
    st.text(max_size=40),
    st.sampled_from(
        [
            "数据库迁移很重要。",
            "👨‍👩‍👧‍👦",
            "สวัสดีครับ",
            "word ",
            "x" * 50,
            "^" * 700,
            "line\n",
            "e\u0301",
            "🇩🇪",
            "<|endoftext|>",
            "aB3/",
        ]
    ).flatmap(lambda unit: st.integers(1, 120).map(lambda times: (unit * times)[:3000])),
)
several = st.lists(texts.filter(str.strip), max_size=5).map(tuple)
packets = st.fixed_dictionaries(
    {
        "goal": texts,
        "summary": texts,
        "user_state": texts,
        "next_action": texts,
        "return_condition": texts,
        "acceptance_criteria": several,
        "notes": several,
        "recent_turns": several.map(
            lambda items: [{"role": "user", "text": text} for text in items]
        ),
        "decisions": several.map(
            lambda items: [
                {"id": f"d{n}", "text": text, "rationale": text[:50]}
                for n, text in enumerate(items)
            ]
        ),
        "artifacts": several.map(lambda items: [{"path": text} for text in items]),
        "state": several.map(
            lambda items: [
                {"field": f"f{n}", "value": text, "status": "declined" if n % 2 else "answered"}
                for n, text in enumerate(items)
            ]
        ),
        "rejected_paths": several.map(lambda items: [{"what": text} for text in items]),
    }
)


@given(packets)
def test_the_estimate_is_the_count_of_the_whole_text(real, fields):
    package = fitting.whole(parts_of(**fields), count)
    assert real(package.text) <= package.tokens
    if not re.search(r"\^{1000}|x{1000}|(?:\S\n?){1000}", package.text):
        assert package.tokens == real(package.text)


@settings(max_examples=150)
@given(packets, st.integers(60, 4000))
def test_a_fitted_package_holds_its_limit_and_everything_that_is_never_cut(real, fields, limit):
    parts = parts_of(**fields)
    try:
        package = fitted(parts, limit)
    except RequestError as error:
        assert fitting.whole([part for part in parts if part.short], count).tokens > limit / 2
        assert error.code == "limit_not_positive"
        return
    assert real(package.text) <= package.tokens <= limit
    lines = package.text
    for part in parts:
        assert not part.short or part.short in lines or part.full in lines
    assert "\ufffd" not in package.text.replace("\ufffd", "", str(fields).count("\ufffd"))
    package.text.encode("utf-8")


@settings(max_examples=100)
@given(packets, st.integers(100, 2000))
def test_what_is_missing_is_named_and_what_is_not_missing_is_not(fields, limit):
    parts = parts_of(**fields)
    try:
        package = fitted(parts, limit)
    except RequestError:
        return
    missing = {part.section for part in parts if part.full not in package.text}
    named = {
        line.partition(": ")[0] if ": do not" not in line else line[: line.index("again") + 5]
        for line in package.omitted
    }
    assert missing <= {
        section
        for section in {part.section for part in parts}
        if any(line.startswith(section) for line in package.omitted)
    }
    assert bool(package.omitted) == ("Not here for space" in package.text.splitlines()[-1])
    for name in named:
        assert any(part.section.startswith(name.split(":")[0]) for part in parts)


@settings(max_examples=100)
@given(
    st.lists(
        st.sampled_from(["好", "👨‍👩‍👧‍👦", "ที่", "e\u0301", "🇩🇪", "a", " ", "👍🏽"]),
        min_size=50,
        max_size=400,
    ).map("".join),
    st.integers(110, 300),
)
def test_a_text_is_cut_between_whole_characters(text, limit):
    package = fitted(parts_of(summary="s" + text), limit)
    found = re.search(r"## Summary\n> (.*) \[cut here\]\n", package.text)
    if found is None:
        return
    shown = found[1]
    whole = "s" + text
    assert whole.startswith(shown)
    rest = whole[len(shown) :]
    assert regex.findall(r"\X", shown) + regex.findall(r"\X", rest) == regex.findall(r"\X", whole)


def test_every_title_of_thirty_decisions_travels_and_the_rest_is_counted_and_pointed_to():
    decisions = [
        {
            "id": f"d{n}",
            "text": f"Decision number {n} " + "with many words " * 20,
            "rationale": "because " * 50,
        }
        for n in range(1, 31)
    ]
    package = fitted(parts_of(decisions=decisions), 3000)
    for n in range(1, 31):
        assert f"> d{n} v1" in package.text
        assert f"Decision number {n} " in package.text
    (line,) = package.omitted
    left = int(re.match(r"Decisions: (\d+) of 30 shortened", line)[1])
    assert 0 < left < 30
    assert package.text.count("with many words " * 20 + "\n") == 30 - left or package.tokens <= 3000
    assert "see Decisions" in line


def test_the_newest_turns_stay_and_the_older_ones_are_named():
    package = fitted(parts_of(recent_turns=turns(40)), 400)
    assert "again. 39" in package.text
    assert "again. 0\n" not in package.text
    (line,) = package.omitted
    assert re.match(r"Recent turns: \d+ of 40 left out.* \(turn 1-\d+ of 40", line)


def test_what_is_left_out_is_named_thing_by_thing():
    artifacts = [
        {"path": f"src/very/long/path/of/a/component/number/{n}.tsx", "sha256": "a" * 64, "size": n}
        for n in range(20)
    ]
    package = fitted(parts_of(artifacts=artifacts), 300)
    (line,) = package.omitted
    for artifact in artifacts:
        assert (artifact["path"] in package.text) != (artifact["path"] in line)


@pytest.mark.parametrize("short_of", [0, 1])
def test_a_package_is_whole_exactly_when_it_fits(short_of):
    parts = parts_of(summary="The client wants a quote form. " * 20, notes=["one", "two"])
    whole = fitting.whole(parts, count)
    package = fitted(parts, whole.tokens - short_of)
    assert (package.text == whole.text) is (short_of == 0)
    assert bool(package.omitted) is (short_of == 1)


def test_a_limit_that_cannot_hold_what_is_never_cut_is_an_error_that_names_it_and_the_limit_that_would_do():
    parts = parts_of(next_action="Draw the form. " * 50, acceptance_criteria=["It works. " * 40])
    with pytest.raises(RequestError) as caught:
        fitted(parts, 200)
    assert str(caught.value).startswith("ERROR: max_context_tokens must be positive")
    for name in ("Next action", "Acceptance criteria", "got 200"):
        assert name in str(caught.value)
    needed = int(re.search(r"to (\d+) or more", str(caught.value))[1])
    assert fitted(parts, needed).tokens <= needed
    with pytest.raises(RequestError):
        fitted(parts, needed - 1)


def test_the_estimate_without_tiktoken_keeps_the_limit_too(real):
    package = fitted(
        parts_of(recent_turns=turns(40), summary="数据库迁移" * 100), 2000, estimate().count
    )
    assert real(package.text) <= package.tokens <= 2000


def test_a_limit_is_used_well():
    package = fitted(
        parts_of(summary="A sentence of some words. " * 1000, recent_turns=turns(200)), 3000
    )
    assert package.tokens >= 2850


def test_a_part_that_grew_the_list_of_what_is_missing_goes_out_again(real):
    for limit in range(150, 420, 3):
        package = fitted(
            parts_of(
                recent_turns=[{"role": "user", "text": "word " * 60} for _ in range(12)],
                summary="s " * 40,
            ),
            limit,
        )
        assert real(package.text) <= package.tokens <= limit
