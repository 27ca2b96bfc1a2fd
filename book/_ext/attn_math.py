"""Sphinx extension: formulas in HTML, set by KaTeX while the book is built.

A page then needs no script for them (77 kB) and no second of processor time, and nothing on it
moves. KaTeX is sphinxcontrib-katex's own and runs in the Node that comes with Playwright.
"""

import os
import re
import shutil
from pathlib import Path

from docutils import nodes
from sphinx.errors import ExtensionError
from sphinx.transforms.post_transforms import SphinxPostTransform

AFTER = re.compile(r"[.,;:!?)\u2019\u201d]+")  # what belongs to the word before it
WIDE = re.compile(r"\\qq?uad(?![a-zA-Z])")
BEFORE = re.compile(r"[(\u2018\u201c]+$")


class KeepPunctuation(SphinxPostTransform):
    """Keep the comma that follows a formula in its line: browsers would break before it."""

    default_priority = 900
    formats = ("html",)

    def run(self) -> None:
        for formula in list(self.document.findall(nodes.math)):
            siblings, place = formula.parent.children, formula.parent.index(formula)
            around = [
                siblings[n] if 0 <= n < len(siblings) else None for n in (place - 1, place + 1)
            ]
            texts = [node if isinstance(node, nodes.Text) else "" for node in around]
            before, after = BEFORE.search(texts[0]), AFTER.match(texts[1])
            if not (before or after):
                continue
            kept = nodes.inline("", classes=["attn-keep"])
            new = []
            if before:
                new.append(nodes.Text(texts[0][: before.start()]))
                kept += nodes.Text(before[0])
            kept += formula.deepcopy()
            new.append(kept)
            if after:
                kept += nodes.Text(after[0])
                new.append(nodes.Text(texts[1][after.end() :]))
            first, last = place - bool(before), place + 1 + bool(after)
            formula.parent[first:last] = [node for node in new if node.astext()]


class EscapeDisplayMath(SphinxPostTransform):
    r"""Write < and > of a display as \lt and \gt: sphinxcontrib-katex does not escape it.

    And mark a wide space as the place where a narrow screen may break the line.
    """

    default_priority = 900
    formats = ("html",)

    def run(self) -> None:
        for block in self.document.findall(nodes.math_block):
            text = block.astext().replace("<", r"\lt ").replace(">", r"\gt ")
            text = WIDE.sub(r"\g<0>\\allowbreak ", text)
            block.children = []
            block += nodes.Text(text.replace("&", "& "))


def find_node() -> str:
    """Playwright's Node, which the pinned set brings to every system, else one on the path."""
    try:
        import playwright
    except ImportError:
        own = None
    else:
        name = "node.exe" if os.name == "nt" else "node"
        own = Path(playwright.__file__).parent / "driver" / name
    found = str(own) if own and own.is_file() else shutil.which("node")
    if not found:
        raise ExtensionError("attn_math: no Node for KaTeX: pip install -r requirements.txt")
    return found


def set_in_node(app, config) -> None:
    """Let sphinxcontrib-katex set the formulas; a wrong one stops the build."""
    from sphinxcontrib import katex

    config.katex_prerender = True
    katex.NODEJS_BINARY = find_node()
    katex.STARTUP_TIMEOUT = katex.RENDER_TIMEOUT = 60.0  # seconds, on a busy machine
    katex.KATEX_DEFAULT_OPTIONS = {"strict": "ignore", "trust": False, "throwOnError": True}


def setup(app):
    """Register the transforms."""
    app.connect("config-inited", set_in_node)
    app.add_post_transform(KeepPunctuation)
    app.add_post_transform(EscapeDisplayMath)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
