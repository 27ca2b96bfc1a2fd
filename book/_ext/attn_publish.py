"""What a published site needs beside its pages: a page for wrong addresses, a map, cards for links.

The site's address is `html.baseurl` in _config.yml, empty until there is a public one. Whatever
must name it (the site map, the pictures and addresses of the cards) is made only when it is set;
the page for wrong addresses is always made, and finds the site by itself.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from string import Template
from urllib.parse import urljoin, urlsplit

from attn_cards import draw_card
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

CARDS = "_static/cards"

# A server gives 404.html at whatever address was wrong, so that nothing relative to it holds. It
# carries its style with it, and its links begin at the site's root: that of the address, or what
# stands before the part of a path that every page has, or the folder of the file itself.
MISSING = Path(__file__).resolve().parent / "templates" / "404.html"


def address(app: Sphinx) -> str:
    """The site's public address with a slash at its end, or nothing."""
    found = app.config.html_baseurl
    if not found:
        return ""
    if urlsplit(found).scheme not in ("http", "https") or not urlsplit(found).netloc:
        raise ExtensionError(
            f"attn_publish: html.baseurl is {found!r}, and must begin with https:// or be empty"
        )
    return found.rstrip("/") + "/"


def pages(app: Sphinx) -> list[str]:
    """Every document of the book, in a fixed order, the first page first."""
    root = app.config.root_doc
    return [root, *sorted(set(app.env.found_docs) - {root})]


def title_of(app: Sphinx, name: str) -> str:
    """A page's title, a chapter's with its number."""
    title = app.env.titles[name]
    number = title.get("secnumber")
    text = title.astext()
    return f"{'.'.join(map(str, number))}. {text}" if number else text


def meta(prop: str, content: str) -> str:
    """One tag of the Open Graph."""
    return f'<meta property="{prop}" content="{escape(content)}">'


def add_tags(app: Sphinx, pagename, templatename, context, doctree) -> None:
    """Say what a page is about; where the site has an address, with its card."""
    if doctree is None:
        return
    site, facts = address(app), app.env.metadata.get(pagename, {})
    about = facts.get("attn_question") or app.config.attn_about
    tags = [
        f'<meta name="description" content="{escape(about)}">',
        meta("og:type", "article"),
        meta("og:site_name", app.config.html_title),
        meta("og:title", title_of(app, pagename)),
        meta("og:description", about),
    ]
    if site:
        tags += [
            meta("og:url", urljoin(site, app.builder.get_target_uri(pagename))),
            meta("og:image", urljoin(site, card_name(pagename))),
            meta("og:image:width", "1200"),
            meta("og:image:height", "630"),
            '<meta name="twitter:card" content="summary_large_image">',
        ]
    context["metatags"] = context.get("metatags", "") + "\n".join(tags)


def card_name(pagename: str) -> str:
    """The picture of a page's card, from the site's root."""
    return f"{CARDS}/{pagename.replace('/', '-')}.png"


def links(app: Sphinx) -> str:
    """Links to the book's pages, those of its reference aside, from the site's root."""
    depth = app.config.root_doc.count("/")
    names = [name for name in pages(app) if name.count("/") <= depth]
    rows = [(app.builder.get_target_uri(n), title_of(app, n)) for n in names]
    return "\n".join(f'<li><a href="{u}">{escape(t)}</a></li>' for u, t in rows)


def write(app: Sphinx, error) -> None:
    """Write the page for wrong addresses; with an address, the map and the cards too."""
    if error or app.builder.format != "html":
        return
    out, site = Path(app.outdir), address(app)
    theme = (out / "_static" / "theme.css").read_text(encoding="utf-8")
    palette = theme[: theme.index("/* The theme's own names")]
    page = Template(MISSING.read_text(encoding="utf-8")).substitute(
        title=escape(app.config.html_title),
        base=escape(urlsplit(site).path or "/"),
        folder=app.config.root_doc.partition("/")[0],
        palette=palette,
        links=links(app),
    )
    (out / "404.html").write_text(page, encoding="utf-8")
    if not site:
        return
    (out / "sitemap.xml").write_text(site_map(app, site), encoding="utf-8")
    for name in pages(app):
        path = out / card_name(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(draw_card(title_of(app, name), app.config.html_title))


def site_map(app: Sphinx, site: str) -> str:
    """The map of the site, without dates: a page is as old as its commit, not as the build."""
    rows = [
        f"<url><loc>{escape(urljoin(site, app.builder.get_target_uri(name)))}</loc></url>"
        for name in pages(app)
    ]
    head = '<?xml version="1.0" encoding="UTF-8"?>'
    urlset = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    return "\n".join([head, urlset, *rows, "</urlset>\n"])


def setup(app: Sphinx) -> dict:
    """Register what is written, and the book's own description."""
    app.add_config_value("attn_about", "", "html")
    app.connect("html-page-context", add_tags)
    app.connect("build-finished", write, priority=850)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
