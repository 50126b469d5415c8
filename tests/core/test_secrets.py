"""Secrets in the shapes of 2026, in values with names, and spread over what stands together."""

import json
import re
from dataclasses import replace
from re import _constants as op
from re import _parser as parser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from usr.plugins.software_orchestrator.helpers.records.book import entry_of, masked_draft
from usr.plugins.software_orchestrator.helpers.text import credentials
from usr.plugins.software_orchestrator.helpers.text.credentials import redact
from usr.plugins.software_orchestrator.helpers.text.embedded import without_blobs
from usr.plugins.software_orchestrator.helpers.text.fitting import Part, masked_parts, whole
from usr.plugins.software_orchestrator.helpers.text.masking import (
    is_clean,
    masked,
    masked_json,
    masked_together,
    safe,
)
from usr.plugins.software_orchestrator.helpers.values import events
from usr.plugins.software_orchestrator.helpers.values.errors import RecordError
from usr.plugins.software_orchestrator.helpers.values.events import Draft, Event, about
from usr.plugins.software_orchestrator.helpers.values.packet import rows
from usr.plugins.software_orchestrator.tests.core.packet_maker import made, packet_of

A = "Ab3" * 14
PEM = ["-----BEGIN PRIVATE KEY-----", "MIIEvQIBADANBgkqhkiG9w0", A, "-----END PRIVATE KEY-----"]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ('{"SecretAccessKey": "wJalrXUtnFEMI/K7MDENG/bPxRfiCY1"}', "wJalr"),
        ("tool --password hunter2", "hunter2"),
        ("tool --db-password 'Tr0ub4dor&3'", "Tr0ub4dor&3"),
        ("tool --token abcdef1234567890", "abcdef1234567890"),
        ("curl -u admin:hunter2 https://x.org", "hunter2"),
        ("curl -u u:p https://x.org", "u:p"),
        ("mysql -u root -phunter2 shop", "hunter2"),
        ("sshpass -p hunter2 ssh x", "hunter2"),
        ("\"password\" => 'hunter2'", "hunter2"),
        ("password := `hunter2`", "hunter2"),
        ('password="pa,ss;1&x"', "pa,ss;1"),
        ("dbPassword: hunter2", "hunter2"),
        ("**Password:** hunter2", "hunter2"),
        ("**Password**: `hunter2`", "hunter2"),
        ("| Password | hunter2x |", "hunter2x"),
        ("密码：abc12345", "abc12345"),
        ("Kennwort lautet geheim123", "geheim123"),
        ("the password is hunter2Geheim9x, ok", "hunter2Geheim9x"),
        ("IDENTIFIED BY PASSWORD 'hunter2'", "hunter2"),
        ("<password>hunter</password>", "hunter<"),
        ('<add key="password" value="hunter2"/>', "hunter2"),
        ('<entry key="password">hunter2x</entry>', "hunter2x"),
        ("machine api.x.org login me password xyz", "xyz"),
        ("machine h\n  login me\n  password xyz\n", "xyz"),
        ('{\\"password\\": \\"hunter2x\\"}', "hunter2x"),
        ("//registry.npmjs.org/:_authToken=0123456789abcdef", "0123456789abcdef"),
        ('"token": "abc123def456"', "abc123def456"),
        ("Set-Cookie: session=abcdef0123456789abcdef; Path=/", "abcdef0123456789"),
        ("https://hooks.slack.com/services/T01ABCDEF/B01ABCDEF/abcdefghijklmnop", "abcdefg"),
        ("https://discord.com/api/webhooks/123456789012345678/abcDEF-ghi_JKL0123", "abcDEF"),
        ("https://a.blob.core.windows.net/c/f?sv=2022&sig=abc%2Fdef1234567890%3D", "abc%2Fdef"),
        ("https://b.s3.amazonaws.com/k?X-Amz-Signature=" + "0a" * 32, "0a0a"),
        *(
            (prefix + A, A)
            for prefix in (
                "xapp-1-", "gsk_", "xai-", "hvs.", "dckr_pat_", "GOCSPX-", "glrt-", "whsec_", "r8_",
                "pplx-", "nvapi-", "pcsk_", "sbp_", "ntn_", "figd_", "glsa_", "lin_api_", "1//0",
            )
        ),
        ("shpat_" + "0a" * 16, "0a0a"),
        ("bot 123456789:AA" + A, A),
        ("PuTTY-User-Key-File-2: ssh-rsa\nPrivate-Lines: 14\nAAAA\nPrivate-MAC: 0f0f", "AAAA"),
    ],
)  # fmt: skip
def test_a_common_shape_is_masked_once_and_for_all(text, secret):
    hidden = redact(text)
    assert secret not in hidden
    assert "[REDACTED:" in hidden
    assert redact(hidden) == hidden


@pytest.mark.parametrize(
    "prose",
    [
        "the token bucket refills 10 per second; the token: bucket algorithm",
        "password: 8-character minimum. Password: required! The password is 8 characters long",
        "The password is argon2id-hashed, machine learning password reset, default password policy",
        '<input type="password" name="password" placeholder="Password"><label>Password</label>',
        'password=os.environ["DB1_PASSWORD"], password = get_password(user1), password=$DB_PASSWORD1',
        "docker run -u 1000:1000 -p 8080:80 x; git push -u origin main; sudo -u postgres psql",
        "use --password-stdin 12 times, --max-tokens 3000, token_counter: cl100k_base",
        "see https://example.org/?key=value&page=12 and https://example.org/reset/password/12345",
        "a key-value store, key-points, SKU 12345, xai-methods, monkey: 12345678, author: A. Token",
        "cookie: name=value pairs are stored; Authorization is needed: 401 Unauthorized",
        "| token | count |\n| the | 12 |",
        "commit 5f1c0d4b7a9e3c2d1f0e8b6a4c2d0e9f8a7b6c5d, uuid 123e4567-e89b-12d3-a456-426614174000",
    ],
)
def test_prose_and_code_about_secrets_stay(prose):
    assert redact(prose) == prose


# --- a name and its value


@pytest.mark.parametrize(
    "value",
    [
        {"db_password": "hunter2Geheim9x"},
        {"conn": {"deep": [{"apiKey": "plainwords"}]}},
        {"SecretAccessKey": "plainwords"},
        {"passwords": {"Password": ["plainwords", "x y"]}},
        [{"field": "db_password", "value": "plainwords", "verbatim": "it is plainwords"}],
        {"db_password": {"status": "answered", "value": "plainwords"}},
        {"env": [{"name": "DB_PASSWORD", "value": "plainwords"}]},
        {"code": json.dumps({"password": "plainwords"})},
        {"api_key": {"name": "primary", "value": "plainwords"}},
        {"пароль": "plainwords"},
        {"password": 12345678},
    ],
)
def test_what_the_name_of_a_secret_holds_is_masked_whatever_it_looks_like(value):
    hidden = json.dumps(masked(value, redact), ensure_ascii=False)
    assert not re.search("plainwords|hunter2|12345678", hidden)
    assert masked(masked(value, redact), redact) == masked(value, redact)


@pytest.mark.parametrize(
    "value",
    [
        {"password_policy": "long", "token_limit": "many", "design_token": "spacing-4", "key": "a"},
        {"token": 3000, "password": None, "secret": True, "api_key": ""},
        {"password": "§§secret(DB)", "api_key": "$OPENAI_API_KEY", "token": "<your token>"},
        {"tokens": ["a", "b"], "author": "me", "primary_key": "id", "public_key": "x"},
    ],
)
def test_a_count_a_placeholder_and_the_name_of_something_else_stay(value):
    assert masked(value, redact) == value


@pytest.mark.parametrize(
    "value",
    [
        PEM,
        {"notes": PEM},
        ["password:", "hunter2Geheim9x"],
        ["see below", "Authorization: Bearer", "abcdef0123456789"],
        [{"role": "user", "text": "my password:"}, {"role": "user", "text": "hunter2Geheim9x"}],
        [{"role": "tool", "text": line} for line in PEM],
    ],
)
def test_a_secret_over_neighbours_in_a_list_is_masked_and_the_list_keeps_its_length(value):
    hidden = masked(value, redact)
    assert not re.search(f"hunter2|{A}|MIIEv|abcdef0123", json.dumps(hidden))
    assert len(hidden) == len(value)
    assert masked(hidden, redact) == hidden


def test_texts_that_stand_together_are_each_masked_as_part_of_the_whole():
    hidden = masked_together(["a", *PEM, "b"], redact)
    assert hidden == ["a", "[REDACTED:private_key]", "", "", "", "b"]


def test_names_that_become_alike_are_all_kept_and_told_apart():
    fields = {f"sk-proj-{A}{number}": number for number in range(3)}
    assert list(masked(fields, redact)) == [
        "[REDACTED:openai_key]", "[REDACTED:openai_key] (2)", "[REDACTED:openai_key] (3)",
    ]  # fmt: skip


# --- JSON text


@pytest.mark.parametrize(
    "code",
    [
        'client = OpenAI(api_key="abcd1234efgh5678")',
        '{"password": "hunter2Geheim9x"}',
        f"x\n{'ghp_' + A}",
        "\n".join(PEM),
        "export DB_PASSWORD='hunter2Geheim9x'\n",
    ],
)
def test_a_call_that_is_raw_json_is_masked_as_what_it_says(code):
    call = json.dumps({"tool_name": "code_execution_tool", "tool_args": {"code": code}})
    hidden = masked_json(call, redact)
    assert not re.search(f"abcd1234|hunter2|{A}", hidden)
    assert json.loads(hidden)["tool_name"] == "code_execution_tool"
    assert masked_json(hidden, redact) == hidden


def test_json_without_a_secret_and_what_only_looks_like_json_stay():
    for text in ('{"a":  1.0, "b": [1e400]}', "{not json}", "[1, 2", "", '{"a": 1} and more'):
        assert masked_json(text, redact) == text
    deep = "[" * 100_000
    assert masked_json(deep, redact) == deep


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.sampled_from(PEM),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["password", "value", "name", "text", "apiKey", "a"]), inner, max_size=4
        )
    ),
    max_leaves=15,
)


@given(values)
def test_masking_a_value_again_changes_nothing_and_its_form_stays(value):
    hidden = masked(value, redact)
    assert masked(hidden, redact) == hidden
    assert type(hidden) is type(value) or hidden == credentials.CREDENTIAL


# --- cost


def repeats_that_may_be_read_twice(items, is_last=True):
    """The repeats without an upper bound that give back what they took when what follows fails.

    A lazy one is none here: it goes on to the end of a text, where it cannot fail.
    """
    bad = []
    for number, (kind, value) in enumerate(items):
        last = is_last and all(may_be_empty(item) for item in items[number + 1 :])
        parts = []
        if kind is op.MAX_REPEAT:
            _, most, inner = value
            if most == op.MAXREPEAT and not last:
                bad.append(inner)
            parts = [inner]
        elif kind is op.SUBPATTERN:
            parts = [value[-1]]
        elif kind is op.BRANCH:
            parts = value[1]
        elif kind in (op.ASSERT, op.ASSERT_NOT):
            parts = [value[1]]
        for part in parts:
            bad += repeats_that_may_be_read_twice(list(part), last and kind is not op.ASSERT)
    return bad


def test_a_repeat_that_is_read_twice_is_seen():
    assert repeats_that_may_be_read_twice(list(parser.parse("(?:a+)b|c")))


def may_be_empty(item):
    kind, value = item
    return kind is op.MAX_REPEAT and value[0] == 0


@pytest.mark.parametrize("pattern", [row[2].pattern for row in credentials._BESIDE])
def test_no_expression_beside_a_name_reads_a_text_twice(pattern):
    assert not repeats_that_may_be_read_twice(list(parser.parse(pattern)))


def test_no_expression_of_a_token_reads_a_text_twice():
    assert not repeats_that_may_be_read_twice(list(parser.parse(credentials._ANY_SHAPE.pattern)))


@pytest.mark.parametrize("shape", [
    lambda n: ["line of text"] * n,
    lambda n: [{"role": "user", "text": "word"}] * n,
    lambda n: {f"key{i}": {"name": "password", "value": ["x"] * 3} for i in range(n)},
    lambda n: json.dumps([json.dumps(["a"] * n)]),
])  # fmt: skip
def test_a_value_twice_as_long_gives_the_mask_twice_as_much_to_read(shape):
    def characters(value):
        read = []
        masked(value, lambda text: read.append(len(text)) or redact(text))
        return sum(read)

    assert characters(shape(400)) <= 2.2 * characters(shape(200))


# --- files


@pytest.mark.parametrize("columns", [64, 76, 10_000])
@pytest.mark.parametrize("frame", ["{}", "cat x | base64\n{}\ndone", "a: |\n    {}\n"])
def test_base64_is_told_by_size_and_hash_however_it_is_wrapped(columns, frame):
    code = "iVBORw0KGgo8Qx+/9Zk2" * 200
    end = "\n    " if "    " in frame else "\n"
    lines = end.join(code[at : at + columns] for at in range(0, len(code), columns))
    told = re.search(r"\[base64 data, 4,000 characters, sha256 \w{16}\]", without_blobs(code))[0]
    assert without_blobs(frame.format(lines)) == frame.format(told)
    assert safe(frame.format(lines), redact)[0] == frame.format(told)


def test_a_list_of_hashes_or_paths_is_no_base64():
    for line in ("0123456789abcdef" * 4, "src/components/forms/QuoteFormWithThreeFieldsAnd1Button"):
        assert without_blobs(f"{line}\n" * 40) == f"{line}\n" * 40


# --- through a whole call


HIDDEN = "hunter2Geheim9x"
LINES = [
    "-----BEGIN PRIVATE KEY-----",
    "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC",
    "-----END PRIVATE KEY-----",
]


@pytest.mark.parametrize(
    ("given", "secret"),
    [
        ({"state": {"db_password": HIDDEN}}, HIDDEN),
        ({"state": {"conn": {"api_key": HIDDEN}}}, HIDDEN),
        ({"state": [{"field": "db_password", "value": HIDDEN}]}, HIDDEN),
        ({"state": '{"db_password": "%s"}' % HIDDEN}, HIDDEN),  # noqa: UP031 - braces of JSON
        ({"notes": ["password:", HIDDEN]}, HIDDEN),
        ({"notes": LINES}, LINES[1]),
        ({"decisions": [{"text": "the token", "rationale": f"api_key={HIDDEN}"}]}, HIDDEN),
    ],
)
def test_a_secret_in_structured_arguments_is_in_no_package_briefing_or_ledger(desk, given, secret):
    prepared = desk.call("hacker", summary="s", **given)
    ledgers = "".join(path.read_text(encoding="utf-8") for path in desk.folder.ledgers())
    assert secret not in prepared.packed.package.text
    assert secret not in desk.briefings()
    assert secret not in ledgers


def test_a_secret_over_two_turns_is_in_no_package_or_ledger(desk):
    prepared = desk.call(
        "hacker", summary="s", recent_turns=["user: my password:", f"user: {HIDDEN}"]
    )
    assert HIDDEN not in prepared.packed.package.text
    assert HIDDEN not in ledger_of(desk)


# --- the last net


def ledger_of(desk):
    return "".join(path.read_text(encoding="utf-8") for path in desk.folder.ledgers())


def known(text):
    """Masks what a person told the host to hide: four characters that stand in ids and hashes."""
    return redact(text).replace("abab", "§§secret(PIN)").replace("active", "§§secret(WORD)")


leaky = st.lists(
    st.sampled_from([HIDDEN, f"password: {HIDDEN}", "password:", *PEM, "plain", "\n", "abab", "{"]),
    max_size=4,
).map(" ".join)


def prepared_event(packet, **more):
    """As it is recorded, behind the net."""
    payload = events.Prepared(packet=packet, fingerprint="ab" * 32, **more)
    draft = masked_draft(about(packet, payload), known)
    ends = {"sender": draft.sender, "receiver": draft.receiver}
    seal = {"prev": "", "sha": "", "mac": ""}
    identity = packet.identity
    return Event(
        schema=1,
        id="ev-1",
        kind=draft.kind,
        time=identity.created_at,
        chain=draft.chain,
        handover=draft.handover,
        hop=draft.hop,
        depth=draft.depth,
        data=draft.data,
        **ends,
        **seal,
    )


@given(leaky)
def test_an_entry_made_from_a_recorded_event_needs_no_further_mask(text):
    packet = packet_of(**{row.name: made(row, text or "x", 2) for row in rows()})
    event = prepared_event(packet)
    entry = entry_of(event).decode()
    assert redact(entry) == entry
    assert masked_draft(Draft(event.kind, event.chain, data=event.data), known).data == event.data


@given(leaky)
def test_a_masked_event_keeps_ids_hashes_paths_and_choices(text):
    packet = packet_of(**{row.name: made(row, text or "x", 2) for row in rows()})
    event = prepared_event(packet, warnings=(f"password: {HIDDEN}",))
    kept = event.packet
    assert kept.identity == packet.identity
    assert [(file.path, file.sha256) for file in kept.artifacts] == [
        (file.path, file.sha256) for file in packet.artifacts
    ]
    assert [(item.id, item.status) for item in kept.decisions] == [
        (item.id, item.status) for item in packet.decisions
    ]
    assert event.payload.fingerprint == "ab" * 32
    assert HIDDEN not in event.payload.warnings[0]


@given(values)
def test_what_is_called_clean_is_what_the_mask_leaves(value):
    if is_clean(value, redact):
        assert masked(value, redact) == value


def test_an_event_that_nobody_masked_is_masked_before_it_is_recorded(desk):
    prepared = desk.call("hacker", summary="s")
    desk.deliver(prepared)
    desk.tell(prepared, "interrupted", why=f"the person said: password: {HIDDEN}")
    assert HIDDEN not in ledger_of(desk)
    assert "[REDACTED:credential]" in ledger_of(desk)


def test_a_mask_that_fails_stops_the_write(desk):
    prepared = desk.call("hacker", summary="s")
    desk.deliver(prepared)
    before = ledger_of(desk)

    def failing(text):
        raise RecordError("secrets cannot be masked")

    desk.ports = replace(desk.ports, mask=failing)
    with pytest.raises(RecordError):
        desk.tell(prepared, "interrupted", why="stopped")
    assert ledger_of(desk) == before


def test_a_package_is_masked_as_the_text_that_it_becomes():
    parts = (
        Part("", "identity", "# Handover ho-abab\n", "# Handover ho-abab\n"),
        Part("Notes", "notes 1", "- password:\n", rank=6),
        Part("Notes", "notes 2", f"{HIDDEN}\n", rank=6, cut=(HIDDEN, str)),
        Part("Goal", "goal", "> abab\n", "> abab\n"),
        Part("Keys", "key 1", f"{PEM[0]}\n{PEM[1]}\n"),
        Part("", "foot", "briefing: /abab\n", "briefing: /abab\n"),
    )
    masked_ones = masked_parts(parts, known)
    package = whole(masked_ones, len)
    assert package.text == (
        "# Handover ho-abab\n## Notes\n- password:\n[REDACTED:credential]\n## Goal\n"
        "> §§secret(PIN)\n## Keys\n[REDACTED:private_key]\nbriefing: /abab\n"
    )
    assert masked_ones[2].cut is None and masked_ones[3].short == "> §§secret(PIN)\n"
    assert masked_parts(masked_ones, known) == masked_ones
