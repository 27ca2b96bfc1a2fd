"""What cells print, made readable: findings as sentences, columns as tables, long code folded.

A cell that asserts prints its finding; where all that it prints is sentences they are set as such.
Columns under a head become a table with its numbers on the right, also between other lines.
Anything else stays as printed.
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
NUMBER = re.compile(
    r"[-+−]?[\d.,]+(?:e[-+]?\d+)?%?(?: (?:to|of) [\d.,]+%?| \([\d.,]+ to [\d.,]+\))?|[–-]|nan"
)


def places(line: str) -> list[tuple[int, int]]:
    """Where the cells of a line begin and end."""
    return [found.span() for found in re.finditer(r"\S+(?: \S+)*", line)]


def columns(text: str) -> list[list[str]]:
    """The cells of a printed table, its head first; none where it is not clearly one.

    Every line has as many cells as the head, or the head one fewer; cells are two spaces apart. A
    line may end early, if what it has stands under its own heads. All but the first column are
    numbers, and the head is none.
    """
    lines = text.strip("\n").split("\n")
    rows = [re.split(r" {2,}", line.strip()) for line in lines]
    if len(rows) < 3 or not all(rows[0]):
        return []
    if lines[0][0] == " " and len(rows[0]) == len(rows[1]) - 1:
        rows[0] = ["", *rows[0]]
    wide = len(rows[0])
    heads = [(0, 0), *places(lines[0])][-wide:]
    for line, row in zip(lines[1:], rows[1:], strict=True):
        under = zip(places(line)[1:], heads[1:], strict=False)
        if 1 < len(row) < wide == len(heads) and all(a < d and c < b for (a, b), (c, d) in under):
            row += [""] * (wide - len(row))
    numbers = [cell for row in rows[1:] for cell in row[1:] if cell]
    if wide < 2 or any(len(row) != wide for row in rows):
        return []
    named = not any(NUMBER.fullmatch(cell) for cell in rows[0])
    return rows if named and all(map(NUMBER.fullmatch, numbers)) else []


def parts(text: str) -> list[str | list[list[str]]]:
    """The tables of a printed text, as `columns` gives them, and what stands between, in order.

    Lines right under another line of several cells belong to it and make no table of their own.
    """
    lines = text.strip("\n").split("\n")
    found, plain = [], []
    while lines:
        under = bool(plain) and len(places(plain[-1])) > 1
        ends = range(0 if under else len(lines), 2, -1)
        tables = ((end, columns("\n".join(lines[:end]))) for end in ends)
        end, rows = next(((end, rows) for end, rows in tables if rows), (1, []))
        if rows:
            found += ["\n".join(plain)] if any(plain) else []
            found.append(rows)
            plain = []
        else:
            plain.append(lines[0])
        lines = lines[end:]
    return found + (["\n".join(plain)] if any(plain) else [])


def table(rows: list[list[str]]) -> nodes.table:
    """A table of the printed cells."""
    group = nodes.tgroup(cols=len(rows[0]))
    group += [nodes.colspec(colwidth=1) for _ in rows[0]]
    head, body = nodes.thead(), nodes.tbody()
    for n, row in enumerate(rows):
        line = nodes.row()
        for place, cell in enumerate(row):
            number = place > 0 or all(NUMBER.fullmatch(r[0]) for r in rows[1:])
            entry = nodes.entry("", nodes.paragraph("", cell))
            entry["classes"] += ["attn-number"] if number else []
            line += entry
        (body if n else head).append(line)
    group += [head, body]
    return nodes.table("", group, classes=["attn-printed-table"])


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
                        show(block, asserts=bool(assertion_lines(code)))


def show(block: nodes.literal_block, *, asserts: bool) -> None:
    """Replace a printed text by what it is, part by part; a line over a table is its title."""
    shown, found = [], parts(block.astext())
    for part, below in itertools.zip_longest(found, found[1:]):
        if not isinstance(part, str):
            shown.append(table(part))
            continue
        lines = part.strip("\n").split("\n")
        over = below is not None and len(places(lines[-1])) == 1
        title = nodes.paragraph("", lines.pop(), classes=["attn-over-table"]) if over else None
        text = "\n".join(lines)
        if asserts and (sentences := findings(text)):
            shown += sentences
        elif text:
            shown.append(nodes.literal_block(text, "", nodes.Text(text), **block.attributes))
        shown += [title] if over else []
    if not (len(shown) == 1 and isinstance(shown[0], nodes.literal_block)):
        block.replace_self(shown)


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
