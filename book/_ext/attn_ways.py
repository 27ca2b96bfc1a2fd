"""Three ways through the book: doors on the landing page, and where each page lies on them.

`{doors}` shows the three; a page on a way says which, and what comes next on each, in its opener
and at its foot; the side's contents have a mark at the pages of the way that a reader follows. All
of it stands in every page, and style sheets show what `html[data-way]` asks for, so that nothing
moves. Without a choice, or without JavaScript, all three are shown. Which page lies on which way
its notebook says (devkit.chapters).
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path, PurePosixPath

from attn_publish import title_of
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective

from devkit.chapters import ROUTES, chapters, route

# What a door is called, and what lies behind it.
DOORS = {
    "short": (
        "Attention in two hours",
        "From a cue to a layer that learns its own queries, keys and values. Then a trained "
        "Transformer to play with.",
    ),
    "transformer": (
        "A Transformer in a day",
        "Heads, positions, the whole model, and a language model of today: each in code that you "
        "can write again yourself.",
    ),
    "everything": (
        "Everything in a semester",
        "Every mechanism, the measurements behind it, and a graded assignment for each chapter.",
    ),
}
PLACE = "three-ways-through"  # the heading above the doors
# Before the page is drawn: the choice, which ways.js keeps.
CHOSEN = f"""try {{
  const way = localStorage.getItem("attn-way");
  if (/^({"|".join(ROUTES)})$/.test(way)) document.documentElement.dataset.way = way;
}} catch {{ /* no storage: no choice */ }}"""


class written(nodes.General, nodes.Element):
    """HTML as it stands, which the search does not index: it would find each title everywhere."""


class door_list(nodes.General, nodes.Element):
    """The place of the doors, until every page has been read."""


class Doors(SphinxDirective):
    """The three ways, each with its pages, its length and where it begins."""

    def run(self) -> list[nodes.Node]:
        return [door_list()]


class Ways(SphinxPostTransform):
    """Doors in their place; on a page of a way, where it lies and what comes next, twice."""

    default_priority = 600  # after the opener
    formats = ("html",)

    def run(self, **kwargs) -> None:
        for place in list(self.document.findall(door_list)):
            place.replace_self(written(html=self.doors()))
        top = next(iter(self.document.findall(nodes.section)), None)
        if top is None or not (lines := self.lines()):
            return
        opener = next((n for n in self.document.findall(nodes.container) if is_opener(n)), None)
        if opener is None:
            top.insert(1, written(html=nav("Ways through the course", lines)))
        else:
            opener[0] += written(html=nav("Ways through the course", lines))
        top += written(html=nav("What comes next on each way", lines, "attn-foot"))

    @property
    def book(self) -> Path:
        return Path(self.env.doc2path(self.env.docname)).parent

    def doc(self, name: str) -> str:
        """The document of this name beside the page."""
        return str(PurePosixPath(self.env.docname).with_name(name))

    def link(self, name: str, words: str, more: str = "") -> str:
        """A link to another page of the book's folder, or a place of it."""
        address = self.app.builder.get_relative_uri(self.env.docname, self.doc(name))
        return f'<a href="{address}{more}">{escape(words)}</a>'

    def lines(self) -> list[str]:
        """For each way a line on this page's place; nothing for a page that is on none."""
        name = PurePosixPath(self.env.docname).name
        routes = {way: pages for way in ROUTES if (pages := route(way, self.book))}
        order = [*chapters(self.book)]
        order += [page for pages in routes.values() for page in pages if page not in order]
        if name not in order:
            return []
        made = []
        for way, pages in routes.items():
            after = [page for page in pages if order.index(page) > order.index(name)][:1]
            words, kind = self.link("index", DOORS[way][0], f"#door-{way}"), ""
            if name in pages:
                words += f" · page {pages.index(name) + 1} of {len(pages)}"
                words += "" if after else ", the last"
            else:  # shown only to who follows this way
                words, kind = f"{words} · this page is not on it", " attn-beside"
            if after:
                words += f" · next: {self.link(after[0], title_of(self.app, self.doc(after[0])))}"
            made.append(f'<p class="attn-way-{way}{kind}">{words}</p>')
        return made

    def doors(self) -> str:
        """The doors' HTML."""
        return f'<div class="attn-doors attn-wide">{"".join(map(self.door, ROUTES))}</div>'

    def door(self, way: str) -> str:
        """One of them."""
        title, words = DOORS[way]
        pages = route(way, self.book)
        labels = {page.name: page.label for page in chapters(self.book).values()}
        path = [
            f"<i{'' if name in pages else ' class=attn-past'}>{label}</i>"
            for name, label in labels.items()
        ]
        path += ["<i>play</i>" for name in pages if name not in labels]
        on = [labels[name] for name in pages if name in labels]
        button = '<button type="button" aria-pressed="false">Follow this way</button>'
        return f"""<section class="attn-door" data-way="{way}" aria-labelledby="door-{way}">
<h3 id="door-{way}">{title}</h3>
<p>{words}</p>
<p class="attn-path" role="img" aria-label="Pages {", ".join(on)}">{"".join(path)}</p>
<p class="attn-facts">{self.length(pages, labels)}</p>
<p class="attn-follow">{self.link(pages[0], "Begin →")}{button}</p>
</section>"""

    def length(self, pages: list[str], labels: dict) -> str:
        """How many pages and how much time to read."""
        facts = [self.env.metadata[self.doc(name)] for name in pages if name in labels]
        read = hours(sum(fact["attn_minutes"] for fact in facts))
        end = [f", and the {name}" for name in pages if name not in labels]
        return f"{len(facts)} pages, {read} to read{''.join(end)}"


def is_opener(node: nodes.Element) -> bool:
    """Whether this is what a chapter opens with (attn_frame)."""
    return "attn-opener" in node["classes"]


def nav(label: str, lines: list[str], *kinds: str) -> str:
    """The lines of the ways."""
    names = " ".join(("attn-ways", *kinds))
    return f'<nav class="{names}" aria-label="{label}">{"".join(lines)}</nav>'


def hours(minutes: int) -> str:
    """A time to read as it is said: to half an hour, from an hour and a half on."""
    if minutes < 90:
        return f"about {minutes} minutes"
    halves = round(minutes / 30)
    return f"about {halves // 2}{'½' if halves % 2 else ''} hours"


ENTRY = re.compile(r'<a class="((?:current )?reference internal)" href="([^"]*)">')


def mark(app, pagename, templatename, context, doctree) -> None:
    """Say in the side's contents on which ways each page lies."""
    plain = context.get("generate_toctree_html")
    if plain is None:
        return
    book = Path(app.srcdir) / app.config.root_doc.rpartition("/")[0]
    routes = {way: route(way, book) for way in ROUTES}

    def entry(found: re.Match) -> str:
        target = pagename if found[2] == "#" else found[2]
        name = PurePosixPath(target.partition("#")[0]).name.removesuffix(".html")
        ways = [f"attn-on-{way}" for way, pages in routes.items() if name in pages]
        return f'<a class="{" ".join([found[1], *ways])}" href="{found[2]}">'

    def marked(*args, **kwargs):
        made = plain(*args, **kwargs)
        return ENTRY.sub(entry, str(made)) if made else made

    context["generate_toctree_html"] = marked


def write(translator, node: written) -> None:
    """Write the HTML."""
    translator.body.append(node["html"])
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict:
    """Register the directive and what it needs."""
    app.add_node(written, html=(write, None))
    app.add_node(door_list)
    app.add_directive("doors", Doors)
    app.add_post_transform(Ways)
    app.connect("html-page-context", mark, priority=910)
    app.add_js_file(None, body=CHOSEN, priority=100)
    app.add_js_file("ways.js", loading_method="defer", priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
