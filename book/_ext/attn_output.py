"""What cells show, made readable: findings as sentences, data frames as tables, long code folded.

A cell that asserts prints its finding; where all that it prints is sentences they are set as such.
A data frame has the tables' look of the site. Anything else stays as it is.
Of a cell longer than `LONGEST` lines the rest is folded, but never an assertion.
"""

from __future__ import annotations

import itertools
import re

from attn_claims import assertion_lines, findings
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

MANY = 4  # tables of one output: folded under their headings
LONGEST, SPARE = 24, 4  # lines of a cell that are shown; fewer than these more are not folded
LOOK = re.compile(r'<style.*?</style>\s*| border="1"| style="text-align: right;"', re.DOTALL)


def bare(html: str) -> str:
    """A data frame's HTML without the looks that pandas gives it, in a box that may scroll."""
    html = LOOK.sub("", html).replace('class="dataframe"', 'class="table dataframe"')
    return html.replace("<div>", '<div class="pst-scrollable-table-container">', 1)


class ShowOutput(SphinxPostTransform):
    """Set findings and tables in every cell's output."""

    default_priority = 400
    formats = ("html",)

    def run(self, **kwargs) -> None:
        numbers = itertools.count(1)  # of this page: the same whichever pages are built
        for cell in list(self.document.findall(nodes.container)):
            if cell.get("nb_element") != "cell_code":
                continue
            code = "".join(
                part.astext()
                for part in cell.findall(nodes.container)
                if part.get("nb_element") == "cell_code_source"
            )
            for part in list(cell.findall(nodes.container)):
                if part.get("nb_element") == "cell_code_source":
                    close_up(part)
                    fold(part, next(numbers))
                elif part.get("nb_element") == "cell_code_output":
                    tables = list(part.findall(nodes.table))
                    if len(tables) >= MANY:
                        for made in tables:
                            lay_under(made)
                    for block in list(part.findall(nodes.literal_block)):
                        if assertion_lines(code) and (sentences := findings(block.astext())):
                            block.replace_self(sentences)
                    for raw in part.findall(nodes.raw):
                        if 'class="dataframe"' in raw.astext():
                            raw.children = [nodes.Text(bare(raw.astext()))]


def close_up(source: nodes.container) -> None:
    """Show two blank lines of code as one."""
    for block in source.findall(nodes.literal_block):
        text = re.sub(r"\n{3,}", "\n\n", block.astext())
        block.rawsource, block.children = text, []
        block += nodes.Text(text)


def lay_under(made: nodes.table) -> None:
    """Fold a table under the paragraph before it, its heading."""
    parent = made.parent
    place = parent.index(made)
    if not place or not isinstance(parent[place - 1], nodes.paragraph):
        return
    heading = parent.pop(place - 1)

    def tag(text):
        return nodes.raw("", text, format="html")

    opened = [tag('<details class="attn-fold"><summary>'), *heading.children, tag("</summary>")]
    made.replace_self([nodes.inline("", "", *opened), made.deepcopy(), tag("</details>")])


def fold(source: nodes.container, number: int) -> None:
    """Hide what is beyond the first lines of long code, behind a box to tick."""
    code = source.astext()
    lines = code.count("\n") + 1
    shown = max([LONGEST, *assertion_lines(code)])
    if lines < shown + SPARE:
        return
    name = f"attn-more-{number}"
    box = (
        f'<div class="attn-long" style="--attn-lines: {shown}">'
        f'<input type="checkbox" class="attn-more" id="{name}">'
        f'<label for="{name}"><span>Show the other {lines - shown} lines</span></label>'
    )
    source.insert(0, nodes.raw("", box, format="html"))
    source.append(nodes.raw("", "</div>", format="html"))


def setup(app: Sphinx) -> dict:
    """Register the transform."""
    app.add_post_transform(ShowOutput)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
