"""The playground's page: its code and its model's file, loaded there and nowhere else.

Where no model is packed (`python -m devkit.playground` packs one) the page is left out of the book.
What the page says of a model is read from the model's file.
"""

import json
from pathlib import Path

from attn_widgets import load_bundle
from docutils import nodes
from sphinx import addnodes
from sphinx.util.docutils import SphinxDirective

from devkit.playground import page
from devkit.playground.script import unpack

PAGE = "book/playground"
FOLDER = Path(__file__).resolve().parents[1] / "_site" / "playground"
MODELS = {"grammar": "Grammar", "everyday": "Everyday"}  # the page needs the first
DEFAULT = "grammar"
OPENING = FOLDER / "opening.json"  # what is shown before a model is loaded


def model_file(name: str) -> Path:
    """The file of a model."""
    return FOLDER / f"{name}.js"


def describe(head: dict, size: int) -> str:
    """What a model is and what it can do, in words, from its file."""
    config, about = head["config"], head["about"]
    blocks = f"{config['num_layers']} encoder and {config['num_layers']} decoder layers"
    rounded = about["rounded"]
    if "exact" in about:
        done, after = (f"{100 * found['exact']:.1f}%" for found in (about, rounded))
        judged = f"it translates {done} exactly as the reference has it"
    else:
        done, after = (f"{found['bleu']:.1f}" for found in (about, rounded))
        judged = f"its BLEU is {done}"
    return (
        f"The model: {blocks} of {config['num_heads']} heads, {config['d_model']} features, "
        f"{head['parameters']:,} parameters, trained by this course on {about['pairs']:,} pairs "
        f"of {about['data']}. It knows {len(head['source']) - 4:,} English words. "
        f"On {about['judged']:,} held-out sentences {judged}; its weights, rounded to eight bits "
        f"for this page, give {after}. The file, {size / 1e6:.1f} MB, is loaded when you first "
        "type or change something."
    )


class Playground(SphinxDirective):
    """The playground, alive in HTML and described elsewhere."""

    def run(self) -> list[nodes.Node]:
        up = "../" * self.env.docname.count("/")
        models = []
        for name, label in MODELS.items():
            path = model_file(name)
            if not path.is_file():
                continue
            head, _ = unpack(path)
            models.append(
                {
                    "name": name,
                    "label": label,
                    "file": f"{up}_static/playground/{path.name}",
                    "about": describe(head, path.stat().st_size),
                    "examples": [example["source"] for example in head["examples"]],
                }
            )
        settings = {"models": models}
        if OPENING.is_file():
            settings["opening"] = json.loads(OPENING.read_text(encoding="utf-8"))
        body = json.dumps(settings, ensure_ascii=False).replace("<", "\\u003c")
        html = (
            '<div class="attn-playground">'
            "<noscript>The playground computes in the browser: it needs JavaScript.</noscript>"
            f'<script type="application/json">{body}</script></div>'
        )
        elsewhere = addnodes.only("", expr="not html")
        elsewhere += nodes.paragraph(text=f"On paper it stands still. {models[0]['about']}")
        return [nodes.raw("", html, format="html"), elsewhere]


def leave_out(app, config) -> None:
    """Without a model there is no page: out of the table of contents, and of the sources."""
    if model_file(DEFAULT).is_file() or not hasattr(config, "external_site_map"):
        return
    for document in config.external_site_map.values():
        for tree in document.subtrees:
            tree.items = [item for item in tree.items if str(item) != PAGE]
    config.exclude_patterns = [*config.exclude_patterns, f"{PAGE}.md"]


def write_assets(app) -> None:
    """Write the code and the style of the page."""
    if app.builder.format != "html" or not model_file(DEFAULT).is_file():
        return
    bundle = load_bundle()
    folder = Path(app.outdir) / "_static" / "playground"
    folder.mkdir(parents=True, exist_ok=True)
    texts = {"play.js": page.page_script(bundle), "play.css": page.page_style(bundle)}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")


def add_assets(app, pagename, templatename, context, doctree) -> None:
    """Load them on the playground's page."""
    if pagename == PAGE:
        app.add_js_file("playground/play.js", loading_method="defer")
        app.add_css_file("playground/play.css")


def setup(app) -> dict:
    app.add_directive("playground", Playground)
    app.connect("config-inited", leave_out, priority=950)  # after the table of contents is read
    app.connect("builder-inited", write_assets)
    app.connect("html-page-context", add_assets)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
