"""Predict, then look: a box takes an answer, and what it asks about is closed until then.

What belongs to a box is decided by `devkit.predict`. Its nodes are marked here, for the reader's
edition too, and then take their form on the page. Choices are buttons. Closed outputs are
`details`, which are open on paper, without JavaScript and where the reader wants them so;
`attn-predict.js` compares.
"""

from __future__ import annotations

import itertools
import json
import re
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

from devkit.predict import CLASS, Box, boxes

# Before anything is painted: all is open for those who want it so, or have no JavaScript.
HEAD = """
<script>try { if (localStorage.attnAnswers === "open") document.documentElement.classList.add("attn-all-open"); } catch {}</script>
<noscript><style>details.attn-closed::details-content { content-visibility: visible; } details.attn-closed > summary, .attn-answer :is(form, .attn-ask), .attn-all { display: none !important; }</style></noscript>"""  # noqa: E501
ENOUGH = 55  # characters: so many of the explanation are said with the answer, in whole sentences
END = re.compile(r"(?:(?<=[.?!])|(?<=[.?!]\)))(?<! al\.)(?=\s)")


def of_page(env) -> list[Box]:
    """The boxes of the page that is written."""
    path = Path(env.doc2path(env.docname))
    return boxes(json.loads(path.read_text("utf-8"))) if path.suffix == ".ipynb" else []


class MarkClosed(SphinxPostTransform):
    """Say of each node whose it is, before the reader's edition is written."""

    default_priority = 300
    formats = ("html",)

    def run(self, **kwargs) -> None:
        asked = [n for n in self.document.findall(nodes.Admonition) if CLASS in n["classes"]]
        cells = {
            cell["cell_index"]: cell
            for cell in self.document.findall(nodes.container)
            if cell.get("nb_element") == "cell_code"
        }
        for box, admonition in zip(of_page(self.env), asked, strict=True):
            shown = [cells[number] for number in box.code if number in cells]
            if not (box.answers and shown):
                continue
            blocks = box.why[0] if box.why else 0
            for node in (admonition, *shown, *beside(admonition, shown[-1], blocks)):
                node["box"] = box


def beside(admonition: nodes.Admonition, last: nodes.container, blocks: int) -> list[nodes.Node]:
    """The diagrams between a box and the text after its last cell, and that text's first blocks."""
    around = last.parent.children
    place = around.index(last)
    start = around.index(admonition) if admonition.parent is last.parent else place
    diagrams = [node for node in around[start:] if "attn-diagram" in node.get("classes", [])]
    text = [node for node in around[place + 1 :] if node not in diagrams]
    before = around.index(text[0]) if text else len(around)
    found = [node for node in diagrams if around.index(node) < before]
    for node in text:
        if not blocks or isinstance(node, nodes.section):
            break
        found.append(node)
        blocks -= not isinstance(node, nodes.target)
    return found


class Close(SphinxPostTransform):
    """Give what is marked its form on the page: after all that looks into a cell."""

    default_priority = 600
    formats = ("html",)

    def run(self, **kwargs) -> None:
        asked = [n for n in self.document.findall(nodes.Admonition) if "box" in n]
        page = self.env.docname.rpartition("/")[2]
        for admonition in asked:
            box = admonition["box"]
            name = f"{page}/{box.cell}"
            close([n for n in self.document.findall(nodes.Element) if n.get("box") is box], name)
            take_answers(admonition, box, name)
        if asked:
            offer_all(self.document, len(asked))


def close(marked: list[nodes.Element], name: str) -> None:
    """Lay outputs and pictures into boxes that open; the last one holds the explanation, too."""
    pieces, tail = [], []
    for node in marked:
        if isinstance(node, nodes.figure):
            pieces.append((node, "Picture"))
        elif node.get("nb_element") == "cell_code":
            outputs = [n for n in node.children if n.get("nb_element") == "cell_code_output"]
            pieces += [(output, "Output") for output in outputs if output.children]
        elif not isinstance(node, nodes.Admonition):
            tail.append(node)
    if tail and tail[-1]["box"].why[1]:
        mark_reason(tail[-1], tail[-1]["box"].why[1], name)
    for node in tail if pieces else []:
        node.parent.remove(node)
    for node, what in pieces:
        more = tail if node is pieces[-1][0] else []
        opened = (
            f'<details class="attn-closed" data-box="{name}"><summary>{what}'
            "<span> · closed until you answer</span></summary>"
        )
        parent = node.parent
        place = parent.index(node)
        parent[place : place + 1] = [tag(opened), node, *more, tag("</details>")]


def mark_reason(paragraph: nodes.paragraph, first: int, name: str) -> None:
    """Mark the sentence that says why, and the next ones while that is short."""
    before, reason, rest = nodes.inline(), nodes.inline(), nodes.inline()
    for sentence in sentences(paragraph):
        first -= 1
        if first > 0:
            before += sentence
        elif len(reason.astext().strip()) < ENOUGH and not rest.children and ends(sentence):
            reason += sentence
        else:
            rest += sentence
    paragraph.children = []
    begin = tag(f'<span class="attn-reason" data-box="{name}">')
    paragraph += [*before.children, begin, *reason.children, tag("</span>"), *rest.children]


def ends(sentence: list[nodes.Node]) -> bool:
    """Whether it ends as a sentence does; one that leads to a formula does not."""
    return "".join(node.astext() for node in sentence).rstrip(")").endswith((".", "?", "!"))


def sentences(paragraph: nodes.paragraph) -> list[list[nodes.Node]]:
    """A paragraph's sentences, each as its pieces of text and markup."""
    found, said = [[]], ""
    for child in paragraph.children:
        text = child.astext()
        if not isinstance(child, nodes.Text):
            found[-1].append(child)
        else:
            cuts = [m.start() - len(said) for m in END.finditer(said + text, len(said))]
            for n, (start, end) in enumerate(itertools.pairwise([0, *cuts, len(text)])):
                found += [[]] if n else []
                found[-1] += [nodes.Text(text[start:end])] if start < end else []
        said += text
    return found


def take_answers(admonition: nodes.Admonition, box: Box, name: str) -> None:
    """Buttons in place of the list of choices, or a field for a number."""
    about = f'data-box="{name}"'
    if box.choices:
        choices = admonition.pop()
        ask = "Choose one, and what is below opens."
        shown = [tag(f'<div class="attn-answer" {about} data-right="{box.right}">')]
        shown.append(tag('<ul class="attn-choices" aria-label="Your prediction">'))
        for item in choices.children:
            (text,) = item.children
            shown += [tag('<li><button type="button">'), *text.children, tag("</button></li>")]
        shown.append(tag("</ul>"))
    else:
        ask = "Compare, and what is below opens."
        shown = [
            tag(
                f'<div class="attn-answer" {about} data-number="{escape(box.number)}" '
                f'data-within="{box.within}"><form><label>Your number <input type="text" '
                'inputmode="decimal" autocomplete="off" required></label> '
                "<button>Compare</button></form>"
            )
        ]
    skip = '<button type="button" class="attn-skip">Show without a guess</button>'
    end = f'<p class="attn-ask">{ask} {skip}</p><div role="status"></div></div>'
    admonition.extend([*shown, tag(end)])


def offer_all(document: nodes.document, count: int) -> None:
    """Put the switch that opens everything under the page's question."""
    for opener in document.findall(nodes.container):
        if "attn-asks" in opener["classes"]:
            opener += tag(
                f'<p class="attn-facts attn-all">{count} predictions: give yours, or '
                '<label><input type="checkbox" role="switch"> open all answers</label></p>'
            )


def tag(text: str) -> nodes.raw:
    """A piece of HTML."""
    return nodes.raw("", text, format="html")


def add_assets(app: Sphinx, pagename, templatename, context, doctree) -> None:
    """Script and style on the pages that ask."""
    if "attn-closed" in context.get("body", ""):
        context["metatags"] = context.get("metatags", "") + HEAD
        app.add_js_file("attn-predict.js", loading_method="defer", priority=910)
        app.add_css_file("attn-predict.css", priority=798)


def setup(app: Sphinx) -> dict:
    """Register the transforms and what they need."""
    app.add_post_transform(MarkClosed)
    app.add_post_transform(Close)
    app.connect("html-page-context", add_assets)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
