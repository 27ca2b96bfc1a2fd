"""Sphinx extension: pictures that load late and keep their place and shape until then."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from pathlib import Path
from urllib.parse import quote

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.images import get_image_size

ALT = re.compile(' alt="([^"]*)"')
WIDTHS = (736, 490, 358)  # pixels: of every figure on a desktop; the column, two thirds, a half


class sized_picture(nodes.image):
    """A picture in HTML whose size is known and which is loaded late."""


def narrow_forms(path: Path) -> dict[str, dict]:
    """What a notebook's figures have for phones, by the name of the wide form's file."""
    if path.suffix != ".ipynb":
        return {}
    found = {}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        for output in cell.get("outputs", []):
            narrow = output.get("metadata", {}).get("image/png", {}).get("narrow")
            if narrow:
                wide = base64.b64decode("".join(output["data"]["image/png"]))
                found[hashlib.sha256(wide).hexdigest()] = narrow
    return found


def keep_png(env, content: bytes) -> nodes.image:
    """Write a picture where MyST-NB writes those of notebooks, and point to it."""
    folder = Path(env.app.outdir).parent / "jupyter_execute"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{hashlib.sha256(content).hexdigest()}.png"
    path.write_bytes(content)
    return nodes.image(uri="/" + Path(os.path.relpath(path, env.srcdir)).as_posix())


def shown_width(drawn: int) -> int:
    """The one of `WIDTHS` to which a figure is least enlarged or shrunk."""
    return min(WIDTHS, key=lambda width: max(width / drawn, drawn / width))


def image_tag(translator, node) -> str:
    """The image, of a size known before it is loaded, and shrunk in proportion on a phone."""
    uri = node["uri"]
    if uri in translator.builder.images:
        uri = "/".join((translator.builder.imgpath, quote(translator.builder.images[uri])))
    size = "".join(
        f' {name}="{str(node[name]).removesuffix("px")}"'
        for name in ("width", "height")
        if name in node
    )
    classes = " ".join(["attn-picture", *node["classes"]])
    return (
        f'<img class="{classes}" src="{translator.encode(uri)}"'
        f' alt="{translator.attval(node.get("alt", ""))}"{size} loading="lazy" decoding="async">'
    )


def visit_sized_picture(translator, node) -> None:
    """Write a picture; a figure, which is drawn on white, and its twin for the dark page."""
    tag = image_tag(translator, node)
    if "attn-figure" in node["classes"]:
        builder = translator.builder
        builder.attn_figures = getattr(builder, "attn_figures", set()) | {
            builder.images[node["uri"]]
        }
        dark = tag.replace("attn-figure", "attn-figure-dark", 1)
        tag += dark.replace('.png"', '-dark.png"', 1)
        # on a phone a wide figure scrolls rather than shrink until its labels cannot be read
        drawn = int(node["width"])
        sizes = f"--attn-drawn: {drawn}px; --attn-shown: {shown_width(drawn)}px"
        tag = f'<span class="attn-scroll" style="{sizes}">{tag}</span>'
    form = narrow_of(translator.builder, tag, node) if node.get("narrow") else ""
    translator.body.append(tag + form)
    raise nodes.SkipNode


def narrow_of(builder, tag: str, node) -> str:
    """The form of a figure that was drawn for phones, in both colours."""
    narrow = node["narrow"]
    content = base64.b64decode(narrow["png"])
    name = hashlib.sha256(content).hexdigest()
    folder = Path(builder.outdir) / builder.imagedir
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.png").write_bytes(content)
    kinds = {"": ""}
    if "attn-figure" in node["classes"]:
        builder.attn_figures.add(f"{name}.png")
        kinds = {" attn-figure": "", " attn-figure-dark": "-dark"}
    images = "".join(
        f'<img class="attn-part{kind}" src="{builder.imgpath}/{name}{end}.png" alt=""'
        f' width="{narrow["width"]}" height="{narrow["height"]}" loading="lazy" decoding="async">'
        for kind, end in kinds.items()
    )
    return f'<span class="attn-stack" role="img" aria-label="{ALT.search(tag)[1]}">{images}</span>'


class DelayPictures(SphinxPostTransform):
    """In HTML, load a picture only when it comes near, and keep its place until then.

    A figure of the class `attn-as-is` shows things and not numbers: it has no dark twin.
    """

    default_priority = 500
    formats = ("html",)

    def run(self, **kwargs) -> None:
        forms = narrow_forms(Path(self.env.doc2path(self.env.docname)))
        for node in list(self.document.findall(nodes.image)):
            if isinstance(node, sized_picture) or "scale" in node:
                continue
            given = [node.get("width"), node.get("height")]
            if given == [None, None]:
                given = get_image_size(Path(self.env.srcdir) / node["uri"].lstrip("/"))
            sizes = [str(size).removesuffix("px") for size in given or ()]
            if len(sizes) == 2 and all(size.isdecimal() for size in sizes):
                picture = sized_picture("", **node.attributes)
                picture["classes"] = [*node["classes"], "no-scaled-link"]
                if node["uri"].endswith(".png") and "attn-as-is" not in node["classes"]:
                    picture["classes"].append("attn-figure")
                picture["width"], picture["height"] = sizes
                if node["uri"].endswith(".png"):
                    picture["narrow"] = node.get("narrow") or forms.get(Path(node["uri"]).stem)
                node.replace_self(picture)


def add_style(app: Sphinx, pagename, templatename, context, doctree) -> None:
    """Style the pictures on the pages that have one (book/_site is the static folder)."""
    if doctree is not None and any(doctree.findall(sized_picture)):
        app.add_css_file("widgets/mount.css")


def setup(app: Sphinx) -> dict:
    """Register the node, its writer and the transform."""
    app.add_node(sized_picture, html=(visit_sized_picture, None))
    app.add_post_transform(DelayPictures)
    app.connect("html-page-context", add_style)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
