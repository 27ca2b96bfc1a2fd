"""The site's frame: light pages that ask no outside host.

What the theme and the extensions do for every page is undone where no page needs it: Font
Awesome (the few icons are in `site.css`), thebe, the search index, KaTeX on pages without a
formula. Chapters have the number that their notebook says, whichever chapters stand before them.
"""

import re
import shutil
from html import escape
from pathlib import Path

from docutils import nodes
from jinja2 import DictLoader
from sphinx.errors import ExtensionError
from sphinx_external_toc.collectors import TocTreeCollectorWithStyles

from devkit.chapters import chapter_of

# What the theme's templates load on every page and no page of this book uses: template, pattern,
# and how often it must occur, so that a theme which moved it fails the build.
UNUSED = (
    ("static/webpack-macros.html", re.compile(r"<script[^>]*fontawesome\.js[^>]*></script>"), 1),
    (  # search as you type, which is off; the search page loads these itself
        "pydata_sphinx_theme/layout.html",
        re.compile(r"<script src=\"{{ pathto\('[^']*(?:search|language_)\w*\.js'[^>]*></script>"),
        3,
    ),
)
# What the theme's style sheet carries of it: the fonts, their names, and one glyph for each icon.
FONT_AWESOME_CSS = (
    re.compile(r"@font-face\{[^}]*Font Awesome[^}]*\}"),
    re.compile(r":host,:root\{--fa-[^}]*\}"),
    re.compile(r'(?:\.fa-[\w-]+:before,?)+\{content:"[^"]*"\}'),
)
# Assets that the extensions load on every page, and what in a page's body needs them.
NEEDED_BY = {
    ("katex",): re.compile(r'class="math[ "]'),
    ("sphinx-design", "design-tabs"): re.compile(r'class="[^"]*\bsd-'),
    ("togglebutton",): re.compile(r'class="[^"]*\b(?:toggle|dropdown)\b'),
    ("copybutton", "clipboard"): re.compile(r'class="highlight[ "]'),
    ("mystnb.",): re.compile(r'class="cell[ "]'),
    ("diagrams.css",): re.compile(r'class="attn-drawing '),
    ("page.js",): re.compile(r'class="[^"]*\battn-scroll\b|<h2'),
    ("ways.js",): re.compile(r'class="attn-doors\b'),
    ("landing.css",): re.compile(r'class="[^"]*\battn-(?:hero|claim)\b'),
    ("THEBE_JS_URL", "sphinx-thebe"): re.compile(r"(?!)"),
}

NO_SUMMARY = 'if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;'

ROOT_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="0; url={start}">
<title>{title}</title>
<link rel="icon" href="_static/favicon.svg" type="image/svg+xml">
</head>
<body><p><a href="{start}">{title}</a></p></body>
</html>
"""


def _text(asset) -> str:
    """A script's or style sheet's file name, or its body when it is inline."""
    body = (getattr(asset, "attributes", None) or {}).get("body") or ""
    return f"{getattr(asset, 'filename', asset)} {body}"


def _without(assets, *marks):
    return [a for a in assets if not any(m in _text(a) for m in marks)]


def lighten_templates(app) -> None:
    """Take out of the theme's templates what they load in vain (Font Awesome: 700 kB gzip)."""
    templates = getattr(app.builder, "templates", None)  # builders of other formats have none
    if app.builder.format != "html" or not hasattr(templates, "loaders"):
        return
    lighter = {}
    for name, pattern, expected in UNUSED:
        source = templates.environment.loader.get_source(templates.environment, name)[0]
        lighter[name], count = pattern.subn("", source)
        if count != expected:
            raise ExtensionError(f"attn_site: {count} of {expected} scripts to drop in {name}")
    templates.loaders.insert(0, DictLoader(lighter))
    templates.templatepathlen += 1


def choose_assets(app, pagename, templatename, context, doctree) -> None:
    """Keep a page's scripts and style sheets to those that it uses."""
    if pagename == "search":  # a page opened as a file may fetch no summary of another
        app.add_js_file(None, body=NO_SUMMARY, priority=450)
    body = context.get("body", "")
    drop = [mark for marks, use in NEEDED_BY.items() if not use.search(body) for mark in marks]
    for kind in ("script_files", "css_files"):
        context[kind] = _without(context[kind], *drop)


FOLD = re.compile(r"(<a [^>]*>(?P<title>[^<]*)</a>\s*<details[^>]*>\s*)<summary>")


def name_folds(app, pagename, templatename, context, doctree) -> None:
    """Name what opens a part of the side's contents: to a screen reader the theme's is empty."""
    plain = context.get("generate_toctree_html")
    if plain is None:
        return

    def named(*args, **kwargs):
        made = plain(*args, **kwargs)
        label = r'\1<summary aria-label="Pages under \g<title>">'
        return FOLD.sub(label, str(made)) if made else made

    context["generate_toctree_html"] = named


def number_chapters() -> None:
    """Wrap the collector's numbering: a chapter's page has the number that it says, 4 or 3b."""
    plain = TocTreeCollectorWithStyles.assign_section_numbers

    def assign(self, env):
        rewritten = plain(self, env)
        for docname in env.tocs:
            if chapter := chapter_of(env.srcdir, docname):
                _set_number(env, docname, chapter.label if chapter.letter else chapter.number)
        return rewritten

    TocTreeCollectorWithStyles.assign_section_numbers = assign


def _set_number(env, docname, number: int | str) -> None:
    """Give a page its number, also one that stands under another in the contents."""
    entries = list(env.tocs[docname].findall(nodes.reference))
    numbers = {entry["anchorname"]: () for entry in entries}
    env.toc_secnumbers[docname] = numbers | {"": (number,)}
    env.titles[docname]["secnumber"] = entries[0]["secnumber"] = (number,)


def finish(app, exception) -> None:
    """Write the root page and leave out the files that no page loads."""
    if exception or app.builder.format != "html":
        return
    out = Path(app.outdir)
    root = app.config.root_doc
    if root != "index":
        page = ROOT_PAGE.format(
            start=escape(app.builder.get_target_uri(root)), title=escape(app.config.html_title)
        )
        (out / "index.html").write_text(page, encoding="utf-8")
    static = out / "_static"
    for pattern in ("scripts/fontawesome.js*", "s*/*.map", "sphinx-thebe.*", "*macros.html"):
        for unused in static.glob(pattern):
            unused.unlink()
    shutil.rmtree(static / "vendor" / "fontawesome", ignore_errors=True)
    sheet = static / "styles" / "pydata-sphinx-theme.css"
    style = sheet.read_text(encoding="utf-8")
    for rule in FONT_AWESOME_CSS:
        style, count = rule.subn("", style)
        if not count:
            raise ExtensionError(f"attn_site: nothing of Font Awesome matches {rule.pattern}")
    sheet.write_text(style, encoding="utf-8")


def setup(app):
    number_chapters()
    app.connect("builder-inited", lighten_templates)
    app.connect("html-page-context", choose_assets, priority=900)
    app.connect("html-page-context", name_folds, priority=900)
    app.connect("build-finished", finish, priority=900)
    app.add_js_file("page.js", loading_method="defer", priority=900)  # after the theme's
    app.add_css_file("theme.css", priority=790)
    app.add_css_file("folds.css", priority=791)
    app.add_css_file("landing.css", priority=795)
    app.add_css_file("site.css", priority=800)
    app.add_css_file("touch.css", priority=805)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
