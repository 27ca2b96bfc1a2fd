"""Sphinx extension: formulas, set by KaTeX when all pages are written.

A page then needs no script for them (77 kB) and no second of processor time, and nothing on it
moves. All formulas of the book go to one Node, in one call: the Node that comes with Playwright,
the KaTeX that comes with sphinxcontrib-katex.
"""

import json
import os
import re
import shutil
import subprocess
from collections import defaultdict
from html import escape, unescape
from pathlib import Path

from docutils import nodes
from sphinx.errors import ExtensionError
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinxcontrib import katex

AFTER = re.compile(r"[.,;:!?)\u2019\u201d]+")  # what belongs to the word before it
WIDE = re.compile(r"\\qq?uad(?![a-zA-Z])")
BEFORE = re.compile(r"[(\u2018\u201c]+$")

PLACE = "<attn-tex{}>{}</attn-tex>"  # where a formula will stand
PLACES = re.compile(r"<attn-tex( display)?>(.*?)</attn-tex>", re.DOTALL)
PATIENCE = 120  # seconds; the whole book takes two
SET = """
const katex = require(process.argv[1]);
const given = JSON.parse(require("fs").readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(given.map(([displayMode, tex]) => {
  try {
    return { html: katex.renderToString(tex, { displayMode, strict: "ignore", trust: false }) };
  } catch (error) {
    return { wrong: error.message };
  }
})));
"""


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


class MarkBreaks(SphinxPostTransform):
    """Mark a wide space of a display as the place where a narrow screen may break the line."""

    default_priority = 900
    formats = ("html",)

    def run(self) -> None:
        for block in self.document.findall(nodes.math_block):
            text = WIDE.sub(r"\g<0>\\allowbreak ", block.astext())
            block.children = []
            block += nodes.Text(text)


def keep_place(tex: str, options: dict | None = None) -> str:
    """What stands on a page until all pages are written."""
    return PLACE.format(" display" if options else "", escape(tex, quote=False))


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


def typeset(formulas: list[tuple[bool, str]]) -> list[dict]:
    """For each formula, `(display, tex)`, its `html` or what is `wrong`."""
    command = [find_node(), "-e", SET, str(Path(katex.__file__).with_name("katex.min.js"))]
    try:
        done = subprocess.run(
            command,
            input=json.dumps(formulas),
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE,
        )
    except subprocess.TimeoutExpired as error:  # it is killed by then
        raise ExtensionError(f"attn_math: KaTeX took more than {PATIENCE} seconds") from error
    if done.returncode:
        raise ExtensionError(f"attn_math: {command[0]} failed: {done.stderr.strip()[:300]}")
    return json.loads(done.stdout)


def set_formulas(app, exception) -> None:
    """Set every formula of every page; one that is wrong fails the build."""
    if exception or app.builder.format != "html":
        return
    pages = {}
    where = defaultdict(set)
    for path in Path(app.outdir).rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        for display, tex in PLACES.findall(text):
            pages[path] = text
            where[bool(display), unescape(tex)].add(path.stem)
    if not where:
        return
    found = dict(zip(where, typeset(list(where)), strict=True))
    wrong = [
        f"{', '.join(sorted(where[one]))}: {made['wrong']}"
        for one, made in found.items()
        if "wrong" in made
    ]
    if wrong:
        raise ExtensionError("attn_math: wrong formulas\n" + "\n".join(wrong))
    for path, text in pages.items():
        path.write_text(PLACES.sub(lambda m: drawn(m, found), text), encoding="utf-8")


def drawn(place: re.Match, found: dict) -> str:
    """What comes in its place; a display can scroll in a box of its own."""
    html = found[bool(place[1]), unescape(place[2])]["html"]
    return f"<span>{html}</span>" if place[1] else html


def leave_to_us(app, config) -> None:
    """Take over from sphinxcontrib-katex, which would let every page set its own formulas."""
    config.katex_prerender = True  # no script on a page
    katex.render_latex = keep_place  # its own asks a server, often before that listens


def setup(app):
    """Register the transforms, and the work at the end."""
    app.connect("config-inited", leave_to_us)
    app.connect("build-finished", set_formulas, priority=100)
    app.add_post_transform(KeepPunctuation)
    app.add_post_transform(MarkBreaks)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
