"""How to run the course, said in the head of every page, and the download of a chapter's notebook.

"Run it" opens the three lines that run course.zip (devkit.course). Both the download and, as far as
the book has an address, Colab and Binder lead to the reader's edition (`attn_edition`), which the
publishing workflow keeps on a branch of its own. Without `repository.url` there is no link to
elsewhere, never a made-up address.
"""

from dataclasses import dataclass
from html import escape
from urllib.parse import urlsplit

from docutils import nodes
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

from devkit.chapters import chapter_of
from devkit.course import LINES, ZIP

EDITION = "notebooks"  # the folder of the site, and the branch of the repository
GALLERY = "book/gallery"  # no chapter, and yet a notebook to run
SOURCE = "download-source-button"  # the theme's
HUB, COLAB = "https://mybinder.org", "https://colab.research.google.com"


def edition_of(app, docname: str) -> str | None:
    """The name of a page's notebook to run, if it has one."""
    has_one = docname == GALLERY or chapter_of(app.srcdir, docname)
    return docname.rpartition("/")[2] if has_one else None


@dataclass(frozen=True)
class Repository:
    """A public repository: `https://github.com/owner/name`."""

    url: str

    def __post_init__(self):
        parts = urlsplit(self.url)
        if parts.scheme != "https" or len(parts.path.strip("/").split("/")) != 2:
            raise ExtensionError(
                f"repository.url must be https://host/owner/name or empty, got {self.url!r}"
            )

    def launches(self, name: str) -> dict[str, str]:
        """Where each host opens a notebook of the edition; they are asked for GitHub alone."""
        if urlsplit(self.url).netloc != "github.com":
            return {}
        place = urlsplit(self.url).path.strip("/")
        return {
            "Binder": f"{HUB}/v2/gh/{place}/{EDITION}?urlpath=lab/tree/{name}.ipynb",
            "Colab": f"{COLAB}/github/{place}/blob/{EDITION}/{name}.ipynb",
        }


def repository(app) -> Repository | None:
    """The repository of the book's settings, or None while they name none."""
    url = app.config.html_theme_options.get("repository_url", "")
    return Repository(url.rstrip("/").removesuffix(".git")) if url else None


def run_it(app, docname: str) -> str:
    """What to do to run the course, and this page of it, as HTML."""
    name, repo = edition_of(app, docname), repository(app)
    up = "../" * docname.count("/")
    words = [
        f'<p><a href="{up}{ZIP}" download>{ZIP}</a> holds the chapters and assignments as '
        "notebooks, and the packages that they use. You need Python 3.11 to 3.13.</p>",
        f"<pre>{escape(chr(10).join(LINES))}</pre>",
    ]
    if name:
        words.append(f"<p>This page is <code>{EDITION}/{name}.ipynb</code> in it.</p>")
    hosts = repo.launches(name) if repo and name else {}
    if hosts:
        links = (f'<a href="{escape(url)}">{host}</a>' for host, url in sorted(hosts.items()))
        words.append(f"<p>Or open it elsewhere: {', '.join(links)}.</p>")
    return "".join(words)


class RunIt(SphinxDirective):
    """The same on a page."""

    def run(self) -> list[nodes.Node]:
        words = run_it(self.env.app, self.env.docname)
        return [nodes.raw("", f'<div class="attn-run">{words}</div>', format="html")]


def mend(app, pagename, templatename, context, doctree) -> None:
    """Lead the download to the reader's edition, and say how to run it."""
    name = edition_of(app, pagename)
    context["attn_run"] = run_it(app, pagename)
    up = "../" * pagename.count("/")
    groups = context.get("header_buttons", [])
    for group in groups:
        for button in list(group.get("buttons", [])):
            if button.get("label") != SOURCE:
                continue
            if name:
                words = "Download as notebook"
                address = f"{up}{EDITION}/{name}.ipynb"
                button |= {"text": words, "tooltip": words, "url": address}
            else:  # MyST, for those who build the book
                group["buttons"].remove(button)
    theirs = "launch-buttons"  # the theme's, for the hosts that "Run it" names
    context["header_buttons"] = [
        group for group in groups if group.get("buttons") != [] and group.get("label") != theirs
    ]


def setup(app):
    app.add_directive("run-it", RunIt)
    app.connect("html-page-context", mend, priority=950)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
