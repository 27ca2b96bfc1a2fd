"""Evidence stays closed under one line that says what was found.

In a section, the text of an admonition "Evidence" of the class `attn-evidence` is that line. What
follows in the section is evidence: closed on the page, open on paper, in the notebook and in the
reader's edition, among the notes of the slides, and not counted as time to read.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

CLASS = "attn-evidence"


def is_line(node: nodes.Node) -> bool:
    """Whether a node is the line under which evidence lies."""
    return isinstance(node, nodes.Admonition) and CLASS in node["classes"]


def place_of_line(section: nodes.Element) -> int | None:
    """Where in a section its evidence begins."""
    return next((place for place, node in enumerate(section) if is_line(node)), None)


def is_evidence(node: nodes.Node) -> bool:
    """Whether a node lies under such a line."""
    while (parent := node.parent) is not None:
        if isinstance(parent, nodes.section):
            place = place_of_line(parent)
            if place is not None and parent.index(node) > place:
                return True
        node = parent
    return False


class FoldEvidence(SphinxPostTransform):
    """Give evidence its form on the page: after the predictions in it have theirs."""

    default_priority = 610
    formats = ("html",)

    def run(self, **kwargs) -> None:
        for section in list(self.document.findall(nodes.section)):
            if (place := place_of_line(section)) is not None:
                fold(section, place)


def fold(section: nodes.section, place: int) -> None:
    """Lay what follows the line into a box that opens; a line that is pressed holds no link."""
    label, line = section.pop(place).children
    for link in [*line.findall(nodes.reference), *line.findall(nodes.footnote_reference)]:
        link.replace_self(link.children if isinstance(link, nodes.reference) else [])
    opened = tag(f'<details class="{CLASS}"><summary><b>{label.astext()}:</b> ')
    section.insert(place, [opened, *line.children, tag("</summary>")])
    section.append(tag("</details>"))


def tag(text: str) -> nodes.raw:
    """A piece of HTML."""
    return nodes.raw("", text, format="html")


def setup(app: Sphinx) -> dict:
    """Register the transform."""
    app.add_post_transform(FoldEvidence)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
