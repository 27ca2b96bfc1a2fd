"""Diagrams in the page: `diagram`, a directive that draws a description as a figure.

    ```{diagram} four_moves
    :name: fig-four-moves
    What there is to see.
    ```

The description is `diagrams/four_moves.toml` beside the page. The figure is inline SVG, once for
wide pages and once for phones; `{numref}` counts it like any other. A box that has an equation
shows its number where it is pointed at, and leads to it.
"""

from __future__ import annotations

import base64
import re
from pathlib import Path

import attn_drawing
import attn_parts
from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

SITE = Path(__file__).resolve().parents[1] / "_site"
LIGHT = re.compile(r"^html \{(.*?)^\}", re.MULTILINE | re.DOTALL)


class diagram(nodes.General, nodes.Element):
    """A description that has been read, in `drawing`."""


class ShowDiagram(SphinxDirective):
    """A figure drawn from `diagrams/NAME.toml`; the content is its caption."""

    required_arguments = 1
    has_content = True
    option_spec = {"name": directives.unchanged}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        _, path = self.env.relfn2path(f"diagrams/{self.arguments[0]}.toml")
        try:
            drawing = attn_drawing.read(Path(path))
        except (OSError, KeyError, TypeError, ValueError) as error:
            raise self.error(f"diagram {self.arguments[0]}: {error}") from error
        read = nodes.Element()
        self.state.nested_parse(self.content, self.content_offset, read)
        if len(read) != 1 or not isinstance(read[0], nodes.paragraph):
            raise self.error(f"diagram {self.arguments[0]}: its caption is a paragraph")
        caption = nodes.caption("", "", *read[0].children)
        figure = nodes.figure("", diagram(drawing=drawing), caption, classes=["attn-diagram"])
        self.set_source_info(figure)
        self.add_name(figure)
        return [figure, *self.parts(drawing)]

    def parts(self, drawing: attn_drawing.Diagram) -> list[nodes.Node]:
        """What the drawing's buttons open."""
        made = []
        page = Path(self.env.doc2path(self.env.docname))
        for name, said in drawing.parts.items():
            place = f"{drawing.file}-{name}"
            one = attn_parts.part(title=said["title"], group=drawing.file, place=place)
            try:
                text = attn_parts.written(said, page)
            except (KeyError, ValueError) as error:
                raise self.error(f"diagram {drawing.file}: {name}: {error}") from error
            self.state.nested_parse(StringList(text.split("\n")), self.content_offset, one)
            made.append(one)
        return [nodes.container("", *made, classes=["attn-parts"])] if made else []


def equation(builder, page: str, label: str) -> tuple[str, str]:
    """The number of an equation of the book, and its address from this page."""
    place = nodes.make_id(f"equation-{label}")
    found = builder.env.get_domain("math").equations.get(label)
    if found is None:
        raise ExtensionError(f"attn_diagrams: {page}: no equation is labelled {label}")
    numbers = builder.env.toc_fignumbers[found[0]]["displaymath"][place]
    uri = builder.get_relative_uri(page, found[0])
    return f"({'.'.join(map(str, numbers))})", f"{uri}#{place}"


def visit_diagram(translator, node) -> None:
    """Write both arrangements; the style sheet shows one of them."""
    builder, drawing = translator.builder, node["drawing"]

    def link(label):
        return equation(builder, builder.current_docname, label)

    ways = (False,) if drawing.fits_phone else (False, True)
    translator.body += [attn_drawing.svg(drawing, down=way, link=link) for way in ways]
    raise nodes.SkipNode


def picture(drawing: attn_drawing.Diagram) -> str:
    """The diagram as the address of a picture that needs no page around it."""
    theme = (SITE / "theme.css").read_text(encoding="utf-8")
    style = (SITE / "diagrams.css").read_text(encoding="utf-8")
    rules = f"svg {{{LIGHT.search(theme)[1]} background: #fff}}\n{style}"
    text = attn_drawing.svg(drawing, style=f"<style>{rules}</style>")
    return "data:image/svg+xml;base64," + base64.b64encode(text.encode()).decode()


def setup(app: Sphinx) -> dict:
    """Register the directive and its node."""
    app.add_node(diagram, html=(visit_diagram, None))
    app.add_node(attn_parts.part, html=(attn_parts.visit_part, attn_parts.depart_part))
    app.add_directive("diagram", ShowDiagram)
    app.add_css_file("diagrams.css", priority=797)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
