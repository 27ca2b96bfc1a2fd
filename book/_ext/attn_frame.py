"""How a chapter opens: its question and facts beside a picture, and its four moves as four boxes.

Both are made from what a notebook holds: the question in italics in the first paragraph, and the
table of the moves, in which bold says what is new. In the reader's edition the table stays a table.
"""

from __future__ import annotations

from attn_facts import line
from attn_signature import signature
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

from devkit.chapters import chapter_of

MOVES = ("score", "mask", "normalise", "pool")


class Opener(SphinxPostTransform):
    """Facts and question on the left, the chapter's picture on the right."""

    default_priority = 500
    formats = ("html",)

    def run(self, **kwargs) -> None:
        chapter = chapter_of(self.env.srcdir, self.env.docname)
        title = next(iter(self.document.findall(nodes.title)), None)
        facts = self.env.metadata.get(self.env.docname, {})
        if chapter is None or title is None:
            return
        section = title.parent
        place = section.index(title) + 1
        words = nodes.container(classes=["attn-asks"])
        words += nodes.paragraph("", line(facts), classes=["attn-facts"])
        if facts["attn_question"]:
            question = section[place]
            section.remove(question)
            question["classes"].append("attn-question")
            words += question
        opener = nodes.container("", words, classes=["attn-opener", "attn-wide"])
        if chapter.signature:
            opener += nodes.raw("", picture(**chapter.signature), format="html")
        section.insert(place, opener)


def picture(draw: str, caption: str) -> str:
    """The signature as a figure without a number."""
    drawn = signature(draw)
    return f'<figure class="attn-signature">{drawn}<figcaption>{caption}</figcaption></figure>'


class Strip(SphinxPostTransform):
    """The table of the four moves as a strip of four boxes; what is new is tinted."""

    default_priority = 500
    formats = ("html",)

    def run(self, **kwargs) -> None:
        if chapter_of(self.env.srcdir, self.env.docname) is None:
            return
        for table in list(self.document.findall(nodes.table)):
            rows = [list(row.findall(nodes.entry)) for row in table.findall(nodes.row)]
            names = tuple(row[0].astext().strip() for row in rows[1:])
            if names == MOVES and all(len(row) == 3 for row in rows):
                table.replace_self(strip(rows[1:]))
                return


def strip(rows: list[list[nodes.entry]]) -> nodes.Element:
    """Four boxes, in order."""
    boxes = nodes.enumerated_list(classes=["attn-moves", "attn-wide"])
    for name, question, here in rows:
        new = any(here.findall(nodes.strong))
        box = nodes.list_item(classes=["attn-new"] if new else [])
        label = nodes.paragraph(classes=["attn-move"])
        label += nodes.Text(name.astext().strip())
        if new:  # said, too, to those who do not see the tint
            label += nodes.inline("", " (new here)", classes=["attn-unseen"])
        box += [label, *words_of(question), *words_of(here)]
        boxes += box
    return boxes


def words_of(entry: nodes.entry) -> list[nodes.Node]:
    """The paragraphs of a table's entry, or its text as one."""
    paragraphs = list(entry.children)
    if all(isinstance(child, nodes.paragraph) for child in paragraphs):
        return [child.deepcopy() for child in paragraphs]
    return [nodes.paragraph("", "", *(child.deepcopy() for child in paragraphs))]


def setup(app: Sphinx) -> dict:
    """Register the two transforms."""
    app.add_post_transform(Opener)
    app.add_post_transform(Strip)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
