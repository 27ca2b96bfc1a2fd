"""From a resolved Sphinx document to the Markdown that every notebook front end shows.

Only what JupyterLab, Notebook, Colab and VS Code have in common: CommonMark, tables, `$` and `$$`
with `\\tag`, and `<details>`. A node that is not known here is an error of the build: nothing
reaches a reader as raw markup.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from attn_diagrams import picture
from docutils import nodes
from sphinx import addnodes

SPECIAL = re.compile(r"([\\`*])|(?<!\w)(_)|(_)(?!\w)")
LINE_START = re.compile(r"^(#{1,6}|[-+>]|\d{1,9}[.)])(?=\s|$)")
ENTITY = re.compile(r"&(?=#?\w+;)")
DIRECTIVES = (nodes.Invisible, addnodes.index, nodes.target, nodes.label)
FOLDED = {"dropdown", "toggle"}


def escape(text: str) -> str:
    """Plain text in which Markdown finds no markup."""
    text = SPECIAL.sub(lambda found: "\\" + found[0], text)
    text = ENTITY.sub("&amp;", text).replace("<", "&lt;").replace("](", "]&#40;")
    return text.replace("$", r"\$").replace("\n", " ")


def formula(text: str) -> str:
    r"""LaTeX as it may stand between dollars: `<` and `>` would be read as HTML."""
    return " ".join(text.replace("<", r" \lt ").replace(">", r" \gt ").split())


class Markdown:
    """Writes the nodes of one document.

    Args:
        link: from a reference's `refuri` to the address that the notebook names, or None: no link.
        cite: from the nodes of neighbouring citations, and the text before them, to Markdown.
        number: "Fig. 3.1" or "(3.2)" of a node that is numbered, else "".
    """

    def __init__(self, link: Callable, cite: Callable, number: Callable):
        self.link, self.cite, self.number = link, cite, number
        self.level = 1

    # -- blocks ---------------------------------------------------------------------------------

    def block(self, node: nodes.Node) -> str:
        """One block, without blank lines around it; "" for what shows nothing."""
        if isinstance(node, DIRECTIVES):
            return ""
        name = type(node).__name__
        write = getattr(self, f"write_{name}", None)
        if write is None:
            if isinstance(node, nodes.Admonition):
                return self.write_admonition(node)
            raise NotImplementedError(f"the reader's edition has no Markdown for <{name}>")
        return write(node)

    def blocks(self, children) -> str:
        return "\n\n".join(filter(None, map(self.block, children)))

    def write_compound(self, node) -> str:
        """The pages under this one in the contents: a notebook has no contents."""
        return "" if "toctree-wrapper" in node["classes"] else self.blocks(node.children)

    def write_paragraph(self, node) -> str:
        return LINE_START.sub(r"\\\1", self.inline(node.children))

    def write_title(self, node) -> str:
        return "#" * min(self.level, 6) + " " + self.inline(node.children)

    def write_rubric(self, node) -> str:
        return f"**{self.inline(node.children)}**"

    def write_container(self, node) -> str:
        if all(isinstance(child, nodes.footnote) for child in node.children):
            return "\n".join(map(self.block, node.children))  # the list of references
        return self.blocks(node.children)

    def write_footnote(self, node) -> str:
        """An entry of the list of references."""
        return "- " + self.blocks(node.children[1:]).replace("\n", " ")

    def write_math_block(self, node) -> str:
        text, number = formula(node.astext()), self.number(node)
        if number:
            tag = rf"\tag{{{number.strip('()')}}}"
            end = text.rfind(r"\end{") if node.get("nowrap") else -1
            text = f"{text} {tag}" if end < 0 else f"{text[:end]}{tag} {text[end:]}"
        return f"$$\n{text}\n$$"

    def write_figure(self, node) -> str:
        """A diagram and its caption."""
        return self.blocks(node.children)

    def write_diagram(self, node) -> str:
        drawing = node["drawing"]
        return f"![{escape(drawing.desc)}]({picture(drawing)})"

    def write_part(self, node) -> str:
        """What a part's box opens."""
        body = self.blocks(node.children)
        return f"<details>\n<summary>{node['title']}</summary>\n\n{body}\n\n</details>"

    def write_caption(self, node) -> str:
        """A figure's number and its words."""
        number, said = self.number(node.parent), self.inline(node.children)
        return f"**{number}** {said}" if number else said

    def write_literal_block(self, node) -> str:
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", node.astext())), default=0))
        return f"{fence}{node.get('language', '')}\n{node.astext()}\n{fence}"

    def write_block_quote(self, node) -> str:
        return self.quote(self.blocks(node.children))

    def write_transition(self, node) -> str:
        return "---"

    @staticmethod
    def quote(text: str) -> str:
        return "\n".join(f"> {line}".rstrip() for line in text.splitlines())

    def write_admonition(self, node) -> str:
        """A quotation with a bold title; what the page folds stays folded."""
        children = list(node.children)
        titled = children and isinstance(children[0], nodes.title)
        kind = type(node).__name__.capitalize()
        title = self.inline(children.pop(0).children) if titled else kind
        body = self.blocks(children)
        if FOLDED & set(node["classes"]):
            return f"<details>\n<summary>{title}</summary>\n\n{body}\n\n</details>"
        return self.quote(f"**{title}**\n\n{body}")

    def write_bullet_list(self, node) -> str:
        return self.items(node, lambda place: "- ")

    def write_enumerated_list(self, node) -> str:
        start = node.get("start", 1)
        return self.items(node, lambda place: f"{start + place}. ")

    def items(self, node, mark) -> str:
        """A list, tight where each item is one paragraph."""
        written = []
        for place, item in enumerate(node.children):
            text, sign = self.blocks(item.children), mark(place)
            written.append(sign + text.replace("\n", "\n" + " " * len(sign)))
        tight = all(len(item.children) == 1 for item in node.children)
        text = ("\n" if tight else "\n\n").join(written)
        return re.sub(r"\n +(?=\n)", "\n", text)

    def write_definition_list(self, node) -> str:
        rows = []
        for item in node.findall(nodes.definition_list_item):
            term = " ".join(self.inline(t.children) for t in item.findall(nodes.term))
            (meaning,) = item.findall(nodes.definition)
            rows.append(f"- **{term}**: " + self.blocks(meaning.children).replace("\n", "\n  "))
        return "\n".join(rows)

    def write_table(self, node) -> str:
        (group,) = node.findall(nodes.tgroup)
        rows = [
            [self.cell(entry) for entry in row.findall(nodes.entry)]
            for row in group.findall(nodes.row)
        ]
        classes = [" ".join(e["classes"]) for e in next(group.findall(nodes.row)).children]
        rule = ["---:" if "right" in c else "---" for c in classes]
        lines = ["| " + " | ".join(row) + " |" for row in [rows[0], rule, *rows[1:]]]
        title = [f"*{self.inline(t.children)}*\n" for t in node.findall(nodes.title)]
        return "\n".join([*title, *lines])

    def cell(self, entry) -> str:
        """A cell of a table: a bar in a formula or in a word must not end it."""
        text = self.blocks(entry.children).replace("\n", " ")
        text = re.sub(r"\$[^$]+\$", lambda m: m[0].replace("|", r"\vert "), text)
        return text.replace("|", r"\|")

    # -- inline ---------------------------------------------------------------------------------

    def inline(self, children) -> str:
        """Text with its markup. Neighbouring citations become one pair of brackets."""
        parts, waiting = [], []
        for node in [*children, None]:
            if isinstance(node, nodes.footnote_reference):
                waiting.append(node)
                continue
            if waiting:
                before = "".join(parts).rstrip()
                parts = [f"{before} {self.cite(waiting, before)}"]
                waiting = []
            if node is not None:
                parts.append(self.phrase(node))
        return "".join(parts).strip()

    def phrase(self, node) -> str:
        if isinstance(node, nodes.Text):
            return escape(node.astext())
        if isinstance(node, DIRECTIVES):
            return ""
        if isinstance(node, nodes.math):
            return f"${formula(node.astext())}$"
        if isinstance(node, nodes.literal):
            ticks = "``" if "`" in node.astext() else "`"
            return f"{ticks}{node.astext()}{ticks}"
        if isinstance(node, nodes.strong | nodes.emphasis):
            return self.marked("**" if isinstance(node, nodes.strong) else "*", node)
        if isinstance(node, nodes.reference):
            text = self.inline(node.children)
            address = self.link(node)
            return f"[{text}]({address})" if address else text
        if type(node) in (nodes.inline, addnodes.number_reference):
            return self.spaced(node)
        raise NotImplementedError(
            f"the reader's edition has no Markdown for <{type(node).__name__}> in a line"
        )

    def spaced(self, node) -> str:
        """What stands inside, with the spaces at its ends."""
        text = "".join(
            self.phrase(c) for c in node.children if not isinstance(c, nodes.footnote_reference)
        )
        if any(isinstance(c, nodes.footnote_reference) for c in node.children):
            text = self.inline(node.children)
        return text

    def marked(self, sign: str, node) -> str:
        """Emphasis: its marks stand at the words, not at a space."""
        text = self.spaced(node)
        core = text.strip()
        return text.replace(core, f"{sign}{core}{sign}") if core else text
