"""The index: an entry's name leads to its explanation, the numbers after it to the chapters.

Sphinx's own template numbers an entry's places [1], [2]; a reader of a book looks for chapters.
"""

import re
from pathlib import Path

from devkit.chapters import chapter_of

# `causal_mask() (in module attnbook.masks)`, `project() (MultiHeadAttention method)`,
# `attnbook.masks (module)`
OF_PACKAGE = re.compile(
    r"([\w.]+(?:\(\))?) "
    r"\((?:(?:in module|class in) \S+|((?:\w+ ){1,2}(?:method|property|attribute)|module))\)"
)
TEMPLATES = Path(__file__).parent / "templates"


def modules_once(groups: list) -> list:
    """The index with each module under its own name alone, not once more under "module"."""

    def lifted(entry: tuple) -> tuple:
        name, (links, parts, key) = entry
        if links or [part for part, _ in parts] != ["module"]:
            return entry
        return f"{name} (module)", (parts[0][1], [], key)

    kept = [
        (letter, [lifted(entry) for entry in entries if entry[0] != "module"])
        for letter, entries in groups
    ]
    return [(letter, entries) for letter, entries in kept if entries]


def labels(app, pagename, templatename, context, doctree) -> None:
    """Give the template of the index `places(links)`."""
    if pagename != "genindex":
        return
    pages = {
        app.builder.get_relative_uri("genindex", name): chapter_of(app.srcdir, name)
        for name in sorted(app.env.found_docs)
    }

    def places(links) -> tuple[str | None, list[tuple[str, str, bool]]]:
        """The place that explains an entry, then a link a chapter: number, address, main."""
        best = {}
        for main, link in links:
            page = link.partition("#")[0]
            if page not in best or (main and not best[page][1]):
                best[page] = (link, bool(main))
        home = next((link for page, (link, _) in best.items() if not pages[page]), None)
        return home, [(c.label, *best[page]) for page, c in pages.items() if c and page in best]

    def parts(name: str) -> tuple[str, str]:
        """A name of the package, set as code, and what else stands in its entry."""
        found = OF_PACKAGE.fullmatch(name)
        return ("", name) if not found else (found[1], found[2] or "")

    context["places"], context["parts"] = places, parts
    context["genindexentries"] = modules_once(context["genindexentries"])


def own_template(app, config) -> None:
    """The template of the index stands beside the extensions."""
    config.templates_path.append(str(TEMPLATES))


def setup(app):
    app.connect("config-inited", own_template)
    app.connect("html-page-context", labels)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
