"""Secrets are masked at every sink, prose is not, and halves of characters never survive."""

import base64
import hashlib
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from usr.plugins.software_orchestrator.helpers.text.embedded import without_blobs, without_files
from usr.plugins.software_orchestrator.helpers.text.masking import (
    clean,
    map_text,
    redact,
    safe,
)

A = "Ab3" * 14
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow" + A + "\n-----END RSA PRIVATE KEY-----"
SECRETS = {
    "openai_key": f"sk-proj-{A}",
    "anthropic_key": f"sk-ant-api03-{A}",
    "openrouter_key": f"sk-or-v1-{A}",
    "github_token": f"ghp_{A}",
    "aws_access_key": "AKIAIOSFODNN7EXAMPLE",
    "google_key": "AIzaSy" + A[:33],
    "slack_token": "xoxb-1234567890-abcdefghij",
    "huggingface_token": f"hf_{A}",
    "npm_token": f"npm_{A}",
    "gitlab_token": f"glpat-{A}",
    "stripe_key": f"sk_live_{A}",
    "jwt": JWT,
    "private_key": PEM,
    "sendgrid_key": f"SG.{A[:22]}.{A}",
    "pypi_token": f"pypi-AgEIcHlwaS5vcmc{A}",
    "digitalocean_token": "dop_v1_" + "0a1b2c3d" * 8,
    "google_token": f"ya29.a0{A}-{A}",
}


@pytest.mark.parametrize(("kind", "secret"), SECRETS.items(), ids=SECRETS)
@pytest.mark.parametrize(
    "frame",
    [
        "{}",
        "key {} here",
        '"{}"',
        "`{}`",
        "KEY={}\n",
        "({})",
        "a\n{}\nb",
        "https://x.org/?k={}&y=1",
        "数据{}。",
    ],
)
def test_a_key_is_masked_wherever_it_stands(kind, secret, frame):
    found = redact(frame.format(secret))
    assert secret not in found
    assert "[REDACTED:" in found
    if frame == "{}":
        assert found == f"[REDACTED:{kind}]"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("postgres://app:s3cr3t@db.local:5432/shop", "s3cr3t"),
        ("postgres://u:p@h/d", ":p@"),
        ("redis://:hunter2@cache:6379/0", "hunter2"),
        ("https://me:p@ss@host/path", "ss@host"),
        ("mongodb+srv://root:a/b@cluster/db", "a/b"),
        ("amqp://u:p%40w@h", "p%40w"),
        ("Authorization: Bearer abc.def-123", "abc.def-123"),
        ('{"Authorization": "Bearer abcdefgh"}', "abcdefgh"),
        ("authorization: basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
        ("curl -H 'Authorization: token 0123456789'", "0123456789"),
        ("Authorization: ApiKey-0123456789abcdef", "0123456789abcdef"),
        ("send Bearer abcdef0123456789abcdef on", "abcdef0123456789abcdef"),
        ("password=hunter2hunter2", "hunter2hunter2"),
        ("DB_PASSWORD: 'correct4horse'", "correct4horse"),
        ('"api_key": "0123456789abcdef"', "0123456789abcdef"),
        ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalrXUtnFEMI"),
        ("client_secret=8Q~abcdef123", "8Q~abcdef123"),
        ("GITHUB_TOKEN=0123456789abcdef0123", "0123456789abcdef0123"),
        ("x-api-key: 0123456789abcdef", "0123456789abcdef"),
        ("https://x.org/cb?access_token=abcdef123456&y=1", "abcdef123456"),
        ("private_key: 0123456789abcdef", "0123456789abcdef"),
        (
            "AccountName=x;AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6==;End",
            "Eby8vdM02",
        ),
        ("SharedAccessKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6=", "Eby8vdM02"),
        ("token: 12345678901234567a", "12345678901234567a"),
    ],
)
def test_a_credential_is_masked_and_what_stands_around_it_stays(text, secret):
    found = redact(text)
    assert secret not in found
    assert found[:4].casefold() == text[:4].casefold()


@pytest.mark.parametrize(
    "text",
    [
        "commit 1409ebe and 5f1c0d4b7a9e3c2d1f0e8b6a4c2d0e9f8a7b6c5d, sha256 " + "ab12" * 16,
        "The password field needs 8 characters.",
        "Ask the bearer of this letter.",
        "the token limit is 3,000 tokens; max_tokens=100000",
        "see https://example.org:8080/a@b and http://h:80/",
        "skip-forward, ask-me-anything-please-now, risk-assessment-of-the-project",
        "git@github.com:agent0ai/agent-zero.git",
        "Key decisions: 1) use HTML 2) no build",
        "The secret of good design: restraint.",
        "password: whatever the person likes",
        "passwords are hashed with argon2id-v19",
        "uuid 123e4567-e89b-12d3-a456-426614174000",
        "secret: §§secret(DB_PASSWORD_2)",
        "api_key=$OPENAI_API_KEY_1",
        "api_key: <your key 1234>",
        "tokenizer=cl100k_base_2",
        "keys: title1 subtitle2",
        "Zeit 12:30@Halle/3",
        "mail me: anna@example.org, 10:30@office",
        "Authorization: see section 12",
        "token: 123456789012345678",
        "the secret: 1234567890123456 of them",
        "pypi-package-publishing-workflow-for-everybody, SG. and ya29.",
    ],
)
def test_hashes_and_ordinary_prose_stay(text):
    assert redact(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "https://{}@github.com/x",
        "https://{}:x-oauth-basic@github.com/x",
        "https://me:{}@github.com/x",
        "https://a.{}:hunter2@h, password={}",
        "Authorization: Bearer {}",
        "Authorization: {}",
        "api_key={}",
        "bearer {}{}",
    ],
)
@pytest.mark.parametrize("kind", ["github_token", "jwt", "openai_key"])
def test_no_marker_stands_in_another(text, kind):
    found = redact(text.replace("{}", SECRETS[kind]))
    assert SECRETS[kind] not in found
    assert "hunter2" not in found
    assert not re.search(r"\[REDACTED[^\]]*\[REDACTED", found)
    assert found.count("[REDACTED:") == len(re.findall(r"\[REDACTED:[a-z_]+\](?!\w*\])", found))
    assert redact(found) == found


def test_a_key_that_is_cut_off_hides_the_rest():
    assert (
        redact("x\n-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0")
        == "x\n[REDACTED:private_key]"
    )


fragments = st.sampled_from(
    [
        *SECRETS.values(),
        "Authorization: Bearer ",
        "bearer ",
        "password=",
        "api_key: '",
        "://u:",
        "p@h",
        "[REDACTED:jwt]",
        "https://",
        "sk-",
        "@",
        " ",
        "\n",
        ":",
        '"',
        "a1b2c3d4e5",
        "-----BEGIN PRIVATE KEY-----",
        "§§secret(X)",
    ]
)


@given(st.lists(fragments | st.text(max_size=6), max_size=8).map("".join))
def test_masking_again_changes_nothing(text):
    once = redact(text)
    assert redact(once) == once
    assert not re.search(r"\[REDACTED:[a-z_]*\[REDACTED", once)


@pytest.mark.parametrize(
    "unit",
    [
        "password=aaaaaaaa,",
        "-eyJaaaaaaaa",
        "eyJaaaaaaaa.",
        "a://b:",
        "a-",
        "sk-a",
        "bearer ",
        "authorization: ",
        "-----BEGIN PRIVATE KEY-----",
        "data:,",
        "api_key:",
        "xox",
        "://",
        "@",
        ":",
        "a",
        "^",
        " ",
        "token=",
        "SG.aaaaaaaaaaaaaaaaaaaaaaaa-",
        "pypi-",
        "ya29.",
        "data:;base64,",
        "data:;base64,AAAA\n",
        "data:;base64," + "A" * 40 + "\n",
    ],
)
def test_half_a_megabyte_of_anything_is_masked_in_seconds(unit):
    text = "://key sk- data: " + unit * (500_000 // len(unit))
    begun = time.process_time()
    safe(text, redact)
    assert time.process_time() - begun < 4


def test_the_name_of_a_field_is_masked_like_its_value():
    assert map_text({SECRETS["jwt"]: [SECRETS["jwt"], 1, None]}, redact) == {
        "[REDACTED:jwt]": ["[REDACTED:jwt]", 1, None]
    }


def test_fields_whose_masked_names_are_the_same_are_all_kept():
    found = map_text({f"sk-proj-{A}": 1, f"sk-proj-{A}B": 2}, redact)
    assert sorted(found.values()) == [1, 2]


@given(st.text(st.characters() | st.sampled_from("\ud83c\udf78\ud800\udfff"), max_size=20))
def test_no_half_of_a_character_survives(text):
    found, lone = clean(text)
    found.encode("utf-8")
    assert lone == (found.count("\ufffd") > text.count("\ufffd"))
    assert clean(found) == (found, False)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("data:text/plain," + "x" * 300, "[text/plain, 300 bytes, sha256 "),
        ("data:," + "x" * 300, "[text/plain, 300 bytes, sha256 "),
        ("data:image/png;charset=utf-8;base64," + "QUJD" * 100, "[image/png, 300 bytes, sha256 "),
        ("data:image/png;base64," + "Q" * 401, "[image/png, "),
    ],
)
def test_a_file_in_a_text_is_told_by_size_and_hash(text, told):
    assert without_files(f"![]({text})").startswith(f"![]({told}")


PICTURE = bytes(range(256)) * 3 + b"end"
CODE = base64.b64encode(PICTURE).decode()
TOLD = f"[image/png, {len(PICTURE)} bytes, sha256 {hashlib.sha256(PICTURE).hexdigest()[:16]}]"


def wrapped(code, columns, end="\n"):
    return end.join(code[at : at + columns] for at in range(0, len(code), columns))


@pytest.mark.parametrize("tell", [without_files, without_blobs])
@pytest.mark.parametrize(
    "uri",
    [
        f"data:image/png;base64,{CODE}",
        f"DATA:IMAGE/PNG;BASE64,{CODE}",
        f"Data:image/png;Base64,{CODE}",
        f"data:image/png;base64, {CODE}",
        f"data:image/png; base64,{CODE}",
        "data:image/png;base64," + wrapped(CODE, 76),
        "data:image/png;base64,\n" + wrapped(CODE, 76, "\r\n"),
        wrapped("data:image/png;base64," + CODE, 76),
        "data:image/png;base64," + wrapped(CODE, 64, "\n    "),
        "data:image/png;base64," + wrapped(CODE, 76, " "),
        "data:image/png;base64," + wrapped(CODE, 76, "\\n"),
        "data:image/png;base64," + wrapped(CODE, 76, "\\r\\n"),
        "data:image/png;base64," + CODE.replace("+", "-").replace("/", "_").rstrip("="),
        f"data:image/png;charset=utf-8;base64,{CODE}",
        "data:image/png," + "".join(f"%{byte:02X}" for byte in PICTURE),
    ],
)
@pytest.mark.parametrize(
    "frame", ["![]({}) end", '{{"url": "{}"}}', "see {}\nAnd then prose.", "a\n\n{}\n\nb", "{}"]
)
def test_every_spelling_of_a_file_has_its_type_size_and_hash(tell, uri, frame):
    assert tell(frame.format(uri)) == frame.format(TOLD)


@pytest.mark.parametrize(
    "prose",
    [
        "Hello",
        "Done\n",
        "a_quite_long_identifier_of_the_next_line_of_prose = 1",
        "0123456789abcdef" * 4,
        "The next sentence, in words.",
    ],
)
def test_the_line_below_a_file_is_not_part_of_it(prose):
    assert without_files(f"data:image/png;base64,{CODE}\n{prose}") == f"{TOLD}\n{prose}"


@pytest.mark.parametrize(
    "text",
    [
        "data: " + "word " * 100,
        "The data:\n" + "a sentence of it. " * 30,
        "metadata:image/png;base64, " + "no " * 100,
    ],
)
def test_prose_about_data_stays(text):
    assert without_files(text) == text


def test_a_short_data_uri_and_the_word_data_stay():
    assert (
        without_files("data:image/gif;base64,R0lGOD and data: 12, 13")
        == "data:image/gif;base64,R0lGOD and data: 12, 13"
    )


def test_two_megabytes_of_an_image_are_a_line():
    found, _ = safe("see data:image/png;base64," + "iVBORw0KGgo" * 200_000 + " end", redact)
    assert len(found) < 80
    assert found.endswith(" end")
