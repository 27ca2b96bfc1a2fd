"""What a chapter takes: minutes to read, reckoned from its pages, and the time that it runs.

Both stand under a chapter's title (attn_frame) and on the landing page's cards. No number is typed:
reading time comes from the words, lines of code and predictions of this build; run time from the
notebook's metadata, and is left out if the code is not the one that was measured.

The rates are fitted to three readings by newcomers, who answered the predictions and left the
exercises: chapters 1 and 3a with the playground took 80 to 95 minutes; 5, 6a, 7a and 8a 140 to 160;
16 pages, seven of them measurements, 47 each on average. At these rates that is 92, 176 and 40, so
none is a fifth off, and they err to both sides. Before, a word took less and a line of code twice
as long, which gave the measurements, mostly prose, about half of their time.
"""

from __future__ import annotations

import re
from html import escape

from attn_evidence import is_evidence
from attn_signature import signature
from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from devkit.chapters import Chapter, chapter_of
from devkit.predict import CLASS

WORDS, CODE_LINES = 140, 12  # a minute of careful reading: a line of code takes five seconds
PREDICTION = 2  # minutes to answer one, and to compare
FOLDED = "tag_hide-input", "tag_hide-cell"  # code that a reader opens only on purpose
APART = {"exercises", "references"}  # sections that say their own time, or are not read


class chapter_list(nodes.General, nodes.Element):
    """The place of the cards, until every page has been read."""


def read_parts(document: nodes.document) -> list[nodes.Element]:
    """The parts of a page that count as reading, its sections in order."""
    (top,) = list(document.findall(nodes.section))[:1] or [document]
    return [part for part in top.children if not APART & set(part.get("ids", []))]


def minutes(document: nodes.document) -> float:
    """Minutes to read a page, its visible code included: no exercises, references or evidence."""
    words = lines = predictions = 0
    for part in read_parts(document):
        for text in part.findall(nodes.Text):
            inside = (nodes.literal_block, nodes.math_block, nodes.raw, nodes.math)
            if not any(isinstance(a, inside) for a in ancestors(text)) and not is_evidence(text):
                words += len(re.findall(r"\w[\w’'-]*", text.astext()))
        for code in part.findall(nodes.container):
            apart = is_folded(code) or is_evidence(code)
            if code.get("nb_element") == "cell_code_source" and not apart:
                lines += sum(bool(line.strip()) for line in code.astext().splitlines())
        for box in part.findall(nodes.Admonition):
            predictions += CLASS in box["classes"] and not is_evidence(box)
    return words / WORDS + lines / CODE_LINES + predictions * PREDICTION


def is_folded(code: nodes.Node) -> bool:
    """Whether a cell's code is folded."""
    return any(tag in a.get("classes", ()) for a in ancestors(code) for tag in FOLDED)


def ancestors(node: nodes.Node):
    """The nodes around a node, from the inside."""
    while node.parent is not None:
        node = node.parent
        yield node


def rounded(time: float) -> int:
    """Minutes as they are said: to the nearest five."""
    return max(5, 5 * round(time / 5))


def in_words(seconds: float) -> str:
    """A run time as it is said; never less than was measured by more than a tenth."""
    if seconds < 10:
        return "a few seconds"
    if seconds < 55:
        return f"about {10 * -(-int(seconds) // 10)} seconds"
    if seconds < 80:
        return "about a minute"
    return f"about {-(-int(seconds - 6) // 60)} minutes"


def question(document: nodes.document) -> str:
    """The question that a chapter opens with: its first paragraph, where that is in italics."""
    paragraph = next(iter(document.findall(nodes.paragraph)), None)
    whole = paragraph is not None and len(paragraph.children) == 1
    return paragraph.astext() if whole and isinstance(paragraph[0], nodes.emphasis) else ""


def note(app: Sphinx, document: nodes.document) -> None:
    """Keep a page's facts with the environment, while its tree is fresh."""
    env = app.env
    facts = env.metadata[env.docname]
    facts["attn_question"] = question(document)
    if chapter := chapter_of(env.srcdir, env.docname):
        facts["attn_minutes"] = rounded(minutes(document))
        facts["attn_runs"] = None if chapter.seconds is None else in_words(chapter.seconds)


def line(facts: dict) -> str:
    """The line of a chapter's facts."""
    line = f"{facts['attn_minutes']} minutes to read"
    return f"{line} · runs in {facts['attn_runs']}" if facts["attn_runs"] else line


class Chapters(SphinxDirective):
    """Cards of all chapters of the book: number, title, opening question, facts."""

    def run(self) -> list[nodes.Node]:
        return [chapter_list()]


def parts(env) -> list[tuple[str, list[str]]]:
    """The parts of the contents, each with its caption and its pages of chapters."""
    found = []
    for tree in env.get_doctree(env.config.root_doc).findall(addnodes.toctree):
        names = [
            n for top in tree["includefiles"] for n in (top, *env.toctree_includes.get(top, ()))
        ]
        if names := [name for name in names if chapter_of(env.srcdir, name)]:
            found.append((tree.get("caption") or "", names))
    return found


def fill_cards(app: Sphinx, document: nodes.document, docname: str) -> None:
    """Put the cards in their place, now that every chapter is known: each part in a fold."""
    for place in list(document.findall(chapter_list)):
        folds = []
        for caption, names in parts(app.env):
            cards = nodes.bullet_list(classes=["attn-cards", "attn-wide"])
            cards += [card(app, docname, name, chapter_of(app.srcdir, name)) for name in names]
            summary = f"<summary>{escape(caption or 'Chapters')} · {len(names)} pages</summary>"
            opening = f'<details class="attn-fold attn-wide">{summary}'
            folds += [html(opening), cards, html("</details>")]
        place.replace_self(folds)


def html(text: str) -> nodes.raw:
    """A piece of the page as it is written."""
    return nodes.raw("", text, format="html")


def card(app: Sphinx, docname: str, name: str, chapter: Chapter) -> nodes.list_item:
    """One chapter's card."""
    facts = app.env.metadata[name]
    title = f"{chapter.label}. {app.env.titles[name].astext()}"
    uri = app.builder.get_relative_uri(docname, name)
    link = nodes.reference("", title, refuri=uri, internal=True)
    item = nodes.list_item("", nodes.paragraph("", "", link))
    if chapter.signature:
        drawn = signature(chapter.signature["draw"])
        item.insert(0, html(f'<div class="attn-thumb">{drawn}</div>'))
    if facts["attn_question"]:
        item += nodes.paragraph("", facts["attn_question"])
    item += nodes.paragraph("", line(facts), classes=["attn-facts"])
    return item


def setup(app: Sphinx) -> dict:
    """Register the directive and what it needs."""
    app.add_node(chapter_list)
    app.add_directive("chapters", Chapters)
    app.connect("doctree-read", note)
    app.connect("doctree-resolved", fill_cards)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
