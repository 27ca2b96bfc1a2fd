"""What an instructor wrote, Markdown, as HTML: no tag of theirs, no image, links to the web alone.

A comment may hold what a student wrote, so nothing in it is trusted. Formulas stay as they are.
"""

from __future__ import annotations

import re
from html import escape

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from .safe import every

WEB = re.compile(r"https?://", re.IGNORECASE)
BRACKETS = re.compile(r"\\\(.+?\\\)|\\\[.+?\\\]", re.DOTALL)


def _formula(self, tokens, place, options, env) -> str:
    """A formula between dollars as it was typed."""
    token = tokens[place]
    text = escape(f"{token.markup}{token.content}{token.markup}")
    return f"<p>{text}</p>\n" if token.block else text


def _brackets(state, silent: bool) -> bool:
    r"""A rule that leaves \(a formula\) and \[a formula\] as they are."""
    if match := BRACKETS.match(state.src, state.pos):
        state.pos = match.end()
        if not silent:
            state.push("text", "", 0).content = match[0]
    return match is not None


def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False, "breaks": True})  # a line stays a line
    reader.use(dollarmath_plugin, allow_labels=False, double_inline=True)
    reader.inline.ruler.before("escape", "brackets", _brackets)
    reader.disable("image")
    for kind in ("math_inline", "math_inline_double", "math_block"):
        reader.add_render_rule(kind, _formula)
    for kind in ("open", "close"):  # a heading would be one of the page
        tags = "<p><strong>" if kind == "open" else "</strong></p>\n"
        reader.add_render_rule(f"heading_{kind}", lambda *_, tags=tags: tags)
    reader.validateLink = lambda address: bool(WEB.match(address))
    return reader


READER = _reader()


def html(text: str) -> str:
    """Several lines of Markdown."""
    return READER.render(every(text)).strip()


def line(text: str) -> str:
    """A sentence of Markdown."""
    return READER.renderInline(every(text))
