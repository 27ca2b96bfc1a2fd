"""Claims and the lines that assert them: marked in every cell, and quoted on another page.

An assertion in a code cell is tinted, so that a reader sees what a chapter stakes on a claim. The
`asserted` directive shows a cell of a committed notebook, code and output, beside a claim.
"""

from __future__ import annotations

import ast
import base64
import functools
import json
import re
from pathlib import Path

from attn_pictures import keep_png
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective

PYTHON = {"ipython", "ipython3", "python", "python3"}
MOST = 3  # lines of a finding
WORD = re.compile(r"[^\W\d_]{2,}")


@functools.cache
def assertion_lines(code: str) -> list[int]:
    """The numbers of the lines that belong to an `assert`, from 1; none if it is not Python."""
    try:
        tree = ast.parse(code)
    except SyntaxError:  # a magic, or output that looks like code
        return []
    spans = [
        (node.lineno, node.end_lineno) for node in ast.walk(tree) if isinstance(node, ast.Assert)
    ]
    return sorted({n for first, last in spans for n in range(first, last + 1)})


def mark(block: nodes.literal_block) -> bool:
    """Tint the assertions of a block; whether it has any."""
    lines = assertion_lines(block.astext())
    if lines:
        block["highlight_args"] = {**block.get("highlight_args", {}), "hl_lines": lines}
    return bool(lines)


class MarkAssertions(SphinxPostTransform):
    """Tint the assertions in every code cell of a notebook."""

    default_priority = 500
    formats = ("html",)

    def run(self, **kwargs) -> None:
        for cell in self.document.findall(nodes.container):
            if cell.get("nb_element") == "cell_code_source":
                for block in cell.findall(nodes.literal_block):
                    if block.get("language") in PYTHON:
                        mark(block)


def finding(text: str) -> list[str]:
    """The lines of a text in which every one is a sentence, or none."""
    lines = text.strip("\n").split("\n")
    return lines if len(lines) <= MOST and all(map(is_sentence, lines)) else []


def is_sentence(line: str) -> bool:
    """Words, and more of them than of anything else, without columns or brackets."""
    letters = sum(c.isalpha() or c in " ,;.:'’" for c in line)
    return (
        len(WORD.findall(line)) >= 4
        and letters >= 0.8 * len(line)
        and line[0].isalnum()
        and not re.search(r"\S {2,}\S|[\[\](){}=|<>_]|Error|:$", line)
    )


def findings(text: str) -> list[nodes.paragraph]:
    """What a cell printed as its finding, a paragraph a line; none where it is no sentence."""
    return [nodes.paragraph("", line, classes=["attn-said"]) for line in finding(text)]


class Asserted(SphinxDirective):
    """A claim and the cell that asserts it: `path/of/notebook.ipynb#cell-id`, from this page.

    Code and output are the notebook's own, so that a page can claim nothing that no cell asserts.
    `lines` leaves the rest of a long cell out; the lines that stay must hold an assertion.
    `picture` names another cell: the figure that it draws is shown, too.
    """

    required_arguments = 1
    has_content = True
    option_spec = {"lines": directives.unchanged, "picture": directives.unchanged}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        path, _, name = self.arguments[0].partition("#")
        _, absolute = self.env.relfn2path(path)
        try:
            cell = find_cell(Path(absolute), name)
            code = lines_of(cell_text(cell), self.options.get("lines"))
            output = output_of(cell)
            drawn = []
            if "picture" in self.options:
                drawn = [picture(self.env, find_cell(Path(absolute), self.options["picture"]))]
        except (OSError, ValueError) as error:
            raise self.error(f"asserted {self.arguments[0]}: {error}") from error
        source = nodes.literal_block(code, code, language="python")
        if not mark(source):
            raise self.error(f"asserted {self.arguments[0]}: it asserts nothing")
        plain = nodes.literal_block(output, output, language="text", classes=["attn-printed"])
        result = findings(output) or [plain]
        claim = nodes.container("", classes=["attn-words"])
        self.state.nested_parse(self.content, self.content_offset, claim)
        proof = nodes.container("", source, *result, *drawn, classes=["attn-proof"])
        return [nodes.container("", claim, proof, classes=["attn-claim"])]


def find_cell(path: Path, name: str) -> dict:
    """The code cell of this id in a notebook."""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code" and cell.get("id") == name:
            return cell
    raise ValueError(f"no code cell has the id {name!r}")


def cell_text(cell: dict) -> str:
    """A cell's code."""
    return "".join(cell["source"])


def lines_of(code: str, span: str | None) -> str:
    """The lines `first-last` of the code, from 1; all of it without a span."""
    if span is None:
        return code
    first, _, last = span.partition("-")
    return "\n".join(code.splitlines()[int(first) - 1 : int(last or first)])


def output_of(cell: dict) -> str:
    """What the cell printed when it was run last."""
    streams = (o for o in cell["outputs"] if o["output_type"] == "stream")
    text = "".join("".join(o["text"]) for o in streams if o["name"] == "stdout")
    if not text.strip():
        raise ValueError("the cell printed nothing: there is no result to show")
    return text.rstrip("\n")


def picture(env, cell: dict) -> nodes.image:
    """The figure that the cell drew when it was run last, with its alternative text."""
    drawn = [o for o in cell["outputs"] if "image/png" in o.get("data", {})]
    if not drawn:
        raise ValueError("the cell drew no figure")
    image = keep_png(env, base64.b64decode("".join(drawn[-1]["data"]["image/png"])))
    image.attributes.update(drawn[-1]["metadata"].get("image/png", {}))
    image["alt"] = cell["metadata"].get("mystnb", {}).get("image", {}).get("alt", "")
    return image


def setup(app: Sphinx) -> dict:
    """Register the directive and the transform."""
    app.add_directive("asserted", Asserted)
    app.add_post_transform(MarkAssertions)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
