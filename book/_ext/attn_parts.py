"""The parts of a diagram: below the picture, one fold each, opened by the part's box.

A description (`attn_drawing.py`) may hold `parts`: a title, a sentence, shapes in letters, a mask,
the label of an equation and beginnings of lines of code. The lines are looked up in the page's own
cells, so what is shown is what runs. The folds are `details`: they open by a click on the box
(a link to what is inside), without JavaScript.
"""

from __future__ import annotations

import json
from html import escape
from pathlib import Path

from docutils import nodes


class part(nodes.General, nodes.Element):
    """A fold with `title` and the id `place`; only one of a `group` is open."""


def lines(page: Path, starts: list[str]) -> str:
    """The page's lines of code that begin so, in order; "..." where others stand between."""
    cells = json.loads(page.read_text(encoding="utf-8"))["cells"]
    code = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code").split("\n")
    found, at = [], -1
    for start in starts:
        after = range(at + 1, len(code))
        place = next((n for n in after if code[n].lstrip().startswith(start)), None)
        if place is None:
            raise ValueError(f"{page.name}: no line of code begins with {start!r}")
        indent = " " * (len(code[place]) - len(code[place].lstrip()))
        found += [f"{indent}..."] * (bool(found) and place > at + 1) + [code[place]]
        at = place
    return "\n".join(found)


def written(said: dict, page: Path) -> str:
    """A part as MyST."""
    shapes = ", ".join(f"{name} `{shape}`" for name, shape in said["shapes"].items())
    rows = [f"**Shapes:** {shapes}"]
    if "mask" in said:
        rows.append(f"**Mask:** {said['mask']}, `{said['masks']}`")
    rows.append(f"**Equation:** {{eq}}`{said['eq']}`")
    listed = "\n".join(f"- {row}" for row in rows)
    return f"{said['what']}\n\n{listed}\n\n```python\n{lines(page, said['code'])}\n```"


def visit_part(translator, node) -> None:
    title, group, place = (escape(node[name]) for name in ("title", "group", "place"))
    translator.body.append(
        f'<details class="attn-opens" name="{group}"><summary>{title}</summary><div id="{place}">'
    )


def depart_part(translator, node) -> None:
    translator.body.append("</div></details>")
