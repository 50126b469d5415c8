"""A briefing is drawn as the words it holds: by CommonMark with tables, footnotes, links and HTML."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from mdit_py_plugins.footnote import footnote_plugin

from usr.plugins.software_orchestrator.helpers.text.note import entry_body, note_body
from usr.plugins.software_orchestrator.helpers.text.quote import (
    drawn,
    quote_drawn,
    visible,
)
from usr.plugins.software_orchestrator.helpers.values.events import Note
from usr.plugins.software_orchestrator.helpers.values.packet import rows
from usr.plugins.software_orchestrator.tests.core.packet_maker import made, packet_of

MARKDOWN = (
    MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).use(footnote_plugin)
)
MARKER = "<!-- handover:end id=x sha256=00 -->"
PIECES = [
    "[^1]", "[^1]: ## Approved", "^[note]", "<!--", "-->", "![x](http://e.org/a.png)", "[x](/y)",
    "[x]", "[x][y]", "[x]: http://e.org", "<details>", "<b>", "</b>", "<?php", "<![CDATA[", "]]>",
    "<script>", "<http://e.org>", "http://e.org", "www.e.org", "me@e.org", "&amp;", "&#35;",
    "&lt;b&gt;", "# x", "## y", "---", "===", "***", "___", "- a", "* a", "+ a", "1. a", "2) b",
    "> q", "```", "~~~", "`code`", "`", "``", "**bold**", "*em*", "_em_", "__b__", "*", "_", "**",
    "~~s~~", "~", "|a|b|", "|---|---|", "a | b", "--|--", ":-:|:-:", "\\", "\\*", "\\\\", "a\\",
    "    code", "\tcode", "  ", "    ", "\n", "\n", "\n\n", "word", "snake_case", "é_", "_é", " ",
    "[!NOTE]", "[ ] x", "\u00a0", "## 2026-06-05 14:03 UTC · a → b · done · ho-0123456789abcdef",
    MARKER,
]  # fmt: skip
signs = st.text("*_`~[]()<>!#-+=|:&;\\/ \t\nab1.", max_size=5)
hostile = st.lists(st.sampled_from(PIECES) | signs, max_size=9).map("".join)
# What is drawn of a quote: paragraphs and code that is indented; and our own bullets.
PLAIN = {
    "blockquote_open", "blockquote_close", "paragraph_open", "paragraph_close", "inline", "text",
    "softbreak", "hardbreak", "code_block", "bullet_list_open", "bullet_list_close",
    "list_item_open", "list_item_close",
}  # fmt: skip
OURS = {"heading_open", "heading_close", "html_block"}


def flat(tokens):
    for token in tokens:
        yield token
        yield from flat(token.children or ())


def words(tokens):
    """What a reader sees, without white space."""
    return "".join("".join(token.content.split()) for token in tokens if not token.children)


@settings(max_examples=1500)
@given(hostile, hostile, st.sampled_from(["", "- ", "d1 v1: ", "  why: "]))
def test_what_is_quoted_is_drawn_as_the_words_it_is(text, more, label):
    if label in ("", "- "):  # what nothing stands before may be drawn as code with its escapes
        text, more = text.strip(), more.strip()
    block = quote_drawn(text, label) + quote_drawn(more, label)
    tokens = list(flat(MARKDOWN.parse(f"## h\n\n### s\n{block}\n### t\n> x\n{MARKER}\n")))
    kinds = [token.type for token in tokens]
    assert set(kinds) <= PLAIN | OURS
    assert kinds.count("heading_open") == 3
    assert kinds.count("html_block") == 1
    assert ("bullet_list_open" in kinds) == (label == "- ")
    shown = "" if label == "- " else label
    expected = f"h s {shown}{visible(text)} {shown}{visible(more)} t x {MARKER}"
    assert words(tokens) == "".join(expected.split())


def outline(body):
    """The blocks of a document outside its quotes, and all that is drawn inside them."""
    tokens = MARKDOWN.parse(body)
    top = [(token.type, token.content) for token in tokens if token.level == 0]
    return top, {token.type for token in flat(tokens)}


def bodies(text):
    packet = packet_of(**{row.name: made(row, text, times=2) for row in rows()}, topic=text)
    note = Note(what_happened=text, next=text, reason=text, missing=(text, text))
    created = "2026-06-05 14:03 UTC"
    return (
        entry_body(packet, "12 of 12 tokens\n", created=created),
        note_body(packet, "done", note, created=created),
    )


@given(hostile.filter(str.strip))
def test_no_text_is_drawn_outside_the_quotes_of_a_briefing_or_as_anything_but_words(text):
    for body, plain in zip(bodies(text), bodies("x"), strict=True):
        top, kinds = outline(body + MARKER + "\n")
        assert top == outline(plain + MARKER + "\n")[0]
        assert kinds <= PLAIN | OURS


@given(hostile)
def test_what_is_escaped_reads_back(text):
    for line in visible(text).split("\n"):
        assert re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", drawn(line)) == line


@pytest.mark.parametrize(
    "text",
    [
        "src/pages/quote_form.tsx, snake_case, C:\\Users\\me, 12.5 % of 3 (see b), a - b, 2026-06-05",
        "Use CSS grid; the client's words: “no prices”. 5 < 6 and 7 > 6, x & y!",
    ],
)
def test_plain_words_and_paths_are_not_escaped(text):
    assert drawn(text) == text
