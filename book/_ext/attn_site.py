"""The site's frame: light pages that ask no outside host.

What the theme and the extensions do for every page is undone where no page needs it: Font
Awesome (the few icons are in `site.css`), thebe, the search index, KaTeX on pages without a
formula. Chapters take their number from their file's
name, so that `04_bahdanau` is chapter 4 whichever chapters stand before it; two pages of one number
get letters, 3a and 3b. What has moved from one to the other is found under its old address.
"""

import json
import re
import shutil
from html import escape
from pathlib import Path

from attn_terms import chapter_label, chapter_number
from docutils import nodes
from jinja2 import DictLoader
from sphinx.errors import ExtensionError
from sphinx_external_toc.collectors import TocTreeCollectorWithStyles

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
    ("katex", "auto-render"): re.compile(r'class="math[ "]'),
    ("sphinx-design", "design-tabs"): re.compile(r'class="[^"]*\bsd-'),
    ("togglebutton",): re.compile(r'class="[^"]*\b(?:toggle|dropdown)\b'),
    ("copybutton", "clipboard"): re.compile(r'class="highlight[ "]'),
    ("mystnb.",): re.compile(r'class="cell[ "]'),
    ("diagrams.css",): re.compile(r'class="attn-drawing '),
    ("page.js",): re.compile(r'class="[^"]*\battn-scroll\b|<h2'),
    ("landing.css",): re.compile(r'class="[^"]*\battn-(?:hero|claim)\b'),
    ("THEBE_JS_URL", "sphinx-thebe"): re.compile(r"(?!)"),
}

# A page that was divided or written anew: where most of it went, and what has another name now.
MOVED = {
    "book/03_scoring": (
        "book/03_attention",
        {
            "scoring-functions": "book/03_attention#from-one-pair-to-a-batch",
            "five-keys-and-three-questions": "book/03_attention#one-query-and-five-keys-with-a-pen",
            "the-masked-softmax": "book/03_attention#the-mask",
            "the-known-case": "book/03_attention#a-case-to-compare-with",
            "the-four-moves-as-one-function": "book/03_attention#attention-in-eight-lines",
            "where-this-breaks": "book/03_attention#where-this-breaks-a-clinic",
            "a-finite-number-as-minus-infinity": "book/03_attention#where-this-breaks-a-clinic",
            "length-0": "book/03_attention#where-this-breaks-a-clinic",
            "the-caller-s-scores-are-overwritten": "book/03_attention#exercises",
            "zero-times-nan": "book/03_attention#where-this-breaks-a-clinic",
            "a-mask-after-the-softmax": "book/03_attention#where-this-breaks-a-clinic",
            "the-wrong-axis": "book/03_attention#where-this-breaks-a-clinic",
            "a-mask-that-fits-by-accident": "book/03_attention#exercises",
            "when-sizes-differ-additive-attention": "book/03_scoring#a-small-network-as-the-score",
            "a-famous-check-and-what-it-does-not-check": (
                "book/03_scoring#a-check-and-what-it-does-not-check"
            ),
            "why-the-dot-product-is-scaled": "book/03_scoring#why-the-dot-product-is-divided-by-d",
            "luong-s-three-and-one-table-for-all": "book/03_scoring#luong-s-three-scores",
            "what-a-score-cannot-ask": "book/03_scoring#what-a-score-cannot-do",
        },
    ),
    "book/06_positions": (
        "book/06_reach",
        {
            "self-attention-and-positional-encoding": (
                "book/06_positions#self-attention-and-positions"
            ),
            "a-sequence-that-asks-itself": "book/06_positions#a-sequence-attends-to-itself",
            "the-same-bag-of-words": "book/06_positions#a-sequence-attends-to-itself",
            "what-order-costs": "book/06_reach#what-a-layer-costs",
            "sequential-steps": "book/06_reach#steps-that-wait",
            "path-length": "book/06_reach#how-far-a-signal-travels",
            "odd-sizes": "book/06_positions#sinusoids",
            "who-is-louder": "book/06_positions#token-and-place-share-the-same-features",
            "learned-places": "book/06_positions#learned-positions",
            "whose-fault-is-it": "book/06_reach#new-angles-or-too-many-keys",
            "where-this-breaks": "book/06_positions#where-this-breaks-a-clinic",
            "the-place-is-forgotten-in-the-cache": "book/06_positions#where-this-breaks-a-clinic",
            "the-table-ends": "book/06_positions#exercises",
            "half-precision": "book/06_positions#where-this-breaks-a-clinic",
            "a-table-that-does-not-travel": "book/06_positions#where-this-breaks-a-clinic",
            "places-added-after-dropout": "book/06_positions#exercises",
            "padding-on-the-left": "book/06_positions#where-this-breaks-a-clinic",
            "slopes-for-another-number-of-heads": "book/06_positions#exercises",
        },
    ),
    "book/05_multihead": (  # written anew: the same page, other sections
        "book/05_multihead",
        {
            "what-a-head-is-for": "book/05_multihead#what-a-second-head-is-for",
            "where-the-argument-stops": "book/05_multihead#why-one-head-cannot",
            "where-this-breaks": "book/05_multihead#where-this-breaks-a-clinic",
            "fig-four-heads": "book/05_multihead#a-clear-map-and-no-use",
            "equation-eq-einsum": "book/05_multihead#sequence-first",
        },
    ),
    "book/07_transformer": (
        "book/07_transformer_measured",
        {
            "around-each-part-add-and-normalise": (
                "book/07_transformer#with-a-pen-add-then-normalise"
            ),
            "why-not-over-the-batch": "book/07_transformer#with-a-pen-add-then-normalise",
            "before-or-after": (
                "book/07_transformer_measured#norm-before-or-after-with-and-without-warm-up"
            ),
            "the-other-half-of-a-block": "book/07_transformer#a-small-network-for-each-token",
            "three-uses-of-attention": "book/07_transformer#the-decoder-block",
            "token-and-place-on-one-scale": "book/07_transformer#token-place-and-the-output-layer",
            "a-task-with-one-right-place-to-look": "book/07_transformer#train-it",
            "writing-with-a-cache": "book/07_transformer#write-with-a-cache",
            "three-bugs-in-a-famous-transformer": (
                "book/07_transformer_measured#where-this-breaks-three-bugs-in-a-famous-transformer"
            ),
            "why-nobody-noticed": "book/07_transformer_measured#would-the-score-have-told-you",
            "an-encoder-alone": "book/07_transformer_measured#one-half-is-enough",
            "a-decoder-alone": "book/07_transformer_measured#one-half-is-enough",
            "translation-beside-chapter-4": (
                "book/07_transformer_measured#beside-the-model-of-chapter-4"
            ),
            "more-sentences": "book/07_transformer_measured#sixteen-times-the-sentences",
            "a-mask-that-means-the-opposite": "book/03_attention#where-this-breaks-a-clinic",
            "targets-that-are-not-shifted": "book/07_transformer#where-this-breaks",
            "decoding-in-training-mode": "book/07_transformer#where-this-breaks",
            "a-cache-that-is-changed-in-place": "book/07_transformer#exercises",
        },
    ),
}
FOLLOW = """addEventListener("DOMContentLoaded", () => {
  const [page, places] = %s, name = decodeURIComponent(location.hash.slice(1));
  if (name && !document.getElementById(name)) location.replace(places[name] ?? `${page}#${name}`);
});"""

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
    for script in context["script_files"]:
        if "katex" in _text(script) or "auto-render" in _text(script):
            script.attributes["defer"] = "defer"


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
    """Wrap the collector's numbering, once: a document `NN_name` is chapter NN, or NNa, NNb."""
    plain = TocTreeCollectorWithStyles.assign_section_numbers
    if getattr(plain, "by_file_name", False):
        return

    def assign(self, env):
        before = dict(env.toc_secnumbers)
        chapters = [name for name in env.tocs if chapter_number(name) is not None]
        for docname in chapters:  # those of an earlier build, which the collector would renumber
            for node in _numbered(env, docname):
                node.attributes.pop("secnumber", None)
        plain(self, env)
        for docname in chapters:
            label = chapter_label(env, docname)
            _set_chapter(env, docname, int(label) if label.isdigit() else label)
        numbers = env.toc_secnumbers
        return [d for d in numbers if numbers[d] != before.get(d)]

    assign.by_file_name = True
    TocTreeCollectorWithStyles.assign_section_numbers = assign


def _numbered(env, docname) -> list[nodes.Element]:
    """What may carry a page's number: its title, and its entries in the contents."""
    return [env.titles[docname], *env.tocs[docname].findall(nodes.reference)]


def _set_chapter(env, docname, chapter) -> None:
    """Give a page its number, also one that stands under another in the contents."""
    title, first, *others = _numbered(env, docname)
    numbers = {entry["anchorname"]: () for entry in (first, *others)}
    env.toc_secnumbers[docname] = numbers | {"": (chapter,)}
    title["secnumber"] = first["secnumber"] = (chapter,)


def follow_moved(app, pagename, templatename, context, doctree) -> None:
    """An address within a page, of something that stands elsewhere now, leads there."""
    if pagename not in MOVED:
        return

    def address(place: str) -> str:
        page, _, name = place.partition("#")
        return f"{app.builder.get_relative_uri(pagename, page)}#{name}"

    other, places = MOVED[pagename]
    page = app.builder.get_relative_uri(pagename, other)
    values = json.dumps([page, {name: address(place) for name, place in places.items()}])
    app.add_js_file(None, body=FOLLOW % values, priority=450)


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
    app.connect("html-page-context", follow_moved)
    app.connect("build-finished", finish, priority=900)
    app.add_js_file("page.js", loading_method="defer", priority=900)  # after the theme's
    app.add_css_file("theme.css", priority=790)
    app.add_css_file("landing.css", priority=795)
    app.add_css_file("site.css", priority=800)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
