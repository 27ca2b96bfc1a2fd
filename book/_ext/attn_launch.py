"""Buttons of a chapter: its notebook to run, here or elsewhere.

The download and, as far as the book has an address, Colab and Binder lead to the reader's edition
(`attn_edition`), which the publishing workflow keeps on a branch of its own. Without
`repository.url` there is no button to elsewhere, never a made-up address.
"""

from dataclasses import dataclass
from urllib.parse import urlsplit

from sphinx.errors import ExtensionError

from devkit.chapters import chapter_of

EDITION = "notebooks"  # the folder of the site, and the branch of the repository
GALLERY = "book/gallery"  # no chapter, and yet a notebook to run
SOURCE = "download-source-button"  # the theme's
HOSTS = {
    "notebook_interface": "jupyterlab",
    "binderhub_url": "https://mybinder.org",
    "colab_url": "https://colab.research.google.com",
}


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
        hub, colab = HOSTS["binderhub_url"], HOSTS["colab_url"]
        return {
            "Binder": f"{hub}/v2/gh/{place}/{EDITION}?urlpath=lab/tree/{name}.ipynb",
            "Colab": f"{colab}/github/{place}/blob/{EDITION}/{name}.ipynb",
        }


def repository(app) -> Repository | None:
    """The repository of the book's settings, or None while they name none."""
    url = app.config.html_theme_options.get("repository_url", "")
    return Repository(url.rstrip("/").removesuffix(".git")) if url else None


def offer(app, config) -> None:
    """Tell the theme of the hosts, once there is an address to open."""
    if config.html_theme_options.get("repository_url"):
        config.html_theme_options["launch_buttons"] = dict(HOSTS)


def mend(app, pagename, templatename, context, doctree) -> None:
    """Lead every button to the reader's edition; a page without one has none to elsewhere."""
    name = edition_of(app, pagename)
    repo = repository(app)
    launches = repo.launches(name) if repo and name else {}
    up = "../" * pagename.count("/")
    for group in context.get("header_buttons", []):
        for button in list(group.get("buttons", [])):
            if button.get("label") != SOURCE:
                continue
            if name:
                words = "Download as notebook"
                address = f"{up}{EDITION}/{name}.ipynb"
                button |= {"text": words, "tooltip": words, "url": address}
            else:  # MyST, for those who build the book
                group["buttons"].remove(button)
        if group.get("label") == "launch-buttons":
            known = [button for button in group["buttons"] if button["text"] in launches]
            group["buttons"] = [b | {"url": launches[b["text"]]} for b in known]
    context["header_buttons"] = [
        group for group in context.get("header_buttons", []) if group.get("buttons") != []
    ]


def setup(app):
    app.connect("config-inited", offer)
    app.connect("html-page-context", mend, priority=950)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
