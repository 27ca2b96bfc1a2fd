"""Sphinx extension: widgets in the built book, with no kernel, no CDN and no network.

MyST-NB writes a widget's saved state and view, but drops the picture beside it. Here the picture
stays in the page, in a box of fixed height, and `mount.js` puts the live widget in its place.
Picture and heights were drawn by the widget itself, and stored: `devkit.pictures`.
"""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

from attn_pictures import image_tag, sized_picture
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging

STATE = "application/vnd.jupyter.widget-state+json"
VIEW = "application/vnd.jupyter.widget-view+json"
# The names of the heights that are stored: on a desk, on a tablet, on a phone.
HEIGHTS = {"wide": "720", "touch": "touch", "narrow": "312"}

logger = logging.getLogger(__name__)


class widget_picture(sized_picture):
    """A widget's box in HTML: its picture, and its view as a JSON script."""


def load_bundle():
    """`attnbook.widgets.bundle`, by its path: the build needs neither torch nor anywidget."""
    package = importlib.util.find_spec("attnbook")
    if package is None:
        raise ImportError("attnbook is not installed: run `pip install -e code`")
    path = Path(package.submodule_search_locations[0]) / "widgets" / "bundle.py"
    spec = importlib.util.spec_from_file_location("attn_widgets_bundle", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def script(kind: str, value: dict) -> str:
    """A JSON script element; `<` is escaped, so that no string can end it."""
    body = json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")
    return f'<script type="{kind}">{body}</script>'


def saved_widgets(env, docname: str) -> dict:
    """The traits and heights of the widgets that a notebook shows, by model id."""
    path = env.doc2path(docname)
    if not str(path).endswith(".ipynb"):
        return {}
    notebook = json.loads(Path(path).read_text(encoding="utf-8"))
    states = notebook["metadata"].get("widgets", {}).get(STATE, {}).get("state", {})
    return {
        output["data"][VIEW]["model_id"]: widget_of(output, states)
        for cell in notebook["cells"]
        for output in cell.get("outputs", [])
        if VIEW in output.get("data", {})
    }


def widget_of(output: dict, states: dict) -> dict:
    """The traits of the widget that an output shows, and its `heights` in pixels, by name."""
    traits = states.get(output["data"][VIEW]["model_id"], {}).get("state", {})
    stored = output["metadata"].get(VIEW, {}).get("heights", {})
    return {**traits, "heights": stored}


class KeepPicture(SphinxPostTransform):
    """In HTML, join a widget's view and its picture, before MyST-NB chooses one of them."""

    default_priority = 3  # SelectMimeType runs at 4
    formats = ("html",)

    def run(self, **kwargs) -> None:
        widgets = None
        for bundle in list(self.document.findall(nodes.container)):
            if bundle.get("nb_element") != "mime_bundle":
                continue
            parts = {part["mime_type"]: part for part in bundle.children}
            if VIEW not in parts or "image/png" not in parts:
                continue
            if widgets is None:
                widgets = saved_widgets(self.env, self.env.docname)
            picture = next(parts["image/png"].findall(nodes.image))
            raw = parts[VIEW].children[0].astext()
            view = json.loads(raw[raw.index(">") + 1 : raw.rindex("<")])
            parts[VIEW].children = []
            parts[VIEW] += box(picture, view, widgets[view["model_id"]])


def box(picture: nodes.image, view: dict, widget: dict):
    """The node of a widget's box."""
    node = widget_picture("", **picture.attributes)
    node["classes"] = [*node["classes"], "no-scaled-link"]  # else Sphinx puts it inside a link
    node["alt"] = picture.get("alt") or widget.get("alt", "")
    node["view"] = view
    node["widget"] = widget.get("_anywidget_id", "")
    node["heights"] = widget["heights"]
    if not node["alt"]:
        logger.warning("a widget has no alternative text: set mystnb.image.alt", location=picture)
    return node


def visit_widget_picture(translator, node) -> None:
    """Write a widget's box."""
    heights = ";".join(
        f"--attn-{name}:{node['heights'][stored]}"
        for name, stored in HEIGHTS.items()
        if stored in node["heights"]
    )
    translator.body.append(
        f'<div class="attn-widget" style="{heights}">'
        + image_tag(translator, node)
        + script(VIEW, node["view"])
        + "</div>\n"
    )
    raise nodes.SkipNode


def write_assets(app: Sphinx) -> None:
    """Write the code of each widget, once for the site."""
    if app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    static.mkdir(parents=True, exist_ok=True)
    bundle = load_bundle()
    for widget in bundle.WIDGETS:
        code = bundle.registry_script(widget)
        (static / script_name(widget)).write_text(code, encoding="utf-8")


def script_name(widget: str) -> str:
    """The file with a widget's code: `attn-HeadAblation.js`."""
    return f"attn-{widget.rpartition('.')[2]}.js"


def add_assets(app: Sphinx, pagename, templatename, context, doctree) -> None:
    """Load a widget's code on the pages that show it, and on no other."""
    shown = set() if doctree is None else {w["widget"] for w in doctree.findall(widget_picture)}
    if not shown:
        return
    for widget in sorted(shown & set(load_bundle().WIDGETS)):
        app.add_js_file(script_name(widget), loading_method="defer")
    app.add_js_file("widgets/mount.js", loading_method="defer")


def no_outside_manager(app: Sphinx, config) -> None:
    """MyST-NB would load require.js and a widget manager from outside hosts."""
    config.nb_ipywidgets_js = {}


def setup(app: Sphinx) -> dict:
    """Register the node, the transform and the assets."""
    app.setup_extension("attn_pictures")
    app.add_node(widget_picture, html=(visit_widget_picture, None))
    app.add_post_transform(KeepPicture)
    app.connect("config-inited", no_outside_manager)
    app.connect("builder-inited", write_assets)
    app.connect("html-page-context", add_assets)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
